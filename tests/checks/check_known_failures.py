#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The list of known failures names existing tests, and a listed test passes only while its own assertion fails."""
import ast
import unittest

import known_failures

TESTS = known_failures.LIST.parent


def methods(script):
    """CLASS.METHOD of each method in a script."""
    tree = ast.parse((TESTS / script).read_text(encoding="utf-8"))
    return {f"{case.name}.{item.name}" for case in tree.body if isinstance(case, ast.ClassDef)
            for item in case.body if isinstance(item, ast.FunctionDef)}


class Sample(unittest.TestCase):
    def holds(self):
        pass

    def does_not_hold(self):
        self.fail("known")

    def breaks(self):
        raise OSError("not what the test asserts")


class KnownFailures(unittest.TestCase):
    def test_listed_tests_exist(self):
        for script, test in known_failures.listed():
            with self.subTest(script=script, test=test):
                self.assertIn(test, methods(script))

    def test_no_line_twice(self):
        self.assertEqual(len(set(known_failures.listed())), len(known_failures.listed()))

    def test_listed_test_must_fail_by_its_own_assertion(self):
        known_failures.must_fail(Sample.does_not_hold)(Sample("holds"))
        with self.assertRaisesRegex(AssertionError, "delete its line"):
            known_failures.must_fail(Sample.holds)(Sample("holds"))
        with self.assertRaises(OSError):
            known_failures.must_fail(Sample.breaks)(Sample("holds"))


if __name__ == "__main__":
    unittest.main()
