#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows T1 to T3 and T7: decode and info beside libpcap, tcpdump and tshark, their memory, and how fast subcommands start.

usage: bench_decode.py FOLDER [--long] [ROW...]; environment: UERUDP_PROGRAM, UERUDP_PLUGINS

FOLDER has the programs in C and the empty plugin. Commands are compared by their CPU time, less that on a capture
without packets.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(TESTS / name) for name in ("bench", "plugin", "support/python")]
import command  # noqa: E402
import figure  # noqa: E402
import harness  # noqa: E402

ROUNDS = 7
START_ROUNDS = 15
PACKETS = 1_000_000
FEW, MANY = 1_000_000, 10_000_000  # of T3
FILE_HEADER_BYTES = 24
PORT = 7777
MEGABYTE = 1e6


def candidates(folder, stage, rows):
    """The commands of the rows by name; each ends where the capture is added."""
    program = command.PROGRAM
    found = {}
    if "T1" in rows:
        found |= {"libpcap": [folder.program("bench_read")], "quiet": [program, "decode", "--quiet"]}
        nop = pathlib.Path(folder.program("uenop.so"))
        if nop.exists() and shutil.which("tshark"):
            stage.put_plugin(nop)
            found["tshark"] = stage.command(["tshark", "-d", f"udp.port=={PORT},uenop", "-q", "-z", "io,stat,0", "-r"])
    if "T2" in rows and shutil.which("tcpdump"):
        found |= {"tcpdump": ["tcpdump", "-nr"], "json": [program, "decode", "--json"],
                  "columns": [program, "decode", "--fields", "frame,packet.seq,packet.ack"]}
    return found


def make_captures(folder, stage):
    """A capture, and one of its file header alone."""
    path, empty = (os.path.join(stage.path, name) for name in ("mixed.pcap", "empty.pcap"))
    with open(path, "wb") as file:
        if folder.workload(PACKETS, stdout=file).wait() != 0:
            sys.exit("the capture cannot be written")
    with open(path, "rb") as file:
        stage.put("empty.pcap", file.read(FILE_HEADER_BYTES))
    return path, empty


def measure_times(folder, rows):
    with harness.Stage() as stage:
        path, empty = make_captures(folder, stage)
        commands = candidates(folder, stage, rows)
        usages = command.in_turn(ROUNDS, {
            (name, capture): lambda words=(*words, capture): folder.usage(words)
            for name, words in commands.items() for capture in (path, empty)})
    ns = {name: (usages[name, path].cpu_s - usages[name, empty].cpu_s) / PACKETS * 1e9 for name in commands}

    def compare(row, name, one, other, unit):
        if one in ns and other in ns:
            figure.print_figure(row, name, ns[one] / ns[other], unit, note=f"ns: {one} {ns[one]:.0f}, {other} {ns[other]:.0f}")
        else:
            print(f"bench_decode.py: {row} needs tcpdump, tshark and the empty plugin", file=sys.stderr)

    if "T1" in rows:
        compare("T1", "libpcap", "quiet", "libpcap", "x libpcap")
        compare("T1", "tshark", "tshark", "quiet", "times faster")
    if "T2" in rows:
        for name in "json", "columns":
            compare("T2", name, name, "tcpdump", "x tcpdump")


def peak_bytes(folder, name, packets):
    """From standard input, since ten million packets are a large file."""
    workload = folder.workload(packets, stdout=subprocess.PIPE)
    usage = folder.usage([command.PROGRAM, name, "--json", "-"], stdin=workload.stdout)
    workload.stdout.close()
    if workload.wait() != 0:
        sys.exit(f"{name} did not read all of {packets} packets")
    return usage.peak_bytes


def measure_memory(folder):
    for name in "decode", "info":
        few, many = (peak_bytes(folder, name, packets) for packets in (FEW, MANY))
        figure.print_figure("T3", f"{name}, growth", 100 * (many / few - 1), "%", note="64 connections without loss")
        figure.print_figure("T3", name, many / MEGABYTE, "MB")


def measure_starts(folder):
    text = subprocess.run([command.PROGRAM, "help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    names = re.findall(r"^  (\w+) ", text, re.M)[:-1]  # the last one is help
    usages = command.in_turn(START_ROUNDS, {
        name: lambda name=name: folder.usage([command.PROGRAM, name, "--help"]) for name in names})
    slowest = max(usages, key=lambda name: usages[name].cpu_s)
    figure.print_figure("T7", "slowest", usages[slowest].cpu_s * 1e3, "ms", note=f"{slowest} --help, of {len(names)}")


def main():
    folder = command.Folder(sys.argv[1])
    rows = figure.wanted_rows(sys.argv[2:], ["T1", "T2", "T3", "T7"])
    if {"T1", "T2"} & set(rows):
        measure_times(folder, rows)
    if "T3" in rows:
        measure_memory(folder)
    if "T7" in rows:
        measure_starts(folder)


if __name__ == "__main__":
    main()
