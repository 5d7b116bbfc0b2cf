#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The login in uerudp info whose messages are longer than a bunch, and therefore sent in fragments."""
import unittest

import conversation
import uerudp
from conversation import CHALLENGE, CLIENT, LOGIN, SERVER, WELCOME


def text(string):
    return (len(string) + 1).to_bytes(4, "little") + string.encode() + b"\0"


# Login: type, client response, URL, no unique id, platform.
LONG_LOGIN = b"\x05" + text("0") + text("?AuthTicket=" + "0123456789abcdef" * 90) + b"\x03" + text("NULL")
HALVES = LONG_LOGIN[:900], LONG_LOGIN[900:]
NETSPEED = "04a0860100"


def fragment(conv, data, first=False, last=False, **keys):
    return conv.reliable(CLIENT, 0, data=data.hex(), partial=True, partial_initial=first, partial_final=last,
                         **keys)


def login_begun(generation="5.1"):
    """A conversation that ends with the server's Challenge."""
    conv = conversation.hello_sent(generation)
    conversation.send_login(conv, CHALLENGE)
    return conv.idle(100)


class FragmentedLogin(unittest.TestCase):
    def messages(self, info):
        return [(step["name"], step["frame"], step["from"]) for step in info["story"] if step["kind"] == "message"]

    def stopped(self, conv):
        """The sentences about a login that stopped, after 20 s of empty packets."""
        return [finding["text"] for finding in conv.idle(20000, 200).info()["findings"] if finding["kind"] == "login_stopped"]

    def test_login(self):
        """The step has the frame of the fragment that completes the message."""
        for generation in ("4.22", "5.1"):
            conv = login_begun(generation)
            conv.send(CLIENT, fragment(conv, HALVES[0], first=True))
            frame = conv.send(CLIENT, fragment(conv, HALVES[1], last=True))
            info = conv.info()
            self.assertEqual([("Hello", "client"), ("Challenge", "server"), ("Login", "client")],
                             [(name, side) for name, _, side in self.messages(info)])
            self.assertEqual(frame, self.messages(info)[-1][1])
            self.assertEqual("platform NULL", info["story"][-1]["text"])
            finding, = self.stopped(conv)
            self.assertRegex(finding, f"stopped after Login of the client in frame {frame}: no Welcome of the server")

    def test_answered(self):
        conv = login_begun()
        conv.send(CLIENT, fragment(conv, HALVES[0], first=True), fragment(conv, HALVES[1], last=True))
        conversation.send_login(conv, WELCOME, conversation.NETSPEED)
        self.assertEqual([], self.stopped(conv))
        self.assertEqual(["Hello", "Challenge", "Login", "Welcome", "Netspeed"],
                         [name for name, *_ in self.messages(conv.info())])

    def test_no_login(self):
        finding, = self.stopped(login_begun())
        self.assertRegex(finding, "stopped after Challenge of the server.* no Login of the client")

    def test_unfinished_message(self):
        """What the fragments hold is not known."""
        conv = login_begun()
        conv.send(CLIENT, fragment(conv, HALVES[0], first=True))
        self.assertEqual([], self.stopped(conv))

    def test_unfinished_message_of_the_other_side(self):
        conv = login_begun()
        conv.send(SERVER, {**fragment(conv, HALVES[0], first=True), "ch_seq": (conversation.FIRST[SERVER] + 2) % 1024})
        finding, = self.stopped(conv)
        self.assertRegex(finding, "stopped after Challenge of the server.* no Login of the client")

    def test_repeated(self):
        """A fragment that is sent again adds nothing."""
        conv = login_begun()
        first = fragment(conv, HALVES[0], first=True)
        last = fragment(conv, HALVES[1], last=True)
        conv.send(CLIENT, first, last)
        conv.idle(100).send(CLIENT, first, last)
        login, = [step for step in conv.info()["story"] if step["name"] == "Login"]
        self.assertEqual(1, login["count"])
        self.assertEqual(1, len(self.stopped(conv)))

    def test_several_messages(self):
        conv = login_begun()
        data = LONG_LOGIN + bytes.fromhex(NETSPEED)
        conv.send(CLIENT, fragment(conv, data[:900], first=True))
        conv.send(CLIENT, fragment(conv, data[900:], last=True))
        info = conv.info()
        self.assertEqual(["Login", "Netspeed"], [name for name, *_ in self.messages(info)][-2:])
        self.assertEqual("100000 bytes/s", info["story"][-1]["text"])

    def test_undecodable(self):
        conv = login_begun()
        conv.send(CLIENT, fragment(conv, HALVES[0], first=True))
        frame = conv.send(CLIENT, fragment(conv, b"\xc8" * 10, last=True))
        finding, = [finding for finding in conv.idle(100).info()["findings"] if finding["kind"] == "control_message"]
        self.assertEqual([frame], finding["frames"])


if __name__ == "__main__":
    uerudp.main()
