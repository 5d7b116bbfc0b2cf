#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is delivered: two builds of the preset release in different folders are equal byte by byte and name no folder, with
# static and with shared libraries; a normal user installs them; C and C++ programs find the installed libraries by
# find_package and by pkg-config, also with another compiler; the target uninstall leaves nothing behind.
set -euo pipefail

source=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
# shellcheck source=tools/lib.sh
. "$source/tools/lib.sh"
work=$(TMPDIR=/tmp mktemp -d) # for the user nobody, too
trap 'rm -rf "$work"' EXIT
export UERUDP_BUILD='' # of the test that runs this

fail() {
    printf '%s\n' "$*"
    exit 1
}

quietly() {
    "$@" >"$work/log" 2>&1 || { cat "$work/log" && fail "failed: $*"; }
}

# build_release TREE OPTION...
build_release() {
    local tree=$1
    shift
    quietly cmake -S "$tree" --preset release -B "$tree/build" "$@"
    quietly cmake --build "$tree/build" --parallel "$(nproc)"
}

# Two folders whose names have different lengths. ccache would hand out the same object twice.
copy_tree() {
    mkdir -p "$1"
    tar -C "$source" --exclude=./build --exclude=./.git -cf - . | tar -C "$1" -xf -
}

checksums() {
    (cd "$1" && find . -type f -exec sha256sum {} + | sort -k 2)
}

# The prefix is named nowhere but in the manifest of the build folder.
check_equal() {
    diff <(checksums "$work/a/prefix") <(checksums "$work/longer-name/prefix") || fail "two builds differ"
    ! grep -rlaF -e "$work" -e "$source" "$work/a/prefix" || fail "these files name the folder of the build"
}

# check_consumer PREFIX COMPILER C++COMPILER: by find_package
check_consumer() {
    local prefix=$1 build=$work/consumer-$2
    rm -rf "$build"
    quietly env CC="$2" CXX="$3" cmake -G Ninja -S "$source/tests/consumer" -B "$build" -DCMAKE_PREFIX_PATH="$prefix"
    quietly cmake --build "$build"
    quietly "$build/consumer"
    quietly "$build/consumer_cpp"
    [ -x "$build/client" ] || fail "no client was built"
}

# check_pkg_config PREFIX: the program also finds the shared library at run time, by its soname
check_pkg_config() {
    local folder flags
    folder=$(dirname "$(find "$1" -name uerudp-endpoint.pc)")
    [ "$(PKG_CONFIG_PATH=$folder pkg-config --modversion uerudp-endpoint)" = "$(PKG_CONFIG_PATH=$folder pkg-config --modversion uerudp-codec)" ] ||
        fail "pkg-config: versions differ"
    read -ra flags < <(PKG_CONFIG_PATH=$folder pkg-config --cflags --libs uerudp-endpoint)
    quietly cc -std=c11 -D_GNU_SOURCE "$source/tests/consumer/client.c" -o "$work/client" "${flags[@]}"
    quietly c++ -std=c++17 "$source/tests/consumer/main.cpp" -o "$work/main" "${flags[@]}"
    quietly env LD_LIBRARY_PATH="${folder%/pkgconfig}" "$work/main"
}

# A shared library exports what the headers declare, and each has its soname with the version that the interface has.
check_exports() {
    local library name
    for name in codec endpoint; do
        library=$(find "$1" -name "libuerudp_$name.so.*.*.*")
        [ -f "$library" ] || fail "no shared library $name"
        readelf -d "$library" | grep "SONAME.*\[libuerudp_$name\.so\.[0-9]*\.[0-9]*\]" >/dev/null || fail "$library: soname"
        ! nm -D --defined-only "$library" | grep -vE ' (T|R|D|B) ue_| A UERUDP_' || fail "$library exports more than its interface"
        nm -D --defined-only "$library" | grep ' T ue_' >/dev/null || fail "$library exports nothing"
    done
}

check_no_static() {
    ! find "$1" -name '*.a' | grep . || fail "a static library beside the shared ones"
}

# An archive has machine code, not what one compiler leaves for its own linker.
check_static() {
    local library
    for library in "$1"/lib/libuerudp_{codec,endpoint}.a; do
        [ -f "$library" ] || fail "not installed: $library"
        ! readelf -SW "$library" | grep -m 1 gnu.lto_ || fail "$library has intermediate code"
    done
}

# install_as_user TREE: below a home folder, without DESTDIR and without root
install_as_user() {
    local home=$work/home
    rm -rf "$home"
    mkdir -m 755 "$home"
    chmod -R a+rwX "$work"
    [ "$(id -u)" -ne 0 ] || chown 65534:65534 "$home"
    quietly unprivileged env HOME="$home" cmake --install "$1/build" --prefix "$home/.local"
    quietly unprivileged "$home/.local/bin/uerudp" info "$home/.local/share/doc/uerudp/captures/login.pcapng"
    if [ -n "${UERUDP_PLUGINS:-}" ]; then # Wireshark finds it without a variable
        unprivileged env -u WIRESHARK_PLUGIN_DIR HOME="$home" tshark -G plugins 2>/dev/null | grep "^uerudp\.so.*$home" >/dev/null ||
            fail "Wireshark does not load the plugin below ~/.local"
    fi
    quietly unprivileged env HOME="$home" cmake --build "$1/build" --target uninstall
    ! find "$home/.local" -type f -o -type l -o -name '*uerudp*' | grep . || fail "uninstall left these"
}

for tree in "$work/a" "$work/longer-name"; do copy_tree "$tree"; done
for shared in OFF ON; do
    for tree in "$work/a" "$work/longer-name"; do
        build_release "$tree" -DBUILD_SHARED_LIBS=$shared -DCMAKE_C_COMPILER_LAUNCHER= -DUERUDP_CCACHE=
        rm -rf "$tree/prefix"
        quietly cmake --install "$tree/build" --prefix "$tree/prefix"
    done
    check_equal
    check_pkg_config "$work/a/prefix"
    check_consumer "$work/a/prefix" gcc g++
    check_consumer "$work/a/prefix" clang clang++
    if [ $shared = OFF ]; then check_static "$work/a/prefix"; else check_exports "$work/a/prefix" && check_no_static "$work/a/prefix"; fi
    install_as_user "$work/a"
done
