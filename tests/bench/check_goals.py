#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How figures of the benchmarks are judged; the table of goals; and that the libraries that are measured are built as those
that are shipped."""
import collections
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import goals as table

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def goal(compare="<=", must=1.5, spoilable=False):
    return {"row": "X1", "figure": "a", "compare": compare, "must": must, "stretch": None, "spoilable": spoilable,
            "sentence": "a time"}


def figure(value, **more):
    return {"row": "X1", "figure": "a", "value": value, "unit": "ns"} | more


class Judging(unittest.TestCase):
    def test_value_at_the_goal_meets_it(self):
        self.assertEqual(table.judge(goal(), figure(1.5)), table.MET)
        self.assertEqual(table.judge(goal(">="), figure(1.5)), table.MET)

    def test_value_beyond_the_goal_misses_it(self):
        self.assertEqual(table.judge(goal(), figure(1.51)), table.MISSED)
        self.assertEqual(table.judge(goal(">="), figure(1.49)), table.MISSED)

    def test_zero_is_a_goal(self):
        self.assertEqual(table.judge(goal(must=0), figure(0)), table.MET)
        self.assertEqual(table.judge(goal(must=0), figure(1)), table.MISSED)

    def test_quiet_machine(self):
        self.assertEqual(table.judge(goal(spoilable=True), figure(1, spread=0.10)), table.MET)
        self.assertEqual(table.judge(goal(spoilable=True), figure(2, spread=0.10)), table.MISSED)

    def test_disturbed_machine_spoils_what_can_be_spoiled(self):
        self.assertEqual(table.judge(goal(spoilable=True), figure(1, spread=0.11)), table.INVALID)
        self.assertEqual(table.judge(goal(spoilable=True), figure(2, spread=0.11)), table.INVALID)
        self.assertEqual(table.judge(goal(), figure(1, spread=0.11)), table.MET)

    def test_without_a_reference_loop_nothing_says_that_the_machine_was_quiet(self):
        self.assertEqual(table.judge(goal(spoilable=True), figure(1)), table.INVALID)
        self.assertEqual(table.judge(goal(), figure(1)), table.MET)

    def test_weak_anchor(self):
        self.assertEqual(table.judge(goal(), figure(1, invalid="the limit codec takes too long")), table.INVALID)

    def test_missing_figure(self):
        self.assertEqual(table.judge(goal(), None), table.NOT_MEASURED)


class Parsing(unittest.TestCase):
    GOALS = {("X1", "a"): goal()}

    def parse(self, line):
        return table.parse_figure(line, self.GOALS)

    def test_figure(self):
        self.assertEqual(self.parse(json.dumps(figure(2))), figure(2))

    def test_lines_that_are_no_figures(self):
        for line in ("X1 2 ns", "[]", "2", "{}", json.dumps(figure("2")), json.dumps(figure(None)), json.dumps(figure(2) | {"unit": 1}),
                     json.dumps(figure(float("nan"))), json.dumps(figure(2) | {"figure": "b"})):
            with self.subTest(line=line), self.assertRaises(table.WrongFigure):
                self.parse(line)


class Table(unittest.TestCase):
    def test_entries(self):
        entries = json.loads(table.GOALS.read_text(encoding="utf-8"))
        self.assertEqual(len(table.load()), len(entries), "an entry twice")
        for entry in entries:
            with self.subTest(row=entry["row"], figure=entry["figure"]):
                self.assertEqual(set(entry), set(goal()))
                self.assertIn(entry["compare"], ("<=", ">="))
                self.assertIsInstance(entry["must"], (int, float))
                self.assertIsInstance(entry["spoilable"], bool)
                if entry["stretch"] is not None and entry["compare"] == "<=":
                    self.assertLess(entry["stretch"], entry["must"])
                elif entry["stretch"] is not None:
                    self.assertGreater(entry["stretch"], entry["must"])


def programs_of_run():
    loader = importlib.machinery.SourceFileLoader("run", str(table.GOALS.with_name("run")))
    run = importlib.util.module_from_spec(importlib.util.spec_from_loader("run", loader))
    loader.exec_module(run)
    return run.PROGRAMS


class Programs(unittest.TestCase):
    def test_scripts_can_be_executed(self):
        for program in programs_of_run():
            path = program.command[0].format(bin="", here=table.GOALS.parent)
            if path.startswith(str(table.GOALS.parent)):
                self.assertTrue(os.access(path, os.X_OK), path)

    def test_each_row_has_a_program(self):
        """One for each row, and at most one for each figure."""
        figures = collections.Counter(row for row, _ in table.load())
        programs = collections.Counter(row for program in programs_of_run() for row in program.rows.split())
        self.assertEqual([], sorted(set(programs) - set(figures)), "rows without a goal")
        self.assertEqual([], [row for row in figures if not 1 <= programs[row] <= figures[row]])


class Preset(unittest.TestCase):
    def test_bench_has_the_flags_of_release(self):
        presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]
        bench = next(preset for preset in presets if preset["name"] == "bench")
        self.assertEqual(bench["inherits"], "release")
        self.assertEqual(set(bench["cacheVariables"]), {"BUILD_TESTING", "UERUDP_BENCH"})


if __name__ == "__main__":
    unittest.main()
