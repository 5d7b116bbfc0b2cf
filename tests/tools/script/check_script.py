#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp script: success, failures with their line and column, options, and hostile scripts."""
import json
import pathlib
import random
import re
import tempfile
import time
import unittest

import uerudp

ROOT = uerudp.ROOT
SCENARIOS = sorted((ROOT / "tests/scenarios").glob("*.txt"))
DOCUMENT = (ROOT / "docs/script.md").read_text()
EXPECTED = re.compile(r"^(@[ABCL]+ )? +[^ #]")  # an expected line

SEND = "fixture\nC send 5 m1 each\n"
FIRST = "    0.0000 C > 100 Ack=499 hist=0 [5 R101 m1 80]\n"


def play(text, *options, status=0):
    """(standard output, standard error) of a script on standard input. Both must be empty on success."""
    result = uerudp.run("script", *options, data=text.encode(), status=status)
    if status == 0 and not options:
        assert result.stdout == result.stderr == b"", result
    return result.stdout.decode(), result.stderr.decode()


def results(*arguments, data=b"", status=0):
    output = uerudp.run("script", "--json", *arguments, data=data, status=status).stdout.decode()
    return [json.loads(line, object_pairs_hook=uerudp.without_duplicates) for line in output.splitlines()]


def other_digit(line, rng):
    """The line with one of its digits changed."""
    begin = re.match(r"(@[ABCL]+ )?", line).end()
    place = rng.choice([match.start() for match in re.finditer(r"\d", line) if match.start() >= begin])
    digit = str((int(line[place]) + rng.randrange(1, 10)) % 10)
    return line[:place] + digit + line[place + 1:]


