#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every menu entry and dialog of Wireshark's window that the plugin adds or fills opens, does not crash, and shows
rows."""
import json
import os
import shutil
import subprocess
import sys
import unittest

import capture
import decoded
import harness
import tables

CAPTURE = "mixed"
PYTHON = "/usr/bin/python3"  # Debian's Python, which has the bindings
TREES = {"Packets": "uerudp", "Bunches": "uerudp_bunches", "Channels": "uerudp_channels", "Losses": "uerudp_losses",
         "Bandwidth": "uerudp_bandwidth"}
LIMIT_S, EMPTY_LIMIT_S = 120, 3  # a busy machine takes more than a minute for the first window, with sanitizers
SHOWN_FIRST = 6  # packets of a live capture
RESPONSE_TIMES = ["table", "Statistics", "Service Response Time", "UERUDP"]
CHANNELS = ["table", "Statistics", "Unreal Engine Channels"]
TALKERS = ["table", "Statistics", "Unreal Engine Talkers"]
EXPERTS = ["table", "Analyze", "Expert Information"]
OBJECTS = ["table", "File", "Export Objects", "UERUDP"]
CONVERSATIONS = ["conversations", "Statistics", "Conversations"]
ENDPOINTS = ["conversations", "Statistics", "Endpoints"]
PDUS = ["export_pdus", "File", "Export PDUs to File"]
GRAPH = ["graph", "Statistics", "I/O Graphs"]
PREFERENCES = ["page", "Edit", "Preferences"]
FOLLOW = ["follow", "Analyze", "Follow", "UERUDP Stream"]


def tree(name):
    return ["table", "Statistics", "Unreal Engine", name]


def looked_at(content, limit_s, *steps):
    """Rows of the window for this capture, by step."""
    with harness.Stage() as stage:
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "window.py"), "rb") as file:
            driver = stage.put("window.py", file.read())
        profiles = os.path.join(stage.home, "wireshark/profiles")
        shutil.copytree(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../plugin/profile"), profiles)
        subprocess.run(["chmod", "-R", "a+rwX", os.path.dirname(profiles)], check=True)
        command = ["env", "-u", "LD_PRELOAD", "timeout", "--kill-after=5", str(harness.TIMEOUT_S - 20), PYTHON,
                   driver, str(limit_s), stage.home, stage.put("capture", content), *map(json.dumps, steps)]
        result = stage.run(command)
    found = json.loads(result.stdout)
    if "failure" in found:
        raise AssertionError(f"{found['failure']}\n{result.stderr[-4000:]}")
    return {tuple(step): rows for step, rows in found["rows"]}


class Window(harness.StageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path = cls.stage.copy(decoded.path_of(CAPTURE))
        with open(cls.path, "rb") as file:
            cls.content = file.read()
        series = os.path.basename(os.path.dirname(os.path.dirname(cls.stage.plugin())))
        cls.has_follow = series != "4.0"
        steps = [*map(tree, TREES), RESPONSE_TIMES, CHANNELS, CONVERSATIONS, ENDPOINTS, OBJECTS, EXPERTS, PDUS, GRAPH, PREFERENCES]
        steps += [FOLLOW] if cls.has_follow else []
        cls.found = looked_at(cls.content, LIMIT_S, *steps)

    def rows(self, step):
        return self.found[tuple(step)]

    def test_statistics(self):
        """The rows equal those of tshark."""
        for name, key in TREES.items():
            with self.subTest(name):
                text = self.stage.tshark("-2", "-q", "-r", self.path, "-z", key + ",tree")
                wanted, = tables.read_trees(text).values()
                self.assertTrue(wanted)
                got = [(row[0], int(row[1])) for row in self.rows(tree(name))]
                self.assertEqual(sorted(got), sorted((path[-1], count) for path, count in wanted.items()))

    def test_response_times(self):
        wanted = tables.read_times(self.stage.tshark("-2", "-q", "-r", self.path, "-z", "uerudp,srt"))
        wanted = sorted((name, times[0]) for table in wanted for name, times in table.items())
        got = sorted((row[1], int(row[2])) for row in self.rows(RESPONSE_TIMES) if row[1])
        self.assertTrue(wanted)
        self.assertEqual(got, wanted)

    def test_channels(self):
        """The rows equal those of tshark."""
        text = self.stage.tshark("-2", "-q", "-r", self.path, "-z", "uerudp,channels")
        wanted = [[cell.strip() for cell in line.split("|")[:-1]] for line in text.splitlines() if line.count("|") == 8]
        self.assertGreater(len(wanted), 2)
        got = [[(cell or "").strip() for cell in row] for row in self.rows(CHANNELS) if row[1:2] and row[1]]  # 4.6 pads
        self.assertEqual(sorted(got), sorted(wanted[1:]))

    def test_conversations_and_endpoints(self):
        packets = len(decoded.datagrams(self.path))
        self.assertEqual([row[4] for row in self.rows(CONVERSATIONS)], [str(packets)])
        self.assertEqual([row[2] for row in self.rows(ENDPOINTS)], [str(packets)] * 2)

    def test_export_objects(self):
        names = [cell for row in self.rows(OBJECTS) for cell in row if cell.startswith("stream0-frame")]
        self.assertGreater(len(names), 10)
        self.assertEqual(len(names), len(self.rows(OBJECTS)))

    def test_expert_information(self):
        self.assertTrue([row for row in self.rows(EXPERTS) if "UERUDP" in row])

    def test_export_pdus(self):
        self.assertIn(["Unreal Engine messages"], self.rows(PDUS))

    def test_graph(self):
        """The highest packet id of each second."""
        highest = {}
        datagrams = decoded.datagrams(self.path)
        for datagram in datagrams:
            if "packet" in datagram:
                second = (int(datagram["time"]) - int(datagrams[0]["time"])) // 10**9
                highest[second] = max(highest.get(second, 0), datagram["packet"]["id"])
        got = {float(row[0]): float(row[1]) for row in self.rows(GRAPH)[1:]}
        self.assertEqual(got, highest)

    def test_preferences(self):
        names = [name for name, in self.rows(PREFERENCES)]
        for name in ("Analyse connections", "Reassemble messages that were sent in fragments", "Generation",
                     "AES key, or file of keys", "Unreal Engine servers", "Unreal Engine keys"):
            self.assertIn(name, names)

    def test_follow(self):
        if not self.has_follow:
            self.skipTest("the window of 4.0 follows only the protocols that it knows")
        self.assertGreater(len("".join(line for line, in self.rows(FOLLOW))), 100)


class Voice(unittest.TestCase):
    def test_talkers(self):
        path = decoded.path_of("voice")
        connection, = decoded.connections(path)
        with open(path, "rb") as file:
            rows, = looked_at(file.read(), LIMIT_S, TALKERS).values()
        # Wireshark 4.6 pads the text, as the format of the column says for tshark.
        got = [(row[0].rstrip(), *map(int, row[2:5]), round(float(row[5]), 3)) for row in rows if row[2:3] and row[2]]
        wanted = [(talker["sender"], talker["packets"], talker["bytes"], talker["spurts"], round(talker["talked_s"], 3))
                  for talker in connection["talkers"]]
        self.assertEqual(sorted(got), sorted(wanted))


class Live(unittest.TestCase):
    def test_capture_goes_on(self):
        """Wireshark dissects the first packets again to show them, which ends no first pass: the bounds of the connection
        are still found in what follows."""
        with harness.Stage() as stage:
            path = stage.encode(CAPTURE, decoded.datagrams(decoded.path_of(CAPTURE)), "-o", "-", "--ch-seq-bound=4096", "-")
            stage.tshark("-r", path, "-F", "pcap", "-w", os.path.join(stage.home, "live.pcap"))
            datagrams = capture.read(os.path.join(stage.home, "live.pcap"))
        step = ["live", len(capture.pcap(datagrams[:SHOWN_FIRST])), len(datagrams)]
        rows, = looked_at(capture.pcap(datagrams), LIMIT_S, step).values()
        self.assertEqual([row for row in rows if "Malformed" in row[-1]], [])
        self.assertTrue([row for row in rows if "reliable" in row[-1]])


class Again(unittest.TestCase):
    """Wireshark dissects all packets again, for example with other preferences: what later packets tell of a packet is
    complete as before."""
    STALLS = {10: "[Reliable stall 300 ms]", 22: "[Reliable stall 700 ms]"}
    STALL = "uerudp.finding.reliable_stall"
    FILTERED = ["filtered", STALL, len(STALLS)]

    def stalls(self, rows):
        return {int(row[0]): mark for row in rows for mark in self.STALLS.values() if mark in row[-1]}

    def test_findings(self):
        """Also after the file was read again, and with a filter that is applied afterwards."""
        path = decoded.path_of("loss-burst")
        with open(path, "rb") as file:
            content = file.read()
        count = len(decoded.datagrams(path))
        again, later = ["redissected", count, 5], ["redissected", count, 6]
        found = looked_at(content, LIMIT_S, again, EXPERTS, ["reloaded", count], later, self.FILTERED)
        for step in (again, later, self.FILTERED):
            self.assertEqual(self.stalls(found[tuple(step)]), self.STALLS, step)
        warnings = [int(row[-1]) for row in found[tuple(EXPERTS)] if row[0] == "Warning" and "UERUDP" in row]
        with harness.Stage() as stage:
            text = stage.tshark("-2", "-q", "-r", stage.copy(path), "-z", "expert,warn")
        wanted = [int(line.split()[0]) for line in text.splitlines() if " UERUDP " in line]
        self.assertGreater(sum(wanted), 3)
        self.assertEqual(sum(warnings), sum(wanted))

    def test_malformed(self):
        path = decoded.path_of("fuzz")
        with open(path, "rb") as file:
            content = file.read()
        count = len(decoded.datagrams(path))
        with harness.Stage() as stage:
            wanted = [frame for frame, info in stage.info(stage.copy(path), "-2").items() if "[Malformed" in info]
        rows, = looked_at(content, LIMIT_S, ["redissected", count, 5]).values()
        self.assertTrue(wanted)
        self.assertEqual([int(row[0]) for row in rows if "[Malformed" in row[-1]], wanted)
        self.assertEqual([row for row in rows if "not final" in row[-1]], [])

    def test_live(self):
        """During a capture this is not its end: what the packets after it tell is not lost."""
        with harness.Stage() as stage:
            stage.tshark("-r", stage.copy(decoded.path_of("loss-burst")), "-F", "pcap", "-w", os.path.join(stage.home, "a.pcap"))
            datagrams = capture.read(os.path.join(stage.home, "a.pcap"))
        step = ["live", len(capture.pcap(datagrams[:SHOWN_FIRST])), len(datagrams), SHOWN_FIRST]
        stalled = ["filtered", self.STALL, 1]  # the packets are 10 ms apart
        found = looked_at(capture.pcap(datagrams), LIMIT_S, step, stalled)
        self.assertEqual([(row[0], "[Reliable stall 140 ms]" in row[-1]) for row in found[tuple(stalled)]], [("22", True)])


class Changed(unittest.TestCase):
    """The user changes preferences and the profile while a file is open."""

    def test_preferences_and_profile(self):
        path = decoded.path_of("loss-burst")
        with open(path, "rb") as file:
            content = file.read()
        count, retransmitted = len(decoded.datagrams(path)), 14
        with harness.Stage() as stage:
            before = list(stage.info(stage.copy(path), "-2").values())
            older = list(stage.info(stage.copy(path), "-2", "-o", "uerudp.analyse:FALSE", "-o", "uerudp.generation:4.13").values())
        plain = ["preferred", count, "Analyse connections", None, retransmitted, "[Retransmission]", False]
        other = ["preferred", count, "Generation", "4.13", retransmitted, "Welcome", False]
        detected = ["preferred", count, "Generation", "automatic", retransmitted, "Welcome", True]
        again = ["preferred", count, "Analyse connections", None, retransmitted, "[Retransmission]", True]
        profile = ["profile", count, "uerudp", 11]
        found = looked_at(content, LIMIT_S, plain, other, detected, again, profile)
        infos = {tuple(step): [row[-1] for row in found[tuple(step)]] for step in (plain, other, detected, again)}
        self.assertEqual([], [info for info in infos[tuple(plain)] if "[Re" in info or "[Nak" in info])
        self.assertEqual(infos[tuple(other)], older)
        self.assertEqual(infos[tuple(detected)], infos[tuple(plain)])
        self.assertEqual(infos[tuple(again)], before)
        self.assertIn(["Stall"], found[tuple(profile)])


class Nothing(unittest.TestCase):
    def test_rows_are_missed(self):
        """A window without rows is recognised: the capture has no packet of uerudp."""
        datagrams = [capture.from_client(b"another protocol", port=9) for _ in range(10)]
        steps = [tree("Bunches"), OBJECTS, EXPERTS, CONVERSATIONS, ENDPOINTS, GRAPH]
        found = looked_at(capture.pcap(datagrams), EMPTY_LIMIT_S, *steps)
        for step, rows in found.items():
            self.assertFalse([row for row in rows if any(cell.strip('0"') for cell in row)], step)


def what_is_absent():
    bindings = "import gi; gi.require_version('Atspi', '2.0')"
    if not all(map(shutil.which, ("wireshark", "Xvfb", "dbus-daemon", "xdotool", "xclip"))):
        return "one of wireshark, Xvfb, dbus-daemon, xdotool, xclip"
    result = subprocess.run([PYTHON, "-c", bindings], stderr=subprocess.DEVNULL, check=False)
    return "the bindings of AT-SPI (Debian: gir1.2-atspi-2.0, python3-gi)" if result.returncode else None


if __name__ == "__main__":
    absent = what_is_absent()
    if absent:
        print(f"this machine is without {absent}")
        sys.exit(harness.SKIPPED)
    harness.main()
