# SPDX-License-Identifier: MIT
"""Tables and plots of docs/latency.md from the lines that bench_latency prints."""
import collections
import html
import json
import math
import re

Case = collections.namedtuple("Case", "title axis unit")
CASES = {
    "dense-loss": Case("Game traffic: p99 latency of reliable messages", "datagrams lost in each direction", " %"),
    "dense-burst": Case("Game traffic, 5 % lost in bursts: p99 latency", "mean length of a burst in datagrams", ""),
    "dense-jitter": Case("Game traffic, jitter: p99 latency", "jitter: uniform from 0 to this", " ms"),
    "dense-rate": Case("Game traffic, limited rate: p99 latency", "rate of each direction, queue of 20 kB", " kB/s"),
    "sparse-loss": Case("Lone messages: p99 latency", "datagrams lost in each direction", " %"),
}
Stack = collections.namedtuple("Stack", "name color dash")
STACKS = {  # in the order of tables and legends; colours that colour-blind readers distinguish
    "engine": Stack("engine's rule", "#0072b2", ""),
    "options": Stack("our options", "#009e73", ""),
    "budget": Stack("options, 30 kB/s", "#004d38", ""),
    "floor": Stack("floor of 60 Hz", "#999999", "2 3"),
    "quic": Stack("QUIC (ngtcp2)", "#cc79a7", ""),
    "enet": Stack("ENet", "#e69f00", ""),
    "tcp": Stack("TCP (lwIP)", "#d55e00", ""),
    "kcp": Stack("KCP turbo *", "#56b4e9", "6 3"),
    "linux": Stack("TCP (Linux) *", "#7a3b00", "6 3"),
}
# p99 in ms by case, stack and value, marked with a star: measured by other programs at the same traffic and round trip.
# KCP (1,10,2,1) in virtual time; the kernel's TCP (CUBIC, NODELAY) in real time over two TUN devices, 300 s.
ELSEWHERE = {
    "dense-loss": {"kcp": {1: 108, 5: 124, 10: 228, 20: 357}, "linux": {1: 127, 5: 1717, 10: 982}},
    "sparse-loss": {"kcp": {5: 122, 10: 124, 20: 240}},
}
GIVEN_UP = 0.01  # share of messages never delivered above which latencies of the others say nothing
WIDTH, HEIGHT = 720, 336
LEFT, RIGHT, TOP, BOTTOM = 62, 580, 34, 288


def read(lines):
    """Results by case, value and stack."""
    results = collections.defaultdict(lambda: collections.defaultdict(dict))
    for line in lines:
        result = json.loads(line)
        if result["wrong"]:
            raise ValueError(f"messages out of order: {line}")
        results[result["case"]][result["value"]][result["stack"]] = result
    return results


# ---- tables ----

def latency_cell(result):
    if result["undelivered"] > GIVEN_UP:
        return f"{result['undelivered']:.0%} not delivered"
    return " / ".join(f"{result[key]:,.0f}" for key in ("p50_ms", "p99_ms", "p999_ms"))


def row(cells):
    return "| " + " | ".join(cells) + " |"


def table(case, results):
    """Latencies, then bytes, of one case."""
    values = results[case]
    elsewhere = ELSEWHERE.get(case, {})
    stacks = [stack for stack in STACKS if stack in next(iter(values.values()))]
    lines = [row(["", *(STACKS[stack].name for stack in [*stacks, *elsewhere])]),
             row(["---"] * (1 + len(stacks) + len(elsewhere)))]
    for value, by_stack in values.items():
        more = [f"– / {known[value]:,} / –" if value in known else "–" for known in elsewhere.values()]
        lines.append(row([f"{value:g}{CASES[case].unit}", *(latency_cell(by_stack[stack]) for stack in stacks), *more]))
    lines += ["", row(["bytes", *(STACKS[stack].name for stack in stacks)]), row(["---"] * (1 + len(stacks)))]
    for value, by_stack in values.items():
        lines.append(row([f"{value:g}{CASES[case].unit}", *(f"{by_stack[stack]['wire']:.2f}" for stack in stacks)]))
    return "\n".join(lines)


def with_tables(text, results):
    """The document with new tables between its marks."""
    for case in CASES:
        mark, end = f"<!-- table {case} -->\n", "<!-- end -->"
        pattern = re.compile(re.escape(mark) + ".*?" + re.escape(end), re.DOTALL)
        text, count = pattern.subn(lambda _: f"{mark}{table(case, results)}\n{end}", text)
        if count != 1:
            raise ValueError(f"no mark of {case}")
    return text


# ---- plots ----

def points(case, results):
    """p99 in ms by stack and place on the axis. A stack that gave up has no point."""
    values = list(results[case])
    lines = collections.defaultdict(dict)
    for place, by_stack in enumerate(results[case].values()):
        for stack, result in by_stack.items():
            if result["undelivered"] <= GIVEN_UP:
                lines[stack][place] = result["p99_ms"]
    for stack, known in ELSEWHERE.get(case, {}).items():
        lines[stack] = {values.index(value): ms for value, ms in known.items() if value in values}
    return lines


def text(x, y, content, anchor="start", more=""):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"{more}>{html.escape(content)}</text>'


def plot(case, results):
    """SVG of p99 on a logarithmic axis."""
    lines = points(case, results)
    values = list(results[case])
    top_ms = 10 ** math.ceil(math.log10(max(ms for line in lines.values() for ms in line.values())))
    low, high = math.log10(20), math.log10(top_ms)

    def x_of(place):
        return LEFT + 24 + place * (RIGHT - LEFT - 48) / (len(values) - 1)

    def y_of(ms):
        return BOTTOM - (math.log10(ms) - low) / (high - low) * (BOTTOM - TOP)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
             'font-size="12">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
             text(LEFT, 20, CASES[case].title, more=' font-size="14" font-weight="bold"')]
    for ms in (step * 10 ** power for power in range(1, 6) for step in (1, 2, 5)):
        if 20 <= ms <= top_ms:
            parts.append(f'<path d="M{LEFT} {y_of(ms):.1f}H{RIGHT}" stroke="#ddd"/>')
            parts.append(text(LEFT - 6, y_of(ms) + 4, f"{ms:,} ms" if ms < 1000 else f"{ms // 1000} s", "end"))
    for place, value in enumerate(values):
        parts.append(text(x_of(place), BOTTOM + 18, f"{value:g}{CASES[case].unit}", "middle"))
    parts.append(text((LEFT + RIGHT) / 2, BOTTOM + 38, CASES[case].axis, "middle"))
    shown = [stack for stack in STACKS if stack in lines]
    for number, stack in enumerate(shown):
        look = STACKS[stack]
        style = f'stroke="{look.color}" stroke-width="2"' + (f' stroke-dasharray="{look.dash}"' if look.dash else "")
        places = sorted(lines[stack].items())
        path = " ".join(f"{x_of(place):.1f},{y_of(ms):.1f}" for place, ms in places)
        parts.append(f'<polyline points="{path}" fill="none" {style}/>')
        parts += [f'<circle cx="{x_of(place):.1f}" cy="{y_of(ms):.1f}" r="3" fill="{look.color}"/>' for place, ms in places]
        y = TOP + 10 + number * 20
        parts.append(f'<path d="M{RIGHT + 8} {y}h18" {style}/>')
        parts.append(text(RIGHT + 32, y + 4, look.name))
    if case in ELSEWHERE:
        parts.append(text(RIGHT + 8, TOP + 14 + len(shown) * 20, "* measured elsewhere"))
    return "\n".join([*parts, "</svg>", ""])