class Success(unittest.TestCase):
    def test_no_output_on_success(self):
        play(SEND + FIRST)
        play("# nothing but a fixture\nfixture")
        play(SEND.replace("\n", "\r\n") + FIRST)

    def test_dont_care(self):
        for line in ("*", "0-1", "0.0000"):
            play(f"{SEND}    {line} C > 100 Ack=499 hist=0 [5 R101 m1 80]")
        for words in ("* * * 100 Ack=* hist=* [5 R* m* *]", "* C ...", "* ... [5 ... 80]", "* C > 100 ... [* R101 m1 *]",
                      "* ... packet.ack=499 packet.history_words=1", "* ... packet.history=0x0 bunch.reliable=1",
                      "* C > 100 ... ... bunch.data=6d31* bunch.channel_name=*"):
            play(f"{SEND}    {words}")
        play(SEND + "    ...\n")
        three = "fixture\nC send 5 m1 each x3\n"
        play(three + "    ...\n    * ... [5 R102 ...\n    * ... [5 R103 ...\n")
        play(three + "    * ... [5 R101 ...\n    ...\nC tick\n")
        play(three + "    ...\n    * ... [5 R102 ...\n", status=1)

    def test_star_before_a_digit_is_literal(self):
        wide = "fixture\nC send 5 u 8 unreliable x300 each\n    ...\nS reads 399\n    ...\nS tick\n    * S > 500 {}\n"
        play(wide.format("Ack=399 hist=1,0*7"), "--generation", "A")
        play(wide.format("Ack=399 hist=1,0*6"), "--generation", "A", status=1)
        play(wide.format("Ack=399 hist=1,*"), "--generation", "A")

    def test_items_and_occurrences(self):
        two = "fixture\nC send 5 m1\nC send 5 m2 40\nC flush\n    * C > 100 ... "
        play(two + "bunch.data_bits=80 bunch.data_bits[1]=40 bunch.ch_seq[1]=102")
        play(two + "bunch.data_bits[2]=40", status=1)
        wide = "fixture\nC send 5 u 8 unreliable x300 each\n    ...\nS reads 399\n    ...\nS tick\n    * S > 500 ... "
        play(wide + "packet.history=0x1 packet.history[1]=0x0 packet.history[7]=0x0", "--generation", "A")

    def test_generations(self):
        for options, names in (((), ["A", "B", "C"]), (("--generation", "5.5", "--generation", "L"), ["5.5", "L"]),
                               (("--generation", "all"), ["4.13", "4.17", "4.18", "4.22", "4.26", "5.0", "5.1", "5.4",
                                                          "5.5", "5.8"])):
            data = (SEND + "    * C > 100 ... [5 R101 m1 80]").encode()
            found = [result["generation"] for result in results(*options, data=data)]
            self.assertLessEqual(set(names) if "all" not in options else {"4.13", "5.8"}, set(found))
            self.assertEqual(len(found), len(names) if "all" not in options else 12)
        named = results(data=("generation 5.1 C\n" + SEND + "    ...").encode())
        self.assertEqual([result["generation"] for result in named], ["5.1", "C"])
        play("generation C L\n" + SEND + "@C     * C > 100 Ack=499 ...\n@L     * C > 100 [5 R101 m1 80]\n")

    def test_configuration(self):
        alive = "fixture\nC tick\n    ...\nrun C until=0.55\n    ...\nC has KeepAlives={}\n"
        play(alive.format(2))
        play("config C keep_alive=0.4\n" + alive.format(1))
        play("config S keep_alive=0.4\n" + alive.format(2))
        full = "fixture\nC send 5 m 8 x{} each\n    ...\nC has NumOutRec(5)={}\n"
        play("config reliable_buffer=8\n" + full.format(7, 7))
        play("config reliable_buffer=8\n" + full.format(20, 20), status=1)
        errors = play("config max_packet=20\nfixture\n", status=2)[1]
        self.assertIn("-:2:8: generation A: no connection can be created with this configuration", errors)

    def test_documented_keys_and_facts(self):
        """The program accepts every key and fact of the document, which has every fact."""
        paragraph = DOCUMENT.split("Keys of `config`")[1].split("\n\n")[0]
        keys = set(re.findall(r"`([a-z_]+)`", paragraph))
        self.assertGreater(len(keys), 25)
        for key in keys:
            errors = play(f"config {key}=1\nconfig {key}=wings\n", "--generation", "B", status=2)[1]
            self.assertIn(f"-:2:{len('config =') + len(key) + 1}: ", errors)
        facts = dict(re.findall(r"^\| `(\w+)` \| (.*?)(?:, hexadecimal|: `\S+`)? \|$", DOCUMENT.split("## Facts")[1], re.M))
        source = (ROOT / "tools/endpoint/core/inspect.def").read_text()
        self.assertEqual(facts, dict(re.findall(r'^UE_\w*FACT\((\w+), .*"(.*)"\)$', source, re.M)))
        of_channel = set(re.findall(r"^UE_(?:ENTRY|CHANNEL)_FACT\((\w+)", source, re.M))
        for fact in facts:
            asked = f"{fact}(5)" if fact in of_channel else fact
            errors = play(f"fixture\nC has {asked}=?", "--generation", "B", status=1)[1]
            self.assertRegex(errors, rf"^-:2: generation B: C has another value\n  expected: {re.escape(asked)}=\?\n"
                                   rf"  came:     {re.escape(asked)}=(?!none)")

    def test_document(self):
        """The scripts of the document pass, and its failing script has the output that is shown."""
        blocks = re.findall(r"^```\n(.*?)^```$", DOCUMENT, re.M | re.S)
        scripts = [block for block in blocks if re.search("^fixture$", block, re.M)]
        self.assertEqual(len(scripts), 2)
        for script in scripts:
            play(script)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "broken.txt"
            path.write_text(SEND + FIRST.replace("499", "498"))
            errors = uerudp.run("script", "--generation", "A", path, status=1).stderr.decode().replace(folder + "/", "")
            self.assertIn(errors, blocks)

    def test_manual_has_every_option(self):
        manual = (ROOT / "docs/uerudp-script.1").read_text().replace("\\-", "-")
        options = re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", uerudp.run("script", "--help").stdout.decode(), re.M)
        self.assertEqual(len(options), 8)
        for option in options:
            self.assertIn(option, manual)


