#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows W1 to W9: what the plugin costs tshark.

usage: bench_dissect.py FOLDER [--long] [ROW...]; environment: UERUDP_PROGRAM, UERUDP_PLUGINS

FOLDER has the programs in C and uenop.so, the plugin of the dissectors uenop, which shows nothing, and uebare, which adds
as many items as ours and does nothing else. The captures are made for each run, of 64 connections without loss.

Instructions per packet (W1 to W4, W9) are (I(2500) - I(500)) / 2000, where I(N) is what callgrind counts for a capture of
N packets: starting and connecting cancel. The hash tables of tshark have a fixed seed, so that equal runs count the same.
CPU times (W5, W6) are user and system time, the least of several rounds in which the candidates take turns. The
uenop run of each round is the reference loop.

--long measures CPU times in three times as many rounds.
"""
import os
import pathlib
import random
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parents[1]
sys.path[1:1] = [str(TESTS / name) for name in ("bench", "bench/tools", "plugin", "support/python")]
import bare_items  # noqa: E402
import capture  # noqa: E402
import command  # noqa: E402
import figure  # noqa: E402
import harness  # noqa: E402
import other_protocol_datagrams  # noqa: E402

FEW, MANY = 500, 2500
LUA_FEW, LUA_MANY = 100, 300
HANDSHAKES = 4 * 64
ROUNDS, LONG_ROUNDS = 11, 33
TIMED, LUA_TIMED = 200_000, 10_000
KEPT_FEW, KEPT_MANY = 100_000, 1_000_000  # of W7
PORT = 7777
FOREIGN_PORTS = (40000, 40100)
FOREIGN_STEP = 65_536  # UE_RECOGNITION_STEP: the plugin compares some packets of each step with each other

# Instructions per packet when the goals were set. An anchor that takes more would make the plugin look good.
NOP_KNOWN = 32_150
LUA_KNOWN = 1_193_000  # at 4 bunches
ANCHOR_MAX = 1.15

SHAPES = {"U1": "1 bunch", "U4": "4 bunches", "U20": "20 bunches"}
OURS, NOP, BARE, LUA = (("-d", f"udp.port=={PORT},{name}") for name in ("uerudp", "uenop", "uebare", "uelua"))
STATISTICS = ("-q", "-z", "io,stat,0")
WITHOUT_ANALYSIS = ("-o", "uerudp.analyse:FALSE")
NO_LISTENER = ("-q", "-z", "dns,tree")  # of a protocol that the captures do not have: tshark dissects and nobody listens
LISTENERS = ("conv,uerudp", "endpoints,uerudp", "uerudp,srt", "uerudp,tree", "uerudp_bunches,tree", "uerudp_channels,tree",
             "uerudp_losses,tree")
FIELDS = ("-T", "fields", "-e", "frame.number", "-e")
SEQUENCE = "uerudp.packet.seq"
SHARED_FIELDS = (*(f"packet.{name}" for name in ("seq", "ack", "jitter_ms")),
                 *(f"bunch.{name}" for name in ("channel", "reliable", "ch_seq", "name_index", "data_bits")))
DISSECTORS = ("uerudp.so", "uenop.so")


class Stage(harness.Stage):
    """tshark with both plugins, captures by shape and number of packets, and what was counted."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder
        self.counts = {}
        self.bare_list = None
        self.put_plugin(self.folder.program("uenop.so"))
        self.lua = self.put("uerudp.lua", (HERE / "uerudp.lua").read_bytes())
        listing = self.tshark("-G", "plugins")
        for name in DISSECTORS:
            if name not in listing:
                sys.exit(f"{name} is not loaded:\n{listing}")

    def environment(self):
        return super().environment() + ([f"UEBARE_ITEMS={self.bare_list}"] if self.bare_list else [])

    def capture(self, shape, packets):
        path = os.path.join(self.path, f"{shape}-{packets}.pcap")
        if not os.path.exists(path):
            with open(path, "wb") as file:
                subprocess.run([self.folder.program("bench_capture"), shape, str(packets), str(command.SEED)], stdout=file,
                               check=True)
        return path

    def forget(self, shape, packets):
        os.remove(self.capture(shape, packets))

    def slope(self, shape, options, few=FEW, many=MANY):
        """Instructions per packet."""
        key = shape, options, few, many
        if key not in self.counts:
            low, high = (self.instructions("-r", self.capture(shape, count), *options) for count in (few, many))
            self.counts[key] = (high - low) / (many - few)
        return self.counts[key]

    def usage(self, shape, packets, options):
        return self.folder.usage(self.command(["tshark", "-r", self.capture(shape, packets), *options]))


