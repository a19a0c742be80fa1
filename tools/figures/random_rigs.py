"""Skeletons made at random, with where they face: people, animals, machines, busts, under many names and axes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookat_pd import rotation
from lookat_pd.rotation import Array
from standalone import load

Skeleton = load("lookat_pd.skeleton").Skeleton
vocabulary = load("rig.detection.vocabulary")

Point = Sequence[float] | Array
Row = tuple[str, str, str, Point, Point]
"""Part of the body, side, name of the parent (part and side), head, tail; the name is the part with the side."""


@dataclass(frozen=True)
class RandomRig:
    """A skeleton and the truth about it."""

    kind: str
    naming: str
    skeleton: Skeleton
    forward: Array
    up: Array
    vertical: tuple[float, float, float]
    """The axis that the armature object turns up."""


class Body:
    """Rows of bones of a figure that faces -Y, up is +Z."""

    def __init__(self, dice: np.random.Generator) -> None:
        self.dice = dice
        self.rows: list[Row] = []

    def one(self, low: float, high: float) -> float:
        return float(self.dice.uniform(low, high))

    def chance(self, share: float) -> bool:
        return bool(self.dice.random() < share)

    def line(self, parts: Sequence[str], points: Sequence[Point], parent: str = "", side: str = "") -> str:
        """Bones one behind the other; the name of the last one. A point more than parts is the last tail."""
        ends = [np.array(point, float) for point in points]
        if len(ends) == len(parts):
            ends.append(2.0 * ends[-1] - ends[-2] if len(ends) > 1 else ends[-1] + np.array((0.0, 0.0, 0.05)))
        for n, part in enumerate(parts):
            self.rows.append((part, side, parent, ends[n], ends[n + 1]))
            parent = part + side
        return parent

    def both(self, parts: Sequence[str], points: Sequence[Point], parent: str) -> None:
        for side, sign in (("L", 1.0), ("R", -1.0)):
            above = parent if not parent.endswith("*") else parent[:-1] + side
            self.line(parts, [(sign * x, y, z) for x, y, z in points], above, side)

    def face(self, head: str, at: Point, size: float, share: float = 0.6) -> None:
        """Eyes, jaw, nose, brows and ears, some of them. at: where the head begins; size: its height."""
        x, y, z = at
        deep = size * self.one(0.3, 0.5)
        if self.chance(share):
            self.both(
                ["eye"],
                [(x + 0.15 * size, y - deep, z + 0.5 * size), (x + 0.15 * size, y - 1.2 * deep, z + 0.5 * size)],
                head,
            )
        if self.chance(share):
            self.line(["mouth"], [(x, y - 0.1 * size, z + 0.15 * size), (x, y - deep, z + 0.05 * size)], head)
        if self.chance(0.3 * share):
            self.line(["nose"], [(x, y - 1.1 * deep, z + 0.35 * size), (x, y - 1.4 * deep, z + 0.33 * size)], head)
        if self.chance(0.3 * share):
            self.both(
                ["brow"],
                [(x + 0.15 * size, y - deep, z + 0.65 * size), (x + 0.25 * size, y - deep, z + 0.65 * size)],
                head,
            )
        if self.chance(0.4 * share):
            self.both(
                ["ear"],
                [(x + 0.35 * size, y + 0.05 * size, z + 0.45 * size), (x + 0.4 * size, y + 0.1 * size, z + 0.5 * size)],
                head,
            )


def _trunk(body: Body, low: Point, high: Point) -> tuple[str, str]:
    """Hips, spine, chest and neck in a line; the names of hips and chest."""
    count = int(body.dice.integers(1, 4))
    parts = ["hips", *(f"spine{n or ''}" for n in range(count)), "chest"]
    points = [np.array(low) + t * (np.array(high) - low) for t in np.linspace(0.0, 1.0, len(parts) + 1)]
    body.line(parts, points, "root" if body.rows else "")
    return "hips", "chest"


def human(body: Body) -> None:
    if body.chance(0.6):
        body.line(["root"], [(0, 0, 0), (0, 0.2, 0)])
    hips, chest = _trunk(body, (0, 0, 0.98), (0, body.one(-0.02, 0.04), 1.48))
    neck = body.line(["neck"], [(0, 0.01, 1.5), (0, body.one(-0.03, 0.01), 1.58)], chest)
    head = body.line(["head"], [(0, -0.01, 1.58), (0, body.one(-0.03, 0.02), 1.8)], neck)
    down, back = np.radians(body.one(0, 55)), body.one(-0.01, 0.06)
    reach = np.array([np.cos(down), 0.0, -np.sin(down)])
    shoulder = np.array([0.16, 0.01, 1.46])
    arm = [shoulder, shoulder + 0.28 * reach + (0, back, 0), shoulder + 0.53 * reach, shoulder + 0.68 * reach]
    collar = body.chance(0.75)
    body.both(
        [*(["shoulder"] if collar else []), "upper_arm", "forearm", "hand"],
        [*([(0.03, 0, 1.46)] if collar else []), *arm],
        chest,
    )
    if body.chance(0.4):
        for n, (part, out) in enumerate((("thumb", 0.04), ("digit", 0.0))):
            start = arm[2] + (0.04 + 0.05 * n) * reach + np.array([0, -out, 0])
            body.both([part, part + "1"], [start, start + 0.03 * reach, start + 0.06 * reach], "hand*")
    knee = body.one(-0.045, 0.0) - 0.15 * body.chance(0.1)
    leg = [(0.1, 0, 0.95), (0.1, knee, 0.52), (0.1, 0.02, 0.09), (0.1, -0.11, 0.02), (0.1, -0.18, 0.02)]
    toes = int(body.chance(0.6))
    body.both(["thigh", "shank", "foot", "toe"][: 3 + toes], leg[: 4 + toes], hips)
    body.face(head, (0, -0.01, 1.58), 0.22, 0.4)


def quadruped(body: Body) -> None:
    if body.chance(0.5):
        body.line(["root"], [(0, 0, 0), (0, 0.2, 0)])
    hips, chest = _trunk(body, (0, 0.45, 0.62), (0, -0.25, body.one(0.58, 0.68)))
    neck = body.line(["neck"], [(0, -0.3, 0.65), (0, -0.5, body.one(0.7, 0.95))], chest)
    at = body.rows[-1][4]
    head = body.line(["head"], [at, (at[0], at[1] - 0.22, at[2] + body.one(-0.08, 0.04))], neck)
    if body.chance(0.7):
        body.line(["tail", "tail1"], [(0, 0.5, 0.6), (0, 0.7, 0.55), (0, 0.9, body.one(0.3, 0.8))], hips)
    for x, y, parts, at in (
        (0.1, 0.42, ("thigh", "shank", "foot", "toe"), hips),
        (0.09, -0.22, ("upper_arm", "forearm", "hand"), chest),
    ):
        points = [(x, y, 0.55), (x, y - 0.05, 0.32), (x, y + 0.06, 0.12), (x, y, 0.03), (x, y - 0.06, 0.0)]
        body.both(parts, points[: len(parts) + 1], at)
    body.face(head, at=body.rows[[r[0] for r in body.rows].index("head")][3], size=0.2, share=0.5)


def bust(body: Body) -> None:
    neck = body.line(["spine", "neck"][: 1 + body.chance(0.8)], [(0, 0, 0.9), (0, 0, 1.3), (0, -0.02, 1.4)])
    at = np.array(body.rows[-1][4])
    head = body.line(["head"], [at, at + np.array((0, body.one(-0.02, 0.05), 0.25))], neck)
    body.face(head, at, 0.25, 0.85)


def robot(body: Body) -> None:
    hips, chest = _trunk(body, (0, 0, 1.0), (0, 0, 1.5))
    head = body.line(["head"], [(0, 0, 1.6), (0, 0, 1.85)], chest)
    if body.chance(0.75):
        bend = body.one(0.05, 0.35) * (1 if body.chance(0.5) else -1)
        leg = [(0.2, 0, 1.0), (0.2, bend, 0.55), (0.2, 0, 0.1), (0.2, -0.22, 0.0)]
        count = 3 if body.chance(0.7) else 2
        body.both(["thigh", "shank", "foot"][:count], leg[: count + 1], hips)
    if body.chance(0.85):
        forth = body.one(-0.4, 0.05)
        body.both(
            ["upper_arm", "forearm", "hand"],
            [(0.3, 0, 1.5), (0.45, 0.03, 1.25), (0.45, forth, 1.1), (0.45, forth - 0.1, 1.1)],
            chest,
        )
    body.face(head, (0, 0, 1.6), 0.25, 0.35)


def bird(body: Body) -> None:
    level = body.one(0.1, 0.5)
    hips, chest = _trunk(body, (0, 0.15, 0.5), (0, -0.15, 0.5 + level))
    neck = body.line(["neck"], [(0, -0.16, 0.52 + level), (0, -0.22, 0.7 + level)], chest)
    at = np.array(body.rows[-1][4])
    head = body.line(["head"], [at, at + np.array((0, -0.15, 0.0))], neck)
    if body.chance(0.7):
        body.line(["tail"], [(0, 0.2, 0.5), (0, 0.5, 0.45)], hips)
    leg = [(0.1, 0.05, 0.45), (0.1, -0.05, 0.3), (0.1, 0.1, 0.1), (0.1, 0.0, 0.02), (0.1, -0.08, 0.0)]
    toes = int(body.chance(0.7))
    body.both(["thigh", "shank", "foot", "toe"][: 3 + toes], leg[: 4 + toes], hips)
    if body.chance(0.85):
        body.both(
            ["wing", "wing1", "wing2"], [(0.1, -0.05, 0.6), (0.4, 0, 0.6), (0.8, 0.05, 0.6), (1.1, 0.1, 0.6)], chest
        )
    if body.chance(0.4):
        body.line(["nose"], [at + np.array((0, -0.1, -0.01)), at + np.array((0, -0.2, -0.02))], head)
    if body.chance(0.5):
        body.both(["eye"], [at + np.array((0.05, -0.07, 0.03)), at + np.array((0.08, -0.08, 0.03))], head)


def snake(body: Body) -> None:
    count = int(body.dice.integers(5, 20))
    wave = body.one(0.0, 0.05)
    points = [(wave * np.sin(n) * body.chance(0.3), 0.5 - n / count, 0.05) for n in range(count + 2)]
    head = body.line([*(f"spine{n or ''}" for n in range(count)), "head"], points)
    at = np.array(points[count])
    if body.chance(0.5):
        body.line(["mouth"], [at + np.array((0, -0.01, -0.02)), at + np.array((0, -0.08, -0.03))], head)
    if body.chance(0.4):
        body.both(["eye"], [at + np.array((0.02, -0.04, 0.02)), at + np.array((0.04, -0.05, 0.02))], head)
    if body.chance(0.3):
        body.both(["fin"], [(0.05, 0.0, 0.05), (0.15, 0.05, 0.04)], "spine2")


def spider(body: Body) -> None:
    body.line(["chest"], [(0, 0, 0.3), (0, -0.2, 0.3)])
    if body.chance(0.7):
        body.line(["spine"], [(0, 0.05, 0.3), (0, 0.6, 0.4)], "chest")
    head = body.line(["head"], [(0, -0.25, 0.3), (0, -0.4, 0.28)], "chest")
    legs = int(body.dice.integers(3, 5))
    for n in range(legs):
        fan = np.radians(50.0 - 100.0 * n / (legs - 1))
        out = np.array([np.cos(fan), -np.sin(fan), 0.0])
        base = np.array([0.1, 0.15 * (n / legs - 0.5), 0.3])
        points = [base, base + 0.35 * out + [0, 0, 0.3], base + 0.8 * out + [0, 0, 0.1], base + 1.1 * out - [0, 0, 0.3]]
        body.both([f"thigh{n + 1}", f"shank{n + 1}", f"foot{n + 1}"], points, "chest")
    if body.chance(0.3):
        body.both(["eye"], [(0.03, -0.38, 0.32), (0.03, -0.42, 0.32)], head)


def hoverer(body: Body) -> None:
    """A bee, a drone or a ghost: no legs."""
    if body.chance(0.5):
        body.line(["spine"], [(0, 0.3, 1.0), (0, 0.0, 1.02)])
        chest = body.line(["chest"], [(0, 0.0, 1.02), (0, -0.2, 1.05)], "spine")
        head = body.line(["head"], [(0, -0.22, 1.06), (0, -0.4, 1.04)], chest)
        body.both(["wing", "wing1"], [(0.05, -0.05, 1.1), (0.4, 0.0, 1.15), (0.8, 0.05, 1.15)], chest)
        at, size = np.array([0, -0.24, 0.98]), 0.2
    else:
        hips, chest = _trunk(body, (0, 0, 1.0), (0, 0, 1.5))
        head = body.line(["head"], [(0, 0, 1.58), (0, 0, 1.8)], chest)
        body.both(
            ["upper_arm", "forearm", "hand"],
            [(0.2, 0, 1.46), (0.3, 0.04, 1.25), (0.32, body.one(-0.2, 0.04), 1.05), (0.33, -0.2, 0.95)],
            chest,
        )
        if body.chance(0.4):
            body.line(["tail", "tail1"], [(0, 0, 0.95), (0, 0.05, 0.7), (0, 0.15, 0.5)], hips)
        at, size = np.array([0, 0, 1.58]), 0.22
    body.face(head, at, size, 0.6)


def machine(body: Body) -> None:
    """A lamp, or a crane whose last bone is its hook."""
    out = body.one(0.1, 0.3)
    last = (0, -out - 0.2, 0.7) if body.chance(0.6) else (0, -out, 0.5)
    points = [(0, 0, 0), (0, 0, 0.1), (0, out, 0.45), (0, -out, 0.75), last]
    body.line(["root", "spine", "neck", "head"], points)


KINDS: dict[str, tuple[Callable[[Body], None], float]] = {
    "human": (human, 0.3),
    "quadruped": (quadruped, 0.15),
    "bust": (bust, 0.1),
    "robot": (robot, 0.12),
    "bird": (bird, 0.08),
    "snake": (snake, 0.07),
    "spider": (spider, 0.07),
    "hovering": (hoverer, 0.08),
    "machine": (machine, 0.03),
}
"""Figure by name, and how often it is made."""
NAMINGS = {
    "English": 0.45,
    "another language": 0.25,
    "sides alone": 0.08,
    "numbers": 0.1,
    "sides swapped": 0.05,
    "head and numbers": 0.07,
}
STYLES = ("{0}.{1}", "{0}_{1}", "{1}_{0}", "{1}{2}", "{2}{1}", "b_{1}_{0}", "rig:{1}_{2}", "{0}_{1}_jnt")
"""{0} is a word, {1} the side, {2} the word in title case."""
SIDES = (("L", "R"), ("l", "r"), ("Left", "Right"))


def made(seed: int) -> RandomRig:
    """The rig of a number."""
    dice = np.random.default_rng(seed)
    kind = str(dice.choice([*KINDS], p=[share for _, share in KINDS.values()]))
    body = Body(dice)
    KINDS[kind][0](body)
    naming = str(dice.choice([*NAMINGS], p=[*NAMINGS.values()]))
    names = _named(dice, body.rows, naming)
    own = [part + side for part, side, *_ in body.rows]
    parents = [own.index(above) if above else -1 for _, _, above, _, _ in body.rows]
    heads = np.array([row[3] for row in body.rows], float)
    tails = np.array([row[4] for row in body.rows], float)
    size = float(np.linalg.norm(np.ptp(heads, axis=0)))
    heads = heads + dice.normal(0.0, 10.0 ** dice.uniform(-5, -2.3) * size, heads.shape)
    if body.chance(0.2):
        # As importers of joints leave them.
        tails = heads + np.eye(3)[int(dice.integers(3))] * size * body.one(0.001, 0.05)
    turn, vertical = _turned(dice)
    scale = 10.0 ** body.one(-2.0, 2.0)
    heads, tails = (scale * rotation.rotate(turn, points) for points in (heads, tails))
    turns = rotation.shortest_arc([0.0, 1.0, 0.0], tails - heads)
    forward, up = (rotation.rotate(turn, np.array(v)) for v in ((0.0, -1.0, 0.0), (0.0, 0.0, 1.0)))
    return RandomRig(kind, naming, Skeleton(names, np.array(parents), turns, heads, tails), forward, up, vertical)


def _turned(dice: np.random.Generator) -> tuple[Array, tuple[float, float, float]]:
    """How the figure is turned in the armature, and which axis of that the object turns up."""
    yaw = rotation.about([0.0, 0.0, 1.0], np.radians(90.0 * dice.integers(4)))
    if dice.random() < 0.06:
        yaw = rotation.about([0.0, 0.0, 1.0], dice.uniform(0.0, 2.0 * np.pi))
    if dice.random() < 0.65:
        return yaw, (0.0, 0.0, 1.0)
    tip = rotation.about([1.0, 0.0, 0.0], -0.5 * np.pi)
    lies = dice.random() < 0.2
    return rotation.multiply(tip, yaw), ((0.0, 0.0, 1.0) if lies else (0.0, 1.0, 0.0))


def _named(dice: np.random.Generator, rows: Sequence[Row], naming: str) -> list[str]:
    """A name for each row."""
    if naming in ("numbers", "head and numbers"):
        return [
            row[0].title() if row[0] == "head" and naming != "numbers" else f"Bone.{n:03d}"
            for n, row in enumerate(rows)
        ]
    style = STYLES[int(dice.integers(len(STYLES)))]
    row = vocabulary.ENGLISH
    if naming == "another language":
        row = vocabulary.FOREIGN[int(dice.integers(len(vocabulary.FOREIGN)))]
    sides = SIDES[int(dice.integers(3))]
    if naming == "sides swapped":
        sides = sides[::-1]
    called = dict(zip("LR", sides, strict=True))
    names: list[str] = []
    for part, side, *_ in rows:
        name = _name(row, part, style, called.get(side, ""), naming)
        names.append(name if name not in names else f"{name}.{len(names):03d}")
    return names


def _name(row: Any, part: str, style: str, side: str, naming: str) -> str:
    plain = part.rstrip("0123456789")
    number = part[len(plain) :]
    said = row.parts.get(plain) or vocabulary.ENGLISH.parts[plain]
    word = (
        "".join("bcdfgkmpqvxzjwyuoaei"[ord(letter) * 7 % 20] for letter in plain)
        if naming == "sides alone"
        else said.split()[0]
    )
    word += number
    return style.format(word, side, word.title()) if side else word
