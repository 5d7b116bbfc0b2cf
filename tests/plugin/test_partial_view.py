#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A partial capture gets no statement that the complete one refutes, and no unsafe conclusion is drawn: the same checks
as tests/tools/info/check_partial_view.py and check_statements.py make for the program."""
import collections
import re

import conversation
import harness
import tables
import traffic

NEW, OLD = ("4.22", "5.1", "5.5", "5.8"), ("4.18", "4.20")
LOSSY = ("lossy", "--duration=2", "--dup=0.03", "--reorder=0.03", "--loss=0.05")
LOSSLESS = ("login", "--duration=2")
FULL = ("bulk", "--generation=5.4", "--jitter=5", "--loss=0.03", "--seed=3", "--duration=1")  # the span reaches 508
FLAGS = ("lost", "out_of_order", "duplicate", "nak", "retransmission", "spurious_retransmission", "ack_of_unseen",
         "reliable_jump", "buffer_high")
COLUMNS = {"stream": "uerudp.stream", "direction": "uerudp.direction", "id": "uerudp.packet.id",
           "acked": "uerudp.packet.acked", "nacked": "uerudp.packet.nacked", "missing": "uerudp.analysis.missing",
           "in_flight": "uerudp.analysis.reliable_in_flight", "info": "_ws.col.Info", "said": "_ws.expert.message",
           **{flag: f"uerudp.analysis.{flag}" for flag in FLAGS}}
COURSE = ("id", "acked", "nacked", "missing", "lost", "out_of_order", "duplicate", "nak")  # from headers only
LACKING = "Not all fragments of this message are in the capture"
WRONG = ("lost", "nak", "ack_of_unseen", "reliable_jump")  # captures without loss


class Case(harness.StageCase):
    def show(self, frames, two_pass=True, **settings):
        """The columns of each frame of uerudp: texts by column name."""
        path = self.stage.put("a.pcapng", traffic.write(frames))
        columns = [part for name in ("frame.number", *COLUMNS.values()) for part in ("-e", name)]
        text = self.stage.tshark(*(["-2"] if two_pass else []), "-r", path, *harness.preferences(settings), "-Y", "uerudp",
                                 "-T", "fields", "-E", "aggregator=,", *columns)
        rows = (line.split("\t") for line in text.splitlines())
        shown = {int(row[0]): dict(zip(COLUMNS, row[1:], strict=True)) for row in rows}
        self.assertGreater(len(shown), 0)
        return shown

    def flagged(self, shown, *flags):
        """(frame, flag) of the frames with one of these flags."""
        return [(frame, flag) for frame, row in shown.items() for flag in flags if row[flag]]

    def assert_expert_item(self, shown, pattern):
        self.assertTrue([row["said"] for row in shown.values() if re.search(pattern, row["said"], re.I)],
                        f"no expert item matches {pattern!r}")

    def assert_no_expert_item(self, shown, pattern):
        self.assertEqual([], [row["said"] for row in shown.values() if re.search(pattern, row["said"], re.I)][:3])

    def same(self, expected, shown, keys=COURSE):
        """The keys are equal in each frame."""
        wrong = [frame for frame, row in expected.items()
                 if [row[key] for key in keys] != [shown.get(frame, {}).get(key) for key in keys]]
        self.assertEqual([], wrong[:10], f"{len(wrong)} of {len(expected)} frames differ")


class Cut(Case):
    """The headers of a packet precede the cut."""

    def test_course(self):
        for generation in NEW:
            frames = traffic.generate(*LOSSY, "--generation", generation).frames
            self.same(self.show(frames), self.show(traffic.snapped(frames, 96), generation=generation))

    def test_acks_beyond_the_cut(self):
        """Up to 4.21 acks are among the bunches: an ack beyond the cut is not known."""
        for generation in OLD:
            frames = traffic.generate(*LOSSLESS, "--generation", generation).frames
            shown = self.show(traffic.snapped(frames, 96), generation=generation)
            self.assertEqual([], self.flagged(shown, *WRONG)[:10], generation)

    def test_nothing_lost(self):
        """The complete captures have no such statement."""
        for generation in ("4.18", "5.5"):
            shown = self.show(traffic.generate(*LOSSLESS, "--generation", generation).frames)
            self.assertEqual([], self.flagged(shown, *WRONG))


class Opaque(Case):
    """Packets that cannot be decoded were captured, and have ids."""

    def shown(self, generation, frames):
        return self.show(frames, generation=generation, handlers="oodle")

    def test_none_is_lost(self):
        for generation in ("4.18", "5.1", "5.5"):
            half = traffic.every_second_opaque(traffic.generate(*LOSSLESS, "--generation", generation).frames)
            self.assertEqual([], self.flagged(self.shown(generation, half), *WRONG)[:10], generation)

    def test_gaps_between_known_ids(self):
        capture = traffic.generate("lossy", "--duration=2", "--loss=0.05", "--generation=5.5")
        shown = self.shown("5.5", traffic.every_second_opaque(capture.frames))
        missing = sum(int(row["missing"] or 0) for row in shown.values() if row["direction"] == "2")
        self.assertEqual(capture.sent["connections"][0]["lost"]["s2c"], missing)

    def test_nothing_compressed(self):
        """With the handler's bit and no compressed packet, the result is as without the handler."""
        frames = traffic.generate(*LOSSY, "--generation=5.5").frames
        self.same(self.show(frames), self.shown("5.5", traffic.opaque(frames, lambda *_: False)))


