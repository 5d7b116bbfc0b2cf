# SPDX-License-Identifier: MIT
"""The list of items that uebare adds (bare_items.h): those that our plugin adds to the packets of a capture."""
import io
import xml.etree.ElementTree as ElementTree

BOOLEANS = {"False": "0", "True": "1"}  # as Wireshark 4.4 and later show them
NUMBERS = ("FT_UINT", "FT_INT", "FT_FRAMENUM")


def field_types(stage):
    """The type of each field by its filter name."""
    lines = (line.split("\t") for line in stage.tshark("-G", "fields").splitlines())
    return {line[2]: line[3] for line in lines if line[0] == "F"}


def items_of(node, depth=1):
    """The items below one in the order of the tree, each with its depth."""
    for child in node:
        yield child, depth
        yield from items_of(child, depth + 1)


def packets(text, protocol):
    """Number of the frame and the item of a protocol, for each packet of a PDML text that has it."""
    for _, node in ElementTree.iterparse(io.StringIO(text)):
        if node.tag == "packet":
            found = node.find(f"proto[@name='{protocol}']")
            if found is not None:
                yield int(node.find("proto[@name='geninfo']/field[@name='num']").get("show")), found
            node.clear()


def value_of(item, kind):
    """The value of an item as bare_items.c reads it: a number in decimal, a text in one line."""
    text = item.get("show") or ""
    if kind == "FT_BOOLEAN":
        return BOOLEANS.get(text, text)
    if kind.startswith(NUMBERS):
        return str(int(text, 0))
    return "" if kind == "FT_BYTES" else " ".join(text.split())


class List:
    """Made from what tshark prints of a capture with our plugin."""

    def __init__(self, stage, text):
        self.types = field_types(stage)
        self.fields = {}  # number by name
        self.items = {}  # names by the number of the frame
        self.lines = []
        for frame, protocol in packets(text, "uerudp"):
            self.items[frame] = []
            self.add_packet(frame, protocol)

    def add_packet(self, frame, protocol):
        origin, size = int(protocol.get("pos")), int(protocol.get("size"))
        for item, depth in items_of(protocol):
            name = item.get("name")
            number = self.fields.setdefault(name, len(self.fields))
            start = min(max(int(item.get("pos") or 0) - origin, 0), size)
            length = min(int(item.get("size") or 0), size - start)
            value = value_of(item, self.type_of(name))
            self.lines.append(f"I\t{frame}\t{depth}\t{number}\t{start}\t{length}\t{int(len(item) > 0)}\t{value}")
            self.items[frame].append(self.bare_name(name))

    def type_of(self, name):
        return self.types.get(name, "FT_NONE")

    def bare_name(self, name):
        return f"uebare.{self.fields[name]}"

    def content(self):
        fields = [f"F\t{self.type_of(name)}\t{self.bare_name(name)}" for name in self.fields]
        return "\n".join(fields + self.lines + [""]).encode()

    def difference(self, text):
        """What differs in a PDML text of uebare, or None."""
        bare = {frame: [item.get("name") for item, _ in items_of(protocol)] for frame, protocol in packets(text, "uebare")}
        frame = next((frame for frame, names in self.items.items() if bare.get(frame) != names), None)
        return None if frame is None else (f"frame {frame}: our plugin adds {len(self.items[frame])} items, uebare "
                                           f"{len(bare.get(frame, ()))} or others")