class Failure(unittest.TestCase):
    """A failure names the line and the column, the expected and the actual text, the field and its bit."""

    def assert_fails(self, script, expected, *options):
        self.assertEqual(play(script, "--generation", "B", *options, status=1), ("", expected))

    def test_packets(self):
        came = "  came:     0.0000 C > 100 Ack=499 hist=0 [5 R101 m1 80]\n"
        for changed, column, field in (
                ("0.0000 C > 100 Ack=498 hist=0 [5 R101 m1 80]", 20, "packet.ack at bit 5: expected Ack=498, came Ack=499"),
                ("0.0000 C > 101 Ack=499 hist=0 [5 R101 m1 80]", 16, "packet.seq at bit 19: expected 101, came 100"),
                ("0.0000 C > 100 Ack=499 hist=1 [5 R101 m1 80]", 28, "packet.history at bit 33: expected hist=1, came hist=0"),
                ("0.0000 C > 100 Ack=499 hist=0 [4 R101 m1 80]", 35, "bunch.channel at bit {channel}: expected [4, came [5"),
                ("0.0000 C > 100 Ack=499 hist=0 [5 R102 m1 80]", 38, "bunch.ch_seq at bit {ch_seq}: expected R102, came R101"),
                ("0.0000 C > 100 Ack=499 hist=0 [5 R101 m2 80]", 43, "bunch.data at bit {data}: expected m2, came m1"),
                ("0.0000 C > 100 Ack=499 hist=0 [5 R101 m1 88]", 46, "bunch.data_bits at bit {data_bits}: expected 88], came 80]"),
                ("0.0000 C > 100 ... packet.ack=1", 24, "packet.ack at bit 5: expected 1, came 499"),
                ("0.0000 C > 100 ... bunch.close_reason=1", 24, "bunch.close_reason at bit 0: expected 1, came no such field")):
            field = field.format(**self.bits())
            self.assert_fails(f"{SEND}    {changed}", f"-:3:{column}: generation B: the line differs\n  expected: {changed}\n"
                                                     f"{came}  {field}\n")

    def bits(self):
        """The bit positions of the bunch's fields by decode, for a packet of encode."""
        packet = {"packet": {"seq": 100, "ack": 499, "history": [0], "has_info": True},
                  "bunches": [{"channel": 5, "reliable": True, "ch_seq": 101, "channel_name": "DataStream",
                               "data": "6d31" + 16 * "0"}]}
        payload = uerudp.encode([packet], "--generation", "5.0")[0]
        decoded = uerudp.decode("--bits", "--hex", "--generation", "5.0", "-", data=payload.hex().encode())
        bits = {key.split(".")[-1]: at for key, at, *_ in decoded[0]["bits"]}
        self.assertLess(bits["channel"], bits["data"])
        return bits

    def test_ends(self):
        self.assert_fails(SEND + FIRST.rstrip() + " [5 U x 8]",
                         "-:3:50: generation B: the line differs\n  expected: 0.0000 C > 100 Ack=499 hist=0 [5 R101 m1 80] "
                         "[5 U x 8]\n  came:     0.0000 C > 100 Ack=499 hist=0 [5 R101 m1 80]\n"
                         f"  the packet ends at bit {self.bits()['data'] + 80}, where [5 is expected\n")

    def test_times(self):
        at = "fixture\nat 1.5\nC send 5 m1 each\n    {} C > 100 ...\n"
        play(at.format("1.5"))
        play(at.format("1.4-1.6"))
        play(at.format("1.4"), "--tolerance", "100")
        self.assert_fails(at.format("1.4"), "-:4: generation B: the line differs\n  expected: 1.4 C > 100 ...\n"
                         "  came:     1.5000 C > 100 Ack=499 hist=0 [5 R101 m1 80]\n", "--tolerance", "99")
        play(at.format("1.5001"), status=1)

    def test_too_little_and_too_much(self):
        self.assert_fails("fixture\n" + FIRST, "-:2: generation B: nothing came\n  expected: " + FIRST.strip() + "\n")
        for end in ("C tick\n", ""):
            self.assert_fails(SEND + end, "-:3: generation B: this line was not expected\n  came:     "
                             + FIRST.strip() + "\n")
        self.assert_fails(SEND + "    ...\n    * C > 101 ...\n", "-:4: generation B: no line of the output matches\n"
                         "  expected: * C > 101 ...\n  came:     " + FIRST.strip() + "\n")

    def test_facts_and_actions(self):
        self.assert_fails("fixture\nC has InSeq=499 OutSeq=99", "-:2: generation B: C has another value\n"
                         "  expected: OutSeq=99\n  came:     OutSeq=100\n")
        self.assert_fails("fixture\nC has NumOutRec(9)=0", "-:2: generation B: C has another value\n"
                         "  expected: NumOutRec(9)=0\n  came:     NumOutRec(9)=none\n")
        self.assert_fails("fixture\nC open 5 Other", "-:2: generation B: channel 5 cannot be opened: contradicts another "
                         "field\n")

    def test_json(self):
        result, = results("--generation", "B", data=(SEND + FIRST.replace("499", "498")).encode(), status=1)
        self.assertEqual(result, {
            "schema": 1, "file": "-", "generation": "B", "result": "differs", "commands": 2, "expectations": 0, "line": 3,
            "column": 20, "what": "the line differs", "expected": FIRST.strip().replace("499", "498"),
            "came": FIRST.strip(), "field": "packet.ack", "bit": 5, "expected_value": "Ack=498", "came_value": "Ack=499"})
        result, = results("--generation", "C", data=(SEND + FIRST).encode())
        self.assertEqual(result, {"schema": 1, "file": "-", "generation": "C", "result": "ok", "commands": 2,
                                   "expectations": 1})

    def test_every_expected_line_is_compared(self):
        """Each expected line with one changed digit fails at this line in some generation."""
        rng = random.Random(1)
        with tempfile.TemporaryDirectory() as folder:
            places = {}
            for path in SCENARIOS:
                lines = path.read_text().split("\n")
                for number, line in enumerate(lines):
                    if EXPECTED.match(line):
                        changed = pathlib.Path(folder) / f"{path.stem}-{number + 1}.txt"
                        changed.write_text("\n".join([*lines[:number], other_digit(line, rng), *lines[number + 1:]]))
                        places[str(changed)] = number + 1
            self.assertGreater(len(places), 500)
            failed = {result["file"]: result["line"] for result in results(*places, status=None)
                      if result["result"] != "ok"}
            self.assertEqual(failed, places)


