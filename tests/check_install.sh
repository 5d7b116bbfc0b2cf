#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Install into an empty folder, look for every part, and build a project that uses the library as a stranger would.
set -euo pipefail

source=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
build=${UERUDP_BUILD:?the build folder}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

DESTDIR=$work/stage cmake --install "$build" --prefix /opt/uerudp >"$work/log"
prefix=$work/stage/opt/uerudp

for part in bin/uerudp share/man/man1/uerudp.1 include/uerudp/libcodec/codec.h; do
    [ -f "$prefix/$part" ] || { echo "not installed: $part" && exit 1; }
done
"$prefix/bin/uerudp" --version

headers=$prefix/include/uerudp
if grep -l PRIVATE "$headers"/libcodec/*; then echo "the private headers above were installed" && exit 1; fi
for header in "$headers"/libcodec/*.h; do
    cc -std=c11 -Wall -Wextra -Werror -fsyntax-only -I "$headers" -x c - <<<"#include \"libcodec/${header##*/}\""
done

if [ -n "${UERUDP_PLUGINS:-}" ]; then
    folder=$(pkg-config --variable=plugindir wireshark)
    [ -f "$work/stage$folder/epan/uerudp.so" ] || { echo "the plugin is not in $folder/epan" && exit 1; }
fi

cmake -G Ninja -S "$source/tests/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" ||
    { cat "$work/log" && exit 1; }
cmake --build "$work/consumer" >"$work/log" || { cat "$work/log" && exit 1; }
"$work/consumer/consumer"
