#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: check_tidy.sh BUILD [--all | --most N]
# clang-tidy finds nothing in the sources that differ from the commit before the last one, or that include a header that
# differs; with --all, in any source; with --most, in the N sources where they or the header differ in most lines.
# BUILD is a configured build folder, which has compile_commands.json; the one generated header is made in it.
set -euo pipefail
build=$(readlink -f "$1")
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

sources() {
    if [ "${1-}" = --all ]; then
        find libcodec plugin tests tools -name '*.c'
    else
        while read -r file; do
            case $file in
            *.h) git grep -lF "${file##*/}" -- '*.c' | head -n 1 || true ;; # any source shows what is wrong in a header
            *) printf '%s\n' "$file" ;;
            esac
        done < <(changed | sort -rn | cut -f3)
    fi
}

# Lines that are added, lines that are removed, file
changed() {
    local options=(--numstat --no-renames --diff-filter=d)
    git diff "${options[@]}" HEAD~1 -- '*.[ch]' 2>/dev/null || git diff "${options[@]}" HEAD -- '*.[ch]'
}

# Sources that this build does not compile (benchmarks, fuzz targets, the plugin without Wireshark) are not checked.
compiled=$(grep -o '"file": "[^"]*"' "$build/compile_commands.json" | cut -d'"' -f4)
mapfile -t files < <(sources "${2-}" | sed "s|^|$PWD/|" | grep -Fxf <(printf '%s\n' "$compiled") | awk '!seen[$0]++')
found=${#files[@]}
[ "${2-}" != --most ] || files=("${files[@]:0:$3}")
printf '%d of %d sources\n' "${#files[@]}" "$found"
if [ "${#files[@]}" -eq 0 ] && [ "${2-}" = --all ]; then
    printf '%s compiles no source of %s\n' "$build" "$PWD" >&2
    exit 1
fi
cmake --build "$build" --target generated/trace_resource.h >/dev/null
[ "${#files[@]}" -eq 0 ] || printf '%s\0' "${files[@]}" |
    xargs -0 -n 1 -P "$(nproc)" clang-tidy-19 --quiet --warnings-as-errors='*' -p "$build" 2> >(grep -v ' generated\.$' >&2)
