#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The cost of a bunch does not grow with the number of other bunches: instructions of both passes, counted by
callgrind."""
import shutil
import sys

import harness

MANY = 3000
FEW = 150


def datagrams(bunches_of_each):
    """From a server, in sequence."""
    for number, bunches in enumerate(bunches_of_each):
        yield {"src": "10.0.0.2:7777", "dst": "10.0.0.1:50123", "direction": 2, "generation": "5.5",
               "packet": {"seq": 4454 + number, "ack": 4263, "history": [1]}, "bunches": bunches}


def opening(channel):
    return {"channel": channel, "reliable": True, "ch_seq": 1, "name_hardcoded": True, "name_index": 102, "data": ""}


def apart(bunches):
    """One datagram for each bunch."""
    return [bunches[at:at + FEW] for at in range(0, len(bunches), FEW)]


class Effort(harness.StageCase):
    def instructions(self, bunches_of_each, *options):
        """Instructions of the plugin and its callees for datagrams with these bunches."""
        path = self.stage.encode("many.pcapng", datagrams(bunches_of_each))
        return self.stage.instructions("-2", "-o", "uerudp.generation:5.5", "-r", path, *options, functions=["dissect"])

    def test_bunches(self):
        """Many bunches in one datagram cost little more than in separate datagrams."""
        bunches = [{"channel": 3, "reliable": False, "data": ""}] * MANY
        self.assertLess(self.instructions([bunches]), 1.2 * self.instructions(apart(bunches)))

    def test_copies(self):
        """Retransmissions in reverse order cost little more, also with all items shown."""
        firsts = [opening(channel) for channel in range(2, 2 + MANY)]
        for options in ((), ("-V", "-o", "uerudp.max_items:1000000")):
            few = self.instructions(apart(firsts) * 2, *options)
            self.assertLess(self.instructions([firsts, firsts[::-1]], *options), 1.2 * few)


if __name__ == "__main__":
    if not shutil.which("valgrind"):
        sys.exit(harness.SKIPPED)
    harness.main()
