#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The captures of packet handlers in Wireshark: with the order and the key nothing is malformed, without the order the first
packet names it, and the captures without handlers name none."""
import os

import decoded
import harness

HANDLERS = {"encrypted": "oodle,aesgcm", "encrypted-bytes": "aesgcm-bytes", "encrypted-ecb": "reliability,aes-ecb",
            "encrypted-dtls": "dtls", "compressed": "oodle"}
CLOSED = ("encrypted-dtls", "compressed")
HINT = "The packets look like"


class Handlers(harness.StageCase):
    def copy(self, name):
        return self.stage.copy(os.path.join(decoded.CAPTURES, "handlers", name))

    def frames(self, path, settings, display_filter, *fields):
        options = [option for field in ("frame.number", *fields) for option in ("-e", field)]
        return self.stage.tshark("-2", "-r", path, *harness.preferences(settings), "-Y", display_filter, "-T", "fields",
                                 *options).splitlines()

    def test_order(self):
        for name, handlers in HANDLERS.items():
            with self.subTest(name):
                path, settings = self.copy(f"{name}.pcapng"), {"handlers": handlers}
                if name not in CLOSED:
                    settings["key"] = self.copy(f"{name}.keys")
                self.assertEqual([], self.frames(path, settings, "uerudp.expert.malformed"))
                changed = self.frames(path, settings, "uerudp.handler.ciphertext || uerudp.handler.compressed_data")
                read = self.frames(path, settings, "(uerudp.handler.ciphertext || uerudp.handler.compressed_data) && "
                                                   "uerudp.packet.seq")
                self.assertGreater(len(changed), 5)
                self.assertEqual([] if name in CLOSED else changed, read)

    def hints(self, path):
        text = self.stage.tshark("-2", "-r", path, "-q", "-z", "expert")
        return [line.split('"')[1] for line in text.splitlines() if HINT in line]

    def test_found(self):
        for name, handlers in HANDLERS.items():
            path = self.copy(f"{name}.pcapng")
            self.assertEqual([handlers], self.hints(path), name)
            self.assertEqual([], self.frames(path, {}, "uerudp.expert.malformed"), name)

    def test_key_without_handlers(self):
        """A key is not used for handlers that only the packets show, and the reason says so."""
        path, keys = self.copy("encrypted.pcapng"), self.copy("encrypted.keys")
        for settings in ({}, {"key": keys}):
            text = self.stage.tshark("-2", "-r", path, *harness.preferences(settings), "-q", "-z", "expert,note")
            self.assertEqual({line.split("UERUDP")[1].strip() for line in text.splitlines() if "Decryption" in line},
                             {"Encrypted (aesgcm): a key is used only for handlers that the preference \"Packet handlers\" names"})

    def test_without_handlers(self):
        for name in ("ue4.18", "ue5.5", "game", "fuzz", "corrupt"):
            self.assertEqual([], self.hints(self.stage.copy(decoded.path_of(name))), name)


if __name__ == "__main__":
    harness.main()
