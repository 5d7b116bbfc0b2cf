# SPDX-License-Identifier: MIT
# usage: zsh -f complete.zsh FOLDER LINE
# Prints what zsh offers for the last word of LINE, with the completions in FOLDER. Completion needs a terminal, which is
# a second zsh behind a pseudo-terminal.
zmodload zsh/zpty
zpty shell zsh -f -i

send() {
    zpty -w shell "$1; print -r -- RE''ADY"
    local output
    while [[ $output != *$'\nREADY'* ]]; do
        zpty -r shell output "*READY*" || exit 1
    done
}

send 'PROMPT= RPROMPT= PROMPT_EOL_MARK=; stty columns 400'
send "fpath=(${(q)1} \$fpath); autoload -U compinit; compinit -u -D"
send 'zstyle ":completion:*" insert-tab false; zstyle ":completion:*" list-separator ""'
send 'begin() { print -r -- BEGIN }; finish() { print -r -- END }; compprefuncs=(begin); comppostfuncs=(finish)'
send 'compadd() { typeset -a hits; if [[ " $* " == *" -"[OAD]" "* ]]; then builtin compadd "$@"; return; fi; builtin compadd -A hits "$@"; (($#hits)) && print -rl -- "HIT "$^hits; builtin compadd "$@" }'
send 'bindkey "^I" complete-word'

zpty -w -n shell "$2"$'\t'
while zpty -r shell line; do
    case $line in
    *END*) break ;;
    HIT\ *) print -r -- ${${line#HIT }%%$'\r'*} ;;
    esac
done
zpty -d shell
