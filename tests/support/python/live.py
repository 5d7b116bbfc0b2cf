# SPDX-License-Identifier: MIT
"""A server and clients of the program on the loopback interface, for tests."""
import contextlib
import json
import random
import select
import signal
import socket
import subprocess
import threading

import uerudp

SECONDS = 60  # of any one step: a test that hangs fails


class Listener:
    """A program that listens, from ready to ended; afterwards what it reported."""

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

    def all(self, name):
        return [event for event in self.events if event["event"] == name]

    def wait_for(self, name, count=1):
        """The events of this name, once there are so many."""
        with self.changed:
            if not self.changed.wait_for(lambda: len(self.all(name)) >= count, SECONDS):
                raise AssertionError(f"{self.process.args} never reported {name}: {self.events}")
            return self.all(name)

    def end(self, with_signal=signal.SIGINT):
        """Waits for the end, which a signal asks for, and returns the exit status."""
        if with_signal is not None:
            self.process.send_signal(with_signal)
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
            self.end()
        if kind is None and (self.process.returncode != 0 or self.errors):
            raise AssertionError(f"{self.process.args} ended with {self.process.returncode}: {self.errors}")

    def reported(self, name):
        """The one event of this name, after the end."""
        event, = self.all(name)
        return event


class Server(Listener):
    def __init__(self, *options, bind=None):
        bound = ["--bind", bind] if bind else []
        super().__init__("serve", "--port", 0, "--json", *bound, *options)


class Link(Listener):
    def __init__(self, server_port, *options):
        super().__init__("link", "--bind", "127.0.0.1", "--json", *options, 0, f"127.0.0.1:{server_port}")


class Echo:
    """A plain UDP server that returns everything."""

    def __init__(self, port=0):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", port))
        self.socket.settimeout(0.05)
        self.port = self.socket.getsockname()[1]
        self.heard = []
        self.is_open = True
        self.thread = threading.Thread(target=self.answer, daemon=True)
        self.thread.start()

    def answer(self):
        while self.is_open:
            try:
                payload, source = self.socket.recvfrom(65536)
            except socket.timeout:
                continue
            self.heard.append(payload)
            self.socket.sendto(payload, source)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_open = False
        self.thread.join()
        self.socket.close()


def start_client(server, *options, host="127.0.0.1"):
    return subprocess.Popen([uerudp.PROGRAM, "connect", "--json", *map(str, options), f"{host}:{server.port}"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def client(server, *options, host="127.0.0.1", data=b"", status=0):
    """Runs uerudp connect and returns its events by name, the last of each, and its messages on stderr."""
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
    """A client whose check succeeds; returns what it counted."""
    return client(server, "--check", *options, **rest)[0]["check"]


class Path:
    """Carries datagrams of one client to a server and back; it can lose the client's, damage some of them, and come from
    another address."""

    def __init__(self, server, damage=0, losing=()):
        self.lost = self.count = 0
        self.to_lose = 0  # the next datagrams of the client
        self.losing = losing  # numbers of the client's datagrams that are lost, too
        self.damage = damage  # share of the client's datagrams in which a bit is flipped
        self.random = random.Random(1)
        self.server = ("127.0.0.1", server.port)
        self.client = None
        self.old = []
        self.inner = self.socket()
        self.outer = self.socket()
        self.port = self.inner.getsockname()[1]
        self.is_open = True
        self.thread = threading.Thread(target=self.carry, daemon=True)
        self.thread.start()

    @staticmethod
    def socket():
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.bind(("127.0.0.1", 0))
        return made

    def move(self):
        """From now on the server sees another address; the old one swallows what is sent there."""
        self.old.append(self.outer)
        self.outer = self.socket()

    def carry(self):
        while self.is_open:
            outer = self.outer
            with contextlib.suppress(OSError):  # the client is gone
                for ready in select.select([self.inner, outer], [], [], 0.05)[0]:
                    payload, source = ready.recvfrom(65536)
                    if ready is outer:
                        self.inner.sendto(payload, self.client)
                    else:
                        self.client = source
                        self.send(payload)

    def send(self, payload):
        self.count += 1
        if self.to_lose > 0 or self.count in self.losing:
            self.to_lose -= self.to_lose > 0
            self.lost += 1
        else:
            self.outer.sendto(self.damaged(payload), self.server)

    def damaged(self, payload):
        if self.random.random() >= self.damage:
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
    """(source port, payload) of a recording, in which nothing may be malformed: decode's exit status tells."""
    said = uerudp.run("decode", "--fields", "src,raw", *settings, path)
    lines = [line.split("\t") for line in said.stdout.decode().splitlines()]
    return [(int(source.rpartition(":")[2]), bytes.fromhex(raw)) for source, raw in lines]


def has_ipv6():
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            return False
    return True
