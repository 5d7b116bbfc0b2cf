#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Conversations and endpoints have the counts of uerudp decode, per connection and direction."""
import collections
import json

import decoded
import harness
import tables

NAMES = ("close-reasons", "legacy", "two-clients", "restart", "loss-burst")


def address(end):
    return end.rsplit(":", 1)[0]


class Tables(harness.StageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.paths = {name: cls.stage.copy(decoded.path_of(name)) for name in NAMES}
        cls.decoded = {name: decoded.datagrams(path) for name, path in cls.paths.items()}

    def print(self, name, table):
        return self.stage.tshark("-2", "-q", "-r", self.paths[name], "-z", table)

    def conversations(self, datagrams):
        """By stream and ports: both ends, and the number of datagrams to each."""
        found = collections.defaultdict(lambda: collections.defaultdict(list))
        for d in datagrams:
            found[(d["stream"], *sorted((d["src"], d["dst"])))][d["dst"]].append(d)
        return found

    def test_conversations(self):
        for name in NAMES:
            with self.subTest(name):
                start = int(self.decoded[name][0]["time"])
                wanted = []
                for (_, *ends), by_end in self.conversations(self.decoded[name]).items():
                    times = [int(d["time"]) for ds in by_end.values() for d in ds]
                    sides = {address(end): [len(by_end[end]), sum(d["length"] for d in by_end[end])] for end in ends}
                    wanted.append((sides, (min(times) - start) / 1e9, (max(times) - min(times)) / 1e9))
                got = tables.read_conversations(self.print(name, "conv,uerudp"))
                self.assertEqual(len(got), len(wanted))
                for one, other, to_one, to_other, begin, duration in got:
                    match = [w for w in wanted if w[0] == {one: to_one, other: to_other}
                             and abs(w[1] - begin) < 1e-6 and abs(w[2] - duration) < 1e-3]
                    self.assertEqual(len(match), 1, (one, other, to_one, to_other, begin, duration, wanted))

    def test_endpoints(self):
        for name in NAMES:
            with self.subTest(name):
                wanted = collections.defaultdict(lambda: [0] * 6)
                for d in self.decoded[name]:
                    for end, at in ((d["src"], 2), (d["dst"], 4)):
                        row = wanted[end]
                        for i, n in ((0, 1), (1, d["length"]), (at, 1), (at + 1, d["length"])):
                            row[i] += n
                got = tables.read_endpoints(self.print(name, "endpoints,uerudp"))
                self.assertEqual(sorted(got), sorted((address(end), *row) for end, row in wanted.items()))

    def test_filters(self):
        """The filter for a row matches exactly the datagrams of its conversation or endpoint."""
        for name in ("two-clients", "restart"):
            text = harness.request(1, "load", file=self.paths[name])
            text += harness.request(2, "tap", tap0="conv:UERUDP", tap1="endpt:UERUDP")
            taps = json.loads(self.stage.run(["sharkd", "-"], stdin=text).stdout.splitlines()[-1])["result"]["taps"]
            rows = [row for tap in taps for row in tap.get("convs", tap.get("hosts"))]
            self.assertEqual(len(rows), 5)
            for row in rows:
                with self.subTest(name, filter=row["filter"]):
                    frames = self.stage.tshark("-r", self.paths[name], "-Y", row["filter"])
                    self.assertEqual(len(frames.splitlines()), row["rxf"] + row["txf"])


if __name__ == "__main__":
    harness.main()
