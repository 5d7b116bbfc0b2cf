# SPDX-License-Identifier: MIT
"""The captures of the guard, and the outputs of each capture that it hashes."""
import base64
import collections
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/plugin"), str(ROOT / "tests/support/python")]
import harness
import trace_page

recordings = harness.recordings
TIMEOUT_S = 120
FRAMES_AT_ONCE = 100  # requests that fit into a pipe
# Settings of the machine or the user do not reach the program or Wireshark.
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "TZ": "UTC"}

# settings have the names of the plugin's preferences; generate has the arguments of `uerudp generate` if path is None.
Capture = collections.namedtuple("Capture", "name path settings generate", defaults=({}, ()))

PAGE = "captures/login"  # whose page is the row "page"
PLAIN = ("page", "wireshark")  # views that are lines of text
GROUP = 24  # captures that one sharkd reads at most
WIDTH = 160

GENERATED = 200
GENERATIONS = ("4.13", "4.14", "4.18", "4.19", "4.20", "4.22", "4.24", "4.25", "5.1", "5.4", "5.5", "5.8")
CONNECTED = ("clean", "stream", "lossy", "terrible", "burst", "jitter", "reorder", "shuffle", "duplicate", "corrupt",
             "sealed", "outage", "thin", "bloat", "wrap", "channels", "churn")
SCENARIOS = CONNECTED + ("handshake", "login-lossy", "login", "mixed", "legacy", "loss-burst", "big-bunch",
                         "game", "voice", "overload", "restart", "kick", "timeout", "refused", "upgrade",
                         "close-reasons")
# Options of `uerudp generate`, and the settings for decoding.
VARIATIONS = (((), {}), (("--loss=0.1",), {}), (("--loss=0.3", "--loss-burst=2"), {}),
              (("--reorder=0.2", "--dup=0.1", "--jitter=80"), {}), (("--corrupt=0.05",), {}), (("--connections=3",), {}),
              (("--capture-at=server", "--loss=0.1"), {}), (("--capture-at=sender", "--loss=0.2"), {}),
              (("--magic-bits=8", "--magic=165"), {"magic_bits": 8, "magic": 165}),
              (("--handlers=oodle",), {"handlers": "oodle"}), (("--connections=2", "--loss=0.05"), {}), (("--fuzz",), {}),
              (("--rate=8000", "--queue=1500", "--delay=120"), {}))


def generated(number):
    """A simulated capture, whose parameters and seed follow from the number."""
    scenario = SCENARIOS[number % len(SCENARIOS)]
    turn = number // len(SCENARIOS)
    generation = GENERATIONS[(number + 8 * turn) % len(GENERATIONS)]
    if scenario == "restart" and generation < "4.22":
        generation = "5.4"  # other generations have no restart handshake
    if scenario == "sealed" and generation < "4.18":
        generation = "4.18"  # the login of earlier ones has no encryption token
    options, settings = VARIATIONS[(number + 2 * turn) % len(VARIATIONS)]
    name = f"{number:03}-{scenario}-{generation}"
    if scenario == "sealed":
        options, settings = (), {"handlers": "aesgcm", "key": f"{name}.keys"}
    duration = "0.6" if scenario in CONNECTED else "2"
    return Capture(f"generated/{name}", None, settings, (scenario, f"--seed={number}", f"--generation={generation}",
                                                         "--tick=10", f"--duration={duration}", *options))


def captures():
    """All captures; a recording of the tree has precedence over the shared folder."""
    found = [Capture(f"captures/{path.stem}", path) for path in (ROOT / "captures").glob("*.pcapng")]
    for path in recordings.paths():
        folder = "recordings" if recordings.OWN in path.parents else "realdata"
        found.append(Capture(f"{folder}/{path.stem}", path, recordings.settings(path.stem)))
    return sorted(found + [generated(number) for number in range(GENERATED)])


def wireshark_version():
    printed = subprocess.run(["tshark", "--version"], capture_output=True, env=ENVIRONMENT, timeout=TIMEOUT_S, check=True)
    return re.search(r"\d+\.\d+\.\d+", printed.stdout.decode())[0]


def run(arguments, folder, allowed=(0, 1)):
    """Standard output, NUL, exit status and standard error of the program."""
    result = subprocess.run([os.environ["UERUDP_PROGRAM"], *arguments], cwd=folder, capture_output=True, env=ENVIRONMENT,
                            timeout=TIMEOUT_S)
    if result.returncode not in allowed:
        raise RuntimeError(f"uerudp {' '.join(arguments)}: exit status {result.returncode}\n{result.stderr.decode()}")
    return result.stdout + f"\0exit status {result.returncode}\n".encode() + result.stderr


