#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Instructions per message of each candidate's soak, both ends together, by callgrind: usage: bench_sim_count.sh BENCH_SIM
set -euo pipefail

program=${1:?usage: bench_sim_count.sh BENCH_SIM}
messages=4000

# count CANDIDATE K MESSAGES: all instructions counted; fails with 77 where the candidate is not built in
count() {
    local log
    log=$(valgrind --tool=callgrind --toggle-collect='soak_call_*' --toggle-collect='soak_back_*' \
        --callgrind-out-file=/dev/null "$program" --count "$1" "$2" "$3" 2>&1) || return $?
    awk '/Collected *:/ { print $NF; found = 1 } END { exit !found }' <<<"$log"
}

# per_message CANDIDATE K: without what creation and first steps cost
per_message() {
    local few many
    few=$(count "$1" "$2" "$messages") || return $?
    many=$(count "$1" "$2" $((3 * messages)))
    echo $(((many - few) / (2 * messages)))
}

printf '# instructions per message, %s\n' "$(valgrind --version)"
for k in 1 4; do
    ue=$(per_message uerudp "$k")
    goal='' verdict=INFO
    if [ "$k" = 4 ]; then
        goal=' goal=4000/1800' verdict=PASS
        [ "$ue" -le 4000 ] || verdict=FAIL
    fi
    nak=$(per_message model-nak "$k")
    printf 'BENCH E7.k-%d %d instructions anchor=model-nak:%d%s %s\n' "$k" "$ue" "$nak" "$goal" "$verdict"
    if enet=$(per_message ENet "$k"); then
        printf 'BENCH E7.k-%d %d instructions anchor=ENet:%d ratio=%s INFO\n' "$k" "$ue" "$enet" \
            "$(awk -v a="$ue" -v b="$enet" 'BEGIN { printf "%.2f", a / b }')"
    else
        printf 'SKIP E7.k-%d ENet: not installed\n' "$k"
    fi
done
