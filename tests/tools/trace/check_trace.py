#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp trace: the data of a page, its limits, and the picture that a browser draws."""
import collections
import json
import pathlib
import re
import tempfile
import unittest
import urllib.parse
import xml.etree.ElementTree

import browser
import trace_page
import uerudp
from conversation import lost_acks
from trace_page import ACK_LOST, DELIVERED, LATE, NOT_DELIVERED

ROOT = uerudp.ROOT
SAMPLE = ROOT / "captures/ue5.5.pcapng"
WAYS = ("c2s", "s2c")
ENDS = tuple(ROOT / f"captures/ends-{end}.pcapng" for end in ("client", "server"))
ARRIVED, NOT_ACCEPTED, LOST = range(3)  # fates of packets between both ends
data_of = trace_page.read


def trace(*arguments, status=0, data=b""):
    return uerudp.run("trace", *arguments, status=status, data=data).stdout.decode()


def info_of(*arguments, data=b""):
    """The first object of info --json."""
    return json.loads(uerudp.run("info", "--json", "--findings=50", *arguments, status=None, data=data).stdout.splitlines()[0])


def packets_of(page):
    return page["packets0"] + page["packets1"]


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


def generate(folder, *arguments):
    path = pathlib.Path(folder) / "a.pcapng"
    uerudp.run("generate", *arguments, "-o", path)
    return path


