# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Wireshark's own checkers, run from its unpacked source package. They are not part of this tree: what they are to see
# is given to them by name.

upstream_cache=${UERUDP_UPSTREAM_CACHE:-/var/cache/uerudp-upstream}

# A list of sources of its own, so that the machine's are left as they are.
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

# check_upstream COMMAND...: one checker on the files of the plugin, each alone; all that it prints is a complaint.
check_upstream() {
    local file said bad=0
    for file in "$root"/plugin/{,first_pass/,tree/,taps/}*.[ch]; do
        said=$(cd "$upstream_source" && "$@" "$file" 2>&1) && [ -z "$said" ] && continue
        printf '%s: %s\n%s\n' "$1 $2" "$file" "$said"
        bad=1
    done
    return "$bad"
}

# These say what they look at, too, and complain in lines of their own.
check_upstream_python() {
    local file said bad=0
    for file in "$root"/plugin/{,first_pass/,tree/,taps/}*.c; do
        said=$(cd "$upstream_source" && python3 "$@" --file "$file" 2>&1)
        grep -q '^0 warnings' <<<"$said" && ! grep -qE '^(Error|Warning)' <<<"$said" && continue
        printf '%s: %s\n%s\n' "$1" "$file" "$said"
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
