# SPDX-License-Identifier: MIT
"""The goals of goals.json, and how figures are judged by them."""
import json
import math
import pathlib

GOALS = pathlib.Path(__file__).with_name("goals.json")
SPREAD_MAX = 0.10  # of a reference loop, beyond which a figure that other processes can spoil is not judged
MET, MISSED, INVALID, NOT_MEASURED = "MET", "MISSED", "INVALID", "NOT MEASURED"


class WrongFigure(Exception):
    """A line of a measuring program that is no figure of the table."""


def load():
    """The goals by (row, figure), in the order of the table."""
    return {(goal["row"], goal["figure"]): goal for goal in json.loads(GOALS.read_text(encoding="utf-8"))}


def parse_figure(line, goals):
    """The figure of a line of JSON: row, figure, value, unit, and perhaps spread, note, and invalid, which says why the
    figure cannot be judged."""
    try:
        figure = json.loads(line)
        key = figure["row"], figure["figure"]
        value, unit = figure["value"], figure["unit"]
    except (ValueError, TypeError, KeyError) as error:
        raise WrongFigure(f"no figure: {line.strip()!r}") from error
    if key not in goals:
        raise WrongFigure(f"no goal for {key[0]}, figure {key[1]!r}")
    if not isinstance(value, (int, float)) or not math.isfinite(value) or not isinstance(unit, str):
        raise WrongFigure(f"no number with a unit: {line.strip()!r}")
    return figure


def judge(goal, figure):
    """One of the four results; figure: None if no program printed it."""
    if figure is None:
        return NOT_MEASURED
    if "invalid" in figure or goal["spoilable"] and not figure.get("spread", math.inf) <= SPREAD_MAX:
        return INVALID
    value, must = figure["value"], goal["must"]
    return MET if (value >= must if goal["compare"] == ">=" else value <= must) else MISSED
