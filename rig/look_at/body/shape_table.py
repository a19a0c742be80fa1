"""The table of shape keys that turn the eyes of a look-at, and its text for presets and copies."""

import json
from collections.abc import Iterable
from contextlib import suppress
from math import pi

EYES = ("LEFT", "RIGHT", "BOTH")
DIRECTIONS = ("LEFT", "RIGHT", "UP", "DOWN")
_MOST = 1000
"""Rows of a table."""

ShapeRow = tuple[str, str, str, float]
"""A shape key, the eye that it turns, the direction, and the angle [rad] at value 1, 0 to measure it."""


def rows(eyes) -> tuple[ShapeRow, ...]:
    """The table of shape keys that turn the eyes; rows that a library override cannot remove are empty."""
    return tuple((row.shape_key, row.eye, row.direction, row.angle) for row in eyes.shapes if row.shape_key)


def write(eyes, wanted: Iterable[ShapeRow]) -> None:
    """Replace the table of shape keys that turn the eyes."""
    wanted = list(wanted)
    eyes.shapes_index = 0
    for n, row in enumerate(wanted):
        item = eyes.shapes[n] if n < len(eyes.shapes) else eyes.shapes.add()
        item.shape_key, item.eye, item.direction, item.angle = row
    for n in range(len(eyes.shapes) - 1, len(wanted) - 1, -1):
        take(eyes, n)


def take(eyes, place: int) -> None:
    """Remove a row of the table; one that a library override has from its library is emptied."""
    eyes.shapes[place].shape_key = ""
    with suppress(TypeError):
        eyes.shapes.remove(place)


def parsed(found: str) -> list[ShapeRow]:
    """The table of shape keys from its text. Raises ValueError if it is none."""
    table = json.loads(found) if found else []
    if not isinstance(table, list) or len(table) > _MOST:
        raise ValueError("the table of shape keys is not a list")
    for row in table:
        if not isinstance(row, list) or [type(part) for part in row[:3]] != [str, str, str] or len(row) != 4:
            raise ValueError("a row of the table of shape keys has no name, eye, direction and angle")
        fits = isinstance(row[3], int | float) and not isinstance(row[3], bool) and 0.0 <= row[3] <= pi
        if row[1] not in EYES or row[2] not in DIRECTIONS or not fits:
            raise ValueError("a row of the table of shape keys has an unknown word")
    return [(row[0], row[1], row[2], float(row[3])) for row in table]


def text(eyes) -> str:
    """The table as one text, "" for none."""
    table = [[*row[:3], round(row[3], 6)] for row in rows(eyes)]
    return json.dumps(table, ensure_ascii=False) if table else ""


def set_text(eyes, found: str) -> None:
    """Replace the table by that of a text."""
    # What is no table changes nothing.
    with suppress(ValueError, RecursionError):
        write(eyes, parsed(found))
