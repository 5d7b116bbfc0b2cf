#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""edit --anonymise and --redact: no private text of the input is in the output, at any bit, also after decryption."""
import json
import os
import pathlib
import random
import tempfile
import unittest

import live
import uerudp
from control_message import bunches_key, message_payload, partial_capture

FAST = "--tick=120"
KEY = f"--key={'5a' * 32}"
SECRETS = ["JaneDoe", "hunter2", "ticket4711", "76561198", "STEAMPC", "Zo\u00eb1234", "token-0815"]
LOGIN = {"login": {"response": "hunter2", "url": "/Game/Map?Name=JaneDoe?Ticket=ticket4711?x=Zo\u00eb1234", "platform": "STEAMPC"},
         "unique_id": {"text": "76561198000000000"}}


def found(secrets, payload):
    """The secrets that occur in the bytes at any bit, with 8 or 16 bits per character."""
    number = int.from_bytes(payload, "little")
    shifted = [(number >> shift).to_bytes(len(payload), "little") for shift in range(8)]
    return {secret for secret in secrets for text in (secret.encode("latin-1"), secret.encode("utf-16-le"))
            if any(text in each for each in shifted)}


def hexes(node):
    """Every string of an object: as bytes if it is hexadecimal, else as text."""
    if isinstance(node, dict):
        node = list(node.values())
    if isinstance(node, list):
        for value in node:
            yield from hexes(value)
    elif isinstance(node, str):
        try:
            yield bytes.fromhex(node)
        except ValueError:
            yield node.encode("utf-16-le")


def leaks(capture, *options, secrets=SECRETS):
    """The secrets in the file and in the output of decode."""
    left = found(secrets, capture)
    for way in (["--content"], ["--bits"]):
        for datagram in uerudp.decode(*way, *options, "-", data=capture, status=None):
            for value in hexes(datagram):
                left |= found(secrets, value)
    return left


def messages(capture, *options):
    """The names of the control messages, also of partial ones."""
    names = []
    for datagram in uerudp.decode("--content", *options, "-", data=capture, status=None):
        for bunch in datagram.get("bunches") or datagram.get("items", []):
            lists = [bunch.get("messages", [])] + [each.get("messages", []) for each in bunch.get("content", [])]
            names += [next((key for key in message if isinstance(message[key], dict) and key != "unique_id"), "opaque" if "opaque" in message
                            else message.get("type")) for each in lists for message in each]
    return names


class Anonymise(unittest.TestCase):
    def edit(self, capture, *options, left_out=None):
        """Check that neither option leaves a secret. Returns the file of --redact."""
        for option in ("--anonymise", "--redact"):
            result = uerudp.run("edit", option, *options, "-", "-", data=capture)
            self.assertEqual(set(), leaks(result.stdout, *options), options)
            if left_out is None:
                self.assertEqual(b"", result.stderr, options)
            else:
                self.assertIn(left_out, result.stderr.decode())
        return result.stdout


