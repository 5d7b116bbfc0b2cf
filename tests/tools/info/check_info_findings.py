#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The findings of uerudp info: for each kind a conversation that has it."""
import json
import unittest

import traffic
import uerudp
from conversation import (CHALLENGE, CLIENT, LOGIN, NETSPEED, SERVER, WELCOME, Conversation, attempts, hello_sent,
                          lost_acks, send_login)


def joined(**keys):
    """A conversation without a finding."""
    return hello_sent(**keys).idle(500)


def logged_in(**keys):
    """Likewise, for conversations that go on for 10 s or more."""
    conv = joined(**keys)
    send_login(conv, CHALLENGE, LOGIN, WELCOME, NETSPEED)
    return conv


class Findings(unittest.TestCase):
    def only(self, conv, kind, severity="warning", besides=(), options=()):
        """The only finding of this kind. Other findings must be of the kinds `besides`."""
        findings = conv.info(*options)["findings"]
        self.assertLessEqual({f["kind"] for f in findings}, {kind, *besides}, findings)
        finding, = [f for f in findings if f["kind"] == kind]
        self.assertEqual(severity, finding["severity"])
        return finding

    def test_nothing(self):
        self.assertEqual([], joined().idle(2000).info(status=0)["findings"])

    # ---- handshake, login and end ----

    def test_no_answer(self):
        conv = Conversation(latency=1000)
        conv.handshake((0, 0, 0))
        finding = self.only(conv, "no_answer", "error")
        self.assertIn("3 times, from frame 1 on, in 2000 ms", finding["text"])

    def test_handshake_without_challenge_ack(self):
        conv = Conversation()
        conv.handshake((0, 1, 2))
        self.assertIn("no packet of this connection was analysed after Response of the client in frame 3", self.only(conv, "no_answer")["text"])
        conv.wait(1000).handshake((2,))
        self.assertIn("no packet of this connection was analysed after Response of the client in frame 4",
                      self.only(conv, "no_answer", besides=["handshake_retried"])["text"])
        conv.handshake((1,))
        self.assertIn("no packet of this connection was analysed after Challenge of the server in frame 5",
                      self.only(conv, "no_answer", besides=["handshake_retried"])["text"])

    def test_refused(self):
        conv = joined()
        frame = conv.send_message(SERVER, "failure", text="Server full.")
        finding = self.only(conv.idle(100), "refused", "error")
        self.assertEqual([frame], finding["frames"])
        self.assertIn('refused the connection: "Server full."', finding["text"])

    def test_refused_version(self):
        conv = joined()
        conv.send_message(SERVER, "upgrade", network_version=0xABCD)
        self.assertIn("refused the version: it has network version 0x0000abcd, the other network version 0x00000007",
                      self.only(conv, "refused", "error")["text"])

    def close(self, side, reason):
        conv = joined()
        frame = conv.send(side, conv.reliable(side, 0, messages=[{"close_reason": {"text": reason}}]),
                          conv.reliable(side, 0, close=True, data=""))
        return conv, frame

    def test_closed(self):
        for side, who in ((CLIENT, "client"), (SERVER, "server")):
            conv, frame = self.close(side, "BunchBadChannelIndex")
            finding = self.only(conv, "closed", "error")
            self.assertIn(f"the {who} closed the connection because of BunchBadChannelIndex", finding["text"])
            self.assertEqual([frame], finding["frames"])
            connection = conv.info()
            self.assertEqual(who, connection["closed_by"])
            self.assertEqual((who, frame, "BunchBadChannelIndex"),
                             tuple(connection["close"][key] for key in ("by", "frame", "reason")))

    def test_usual_close(self):
        conv, _ = self.close(CLIENT, "Disconnect,Cleanup")
        connection = conv.info(status=0)
        self.assertEqual([], connection["findings"])
        self.assertEqual("client", connection["closed_by"])

    def test_timeout(self):
        conv = joined()
        last = conv.send(CLIENT)
        conv.idle(6000, 200, sides=(SERVER,))
        finding = self.only(conv, "timeout", "error")
        self.assertEqual([last], finding["frames"])
        self.assertIn("no packet of the client was analysed in this connection after frame", finding["text"])
        self.assertIn("the server sent 30 packets in the 5800 ms", finding["text"])
        self.assertEqual("timeout", conv.info()["closed_by"])

    def test_timeout_of_lost_packets(self):
        """The server reports a timeout of the client, whose packets are in the capture and did not arrive."""
        conv, frame = self.close(SERVER, "ConnectionTimeout")
        conv.idle(300, sides=(CLIENT,))
        finding = self.only(conv, "closed", "error")
        self.assertEqual([frame], finding["frames"])
        self.assertIn("closed the connection because of ConnectionTimeout", finding["text"])
        self.assertEqual("timeout", conv.info()["closed_by"])

    def test_reported_timeout(self):
        """The server reports a timeout sooner than the threshold."""
        conv = joined()
        conv.idle(2000, sides=(SERVER,))
        conv.send(SERVER, conv.reliable(SERVER, 0, messages=[{"close_reason": {"text": "ConnectionTimeout"}}]),
                  conv.reliable(SERVER, 0, close=True, data=""))
        self.assertIn("no packet of the client was analysed in this connection after frame", self.only(conv, "timeout", "error", besides=["silence"])["text"])

    def test_timeout_that_is_closed(self):
        conv = joined()
        conv.idle(6000, 200, sides=(CLIENT,))
        conv.send(CLIENT, conv.reliable(CLIENT, 0, close=True, data=""))
        self.assertIn(", then closed", self.only(conv, "timeout", "error")["text"])
        self.assertEqual("timeout", conv.info()["closed_by"])

    def test_timeout_as_close_reason(self):
        """A timeout of less than 5 s is known from the close reason."""
        conv = joined()
        last = conv.send(SERVER)
        conv.idle(3000, 200, sides=(CLIENT,))
        conv.send(CLIENT, conv.reliable(CLIENT, 0, messages=[{"close_reason": {"text": "ConnectionTimeout"}}]),
                  conv.reliable(CLIENT, 0, close=True, data=""))
        finding = self.only(conv, "timeout", "error")
        self.assertEqual([last], finding["frames"])
        self.assertEqual("timeout", conv.info()["closed_by"])

    def test_refusal_and_its_close(self):
        """A refusal and the close after it are one finding."""
        conv = joined()
        conv.send(SERVER, conv.reliable(SERVER, 0, messages=[{"failure": {"text": "no"}}]),
                  conv.reliable(SERVER, 0, messages=[{"close_reason": {"text": "PreLoginFailure"}}]),
                  conv.reliable(SERVER, 0, close=True, data=""))
        self.only(conv, "refused", "error")

    def test_silence_after_a_close(self):
        conv, _ = self.close(CLIENT, "Disconnect")
        conv.idle(6000, 200, sides=(SERVER,))
        connection = conv.info(status=0)
        self.assertEqual([], connection["findings"])
        self.assertEqual("client", connection["closed_by"])

    def test_version_upgrade(self):
        conv = Conversation()
        conv.handshake((0, 6, 0, 1, 2, 3))
        conv.idle(300)
        self.assertIn("did not accept the client's handshake (VersionUpgrade in frame 2", self.only(conv, "version_upgrade", besides=["handshake_retried"])["text"])

    def retried(self, *waits_ms):
        """The client sends Initial, and again after each of these times."""
        conv = Conversation()
        for wait_ms in waits_ms:
            conv.handshake((0,))
            conv.wait(wait_ms - conv.latency)
        conv.handshake((0, 1, 2, 3))
        return conv.idle(300)

    def test_retried(self):
        self.assertIn("Initial at least 3 times in 2000 ms, from frame 1 on",
                      self.only(self.retried(1000, 20, 980), "handshake_retried", "note")["text"])

    def test_copies_of_the_network_are_no_retries(self):
        self.assertEqual([], self.retried(20, 400).info(status=0)["findings"])
        capture = traffic.generate("login", "--seed=3", "--dup=1", "--delay=20")
        connection, = traffic.lines("info", "--json", frames=capture.frames)
        self.assertEqual(["duplicates"], [finding["kind"] for finding in connection["findings"]])

    def test_no_answer_to_copies(self):
        conv = Conversation(latency=20)
        conv.handshake((0, 0, 0))
        self.only(conv, "no_answer", "note")

    def test_restart(self):
        conv = joined()
        conv.handshake((4,))
        conv.handshake((0, 1, 5, 3), restart=True)
        conv.idle(300)
        self.assertIn("restarted once", self.only(conv, "restart", "note")["text"])

    def test_restart_unfinished(self):
        conv = joined()
        conv.handshake((4,))
        conv.handshake((0, 1), restart=True)
        conv.wait(980).handshake((1,))
        finding = self.only(conv, "restart")
        first = len(conv.objects) - 3
        self.assertEqual([first], finding["frames"])
        self.assertIn(f"began in frame {first} was not completed in what was analysed after it, 1040 ms", finding["text"])

    def test_restart_in_one_direction(self):
        for way in traffic.WAYS:
            frames = traffic.one_way(traffic.generate("restart").frames, way)
            found = [(finding["severity"], finding["text"]) for connection in traffic.lines("info", "--json", frames=frames)
                     for finding in connection["findings"] if finding["kind"] == "restart"]
            self.assertEqual([("note", "the connection was restarted once")], found, way)

    def test_restart_with_late_copies(self):
        capture = traffic.generate("restart", "--seed=1", "--capture-at=server", "--reorder=0.1", "--dup=0.1", "--jitter=60")
        connection, = traffic.lines("info", "--json", frames=capture.frames)
        self.assertEqual(["the connection was restarted once"],
                         [f["text"] for f in connection["findings"] if f["kind"] == "restart"])

    def test_pause_in_one_direction(self):
        conv = hello_sent()
        conv.objects.clear()
        conv.idle(500, sides=(SERVER,)).wait(1000).idle(500, sides=(SERVER,))
        self.only(conv, "one_direction")

    def test_silence_in_a_restart(self):
        conv = joined()
        conv.send(CLIENT)
        conv.idle(400, sides=(SERVER,))
        conv.handshake((4,))
        conv.handshake((0, 1, 5, 3), restart=True)
        conv.idle(200, sides=(SERVER,))
        conv.idle(300)
        self.only(conv, "restart", "note", besides=["ack_gap"])

    # ---- reliable bunches ----

    def lose(self, conv, side, channel, count, every):
        """Send a reliable bunch `count` + 1 times, of which only the last arrives. Returns the frames."""
        bunch = conv.reliable(side, channel, open=True)
        frames = []
        for copy in range(count + 1):
            frames.append(conv.send(side, bunch, arrives=copy == count))
            conv.idle(every)
        return frames

    def test_stall(self):
        conv = joined()
        frames = self.lose(conv, SERVER, 3, 2, 150)
        conv.idle(300)
        finding = self.only(conv, "reliable_stall")
        self.assertEqual(frames, finding["frames"])
        self.assertEqual(f"reliable stall of 300 ms on channel 3, ChSequence 905 (server to client): not delivered "
                         f"twice (frames {frames[0]} and {frames[1]}), arrived with frame {frames[2]}", finding["text"])

    def test_stall_of_several(self):
        """Bunches in the same packets are one stall."""
        conv = joined()
        bunches = [conv.reliable(SERVER, 3, open=True), conv.reliable(SERVER, 3), conv.reliable(SERVER, 4, open=True)]
        conv.send(SERVER, *bunches, arrives=False)
        conv.idle(200)
        conv.send(SERVER, *bunches)
        finding = self.only(conv.idle(300), "reliable_stall")
        self.assertIn("channel 3, ChSequence 905 to 906 (server to client)", finding["text"])
        self.assertIn("and with it 1 other bunch", finding["text"])

    def test_one_loss_is_no_stall(self):
        """With a round trip of 200 ms, a delay of 250 ms is no stall."""
        conv = joined(latency=100)
        self.lose(conv, SERVER, 3, 1, 250)
        self.assertEqual([], [f for f in conv.idle(500).info()["findings"] if f["kind"] == "reliable_stall"])

    def test_stall_seen_at_the_receiver(self):
        conv = joined()
        conv.send(SERVER, conv.reliable(SERVER, 3, open=True))
        late = conv.reliable(SERVER, 3)
        conv.send(SERVER, late, arrives=False, captured=False)
        before = conv.send(SERVER)
        conv.idle(100)
        conv.send(SERVER, conv.reliable(SERVER, 3), conv.reliable(SERVER, 3))
        conv.idle(200)
        frame = conv.send(SERVER, late)
        finding = self.only(conv.idle(300), "reliable_stall")
        self.assertEqual([before, frame], finding["frames"])
        self.assertEqual(f"reliable stall of at least 300 ms on channel 3, ChSequence 906 (server to client): missing before frame "
                         f"{before}, came in frame {frame}; later bunches of the channel waited for it, the first for 200 ms",
                         finding["text"])
        self.assertEqual((300, None, 200), (round(finding["duration_ms"]), finding["duration_at_most_ms"], round(finding["least_ms"])))

    def test_stall_of_an_opening(self):
        """The handshake states the first channel sequence, so that a capture of the receiver shows what is lost."""
        conv = joined()
        late = conv.reliable(SERVER, 3, open=True)
        conv.send(SERVER, late, arrives=False, captured=False)
        before = conv.send(SERVER, conv.reliable(SERVER, 3))
        frame = conv.idle(300).send(SERVER, late)
        info = conv.idle(300).info()
        finding, = info["findings"]
        self.assertEqual(("reliable_stall", [before, frame], 300),
                         (finding["kind"], finding["frames"], round(finding["duration_ms"])))
        self.assertEqual([(1, 300)], [(wait["bunches"], round(wait["longest_ms"])) for wait in info["waits"]])

    def test_gap(self):
        conv = joined()
        conv.send(SERVER, conv.reliable(SERVER, 3, open=True))
        conv.send(SERVER, conv.reliable(SERVER, 3), conv.reliable(SERVER, 3), arrives=False, captured=False)
        frame = conv.send(SERVER, conv.reliable(SERVER, 3))
        finding = self.only(conv.idle(300), "reliable_gap", "note")
        self.assertEqual([frame], finding["frames"])
        self.assertIn("2 reliable bunches of channel 3 before ChSequence 908", finding["text"])

    def test_jump(self):
        conv = joined()
        conv.send(SERVER, conv.reliable(SERVER, 3, open=True))
        conv.next_seq[SERVER, 3] += 300
        conv.send(SERVER, conv.reliable(SERVER, 3))
        self.assertIn("1 reliable bunch server to client", self.only(
            conv.idle(300), "reliable_jump", "error", besides=["reliable_buffer"], options=["--reliable-buffer=256"])["text"])
        self.assertEqual([], conv.info()["findings"])  # the limit of 5.2 and 5.3 is not known, and no packet is missing

    def test_repeated(self):
        conv = joined(latency=5)
        self.lose(conv, CLIENT, 3, 2, 40)
        finding = self.only(conv.idle(300), "repeated_loss", "note")
        self.assertIn("not delivered twice", finding["text"])
        self.assertGreater(finding["duration_ms"], 0)
        conv.info("--fail-on=repeated_loss:0ms", status=1)
        for step_ns in (4 * 10 ** 8, 10 ** 13): # the clock is set back: the delay is not known
            for datagram in conv.objects[finding["frames"][1] - 1:]:
                datagram["time"] = str(int(datagram["time"]) - step_ns)
            unknown = self.only(conv, "repeated_loss", "note", besides=["times_implausible"])
            self.assertEqual((None, True), (unknown["duration_ms"], "reliable delay on channel" in unknown["text"]))
            conv.info("--fail-on=repeated_loss:0ms", status=0)

    def test_undelivered(self):
        conv = joined()
        frame = conv.send(CLIENT, conv.reliable(CLIENT, 3), arrives=False)
        finding = self.only(conv.idle(2000), "undelivered")
        self.assertEqual([frame], finding["frames"])
        self.assertIn("is not known to have arrived", finding["text"])

    def test_spurious(self):
        conv = joined()
        bunch = conv.reliable(SERVER, 3, open=True)
        conv.send(SERVER, bunch)
        conv.idle(300)
        conv.send(SERVER, bunch)
        self.assertIn("1 of 1 resend server to client", self.only(conv, "spurious_resends", "note")["text"])

    def fill_buffer(self, count, **keys):
        conv = joined(**keys)
        for _ in range(count):
            last = conv.send(SERVER, conv.reliable(SERVER, 3), arrives=False)
        return conv, last

    def test_buffer(self):
        conv, last = self.fill_buffer(210)
        self.assertEqual([], conv.info(status=0)["findings"])  # the limit of 5.2 and 5.3 is not known
        finding = self.only(conv, "reliable_buffer", options=["--reliable-buffer=256"])
        self.assertEqual([last], finding["frames"])
        self.assertIn("channel 3 (server to client) held at least 210 of 256 bunches", finding["text"])

    def test_buffer_full(self):
        conv, _ = self.fill_buffer(257)
        self.only(conv, "reliable_buffer", "error", options=["--reliable-buffer=256"])

    def test_buffer_of_a_setting(self):
        conv, _ = self.fill_buffer(20)
        self.assertEqual([], conv.info(status=0)["findings"])
        self.assertIn("held at least 20 of 24", self.only(conv, "reliable_buffer", options=["--reliable-buffer=24"])["text"])

    # ---- the network ----

    def test_loss_burst(self):
        conv = logged_in().idle(20000)
        frames = [conv.send(SERVER, arrives=False) for _ in range(6)]
        finding = self.only(conv.idle(300), "loss_burst", besides=["one_way_loss"])
        self.assertEqual([frames[0], frames[-1]], finding["frames"])
        self.assertIn("6 packets in a row were not delivered, server to client", finding["text"])

    def test_three_are_no_burst(self):
        conv = logged_in().idle(20000)
        for _ in range(3):
            conv.send(SERVER, arrives=False)
        self.assertEqual([], conv.idle(300).info(status=0)["findings"])

    def test_loss_burst_seen_at_the_receiver(self):
        conv = logged_in().idle(20000)
        for _ in range(6):
            conv.send(SERVER, arrives=False, captured=False)
        finding = self.only(conv.idle(300), "loss_burst", besides=["one_way_loss"])
        self.assertIn("none of them is among the packets of this connection that were analysed", finding["text"])
        self.assertEqual({"c2s": 0, "s2c": 6}, conv.info()["lost"])

    def test_one_way_loss(self):
        conv = joined()
        for _ in range(20):
            conv.send(CLIENT, arrives=False)
            conv.idle(200)
        self.assertIn("but none of ", self.only(conv, "one_way_loss")["text"])

    def test_loss(self):
        conv = joined()
        for side in [CLIENT, SERVER] * 10:
            conv.send(side, arrives=False)
            conv.idle(200)
        kinds = [f["kind"] for f in conv.info()["findings"]]
        self.assertEqual(["loss", "loss"], kinds)

    def test_silence_of_a_side(self):
        conv = joined()
        before = conv.send(CLIENT)
        conv.idle(800, sides=(SERVER,))
        after = conv.send(CLIENT)
        finding = self.only(conv.idle(300), "silence")
        self.assertEqual([before, after], finding["frames"])
        self.assertIn("no packet from the client for 800 ms", finding["text"])
        self.assertIn("no packet id is missing: the client did not send", finding["text"])

    def test_silence_of_the_network(self):
        conv = joined()
        for _ in range(20):
            conv.send(CLIENT, captured=False, arrives=False)
            conv.send(SERVER)
            conv.wait(50)
        finding = self.only(conv.idle(300), "silence", besides=["one_way_loss", "loss_burst", "ack_gap"])
        self.assertIn("20 packets of it are missing in what was analysed", finding["text"])

    def test_silence_at_the_end(self):
        conv = joined().idle(800, sides=(SERVER,))
        self.assertIn("no packet from the client was analysed in the last", self.only(conv, "silence")["text"])

    def test_ack_gap(self):
        conv = logged_in().idle(20000)
        for _ in range(16):
            conv.send(SERVER, arrives=False)
            conv.send(CLIENT)
            conv.wait(50)
        finding = self.only(conv.idle(300), "ack_gap", besides=["loss_burst", "one_way_loss"])
        self.assertIn("no packet of the client acknowledged anything new for 850 ms", finding["text"])
        self.assertIn("then it reported 16 packets of the server as not delivered", finding["text"])

    def test_lost_acks(self):
        """The sender regards packets as lost that arrived, and the packet after the proof reports nothing."""
        connection = lost_acks().info()
        self.assertEqual({"c2s": 15, "s2c": 2}, connection["not_acked"])
        gaps = [finding["text"] for finding in connection["findings"] if finding["kind"] in ("ack_gap", "loss_burst")]
        self.assertRegex("\n".join(gaps), "^.* were captured; in what was analysed, the last 5 packets of the client have no report$")

    def test_pause(self):
        conv = joined().wait(900)
        self.assertIn("no packet of this connection for", self.only(conv.idle(300), "pause")["text"])

    def test_attempts(self):
        """Between two attempts to connect neither side stopped, and nothing is missing."""
        kinds = {finding["kind"] for finding in attempts(49, join=False).info()["findings"]}
        self.assertFalse({"pause", "silence", "reliable_gap", "reliable_stall"} & kinds, kinds)

    def test_ping(self):
        text = self.only(joined(latency=120).idle(2000), "ping")["text"]
        self.assertIn("300 ms in the median", text)

    def test_ping_of_an_infrequent_sender(self):
        conv = logged_in(latency=5).idle(200, 10)
        self.assertIn("the difference is waiting", self.only(conv.idle(20000, 180), "ping")["text"])

    def test_frame_time(self):
        conv = joined()
        conv.idle(600, sides=(SERVER,), has_info=True, jitter_ms=1023, has_frame_time=True, frame_time_ms=80)
        self.assertIn("80 ms in the median", self.only(conv, "server_frame_time", besides=["silence"])["text"])
        self.assertEqual(80, conv.info()["server_frame_time_ms"]["p50"])

    def test_few_frame_times(self):
        """One of them may be that of a damaged packet."""
        conv = joined()
        conv.idle(400, sides=(SERVER,), has_info=True, jitter_ms=1023, has_frame_time=True, frame_time_ms=80)
        self.assertIn(conv.info()["server_frame_time_ms"]["samples"], range(1, 10))
        self.assertNotIn("server_frame_time", {finding["kind"] for finding in conv.info()["findings"]})

    def test_saturated(self):
        conv = joined()
        conv.send_message(CLIENT, "netspeed", rate=2000)
        for _ in range(40):
            conv.send(SERVER, {"channel": 5, "data": "00" * 100})
            conv.idle(50)
        finding = self.only(conv, "saturated")
        self.assertIn("the server was saturated for at least", finding["text"])
        self.assertIn("it sent more than its rate, 2000 bytes/s; this holds if no packet was held and its ticks take at most", finding["text"])

    def test_copies_do_not_saturate(self):
        conv = joined()
        conv.send_message(CLIENT, "netspeed", rate=5000)
        for _ in range(40):
            conv.send(SERVER, {"channel": 5, "data": "00" * 100})
            conv.objects += [dict(conv.objects[-1]) for _ in range(4)]
            conv.idle(50)
        self.only(conv, "duplicates", "note")
        self.assertLess(conv.info()["peak_bytes_per_s"]["s2c"], 4000)

    def test_another_interface_does_not_saturate(self):
        conv = joined()
        conv.send_message(CLIENT, "netspeed", rate=5000)
        for _ in range(40):
            conv.send(SERVER, {"channel": 5, "data": "00" * 100})
            conv.idle(50)
        frames = traffic.encode(conv.objects)
        ends = [frame._replace(interface=number) for frame in frames for number in range(2)]
        for captured in (frames, ends):
            connection, = traffic.lines("info", "--json", frames=captured)
            self.assertEqual([], connection["findings"])
            self.assertLess(connection["peak_bytes_per_s"]["s2c"], 4000)

    def test_reordered(self):
        conv = joined()
        frames = [conv.send(SERVER) for _ in range(2)]
        first, second = (conv.objects[frame - 1] for frame in frames)
        first["packet"], second["packet"] = second["packet"], first["packet"]
        self.assertIn("1 packet server to client came after a higher packet id", self.only(
            conv.idle(300), "reordered", "note")["text"])

    def test_duplicates(self):
        conv = joined()
        conv.objects.append(conv.objects[conv.send(SERVER) - 1])
        self.assertIn("1 packet server to client was captured again", self.only(
            conv.idle(300), "duplicates", "note")["text"])

    # ---- the capture ----

    def test_incomplete(self):
        conv = joined()
        conv.send(CLIENT, captured=False)
        finding = self.only(conv.idle(300), "capture_incomplete")
        self.assertIn("1 packet client to server was acknowledged, as reported", finding["text"])

    def test_one_direction(self):
        conv = joined()
        conv.objects = [o for o in conv.objects if o["direction"] == 2 and not o.get("is_handshake")]
        self.only(conv, "one_direction", besides=["capture_incomplete"], options=["--generation=5.1"])

    def test_malformed(self):
        conv = joined()
        frame = conv.add_datagram(SERVER, {"raw": "0102030405060708"})
        finding = self.only(conv, "malformed", "error")
        self.assertEqual([frame], finding["frames"])

    def test_message(self):
        conv = joined()
        frame = conv.send(CLIENT, conv.reliable(CLIENT, 0, data="05ffffffff"))
        self.assertEqual([frame], self.only(conv.idle(100), "control_message", "note")["frames"])

    def test_partial_error(self):
        conv = joined()
        conv.send(SERVER, conv.reliable(SERVER, 3, open=True))
        frame = conv.send(SERVER, conv.reliable(SERVER, 3, partial=True, partial_initial=False, partial_final=True))
        self.assertEqual([frame], self.only(conv.idle(100), "partial_error", "error")["frames"])

    def test_opaque(self):
        conv = joined()
        for _ in range(3):
            conv.add_datagram(SERVER, {"settings": {"handlers": "aesgcm"},
                                   "handler": {"encrypted": True, "iv": "00" * 12, "tag": "11" * 16,
                                               "ciphertext": "22" * 20}})
        conv.objects = conv.objects[:4] + conv.objects[-3:]
        self.assertIn("3 packets server to client are encrypted or compressed", self.only(
            conv, "opaque", "note", options=["--handlers=aesgcm"], besides=["one_direction"])["text"])

    def test_cut(self):
        payloads = [bytes.fromhex(line.split()[1]) for line in uerudp.run(
            "encode", "--hex", data="\n".join(map(json.dumps, joined().objects)).encode()).stdout.decode().splitlines()]
        ports = ((50000, 7777), (7777, 50000))
        capture = uerudp.pcap([(*ports[o["direction"] - 1], p) for o, p in zip(joined().objects, payloads)], snap=50)
        output = uerudp.run("info", "--json", "-", data=capture, status=None).stdout
        kinds = [f["kind"] for f in json.loads(output)["findings"]]
        self.assertIn("cut", kinds)

    # ---- number and order ----

    def test_order_and_bound(self):
        conv = joined()
        for ms in range(250, 1000, 50):
            self.lose(conv, SERVER, 3, 1, ms)
        conv.send_message(SERVER, "failure", text="no")
        conv.idle(100)
        connection = conv.info()
        kinds = [f["kind"] for f in connection["findings"]]
        self.assertEqual(["refused"] + ["reliable_stall"] * 5, kinds[:6])
        self.assertEqual(10, connection["findings_more"]["reliable_stall"])
        spans = [int(f["text"].split()[3]) for f in connection["findings"][1:6]]
        self.assertEqual([950, 900, 850, 800, 750], spans)
        connection = conv.info("--findings=100")
        self.assertEqual(15, len([f for f in connection["findings"] if f["kind"] == "reliable_stall"]))
        self.assertEqual({}, connection["findings_more"])


if __name__ == "__main__":
    uerudp.main()
