#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp encode: every capture byte for byte, hand-written JSON, and invalid input."""
import gzip
import json
import pathlib
import struct
import subprocess
import tempfile
import unittest

import pcapng
import uerudp

COOKIE = bytes(range(1, 21)).hex()


def pcapng_payloads(data):
    """(time in ns, payload) of each datagram of a pcapng file as uerudp writes it: Ethernet, IPv4, UDP."""
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            high, low, captured = struct.unpack_from("<III", data, at + 12)
            frame = data[at + 28:at + 28 + captured]
            yield high << 32 | low, frame[42:14 + struct.unpack_from(">H", frame, 16)[0]]
        at += length


def refused(text, *arguments):
    result = uerudp.run("encode", "--hex", *arguments, data=text.encode(), status=2)
    return result.stderr.decode().strip()


class Captures(unittest.TestCase):
    def test_every_capture(self):
        for name, path, settings in uerudp.captures():
            expected = [payload for _, payload in uerudp.payloads(path)]
            lines = uerudp.run("decode", "--json", *settings, path).stdout
            self.assertNotIn(b'"raw"', lines, f"{name}: the fields are complete")
            actual = list(pcapng_payloads(uerudp.run("encode", data=lines).stdout))
            self.assertEqual(expected, [payload for _, payload in actual], name)
            times = [int(json.loads(line)["time"]) for line in lines.splitlines()]
            self.assertEqual(times, [time for time, _ in actual], name)

    def test_gzip_and_pipe(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, path, settings in uerudp.captures():
                lines = uerudp.run("decode", "--json", *settings, path).stdout
                packed = pathlib.Path(folder) / f"{name}.gz"
                packed.write_bytes(gzip.compress(path.read_bytes()))
                self.assertEqual(lines, uerudp.run("decode", "--json", *settings, packed).stdout, name)
                self.assertEqual(lines, uerudp.run("decode", "--json", *settings, "-", data=path.read_bytes()).stdout)
                again = pathlib.Path(folder) / f"{name}.pcapng"
                uerudp.run("encode", "--output", again, data=lines)
                self.assertEqual(lines, uerudp.run("decode", "--json", *settings, again).stdout, name)

    def test_pipe_from_decode(self):
        _, path, settings = uerudp.captures()[0]
        with subprocess.Popen([uerudp.PROGRAM, "decode", "--json", *settings, path], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as decoder:
            output = subprocess.run([uerudp.PROGRAM, "encode"], stdin=decoder.stdout, capture_output=True, check=True)
        self.assertEqual([payload for _, payload in uerudp.payloads(path)],
                         [payload for _, payload in pcapng_payloads(output.stdout)])

    def test_messages_instead_of_data(self):
        """Control messages of games encode to the payload they were decoded from. utcp-* has random bytes."""
        compared = 0
        games = [(name, path, settings, [payload for _, payload in uerudp.payloads(path)])
                 for name, path, settings in uerudp.captures() if not name.startswith("utcp-")]
        games += [(path.stem, path, [], [packet.payload for packet in pcapng.read(path)])
                  for path in pathlib.Path("captures").glob("ue*.pcapng")]
        for name, path, settings, payloads in games:
            datagrams = uerudp.decode(*settings, path)
            for datagram in datagrams:
                for bunch in datagram.get("bunches", []):
                    messages = bunch.get("messages", [])
                    if messages and not any("opaque" in message for message in messages):
                        del bunch["data"], bunch["data_bits"]
                        compared += 1
            self.assertEqual(payloads, uerudp.encode(datagrams), name)
        self.assertGreater(compared, 35)


class HandWritten(unittest.TestCase):
    def round_trip(self, datagram, *arguments):
        """Encode and decode a datagram, which must be complete and canonical, and encode to the same bytes again."""
        generation = datagram.get("generation", "5.5")
        payload, = uerudp.encode([datagram], *arguments)
        text = ("S>" if datagram.get("direction") == 2 or datagram.get("src", "").endswith(":7777") else "C>")
        text += payload.hex()
        decoded, = uerudp.decode("--hex", "--generation", generation, *arguments, "-", data=text.encode())
        self.assertNotIn("fault", decoded)
        self.assertNotIn("canonical", decoded)
        self.assertEqual([payload], uerudp.encode([decoded], *arguments))
        return decoded

    def test_every_generation(self):
        for generation in "4.13 4.14 4.18 4.19 4.20 4.22 4.25 5.1 5.4 5.5 5.8".split():
            items = "items" if generation < "4.22" else "bunches"
            decoded = self.round_trip({"generation": generation, items: [
                {"open": True, "reliable": True, "ch_seq": 7, "messages": [{"hello": {"network_version": 77}}]},
                {"channel": 5, "reliable": True, "data_bits": 13, "data": "ff1f"}]})
            control, actor = decoded[items]
            self.assertEqual(("Control", "Actor"), (control["channel_name"], actor["channel_name"]))
            self.assertTrue(control["control"])
            self.assertEqual(77, control["messages"][0]["hello"]["network_version"])
            self.assertEqual(1, control["messages"][0]["hello"]["little_endian"])
            self.assertEqual((13, "ff1f"), (actor["data_bits"], actor["data"]))

    def test_data_bits(self):
        """Bits of the last byte beyond data_bits are an error if they are set, and padding if not."""
        for data, bits, is_good in (("07", 3, True), ("0f", 3, False), ("ff1f", 13, True), ("ff3f", 13, False), ("ff", 8, True),
                                    ("ff", 9, False), ("", 0, True)):
            result = uerudp.run("encode", "--hex", data=json.dumps({"bunches": [{"data": data, "data_bits": bits}]}).encode(),
                                status=0 if is_good else 2)
            self.assertEqual(not is_good, b"bunches[0].data_bits: " in result.stderr, (data, bits))

    def test_handshakes(self):
        for generation in "4.18 4.22 4.25 5.1 5.4 5.8".split():
            for number, time in ((0, 0.0), (1, 1.0), (2, 1.0), (3, -1.0)):
                cookie = {"cookie": COOKIE} if number else {}
                decoded = self.round_trip({"generation": generation, "direction": 1 + number % 2,
                                      "handshake": {"type": number, **cookie}})
                self.assertEqual((number, time), (decoded["handshake"]["type"], decoded["handshake"]["timestamp"]))
        for generation in "4.22 4.25 5.1 5.4 5.8".split():
            decoded = self.round_trip({"generation": generation, "direction": 2, "handshake": {"restart": True}})
            self.assertEqual((4, None), (decoded["handshake"]["type"], decoded["handshake"].get("cookie")))
            decoded = self.round_trip({"generation": generation, "handshake": {"orig_cookie": COOKIE}})
            self.assertEqual((5, COOKIE), (decoded["handshake"]["type"], decoded["handshake"]["orig_cookie"]))

    def test_versioned_defaults(self):
        handshake = self.round_trip({"generation": "5.1", "handshake": {}})["handshake"]
        self.assertEqual((3, 3, 16), (handshake["min_version"], handshake["version"], len(handshake["random"])))
        handshake = self.round_trip({"generation": "5.5", "handshake": {}})["handshake"]
        self.assertEqual((3, 4, 0), (handshake["min_version"], handshake["version"], handshake["features"]))

    def test_packet_header(self):
        packet = self.round_trip({"packet": {"seq": 5, "ack": 16383, "history": [1, 2, 3], "jitter_ms": 9}})["packet"]
        self.assertEqual((3, True, 9), (packet["history_words"], packet["has_info"], packet["jitter_ms"]))
        packet = self.round_trip({"src": "10.0.0.2:7777", "packet": {"frame_time_ms": 33}})["packet"]
        self.assertEqual((True, 1023, True, 33), tuple(packet[key] for key in (
            "has_info", "jitter_ms", "has_frame_time", "frame_time_ms")))
        packet = self.round_trip({"generation": "5.8", "packet": {"history_flush": True, "acked_history_seq": 6}})["packet"]
        self.assertEqual((8, True, 6), (packet["history_words"], packet["history_flush"], packet["acked_history_seq"]))

    def test_legacy_acks(self):
        ack, = self.round_trip({"generation": "4.18", "items": [{"ack_id": 16383, "remote_kbps": 300}]})["items"]
        self.assertEqual((True, 16383, 300), (ack["is_ack"], ack["ack_id"], ack["remote_kbps"]))
        self.round_trip({"generation": "4.18", "items": [{"is_ack": True}, {"is_ack": False}]})

    def test_messages(self):
        messages = [
            {"login": {"response": "0", "url": "?Name=Jürgen 🎮", "platform": "NULL"}, "unique_id": {"text": "a-b"}},
            {"netspeed": {"rate": -1}}, {"join": {}}, {"type": 25},
            {"skip": {"guid": bytes(range(16)).hex()}},
            {"iris_protocol_mismatch": {"id": "18446744073709551615"}},
            {"close_reason": {"text": "A,B"}}]
        decoded = self.round_trip({"bunches": [{"reliable": True, "messages": messages}]})["bunches"][0]["messages"]
        self.assertEqual([5, 4, 9, 25, 12, 29, 23], [message["type"] for message in decoded])
        self.assertEqual("?Name=Jürgen 🎮", decoded[0]["login"]["url"])
        self.assertEqual({"flags": 8, "text": "a-b"}, decoded[0]["unique_id"])
        self.assertEqual(-1, decoded[1]["netspeed"]["rate"])
        self.assertEqual("18446744073709551615", decoded[5]["iris_protocol_mismatch"]["id"])
        for unique_id, flags in (({}, 3), ({"bytes": "0102"}, 17), ({"type": "X", "text": "y"}, 248),
                                 ({"services": 2, "bytes": "00"}, 241)):
            bunch, = self.round_trip({"bunches": [{"messages": [{"login": {}, "unique_id": unique_id}]}]})["bunches"]
            self.assertEqual({"flags": flags, **unique_id}, bunch["messages"][0]["unique_id"])

    def test_names(self):
        for keys, expected in (({"channel_name": "Voice"}, 256), ({"channel_name": "DataStream"}, 295), ({}, 102)):
            bunch, = self.round_trip({"bunches": [{"open": True, "channel": 3, **keys}]})["bunches"]
            self.assertEqual(expected, bunch["name_index"])
        bunch, = self.round_trip({"bunches": [{"open": True, "channel": 3, "name_text": "Mine", "name_number": 4}]})["bunches"]
        self.assertEqual((False, "Mine", 4), (bunch["name_hardcoded"], bunch["channel_name"], bunch["name_number"]))

    def test_settings(self):
        """Settings are keys of a line or options for all lines."""
        settings = {"magic_bits": 4, "skip_bytes": 2, "extra_bits": 11, "ch_seq_bound": 4096, "max_packet": 512}
        options = [f"--{key.replace('_', '-')}={value}" for key, value in settings.items()]
        datagram = {"generation": "4.26", "magic": 9, "wrapper": "abcd", "packet": {"extra": "ff07"},
                    "bunches": [{"reliable": True, "ch_seq": 3000, "data": "01"}]}
        decoded = self.round_trip(datagram, *options)
        self.assertEqual(settings, decoded["settings"])
        self.assertEqual((9, "abcd", "ff07"), (decoded["magic"], decoded["wrapper"], decoded["packet"]["extra"]))
        payload, = uerudp.encode([decoded])
        self.assertEqual(uerudp.encode([datagram], *options), [payload])
        magic, = uerudp.decode("--hex", "--generation=4.25", "--magic-bits=32", "-",
                               data=uerudp.encode([{"generation": "4.25"}], "--magic-bits=32",
                                                  "--magic=0x12345678")[0].hex().encode())
        self.assertEqual(0x12345678, magic["magic"])

    def test_raw_and_data_have_precedence(self):
        self.assertEqual([b"\1\2\3"], uerudp.encode([{"raw": "010203", "handshake": {}, "anything": 1}]))
        data = {"bunches": [{"data": "ff", "messages": [{"hello": {}}]}]}
        self.assertEqual(uerudp.encode([{"bunches": [{"data": "ff"}]}]), uerudp.encode([data]))

    def test_timestamp_bits(self):
        for raw in ("7ff8000000000001", "8000000000000000", "fff0000000000000"):
            handshake = {"restart": True, "cookie": COOKIE, "timestamp": None, "timestamp_raw": raw, "type": 5}
            payload, = uerudp.encode([{"generation": "5.1", "handshake": handshake}])
            decoded, = uerudp.decode("--hex", "--generation=5.1", "-", data=payload.hex().encode())
            self.assertIsNone(decoded["handshake"]["timestamp"])
            self.assertEqual(raw, decoded["handshake"]["timestamp_raw"])
            self.assertEqual([payload], uerudp.encode([decoded]))

    def test_capture_values(self):
        lines = b'{"packet":{}}{"time":5000,"packet":\n{}}\n\n{"src":"[fe80::1]:7777","dst":"[fe80::2]:9","packet":{}}'
        file = uerudp.run("encode", data=lines).stdout
        with tempfile.NamedTemporaryFile(suffix=".pcapng") as capture:
            capture.write(file)
            capture.flush()
            first, second, third = uerudp.decode(capture.name)
        self.assertEqual(("0", "10.0.0.1:50000", "10.0.0.2:7777"), (first["time"], first["src"], first["dst"]))
        self.assertEqual("5000", second["time"])
        self.assertEqual(("10005000", "[fe80::1]:7777", 2), (third["time"], third["src"], third["direction"]))

    def test_ignored(self):
        """Keys that decode computes are ignored."""
        generated = {"schema": 1, "frame": 9, "length": 3, "stream": 4, "generation_reason": "x", "canonical": True,
                     "fault": {"status": "x", "field": "y", "bit": 1}, "bits": [], "terminator": [True, True]}
        plain = {"packet": {"seq": 1}, "bunches": [{"reliable": True}]}
        marked = {**generated, "packet": {"seq": 1, "id": 99, "acked": [1], "nacked": [2]},
                  "bunches": [{"reliable": True, "channel_name": "Control"}]}
        self.assertEqual(uerudp.encode([plain]), uerudp.encode([marked]))


class Refusals(unittest.TestCase):
    def check(self, text, key, *arguments):
        message = refused(text, *arguments)
        self.assertIn(f"-:1: {key}: ", message)

    def test_capture(self):
        """The error for a capture names decode --json."""
        payload = bytes.fromhex("0000280000000000")
        classic = uerudp.pcap([(50000, 7777, payload)])
        for capture in (classic, b"\xa1\xb2\x3c\x4d" + classic[4:], b"\n\r\r\n" + classic, classic[:4]):
            errors = uerudp.run("encode", "--hex", data=capture, status=2).stderr.decode()
            self.assertRegex(errors, r"^uerudp: -:\d+: a capture, not JSON: convert it with uerudp decode --json")
        for other in (b"\n", b"\n\n{}", b"{"):
            errors = subprocess.run([uerudp.PROGRAM, "encode", "--hex"], input=other, capture_output=True).stderr
            self.assertNotIn(b"a capture", errors)

    def test_unused(self):
        self.check('{"bunches":[{},{"close_reason":1}]}', "bunches[1].close_reason")
        self.check('{"bunches":[{"ch_seq":1}]}', "bunches[0].ch_seq")
        self.check('{"bunches":[{"partial_final":true}]}', "bunches[0].partial_final")
        self.check('{"bunches":[{"open":true,"name_hardcoded":true,"name_text":"x"}]}', "bunches[0].name_text")
        self.check('{"generation":"4.18","items":[{"ack_id":1,"channel":2}]}', "items[0].channel")
        self.check('{"generation":"4.18","items":[{"close":true,"close_reason":2}]}', "items[0].close_reason")
        self.check('{"generation":"5.1","packet":{"remote_kbps":1}}', "packet.remote_kbps")
        self.check('{"generation":"4.25","session_id":1}', "session_id")
        self.check('{"packet":{"history":[1,2],"history_words":1}}', "packet.history")
        self.check('{"handshake":{},"packet":{"seq":1}}', "packet.seq")
        self.check('{"handshake":{},"bunches":[]}', "bunches")
        self.check('{"is_handshake":false,"handshake":{"type":0}}', "handshake.type")
        self.check('{"items":[]}', "items")
        self.check('{"generation":"4.18","bunches":[]}', "bunches")

    def test_range(self):
        self.check('{"bunches":[{"reliable":true,"ch_seq":1024}]}', "bunches[0].ch_seq")
        self.check('{"bunches":[{"close":true,"close_reason":15}]}', "bunches[0].close_reason")
        self.check('{"packet":{"seq":16384}}', "packet.seq")
        self.check('{"packet":{"seq":-1}}', "packet.seq")
        self.check('{"packet":{"history_words":9}}', "packet.history_words")
        self.check('{"packet":{"jitter_ms":1024}}', "packet.jitter_ms")
        self.check('{"session_id":4}', "session_id")
        self.check('{"handshake":{"type":7}}', "handshake.type")
        self.check('{"handshake":{"cookie":"00"}}', "handshake.cookie")
        self.check('{"bunches":[{"data":"00","data_bits":17}]}', "bunches[0].data_bits")
        self.check('{"generation":"4.18","items":[{"channel":10240}]}', "items[0].channel")
        self.check('{"bunches":[{"messages":[{"type":200}]}]}', "bunches[0].messages[0].type")
        self.check('{"bunches":[{"data":"%s"}]}' % ("00" * 1024), "bunches[0].data_bits")

    def test_type(self):
        self.check('{"bunches":[{"reliable":1}]}', "bunches[0].reliable")
        self.check('{"bunches":[{"channel":"x"}]}', "bunches[0].channel")
        self.check('{"bunches":[{"data":"0"}]}', "bunches[0].data")
        self.check('{"bunches":[{"data":"0g"}]}', "bunches[0].data")
        self.check('{"bunches":[{"messages":{}}]}', "bunches[0].messages")
        self.check('{"bunches":{}}', "bunches")
        self.check('{"bunches":[1]}', "bunches[0].")
        self.check('{"packet":[]}', "packet")
        self.check('{"bunches":[{"messages":[{"netspeed":{"rate":2147483648}}]}]}',
                   "bunches[0].messages[0].netspeed.rate")
        self.check('{"bunches":[{"messages":[{"login":{"url":5}}]}]}', "bunches[0].messages[0].login.url")
        self.check('{"generation":"4.25","handshake":{"timestamp":"x"}}', "handshake.timestamp")
        self.check('{"time":-1}', "time")
        self.check('{"src":"nowhere"}', "src")
        self.check('{"dst":"[::1]:7777"}', "dst")
        self.check('{"direction":3}', "direction")
        self.check('{"generation":"4.12"}', "generation")
        self.check('{"settings":{"magic_bits":33}}', "settings.magic_bits")
        self.check('{"settings":{"magick":3}}', "settings.magick")
        self.check('{"terminator":[false]}', "terminator")
        self.check('{"raw":"xyz"}', "raw")

    def test_unknown(self):
        self.check('{"bunchs":[]}', "bunchs")
        self.check('{"packet":{"sec":1}}', "packet.sec")
        self.check('{"bunches":[{"relyable":true}]}', "bunches[0].relyable")
        self.check('{"bunches":[{"messages":[{"hello":{"x":1}}]}]}', "bunches[0].messages[0].hello.x")
        self.check('{"bunches":[{"messages":[{"type":9,"hello":{"features":1}}]}]}',
                   "bunches[0].messages[0].hello.features")

    def test_conflict(self):
        self.check('{"generation":"4.25","handshake":{"type":3,"timestamp":5}}', "handshake.type")
        self.check('{"generation":"4.25","direction":1,"handshake":{"type":3}}', "handshake.type")

    def test_place(self):
        self.assertIn("-:3: packet.seq: ", refused('{"packet":{}}\n\n{"packet":{"seq":99999}}\n{"bad":1}'))
        self.assertIn("-:2: not JSON: ", refused('{"packet":{}}\n{]'))
        self.assertIn("-:1: not a JSON object", refused("[1]"))
        self.assertIn("-:1: not JSON: ", refused('{"packet":{},"packet":{}}'))
        self.assertIn("nowhere.json: ", uerudp.run("encode", "--hex", "nowhere.json", status=2).stderr.decode())
        self.assertEqual(b"", uerudp.run("encode", "--hex", data=b" \n").stdout)

    def test_output_stays_when_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder, "out.hex")
            uerudp.run("encode", "--hex", "--output", output, data=b'{"packet":{}}')
            whole = output.read_bytes()
            uerudp.run("encode", "--hex", "--output", output, data=b'{"packet":{}}{"bad":1}', status=2)
            self.assertEqual(whole, output.read_bytes())
            self.assertEqual([output], list(pathlib.Path(folder).iterdir()))


if __name__ == "__main__":
    uerudp.main()
