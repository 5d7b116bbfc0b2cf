# SPDX-License-Identifier: MIT
"""Reads and writes classic pcap files of UDP over IPv4 over Ethernet."""
import socket
import struct
from collections import namedtuple

import classic_pcap

Datagram = namedtuple("Datagram", "source source_port destination destination_port payload")

LINKTYPE_ETHERNET = 1
BEGIN_US = 1_700_000_000_000_000
ETHERNET_BYTES = 14
IPV4_BYTES = 20
UDP_BYTES = 8
CLIENT, SERVER = "10.0.0.1", "10.0.0.2"
CLIENT_PORT, SERVER_PORT = 50000, 7777


def read(path):
    """The datagrams of a little-endian classic pcap file without IP options."""
    with open(path, "rb") as file:
        content = file.read()
    datagrams, at = [], 24
    while at < len(content):
        size = struct.unpack_from("<I", content, at + 8)[0]
        frame = content[at + 16:at + 16 + size]
        at += 16 + size
        source, destination = (socket.inet_ntoa(frame[i:i + 4]) for i in (26, 30))
        ports = struct.unpack_from(">HH", frame, ETHERNET_BYTES + IPV4_BYTES)
        payload = frame[ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES:]
        datagrams.append(Datagram(source, ports[0], destination, ports[1], payload))
    return datagrams


def pcap(datagrams, snap_bytes=65535):
    """The bytes of a pcap file with one datagram every 10 ms."""
    frames = ((BEGIN_US + 10_000 * number, ethernet(datagram)) for number, datagram in enumerate(datagrams))
    return classic_pcap.file(frames, LINKTYPE_ETHERNET, snap_bytes)


def ethernet(datagram):
    udp = struct.pack(">HHHH", datagram.source_port, datagram.destination_port, UDP_BYTES + len(datagram.payload), 0)
    addresses = socket.inet_aton(datagram.source) + socket.inet_aton(datagram.destination)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, IPV4_BYTES + len(udp) + len(datagram.payload), 0, 0, 64, 17, 0) + addresses
    return bytes.fromhex("0200000000020200000000010800") + ip + udp + datagram.payload


def with_server_port(datagrams, port):
    """The same traffic with another server port."""
    def moved(number):
        return port if number == SERVER_PORT else number
    return [d._replace(source_port=moved(d.source_port), destination_port=moved(d.destination_port)) for d in datagrams]


def from_client(payload, port=SERVER_PORT):
    return Datagram(CLIENT, CLIENT_PORT, SERVER, port, payload)


def from_server(payload, port=SERVER_PORT):
    return Datagram(SERVER, port, CLIENT, CLIENT_PORT, payload)
