#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plant bugs in copies of sources of libcodec, which the fuzz targets must find (prove.sh).

usage: plant.py list            print TARGET-BUG and the path of the source, a line for each bug
       plant.py TARGET-BUG FILE write the source with the bug
"""
import os
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# Bug: the source, the text that must occur once in it, and what replaces it. No seed triggers a bug.
PLANTED = {
    # A forgotten connection is freed although a datagram of it still waits.
    "observer-lifetime": ("libcodec/observe/connection_readiness.c", "if (--connection->references == 0 &&",
                          "if (--connection->references <= 1 &&"),
    # A datagram of a certain connection overtakes those of others in capture order.
    "observer-order": ("libcodec/observe/datagram_queue.c", "if (is_first && !is_cut &&", "if ((is_first || true) && !is_cut &&"),
    # No byte is allocated for the terminator of a cut datagram.
    "observer-cut": ("libcodec/observe/datagram_queue.c", "#define TERMINATOR_BYTES 1", "#define TERMINATOR_BYTES 0"),
    # The reassembly of a stream is used after it was freed to save memory.
    "observer-memory": ("libcodec/observe/stream_analysis.c", "    stream->reassembly = NULL;\n    stream->bytes = 0;",
                        "    stream->bytes = 0;"),
}


def main():
    if sys.argv[1:] == ["list"]:
        for bug, (source, _, _) in PLANTED.items():
            print(bug, source)
        return
    bug, output = sys.argv[1:]
    path, text, replacement = PLANTED[bug]
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        source = file.read()
    if source.count(text) != 1:
        sys.exit(f"plant.py: {bug}: the text to replace occurs {source.count(text)} times in {path}")
    with open(output, "w", encoding="utf-8") as file:
        file.write(source.replace(text, replacement))


if __name__ == "__main__":
    main()
