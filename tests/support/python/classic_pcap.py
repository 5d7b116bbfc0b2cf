# SPDX-License-Identifier: MIT
"""Classic pcap files, little-endian, with microseconds."""
import struct

MAGIC = 0xA1B2C3D4


def file(frames, link_type, snap_bytes=65535):
    """The bytes of a pcap file. frames: (time in microseconds, bytes of the frame)."""
    parts = [struct.pack("<IHHIIII", MAGIC, 2, 4, 0, 0, snap_bytes, link_type)]
    for time_us, frame in frames:
        kept = frame[:snap_bytes]
        parts += [struct.pack("<IIII", *divmod(time_us, 1_000_000), len(kept), len(frame)), kept]
    return b"".join(parts)
