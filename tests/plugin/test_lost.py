#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Colour and button Loss of the profile find each lost packet itself, not only the packet that reports it, and a stall is
on the packet whose loss began it: compared with what the simulator and a link dropped."""
import csv
import json
import os
import pathlib
import subprocess
import tempfile

import decoded
import harness
import live

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROFILE = ROOT / "plugin/profile/uerudp"
SEEDS = range(1, 7)
TICK = ("--tick", 120)
LIVE = ("--loss", 0.1, "--loss-burst", 3, "--delay", 10, "--seed", 1)


def button(name):
    with open(PROFILE / "dfilter_buttons", encoding="utf-8") as file:
        return next(row[2] for row in csv.reader(file) if len(row) == 4 and row[1] == name)


def colour(name):
    lines = (PROFILE / "colorfilters").read_text(encoding="utf-8").splitlines()
    return next(line.split("@")[2] for line in lines if line.startswith(f"@Unreal: {name}@"))


class Lost(harness.StageCase):
    def frames(self, path, display_filter):
        text = self.stage.tshark("-2", "-r", path, "-Y", display_filter, "-T", "fields", "-e", "frame.number")
        return set(map(int, text.split()))

    def ids(self, path, display_filter):
        """Direction and packet id by frame."""
        fields = ("frame.number", "uerudp.direction", "uerudp.packet.id")
        text = self.stage.tshark("-2", "-r", path, "-Y", display_filter, "-T", "fields",
                                 *(part for field in fields for part in ("-e", field)))
        return {int(frame): (way, int(id_)) for frame, way, id_ in map(str.split, text.splitlines())}

    def check(self, path, lost, reported):
        """lost: frames of packets that did not arrive; reported: how many of them a later packet reports."""
        found = self.frames(path, "uerudp.analysis.nacked_in")
        self.assertEqual(set(), found - lost, "delivered packets")
        self.assertEqual(reported, len(found))
        self.assertLessEqual(found, self.frames(path, button("Loss")))
        self.assertLessEqual(found, self.frames(path, colour("lost or not delivered")))
        return len(found)

    def generate(self, *options):
        path = os.path.join(self.stage.path, "made.pcapng")
        subprocess.run([os.environ["UERUDP_PROGRAM"], "generate", "loss-burst", "--output", path, *options], check=True,
                       timeout=harness.TIMEOUT_S)
        with open(path.replace(".pcapng", ".sent.json"), encoding="utf-8") as file:
            return path, json.load(file)

    def test_simulator(self):
        """Captured at the sender, each packet is in the capture; the numbers of reports are those of the endpoints."""
        total = stalls = 0
        for seed in SEEDS:
            path, sent = self.generate("--capture-at=sender", f"--seed={seed}", "--duration=8")
            lost = {datagram["frame"] for datagram in sent["datagrams"] if not datagram["arrived"]}
            total += self.check(path, lost, sum(sent["connections"][0]["not_acked"].values()))
            stalled = self.frames(path, "uerudp.analysis.stall")
            self.assertEqual(set(), stalled - lost, "delivered packets")
            self.assertLessEqual(stalled, self.frames(path, "uerudp.analysis.retransmitted_in"))
            stalls += len(stalled)
        self.assertGreater(total, 50)
        self.assertGreater(stalls, 5)

    def test_without_loss(self):
        path = self.stage.copy(decoded.path_of("ue5.5"))
        self.assertEqual(set(), self.frames(path, button("Loss")))

    def test_live(self):
        """A link on the loopback interface comments each datagram that it drops. The datagrams of each end are in the file as
        that end sent them, and again, if they are delivered, as the other end receives them."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "live.pcapng"
            with live.Server(*TICK) as server, live.Link(server.port, "--pcap", path, *LIVE) as link:
                live.check(link, *TICK)
            capture = self.stage.put("live.pcapng", path.read_bytes())
        dropped = self.frames(capture, 'frame.comment contains "lost" && uerudp.packet.id')
        found = self.frames(capture, "uerudp.analysis.nacked_in")
        self.assertGreater(len(dropped), 20)
        self.assertEqual(set(), found - dropped)
        reported = self.ids(capture, "uerudp.analysis.acked_in || uerudp.analysis.nacked_in")
        newest = {direction: max(id_ for way, id_ in reported.values() if way == direction) for direction in "12"}
        early = {frame for frame, (way, id_) in self.ids(capture, "uerudp.packet.id").items()
                 if frame in dropped - found and id_ < newest[way]}
        self.assertEqual(set(), early, "only the last packets of a side can be without a report")
        self.assertLessEqual(found, self.frames(capture, button("Loss")))


if __name__ == "__main__":
    harness.main()
