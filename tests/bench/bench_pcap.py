#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure the program on capture files beside libpcap, tcpdump and tshark: goals T1 to T5 and T7.

usage: bench_pcap.py BENCH_CAPTURE BENCH_READ [--json] [--packets N]

Whole commands are timed by their user and system time, all candidates in turn in each round; their start, measured on
an empty capture, is taken off. Environment: UERUDP_PROGRAM.
"""
import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

from report import Report

SEED = 1
ROUNDS = 7
FILE_HEADER_BYTES = 24
PORT = 7777
GENERATED_SECONDS = (100, 2100)
MIXED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mixed.scenario")


def usage(command):
    """User and system seconds, and the largest resident set in bytes, of a command. It may find faults in traffic that
    is made up (status 1), but must be able to do its work."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise AssertionError(f"{command}: {errors[-2000:]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def make_captures(maker, folder, packets):
    """A capture, and one of its file header alone."""
    path, empty = os.path.join(folder, "mixed.pcap"), os.path.join(folder, "empty.pcap")
    with open(path, "wb") as file:
        subprocess.run([maker, "Umix", str(packets), str(SEED)], stdout=file, check=True)
    with open(path, "rb") as file, open(empty, "wb") as to:
        to.write(file.read(FILE_HEADER_BYTES))
    return path, empty


def candidates(program, reader):
    """Name: command, which ends with the capture."""
    found = {
        "libpcap": [reader, "pcap"],
        "blocks": [reader, "blocks"],
        "quiet": [program, "decode", "--quiet"],
        "json": [program, "decode", "--json"],
        "text": [program, "decode"],
        "columns": [program, "decode", "--fields", "frame,packet.seq,packet.ack"],
        "info": [program, "info", "--json"],
    }
    if shutil.which("tcpdump"):
        found["tcpdump"] = ["tcpdump", "-nr"]
    if shutil.which("tshark"):
        found["tshark"] = ["tshark", "-d", f"udp.port=={PORT},data", "-q", "-z", "io,stat,0", "-r"]
    return found


def time_commands(commands, path, empty, packets):
    """Nanoseconds per packet of each: medians."""
    spent = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            spent[name].append(usage([*command, path])[0] - usage([*command, empty])[0])
    return {name: statistics.median(values) / packets * 1e9 for name, values in spent.items()}


def report_times(report, ns):
    pcap = ("libpcap", ns["libpcap"])
    report.line("blocks", ns["blocks"], "ns", pcap)
    report.line("T1", ns["quiet"], "ns", pcap, 4, 2)
    if "tshark" in ns:
        report.line("T1.tshark", ns["tshark"] / ns["quiet"], "times", ("tshark", ns["tshark"]), 8, 20, least=True,
                    judged="value")
    if "tcpdump" in ns:
        for form in ("json", "columns"):
            report.line(f"T2.{form}", ns[form], "ns", ("tcpdump", ns["tcpdump"]), 1, 0.5)
        report.line("text", ns["text"], "ns", ("tcpdump", ns["tcpdump"])) # a tree, not a line
    report.line("info", ns["info"], "ns", pcap)


def report_memory(report, program, path):
    """The same capture ten times in a row is a long one."""
    for name, command in (("decode", ["decode", "--json"]), ("info", ["info", "--json"])):
        once = usage([program, *command, path])[1]
        often = usage([program, *command, *[path] * 10])[1]
        report.line(f"T3.{name}", often / 2**20, "MiB", ("once", once / 2**20), 64, 16, judged="value")
        report.line(f"T3.{name}.growth", often / once, "times", None, 1.05, 1.05)


def report_starts(report, program):
    for name in ("decode", "info", "generate", "edit", "replay"):
        seconds = statistics.median(usage([program, name, "--help"])[0] for _ in range(ROUNDS))
        report.line(f"T7.{name}", seconds * 1e3, "ms", None, 20, 5)


def generate(program, scenario, path, seconds):
    """The simulator without its checks: the capture is all that is written."""
    return [program, "generate", scenario, "--no-sidecar", "--seed", str(SEED), "--duration", str(seconds), "-o", path]


def count(program, path):
    with subprocess.Popen([program, "decode", "--fields", "frame", path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as process:
        return sum(1 for _ in process.stdout)


def slope(values):
    """From the shorter to the longer."""
    return values[1] - values[0]


def report_generated(report, name, program, scenario, folder):
    """Both endpoints' work, and the writing. Returns the captures, and how many packets the longer has more."""
    paths, counts, spent = [], [], []
    for seconds in GENERATED_SECONDS:
        path = os.path.join(folder, f"{name}-{seconds}.pcapng")
        command = generate(program, scenario, path, seconds)
        spent.append(statistics.median(usage(command)[0] for _ in range(ROUNDS)))
        counts.append(count(program, path))
        paths.append(path)
    report.line(name, slope(counts) / slope(spent) / 1e6, "Mpkt/s", None, 0.9, 2, least=True)
    return paths, slope(counts)


def report_checked(report, program, reader, paths, packets):
    """Replaying a capture through endpoints."""
    checked, read = [], []
    for path in paths:
        checked.append(statistics.median(usage([program, "replay", "--check", "--json", path])[0] for _ in range(ROUNDS)))
        read.append(statistics.median(usage([reader, "pcap", path])[0] for _ in range(ROUNDS)))
    anchor = ("libpcap", slope(read) / packets * 1e9)
    report.line("T4", slope(checked) / packets * 1e9, "ns", anchor, 1000, 400, judged="value")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench_capture")
    parser.add_argument("bench_read")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    parser.add_argument("--packets", type=int, default=1_000_000, help="packets of the capture")
    options = parser.parse_args()
    report, program = Report(options.json), os.environ["UERUDP_PROGRAM"]
    with tempfile.TemporaryDirectory() as folder:
        path, empty = make_captures(options.bench_capture, folder, options.packets)
        report.header(program="bench_pcap", cpu=platform.processor() or platform.machine())
        report_times(report, time_commands(candidates(program, options.bench_read), path, empty, options.packets))
        report_memory(report, program, path)
        paths, more = report_generated(report, "T5", program, "mixed", folder)
        report_checked(report, program, options.bench_read, paths, more)
        report_generated(report, "T5.Umix", program, MIXED, folder)
    report_starts(report, program)


if __name__ == "__main__":
    sys.exit(main())
