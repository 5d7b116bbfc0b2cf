#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: check_tidy.sh BUILD [--all]
# clang-tidy finds nothing in the sources that differ from the commit before the last one, or that include a header that
# differs; with --all, in any source.
# BUILD is a configured build folder, which has compile_commands.json.
set -euo pipefail
build=$(readlink -f "$1")
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

sources() {
    if [ "${1-}" = --all ]; then
        find libcodec plugin tests tools -name '*.c'
    else
        changed '*.c'
        while read -r header; do
            git grep -lF "${header##*/}" -- '*.c' | head -n 1 || true # any source shows what is wrong in a header
        done < <(changed '*.h')
    fi
}

changed() {
    git diff --name-only --diff-filter=d HEAD~1 -- "$1" 2>/dev/null || git diff --name-only --diff-filter=d HEAD -- "$1"
}

# Sources that this build does not compile (benchmarks, fuzz targets, the plugin without Wireshark) are not checked.
compiled=$(grep -o '"file": "[^"]*"' "$build/compile_commands.json" | cut -d'"' -f4)
mapfile -t files < <(grep -Fxf <(sources "${2-}" | sed "s|^|$PWD/|") <<<"$compiled" | sort -u)
printf '%d sources\n' "${#files[@]}"
if [ "${#files[@]}" -eq 0 ] && [ "${2-}" = --all ]; then
    printf '%s compiles no source of %s\n' "$build" "$PWD" >&2
    exit 1
fi
[ "${#files[@]}" -eq 0 ] || printf '%s\0' "${files[@]}" |
    xargs -0 -n 1 -P "$(nproc)" clang-tidy-19 --quiet --warnings-as-errors='*' -p "$build" 2> >(grep -v ' generated\.$' >&2)
