#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The plugin and `uerudp info` have the same findings: kind, severity, stream and sentence, which has side, frames and
numbers; in Wireshark each is on the first frame that it names. UERUDP_FINDING_CONNECTIONS is the number of generated connections."""
import collections
import json
import os
import pathlib
import xml.etree.ElementTree as ElementTree

import conversation
import harness
import recordings
import traffic

CAPTURES = pathlib.Path(__file__).parents[2] / "captures"
SEVERITIES = {"8388608": "error", "6291456": "warning", "4194304": "note"}
PREFIX = "uerudp.finding."
MALFORMED = "uerudp.expert.malformed"  # the item of the datagram is the finding, too
GENERATED = int(os.environ.get("UERUDP_FINDING_CONNECTIONS", 500))
PER_CAPTURE = 25
SCENARIOS = ("lossy", "login", "bulk", "game")
GENERATIONS = ("4.13", "4.20", "4.22", "5.1", "5.4", "5.8")
LOSSES = ("0", "0.02", "0.1", "0.3")


class Findings(harness.StageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        names = cls.stage.tshark("-G", "fields").splitlines()
        cls.filters = sorted({line.split("\t")[2] for line in names if f"\t{PREFIX}" in line})

    def shown(self, path, settings, *options):
        """What tshark shows, as (kind, severity, stream, sentence, frame)."""
        found = collections.Counter()
        for packet in ElementTree.fromstring(self.stage.pdml(path, ["-2", *harness.preferences(settings), *options])).iter("packet"):
            for item in packet.iterfind(".//field[@name='_ws.expert']"):
                names = [field.get("name") for field in item]
                kind = next((name for name in names if name and (name.startswith(PREFIX) or name == MALFORMED)), None)
                if kind is not None:
                    values = {field.get("name"): field.get("show") for field in item}
                    text = values["_ws.expert.message"]
                    stream = packet.find(".//field[@name='uerudp.stream']").get("show")
                    found[kind.rpartition(".")[2], SEVERITIES[values["_ws.expert.severity"]], int(stream), text,
                          int(packet.find("proto/field[@name='num']").get("show"))] += 1
        return found

    def told(self, path, settings):
        """What info prints, likewise, with the first frame that it names, or None."""
        options = [f"--{key.replace('_', '-')}={value}" for key, value in settings.items()]
        found = collections.Counter()
        for line in map(json.loads, traffic.program("info", "--json", "--findings=1000", *options, path).splitlines()):
            self.assertEqual({}, line["findings_more"])
            for finding in line["findings"]:
                frame, = finding["frames"][:1] or [None]
                found[finding["kind"], finding["severity"], line["stream"], finding["text"], frame] += 1
        return found

    def compare(self, path, settings, *options):
        shown, told = self.shown(path, settings, *options), self.told(path, settings)
        unplaced = {finding[:-1] for finding in told if finding[-1] is None}
        shown = collections.Counter((*finding[:-1], None if finding[:-1] in unplaced else finding[-1])
                                    for finding in shown.elements())
        self.assertEqual([], sorted((told - shown).elements())[:5], f"{path}: only the program has these")
        self.assertEqual([], sorted((shown - told).elements())[:5], f"{path}: only the plugin has these")
        return sum(told.values())

    def test_captures(self):
        paths = sorted(CAPTURES.glob("**/*.pcapng"))
        settings = {path: named for path, named, _ in recordings.documented()}
        self.assertGreater(sum(self.compare(self.stage.copy(path), settings.get(path, {})) for path in paths), 50)

    def frames(self, path, *filters):
        """The frames that pass each filter."""
        return [self.stage.tshark("-2", "-r", path, "-Y", text, "-T", "fields", "-e", "frame.number").split() for text in filters]

    def test_filters(self):
        """The filter of each kind finds what info reports, also malformed datagrams, which have an item of their own;
        the others do not pass."""
        for name, kinds in (("fuzz", {"malformed"}), ("loss-burst", {"reliable_stall", "loss_burst"}), ("login", set())):
            path = self.stage.copy(CAPTURES / f"{name}.pcapng")
            told = self.told(path, {})
            self.assertLessEqual(kinds, {kind for kind, *_ in told})
            for kind in kinds | {"malformed"}:
                found, = self.frames(path, PREFIX + kind)
                self.assertEqual(sorted({frame for one, *_, frame in told if one == kind}), sorted(map(int, found)), (name, kind))
        found, same = self.frames(self.stage.copy(CAPTURES / "fuzz.pcapng"), PREFIX + "malformed", MALFORMED)
        self.assertEqual(found, same)

    def test_recordings(self):
        for name, path in harness.recorded().items():
            with self.subTest(name):
                self.compare(self.stage.copy(path), harness.settings_of(path))

    def compare_generated(self, scenario, seed, generation, loss, point):
        made = traffic.program("generate", scenario, "--no-sidecar", "--duration=2", "--output=-", f"--seed={seed}",
                               f"--connections={min(PER_CAPTURE, GENERATED)}", f"--generation={generation}",
                               f"--loss={loss}", "--dup=0.01", "--reorder=0.02", f"--capture-at={point}")
        path = self.stage.put(f"{scenario}-{generation}-{seed}.pcapng", made)
        return self.compare(path, {}, "-Y", " || ".join(self.filters))

    def test_generated(self):
        count = 0
        for number in range(-(-GENERATED // PER_CAPTURE)):
            count += self.compare_generated(SCENARIOS[number % len(SCENARIOS)], number + 1,
                                            GENERATIONS[number % len(GENERATIONS)],
                                            LOSSES[number // 2 % len(LOSSES)], ("client", "server", "sender")[number % 3])
        self.assertGreater(count, 0)

    def test_login_in_fragments(self):
        """The login stops after a Login that is longer than a bunch."""
        conv = conversation.hello_sent()
        login = b"\x05" + b"".join(len(text).to_bytes(4, "little") + text for text in (b"0\0", b"?" * 1400 + b"\0")) + b"\x03" + bytes(4)
        for first, data in ((True, login[:900]), (False, login[900:])):
            conv.send(conversation.CLIENT, conv.reliable(conversation.CLIENT, 0, data=data.hex(), partial=True,
                                                         partial_initial=first, partial_final=not first))
        path = self.stage.put("login-in-fragments.pcapng", conv.idle(20000, 200).capture())
        self.compare(path, {})
        sentence, = [text for kind, _, _, text, _ in self.told(path, {}) if kind == "login_stopped"]
        self.assertIn("stopped after Login of the client", sentence)

    def test_decision_of_the_first_pass(self):
        """A datagram that seems foreign when it is analysed stays so when later ones show the generation."""
        self.compare_generated("bulk", 8, "4.20", "0.3", "server")


if __name__ == "__main__":
    harness.main()