class Mistakes(unittest.TestCase):
    """Errors in a script are reported with line and column."""

    def test_places(self):
        for line, column, what in (
                ("jump", 1, 'unknown command "jump"'), ("C jumps", 3, 'unknown command "jumps"'),
                ("C", 2, "what the side does is missing"), ("C send 5", 9, "the payload's name is missing"),
                ("C send five m", 8, '"five" is not a number up to 32766'), ("C send 5 m 8 twice", 14, "send does not know"),
                ("C send 5 m 8 x999999", 15, "not a number up to 100000"), ("C send 5 m 600000", 10, "payloads may have only"),
                ("C send 5 0x1 8", 12, "bytes are pairs of hex digits"), ("C tick tock", 8, '"tock" is not expected here'),
                ("at never", 4, '"never" is not a time'), ("at -1", 4, "not a time"), ("at nan", 4, "not a time"),
                ("at 1e300", 4, "not a time"), ("run", 4, "until= is missing"), ("run until=1 hz=0", 16, "0 Hz is not allowed"),
                ("run fast", 5, 'run does not know "fast"'), ("lose X 1", 6, "expected C or S"),
                ("lose C 1", 8, "C has sent no packet 1"), ("lose C 9-1", 8, "must increase"),
                ("lose C 0-9999999", 8, "must increase"), ("show me", 6, "neither packets nor sizes"),
                ("C bytes 0g", 9, "hex digits"), ("C bytes 000", 11, "hex digits"), ("C open 5 Door", 10, "a channel is"),
                ("C has Wings=2", 7, "Wings is not known"), ("C has InSeq", 7, "has no value"),
                ("C has InSeq(5)=1", 7, "another form"), ("C has NumOutRec(5=1", 17, ") is missing"),
                ("S forged", 9, "the packet's number is missing"), ("S forged 1 Ack=x", 16, '"x" is not a number'),
                ("S forged 1 hist=1,,2", 19, "not a history word"), ("S forged 1 hist=0*9", 19, "up to 8"),
                ("S forged 1 hist=0*8,1", 21, "a history has at most 8 words"), ("S forged 1 [5 X m 8]", 15, "neither U nor R"),
                ("S forged 1 [5 U m 8", 19, "should end with ]"), ("S forged 1 [5 U m", 18, "the payload's length"),
                ("S forged 1 [5 R1-700 m 8]", 13, "at most 600 bunches"), ("S forged 1 up", 12, "neither a field"),
                ("S forged 1 Ack=1 hist=1 [5 U m 16000]", 10, "the packet cannot be encoded"),
                ("fixture new C=99999", 15, "not a number up to 16383"), ("config colour=red", 8, "configured"),
                ("config quiet=2", 14, "up to 1"), ("config handlers=rot13", 17, "not a value of handlers"),
                ("config", 7, "a key is missing"), ("generation A", 12, "is allowed once"), ("@X C tick", 1, "letters"),
                ("    C > 100", 5, "not a time"), ("    * ", 7, "nothing follows the time"), ("    ... C", 9, "must be alone"),
                ("    * C packet.colour=1", 9, "no such field: packet.colour"),
                ("    * C packet.ack[0=1", 20, "] is missing"), ("    * C packet.ack[1]", 9, "has no value")):
            with self.subTest(line):
                errors = play(f"# ü\nfixture\n{line}\n", "--generation", "C", status=2)[1]
                self.assertRegex(errors, rf"^-:3:{column}: generation C: .*{re.escape(what)}")

    def test_fixtures_come_first(self):
        for text, place, what in (("C tick", "1:1", "there is no connection yet"), ("    * C is open", "1:5", "no output is possible"),
                                  ("", "1", "there is no fixture"), ("generation A\ngeneration B", "2:12", "is allowed once"),
                                  ("generation A 4.99", "1:14", '"4.99" is neither'), ("generation  ", "1:13", "is missing")):
            errors = play(text, status=2)[1]
            self.assertRegex(errors.splitlines()[0], rf"-:{place}: .*{re.escape(what)}")

    def test_arguments(self):
        with tempfile.TemporaryDirectory() as folder:
            for arguments, what in ((["/nowhere"], "No such file"), ([folder], "directory"), (["--tolerance=-1"], "--tolerance"),
                                    (["--tolerance=nan", "--host=localhost", "/nowhere"], "--tolerance"),
                                    (["--tolerance=7", "--host=localhost", "/nowhere"], "/nowhere"),
                                    (["--seed=x"], "--seed"), (["--generation=6.0"], "--generation=6.0"), (["--wat"], "--wat"),
                                    (["--verbose", "--json"], "exclude"), (["--host=a", "--listen=1"], "exclude"),
                                    (["--update"], "standard input"), (["--update", "--generation=A"], "--generation"),
                                    (["--host=localhost", "--generation=A", "--generation=B"], "one generation")):
                errors = uerudp.run("script", *arguments, data=b"fixture", status=2).stderr.decode()
                self.assertIn(what, errors)

    def test_once(self):
        """An error is printed once, in JSON for each generation."""
        errors = uerudp.run("script", data=b"fixture\nfrob\n", status=2).stderr.decode()
        self.assertEqual(1, errors.count("unknown command"), errors)
        self.assertEqual(3, len(results(data=b"fixture\nfrob\n", status=2)))

    def test_several_files(self):
        """All files are played, and the worst result is the exit status."""
        with tempfile.TemporaryDirectory() as folder:
            good, bad = pathlib.Path(folder) / "good", pathlib.Path(folder) / "bad"
            good.write_text(SEND + FIRST)
            bad.write_text(SEND)
            self.assertEqual([v["result"] for v in results(bad, good, "-", data=b"x", status=2)],
                             3 * ["differs"] + 3 * ["ok"] + 3 * ["mistake"])
            uerudp.run("script", "/nowhere", bad, status=2)


