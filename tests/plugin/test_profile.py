#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The shipped profile is installed where Wireshark finds it, each of its filters matches packets, and its columns have
values."""
import csv
import os
import pathlib
import re
import shutil

import harness

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROFILE = ROOT / "plugin/profile/uerudp"
CAPTURES = ("ue5.5", "legacy", "loss-burst", "reorder", "duplicate", "corrupt", "overload", "fuzz", "close-reasons")
COLOUR = re.compile(r"^@([^@]+)@(.*)@\[(\d+),(\d+),(\d+)\]\[(\d+),(\d+),(\d+)\]$")
MACRO = re.compile(r'^"(\w+)" (.*)$')
# Filters for traffic that no sample has.
UNSEEN = {"uerudp.analysis.spurious_retransmission",
          "uerudp.analysis.reliable_jump", "uerudp.analysis.partial_error", "uerudp.analysis.buffer_high",
          "uerudp.expert.no_key", "uerudp.expert.wrong_key", "uerudp.expert.compressed", "uerudp.expert.dtls"}


def lines_of(name):
    return [line for line in (PROFILE / name).read_text().splitlines() if line and not line.startswith("#")]


def rows_of(name):
    return list(csv.reader(lines_of(name)))


def colours():
    return [COLOUR.match(line).groups() for line in lines_of("colorfilters")]


class Profile(harness.StageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        shutil.copytree(PROFILE, os.path.join(cls.stage.path, "uerudp"))
        cls.script = cls.stage.put("install.cmake", (ROOT / "cmake/install_user.cmake").read_bytes())
        cls.output = cls.install_user()
        cls.paths = [cls.stage.copy(ROOT / f"captures/{name}.pcapng") for name in CAPTURES]

    @classmethod
    def install_user(cls):
        result = cls.stage.run(["cmake", "-D", f"PLUGIN={cls.stage.plugin()}", "-D", f"PROFILE={cls.stage.path}/uerudp",
                                "-P", cls.script])
        return result.stdout + result.stderr

    def matches(self, filters, paths=None):
        """The number of sample packets that match each filter, from one run."""
        totals = [0] * len(filters)
        for path in paths or self.paths:
            text = self.stage.tshark("-C", "uerudp", "-2", "-q", "-r", path, "-z", ",".join(["io,stat,0", *filters]))
            row = [line for line in text.splitlines() if "<>" in line][-1].strip("|").split("|")
            counts = [int(cell) for cell in row[1::2]]
            self.assertEqual(len(counts), len(filters))
            totals = [total + count for total, count in zip(totals, counts)]
        return dict(zip(filters, totals))

    def test_installed(self):
        folders = dict(re.findall(r"^([^:\n]+):\s+(.*)$", self.stage.tshark("-G", "folders"), re.M))
        profile = pathlib.Path(folders["Personal configuration"]) / "profiles/uerudp"
        self.assertEqual({path.name for path in PROFILE.iterdir()}, {path.name for path in profile.iterdir()})
        self.assertTrue((pathlib.Path(folders["Personal Plugins"]) / "epan/uerudp.so").exists())
        self.assertIn(str(profile), self.output)

    def test_changes_of_the_user_stay(self):
        changed = pathlib.Path(self.stage.home) / "wireshark/profiles/uerudp/dmacros"
        before = changed.read_text()
        self.stage.run(["sh", "-c", f"echo '# mine' >>'{changed}'"])
        self.assertIn("Left alone", self.install_user())
        self.assertEqual(changed.read_text(), before + "# mine\n")

    def test_filters(self):
        """Each part of each filter and each button is valid and matches sample packets."""
        buttons = rows_of("dfilter_buttons")
        self.assertTrue(all(row[0] == "TRUE" and len(row) == 4 and row[1] and row[3] for row in buttons))
        filters = [text for _, text, *_ in colours()] + [row[2] for row in buttons]
        parts = {part.strip() for text in filters for part in text.split("||")}
        self.assertGreater(len(parts), 20)
        found = self.matches(sorted(parts) + [row[2] for row in buttons])
        self.assertEqual({text for text, count in found.items() if count == 0}, UNSEEN)

    def test_colours(self):
        """Wireshark reads the rules and applies the first rule that matches a packet."""
        names = [name for name, *_ in colours()]
        self.assertEqual(len(names), len(set(names)))
        found = set()
        for path in self.paths:
            text = self.stage.tshark("-C", "uerudp", "--color", "-2", "-r", path, "-T", "fields", "-e",
                                     "frame.coloring_rule.name")
            found |= set(text.split("\n"))
        self.assertLessEqual(found - {""}, set(names))
        self.assertGreaterEqual(len(found), 7)
        self.assertIn("Unreal: reliable stall", found, "the packet matches the colour of lost packets, too")

    def test_columns(self):
        """In the order of the profile; Wireshark 4.4 has no fields for custom columns."""
        text = self.stage.tshark("-C", "uerudp", "-r", self.paths[0], "-T", "tabs", "-Y", "frame.number == 20")
        cells = [cell.strip() for cell in text.split("\t") if cell.strip() != "→"]
        stream, packet, ack = cells[4:7]
        self.assertEqual(stream, "0")
        for column in (packet, ack):
            self.assertRegex(column, r"^\d+$")
        self.assertRegex(cells[-1], "^(C→S|S→C) ")

    def test_widths(self):
        """The profile sets the widths of all columns: Wireshark has one default width for custom columns, and from 4.4 on
        it assigns widths by position. Up to 4.0 the default of the last column is so wide that the list must be scrolled."""
        columns = re.findall(r'^\t"[^"]+", "(%[^":]+(?::[^":]+)?)', (PROFILE / "preferences").read_text(), re.M)
        widths = dict(re.findall(r'^\t"?(%[^",]+)"?, (-?\d+),?$', (PROFILE / "recent").read_text(), re.M))
        self.assertEqual(list(widths), columns)
        chosen = {column for column, width in widths.items() if int(width) > 0}
        self.assertLessEqual({column for column in columns if column.startswith("%Cus:")}, chosen)
        self.assertIn("%i", chosen)

    def test_macros(self):
        macros = dict(MACRO.match(line).groups() for line in lines_of("dmacros"))
        self.assertEqual(macros, dict(rows_of("dfilter_macros")), "both forms are equal")
        packet = self.stage.tshark("-r", self.paths[0], "-T", "fields", "-e", "uerudp.packet.id").split()[0]
        calls = ["${ue_stream:0}", "${ue_channel:0;0}", "${ue_slow_ack:0.001}", f"${{ue_packet:0;{packet}}}",
                 "${ue_stream:7}"]
        self.assertEqual([count > 0 for count in self.matches(calls, self.paths[:1]).values()], [True] * 4 + [False])


if __name__ == "__main__":
    harness.main()
