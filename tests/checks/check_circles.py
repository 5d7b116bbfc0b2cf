#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check that the sources of libcodec, plugin and tools do not call each other in a circle.

usage: check_circles.py BUILD

BUILD is a folder with compile_commands.json and the object files. A source calls another if its object file needs a symbol
that the other defines, a table included. One circle is allowed: a source and the parts that implement it, which only that
source calls and which do not call each other in a circle.
"""
import collections
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDERS = ("libcodec/", "plugin/", "tools/")


def objects(build):
    """(source, object file) of each source that the build compiles."""
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        source = os.path.relpath(entry["file"], ROOT)
        if source.startswith(FOLDERS):
            words = shlex.split(entry["command"])
            yield source, os.path.join(entry["directory"], words[words.index("-o") + 1])


def call_graph(build):
    """Of each source, the sources that it calls."""
    source_of = {object_file: source for source, object_file in objects(build)}
    if not source_of:
        return {}  # without names nm reads a.out
    listing = subprocess.run(["nm", "--extern-only", "--format=posix", "--print-file-name", *source_of],
                             capture_output=True, text=True, check=True).stdout
    defined, needed = {}, collections.defaultdict(set)
    for line in listing.splitlines():
        object_file, symbol, kind, *_ = line.split()
        source = source_of[object_file.removesuffix(":")]
        if kind in "Uvw":
            needed[source].add(symbol)
        else:
            defined[symbol] = source
    return {source: {defined[symbol] for symbol in symbols & defined.keys()} - {source}
            for source, symbols in needed.items()}


def reachable(graph, start, inside):
    """The sources inside a set that start calls, directly or through others of the set."""
    found, unvisited = set(), [start]
    while unvisited:
        for source in graph.get(unvisited.pop(), set()) & inside - found:
            found.add(source)
            unvisited.append(source)
    return found


def circles(graph, inside):
    """The largest sets of sources of which each reaches each."""
    reached = {source: reachable(graph, source, inside) for source in inside}
    return {frozenset(other for other in reached[source] if source in reached[other])
            for source in inside if source in reached[source]}


def has_parts_only(graph, circle):
    """Whether one source of the circle is all that calls the others from outside them, and they are in no circle."""
    for whole in circle:
        parts = circle - {whole}
        callers = {source for source, called in graph.items() if called & parts}
        if callers <= circle and not circles(graph, parts):
            return True
    return False


def faults(graph):
    for circle in circles(graph, set(graph)):
        if not has_parts_only(graph, circle):
            for source in sorted(circle):
                yield f"{source} is in a circle: it calls {', '.join(sorted(graph[source] & circle))}"


def main():
    graph = call_graph(pathlib.Path(sys.argv[1]))
    found = list(faults(graph)) or ([] if graph else ["no object files"])
    print("\n".join([*found, f"{len(graph)} sources, {len(found)} faults"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
