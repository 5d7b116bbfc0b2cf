#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The example plugin docs/examples/resent.c listens to the taps and has the counts of the program."""
import os
import re

import decoded
import harness

LISTENER = os.path.join(os.environ["UERUDP_BUILD"], "examples", "resent.so")
NAMES = ("loss-burst", "legacy", "two-clients", "mixed")
SENDERS = ("unknown", "client", "server")
LINE = re.compile(r"(?m)^connection (\d+), (\w+): (\d+) packets, (\d+) missing, (\d+) bunches, (\d+) of them retransmitted$")


class Listener(harness.StageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.stage.put_plugin(LISTENER)

    def listen(self, path):
        """(packets, missing, bunches, retransmitted) by connection and sender."""
        text = self.stage.tshark("-2", "-q", "-r", path, "-z", "resent,uerudp")
        return {(int(stream), sender): tuple(map(int, numbers)) for stream, sender, *numbers in LINE.findall(text)}

    def expected(self, path):
        found = {}
        datagrams, connections = decoded.datagrams(path), decoded.connections(path)
        for datagram in datagrams:
            key = datagram["stream"], SENDERS[datagram["direction"]]
            packets, bunches = found.get(key, (0, 0))
            found[key] = packets + 1, bunches + len(list(decoded.bunches([datagram])))
        resent = {(connection["stream"], sender): connection["resends"][side] for connection in connections
                  for sender, side in (("client", "c2s"), ("server", "s2c"))}
        return {key: (packets, bunches, resent[key]) for key, (packets, bunches) in found.items()}

    def test_counts(self):
        for name in NAMES:
            with self.subTest(name):
                path = self.stage.copy(decoded.path_of(name))
                counted = self.listen(path)
                self.assertEqual({key: (n[0], n[2], n[3]) for key, n in counted.items()}, self.expected(path))
                packets = self.stage.packets(path).values()
                self.assertEqual(sum(n[1] for n in counted.values()),
                                 sum(sum(packet.numbers("analysis.missing")) for packet in packets))

    def test_retransmissions(self):
        counted = self.listen(self.stage.copy(decoded.path_of("loss-burst")))
        self.assertGreater(sum(n[3] for n in counted.values()), 0)
        self.assertGreater(sum(n[1] for n in self.listen(self.stage.copy(decoded.path_of("mixed"))).values()), 0)

    def test_without_the_plugin(self):
        with harness.Stage() as stage:
            stage.put_plugin(LISTENER)
            os.remove(stage.plugin())
            command = ["tshark", "-q", "-r", stage.copy(decoded.path_of("legacy")), "-z", "resent,uerudp"]
            result = stage.run(command, check=False)  # from 4.6 on tshark exits in this case
            self.assertIn("resent: ", result.stderr)


if __name__ == "__main__":
    harness.main()
