#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How docs/latency.md and its plots are written from the lines of bench_latency."""
import json
import pathlib
import re
import sys
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import latency_page as page

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MEASURED = ("engine", "options", "floor", "quic", "enet", "tcp")


def line(case, value, stack, p99=100.0, **more):
    return json.dumps({"case": case, "value": value, "stack": stack, "p50_ms": 33.4, "p99_ms": p99, "p999_ms": 1234.5,
                       "max_ms": 2000, "wire": 1.234, "undelivered": 0, "wrong": 0} | more)


def results(**more):
    """Of every case, with two values; the stack tcp has more in the second one."""
    return page.read([line(case, value, stack, **(more if stack == "tcp" and value == 5 else {}))
                      for case in page.CASES for value in (1, 5) for stack in MEASURED])


class Tables(unittest.TestCase):
    def test_cell_has_three_percentiles(self):
        self.assertIn("| 33 / 100 / 1,234 |", page.table("dense-loss", results()))

    def test_stack_that_loses_messages_has_no_latency(self):
        rows = page.table("dense-loss", results(undelivered=0.25)).splitlines()
        self.assertEqual(rows[2].count("not delivered"), 0)
        self.assertEqual(rows[3].count("25% not delivered"), 1)

    def test_constants_stand_in_their_row_and_nowhere_else(self):
        self.assertIn("– / 1,717 / –", page.table("dense-loss", results()).splitlines()[3])
        self.assertNotIn("KCP", page.table("dense-burst", results()))

    def test_all_rows_of_a_table_have_as_many_cells(self):
        for case in page.CASES:
            for part in page.table(case, results()).split("\n\n"):
                self.assertEqual(len({row.count("|") for row in part.splitlines()}), 1, case)

    def test_messages_out_of_order_are_an_error(self):
        with self.assertRaises(ValueError):
            results(wrong=1)


class Document(unittest.TestCase):
    def test_document_has_a_mark_and_a_plot_of_each_case(self):
        text = page.with_tables((ROOT / "docs/latency.md").read_text(), results())
        for case in page.CASES:
            self.assertIn(f"](latency-{case}.svg)", text)
        self.assertEqual(page.with_tables(text, results()), text)

    def test_plots_have_a_point_of_each_latency_in_the_tables(self):
        text = (ROOT / "docs/latency.md").read_text()
        for case in page.CASES:
            tables = text.split(f"<!-- table {case} -->\n")[1]
            rows = [[cell.strip() for cell in row.strip("| ").split("|")] for row in tables.split("\n\n")[0].splitlines()]
            plot = (ROOT / f"docs/latency-{case}.svg").read_text()
            for column, name in enumerate(rows[0][-len(rows[2]) + 1:], 1):
                look = next(look for look in page.STACKS.values() if look.name == name)
                latencies = [row[column] for row in rows[2:] if "not delivered" not in row[column] and row[column] != "–"]
                self.assertEqual(plot.count(f'r="3" fill="{look.color}"'), len(latencies), f"{case}, {name}")


class Plots(unittest.TestCase):
    def test_plot_has_a_line_of_each_stack(self):
        tree = xml.etree.ElementTree.fromstring(page.plot("dense-loss", results()))
        self.assertEqual(len(tree.findall("{*}polyline")), len(MEASURED) + len(page.ELSEWHERE["dense-loss"]))

    def test_higher_latency_is_drawn_higher(self):
        heights = [float(y) for y in re.findall(r'cy="([\d.]+)" r="3" fill="#d55e00"', page.plot("dense-rate", results(p99=900.0)))]
        self.assertGreater(heights[0], heights[1])

    def test_stack_that_loses_messages_has_no_point_there(self):
        self.assertEqual(page.plot("dense-rate", results(undelivered=0.25)).count('fill="#d55e00"'), 1)


if __name__ == "__main__":
    unittest.main()
