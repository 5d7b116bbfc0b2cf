#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Options, output formats, exit statuses and damaged files."""
import gzip
import json
import os
import pty
import re
import signal
import struct
import subprocess
import tempfile
import time
import unittest

import uerudp
import recordings
from terminal import everything_from

HELLO = {"bunches": [{"open": True, "reliable": True, "messages": [{"hello": {"network_version": 2360933683}}]}]}
CAPTURES = recordings.ROOT / "captures"
LOGIN = CAPTURES / "refused.pcapng"
LOSS = recordings.path("utcp-loss")


def errors(*arguments, status=2, data=b""):
    return uerudp.run(*arguments, status=status, data=data).stderr.decode()


class Surface(unittest.TestCase):
    def test_version(self):
        self.assertRegex(uerudp.run("--version").stdout.decode(), r"^uerudp \d+\.\d+\.\d+\n$")

    def test_width_of_help(self):
        """No line is wider than 110 columns; wrapped lines are indented, and examples are not wrapped."""
        names = re.findall(r"^  ([a-z]+)  ", uerudp.run("help").stdout.decode(), re.M)
        self.assertGreater(len(names), 10)
        for name in set(names) - {"help"}:
            text = uerudp.run(name, "--help").stdout.decode()
            self.assertLessEqual(max(map(len, text.splitlines())), 110, name)
            self.assertNotRegex(text, r"[^\n ]  \n")
            self.assertRegex(text, rf"(?s)Examples:\n(.*\n)?  .*uerudp {name} .*[^\n]\n$")
        self.assertRegex(uerudp.run("script", "--help").stdout.decode(),
                         r"  --tolerance=MS +tolerance of times; .*\n {25}[^\n]+\n  --verbose  ")

    def test_unusable_arguments(self):
        self.assertIn("usage", errors())
        self.assertIn("frobnicate", errors("frobnicate"))
        self.assertIn("no file", errors("decode"))
        for arguments, name in ((["--no-such-option"], "no-such-option"), (["--generation=3.9"], "3.9"),
                                (["--magic-bits=99"], "magic-bits"), (["--port=70000"], "70000"),
                                (["--port=9-3"], "9-3"), (["--kind=nonsense"], "nonsense"), (["--channel=x"], "x"),
                                (["--channel=3-2"], "3-2"),
                                (["--direction=up"], "up"), (["--fields=packet.sec"], "packet.sec"),
                                (["--fields=frame", "--separator=dot"], "dot"), (["--handlers=zip"], "zip"),
                                (["--json", "--quiet"], "--quiet"), (["--profiles=/nowhere"], "/nowhere"),
                                (["--key=12"], "key"), (["--bits"], "--json"), ([f"--key={'5a' * 32}"], "--handlers"),
                                (["--separator=tab"], "--fields"), (["--changelist=-1"], "changelist")):
            self.assertIn(name, errors("decode", *arguments, LOGIN))

    def test_unusable_profiles(self):
        for text, name in (("[x]\nbase=3.1\n", "base=3.1"), ("[x]\nbasis=4.18\n", "basis"), ("[4.18]\nbase=4.18\n", "4.18"),
                           ("[x]\nmagic_bits=77\n", "magic_bits=77"), ("[x]\nserver=here\n", "server=here"),
                           ("[a b]\nbase=4.18\n", "a b"), ("nonsense\n", "")):
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(text)
                file.flush()
                message = errors("decode", "--profiles", file.name, LOGIN)
                self.assertIn(file.name, message)
                self.assertIn(name, message)

    def test_unusable_files(self):
        self.assertEqual("uerudp: /nowhere: cannot open: No such file or directory\n", errors("decode", "/nowhere"))
        self.assertIn("directory", errors("decode", "/"))
        self.assertIn("the file is empty", errors("decode", "/dev/null"))
        self.assertIn("-: ", errors("decode", "-", data=b"this is no capture at all"))
        output = uerudp.run("decode", "--json", "/nowhere", LOGIN, status=2).stdout
        self.assertEqual(11, len(output.splitlines()), "the other files are still read")


