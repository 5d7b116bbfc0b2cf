#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp replay: the modes observe and check on captures without a fault."""
import copy
import json
import pathlib

import uerudp
from replays import FOLDER, check, decoded, generated, reliable_copies, sent_by
from conversation import CLIENT, SERVER, hello_sent, lost_acks

CAPTURES = pathlib.Path("captures")
CAPTURE = CAPTURES / "ue5.1.pcapng"


class Clean(uerudp.unittest.TestCase):
    """replay --check finds no difference, with any network and any capture point."""

    def assert_same(self, path, *arguments):
        results = check(*arguments, path)
        for result in results:
            self.assertEqual((result["schema"], result["differs"]), (1, False), (path, result))
        return results

    def test_captures(self):
        for path in sorted(CAPTURES.glob("*.pcapng")):
            if path.stem not in ("corrupt", "fuzz"):  # bits were changed
                self.assert_same(path)

    def test_networks(self):
        points = ("client", "server", "sender")
        for i, scenario in enumerate(("lossy", "terrible", "jitter", "shuffle", "duplicate", "outage", "thin")):
            result, = self.assert_same(generated(scenario, "--duration=2", f"--capture-at={points[i % 3]}"))
            for side in ("client", "server"):
                self.assertGreater(result[side]["compared"], 20, scenario)

    def test_capture_points(self):
        for point in ("client", "server", "sender"):
            self.assert_same(generated("mixed", "--duration=2", f"--capture-at={point}"))

    def test_reordering_by_a_hundred(self):
        """A burst of packets with long jitter: late packets are compared in order."""
        self.assert_same(generated("reorder", "--seed=467", "--jitter=30", "--generation=4.18", "--capture-at=client"))

    def test_joined_in_the_middle(self):
        """The capture begins in the middle: its state before the first packet is unknown, which is no fault."""
        for scenario, generation, point, seed, percent in (
                ("reorder", "4.18", "server", 7, 68), ("mixed", "5.8", "client", 10, 31), ("churn", "4.13", "server", 15, 18),
                ("bulk", "4.22", "client", 23, 41), ("shuffle", "4.27", "client", 30, 39), ("jitter", "5.1", "client", 81, 41),
                ("bulk", "5.1", "client", 22, 29), ("churn", "4.13", "client", 146, 39)):
            whole = generated(scenario, "--duration=5", f"--seed={seed}", "--loss=0.03", "--jitter=15",
                              f"--generation={generation}", f"--capture-at={point}")
            count = len(decoded(whole, "--generation", generation))
            part = pathlib.Path(FOLDER.name) / "part.pcapng"
            uerudp.run("edit", f"--frames={count * percent // 100}-", whole, part)
            result, = self.assert_same(part, "--generation", generation)
            self.assertGreater(result["server"]["compared"], 100, scenario)

    def test_endings(self):
        for scenario in ("wrap", "churn", "channels", "bulk", "big-bunch", "login-lossy", "restart", "kick", "timeout",
                         "refused", "upgrade", "close-reasons", "voice"):
            self.assert_same(generated(scenario, "--capture-at=client"))

    def test_generations(self):
        for generation in ("4.13", "4.14", "4.18", "4.20", "4.22", "4.25", "5.1", "5.8"):
            path = generated("loss-burst", "--duration=2", f"--generation={generation}")
            self.assert_same(path, "--generation", generation)

    def test_several_connections(self):
        self.assertEqual(len(self.assert_same(generated("stream", "--duration=2", "--connections=5"))), 5)


class Observe(uerudp.unittest.TestCase):
    def transcript(self, *arguments):
        return uerudp.run("replay", *arguments).stdout.decode()

    def test_every_packet_has_a_line(self):
        path = generated("lossy", "--duration=3")
        lines = self.transcript("--stream=0", path).splitlines()
        packets = [o for o in decoded(path) if "packet" in o and "id" in o["packet"]]
        found = {(int(words[0]), int(words[4].rstrip(","))) for words in map(str.split, lines)
                if words[3:4] == ["packet"] and words[6].startswith("bytes")}
        self.assertEqual({(o["frame"], o["packet"]["id"]) for o in packets} - found, set())

    def test_resends_name_their_frames(self):
        path = generated("lossy", "--duration=5", "--capture-at=sender")
        text = self.transcript(path)
        self.assertEqual(text.count("sent again (copy"), len(reliable_copies(decoded(path))))
        self.assertIn("reports as not delivered", text)

    def test_damaged_number(self):
        self.assertIn("server packets 624 to 2671 are not missing: the sequence has not reached them yet, and the packet in frame "
                      "35 has a damaged number, or came early\n", self.transcript(CAPTURES / "corrupt.pcapng"))

    def test_lost_acks(self):
        text = uerudp.run("replay", "-", data=lost_acks().capture()).stdout.decode()
        self.assertEqual(1, text.count("reports as not delivered"))
        self.assertIn("proves that nobody received the acks of 11 to 25 (frame 2 to 16, ", text)

    def test_held_acks(self):
        """Acks that are far ahead are reported late; they are those of their own frame."""
        conv = hello_sent().idle(500)
        for _ in range(300):
            conv.send(CLIENT, captured=False)
        conv.wait(100).send(SERVER)
        conv.idle(1000)
        text = uerudp.run("replay", "-", data=conv.capture()).stdout.decode()
        events = [json.loads(line) for line in uerudp.run("decode", "--events", "-", "-",
                                                          data=conv.capture()).stdout.splitlines()]
        held = [event for event in events if event.get("name") == "recovery:packet_acked"
                and "sent_frame" not in event["data"]]
        frame, = {event["frame"] for event in held}
        ids = [event["data"]["packet_id"] for event in held]
        self.assertIn(f"confirms that frame {frame} acknowledges {ids[0]} to {ids[-1]}, not in the capture", text)
        self.assertEqual(1, text.count("confirms that frame"))

    def test_login(self):
        text = self.transcript(generated("login"))
        for words in ("client handshake Initial", "server handshake Challenge, ", "opens channel 0 Control",
                      "closes channel 0 Control"):
            self.assertIn(words, text)

    def test_selections(self):
        path = generated("lossy", "--duration=3")
        handshakes = self.transcript("--kind=handshake", generated("login")).splitlines()
        self.assertEqual(len(handshakes), 4)
        for line in self.transcript("--direction=c2s", path).splitlines():
            self.assertNotIn(" server ", line)
        self.assertIn("channel 3 ", self.transcript("--channel=3", path))
        self.assertEqual(self.transcript("--stream=7", path), "")

    def test_json_is_a_log_of_events(self):
        path = generated("lossy", "--duration=3")
        log = uerudp.run("decode", "--events=-", path).stdout
        found = uerudp.run("replay", "--json", path).stdout
        self.assertEqual(found.splitlines()[1:], log.splitlines()[1:])
        self.assertEqual(uerudp.run("replay", "--json", "--stream=7", path).stdout.count(b"\n"), 1)
        uerudp.run("replay", "--json", "--kind=packet", path, status=2)


