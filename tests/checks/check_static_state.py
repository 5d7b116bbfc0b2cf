#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check that a library has no variable that lives longer than a call: two threads may use two of its objects at once.

usage: check_static_state.py ARCHIVE...
"""
import re
import subprocess
import sys

# Constant tables of pointers are in .data.rel.ro, which is read-only after relocation.
VARIABLE = re.compile(r" O (\.bss|\.data(?!\.rel\.ro)|\*COM\*)\S*\s+\S+\s+(\S+)")


def variables(archive):
    listing = subprocess.run(["objdump", "--syms", archive], capture_output=True, text=True, check=True).stdout
    symbols = [line for line in listing.splitlines() if " O " in line]
    if not symbols:
        sys.exit(f"{archive}: no objects, not even constant ones")
    return [found[2] for found in map(VARIABLE.search, symbols) if found]


def main():
    faults = [f"{archive}: {name} keeps state between calls" for archive in sys.argv[1:] for name in variables(archive)]
    print(*faults, f"{len(sys.argv) - 1} libraries, {len(faults)} faults", sep="\n")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
