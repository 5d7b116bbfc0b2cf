#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp replay --check names the frame that was changed, or the condition, where the fault shows in another frame."""
import pathlib

import pcapng
import uerudp
from replays import FOLDER, check, generated

GAME = "game", "--seed=5", "--duration=6", "--loss=0.05"
SENDER = *GAME, "--capture-at=sender"
CLIENT = *GAME, "--capture-at=client"
LEGACY = *SENDER, "--generation=4.18"
PATH = pathlib.Path(FOLDER.name) / "attribution.pcapng"


def changed(capture, rule, seed=1):
    uerudp.run("edit", "--seed", seed, "--rule", rule, generated(*capture), PATH, status=None)
    return PATH


class Attribution(uerudp.unittest.TestCase):
    def assert_reported(self, capture, rule, seed=1, absent=(), **expected):
        result, = check(changed(capture, rule, seed), status=None)
        self.assertEqual({key: result["difference"].get(key) for key in expected}, expected, rule)
        for key in absent:
            self.assertNotIn(key, result["difference"], rule)
        return result["difference"]

    def test_unchanged(self):
        for capture in (SENDER, CLIENT, LEGACY):
            result, = check(generated(*capture))
            self.assertFalse(result["differs"], capture)

    def assert_uncaptured(self, capture, rule, **counts):
        """Packets that the capture lacks are counted, and no difference."""
        path = changed(capture, rule)
        result, = check(path, status=None)
        self.assertFalse(result["differs"], (capture, rule, result))
        for side, count in counts.items():
            self.assertEqual(count, result[side].get("uncaptured"), (capture, rule))
            self.assertNotIn("not_compared", result[side])
        return result, uerudp.run("replay", "--check", path, status=None)

    def test_dropped_packet(self):
        """The client acknowledges a packet of the server that the capture lacks."""
        whole, = check(generated(*CLIENT))
        result, text = self.assert_uncaptured(CLIENT, "drop frame=547", client=1)
        self.assertIn("; 1 packet that it acknowledged is not in the capture", text.stdout.decode())
        self.assertEqual(0, text.returncode)
        self.assertEqual(whole["client"]["compared"], result["client"]["compared"])
        self.assertEqual(whole["server"]["compared"] - 1, result["server"]["compared"])

    def test_dropped_open(self):
        """The first packet of the client, whose content the server does not answer to."""
        for capture in (SENDER, LEGACY):
            self.assert_uncaptured(capture, "drop frame=10", server=1)
        self.assert_uncaptured(("game", "--duration=5", "--generation=5.5"), "drop frame=5", server=1)

    def test_each_dropped(self):
        for capture in (SENDER, CLIENT, LEGACY):
            for frame in range(1, 400, 29):
                self.assert_uncaptured(capture, f"drop frame={frame}")

    def test_dropped_at_random(self):
        for capture in (SENDER, CLIENT, LEGACY):
            whole, = check(generated(*capture))
            for seed in range(4):
                for share in (0.02, 0.1):
                    result, = check(changed(capture, f"drop p={share}", seed), status=0)
                    self.assertFalse(result["differs"], (capture, seed, share, result.get("difference")))
                    for side in ("client", "server"):
                        self.assertNotIn("not_compared", result[side])
                        self.assertGreater(result[side]["compared"], (1 - 2 * share) * whole[side]["compared"])

    def test_fault_beside_dropped_packets(self):
        """A changed packet is a difference, although the capture lacks others."""
        result, = check(changed(SENDER, "corrupt@packet.ack frame=240"), status=1)
        whole = result["difference"]
        uerudp.run("edit", "--rule", "drop frame=60", PATH, PATH.with_name("both.pcapng"), status=None)
        result, = check(PATH.with_name("both.pcapng"), status=1)
        self.assertEqual((whole["type"], whole["side"], whole["packet_id"]),
                         tuple(result["difference"][key] for key in ("type", "side", "packet_id")))

    def test_end_of_the_comparison(self):
        """A connection with a difference long before its end is not one with too many missing packets."""
        capture = "game", "--duration=60", "--tick=120", "--generation=5.5"
        result, = check(changed(capture, "corrupt@packet.ack frame=200"), status=1)
        self.assertTrue(result["differs"])
        self.assertNotIn("not_compared", {**result["client"], **result["server"]})

    def test_bunch_has_its_number(self):
        """A reliable bunch is named by the full number of its sequence, an unreliable one by the channel alone."""
        found = set()
        for seed in range(16):
            result, = check(changed(LEGACY, f"corrupt@bunch.channel frame={200 + seed}", seed), status=None)
            difference = result.get("difference", {})
            if difference.get("type") in ("open", "not-open", "after-close", "close", "spurious"):
                o = next(o for o in uerudp.decode(PATH, status=None) if o["frame"] == difference["frame"])
                numbers = {b["ch_seq"] if b["reliable"] else None for b in o["items"]
                           if not b["is_ack"] and b["channel"] == difference["channel"]}
                number = difference.get("reliable_id")
                self.assertIn(number if number is None else number % 1024, numbers, difference)
                found.add(number is None)
        self.assertEqual(found, {False, True})

    def test_moved_packet(self):
        """A packet that the capture has after the packet that acknowledges it."""
        frames = [o["frame"] for o in uerudp.decode(generated(*CLIENT))]
        found = {}
        for frame in frames[40:140]:
            result, = check(changed(CLIENT, f"reorder frame={frame}"), status=None)
            if result["differs"]:
                found[frame] = result["difference"]
        self.assertTrue(found)
        for difference in found.values():
            self.assertEqual((difference["type"], difference.get("condition")),
                             ("ack", "or the capture has datagrams in another order than they were sent"))

    def test_channel_sequence_before_the_first(self):
        self.assert_reported(SENDER, "corrupt@bunch.ch_seq frame=60", type="ch-seq", side="client", frame=60,
                             field="bunch.ch_seq", expected_value="1018", recorded_value="986", bit=261,
                             reliable_id=986, absent=("condition",))

    def test_channel_sequence_of_another(self):
        self.assert_reported(LEGACY, "corrupt@bunch.ch_seq frame=248", seed=30, type="ch-seq", side="server", frame=248,
                             field="bunch.ch_seq", expected_value="583", recorded_value="582")

    def test_channel_sequence_that_was_never_used(self):
        self.assert_reported(LEGACY, "corrupt@bunch.ch_seq frame=414", seed=92, type="ch-seq", side="server", frame=414)

    def test_ack(self):
        self.assert_reported(SENDER, "corrupt@packet.ack frame=60", type="ack", side="client", frame=60,
                             field="packet.ack", expected_first=6278, expected_last=6280, recorded_value="6791",
                             absent=("bit", "expected_value", "condition"))

    def test_acks_are_in_the_range(self):
        acks = {o["frame"]: o["packet"]["ack"] for o in uerudp.decode(generated(*SENDER)) if "packet" in o}
        payloads = [packet.payload for packet in pcapng.read(generated(*SENDER))]
        for seed in range(12):
            frame = sorted(acks)[60 + 31 * seed]
            result, = check(changed(SENDER, f"corrupt@packet.ack frame={frame}", seed), status=None)
            difference = result.get("difference", {})
            if "expected_first" in difference:
                self.assertIn(acks[frame], range(difference["expected_first"], difference["expected_last"] + 1))
            if "expected" in difference:
                self.assertEqual(bytes.fromhex(difference["expected"]), payloads[frame - 1])

    def test_packet_sequence(self):
        for seed, frame, side in ((3, 60, "client"), (33, 169, "server")):
            self.assert_reported(SENDER, f"corrupt@packet.seq frame={frame}", seed=seed, type="packet-seq", side=side,
                                 frame=frame, field="packet.seq", absent=("packet_id", "bit"))
            self.assertGreater(check(PATH, status=1)[0]["client"]["compared"], 0)
        text = uerudp.run("replay", "--check", PATH, status=1).stdout.decode()
        self.assertIn("\n  frame 169: the server sends a packet whose sequence does not fit its place [packet-seq]\n", text)

    def test_duplicates_have_one_sequence(self):
        for capture in (SENDER, LEGACY):
            result, = check(changed(capture, "duplicate frame=60-80"))
            self.assertFalse(result["differs"])

    def test_malformed_packet(self):
        self.assert_uncaptured(SENDER, "corrupt@bunch.reliable frame=60", server=1)

    def test_legacy_ack(self):
        for seed, frame in ((37, 72), (68, 88)):
            self.assert_reported(LEGACY, f"corrupt@legacy.ack_id frame={frame}", seed=seed, type="ack", side="client",
                                 frame=frame, field="legacy.ack_id", absent=("condition",))

    def test_repeated_legacy_ack(self):
        """The second copy of an acknowledgement was changed, which may be wrong in the first one, too."""
        self.assert_reported((*GAME, "--capture-at=client", "--generation=4.18"), "corrupt@legacy.ack_id frame=550",
                             seed=20443, type="ack", side="client", frame=548,
                             condition="or one of its next packets is not as it was sent")

    def test_packets_that_do_not_decrypt(self):
        """Damaged packets of an encrypted session are counted, all others are compared."""
        path = pathlib.Path(FOLDER.name) / "sealed.pcapng"
        uerudp.run("generate", "sealed", "--seed=11", "--duration=6", "-o", path)
        arguments = "--handlers=aesgcm", path
        result, = check("--key", path.with_suffix(".keys"), *arguments)
        self.assertFalse(result["differs"])
        self.assertGreater(min(result[side]["compared"] for side in ("client", "server")), 400)
        self.assertEqual((result["server"]["undecrypted"], result["client"].get("undecrypted")), (17, None))
        text = uerudp.run("replay", "--check", "--key", path.with_suffix(".keys"), *arguments).stdout.decode()
        self.assertIn("; 17 packets of it do not decrypt\n", text)
        result, = check(*arguments, status=2)
        self.assertEqual(result["server"]["not_compared"], "its content is encrypted, compressed or in an unknown format")


if __name__ == "__main__":
    uerudp.main()
