#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Shows that the fuzz targets find bugs: runs each with a bug planted in its harness (UERUDP_PLANT_BUG) or in a source of
# libcodec (plant.py) from the same seeds, none of which triggers it, until the sanitizer reports the bug, for at most a
# minute.
#
# usage: tests/fuzz/prove.sh [FOLDER_OF_THE_FUZZ_BUILD [NAME...]]
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
folder=${1:-$root/build/fuzz}
shift $(($# > 0))
seconds=60
failed=0

prove() {
    local target=$1 name=${1##*/planted_} work started status=0
    work=$folder/proof/$name
    rm -rf "$work"
    mkdir -p "$work/corpus"
    local corpora=("$work/corpus")
    local seeds=$folder/tests/fuzz/seeds/${name%%-*}
    [ ! -d "$seeds" ] || corpora+=("$seeds")
    if ! "$target" -runs=0 -artifact_prefix="$work/" "${corpora[@]}" >"$work/log" 2>&1; then
        printf '%s: a seed triggers the planted bug\n' "$name"
        failed=1
        return
    fi
    started=$SECONDS
    "$target" -max_total_time=$seconds -entropic=0 -timeout=60 -artifact_prefix="$work/" "${corpora[@]}" >"$work/log" 2>&1 || status=$?
    if [ "$status" -ne 0 ] && grep -q '^SUMMARY: ' "$work/log"; then
        printf '%s: found the planted bug after %d s\n' "$name" $((SECONDS - started))
    else
        printf '%s: did not find the planted bug (exit status %d)\n' "$name" "$status"
        failed=1
    fi
}

for target in "$folder"/tests/fuzz/planted_*; do
    if [ $# -eq 0 ] || [[ " $* " == *" ${target##*/planted_} "* ]]; then prove "$target"; fi
done
exit "$failed"
