#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp replay: what the modes observe and check say of captures, and of captures with one thing changed."""
import copy
import json
import pathlib
import tempfile

import uerudp

CAPTURES = pathlib.Path("captures")
MODERN = CAPTURES / "ue5.1.pcapng"
LEGACY = CAPTURES / "ue4.18.pcapng"


def check(*arguments, data=b"", status=0):
    """The objects that replay --check --json prints."""
    output = uerudp.run("replay", "--check", "--json", *arguments, data=data, status=status).stdout
    return [json.loads(line, object_pairs_hook=uerudp.once) for line in output.decode().splitlines()]


class Changed(uerudp.unittest.TestCase):
    """Captures with one thing changed: that, and nothing else, is the difference."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "changed.pcapng"

    def difference(self, path, change, status=1):
        """What --check finds after change(objects), which returns the frame that it changed."""
        objects = uerudp.decode(path)
        frame = change(objects)
        text = "\n".join(map(json.dumps, objects)).encode()
        uerudp.run("encode", "-o", self.path, "-", data=text)
        result, = check(self.path, status=status)
        difference = result.get("difference")
        self.assertEqual(result["differs"], difference is not None)
        return frame, difference

    def packets(self, objects, direction=2):
        return [o for o in objects if "packet" in o and o["direction"] == direction]

    def test_nothing(self):
        for path in (MODERN, LEGACY):
            _, difference = self.difference(path, lambda objects: None, status=0)
            self.assertIsNone(difference)

    def test_history(self):
        for bit in range(3):
            def change(objects):
                packet = self.packets(objects)[3]
                packet["packet"]["history"][0] ^= 1 << bit
                return packet["frame"]
            frame, difference = self.difference(MODERN, change)
            self.assertEqual((difference["type"], difference["side"], difference["frame"], difference["field"]),
                             ("history", "server", frame, "packet.history"))

    def test_ack_of_unsent(self):
        def change(objects):
            packet = self.packets(objects)[3]
            packet["packet"]["ack"] += 7
            return packet["frame"]
        frame, difference = self.difference(MODERN, change)
        self.assertEqual((difference["type"], difference["frame"], difference["field"]), ("ack", frame, "packet.ack"))
        self.assertEqual(int(difference["recorded_value"]), int(difference["expected_value"]) + 7)

    def test_legacy_ack_of_unsent(self):
        def change(objects):
            packet = [o for o in self.packets(objects) if o["items"] and o["items"][0]["is_ack"]][-1]
            packet["items"][0]["ack_id"] += 9
            return packet["frame"]
        frame, difference = self.difference(LEGACY, change)
        self.assertEqual((difference["type"], difference["side"], difference["frame"]), ("ack", "server", frame))

    def test_channel_sequence(self):
        def change(objects):
            packet = [o for o in self.packets(objects) if any(b["reliable"] for b in o.get("bunches", []))][1]
            bunch = next(b for b in packet["bunches"] if b["reliable"])
            bunch["ch_seq"] += 1
            return packet["frame"]
        frame, difference = self.difference(MODERN, change)
        self.assertEqual((difference["type"], difference["frame"], difference["field"]),
                         ("ch-seq", frame, "bunch.ch_seq"))
        self.assertEqual(int(difference["recorded_value"]), int(difference["expected_value"]) + 1)

    def test_first_sequence(self):
        def change(objects):
            response = next(o for o in objects if o.get("handshake", {}).get("type") == 2)
            cookie = response["handshake"]["cookie"]
            for message in (o["handshake"] for o in objects if "handshake" in o):
                if message.get("cookie") == cookie:  # the last byte of the client's first sequence
                    message["cookie"] = cookie[:6] + "%02x" % (int(cookie[6:8], 16) ^ 0x10) + cookie[8:]
            return self.packets(objects, direction=1)[0]["frame"]
        frame, difference = self.difference(MODERN, change)
        self.assertEqual((difference["type"], difference["side"], difference["frame"]), ("sequence", "client", frame))

    def test_cookie(self):
        def change(objects):
            response = next(o for o in objects if o.get("handshake", {}).get("type") == 2)
            cookie = response["handshake"]["cookie"]
            response["handshake"]["cookie"] = cookie[:-2] + "%02x" % (int(cookie[-2:], 16) ^ 1)
            return response["frame"]
        frame, difference = self.difference(MODERN, change)
        self.assertEqual((difference["type"], difference["side"], difference["frame"], difference["field"]),
                         ("handshake", "client", frame, "handshake.cookie"))


class Options(uerudp.unittest.TestCase):
    def test_captures(self):
        for path in sorted(CAPTURES.glob("*.pcapng")):
            if path.stem != "ue5.8":
                for result in check(path):
                    self.assertEqual((result["schema"], result["differs"]), (1, False), path)

    def test_side(self):
        for side, other in (("client", "server"), ("server", "client")):
            result, = check("--side", side, MODERN)
            self.assertGreater(result[side]["compared"], 0)
            self.assertEqual(result[other]["not_compared"], "not asked for")
        uerudp.run("replay", "--check", "--side", "nobody", MODERN, status=2)
        uerudp.run("replay", "--side", "client", MODERN, status=2)

    def test_modes(self):
        self.assertEqual(uerudp.run("replay", "--mode", "check", MODERN).stdout,
                         uerudp.run("replay", "--check", MODERN).stdout)
        uerudp.run("replay", "--mode", "observe", "--check", MODERN, status=2)
        uerudp.run("replay", "--mode", "nothing", MODERN, status=2)
        uerudp.run("replay", "--check", "--channel", "0", MODERN, status=2)
        uerudp.run("replay", "--check", "--ignore", "everything", MODERN, status=2)

    def test_stream(self):
        self.assertEqual(check("--stream", "1", MODERN), [])
        self.assertEqual(len(check("--stream", "0", MODERN)), 1)

    def test_pipe(self):
        self.assertEqual(check("-", data=MODERN.read_bytes()), check(MODERN))


class Bad(uerudp.unittest.TestCase):
    def test_files(self):
        for mode in ("observe", "check"):
            uerudp.run("replay", "--mode", mode, status=2)
            uerudp.run("replay", "--mode", mode, "/nonexistent", status=2)
            uerudp.run("replay", "--mode", mode, "-", data=b"", status=2)
            uerudp.run("replay", "--mode", mode, "-", data=MODERN.read_bytes()[:-7], status=2)

    def test_one_direction(self):
        payloads = [o for o in uerudp.decode(MODERN) if o["direction"] == 1]
        text = "\n".join(map(json.dumps, payloads)).encode()
        with tempfile.NamedTemporaryFile(suffix=".pcapng") as file:
            uerudp.run("encode", "-o", file.name, "-", data=text)
            result, = check(file.name)
        self.assertEqual(result["client"]["not_compared"], "the capture has no packet of the other side")


if __name__ == "__main__":
    uerudp.main()
