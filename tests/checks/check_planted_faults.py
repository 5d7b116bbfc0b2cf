#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_tree.py and check_circles.py report each fault that is planted in a small tree, and none in the tree without it."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CHECKS = pathlib.Path(__file__).resolve().parent
LICENCE = "/* SPDX-License-Identifier: MIT */\n"
ADDRESS_H = LICENCE + """#ifndef UERUDP_TOOLS_NET_ADDRESS_H
#define UERUDP_TOOLS_NET_ADDRESS_H
struct net_address {
    int port;
};
int net_address_port(const struct net_address *address);
#endif
"""
ADDRESS_C = LICENCE + """#include "tools/net/address.h"

int net_address_port(const struct net_address *address) {
    return address->port;
}
"""
TREE = {
    "tools/net/address.h": ADDRESS_H,
    "tools/net/address.c": ADDRESS_C,
    "tools/cmd/link.c": LICENCE + """#include "tools/net/address.h"

int link_port(const struct net_address *address) {
    return net_address_port(address);
}
""",
    "tests/names.json": '{"address": 1}\n',
}
LONG_FUNCTION = "\nvoid net_wait(void) {\n" + "    ;\n" * 69 + "}\n"

# What is planted: the path, its text, and words of the report.
PLANTED = {
    "a layer that includes a layer above it": (
        "tools/net/address.c", ADDRESS_C.replace("tools/net/address.h", "tools/cmd/link.h"), "may not include tools/cmd/link.h"),
    "a header that does not exist": (
        "tools/net/address.c", ADDRESS_C.replace("net/address.h", "net/addresses.h"), "neither a path from the root"),
    "a system header in a part without an operating system": (
        "libcodec/wire/bunch.c", LICENCE + "#include <stdio.h>\n", "libcodec/wire may not include <stdio.h>"),
    "a header of Wireshark in the program": (
        "tools/net/address.c", ADDRESS_C.replace("tools/net/", "epan/"), "epan/address.h"),
    "a private header of another part": (
        "tools/cmd/link.c", LICENCE + '#include "tools/sim/checker.h"\n', "is private to tools/sim"),
    "a source outside the layers": ("other/address.c", LICENCE, "C source outside every layer"),
    "a file without a licence": ("tools/net/address.c", ADDRESS_C.removeprefix(LICENCE), "no SPDX line"),
    "a wrong licence": ("plugin/prefs.c", LICENCE, "licence is MIT, should be GPL-2.0-or-later"),
    "a wrong include guard": (
        "tools/net/address.h", ADDRESS_H.replace("_NET_", "_"), "include guard is not UERUDP_TOOLS_NET_ADDRESS_H"),
    "a long file": ("tools/net/address.c", ADDRESS_C + "\n" * 600, "lines, more than 600"),
    "a long function": ("tools/net/address.c", ADDRESS_C + LONG_FUNCTION, "function of 71 lines, more than 70"),
    "a tag that is defined twice": (
        "tools/cmd/link.c", LICENCE + "struct net_address {\n    int host;\n};\n", "the tag net_address is defined in"),
    "a name that is defined twice": (
        "tools/cmd/link.c", LICENCE + "int net_address_port(int port) {\n    return port;\n}\n",
        "the name net_address_port is defined in"),
    "an object that is defined twice": (
        "tools/cmd/link.c", LICENCE + "int net_address_port = 7777;\n", "the name net_address_port is defined in"),
    "invalid JSON": ("tests/names.json", '{"address": }\n', "not JSON"),
    "a long line of JSON": ("tests/names.json", json.dumps({"address": "x" * 2000}), "a line of more than 2000 characters"),
    "a name that Wireshark refuses": (
        "plugin/prefs.c", LICENCE.replace("MIT", "GPL-2.0-or-later") + "void prefs_number(int index) {\n}\n",
        "checkAPIs.pl refuses"),
    "a deprecated assertion": (
        "tests/net/test_net.c", LICENCE + "void test(void) {\n    assert_in_range(1, 0, 2);\n}\n", "call deprecated"),
}


def write(folder, tree):
    for path, text in tree.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


class Tree(unittest.TestCase):
    def report(self, tree):
        with tempfile.TemporaryDirectory() as folder:
            write(pathlib.Path(folder), tree)
            done = subprocess.run([sys.executable, "-B", CHECKS / "check_tree.py", folder], capture_output=True, text=True,
                                  check=False)
        return done.returncode, done.stdout + done.stderr

    def test_without_a_fault(self):
        self.assertEqual((0, f"{len(TREE)} files, 0 faults\n"), self.report(TREE))

    def test_planted_faults(self):
        headers = {"tools/cmd/link.h": "tools/cmd/link", "tools/sim/checker.h": "tools/sim/checker"}
        for path, name in headers.items():
            guard = "UERUDP_" + name.replace("/", "_").upper() + "_H"
            headers[path] = LICENCE + f"#ifndef {guard}\n#define {guard}\n#endif\n"
        self.assertEqual(0, self.report({**TREE, **headers})[0])
        for name, (path, text, words) in PLANTED.items():
            with self.subTest(name):
                status, report = self.report({**TREE, **headers, path: text})
                self.assertEqual(1, status, report)
                self.assertIn(words, report)
                self.assertIn("1 faults", report)

    def test_empty_tree(self):
        self.assertEqual(1, self.report({})[0])


def calls(*called):
    return "".join(f"int {name}(void);\n" for name in called), " + ".join(f"{name}()" for name in called) or "0"


class Circles(unittest.TestCase):
    """check_circles.py on sources of one function each, with the name of the source."""

    def report(self, **sources):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            check = root / "tests/checks/check_circles.py"
            check.parent.mkdir(parents=True)
            shutil.copy(CHECKS / "check_circles.py", check)
            commands = []
            for name, called in sources.items():
                declarations, total = calls(*called)
                source = f"{declarations}int {name}(void);\nint {name}(void) {{\n    return {total};\n}}\n"
                write(root, {f"tools/{name}.c": source})
                command = f"cc -c -o {name}.o tools/{name}.c"
                subprocess.run(command.split(), cwd=root, check=True)
                commands.append({"directory": str(root), "file": str(root / f"tools/{name}.c"), "command": command})
            (root / "compile_commands.json").write_text(json.dumps(commands))
            done = subprocess.run([sys.executable, "-B", check, root], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_without_a_circle(self):
        self.assertEqual((0, "2 sources, 0 faults\n"), self.report(send=("queue", "socket"), queue=("socket",), socket=()))

    def test_planted_circles(self):
        for name, queue, socket, faults in (("two sources", ("send", "socket"), (), ("send", "queue")),
                                            ("three sources", ("socket",), ("send",), ("send", "queue", "socket"))):
            with self.subTest(name):
                status, report = self.report(main=("send", "queue"), send=("queue",), queue=queue, socket=socket)
                self.assertEqual(1, status, report)
                self.assertIn(f" {len(faults)} faults", report)
                for source in faults:
                    self.assertIn(f"tools/{source}.c is in a circle", report)

    def test_parts_of_one_source(self):
        """The parts that only their source calls may call it."""
        self.assertEqual(0, self.report(main=("send",), send=("queue",), queue=("send",))[0])

    def test_no_object_files(self):
        self.assertIn("no object files", self.report()[1])


if __name__ == "__main__":
    if not shutil.which("cc"):
        print("skipped: no C compiler `cc`")
        sys.exit(77)
    unittest.main()
