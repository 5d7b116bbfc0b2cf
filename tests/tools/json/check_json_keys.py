#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No object in any JSON output has a key twice, and encode accepts the output of decode --content."""
import json
import random
import unittest

import uerudp
from control_message import bunches_key, message_payload, partial_capture

ROOT = uerudp.ROOT
UNIQUE_ID = {"unique_id": {"text": "76561198000000000"}}
# In releases that send a platform, it follows the unique id in the Login.
LOGIN = {"login": {"response": "r", "url": "?Name=Jane", "platform": "STEAM"}, **UNIQUE_ID}
MESSAGES = [{"hello": {"encryption_token": "token"}}, {"failure": {"text": "no"}}, LOGIN,
            {"beacon_join": {"type": "x"}, **UNIQUE_ID}, {"join_split": {"url": "?Name=Jane"}, **UNIQUE_ID},
            {"net_guid_assign": {"guid": 4, "path": "/Game/A"}}]


def objects(text):
    return [json.loads(line, object_pairs_hook=uerudp.without_duplicates) for line in text.decode().splitlines()]


class Content(unittest.TestCase):
    def decode(self, release, payload):
        lines = uerudp.run("decode", "--json", "--content", "--generation", release, "-",
                           data=partial_capture(release, payload), status=None).stdout
        objects(lines)
        uerudp.run("encode", "--hex", "-", data=lines)
        return [content for datagram in objects(lines) for bunch in datagram.get(bunches_key(release), [])
                for content in bunch.get("content", [])]

    def test_messages_in_parts(self):
        for release in ("4.18", "4.20", "4.22", "4.25", "5.1", "5.4", "5.5", "5.8"):
            for message in MESSAGES:
                if release == "4.18" and "unique_id" in message:
                    message = {**message, "unique_id": {"text": "76561198"}}
                content, = self.decode(release, message_payload(release, message))
                shown, = content["messages"]
                for name, parameters in message.items():
                    self.assertEqual(parameters, {key: shown[name][key] for key in parameters}, (release, message))

    def test_damaged_messages_in_parts(self):
        chance = random.Random(1)
        for release in ("4.20", "4.25", "5.5"):
            payload = message_payload(release, LOGIN) + message_payload(release, MESSAGES[0]) + message_payload(release, LOGIN)
            for _ in range(20):
                damaged = bytearray(payload)
                for _ in range(chance.randrange(1, 4)):
                    damaged[chance.randrange(len(damaged))] = chance.choice((0, 3, 5, 255, chance.randrange(256)))
                self.decode(release, bytes(damaged[:chance.randrange(4, len(damaged) + 1)]))


class Captures(unittest.TestCase):
    def captures(self):
        documented = {path: settings for path, settings, _ in uerudp.recordings.documented()}
        for path in sorted((ROOT / "captures").rglob("*.pcap*")):
            yield path, uerudp.options(documented.get(path) or uerudp.recordings.settings(path.stem))
        yield from ((path, settings) for _, path, settings in uerudp.captures())

    def test_decode_and_encode(self):
        for path, settings in self.captures():
            plain = uerudp.run("decode", "--json", *settings, path, status=None).stdout
            full = uerudp.run("decode", "--json", "--content", "--bits", *settings, path, status=None).stdout
            self.assertEqual(len(objects(plain)), len(objects(full)), path)
            self.assertEqual(uerudp.run("encode", "--hex", "-", data=plain).stdout,
                             uerudp.run("encode", "--hex", "-", data=full).stdout, path)

    def test_other_outputs(self):
        for path, settings in self.captures():
            for arguments in (["info", "--json"], ["decode", "--events=-"], ["replay", "--json"]):
                text = uerudp.run(*arguments, *settings, path, status=None).stdout
                self.assertTrue(objects(text), (path, arguments))


if __name__ == "__main__":
    uerudp.main()
