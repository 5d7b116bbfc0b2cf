# SPDX-License-Identifier: MIT
"""One run captured at both ends, and what uerudp info must say of it by what the simulator knows."""
import collections
import json
import pathlib
import struct
import tempfile
import unittest

import blocks
import classic_pcap
import pcapng
import uerudp

WAYS = ("c2s", "s2c")
SERVER_PORT = 7777
LOST = 2  # fate of a packet in the page of trace
MS = 1_000_000

Ends = collections.namedtuple("Ends", "client server sent")


def info(*arguments, status=None):
    """The connections, and what standard error says."""
    result = uerudp.run("info", "--json", *arguments, status=status)
    return [json.loads(line) for line in result.stdout.splitlines()], result.stderr.decode()


def text_of(*arguments):
    return uerudp.run("info", *arguments, status=None).stdout.decode()


def frame_of(packet, client_ip=bytes([10, 0, 0, 1]), client_port=None):
    """An Ethernet frame with the addresses of a network behind a NAT."""
    ports = [client_port if client_port and port != SERVER_PORT else port for port in (packet.source, packet.destination)]
    ips = [bytes([10, 0, 0, 2]) if port == SERVER_PORT else client_ip for port in ports]
    udp = struct.pack(">HHHH", *ports, 8 + len(packet.payload), 0) + packet.payload
    return bytes(12) + b"\x08\x00" + struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0) + b"".join(ips) + udp


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def generate(self, scenario, *options):
        """One run, captured at both ends."""
        uerudp.run("generate", scenario, *options, "--capture-at=both", "--output", self.path / "run.pcapng",
                   status=None)  # 1 if a damaged datagram ended the login
        paths = [(self.path / f"run-{end}.pcapng").rename(self.path / f"{end}.pcapng") for end in ("client", "server")]
        return Ends(*paths, json.loads((self.path / "run-client.sent.json").read_text()))

    def merge(self, *files):
        """A file with an interface for each of the files, which is named."""
        frames = sorted([(packet, number) for number, path in enumerate(files) for packet in pcapng.read(path)],
                        key=lambda pair: pair[0].time_ns)
        opts = [blocks.options("<", (2, f"at the {path.stem}".encode()), (blocks.TSRESOL, b"\x09")) for path in files]
        merged = self.path / "merged.pcapng"
        merged.write_bytes(blocks.section() + b"".join(blocks.interface(opts=opt) for opt in opts) +
                           b"".join(blocks.enhanced(frame_of(packet), packet.time_ns, number=number) for packet, number in frames))
        return merged

    def write(self, name, packets, **nat):
        path = self.path / name
        path.write_bytes(classic_pcap.file([(packet.time_ns // 1000, frame_of(packet, **nat)) for packet in packets],
                                           blocks.ETHERNET))
        return path

    def without(self, path, dropped):
        """A copy of a capture that lacks a slice of the packets to the server."""
        packets = pcapng.read(path)
        lacking = [index for index, packet in enumerate(packets) if packet.destination == SERVER_PORT][dropped]
        return self.write("lacking.pcap", [packet for index, packet in enumerate(packets) if index not in lacking])

    def compare(self, ends, connection, least=0.98):
        """Losses, arrivals and delays are those of the simulator. Packets that were sent before the other capture began
        or after it ended cannot be compared; they are few."""
        found = connection["both_ends"]
        for way in WAYS:
            datagrams = [sent for sent in ends.sent["datagrams"] if sent["dir"] == way and sent["stream"] == connection["stream"]]
            arrived = [sent for sent in datagrams if sent["arrived"]]
            missing = collections.Counter(sent["packet_id"] for sent in datagrams if not sent["arrived"])
            counts = found[way]
            self.assertEqual(len(datagrams), counts["sent"] + counts["not_comparable"])
            self.assertEqual(len(arrived), counts["arrived"])
            self.assertEqual(sum(sent["length"] for sent in arrived), counts["arrived_bytes"])
            self.assertEqual(sum(len(sent["arrived"]) - 1 for sent in arrived), counts["arrived_again"])
            self.assertEqual((0, 0, 0), (counts["changed"], counts["only_acknowledged"], counts["not_seen_leaving"]))
            self.assertEqual(len(datagrams) - len(arrived), counts["lost"] + counts["not_comparable"])
            self.assertGreaterEqual(counts["sent"], least * len(datagrams))
            self.assertEqual(counts["lost"], sum(loss["count"] for loss in counts["losses"]))
            for loss in counts["losses"]:
                if loss["count"] == 1:
                    self.assertGreater(missing[loss["first_packet_id"]], 0, loss)
            self.compare_delays(arrived, counts)
        return found

    def compare_delays(self, arrived, counts):
        delays = sorted((int(sent["arrived"][0]) - int(sent["time"])) / MS for sent in arrived)
        for percent, key in ((50, "p50"), (90, "p90"), (99, "p99"), (100, "max")):
            truth = delays[max(0, -(-len(delays) * percent // 100) - 1)]
            self.assertAlmostEqual(truth, counts["delay_ms"][key], delta=1, msg=key)
