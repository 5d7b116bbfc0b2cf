# SPDX-License-Identifier: MIT
"""Sessions in documents: commands, and what they print.

A block that begins with "$ " is a session: commands, and what they print on standard output. "..." stands for anything.
"""
import re

from recordings import ROOT

MARK = "@@@"  # between the output of one command and the next
NUMBER = re.compile(r"\d+(\.\d+)?(e[-+]\d+)?")


def blocks(document):
    """The sessions of a document, as lists of (command, what it prints)."""
    for block in re.findall(r"^```\n(\$ .*?)^```$", (ROOT / document).read_text(), re.M | re.S):
        steps = [step.partition("\n") for step in re.split(r"^\$ ", block, flags=re.M)[1:]]
        yield [(command, shown) for command, _, shown in steps]


def script(commands):
    """One shell script of them; outputs() takes apart what it prints."""
    return "".join(f"{command}\necho '{MARK}'\n" for command in commands)


def outputs(text):
    """What each command of a script printed."""
    return text.split(f"{MARK}\n")[:-1]


def pattern(shown, masked):
    """A regular expression of what is shown; numbers of what takes real time are any."""
    text = NUMBER.sub("#", shown) if masked else shown
    pieces = map(re.escape, re.split(r"\s*\.\.\.\s*", text.strip("\n")))
    return r"\s*" + r"(?:.|\n)*?".join(pieces) + r"\s*"
