# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Builds and tests the libraries for other machines: for Windows, under Wine, and for a big-endian processor, under QEMU.

ports=$build_root/ports

# apt_in FOLDER SOURCE OPTION... -- COMMAND...: apt-get with a list of its own (one line, SOURCE), in FOLDER. The lists of the
# machine do not change.
apt_in() {
    local folder=$1 options=(-q -o "Dir::Etc::SourceList=$1/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o "Dir::State::Lists=$1/lists" -o "Dir::Cache=$1/cache" -o APT::Sandbox::User=)
    mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
    printf '%s\n' "$2" >"$folder/sources.list"
    shift 2
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    (cd "$folder" && apt-get "${options[@]}" update && apt-get "${options[@]}" "${@:2}")
}

# MinGW-w64 has libgcrypt, but neither cmocka nor jansson.
make_windows_prefix() {
    local prefix=$ports/windows/prefix work=$ports/windows/work package
    [ ! -f "$prefix/complete" ] || return 0
    rm -rf "$ports/windows"
    mkdir -p "$prefix"
    apt_in "$work" 'deb-src http://deb.debian.org/debian bookworm main' -- source cmocka jansson || return 1
    for package in cmocka jansson; do
        cmake -G Ninja -S "$work/$package"-*/ -B "$work/build-$package" --toolchain "$root/cmake/windows.cmake" \
            -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" \
            -DCMAKE_SHARED_LINKER_FLAGS=-static-libgcc -DWITH_EXAMPLES=OFF -DJANSSON_BUILD_DOCS=OFF -DJANSSON_EXAMPLES=OFF -DJANSSON_WITHOUT_TESTS=ON &&
            cmake --build "$work/build-$package" --target install || return 1
    done
    touch "$prefix/complete"
}

# Debian's packages for s390x are unpacked, not installed.
make_s390x_prefix() {
    local prefix=$ports/s390x/prefix work=$ports/s390x/work package
    [ ! -f "$prefix/complete" ] || return 0
    rm -rf "$ports/s390x"
    mkdir -p "$prefix"
    apt_in "$work" 'deb [arch=s390x] http://deb.debian.org/debian bookworm main' -o APT::Architecture=s390x \
        -o APT::Architectures=s390x -o Dir::State::status=/dev/null -- download libcmocka-dev libcmocka0 libjansson-dev libjansson4 \
        libgcrypt20-dev libgcrypt20 libgpg-error-dev libgpg-error0 || return 1
    for package in "$work"/*.deb; do
        dpkg-deb -x "$package" "$prefix" || return 1
    done
    cp -a "$prefix"/lib/. "$prefix/usr/lib/"
    cp -a "$prefix"/usr/include/s390x-linux-gnu/. "$prefix/usr/include/"
    sed -i "s#\(=\|-L\|-I\)/usr#\1$prefix/usr#g" "$prefix"/usr/lib/s390x-linux-gnu/pkgconfig/*.pc
    touch "$prefix/complete"
}

# logged WHAT COMMAND...: prints the output of the command only if it fails.
logged() {
    local log=$ports/$1.log
    shift
    mkdir -p "$ports"
    "$@" >"$log" 2>&1 || { tail -n 30 "$log"; return 1; }
}

# Of the tests of the libraries, a port leaves out those that need the program.
leaves_out_only_program() {
    ! cmake "$build_root/$1" | grep 'is left out' | grep -vE 'uerudp_(input|replay)|PkgConfig::glib$'
}

transcripts() {
    UE_SIM_SEEDS=1 UE_SIM_LONG_SECONDS=1 ctest --test-dir "$build_root/$1" -R '^sim$' -V | tr -d '\r' |
        sed -n 's/^[0-9]*: \(.*, transcripts [0-9a-f]*\)$/\1/p'
}

# What the endpoint sends does not depend on the machine.
has_same_transcripts() {
    local here there
    cmake -S "$root" --preset dev -B "$build_root/dev" -DUERUDP_SHARED="$shared" >/dev/null &&
        cmake --build "$build_root/dev" --target test_sim >/dev/null || return 1
    here=$(transcripts dev)
    there=$(transcripts "$1")
    diff <(printf '%s\n' "$here") <(printf '%s\n' "$there") && [ "$(wc -l <<<"$here")" -gt 50 ]
}

# build_port PRESET PREFIX
build_port() {
    check "$1: build" build "$1" -DUERUDP_SHARED="$shared" -DCMAKE_PREFIX_PATH="$2" || return 1
    check "$1: no test of the libraries is left out" leaves_out_only_program "$1" || true
}

# The first start of Wine creates its folder.
test_windows() {
    local prefix=$ports/windows/prefix
    note "Windows, under Wine"
    need_packages gcc-mingw-w64-x86-64 libgcrypt-mingw-w64-dev wine64 dpkg-dev
    check "windows: packages" logged windows make_windows_prefix || return 0
    build_port windows "$prefix" || return 0
    cp "$prefix"/bin/*.dll /usr/x86_64-w64-mingw32/bin/*.dll "$build_root/windows/tests/"
    check "windows: start Wine" logged wine ctest --test-dir "$build_root/windows" -R '^bits$' || return 0
    UE_SIM_SEEDS=20 run_tests windows "$shared"
    check "windows: the simulator has the same transcripts" has_same_transcripts windows || true
}

# QEMU is about thirty times slower than the processor; these tests run hundreds of thousands of rounds.
test_big_endian() {
    local codec_laws='^(laws.*|datagram_pieces)$'
    note "big-endian, under QEMU"
    need_packages gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user
    check "big-endian: packages" logged s390x make_s390x_prefix || return 0
    build_port big-endian "$ports/s390x/prefix/usr" || return 0
    UERUDP_LAW_ROUNDS=2000 run_tests big-endian "$shared" -R "$codec_laws"
    UE_SIM_SEEDS=2 UE_SIM_LONG_SECONDS=10 run_tests big-endian "$shared" -E "$codec_laws"
    check "big-endian: the simulator has the same transcripts" has_same_transcripts big-endian || true
}
