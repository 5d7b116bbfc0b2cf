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


def usage(command, output=subprocess.DEVNULL):
    """User and system seconds, and the largest resident set in bytes, of a command that must succeed."""
    process = subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
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
        "check": [program, "replay", "--check", "--json"],
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
        for form in ("json", "text", "columns"):
            report.line(f"T2.{form}", ns[form], "ns", ("tcpdump", ns["tcpdump"]), 1, 0.5)
    report.line("info", ns["info"], "ns", pcap)
    report.line("T4", ns["check"] - ns["blocks"], "ns", pcap, 1000, 400, judged="value")


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


def report_generator(report, program, folder):
    """The simulator without its checks, writing the busiest scenario."""
    path = os.path.join(folder, "generated.pcapng")
    command = [program, "generate", "mixed", "--no-sidecar", "--seed", str(SEED), "-o", path]
    few, many = [*command, "--duration", "20"], [*command, "--duration", "220"]
    counts, spent = [], []
    for each in (few, many):
        spent.append(statistics.median(usage(each)[0] for _ in range(ROUNDS)))
        with subprocess.Popen([program, "decode", "--fields", "frame", path], stdout=subprocess.PIPE) as process:
            counts.append(sum(1 for _ in process.stdout))
    rate = (counts[1] - counts[0]) / (spent[1] - spent[0])
    report.line("T5", rate / 1e6, "Mpkt/s", None, 0.9, 2, least=True)


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
        report_generator(report, program, folder)
    report_starts(report, program)


if __name__ == "__main__":
    sys.exit(main())
