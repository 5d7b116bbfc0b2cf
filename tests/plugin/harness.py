# SPDX-License-Identifier: MIT
"""Run tshark with the plugin under test, as a user for whom Wireshark loads plugins, and parse its output.

Every test of this folder is a unittest script; it ends with harness.main().
"""
import functools
import gc
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import known_failures
import recordings

SKIPPED = 77
NOBODY = 65534
TIMEOUT_S = 240
# Names of vendors, ports and enterprises. Wireshark 4.0 reads them for a third of its start; newer ones have no such files.
TABLES = {"manuf", "services", "enterprises.tsv"}
gc.disable() # trees have no cycles, and a collection would visit each element


def recorded():
    """Paths of the recordings of other implementations, by name."""
    return {path.stem: str(path) for path in recordings.paths()}


def recording(name):
    """Path of one recording; without the folder that has it, the test is skipped."""
    return str(recordings.path(name))


def capture_name(path):
    return os.path.splitext(os.path.basename(path))[0]


def settings_of(path):
    return recordings.settings(capture_name(path))


def preferences(settings):
    """Settings as options of tshark."""
    return [part for key, value in settings.items() for part in ("-o", f"uerudp.{key}:{value}")]


def request(number, method, **params):
    """A request to sharkd, as a line."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"


class Stage:
    """A folder that an unprivileged user can read, with the plugin, captures and an empty home."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="uerudp-test-")
        os.chmod(self.path, 0o755)
        self.home = os.path.join(self.path, "home")
        os.mkdir(self.home)
        os.chmod(self.home, 0o777)
        self.data = self.data_without_tables()
        self.plugins = os.path.join(self.path, "plugins")
        shutil.copytree(os.environ["UERUDP_PLUGINS"], self.plugins)
        subprocess.run(["chmod", "-R", "a+rX", self.plugins], check=True)

    def data_without_tables(self):
        """Wireshark's folder of data, with links to all but the tables."""
        installed = os.path.join(os.path.dirname(os.path.dirname(shutil.which("tshark"))), "share/wireshark")
        folder = os.path.join(self.path, "data")
        os.mkdir(folder)
        for name in set(os.listdir(installed)) - TABLES:
            os.symlink(os.path.join(installed, name), os.path.join(folder, name))
        return folder

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path)

    def put(self, name, content):
        """Write a file and return its path."""
        path = os.path.join(self.path, name)
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, 0o644)
        return path

    def plugin(self):
        """Path of the plugin under test."""
        path, = glob.glob(os.path.join(self.plugins, "**", "uerudp.so"), recursive=True)
        return path

    def put_plugin(self, path):
        """Install another plugin beside the plugin under test."""
        beside = os.path.join(os.path.dirname(self.plugin()), os.path.basename(path))
        with open(path, "rb") as file:
            self.put(os.path.relpath(beside, self.path), file.read())

    def copy(self, path):
        with open(path, "rb") as file:
            return self.put(os.path.basename(path), file.read())

    def encode(self, name, datagrams, *options):
        """A capture of datagrams as the program decodes them."""
        lines = "".join(json.dumps(datagram) + "\n" for datagram in datagrams)
        made = subprocess.run([os.environ["UERUDP_PROGRAM"], "encode", *options], input=lines.encode(),
                              stdout=subprocess.PIPE, check=True, timeout=TIMEOUT_S)
        return self.put(name, made.stdout)

    def environment(self):
        variables = {"HOME": self.home, "XDG_CONFIG_HOME": self.home, "WIRESHARK_PLUGIN_DIR": self.plugins,
                     "WIRESHARK_DATA_DIR": self.data, "WIRESHARK_EXTCAP_DIR": "/nonexistent", "WIRESHARK_ABORT_ON_DISSECTOR_BUG": "1"}
        if os.environ.get("UERUDP_PRELOAD"):
            variables |= {"LD_PRELOAD": os.environ["UERUDP_PRELOAD"], "ASAN_OPTIONS": "detect_leaks=0",
                          "WIRESHARK_DEBUG_WMEM_OVERRIDE": "simple", "G_SLICE": "always-malloc"}
        return [f"{key}={value}" for key, value in variables.items()]

    def command(self, command):
        """The command as the unprivileged user runs it."""
        drop = []
        if os.geteuid() == 0:
            drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        return [*drop, "env", *self.environment(), *command]

    def run(self, command, check=True, stdin=None):
        """Run a program of Wireshark; a non-zero exit status is an error unless check is false."""
        result = subprocess.run(self.command(command), input=stdin, capture_output=True, text=True, timeout=TIMEOUT_S)
        if check and result.returncode != 0:
            raise AssertionError(f"{' '.join(command)}: exit {result.returncode}\n{result.stderr[-4000:]}")
        return result

    def tshark(self, *arguments):
        return self.run(["tshark", *arguments]).stdout

    def info(self, path, *options):
        """The info column of each frame; its field has another name from Wireshark 4.4 on."""
        text = self.tshark("-r", path, *options, "-T", "fields", "-e", "frame.number", "-e", "_ws.col.Info", "-e",
                           "_ws.col.info")
        return {int(frame): info for frame, info in (line.rstrip("\t").split("\t", 1) for line in text.splitlines())}

    def instructions(self, *arguments, functions=()):
        """The number of instructions of a run of tshark; with `functions`, only inside these functions and their callees;
        with the library of instrument.c, only from where tshark opens the capture."""
        prefix = []
        toggle = [f"--toggle-collect={function}" for function in functions]
        if "UERUDP_INSTRUMENT" in os.environ:
            with open(os.environ["UERUDP_INSTRUMENT"], "rb") as file:
                prefix = ["env", "LD_PRELOAD=" + self.put("instrument.so", file.read())]
            toggle.append("--instr-atstart=no")
        command = self.command([*prefix, "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *toggle,
                                "tshark", *arguments])
        result = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        found = re.search(r"Collected *: *(\d+)", result.stderr)
        if result.returncode != 0 or not found:
            raise AssertionError(result.stderr[-4000:])
        return int(found[1])

    def packets(self, capture, settings=None, options=(), two_pass=True):
        """The packets of a capture, by frame number; packets of other protocols are left out."""
        passes = ["-2"] if two_pass else []
        text = self.pdml(capture, [*passes, *preferences(settings or {}), *options])
        return {packet.frame: packet for packet in map(Packet, ElementTree.fromstring(text).iter("packet"))
                if packet.protocol is not None}

    def pdml(self, capture, options):
        """The PDML of a capture. The scripts of one ctest run share the output of equal tshark runs in the
        folder UERUDP_DECODED, which ctest empties first. Options that name a file of this stage are not shared."""
        arguments = ["-r", capture, *options, "-T", "pdml", "-J", "uerudp"]
        folder = os.environ.get("UERUDP_DECODED")
        if not folder or self.path in " ".join(options):
            return self.tshark(*arguments)
        path = os.path.join(folder, self.digest(capture, options))
        if not os.path.exists(path):
            text = self.tshark(*arguments)
            os.makedirs(folder, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as file:
                file.write(text)
            os.replace(file.name, path)
            return text
        with open(path, encoding="utf-8") as file:
            return file.read()

    def digest(self, capture, options):
        """A digest of all inputs of a tshark run: the capture, the options, the plugins and the user's files."""
        inputs = [capture, *sorted(os.path.join(folder, name) for top in (self.plugins, self.home)
                                   for folder, _, names in os.walk(top) for name in names)]
        digest = hashlib.sha256(json.dumps([options, inputs[1:], self.environment()]).replace(self.path, "").encode())
        for path in inputs:
            with open(path, "rb") as file:
                digest.update(hashlib.sha256(file.read()).digest())
        return digest.hexdigest()


class Field:
    """One item of the tree; begin_bit and bits count in the datagram, None if the label has no bit picture."""

    def __init__(self, node, origin):
        self.key = node.get("name").removeprefix("uerudp.")
        self.is_inside = self.key.partition(".")[0] in INSIDE
        self.text = node.get("show") or ""
        self.label = node.get("showname") or ""
        self.first_byte = int(node.get("pos")) - origin
        self.bytes = int(node.get("size"))

    @property
    def begin_bit(self):
        return self.place[0]

    @property
    def bits(self):
        return self.place[1]

    @functools.cached_property
    def place(self):
        """"..10 01.." over the bytes, the last byte first: the bits are between the dots."""
        picture = self.label.split(" = ")[0].replace(" ", "")
        if " = " not in self.label or set(picture) - set(".01") or len(picture) != self.bytes * 8:
            return None, None
        return self.first_byte * 8 + len(picture) - len(picture.rstrip(".")), len(picture.strip("."))

    def number(self):
        flags = {"False": 0, "True": 1}  # as Wireshark 4.4 and later show them
        return flags[self.text] if self.text in flags else int(self.text, 0)

    def payload(self):
        return bytes.fromhex(self.text.replace(":", ""))


# Fields that depend on earlier or later packets: analysis and reassembly; and fields inside messages.
FOUND = re.compile(r"analysis\.|bunch\.reliable_id$|fragment|reassembled")
INSIDE = {"content", "export", "field_export", "mapped", "actor", "block", "property", "field", "voice"}
GROUPS = {"analysis", "reassembled", "handshake", "packet", "legacy", "bunch", "control", "control.unique_id", "opened",
          "exports", "export", "field_export", "mapped", "actor", "block", "property", "field", "voice"}


class Packet:
    """One frame in tshark; fields are in the order of the tree."""

    def __init__(self, node):
        self.frame = int(node.find("proto[@name='geninfo']/field[@name='num']").get("show"))
        self.protocol = node.find("proto[@name='uerudp']")
        self.node = node
        self.fields = []
        self.experts = []
        self.sentences = []  # (name, text) of the expert items
        if self.protocol is not None:
            self.origin = int(self.protocol.get("pos"))
            self.collect(self.protocol)

    def collect(self, node):
        for child in node:
            name = child.get("name") or ""
            if name == "_ws.expert":
                self.experts += [grandchild.get("name") for grandchild in child]
                self.sentences += [(grandchild.get("name"), grandchild.get("showname")) for grandchild in child]
                continue
            if name.startswith("uerudp.finding."):  # hidden, beside the item that the datagram has for it
                self.experts.append(name)
            elif name.startswith("uerudp.") and name.removeprefix("uerudp.") not in GROUPS:
                self.fields.append(Field(child, self.origin))
            self.collect(child)

    def wire(self):
        """Fields that depend on the datagram alone."""
        return [field for field in self.fields if not FOUND.match(field.key) and not field.is_inside]

    def inside(self):
        """Fields inside whole messages."""
        return [field for field in self.fields if field.is_inside]

    def analysis(self):
        """Fields that depend on other packets of the connection."""
        return [field for field in self.fields if FOUND.match(field.key)]

    def all(self, key):
        return [field for field in self.fields if field.key == key]

    def numbers(self, key):
        return [field.number() for field in self.all(key)]

    def texts(self, key):
        return [field.text for field in self.all(key)]

    def not_delivered(self):
        """Packet ids that this packet reports as lost, or that are known as lost from this packet on."""
        texts = [text for name, text in self.sentences if name in ("uerudp.analysis.nak", "uerudp.expert.ack_lost")]
        return [int(number) for text in texts for number in re.findall(r"\d+", text.partition(": ")[2])]

    def groups(self, key):
        """The subtrees of one kind, each as a list of its fields."""
        return [[Field(node, self.origin) for node in group.iter("field") if node is not group
                 and (node.get("name") or "").startswith("uerudp.")]
                for group in self.protocol.iter("field") if group.get("name") == f"uerudp.{key}"]


class StageCase(unittest.TestCase):
    """Test cases that share a stage."""

    @classmethod
    def setUpClass(cls):
        cls.stage = Stage()
        cls.addClassCleanup(cls.stage.__exit__)


def main():
    if not os.environ.get("UERUDP_PLUGINS"):
        print("no plugin in this build")
        sys.exit(SKIPPED)
    known_failures.mark(sys.modules["__main__"])
    unittest.main(verbosity=2)
