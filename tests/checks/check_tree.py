#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check the rules that hold for every file: direction of includes, licence line, length of files and functions, names
that are defined once, JSON in short lines.

usage: check_tree.py [ROOT]
"""
import json
import os
import re
import sys

MAX_LINES = 600
MAX_FUNCTION_LINES = 70
MAX_JSON_WIDTH = 2000  # without long hexadecimal values, as of a call that is larger than a packet
SKIPPED = {".git", "build", ".cache", "LICENSES", "__pycache__"}
SOURCE = re.compile(r"(\.(c|h|def|py|sh|cmake)|CMakeLists\.txt)$")
LICENSED = re.compile(r"(\.(c|h|def|in|py|sh|cmake|lua|md|1|yml)|CMakeLists\.txt|/\.[a-z-]+)$")
WIRESHARK = re.compile(r"(epan|wiretap|wsutil|wireshark)[./]")

FREESTANDING = {"stdint.h", "stddef.h", "stdbool.h", "string.h"}

CODEC = {"libcodec/base", "libcodec/wire", "libcodec/content", "libcodec/observe", "libcodec/findings", "libcodec"}
# tools/endpoint is what is installed.
ENDPOINT = {"tools/endpoint", "tools/endpoint/base", "tools/endpoint/handshake", "tools/endpoint/core"}
ENDPOINT_SYSTEM = FREESTANDING | {"assert.h", "gcrypt.h", "stdlib.h"}
PROGRAM = {"tools/endpoint", "tools/sim", "tools/capture", "tools/print", "tools/net", "tools"}

# Layer: the layers it may include, and its system headers (None: any but Wireshark's).
LAYERS = {
    "libcodec/base": ({"libcodec/base"}, FREESTANDING),
    "libcodec/wire": ({"libcodec/base", "libcodec/wire"}, FREESTANDING),
    "libcodec/content": ({"libcodec/base", "libcodec/wire", "libcodec/content"}, FREESTANDING),
    "libcodec/observe": (CODEC - {"libcodec", "libcodec/findings"}, FREESTANDING),
    "libcodec/findings": (CODEC - {"libcodec"}, FREESTANDING),
    "libcodec/cipher": (CODEC | {"libcodec/cipher"}, None),
    "libcodec": (CODEC, FREESTANDING),
    "tools/endpoint": (CODEC | {"tools/endpoint"}, FREESTANDING),
    "tools/endpoint/base": (CODEC | {"tools/endpoint", "tools/endpoint/base"}, ENDPOINT_SYSTEM),
    "tools/endpoint/handshake": (CODEC | ENDPOINT - {"tools/endpoint/core"}, ENDPOINT_SYSTEM),
    "tools/endpoint/core": (CODEC | ENDPOINT, ENDPOINT_SYSTEM),
    "tools/endpoint/login": (CODEC | ENDPOINT | {"tools/endpoint/login"}, ENDPOINT_SYSTEM),
    "tools/endpoint/replication": (CODEC | ENDPOINT | {"tools/endpoint/replication"}, ENDPOINT_SYSTEM),
    "tools/endpoint/server": (CODEC | ENDPOINT | {"tools/endpoint/login", "tools/endpoint/server"}, ENDPOINT_SYSTEM),
    "tools/sim": (CODEC | {"tools/endpoint", "tools/endpoint/replication", "tools/sim"}, None),
    "tools/capture": (CODEC | {"tools/capture"}, None),
    "tools/print": (CODEC | {"tools/print"}, None),
    "tools/net": ({"tools/net"}, None),
    "tools": (CODEC | {"libcodec/cipher", "tools/endpoint/core", "tools/endpoint/replication"} | PROGRAM, None),
    "plugin": (CODEC | {"libcodec/cipher", "plugin"}, None),
    "docs/examples": (CODEC | {"plugin"}, None),
    "tests": (None, None),
}

# An installed header belongs to the layer that has the source of its name; these have none.
INSTALLED = ("libcodec/include/uerudp/", "tools/endpoint/include/uerudp/")
SOURCELESS = {
    "allocator.h": "libcodec/base", "field_value_names.def": "libcodec/base", "fields.def": "libcodec/base",
    "messages.def": "libcodec/base", "seq.h": "libcodec/base", "status.def": "libcodec/base",
    "status.h": "libcodec/base", "time_ns.h": "libcodec/base", "trace.h": "libcodec/base", "version.h": "libcodec/base",
    "history.h": "libcodec/wire", "packet.h": "libcodec/wire", "partial.h": "libcodec/wire", "prefix.h": "libcodec/wire",
    "voice.h": "libcodec/content", "clock_jitter.h": "libcodec/observe", "codec.h": "libcodec",
    "observed_event.h": "libcodec/observe",
}
# Sources that look into a part that is private to another.
INSPECTORS = {"tools/endpoint/core/connection.h": ("tools/replay/reference_model",)}
# Headers of these folders that the rest of the program may include.
CONTRACTS = {
    "tools/endpoint/core": {"datagram_encryption.h"},
    "tools/endpoint/replication": {"package_map.h", "received_actors.h", "replicated_object.h", "replication.h",
                                    "replication_content.h"},
    "tools/sim": {"game.h", "game_classes.h", "link.h", "message_payload.h", "network_emulation.h", "rng.h",
                  "scenario.h", "sim.h", "voice_packet.h"},
    "tools/print": {"columns.h", "datagram_trace.h", "json.h", "line_wrap.h", "phrase.h", "text_buffer.h",
                    "text_escape.h", "text_style.h", "text_tree.h"},
}
TAGGED = ("libcodec/", "tools/", "plugin/", "tests/")
NO_DEFINITION = re.compile(r"static\b|extern\b|(__extension__ )?typedef\b|_Static_assert|(struct|union|enum)( \w+)? \{")
FUNCTION = re.compile(r"[^=(]*?\b(\w+)\(.*\) \{\}?$")
OBJECT = re.compile(r"[^=(]*?\b(\w+)(?:\[[^=]*\])*(?: = |;$)")
# Names that a program, a fuzz target and a plugin of Wireshark must have.
ENTRY_POINTS = {"main", "LLVMFuzzerTestOneInput", "plugin_register", "plugin_describe"}
GENERATED = {"trace_resource.h"}


def read_lines(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read().splitlines()


def layer_of(root, path):
    """The longest layer name that is a folder of path, or None. The layer of an installed header is that of its source."""
    folder = next((folder for folder in INSTALLED if path.startswith(folder)), None)
    if folder == INSTALLED[0]:
        name = os.path.basename(path)
        source = os.path.splitext(name)[0] + ".c"
        return SOURCELESS.get(name) or next(
            (layer for layer in LAYERS if os.path.exists(os.path.join(root, layer, source))), None)
    names = [name for name in LAYERS if path.startswith(name + "/")]
    return max(names, key=len, default=None)


def may_use_wireshark(path):
    return path.startswith(("plugin/", "docs/examples/", "tests/"))


def owner_of_private(path):
    """The folder outside which nothing but tests may include path, or None."""
    folder, name = os.path.split(path)
    if path.startswith(INSTALLED + ("libcodec/cipher/",)) or name in CONTRACTS.get(folder, ()):
        return None
    return next((owner for owner in ("libcodec", "tools/endpoint", *CONTRACTS) if path.startswith(owner + "/")), None)


def included_path(root, bracket, name):
    """The path in the tree of an included header; None for a system header."""
    if bracket == '"':
        return name
    if not name.startswith("uerudp/"):
        return None
    folders = [folder.removesuffix("uerudp/") for folder in INSTALLED]
    return next((folder + name for folder in folders if os.path.exists(os.path.join(root, folder + name))), name)


def include_faults(root, path, lines):
    layer = layer_of(root, path)
    if layer is None:
        yield f"{path}: C source outside every layer"
        return
    layers, system = LAYERS[layer]
    for number, line in enumerate(lines, 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if not match:
            continue
        where, name = f"{path}:{number}", match[2]
        included = included_path(root, match[1], name)
        if included is None:
            if system is not None and name not in system:
                yield f"{where}: {layer} may not include <{name}>"
            elif WIRESHARK.match(name) and not may_use_wireshark(path):
                yield f"{where}: {layer} may not include Wireshark's <{name}>"
        elif name in GENERATED:
            if layer in CODEC:
                yield f"{where}: {layer} may not include \"{name}\""
        elif not os.path.exists(os.path.join(root, included)):
            yield f"{where}: {name} is neither a path from the root of the repository nor an installed header"
        elif match[1] == '"' and included.startswith(INSTALLED):
            yield f"{where}: an installed header is included as <uerudp/{os.path.basename(name)}>"
        elif layers is not None and layer_of(root, included) not in layers:
            yield f"{where}: {layer} may not include {name} of {layer_of(root, included)}"
        elif layer != "tests" and not path.startswith((owner_of_private(included) or path, *INSPECTORS.get(included, ()))):
            yield f"{where}: {name} is private to {layer_of(root, included)}"


def guard_faults(path, lines):
    """The include guard is the path, so that no two guards are equal."""
    if not path.endswith(".h"):
        return
    inside = next((path.removeprefix(folder.removesuffix("uerudp/")) for folder in INSTALLED if path.startswith(folder)),
                  "uerudp/" + path)
    guard = re.sub(r"\W", "_", inside).upper()
    if not any(line == f"#ifndef {guard}" for line in lines):
        yield f"{path}: its include guard is not {guard}"


def function_faults(path, lines):
    """Functions that are too long. A layout, which describes one wire structure, may have any length."""
    head = start = None
    for number, line in enumerate(lines, 1):
        if start is None and re.match(r"\w", line):
            head = number
        if start is None and line.endswith(") {"):
            start = head
        elif start is not None and line == "}":
            length = number - start + 1
            if length > MAX_FUNCTION_LINES and "enum ue_op op" not in lines[start - 1]:
                yield f"{path}:{start}: function of {length} lines, more than {MAX_FUNCTION_LINES}"
            start = None


def licence_faults(path, lines):
    match = next((m for m in (re.search(r"SPDX-License-Identifier: (\S+)", line) for line in lines[:3]) if m), None)
    if not match:
        yield f"{path}: no SPDX line among the first three"
        return
    linked = path.endswith((".c", ".h")) and (
        path.startswith("plugin/") or any(re.match(r"#\s*include <" + WIRESHARK.pattern, line) for line in lines))
    expected = "GPL-2.0-or-later" if linked else "MIT"
    if match[1] != expected:
        yield f"{path}: licence is {match[1]}, should be {expected}"


def name_faults(path, lines):
    """Names that cmocka 2 changed (tests/support/within.h is for both versions) or Wireshark refuses."""
    for number, line in enumerate(lines, 1):
        if re.search(r"\bassert_(not_)?in_(range|set)\(", line):
            yield f"{path}:{number}: an assertion that newer versions of cmocka call deprecated"
        if path.startswith("plugin/") and re.search(r"^[^/*\"]*\s\*?(index|time|strlen|system)( =|;|,|\))", line):
            yield f"{path}:{number}: Wireshark's checkAPIs.pl refuses this name, which is a function's"


def json_faults(path, lines):
    """A .json file is one document, of short lines; a .jsonl file has a document in each line."""
    is_lines = path.endswith(".jsonl")
    for text in lines if is_lines else ["\n".join(lines)]:
        try:
            json.loads(text)
        except ValueError as error:
            yield f"{path}: not JSON{' Lines' if is_lines else ''}: {error}"
    widths = (len(re.sub('"[0-9a-f]{200,}"', "", line)) for line in lines)
    if not is_lines and max(widths, default=0) > MAX_JSON_WIDTH:
        yield f"{path}: a line of more than {MAX_JSON_WIDTH} characters: indent it"


def tree_files(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - SKIPPED)
        for name in sorted(set(names) - SKIPPED):
            yield os.path.relpath(os.path.join(folder, name), root)


def is_script(lines):
    return bool(lines) and lines[0].startswith("#!")


def file_faults(root, path):
    try:
        lines = read_lines(root, path)
    except UnicodeDecodeError:
        return
    script = is_script(lines)
    if script or LICENSED.search("/" + path):
        yield from licence_faults(path, lines)
    if (script or SOURCE.search(path)) and len(lines) > MAX_LINES:
        yield f"{path}: {len(lines)} lines, more than {MAX_LINES}"
    if path.endswith((".c", ".h", ".def")):
        yield from include_faults(root, path, lines)
        yield from guard_faults(path, lines)
        yield from function_faults(path, lines)
        yield from name_faults(path, lines)
    if path.endswith((".json", ".jsonl")):
        yield from json_faults(path, lines)


def duplicate_faults(places, what):
    """places: the definitions of each name."""
    for name, where in places.items():
        if len(where) > 1:
            yield f"{where[1]}: the {what} {name} is defined in {where[0]}, too"


def tag_faults(root, files):
    """A tag is defined once in what is built, installed and tested, so that a name leads to one place."""
    places = {}
    for path in files:
        if path.startswith(TAGGED) and path.endswith((".c", ".h")) and not path.startswith("tests/bench/"):
            for number, line in enumerate(read_lines(root, path), 1):
                match = re.match(r"(?:static |const )*(?:struct|enum|union) (\w+) \{", line)
                if match:
                    places.setdefault(match[1], []).append(f"{path}:{number}")
    yield from duplicate_faults(places, "tag")


def external_names(lines):
    """The line number and the name of each function and object with external linkage that a C source defines: a statement
    that begins in the first column, without `static`, with a body, an initializer or a semicolon."""
    number = 0
    while number < len(lines):
        start, text = number, re.sub(r" */\*.*?\*/$", "", lines[number])
        number += 1
        if re.match(r"[a-z_]|[A-Z]+[a-z]\w* ", text):
            while not re.search(r"[{};]$| = ", text) and number < len(lines):
                text += " " + lines[number].strip()
                number += 1
            text = re.sub(r"^__attribute__\(\(.*?\)+ *", "", text)
            match = None if NO_DEFINITION.match(text) else FUNCTION.match(text) or OBJECT.match(text)
            if match and match[1] not in ENTRY_POINTS:
                yield start + 1, match[1]


def external_name_faults(root, files):
    """A name with external linkage has one source, even if two sources never become one program."""
    places = {}
    for path in files:
        if path.endswith(".c"):
            for number, name in external_names(read_lines(root, path)):
                where = places.setdefault(name, [])
                if not where or not where[-1].startswith(path + ":"):  # not the branches of an #if
                    where.append(f"{path}:{number}")
    yield from duplicate_faults(places, "name")


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "..")
    files = list(tree_files(root))
    faults = [fault for path in files for fault in file_faults(root, path)]
    faults += [*tag_faults(root, files), *external_name_faults(root, files)]
    print("\n".join(faults + [f"{len(files)} files, {len(faults)} faults"]))
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main())