class Options(uerudp.unittest.TestCase):
    def test_side(self):
        for side, other in (("client", "server"), ("server", "client")):
            result, = check("--side", side, CAPTURE)
            self.assertGreater(result[side]["compared"], 0)
            self.assertEqual(result[other]["not_compared"], "not selected")
        uerudp.run("replay", "--check", "--side", "nobody", CAPTURE, status=2)
        uerudp.run("replay", "--side", "client", CAPTURE, status=2)

    def test_modes(self):
        self.assertEqual(uerudp.run("replay", "--mode", "check", CAPTURE).stdout,
                         uerudp.run("replay", "--check", CAPTURE).stdout)
        self.assertEqual(uerudp.run("replay", "--mode", "observe", CAPTURE).stdout,
                         uerudp.run("replay", CAPTURE).stdout)
        uerudp.run("replay", "--mode", "observe", "--check", CAPTURE, status=2)
        uerudp.run("replay", "--mode", "nothing", CAPTURE, status=2)
        uerudp.run("replay", "--check", "--channel", "0", CAPTURE, status=2)

    def test_ignore(self):
        objects = copy.deepcopy(decoded(CAPTURE))
        o = sent_by(objects, 2)[3]
        o["packet"]["history"][0] ^= 1
        path = pathlib.Path(FOLDER.name) / "ignored.pcapng"
        uerudp.run("encode", "-o", path, "-", data="\n".join(map(json.dumps, objects)).encode())
        text = uerudp.run("replay", "--check", path, status=1).stdout.decode()
        self.assertIn(f"frame {o['frame']}, ", text)
        self.assertIn("^ bit ", text)
        text = uerudp.run("replay", "--check", "--ignore=history,open", path).stdout.decode()
        self.assertRegex(text, r"ignored: the server reports .* \[history\], \d times")
        uerudp.run("replay", "--check", "--ignore", "everything", CAPTURE, status=2)

    def test_stream(self):
        self.assertEqual(check("--stream", "1", CAPTURE), [])
        self.assertEqual(len(check("--stream", "0", CAPTURE)), 1)

    def test_pipe(self):
        self.assertEqual(check("-", data=CAPTURE.read_bytes()), check(CAPTURE))
        self.assertEqual(uerudp.run("replay", "-", data=CAPTURE.read_bytes()).stdout,
                         uerudp.run("replay", CAPTURE).stdout)

    def test_help_names_every_difference(self):
        text = uerudp.run("replay", "--help").stdout.decode()
        for name in ("history", "not-resent", "close"):
            self.assertIn(f"\n  {name} ", text)


class Bad(uerudp.unittest.TestCase):
    def test_files(self):
        for mode in ("observe", "check"):
            uerudp.run("replay", "--mode", mode, status=2)
            uerudp.run("replay", "--mode", mode, "/nonexistent", status=2)
            uerudp.run("replay", "--mode", mode, "-", data=b"", status=2)
            uerudp.run("replay", "--mode", mode, "-", data=CAPTURE.read_bytes()[:-7], status=2)

    def test_damaged_datagrams(self):
        for seed in range(1, 4):
            path = generated("mixed", "--fuzz", "--duration=2", f"--seed={seed}")
            for arguments in (["--check"], ["--check", "--json"], [], ["--json"]):
                uerudp.run("replay", *arguments, path, status=1)

    def test_one_direction(self):
        text = "\n".join(json.dumps(o) for o in decoded(CAPTURE) if o["direction"] == 1).encode()
        path = pathlib.Path(FOLDER.name) / "half.pcapng"
        uerudp.run("encode", "-o", path, "-", data=text)
        result, = check(path, status=2)
        self.assertEqual(result["client"]["not_compared"], "no packet of the other side was captured")
        both = pathlib.Path(FOLDER.name) / "both.pcapng"
        both.write_bytes(path.read_bytes() + CAPTURE.read_bytes())
        self.assertEqual([None, "no packet of the other side was captured"],
                         sorted((each["client"].get("not_compared") for each in check(both)), key=str))

    def test_foreign(self):
        capture = uerudp.pcap([(50000, 7777, b"hello there"), (7777, 50000, b"general")])
        self.assertEqual(check("-", data=capture), [])
        self.assertIn(b"data of an unknown form", uerudp.run("replay", "-", data=capture).stdout)


if __name__ == "__main__":
    uerudp.main()
