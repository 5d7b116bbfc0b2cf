# SPDX-License-Identifier: MIT
"""The live programs on the loopback interface: servers, clients and links, and plain UDP sockets."""
import contextlib
import json
import random
import select
import signal
import socket
import subprocess
import threading
import time

import uerudp

SECONDS = 60  # timeout of one step of a test


def wait_until(condition):
    """Poll until condition() holds; its value."""
    end = time.monotonic() + SECONDS
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {SECONDS} s")
        time.sleep(0.01)


def udp_socket(port=0):
    """A socket on the loopback interface, which does not overflow while its reader waits for a processor."""
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    opened.bind(("127.0.0.1", port))
    return opened


def free_port():
    """A UDP port at which nobody listens."""
    with udp_socket() as probe:
        return probe.getsockname()[1]


class Listener:
    """A running program that listens, and the events that it reports as JSON."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([uerudp.PROGRAM, *map(str, arguments)],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.events = [json.loads(self.process.stdout.readline())]
        self.address = self.events[0]["address"]
        self.port = int(self.address.rpartition(":")[2])
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.events.append(json.loads(line))
                self.changed.notify_all()

    def named(self, name):
        """The events of this name so far."""
        return [event for event in self.events if event["event"] == name]

    def wait_for(self, name, count=1):
        """The events of this name, as soon as there are `count`."""
        with self.changed:
            if not self.changed.wait_for(lambda: len(self.named(name)) >= count, SECONDS):
                raise AssertionError(f"{self.process.args} never reported {name}: {self.events}")
            return self.named(name)

    def stop(self, with_signal=signal.SIGINT):
        """Send the signal; returns the exit status."""
        self.process.send_signal(with_signal)
        return self.wait()

    def wait(self):
        """Wait until the program exits; returns the exit status."""
        self.process.wait(SECONDS)
        self.reader.join(SECONDS)
        self.errors = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.returncode is None:
            self.stop()
        if kind is None and (self.process.returncode != 0 or self.errors):
            raise AssertionError(f"{self.process.args} ended with {self.process.returncode}: {self.errors}")

    def reported(self, name):
        """The only event of this name."""
        event, = self.named(name)
        return event


def has_any(options, *names):
    return any(str(option).partition("=")[0] in names for option in options)


class Server(Listener):
    """uerudp serve; without --mode or --scenario it returns all messages."""

    def __init__(self, *options, bind=None):
        bound = ["--bind", bind] if bind else []
        mode = [] if has_any(options, "--mode", "--scenario") else ["--mode", "echo"]
        super().__init__("serve", "--port", 0, "--json", *bound, *mode, *options)


class Link(Listener):
    def __init__(self, server_port, *options):
        super().__init__("link", "--bind", "127.0.0.1", "--json", *options, 0, f"127.0.0.1:{server_port}")


class Echo:
    """A UDP server that returns every datagram."""

    def __init__(self, port=0):
        self.socket = udp_socket(port)
        self.socket.settimeout(0.05)
        self.port = self.socket.getsockname()[1]
        self.received = []
        self.is_open = True
        self.thread = threading.Thread(target=self.answer, daemon=True)
        self.thread.start()

    def answer(self):
        while self.is_open:
            try:
                payload, source = self.socket.recvfrom(65536)
            except socket.timeout:
                continue
            self.received.append(payload)
            self.socket.sendto(payload, source)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_open = False
        self.thread.join()
        self.socket.close()


def start_client(server, *options, host="127.0.0.1"):
    job = [] if has_any(options, "--check", "--file", "--scenario", "--beacon") else ["--lines"]
    return subprocess.Popen([uerudp.PROGRAM, "connect", "--json", *job, *map(str, options), f"{host}:{server.port}"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def client(server, *options, host="127.0.0.1", data=b"", status=0):
    """Run uerudp connect. Returns the last event of each name, by name, and the text of stderr."""
    process = start_client(server, *options, host=host)
    try:
        output, errors = process.communicate(data, SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    if process.returncode != status:
        raise AssertionError(f"{options}: exit status {process.returncode}, not {status}\n{output!r}\n{errors!r}")
    events = [json.loads(line) for line in output.splitlines()]
    return {event["event"]: event for event in events}, errors.decode()


def check(server, *options, **rest):
    """Run connect --check, which must succeed. Returns its event "check"."""
    return client(server, "--check", *options, **rest)[0]["check"]


class Proxy:
    """Forwards datagrams between one client and a server. It can drop and corrupt the client's datagrams and change the
    address that the server sees."""

    def __init__(self, server, corruption=0, dropped=()):
        self.drop_count = self.count = 0
        self.drop_next = 0  # number of the client's next datagrams to drop
        self.dropped = dropped  # numbers of the client's datagrams to drop, from 1
        self.corruption = corruption  # share of the client's datagrams in which a bit is flipped
        self.random = random.Random(1)
        self.server = ("127.0.0.1", server.port)
        self.client = None
        self.old = []
        self.inner = udp_socket()
        self.outer = udp_socket()
        self.port = self.inner.getsockname()[1]
        self.is_open = True
        self.thread = threading.Thread(target=self.forward, daemon=True)
        self.thread.start()

    def change_address(self):
        """Send from another port from now on; what the server sends to the old port is dropped."""
        self.old.append(self.outer)
        self.outer = udp_socket()

    def forward(self):
        while self.is_open:
            outer = self.outer
            with contextlib.suppress(OSError):  # the client has exited
                for ready in select.select([self.inner, outer], [], [], 0.05)[0]:
                    payload, source = ready.recvfrom(65536)
                    if ready is outer:
                        self.inner.sendto(payload, self.client)
                    else:
                        self.client = source
                        self.send(payload)

    def send(self, payload):
        self.count += 1
        if self.drop_next > 0 or self.count in self.dropped:
            self.drop_next -= self.drop_next > 0
            self.drop_count += 1
        else:
            self.outer.sendto(self.corrupted(payload), self.server)

    def corrupted(self, payload):
        if self.random.random() >= self.corruption:
            return payload
        flipped = bytearray(payload)
        flipped[self.random.randrange(len(flipped))] ^= 1 << self.random.randrange(8)
        return bytes(flipped)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_open = False
        self.thread.join()
        for each in (self.inner, self.outer, *self.old):
            each.close()


def datagrams(path, *settings):
    """(source port, payload) of each datagram of a recording, none of which may be malformed."""
    output = uerudp.run("decode", "--fields", "src,raw", *settings, path)
    lines = [line.split("\t") for line in output.stdout.decode().splitlines()]
    return [(int(source.rpartition(":")[2]), bytes.fromhex(raw)) for source, raw in lines]


def has_ipv6():
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            return False
    return True
