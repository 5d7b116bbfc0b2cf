#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A process that opens several files shows each like the first: connections, fragments, paths, actors, keys and tap
counts of earlier files have no effect."""
import json
import os
import re
import subprocess
import unittest

import decoded
import harness

TAPS = ("stat:uerudp", "stat:uerudp_channels", "stat:uerudp_losses", "srt:uerudp", "conv:UERUDP", "expert")
FRAMES = 60
SCENARIO = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "support", "two_keys.ini")


def questions(path, first):
    """Requests to sharkd about one file, numbered from first."""
    wanted = [("load", {"file": path}), ("tap", {f"tap{i}": tap for i, tap in enumerate(TAPS)})]
    wanted += [("frame", {"frame": frame, "proto": True, "bytes": True}) for frame in range(1, FRAMES + 1)]
    wanted.append(("follow", {"follow": "UERUDP", "filter": "uerudp.stream == 0"}))
    return [harness.request(first + i, method, **params) for i, (method, params) in enumerate(wanted)]


class Files(unittest.TestCase):
    def setUp(self):
        self.stage = self.enterContext(harness.Stage())

    def part(self, name, frames):
        """Some frames of a capture."""
        path = os.path.join(self.stage.home, f"part-{name}.pcapng")
        subprocess.run(["editcap", "-r", decoded.path_of(name), path, frames], check=True)
        os.chmod(path, 0o644)
        return path

    def shown(self, paths):
        """The answers of one sharkd about each of the files in turn."""
        asked = [questions(path, 1 + 1000 * i) for i, path in enumerate(paths)]
        text = "".join(line for lines in asked for line in lines)
        found = [[] for _ in paths]
        for line in self.stage.run(["sharkd", "-"], stdin=text).stdout.splitlines():
            answer = json.loads(line)
            found[answer["id"] // 1000].append(answer.get("result", answer.get("error")))
        return found

    def test_no_state_of_earlier_files(self):
        whole = [self.stage.copy(decoded.path_of(name)) for name in ("game", "big-bunch", "legacy")]
        late = [self.part("game", "25-90"), self.part("big-bunch", "1-18"), self.part("big-bunch", "19-40")]
        paths = [path for pair in zip(whole, late) for path in pair]
        together = self.shown([*paths, *reversed(paths)])
        for path, one, again in zip(paths, together, reversed(together)):
            alone = self.shown([path])[0]
            self.assertIn("Unreal Engine", json.dumps(alone))
            self.assertEqual(one, alone, path)
            self.assertEqual(again, alone, path)

    def encrypted(self, seed):
        """A capture and its keys."""
        path = os.path.join(self.stage.path, f"secret{seed}.pcapng")
        subprocess.run([os.environ["UERUDP_PROGRAM"], "generate", SCENARIO, "--seed", str(seed), "--output", path],
                       check=True, timeout=harness.TIMEOUT_S)
        with open(path.replace(".pcapng", ".keys"), encoding="ascii") as file:
            return path, file.read()

    def test_keys_of_each_file(self):
        (one, keys), (other, other_keys) = self.encrypted(1), self.encrypted(2)
        log = self.stage.put("all.keys", (keys + other_keys).encode())
        os.mkdir(os.path.join(self.stage.home, "wireshark"))
        with open(os.path.join(self.stage.home, "wireshark/preferences"), "w", encoding="ascii") as file:
            file.write(f"uerudp.handlers: aesgcm\nuerudp.key: {log}\n")
        late = os.path.join(self.stage.home, "late.pcapng")
        subprocess.run(["editcap", "-r", one, late, "9-30"], check=True)
        os.chmod(late, 0o644)
        paths = [one, late, other]
        alone = [self.shown([path])[0] for path in paths]
        keys_of = [set(re.findall(r"line \d+ of all.keys", json.dumps(answers))) for answers in alone]
        self.assertEqual([1, 1, 1], [len(each) for each in keys_of], keys_of)
        self.assertEqual(keys_of[0], keys_of[1])  # it begins after the Hello, so the tag of AES-GCM tells
        self.assertNotEqual(keys_of[0], keys_of[2])
        self.assertEqual(self.shown([*paths, *paths]), alone + alone)


if __name__ == "__main__":
    harness.main()