def weak_anchor(name, count, known):
    """The reason why figures are invalid, as print_figure takes it."""
    limit = ANCHOR_MAX * known
    return {} if count <= limit else {"invalid": f"{name} takes {count:.0f} instructions, more than {limit:.0f}"}


# ---- instructions ----

def count_over_nop(stage):
    for shape, name in SHAPES.items():
        nop = stage.slope(shape, (*NOP, *STATISTICS))
        ours = stage.slope(shape, (*OURS, *WITHOUT_ANALYSIS, *STATISTICS))
        figure.print_figure("W1", name, ours - nop, "instructions", note=f"uenop {nop:.0f}",
                            **weak_anchor("uenop", nop, NOP_KNOWN))


def count_analysis(stage):
    figure.print_figure("W2", "4 bunches", stage.slope("U4", (*OURS, *STATISTICS)), "instructions",
                        note=f"uenop {stage.slope('U4', (*NOP, *STATISTICS)):.0f}")


def decoded_as(stage, options):
    return stage.tshark("-r", stage.capture("U4", MANY), *options, "-T", "pdml")


def count_over_bare(stage, rows):
    """W3 and W4."""
    items = bare_items.List(stage, decoded_as(stage, OURS))
    stage.bare_list = stage.put("items.txt", items.content())
    difference = items.difference(decoded_as(stage, BARE))
    invalid = {"invalid": difference} if difference else {}
    modes = {"W3": ((*FIELDS, SEQUENCE), (*FIELDS, items.bare_name(SEQUENCE))), "W4": (("-V",), ("-V",))}
    for row in rows:
        ours, bare = (stage.slope("U4", (*dissector, *mode)) for dissector, mode in zip((OURS, BARE), modes[row]))
        figure.print_figure(row, "4 bunches", ours / bare, "times", note=f"{ours:.0f} and {bare:.0f} instructions, "
                            f"{len(items.lines) / len(items.items):.0f} items per packet", **invalid)
    stage.bare_list = None


def count_listeners(stage):
    base = stage.slope("U4", (*OURS, *NO_LISTENER))
    for listener in LISTENERS:
        added = stage.slope("U4", (*OURS, "-q", "-z", listener)) - base
        figure.print_figure("W9", listener, added, "instructions",
                            **({} if added > 0 else {"invalid": "the listener is not called"}))


def make_foreign(packets):
    """A capture of 64 conversations, in both directions, on ports that no dissector has, half of it of known protocols."""
    dice = random.Random(command.SEED)
    makers = [maker for _, _, maker in other_protocol_datagrams.PROTOCOLS.values()]
    datagrams = []
    for number in range(packets):
        message = dice.choice(makers)(dice) if number % 2 == 0 else dice.randbytes(dice.randrange(20, 1000))
        ends = ("10.0.1.1", FOREIGN_PORTS[0] + number % 64), ("10.2.0.1", FOREIGN_PORTS[1])
        source, destination = ends if dice.randrange(2) == 0 else ends[::-1]
        datagrams.append(capture.Datagram(*source, *destination, message))
    return capture.pcap(datagrams)


def without_other_heuristics(stage):
    """Options that keep other dissectors from claiming conversations because of random bytes: each packet reaches ours."""
    rows = (line.split("\t") for line in stage.tshark("-G", "heuristic-decodes").splitlines())
    names = {protocol for parent, protocol, *_ in rows if parent == "udp"} - {"uerudp"}
    return [part for name in sorted(names) for part in ("--disable-protocol", name)]


def count_rejections(stage):
    """Over one whole step."""
    path = stage.put("foreign.pcap", make_foreign(FOREIGN_STEP))
    options = without_other_heuristics(stage)
    rejected = len(stage.tshark("-r", path, *options, "-Y", "data", "-T", "fields", "-e", "frame.number").splitlines())
    ours = stage.instructions("-r", path, *options, *STATISTICS, functions=["dissect_heuristic"])
    invalid = (f"only {rejected} of {FOREIGN_STEP} packets are rejected by every dissector" if rejected < FOREIGN_STEP
               else None if ours > 0 else "callgrind knows no function dissect_heuristic")
    figure.print_figure("W8", "foreign", ours / FOREIGN_STEP, "instructions", note=f"{rejected} packets",
                        **({"invalid": invalid} if invalid else {}))


# ---- CPU time and memory ----

def lua_options(stage):
    return (*LUA, "-X", f"lua_script:{stage.lua}", *STATISTICS)


def lines_of(stage, shape, options, names):
    selected = [part for name in names for part in ("-e", name)]
    return stage.tshark("-r", stage.capture(shape, FEW), *options, "-T", "fields", *selected).splitlines()


