# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Builds and tests against a newer Wireshark, in a chroot of the Debian release that has it.

chroot_cache=${UERUDP_CHROOT_CACHE:-/var/cache/uerudp-chroot}

suite_of() {
    case $1 in
    4.4) echo trixie ;;
    4.6) echo sid ;;
    *) die "--wireshark knows 4.4 and 4.6, not $1" ;;
    esac
}

# The private mount namespace ends with the command, so nothing stays mounted.
in_chroot() {
    local chroot=$1
    shift
    unshare --mount --propagation private sh -euc '
        mount -t proc proc "$1/proc"
        mount --rbind /dev "$1/dev"
        exec chroot "$@"' sh "$chroot" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

# The Release file of sid may have expired.
update_chroot() {
    in_chroot "$2" apt-get -q -o Acquire::Check-Valid-Until=false update >>"$chroot_cache/$1.log" 2>&1
}

install_into_chroot() {
    in_chroot "$2" apt-get install -y -q --no-install-recommends "${build_packages[@]}" g++ libcmocka-dev valgrind openssl \
        python3 python3-jsonschema jq wireshark-common chromium "${window_packages[@]}" >>"$chroot_cache/$1.log" 2>&1
}

# Packages of an old list may not exist any more.
need_in_chroot() {
    install_into_chroot "$@" || { update_chroot "$@" && install_into_chroot "$@"; }
}

# An incomplete chroot is replaced.
make_chroot() {
    local suite=$1 chroot=$2
    rm -rf "$chroot"
    mkdir -p "$chroot_cache"
    debootstrap --variant=minbase "$suite" "$chroot" http://deb.debian.org/debian >"$chroot_cache/$suite.log" 2>&1 &&
        update_chroot "$suite" "$chroot" &&
        install_into_chroot "$suite" "$chroot" &&
        touch "$chroot/complete" && return
    tail -n 30 "$chroot_cache/$suite.log"
    return 1
}

# The version of Wireshark in sid changes.
has_wireshark() {
    [[ $(in_chroot "$2" tshark --version 2>/dev/null) == "TShark (Wireshark) $1."* ]]
}

copy_into() {
    local from=$1 to=$2
    shift 2
    rm -rf "$to"
    mkdir -p "$to"
    tar -C "$from" "$@" -cf - . | tar -C "$to" -xf -
}

# In the chroot the tree is /src/main, and the shared folder is beside it. Tests that wait for the real clock do not depend
# on Wireshark, and those with valgrind take hours; the variants asan and dev run them.
test_wireshark() {
    local series=$1 suite chroot report
    suite=$(suite_of "$series")
    chroot=$chroot_cache/$suite
    report=$chroot/src/build/tests.xml
    [ "$(id -u)" -eq 0 ] || die "--wireshark needs root, for chroot"
    need_packages debootstrap
    note "Wireshark $series, Debian $suite"
    [ -f "$chroot/complete" ] || check "$series: make the chroot" make_chroot "$suite" "$chroot" || return 0
    check "$series: packages" need_in_chroot "$suite" "$chroot" || return 0
    in_chroot "$chroot" sh -c 'gcc --version | head -n 1; tshark --version 2>/dev/null | head -n 1'
    check "$series: what Debian $suite has" has_wireshark "$series" "$chroot" || return 0
    copy_into "$root" "$chroot/src/main" --exclude=./build --exclude=./.git
    rm -rf "$chroot/src/shared"
    [ ! -d "$shared" ] || copy_into "$shared" "$chroot/src/shared"
    check "$series: build" in_chroot "$chroot" sh -euc '
        cd /src/main
        cmake --preset dev -B /src/build/dev
        cmake --build /src/build/dev' || return 0
    rm -f "$report"
    in_chroot "$chroot" ctest --test-dir /src/build/dev --output-on-failure --no-tests=error -j "$(nproc)" \
        --output-junit /src/build/tests.xml --test-output-size-passed 100000 -LE 'bench|live' -E '^plugin_slow_' || true
    if [ -f "$report" ]; then count_tests "$series" "$report"; else fail "$series: ctest"; fi
}
