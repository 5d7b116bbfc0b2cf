#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Messages that were exported as packets are dissected again, with the same content."""
import os
import re
from xml.etree import ElementTree

import decoded
import harness
import messages

NAMES = ("login", "legacy", "game", "big-bunch", "ue4.13", "ue5.8")
TITLE = "Unreal Engine messages"
CHANGED_BYTES = 17 + 3 + 1  # the header, the name of a generation, and the first byte of the message
HEADS_BYTES = 16 + 6 * 8 + 4  # Wireshark's tags, from the dissector's name on
ITEMS = 6


def count_items(packet):
    """Items of uerudp, except expert items."""
    return sum((node.get("name") or "").startswith("uerudp.") for node in packet.protocol.iter("field")
               if not (node.get("name") or "").startswith("uerudp.expert."))


class Pdu(harness.StageCase):
    def exported(self, path):
        to = os.path.join(self.stage.home, os.path.basename(path) + ".pdu")
        self.stage.tshark("-2", "-q", "-r", path, "-U", TITLE, "-w", to)
        return to

    def read(self, path, *options):
        """The messages in file order, and their original frames."""
        text = self.stage.tshark("-r", path, *options, "-T", "pdml")
        nodes = list(ElementTree.fromstring(text).iter("packet"))
        frames = [int(field.get("show")) for node in nodes for field in node.iter("field")
                  if field.get("name") == "exported_pdu.orig_fno"]
        return [harness.Packet(node) for node in nodes], frames

    def test_every_message(self):
        for name in NAMES:
            with self.subTest(name):
                path = self.stage.copy(decoded.path_of(name))
                wanted = messages.of(path)
                got, frames = self.read(self.exported(path))
                self.assertEqual(frames, [m.frame for m in wanted])
                self.assertEqual([(p.numbers("stream"), p.numbers("direction"), p.numbers("bunch.channel"),
                                   p.numbers("bunch.data_bits")) for p in got],
                                 [([m.stream], [m.direction], [m.channel], [m.bits]) for m in wanted])
                self.assertEqual({text for p in got for text in p.texts("generation")},
                                 {d["generation"] for d in decoded.datagrams(path)})

    def test_control_messages(self):
        for name in ("login", "legacy", "ue4.13", "ue5.8"):
            with self.subTest(name):
                path = self.stage.copy(decoded.path_of(name))
                seen, wanted = set(), []
                for bunch in messages.first_copies(decoded.bunches(decoded.datagrams(path))):
                    wanted += [message["type"] for message in bunch.bunch.get("messages", [])]
                got, _ = self.read(self.exported(path))
                self.assertEqual([number for p in got for number in p.numbers("control.type")], wanted)
                seen.update(field.key for p in got for field in p.fields)
                self.assertTrue({"control.hello.network_version", "control.welcome.map"} <= seen, seen)
                self.assertEqual([p.experts for p in got if p.experts and p.texts("control.type")], [])

    def test_labels(self):
        """As in the capture, except for paths, which were exported in other messages."""
        got, _ = self.read(self.exported(self.stage.copy(decoded.path_of("game"))))
        found = {node.get("showname") for p in got for node in p.protocol.iter("field")}
        for label in ("Exports: 2 names", "Object 131", "Must be mapped: 1 id", "Message: Login"):
            self.assertIn(label, found)

    def test_items_left_out(self):
        path = self.exported(self.stage.copy(decoded.path_of("game")))
        few = 0
        for whole, limited in zip(self.read(path)[0], self.read(path, "-o", f"uerudp.max_items:{ITEMS}")[0], strict=True):
            reported = [int(text.split()[2]) for name, text in limited.sentences if name == "uerudp.expert.items"]
            self.assertEqual([count_items(whole) - count_items(limited)], reported or [0])
            few += bool(reported)
        self.assertGreater(few, 50)

    def test_experts_without_tree(self):
        path = self.exported(self.stage.copy(decoded.path_of("mixed")))
        found = [text for p in self.read(path)[0] for name, text in p.sentences if name == "uerudp.expert.content"]
        listed = re.findall(r"(\d+) +Undecoded +UERUDP  Content not decoded", self.stage.tshark("-r", path, "-q", "-z", "expert"))
        self.assertEqual(sum(map(int, listed)), len(found))
        self.assertGreater(len(found), 3)

    def test_damaged_headers(self):
        """In each exported packet one byte is changed, at another position each time."""
        with open(self.exported(self.stage.copy(decoded.path_of("game"))), "rb") as file:
            content = file.read()
        packets = [match.start() for match in re.finditer(b"uerudp.message", content)]
        self.assertGreater(len(packets), 100)
        for shift in range(4):
            changed = bytearray(content)
            for number, at in enumerate(packets[:-1]):
                changed[at + HEADS_BYTES + (number + shift * len(packets)) % CHANGED_BYTES] ^= 0xFF
            text = self.stage.tshark("-V", "-r", self.stage.put("changed.pcapng", changed))
            self.assertIn("Unreal Engine Reliable UDP", text)


if __name__ == "__main__":
    harness.main()
