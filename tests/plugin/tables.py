# SPDX-License-Identifier: MIT
"""Parses the tables that tshark prints for -z."""
import re


def read_tree(lines):
    """The counts of a stats tree by path."""
    rows, path = {}, []
    for line in lines[2:]:
        match = re.match(r"( *)(\S.*?) {2,}(\d+) ", line)
        if not match:
            break
        path = path[:len(match[1])] + [match[2]]
        rows[tuple(path)] = int(match[3])
    return rows


def read_trees(text):
    """Stats trees by the last component of their name."""
    lines = text.splitlines()
    heads = [i for i, line in enumerate(lines) if line.startswith("Topic / Item")]
    return {lines[i - 1].rstrip(":").split("/")[-1].strip(): read_tree(lines[i:]) for i in heads}


def counts(rows, *parent):
    """The counts below a node by name."""
    return {path[-1]: count for path, count in rows.items() if path[:-1] == parent}


NUMBER = r"(\d+(?:\.\d+)?)(?: bytes)?"  # large byte counts are printed in thousands


def read_conversations(text):
    """Rows of -z conv: (one, other, frames and bytes to one, to other, start, duration)."""
    rows = []
    for line in text.splitlines():
        match = re.match(r"(\S+)\s+<->\s+(\S+)\s+(.*)", line)
        if match:
            cells = re.findall(NUMBER, match[3])
            numbers = [int(cell) for cell in cells[:4]]
            rows.append((match[1], match[2], numbers[:2], numbers[2:], float(cells[6]), float(cells[7])))
    return rows


def read_endpoints(text):
    """Rows of -z endpoints: (address, packets and bytes in total, sent, received)."""
    matches = (re.match(rf"(\S+)((?:\s+{NUMBER}){{6}})\s*$", line) for line in text.splitlines())
    return [(match[1], *map(int, re.findall(NUMBER, match[2]))) for match in matches if match]


def read_times(text):
    """Rows of -z srt, one dict per table: name to (calls, minimum, maximum, average)."""
    found = []
    for line in text.splitlines():
        if line.startswith("Index"):
            found.append({})
        match = re.match(r"\s*\d+\s+(\S.*?)\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+[\d.]+$", line)
        if match:
            found[-1][match[1]] = (int(match[2]), *(float(match[i]) for i in (3, 4, 5)))
    return found
