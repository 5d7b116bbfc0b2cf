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

# Without optimisation the frames of layouts are large.
has_no_warnings() {
    ! grep "uerudp/.*warning:" "$1" | grep -v 'the frame size of'
}

# Wireshark loads plugins of its build folder only if it does not run as root, and nobody cannot read a clone in a private home.
tshark_of_tree() {
    unprivileged env HOME=/nonexistent LD_LIBRARY_PATH="$stage/run" WIRESHARK_RUN_FROM_BUILD_DIRECTORY=1 "$stage/run/tshark" "$@"
}

is_loaded_in_tree() {
    tshark_of_tree -G plugins | grep "^uerudp\.so.*$stage/run/plugins"
}

# The plugin that was built alone, in the installed Wireshark, dissects as the one that Wireshark's build made.
dissects_in_tree() {
    local capture=$stage/mixed.pcapng
    cp "$root/captures/mixed.pcapng" "$capture"
    cp -r "$build_root/dev/plugins" "$stage/alone"
    chmod -R a+rX "$stage"
    tshark_of_tree -2 -r "$capture" -V -O uerudp >"$stage/in-tree.txt" &&
        unprivileged env WIRESHARK_PLUGIN_DIR="$stage/alone" HOME=/nonexistent tshark -2 -r "$capture" -V -O uerudp >"$stage/alone.txt" &&
        cmp "$stage/in-tree.txt" "$stage/alone.txt" && [ "$(grep -c '^Unreal Engine' "$stage/in-tree.txt")" -gt 20 ]
}

test_wireshark_tree() {
    local folder=$build_root/wireshark-tree stage
    note "the plugin in Wireshark's source tree"
    need_packages dpkg-dev perl python3 flex libc-ares-dev libpcre2-dev libspeexdsp-dev
    check "wireshark-tree: source" fetch_upstream || return 0
    check "wireshark-tree: unpack" unpack_wireshark "$folder/source" || return 0
    check "wireshark-tree: build" logged wireshark-tree build_in_wireshark "$folder" || return 0
    check "wireshark-tree: no warnings" has_no_warnings "$ports/wireshark-tree.log" || true
    check "wireshark-tree: build the plugin alone" build dev -DUERUDP_SHARED="$shared" || return 0
    stage=$(TMPDIR=/tmp mktemp -d)
    chmod 755 "$stage"
    cp -a "$folder/build/run" "$stage/run"
    chmod -R a+rX "$stage/run"
    check "wireshark-tree: the plugin is loaded" is_loaded_in_tree &&
        check "wireshark-tree: it dissects a capture" dissects_in_tree || true
    rm -rf "$stage"
}
