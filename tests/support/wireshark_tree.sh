# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Builds the plugin as a custom plugin in the source tree of Debian's Wireshark, as docs/install.md describes it.

# unpack_wireshark FOLDER: Wireshark's source, with this tree as plugins/epan/uerudp.
unpack_wireshark() {
    local source=$1 upstream
    upstream=$upstream_cache/$(dpkg-query -W -f '${source:Version}' libwireshark-dev)/source
    if [ ! -f "$source/complete" ]; then
        copy_into "$upstream" "$source"
        touch "$source/complete"
    fi
    copy_into "$root" "$source/plugins/epan/uerudp" --exclude=./build --exclude=./.git
    printf 'set(CUSTOM_PLUGIN_SRC_DIR plugins/epan/uerudp/plugin)\n' >"$source/CMakeListsCustom.txt"
}

# Not optimised, which takes a third of the time for Wireshark's 1,700 sources. The plugin is compiled again, for its warnings.
build_in_wireshark() {
    local folder=$1 program switches=()
    rm -rf "$folder/build/plugins/epan/uerudp"
    while read -r program; do
        switches+=("-D$program=OFF")
    done < <(sed -n 's/^[[:space:]]*option(\(BUILD_[a-z0-9]*\).*/\1/p' "$folder/source/CMakeOptions.txt")
    cmake -G Ninja -S "$folder/source" -B "$folder/build" "${switches[@]}" -DBUILD_tshark=ON -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_FLAGS_DEBUG=-O0 &&
        nice -n 19 cmake --build "$folder/build" --parallel "$(nproc)" --target tshark uerudp
}

has_no_warnings() {
    ! grep -A 5 "uerudp/.*warning:" "$1"
}

is_loaded_in_tree() {
    "$1/build/run/tshark" -G plugins 2>/dev/null | grep "^uerudp\.so.*$1/build/run/plugins"
}

# The plugin of this tree, in the installed Wireshark, dissects as the one that Wireshark's build made.
dissects_in_tree() {
    local folder=$1 capture="$root/captures/mixed.pcapng"
    check "wireshark-tree: build dev" build dev -DUERUDP_SHARED="$shared" || return 1
    "$folder/build/run/tshark" -2 -r "$capture" -V -O uerudp >"$folder/in-tree.txt"
    unprivileged env WIRESHARK_PLUGIN_DIR="$build_root/dev/plugins" HOME=/nonexistent tshark -2 -r - -V -O uerudp <"$capture" >"$folder/alone.txt"
    cmp "$folder/in-tree.txt" "$folder/alone.txt" && [ "$(grep -c '^Unreal Engine' "$folder/in-tree.txt")" -gt 100 ]
}

test_wireshark_tree() {
    local folder=$build_root/wireshark-tree
    note "the plugin in Wireshark's source tree"
    need_packages dpkg-dev perl python3 flex libc-ares-dev libpcre2-dev libspeexdsp-dev
    check "wireshark-tree: source" fetch_upstream || return 0
    check "wireshark-tree: unpack" unpack_wireshark "$folder/source" || return 0
    check "wireshark-tree: build" logged wireshark-tree build_in_wireshark "$folder" || return 0
    check "wireshark-tree: no warnings" has_no_warnings "$ports/wireshark-tree.log" || true
    check "wireshark-tree: the plugin is loaded" is_loaded_in_tree "$folder" || return 0
    check "wireshark-tree: it dissects a capture" dissects_in_tree "$folder" || true
}
