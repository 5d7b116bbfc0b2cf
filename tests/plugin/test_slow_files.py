#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Several files in one process leave nothing behind, and the plugin touches no memory that is not its own (valgrind)."""
import json
import os
import shutil
import sys
import unittest

import decoded
import harness

SMALL_BYTES = 2000  # of a recording: a few datagrams
VALGRIND = ["valgrind", "-q", "--error-exitcode=9", "--show-leak-kinds=none"]


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stage = harness.Stage()
        cls.addClassCleanup(cls.stage.__exit__)

    def ask(self, requests):
        """Answers of one sharkd, by number of the request."""
        result = self.stage.run([*VALGRIND, "sharkd", "-"], stdin="".join(requests))
        self.assertNotIn("==", result.stderr)
        answers = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
        return {answer["id"]: answer.get("result", answer.get("error")) for answer in answers}

    def test_second_file_starts_afresh(self):
        first, second = map(self.stage.copy, (harness.recording("utcp-orig-restart"), decoded.path_of("refused")))
        columns = {"column0": "frame.number:0", "column1": "uerudp.stream:0", "column2": "uerudp.generation:0",
                   "column3": "uerudp.packet.id:0"}
        requests = []
        for path in (first, second, first):
            requests.append(harness.request(len(requests) + 1, "load", file=path))
            requests.append(harness.request(len(requests) + 1, "frames", filter="uerudp", **columns))
            requests.append(harness.request(len(requests) + 1, "frame", frame=5, proto=True))
        answers = self.ask(requests)
        self.assertGreater(len(answers[2]), 200)
        self.assertEqual(len(answers[5]), 11)
        self.assertNotEqual(answers[2], answers[5])
        self.assertEqual(answers[8], answers[2], "the first file, loaded again")
        self.assertEqual(answers[9], answers[3])

    def test_random_access(self):
        """Frames asked for backwards are what they are forwards."""
        path = self.stage.copy(harness.recording("utcp-orig-restart"))
        frames = [3, 20, 231, 232, 240, 259]
        load = [harness.request(1, "load", file=path)]
        forwards = self.ask(load + [harness.request(10 + frame, "frame", frame=frame, proto=True) for frame in frames])
        backwards = self.ask(load + [harness.request(10 + frame, "frame", frame=frame, proto=True) for frame in frames[::-1]])
        for frame in frames:
            self.assertIn("uerudp", json.dumps(forwards[10 + frame]))
            self.assertEqual(forwards[10 + frame], backwards[10 + frame])

    def test_tshark(self):
        few = [path for name, path in harness.recorded().items() if os.path.getsize(path) < SMALL_BYTES]
        for path in (*few, decoded.path_of("refused"), decoded.path_of("legacy")):
            result = self.stage.run([*VALGRIND, "tshark", "-2", "-Vx", "-r", self.stage.copy(path)])
            self.assertNotIn("==", result.stderr)
            self.assertIn("Unreal Engine Reliable UDP", result.stdout)


if __name__ == "__main__":
    # An instrumented plugin brings its own checker, and the two do not go together.
    if os.environ.get("UERUDP_PRELOAD"):
        VALGRIND.clear()
    elif not shutil.which("valgrind"):
        sys.exit(harness.SKIPPED)
    harness.main()
