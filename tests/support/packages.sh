# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Builds the packages in a fresh chroot of each Debian release, from the source tarball, and installs them in another one.

# base_chroot SUITE: a chroot with nothing but the release, of which the tests use copies.
base_chroot() {
    local base=$chroot_cache/$1-base
    [ ! -f "$base/complete" ] || return 0
    rm -rf "$base"
    mkdir -p "$chroot_cache"
    debootstrap --variant=minbase "$1" "$base" http://deb.debian.org/debian >"$base.log" 2>&1 && touch "$base/complete" && return
    tail -n 30 "$base.log"
    return 1
}

# fresh_chroot SUITE FOLDER
fresh_chroot() {
    rm -rf "$2"
    cp -a "$chroot_cache/$1-base" "$2"
    in_chroot "$2" apt-get -q update
}

source_tarball() {
    cmake -S "$root" --preset package -B "$build_root/package" &&
        (cd "$build_root/package" && cpack --config CPackSourceConfig.cmake) &&
        tar -tf "$build_root"/package/packages/uerudp-*.tar.gz | sed -n 's#^uerudp-[0-9.]*/\(.*[^/]\)$#\1#p' >"$build_root/package/files" &&
        if [ -e "$root/.git" ]; then diff <(git -C "$root" ls-files | LC_ALL=C sort) <(LC_ALL=C sort "$build_root/package/files"); fi
}

# tools/dissect is the first command of a reader of the README; it installs what the packages need, too.
dissect_from_tarball() {
    mkdir "$1/src"
    tar -C "$1/src" --strip-components=1 -xf "$build_root"/package/packages/uerudp-*.tar.gz
    in_chroot "$1" sh -euc 'cd /src && tools/dissect >/tmp/dissection && grep UERUDP /tmp/dissection | grep Challenge'
}

build_packages_in() {
    in_chroot "$1" sh -euc '
        cd /src
        apt-get install -y -q --no-install-recommends dpkg-dev file lintian
        cmake --preset package
        cmake --build build/package
        cd build/package && cpack
        lintian --allow-root --fail-on error,warning packages/*.deb'
}

# Everything that a user does with the installed packages.
use_packages_in() {
    mkdir "$1/packages"
    cp "$2"/src/build/package/packages/*.deb "$1/packages/"
    cp -r "$root/tests/consumer" "$1/consumer"
    in_chroot "$1" sh -euc '
        apt-get install -y -q --no-install-recommends /packages/*.deb tshark gcc g++ libc6-dev pkg-config cmake make
        uerudp info /usr/share/doc/uerudp/captures/login.pcapng | grep "^connection 0"
        uerudp generate game --duration 1 --output /tmp/game.pcapng
        uerudp trace --output /tmp/game.html /tmp/game.pcapng
        uerudp doctor
        setpriv --reuid=65534 --regid=65534 --clear-groups tshark -G plugins | grep "^uerudp\.so"
        tshark -2 -r /usr/share/doc/uerudp/captures/login.pcapng -Y uerudp.control | grep UERUDP
        cc -std=c11 -D_GNU_SOURCE /consumer/client.c -o /tmp/client $(pkg-config --cflags --libs uerudp-endpoint)
        cmake -S /consumer -B /tmp/consumer
        cmake --build /tmp/consumer
        /tmp/consumer/consumer
        /tmp/consumer/consumer_cpp
        apt-get purge -y -q uerudp libuerudp-dev wireshark-plugin-uerudp
        ! find / -xdev -path /consumer -prune -o -path /packages -prune -o -name "*uerudp*" -print | grep .'
}

test_packages() {
    local suite builder user
    note "packages"
    need_packages debootstrap
    [ "$(id -u)" -eq 0 ] || die "--only packages needs root, for chroot"
    check "packages: what is delivered" env UERUDP_PLUGINS=yes "$root/tests/checks/check_release.sh" || true
    check "packages: source tarball" logged tarball source_tarball || return 0
    for suite in bookworm trixie; do
        builder=$chroot_cache/$suite-builder user=$chroot_cache/$suite-user
        check "packages, $suite: base" base_chroot "$suite" || continue
        check "packages, $suite: chroot to build" logged "$suite-builder" fresh_chroot "$suite" "$builder" || continue
        check "packages, $suite: tools/dissect from the tarball" logged "$suite-dissect" dissect_from_tarball "$builder" || continue
        check "packages, $suite: cpack and lintian" logged "$suite-cpack" build_packages_in "$builder" || continue
        check "packages, $suite: chroot to install" logged "$suite-user" fresh_chroot "$suite" "$user" || continue
        check "packages, $suite: install, use, remove" logged "$suite-use" use_packages_in "$user" "$builder" || true
        rm -rf "$builder" "$user"
    done
}
