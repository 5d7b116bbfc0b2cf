#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The JSON schema: output of the program is valid, changed output is not, and keys agree with the tables of the sources."""
import copy
import json
import pathlib
import re
import tempfile
import unittest

import schema
import uerudp

ROOT = uerudp.ROOT
CAPTURES = sorted((ROOT / "captures").glob("*.pcapng"))[::2]
LOSS = ROOT / "captures/loss-burst.pcapng"
LEGACY = ROOT / "captures/legacy.pcapng"
KINDS = {"BOOL": "bool", "U8": "u8", "U16": "u16", "U32": "u32", "U64": "u64", "X32": "u32", "I32": "i32",
         "BYTES": "bytes", "TEXT": "text", "STRING": "text", "REAL": "real"}
DEFS = schema.SCHEMA["$defs"]


def output(*arguments, status=None, data=b""):
    return schema.lines(uerudp.run(*arguments, status=status, data=data).stdout)


def sidecar(*arguments):
    with tempfile.TemporaryDirectory() as folder:
        uerudp.run("generate", *arguments, "--output", pathlib.Path(folder) / "x.pcapng", status=None)
        return json.loads((pathlib.Path(folder) / "x.sent.json").read_text())


class Valid(unittest.TestCase):
    def test_schema(self):
        schema.jsonschema.Draft202012Validator.check_schema(schema.SCHEMA)

    def test_decode(self):
        for path in CAPTURES:
            schema.check("datagram", output("decode", "--json", path))
            schema.check("datagram", output("decode", "--json", "--content", "--bits", path))
        for options in (["--bits"], ["--redact"], ["--max-packet=700", "--extra-bits=3"], ["--magic-bits=5"],
                        ["--generation=5.5", "--handlers=aesgcm"], ["--skip-bytes=1"]):
            schema.check("datagram", output("decode", "--json", *options, LOSS))

    def test_decode_written(self):
        """Values that no capture has: 64-bit numbers, times that are not decimal, all messages with parameters."""
        objects = [{"bunches": [{"messages": [{"iris_protocol_mismatch": {"id": str(2**64 - 1)}}, {"netspeed": {"rate": -5}},
                                              {"net_guid_assign": {"guid": 7, "path": "/x"}},
                                              {"login": {"url": "?"}, "unique_id": {"text": "me"}}]}]},
                   {"generation": "4.20", "handshake": {"cookie": "01" * 20, "timestamp_raw": "80000000"}}]
        for object in objects:
            hexed = uerudp.encode([object])[0].hex().encode()
            generation = object.get("generation", "5.5")
            schema.check("datagram", output("decode", "--json", "--hex", "--generation", generation, "-", data=hexed))
        foreign = uerudp.pcap([(40000, 7777, b"what is this")])
        schema.check("datagram", output("decode", "--json", "-", data=foreign))

    def test_info(self):
        for path in CAPTURES:
            schema.check("connection", output("info", "--json", "--bits", path))
        ends = [ROOT / f"captures/ends-{end}.pcapng" for end in ("client", "server")]
        schema.check("comparison", output("info", "--json", "--compare", CAPTURES[0], LOSS))
        schema.check("connection", output("info", "--json", *ends))

    def test_generate(self):
        for arguments in (["mixed", "--duration=2"], ["timeout"], ["close-reasons", "--generation=4.13", "--duration=2"],
                          ["overload", "--duration=2", "--capture-at=sender"], ["login", "--connections=2", "--fuzz"]):
            schema.check("sent", [sidecar(*arguments)])

    def test_events(self):
        for path in CAPTURES:
            log, *events = output("decode", "--events=-", path)
            schema.check("log", [log])
            schema.check("event", events)
        log, *events = output("replay", "--json", LOSS)
        schema.check("log", [log])
        schema.check("event", events)

    def test_replay_check(self):
        for path in CAPTURES:
            schema.check("check", output("replay", "--check", "--json", path))
        with tempfile.NamedTemporaryFile(suffix=".pcapng") as file:
            uerudp.run("edit", "--rule=corrupt@bunch.ch_seq dir=s2c kind=reliable every=4", LOSS, file.name)
            found = output("replay", "--check", "--json", file.name, status=1)
        schema.check("check", found)
        self.assertTrue(found[0]["differs"])

    def test_script(self):
        script = "fixture\nC send 5 m1 each\n    * C > 100 ... [5 R101 m1 80]\n"
        for text, status in ((script, 0), (script.replace("R101", "R7"), 1), (script.replace("send", "sned"), 2)):
            schema.check("script", output("script", "--json", "-", status=status, data=text.encode()))
        schema.check("script", output("script", "--json", *sorted((ROOT / "tests/scenarios").glob("loss-*.txt")), status=0))

    def test_doctor(self):
        schema.check("doctor", output("doctor", "--json"))
        schema.check("doctor", output("doctor", "--json", f"--plugin={uerudp.PROGRAM}"))