class Encrypted(Anonymise):
    def session(self, folder, *options):
        path = pathlib.Path(folder) / "session.pcapng"
        with live.Server(FAST, KEY, *options) as server:
            live.client(server, FAST, KEY, *options, "--token=token-0815", "--name=JaneDoe",
                        "--url=?Ticket=ticket4711?Pass=hunter2", f"--pcap={path}")
        return path.read_bytes()

    def test_sessions(self):
        read = ["--handlers=aesgcm"]
        for release in ("4.22", "5.1", "5.5"):
            with tempfile.TemporaryDirectory() as folder:
                capture = self.session(folder, f"--generation={release}")
            self.assertEqual({"JaneDoe", "hunter2", "ticket4711", "token-0815"}, leaks(capture, *read, KEY))
            clean = self.edit(capture, *read, KEY)
            self.assertEqual(messages(capture, *read, KEY), messages(clean, *read, KEY))
            self.assertIn("login", messages(clean, *read, KEY))
            before, after = (uerudp.decode("--bits", *read, KEY, "-", data=each) for each in (capture, clean))
            self.assertEqual([each["length"] for each in before], [each["length"] for each in after])
            self.assertEqual([each.get("handler", {}).get("key") for each in before],
                             [each.get("handler", {}).get("key") for each in after], "each tag is valid")
            self.assertEqual(clean, uerudp.run("edit", "--redact", *read, KEY, "-", "-", data=capture).stdout)
            ivs = [{each["handler"]["iv"]: each["handler"]["ciphertext"] for each in datagrams
                    if "iv" in each.get("handler", {})} for datagrams in (before, after)]
            self.assertEqual([], [iv for iv in ivs[0] if ivs[1].get(iv, ivs[0][iv]) != ivs[0][iv]],
                             "no initialisation vector for two contents")

    def test_without_the_key(self):
        """Encrypted data without a key is blanked, and the program reports it."""
        read = ["--handlers=aesgcm"]
        with tempfile.TemporaryDirectory() as folder:
            capture = self.session(folder)
        for options in (read, read + [f"--key={'33' * 32}"]):
            clean = self.edit(capture, *options, left_out="cannot be decoded")
            self.assertEqual(set(), leaks(clean, *read, KEY))
            self.assertEqual(["hello"], [name for name in messages(clean, *read, KEY) if name == "hello"])

    def test_cut(self):
        """Datagrams that the snap length cut cannot be decrypted and are blanked."""
        read = ["--handlers=aesgcm", KEY]
        with tempfile.TemporaryDirectory() as folder:
            capture = self.session(folder)
        lines = uerudp.run("decode", *read, "--fields=raw", "-", data=capture).stdout.decode().split()
        cut = uerudp.pcap([(50000, 7777, bytes.fromhex(each)) for each in lines], snap=32 + 80)
        result = uerudp.run("edit", "--redact", *read, "--generation=5.5", "-", "-", data=cut)
        self.assertEqual(set(), leaks(result.stdout, *read, "--generation=5.5"))
        self.assertIn("cannot be decoded", result.stderr.decode())


class Parts(Anonymise):
    RELEASES = ("4.18", "4.20", "4.22", "4.25", "5.1", "5.4", "5.5", "5.8")

    def test_login_in_parts(self):
        """A Login in partial bunches stays a Login."""
        for release in self.RELEASES:
            payload = message_payload(release, LOGIN)
            for count in (2, 3, 7, 11):
                capture = partial_capture(release, payload, count)
                self.assertTrue(leaks(capture, f"--generation={release}"))
                clean = self.edit(capture, f"--generation={release}")
                content, = (content for datagram in uerudp.decode("--content", f"--generation={release}", "-", data=clean,
                                                                 status=None)
                            for bunch in datagram[bunches_key(release)] for content in bunch.get("content", []))
                message, = content["messages"]
                self.assertEqual(("\u00d7" * len(LOGIN["login"]["url"]), "X" * 7),
                                 (message["login"]["url"], message["login"]["response"]), (release, count))

    def packets(self, release, payload, count, order):
        whole = partial_capture(release, payload, count)
        packets = uerudp.run("decode", "--generation", release, "--fields=raw", "-", data=whole, status=None).stdout.decode().split()
        return uerudp.pcap([(50000, 7777, bytes.fromhex(packets[number])) for number in order])

    def test_copies(self):
        """Retransmitted parts are masked as their first copies."""
        capture = self.packets("5.5", message_payload("5.5", LOGIN), 4, (0, 1, 1, 0, 2, 3, 2, 3, 0))
        clean = self.edit(capture, "--generation=5.5")
        self.assertEqual(["login"], messages(clean, "--generation=5.5"))
        rows = uerudp.run("decode", "--generation=5.5", "--fields=bunch.data", "-", data=clean, status=None).stdout.split()
        self.assertEqual(4, len(set(rows)))

    def test_missing_beginning(self):
        for order in ((1, 2, 3), (0, 2, 3), (1, 0, 2, 3), (3,)):
            capture = self.packets("5.5", message_payload("5.5", LOGIN), 4, order)
            clean = self.edit(capture, "--generation=5.5", left_out="fragments of messages")
            self.assertFalse({"hello", 0} & set(messages(clean, "--generation=5.5")), order)

    def test_messages_around(self):
        """Other messages in the same parts stay unchanged."""
        payload = b"".join(message_payload("5.5", message) for message in ({"netspeed": {"rate": 10000}}, LOGIN, {"join": {}}))
        for count in range(1, 12):
            clean = self.edit(partial_capture("5.5", payload, count), "--generation=5.5")
            self.assertEqual("login", messages(clean, "--generation=5.5")[1], count)

    def test_at_random(self):
        """No secret remains in damaged, cut and shuffled captures."""
        chance = random.Random(3)
        for _ in range(5 * int(os.environ.get("UE_SIM_SEEDS", "8"))):
            payload = bytearray(message_payload("5.5", LOGIN) + message_payload("5.5", LOGIN))
            for _ in range(chance.randrange(4)):
                payload[chance.randrange(len(payload))] = chance.choice((0, 1, 255, chance.randrange(256)))
            count = chance.randrange(1, 9)
            order = [chance.randrange(count) for _ in range(2 * count)]
            capture = self.packets("5.5", bytes(payload), count, order)
            for option in ("--anonymise", "--redact"):
                result = uerudp.run("edit", option, "--generation=5.5", "-", "-", data=capture)
                self.assertEqual(set(), leaks(result.stdout, "--generation=5.5"))