class Output(unittest.TestCase):
    def test_text(self):
        text = uerudp.run("decode", LOGIN).stdout.decode()
        self.assertEqual(11, len(re.findall(r"^Frame \d+, ", text, re.M)))
        for line in ("  Handshake", "    Type: 0 (Initial)", "  Bunch 0: channel 0 Control, open, reliable #499, 96 bits",
                     "    Control message", "      Message: 0 (Hello)", "      Network version: 0x00000000",
                     "  Terminator: yes, yes"):
            self.assertIn(f"\n{line}\n", text)
        self.assertTrue(text.startswith(
            "Frame 1, 0.000000 s, 198.51.100.1:50000 > 192.0.2.1:7777, 49 bytes, stream 0, client to server, generation 5.4"))
        implied = uerudp.run("decode", recordings.path("utcp-orig-clean")).stdout.decode()
        self.assertIn("\n    [Type: 0 (Initial)]\n", implied)

    def test_ranges(self):
        """Acknowledged packets are ranges in the tree and lists in JSON."""
        blocks = uerudp.run("decode", LOSS).stdout.decode().split("\n\n")
        seen = []
        for datagram, block in zip(uerudp.decode(LOSS), blocks):
            for key, label in (("acked", "Acked"), ("nacked", "Nacked")):
                shown = []
                for line in re.findall(rf"^    \[{label}: (.*)\]$", block, re.M):
                    seen += line.split(", ")
                    for run in line.split(", "):
                        first, _, last = run.partition("-")
                        shown += range(int(first), int(last or first) + 1)
                self.assertEqual(datagram.get("packet", {}).get(key, []), shown)
        self.assertIn("14609-14619", seen)
        self.assertIn("14625", seen)

    def test_summary(self):
        summary = errors("decode", LOSS, status=0)
        self.assertIn("786 datagrams in 1 connection, 0 malformed", summary)
        self.assertIn("generation 5.1 to 5.3 (only generation", summary)
        quiet = uerudp.run("decode", "--quiet", LOSS)
        self.assertEqual((b"", summary), (quiet.stdout, quiet.stderr.decode()))
        ties = errors("decode", LOGIN, status=0)
        self.assertIn("generation 5.4 to 5.7 (", ties)

    def test_progress(self):
        """On a terminal, a line shows the progress of a large file; a closing line replaces it."""
        payload, = uerudp.encode([HELLO])
        main, side = pty.openpty()
        with tempfile.NamedTemporaryFile() as file:
            file.write(uerudp.pcap([(40000, 7777, payload)] * 5000))
            file.flush()
            process = subprocess.Popen([uerudp.PROGRAM, "decode", "--generation=5.5", file.name],
                                       stdout=subprocess.PIPE, stderr=side)
            os.close(side)
            start = os.read(process.stdout.fileno(), 1)
            time.sleep(1.5)  # the pipe is full, so that the program is still running then
            blocks = (start + process.communicate(timeout=60)[0]).decode().count("\nFrame ")
            shown = everything_from(main).decode()
        self.assertEqual(4999, blocks)
        self.assertRegex(shown, r"^(\r\x1b\[K +\d+ %, \d+ frames, \d+/s)+\r\x1b\[K5000 frames in \d\.\d s, \d+/s\r\nstream 0: ")
        self.assertIn("5000 datagrams in 1 connection", shown)

    def test_progress_only_on_a_terminal(self):
        self.assertNotIn("%", errors("decode", "--quiet", *[LOSS] * 3, status=0))

    def test_fields(self):
        lines = uerudp.run("decode", "--fields", "frame,packet.seq,bunch.channel,bunch.data_bits,control.login.url", LOGIN)
        rows = [line.split("\t") for line in lines.stdout.decode().splitlines()]
        self.assertEqual([str(n) for n in range(1, 12)], [row[0] for row in rows])
        self.assertEqual(["5", "4594", "0", "96", ""], rows[4])
        self.assertEqual(["8", "4595", "0", "208", "?Name=Sim"], rows[7])

    def test_fields_like_json(self):
        keys = ["frame", "time", "src", "dst", "length", "stream", "direction", "generation", "generation_reason",
                "session_id", "packet.seq", "packet.id", "packet.has_info", "handshake.cookie", "handshake.timestamp"]
        rows = [line.split("\t") for line in
                uerudp.run("decode", "--fields", ",".join(keys), LOSS).stdout.decode().splitlines()]
        datagrams = uerudp.decode(LOSS)
        self.assertEqual(len(datagrams), len(rows))
        for datagram, row in zip(datagrams, rows):
            for key, text in zip(keys, row):
                value = datagram
                for part in key.split("."):
                    value = value.get(part) if value is not None else None
                wanted = "" if value is None else str(int(value)) if isinstance(value, bool) else str(value)
                self.assertEqual(wanted, text, key)

    def test_fields_repeated(self):
        columns = uerudp.run("decode", "--fields", "bunch.channel,packet.acked", LOSS).stdout.decode().splitlines()
        for datagram, line in zip(uerudp.decode(LOSS), columns):
            channels = ";".join(str(bunch["channel"]) for bunch in datagram.get("bunches", []))
            acked = ";".join(map(str, datagram.get("packet", {}).get("acked", [])))
            self.assertEqual(f"{channels}\t{acked}", line)

    def test_fields_quoted(self):
        url = 'a,b"c\td\\e'
        text = uerudp.encode([{"bunches": [{"messages": [{"login": {"url": url}}]}]}])[0].hex().encode()
        options = ["--hex", "--generation=5.5", "--fields=frame,control.login.url"]
        comma = uerudp.run("decode", *options, "--separator=comma", "-", data=text).stdout.decode()
        self.assertEqual('1,"a,b""c\\td\\\\e"\n', comma)
        self.assertEqual('1\ta,b"c\\td\\\\e\n', uerudp.run("decode", *options, "-", data=text).stdout.decode())

    def test_bits(self):
        for datagram in uerudp.decode("--bits", LOSS):
            data = {(bit, length) for key, bit, length in datagram["bits"] if key == "bunch.data"}
            for key, bit, length in datagram["bits"]:
                self.assertLessEqual(bit + length, datagram["length"] * 8)
                inside = any(start <= bit and bit + length <= start + size for start, size in data)
                self.assertEqual(key.startswith("control.") or key == "bunch.data", inside and length > 0 or
                                 (key == "bunch.data" and length == 0), f"{datagram['frame']} {key}")
            for bunch, (_, length) in zip(datagram.get("bunches", []),
                                          [entry[1:] for entry in datagram["bits"] if entry[0] == "bunch.data"]):
                self.assertEqual(bunch["data_bits"], length)

    def test_json_lines(self):
        output = uerudp.run("decode", "--json", LOSS).stdout
        for line in output.splitlines():
            datagram = json.loads(line)
            self.assertEqual(1, datagram["schema"])
            self.assertEqual(line, json.dumps(datagram, separators=(",", ":"), ensure_ascii=False).encode())

    def test_numbers(self):
        """Numbers above 2^53 are strings; signed numbers, runs of hexadecimal digits, any texts."""
        messages = [{"iris_protocol_mismatch": {"id": str(2**53 + 1)}}, {"iris_protocol_mismatch": {"id": 2**53}},
                    {"netspeed": {"rate": -5}}, {"failure": {"text": "\u20ac\"\\\n"}}]
        payload, = uerudp.encode([{"bunches": [{"messages": messages}]}])
        decoded, = uerudp.decode("--hex", "--generation=5.5", "-", data=payload.hex().encode())
        self.assertEqual(messages, [{k: v for k, v in message.items() if k != "type"}
                                    for message in decoded["bunches"][0]["messages"]])

    def test_seconds_of_32_bits(self):
        """Every output format has the double of the bits on the wire, which encodes to the same bits."""
        raws = ["3f8547d8", "40490fdb", "3dcccccd", "7f7fffff", "00000001", "80000000"]
        payloads = uerudp.encode([{"generation": "4.20", "handshake": {"cookie": "01" * 20, "timestamp_raw": raw}} for raw in raws])
        text = "\n".join(payload.hex() for payload in payloads).encode()
        datagrams = uerudp.decode("--hex", "--generation=4.20", "-", data=text)
        columns = uerudp.run("decode", "--hex", "--generation=4.20", "--fields=handshake.timestamp", "-", data=text)
        for raw, datagram, column in zip(raws, datagrams, columns.stdout.decode().splitlines(), strict=True):
            seconds, = struct.unpack(">f", bytes.fromhex(raw))
            plain = raw != "80000000"
            self.assertEqual(seconds if plain else None, datagram["handshake"]["timestamp"])
            self.assertEqual(None if plain else raw, datagram["handshake"].get("timestamp_raw"))
            self.assertEqual(repr(seconds), repr(float(column)))
        self.assertEqual(1.041254997253418, datagrams[0]["handshake"]["timestamp"])
        self.assertEqual(payloads, uerudp.encode(datagrams))

    def test_lone_surrogate(self):
        """Lone surrogates become U+FFFD; raw has the bytes."""
        data = bytes([6]) + (-2 & 0xFFFFFFFF).to_bytes(4, "little") + b"\x00\xd8\0\0"
        payload, = uerudp.encode([{"bunches": [{"data": data.hex()}]}])
        decoded, = uerudp.decode("--hex", "--generation=5.5", "-", data=payload.hex().encode())
        self.assertEqual("\ufffd", decoded["bunches"][0]["messages"][0]["failure"]["text"])
        self.assertEqual([payload], uerudp.encode([decoded]))

    def test_terminal(self):
        """On a terminal the default output is the tree, and a capture is refused."""
        main, side = pty.openpty()
        process = subprocess.Popen([uerudp.PROGRAM, "encode"], stdin=subprocess.DEVNULL, stdout=side,
                                   stderr=subprocess.PIPE)
        self.assertEqual(2, process.wait(30))
        self.assertIn(b"terminal", process.stderr.read())
        process.stderr.close()
        os.close(main)
        os.close(side)


