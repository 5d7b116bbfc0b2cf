#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packets encrypted with AES in ECB mode are reported as encrypted, and with the key they are dissected like plain
packets."""
import os
import shutil
import subprocess
import sys

import capture
import harness

KEY = bytes(range(32)).hex()
BLOCK_BYTES = 16


def to_bits(content):
    return [byte >> i & 1 for byte in content for i in range(8)]


def to_bytes(bits):
    return bytes(sum(bit << i for i, bit in enumerate(bits[at:at + 8])) for at in range(0, len(bits), 8))


def encrypt(payload):
    """The datagram as a client with AES in ECB mode sends it; a handshake lacks only the encryption flag."""
    bits = to_bits(payload)
    end = max(i for i, bit in enumerate(bits) if bit)
    if bits[0] == 1:
        return payload
    inner = bits[1:end] + [1]
    inner += [0] * (-len(inner) % (8 * BLOCK_BYTES))
    sealed = subprocess.run(["openssl", "enc", "-aes-256-ecb", "-nopad", "-K", KEY], input=to_bytes(inner),
                            capture_output=True, check=True).stdout
    return to_bytes([0, 1] + to_bits(sealed) + [1])


class Key(harness.StageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plain = capture.read(harness.recording("utcp-orig-clean"))[:40]
        sealed = [datagram._replace(payload=encrypt(datagram.payload)) for datagram in cls.plain]
        cls.path = cls.stage.put("sealed.pcap", capture.pcap(sealed))

    def packets(self, **settings):
        return self.stage.packets(self.path, {"generation": "4.25", "handlers": "aes-ecb"} | settings)

    def test_without_key(self):
        packets = self.packets()
        opaque = [packet for packet in packets.values() if "uerudp.expert.no_key" in packet.experts]
        self.assertGreater(len(opaque), 30)
        for packet in opaque:
            self.assertEqual(packet.numbers("handler.encrypted"), [1])
            self.assertEqual(packet.all("packet.seq"), [])
            self.assertEqual(len(packet.all("handler.ciphertext")[0].payload()) % BLOCK_BYTES, 0)

    def test_with_key(self):
        key_file = self.stage.put("keys.txt", f"# the session\n{KEY}\n".encode())
        plain = self.stage.packets(self.stage.put("plain.pcap", capture.pcap(self.plain)), {"generation": "4.25"})
        for key in (KEY, key_file):
            opened = self.packets(key=key)
            self.assertEqual(sorted(opened), sorted(plain))
            for frame, packet in plain.items():
                def content(of):
                    return [(f.key, f.text) for f in of.fields if f.key.startswith(("packet.", "bunch.", "control."))]
                self.assertEqual(content(opened[frame]), content(packet), f"frame {frame}")

    def test_wrong_key_is_named(self):
        result = self.stage.run(["tshark", "-r", self.path, "-o", "uerudp.key:0011"])
        self.assertIn("uerudp.key", result.stderr)


if __name__ == "__main__":
    if not shutil.which("openssl") or not os.path.exists("/usr/include/gcrypt.h"):
        sys.exit(harness.SKIPPED)
    harness.main()
