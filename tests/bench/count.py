#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows C2, C3 and E7: instructions per packet of the codec and per message of the endpoint, counted by callgrind.

usage: count.py FOLDER [--long] [ROW...]

FOLDER has bench_codec and bench_work. A figure of C2 is invalid when the limit codec takes more than 1.15 times the instructions that it
took when the goals were set: a weak anchor makes the library look good.
"""
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from figure import print_figure, wanted_rows  # noqa: E402

PACKETS = 1024  # of bench_codec --count
MESSAGES = 4000  # of the shorter run of bench_work --count
NOT_BUILT_IN = 77
LIMIT_KNOWN = {"U1": 262, "U4": 647, "U20": 2701}
LIMIT_MAX = 1.15
FIGURES = {"U1": "1 bunch", "U4": "4 bunches", "U20": "20 bunches"}


def callgrind(functions, *command):
    """Instructions inside functions of these names, or None where the program has no such candidate. Each entry of a
    function flips whether instructions count: functions that are called back from the first ones do not count."""
    toggles = [f"--toggle-collect={name}" for name in functions]
    result = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *toggles, *command],
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if result.returncode == NOT_BUILT_IN:
        return None
    collected = re.search(r"Collected *: *(\d+)", result.stderr)
    if result.returncode != 0 or collected is None:
        sys.exit(f"{' '.join(map(str, command))}: status {result.returncode}\n{result.stderr}")
    return int(collected[1])


def print_count(row, figure, value, **more):
    print_figure(row, figure, value, "instructions", **more)


def count_codec(program, rows):
    def per_packet(shape, candidate):
        return callgrind(["bench_run_*"], program, "--count", shape, candidate) / PACKETS

    for shape, figure in FIGURES.items() if "C2" in rows else ():
        limit = per_packet(shape, "limit_headers")
        invalid = {"invalid": f"the limit codec takes {limit:.0f} instructions, more than {LIMIT_MAX} times "
                              f"{LIMIT_KNOWN[shape]}"} if limit > LIMIT_MAX * LIMIT_KNOWN[shape] else {}
        print_count("C2", figure, per_packet(shape, "library_headers"), note=f"limit {limit:.0f}", **invalid)
    if "C3" in rows:
        print_count("C3", "4 bunches, instructions", per_packet("U4", "library_payload"))


def count_endpoint(program):
    def per_message(candidate, messages_per_step):
        """Without what connecting costs."""
        runs = [callgrind(["soak_call_*", "soak_back_*"], program, "--count", candidate, str(messages_per_step), str(count))
                for count in (MESSAGES, 3 * MESSAGES)]
        return (runs[1] - runs[0]) / (2 * MESSAGES) if None not in runs else None

    for messages_per_step in (4, 1):
        enet, stub = (per_message(candidate, messages_per_step) for candidate in ("ENet", "ENet-stub"))
        note = {"note": f"ENet {enet - stub:.0f} without {stub:.0f} of its socket layer's stub"} if enet else {}
        print_count("E7", f"k={messages_per_step}", per_message("uerudp", messages_per_step), **note)


def main():
    folder = pathlib.Path(sys.argv[1])
    rows = wanted_rows(sys.argv[2:], ["C2", "C3", "E7"])
    if {"C2", "C3"} & set(rows):
        count_codec(folder / "bench_codec", rows)
    if "E7" in rows:
        count_endpoint(folder / "bench_work")


if __name__ == "__main__":
    main()
