#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every capture is what its readable source says: encoding the source gives the capture, decoding it the expected text.
# usage: check_captures.sh PROGRAM
set -euo pipefail

program=$1
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/../captures" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

for source in "$folder"/*.jsonl; do
    name=$(basename "$source" .jsonl)
    "$program" encode --output "$work/$name.pcapng" "$source"
    cmp "$work/$name.pcapng" "$folder/$name.pcapng" || fail "$name: encoding the source gives another capture"
    "$program" decode --json "$folder/$name.pcapng" >"$work/$name.json" 2>"$work/summary" || fail "$name: $(cat "$work/summary")"
    diff -u "$folder/$name.expected.json" "$work/$name.json" || fail "$name: decodes to something else"
    ! grep -q '"raw"' "$work/$name.json" || fail "$name: not canonical"
    [ "$(wc -l <"$source")" -eq "$(wc -l <"$work/$name.json")" ] || fail "$name: datagrams are missing"
    count=$((count + 1))
done
[ "$count" -gt 0 ] || fail "no capture found"
printf '%d captures\n' "$count"