class Selection(unittest.TestCase):
    def frames(self, *options, path=LOSS):
        return [datagram["frame"] for datagram in uerudp.decode(*options, path)]

    def assert_selects(self, condition, *options, path=LOSS):
        everything = uerudp.decode(path)
        wanted = [datagram["frame"] for datagram in everything if condition(datagram)]
        self.assertTrue(0 < len(wanted) < len(everything), options)
        self.assertEqual(wanted, self.frames(*options, path=path), options)

    def test_each(self):
        def some(condition):
            return lambda datagram: any(condition(bunch) for bunch in datagram.get("bunches", []))
        self.assert_selects(lambda d: d["direction"] == 1, "--direction=c2s")
        self.assert_selects(lambda d: d["direction"] == 2, "--direction=s2c")
        self.assert_selects(some(lambda b: b["channel"] in (2, 3)), "--channel=2,3")
        self.assert_selects(some(lambda b: b["channel"] in (2, 3)), "--channel=2", "--channel=3")
        self.assert_selects(some(lambda b: b["channel"] >= 1), "--channel=1-")
        self.assert_selects(lambda d: d["is_handshake"], "--kind=handshake")
        self.assert_selects(lambda d: not d["is_handshake"], "--kind=packet")
        self.assert_selects(lambda d: not d["is_handshake"] and not d.get("bunches"), "--kind=empty")
        self.assert_selects(lambda d: d.get("bunches"), "--kind=bunch")
        self.assert_selects(some(lambda b: b["channel"] == 0), "--kind=control")
        self.assert_selects(some(lambda b: b.get("open")), "--kind=open")
        self.assert_selects(some(lambda b: b.get("close")), "--kind=close", path=CAPTURES / "close-reasons.pcapng")
        self.assert_selects(some(lambda b: b["reliable"]), "--kind=reliable")
        self.assert_selects(some(lambda b: not b["reliable"]), "--kind=unreliable")
        self.assert_selects(some(lambda b: b["partial"]), "--kind=partial", path=CAPTURES / "big-bunch.pcapng")
        self.assert_selects(some(lambda b: b["has_exports"]), "--kind=exports")
        self.assert_selects(lambda d: d["is_handshake"] or any(b.get("open") for b in d.get("bunches", [])), "--kind=handshake,open")
        self.assert_selects(lambda d: d["direction"] == 2 and any(b.get("open") for b in d.get("bunches", [])),
                    "--kind=open", "--direction=s2c")

    def test_order_of_times(self):
        """--to before --from is an error; the same place, and what cannot be compared before reading, is none."""
        path = CAPTURES / "game.pcapng"
        for program in ("decode", "info"):
            for first, last, status in (("frame:10", "frame:5", 2), ("1", "0.5", 2), ("frame:5", "frame:5", 0), ("0.5", "0.5", None),
                                        ("frame:10", "0.01", None), ("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z", 2)):
                for options in ([f"--from={first}", f"--to={last}"], [f"--to={last}", f"--from={first}"]):
                    result = uerudp.run(program, *options, path, status=status)
                    self.assertEqual(status == 2, b"--to is before --from" in result.stderr, options)

    def test_streams(self):
        path = CAPTURES / "two-clients.pcapng"
        everything = uerudp.decode(path)
        for stream in range(2):
            self.assertEqual([d["frame"] for d in everything if d["stream"] == stream],
                             self.frames(f"--stream={stream}", path=path))
        self.assertEqual([], self.frames("--stream=9", path=path))

    def test_acks(self):
        path = recordings.path("utcp-ue418-clean")
        wanted = [d["frame"] for d in uerudp.decode(path) if any(i["is_ack"] for i in d.get("items", []))]
        self.assertEqual(wanted, self.frames("--kind=ack", path=path))


