#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Instructions per packet of each candidate, by callgrind: usage: count.sh BENCH_CODEC
set -euo pipefail

program=${1:?usage: count.sh BENCH_CODEC}
packets=1024 # 4 passes of 256

# count SHAPE CANDIDATE: one number on stdout
count() {
    local log
    log=$(valgrind --tool=callgrind --toggle-collect='bench_run_*' --callgrind-out-file=/dev/null \
        "$program" --count "$1" "$2" 2>&1) || { printf '%s\n' "$log" >&2 && return 1; }
    awk -v packets="$packets" '/Collected *:/ { printf "%.0f\n", $NF / packets; found = 1 } END { exit !found }' <<<"$log"
}

# line ID VALUE ANCHOR ANCHOR_VALUE MUST STRETCH: MUST and STRETCH bound the value; - is none
line() {
    awk -v id="$1" -v value="$2" -v anchor="$3" -v of="$4" -v must="$5" -v stretch="$6" 'BEGIN {
        verdict = must == "-" ? "INFO" : value <= must ? "PASS" : "FAIL"
        goal = must == "-" ? "" : " goal=" must "/" stretch
        printf "BENCH %s %d instructions anchor=%s:%d ratio=%.2f%s %s\n", id, value, anchor, of, value / of, goal, verdict
    }'
}

# The figures for which the goals were set; a weaker limit would make the library look good.
check_limit() {
    if [ "$2" -gt $(($3 * 115 / 100)) ]; then
        printf 'INVALID: limit takes %d instructions for %s, more than 1.15 times %d\n' "$2" "$1" "$3"
        invalid=1
    fi
}

invalid=0
printf '# instructions per packet, %s\n' "$(valgrind --version)"
while read -r shape known must stretch; do
    limit=$(count "$shape" limit_headers)
    check_limit "$shape" "$limit" "$known"
    line "C2.$shape" "$(count "$shape" library_headers)" limit "$limit" "$must" "$stretch"
done <<'GOALS'
U1 262 520 320
U4 647 1300 800
U20 2701 5400 3300
GOALS
for shape in U1 U4 U20; do
    must=- stretch=-
    [ "$shape" != U4 ] || { must=3100 stretch=1400; }
    line "C3.$shape" "$(count "$shape" library_payload)" naive "$(count "$shape" naive_payload)" "$must" "$stretch"
    line "C3.$shape.limit" "$(count "$shape" limit_payload)" memcpy "$(count "$shape" memcpy)" - -
    line "C4.$shape" "$(count "$shape" library_encode)" limit "$(count "$shape" limit_encode)" - -
done
exit "$invalid"
