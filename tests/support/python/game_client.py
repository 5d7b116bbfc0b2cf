# SPDX-License-Identifier: MIT
"""A client of the simulated game in Python: it rebuilds the actors from the packets of a capture by protocol.md 23, with
the layouts of the classes as its only other knowledge. It shares no code with the program but the packet decoder."""
import struct

NETVERS = {"4.13": 0, "4.14": 0, "4.18": 0, "4.19": 2, "4.20": 5, "4.22": 10, "4.24": 13, "4.25": 14, "5.1": 30,
           "5.4": 34, "5.5": 36, "5.8": 44}
DORMANCY = 1


class Bits:
    def __init__(self, value, left):
        self.value, self.left = value, left

    @classmethod
    def of(cls, text, left):
        return cls(int.from_bytes(bytes.fromhex(text), "little"), left)

    def read(self, count):
        assert count <= self.left, "too short"
        value, self.value, self.left = self.value & ((1 << count) - 1), self.value >> count, self.left - count
        return value

    def packed(self):
        group = self.read(8)
        return group >> 1 | (self.packed() << 7 if group & 1 else 0)

    def text(self):
        length = self.read(32)
        return bytes(self.read(8) for _ in range(length))[:-1].decode("latin-1")

    def bounded(self, bound):
        value, mask = 0, 1
        while value + mask < bound:
            value += self.read(1) * mask
            mask *= 2
        return value

    def rest(self, count):
        return Bits(self.read(count), count)


def read_packed_vector(bits, netver):
    if netver < 23:
        width = bits.bounded(24) + 2
        return tuple((bits.read(width) - (1 << (width - 1))) / 10 for _ in range(3))
    width = bits.read(6)
    assert bits.read(1)
    raw = [bits.read(width) for _ in range(3)]
    return tuple((value - (value >> (width - 1) << width)) / 10 for value in raw)


def read_spawn_vector(bits, netver):
    if not bits.read(1):
        return
    if netver >= 13 and not bits.read(1):
        bits.read(3 * (64 if netver >= 22 else 32))
    else:
        read_packed_vector(bits, netver)


def read_rotation(bits):
    return tuple(bits.read(16) if bits.read(1) else 0 for _ in range(3))


def read_value(bits, kind, netver):
    if kind == "FVector_NetQuantize10":
        return read_packed_vector(bits, netver)
    return {"bool": lambda: bits.read(1), "uint8": lambda: bits.read(8), "int32": lambda: bits.read(32),
            "float": lambda: struct.unpack("<f", struct.pack("<I", bits.read(32)))[0], "FString": bits.text,
            "UObject*": bits.packed, "FRotator": lambda: read_rotation(bits)}[kind]()


def default_value(kind):
    return {"FString": "", "FRotator": (0, 0, 0), "FVector_NetQuantize10": (0, 0, 0)}.get(kind, 0)


class Classes:
    """The layouts of the sidecar, with handles and the order of fields of protocol.md 23.7."""

    def __init__(self, classes, netver):
        self.by_path, self.netver = {entry["path"]: entry for entry in classes}, netver

    def properties(self, path):
        entry = self.by_path[path]
        return (self.properties(entry["parent"]) if entry["parent"] else []) + entry["properties"]

    def fields(self, path):
        entry = self.by_path[path]
        own = [(name.lower(), None) for name, _ in entry["properties"]]
        functions = sorted((function["name"].lower(), function) for function in entry["functions"])
        own = sorted(own + functions, key=lambda field: field[0]) if self.netver <= 14 else own + functions
        return (self.fields(entry["parent"]) if entry["parent"] else []) + own

    def find(self, path):
        """The class of an archetype, a class or a lamp of the map."""
        name = path.replace("Default__", "")
        if name in self.by_path:
            return name
        if ".Lamp_" in path:
            return "/Script/Engine.PointLightComponent" if path.endswith(".Light") else "/Game/Actors/Lamp.Lamp_C"
        return None


class Channel:
    def __init__(self):
        self.next_seq, self.waiting, self.parts, self.last_packet = None, {}, None, None
        self.is_open, self.actor = False, None


class Receiver:
    """One direction of a capture: messages in the order in which their receiver gets them."""

    def __init__(self, first_seq):
        self.first_seq, self.channels = first_seq, {}

    def add(self, bunch, packet):
        """The bunches that are complete and in order after this one, each as its parts."""
        channel = self.channels.setdefault(bunch["channel"], Channel())
        if not bunch["reliable"]:
            return self.assemble(channel, bunch, packet)
        if channel.next_seq is None:
            channel.next_seq = self.first_seq
        ahead = (bunch["ch_seq"] - channel.next_seq) % 1024
        if ahead < 512:
            channel.waiting.setdefault(ahead + channel.next_seq, (bunch, packet))
        complete = []
        while channel.next_seq in channel.waiting:
            complete += self.assemble(channel, *channel.waiting.pop(channel.next_seq))
            channel.next_seq += 1
        return complete

    @staticmethod
    def assemble(channel, bunch, packet):
        if not bunch["partial"]:
            return [[bunch]]
        if bunch["partial_initial"]:
            channel.parts = [bunch]
        elif channel.parts and channel.parts[0]["reliable"] == bunch["reliable"] and (
                bunch["reliable"] or packet in (channel.last_packet, channel.last_packet + 1)):
            channel.parts.append(bunch)
        else:
            channel.parts = channel.parts if channel.parts and channel.parts[0]["reliable"] else None
            return []
        channel.last_packet = packet
        if not bunch["partial_final"]:
            return []
        parts, channel.parts = channel.parts, None
        return [parts]


