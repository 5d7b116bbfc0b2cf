#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Install into an empty folder, check every part, and build a project that uses the installed library.
set -euo pipefail

source=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
build=${UERUDP_BUILD:?the build folder}
work=$(mktemp -d)
server=
# A server without a client never exits, and would keep the output of this script open.
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

DESTDIR=$work/stage cmake --install "$build" --prefix /opt/uerudp >"$work/log"
prefix=$work/stage/opt/uerudp

for part in bin/uerudp share/man/man1/uerudp.1 share/man/man1/uerudp-link.1 share/doc/uerudp/scripts/ping-samples.txt share/doc/uerudp/uerudp.schema.json \
    share/bash-completion/completions/uerudp share/zsh/site-functions/_uerudp share/fish/vendor_completions.d/uerudp.fish \
    include/uerudp/codec.h include/uerudp/endpoint.h; do
    [ -f "$prefix/$part" ] || { echo "not installed: $part" && exit 1; }
done
"$prefix/bin/uerudp" --version
outside=$(find "$work/stage" -type f ! -path "$prefix/*")
[ -z "$outside" ] || { echo "installed outside the prefix: $outside" && exit 1; }

headers=$prefix/include
for header in "$headers"/uerudp/*.h; do
    line="#include <${header#"$headers"/}>"
    cc -std=c11 -Wall -Wextra -pedantic -Werror -fsyntax-only -I "$headers" -x c - <<<"$line"$'\nextern int declaration;' # some have only macros
    echo "$line" >>"$work/all.h" # each header alone and all together: no name is defined twice
done
cc -std=c11 -Wall -Wextra -pedantic -Werror -fsyntax-only -I "$headers" -x c "$work/all.h"
c++ -std=c++17 -Wall -Wextra -pedantic -Werror -fsyntax-only -I "$headers" -x c++ "$work/all.h"

! grep -rlaF -e "$build" -e "$source" "$prefix" || { echo "these files name a folder of the build" && exit 1; }

# A program that is built by pkg-config alone.
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name uerudp-endpoint.pc)")
export PKG_CONFIG_PATH
read -ra flags < <(pkg-config --cflags --libs uerudp-endpoint)
cc -std=c11 -Wall -Wextra -pedantic -Werror "$source/tests/consumer/client.c" -o "$work/client" "${flags[@]}"
c++ -std=c++17 -Wall -Wextra -pedantic -Werror "$source/tests/consumer/main.cpp" -o "$work/main" "${flags[@]}"
LD_LIBRARY_PATH=${PKG_CONFIG_PATH%/pkgconfig} "$work/main"
unset PKG_CONFIG_PATH

if [ -n "${UERUDP_PLUGINS:-}" ]; then
    series=$(pkg-config --variable=plugindir wireshark) && series=${series##*/}
    [ -f "$prefix/lib/wireshark/plugins/$series/epan/uerudp.so" ] || { echo "the plugin is not below the prefix" && exit 1; }
    [ -f "$prefix/share/wireshark/profiles/uerudp/preferences" ] || { echo "the profile is not below the prefix" && exit 1; }
fi

cmake -G Ninja -S "$source/tests/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" ||
    { cat "$work/log" && exit 1; }
cmake --build "$work/consumer" >"$work/log" || { cat "$work/log" && exit 1; }
"$work/consumer/consumer"
"$work/consumer/consumer_cpp"

# The example of docs/embedding.md is a client that joins uerudp serve.
diff <(sed -n '/^```c$/,/^```$/{/^```/d;p}' "$source/docs/embedding.md") <(sed 1d "$source/tests/consumer/client.c") ||
    { echo "docs/embedding.md shows another example than tests/consumer/client.c" && exit 1; }
for client in client client_cpp; do
    : >"$work/serve" # it is read before the server writes it
    timeout 60 "$prefix/bin/uerudp" serve --mode echo --once --port 0 >"$work/serve" &
    server=$!
    for ((i = 0; i < 100; i++)); do
        port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p;T;q' "$work/serve")
        [ -z "$port" ] || break
        sleep 0.1
    done
    [ -n "$port" ] || { echo "the server does not listen" && exit 1; }
    timeout 30 "$work/consumer/$client" "$port" >"$work/events" || { cat "$work/serve" "$work/events" && exit 1; }
    wait "$server" || { echo "the server did not end when the client had left" && cat "$work/serve" && exit 1; }
    server=
    grep -q '^state, channel 0, state open' "$work/events" || { cat "$work/events" && exit 1; }
done
