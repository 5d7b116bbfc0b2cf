#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp decode --redact: no output has private texts of the login, and all lengths stay."""
import json
import resource
import unittest

import uerudp

SECRETS = ["Jane", "Doe", "hunter2", "token-4711", "STEAM", "76561198", "Zoë"]
LOGIN = {"login": {"response": "hunter2", "url": "/Game/Map?Name=Jane Doe?pass=hunter2", "platform": "STEAM"},
         "unique_id": {"text": "76561198000000000"}}


def bunch(*messages, **keys):
    return {"reliable": True, "messages": list(messages), **keys}


def shifted(secret, payload):
    """Whether the text occurs in the bytes at any bit, with 8 or 16 bits per character."""
    number = int.from_bytes(payload, "little")
    wanted = [secret.encode("latin-1"), secret.encode("utf-16-le")]
    return any(text in (number >> shift).to_bytes(len(payload), "little") for shift in range(8) for text in wanted)


class Redaction(unittest.TestCase):
    def outputs(self, payloads, *options, status=0):
        text = "\n".join(payload.hex() for payload in payloads).encode()
        for form in ([], ["--json"], ["--json", "--bits"], ["--fields", "raw,bunch.data,control.login.url"]):
            for separator in (["--separator=comma"] if "--fields" in form else [], []):
                yield uerudp.run("decode", "--hex", "--redact", *form, *separator, *options, "-", data=text,
                                 status=status).stdout.decode()

    def check(self, datagrams, *options, status=0, cut=None):
        payloads = [payload[:cut] for payload in uerudp.encode(datagrams)]
        self.assertTrue(any(shifted(secret, payload) for payload in payloads for secret in SECRETS), "nothing to hide")
        for output in self.outputs(payloads, *options, status=status):
            for secret in SECRETS:
                self.assertNotIn(secret, output)
        text = "\n".join(payload.hex() for payload in payloads).encode()
        lines = uerudp.run("decode", "--hex", "--redact", "--json", *options, "-", data=text, status=status).stdout
        again = [bytes.fromhex(line.split()[1])
                 for line in uerudp.run("encode", "--hex", data=lines).stdout.decode().splitlines()]
        self.assertEqual([len(payload) for payload in payloads], [len(payload) for payload in again])
        for payload in again:
            for secret in SECRETS:
                self.assertFalse(shifted(secret, payload), f"{secret} in {payload.hex()}")
        for line in lines.decode().splitlines():
            for key in ("raw", "data"):
                for value in self.strings(json.loads(line), key):
                    self.assertFalse(any(shifted(secret, bytes.fromhex(value)) for secret in SECRETS), value)
        return [json.loads(line) for line in lines.decode().splitlines()]

    def strings(self, node, key):
        if isinstance(node, dict):
            for name, value in node.items():
                if name == key:
                    yield value
                else:
                    yield from self.strings(value, key)
        elif isinstance(node, list):
            for value in node:
                yield from self.strings(value, key)

    def test_login(self):
        for generation in ("4.13", "4.18", "4.20", "4.25", "5.1", "5.5"):
            items = "items" if generation < "4.22" else "bunches"
            login = json.loads(json.dumps(LOGIN))
            if generation == "4.13":
                del login["login"]["platform"]
            datagram, = self.check([{"generation": generation, items: [bunch(login)]}], "--generation", generation)
            message, = datagram[items][0]["messages"]
            self.assertEqual("X" * len(LOGIN["login"]["url"]), message["login"]["url"])
            self.assertEqual("X" * 17, message["unique_id"]["text"])
            self.assertNotIn("raw", datagram)

    def test_hello_and_others(self):
        self.check([{"bunches": [bunch({"hello": {"encryption_token": "token-4711"}}, {"failure": {"text": "Jane"}},
                                       {"join_split": {"url": "?Name=Doe"}, "unique_id": {"text": "76561198"}},
                                       {"beacon_join": {"type": "x"}, "unique_id": {"text": "76561198"}},
                                       {"debug_text": {"text": "hunter2"}})]}], "--generation=5.5")

    def test_wide_text(self):
        datagram, = self.check([{"bunches": [bunch({"login": {"url": "?Name=Zoë"}})]}], "--generation=5.5")
        self.assertNotIn("canonical", datagram)
        self.assertEqual("\u00d7" * len("?Name=Zoë"), datagram["bunches"][0]["messages"][0]["login"]["url"])

    def test_packed_id(self):
        identity = b"76561198"
        datagram, = self.check([{"bunches": [bunch({"login": {}, "unique_id": {"bytes": identity.hex()}})]}],
                               "--generation=5.5")
        self.assertEqual("00" * 8, datagram["bunches"][0]["messages"][0]["unique_id"]["bytes"])

    def test_fragments(self):
        """Only the type remains of a message that cannot be decoded, and no other messages appear."""
        data = b"\5" + b"hunter2 Jane Doe"
        for flags in ({"partial": True, "partial_initial": True}, {"has_exports": True}, {"has_mapped": True}):
            datagram, = self.check([{"bunches": [{"reliable": True, "data": data.hex(), **flags}]}],
                                   "--generation=5.5")
            first = "05" if "partial" in flags else "ff"
            self.assertEqual(first + "ff" * (len(data) - 1), datagram["bunches"][0]["data"])

    def test_unreadable_message(self):
        """A length beyond the end of the bunch."""
        data = bytes([5, 8, 0, 0, 0]) + b"hunter2\0" + bytes([200, 0, 0, 0]) + b"?Name=Jane Doe"
        datagram, = self.check([{"bunches": [{"reliable": True, "data": data.hex()}]}], "--generation=5.5")
        self.assertIn("opaque", datagram["bunches"][0]["messages"][-1])

    def test_malformed(self):
        datagram, = self.check([{"bunches": [bunch(LOGIN)]}], "--generation=5.5", status=1, cut=-20)
        self.assertIn("fault", datagram)

    def test_time_of_parts(self):
        """A message of 240 kB in 301 parts, the first of which was retransmitted 3,000 times."""
        def part(number, data, **flags):
            return {"reliable": True, "ch_seq": number, "partial": True, "data": data, **flags}

        first = part(1, "16", partial_initial=True)
        datagrams = [{"bunches": [first]}, *({"bunches": [part(2 + i, "16" * 800)]} for i in range(300)),
                     *({"bunches": [first] * 60} for _ in range(50))]
        text = "\n".join(payload.hex() for payload in uerudp.encode(datagrams)).encode()
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        uerudp.run("decode", "--hex", "--redact", "--generation=5.5", "-", data=text)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, 10)

    def test_unknown(self):
        """Datagrams of other protocols are not printed."""
        payload = b"hunter2 Jane Doe hunter2 Jane Doe\x00"
        for output in self.outputs([payload]):
            for secret in SECRETS:
                self.assertNotIn(secret, output)
                self.assertNotIn(secret.encode().hex(), output)

    def test_without(self):
        """Without the option the texts are printed."""
        text = uerudp.encode([{"bunches": [bunch(LOGIN)]}])[0].hex().encode()
        output = uerudp.run("decode", "--hex", "--generation=5.5", "-", data=text).stdout.decode()
        self.assertIn("Jane Doe", output)


if __name__ == "__main__":
    uerudp.main()
