# SPDX-License-Identifier: MIT
"""What a measuring program in Python prints; those in C have figure.h."""
import json


def print_figure(row, figure, value, unit, **more):
    """more: spread, note, invalid."""
    print(json.dumps({"row": row, "figure": figure, "value": value, "unit": unit} | more), flush=True)


def wanted_rows(arguments, rows):
    """Those of the rows that the arguments name, or all."""
    return [row for row in rows if row in arguments] or rows
