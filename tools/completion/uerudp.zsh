#compdef uerudp
# SPDX-License-Identifier: MIT
# Completes command lines of uerudp in zsh. What there is to complete, the program says itself: uerudp help and
# uerudp SUBCOMMAND --help.

# Lines "name:description" of the subcommands.
_uerudp_subcommands() {
    $words[1] help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *\(.*\)/\1:\2/p'
}

# Lines "--option=NAME:description" of the options; without "=NAME" for those that have no value.
_uerudp_options() {
    $words[1] $1 --help 2>/dev/null | sed -n 's/^  \(-[A-Za-z], \)\{0,1\}\(--[^ ]*\) *\(.*\)/\2:\3/p'
    print -r -- '--help:show this help'
}

_uerudp_scenarios() {
    $words[1] generate --list 2>/dev/null | sed 's/[ \t].*//'
}

_uerudp_values() { # SUBCOMMAND OPTION
    local -a values
    case $1:$2 in
    serve:--generation | connect:--generation | generate:--generation | *:--to-generation)
        values=(4.{13..27} 5.{0..8})
        ;;
    *:--generation) values=(auto 4.{13..27} 5.{0..8}) ;;
    *:--scenario) values=(${(f)"$(_uerudp_scenarios)"}) ;;
    serve:--mode) values=(echo sink scenario) ;;
    replay:--mode) values=(check wire live observe) ;;
    *:--capture-at) values=(client server sender both) ;;
    *:--kind)
        values=(handshake packet opaque malformed data empty ack bunch control open close reliable unreliable partial exports)
        ;;
    *:--separator) values=(tab comma) ;;
    *:--color) values=(auto always never) ;;
    esac
    if (($#values)); then
        compadd -a values
    else
        _files
    fi
}

_uerudp() {
    local subcommand=$words[2] line
    local -a choices with_value
    if ((CURRENT == 2)) || [[ $CURRENT == 3 && $subcommand == help ]]; then
        choices=(${(f)"$(_uerudp_subcommands)"} --version --help)
        _describe subcommand choices
    elif [[ $PREFIX == --*=* ]]; then
        local option=${PREFIX%%=*}
        compset -P '*='
        _uerudp_values $subcommand $option
    elif [[ $PREFIX == -* ]]; then
        for line in ${(f)"$(_uerudp_options $subcommand)"}; do
            if [[ ${line%%:*} == *=* ]]; then
                with_value+=("${line%%=*}:${line#*:}")
            else
                choices+=($line)
            fi
        done
        _describe option choices
        _describe option with_value -S =
    else
        _files
        [[ $subcommand == generate ]] && compadd -- ${(f)"$(_uerudp_scenarios)"}
    fi
}

if [[ $funcstack[1] == _uerudp ]]; then
    _uerudp "$@"
else
    compdef _uerudp uerudp
fi
