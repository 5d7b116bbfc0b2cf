# SPDX-License-Identifier: MIT
"""Sessions in documents: blocks of commands after "$ ", with their standard output. "..." stands for any text."""
import re

from recordings import ROOT

MARK = "@@@"  # between the output of one command and the next
NUMBER = re.compile(r"\d+(\.\d+)?(e[-+]\d+)?")


def blocks(document):
    """The sessions of a document, as lists of (command, output)."""
    for block in re.findall(r"^```\n(\$ .*?)^```$", (ROOT / document).read_text(), re.M | re.S):
        steps = [step.partition("\n") for step in re.split(r"^\$ ", block, flags=re.M)[1:]]
        yield [(command, shown) for command, _, shown in steps]


def script(commands):
    """A shell script of the commands; outputs() splits its output."""
    return "".join(f"{command}\necho '{MARK}'\n" for command in commands)


def outputs(text):
    """The output of each command of a script."""
    return text.split(f"{MARK}\n")[:-1]


def pattern(shown, masked):
    """A regular expression for an output. With `masked` it matches any numbers, for programs that run in real time."""
    text = NUMBER.sub("#", shown) if masked else shown
    pieces = map(re.escape, re.split(r"\s*\.\.\.\s*", text.strip("\n")))
    return r"\s*" + r"(?:.|\n)*?".join(pieces) + r"\s*"