class Data(unittest.TestCase):
    def test_page_agrees_with_decode(self):
        packets = packets_of(data_of(trace(SAMPLE)))
        decoded = [each for each in uerudp.decode(SAMPLE) if "packet" in each]
        self.assertEqual(sorted((each["frame"], each["packet"]["id"], each["length"]) for each in decoded),
                         sorted((each["frame"], each["id"], each["bytes"]) for each in packets if each["frame"] != 0))
        acked = {each for packet in decoded for each in packet["packet"].get("acked", [])}
        self.assertEqual(acked, {each["id"] % 16384 for each in packets if each["state"] == DELIVERED})

    def test_page_has_what_info_reports(self):
        """Also where a sentence quotes a message that looks like HTML."""
        for name in ("loss-burst", "kick", "corrupt", "ue5.5", "game"):
            path = ROOT / f"captures/{name}.pcapng"
            info = info_of(path)
            with self.subTest(name):
                self.assertEqual(info, data_of(trace(path, "--stream", info["stream"], status=None))["info"])

    def test_states(self):
        with tempfile.TemporaryDirectory() as folder:
            page = data_of(trace(capture(folder, "a.pcapng", conversation(20, lost={7}))))
        packets = page["packets0"]
        self.assertEqual([107], [each["id"] for each in packets if each["state"] == NOT_DELIVERED])
        self.assertEqual(19, sum(each["state"] == DELIVERED for each in packets))
        self.assertEqual({5.0}, {round(each["report_ms"], 5) for each in packets if each["state"] == DELIVERED})
        self.assertEqual(8 * 20, sum(each["bits"] for each in page["bands"]))

    def test_bandwidth(self):
        """The panel of the classes has the bits of info --bandwidth, with finer bins."""
        for name in ("game", "big-bunch", "saturated"):
            path = uerudp.ROOT / f"captures/{name}.pcapng"
            whole = data_of(trace(path, status=None))
            page = whole["bandwidth"]
            info = json.loads(uerudp.run("info", "--json", "--bandwidth", "--top=5", path, status=None).stdout)["bandwidth"]
            self.assertEqual(0.008, page["series"]["bin_s"])
            self.assertEqual(0, 8 % whole["bin_ms"])  # of both panels: bins that a page draws are made of whole ones
            for one, other in ((page, info), (info, page)):
                self.assertEqual({key: one[key] for key in one if key != "series"},
                                 {key: other[key] for key in other if key != "series"})
            for way in ("c2s", "s2c"):
                self.assertEqual([sum(row[way]) for row in info["series"]["classes"]],
                                 [sum(row[way]) for row in page["series"]["classes"]])
                self.assertEqual(info["total"][way], sum(sum(kind[way]) for kind in page["series"]["kinds"].values()))

    def test_both_ends(self):
        """The way of each packet is that of the simulator, whichever file is first."""
        sent = json.loads((ROOT / "captures/ends-client.sent.json").read_text())["datagrams"]
        for first, second in (ENDS, ENDS[::-1]):
            page, info = data_of(trace(first, second)), info_of(first, second)
            self.assertEqual(info, page["info"])
            for side, way in enumerate(WAYS):
                rows, counts = page[f"paths{side}"], info["both_ends"][way]
                truth = [each for each in sent if each["dir"] == way]
                self.assertEqual(len(truth), len(rows))
                for row, each in zip(rows, truth):
                    self.assertEqual(not each["arrived"], row["fate"] == LOST)
                    self.assertEqual(-1 if each["packet_id"] is None else each["packet_id"], row["id"])
                    if each["arrived"]:
                        self.assertAlmostEqual((int(each["arrived"][0]) - int(each["time"])) / 1e6, row["ms"], delta=1)
                fates = collections.Counter(row["fate"] for row in rows)
                self.assertEqual((counts["lost"], counts["not_accepted"]), (fates[LOST], fates[NOT_ACCEPTED]))
        self.assertNotIn("paths0", data_of(trace(ENDS[0])))

    def test_withdrawn_acks(self):
        """Up to 4.21 an ack may be lost, so that its sender regards the packet as lost; info has the same count."""
        with tempfile.TemporaryDirectory() as folder:
            path = generate(folder, "stream", "--generation=4.18", "--loss=0.1", "--duration=3", "--no-sidecar")
            page, info = data_of(trace(path, status=None)), info_of(path)
        self.check_counts(page, info)
        self.assertTrue(any(each["state"] == ACK_LOST for each in packets_of(page)))

    def test_damaged_number(self):
        """A damaged packet id is far ahead; only its own packet is missing."""
        gap, = data_of(trace(ROOT / "captures/corrupt.pcapng", status=None))["gaps"]
        self.assertEqual((624, 624), (gap["first"], gap["last"]))

    def test_lost_acks(self):
        """Packets keep the frame that acknowledged them, and no frame reports them as lost."""
        packets = packets_of(data_of(trace("-", data=lost_acks().capture())))
        states = {(each["id"], each["state"], each["report_frame"]) for each in packets if each["state"] > DELIVERED}
        self.assertEqual({(number, ACK_LOST, 22) for number in range(11, 26)} |
                         {(number, NOT_DELIVERED, 28) for number in (2, 3)}, states)

    def check_counts(self, page, info):
        """Rows and bins have the counts of info."""
        for side, way in enumerate(WAYS):
            states = collections.Counter(each["state"] for each in page[f"packets{side}"])
            counts = (info["acked"][way], info["not_acked"][way])
            self.assertEqual(counts, (states[DELIVERED], states[NOT_DELIVERED] + states[ACK_LOST]), way)
            sums = {key: sum(each[key] for each in page[f"bins{side}"]) for key in ("packets", "bytes", "delivered", "lost")}
            self.assertEqual(counts, (sums["delivered"], sums["lost"]), way)
            captured = sum(each["frame"] != 0 for each in page[f"packets{side}"])
            self.assertEqual((captured, info["bytes"][way]), (sums["packets"], sums["bytes"]), way)
            self.assertEqual(sorted(each["t"] for each in page[f"packets{side}"]), [each["t"] for each in page[f"packets{side}"]])
        self.assertEqual(sum(info["resends"].values()), len(page["resends"]))
        late = sum(bool(each["flags"] & LATE) for each in packets_of(page))
        self.assertEqual(sum(info["late"].values()), late)

    def test_counts(self):
        """With every impairment, at each capture point."""
        for point in ("client", "server", "sender"):
            with self.subTest(point), tempfile.TemporaryDirectory() as folder:
                path = generate(folder, "mixed", "--no-sidecar", "--duration=20", f"--capture-at={point}")
                info, page = info_of(path), data_of(trace(path))
                self.check_counts(page, info)
                self.assertEqual(info["rtt_ms"]["samples"], len(page["rtts"]))
                self.assertAlmostEqual(info["rtt_ms"]["max"], max(each["ms"] for each in page["rtts"]), 3)
                for side, way in enumerate(WAYS):
                    self.assertEqual(info["reliable_peak"][way]["at_least"],
                                     max(each["bunches"] for each in page["levels"] if each["side"] == side))
                self.assertEqual(sum(each["bits"][way] for each in info["channels"] for way in WAYS),
                                 sum(each["bits"] for each in page["bands"]))

    def test_loss_against_the_sidecar(self):
        """The packets that the simulator lost are those that the page shows as lost."""
        with tempfile.TemporaryDirectory() as folder:
            path = generate(folder, "stream", "--duration=60", "--loss=0.02", "--seed=4")
            sent = json.loads(path.with_suffix(".sent.json").read_text())["connections"][0]
            page = data_of(trace(path))
        for side, way in enumerate(WAYS):
            self.assertEqual(sent["not_acked"][way], sum(each["lost"] for each in page[f"bins{side}"]))
        shares = [[each["lost"] / (each["lost"] + each["delivered"]) for each in page["bins0"] if each["lost"] + each["delivered"] > 200]]
        self.assertTrue(all(share < 0.1 for row in shares for share in row), "losses are spread as they were sent")

    def test_elements_limit(self):
        """Later packets have no row, but count; the page says from when on."""
        with tempfile.TemporaryDirectory() as folder:
            path = generate(folder, "mixed", "--no-sidecar", "--duration=20")
            whole, cut = (data_of(trace(path, *options)) for options in ([], ["--elements=1000"]))
        self.assertIsNone(whole["detail_end_ms"])
        tables = ("packets0", "packets1", "rtts", "resends", "gaps", "stalls", "levels")
        end = cut["detail_end_ms"] - 1e-5  # times are rounded
        self.assertTrue(0 < end < 19000)
        self.assertLessEqual(sum(len(cut[name]) for name in tables), 1000)
        for name in tables:
            before = [[each for each in page[name] if each["t"] < end and each.get("frame") != 0] for page in (whole, cut)]
            if name == "stalls":  # reported when they end
                self.assertLessEqual(len(before[1]), len(before[0]))
            else:
                self.assertEqual(len(before[0]), len(before[1]), name)
        for name in ("bins0", "bins1", "bands", "info"):
            self.assertEqual(whole[name], cut[name], name)

    def test_stalls_are_findings(self):
        page = data_of(trace(ROOT / "captures/loss-burst.pcapng"))
        found = {(each["channel"], round(each["duration_ms"], 3), each["frames"][-1]) for each in page["info"]["findings"]
                 if each["kind"] == "reliable_stall"}
        self.assertEqual(found, {(each["channel"], round(each["ms"], 3), each["last_frame"]) for each in page["stalls"]})

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
            self.assertEqual(["p-0.html", "p-1.html", "p.html"], pages)
            trace(path, "--output", f"{folder}/bare")
            self.assertEqual(["bare-0.html", "bare-1.html", "bare.html"],
                             sorted(each.name for each in pathlib.Path(folder).glob("bare*")))
            trace(path, "--stream=1", "-o", f"{folder}/q.html")
            self.assertIn("50001", data_of((pathlib.Path(folder) / "q.html").read_text())["info"]["client"])
            self.assertIn("--output", uerudp.run("trace", path, status=2).stderr.decode())

    def test_index(self):
        """A row for each connection in the order of info --summary, with the numbers of info, and sums of all bins."""
        with tempfile.TemporaryDirectory() as folder:
            path = generate(folder, "mixed", "--no-sidecar", "--duration=3", "--connections=4")
            trace(path, "-o", f"{folder}/all pages.html")
            rows = data_of(pathlib.Path(folder, "all pages.html").read_text())
            lines = uerudp.run("info", "--summary", path).stdout.decode().splitlines()[2:]
            order = [int(line.split()[0]) for line in lines]
            self.assertNotEqual(sorted(order), order)
            infos = [json.loads(line) for line in uerudp.run("info", "--json", "--findings=50", path).stdout.splitlines()]
            infos.sort(key=lambda info: order.index(info["stream"]))
            self.assertEqual([f"all pages-{each['stream']}.html" for each in infos], [row["page"] for row in rows])
            for row, info in zip(rows, infos):
                self.assertEqual({key: info[key] for key in info if key not in ("channels", "story")}, row["info"])
                for side, way in enumerate(WAYS):
                    self.assertEqual((info["bytes"][way], info["not_acked"][way], info["not_acked"][way] + info["acked"][way]),
                                     tuple(sum(row[key][side]) for key in ("bytes", "lost", "reported")))

    def test_page_is_self_contained(self):
        page = trace(SAMPLE)
        self.assertNotRegex(page, r'(src|href)="')
        self.assertIn("Mike Bostock", page)
        self.assertIn("Redistribution and use", page)

    def test_unusable(self):
        for arguments in ([], ["/nonexistent"], ["--svg", SAMPLE], [SAMPLE, "--output", "/nonexistent/p.html"],
                          ["--browser=x", SAMPLE], ["--stream=x", SAMPLE], ["--stream=99", SAMPLE], ["-"]):
            self.assertTrue(uerudp.run("trace", *arguments, status=2).stderr)

    def test_output_names_the_page(self):
        with tempfile.TemporaryDirectory() as folder:
            uerudp.run("trace", SAMPLE, "-o", f"{folder}/p.svg", status=2)
            error = uerudp.run("trace", "--svg", SAMPLE, "-o", f"{folder}/p.svg", status=2).stderr.decode()
            self.assertIn("PAGE.html", error)
            self.assertEqual([], list(pathlib.Path(folder).iterdir()))

    def test_hex(self):
        hexed = uerudp.run("encode", "--hex", data=conversation(3)).stdout
        self.assertEqual(6, len(packets_of(data_of(trace("--hex", "--generation=5.5", "-", data=hexed)))))

    def test_missing_browser(self):
        with tempfile.TemporaryDirectory() as folder:
            page = f"{folder}/p.html"
            error = uerudp.run("trace", "--svg", "--browser=no-such-browser", SAMPLE, "-o", page, status=2).stderr.decode()
            self.assertIn("no-such-browser", error)
            self.assertFalse(pathlib.Path(folder, "p.svg").exists())


