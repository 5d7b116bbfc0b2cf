# SPDX-License-Identifier: MIT
# Completes command lines of uerudp in bash. What there is to complete, the program says itself: uerudp help and
# uerudp SUBCOMMAND --help.

_uerudp_subcommands() {
    "$1" help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'
}

# The lines of --help that begin with an option, as they stand between indentation and description.
_uerudp_options() {
    "$1" "$2" --help 2>/dev/null | sed -n 's/^  \(\(-[A-Za-z], \)\{0,1\}--[^ ]*\) .*/\1/p'
}

# What the help calls the value of an option, such as FILE; nothing where it has none.
_uerudp_value_name() {
    _uerudp_options "$1" "$2" | sed -n "s/^\(.*, \)\{0,1\}$3=\(.*\)/\2/p;s/^$3, --[^=]*=\(.*\)/\1/p"
}

_uerudp_values() { # PROGRAM SUBCOMMAND OPTION NAME-OF-VALUE
    case $2:$3:$4 in
    serve:--generation:* | connect:--generation:* | generate:--generation:* | *:--to-generation:*)
        echo 4.{13..27} 5.{0..8}
        ;;
    *:--generation:*) echo auto 4.{13..27} 5.{0..8} ;;
    *:--scenario:*) _uerudp_scenarios "$1" ;;
    serve:--mode:*) echo echo sink scenario ;;
    replay:--mode:*) echo check wire live observe ;;
    *:--capture-at:*) echo client server sender both ;;
    *:--kind:*) echo handshake packet opaque malformed data empty ack bunch control open close reliable unreliable partial \
        exports ;;
    *:--separator:*) echo tab comma ;;
    *:--color:*) echo auto always never ;;
    *:--*pkt:*) "$1" "$2" --help | grep -o 'Pkt[A-Za-z]*=' | sort -u ;;
    esac
}

_uerudp_scenarios() {
    "$1" generate --list 2>/dev/null | sed 's/[ \t].*//'
}

_uerudp_files() {
    local IFS=$'\n'
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

_uerudp_from() { # WORD CHOICES...
    mapfile -t COMPREPLY < <(compgen -W "${*:2}" -- "$1")
}

# The value of the option before the word.
_uerudp_complete_value() { # PROGRAM SUBCOMMAND OPTION NAME-OF-VALUE WORD
    local choices
    choices=$(_uerudp_values "$1" "$2" "$3" "$4")
    if [[ -n $choices ]]; then
        _uerudp_from "$5" "$choices"
    elif [[ $4 == *FILE* || $4 == *PATH* || $4 == *PAGE* || $4 == *PROGRAM* || $3 == --key ]]; then
        _uerudp_files "$5"
    fi
}

_uerudp() {
    local program=${COMP_WORDS[0]} subcommand=${COMP_WORDS[1]} at=$COMP_CWORD
    local word=${COMP_WORDS[at]} before=${COMP_WORDS[at - 1]} name
    COMPREPLY=()
    if ((at == 1)); then
        _uerudp_from "$word" "$(_uerudp_subcommands "$program") --version --help"
        return
    fi
    if [[ $word == = ]]; then # bash makes three words of --option=value
        word=
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[at - 2]}
    fi
    [[ $before == -* ]] && name=$(_uerudp_value_name "$program" "$subcommand" "$before")
    if [[ -n $name ]]; then
        _uerudp_complete_value "$program" "$subcommand" "$before" "$name" "$word"
    elif [[ $subcommand == help ]]; then
        _uerudp_from "$word" "$(_uerudp_subcommands "$program")"
    elif [[ $word == -* ]]; then
        _uerudp_from "$word" "$(_uerudp_options "$program" "$subcommand" | sed 's/=.*//;s/, /\n/') --help"
    else
        _uerudp_files "$word"
        if [[ $subcommand == generate ]]; then
            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W "$(_uerudp_scenarios "$program")" -- "$word")
        fi
    fi
}

complete -F _uerudp uerudp