class Faults(unittest.TestCase):
    def decode(self, payloads, *options, status=1):
        text = "\n".join(payload.hex() for payload in payloads).encode()
        return uerudp.run("decode", "--hex", "--generation=5.5", *options, "-", data=text, status=status)

    def test_malformed(self):
        good, = uerudp.encode([HELLO])
        bad = good[:-6]
        result = self.decode([good, bad, good], "--json")
        first, second, third = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertNotIn("fault", first)
        self.assertNotIn("fault", third)
        self.assertEqual(bad.hex(), second["raw"])
        self.assertEqual({"status", "field", "bit"}, set(second["fault"]))
        where = f"frame 2: malformed: {second['fault']['field']} at bit {second['fault']['bit']}: "
        self.assertIn(where, result.stderr.decode())
        self.assertIn("1 malformed", result.stderr.decode())
        self.assertEqual([good, bad, good], uerudp.encode([first, second, third]))
        text = self.decode([bad]).stdout.decode()
        self.assertIn(f"Malformed: {second['fault']['field']} at bit {second['fault']['bit']}: ", text)
        self.assertEqual(b"", self.decode([bad], "--quiet").stdout)
        self.assertEqual(1, len(self.decode([good, bad], "--json", "--kind=malformed").stdout.splitlines()))

    def test_not_canonical(self):
        """Packed channel 0 in two bytes is not canonical; raw has the bytes."""
        payload, = uerudp.encode([{"bunches": [{"data": "07"}]}])
        number = int.from_bytes(payload, "little")
        datagram, = uerudp.decode("--hex", "--bits", "--generation=5.5", "-", data=payload.hex().encode())
        at = next(bit for key, bit, _ in datagram["bits"] if key == "bunch.channel")
        low = number & (1 << at) - 1
        longer = (low | 1 << at | (number >> at) << at + 8).to_bytes(len(payload) + 1, "little")
        decoded, = uerudp.decode("--hex", "--generation=5.5", "-", data=longer.hex().encode())
        self.assertIs(False, decoded["canonical"])
        self.assertEqual(longer.hex(), decoded["raw"])
        self.assertEqual(0, decoded["bunches"][0]["channel"])
        self.assertEqual([longer], uerudp.encode([decoded]))

    def test_opaque(self):
        payload = bytes([0x7e]) * 40
        decoded, = uerudp.decode("--hex", "--generation=4.25", "--handlers=aesgcm", "-", data=payload.hex().encode())
        self.assertTrue(decoded["handler"]["encrypted"])
        self.assertEqual(payload.hex(), decoded["raw"])
        self.assertEqual([payload], uerudp.encode([decoded]))

    def test_keys(self):
        """Only the right key decrypts; encode writes the same bytes with and without it."""
        handlers = {"aesgcm-bitform-encrypted": "aesgcm", "aesgcm-byteform-encrypted": "aesgcm-bytes",
                    "aes-ecb-encrypted": "aes-ecb"}
        sealed = [vector for vector in recordings.vectors("packet-handlers.json") if vector["name"] in handlers]
        self.assertEqual(len(handlers), len(sealed))
        for vector in sealed:
            handler = handlers[vector["name"]]
            options = ["--hex", "--generation=4.25", f"--handlers={handler}", "-"]
            data = vector["hex"].encode()
            key = f"--key={vector['params']['key_hex']}"
            wrong = f"--key={'5a' * 32}"
            opened, = uerudp.decode(key, *options, data=data)
            self.assertEqual((12054, 10244), (opened["packet"]["seq"], opened["packet"]["ack"]))
            self.assertEqual([100000], [m["netspeed"]["rate"] for m in opened["bunches"][0]["messages"]])
            self.assertEqual([True] * (2 if handler == "aesgcm-bytes" else 3), opened["terminator"])
            self.assertEqual([bytes.fromhex(vector["hex"])], uerudp.encode([opened]))
            if handler != "aes-ecb":  # has no tag that shows a wrong key
                for others in ([], [wrong]):
                    closed, = uerudp.decode(*others, *options, data=data)
                    self.assertFalse({"packet", "bunches"} & set(closed))
                self.assertEqual([opened], uerudp.decode(wrong, key, *options, data=data))
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(f"# of this session\n{vector['params']['key_hex']}\n")
                file.flush()
                self.assertEqual("given key", opened["handler"]["key"])
                opened["handler"]["key"] = f"line 2 of {os.path.basename(file.name)}"
                self.assertEqual([opened], uerudp.decode(f"--key={file.name}", *options, data=data))

    def test_many(self):
        result = self.decode([b"\x01\x02\x03\x80"] * 50, "--quiet")
        self.assertEqual(20, result.stderr.decode().count("malformed: "))
        self.assertIn("50 malformed", result.stderr.decode())

    def test_every_cut(self):
        """Each datagram cut at each byte has a line, and encode writes the same bytes."""
        login, = uerudp.encode([{"bunches": [{"reliable": True, "messages": [
            {"login": {"url": "?Name=X"}, "unique_id": {"text": "abc"}}]}, {"channel": 3, "data": "00ff"}]}])
        cuts = [login[:length] for length in range(1, len(login))]
        lines = self.decode(cuts, "--json").stdout
        self.assertEqual(cuts, uerudp.encode([json.loads(line) for line in lines.splitlines()]))


