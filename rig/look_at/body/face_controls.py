"""Which control bones of a face turn and close the eyes, and how far, for the table of a look-at's eyes.

Bones are found by their names; what they do is measured on a `face_stage`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import bpy
import numpy as np

from ....lookat_pd import rotation
from ....lookat_pd.errors import RigError
from ....lookat_pd.eyes import shape_gaze, turn_order
from ....lookat_pd.message import Message
from ....lookat_pd.rotation import Array
from ...detection import limbs
from ...detection.face import EyeControlName
from . import shape_eyes, shape_table
from .face_stage import Distances, Move, Stage
from .shape_table import ShapeRow

ACCURATE = np.radians(2.0)
"""Largest error of the gaze [rad] that is not noted."""
STRAIGHT = "STRAIGHT"
_OBLIQUE = np.tan(np.radians(20.0))
_ALIKE = np.radians(1.0)
_GRID = (-1.0, -0.5, 0.0, 0.5, 1.0)


@dataclass(frozen=True)
class Measured:
    """What the control bones of a face do to the eyes."""

    rows: tuple[ShapeRow, ...] = ()
    """Rows of the table of a look-at's eyes."""
    order: str = turn_order.FICK
    """A `control_order`."""
    error: float = 0.0
    """Largest error [rad] of the gaze between measured values and the table."""
    notes: tuple[Message, ...] = ()
    """Controls that were found and are not used."""

    @property
    def controls(self) -> tuple[str, ...]:
        """The control bones of the table."""
        return tuple(dict.fromkeys(row.control for row in self.rows))

    @property
    def summary(self) -> Message:
        """What the table has, as a sentence."""
        return Message(
            "{count} control bones turn or close the eyes: {bones}.",
            count=len(self.controls),
            bones=", ".join(self.controls),
        )

    @property
    def turns_eyes(self) -> bool:
        """Whether any of them turns an eye."""
        return any(row.direction != shape_table.CLOSE for row in self.rows)


def measure(scene: bpy.types.Scene, armature: bpy.types.Object, head: str) -> Measured:
    """The control bones of a face, measured at the current frame. head: the bone that looks.

    Nothing changes: the controls are back in their places at the end. Raises RigError.
    """
    named = shape_eyes.named_controls(armature, limbs.find_eyes(armature))
    if not named:
        return Measured()
    with Stage(scene, armature, head, [control.bone for control in named]) as stage:
        gaze = [(control, turn) for control in named if not control.closes for turn in stage.turns(control.bone)]
        lids = [(control, turn) for control in named if control.closes for turn in stage.closings(control.bone)]
        rows, notes = _gaze_rows(gaze)
        complete = {(row.eye, row.direction) for row in rows}
        lacking = [
            (eye, where)
            for eye, where in product(shape_eyes.SIDES.values(), shape_gaze.DIRECTIONS)
            if not {(eye, where), ("BOTH", where)} & complete
        ]
        if rows and lacking:
            notes.append(_lacking(*lacking[0]))
            rows = []
        order, error = _best_order(stage, rows) if rows else (turn_order.FICK, 0.0)
        if error > ACCURATE:
            notes.append(
                Message(
                    "The control bone '{bone}' does not turn the eyes evenly, so the gaze misses the target by up "
                    "to {degrees}°; move it less, or choose other bones.",
                    bone=rows[0].control,
                    degrees=f"{np.degrees(error):.0f}",
                )
            )
    used = {control.bone for control, _ in (*gaze, *lids)}
    notes += [_idle(control) for control in named if control.bone not in used]
    return Measured((*rows, *_lid_rows(lids)), order, error, tuple(notes))


def fill_table(scene: bpy.types.Scene, armature: bpy.types.Object, head: str) -> Measured:
    """Fill the table of the look-at on `head` with what is detected: control bones or, where these turn no eye, shape
    keys. Raises RigError, and then changes nothing."""
    probed = measure(scene, armature, head)
    rows = list(probed.rows)
    if not probed.turns_eyes:
        rows = [*shape_eyes.detected_rows(armature), *rows]
    if not rows and probed.notes:
        raise RigError(probed.notes[0])
    if not rows:
        raise RigError(
            "No shape key or control bone of '{armature}' has a name that says that it turns the eyes; add rows to "
            "the table.",
            armature=armature.name,
        )
    _write(armature.pose.bones[head].lookat_pd.eyes, rows, probed)
    return probed


def take_over(scene: bpy.types.Scene, armature: bpy.types.Object, head: str) -> Measured | None:
    """Let the control bones of a face turn the eyes of a look-at, where these cannot be turned otherwise and nothing
    was chosen; None elsewhere. Raises RigError, and then changes nothing."""
    eyes = armature.pose.bones[head].lookat_pd.eyes
    chosen = eyes.turned_by != "AUTO" or eyes.left or eyes.right or shape_table.rows(eyes)
    if not eyes.use or chosen or not shape_eyes.driving_controls(armature, limbs.find_eyes(armature)):
        return None
    probed = measure(scene, armature, head)
    if probed.turns_eyes:
        _write(eyes, probed.rows, probed)
    return probed


