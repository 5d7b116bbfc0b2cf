#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No datagram has more tree items than the preference allows; further items are counted, and everything else is
unchanged."""
import collections
import pathlib
import re

import harness

ROOT = pathlib.Path(__file__).resolve().parents[2]
CAPTURE = ROOT / "captures/ue5.5.pcapng"
WORLD = ROOT / "captures/game.pcapng"
EXAMPLE = ROOT / "docs/examples/crate.lua"
LIMIT = 12
# Items about the datagram as a whole, and items of message content.
OTHER = {"analysis", "expert", "fault", "finding", "canonical"}
INSIDE = {"block", "field", "content", "export", "exports", "mapped", "actor", "property", "voice"}
# Items of a reassembled message, which are not counted where the bunch is not shown.
REASSEMBLY = {"reassembled", "reassembled_in", "fragment"}
MORE = re.compile(r"at least (\d+) items not shown")
FOUR_BLOCKS = bytes.fromhex("0208208000") # each about the actor, without payload
PARTS = 60
PART_BLOCKS = 720


def blocks_in_parts():
    """A message of tens of thousands of blocks on an actor channel."""
    for part in range(PARTS):
        bunch = {"channel": 3, "reliable": True, "ch_seq": 359 + part, "name_hardcoded": True, "name_index": 102,
                 "partial": True, "partial_initial": part == 0, "partial_exports_final": False,
                 "partial_final": part == PARTS - 1, "data": FOUR_BLOCKS.hex() * (PART_BLOCKS // 4)}
        yield {"src": "10.0.0.2:7777", "dst": "10.0.0.1:50123", "direction": 2, "generation": "5.5",
               "packet": {"seq": 4454 + part, "ack": 4263, "history": [1]}, "bunches": [bunch]}


def items_of(packet, inside):
    """The items to which a limit applies: those of the datagram and its context, or those of message content."""
    names = [(node.get("name") or "").removeprefix("uerudp.") for node in packet.protocol.iter("field")
             if (node.get("name") or "").startswith("uerudp.")]
    return [name for name in names if name.partition(".")[0] not in OTHER and name != "bunch.reliable_id" and
            (name.partition(".")[0] in INSIDE) == inside]


class Limits(harness.StageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path = cls.stage.copy(CAPTURE)
        cls.whole = cls.stage.packets(cls.path)

    def test_few(self):
        limited = self.stage.packets(self.path, {"max_items": LIMIT})
        self.assertEqual(set(limited), set(self.whole))
        many = 0
        for frame, packet in limited.items():
            texts = [node.get("showname") or "" for node in packet.node.iter("field")]
            reported = max((int(found.group(1)) for found in map(MORE.search, texts) if found), default=0)
            wanted, shown = (items_of(each, False) for each in (self.whole[frame], packet))
            within, shown_within = (items_of(each, True) for each in (self.whole[frame], packet))
            self.assertEqual(shown, wanted[:LIMIT], f"frame {frame}")
            self.assertEqual(shown_within, within[:min(LIMIT, len(shown_within))], f"frame {frame}")
            own = [name for name in wanted if name.partition(".")[0] not in REASSEMBLY]
            hidden = len(wanted) - len(shown) + len(within) - len(shown_within)
            self.assertGreaterEqual(reported, max(0, len(own) - LIMIT), f"frame {frame}")
            self.assertLessEqual(reported, hidden, f"frame {frame}")
            self.assertEqual(reported != 0, (shown, shown_within) != (wanted, within), f"frame {frame}")
            many += reported != 0
        self.assertGreater(many, 20)

    def test_stock(self):
        """Ordinary packets are far below the limit; a limit of 0 means one item."""
        self.assertNotIn("uerudp.expert.items", sum((packet.experts for packet in self.whole.values()), []))
        for packet in self.stage.packets(self.path, {"max_items": 0}).values():
            self.assertEqual(len(items_of(packet, False)), 1)

    def test_a_message_of_many_blocks(self):
        path = self.stage.encode("blocks.pcapng", blocks_in_parts())
        limit = 2 * PARTS + 1000
        last = self.stage.packets(path, {"max_items": limit})[PARTS]
        self.assertEqual(len(last.numbers("fragment")), PARTS)
        self.assertLessEqual(len(items_of(last, True)), limit)
        self.assertGreater(len(last.groups("block")), 200)
        reported = [int(found.group(1)) for _, text in last.sentences for found in MORE.finditer(text)]
        self.assertGreater(reported[0], PARTS * PART_BLOCKS - limit)
        few = self.stage.packets(path, {"max_items": LIMIT})[PARTS]
        self.assertLess(len(few.numbers("fragment")), LIMIT)

    def tabs(self, path, *options):
        """The greatest number of data sources of each kind in a frame, and what another dissector finds in all
        blocks."""
        run = ("-2", "-r", path, "-X", f"lua_script:{self.stage.copy(EXAMPLE)}", *options)
        frames = re.split(r"^Frame \d+:", self.stage.tshark(*run, "-Vx"), flags=re.M)
        counts = [collections.Counter(re.findall(r"^(Payload|Block payload).* \(\d+ bytes\):$", text, re.M))
                  for text in frames]
        return ({kind: max(count[kind] for count in counts) for kind in ("Payload", "Block payload")},
                self.stage.tshark(*run, "-T", "fields", "-e", "frame.number", "-e", "crate.size"))

    def test_tabs(self):
        """Data sources count as items; other dissectors get all payloads nevertheless."""
        path = self.stage.copy(WORLD)
        views, found = self.tabs(path)
        self.assertGreater(min(views.values()), 4)
        few_views, few_found = self.tabs(path, "-o", "uerudp.max_items:3")
        self.assertLessEqual(max(few_views.values()), 3)
        self.assertIn("\t35,35", found)
        self.assertEqual(few_found, found)

    def test_the_line_is_whole(self):
        line = ("-T", "fields", "-e", "frame.number", "-e", "_ws.col.Info", "-e", "_ws.col.info")
        self.assertEqual(self.stage.tshark("-r", self.path, "-o", f"uerudp.max_items:{LIMIT}", *line),
                         self.stage.tshark("-r", self.path, *line))


if __name__ == "__main__":
    harness.main()
