#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows T4, T5, T8 and T9: generate, and what reads captures of 1, 100 and 1,000 simulated connections.

usage: bench_generated.py FOLDER [--long] [ROW...]; environment: UERUDP_PROGRAM

FOLDER has the programs in C. Captures lie in a temporary folder. They are of the named scenario mixed, whose packets take
about 560 bytes of the file, but for T5, whose goal is set for packets of 289 bytes: mixed.scenario.
"""
import contextlib
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1]))
import command  # noqa: E402
import figure  # noqa: E402
import goals  # noqa: E402

ROUNDS = 5
LARGE_ROUNDS = 3
PLAY_S = 5000  # of all connections together: 1 M packets
LARGE_PLAY_S = 9000  # 1 GB
SMALL_PACKETS = pathlib.Path(__file__).with_name("mixed.scenario")
SMALL_PACKETS_PLAY_S = 8000  # 1 M packets
KILOBYTE, MEGABYTE = 1e3, 1e6


class Capture:
    """A capture of simulated connections. packets: how many there are, once it is written."""

    def __init__(self, folder, place, scenario, connections, play_s):
        self.folder = folder
        self.path = os.path.join(place, f"{connections}.pcapng")
        self.command = command.generate(self.path, scenario, connections, play_s / connections)
        self.packets = None

    def write(self):
        usage = self.folder.usage(self.command)
        self.packets = self.packets or self.folder.count(self.path)
        return usage

    def note(self):
        return f"{self.packets / 1e6:.2f} M packets, {os.path.getsize(self.path) / MEGABYTE:.0f} MB"


@contextlib.contextmanager
def captures(folder, *numbers, play_s=PLAY_S, scenario="mixed"):
    """A capture for each number of connections, not yet written."""
    with tempfile.TemporaryDirectory() as place:
        yield [Capture(folder, place, scenario, connections, play_s) for connections in numbers]


def disturbance(usage):
    """Why a figure cannot be judged, from a command that only calculates: alone, it has a core all the time. Others do not
    only take wall clock but also the cache, which the state of many connections needs."""
    idle = 1 - usage.cpu_s / usage.wall_s
    return {"invalid": f"other processes had its core for {idle:.0%} of the time"} if idle > goals.SPREAD_MAX else {}


def measure_check(folder):
    """Row T4."""
    given_up = 0
    for connections, name in (1, "1 connection"), (100, "100 connections"):
        with captures(folder, connections) as (capture,):
            capture.write()
            words = [command.PROGRAM, "replay", "--check", "--json", capture.path]
            output = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
            checks = [json.loads(line) for line in output.splitlines()]
            given_up += connections - sum("not_compared" not in check["client"] | check["server"] for check in checks)
            differing = sum(check["differs"] for check in checks)
            usage = command.in_turn(ROUNDS, {name: lambda: folder.usage(words)})[name]
            invalid = {"invalid": f"{differing} connections differ, and none is wrong"} if differing else disturbance(usage)
            figure.print_figure("T4", name, usage.cpu_s / capture.packets * 1e6, "us", note=capture.note(), **invalid)
    figure.print_figure("T4", "given up", given_up, "connections")


def measure_generate(folder):
    """Row T5."""
    with captures(folder, 1, 1000, play_s=SMALL_PACKETS_PLAY_S, scenario=SMALL_PACKETS) as (one, many):
        usages = command.in_turn(LARGE_ROUNDS, {capture: capture.write for capture in (one, many)} | {
            "reference": lambda: folder.usage([folder.program("bench_read"), one.path])})
        for capture, name in (one, "1 connection"), (many, "1,000 connections"):
            usage = usages[capture]
            figure.print_figure("T5", name, capture.packets / usage.wall_s / 1e6, "M packets/s",
                                note=f"{capture.packets / usage.cpu_s / 1e6:.2f} by CPU time; {capture.note()}",
                                **disturbance(usages["reference"]))
        bytes_more = usages[many].peak_bytes - usages[one].peak_bytes
        figure.print_figure("T5", "memory", bytes_more / 999 / MEGABYTE, "MB")


def measure_info(folder):
    """Row T8."""
    with captures(folder, 1, 1000, play_s=LARGE_PLAY_S) as (one, many):
        for capture in one, many:
            capture.write()
        usages = command.in_turn(LARGE_ROUNDS, {
            capture: lambda path=capture.path: folder.usage([command.PROGRAM, "info", path]) for capture in (one, many)})
        ns = {capture: usages[capture].cpu_s / capture.packets * 1e9 for capture in usages}
        figure.print_figure("T8", "1,000 connections", ns[many] / ns[one], "x 1 connection",
                            note=f"ns: {ns[many]:.0f} and {ns[one]:.0f}; {many.note()} and {one.note()}",
                            **disturbance(usages[many]))
        bytes_more = usages[many].peak_bytes - usages[one].peak_bytes
        figure.print_figure("T8", "memory", bytes_more / 999 / KILOBYTE, "kB",
                            note=f"{usages[many].peak_bytes / MEGABYTE:.0f} MB, with 1 {usages[one].peak_bytes / MEGABYTE:.0f}")


def digest(words):
    """Of what a command prints."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        return hashlib.file_digest(process.stdout, "sha256").digest()


def measure_cores(folder):
    """Row T9: each command on one core and on two."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        sys.exit("bench_generated.py: T9 needs two cores")
    pins = [["taskset", "--cpu-list", ",".join(map(str, some))] for some in (cores[:1], cores)]
    differing = 0
    with captures(folder, 100) as (capture,):
        capture.write()
        for name, options in ("info", ["info"]), ("decode", ["decode", "--json"]):
            words = [command.PROGRAM, *options, capture.path]
            one, two = command.in_turn(ROUNDS, {
                i: lambda pin=pin: folder.usage([*pin, *words]) for i, pin in enumerate(pins)}).values()
            figure.print_figure("T9", name, two.wall_s / one.wall_s, "x one core",
                                note=f"s: {two.wall_s:.2f} and {one.wall_s:.2f}; {capture.note()}", **disturbance(one))
            differing += digest([*pins[0], *words]) != digest([*pins[1], *words])
    figure.print_figure("T9", "same output", differing, "outputs")


MEASURES = {"T4": measure_check, "T5": measure_generate, "T8": measure_info, "T9": measure_cores}


def main():
    folder = command.Folder(sys.argv[1])
    for row in figure.wanted_rows(sys.argv[2:], list(MEASURES)):
        MEASURES[row](folder)


if __name__ == "__main__":
    main()