def _write(eyes: Any, rows: Sequence[ShapeRow], found: Measured) -> None:
    shape_table.write(eyes, rows)
    eyes.control_order = found.order


def _lacking(eye: str, where: str) -> Message:
    return Message(
        "No control bone turns the {side} eye {direction}, so control bones do not turn the eyes; add it to the table "
        "in the Eyes panel.",
        side=Message("left" if eye == "LEFT" else "right"),
        direction=shape_eyes.TOLD[where],
    )


def _idle(control: EyeControlName) -> Message:
    text = (
        "The control bone '{bone}' closes no eye by its location, so it is not used; add it to the table in the Eyes "
        "panel."
        if control.closes
        else "The control bone '{bone}' turns no eye by its location, so it is not used; add it to the table in the "
        "Eyes panel."
    )
    return Message(text, bone=control.bone)


def _gaze_rows(controls: Sequence[tuple[EyeControlName, Move]]) -> tuple[list[ShapeRow], list[Message]]:
    """The best row for each direction of each eye: of controls of one eye before those of both."""
    best: dict[tuple[str, str], tuple[tuple[bool, float], Move, float]] = {}
    notes: dict[str, Message] = {}
    for control, move in controls:
        for side, (yaw, pitch) in move.angles.items():
            low, high = sorted((abs(yaw), abs(pitch)))
            if low > _OBLIQUE * high:
                notes[move.bone] = Message(
                    "The control bone '{bone}' turns an eye obliquely, so it is not used; add it to the table in the "
                    "Eyes panel.",
                    bone=move.bone,
                )
                continue
            where = ("LEFT" if yaw > 0.0 else "RIGHT") if abs(yaw) > abs(pitch) else "UP" if pitch > 0.0 else "DOWN"
            rank = (control.side != "", high)
            key = shape_eyes.SIDES[side], where
            if key not in best or rank > best[key][0]:
                best[key] = rank, move, high
            if control.side and control.side != side:
                notes[move.bone] = Message(
                    "The control bone '{bone}' turns the {side} eye.",
                    bone=move.bone,
                    side=Message("left" if side == "L" else "right"),
                )
    rows = []
    for where in shape_gaze.DIRECTIONS:
        left, right = (best.get((eye, where)) for eye in shape_eyes.SIDES.values())
        if left and right and left[1] is right[1] and abs(left[2] - right[2]) < _ALIKE:
            rows.append(_row(left[1], "BOTH", where, 0.5 * (left[2] + right[2])))
            continue
        rows += [_row(one[1], eye, where, one[2]) for eye, one in (("LEFT", left), ("RIGHT", right)) if one]
    # Stable: the directions stay in order.
    return sorted(rows, key=lambda row: shape_table.EYES.index(row.eye)), list(notes.values())


def _lid_rows(controls: Sequence[tuple[EyeControlName, Move]]) -> list[ShapeRow]:
    """The row that closes each eye: of a control of that eye before one of both."""
    best: dict[str, tuple[tuple[bool, float], Move]] = {}
    for control, move in controls:
        for side, angle in move.angles.items():
            rank = (control.side != "", angle)
            if side not in best or rank > best[side][0]:
                best[side] = rank, move
    if len(best) == len(shape_eyes.SIDES) and best["L"][1] is best["R"][1]:
        return [_row(best["L"][1], "BOTH", shape_table.CLOSE, 0.0)]
    return [_row(best[side][1], eye, shape_table.CLOSE, 0.0) for side, eye in shape_eyes.SIDES.items() if side in best]


def _row(move: Move, eye: str, where: str, angle: float) -> ShapeRow:
    return ShapeRow("", eye, where, float(angle), move.bone, shape_table.AXES[move.axis], float(move.distance))


def _best_order(stage: Stage, rows: Sequence[ShapeRow]) -> tuple[str, float]:
    """The order in which the table is nearest to the rig, and its largest error [rad]."""
    errors = dict.fromkeys((*turn_order.ORDERS, STRAIGHT), 0.0)
    sides = shape_eyes.SIDES.items()
    own = {side: {row.direction: row for row in rows if row.eye in ("BOTH", eye)} for side, eye in sides}
    grid = [np.maximum((x, -x, y, -y), 0.0) for x, y in product(_GRID, _GRID)]
    poses = [_distances(own.values(), values) for values in grid]
    for values, pose in zip(grid, stage.probed(poses), strict=True):
        seen = stage.gaze(pose)
        for side, order in product(own, errors):
            wanted = shape_eyes.of_rows([own[side][where] for where in shape_gaze.DIRECTIONS], stage.axes, order)
            off = float(rotation.angle_between(wanted.direction(values, stage.axes), seen[side]))
            errors[order] = max(errors[order], off)
    return min(errors.items(), key=lambda pair: pair[1])


def _distances(eyes: Iterable[Mapping[str, ShapeRow]], values: Array) -> Distances:
    """How far the controls go that turn the eyes by values (4,) of the directions. eyes: rows by direction."""
    found = {}
    for own in eyes:
        for where, value in zip(shape_gaze.DIRECTIONS, values.tolist(), strict=True):
            if value:
                row = own[where]
                found[row.control, shape_table.AXES.index(row.axis)] = value * row.distance
    return found
