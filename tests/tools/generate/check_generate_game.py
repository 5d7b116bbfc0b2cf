#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the simulated game intended, read back from the capture alone: the last value of each property arrives at any
loss, values between may not; reliable calls arrive once and in order, unreliable ones at most once."""
import collections
import json
import pathlib
import tempfile
import unittest

import uerudp
from game_client import Bits, GameClient, default_value, read_value


class Run:
    """A generated game, its intent, and what a client in Python makes of the capture."""

    def __init__(self, generation, *options, without=(), scenario="game"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "game.pcapng"
            uerudp.run("generate", scenario, "--generation", generation, "--output", path, *options)
            self.sent = json.loads(path.with_suffix(".sent.json").read_text())
            datagrams = uerudp.decode("--generation", generation, path)
            self.datagrams = datagrams
            self.info, = map(json.loads, uerudp.run("info", "--json", "--generation", generation, path, status=None).stdout.splitlines())
            self.content = uerudp.run("decode", "--json", "--content", "--generation", generation, path).stdout.decode()
        self.client = GameClient(self.sent["classes"], generation)
        self.client.read(datagram for number, datagram in enumerate(datagrams) if number not in without)

    def events(self, kind):
        return [event for event in self.sent["game"] if event["event"] == kind]

    def values_of(self, event):
        """(handle, value) of an event."""
        properties = self.client.classes.properties(event["class"])
        for handle, count, text in event["values"]:
            yield handle, read_value(Bits.of(text, count), properties[handle - 1][1], self.client.netver)

    def parameters_of(self, event):
        function = next(function for entry in self.sent["classes"] for function in entry["functions"]
                        if function["name"] == event["function"])
        return self.client.read_parameters(Bits.of(event["parameters"], event["bits"]), function)

    def final_differences(self):
        """(guid, handle) where the client's value is not the final one."""
        for event in self.events("final"):
            entry = self.client.actors.get(event.get("actor", event["guid"]), {}).get(event["guid"])
            properties = self.client.classes.properties(event["class"])
            for handle, value in self.values_of(event):
                default = default_value(properties[handle - 1][1])
                if entry is None or entry["class"] != event["class"] or entry["values"].get(handle, default) != value:
                    yield event["guid"], handle


class Game(unittest.TestCase):
    def check_values(self, run, least=500):
        self.assertEqual([], list(run.final_differences()))
        final = {event["guid"] for event in run.events("final")}
        there = {guid for actor in run.client.actors.values() for guid in actor}
        self.assertEqual(final, there) # nothing that is gone stays
        sent = collections.defaultdict(set)
        for event in run.events("values"):
            for handle, value in run.values_of(event):
                sent[event["guid"], handle].add(value)
        self.assertGreater(len(run.client.values), least)
        for guid, handle, value in run.client.values:
            self.assertIn(value, sent[guid, handle])

    def check_calls(self, run):
        for direction, side in ((1, "client"), (2, "server")):
            sent, got = {True: collections.defaultdict(list), False: []}, {True: collections.defaultdict(list), False: []}
            for event in run.events("call"):
                if event["from"] == side:
                    call = (event["guid"], event["function"], run.parameters_of(event))
                    (sent[True][event["guid"]] if event["reliable"] else sent[False]).append(call)
            for guid, name, reliable, parameters in run.client.calls[direction]:
                (got[True][guid] if reliable else got[False]).append((guid, name, parameters))
            self.assertEqual(sent[True], got[True])
            self.assertGreater(len(sent[True]), 0)
            lost = collections.Counter(sent[False])
            lost.subtract(got[False])
            self.assertGreaterEqual(min(lost.values(), default=0), 0) # nothing arrives that was not sent, or more often

    def check(self, generation, *options):
        run = Run(generation, *options)
        self.check_values(run)
        self.check_calls(run)
        self.assertNotIn('"opaque"', run.content)
        return run

    def test_losses(self):
        for loss in (0, 0.05, 0.1, 0.2, 0.3):
            with self.subTest(loss):
                run = self.check("5.5", f"--loss={loss}", "--duration=8", f"--seed={int(loss * 100)}")
                self.assertEqual(set(range(6)), set(run.client.reasons))
                sent = sum(len(event["values"]) for event in run.events("values"))
                self.assertEqual(loss > 0, len(run.client.values) < sent)

    def test_scenarios(self):
        """The scenarios that are a game of few actors, over their own networks."""
        for scenario in ("login", "kick", "loss-burst", "handshake", "login-lossy", "close-reasons", "frame-time", "voice"):
            with self.subTest(scenario):
                run = Run("5.5", "--duration=3", scenario=scenario)
                self.check_values(run, 50)
                self.check_calls(run)
                self.assertNotIn('"opaque"', run.content)
                if scenario == "close-reasons":
                    self.assertEqual(set(range(6)), set(run.client.reasons))

    def test_rates_of_calls(self):
        """A scenario file chooses how often reliable calls are made; a call waits while its channel has no room."""
        rates = {"hit-ticks": ("ClientHit", 7), "news-ticks": ("ClientNews", 90), "horn-ticks": ("MulticastHorn", 13),
                 "fire-ticks": ("ServerFire", 5)}
        usual = {"ClientHit": 3, "ClientNews": 150, "MulticastHorn": 120, "ServerFire": 20}
        chosen = dict(rates.values())
        for wanted, keys in ((usual, ""), (chosen, "".join(f"{key}={ticks}\n" for key, (_, ticks) in rates.items()))):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "x.ini")
                path.write_text(f"[scenario]\nbase=game\n{keys}[client]\ntick=60\n[server]\ntick=60\n")
                run = Run("5.5", "--duration=8", scenario=path)
            times = collections.defaultdict(list)
            for event in run.events("call"):
                times[event["function"], event["guid"]].append(int(event["time"]))
            for function, ticks in wanted.items():
                rows = [row for (name, _), row in times.items() if name == function and len(row) > 1]
                self.assertGreater(len(rows), 0, function)
                for row in rows:
                    self.assertEqual({ticks}, {round((b - a) * 60 / 1e9) for a, b in zip(row, row[1:])}, function)

    def test_generations(self):
        for generation in ("4.13", "4.18", "4.20", "4.22", "4.24", "4.25", "5.1", "5.4", "5.8"):
            with self.subTest(generation):
                self.check(generation, "--loss=0.1", "--duration=6")

    def test_a_lost_final_value_is_noticed(self):
        """Without the server's last packets the client lacks values: the comparison can fail."""
        run = Run("5.5", "--duration=4", without=range(200, 10000))
        self.assertNotEqual([], list(run.final_differences()))


if __name__ == "__main__":
    uerudp.main()
