#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A process that opens several files frees their memory, and the plugin accesses only its own memory (valgrind)."""
import json
import os
import shutil
import sys

import decoded
import harness

SMALL_BYTES = 2000  # of a recording: a few datagrams
VALGRIND = ["valgrind", "-q", "--error-exitcode=9", "--show-leak-kinds=none"]


class Files(harness.StageCase):
    def ask(self, *sessions):
        """The answers of one sharkd that loads files in turn: a list of answers for each (path, requests)."""
        lines = []
        for path, requests in sessions:
            for method, parameters in (("load", {"file": path}), *requests):
                lines.append(harness.request(len(lines) + 1, method, **parameters))
        result = self.stage.run([*VALGRIND, "sharkd", "-"], stdin="".join(lines))
        self.assertNotIn("==", result.stderr)
        found = {answer["id"]: answer.get("result", answer.get("error"))
                 for answer in map(json.loads, filter(lambda line: line.startswith("{"), result.stdout.splitlines()))}
        self.assertEqual(sorted(found), list(range(1, len(lines) + 1)))
        answers = iter(found[number] for number in sorted(found))
        return [[next(answers) for _ in range(1 + len(requests))][1:] for _, requests in sessions]

    def test_files(self):
        """A second file shows no state of the first, and frames are equal when requested in reverse order, but for what is
        reported once for a connection: that stays on the frame that was requested first."""
        first, second = map(self.stage.copy, (harness.recording("utcp-orig-restart"), decoded.path_of("refused")))
        everything = ("frames", {"filter": "uerudp", "column0": "frame.number:0", "column1": "uerudp.stream:0",
                                 "column2": "uerudp.generation:0", "column3": "uerudp.packet.id:0"})
        frames = [("frame", {"frame": frame, "proto": True}) for frame in (3, 5, 20, 231, 232, 240, 259)]
        (_, *alone), = self.ask((first, [everything, *frames]))
        reporting, = (frame for frame, answer in zip(frames, alone, strict=True) if "reported once" in json.dumps(answer))
        (all_first, *forwards), (all_second,), (all_again, _, *backwards) = self.ask(
            (first, [everything, *frames]), (second, [everything]), (first, [everything, reporting, *frames[::-1]]))
        self.assertGreater(len(all_first), 200)
        self.assertEqual(len(all_second), 11)
        self.assertNotEqual(all_first, all_second)
        self.assertEqual(all_again, all_first, "the first file, loaded again")
        self.assertEqual(backwards[::-1], forwards)
        for answer in forwards:
            self.assertIn("uerudp", json.dumps(answer))

    def test_small_files(self):
        few = [path for path in harness.recorded().values() if os.path.getsize(path) < SMALL_BYTES]
        few += [decoded.path_of("refused"), decoded.path_of("legacy")]
        frames = {path: max(line["frame"] for line in decoded.datagrams(path)) for path in few}
        sessions = [(self.stage.copy(path), [("frame", {"frame": frame, "proto": True, "bytes": True, "columns": True})
                                             for frame in range(1, last + 1)]) for path, last in frames.items()]
        for path, answers in zip(frames, self.ask(*sessions), strict=True):
            self.assertIn("Unreal Engine Reliable UDP", json.dumps(answers), path)

    def test_tshark(self):
        result = self.stage.run([*VALGRIND, "tshark", "-2", "-Vx", "-r", self.stage.copy(decoded.path_of("legacy"))])
        self.assertNotIn("==", result.stderr)
        self.assertIn("Unreal Engine Reliable UDP", result.stdout)


if __name__ == "__main__":
    # An instrumented plugin has its own checker, which does not work under valgrind.
    if os.environ.get("UERUDP_PRELOAD"):
        VALGRIND.clear()
    elif not shutil.which("valgrind"):
        sys.exit(harness.SKIPPED)
    harness.main()
