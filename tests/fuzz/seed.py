#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the first inputs of the fuzz targets to OUT/TARGET/.

usage: seed.py OUT SHARED
SHARED is the folder of vectors and captures beside this tree; where it is absent the captures of the tree must do.
"""
import glob
import gzip
import os
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SEED_BYTES = 4096  # libFuzzer grows slowly from long inputs


def capture_seeds(shared):
    paths = glob.glob(os.path.join(ROOT, "captures", "*.pcap*")) + glob.glob(os.path.join(shared, "realdata", "*.pcap"))
    for path in sorted(paths):
        with open(path, "rb") as file:
            start = file.read(SEED_BYTES)
        name = os.path.basename(path)
        yield name, start
        yield name + ".gz", gzip.compress(start, mtime=0)
        yield name + ".hex", start[:64].hex(" ").encode() + b"\n"


SEEDS = {"capture": capture_seeds}


def main():
    out, shared = sys.argv[1:]
    for target, seeds in SEEDS.items():
        folder = os.path.join(out, target)
        os.makedirs(folder, exist_ok=True)
        for name, data in seeds(shared):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)


if __name__ == "__main__":
    main()
