#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure what tshark spends on our packets with the plugin, with nothing, with other protocols and with a Lua script.

usage: bench_dissect.py BENCH_CAPTURE NOP_PLUGIN [--json] [--packets N]

Instructions per packet are the difference of two callgrind runs over captures of different length, which cancels
tshark's start; CPU times are user and system time less that of a run over one packet. Environment: UERUDP_PLUGINS.
"""
import argparse
import os
import platform
import random
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "plugin"))
import capture  # noqa: E402
import known_protocols  # noqa: E402
import harness  # noqa: E402
from report import Report  # noqa: E402

SEED = 1
FEW, MANY = 500, 2500
HANDSHAKES = 4 * 64
LUA_KNOWN = 1_193_000 # instructions per packet of four bunches, base included
RUNS = 3
ROUNDS = 7
SHAPES = ("U1", "U4", "U20")
PORT = 7777
FOREIGN_PORTS = (40000, 40001)

OURS = ("-d", f"udp.port=={PORT},uerudp")
NOP = ("-d", f"udp.port=={PORT},uenop")
LUA = ("-d", f"udp.port=={PORT},uelua")
STATISTICS = ("-q", "-z", "io,stat,0")
STATELESS = ("-o", "uerudp.analyse:FALSE")
# Each with the function that Wireshark calls for it, and that of Wireshark which it calls to count.
LISTENERS = {"conv,uerudp": ("count_conversation*", "add_conversation_table_data_with_conv_id"),
             "endpoints,uerudp": ("count_endpoints*", "add_endpoint_table_data"),
             "uerudp,srt": ("count_spans*", "add_srt_table_data"),
             **{f"{tree},tree": ("stats_tree_packet", "stats_tree_manip_node_int") for tree in
                ("uerudp", "uerudp_bunches", "uerudp_channels", "uerudp_losses")}}
REPORT = "uerudp_tap_data_queue"
FIELDS = ("-T", "fields", "-e", "frame.number", "-e")
VERBOSE = ("-V",)


class Stage(harness.Stage):
    """tshark with both plugins, and captures by shape and number of packets."""

    def __init__(self, maker, nop_plugin):
        super().__init__()
        self.maker = maker
        self.captures = {}
        self.put_plugin(nop_plugin)
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "uerudp.lua"), "rb") as file:
            self.lua = self.put("uerudp.lua", file.read())

    def capture(self, shape, packets):
        """Path of a capture: of ours, or of a protocol of MAKERS."""
        path = os.path.join(self.path, f"{shape}-{packets}.pcap")
        if path not in self.captures:
            if shape in MAKERS:
                self.put(os.path.basename(path), MAKERS[shape](packets))
            else:
                with open(path, "wb") as file:
                    subprocess.run([self.maker, shape, str(packets), str(SEED)], stdout=file, check=True)
            self.captures[path] = True
        return path

    def forget(self, shape, packets):
        path = self.capture(shape, packets)
        del self.captures[path]
        os.remove(path)

    def slope(self, shape, options, few=FEW, many=MANY, functions=()):
        """Instructions per packet; they vary with the seed of tshark's hash tables."""
        counts = [self.instructions("-r", self.capture(shape, n), *options, functions=functions) for n in (few, many)]
        return (counts[1] - counts[0]) / (many - few)

    def usage(self, shape, packets, options):
        """User and system seconds, and the largest resident set in bytes, of one run."""
        command = self.command(["tshark", "-r", self.capture(shape, packets), *options])
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        errors = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise AssertionError(errors[-4000:])
        return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024

    def per_packet(self, shape, candidates):
        """Microseconds and bytes per packet of candidates by name, each its number of packets and its options. They
        take turns, and of each the best run counts: whatever else the machine does only adds."""
        runs = {name: [] for name in candidates}
        for _ in range(ROUNDS):
            for name, (packets, options) in candidates.items():
                runs[name].append((*self.usage(shape, packets, options), *self.usage(shape, 1, options)))
        used = {}
        for name, (packets, _) in candidates.items():
            seconds, size, start_seconds, start_size = map(min, zip(*runs[name]))
            used[name] = (seconds - start_seconds) / packets * 1e6, (size - start_size) / packets
        return used