# Fields of the catalogue that the program does not print.
PLUGIN_ONLY = ("analysis.", "reassembled", "fragment", "bunch.reliable_id")


def leaves(value, path=()):
    """(path, value) of each value that is neither object nor array."""
    if isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path, value


def objects(value, path=()):
    """The paths of all objects."""
    if isinstance(value, dict):
        yield path
    if isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from objects(inner, (*path, key))


def inside(value, path):
    for key in path:
        value = value[key]
    return value


def shape(path):
    """The path with all elements of an array as one."""
    return tuple("*" if isinstance(key, int) else key for key in path)


class Invalid(unittest.TestCase):
    def samples(self):
        yield "datagram", output("decode", "--json", "--bits", LOSS)[4]
        yield "datagram", output("decode", "--json", "--bits", LEGACY)[4]
        for wanted in ("exports", "mapped", "voice"):
            yield "datagram", next(datagram for path in ("game", "voice")
                                   for datagram in output("decode", "--json", "--content", ROOT / f"captures/{path}.pcapng")
                                   if any(wanted in message for bunch in datagram.get("bunches", [])
                                          for message in bunch.get("content", [])))
        yield "connection", output("info", "--json", "--bits", LOSS)[0]
        yield "sent", sidecar("mixed", "--duration=1")
        yield "sent", sidecar("game", "--duration=1")
        log, *events = output("decode", "--events=-", LOSS)
        yield "log", log
        for name in sorted({event["name"] for event in events}):
            yield "event", next(event for event in events if event["name"] == name)
        yield "check", output("replay", "--check", "--json", LOSS)[0]
        yield "script", output("script", "--json", "-", data=b"nonsense\n", status=2)[0]
        yield "doctor", output("doctor", "--json")[0]

    def assert_invalid(self, validator, sample, path, key, value):
        changed = copy.deepcopy(sample)
        inside(changed, path)[key] = value
        self.assertFalse(validator.is_valid(changed), f"{path} {key}")

    def test_changed_types(self):
        """A value of another type is invalid at any path."""
        for kind, sample in self.samples():
            validator = schema.validator(kind)
            for path, value in {shape(path): (path, value) for path, value in leaves(sample)}.values():
                self.assert_invalid(validator, sample, path[:-1], path[-1], {"value": value})

    def test_unknown_keys(self):
        for kind, sample in self.samples():
            validator = schema.validator(kind)
            for path in {shape(path): path for path in objects(sample)}.values():
                self.assert_invalid(validator, sample, path, "unknown", 1)

    def test_missing_keys(self):
        for kind, sample in self.samples():
            validator = schema.validator(kind)
            for key in DEFS[kind]["required"]:
                self.assertFalse(validator.is_valid({k: v for k, v in sample.items() if k != key}), f"{kind} {key}")

    def test_values(self):
        datagram = output("decode", "--json", LOSS)[4]
        validator = schema.validator("datagram")
        self.assertTrue(validator.is_valid(datagram))
        for path, key, value in (((), "schema", 2), ((), "frame", 0), ((), "time", "now"), ((), "src", "here"),
                                 ((), "direction", 3), (("packet",), "seq", 65536), (("bunches", 0), "data", "xyz")):
            self.assert_invalid(validator, datagram, path, key, value)

    def test_any(self):
        """Without a kind, the schema accepts each sample and refuses an empty object."""
        validator = schema.validator()
        for kind, sample in self.samples():
            self.assertTrue(validator.is_valid(sample), kind)
        self.assertFalse(validator.is_valid({"schema": 1}))