class GameClient:
    def __init__(self, classes, generation):
        self.netver = NETVERS[generation]
        self.classes = Classes(classes, self.netver)
        self.paths, self.actors, self.values, self.calls, self.reasons = {}, {}, [], {1: [], 2: []}, []

    # ---- datagrams ----

    def read(self, datagrams):
        bunches = [(datagram["direction"], datagram["packet"].get("id", datagram["packet"]["seq"]), bunch)
                   for datagram in datagrams if "packet" in datagram
                   for bunch in datagram.get("bunches") or [item for item in datagram.get("items", ())
                                                            if not item.get("is_ack")]]
        channels = {}
        for direction in (1, 2):
            numbers = [bunch["ch_seq"] for of, _, bunch in bunches if of == direction and bunch["reliable"]][:8]
            channels[direction] = Receiver(min(numbers, key=lambda number: (number - numbers[0] + 512) % 1024))
        for direction, packet, bunch in bunches:
            for parts in channels[direction].add(bunch, packet):
                if bunch["channel"] > 1: # 0 is control, 1 voice
                    self.read_message(direction, channels[2].channels[bunch["channel"]]
                                      if bunch["channel"] in channels[2].channels else Channel(), bunch["channel"], parts)

    def read_message(self, direction, channel, index, parts):
        first, last = parts[0], parts[-1]
        if first.get("open"):
            channel.is_open = True
        if not channel.is_open:
            return
        value, left = 0, 0
        for part in parts:
            if part["has_exports"]:
                self.read_exports(Bits.of(part["data"], part["data_bits"]))
            else:
                value |= int.from_bytes(bytes.fromhex(part["data"]), "little") << left
                left += part["data_bits"]
        bits = Bits(value, left)
        if last["has_mapped"]:
            mapped = [bits.packed() for _ in range(bits.read(16))]
            assert all(guid in self.paths for guid in mapped), mapped
        if first.get("open"):
            channel.actor = self.read_spawn(bits, last.get("close", False))
        while bits.left:
            self.read_block(bits, direction, channel.actor)
        if last.get("close", False):
            self.close(channel, last)

    def close(self, channel, bunch):
        reason = bunch.get("close_reason", DORMANCY if bunch.get("dormant") else 0)
        self.reasons.append(reason)
        channel.is_open = False
        if reason != DORMANCY:
            self.actors.pop(channel.actor, None)
        channel.actor = None

    # ---- content ----

    def read_exports(self, bits):
        assert bits.read(1) == 0
        for _ in range(bits.read(32)):
            self.read_reference(bits, [])
        assert bits.left == 0

    def read_reference(self, bits, inner):
        guid = bits.packed()
        if guid == 0:
            return ""
        assert bits.read(8) in (5, 7)
        outer = self.read_reference(bits, inner + [guid])
        depth = outer.count("\0")
        name = bits.text()
        bits.read(32)
        path = outer + "\0" + name if outer else name
        separators = [".", ":"] + ["."] * depth
        parts = path.split("\0")
        self.paths[guid] = parts[0] + "".join(mark + part for mark, part in zip(separators, parts[1:]))
        return path

    def read_spawn(self, bits, closes):
        guid = bits.packed()
        if bits.left == 0 and closes:
            return guid
        path = self.paths.get(guid)
        if guid % 2 == 0:
            path = self.paths[bits.packed()]
            if self.netver >= 5:
                bits.packed()
            read_spawn_vector(bits, self.netver)
            if bits.read(1):
                read_rotation(bits)
            read_spawn_vector(bits, self.netver)
            read_spawn_vector(bits, self.netver)
        layout = self.classes.find(path)
        if self.classes.by_path[layout]["is_player_controller"]:
            bits.read(40 if self.netver >= 41 else 8)
        self.actors.setdefault(guid, {guid: {"class": layout, "values": {}}})
        return guid

    def read_block(self, bits, direction, actor):
        has_properties, is_actor = bits.read(1), bits.read(1)
        guid = actor if is_actor else bits.packed()
        layout = None
        if not is_actor and direction == 2:
            if bits.read(1):
                layout = self.classes.find(self.paths[guid])
            elif self.netver >= 30 and bits.read(1):
                bits.read(8)
                self.actors[actor].pop(guid, None)
                return
            else:
                class_guid = bits.packed()
                if class_guid == 0:
                    self.actors[actor].pop(guid, None)
                    return
                layout = self.classes.find(self.paths[class_guid])
                if self.netver >= 18 and not bits.read(1):
                    bits.packed()
        payload = bits.rest(bits.packed())
        entry = self.actors[actor].setdefault(guid, {"class": layout, "values": {}})
        if has_properties:
            assert direction == 2
            self.read_properties(payload, guid, entry)
        while payload.left:
            self.read_call(payload, guid, entry, direction)

    def read_properties(self, bits, guid, entry):
        properties = self.classes.properties(entry["class"])
        assert bits.read(1) == 0
        while (handle := bits.packed()) != 0:
            entry["values"][handle] = read_value(bits, properties[handle - 1][1], self.netver)
            self.values.append((guid, handle, entry["values"][handle]))

    def read_call(self, bits, guid, entry, direction):
        fields = self.classes.fields(entry["class"])
        _, function = fields[bits.bounded(len(fields) + 1)]
        parameters = bits.rest(bits.packed())
        self.calls[direction].append((guid, function["name"], function["reliable"], self.read_parameters(parameters, function)))

    def read_parameters(self, bits, function):
        values = tuple(read_value(bits, kind, self.netver) if kind == "bool" or bits.read(1) else default_value(kind)
                       for _, kind in function["parameters"])
        assert bits.left == 0
        return values