def disagreement(stage, shape):
    """Whether the plugin and the script decode something else, or the plugin reports a fault; None: neither."""
    ours = lines_of(stage, shape, OURS, [f"uerudp.{name}" for name in SHARED_FIELDS])
    lua = lines_of(stage, shape, lua_options(stage)[:4], [f"uelua.{name.partition('.')[2]}" for name in SHARED_FIELDS])
    faults = lines_of(stage, shape, OURS, ["uerudp.expert.malformed", "_ws.malformed"])
    if len(ours) != FEW + HANDSHAKES or not ours[-1].strip() or any(line.strip() for line in faults):
        return f"{shape}: the plugin does not decode each packet"
    return None if ours == lua else f"{shape}: the plugin and the Lua script decode different values"


def spread(values):
    """How far values of a loop that never changes varied: figure_spread() in Python."""
    ordered = sorted(values)
    low, middle, high = (ordered[len(ordered) * tenths // 10] for tenths in (1, 5, 9))
    return (high - low) / middle


def least_of_rounds(stage, shape, candidates, rounds):
    """CPU seconds of the best run of each candidate, and how far those of uenop varied. What else the machine does only
    adds."""
    runs = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, (packets, options) in candidates.items():
            runs[name].append(stage.usage(shape, packets, options).cpu_s)
    return {name: min(seconds) for name, seconds in runs.items()}, spread(runs["nop"])


def measure_times(stage, shape, rows, rounds):
    """W5 and W6."""
    ours, lua = (*OURS, *STATISTICS), lua_options(stage)
    candidates = {"nop": (TIMED, (*NOP, *STATISTICS)), "ours": (TIMED, ours)}
    if "W5" in rows and shape == "U4":
        candidates |= {"nop twice": (TIMED, ("-2", *NOP, *STATISTICS)), "ours twice": (TIMED, ("-2", *ours))}
    if "W6" in rows:
        candidates |= {"lua": (LUA_TIMED, lua), "ours start": (1, ours), "lua start": (1, lua)}
    seconds, varied = least_of_rounds(stage, shape, candidates, rounds)
    stage.forget(shape, TIMED)
    if "ours twice" in seconds:
        second, nop = ((seconds[f"{name} twice"] - seconds[name]) / TIMED * 1e6 for name in ("ours", "nop"))
        figure.print_figure("W5", "4 bunches", second / nop, "times", spread=varied,
                            note=f"{second:.2f} us, uenop {nop:.2f} us")
    if "lua" in seconds:
        once, script = ((seconds[name] - seconds[f"{name} start"]) / (packets - 1) * 1e6
                        for name, packets in (("ours", TIMED), ("lua", LUA_TIMED)))
        print_lua(stage, shape, script / once, varied, f"{once:.2f} us, script {script:.1f} us")


def print_lua(stage, shape, ratio, varied, times):
    different = disagreement(stage, shape)
    count = stage.slope("U4", lua_options(stage), LUA_FEW, LUA_MANY)
    invalid = {"invalid": different} if different else weak_anchor("the Lua script", count, LUA_KNOWN)
    figure.print_figure("W6", SHAPES[shape], ratio, "times", spread=varied,
                        note=f"{times}, {count:.0f} instructions at 4 bunches", **invalid)


def measure_memory(stage):
    peaks = {}
    for packets in (KEPT_FEW, KEPT_MANY):
        for name, dissector in (("ours", OURS), ("nop", NOP)):
            peaks[name, packets] = stage.usage("U4", packets, (*dissector, *STATISTICS)).peak_bytes
        stage.forget("U4", packets)
    ours, nop = ((peaks[name, KEPT_MANY] - peaks[name, KEPT_FEW]) / (KEPT_MANY - KEPT_FEW) for name in ("ours", "nop"))
    figure.print_figure("W7", "4 bunches", ours - nop, "bytes", note=f"{ours:.0f} bytes, uenop {nop:.0f} bytes")


def measure(stage, rows, rounds):
    for row, function in (("W1", count_over_nop), ("W2", count_analysis), ("W8", count_rejections),
                          ("W9", count_listeners), ("W7", measure_memory)):
        if row in rows:
            function(stage)
    if {"W3", "W4"} & set(rows):
        count_over_bare(stage, [row for row in ("W3", "W4") if row in rows])
    if {"W5", "W6"} & set(rows):
        measure_times(stage, "U4", rows, rounds)
    if "W6" in rows:
        measure_times(stage, "U20", rows, rounds)


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    rows = figure.wanted_rows(sys.argv[2:], [f"W{number}" for number in range(1, 10)])
    os.environ["UERUDP_INSTRUMENT"] = str(folder.parent / "plugin/libinstrument.so")
    with Stage(command.Folder(folder)) as stage:
        measure(stage, rows, LONG_ROUNDS if "--long" in sys.argv else ROUNDS)


if __name__ == "__main__":
    main()
