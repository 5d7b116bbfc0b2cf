# SPDX-License-Identifier: MIT
"""What commands take, and the captures that they read."""
import collections
import os
import pathlib
import statistics
import subprocess

SEED = 1
PROGRAM = os.environ["UERUDP_PROGRAM"]

Usage = collections.namedtuple("Usage", "cpu_s wall_s peak_bytes")


class Folder:
    """The folder of the programs in C."""

    def __init__(self, path):
        self.path = pathlib.Path(path)

    def program(self, name):
        return str(self.path / name)

    def usage(self, command, stdin=None):
        """What a command takes. It may find faults in traffic (status 1), but must be able to do its work."""
        result = subprocess.run([self.program("bench_usage"), *map(str, command)], stdin=stdin, capture_output=True,
                                text=True)
        status, *values = result.stdout.split() or ["none"]
        if status not in ("0", "1"):
            raise SystemExit(f"{' '.join(map(str, command))}: status {status}\n{result.stderr[-2000:]}")
        return Usage(*map(float, values))

    def workload(self, packets, **more):
        """A running program that writes a capture of 64 connections."""
        return subprocess.Popen([self.program("bench_capture"), "Umix", str(packets), str(SEED)], **more)

    def count(self, path):
        """The packets of a capture."""
        return int(subprocess.run([self.program("bench_read"), path], stdout=subprocess.PIPE, check=True).stdout.split()[0])


def generate(path, scenario, connections, seconds):
    """The command that writes a capture of simulated connections."""
    return [PROGRAM, "generate", scenario, "--no-sidecar", "--seed", SEED, "--connections", connections, "--duration", seconds,
            "--output", path]


def in_turn(rounds, measures):
    """The medians of what measures return, which maps keys to functions without arguments that return a Usage. All are
    called in each round, so that what disturbs the machine disturbs all alike."""
    usages = {key: [] for key in measures}
    for _ in range(rounds):
        for key, measure in measures.items():
            usages[key].append(measure())
    return {key: Usage(*map(statistics.median, zip(*found))) for key, found in usages.items()}
