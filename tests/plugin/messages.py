# SPDX-License-Identifier: MIT
"""Whole messages of a capture, reassembled from the bunches of uerudp decode by a direct implementation of protocol.md
10.2. Only for captures that lose no unreliable fragment."""
import collections

import course
import decoded

Message = collections.namedtuple("Message", "frame item stream direction channel bits data")


def first_copies(bunches):
    """Without retransmissions and duplicates; reliable bunches get their full channel sequence, "id"."""
    newest, seen = {}, set()
    for bunch in bunches:
        if not bunch.bunch["reliable"]:
            yield bunch
            continue
        lane = (bunch.stream, bunch.direction, bunch.bunch["channel"])
        number = course.nearest(bunch.bunch["ch_seq"], newest.get(lane, bunch.bunch["ch_seq"]), course.CH_SEQ_BOUND)
        newest[lane] = max(number, newest.get(lane, number))
        if (lane, number) not in seen:
            seen.add((lane, number))
            yield bunch._replace(bunch=bunch.bunch | {"id": number})


def latest(parts):
    return max(parts, key=lambda part: (part.frame, part.item))


def join(parts, last=None):
    """The bits of the fragments. Only the last fragment may end inside a byte; the last bunch need not be a fragment."""
    last = last or latest(parts)
    data = b"".join(bytes.fromhex(part.bunch.get("data", "")) for part in parts)
    return Message(last.frame, last.item, last.stream, last.direction, last.bunch["channel"],
                   sum(part.bunch["data_bits"] for part in parts), data)


def chains(bunches):
    """Lists of bunches that form a message together, exports included."""
    by_channel = collections.defaultdict(list)
    for bunch in bunches:
        by_channel[(bunch.stream, bunch.direction, bunch.bunch["channel"], bunch.bunch["reliable"])].append(bunch)
    for (*_, reliable), members in by_channel.items():
        if reliable:
            members.sort(key=lambda member: member.bunch["id"])
        parts = []
        for member in members:
            parts.append(member)
            if not member.bunch["partial"] or member.bunch["partial_final"]:
                yield parts
                parts = []


def apart(parts):
    """Fragments with exports are messages of their own, but the message is complete only when they have arrived."""
    exports = [part for part in parts if part.bunch["partial"] and part.bunch["has_exports"]]
    rest = [part for part in parts if part not in exports]
    return [join([part]) for part in exports] + ([join(rest, latest(parts))] if rest else [])


def of(path):
    """Every message that is not empty, in the order in which the capture completes them."""
    found = [message for parts in chains(first_copies(decoded.bunches(decoded.datagrams(path)))) for message in apart(parts)]
    return sorted((message for message in found if message.bits), key=lambda m: (m.frame, m.item))
