"""The table of shape keys and control bones that turn and close the eyes of a look-at, and its text for presets and
copies."""

import json
from collections.abc import Iterable
from contextlib import suppress
from math import isfinite, pi
from typing import NamedTuple

EYES = ("LEFT", "RIGHT", "BOTH")
CLOSE = "CLOSE"
DIRECTIONS = ("LEFT", "RIGHT", "UP", "DOWN", CLOSE)
AXES = ("X", "Y", "Z")
FARTHEST = 1000.0
"""Largest distance of a control bone."""
_MOST = 1000
"""Rows of a table."""


class ShapeRow(NamedTuple):
    """A row of the table."""

    shape_key: str
    """Name of the shape key, or "" for a control bone."""
    eye: str
    """The eye that it turns or closes."""
    direction: str
    """The direction in which it turns the eye, or that it closes it."""
    angle: float = 0.0
    """Angle [rad] at value 1, 0 to measure it."""
    control: str = ""
    """A control bone, whose location on its own `axis` is `distance` where a shape key would have the value 1."""
    axis: str = "X"
    distance: float = 1.0


def rows(eyes) -> tuple[ShapeRow, ...]:
    """The table of what turns and closes the eyes; rows that a library override cannot remove are empty."""
    table = (ShapeRow(*(getattr(row, name) for name in ShapeRow._fields)) for row in eyes.shapes)
    return tuple(row for row in table if row.shape_key or row.control)


def turns_eyes(eyes) -> bool:
    """Whether the table has a row that turns an eye."""
    return any(row.direction != CLOSE for row in rows(eyes))


def write(eyes, wanted: Iterable[tuple]) -> None:
    """Replace the table."""
    wanted = list(wanted)
    eyes.shapes_index = 0
    for n, row in enumerate(wanted):
        item = eyes.shapes[n] if n < len(eyes.shapes) else eyes.shapes.add()
        for name, value in ShapeRow(*row)._asdict().items():
            setattr(item, name, value)
    for n in range(len(eyes.shapes) - 1, len(wanted) - 1, -1):
        take(eyes, n)


def take(eyes, place: int) -> None:
    """Remove a row of the table; one that a library override has from its library is emptied."""
    eyes.shapes[place].shape_key = eyes.shapes[place].control = ""
    with suppress(TypeError):
        eyes.shapes.remove(place)


def parsed(text: str) -> list[ShapeRow]:
    """The table from its text. Raises ValueError if it is none."""
    table = json.loads(text) if text else []
    if not isinstance(table, list) or len(table) > _MOST:
        raise ValueError("the table of shape keys is not a list")
    return [_row(row) for row in table]


def _row(values) -> ShapeRow:
    """A row of 4 values, for a control bone of 7."""
    kinds = [str, str, str, float, str, str, float]
    if not isinstance(values, list) or len(values) not in (4, len(kinds)):
        raise ValueError("a row of the table of shape keys has no name, eye, direction and angle")
    for n, (part, kind) in enumerate(zip(values, kinds, strict=False)):
        if not isinstance(part, int | float if kind is float else kind) or isinstance(part, bool):
            raise ValueError(f"value {n} of a row of the table of shape keys is of another kind")
    row = ShapeRow(*values)._replace(angle=float(values[3]))
    if row.eye not in EYES or row.direction not in DIRECTIONS or row.axis not in AXES:
        raise ValueError("a row of the table of shape keys has an unknown word")
    if not 0.0 <= row.angle <= pi or not isfinite(row.distance) or abs(row.distance) > FARTHEST:
        raise ValueError("a row of the table of shape keys has a number out of range")
    return row._replace(distance=float(row.distance))


def text(eyes) -> str:
    """The table as one text, "" for none."""
    table = []
    for row in rows(eyes):
        short = [row.shape_key, row.eye, row.direction, round(row.angle, 6)]
        table.append([*short, row.control, row.axis, round(row.distance, 6)] if row.control else short)
    return json.dumps(table, ensure_ascii=False) if table else ""


def set_text(eyes, text: str) -> None:
    """Replace the table by that of a text."""
    # What is no table changes nothing.
    with suppress(ValueError, RecursionError):
        write(eyes, parsed(text))
