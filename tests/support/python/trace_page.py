# SPDX-License-Identifier: MIT
"""The data of a page of uerudp trace: the JSON object, and the tables of numbers as lists of rows."""
import array
import base64
import json
import re
import sys

UNKNOWN, PENDING, DELIVERED, NOT_DELIVERED, ACK_LOST = range(5)  # states of packets
LATE, DUPLICATE = 1, 2  # flags of packets

CODES = {"u8": "B", "u16": "H", "u32": "I", "i32": "i", "f32": "f", "f64": "d"}
JSON = re.compile(r'<script id="data" type="application/json">\n(.*?)</script>\n', re.S)
COLUMN = re.compile(r'<script type="application/octet-stream" data-table="(\w+)" data-column="(\w+)" data-type="(\w+)">'
                    r"([\w+/=]*)</script>\n")


def numbers(kind, text):
    values = array.array(CODES[kind], base64.b64decode(text, validate=True))
    if sys.byteorder == "big":
        values.byteswap()
    return values.tolist()


def read(page):
    """{keys of the JSON object, table: [{column: number}]}. Numbers that a table has not (NaN) are None. Of an index, the
    list of its rows."""
    data = json.loads(JSON.search(page).group(1))
    tables = {}
    for table, column, kind, text in COLUMN.findall(page):
        tables.setdefault(table, {})[column] = [None if value != value else value for value in numbers(kind, text)]
    for name, columns in tables.items():
        assert len({len(values) for values in columns.values()}) == 1, f"{name}: columns of different length"
        data[name] = [dict(zip(columns, row)) for row in zip(*columns.values())]
    return data


def around(page):
    """The page without its data."""
    return COLUMN.sub("", JSON.sub("", page))