@unittest.skipUnless(browser.PROGRAM, "needs Chromium")
class Picture(unittest.TestCase):
    NAMESPACE = "{http://www.w3.org/2000/svg}"

    def picture(self, folder, *paths):
        """The SVG that Chromium draws, the data of its page, and the paths of each panel by class."""
        trace("--svg", *paths, "-o", f"{folder}/p.html", status=None)
        root = xml.etree.ElementTree.parse(f"{folder}/p.svg").getroot()
        self.assertEqual(self.NAMESPACE + "svg", root.tag)
        panels = {}
        for group in root.iter(self.NAMESPACE + "g"):
            if (group.get("id") or "").startswith("panel-"):
                panels[group.get("id")[6:]] = {each.get("class"): each.get("d") for each in group.iter(self.NAMESPACE + "path")}
        return root, data_of(pathlib.Path(folder, "p.html").read_text()), panels

    def test_near(self):
        """A mark for each object of the data."""
        with tempfile.TemporaryDirectory() as folder:
            root, page, panels = self.picture(folder, capture(folder, "a.pcapng", conversation(50, lost={7, 30})))
        marks = panels["packets-c2s"]
        self.assertEqual(2 * 2, marks["lost"].count("L"))  # crosses
        self.assertEqual(2, marks["nak"].count("L"))
        self.assertEqual(sum(each["state"] == DELIVERED for each in page["packets0"]), marks["ack"].count("L"))
        self.assertEqual(len(page["rtts"]), panels["round-trip"]["round-trip"].count("M"))
        texts = [each.text for each in root.iter(self.NAMESPACE + "text")]
        self.assertEqual([], [text for text in texts if re.match(r"[−-]\d", text or "")], "no negative ticks")

    def test_assumed_server(self):
        """The heading says if the server is only assumed."""
        with tempfile.TemporaryDirectory() as folder:
            middle = pathlib.Path(folder, "middle.pcapng")
            uerudp.run("edit", "--frames=30-130", ROOT / "captures/head-of-line.pcapng", middle)
            for port, is_known in (7777, True), (9999, False):
                root, page, _ = self.picture(folder, f"--port={port}", middle)
                self.assertEqual(is_known, page["info"]["server_known"])
                texts = [each.text or "" for each in root.iter(self.NAMESPACE + "text")]
                self.assertEqual(is_known, not any(text.endswith("server 192.0.2.1:7777 (assumed)") for text in texts))

    def test_both_ends(self):
        """A line for each packet from one end to the other; a lost one ends in a cross. One capture has no such panel."""
        with tempfile.TemporaryDirectory() as folder:
            _, page, panels = self.picture(folder, *ENDS)
            _, _, single = self.picture(folder, ENDS[0])
        self.assertNotIn("both-ends", single)
        marks = panels["both-ends"]
        for side, way in enumerate(WAYS):
            fates = collections.Counter(each["fate"] for each in page[f"paths{side}"])
            self.assertEqual(fates[ARRIVED], marks[f"arrived-{way}"].count("L"))
            self.assertEqual(fates[LOST], marks[f"lost-way-{way}"].count("L"))
            self.assertEqual(2 * fates[LOST], marks[f"lost-{way}"].count("L"))
            self.assertEqual(fates[NOT_ACCEPTED], (marks.get(f"not-accepted-{way}") or "").count("L"))

    def test_far(self):
        """From afar 2 % loss is 2 % of the area of all packets, and each direction has the area of its packets."""
        with tempfile.TemporaryDirectory() as folder:
            _, page, panels = self.picture(folder, generate(folder, "stream", "--no-sidecar", "--duration=200", "--loss=0.02"))

        def area(path):
            return sum(float(width) * abs(float(height)) for width, height in re.findall(r"h(-?[\d.]+)v(-?[\d.]+)", path or ""))
        for side, way in enumerate(WAYS):
            marks = panels[f"packets-{way}"]
            lost = sum(each["state"] == NOT_DELIVERED for each in page[f"packets{side}"])
            delivered = sum(each["state"] == DELIVERED for each in page[f"packets{side}"])
            self.assertGreater(lost, 100)
            self.assertAlmostEqual(lost / delivered, area(marks["lost"]) / area(marks["delivered"]), delta=0.002)