class Texts(Anonymise):
    def capture(self, *bunches, release="5.5", **packet):
        objects = [{"generation": release, "direction": 1, "packet": {"seq": 100 + number, "ack": 10, "history": [1], **packet},
                    "bunches": [bunch]} for number, bunch in enumerate(bunches)]
        return uerudp.pcap([(50000, 7777, each) for each in uerudp.encode(objects)])

    def test_messages(self):
        texts = [{"close_reason": {"text": "JaneDoe"}}, {"failure": {"text": "JaneDoe"}}, {"debug_text": {"text": "JaneDoe"}},
                 {"security_violation": {"text": "JaneDoe"}}, {"game_specific": {"byte": 1, "text": "JaneDoe"}},
                 {"challenge": {"text": "JaneDoe"}}, {"hello": {"encryption_token": "token-0815"}},
                 {"welcome": {"map": "/Game/M", "game": "G", "redirect_url": "http://JaneDoe"}},
                 {"beacon_join": {"type": "x"}, "unique_id": {"text": "76561198000000000"}}]
        for message in texts:
            self.edit(self.capture({"reliable": True, "ch_seq": 5, "messages": [message]}), "--generation=5.5")

    def closed(self, reason):
        """The findings of a close with this reason, and the reason, before and after."""
        capture = self.capture({"reliable": True, "ch_seq": 5, "messages": [{"close_reason": {"text": reason}}]})
        clean = uerudp.run("edit", "--redact", "--generation=5.5", "-", "-", data=capture).stdout
        for each in (capture, clean):
            message, = uerudp.decode("--generation=5.5", "--content", "-", data=each)[0]["bunches"][0]["messages"]
            report, = (json.loads(line) for line in uerudp.run("info", "--json", "--generation=5.5", "-", data=each,
                                                               status=None).stdout.splitlines())
            yield message["close_reason"]["text"], [(finding["kind"], finding["text"]) for finding in report["findings"]
                                                    if finding["kind"] == "closed"]

    def test_close_reasons(self):
        """The engine's names stay, others are masked, and a masked reason is no error."""
        for reason in ("HostClosedConnection", "ConnectionLost,ControlChannelClose", "RPCDoS"):
            before, after = self.closed(reason)
            self.assertEqual(reason, after[0])
            self.assertEqual(before, after)
        for reason, masked in (("JaneDoe", "X" * 7), ("JaneDoe,Cleanup", "X" * 7 + ",Cleanup"), ("Cleanup,Zo\u00eb", "Cleanup,\u00d7\u00d7\u00d7")):
            before, after = self.closed(reason)
            self.assertEqual(1, len(before[1]), "an unknown reason is no normal end")
            self.assertEqual((masked, []), after)
        before, after = self.closed("JaneDoe,ConnectionLost")
        self.assertEqual(1, len(after[1]), "a known reason that is no normal end")

    def test_exports(self):
        """Messages after exports and ids on the control channel."""
        for flag in ("has_exports", "has_mapped"):
            data = message_payload("5.5", LOGIN)
            prefix = b"\0" * (5 if flag == "has_exports" else 2)
            self.edit(self.capture({"reliable": True, "ch_seq": 5, flag: True, "data": (prefix + data).hex()}),
                      "--generation=5.5", left_out="exports")

    def test_voice(self):
        sender = b"76561198\0"
        packet = len(sender).to_bytes(4, "little") + sender + b"\1\0" + (7).to_bytes(2, "little") + bytes(8) + b"JaneDoe"
        for extra in ({}, {"partial": True, "partial_initial": True}):
            self.edit(self.capture({"channel": 1, "data": packet.hex(), **extra}), "--generation=5.5")

    def test_bits_of_a_game(self):
        """Bytes of a game before each datagram, and bits of a game in the header."""
        payload = uerudp.encode([{"generation": "5.5", "direction": 1, "settings": {"extra_bits": 56},
                                  "packet": {"seq": 5, "ack": 1, "history": [0], "extra": b"hunter2".hex()}, "bunches": []}])[0]
        capture = uerudp.pcap([(50000, 7777, b"JaneDoe" + payload)])
        options = ["--generation=5.5", "--skip-bytes=7", "--extra-bits=56"]
        self.assertEqual({"JaneDoe", "hunter2"}, leaks(capture, *options))
        self.edit(capture, *options)

    def test_compressed(self):
        """Compressed data, which needs the dictionary of the game, is blanked."""
        objects = [{"generation": "5.5", "direction": 1,
                    "handler": {"compressed": True, "decompressed_bytes": 100, "compressed_data": b"x JaneDoe hunter2".hex()}}]
        capture = uerudp.pcap([(50000, 7777, each) for each in uerudp.encode(objects, "--handlers=oodle")])
        options = ["--generation=5.5", "--handlers=oodle"]
        self.assertEqual({"JaneDoe", "hunter2"}, leaks(capture, *options))
        clean = self.edit(capture, *options, left_out="is replaced by bytes 0xff")
        self.assertEqual(len(capture), len(clean))
        datagram, = uerudp.decode(*options, "-", data=clean)
        self.assertEqual("ff" * len(b"x JaneDoe hunter2"), datagram["handler"]["compressed_data"])

    def test_trailers(self):
        """Bytes after the datagram in its frame."""
        frame = uerudp.pcap([(50000, 7777, uerudp.encode([{"generation": "5.5", "direction": 1, "packet": {"seq": 1}, "bunches": []}])[0])])
        size = len(frame) - 40 + 7
        longer = frame[:32] + size.to_bytes(4, "little") * 2 + frame[40:] + b"JaneDoe"
        self.assertEqual({"JaneDoe"}, found(SECRETS, longer))
        self.edit(longer, "--generation=5.5")


class Captures(unittest.TestCase):
    def findings(self, data):
        result = uerudp.run("info", "--json", "-", data=data, status=None)
        return result.returncode, [sorted((finding["kind"], finding["severity"]) for finding in json.loads(line)["findings"])
                                   for line in result.stdout.splitlines()]

    def test_findings(self):
        """An anonymised capture has the findings of the original."""
        for path in sorted((pathlib.Path(__file__).parents[3] / "captures").glob("*.pcap*")):
            clean = uerudp.run("edit", "--anonymise", path, "-").stdout
            self.assertEqual(self.findings(path.read_bytes()), self.findings(clean), path)


if __name__ == "__main__":
    uerudp.main()
