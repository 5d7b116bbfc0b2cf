# SPDX-License-Identifier: MIT
"""Recordings of other implementations and vectors: the files of this tree and of the folder UERUDP_SHARED, if it exists.
tests/support/recordings.h is the counterpart in C."""
import json
import os
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
OWN = ROOT / "captures/recordings"
OWN_VECTORS = ROOT / "tests/codec/vectors"
SHARED = pathlib.Path(os.environ.get("UERUDP_SHARED") or ROOT.parent / "shared")
if os.environ.get("UERUDP_HIDDEN"):  # in tests/run: as if the folder did not exist
    SHARED = ROOT / "build/hidden"

# Settings of recordings of games that changed constants, and of the replay in captures; others are detected.
SETTINGS = {
    "aoc-ue56-firebolt": {"magic_bits": 32, "magic": 0x500C7696, "max_packet": 1028, "extra_bits": 48},
    "demo": {"internal_ack": 1, "generation": "5.5"},
    "utcp-tests-ue418": {"max_packet": 512, "ch_seq_bound": 4096},
}


def has_shared():
    return SHARED.is_dir()


def skipped(what):
    """The line that tests/run counts."""
    print(f"skipped: {what} needs the folder UERUDP_SHARED", flush=True)
    return f"{what} needs the folder UERUDP_SHARED"


def paths():
    """Paths of all recordings, sorted by name."""
    found = {path.stem: path for folder in (SHARED / "realdata", OWN) for path in folder.glob("*.pcap")}
    return [found[name] for name in sorted(found)]


def path(name):
    """The path of a recording. A test of a recording of the folder is skipped without the folder."""
    found = {each.stem: each for each in paths()}
    if name not in found and not has_shared():
        raise unittest.SkipTest(skipped(name))
    return found[name]


def settings(name):
    return SETTINGS.get(name, {})


def documented():
    """(path, settings, names of fields) of each capture that docs/protocol.md 24 lists."""
    text = (ROOT / "docs/protocol.md").read_text(encoding="utf-8").partition("\n## 24. ")[2]
    for name, options, fields in re.findall(r"^\| `([\w./-]+pcapng)` \| (.*?) \| (.*?) \|$", text, re.M):
        named = {key.replace("-", "_"): value for key, value in re.findall(r"--([\w-]+) ([\w.-]+)", options)}
        yield ROOT / "captures" / name, named, re.findall(r"`([\w.]+)`", fields)


def vectors(file_name, key="vectors"):
    """The entries of a file of vectors; none if only the folder has the file and does not exist."""
    found = []
    for path_of_file in (OWN_VECTORS / file_name, SHARED / "spec/vectors" / file_name):
        if path_of_file.is_file():
            names = {entry.get("name") for entry in found}
            entries = json.loads(path_of_file.read_text(encoding="utf-8")).get(key, [])
            found += [entry for entry in entries if "name" not in entry or entry["name"] not in names]
    return found
