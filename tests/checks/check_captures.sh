#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# captures/make writes the captures byte for byte; each agrees with the files beside it; the examples of encode encode.
# usage: check_captures.sh PROGRAM
set -euo pipefail

program=$1
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../captures" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

"$folder/make" "$program" "$work"
count=0
for capture in "$folder"/*.pcapng; do
    name=$(basename "$capture" .pcapng)
    for ending in pcapng sent.json expected.jsonl info.json; do
        cmp "$work/$name.$ending" "$folder/$name.$ending" || fail "$name.$ending: captures/make gives another one"
    done
    # exit status 1: some datagrams are malformed on purpose
    "$program" decode --json "$capture" 2>/dev/null >"$work/decode" || [ $? -eq 1 ] || fail "$name: cannot be decoded"
    cmp "$work/decode" "$folder/$name.expected.jsonl" || fail "$name: decodes to something else"
    case $name in
    corrupt | fuzz) ;;
    *) ! grep -q '"raw"' "$folder/$name.expected.jsonl" || fail "$name: not canonical" ;;
    esac
    count=$((count + 1))
done
for capture in "$folder"/fields/*.pcapng "$folder"/handlers/*.* "$folder"/replay/*.* "$folder"/recognition/*.*; do
    cmp "$work/${capture#"$folder/"}" "$capture" || fail "$capture: captures/make gives another one"
    [[ $capture == *.pcapng ]] || continue
    count=$((count + 1))
done
[ "$count" -eq "$(find "$work" -name '*.pcapng' | wc -l)" ] || fail "captures/make makes other captures than there are"
[ "$count" -gt 0 ] || fail "no capture found"

for example in "$folder"/example-*.jsonl; do
    "$program" encode --output "$work/example.pcapng" "$example"
    "$program" decode --json "$work/example.pcapng" 2>/dev/null >"$work/example.json" || fail "$example: malformed"
    [ "$(wc -l <"$example")" -eq "$(wc -l <"$work/example.json")" ] || fail "$example: datagrams are missing"
    ! grep -q '"raw"' "$work/example.json" || fail "$example: not canonical"
done
printf '%d captures\n' "$count"
