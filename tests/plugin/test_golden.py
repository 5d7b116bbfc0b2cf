#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The output of Wireshark for each phenomenon, compared with golden/NAME.json, which was reviewed by hand.

After an intended change, rewrite these files and review the difference:

    export PYTHONPATH=tests/support/python UERUDP_PLUGINS=build/dev/plugins UERUDP_PROGRAM=build/dev/tools/uerudp
    tests/plugin/test_golden.py --update
    git diff tests/plugin/golden
"""
import collections
import difflib
import hashlib
import json
import os
import subprocess
import sys
import unittest

import decoded
import harness

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "golden")
FRAMES_MAX = 12
BYTES_SHOWN = 24
SEVERITIES = {"1048576": "comment", "2097152": "chat", "4194304": "note", "6291456": "warning", "8388608": "error"}

Golden = collections.namedtuple("Golden", "name capture filter settings", defaults=({},))

GOLDENS = (
    Golden("lost", "mixed", "uerudp.analysis.lost"),
    Golden("late", "reorder", "uerudp.analysis.out_of_order || uerudp.analysis.lost"),
    Golden("duplicate", "duplicate", "uerudp.analysis.duplicate"),
    Golden("nak", "voice", "(uerudp.analysis.nak || uerudp.analysis.nacked_in) && frame.number < 56"),
    Golden("retransmission", "loss-burst", "uerudp.analysis.retransmission || uerudp.analysis.retransmitted_in"),
    Golden("spurious_retransmission", "spurious",
           "uerudp.analysis.spurious_retransmission || uerudp.bunch.reliable_id == 609"),
    Golden("reliable_gap", "mixed", "uerudp.analysis.reliable_gap"),
    Golden("buffer_high", "mixed", "uerudp.analysis.buffer_high", {"reliable_buffer": 3}),
    Golden("reassembly", "big-bunch", "uerudp.bunch.partial && uerudp.bunch.channel < 3 && frame.number > 17 && frame.number < 29"),
    Golden("unfinished", "unfinished", "uerudp.fragment.given_up_in || uerudp.expert.unfinished"),
    Golden("restart", "restart", "uerudp.handshake.type || uerudp.analysis.lost"),
    Golden("close_reasons", "close-reasons", "uerudp.bunch.close == 1 && uerudp.bunch.open == 0"),
    Golden("kick", "kick", "uerudp.bunch.close == 1"),
    Golden("refused", "refused", "uerudp.bunch.close == 1"),
    Golden("upgrade", "upgrade", "uerudp.bunch.close == 1"),
    Golden("timeout", "timeout", "uerudp.analysis.packets_in_flight > 9"),
    Golden("legacy", "legacy", "uerudp.analysis.flags"),
    Golden("wrap", "wrap", "uerudp.packet.seq < 2 || uerudp.packet.seq > 16382 || uerudp.bunch.ch_seq == 0"),
    Golden("voice", "voice", "uerudp.bunch.channel == 1 && frame.number < 27"),
    Golden("beacon", "beacon", "uerudp.bunch.channel == 0 || uerudp.bunch.open == 1 || uerudp.field"),
    Golden("demo", "replay/demo", "uerudp.bunch.close == 1 || frame.number == 2", {"internal_ack": "TRUE", "generation": "5.5"}),
    Golden("actor_open", "game", "uerudp.bunch.open == 1 && frame.number > 17"),
    Golden("encrypted", "encrypted", "uerudp.handler.encrypted == 1", {"handlers": "aesgcm", "key": "KEYS"}),
    Golden("encrypted_without_key", "encrypted", "uerudp.handler.encrypted == 1", {"handlers": "aesgcm"}),
)


def short(value):
    """Long bytes as their length and a checksum; flags as Wireshark 4.0 shows them."""
    if value in ("True", "False"):
        return str(int(value == "True"))
    if set(value) <= set("0123456789abcdef:") and len(value) >= 3 * BYTES_SHOWN and value[2] == ":":
        return f"{len(value) // 3 + 1} bytes, sha256 {hashlib.sha256(value.encode()).hexdigest()[:8]}"
    return value


def finding(expert):
    """An expert item as "severity name: sentence"."""
    name = next(key for key in expert if not key.startswith("_ws."))
    return f"{SEVERITIES[expert['_ws.expert.severity']]} {name.removeprefix('uerudp.')}: {expert['_ws.expert.message']}"


def plain(node):
    """Wireshark's JSON without the parts that are equal everywhere."""
    if isinstance(node, list):
        return [plain(child) for child in node]
    if not isinstance(node, dict):
        return short(node)
    if "_ws.expert.message" in node:
        return finding(node)
    return {key.removeprefix("uerudp.").replace("_ws.expert", "expert"): plain(child) for key, child in node.items()}


def capture_of(stage, golden):
    """The capture and its settings. A capture that is not in the tree is generated from a scenario of this script, with its
    key file."""
    scenario = os.path.join(HERE, golden.capture + ".ini")
    if not os.path.exists(scenario):
        return stage.copy(decoded.path_of(golden.capture)), golden.settings
    path = os.path.join(stage.path, golden.capture + ".pcapng")
    subprocess.run([os.environ["UERUDP_PROGRAM"], "generate", scenario, "--output", path], check=True,
                   timeout=harness.TIMEOUT_S)
    return path, {key: str(value).replace("KEYS", path.replace(".pcapng", ".keys")) for key, value in golden.settings.items()}


def show(stage, golden):
    """The content of a golden file."""
    path, settings = capture_of(stage, golden)
    options = ["-2", "-r", path, *harness.preferences(settings), "-Y", golden.filter]
    packets = json.loads(stage.tshark(*options, "-T", "json", "-J", "uerudp", "--no-duplicate-keys"))
    lines = stage.tshark(*options, "-T", "fields", "-e", "frame.number", "-e", "_ws.col.Info").splitlines()
    assert 0 < len(lines) <= FRAMES_MAX, f"{golden.name}: {len(lines)} frames"
    frames = {}
    for line, packet in zip(lines, packets, strict=True):
        frame, info = line.split("\t", 1)
        frames[frame] = {"info": info, **plain(packet["_source"]["layers"]["uerudp"])}
    return {"capture": golden.capture, "settings": golden.settings, "filter": golden.filter, "frames": frames}


def file_of(name):
    return os.path.join(FOLDER, name + ".json")


def text_of(document):
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


class Goldens(unittest.TestCase):
    def test_goldens(self):
        with harness.Stage() as stage:
            for golden in GOLDENS:
                with self.subTest(golden.name), open(file_of(golden.name), encoding="utf-8") as file:
                    want, found = file.read(), text_of(show(stage, golden))
                    difference = difflib.unified_diff(want.splitlines(), found.splitlines(), file_of(golden.name),
                                                      "what tshark shows", lineterm="", n=5)
                    self.assertTrue(want == found, "\n" + "\n".join(difference))

    def test_every_file_has_a_test(self):
        self.assertEqual(sorted(os.listdir(FOLDER)), sorted(golden.name + ".json" for golden in GOLDENS))


def update():
    os.makedirs(FOLDER, exist_ok=True)
    with harness.Stage() as stage:
        for golden in GOLDENS:
            with open(file_of(golden.name), "w", encoding="utf-8") as file:
                file.write(text_of(show(stage, golden)))


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    else:
        harness.main()
