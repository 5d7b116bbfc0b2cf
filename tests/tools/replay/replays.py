# SPDX-License-Identifier: MIT
"""Shared by the tests of uerudp replay: cached captures, and the results of --check."""
import functools
import json
import pathlib
import tempfile

import uerudp

FOLDER = tempfile.TemporaryDirectory()


@functools.cache
def generated(scenario, *options):
    """The path of a capture, without sidecars."""
    path = pathlib.Path(FOLDER.name) / ("-".join([scenario, *options]).replace("/", "") + ".pcapng")
    uerudp.run("generate", scenario, "--no-sidecar", "--seed=3", *options, "-o", path)
    return path


@functools.cache
def decoded(path, *options):
    return uerudp.decode(path, *options)


def check(*arguments, data=b"", status=0):
    """The objects that replay --check --json prints."""
    output = uerudp.run("replay", "--check", "--json", *arguments, data=data, status=status).stdout
    return [json.loads(line, object_pairs_hook=uerudp.without_duplicates) for line in output.decode().splitlines()]


def reliable_copies(objects):
    """(object, bunch) of every retransmitted bunch."""
    seen = set()
    copies = []
    for o in objects:
        for b in o.get("bunches", o.get("items", [])):
            key = o["direction"], b.get("channel"), b.get("ch_seq")
            if b.get("reliable") and b.get("data_bits"):
                if key in seen:
                    copies.append((o, b))
                seen.add(key)
    return copies


def sent_by(objects, direction):
    return [o for o in objects if "packet" in o and o["direction"] == direction]