class Buffer(Case):
    """Reliable bunches in flight."""
    EXCEEDED = r"not acknowledged by a captured packet; the sender's buffer holds 256"

    def test_limit_of_an_uncertain_generation(self):
        """5.4 holds 512; nothing distinguishes it from 5.1, which stands for 5.2 and 5.3, too."""
        self.assert_no_expert_item(self.show(traffic.generate(*FULL).frames), self.EXCEEDED)

    def test_unknown_limit(self):
        self.assert_no_expert_item(self.show(traffic.generate(*FULL).frames, generation="5.1"), self.EXCEEDED)

    def test_limit_of_a_setting(self):
        self.assert_expert_item(self.show(traffic.generate(*FULL).frames, generation="5.1", reliable_buffer=256), self.EXCEEDED)

    def test_range(self):
        """The wording of info, which names the generation."""
        frames = traffic.generate(*FULL).frames[:300]
        text = traffic.program("info", "-", data=traffic.write(frames)).decode()
        named = re.search(r"generation (\d\.\d+ to \d\.\d+)", text)[1]
        self.assert_expert_item(self.show(frames), re.escape(named))

    def test_middle_of_a_capture(self):
        """A bunch that was not captured is unknown, not unacknowledged."""
        capture = traffic.generate("bulk", "--generation=5.5")
        shown = self.show(capture.frames[len(capture.frames) // 2:], generation="5.5")
        peak = max(each["bunches"] for each in capture.sent["connections"][0]["reliable_peak"]["s2c"])
        in_flight = [int(number) for row in shown.values() for number in row["in_flight"].split(",") if number]
        self.assertGreater(len(in_flight), 1000)
        self.assertLessEqual(max(in_flight), peak)
        self.assertEqual([], self.flagged(shown, "reliable_jump"))


class Attempts(Case):
    """Acks of packets that were not sent; handshakes and logins that stop."""

    def show_conversation(self, conv):
        return self.show(traffic.read(conv.capture()))

    def test_never_sent(self):
        shown = self.show_conversation(conversation.ack_ahead())
        self.assert_expert_item(shown, "never sent")
        self.assertEqual([], self.flagged(shown, "nak"))

    def test_sent_and_not_captured(self):
        self.assert_no_expert_item(self.show_conversation(conversation.ack_ahead(sent=True)), "never sent")

    def test_login_that_stops(self):
        self.assert_expert_item(self.show_conversation(conversation.hello_sent().idle(20000, 200)), "stopped after Hello")

    def test_attempts_without_answer(self):
        """One connection."""
        shown = self.show_conversation(conversation.attempts(49, join=False))
        self.assertEqual({"0"}, {row["stream"] for row in shown.values()})

    def test_attempts_that_succeed(self):
        shown = self.show_conversation(conversation.attempts(2, join=True))
        self.assertEqual({"0", "1"}, {row["stream"] for row in shown.values()})

    def test_client_ids(self):
        self.assert_expert_item(self.show_conversation(conversation.with_client_ids(2, 5)), r"client id.*(2.*5|5.*2)")

    def test_client_ids_of_the_handshake(self):
        self.assert_no_expert_item(self.show_conversation(conversation.with_client_ids(2, 2)), "client id")


class Acks(Case):
    """packet.acked and packet.nacked."""

    def test_each_once(self):
        for count in (65, 100):
            conv, late = conversation.reordered_acks(count)
            shown = self.show(traffic.read(conv.capture()))
            found = collections.Counter(number for row in shown.values() if row["direction"] == "2"
                                        for key in ("acked", "nacked") for number in row[key].split(",") if number)
            self.assertGreater(len(found), count)
            self.assertEqual([], [number for number, times in found.items() if times > 1][:5], count)
            self.assertEqual([], self.flagged({late: shown[late]}, "nak"))

    def test_not_delivered_up_to_4_21(self):
        """packet.nacked lists the packet ids that the frame's expert item counts."""
        frames, lost = traffic.losses("4.18")
        found = {(traffic.WAYS[2 - int(row["direction"])], int(number)) for row in self.show(frames).values()
                 for number in row["nacked"].split(",") if number}
        self.assertEqual(0, len(lost - found), "lost packets that packet.nacked does not list")

    def test_nak_of_lost_acks(self):
        """Frame 28 reports two losses; frame 29 withdraws acks, which is not a report."""
        for two_pass in (False, True):
            shown = self.show(traffic.read(conversation.lost_acks().capture()), two_pass, generation="4.18")
            self.assertEqual([28], [frame for frame, row in shown.items() if "[Nak" in row["info"]])
            self.assertIn("Regarded as lost by the sender", shown[29]["said"])


class BothEnds(Case):
    """One run captured at both ends: each packet is captured twice, but not sent twice."""

    def test_copies(self):
        arguments = ("lossy", "--duration=2", "--generation=5.5")
        shown = self.show(traffic.merged(*traffic.both_ends(*arguments)))
        self.assertEqual([], self.flagged(shown, "duplicate", "spurious_retransmission")[:10])
        sent = traffic.generate(*arguments, "--capture-at=sender").sent["connections"][0]
        again = {way: len(self.flagged({frame: row for frame, row in shown.items()
                                        if row["direction"] == str(1 + number)}, "retransmission"))
                 for number, way in enumerate(traffic.WAYS)}
        for way in traffic.WAYS:
            self.assertLessEqual(again[way], sent["resends"][way])


    def test_same_packet(self):
        """The second capture of each datagram, also of a handshake message, names the frame of the first, has the same kinds of
        channels, and is in no statistics again. What was lost, or is captured only once, has no such name."""
        client, server = traffic.both_ends("login", "--duration=2", "--loss=0.05", "--generation=5.5")
        frames = traffic.merged(client, server)
        first, expected = {}, {}
        for number, frame in enumerate(frames, 1):
            payload = traffic.udp_of(frame)[2]
            if first.setdefault(payload, (number, frame.interface))[1] != frame.interface:
                expected[number] = first[payload][0]
        path = self.stage.put("a.pcapng", traffic.write(frames))
        rows = self.stage.tshark("-2", "-r", path, "-Y", "uerudp", "-T", "fields", "-e", "frame.number", "-e", "uerudp.analysis.other_view",
                                 "-e", "_ws.col.Info").splitlines()
        shown = {int(number): (other, info) for number, other, info in (row.split("\t") for row in rows)}
        self.assertEqual({number: str(other) for number, other in expected.items()},
                         {number: other for number, (other, _) in shown.items() if other})
        self.assertGreater(len(frames), len(expected) + len(first) - 1)
        for number, (other, info) in shown.items():
            self.assertEqual(bool(other), f"[Same as frame {other}] " in info, info)
        kinds = {number: re.findall(r"Ch \d+ \w+", info) for number, (_, info) in shown.items()}
        self.assertEqual({number: kinds[other] for number, other in expected.items()}, {number: kinds[number] for number in expected})
        self.assertIn("Control", str(kinds[max(expected)] + [kinds[number] for number in expected]))
        once = self.stage.put("b.pcapng", traffic.write([frame for number, frame in enumerate(frames, 1) if number not in expected]))
        for name in ("uerudp_losses", "uerudp_bandwidth", "uerudp_bunches", "uerudp_channels"):
            both, alone = (tables.read_trees(self.stage.tshark("-2", "-q", "-r", file, "-z", f"{name},tree")) for file in (path, once))
            self.assertEqual(alone, both, name)


    def test_fragments(self):
        """The second capture of a fragment does not lack the fragments of its message; one that is not captured does."""
        client, server = traffic.both_ends("game", "--generation=5.5", "--duration=6", "--delay=30", "--seed=3")
        merged = traffic.merged(client, server)
        shown = self.show(merged)
        self.assertEqual([], [frame for frame, row in shown.items() if LACKING in row["said"]])
        second = [frame for frame, row in shown.items() if "[Same as" in row["info"] and " first part" in row["info"]]
        self.assertTrue(second)
        first = next(frame for frame, row in shown.items() if " first part" in row["info"] and " last part" not in row["info"])
        cut = self.show(merged[:first])
        self.assertEqual([first], [frame for frame, row in cut.items() if LACKING in row["said"]])


class Layers(Case):
    """IPv6, VLAN tags and IPv4 fragments make no difference."""

    def shown(self, frames, **settings):
        """By layer, in the order of the datagrams: fragments have frames of their own."""
        return {name: dict(enumerate(self.show(wrap(frames), **settings).values(), 1))
                for name, (wrap, _) in traffic.LAYERS.items()}

    def test_course(self):
        shown = self.shown(traffic.generate(*LOSSY, "--generation=5.5").frames)
        for name, each in shown.items():
            self.same(shown["ipv4"], each)

    def test_cut(self):
        frames = traffic.generate(*LOSSY, "--generation=5.5").frames
        expected = self.show(frames)
        for name in ("ipv6", "vlan"):
            wrap, more = traffic.LAYERS[name]
            self.same(expected, self.show(traffic.snapped(wrap(frames), 96 + more), generation="5.5"))

    def test_opaque(self):
        half = traffic.every_second_opaque(traffic.generate(*LOSSLESS, "--generation=5.5").frames)
        for name, each in self.shown(half, generation="5.5", handlers="oodle").items():
            self.assertEqual([], self.flagged(each, *WRONG)[:10], name)

    def test_never_sent(self):
        for each in self.shown(traffic.read(conversation.ack_ahead().capture())).values():
            self.assert_expert_item(each, "never sent")


if __name__ == "__main__":
    harness.main()
