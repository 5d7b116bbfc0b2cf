#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""replay --live: captured clients against a new server on the loopback interface."""
import concurrent.futures
import json
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

import live
import uerudp

KEY = "00112233445566778899aabbccddeeff" * 2
ENCRYPTED = ["--handlers", "aesgcm", "--key", KEY]
TICK = ["--tick", 120]
CHECKED = 64  # reliable messages that connect --check sends: 16 sizes on 4 channels
BAD_NETWORK = ["--loss", 0.05, "--jitter", 5]


def start(server, path, *options):
    return subprocess.Popen([uerudp.PROGRAM, "replay", "--live", f"127.0.0.1:{server.port}", "--json",
                             *map(str, options), str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def replay(server, path, *options, status=0):
    """The last event of each name, by name, and the text of stderr."""
    process = start(server, path, *options)
    output, errors = process.communicate(timeout=live.SECONDS)
    if process.returncode != status:
        raise AssertionError(f"exit status {process.returncode}, not {status}\n{output!r}\n{errors!r}")
    events = [json.loads(line) for line in output.splitlines()]
    return {event["event"]: event for event in events}, errors.decode()


def reliable_data(path, *settings):
    """The data of the client's reliable bunches by channel, each bunch once, in the order of sequences."""
    channels = {}
    for datagram in uerudp.decode("--direction=c2s", *settings, path):
        for bunch in datagram.get("bunches", datagram.get("items", [])):
            if bunch.get("reliable") and bunch["channel"] != 0:
                numbers = channels.setdefault(bunch["channel"], {})
                numbers[bunch["ch_seq"]] = bunch["data"]
    for channel, numbers in channels.items():
        assert len(numbers) < 1024, "every sequence is used once"
        first = next(seq for seq in numbers if (seq - 1) % 1024 not in numbers)
        channels[channel] = [numbers[(first + i) % 1024] for i in range(len(numbers))]
    return channels


class Live(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def path(self, name):
        return self.folder / f"{name}.pcapng"

    def record(self, name, *wire, at="client", network=()):
        recorded = ["--pcap", self.path(name)]
        with live.Server("--once", *wire, *TICK, *network, *(recorded if at == "server" else [])) as server:
            live.check(server, *wire, *TICK, *network, *(recorded if at == "client" else []))
            server.wait()
        return self.path(name)

    def play(self, path, *options, wire=(), again=None):
        """Replay to a new server. Returns the events of replay and the server's report "left"."""
        recorded = ["--pcap", again] if again else []
        with live.Server("--once", *wire, *TICK, *recorded) as server:
            events, errors = replay(server, path, *options)
            server.wait()
        self.assertEqual(errors, "")
        return events, server.reported("left")

    def check_all_arrived(self, events, left):
        self.assertEqual([events["replayed"][key] for key in ("reliable", "refused", "incomplete", "differences")],
                         [CHECKED, 0, 0, 0])
        self.assertEqual((left["reason"], left["malformed"]), ("ControlChannelClose", 0))
        server = events["server"]
        self.assertEqual((server["live_channels"], server["live_closed_by"], server["differs"]), (4, "client", False))
        self.assertIn(server["live_reason"], (server["captured_reason"], "Disconnect"))

    def check_generation(self, generation):
        wire = ["--generation", generation]
        captured = self.record(generation, *wire)
        again = self.path(f"{generation}-again")
        events, left = self.play(captured, *wire, wire=wire, again=again)
        self.check_all_arrived(events, left)
        self.assertEqual(events["replayed"]["unreliable"], CHECKED)
        self.assertEqual(left["messages"], 2 * CHECKED)
        self.assertEqual(reliable_data(again, *wire), reliable_data(captured, *wire))
        self.assertEqual(len(reliable_data(again, *wire)), 4)

    def test_every_ack_generation(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(self.check_generation, ["4.18", "4.22", "5.1", "5.5"]))

    def test_generation_is_found(self):
        captured = self.record("4.22", "--generation", "4.22")
        self.check_all_arrived(*self.play(captured, wire=["--generation", "4.22"]))

    def check_bad_network(self, at):
        wire = ["--generation", "5.5"]
        captured = self.record(at, *wire, "--seed", 3, at=at, network=BAD_NETWORK)
        again = self.path(f"{at}-again")
        self.check_all_arrived(*self.play(captured, *wire, wire=wire, again=again))
        self.assertEqual(reliable_data(again, *wire), reliable_data(captured, *wire))

    def test_bad_network(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(self.check_bad_network, ["client", "server"]))

    def test_encrypted(self):
        captured = self.record("encrypted", "--key", KEY)
        again = self.path("again")
        events, left = self.play(captured, "--generation=5.5", *ENCRYPTED, "--pcap", again, wire=["--key", KEY])
        self.check_all_arrived(events, left)
        self.assertEqual(reliable_data(again, "--generation=5.5", *ENCRYPTED), reliable_data(captured, "--generation=5.5", *ENCRYPTED))
        kinds = uerudp.run("decode", "--kind=opaque", "--fields=frame", "--handlers=aesgcm", again).stdout
        self.assertGreater(len(kinds.splitlines()), CHECKED)

    def test_other_channels(self):
        """Data of other channel indices goes to the channels that the new server opens."""
        captured = self.record("stream", "--generation=5.5")
        lines = uerudp.decode("--generation=5.5", captured)
        for line in lines:
            for bunch in line.get("bunches", []):
                bunch["channel"] += 20 * (bunch["channel"] != 0)
            for key in ("raw", "length"):
                line.pop(key, None)
        moved = self.path("moved")
        uerudp.run("encode", "-o", moved, data="\n".join(map(json.dumps, lines)).encode())
        again = self.path("again")
        self.check_all_arrived(*self.play(moved, "--generation=5.5", again=again))
        before, after = reliable_data(moved, "--generation=5.5"), reliable_data(again, "--generation=5.5")
        self.assertEqual(sorted(before), [22, 23, 24, 25])
        self.assertEqual(after, {channel - 20: data for channel, data in before.items()})

    def test_speed(self):
        captured = self.record("stream", "--generation=5.5")
        started = time.monotonic()
        slow, _ = self.play(captured, "--generation=5.5", "--speed=0.2")
        self.assertGreater(time.monotonic() - started, slow["replayed"]["seconds"])
        fast, _ = self.play(captured, "--generation=5.5", "--speed=0")
        self.assertGreater(slow["replayed"]["seconds"], 2 * fast["replayed"]["seconds"])

    def test_differences(self):
        captured = self.record("stream", "--generation=5.5")
        with live.Server("--once", "--mode", "sink") as server:
            events, _ = replay(server, captured, "--generation=5.5", status=1)
            server.wait()
        self.assertEqual(events["replayed"]["differences"], 4)
        self.assertEqual([events["channel"][key] for key in ("captured_reliable", "live_reliable", "differs")],
                         [17, 1, True])

    def test_another_number_of_channels(self):
        captured = uerudp.ROOT / "captures" / "game.pcapng"
        with live.Server("--once") as server:
            events, _ = replay(server, captured, status=1)
            server.wait()
        self.assertEqual([events["server"][key] for key in ("captured_channels", "live_channels", "captured_closed_by",
                                                            "live_closed_by", "live_reason", "differs")],
                         [31, 4, "client", "client", "Disconnect", True])

    def test_server_that_stops(self):
        captured = self.record("stream", "--generation=5.5")
        with live.Server() as server:
            process = start(server, captured, "--generation=5.5", "--speed=0.1")
            server.wait_for("joined")
            self.assertEqual(server.stop(signal.SIGTERM), 0)
            output, errors = process.communicate(timeout=live.SECONDS)
        events = {json.loads(line)["event"]: json.loads(line) for line in output.splitlines()}
        self.assertEqual(process.returncode, 1)
        self.assertEqual((events["server"]["live_closed_by"], events["server"]["live_reason"]),
                         ("server", "HostClosedConnection"))
        self.assertIn(b"ended before everything was sent", errors)

    def test_signal(self):
        captured = self.record("stream", "--generation=5.5")
        with live.Server("--once") as server:
            process = start(server, captured, "--generation=5.5", "--speed=0.1")
            server.wait_for("joined")
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=live.SECONDS)
            server.wait()
        self.assertEqual((process.returncode, server.reported("left")["told"]), (1, "Disconnect"))
        self.assertIn(b"interrupted", errors)
        self.assertIn(b'"replayed"', output)

    def test_mistakes(self):
        captured = self.record("stream", "--generation=5.5")
        late = uerudp.decode("--generation=5.5", captured)[100:]
        port = next(line["dst"] for line in late if line["direction"] == 1).rpartition(":")[2]
        without = self.path("late")
        uerudp.run("encode", "-o", without, data="\n".join(map(json.dumps, late)).encode())
        for arguments, what in ((["--port", port, without], "has no login of the client"), (["--pps=1", captured], "require --wire"),
                                (["--stream=7", captured], "no connection"), (["/nonexistent"], "/nonexistent"),
                                (["--pcap=/nonexistent/x", captured], "/nonexistent/x")):
            errors = uerudp.run("replay", "--live", "127.0.0.1:1", *arguments, status=2).stderr.decode()
            self.assertIn(what, errors)
        errors = uerudp.run("replay", "--live", "127.0.0.1:1", captured, status=1).stderr.decode()
        self.assertIn("did not accept the login", errors)


if __name__ == "__main__":
    uerudp.main()
