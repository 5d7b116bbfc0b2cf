# SPDX-License-Identifier: MIT
"""The output of the program for a capture, with which tests compare the plugin."""
import collections
import json
import os
import subprocess

import harness

CAPTURES = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "captures"))
DIRECTIONS = ("unknown", "client to server", "server to client")


def path_of(name):
    """Path of a capture of this tree."""
    return os.path.join(CAPTURES, name + ".pcapng")


def run(*arguments):
    """JSON Lines of a subcommand, whose exit status may report faults in the capture."""
    command = [os.environ["UERUDP_PROGRAM"], *arguments]
    result = subprocess.run(command, capture_output=True, timeout=harness.TIMEOUT_S, check=False)
    if result.returncode not in (0, 1):
        raise AssertionError(f"{' '.join(command)}: exit {result.returncode}\n{result.stderr.decode()}")
    return [json.loads(line) for line in result.stdout.splitlines()]


def datagrams(path):
    return run("decode", "--json", path)


def connections(path):
    return run("info", "--json", path)


def sent(name):
    """The sidecar of the simulator: sent, lost and delivered packets."""
    with open(os.path.join(CAPTURES, name + ".sent.json"), encoding="utf-8") as file:
        return json.load(file)


Bunch = collections.namedtuple("Bunch", "frame item stream direction bunch")


def bunches(decoded):
    """Every whole bunch with its item index; acks of legacy packets count as items."""
    for datagram in decoded:
        items = datagram.get("items", datagram.get("bunches", []))
        for number, item in enumerate(items):
            is_whole = "fault" not in datagram or "data" in item
            if is_whole and not item.get("is_ack", False):
                yield Bunch(datagram["frame"], number, datagram["stream"], datagram["direction"], item)