def dns_message(number, answers):
    """A question, then a response with so many answers, in turns."""
    question = b"\x04host\x07example\x03org\x00\x00\x01\x00\x01"
    if number % 2 == 0:
        return (number // 2 % 65536).to_bytes(2, "big") + bytes.fromhex("01000001000000000000") + question
    head = (number // 2 % 65536).to_bytes(2, "big") + bytes.fromhex("81800001") + answers.to_bytes(2, "big") + bytes(4)
    return head + question + b"".join(bytes.fromhex("c00c0001000100000e100004") + bytes([10, 0, 0, i])
                                      for i in range(answers))


def others(packets, port, message):
    """A capture of 64 clients of some other protocol."""
    datagrams = []
    for number in range(packets):
        client = (f"10.0.1.{number // 2 % 64 + 1}", 50000)
        ends = (*client, "10.2.0.1", port) if number % 2 == 0 else ("10.2.0.1", port, *client)
        datagrams.append(capture.Datagram(*ends, message(number)))
    return capture.pcap(datagrams)


def make_rtp(packets):
    payload = random.Random(SEED).randbytes(983)
    return others(packets, 5004, lambda n: bytes.fromhex("8060") + (n % 65536).to_bytes(2, "big") + bytes(4)
                  + n.to_bytes(4, "big") + payload)


def make_foreign(packets):
    """Packets on ports that nobody claims, half of them of protocols that the heuristic must leave alone."""
    dice = random.Random(SEED)
    makers = [maker for _, _, maker in known_protocols.PROTOCOLS.values()]
    datagrams = []
    for number in range(packets):
        message = dice.choice(makers)(dice) if number % 2 == 0 else dice.randbytes(dice.randrange(20, 1000))
        datagrams.append(capture.Datagram("10.0.1.1", FOREIGN_PORTS[0] + number % 64, "10.2.0.1", FOREIGN_PORTS[1],
                                          message))
    return capture.pcap(datagrams)


MAKERS = {"RTP": make_rtp, "DNS4": lambda n: others(n, 53, lambda i: dns_message(i, 4)),
          "DNS20": lambda n: others(n, 53, lambda i: dns_message(i, 20)), "foreign": make_foreign}


def check_loaded(stage):
    listing = stage.tshark("-G", "plugins")
    for name in ("uerudp.so", "uenop.so"):
        if name not in listing:
            raise AssertionError(f"{name} is not loaded:\n{listing}")


def column(stage, shape, options, *fields):
    selected = [part for field in fields for part in ("-e", field)]
    return stage.tshark("-r", stage.capture(shape, FEW), *options, "-T", "fields", *selected).splitlines()


def check_agreement(stage):
    """The plugin and the Lua script see the same; nothing is malformed; the nop sees nothing."""
    keys = ("seq", "ack", "jitter_ms"), ("channel", "reliable", "ch_seq", "name_index", "data_bits")
    for shape in (*SHAPES, "Umix"):
        ours = column(stage, shape, OURS, *(f"uerudp.packet.{k}" for k in keys[0]),
                      *(f"uerudp.bunch.{k}" for k in keys[1]))
        lua = column(stage, shape, (*LUA, "-X", f"lua_script:{stage.lua}"),
                     *(f"uelua.{k}" for part in keys for k in part))
        differing = [i for i, (a, b) in enumerate(zip(ours, lua)) if a != b]
        if len(ours) != FEW + HANDSHAKES or len(lua) != len(ours) or differing or not ours[-1].split("\t")[0]:
            i = differing[0] if differing else -1
            raise AssertionError(f"{shape}: plugin and Lua script differ, first in frame {i + 1}:\n{ours[i]}\n{lua[i]}")
        if any(line.strip() for line in column(stage, shape, OURS, "uerudp.expert.malformed", "_ws.malformed")):
            raise AssertionError(f"{shape}: malformed packets")
    if any("uerudp" in line for line in column(stage, "U4", NOP, "frame.protocols")):
        raise AssertionError("the nop plugin does not replace ours")


def count_instructions(stage, report):
    goals = {"U1": (1500, 700), "U4": (2500, 1300), "U20": (6000, 3500)}
    nops = {}
    for shape in SHAPES:
        nops[shape] = statistics.median(stage.slope(shape, (*NOP, *STATISTICS)) for _ in range(RUNS))
        stateless = statistics.median(stage.slope(shape, (*OURS, *STATELESS, *STATISTICS)) for _ in range(RUNS))
        report.line(f"W1.{shape}", stateless - nops[shape], "instructions", ("nop", nops[shape]), *goals[shape],
                    judged="value")
        goal = (48000, 39000) if shape == "U4" else (None, None)
        report.line(f"W2.{shape}", stage.slope(shape, (*OURS, *STATISTICS)), "instructions", ("nop", nops[shape]),
                    *goal, judged="value")
    for name in ("RTP", "DNS4", "DNS20"):
        decode_as = ("-d", "udp.port==5004,rtp") if name == "RTP" else ()
        report.line(f"W2.{name}", stage.slope(name, (*decode_as, *STATISTICS)), "instructions", ("nop", nops["U4"]))
    for name, mode, field, must, stretch in (("W3", FIELDS, ("uerudp.packet.seq", "udp.length"), 1.5, 1.35),
                                             ("W4", VERBOSE, (None, None), 1.9, 1.5)):
        ours, nop = ((*mode, extra) if extra else mode for extra in field)
        base = stage.slope("U4", (*NOP, *nop))
        report.line(f"{name}.U4", stage.slope("U4", (*OURS, *ours)), "instructions", ("nop", base), must, stretch)
    count_rejections(stage, report)


def count_listeners(stage, report):
    """What is added when somebody listens: the report of each datagram, and the listener itself. The anchor is what
    Wireshark's own counting takes of it."""
    for listener, functions in LISTENERS.items():
        told, heard, counted = (stage.slope("U4", (*OURS, "-q", "-z", listener), functions=[function])
                                for function in (REPORT, *functions))
        if told == 0 or heard == 0:
            raise AssertionError(f"nobody called {REPORT} or {functions[0]}")
        anchor = ("wireshark", counted) if counted != 0 else None
        report.line(f"W9.{listener}", told + heard, "instructions", anchor, 3000, 1000, judged="value")


def count_rejections(stage, report):
    """All of these packets are refused by everybody, so ours was asked once about each."""
    path = os.path.join(stage.home, "refused.pcap")
    stage.tshark("-r", stage.capture("foreign", MANY), "-Y", "data", "-w", path)
    packets = len(stage.tshark("-r", path, "-T", "fields", "-e", "frame.number").splitlines())
    ours = stage.instructions("-r", path, *STATISTICS, functions=["dissect_heuristic"])
    every = stage.instructions("-r", path, *STATISTICS, functions=["dissector_try_heuristic"])
    report.line("W8", ours / packets, "instructions", ("all_heuristics", every / packets), 300, 80, judged="value")


def check_lua(stage, report):
    """A slower script than the one for which the goals were set would make the plugin look good."""
    instructions = stage.slope("U4", (*LUA, "-X", f"lua_script:{stage.lua}", *STATISTICS), 100, 500)
    report.line("lua.U4", instructions, "instructions", ("known", LUA_KNOWN))
    if instructions > 1.15 * LUA_KNOWN:
        report.invalid("the Lua script is slower than it should be")


def time_runs(stage, report, packets):
    goals = {"U4": (15, 22), "U20": (40, 70), "Umix": (None, None), "U1": (None, None)}
    few = max(packets // 20, FEW)
    lua = (*LUA, "-X", f"lua_script:{stage.lua}", *STATISTICS)
    for shape, (must, stretch) in goals.items():
        candidates = {"nop": (packets, (*NOP, *STATISTICS)), "ours": (packets, (*OURS, *STATISTICS)),
                      "lua": (few, lua)}
        if shape == "U4":
            candidates |= {"nop twice": (packets, (*NOP, "-2", *STATISTICS)),
                           "ours twice": (packets, (*OURS, "-2", *STATISTICS))}
        used = stage.per_packet(shape, candidates)
        times = {name: seconds for name, (seconds, _) in used.items()}
        report.line(f"time.{shape}", times["ours"], "us", ("nop", times["nop"]))
        if shape == "U4":
            report.line("W5.U4", times["ours twice"] - times["ours"], "us",
                        ("nop", times["nop twice"] - times["nop"]), 1.3, 1.1)
            report.line("W7.U4", used["ours"][1] - used["nop"][1], "bytes", ("nop", used["nop"][1]), 350, 150,
                        judged="value")
        report.line(f"W6.{shape}", times["lua"] / times["ours"], "times", ("lua_us", times["lua"]), must, stretch,
                    least=True, judged="value")
        stage.forget(shape, packets)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench_capture")
    parser.add_argument("nop_plugin")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    parser.add_argument("--packets", type=int, default=200_000, help="packets of the captures that are timed")
    options = parser.parse_args()
    report = Report(options.json)
    with Stage(os.path.abspath(options.bench_capture), options.nop_plugin) as stage:
        check_loaded(stage)
        version = stage.tshark("--version").splitlines()[0]
        report.header(program="bench_dissect", cpu=platform.processor() or platform.machine(), tshark=version)
        check_agreement(stage)
        count_instructions(stage, report)
        count_listeners(stage, report)
        check_lua(stage, report)
        time_runs(stage, report, options.packets)
    sys.exit(0 if report.is_valid else 1)


if __name__ == "__main__":
    main()
