#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The commands in the guide and in the reference print the output that is shown there."""
import os
import pathlib
import re
import shutil

import harness
import sessions

ROOT = pathlib.Path(__file__).resolve().parents[2]

FIELD = re.compile(r"uerudp\.(?:analysis|bunch|packet|control|block|actor|handshake|expert|handler)\.[a-z_.]*[a-z]")
DOCUMENTS = ("docs/wireshark-guide.md", "docs/wireshark.md")


def narrow(text):
    """Without padding: releases of Wireshark differ in the widths of columns."""
    return re.sub(r" +", " ", re.sub(r" +$", "", text, flags=re.M))


class Documents(harness.StageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        os.mkdir(os.path.join(cls.stage.path, "captures"))
        for path in (ROOT / "captures").glob("*.pcapng"):
            cls.stage.put(f"captures/{path.name}", path.read_bytes())
        cls.stage.put("crate.lua", (ROOT / "docs/examples/crate.lua").read_bytes())
        program = os.path.join(cls.stage.path, "program")
        shutil.copy(os.environ["UERUDP_PROGRAM"], program)
        wrapper = cls.stage.put("uerudp", f'#!/bin/sh\nexec env -u LD_PRELOAD {program} "$@"\n'.encode())  # for tshark alone
        os.chmod(wrapper, 0o755)
        os.chmod(os.path.join(cls.stage.path, "captures"), 0o755)
        os.chmod(cls.stage.path, 0o777)  # commands write files here

    def play(self, commands):
        script = f"cd {self.stage.path}; PATH=$PWD:$PATH; export LC_ALL=C.UTF-8\n" + sessions.script(commands)
        result = self.stage.run(["bash", "-c", script])
        return sessions.outputs(result.stdout), result.stderr

    def test_sessions(self):
        for document in DOCUMENTS:
            played = list(sessions.blocks(document))
            self.assertTrue(played, document)
            for session in played:
                printed, errors = self.play([command for command, _ in session])
                for (command, shown), output in zip(session, printed, strict=True):
                    with self.subTest(document=document, command=command):
                        self.assertRegex(narrow(output), rf"\A{sessions.pattern(narrow(shown), False)}\Z", errors)

    def test_filters(self):
        """Every field that the documents name exists."""
        known = set(self.stage.tshark("-G", "fields").split("\t"))
        text = "".join((ROOT / name).read_text() for name in (*DOCUMENTS, "README.md"))
        fields = set(FIELD.findall(text))
        self.assertGreater(len(fields), 20)
        self.assertEqual(fields - known, set())

    def test_preferences(self):
        """The reference names every preference and every finding of the plugin."""
        names = set(re.findall(r"^#?uerudp\.([a-z_]+):", self.stage.tshark("-G", "currentprefs"), re.M))
        fields = set(re.findall(r"uerudp\.analysis\.([a-z_]+)", self.stage.tshark("-G", "fields")))
        text = (ROOT / DOCUMENTS[1]).read_text()
        self.assertGreater(len(names), 10)
        self.assertGreater(len(fields), 20)
        self.assertEqual({name for name in names | fields if f"`{name}`" not in text and f".{name}`" not in text}, set())


    def test_titles(self):
        """The documents name preferences as the window does."""
        sources = "".join((ROOT / name).read_text() for name in ("plugin/prefs.c", "plugin/prefs.h", "plugin/key_preferences.c",
                                                                "plugin/key_preferences.h"))
        titles = [*re.findall(r'(?:, |TITLE |PREFS_[A-Z_]+ )"([A-Z][^"]+)"', sources), "UDP port(s)"]  # the last is Wireshark's own
        text = "".join((ROOT / name).read_text() for name in (*DOCUMENTS, "docs/troubleshooting.md"))
        named = re.findall(r"(?:[Pp]references?(?: is| are)?|[Tt]able) \*([^*]+)\*(?: and \*([^*]+)\*)?", text)
        self.assertGreater(len(named), 8)
        for name in filter(None, sum(named, ())):
            self.assertTrue(any(title.startswith(name) for title in titles), name)


if __name__ == "__main__":
    harness.main()
