#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A generation or handlers that are given and wrong: nothing is concluded from packets that decode by chance. Beside it,
given ones that are right, with damaged, few, cut and encrypted datagrams."""
import itertools
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import traffic

GENERATIONS = ("4.13", "4.14", "4.18", "4.19", "4.20", "4.22", "4.24", "4.25", "5.1", "5.4", "5.5", "5.8")
HANDLERS = ("oodle", "aesgcm", "aesgcm-bytes", "aes-ecb", "dtls", "reliability", "oodle,aesgcm")
GAME = ("game", "--duration=2", "--seed=3")
SAME_PACKETS = ({"4.13", "4.14"}, {"4.22", "4.24"})  # a short capture may not tell these apart
CUTS = (60, 90, 120, 200)


def run(command, frames, *options):
    """Exit status, output and errors."""
    result = subprocess.run([os.environ["UERUDP_PROGRAM"], command, *options, "-"], input=traffic.write(frames),
                            capture_output=True, timeout=60, check=False)
    return result.returncode, result.stdout.decode(), result.stderr.decode()


def info(frames, *options):
    connection, = traffic.lines("info", "--json", "--findings=1000", *options, frames=frames)
    return connection


def findings(connection):
    return sorted((finding["kind"], finding["severity"], finding["text"]) for finding in connection["findings"])


def moved(frames, number):
    """The connection of another port of the client, 5 s later for each number."""
    clients = {id(frame) for frame in traffic.one_way(frames, "c2s")}
    result = []
    for frame in frames:
        data = bytearray(frame.data)
        at = traffic.ETHERNET_BYTES + traffic.IPV4_BYTES + (0 if id(frame) in clients else 2)
        data[at:at + 2] = (50000 + number).to_bytes(2, "big")
        result.append(frame._replace(data=bytes(data), time_ns=frame.time_ns + number * 5 * 10**9))
    return result


class Wrong(unittest.TestCase):
    def check(self, connection, whole, name):
        """Either the settings are contradicted, and nothing is said that needs a decoded packet, or the packets do not
        show that they are wrong: then what is said is true."""
        found = connection["findings"]
        if any(finding["kind"] == "unreadable" for finding in found):
            self.assertEqual(["unreadable"], [finding["kind"] for finding in found], name)
            self.assertEqual("error", found[0]["severity"], name)
            self.assertEqual({"c2s": 0, "s2c": 0}, connection["malformed"], name)
            return True
        self.assertEqual(findings(whole), findings(connection), name)
        return False

    def test_generations(self):
        contradicted = 0
        for right in GENERATIONS:
            frames = traffic.generate(*GAME, "--generation", right).frames
            whole = info(frames)
            for wrong in GENERATIONS:
                if wrong != right and not any({wrong, right} <= same for same in SAME_PACKETS):
                    contradicted += self.check(info(frames, "--generation", wrong), whole, (right, wrong))
        self.assertEqual(12 * 11 - len(SAME_PACKETS) * 2 - 1, contradicted)  # no packet tells 4.18 from 4.14

    def test_handlers(self):
        for generation, handlers in itertools.product(("4.18", "4.25", "5.1", "5.5"), HANDLERS):
            frames = traffic.generate(*GAME, "--generation", generation).frames
            found = info(frames, "--handlers", handlers)
            self.assertTrue(self.check(found, info(frames), (generation, handlers)))
            self.assertIn(f"the given handlers {handlers}; without that setting, generation", found["findings"][0]["text"])

    def test_sentences(self):
        """The sentence names the option, and what is detected without it; --fail-on cannot pass."""
        frames = traffic.generate(*GAME, "--generation", "5.4").frames
        wrong = ("--generation", "4.25")
        status, output, errors = run("info", frames, *wrong)
        self.assertEqual(1, status)
        self.assertIn("given generation 4.25 to 5.0; without that setting, generation 5.4 is detected", output)
        self.assertIn("(--generation), so that no packet of that connection is decoded; without --generation, generation 5.4 is", errors)
        for rule in ("warning", "loss:2%", "unreadable"):
            self.assertEqual(1, run("info", frames, *wrong, "--fail-on", rule)[0], rule)
            self.assertEqual(0, run("info", frames, "--generation=5.4", "--fail-on", "loss:2%")[0])

    def test_commands(self):
        """No command reads what decodes by chance, and none takes the capture for good."""
        frames = traffic.generate(*GAME, "--generation", "5.4").frames
        for command in ("decode", "replay", "trace"):
            status, _, errors = run(command, frames, "--generation=4.25")
            self.assertEqual(1, status, command)
            self.assertNotIn("malformed:", errors)
            self.assertIn("without --generation, generation 5.4 is detected", errors)
        names = {generation: {event["name"] for event in traffic.lines("decode", "--events", "-", "--generation",
                                                                       generation, frames=frames)[1:]}
                 for generation in ("4.25", "5.4")}
        self.assertEqual({"transport:handshake_sent", "analysis:finding"}, names["4.25"])
        self.assertLess({"transport:handshake_sent", "transport:packet_sent", "recovery:packet_acked"}, names["5.4"])

    def test_check(self):
        """Where no side is compared, the capture passes no check."""
        frames = traffic.generate(*GAME, "--generation", "5.4").frames
        status, output, errors = run("replay", frames, "--check", "--generation=4.25")
        self.assertEqual(2, status)
        self.assertEqual(2, output.count(": not compared: "), output)
        self.assertIn("no side of any connection was compared", errors)
        self.assertEqual(0, run("replay", frames, "--check", "--generation=5.4")[0])

    def two(self, folder, first, other, *arguments):
        """Exit status and errors for two captures with so many frames of one connection."""
        frames = traffic.generate(*GAME, "--generation", "5.4").frames
        paths = [pathlib.Path(folder, name) for name in ("client.pcapng", "server.pcapng")]
        for path, count in zip(paths, (first, other)):
            path.write_bytes(traffic.write(frames[:count]))
        result = subprocess.run([os.environ["UERUDP_PROGRAM"], *arguments, *paths], capture_output=True, timeout=60, check=False)
        return result.returncode, result.stderr.decode()

    def test_two_captures(self):
        """The contradictions of both captures are printed, each with its file."""
        commands = (("trace", "--vantage=client,server", "--output=/dev/null"), ("info", "--vantage=client,server"),
                    ("info", "--compare"), ("info", "--compare", "--fail-on=loss:99%"))
        with tempfile.TemporaryDirectory() as folder:
            for (first, other), command in itertools.product(((6, 200), (200, 6), (200, 200)), commands):
                status, errors = self.two(folder, first, other, *command, "--generation=4.25")
                self.assertEqual(1, status, (first, other, command, errors))
                named = re.findall("^(?:.*/)?([a-z]+).pcapng: stream 0: .*; without --generation, generation 5.4 ", errors, re.M)
                self.assertEqual(["client", "server"], named, (first, other, command, errors))
                self.assertEqual(2, errors.count("; without --generation"), errors)
                status, errors = self.two(folder, first, other, *command, "--generation=5.4")
                self.assertEqual((0, 0), (status, errors.count("not match")), (first, other, command, errors))

    def test_many(self):
        """Connections count that the summary does not list."""
        frames = {name: traffic.generate("game", "--duration=1", "--seed=3", "--generation", name).frames
                  for name in ("4.18", "5.5")}
        last = [*itertools.chain(*(moved(frames["5.5"], number) for number in range(20))), *moved(frames["4.18"], 20)]
        status, _, errors = run("decode", last, "--generation=5.5", "--quiet")
        self.assertEqual(1, status)
        self.assertEqual(["stream 20"], [line.split(":")[0] for line in errors.splitlines() if "--generation" in line])
        all_of_them = list(itertools.chain(*(moved(frames["5.5"], number) for number in range(23))))
        status, _, errors = run("decode", all_of_them, "--generation=4.18", "--quiet")
        self.assertEqual((1, 20), (status, errors.count("; without --generation, generation 5.5 to 5.7 is detected")))
        self.assertIn("the first datagrams of 3 further streams do not match what is given, either", errors)
        status, _, errors = run("decode", all_of_them, "--generation=5.5", "--quiet")
        self.assertEqual((0, 0), (status, errors.count("not match")))

    def test_heading(self):
        """A generation that is not given is that of the diagnosis, with its reason."""
        for generation in ("4.18", "5.5"):
            frames = traffic.generate(*GAME, "--generation", generation).frames
            status, output, errors = run("info", frames, "--handlers=oodle")
            named = re.search("without --handlers, generation (.*) without handlers is detected", errors)[1]
            self.assertEqual(1, status)
            self.assertIn(f"generation {named} (detected without the given handlers, which the first datagrams contradict)",
                          output)
            opaque = traffic.opaque(frames, lambda number, way: number > 20)
            self.assertNotIn("contradict", run("info", opaque, "--handlers=oodle")[1])

    def test_later_packets(self):
        """If only the first packets are damaged, those after them are decoded with what was given."""
        frames = traffic.generate("login", "--duration=8", "--seed=3", "--generation=5.5").frames
        damaged = traffic.damaged_first(frames)
        found = info(damaged, "--generation=5.5")
        self.assertIn("unreadable", [finding["kind"] for finding in found["findings"]])
        for way in traffic.WAYS:
            self.assertLess(found["unreadable"][way], 150)
            self.assertEqual(0, found["malformed"][way])
            self.assertGreater(found["acked"][way], 100)
        self.assertEqual({"warning"}, {finding["severity"] for finding in found["findings"]
                                       if finding["kind"] == "unreadable"})
        for command, *options in (("info",), ("info", "--fail-on=loss:99%"), ("decode", "--quiet"), ("trace",)):
            status, _, errors = run(command, damaged, "--generation=5.5", *options)
            self.assertEqual((0, 0), (status, errors.count("not match")), (command, options))
        for options in (["--fail-on=unreadable"], ["--generation=4.18"], ["--generation=4.18", "--fail-on=loss:99%"]):
            self.assertEqual(1, run("info", damaged, "--generation=5.5", *options)[0], options)


def without(frames, from_ns, to_ns, *ways):
    """The frames but those of these directions in this part of the time since the first one."""
    dropped = {id(frame) for way in ways for frame in traffic.one_way(frames, way)
               if from_ns <= frame.time_ns - frames[0].time_ns < to_ns}
    return [frame for frame in frames if id(frame) not in dropped]


class Undecoded(unittest.TestCase):
    """What needs no decoded packet is said of packets that are not decoded, too."""
    WRONG, GIVEN = "--generation=4.18", "--generation=5.5"
    SECOND_NS = 10**9

    def setUp(self):
        self.frames = traffic.generate("game", "--duration=12", "--seed=3", "--generation=5.5").frames

    def kinds(self, frames, *options):
        found = {finding["kind"]: finding["text"] for finding in info(frames, *options)["findings"]}
        self.assertEqual(options == (self.WRONG,), "unreadable" in found)
        found.pop("unreadable", None)
        return found

    def check(self, frames, *kinds):
        """Findings that are the same whether packets are decoded or not, and are not there in the whole capture."""
        whole, wrong = self.kinds(self.frames, self.WRONG), self.kinds(frames, self.WRONG)
        self.assertEqual(set(kinds), set(wrong))
        self.assertEqual(wrong, {kind: self.kinds(frames, self.GIVEN)[kind] for kind in kinds})
        self.assertEqual({}, whole)

    def test_pause(self):
        self.check(without(self.frames, 4 * self.SECOND_NS, 7 * self.SECOND_NS, *traffic.WAYS), "pause")

    def test_one_way(self):
        self.check(traffic.one_way(self.frames, "c2s"), "one_direction")

    def test_times(self):
        later = [frame._replace(time_ns=frame.time_ns - 2 * self.SECOND_NS) if number > 200 else frame
                 for number, frame in enumerate(self.frames)]
        self.check(later, "times_implausible")

    def test_handshake(self):
        earlier = [self.frames[0]._replace(time_ns=self.frames[0].time_ns - number * self.SECOND_NS) for number in (2, 1)]
        self.check(earlier + list(self.frames), "handshake_retried")

    def test_malformed(self):
        """A message of the handshake."""
        damaged = self.frames[1]._replace(data=self.frames[1].data[:-1] + b"\x00")
        self.check([self.frames[0], damaged, *self.frames[1:]], "malformed")

    def test_restart(self):
        frames = traffic.generate("restart", "--seed=3", "--generation=5.5").frames
        self.assertEqual({"restart": "the connection was restarted once"}, self.kinds(frames, self.WRONG))

    def test_only_handshake(self):
        """Without packets, none is said to be not decoded; beside it, one packet is."""
        for count, expected in ((4, "^4 of the first 4 datagrams do not match the given"),
                                (5, "^1 packet was not decoded: 5 of the first 5 datagrams do not match the given")):
            texts = [finding["text"] for finding in info(self.frames[:count], self.WRONG)["findings"]
                     if finding["kind"] == "unreadable"]
            self.assertRegex(" ".join(texts), expected)
            self.assertNotIn("unreadable", [finding["kind"] for finding in info(self.frames[:count], self.GIVEN)["findings"]])

    def test_only_initials(self):
        """They are not malformed, because another generation sends them; beside it, damaged ones, which none sends."""
        initial = self.frames[0]
        damaged = initial._replace(data=initial.data[:-1] + b"\x00")
        for count in (1, 2, 7):
            times = [initial.time_ns + number * self.SECOND_NS for number in range(count)]
            for option, frame, named, malformed in ((self.WRONG, initial, ["unreadable"], 0), (self.GIVEN, initial, [], 0),
                                                    (self.GIVEN, damaged, [], count)):
                found = info([frame._replace(time_ns=time) for time in times], option, "--port=7777")
                kinds = [finding["kind"] for finding in found["findings"]]
                self.assertEqual((named, malformed), ([kind for kind in kinds if kind == "unreadable"], found["malformed"]["c2s"]))
                self.assertEqual(malformed == 0, "no_answer" in kinds)

    def test_silence(self):
        """Whether packets are missing in it is not known."""
        frames = without(self.frames, 4 * self.SECOND_NS, 7 * self.SECOND_NS, "s2c")
        text, = self.kinds(frames, self.WRONG).values()
        self.assertRegex(text, "^no packet from the server for 3[0-9]{3} ms, .*; whether packets of it are missing there is not known")
        self.assertRegex(self.kinds(frames, self.GIVEN)["silence"], "packets of it are missing in what was analysed")

    def test_end(self):
        """The last packet may have the close: a side whose last packet was not read did not time out for sure."""
        silent = traffic.generate("timeout", "--seed=3", "--generation=5.5").frames
        last = max(number for number, frame in enumerate(silent) if traffic.one_way([frame], "s2c"))
        cut = [frame._replace(data=frame.data[:-1]) if number == last else frame for number, frame in enumerate(silent)]
        unread = f"no packet from the server was analysed for [0-9]+ ms after frame {last + 1}, .*may have closed the connection$"
        for frames, option, closed_by, expected in (
                (silent, self.WRONG, "none", unread),
                (cut, self.GIVEN, "timeout", unread),
                (silent, self.GIVEN, "timeout", f"no packet of the server was analysed in this connection after frame {last + 1},")):
            found = info(frames, option)
            self.assertEqual(closed_by, found["closed_by"])
            text, = [finding["text"] for finding in found["findings"] if finding["kind"] in ("silence", "timeout")]
            self.assertRegex(text, f"^{expected}")
        self.assertRegex(run("info", silent, self.WRONG)[1], "end +no close of it was read; of [1-9]")


class Profiles(unittest.TestCase):
    """A profile is compared as the generation that it is based on."""
    BASES = ("4.18", "4.24", "5.1", "5.4", "5.5", "5.8")

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name, "profiles.ini")
        self.path.write_text("".join(f"[my-{base}]\nbase={base}\n" for base in self.BASES))

    def texts(self, frames, *options):
        """The sentences without the name of what was given."""
        return [re.sub("(?<=given generation ).*?(?=;|$)", "", text) for _, _, text in findings(info(frames, *options))]

    def test_bases(self):
        contradicted = 0
        for base, right in itertools.product(self.BASES, repeat=2):
            frames = list(traffic.generate(*GAME, "--generation", right).frames)
            damaged = [*frames[:2], frames[2]._replace(data=frames[2].data[:-1] + b"\x00"), *frames[2:]]
            for each in (frames, frames[24:], damaged):
                texts = self.texts(each, "--port=7777", f"--profiles={self.path}", f"--generation=my-{base}")
                self.assertEqual(self.texts(each, "--port=7777", f"--generation={base}"), texts, (base, right))
                contradicted += any("given generation" in text for text in texts)
                self.assertTrue(base != right or not any("given generation" in text for text in texts), (base, texts))
        self.assertGreater(contradicted, 2 * 6 * 5)


class Right(unittest.TestCase):
    """What is said is what the detection says, and packets are decoded."""

    def check(self, frames, *options, detected=(), name=None):
        given, whole = info(frames, *options), info(frames, *detected)
        self.assertNotIn("unreadable", [finding["kind"] for finding in given["findings"]], name)
        self.assertEqual(findings(whole), findings(given), name)
        for key in ("packets", "acked", "lost", "malformed", "opaque", "reliable"):
            self.assertEqual(whole[key], given[key], (name, key))

    def test_generations(self):
        for generation in GENERATIONS:
            self.check(traffic.generate(*GAME, "--generation", generation).frames, "--generation", generation,
                       name=generation)

    def test_damaged(self):
        """A fifth of the datagrams is damaged."""
        for generation in GENERATIONS:
            frames = traffic.generate(*GAME, "--generation", generation).frames
            damaged = [frame._replace(data=frame.data[:-4] + b"\xff\xff\xff\x80") if number % 5 == 0 else frame
                       for number, frame in enumerate(frames)]
            found = info(damaged, "--generation", generation)
            self.assertEqual({"c2s": 0, "s2c": 0}, found["unreadable"], generation)
            self.assertGreater(sum(found["malformed"].values()), 5, generation)
            self.assertGreater(min(found["acked"].values()), 5, generation)

    def test_damaged_handshake(self):
        """A message of the handshake is damaged: it is no packet that does not match."""
        for generation in GENERATIONS:
            frames = list(traffic.generate(*GAME, "--generation", generation).frames)
            for number in range(1, 4):
                damaged = [*frames[:number], frames[number]._replace(data=frames[number].data[:-1] + b"\x00"), *frames[number:]]
                self.check(damaged, "--generation", generation, name=(generation, number))

    def test_few(self):
        """Also damaged ones: two are no evidence."""
        for generation in GENERATIONS:
            frames = traffic.generate(*GAME, "--generation", generation).frames
            for few in (frames[:2], frames[4:6], frames[:7], frames[20:22]):
                found = info(few, "--port=7777", "--generation", generation)
                self.assertEqual({"c2s": 0, "s2c": 0}, found["unreadable"], generation)
                damaged = [frame._replace(data=frame.data[:-4] + b"\x00\x00\x00\x80") for frame in few]
                found = info(damaged, "--port=7777", "--generation", generation)
                self.assertEqual({"c2s": 0, "s2c": 0}, found["unreadable"], generation)

    def test_middle(self):
        for generation in GENERATIONS:
            frames = traffic.generate(*GAME, "--generation", generation).frames[24:]
            found = info(frames, "--port=7777", "--generation", generation)
            self.assertEqual({"c2s": 0, "s2c": 0}, found["unreadable"], generation)
            self.assertEqual({"c2s": 0, "s2c": 0}, found["malformed"], generation)
            self.assertGreater(sum(found["acked"].values()), 0, generation)

    def test_cut(self):
        for generation, cut in itertools.product(GENERATIONS, CUTS):
            frames = traffic.snapped(traffic.generate(*GAME, "--generation", generation).frames, cut)
            found = info(frames, "--generation", generation)
            self.assertEqual({"c2s": 0, "s2c": 0}, found["unreadable"], (generation, cut))
            self.assertGreater(sum(found["acked"].values()), 0, (generation, cut))

    def test_encrypted(self):
        """With the key, without it, and with the generation given, too."""
        for generation, handlers in (("5.5", "aesgcm"), ("4.25", "reliability,aes-ecb"), ("5.8", "aesgcm-bytes"),
                                     ("5.4", "dtls"), ("5.5", "oodle,aesgcm")):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "a.pcapng")
                traffic.program("generate", *GAME, "--encrypt", "--handlers", handlers, "--generation", generation,
                                "--output", path)
                frames, keys = traffic.read(path.read_bytes()), f"--key={path.with_suffix('.keys')}"
                for options in ([], [keys], ["--generation", generation], [keys, "--generation", generation]):
                    found = info(frames, "--handlers", handlers, *options)
                    self.assertEqual({"c2s": 0, "s2c": 0}, found["unreadable"], (generation, options))
                    self.assertEqual({"c2s": 0, "s2c": 0}, found["malformed"], (generation, options))

    def test_missing_handlers(self):
        """The generation is right, and handlers that are not given are found."""
        frames = traffic.generate(*GAME, "--handlers=reliability", "--generation=5.5").frames
        self.check(frames, "--generation=5.5", detected=("--handlers=reliability",))


if __name__ == "__main__":
    unittest.main()
