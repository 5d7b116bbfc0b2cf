#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What uerudp info finds: each kind of finding in a conversation that has it."""
import json
import unittest

import uerudp
from talk import CLIENT, SERVER, Talk, unheard


def begun(latency=20, **keys):
    """A conversation behind its handshake, in which everything is well."""
    talk = Talk(latency=latency, **keys)
    talk.handshake()
    talk.send(CLIENT, talk.reliable(CLIENT, 0, open=True, messages=[{"hello": {"network_version": 7}}]))
    return talk.chat(500)


class Findings(unittest.TestCase):
    def only(self, talk, kind, severity="warning", besides=(), options=()):
        """The one finding of that kind; there may be findings of the kinds besides, and no others."""
        findings = talk.info(*options)["findings"]
        self.assertLessEqual({f["kind"] for f in findings}, {kind, *besides}, findings)
        finding, = [f for f in findings if f["kind"] == kind]
        self.assertEqual(severity, finding["severity"])
        return finding

    def test_nothing(self):
        self.assertEqual([], begun().chat(2000).info(status=0)["findings"])

    # ---- handshake, login and end ----

    def test_no_answer(self):
        talk = Talk(latency=1000)
        talk.handshake((0, 0, 0))
        finding = self.only(talk, "no_answer", "error")
        self.assertIn("3 times, from frame 1 on, in 2000 ms", finding["text"])

    def test_handshake_that_leads_nowhere(self):
        talk = Talk()
        talk.handshake((0, 1, 2))
        self.assertIn("whose last message is Response of the client in frame 3", self.only(talk, "no_answer")["text"])

    def test_refused(self):
        talk = begun()
        frame = talk.say(SERVER, "failure", text="Server full.")
        finding = self.only(talk.chat(100), "refused", "error")
        self.assertEqual([frame], finding["frames"])
        self.assertIn('refused the connection: "Server full."', finding["text"])

    def test_refused_version(self):
        talk = begun()
        talk.say(SERVER, "upgrade", network_version=0xABCD)
        self.assertIn("refused the version: it has network version 0x0000abcd, the other network version 0x00000007",
                      self.only(talk, "refused", "error")["text"])

    def close(self, side, reason):
        talk = begun()
        frame = talk.send(side, talk.reliable(side, 0, messages=[{"close_reason": {"text": reason}}]),
                          talk.reliable(side, 0, close=True, data=""))
        return talk, frame

    def test_closed(self):
        for side, who in ((CLIENT, "client"), (SERVER, "server")):
            talk, frame = self.close(side, "BunchBadChannelIndex")
            finding = self.only(talk, "closed", "error")
            self.assertIn(f"the {who} closed the connection because of BunchBadChannelIndex", finding["text"])
            self.assertEqual([frame], finding["frames"])
            connection = talk.info()
            self.assertEqual(who, connection["closed_by"])
            self.assertEqual((who, frame, "BunchBadChannelIndex"),
                             tuple(connection["close"][key] for key in ("by", "frame", "reason")))

    def test_usual_close(self):
        talk, _ = self.close(CLIENT, "Disconnect,Cleanup")
        connection = talk.info(status=0)
        self.assertEqual([], connection["findings"])
        self.assertEqual("client", connection["closed_by"])

    def test_timeout(self):
        talk = begun()
        last = talk.send(CLIENT)
        talk.chat(6000, 200, sides=(SERVER,))
        finding = self.only(talk, "timeout", "error")
        self.assertEqual([last], finding["frames"])
        self.assertIn("the client fell silent", finding["text"])
        self.assertIn("the server sent 30 packets in the 5800 ms", finding["text"])
        self.assertEqual("timeout", talk.info()["closed_by"])

    def test_timeout_that_is_closed(self):
        talk = begun()
        talk.chat(6000, 200, sides=(CLIENT,))
        talk.send(CLIENT, talk.reliable(CLIENT, 0, close=True, data=""))
        self.assertIn(", then closed", self.only(talk, "timeout", "error")["text"])
        self.assertEqual("timeout", talk.info()["closed_by"])

    def test_timeout_by_its_name(self):
        """A patience of less than 5 s: the one that closes says why."""
        talk = begun()
        last = talk.send(SERVER)
        talk.chat(3000, 200, sides=(CLIENT,))
        talk.send(CLIENT, talk.reliable(CLIENT, 0, messages=[{"close_reason": {"text": "ConnectionTimeout"}}]),
                  talk.reliable(CLIENT, 0, close=True, data=""))
        finding = self.only(talk, "timeout", "error")
        self.assertEqual([last], finding["frames"])
        self.assertEqual("timeout", talk.info()["closed_by"])

    def test_refusal_and_its_close(self):
        """One sentence for what is one thing."""
        talk = begun()
        talk.send(SERVER, talk.reliable(SERVER, 0, messages=[{"failure": {"text": "no"}}]),
                  talk.reliable(SERVER, 0, messages=[{"close_reason": {"text": "PreLoginFailure"}}]),
                  talk.reliable(SERVER, 0, close=True, data=""))
        self.only(talk, "refused", "error")

    def test_silence_behind_a_close(self):
        talk, _ = self.close(CLIENT, "Disconnect")
        talk.chat(6000, 200, sides=(SERVER,))
        connection = talk.info(status=0)
        self.assertEqual([], connection["findings"])
        self.assertEqual("client", connection["closed_by"])

    def test_version_upgrade(self):
        talk = Talk()
        talk.handshake((0, 6, 0, 1, 2, 3))
        talk.chat(300)
        self.assertIn("did not accept the client's handshake (VersionUpgrade in frame 2", self.only(talk, "version_upgrade", besides=["handshake_retried"])["text"])

    def test_retried(self):
        talk = Talk()
        talk.handshake((0, 0, 0, 1, 2, 3))
        talk.chat(300)
        self.assertIn("Initial 3 times in 40 ms, from frame 1 on", self.only(talk, "handshake_retried", "note")["text"])

    def test_restart(self):
        talk = begun()
        talk.handshake((4,))
        talk.handshake((0, 1, 5, 3), restart=True)
        talk.chat(300)
        self.assertIn("restarted once", self.only(talk, "restart", "note")["text"])

    def test_restart_unfinished(self):
        talk = begun()
        talk.handshake((4,))
        talk.handshake((0, 1), restart=True)
        self.assertIn("not completed", self.only(talk, "restart")["text"])

    # ---- reliable bunches ----

    def lose(self, talk, side, channel, count, every):
        """A reliable bunch that arrives with its last of count + 1 copies; their frames."""
        bunch = talk.reliable(side, channel, open=True)
        frames = []
        for copy in range(count + 1):
            frames.append(talk.send(side, bunch, arrives=copy == count))
            talk.chat(every)
        return frames

    def test_stall(self):
        talk = begun()
        frames = self.lose(talk, SERVER, 3, 2, 150)
        talk.chat(300)
        finding = self.only(talk, "reliable_stall")
        self.assertEqual(frames, finding["frames"])
        self.assertEqual(f"reliable stall of 300 ms on channel 3, ChSequence 905 (server to client): not delivered "
                         f"twice (frames {frames[0]} and {frames[1]}), arrived with frame {frames[2]}", finding["text"])

    def test_stall_of_several(self):
        """Bunches that share their packets are one stall."""
        talk = begun()
        bunches = [talk.reliable(SERVER, 3, open=True), talk.reliable(SERVER, 3), talk.reliable(SERVER, 4, open=True)]
        talk.send(SERVER, *bunches, arrives=False)
        talk.chat(200)
        talk.send(SERVER, *bunches)
        finding = self.only(talk.chat(300), "reliable_stall")
        self.assertIn("channel 3, ChSequence 905 to 906 (server to client)", finding["text"])
        self.assertIn("and with it 1 other bunch", finding["text"])

    def test_stall_is_more_than_one_loss_costs(self):
        """Two round trips of 200 ms are needed before 250 ms are a stall."""
        talk = begun(latency=100)
        self.lose(talk, SERVER, 3, 1, 250)
        self.assertEqual([], [f for f in talk.chat(500).info()["findings"] if f["kind"] == "reliable_stall"])

    def test_stall_seen_at_the_receiver(self):
        talk = begun()
        talk.send(SERVER, talk.reliable(SERVER, 3, open=True))
        late = talk.reliable(SERVER, 3)
        talk.send(SERVER, late, arrives=False, captured=False)
        before = talk.send(SERVER, talk.reliable(SERVER, 3))
        talk.chat(300)
        frame = talk.send(SERVER, late)
        finding = self.only(talk.chat(300), "reliable_stall")
        self.assertEqual([before, frame], finding["frames"])
        self.assertIn("stall of 300 ms on channel 3, ChSequence 906 (server to client): came in frame", finding["text"])

    def test_gap(self):
        talk = begun()
        talk.send(SERVER, talk.reliable(SERVER, 3, open=True))
        talk.reliable(SERVER, 3), talk.reliable(SERVER, 3)
        frame = talk.send(SERVER, talk.reliable(SERVER, 3))
        finding = self.only(talk.chat(300), "reliable_gap", "note")
        self.assertEqual([frame], finding["frames"])
        self.assertIn("2 reliable bunches of channel 3 before ChSequence 908", finding["text"])

    def test_jump(self):
        talk = begun()
        talk.send(SERVER, talk.reliable(SERVER, 3, open=True))
        talk.next_seq[SERVER, 3] += 300
        talk.send(SERVER, talk.reliable(SERVER, 3))
        self.assertIn("1 reliable bunch server to client", self.only(
            talk.chat(300), "reliable_jump", "error", besides=["reliable_buffer"])["text"])

    def test_repeated(self):
        talk = begun(latency=5)
        self.lose(talk, CLIENT, 3, 2, 40)
        self.assertIn("not delivered twice", self.only(talk.chat(300), "repeated_loss", "note")["text"])

    def test_undelivered(self):
        talk = begun()
        frame = talk.send(CLIENT, talk.reliable(CLIENT, 3), arrives=False)
        finding = self.only(talk.chat(2000), "undelivered")
        self.assertEqual([frame], finding["frames"])
        self.assertIn("is not known to have arrived", finding["text"])

    def test_spurious(self):
        talk = begun()
        bunch = talk.reliable(SERVER, 3, open=True)
        talk.send(SERVER, bunch)
        talk.chat(300)
        talk.send(SERVER, bunch)
        self.assertIn("1 of 1 resend server to client", self.only(talk, "spurious_resends", "note")["text"])

    def fill_buffer(self, count, **keys):
        talk = begun(**keys)
        for _ in range(count):
            last = talk.send(SERVER, talk.reliable(SERVER, 3), arrives=False)
        return talk, last

    def test_buffer(self):
        talk, last = self.fill_buffer(210)
        finding = self.only(talk, "reliable_buffer")
        self.assertEqual([last], finding["frames"])
        self.assertIn("channel 3 (server to client) held 210 of 256 bunches", finding["text"])

    def test_buffer_full(self):
        talk, _ = self.fill_buffer(257)
        self.only(talk, "reliable_buffer", "error")

    def test_buffer_of_a_setting(self):
        talk, _ = self.fill_buffer(20)
        self.assertEqual([], talk.info(status=0)["findings"])
        self.assertIn("held 20 of 24", self.only(talk, "reliable_buffer", options=["--reliable-buffer=24"])["text"])

    # ---- the network ----

    def test_loss_burst(self):
        talk = begun().chat(20000)
        frames = [talk.send(SERVER, arrives=False) for _ in range(6)]
        finding = self.only(talk.chat(300), "loss_burst", besides=["one_way_loss"])
        self.assertEqual([frames[0], frames[-1]], finding["frames"])
        self.assertIn("6 packets in a row not delivered, server to client", finding["text"])

    def test_three_are_no_burst(self):
        talk = begun().chat(20000)
        for _ in range(3):
            talk.send(SERVER, arrives=False)
        self.assertEqual([], talk.chat(300).info(status=0)["findings"])

    def test_loss_burst_seen_at_the_receiver(self):
        talk = begun().chat(20000)
        for _ in range(6):
            talk.send(SERVER, arrives=False, captured=False)
        finding = self.only(talk.chat(300), "loss_burst", besides=["one_way_loss"])
        self.assertIn("none of them is in the capture", finding["text"])
        self.assertEqual({"c2s": 0, "s2c": 6}, talk.info()["lost"])

    def test_one_way_loss(self):
        talk = begun()
        for _ in range(20):
            talk.send(CLIENT, arrives=False)
            talk.chat(200)
        self.assertIn("but only 0.0 % in the other direction", self.only(talk, "one_way_loss")["text"])

    def test_loss(self):
        talk = begun()
        for side in [CLIENT, SERVER] * 10:
            talk.send(side, arrives=False)
            talk.chat(200)
        kinds = [f["kind"] for f in talk.info()["findings"]]
        self.assertEqual(["loss", "loss"], kinds)

    def test_silence_of_a_side(self):
        talk = begun()
        before = talk.send(CLIENT)
        talk.chat(800, sides=(SERVER,))
        after = talk.send(CLIENT)
        finding = self.only(talk.chat(300), "silence")
        self.assertEqual([before, after], finding["frames"])
        self.assertIn("no packet from the client for 800 ms", finding["text"])
        self.assertIn("no packet id missing: the client did not send", finding["text"])

    def test_silence_of_the_network(self):
        talk = begun()
        for _ in range(20):
            talk.send(CLIENT, captured=False, arrives=False)
            talk.send(SERVER)
            talk.wait(50)
        finding = self.only(talk.chat(300), "silence", besides=["one_way_loss", "loss_burst", "ack_gap"])
        self.assertIn("20 packets of it missing here", finding["text"])

    def test_silence_at_the_end(self):
        talk = begun().chat(800, sides=(SERVER,))
        self.assertIn("no packet from the client in the last", self.only(talk, "silence")["text"])

    def test_ack_gap(self):
        talk = begun().chat(20000)
        for _ in range(16):
            talk.send(SERVER, arrives=False)
            talk.send(CLIENT)
            talk.wait(50)
        finding = self.only(talk.chat(300), "ack_gap", besides=["loss_burst", "one_way_loss"])
        self.assertIn("the client acknowledged nothing for 850 ms", finding["text"])
        self.assertIn("then it reported 16 packets of the server as not delivered", finding["text"])

    def test_acks_that_nobody_heard(self):
        """What arrived is lost to its sender alone, and the packet behind the proof reports nothing."""
        connection = unheard().info()
        self.assertEqual({"c2s": 15, "s2c": 2}, connection["not_acked"])
        self.assertFalse({"loss_burst", "ack_gap"} & {finding["kind"] for finding in connection["findings"]})

    def test_pause(self):
        talk = begun().wait(900)
        self.assertIn("no packet from either side for", self.only(talk.chat(300), "pause")["text"])

    def test_ping(self):
        text = self.only(begun(latency=120).chat(2000), "ping")["text"]
        self.assertIn("300 ms in the median", text)

    def test_ping_of_one_that_waits(self):
        talk = begun(latency=5).chat(200, 10)
        self.assertIn("the difference is waiting", self.only(talk.chat(20000, 180), "ping")["text"])

    def test_frame_time(self):
        talk = begun()
        talk.chat(600, sides=(SERVER,), has_info=True, jitter_ms=1023, has_frame_time=True, frame_time_ms=80)
        self.assertIn("80 ms in the median", self.only(talk, "server_frame_time", besides=["silence"])["text"])
        self.assertEqual(80, talk.info()["server_frame_time_ms"]["p50"])

    def test_saturated(self):
        talk = begun()
        talk.say(CLIENT, "netspeed", rate=2000)
        for _ in range(40):
            talk.send(SERVER, {"channel": 5, "data": "00" * 100})
            talk.chat(50)
        finding = self.only(talk, "saturated")
        self.assertIn("the server used up the rate of 2000 bytes/s", finding["text"])

    def test_reordered(self):
        talk = begun()
        frames = [talk.send(SERVER) for _ in range(2)]
        first, second = (talk.objects[frame - 1] for frame in frames)
        first["packet"], second["packet"] = second["packet"], first["packet"]
        self.assertIn("1 packet server to client after a higher packet id", self.only(
            talk.chat(300), "reordered", "note")["text"])

    def test_duplicates(self):
        talk = begun()
        talk.objects.append(talk.objects[talk.send(SERVER) - 1])
        self.assertIn("1 packet server to client seen twice", self.only(
            talk.chat(300), "duplicates", "note")["text"])

    # ---- the capture ----

    def test_incomplete(self):
        talk = begun()
        talk.send(CLIENT, captured=False)
        finding = self.only(talk.chat(300), "capture_incomplete")
        self.assertIn("1 packet client to server was acknowledged but is not in it", finding["text"])

    def test_one_direction(self):
        talk = begun()
        talk.objects = [o for o in talk.objects if o["direction"] == 2 and not o.get("is_handshake")]
        self.only(talk, "one_direction", besides=["capture_incomplete"], options=["--generation=5.1"])

    def test_malformed(self):
        talk = begun()
        frame = talk.datagram(SERVER, {"raw": "0102030405060708"})
        finding = self.only(talk, "malformed", "error")
        self.assertEqual([frame], finding["frames"])

    def test_message(self):
        talk = begun()
        frame = talk.send(CLIENT, talk.reliable(CLIENT, 0, data="05ffffffff"))
        self.assertEqual([frame], self.only(talk.chat(100), "control_message")["frames"])

    def test_partial_error(self):
        talk = begun()
        talk.send(SERVER, talk.reliable(SERVER, 3, open=True))
        frame = talk.send(SERVER, talk.reliable(SERVER, 3, partial=True, partial_initial=False, partial_final=True))
        self.assertEqual([frame], self.only(talk.chat(100), "partial_error", "error")["frames"])

    def test_opaque(self):
        talk = begun()
        for _ in range(3):
            talk.datagram(SERVER, {"settings": {"handlers": "aesgcm"},
                                   "handler": {"encrypted": True, "iv": "00" * 12, "tag": "11" * 16,
                                               "ciphertext": "22" * 20}})
        talk.objects = talk.objects[:4] + talk.objects[-3:]
        self.assertIn("3 packets server to client encrypted or compressed", self.only(
            talk, "opaque", "note", options=["--handlers=aesgcm"], besides=["one_direction"])["text"])

    def test_cut(self):
        payloads = [bytes.fromhex(line.split()[1]) for line in uerudp.run(
            "encode", "--hex", data="\n".join(map(json.dumps, begun().objects)).encode()).stdout.decode().splitlines()]
        ports = ((50000, 7777), (7777, 50000))
        capture = uerudp.pcap([(*ports[o["direction"] - 1], p) for o, p in zip(begun().objects, payloads)], snap=50)
        output = uerudp.run("info", "--json", "-", data=capture, status=None).stdout
        kinds = [f["kind"] for f in json.loads(output)["findings"]]
        self.assertIn("cut", kinds)

    # ---- how many, in which order ----

    def test_order_and_bound(self):
        talk = begun()
        for ms in range(250, 1000, 50):
            self.lose(talk, SERVER, 3, 1, ms)
        talk.say(SERVER, "failure", text="no")
        talk.chat(100)
        connection = talk.info()
        kinds = [f["kind"] for f in connection["findings"]]
        self.assertEqual(["refused"] + ["reliable_stall"] * 5, kinds[:6])
        self.assertEqual(10, connection["findings_more"]["reliable_stall"])
        spans = [int(f["text"].split()[3]) for f in connection["findings"][1:6]]
        self.assertEqual([950, 900, 850, 800, 750], spans)
        connection = talk.info("--findings=100")
        self.assertEqual(15, len([f for f in connection["findings"] if f["kind"] == "reliable_stall"]))
        self.assertEqual({}, connection["findings_more"])


if __name__ == "__main__":
    uerudp.main()
