# SPDX-License-Identifier: MIT
"""Tests that fail today: tests/known-failures lists them, and each must fail until its line is deleted.

A line is SCRIPT CLASS.METHOD, with the reason after #. A listed test must fail by an assertion of its own: an error does
not count, and a test that passes fails the run, so that the list can only shrink.
"""
import functools
import pathlib

import recordings

LIST = recordings.ROOT / "tests/known-failures"


def listed():
    """(script, test) of each line."""
    lines = (line.split("#")[0].split() for line in LIST.read_text(encoding="utf-8").splitlines())
    return [tuple(words) for words in lines if words]


def must_fail(method):
    """The method of a test case, inverted."""
    @functools.wraps(method)
    def inverted(self):
        try:
            method(self)
        except self.failureException:
            return
        self.fail("passes: delete its line in tests/known-failures")
    return inverted


def mark(module):
    """Invert each listed test of a module."""
    script = pathlib.Path(module.__file__).resolve().relative_to(LIST.parent.resolve()).as_posix()
    for name in (test for path, test in listed() if path == script):
        case, method = name.split(".")
        setattr(getattr(module, case), method, must_fail(getattr(getattr(module, case), method)))
