#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""AES-GCM: each connection is decrypted with its own key, found by token or address; a packet that stays encrypted has
an expert item with the reason."""
import collections
import json
import os
import subprocess
import sys

import harness

SCENARIO = os.path.join(os.path.dirname(__file__), os.pardir, "support", "two_keys.ini")
PROGRAM = os.environ.get("UERUDP_PROGRAM")
SETTINGS = {"handlers": "aesgcm"}
NO_KEY, WRONG_KEY, COMPRESSED, DTLS = (f"uerudp.expert.{name}" for name in ("no_key", "wrong_key", "compressed", "dtls"))


def table(*rows):
    """Options that fill the table of keys."""
    return [part for row in rows for part in ("-o", "uat:uerudp_keys:" + ",".join(f'"{text}"' for text in row))]


class Key(harness.StageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path = os.path.join(cls.stage.path, "two.pcapng")
        subprocess.run([PROGRAM, "generate", SCENARIO, "--connections=2", "--output", cls.path], check=True,
                       timeout=harness.TIMEOUT_S)
        cls.log = os.path.join(cls.stage.path, "two.keys")
        with open(cls.log, encoding="ascii") as file:
            cls.keys = [line.split() for line in file if not line.startswith("#")]

    def packets(self, *options, two_pass=True, **settings):
        return self.stage.packets(self.path, SETTINGS | settings, options, two_pass)

    def count(self, packets):
        """Number of encrypted datagrams of each stream by key and expert items."""
        counts = collections.Counter()
        for packet in packets.values():
            if packet.numbers("handler.encrypted") == [1]:
                self.assertEqual(len(packet.all("packet.seq")), len(packet.all("handler.key")))
                experts = [name for name in packet.experts if name in (NO_KEY, WRONG_KEY)]
                key = packet.texts("handler.key")
                counts[(packet.texts("stream")[0], *(key or experts))] += 1
                self.assertEqual(len(key) + len(experts), 1)
        return counts

    def labels(self, expert, *options, **settings):
        """The texts of an expert item."""
        packets = self.packets(*options, **settings).values()
        return {field.get("showname") for packet in packets for field in packet.node.iter("field")
                if field.get("name") == expert}

    def test_by_token(self):
        closed = self.count(self.packets())
        self.assertEqual(set(closed), {("0", NO_KEY), ("1", NO_KEY)})
        wanted = {(stream, f"line {line} of two.keys"): closed[stream, NO_KEY] for stream, line in (("0", 2), ("1", 3))}
        packets = self.packets(key=self.log)
        self.assertEqual(self.count(packets), wanted)
        self.assertNotIn("uerudp.expert.malformed", sum((packet.experts for packet in packets.values()), []))
        self.assertEqual(self.count(self.packets(key=self.log, two_pass=False)), wanted)
        rows = [("", "", token, key) for key, _, token in self.keys]
        self.assertEqual(self.count(self.packets(*table(*rows))),
                         {(stream, f"row {int(stream) + 1} of the table"): closed[stream, NO_KEY] for stream in "01"})

    def test_by_address(self):
        rows = [("198.51.100.1", port, "", key[0]) for port, key in zip(("50000", "50001"), self.keys)]
        self.assertEqual({key for _, key in self.count(self.packets(*table(*rows)))},
                         {"row 1 of the table", "row 2 of the table"})
        rows = [("192.0.2.1", "", "", self.keys[1][0]), ("192.0.2.2", "", "", self.keys[0][0])]
        self.assertEqual(set(self.count(self.packets(*table(*rows)))),
                         {("0", WRONG_KEY), ("1", "row 1 of the table")})

    def test_given_key(self):
        self.assertEqual(set(self.count(self.packets(key=self.keys[0][0]))), {("0", "given key"), ("1", WRONG_KEY)})

    def test_texts(self):
        missing = ('Encrypted (aesgcm): no key for this connection is in the preferences "AES key" and '
                   '"Keys by server and token"; its encryption token is "{}"')
        self.assertEqual(self.labels(NO_KEY), {missing.format(key[2]) for key in self.keys})
        wrong = ("Encrypted (aesgcm): {}: it was encrypted with another key, or changed on the way; its encryption token is \""
                 + self.keys[1][2] + "\"")
        self.assertEqual(self.labels(WRONG_KEY, key=self.keys[0][0]),
                         {wrong.format("the only key for this connection does not decrypt it")})
        self.assertEqual(self.labels(WRONG_KEY, *table(("", "", "", self.keys[0][0])), key=self.keys[0][0]),
                         {wrong.format("none of the 2 keys for this connection decrypts it")})
        self.assertEqual(len(self.labels(COMPRESSED, handlers="oodle")), 1)
        self.assertEqual(len(self.labels(DTLS, handlers="dtls")), 1)

    def test_damaged(self):
        """A packet that was changed on the way does not decrypt, although the key is right: the sentence says what else the
        key decrypts."""
        path = os.path.join(self.stage.path, "damaged.pcapng")
        subprocess.run([PROGRAM, "generate", "sealed", "--duration=3", "--seed=5", "--output", path], check=True,
                       timeout=harness.TIMEOUT_S)
        packets = self.stage.packets(path, SETTINGS | {"key": path.replace(".pcapng", ".keys")})
        said = {frame: text for frame, packet in packets.items() for name, text in packet.sentences if name == WRONG_KEY}
        with open(path.replace(".pcapng", ".sent.json"), encoding="ascii") as file:
            damaged = {each["frame"] for each in json.load(file)["datagrams"] if "corrupted" in each["fate"]}
        self.assertTrue(said)
        self.assertLessEqual(set(said), damaged)
        for text in said.values():
            self.assertIn("the only key for this connection does not decrypt it, but other packets: it was changed on the way, "
                          "or encrypted with another key; ", text)

    def test_without_handlers(self):
        """A warning names the handlers that fit, and the packets that they encrypted are opaque."""
        packets = self.packets(handlers="")
        self.assertEqual({name: text for name, text in packets[1].sentences if "generation" in name},
                         {"uerudp.expert.generation":
                          "Generation 5.4 to 5.7: oldest of the generations whose bunches end at the terminator",
                          "uerudp.expert.no_generation":
                          "The packets look like \"aesgcm\" in the preference \"Packet handlers\""})
        self.assertEqual([], [packet for packet in packets.values() if "uerudp.expert.malformed" in dict(packet.sentences)])
        text = self.stage.tshark("-2", "-q", "-r", self.path, "-z", "expert,warn")
        self.assertIn("The packets look like", text)

    def test_expert_table(self):
        """The tap of expert items works without a tree."""
        for quiet in ((), ("-q",)):
            text = self.stage.tshark("-r", self.path, *harness.preferences(SETTINGS), *quiet, "-z", "expert,note")
            self.assertIn(f'its encryption token is "{self.keys[1][2]}"', text)

    def test_same_as_the_program(self):
        text = subprocess.run([PROGRAM, "decode", "--json", "--handlers=aesgcm", "--key", self.log, self.path],
                              capture_output=True, check=True, timeout=harness.TIMEOUT_S).stdout
        wanted = {line["frame"]: line["handler"]["key"] for line in map(json.loads, text.splitlines())
                  if "key" in line.get("handler", {})}
        self.assertGreater(len(wanted), 20)
        packets = self.packets(key=self.log)
        self.assertEqual({frame: packet.texts("handler.key")[0] for frame, packet in packets.items()
                          if packet.all("handler.key")}, wanted)

    def test_key_log_grows(self):
        """Keys that are appended to the key log after Wireshark has started are found."""
        path = self.stage.put("growing.keys", b"")
        folder = os.path.join(self.stage.path, "config")
        os.mkdir(folder)
        self.stage.put("config/preferences", f"uerudp.handlers: aesgcm\nuerudp.key: {path}\n".encode())
        program = self.stage.command(["env", f"WIRESHARK_CONFIG_DIR={folder}", "sharkd", "-"])
        with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True) as sharkd:
            def ask(number, method, **params):
                sharkd.stdin.write(harness.request(number, method, **params))
                sharkd.stdin.flush()
                line = ""
                while not line.startswith("{"):
                    line = sharkd.stdout.readline()
                    self.assertNotEqual(line, "")
                return json.loads(line)["result"]
            ask(1, "status")
            with open(path, "a", encoding="ascii") as log:
                log.write("".join(" ".join(key) + "\n" for key in self.keys))
            ask(2, "load", file=self.path)
            found = ask(3, "frames", filter="uerudp.handler.key", column0="uerudp.handler.key:0")
            sharkd.stdin.close()
        self.assertEqual({frame["c"][0] for frame in found}, {"line 1 of growing.keys", "line 2 of growing.keys"})

    def test_bad_rows(self):
        for row in (("here", "", "", self.keys[0][0]), ("", "0", "", self.keys[0][0]), ("", "", "", "00")):
            result = self.stage.run(["tshark", "-r", self.path, *table(row)], check=False)
            self.assertIn("Not a valid key", result.stderr)


if __name__ == "__main__":
    if not PROGRAM or not os.path.exists("/usr/include/gcrypt.h"):
        sys.exit(harness.SKIPPED)
    harness.main()