def flat(properties, prefix=""):
    """(dotted key, rule) of the values in an object's properties."""
    for key, rule in properties.items():
        rule = DEFS["fault"] if rule.get("$ref") == "#/$defs/fault" else rule
        if rule.get("type") == "object":
            yield from flat(rule["properties"], f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", rule


# Definitions of objects inside messages, by the prefix that their keys omit. All others are objects of a datagram.
INSIDE = {"content": ["content"], "export": ["exports", "export"], "field_export": ["field_export"],
          "mapped": ["mapped", "mapped_id"], "actor": ["actor"], "block": ["block"], "property": ["property"],
          "field": ["field"], "voice": ["voice"]}
STRUCTURES = {name for names in INSIDE.values() for name in names} | {"message", "frame"}


class Catalogue(unittest.TestCase):
    """The schema has exactly the entries of the tables in the sources."""

    def rows(self, file, pattern):
        return re.findall(pattern, (ROOT / file).read_text(), re.M)

    def test_fields(self):
        rows = self.rows("libcodec/include/uerudp/fields.def", r'^UE_FIELD\((\w+), "([^"]+)", "[^"]*", (\w+),')
        rows = [row for row in rows if not row[1].startswith(PLUGIN_ONLY)]
        self.assertEqual([name for _, name, _ in rows], DEFS["field_name"]["enum"])
        rows = [row for row in rows if row[1].partition(".")[0] not in INSIDE]
        wanted = {(name, KINDS[kind]) for _, name, kind in rows if name != "none"}
        wanted |= {(f"{name}_raw", "bits of a number") for _, name, kind in rows if kind == "REAL"}
        item = dict(flat(DEFS["item"]["properties"]))
        bunch = dict(flat(DEFS["bunch"]["properties"]))
        self.assertEqual(bunch, {key: item[key] for key in bunch}, "an item is a bunch, or an acknowledgement")
        keys = {("", key): rule for key, rule in flat(DEFS["datagram"]["properties"])}
        keys |= {("bunch." if key in bunch else "legacy.", key): rule for key, rule in item.items()}
        keys |= {("control.", key): rule for key, rule in flat(DEFS["message"]["properties"])}
        not_fields = {"schema", "frame", "time", "src", "dst", "length", "raw", "bits", "bunches", "items", "messages",
                      "content"}
        found = {(prefix + key, self.kind(prefix + key, rule)) for (prefix, key), rule in keys.items()
                 if key not in not_fields and not key.startswith("settings.")}
        self.assertEqual(wanted, found)

    def test_fields_inside_messages(self):
        rows = self.rows("libcodec/include/uerudp/fields.def", r'^UE_FIELD\((\w+), "([^"]+)", "[^"]*", (\w+),')
        rows = [row for row in rows if row[1].partition(".")[0] in INSIDE]
        wanted = {(name, KINDS[kind]) for _, name, kind in rows}
        wanted |= {(f"{name}_raw", "raw_real") for _, name, kind in rows if kind == "REAL"}
        found = {(f"{prefix}.{key}", rule.get("items", rule)["$ref"].rpartition("/")[2])
                 for prefix, names in INSIDE.items() for name in names for key, rule in flat(DEFS[name]["properties"])
                 if not key.startswith("fault.")}
        self.assertEqual(wanted, {(key, kind) for key, kind in found if kind not in STRUCTURES})

    def kind(self, name, rule):
        """The type of a field's value, or of the elements of its list."""
        rule = rule.get("items", rule)
        special = {"direction": "u8", "canonical": "bool", "fault.status": "text", "fault.field": "text"}
        if name.endswith("_raw"):
            return "bits of a number"
        return special[name] if name in special else rule["$ref"].rpartition("/")[2]

    def test_settings(self):
        printed = set(self.rows("tools/print/json_settings.c", r'^        \{"(\w+)", ')) | {"handlers"}
        self.assertEqual(printed, set(DEFS["datagram"]["properties"]["settings"]["properties"]))

    def test_counters(self):
        self.assertEqual(self.rows("tools/endpoint/include/uerudp/counters.def", r"^UE_COUNTER\((\w+),"),
                         list(DEFS["counters"]["properties"]))

    def test_findings(self):
        names = self.rows("libcodec/include/uerudp/findings.def", r'^UE_FINDING\(\w+, "(\w+)"')
        self.assertEqual(list(dict.fromkeys(names)), DEFS["finding_kind"]["enum"])
        found = self.rows("tools/doctor/load_diagnosis.c", r'find\(diagnosis, "([a-z-]+)"')
        self.assertEqual(sorted(set(found)), DEFS["doctor"]["properties"]["findings"]["items"]["properties"]["id"]["enum"])

    def test_events(self):
        """docs/events.md has the events of the schema with their data."""
        table = self.rows("docs/events.md", r"^\| `(\w+:\w+)` \| (.*?) \|")
        event = DEFS["event"]
        rules = {rule["if"]["properties"]["name"]["const"]: rule["then"]["properties"]["data"]["$ref"] for rule in event["allOf"]}
        self.assertEqual(sorted(name for name, _ in table), sorted(event["properties"]["name"]["enum"]))
        for name, data in table:
            keys = DEFS[rules[name].rpartition("/")[2]]["properties"]
            self.assertEqual(set(re.findall(r"`(\w+)`", data)), set(keys), name)

    def test_differences(self):
        names = re.findall(r"^  ([a-z-]+) +\w", uerudp.run("replay", "--help").stdout.decode().split("Differences by name:")[1]
                           .split("Exit status")[0], re.M)
        self.assertEqual(names, DEFS["difference"]["properties"]["type"]["enum"])


if __name__ == "__main__":
    uerudp.main()
