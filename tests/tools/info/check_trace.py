#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp trace: the data of a page, its limits, and the picture that a browser draws."""
import collections
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

import uerudp
from conversation import lost_acks

ROOT = uerudp.ROOT
SAMPLE = ROOT / "captures/ue5.5.pcapng"
BROWSER = shutil.which("chromium")
PACKET = ("t", "side", "id", "frame", "bytes", "state", "reported", "report_frame", "late", "duplicate")
DELIVERED, NOT_DELIVERED, ACK_LOST = 2, 3, 4


def data_of(page):
    """The data of a page."""
    return json.loads(re.search(r'<script id="data" type="application/json">\n(.*?)</script>', page, re.S).group(1))


def trace(*arguments, status=0, data=b""):
    return uerudp.run("trace", *arguments, status=status, data=data).stdout.decode()


def rows(names, table):
    return [dict(zip(names, row, strict=True)) for row in table]


def conversation(packets, lost=(), port=50000):
    """Datagrams of a client that sends `packets` packets, and of a server that acknowledges each except the lost ones."""
    objects = []
    for number in range(packets):
        client = {"src": f"10.0.0.1:{port}", "dst": "10.0.0.2:7777", "time": str(10**18 + number * 10**7)}
        objects.append({**client, "packet": {"seq": (100 + number) % 16384, "ack": (499 + number) % 16384,
                                               "history": [2 ** min(32, number) - 1]},
                        "bunches": [{"channel": 0, "reliable": True, "ch_seq": (7 + number) % 1024, "data": "ff"}]})
        server = {"src": client["dst"], "dst": client["src"], "time": str(10**18 + number * 10**7 + 5 * 10**6)}
        history = sum(1 << age for age in range(min(32, number + 1)) if number - age not in lost)
        objects.append({**server, "packet": {"seq": (500 + number) % 16384, "ack": (100 + number) % 16384, "history": [history]},
                        "bunches": []})
    return "\n".join(json.dumps({"generation": "5.5", **each}) for each in objects).encode()


def capture(folder, name, data):
    path = pathlib.Path(folder) / name
    path.write_bytes(uerudp.run("encode", "-", data=data).stdout)
    return path


