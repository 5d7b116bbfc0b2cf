#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The plugin prints the generation as the program does, and has a preference value for each release."""
import os
import subprocess
import unittest

import harness


def generate(*arguments):
    command = [os.environ["UERUDP_PROGRAM"], "generate", *arguments, "--duration", "6"]
    return subprocess.run(command, capture_output=True, timeout=harness.TIMEOUT_S, check=True).stdout


class Generation(unittest.TestCase):
    def setUp(self):
        self.stage = self.enterContext(harness.Stage())

    def sentence(self, *arguments, settings=None):
        """The expert item about the generation, and the generation of the last datagram."""
        packets = self.stage.packets(self.stage.put("game.pcapng", generate(*arguments)), settings or {})
        sentence, = (text for packet in packets.values() for name, text in packet.sentences
                     if name == "uerudp.expert.generation")
        return sentence.split(":")[0], list(packets.values())[-1].texts("generation")

    def test_range(self):
        """Without an actor spawn, because its login is refused."""
        for generation in ("4.22", "4.24"):
            self.assertEqual(("Generation 4.22 to 4.24", ["4.22"]), self.sentence("refused", "--generation", generation))

    def test_spawn_vectors_decide(self):
        for generation in ("4.22", "4.24"):
            self.assertEqual([generation], self.sentence("game", "--generation", generation)[1])

    def sentences(self, *arguments, settings=None):
        packets = self.stage.packets(self.stage.put("game.pcapng", generate(*arguments)), settings or {})
        return [text for packet in packets.values() for name, text in packet.sentences if "generation" in name]

    def test_replay(self):
        """16 packets of a replay that nobody answers need no preference; 15 of them do."""
        path = self.stage.put("demo.pcapng", generate("demo"))
        found, given = (self.stage.tshark("-2", "-r", path, "-V", *options)
                        for options in ((), ("-o", "uerudp.internal_ack:TRUE")))
        self.assertIn("Channel: 2", found)
        self.assertEqual(found, given)
        few = os.path.join(self.stage.home, "few.pcapng")
        subprocess.run(["editcap", "-r", path, few, "1-15"], check=True)
        self.assertEqual(self.stage.tshark("-2", "-r", few, "-Y", "uerudp.bunch.channel == 2"), "")

    def test_magic_header(self):
        magic = ("--generation", "5.4", "--magic-bits", "13", "--magic", "0x1234")
        wanted = ('Generation unknown: looks like a magic header of 13 bits, value 0x1234; set the preference "Bits of the magic '
                  'header" to 13')
        self.assertIn(wanted, self.sentences("login", *magic))

    def test_no_magic_header(self):
        """No magic header, or one that the preferences name."""
        for arguments, settings in (((), {}), (("--magic-bits", "13", "--magic", "0x1234"), {"magic_bits": "13"})):
            texts = self.sentences("login", "--generation", "5.4", *arguments, settings=settings)
            self.assertEqual(["Generation 5.4"], [text.split(":")[0] for text in texts])

    def test_handlers(self):
        """Encryption that the preferences do not name, and that they name."""
        scenario = self.stage.put("secret.ini", b"[scenario]\nbase=login\nencrypt=true\n")
        wanted = 'The packets look like "aesgcm" in the preference "Packet handlers"'
        for generation in ("4.25", "5.4"):
            arguments = (scenario, "--generation", generation)
            self.assertEqual([wanted], [text for text in self.sentences(*arguments) if "handlers" in text])
            for text in self.sentences(*arguments, settings={"handlers": "aesgcm"}):
                self.assertNotIn("handlers", text)

    def test_preference(self):
        found = self.sentence("game", "--generation", "4.24", settings={"generation": "4.24"})
        self.assertEqual(("Generation 4.24", ["4.24"]), found)


if __name__ == "__main__":
    harness.main()
