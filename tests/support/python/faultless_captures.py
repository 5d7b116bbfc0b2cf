# SPDX-License-Identifier: MIT
"""Captures without a fault: the reference endpoint over many networks, captured at the client, at the server and between
them. Capture N is equal in every run, except captures of live programs."""
import pathlib
import random
import struct

import live
import uerudp

GENERATIONS = ("4.13", "4.14", "4.16", "4.18", "4.20", "4.22", "4.24", "4.25", "4.26", "5.1", "5.4", "5.5", "5.8")
POINTS = ("client", "server", "between")
SCENARIOS = ("clean", "stream", "lossy", "terrible", "burst", "jitter", "reorder", "shuffle", "duplicate", "sealed", "outage",
             "thin", "bloat", "wrap", "handshake", "login-lossy", "channels", "churn", "bulk", "login", "mixed",
             "loss-burst", "big-bunch", "game", "voice", "overload", "restart", "kick", "timeout", "refused",
             "upgrade", "close-reasons")
ENDINGS = ("kick", "timeout", "refused", "upgrade", "restart")  # with the network of the scenario
MODERN_ONLY = ("restart", "sealed", "upgrade")  # from 4.22 on
LOSSES = (0, 0.01, 0.03, 0.05, 0.1, 0.2)
LIVE_EVERY = 50  # one of 50 captures is of live programs, and one has a hundred connections


class FaultlessCapture:
    """The parameters of capture N, which make() writes."""

    def __init__(self, number, folder):
        self.number, self.folder = number, pathlib.Path(folder)
        self.random = random.Random(number)
        choose = self.random.choice
        self.generation = GENERATIONS[number % len(GENERATIONS)]
        self.point = POINTS[number // len(GENERATIONS) % len(POINTS)]
        self.is_live = number % LIVE_EVERY == LIVE_EVERY - 1
        self.loss = choose(LOSSES)
        self.connections = 100 if number % LIVE_EVERY == 7 else choose((1,) * 12 + (2, 5, 20))
        self.joins = self.random.random() < 0.15 and not self.is_live  # the capture begins in the middle
        self.knows_generation = choose((True, False))
        self.scenario = choose(SCENARIOS)
        if self.connections == 100:
            self.scenario, self.joins = "mixed", False
        if self.scenario in MODERN_ONLY and self.generation < "4.22":
            self.scenario = "mixed"

    def __str__(self):
        kind = "live" if self.is_live else f"{self.scenario}, {self.connections} connections"
        return (f"capture {self.number}: {kind}, {self.generation}, at {self.point}, loss {self.loss}"
                f"{', begins in the middle' if self.joins else ''}")

    def path(self, name="capture"):
        return self.folder / f"{self.number}-{name}.pcapng"

    def network(self):
        """Options of the network, for generate and for live programs."""
        options = [f"--loss={self.loss}"]
        for name, values in (("jitter", (0, 0, 5, 15, 40)), ("reorder", (0, 0, 0, 0.05)), ("dup", (0, 0, 0, 0.03)),
                             ("delay", (5, 20, 60))):
            options.append(f"--{name}={self.random.choice(values)}")
        return options

    def make(self):
        """Write the capture. Returns the arguments of replay for it."""
        path, keys = self.record() if self.is_live else self.generate()
        if self.joins and not keys:
            count = uerudp.run("decode", "--fields=frame", *self.settings(), path, status=None).stdout.count(b"\n")
            whole, path = path, self.path("second")
            uerudp.run("edit", f"--frames={1 + int(count * self.random.uniform(0.1, 0.6))}-", whole, path)
        return [*self.settings(), *keys, path]

    def settings(self):
        return [f"--generation={self.generation}"] if self.knows_generation else []

    # ---- simulated ----

    def generate(self):
        seconds = {100: 5, 20: 5}.get(self.connections, self.random.choice((2, 5, 5, 15)))
        keys = self.scenario == "sealed"
        options = [] if self.scenario in ENDINGS else self.network()
        if self.scenario not in ENDINGS and self.random.random() < 0.2:
            burst = self.random.choice((2, 4, 8))
            options += [f"--loss-burst={burst}"] if "--loss=0" not in options else []  # without effect
        if keys:
            options.append("--corrupt=0")
        at = self.point if self.point != "between" else self.random.choice(("client", "server", "sender"))
        uerudp.run("generate", self.scenario, f"--seed={self.number}", f"--generation={self.generation}",
                   f"--duration={seconds}", f"--connections={self.connections}", f"--capture-at={at}", *options,
                   *([] if keys else ["--no-sidecar"]), "-o", self.path(), status=None)
        path = self.lose_before(self.path()) if self.point == "between" else self.path()
        return path, [f"--key={self.path().with_suffix('.keys')}", "--handlers=aesgcm"] if keys else []

    def lose_before(self, path):
        """Remove half of the lost datagrams, as if they were lost before the capture point."""
        data, kept, at = path.read_bytes(), bytearray(), 0
        while at < len(data):
            block = data[at:at + struct.unpack_from("<I", data, at + 4)[0]]
            if b"lost after this point" not in block or self.random.random() < 0.5:
                kept += block
            at += len(block)
        moved = self.path("between")
        moved.write_bytes(kept)
        return moved

    # ---- live ----

    def record(self):
        """Capture connect --check over a bad network, with a link between client and server."""
        wire = [f"--generation={self.generation}", "--tick=60"]
        bad = [f"--loss={self.loss}", f"--delay={self.random.choice((5, 30))}", f"--jitter={self.random.choice((0, 5, 15))}"]
        record = {point: [] for point in POINTS}
        side = self.random.choice(("client", "server"))
        record[self.point] = [f"--pcap-{side}" if self.point == "between" else "--pcap", self.path()]
        server = live.Server("--once", *wire, *bad, *record["server"])
        link = live.Link(server.port, *record["between"])
        client = live.start_client(link, "--check", "--timeout=20", *wire, *bad, *record["client"])
        client.communicate(timeout=live.SECONDS)
        server.stop()
        link.stop()
        return self.path(), []