class Hostile(unittest.TestCase):
    """Hostile scripts end soon, with an error."""

    def test_no_text(self):
        for data, what in ((b"fixture\nC \x00tick", "2:3: the byte 0x00"), (b"\xff\xfe", "1:1: the byte 0xff"),
                           (b"# \x1b[2J", "1:3: the byte 0x1b"), (b"fixture\tnew", "1:8: the byte 0x09"),
                           (random.Random(1).randbytes(5000), "the byte 0x"), (b"x" * 20000, "-:1: longer than"),
                           (b"#\n" * 600000, "longer than 1048576 bytes")):
            errors = uerudp.run("script", data=data, status=2).stderr.decode()
            self.assertIn(what, errors)
            self.assertEqual(errors.count("\n"), 1)

    def test_too_much(self):
        busy = "C send 5 u 8000 unreliable x100000 each\n    ...\n"
        for line in ("run until=1000000 hz=10000", "C send 5 m 500000 unreliable x100000 each", busy * 30,
                     ("S forged 0-99999 Ack=499 hist=0" + " [5 U m 8]" * 300 + "\n    ...\n") * 10):
            started = time.monotonic()
            errors = play("fixture\n" + line, "--generation", "A", status=2)[1]
            self.assertIn("the script exceeds its limits", errors)
            self.assertLess(time.monotonic() - started, 60)

    def test_patterns(self):
        """Patterns with exponentially many ways to match."""
        words = " ".join(["*a*a*a*a*a*b", "..."] * 500)
        started = time.monotonic()
        play(f"fixture\nC send 5 {'a' * 199} 8000 each\n    * ... {words}", "--generation", "A", status=1)
        self.assertLess(time.monotonic() - started, 20)