class Data(unittest.TestCase):
    def test_page_agrees_with_decode(self):
        drawn = data_of(trace(SAMPLE))
        decoded = [each for each in uerudp.decode(SAMPLE) if "packet" in each]
        packets = rows(PACKET, drawn["packets"])
        self.assertEqual(sorted((each["frame"], each["packet"]["id"], each["length"]) for each in decoded),
                         sorted((each["frame"], each["id"], each["bytes"]) for each in packets if each["frame"] != 0))
        acked = {each for packet in decoded for each in packet["packet"].get("acked", [])}
        self.assertEqual(acked, {each["id"] % 16384 for each in packets if each["state"] == DELIVERED})

    def test_states(self):
        with tempfile.TemporaryDirectory() as folder:
            drawn = data_of(trace(capture(folder, "a.pcapng", conversation(20, lost={7}))))
        packets = [each for each in rows(PACKET, drawn["packets"]) if each["side"] == 0]
        self.assertEqual([107], [each["id"] for each in packets if each["state"] == NOT_DELIVERED])
        self.assertEqual(19, sum(each["state"] == DELIVERED for each in packets))
        self.assertEqual({5.0}, {round(each["reported"] - each["t"], 6) for each in packets
                               if each["state"] == DELIVERED})
        self.assertEqual(8 * 20, sum(sum(band["bits"][0]) for band in drawn["bands"]))

    def test_withdrawn_acks(self):
        """Up to 4.21 an ack may be lost, so that its sender regards the packet as lost; info has the same count."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.pcapng"
            uerudp.run("generate", "game", "--generation=4.18", "--loss=0.1", "--duration=3", "--no-sidecar", "-o", path)
            packets = rows(PACKET, data_of(trace(path, status=None))["packets"])
            info, = map(json.loads, uerudp.run("info", "--json", path, status=None).stdout.splitlines())
        for side, way in enumerate(("c2s", "s2c")):
            states = [each["state"] for each in packets if each["side"] == side]
            self.assertEqual((info["acked"][way], info["not_acked"][way]),
                             (states.count(DELIVERED), states.count(NOT_DELIVERED) + states.count(ACK_LOST)))

    def test_damaged_number(self):
        """A damaged packet id is far ahead; only its own packet is missing."""
        gap, = data_of(trace(ROOT / "captures/corrupt.pcapng", status=None))["gaps"]
        self.assertEqual([13382, 13382], gap[2:4])

    def test_lost_acks(self):
        """Packets keep the frame that acknowledged them, and no frame reports them as lost."""
        packets = rows(PACKET, data_of(trace("-", data=lost_acks().capture()))["packets"])
        states = {(each["id"], each["state"], each["report_frame"]) for each in packets if each["state"] > DELIVERED}
        self.assertEqual({(number, ACK_LOST, 22) for number in range(11, 26)} |
                         {(number, NOT_DELIVERED, 28) for number in (2, 3)}, states)

    def test_findings(self):
        """The findings are those of info, also where a sentence quotes a message that looks like HTML."""
        for name in ("loss-burst", "kick", "corrupt", "ue5.5"):
            path = ROOT / f"captures/{name}.pcapng"
            info, *_ = map(json.loads, uerudp.run("info", "--json", path, status=None).stdout.splitlines())
            keys = ("kind", "severity", "text")
            with self.subTest(name):
                self.assertEqual([{key: finding[key] for key in keys} for finding in info["findings"]],
                                 data_of(trace(path, "--stream", info["stream"], status=None))["findings"])

    def test_long_captures_are_thinned(self):
        with tempfile.TemporaryDirectory() as folder:
            path = capture(folder, "a.pcapng", conversation(16000, lost={9000}))
            page = trace(path)
        drawn = data_of(page)
        self.assertGreaterEqual(drawn["points"], 32000)
        self.assertLess(drawn["shown"], 20001)
        self.assertGreater(drawn["shown"], 5000)
        self.assertEqual({"packets": 32000, "not_acked": [1, 0], "resends": 0, "gaps": 0, "notes": 0}, drawn["counts"])
        self.assertEqual([9100], [row[2] for row in drawn["packets"] if row[5] == NOT_DELIVERED])
        self.assertEqual(16000 * 8, sum(sum(band["bits"][0]) for band in drawn["bands"]))

    def check_counts(self, drawn, info):
        """The counts include the packets that are left out."""
        ways = ("c2s", "s2c")
        self.assertEqual([info["not_acked"][way] for way in ways], drawn["counts"]["not_acked"])
        self.assertEqual(sum(info["resends"].values()), drawn["counts"]["resends"])
        rows_of = {kind: len(drawn[kind]) for kind in ("packets", "resends", "gaps", "notes")}
        self.assertEqual((drawn["points"], drawn["shown"]),
                         (sum(drawn["counts"][kind] for kind in rows_of), sum(rows_of.values())))
        for kind, count in rows_of.items():
            self.assertLessEqual(count, drawn["counts"][kind])
        self.assertLessEqual(drawn["shown"], 20000)

    def check_evenness(self, drawn):
        """Each tenth of the time has its share of the packets of each kind."""
        for kind in ("packets", "resends", "gaps"):
            tenths = collections.Counter(int(row[0] * 10 // drawn["duration_ms"]) for row in drawn[kind])
            self.assertGreater(min(tenths[i] for i in range(10)), len(drawn[kind]) // 15, (kind, tenths))

    def test_counts_of_a_short_capture(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.pcapng"
            uerudp.run("generate", "mixed", "--no-sidecar", "--duration=20", "-o", path)
            info = json.loads(uerudp.run("info", "--json", path).stdout)
            drawn = data_of(trace(path))
        self.check_counts(drawn, info)
        self.assertEqual(drawn["points"], drawn["shown"])

    def test_everything_is_thinned(self):
        """A capture with ten times the packets, losses, retransmissions and gaps of a picture."""
        command = [uerudp.PROGRAM, "generate", "mixed", "--no-sidecar", "--duration=5000", "-o", "-"]
        outputs = []
        for arguments in (["info", "--json", "-"], ["trace", "-"]):
            with subprocess.Popen(command, stdout=subprocess.PIPE) as generate:
                outputs.append(subprocess.run([uerudp.PROGRAM, *arguments], stdin=generate.stdout, capture_output=True,
                                              check=True, timeout=300).stdout.decode())
                generate.stdout.close()
        drawn = data_of(outputs[1])
        self.assertGreater(drawn["counts"]["resends"], 40000)
        self.check_counts(drawn, json.loads(outputs[0]))
        self.check_evenness(drawn)

    def test_names_from_the_wire_cannot_end_the_script(self):
        evil = {"generation": "5.5", "bunches": [{"open": True, "reliable": True, "channel": 5, "ch_seq": 3, "data": "00",
                                                 "name_hardcoded": False, "name_text": "</script><b>", "name_number": 0}]}
        with tempfile.TemporaryDirectory() as folder:
            page = trace("--generation=5.5", capture(folder, "a.pcapng", json.dumps(evil).encode()))
        self.assertNotIn("</script><b>", page)
        self.assertIn("</script><b>", json.dumps(data_of(page)))


class Files(unittest.TestCase):
    def test_a_page_for_each_connection(self):
        with tempfile.TemporaryDirectory() as folder:
            path = capture(folder, "a.pcapng", conversation(5) + b"\n" + conversation(5, port=50001))
            trace(path, "--output", f"{folder}/p.html")
            pages = sorted(each.name for each in pathlib.Path(folder).glob("*.html"))
            self.assertEqual(["p-0.html", "p-1.html"], pages)
            trace(path, "--stream=1", "-o", f"{folder}/q.html")
            self.assertIn("50001", data_of((pathlib.Path(folder) / "q.html").read_text())["client"])
            self.assertIn("--output", uerudp.run("trace", path, status=2).stderr.decode())

    def test_page_is_self_contained(self):
        page = trace(SAMPLE)
        self.assertNotRegex(page, r'(src|href)="')
        self.assertIn("Mike Bostock", page)
        self.assertIn("Redistribution and use", page)

    def test_unusable(self):
        for arguments in ([], ["/nonexistent"], ["--svg", SAMPLE], [SAMPLE, "--output", "/nonexistent/p.html"],
                          ["--browser=x", SAMPLE], ["--stream=x", SAMPLE], ["--stream=99", SAMPLE], ["-"]):
            self.assertTrue(uerudp.run("trace", *arguments, status=2).stderr)

    def test_hex(self):
        hexed = uerudp.run("encode", "--hex", data=conversation(3)).stdout
        self.assertEqual(6, len(data_of(trace("--hex", "--generation=5.5", "-", data=hexed))["packets"]))

    def test_missing_browser(self):
        with tempfile.TemporaryDirectory() as folder:
            page = f"{folder}/p.html"
            error = uerudp.run("trace", "--svg", "--browser=no-such-browser", SAMPLE, "-o", page, status=2).stderr.decode()
            self.assertIn("no-such-browser", error)
            self.assertFalse(pathlib.Path(folder, "p.svg").exists())


@unittest.skipUnless(BROWSER, "needs Chromium")
class Browser(unittest.TestCase):
    def test_svg(self):
        """Chromium draws an SVG file with a mark for each object of the data."""
        with tempfile.TemporaryDirectory() as folder:
            path = capture(folder, "a.pcapng", conversation(50, lost={7, 30}))
            trace("--svg", path, "-o", f"{folder}/p.html")
            packets = rows(PACKET, data_of(pathlib.Path(folder, "p.html").read_text())["packets"])
            picture = xml.etree.ElementTree.parse(f"{folder}/p.svg")
        namespace = "{http://www.w3.org/2000/svg}"
        self.assertEqual(namespace + "svg", picture.getroot().tag)
        marks = collections.Counter()
        for each in picture.iter(namespace + "path"):
            for stroke in ("l6,6", "H"):
                marks[each.get("class"), stroke] += (each.get("d") or "").count(stroke)
        ticks = [text.text for text in picture.iter(namespace + "text") if re.fullmatch(r"[−-]?[\d.,]+", text.text or "")]
        self.assertGreater(ticks.count("0"), 0)
        self.assertTrue(any(ticks.count(tick) > 1 for tick in ticks if tick != "0"), "the same in both directions")
        self.assertEqual([], [tick for tick in ticks if tick[0] in "−-"], "no negative ticks")
        legend = 1
        self.assertEqual(legend + 2, marks["lost", "l6,6"])
        self.assertEqual(2, marks["nak", "H"])
        self.assertEqual(sum(each["state"] == DELIVERED for each in packets), marks["ack", "H"])

    def dump(self, page, folder):
        return subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/b",
                               "--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom", f"file://{page}"],
                              capture_output=True, timeout=120, text=True)

    def test_thinned_page_reports_it(self):
        with tempfile.TemporaryDirectory() as folder:
            trace(capture(folder, "a.pcapng", conversation(16000, lost={9000})), "-o", f"{folder}/p.html")
            trace(SAMPLE, "-o", f"{folder}/q.html")
            thinned = self.dump(f"{folder}/p.html", folder).stdout
            shown = len(data_of(pathlib.Path(folder, "p.html").read_text())["packets"])
            self.assertIn(f"It shows {shown:,} of 32,000 packets, evenly", thinned)
            self.assertIn("Not acknowledged: 1 client to server, 0 server to client", thinned)
            self.assertIn('<p id="thinned" hidden=""></p>', self.dump(f"{folder}/q.html", folder).stdout)

    def test_page_without_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            trace(SAMPLE, "-o", f"{folder}/p.html")
            result = self.dump(f"{folder}/p.html", folder)
        self.assertNotRegex(result.stderr, r"CONSOLE.*(Error|error)")
        self.assertIn('class="delivered"', result.stdout)


if __name__ == "__main__":
    uerudp.main()
