#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The stats tree of the bandwidth has the bits of uerudp info --bandwidth."""
import collections
import json

import decoded
import harness
import tables
import uerudp

NAMES = ("close-reasons", "legacy", "game", "voice", "fuzz", "restart", "two-clients", "ue4.13", "ue5.8", "big-bunch",
         "duplicate", "loss-burst", "mixed", "corrupt", "utcp-loss", "utcp-ue418-loss")
OUTSIDE = {"headers", "acks", "handshake", "unread"}


def of_info(path):
    output = uerudp.run("info", "--json", "--bandwidth", path, status=None).stdout.decode()
    return [json.loads(line)["bandwidth"] for line in output.splitlines()]


def name_of(row):
    name = row["class"]
    if name is None:
        return "class not known" if row["is_actor"] else "name not known"
    name = name.replace(":", "/").replace(".", "/").rsplit("/")[-1]
    return name.removeprefix("Default__")


class Bandwidth(harness.StageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trees, cls.infos = {}, {}
        for name in NAMES:
            source = harness.recording(name) if name.startswith("utcp") else decoded.path_of(name)
            path = cls.stage.copy(source)
            text = cls.stage.tshark("-2", "-q", "-r", path, "-z", "uerudp_bandwidth,tree")
            cls.trees[name] = tables.read_trees(text)["Bandwidth"]
            cls.infos[name] = of_info(source)

    def test_kinds(self):
        for name in NAMES:
            with self.subTest(name):
                rows = self.trees[name]
                self.assertEqual(sum(sum(each["total"].values()) for each in self.infos[name]), rows[("All datagrams (bits)",)])
                for way, direction in (("c2s", decoded.DIRECTIONS[1]), ("s2c", decoded.DIRECTIONS[2])):
                    wanted = collections.Counter()
                    for each in self.infos[name]:
                        wanted.update({kind: bits[way] for kind, bits in each["bits"].items() if bits[way]})
                    self.assertEqual(wanted, tables.counts(rows, "All datagrams (bits)", direction))

    def test_classes(self):
        for name in NAMES:
            with self.subTest(name):
                wanted = collections.Counter()
                kinds = collections.Counter()
                for each in self.infos[name]:
                    for row in each["classes"]:
                        wanted[name_of(row)] += sum(row["total"].values())
                        for kind, bits in row["bits"].items():
                            kinds[name_of(row), kind] += sum(bits.values())
                self.assertEqual(wanted, tables.counts(self.trees[name], "Bunches by class (bits)"))
                for row in wanted:
                    self.assertEqual({kind: bits for (owner, kind), bits in kinds.items() if owner == row and bits},
                                     tables.counts(self.trees[name], "Bunches by class (bits)", row))

    def test_actors(self):
        for name in set(NAMES) - {"close-reasons"}:  # its channels open again for actors that no message names
            with self.subTest(name):
                wanted = collections.Counter()
                for each in self.infos[name]:
                    for row in each["actors"]:
                        owner = f"guid {row['guid']}" if row["guid"] else f"channel {row['channel']}"
                        wanted[f"{name_of(row)} {owner}"] += sum(row["total"].values())
                self.assertEqual(wanted, tables.counts(self.trees[name], "Bunches by actor (bits)"))

    def test_cut(self):
        """All bits of the datagrams count, also of those that a snap length cut."""
        payloads = uerudp.payloads(harness.recording("utcp-loss"))
        datagrams = [(port, 50000 if port == 7777 else 7777, payload) for port, payload in payloads]
        path = self.stage.put("cut.pcap", uerudp.pcap(datagrams, snap=100))
        text = self.stage.tshark("-2", "-q", "-r", path, "-z", "uerudp_bandwidth,tree")
        rows = tables.read_trees(text)["Bandwidth"]
        info, = of_info(path)
        for way, direction in (("c2s", decoded.DIRECTIONS[1]), ("s2c", decoded.DIRECTIONS[2])):
            self.assertEqual({kind: bits[way] for kind, bits in info["bits"].items() if bits[way]},
                             tables.counts(rows, "All datagrams (bits)", direction))
        self.assertGreater(info["bits"]["unread"]["s2c"], 0)


if __name__ == "__main__":
    harness.main()
