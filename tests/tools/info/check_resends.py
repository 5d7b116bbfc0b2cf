#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Needless resends up to 4.21, in info, against what the simulation knows: a packet arrived, but its acks were lost, so that its
reliable bunches were sent again. A capture shows those of which it has an ack.

usage: check_resends.py [SEEDS]
"""
import collections
import json
import pathlib
import sys
import tempfile
import unittest

import receivers
import uerudp
from receivers import IDS, OTHER, WAYS

NETWORK = ("--reorder=0", "--dup=0", "--corrupt=0", "--jitter=0", "--rate=0", "--duration=3")
Counts = collections.namedtuple("Counts", "resends needless shown")


def datagrams(folder, *arguments):
    """(path, datagrams of the sidecar by frame, decoded datagrams)"""
    path = pathlib.Path(folder) / "a.pcapng"
    uerudp.run("generate", "mixed", *arguments, "-o", path, status=None)
    sidecar = json.loads(path.with_suffix(".sent.json").read_text())
    sent = {each["frame"]: each for each in sidecar["datagrams"] if each["frame"] is not None}
    return path, sent, receivers.decode(path, sidecar["generation"])


def count(sent, decoded, acked):
    """By direction, the captured retransmissions; those of which an earlier packet arrived; and those of which the capture has
    an ack before. acked: packet ids that a receiver acknowledged, whether that was captured or not."""
    packets, shown = {way: collections.defaultdict(list) for way in WAYS}, {way: set() for way in WAYS}
    totals = {way: Counts(0, 0, 0) for way in WAYS}
    for each in decoded:
        way, number = sent[each["frame"]]["dir"], sent[each["frame"]]["packet_id"]
        for bunch in filter(receivers.is_reliable, each["bunches"]):
            earlier = packets[way][bunch["channel"], bunch["ch_seq"]]
            if earlier:
                totals[way] = Counts(totals[way].resends + 1, totals[way].needless + any(n in acked[way] for n in earlier),
                                     totals[way].shown + any(n in shown[way] for n in earlier))
            earlier.append(number % IDS)
        shown[OTHER[way]].update(number % IDS for number in each["acked"])
    return totals


class Resends(unittest.TestCase):
    SEEDS = 3

    def check(self, point):
        """Returns the needless resends, and those that are shown, of both directions."""
        needless, shown = collections.Counter(), collections.Counter()
        for generation in ("4.18", "4.21"):
            for loss in (0.05, 0.1):
                for seed in range(1, self.SEEDS + 1):
                    arguments = (f"--generation={generation}", f"--loss={loss}", f"--seed={seed}", *NETWORK)
                    with self.subTest(arguments), tempfile.TemporaryDirectory() as folder:
                        _, *senders = datagrams(folder, *arguments, "--capture-at=sender")
                        acked = receivers.Sent(*senders).acked
                        path, *captured = datagrams(folder, *arguments, f"--capture-at={point}")
                        info, = map(json.loads, uerudp.run("info", "--json", f"--generation={generation}", path, status=None).stdout.splitlines())
                        for way, counts in count(*captured, acked).items():
                            self.assertEqual((counts.resends, counts.shown), (info["resends"][way], info["spurious"][way]), way)
                            needless[way] += counts.needless
                            shown[way] += counts.shown
        return needless, shown

    def test_every_ack_is_captured(self):
        needless, shown = self.check("sender")
        self.assertEqual(needless, shown)
        self.assertGreater(sum(needless.values()), 0)

    def test_no_lost_ack_is_captured(self):
        """A capture at the sender of the bunches lacks the acks that were lost: the number is a lower bound."""
        needless, shown = self.check("server")
        self.assertGreater(needless["s2c"], 0)
        self.assertEqual((needless["c2s"], 0), (shown["c2s"], shown["s2c"]))

    def test_sentences(self):
        """The text says that the number is a lower bound, and says nothing where none is shown."""
        shown = collections.Counter()
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(1, self.SEEDS + 1):
                for point in ("sender", "server"):
                    path, *_ = datagrams(folder, "--generation=4.18", "--loss=0.1", f"--seed={seed}", *NETWORK, f"--capture-at={point}")
                    text, line = (uerudp.run("info", *options, "--generation=4.18", path, status=None).stdout.decode() for options in ((), ("--json",)))
                    info = json.loads(line)
                    for way, direction in zip(WAYS, ("client to server", "server to client")):
                        needless, resends = info["spurious"][way], info["resends"][way]
                        self.assertEqual(needless != 0, f"{resends} (at least {needless} needless)" in text)
                        self.assertEqual(needless != 0, f"at least {needless} of {resends} resends {direction} repeated bunches that had been" in text)
                        shown[point, needless != 0] += 1
        self.assertEqual({("sender", True), ("sender", False), ("server", False)}, set(shown) - {("server", True)})


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1].isdigit():
        Resends.SEEDS = int(sys.argv.pop(1))
    unittest.main()