class Options(unittest.TestCase):
    def test_verbose_prints_a_script(self):
        text, _ = play(SEND + "C tick\n".join(["    ...\n", ""]), "--verbose", "--generation", "B")
        self.assertEqual(text, "# -, generation B\nfixture\nC send 5 m1 each\n" + FIRST + "C tick\n")
        play(text)

    def test_seed(self):
        """The seed determines the initialisation vectors."""
        script = "config handlers=aesgcm\n" + SEND + "    ...\n"
        self.assertEqual(*[play(script, "--seed", "7", "--verbose") for _ in range(2)])

    def test_update(self):
        """--update restores changed scenarios, and leaves passing ones unchanged."""
        rng = random.Random(2)
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / path.name for path in SCENARIOS]
            for source, path in zip(SCENARIOS, paths):
                path.write_text(source.read_text())
            times = [path.stat().st_mtime_ns for path in paths]
            self.assertEqual(uerudp.run("script", "--update", *paths).stderr, b"")
            self.assertEqual([path.stat().st_mtime_ns for path in paths], times)
            for path in paths:
                lines = path.read_text().split("\n")
                broken = [other_digit(line, rng) if EXPECTED.match(line) else line for line in lines]
                path.write_text("\n".join(line for line in broken if not EXPECTED.match(line) or rng.random() < 0.8))
            uerudp.run("script", *paths, status=1)
            uerudp.run("script", "--update", *paths)
            self.assertEqual(uerudp.run("script", *paths).stderr, b"")
            self.assertEqual(sorted(p.name for p in pathlib.Path(folder).iterdir()), [p.name for p in paths])
            same = sum(path.read_text() == source.read_text() for source, path in zip(SCENARIOS, paths))
            self.assertGreater(same, len(paths) * 2 // 3)

    def test_update_keeps_matching_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "script"
            path.write_text("# first\n" + SEND + "    * C > 100 ...\n# then\nC send 5 m2 each\nC has OutSeq=102\n")
            uerudp.run("script", "--update", path)
            self.assertEqual(path.read_text(), "# first\n" + SEND + "    * C > 100 ...\n# then\nC send 5 m2 each\n"
                             "    0.0000 C > 101 Ack=499 hist=0 [5 R102 m2 80]\nC has OutSeq=102\n")
            path.write_text(before := SEND + "C has OutSeq=7\n")
            uerudp.run("script", "--update", path, status=1)
            self.assertEqual(path.read_text(), before)
            path.write_text("generation A C\nfixture\nC leaves\n")
            uerudp.run("script", "--update", path)
            self.assertIn("\n@A     0.0000 C > 100 Ack=499 hist=0 [0 R101 close - 0]\n@C     ", path.read_text())
            path.write_text(before := "generation 5.0 5.1\nfixture\nC send 5 m 8 x300\n")
            errors = uerudp.run("script", "--update", path, status=2).stderr.decode()
            self.assertIn(f"{path}: line 3: the output of 5.1 differs from that of another generation of the letter A", errors)
            self.assertEqual(path.read_text(), before)


if __name__ == "__main__":
    uerudp.main()
