# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What tools/dissect and tests/run share: messages, Debian packages, the build, and the unprivileged user.

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 2
}

note() {
    printf '%s\n' "== $*" >&2
}

build_packages=(cmake ninja-build gcc libc6-dev pkg-config libpcap-dev libjansson-dev libglib2.0-dev
    libgcrypt20-dev zlib1g-dev node-d3 wireshark-dev libwireshark-dev libwiretap-dev libwsutil-dev tshark)

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "needs root or sudo for: $*"
    fi
}

missing_packages() {
    local package
    for package in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s\n' "$package"
    done
}

# Packages that are there already are left alone, so the second time costs nothing and needs no root.
need_packages() {
    command -v dpkg-query >/dev/null || die "this script installs Debian packages; docs/install.md says how to build elsewhere"
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [ "${#missing[@]}" -gt 0 ] || return 0
    note "installing ${missing[*]}"
    install_packages "${missing[@]}" || {
        as_root apt-get update -q >&2
        install_packages "${missing[@]}" || die "apt-get could not install: ${missing[*]}"
    }
}

install_packages() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >&2
}

# Reports how much of a build is done, from the lines of Ninja on standard input, and copies them to standard output: at a
# terminal in one line, else about every tenth. Prints nothing if there is nothing to build.
report_progress() {
    local line percent='' shown=-1
    while IFS= read -r line; do
        printf '%s\n' "$line"
        [[ $line =~ ^\[([1-9][0-9]*)/([0-9]+)\] ]] || continue # [0/2] is a check, whatever there is to build
        percent=$((BASH_REMATCH[1] * 100 / BASH_REMATCH[2]))
        if [ -t 2 ]; then
            printf '\r== building: %d %% of %d steps' "$percent" "${BASH_REMATCH[2]}" >&2
        elif [ $((percent / 10)) -gt "$shown" ]; then
            shown=$((percent / 10))
            note "building: $percent % of ${BASH_REMATCH[2]} steps"
        fi
    done
    [ -z "$percent" ] || [ ! -t 2 ] || printf '\n' >&2
}

# build PRESET [cmake options]: prints nothing unless it fails, except the progress if build_reports is set.
build() {
    local preset=$1 log
    shift
    log=$(mktemp)
    if ! cmake -S "$root" --preset "$preset" -B "$build_root/$preset" "$@" >"$log" 2>&1 ||
        ! cmake --build "$build_root/$preset" --parallel "$(nproc)" 2>&1 |
        if [ -n "${build_reports:-}" ]; then report_progress; else cat; fi >>"$log"; then
        cat "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}

# Wireshark ignores every plugin outside its own folder when user or group is root.
unprivileged() {
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
    else
        "$@"
    fi
}
