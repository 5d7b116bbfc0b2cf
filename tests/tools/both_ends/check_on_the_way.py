#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packets that are on their way when the captures of both ends stop are not lost; what was lost before is."""
import trace_page
import uerudp
from both_ends import LOST, MS, WAYS, Folder, info, text_of

QUEUE = ("game", "--duration=20", "--rate=9000", "--queue=0", "--delay=30")


class OnTheWay(Folder):
    def cut(self, ends, seconds):
        """Both captures up to a time after the first packet."""
        paths = []
        for path in ends[:2]:
            paths.append(self.path / f"cut-{path.name}")
            uerudp.run("edit", f"--to={seconds}", path, paths[-1], status=None)
        return ends._replace(client=paths[0], server=paths[1])

    def lost_ids(self, ends):
        """The ids that the page of trace draws as lost, of each direction; info counts as many, and lists them."""
        (connection,), _ = info(ends.client, ends.server)
        page = trace_page.read(uerudp.run("trace", ends.client, ends.server, status=None).stdout.decode())
        ids = {}
        for number, way in enumerate(WAYS):
            counts, rows = connection["both_ends"][way], page.get(f"paths{number}", [])
            ids[way] = [row["id"] for row in rows if row["fate"] == LOST]
            self.assertEqual(len(ids[way]), counts["lost"])
            self.assertEqual(len(rows), counts["sent"])
            self.assertEqual(counts["lost"], sum(loss["count"] for loss in counts["losses"]))
        return ids, {way: connection["both_ends"][way] for way in WAYS}

    def datagrams(self, ends, way):
        return [sent for sent in ends.sent["datagrams"] if sent["dir"] == way and sent["packet_id"] is not None]

    def truly_lost(self, ends, way):
        return {sent["packet_id"] for sent in self.datagrams(ends, way) if sent["fate"] and not sent["arrived"]}

    def test_queue_at_the_end(self):
        """A queue that grows to the end of the run holds packets that were not lost."""
        ends = self.generate(*QUEUE)
        waiting = [sent for sent in self.datagrams(ends, "s2c") if not sent["fate"]]
        self.assertGreater(len(waiting), 20)
        ids, counts = self.lost_ids(ends)
        self.assertEqual({"c2s": [], "s2c": []}, ids)
        self.assertEqual(len(waiting), counts["s2c"]["not_comparable"])
        self.assertRegex(text_of(ends.client, ends.server), r"lost on the way +0 \(0\.0 %\) +0 \(0\.0 %\)\n")

    def test_queue_that_is_cut(self):
        """Nor are those that arrived after the captures stopped."""
        ends = self.generate(*QUEUE)
        for seconds in 4, 7.5, 10:
            with self.subTest(seconds):
                ids, counts = self.lost_ids(self.cut(ends, seconds))
                self.assertEqual({"c2s": [], "s2c": []}, ids)
                self.assertGreater(counts["s2c"]["not_comparable"], 10)

    def test_jitter_that_is_cut(self):
        """A later packet can be faster, where packets overtake others: then it proves nothing. Whatever is called lost was
        lost, and all that was lost longer than the longest delay before the end is called so."""
        for seed in range(1, 5):
            ends = self.generate("stream", "--loss=0.1", "--delay=60", "--jitter=50", "--duration=8", f"--seed={seed}")
            for seconds in 5.1, 6.3:
                with self.subTest(seed=seed, seconds=seconds):
                    ids, _ = self.lost_ids(self.cut(ends, seconds))
                    self.check_losses(ends, ids, seconds, 250)

    def check_losses(self, ends, ids, seconds, delay_ms):
        for way in WAYS:
            lost = self.truly_lost(ends, way)
            self.assertLessEqual(set(ids[way]), lost)
            begin = int(ends.sent["datagrams"][0]["time"])
            early = {sent["packet_id"] for sent in self.datagrams(ends, way)
                     if int(sent["time"]) < begin + seconds * 1000 * MS - delay_ms * MS} & lost
            self.assertGreater(len(early), 5)
            self.assertLessEqual(early, set(ids[way]))

    def test_losses_before_a_later_packet(self):
        """Where no packet overtakes another, each that was lost before one that arrived is lost, up to the end."""
        for seed in range(1, 5):
            ends = self.generate("stream", "--loss=0.2", "--delay=40", "--duration=6", f"--seed={seed}")
            cut = self.cut(ends, 4)
            ids, _ = self.lost_ids(cut)
            for way in WAYS:
                sent = self.datagrams(ends, way)
                begin = int(ends.sent["datagrams"][0]["time"])
                end = begin + 4000 * MS
                last = max(index for index, one in enumerate(sent) if one["arrived"] and int(one["arrived"][0]) < end - 20 * MS)
                proven = {one["packet_id"] for one in sent[:last]} & self.truly_lost(ends, way)
                self.assertLessEqual(proven, set(ids[way]))
                self.assertLessEqual(set(ids[way]), self.truly_lost(ends, way))

    def test_outage_at_the_end(self):
        """All packets of the last seconds were lost: only those within the longest delay may be on their way."""
        path = self.path / "outage.ini"
        path.write_text("[scenario]\nbase=stream\nduration=8\ntimeout=8\nending=quiet\n[path client]\ndelay=30\n"
                        "[path server]\ndelay=30\noutages=5-\n")
        ends = self.generate(path)
        ids, counts = self.lost_ids(ends)
        lost = self.truly_lost(ends, "s2c")
        self.assertGreater(len(lost), 50)
        self.assertLessEqual(set(ids["s2c"]), lost)
        self.assertGreaterEqual(len(ids["s2c"]), len(lost) - counts["s2c"]["not_comparable"])
        self.assertLess(counts["s2c"]["not_comparable"], 12)


if __name__ == "__main__":
    uerudp.main()
