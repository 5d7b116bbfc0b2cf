# SPDX-License-Identifier: MIT
# Completes command lines of uerudp in fish. What there is to complete, the program says itself: uerudp help and
# uerudp SUBCOMMAND --help.

function __uerudp_subcommands
    uerudp help 2>/dev/null | string replace -rf '^  ([a-z][a-z-]*)  +(.*)' '$1\t$2'
end

function __uerudp_subcommand
    set -l words (commandline -opc)
    set -q words[2]; and echo $words[2]
end

function __uerudp_is
    contains -- "$(__uerudp_subcommand)" $argv
end

# "--option", a tab and the description, for each option of the subcommand; those with a value keep the "=".
function __uerudp_options
    uerudp (__uerudp_subcommand) --help 2>/dev/null |
        string replace -rf '^  (?:-[A-Za-z], )?(--[^ =]*)(=?)[^ ]* *(.*)' '$1$2\t$3'
    echo -e '--help\tshow this help'
end

function __uerudp_scenarios
    uerudp generate --list 2>/dev/null | string replace -r '^(\S+)\s+(.*)' '$1\t$2'
end

# "--option=" before each value of the word that is being typed.
function __uerudp_values
    set -l option (string replace -r '=.*' '' -- (commandline -ct))
    set -l values
    switch "$option"
        case --generation --to-generation
            set values 4.(seq 13 27) 5.(seq 0 8)
            __uerudp_is serve connect generate; or test $option = --to-generation; or set -p values auto
        case --scenario
            set values (__uerudp_scenarios | string split -f 1 \t)
        case --mode
            __uerudp_is replay; and set values check wire live observe; or set values echo sink scenario
        case --capture-at
            set values client server sender both
        case --kind
            set values handshake packet opaque malformed data empty ack bunch control open close reliable unreliable partial exports
        case --separator
            set values tab comma
        case --color
            set values auto always never
    end
    for value in $values
        echo $option=$value
    end
end

complete -c uerudp -n 'not __uerudp_subcommand >/dev/null' -f -a '(__uerudp_subcommands)'
complete -c uerudp -n 'not __uerudp_subcommand >/dev/null' -f -a '--version --help'
complete -c uerudp -n '__uerudp_is help' -f -a '(__uerudp_subcommands)'
complete -c uerudp -n '__uerudp_subcommand >/dev/null; and string match -q -- "-*" (commandline -ct)' -f -a '(__uerudp_options; __uerudp_values)'
complete -c uerudp -n '__uerudp_is generate' -a '(__uerudp_scenarios)'