class Sharkd:
    """Wireshark's own server, which dissects capture after capture in two passes, as `tshark -2` does."""

    def __init__(self, stage):
        self.file = None
        self.process = subprocess.Popen(stage.command(["sharkd", "-"]), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, cwd=stage.path, env=ENVIRONMENT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(TIMEOUT_S)

    def ask(self, requests):
        lines = [harness.request(number, method, **parameters) for number, (method, parameters) in enumerate(requests, 1)]
        self.process.stdin.write("".join(lines).encode())
        self.process.stdin.flush()
        answers = [json.loads(self.process.stdout.readline() or "{}") for _ in lines]
        for answer, line in zip(answers, lines):
            if "result" not in answer:
                raise RuntimeError(f"sharkd, {self.file}: {line}{answer or 'ended'}")
        return [answer["result"] for answer in answers]

    def dissect(self, path, settings):
        """The columns and the plugin's tree of each frame."""
        self.file = os.path.basename(path)
        self.ask([("setconf", {"name": f"uerudp.{key}", "value": str(value)}) for key, value in settings.items()])
        _, frames = self.ask([("load", {"file": path}), ("frames", {})])
        lines = []
        for begin in range(0, len(frames), FRAMES_AT_ONCE):
            some = frames[begin:begin + FRAMES_AT_ONCE]
            answers = self.ask([("frame", {"frame": frame["num"], "proto": True, "bytes": True}) for frame in some])
            for frame, answer in zip(some, answers):
                lines.append(" ".join(["frame", *frame["c"]]))
                lines += tree_lines([node for node in answer["tree"] if node.get("f", "").startswith("uerudp")], 1)
                lines += [f"  data source: {source['name']} {base64.b64decode(source['bytes']).hex()}"
                          for source in answer.get("ds", [])[1:]]
        return "\n".join([*lines, ""]).encode()


def tree_lines(nodes, depth):
    """The label of each item, its filter, first byte and length, and whether it is an expert item, generated or hidden."""
    for node in nodes:
        extra = [node.get("f"), node.get("h"), node.get("fnum") and f"to frame {node['fnum']}", node.get("s"),
                 "generated" if node.get("g") else None, "hidden" if node.get("v") else None]
        yield "  " * depth + "  | ".join([node["l"].replace("\n", "\\n"), *(str(word) for word in extra if word)])
        yield from tree_lines(node.get("n", []), depth + 1)


def drawing(options, file, folder):
    """The data of each page of trace, a line each, and the rest of a page."""
    notes = run(["trace", *options, "--output=page.html", file], folder, allowed=(0, 1, 2))  # 2: nothing to draw
    data, around = [], ""
    for path in sorted(pathlib.Path(folder).glob("page*.html")):
        page = path.read_text(encoding="utf-8")
        data.append(json.dumps(trace_page.read(page)) + "\n")
        front, opened, library = trace_page.around(page).partition("<script>\n")  # d3, of which each Debian has its own build
        around = front + opened + library[library.index("</script>"):]
        path.unlink()
    return {"trace": "".join(data).encode() + notes, "page": around.encode()}


def generate(capture, file, folder):
    """Run the simulator. Returns the content of all files that it wrote."""
    notes = run(["generate", *capture.generate, f"--output={file}"], folder)
    written = [pathlib.Path(folder, file.replace(".pcapng", ending)).read_bytes() for ending in (".sent.json", ".pcapng")]
    return b"\0".join([notes, *written])


def views(capture, stage, sharkd):
    """{view: function that returns its bytes} of a capture."""
    found = {}
    if capture.path:
        file = os.path.basename(stage.copy(str(capture.path)))
    else:
        file = f"{capture.name.partition('/')[2]}.pcapng"
        generated_bytes = generate(capture, file, stage.path)
        found["generate"] = lambda: generated_bytes
    options = [f"--{key.replace('_', '-')}={value}" for key, value in capture.settings.items()]
    found["decode"] = lambda: run(["decode", "--json", "--bits", "--content", *options, file], stage.path)
    found["events"] = lambda: run(["decode", "--events=-", *options, file], stage.path)
    found["info"] = lambda: run(["info", "--json", "--bits", *options, file], stage.path)
    for view in ("trace", "page") if capture.name == PAGE else ("trace",):
        found[view] = lambda view=view: drawing(options, file, stage.path)[view]
    found["wireshark"] = lambda: sharkd.dissect(os.path.join(stage.path, file), capture.settings)
    return found


def outputs(group, wanted=lambda name, view: True):
    """(name, view, bytes) of captures with equal settings."""
    with harness.Stage() as stage, Sharkd(stage) as sharkd:
        for capture in group:
            for view, make in views(capture, stage, sharkd).items():
                if wanted(capture.name, view):
                    yield capture.name, view, make()


def groups(some):
    """The captures cut into groups with equal settings, of about equal work."""
    by_settings = collections.defaultdict(list)
    for capture in some:
        by_settings[json.dumps(capture.settings, sort_keys=True)].append(capture)
    return [group[begin::count] for group in by_settings.values()
            for count in [-(-len(group) // GROUP)] for begin in range(count)]


def flat(value, key=""):
    """The leaves of a JSON value as (key, text); a list of plain values is one leaf."""
    if isinstance(value, dict) and value:
        for name, child in value.items():
            yield from flat(child, f"{key}.{name}" if key else name)
    elif isinstance(value, list) and any(isinstance(child, (dict, list)) for child in value):
        for child in value:
            yield from flat(child, f"{key}[]")
    else:
        yield key, json.dumps(value, ensure_ascii=False)


def leaves(text):
    """JSON as a heading and a line for each leaf; text that is not JSON stays."""
    try:
        value = json.loads(text)
    except ValueError:
        return [text]
    heading = next((f"{key} {value[key]}" for key in ("frame", "stream") if key in value), "object")
    return [heading, *(f"  {key} = {leaf}" for key, leaf in flat(value))]


def fold(line):
    """A long line split into comparable pieces."""
    return [line[:WIDTH], *("    " + line[at:at + WIDTH] for at in range(WIDTH, len(line), WIDTH))]


def readable(view, text):
    """A line for each value, below a line that names the frame or the connection."""
    if view == "generate":
        *printed, sent, capture = text.split(b"\0", 3)
        dump = [f"{at:06x} {capture[at:at + 16].hex(' ')}" for at in range(0, len(capture), 16)]
        lines = [*b"".join(printed).decode().splitlines(), *leaves(sent), *dump]
    elif view in PLAIN:
        lines = text.decode().splitlines()
    else:
        printed, notes = text.split(b"\0", 1)
        lines = [*itertools.chain.from_iterable(map(leaves, printed.decode().splitlines())), *notes.decode().splitlines()]
    return "\n".join([*itertools.chain.from_iterable(map(fold, lines)), ""])
