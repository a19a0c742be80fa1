"""How often forward and up are right, and how sure detection is of them, on skeletons made at random."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lookat_pd.rotation import Array
from standalone import load
from tools.figures import pages, random_rigs
from tools.figures.rigs import Line

axes, detect = load("rig.detection.axes"), load("rig.detection.detect")

FIRST, COUNT = 10000, 1000
"""Numbers of the rigs: others than those on which the probabilities were measured that detection says."""
AHEAD, UPRIGHT = np.cos(np.radians(15.0)), np.cos(np.radians(20.0))
"""Forward and up within these angles count as right."""
SAID = pages.head("said", "rigs", "right", "right or second candidate")
KIND = pages.head("figure", "rigs", "right", "right or second candidate", "said on average", "wrong without a note")
NAMING = pages.head("names", "rigs", "right", "right or second candidate", "said on average", "wrong without a note")
HEADS = (SAID, KIND, NAMING)


@dataclass(frozen=True)
class Row:
    """What was found of a rig."""

    kind: str
    naming: str
    confidence: float
    right: bool
    second: bool
    """Whether one of the two candidates is right."""


def measured(number: int) -> Row:
    """What is found of the rig of a number."""
    rig = random_rigs.made(number)
    found = detect.read_axes(rig.skeleton, detect.RigHints(vertical=rig.vertical))

    def is_right(axes_of: tuple[Array, Array]) -> bool:
        return bool(axes_of[0] @ rig.forward > AHEAD and axes_of[1] @ rig.up > UPRIGHT)

    return Row(
        rig.kind,
        rig.naming,
        found.confidence,
        is_right((found.forward, found.up)),
        any(map(is_right, found.candidates)),
    )


def lines(names: Sequence[str]) -> Iterator[Line]:
    """The rows of the tables. names: of figures, all if there are none."""
    rows = [row for row in map(measured, range(FIRST, FIRST + COUNT)) if not names or row.kind in names]
    for low in range(0, 100, 10):
        bucket = [row for row in rows if low <= 100.0 * row.confidence < low + 10 + (low == 90)]
        if bucket:
            yield SAID, f"| {low} to {low + 10} % | {len(bucket)} | {_shares(bucket)} |"
    for head, kind_of in ((KIND, lambda row: row.kind), (NAMING, lambda row: row.naming)):
        yield from _by(head, rows, kind_of)


def _by(head: str, rows: Sequence[Row], kind_of: Callable[[Row], str]) -> Iterator[Line]:
    for kind in dict.fromkeys(map(kind_of, sorted(rows, key=kind_of))):
        chosen = [row for row in rows if kind_of(row) == kind]
        said = np.mean([row.confidence for row in chosen])
        unsaid = sum(not row.right and row.confidence >= axes.CERTAIN for row in chosen)
        yield head, f"| {kind} | {len(chosen)} | {_shares(chosen)} | {100.0 * said:.0f} % | {unsaid} |"


def _shares(rows: Sequence[Row]) -> str:
    right, second = (
        100.0 * np.mean([of(row) for row in rows]) for of in (lambda row: row.right, lambda row: row.second)
    )
    return f"{right:.0f} % | {second:.0f} %"
