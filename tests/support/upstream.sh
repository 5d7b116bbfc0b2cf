# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Wireshark's own checkers, run from its unpacked source package on files of this tree.

upstream_cache=${UERUDP_UPSTREAM_CACHE:-/var/cache/uerudp-upstream}

# A separate sources.list, so that the list of the machine does not change.
fetch_upstream() {
    local version list=$upstream_cache/sources.list mirror=http://deb.debian.org
    version=$(dpkg-query -W -f '${source:Version}' libwireshark-dev)
    [ ! -f "$upstream_cache/$version/complete" ] || return 0
    rm -rf "$upstream_cache"
    mkdir -p "$upstream_cache/lists/partial" "$upstream_cache/$version"
    printf 'deb-src %s %s main\n' "$mirror/debian" bookworm "$mirror/debian" bookworm-updates \
        "$mirror/debian-security" bookworm-security >"$list"
    local options=(-q -o "Dir::Etc::SourceList=$list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$upstream_cache/lists")
    (cd "$upstream_cache/$version" &&
        apt-get "${options[@]}" update &&
        apt-get "${options[@]}" source --download-only "wireshark=$version" &&
        mkdir source && tar -xf wireshark_*.orig.tar.* -C source --strip-components=1 &&
        touch complete) >"$upstream_cache/log" 2>&1 || { tail -n 30 "$upstream_cache/log"; return 1; }
}

# check_upstream COMMAND...: run a checker on each file of the plugin; any output is an error.
check_upstream() {
    local file output bad=0
    for file in "$root"/plugin/{,first_pass/,tree/,taps/}*.[ch]; do
        output=$(cd "$upstream_source" && "$@" "$file" 2>&1) && [ -z "$output" ] && continue
        printf '%s: %s\n%s\n' "$1 $2" "$file" "$output"
        bad=1
    done
    return "$bad"
}

# These checkers print the names of files, too; errors have lines of their own.
check_upstream_python() {
    local file output bad=0
    for file in "$root"/plugin/{,first_pass/,tree/,taps/}*.c; do
        output=$(cd "$upstream_source" && python3 "$@" --file "$file" 2>&1)
        grep -q '^0 warnings' <<<"$output" && ! grep -qE '^(Error|Warning)' <<<"$output" && continue
        printf '%s: %s\n%s\n' "$1" "$file" "$output"
        bad=1
    done
    return "$bad"
}

test_upstream() {
    local tool upstream_source
    note "upstream's checkers"
    need_packages dpkg-dev perl
    check "upstream: source" fetch_upstream || return 0
    upstream_source=$upstream_cache/$(dpkg-query -W -f '${source:Version}' libwireshark-dev)/source
    for tool in checkAPIs.pl checkhf.pl checkfiltername.pl fix-encoding-args.pl; do
        check "upstream: $tool" check_upstream perl "tools/$tool" || true
    done
    check "upstream: check_tfs.py" check_upstream_python tools/check_tfs.py || true
    check "upstream: check_typed_item_calls.py" check_upstream_python tools/check_typed_item_calls.py \
        --mask --label --consecutive --missing-items || true
}