@unittest.skipUnless(browser.PROGRAM, "needs Chromium")
class Page(unittest.TestCase):
    """A page in a browser, with keys and the mouse."""

    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.browser = cls.enterClassContext(browser.Browser())

    def tearDown(self):
        self.assertEqual([], self.browser.messages)

    def open(self, path, *options):
        page = pathlib.Path(self.folder, f"{self.id()}.html")
        trace(path, *options, "-o", page, status=None)
        self.browser.open(page)
        return data_of(page.read_text())

    def domain(self):
        return self.browser.evaluate("frame.domain()")

    def box(self, selector):
        return self.browser.evaluate(f"(({{x, y, width, height}}) => ({{x, y, width, height}}))"
                                     f"(document.querySelector('{selector}').getBoundingClientRect())")

    def pointed(self, x, y):
        self.browser.mouse("mouseMoved", x, y)
        self.browser.frame()
        return self.browser.evaluate("document.getElementById('tip').hidden ? null : document.getElementById('tip').textContent")

    def test_pages_without_errors(self):
        """Also of a connection with a single packet, of a refused login, and of a handshake alone."""
        single = capture(self.folder, "one.pcapng", conversation(1))
        for path in (single, *(ROOT / f"captures/{name}.pcapng" for name in ("ue5.5", "refused", "timeout", "corrupt", "legacy"))):
            with self.subTest(path.name):
                self.open(path, "--stream=0")
                self.assertEqual([], self.browser.messages)
                self.assertTrue(self.browser.evaluate("document.querySelectorAll('#panels canvas').length") > 0)

    def test_hostile_texts_are_texts(self):
        evil = '<img src=x onerror="document.title=1">'
        bunch = {"open": True, "reliable": True, "channel": 5, "ch_seq": 3, "data": "00", "name_hardcoded": False, "name_text": evil,
                 "name_number": 0}
        self.open(capture(self.folder, "evil.pcapng", json.dumps({"generation": "5.5", "bunches": [bunch]}).encode()), "--generation=5.5")
        self.assertEqual(0, self.browser.evaluate("document.images.length"))
        self.assertIn(evil[:20], self.browser.evaluate("document.body.innerText"))

    def test_index(self):
        """Rows link to pages, and headings sort them."""
        path = generate(self.folder, "mixed", "--no-sidecar", "--duration=3", "--connections=3")
        trace(path, "-o", f"{self.folder}/all pages.html")
        self.browser.open(f"{self.folder}/all pages.html")
        links = "Array.from(document.querySelectorAll('td a'), each => each.href)"
        pages = self.browser.evaluate(links)
        self.assertEqual(3, len(pages))
        self.assertEqual(6, self.browser.evaluate("document.querySelectorAll('svg').length"))
        for clicks in (1, 2):
            self.browser.evaluate("document.querySelector('th button').click()")
            self.assertEqual(sorted(pages, reverse=clicks == 2), self.browser.evaluate(links))
        try:
            for width in (1200, 600):
                self.browser.resize(width, 900)
                self.browser.frame()
                self.assertEqual(3, len(self.browser.evaluate("Array.from(document.querySelectorAll('.worst'), each => each.offsetHeight).filter(Boolean)")))
                self.assertLessEqual(self.browser.evaluate("document.getElementById('connections').offsetWidth"), width)
        finally:
            self.browser.resize(1400, 900)
        self.browser.open(urllib.parse.unquote(pages[0].removeprefix("file://")))
        self.assertTrue(self.browser.evaluate("data.info.stream >= 0"))

    def test_keys(self):
        self.open(ROOT / "captures/loss-burst.pcapng")
        whole = self.domain()
        self.browser.key("+")
        near = self.domain()
        self.assertAlmostEqual((whole[1] - whole[0]) / 2, near[1] - near[0], 3)
        self.browser.key("ArrowLeft")
        self.assertLess(self.domain()[0], near[0])
        self.browser.key("Home")
        self.assertAlmostEqual(0, self.domain()[0], 3)
        self.browser.key("0")
        self.assertEqual([round(each, 3) for each in whole], [round(each, 3) for each in self.domain()])

    def test_no_space(self):
        """Without space for a plot, as in a hidden frame, nothing is drawn, whatever is pressed; with space again, everything.
        Also of a page that is loaded there."""
        for first in (1400, 20):
            self.browser.resize(first, 900)
            self.open(ROOT / "captures/loss-burst.pcapng")
            whole = self.domain()
            for width in (20, 1400):
                self.browser.resize(width, 900)
                for key in ("n", "+", "0"):
                    self.browser.key(key)
                self.browser.frame()
                self.assertEqual([], self.browser.messages)
                self.assertEqual(whole, self.domain(), (first, width))
            self.assertGreater(self.box("canvas")["width"], 1000)
            self.browser.key("n")
            near = self.domain()
            self.assertLess(near[1] - near[0], whole[1] - whole[0])

    def test_findings(self):
        """The key n and a click on a flag show a finding, and mark it in the list."""
        page = self.open(ROOT / "captures/loss-burst.pcapng")
        times = sorted(each["time_s"] * 1000 for each in page["info"]["findings"] if "time_s" in each)
        self.browser.key("n")
        first = self.domain()
        self.assertTrue(first[0] < times[0] < first[1])
        marked = self.browser.evaluate("document.querySelectorAll('#findings .current').length")
        self.assertEqual(1, marked)
        sentence = "document.querySelector('.sentence').textContent"
        self.assertTrue(self.browser.evaluate(sentence).startswith(f"{times[0] / 1000:.3f} s"))
        self.browser.evaluate(f"frame.show(0, {times[0] / 2})")
        self.browser.frame()
        self.assertEqual("", self.browser.evaluate(sentence), "the finding is out of view")
        self.browser.key("0")
        flag = self.box(".flag")
        whole = self.domain()
        self.browser.click(flag["x"] + flag["width"] / 2, flag["y"] + flag["height"] / 2)
        self.assertLess(self.domain()[1] - self.domain()[0], whole[1] - whole[0])

    def test_drag_selects_a_range(self):
        self.open(ROOT / "captures/loss-burst.pcapng")
        end, canvas = self.domain()[1], self.box("#panel-loss canvas")
        left, width, y = canvas["x"] + 62, canvas["width"] - 62 - 14, canvas["y"] + 40
        self.browser.drag(left + width * 0.25, y, left + width * 0.5, y)
        for expected, found in zip((0.25, 0.5), self.domain()):
            self.assertAlmostEqual(expected, found / end, delta=0.01)

    def test_tooltip(self):
        """Shows the frame of a packet, and the rates of a bin; it stays inside the window, and no other covers it."""
        page = self.open(ROOT / "captures/loss-burst.pcapng")
        lost = next(each for each in page["packets1"] if each["state"] == NOT_DELIVERED and each["frame"] != 0)
        self.browser.evaluate("document.querySelector('#panel-packets-s2c').scrollIntoView({block: 'center'})")
        canvas = self.box("#panel-packets-s2c canvas")
        x, y = self.browser.evaluate("""(() => { const id = ID, t = TIME, ids = data.tables.packets1.id;
            const view = { low: Math.min(...ids) - 1, high: Math.max(...ids) + 1 };
            const canvas = document.querySelector('#panel-packets-s2c canvas'), height = canvas.clientHeight - 12;
            return [62 + t / data.end * (canvas.clientWidth - 76), 7 + (view.high - id) / (view.high - view.low) * height]; })()"""
                                     .replace("ID", str(lost["id"])).replace("TIME", str(lost["t"])))
        text = self.pointed(canvas["x"] + x, canvas["y"] + y)
        self.assertIn(f"frame {lost['frame']}", text)
        self.assertIn("not delivered", text)
        self.pointed(canvas["x"] + canvas["width"] - 20, canvas["y"] + 30)
        tip = self.box("#tip")
        self.assertLessEqual(tip["x"] + tip["width"], 1400)
        self.assertEqual(0, self.browser.evaluate("document.querySelectorAll('[title], svg title').length"))

    def test_tooltip_after_zooming(self):
        """The tooltip is about what the mouse points at now, also after the view has changed below it."""
        self.open(ROOT / "captures/loss-burst.pcapng")
        canvas = self.box("#panel-loss canvas")
        before = self.pointed(canvas["x"] + canvas["width"] / 3, canvas["y"] + 30)
        self.browser.key("+")
        self.browser.frame()
        after = self.browser.evaluate("document.getElementById('tip').textContent")
        self.assertNotEqual(before.splitlines()[0], after.splitlines()[0])
        share = (canvas["width"] / 3 - 62) / (canvas["width"] - 76)
        begin, end = self.domain()
        self.assertAlmostEqual(begin + (end - begin) * share, float(after.split(" s")[0]) * 1000, delta=2)

    def test_waits(self):
        """What is shown of bunches that waited: of one of them the time is its own, of more it is the longest, and either may be
        the least that is known."""
        page = self.open(ROOT / "captures/head-of-line.pcapng")
        self.browser.evaluate("document.querySelector('#panel-stalls').scrollIntoView({block: 'center'})")
        canvas = self.box("#panel-stalls canvas")
        wait = page["waits"][0]
        x = canvas["x"] + 62 + (wait["t"] + wait["ms"] / 2) / self.browser.evaluate("data.end") * (canvas["width"] - 76)
        lines = [canvas["y"] + 12 + 13 * line for line in range(4)]
        for count, bound, expected in ((1, 0, "1 bunch of .* waited [0-9]"), (1, 1, "at least 1 bunch of .* waited at least [0-9]"),
                                       (2, 0, "2 bunches of .* waited up to [0-9]"), (2, 1, "at least 2 bunches of .* waited one at least [0-9]")):
            self.browser.evaluate(f"data.tables.waits.bunches.fill({count}); data.tables.waits.at_least.fill({bound}); 0")
            shown = [self.pointed(x, y) or "" for y in lines]
            self.assertTrue(any(re.search(f"(?<!at least ){expected}", text) for text in shown), (expected, shown))

    def test_narrow_and_dark(self):
        """At 600 pixels nothing is wider than the window; in the dark style texts are light."""
        self.open(ROOT / "captures/loss-burst.pcapng")
        try:
            self.browser.resize(600, 900)
            self.browser.frame()
            self.assertEqual(600, self.browser.evaluate("document.documentElement.scrollWidth"))
            self.browser.set_dark(True)
            self.browser.frame()
            background, color = self.browser.evaluate("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]")
            brightness = [sum(map(int, re.findall(r"\d+", each))) for each in (background, color)]
            self.assertLess(brightness[0], 150)
            self.assertGreater(brightness[1], 600)
        finally:
            self.browser.set_dark(False)
            self.browser.resize(1400, 900)


if __name__ == "__main__":
    uerudp.main()