class Files(unittest.TestCase):
    def test_truncated(self):
        """The datagrams before the damage are printed, then an error with exit status 2."""
        data = LOSS.read_bytes()
        whole = uerudp.run("decode", "--json", LOSS).stdout.splitlines()
        for length in (len(data) - 1, len(data) // 2, 24 + 16 + 5, 24 + 7):
            result = uerudp.run("decode", "--json", "-", data=data[:length], status=2)
            lines = result.stdout.splitlines()
            self.assertEqual(whole[:len(lines)], lines)
            self.assertGreaterEqual(len(lines), len(whole) * (length - 300) // len(data) - 20)
            self.assertRegex(result.stderr.decode(), r"uerudp: -: .+; the part before it was read")

    def test_truncated_gzip(self):
        packed = gzip.compress(LOSS.read_bytes())
        with tempfile.NamedTemporaryFile(suffix=".gz") as file:
            file.write(packed[:len(packed) // 2])
            file.flush()
            result = uerudp.run("decode", "--json", file.name, status=2)
        self.assertGreater(len(result.stdout.splitlines()), 100)
        self.assertIn(file.name, result.stderr.decode())

    def test_empty(self):
        self.assertIn("0 datagrams", errors("decode", "-", data=uerudp.pcap([]), status=0))

    def test_snap_length(self):
        """A datagram that the snap length cut is cut, not malformed."""
        payload, = uerudp.encode([HELLO])
        with tempfile.NamedTemporaryFile() as file:
            file.write(uerudp.pcap([(40000, 7777, payload)] * 2, snap=4 + 20 + 8 + 12))
            file.flush()
            decoded = uerudp.decode("--generation=5.5", file.name)
            text = uerudp.run("decode", "--generation=5.5", file.name)
        self.assertEqual(2, len(decoded))
        self.assertEqual("size limited", decoded[0]["fault"]["status"])
        self.assertEqual((len(payload), payload[:12].hex()), (decoded[0]["length"], decoded[0]["raw"]))
        self.assertIn(f"Size limited: only 12 of {len(payload)} bytes were captured", text.stdout.decode())
        self.assertIn("2 datagrams cut by the snap length", text.stderr.decode())

    def test_nothing_recognised(self):
        """Without a recognised datagram an error names options to try."""
        foreign = uerudp.pcap([(5000, 6000, b"something else")] * 3)
        self.assertIn("3 UDP datagrams without a handshake of this protocol; give the server's port with --port", errors("decode", "-", data=foreign, status=0))
        self.assertNotIn("--port", errors("decode", LOGIN, status=0))
        summary = errors("decode", "--port=6000", "-", data=foreign, status=0)
        self.assertIn("generation unknown (no generation fits well; check ", summary)
        self.assertIn("3 datagrams on a server port, but not recognised", summary)

    def test_output_that_cannot_be_written(self):
        for arguments in (["decode"], ["decode", "--json"], ["decode", "--fields=frame"], ["decode", "--help"]):
            with open("/dev/full", "wb") as full:
                result = subprocess.run([uerudp.PROGRAM, *arguments, LOSS], stdout=full, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(2, result.returncode)
            self.assertEqual(1, result.stderr.count(b"cannot write: No space left on device"))

    def test_closed_reader(self):
        """The program exits without an error, also if its parent ignores SIGPIPE."""
        for ignored in (signal.SIG_DFL, signal.SIG_IGN):
            process = subprocess.Popen([uerudp.PROGRAM, "decode", LOSS], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       restore_signals=False, preexec_fn=lambda: signal.signal(signal.SIGPIPE, ignored))
            self.assertTrue(process.stdout.readline().startswith(b"Frame 1, "))
            process.stdout.close()
            self.assertEqual(b"", process.stderr.read())
            process.stderr.close()
            self.assertEqual(-signal.SIGPIPE, process.wait(60))

    def test_hex_forms(self):
        payload, = uerudp.encode([HELLO])
        digits = payload.hex()
        pairs = [digits[i:i + 2] for i in range(0, len(digits), 2)]
        array = ", ".join("0x" + pair for pair in pairs)
        dump = "\n".join(f"{at:08x}  {' '.join(pairs[at:at + 16])}" for at in range(0, len(pairs), 16))
        for text in (digits, " ".join(pairs), ":".join(pairs), array, f"const uint8_t hello[] = {{ {array} }};", dump,
                     f"# a comment\n{digits}  # and another\n"):
            decoded, = uerudp.decode("--hex", "--generation=5.5", "-", data=text.encode())
            self.assertEqual([payload], uerudp.encode([decoded]), text)
        first, second = uerudp.decode("--hex", "--generation=5.5", "-", data=f"S> {digits}\nC> {digits}".encode())
        self.assertEqual((2, 1), (first["direction"], second["direction"]))
        self.assertIn("-: ", errors("decode", "--hex", "-", data=b"zz"))

    def test_netver_of_an_engine(self):
        for netver in (36, 14):
            checksum = netver_checksum("MyGame", "2.0", 5, netver, 3)
            payload, = uerudp.encode([{"bunches": [{"messages": [{"hello": {"network_version": checksum}}]}]}])
            options = ["--hex", "--quiet", "--generation=5.5", "--project-version=2.0", "--changelist=5",
                       "--game-netver=3"]
            summary = errors("decode", *options, "--project=MyGame", "-", data=payload.hex().encode(), status=0)
            self.assertIn(f"network version 0x{checksum:08x}: EngineNetVer {netver} of project MyGame", summary)
            summary = errors("decode", *options, "--project=Other", "-", data=payload.hex().encode(), status=0)
            self.assertIn("does not match any EngineNetVer", summary)


def netver_checksum(project, version, changelist, netver, game):
    import zlib
    text = f"{project} {version}, NetCL: {changelist}, EngineNetVer: {netver}, GameNetVer: {game}".lower()
    return zlib.crc32(text.encode("utf-32-le"))


if __name__ == "__main__":
    uerudp.main()
