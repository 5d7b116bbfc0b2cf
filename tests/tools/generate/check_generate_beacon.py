#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A generated beacon, read back from the capture alone: the order of its messages, the actor of its id, and the
reservation; and what info concludes from the login of a beacon, also of one that stops."""
import unittest

import check_generate_game
import conversation
import uerudp
from check_generate_game import Run

TYPE = "PartyBeaconClient"
ORDER = [0, 25, 4, 26, 27, 28] # Hello, BeaconWelcome, Netspeed, BeaconJoin, BeaconAssignGUID, BeaconNetGUIDAck


def messages(run):
    """(direction, message) of the control channel in the order of the capture, without retransmissions."""
    seen = set()
    for datagram in run.datagrams:
        for bunch in datagram.get("bunches") or [item for item in datagram.get("items", ()) if not item["is_ack"]]:
            key = datagram["direction"], bunch.get("ch_seq")
            if bunch["channel"] == 0 and key not in seen:
                seen.add(key)
                yield from ((datagram["direction"], message) for message in bunch.get("messages", ()))


class Beacon(check_generate_game.Game):
    """The tests of values and calls are those of the game."""

    test_losses = test_a_lost_final_value_is_noticed = None

    def check(self, generation, *options):
        run = Run(generation, "--duration=4", *options, scenario="beacon")
        self.check_values(run, 5)
        self.check_calls(run)
        self.assertNotIn('"opaque"', run.content)
        return run

    def test_generations(self):
        for generation in ("4.13", "4.18", "4.20", "4.24", "5.1", "5.5"):
            with self.subTest(generation):
                run = self.check(generation, "--loss=0.1" if generation != "4.13" else "--loss=0")
                self.check_messages(run)
                self.check_info(run)
        errors = uerudp.run("generate", "beacon", "--generation", "5.8", "-o", "/dev/null", status=2).stderr.decode()
        self.assertIn("BeaconAssignGUID", errors) # from EngineNetVer 39 on its form is not known

    def check_messages(self, run):
        found = list(messages(run))[:len(ORDER)]
        self.assertEqual(ORDER, [message["type"] for _, message in found])
        self.assertEqual([1, 2, 1, 1, 2, 1], [direction for direction, _ in found])
        self.assertEqual(TYPE, found[3][1]["beacon_join"]["type"])
        self.assertEqual(TYPE, found[5][1]["beacon_net_guid_ack"]["type"])
        actor, = {event["guid"] for event in run.events("actor")}
        self.assertEqual({actor}, set(run.client.actors))
        self.assertEqual(actor, found[4][1]["beacon_assign_guid"]["guid"])

    def check_info(self, run):
        self.assertEqual(TYPE, run.info["beacon"]["type"])
        self.assertIsNotNone(run.info["beacon"]["joined"])
        self.assertEqual([], [finding["text"] for finding in run.info["findings"]
                              if finding["kind"] in ("login_stopped", "refused", "no_answer", "closed")])
        self.assertIn(TYPE, {channel["actor"] and channel["actor"].rpartition(".")[2] for channel in run.info["channels"]})


SERVER, CLIENT = conversation.SERVER, conversation.CLIENT
WELCOME = (SERVER, {"type": 25})
JOIN = (CLIENT, {"type": 26, "beacon_join": {"type": TYPE}, "unique_id": {"flags": 3}})
ASSIGN = (SERVER, {"type": 27, "beacon_assign_guid": {"guid": 64}})
ACK = (CLIENT, {"type": 28, "beacon_net_guid_ack": {"type": TYPE}})


class Login(unittest.TestCase):
    def login(self, *steps):
        """A login of these messages, then 20 s of empty packets."""
        conv = conversation.hello_sent()
        for side, message in steps:
            conv.idle(100)
            conv.send(side, conv.reliable(side, 0, messages=[message]))
        return conv.idle(20000, 200)

    def stopped(self, *steps):
        return [finding["text"] for finding in self.login(*steps).info()["findings"] if finding["kind"] == "login_stopped"]

    def test_login_that_stops(self):
        for count, (name, answer) in enumerate((("BeaconWelcome", "BeaconJoin"), ("BeaconJoin", "BeaconAssignGUID"),
                                                ("BeaconAssignGUID", "BeaconNetGUIDAck")), 1):
            finding, = self.stopped(*(WELCOME, JOIN, ASSIGN)[:count])
            self.assertRegex(finding, f"stopped after {name} of.* no {answer} of")
        info = self.login(WELCOME, JOIN).info()
        self.assertEqual({"type": TYPE, "joined": None}, info["beacon"])
        text = uerudp.run("info", "-", data=self.login(WELCOME, JOIN).capture(), status=None).stdout.decode()
        self.assertIn(f"{TYPE}, no BeaconNetGUIDAck in the capture: the last message of the join is BeaconJoin in frame",
                      " ".join(text.split()))

    def test_login_that_does_not_stop(self):
        """A beacon's login has no Welcome and no Join, and a quiet beacon is no failed login."""
        self.assertEqual([], self.stopped(WELCOME, JOIN, ASSIGN, ACK))

    def test_game(self):
        conv = conversation.hello_sent()
        conversation.send_login(conv, conversation.CHALLENGE, conversation.LOGIN, conversation.WELCOME)
        self.assertNotIn("beacon", conv.info())


if __name__ == "__main__":
    uerudp.main()
