#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp replay --check on captures of dpull/utcp: clean, lossy, with a change of address, and of engine 4.18. The known
differences between that library and the engine must be the only ones."""
import json

import uerudp
import recordings

# The server marks its first control bunch as an open, although the client opened that channel; the client opens an
# actor channel. Servers of older revisions send before the client.
OPENS = {"open": {"client", "server"}}
EARLY = {**OPENS, "premature": {"server"}}

# Bunches that each side delivers: the bunches of NAME.sent.json and the control bunch that opens the channel.
KNOWN = {
    "utcp-clean": (OPENS, 753, 274),
    "utcp-loss": (OPENS, 938, 334),
    "utcp-orig-clean": (EARLY, 753, 274),
    "utcp-orig-restart": (EARLY, 144, 62),
    "utcp-ue418-clean": (EARLY, 753, 274),
    "utcp-ue418-loss": (EARLY, 938, 335),
}


class Library(uerudp.unittest.TestCase):
    def check(self, name, *arguments, status):
        result, = map(json.loads, uerudp.run("replay", "--check", "--json", *arguments, recordings.path(name),
                                             status=status).stdout.splitlines())
        return result

    def test_known_differences_are_reported(self):
        for name, (known, _, _) in KNOWN.items():
            difference = self.check(name, status=1)["difference"]
            self.assertIn(difference["side"], known[difference["type"]], name)

    def test_nothing_else_differs(self):
        for name, (known, client, server) in KNOWN.items():
            result = self.check(name, "--ignore=" + ",".join(known), status=0)
            self.assertFalse(result["differs"])
            self.assertEqual((result["client"]["delivered"], result["server"]["delivered"]), (client, server), name)

    def test_each_capture_has_its_differences(self):
        for name, (known, _, _) in KNOWN.items():
            for one in known:
                others = ",".join(set(known) - {one}) or "close"
                self.assertEqual(self.check(name, f"--ignore={others}", status=1)["difference"]["type"], one, name)


if __name__ == "__main__":
    uerudp.main()
