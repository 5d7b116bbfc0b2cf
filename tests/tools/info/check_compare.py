#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp info --compare: figures of two captures are those of info of each, as shares and rates."""
import json
import pathlib
import tempfile
import unittest

import uerudp

CAPTURES = uerudp.ROOT / "captures"
CALM, LOSSY, TWO = (CAPTURES / f"{name}.pcapng" for name in ("ue5.5", "loss-burst", "two-clients"))
WAYS = ("c2s", "s2c")
OVERHEAD = 28  # bytes of IP and UDP headers
WARNING = "the figures are shares and rates per connection, not totals"


def compare(*arguments, status=None):
    return json.loads(uerudp.run("info", "--compare", "--json", *arguments, status=status).stdout)


def text_of(*arguments):
    return uerudp.run("info", "--compare", *arguments, status=None).stdout.decode()


def info(path):
    return [json.loads(line) for line in uerudp.run("info", "--json", "--findings=1000", path, status=None).stdout.splitlines()]


class Figures(unittest.TestCase):
    def check(self, figures, path):
        connections = info(path)
        seconds = sum(connection["duration_s"] for connection in connections)
        self.assertEqual((str(path), len(connections)), (figures["capture"], figures["connections"]))
        self.assertAlmostEqual(seconds, figures["connection_s"])
        for way in WAYS:
            total = {key: sum(connection[key][way] for connection in connections)
                     for key in ("packets", "acked", "not_acked", "reliable", "resends", "peak_bytes_per_s")}
            self.assertAlmostEqual(100 * total["not_acked"] / (total["acked"] + total["not_acked"]), figures[f"loss_{way}_percent"])
            self.assertAlmostEqual(100 * total["resends"] / total["reliable"], figures[f"resends_{way}_percent"])
            self.assertLessEqual(figures[f"bytes_per_s_{way}"], figures[f"peak_bytes_per_s_{way}"])
            self.assertAlmostEqual(total["packets"] / seconds, figures[f"packets_per_s_{way}"], places=5)
            self.assertEqual(max(connection["peak_bytes_per_s"][way] for connection in connections), figures[f"peak_bytes_per_s_{way}"])
        if len(connections) == 1:
            self.assertAlmostEqual(connections[0]["rtt_ms"]["p50"], figures["rtt_p50_ms"])
            self.assertAlmostEqual(connections[0]["rtt_ms"]["p99"], figures["rtt_p99_ms"])
        stalls = [finding for connection in connections for finding in connection["findings"] if finding["kind"] == "reliable_stall"]
        self.assertAlmostEqual(60 * len(stalls) / seconds, figures["stalls_per_minute"])
        self.assertAlmostEqual(max([finding["duration_ms"] for finding in stalls], default=0), figures["longest_stall_ms"])

    def test_figures(self):
        for before, after in ((CALM, LOSSY), (LOSSY, TWO), (CAPTURES / "legacy.pcapng", CAPTURES / "spurious.pcapng")):
            result = compare(before, after)
            self.check(result["before"], before)
            self.check(result["after"], after)

    def test_copies(self):
        """Copies that the network or a mirror port made were not sent."""
        with tempfile.TemporaryDirectory() as folder:
            copies = pathlib.Path(folder) / "copies.pcapng"
            uerudp.run("edit", "--rule", "duplicate kind=packet", CALM, copies)
            result = compare(CALM, copies)
        for way in WAYS:
            self.assertGreater(result["before"][f"packets_per_s_{way}"], 0)
            for figure in ("packets", "bytes", "peak_bytes"):
                self.assertAlmostEqual(*(result[each][f"{figure}_per_s_{way}"] for each in ("before", "after")), places=3)

    def test_recordings(self):
        """Of recordings of another implementation, packets and bytes are those that decode prints."""
        clean, lossy = (uerudp.ROOT / f"captures/recordings/utcp-{name}.pcap" for name in ("clean", "loss"))
        result = compare(clean, lossy)
        for figures, path in ((result["before"], clean), (result["after"], lossy)):
            datagrams = uerudp.decode(path, status=None)
            for direction, way in enumerate(WAYS, 1):
                lengths = [each["length"] for each in datagrams if each.get("direction") == direction]
                self.assertGreater(len(lengths), 10)
                self.assertAlmostEqual(len(lengths), figures[f"packets_per_s_{way}"] * figures["connection_s"], places=3)
                whole = int(figures["connection_s"])
                early = [each["length"] + OVERHEAD for each in datagrams if each.get("direction") == direction
                         and int(each["time"]) - int(datagrams[0]["time"]) < whole * 10**9]
                self.assertAlmostEqual(sum(early) / whole, figures[f"bytes_per_s_{way}"], places=3)

    def test_findings(self):
        for before, after in ((CALM, LOSSY), (LOSSY, CALM), (LOSSY, LOSSY), (CAPTURES / "mixed.pcapng", LOSSY)):
            found = {finding["kind"]: finding for finding in compare(before, after)["findings"]}
            counts = [[finding["kind"] for connection in info(path) for finding in connection["findings"]] for path in (before, after)]
            self.assertEqual(set(counts[0]) | set(counts[1]), set(found))
            for kind, finding in found.items():
                numbers = [count.count(kind) for count in counts]
                self.assertEqual(numbers, [finding["before"]["count"], finding["after"]["count"]])
                self.assertEqual(numbers[0] == 0, finding["change"] == "appeared")
                self.assertEqual(numbers[1] == 0, finding["change"] == "disappeared")
                if before == after:
                    self.assertEqual("same", finding["change"])

    def test_twice_as_long(self):
        """More of everything, because the capture is longer, is no change of a rate."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / f"{seconds}.pcapng" for seconds in (20, 40)]
            for path in paths:
                uerudp.run("generate", "stream", "--duration", path.stem, "--loss", "0.05", "--output", path)
            result = compare(*paths)
            self.assertIs(result["same_duration"], False)
            for key in ("loss_s2c_percent", "bytes_per_s_s2c", "packets_per_s_c2s"):
                self.assertAlmostEqual(1, result["after"][key] / result["before"][key], delta=0.2, msg=key)
            loss = next(finding for finding in result["findings"] if finding["kind"] == "loss")
            self.assertEqual(("same", None), (loss["change"], loss["before"]["per_minute"]))
            self.assertIn(f"differ in duration: {WARNING}", text_of(*paths))

    def test_players(self):
        result = compare(CALM, TWO)
        self.assertEqual((1, 2, False), (result["before"]["connections"], result["after"]["connections"], result["same_connections"]))
        self.assertRegex(text_of(CALM, TWO), f"differ in (duration and )?number of connections: {WARNING}")

    def test_once_in_a_connection(self):
        """What a connection has once is a share of the connections, however long they last; stalls are a rate."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / f"{name}.pcapng" for name in ("two", "five")]
            for path, options in zip(paths, ("--duration=60 --loss=0.03 --delay=40 --jitter=12 --seed=9 --connections=2",
                                             "--duration=20 --loss=0.06 --delay=100 --jitter=5 --seed=9 --connections=5")):
                uerudp.run("generate", "game", *options.split(), "--capture-at=sender", "--output", path, status=None)
            found = {finding["kind"]: finding for finding in compare(*paths)["findings"]}
            text = text_of(*paths)
        retried = found["handshake_retried"]
        self.assertEqual([None, None], [retried[when]["per_minute"] for when in ("before", "after")])
        self.assertEqual([1, 1], [retried[when]["connections"] for when in ("before", "after")])
        self.assertEqual("fewer", retried["change"])
        self.assertRegex(text, "handshake_retried +in 1 of 2 connections +in 1 of 5 connections +fewer")
        self.assertRegex(text, r"reliable_stall +\d+ \(\d+\.\d per minute\) +\d+ \(\d+\.\d per minute\)")
        self.assertIsNone(found["loss"]["before"]["per_minute"])

    def test_no_difference(self):
        """The same capture twice: nothing changed, and no sentence warns of differences."""
        text = text_of(LOSSY, LOSSY)
        self.assertNotIn(WARNING, text)
        self.assertNotRegex(text.replace(str(LOSSY), ""), r"[+-]\d")  # its folder may have a version
        login = CAPTURES / "login.pcapng"
        self.assertIn("none in either capture", text_of(login, login))

    def test_nothing(self):
        """A capture without a connection has no figures."""
        with tempfile.TemporaryDirectory() as folder:
            empty = pathlib.Path(folder) / "empty.pcap"
            empty.write_bytes(uerudp.pcap([]))
            result = compare(empty, CALM)
            self.assertEqual(0, result["before"]["connections"])
            self.assertTrue(all(value is None for key, value in result["before"].items() if key.endswith(("_percent", "_s", "_ms"))))
            self.assertIsNone(result["same_duration"])
            self.assertIn("a capture without a connection has no figures", text_of(empty, CALM))


