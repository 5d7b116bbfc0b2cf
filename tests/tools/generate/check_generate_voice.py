#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Talkers of generated voice, read back from the capture alone, and how info counts them."""
import collections
import json
import pathlib
import tempfile
import unittest

import uerudp

PAUSE_S = 0.5
SIDES = {1: "client", 2: "server"}


class Run:
    def __init__(self, *options, scenario="voice"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "voice.pcapng"
            uerudp.run("generate", scenario, "--tick=30", "--duration=5", "--output", path, *options)
            self.sent = [message for message in json.loads(path.with_suffix(".sent.json").read_text())["messages"]
                         if "sender" in message]
            self.info, = map(json.loads, uerudp.run("info", "--json", path, status=None).stdout.splitlines())
            lines = map(json.loads, uerudp.run("decode", "--json", "--content", path).stdout.splitlines())
            self.spoken = [(SIDES[line["direction"]], packet["sender"], packet["length_bytes"], int(line["time"]) / 1e9)
                           for line in lines for bunch in line.get("bunches") or line.get("items", ())
                           for content in bunch.get("content", ()) for packet in content.get("voice", ())]

    def talkers(self):
        return {(talker["from"], talker["sender"]): (talker["packets"], talker["bytes"], talker["spurts"])
                for talker in self.info.get("talkers", ())}

    def counted(self):
        """The same from the decoded packets, and the spurts as (begin, end)."""
        counts = {}
        spurts = collections.defaultdict(list)
        for side, sender, size, time in self.spoken:
            of = spurts[side, sender]
            if not of or time - of[-1][1] >= PAUSE_S:
                of.append([time, time])
            of[-1][1] = time
            packets, total, _ = counts.get((side, sender), (0, 0, 0))
            counts[side, sender] = packets + 1, total + size, len(of)
        return counts, spurts


class Voice(unittest.TestCase):
    def check(self, run):
        counts, spurts = run.counted()
        self.assertEqual(counts, run.talkers())
        return counts, spurts

    def test_open_is_lost(self):
        """Voice that waits for the open of its channel was received, though not delivered when its packet is acknowledged."""
        for seed in (102, 105, 106):
            self.check(Run("--generation=4.20", f"--seed={seed}", "--loss=0.05", "--delay=80", "--capture-at=client", "--tick=60"))

    def test_all_is_captured(self):
        """At the senders every packet of the intent is there, by talker and in order."""
        run = Run("--capture-at=sender", "--loss=0.1")
        counts, spurts = self.check(run)
        for key in counts:
            sent = [message["bits"] // 8 for message in run.sent if (message["from"], message["sender"]) == key]
            self.assertEqual(sent, [size for side, sender, size, _ in run.spoken if (side, sender) == key])
        self.assertEqual({("client", "Sim-0"), *(("server", f"Sim-{number}") for number in (1, 2, 3))}, set(counts))
        for of in spurts.values():
            self.assertGreater(len(of), 1)
        for one, other in (("Sim-1", "Sim-2"), ("Sim-2", "Sim-3")):
            self.assertTrue(any(a < d and c < b for a, b in spurts["server", one] for c, d in spurts["server", other]))

    def test_losses_and_duplicates(self):
        """What is lost before the capture was not heard; what the network duplicates was said once."""
        for options in (("--loss=0.2",), ("--dup=0.3",), ("--loss=0.1", "--generation=4.18"), ("--generation=4.25",)):
            with self.subTest(options):
                run = Run(*options, "--capture-at=client")
                counts, _ = self.check(run)
                sent = collections.Counter((message["from"], message["sender"]) for message in run.sent)
                for key, (packets, _, _) in counts.items():
                    self.assertLessEqual(packets, sent[key])
                heard = sum(packets for packets, _, _ in counts.values())
                self.assertLess(heard, len(run.sent)) # the network of the scenario loses some in any case
                self.assertGreater(heard, 0.8 * len(run.sent))

    def test_others(self):
        """Connections without voice have no talkers, although channel 1 could be voice."""
        for scenario in ("game", "login"):
            self.assertNotIn("talkers", Run(scenario=scenario).info)

    def test_limits(self):
        for talkers, status in ((8, 0), (9, 2)):
            with tempfile.NamedTemporaryFile("w", suffix=".ini") as file:
                file.write(f"[scenario]\nduration=0.1\n[stream a]\nfrom=server\nchannel=1\nvoice=true\nevery=3\nbits=400\n"
                           f"talkers={talkers}\n")
                file.flush()
                uerudp.run("generate", file.name, "-o", "/dev/null", "--no-sidecar", status=status)


if __name__ == "__main__":
    uerudp.main()
