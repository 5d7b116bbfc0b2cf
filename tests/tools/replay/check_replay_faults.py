#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp replay --check on captures with one fault each, which is the only difference that it reports."""
import copy
import json
import pathlib

import uerudp
from replays import FOLDER, check, decoded, generated, reliable_copies, sent_by

CAPTURE = pathlib.Path("captures/ue5.1.pcapng")


def bunches(objects, direction, wanted=lambda bunch: True):
    """(object, bunch) of each bunch that a side sent."""
    return [(o, b) for o in sent_by(objects, direction) for b in o.get("bunches", o.get("items", []))
            if not b.get("is_ack") and wanted(b)]


def first_time(objects, direction, wanted=lambda bunch: True):
    """The reliable bunches that a side sent, without retransmissions."""
    copies = {id(bunch) for _, bunch in reliable_copies(objects)}
    return [(o, b) for o, b in bunches(objects, direction, lambda b: b.get("reliable") and wanted(b)) if id(b) not in copies]


class Faults(uerudp.unittest.TestCase):

    LOSSY = "lossy", "--duration=5", "--capture-at=sender"
    LEGACY = "legacy", "--duration=5", "--capture-at=sender"

    def difference(self, capture, change, status=1):
        """The difference that --check reports after change(objects), which returns the changed frame."""
        objects = copy.deepcopy(decoded(capture))
        frame = change(objects)
        path = pathlib.Path(FOLDER.name) / "changed.pcapng"
        uerudp.run("encode", "-o", path, "-", data="\n".join(map(json.dumps, objects)).encode())
        result, = check(path, status=status)
        self.assertEqual(result["differs"], "difference" in result)
        return frame, result.get("difference")

    def assert_found(self, capture, change, **expected):
        frame, difference = self.difference(capture, change)
        self.assertEqual({key: difference.get(key) for key in ("frame", *expected)}, {"frame": frame, **expected})
        return difference

    def test_nothing(self):
        for path in (generated(*self.LOSSY), generated(*self.LEGACY), CAPTURE):
            self.assertEqual(self.difference(path, lambda objects: None, status=0), (None, None))

    def test_history(self):
        for direction, side in ((1, "client"), (2, "server")):
            for place, bit in ((20, 0), (50, 1), (80, 7), (-30, 0)):
                def change(objects):
                    o = sent_by(objects, direction)[place]
                    o["packet"]["history"][0] ^= 1 << bit
                    return o["frame"]
                self.assert_found(generated(*self.LOSSY), change, type="history", side=side, field="packet.history")

    def test_history_joined_in_the_middle(self):
        part = pathlib.Path(FOLDER.name) / "second-half.pcapng"
        whole = generated(*self.LOSSY)
        uerudp.run("edit", f"--frames={len(decoded(whole)) // 2}-", whole, part)

        def change(objects):
            o = sent_by(objects, 2)[30]
            o["packet"]["history"][0] ^= 2
            return o["frame"]
        self.assert_found(part, change, type="history", side="server", field="packet.history")

    def test_ack_of_unsent(self):
        for direction, side in ((1, "client"), (2, "server")):
            def change(objects):
                o = sent_by(objects, direction)[40]
                o["packet"]["ack"] += 100
                return o["frame"]
            self.assert_found(generated(*self.LOSSY), change, type="ack", side=side, field="packet.ack")

    def test_legacy_ack_of_unsent(self):
        def change(objects):
            o = [o for o in sent_by(objects, 2) if any(i["is_ack"] for i in o["items"])][30]
            next(i for i in o["items"] if i["is_ack"])["ack_id"] += 100
            return o["frame"]
        self.assert_found(generated(*self.LEGACY), change, type="ack", side="server")

    def test_channel_sequence(self):
        def change(objects):
            new = [(o, b) for o in sent_by(objects, 2) for b in o.get("bunches", []) if b["reliable"]]
            o, bunch = new[60]
            bunch["ch_seq"] += 1
            change.expected = str(bunch["ch_seq"] - 1)
            return o["frame"]
        difference = self.assert_found(generated("stream", "--duration=5"), change, type="ch-seq",
                                       side="server", field="bunch.ch_seq")
        self.assertEqual(difference["expected_value"], change.expected)

    def test_content_of_a_copy(self):
        for capture in (self.LOSSY, self.LEGACY):
            def change(objects):
                o, bunch = reliable_copies(objects)[5]
                bunch.pop("messages", None)
                bunch["data"] = "%02x" % (int(bunch["data"][:2], 16) ^ 1) + bunch["data"][2:]
                change.which = bunch["channel"], bunch["ch_seq"]
                return o["frame"]
            difference = self.assert_found(generated(*capture), change, type="content", field="bunch.data")
            self.assertEqual((difference["channel"], difference["reliable_id"] % 1024), change.which)

    def test_end_of_a_long_content(self):
        """The text shows the value from the first different byte on."""
        def change(objects):
            o, bunch = next((o, b) for o, b in reliable_copies(objects) if len(b["data"]) > 400)
            bunch.pop("messages", None)
            bunch["data"] = bunch["data"][:-8] + "%02x" % (int(bunch["data"][-8:-6], 16) ^ 4) + bunch["data"][-6:]
            change.value = bunch["data"]
            return o["frame"]
        difference = self.assert_found(generated("big-bunch", "--duration=5", "--loss=0.2", "--capture-at=sender"), change, type="content", field="bunch.data")
        self.assertEqual(difference["recorded_value"], change.value)
        text = uerudp.run("replay", "--check", pathlib.Path(FOLDER.name) / "changed.pcapng", status=1).stdout.decode()
        self.assertIn(f"    bunch.data: expected ...{difference['expected_value'][-8:]}, recorded ...{change.value[-8:]}\n", text)

    def test_missing_copy(self):
        def change(objects):
            o, bunch = reliable_copies(objects)[5]
            o["bunches"] = [b for b in o["bunches"] if b is not bunch]
            change.which = bunch["channel"], bunch["ch_seq"]
            return o["frame"]
        difference = self.assert_found(generated(*self.LOSSY), change, type="not-resent")
        self.assertEqual((difference["channel"], difference["reliable_id"] % 1024), change.which)

    def test_opening(self):
        def change(objects):
            o, bunch = [(o, b) for o in sent_by(objects, 2) for b in o.get("bunches", []) if b.get("open")][0]
            bunch["control"] = False
            del bunch["open"], bunch["close"]
            return o["frame"]
        self.assert_found(generated("login"), change, type="not-open", side="server")

    def test_first_sequence(self):
        def change(objects):
            response = next(o for o in objects if o.get("handshake", {}).get("type") == 2)
            cookie = response["handshake"]["cookie"]
            for message in (o["handshake"] for o in objects if "handshake" in o):
                if message.get("cookie") == cookie:  # the last byte of the client's first sequence
                    message["cookie"] = cookie[:6] + "%02x" % (int(cookie[6:8], 16) ^ 0x10) + cookie[8:]
            return sent_by(objects, 1)[0]["frame"]
        self.assert_found(CAPTURE, change, type="sequence", side="client")

    def test_cookie(self):
        def change(objects):
            response = next(o for o in objects if o.get("handshake", {}).get("type") == 2)
            cookie = response["handshake"]["cookie"]
            response["handshake"]["cookie"] = cookie[:-2] + "%02x" % (int(cookie[-2:], 16) ^ 1)
            return response["frame"]
        self.assert_found(CAPTURE, change, type="handshake", side="client", field="handshake.cookie")

    # ---- acknowledgements ----

    def test_withdrawn_ack(self):
        def change(objects):
            before, o = sent_by(objects, 2)[59:61]
            o["packet"]["ack"] = before["packet"]["ack"] - 3
            return o["frame"]
        self.assert_found(generated(*self.LOSSY), change, type="ack", side="server", field="packet.ack")

    def test_ack_field_by_rule(self):
        path = pathlib.Path(FOLDER.name) / "rule.pcapng"
        whole = generated(*self.LOSSY)
        ids = [o["packet"]["id"] for o in sent_by(decoded(whole), 1)]
        uerudp.run("edit", "--rule", f"corrupt@packet.history dir=c2s id={ids[50]}", whole, path)
        result, = check(path, status=1)
        self.assertEqual(result["difference"]["type"], "history")

    # ---- ids ----

    def test_ids(self):
        """A packet with another id is a difference, wherever it is; ids that change for good are none."""
        capture = generated(*self.LOSSY)
        for direction, side in ((1, "client"), (2, "server")):
            for field in ("session_id", "client_id"):
                for place in (0, 1, 40, -1):
                    def change(objects):
                        o = sent_by(objects, direction)[place]
                        o[field] = (o[field] + 1) % 4
                        change.values = str((o[field] - 1) % 4), str(o[field])
                        return o["frame"]
                    difference = self.assert_found(capture, change, type="ids", side=side, field=field)
                    self.assertEqual((difference["expected_value"], difference["recorded_value"]), change.values)

        def change_for_good(objects):
            for o in sent_by(objects, 1)[40:] + sent_by(objects, 2)[40:]:
                o["client_id"] += 1
        _, difference = self.difference(capture, change_for_good, status=None)
        self.assertNotEqual("ids", (difference or {}).get("type"))

    # ---- retransmissions ----

    def test_no_retransmission_on_one_channel(self):
        """The bunches of one channel are never retransmitted."""
        def change(objects):
            copies = [(o, b) for o, b in reliable_copies(objects) if o["direction"] == 2]
            change.channel = copies[0][1]["channel"]
            for o, b in copies:
                if b["channel"] == change.channel:
                    o["bunches"] = [other for other in o["bunches"] if other is not b]
        _, difference = self.difference(generated("lossy", "--duration=10", "--loss=0.1", "--capture-at=sender"), change)
        self.assertEqual((difference["type"], difference["side"], difference["channel"]),
                         ("not-resent", "server", change.channel))

    def test_legacy_no_retransmission(self):
        def change(objects):
            o, bunch = [(o, b) for o, b in reliable_copies(objects) if o["direction"] == 2][3]
            o["items"] = [b for b in o["items"] if b is not bunch]
            change.which = bunch["channel"], bunch["ch_seq"]
        _, difference = self.difference(generated("legacy", "--duration=10", "--loss=0.1", "--capture-at=sender"), change)
        self.assertEqual((difference["type"], difference["side"], difference["channel"],
                          difference["reliable_id"] % 1024), ("not-resent", "server", *change.which))

    def test_sent_again_after_its_ack(self):
        for capture, key in ((("login", "--duration=5"), "bunches"), (("login", "--duration=5", "--generation=4.18"), "items")):
            def change(objects):
                new = first_time(objects, 2, lambda b: b["channel"] >= 2 and not b.get("open"))
                bunch = copy.deepcopy(new[5][1])
                later = next(o for o, b in new[20:] if sum(x.get("data_bits", 0) for x in o[key]) < 2000)
                later[key].insert(0, bunch)
                change.which = bunch["channel"], bunch["ch_seq"]
                return later["frame"]
            difference = self.assert_found(generated(*capture), change, type="spurious", side="server")
            self.assertEqual((difference["channel"], difference["reliable_id"] % 1024), change.which)

    def test_copy_with_another_flag(self):
        def change(objects):
            o, bunch = reliable_copies(objects)[4]
            bunch["has_mapped"] = not bunch["has_mapped"]
            return o["frame"]
        self.assert_found(generated(*self.LOSSY), change, type="content", field="bunch.has_mapped")

    # ---- numbers and order ----

    def test_number_skipped_at_the_first_bunch(self):
        def change(objects):
            o, bunch = first_time(objects, 2, lambda b: b["channel"] == 0)[0]
            bunch["ch_seq"] = (bunch["ch_seq"] + 1) % 1024
            return o["frame"]
        self.assert_found(generated("login"), change, type="ch-seq", side="server", field="bunch.ch_seq")

    def test_bunches_out_of_order(self):
        """Two reliable bunches of a channel with exchanged sequences."""
        def change(objects):
            new = first_time(objects, 2, lambda b: b["channel"] == 2 and not b.get("open"))
            (first, a), (_, b) = new[5], new[6]
            a["ch_seq"], b["ch_seq"] = b["ch_seq"], a["ch_seq"]
            return first["frame"]
        self.assert_found(generated("login", "--duration=5"), change, type="ch-seq", side="server")

    def test_legacy_number_skipped(self):
        def change(objects):
            o, bunch = first_time(objects, 1, lambda b: b["channel"] >= 2)[10]
            bunch["ch_seq"] = (bunch["ch_seq"] + 1) % 1024
            return o["frame"]
        self.assert_found(generated("legacy", "--duration=5", "--loss=0"), change, type="ch-seq", side="client")

    # ---- channels ----

    def opened(self, objects):
        """A bunch that opens a channel, and a later bunch of the channel."""
        _, opening = first_time(objects, 2, lambda b: b.get("open") and b["channel"] >= 2)[0]
        o, bunch = first_time(objects, 2, lambda b: b["channel"] == opening["channel"] and not b.get("open"))[3]
        return o, bunch

    def test_opened_twice(self):
        def change(objects):
            o, bunch = self.opened(objects)
            bunch.update(control=True, open=True, close=False)
            return o["frame"]
        self.assert_found(generated("login", "--duration=5"), change, type="open", side="server")

    def test_client_opens_an_actor_channel(self):
        def change(objects):
            o, bunch = bunches(objects, 1, lambda b: b["channel"] >= 2)[2]
            bunch.update(control=True, open=True, close=False, channel=900)
            return o["frame"]
        self.assert_found(generated("login", "--duration=5"), change, type="open", side="client")

    def test_bunches_after_the_close(self):
        def change(objects):
            _, opening = first_time(objects, 2, lambda b: b.get("open") and b["channel"] >= 2)[0]
            following = first_time(objects, 2, lambda b: b["channel"] == opening["channel"] and not b.get("open"))
            following[3][1].update(control=True, open=False, close=True, close_reason=0)
            later = [o for o, b in bunches(objects, 2, lambda b: b["channel"] == opening["channel"])
                     if o["frame"] >= following[3][0]["frame"]]
            return next(o["frame"] for o in later if o is not following[3][0]) if later[1] is not later[0] else later[0]["frame"]
        self.assert_found(generated("login", "--duration=5"), change, type="after-close", side="server")

    def test_close_by_the_other_side(self):
        def change(objects):
            o, bunch = bunches(objects, 1, lambda b: b["channel"] >= 2)[5]
            bunch.update(control=True, open=False, close=True, close_reason=0)
            return o["frame"]
        self.assert_found(generated("login", "--duration=5"), change, type="close", side="client")

    def test_bunch_on_an_unopened_channel(self):
        def change(objects):
            o, bunch = bunches(objects, 1, lambda b: b["channel"] >= 2)[2]
            bunch["channel"] = 901
            return o["frame"]
        self.assert_found(generated("login", "--duration=5"), change, type="not-open", side="client")

    # ---- errors that a receiver reports ----

    def test_parts_without_a_beginning(self):
        def change(objects):
            o, bunch = first_time(objects, 2, lambda b: b.get("partial_initial"))[1]
            bunch["partial_initial"] = False
            return o["frame"]
        difference = self.assert_found(generated("big-bunch", "--duration=5", "--loss=0"), change, type="received", side="server")
        self.assertIn("reason", difference)

    def test_part_that_ends_inside_a_byte(self):
        def change(objects):
            o, bunch = first_time(objects, 2, lambda b: b["partial"] and not b["partial_initial"] and not b["partial_final"])[1]
            bunch["data_bits"] -= 3
            bunch["data"] = bunch["data"][:-2] + "%02x" % (int(bunch["data"][-2:], 16) & 31)
            return o["frame"]
        self.assert_found(generated("big-bunch", "--duration=5", "--loss=0"), change, type="received", side="server")

    # ---- the beginning ----

    def test_server_sends_first(self):
        def change(objects):
            first = next(o for o in sent_by(objects, 1))
            answer = next(o for o in sent_by(objects, 2))
            objects.remove(answer)
            objects.insert(objects.index(first), answer)
            answer["time"] = first["time"]
            answer["packet"]["ack"] = first["packet"]["seq"] - 1
            answer["packet"]["history"] = [0]
            return first["frame"]
        _, difference = self.difference(generated("login", "--duration=5"), change)
        self.assertEqual((difference["type"], difference["side"]), ("premature", "server"))

    def test_first_sequence_of_the_server(self):
        def change(objects):
            response = next(o for o in objects if o.get("handshake", {}).get("type") == 2)
            cookie = response["handshake"]["cookie"]
            for message in (o["handshake"] for o in objects if "handshake" in o):
                if message.get("cookie") == cookie:
                    message["cookie"] = cookie[:2] + "%02x" % (int(cookie[2:4], 16) ^ 0x10) + cookie[4:]
            return sent_by(objects, 2)[0]["frame"]
        self.assert_found(CAPTURE, change, type="sequence", side="server")

    def test_cookie_of_the_server(self):
        def change(objects):
            ack = next(o for o in objects if o.get("handshake", {}).get("type") == 3)
            cookie = ack["handshake"]["cookie"]
            ack["handshake"]["cookie"] = cookie[:-2] + "%02x" % (int(cookie[-2:], 16) ^ 1)
            return ack["frame"]
        self.assert_found(CAPTURE, change, type="handshake", side="server", field="handshake.cookie")

    def test_secret_of_the_response(self):
        def change(objects):
            response = next(o for o in objects if o.get("handshake", {}).get("type") == 2)
            response["handshake"]["secret_id"] ^= 1
            return response["frame"]
        self.assert_found(CAPTURE, change, type="handshake", side="client", field="handshake.secret_id")


if __name__ == "__main__":
    uerudp.main()