class Options(unittest.TestCase):
    def test_status(self):
        """The second capture decides."""
        for expected, before, after, rules in ((0, CALM, LOSSY, ()), (1, CALM, LOSSY, ("--fail-on=stall",)), (0, LOSSY, CALM, ("--fail-on=stall",)),
                                               (1, CALM, CAPTURES / "kick.pcapng", ("--fail-on=note",)),
                                               (1, CALM, CAPTURES / "fuzz.pcapng", ()), (0, CAPTURES / "fuzz.pcapng", CALM, ())):
            with self.subTest(before=before, after=after):
                uerudp.run("info", "--compare", *rules, before, after, status=expected)

    def test_unusable(self):
        for arguments in ((CALM,), (CALM, CALM, CALM), (CALM, CALM, "--summary"), (CALM, CALM, "--bits"), (CALM, CALM, "--junit=/dev/null"),
                          (CALM, CALM, "--vantage=client,server")):
            self.assertIn("--compare", uerudp.run("info", "--compare", *arguments, status=2).stderr.decode())
        for arguments in ((CALM, "/nonexistent"), ("/nonexistent", CALM)):
            result = uerudp.run("info", "--compare", *arguments, status=2)
            self.assertEqual((b"", True), (result.stdout, b"/nonexistent" in result.stderr))


if __name__ == "__main__":
    uerudp.main()
