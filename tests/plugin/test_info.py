#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The info column names the control messages of each bunch, up to a limit, whether or not a tree is built."""
import pathlib
import re

import decoded
import harness

SAMPLES = ("login", "legacy", "refused", "upgrade", "ue4.13", "ue5.8", "duplicate")
DEFINITIONS = pathlib.Path(__file__).resolve().parents[2] / "libcodec/include/uerudp/messages.def"
NAMES = {int(number): name for number, name in
         re.findall(r'^UE_MESSAGE\((\d+), \w+, "(\w+)"\)', DEFINITIONS.read_text(), re.M)}
NAMED = re.compile(r"\[Ch 0 Control((?: (?:[A-Z]\w*|unknown|\.\.\.),?)*)")
NETSPEED, JOIN, CUT_CHALLENGE, UNKNOWN = "0450c30000", "09", "03ff", "c8"
OF_CONTROL = {"channel": 0, "reliable": True, "name_hardcoded": True, "name_index": 255}

# Content of control bunches, and its form in the column.
BUNCHES = (
    ({"data": NETSPEED}, "[Ch 0 Control Netspeed reliable #1 40 bits]"),
    ({"data": NETSPEED + JOIN, "control": True, "open": True}, "[Ch 0 Control Netspeed, Join open reliable #2 48 bits]"),
    ({"data": JOIN * 4}, "[Ch 0 Control Join, Join, Join, Join reliable #3 32 bits]"),
    ({"data": JOIN * 300}, "[Ch 0 Control Join, Join, Join, Join, ... reliable #4 2400 bits]"),
    ({"data": JOIN + CUT_CHALLENGE + JOIN}, "[Ch 0 Control Join, Challenge reliable #5 32 bits]"),
    ({"data": UNKNOWN}, "[Ch 0 Control unknown reliable #6 8 bits]"),
    ({"data": ""}, "[Ch 0 Control reliable #7 0 bits]"),
    ({"data": NETSPEED, "has_exports": True}, "[Ch 0 Control reliable #8 40 bits]"),
    ({"data": NETSPEED[:2], "partial": True, "partial_initial": True},
     "[Ch 0 Control reliable #9 first part 8 bits]"),
    ({"data": NETSPEED[2:] + JOIN, "partial": True, "partial_final": True},
     "[Ch 0 Control Netspeed, Join reliable #10 last part 40 bits]"),
    ({"data": NETSPEED, "channel": 3, "name_index": 102}, "[Ch 3 Actor reliable #11 40 bits]"),
)


def crafted():
    """A datagram for each entry."""
    for number, (bunch, _) in enumerate(BUNCHES):
        parts = {"partial_initial": False, "partial_exports_final": False, "partial_final": False}
        own = OF_CONTROL | {"ch_seq": number + 1} | (parts if "partial" in bunch else {}) | bunch
        yield {"src": "10.0.0.1:50123", "dst": "10.0.0.2:7777", "direction": 1, "generation": "5.5",
               "packet": {"seq": 100 + number, "ack": 200, "history": [1]}, "bunches": [own]}


class Info(harness.StageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.crafted = cls.stage.encode("crafted.pcapng", crafted())

    def test_samples(self):
        """The info column has the messages of uerudp decode."""
        named = set()
        for sample in SAMPLES:
            with self.subTest(sample):
                path = self.stage.copy(decoded.path_of(sample))
                lines = self.stage.info(path)
                for bunch in decoded.bunches(decoded.datagrams(path)):
                    types = [message["type"] for message in bunch.bunch.get("messages", [])]
                    found = NAMED.findall(lines[bunch.frame])
                    if bunch.bunch["channel"] == 0:
                        self.assertIn(", ".join(NAMES[kind] for kind in types), [text.strip() for text in found])
                        named.update(types)
        self.assertGreater(len(named), 8)

    def test_crafted(self):
        for options in ([], ["-2"]):
            lines = self.stage.info(self.crafted, "-o", "uerudp.generation:5.5", *options)
            self.assertEqual([line[line.index("[Ch"):] for line in lines.values()], [line for _, line in BUNCHES])

    def test_tree_and_its_limits(self):
        """The info column is equal with a visible tree, whose bunches have its text."""
        lines = self.stage.info(self.crafted, "-o", "uerudp.generation:5.5")
        self.assertEqual(lines, self.stage.info(self.crafted, "-o", "uerudp.generation:5.5", "-o", "uerudp.max_items:3"))
        text = self.stage.tshark("-r", self.crafted, "-o", "uerudp.generation:5.5", "-V", "-P")
        self.assertEqual([line for _, line in BUNCHES if line not in text], [])
        self.assertTrue("Bunch: Ch 0 Control Netspeed, Join open reliable #2, 48 bits" in text)


if __name__ == "__main__":
    harness.main()
