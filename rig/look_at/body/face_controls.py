"""Which control bones of a face turn and close the eyes, and how far: each is moved alone, and the rig is evaluated.

Bones are found by their names; what they do is measured, on eye bones or on shape keys that turn the eyes.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import bpy
import numpy as np

from ....lookat_pd import rotation
from ....lookat_pd.errors import RigError
from ....lookat_pd.eyes import shape_gaze, turn_order
from ....lookat_pd.message import Message
from ....lookat_pd.progress import drain
from ....lookat_pd.rotation import Array
from ...controls import coupling
from ...detection import eye_shapes, limbs, shape_keys, stance
from ...detection import vocabulary as words
from ...detection.face import EyeControlName
from ...detection.names import read_names
from ...sampling import suspend
from ...sampling.sampler import Sampler
from .. import facing
from . import blink, shape_eyes, shape_table
from .shape_table import ShapeRow

ACCURATE = np.radians(2.0)
"""Largest error of the gaze [rad] that is not noted."""
STRAIGHT = "STRAIGHT"
_TURNS, _FAR = np.radians(3.0), np.radians(45.0)
"""An eye turns from the first angle on; to the second one the control is moved where nothing limits it."""
_CLOSED = np.radians(30.0)
"""Angle of a lid that closes the eye, and of a shape key at value 1."""
_DOUBLINGS, _HALVINGS = 17, 8
_SHORTEST = 2.0**-8
"""The first step, of the length of a control."""
_SATURATED, _SAME = 1.02, 0.999
_OBLIQUE = np.tan(np.radians(20.0))
_SHARED = 0.5
_ALIKE = np.radians(1.0)
_GRID = (-1.0, -0.5, 0.0, 0.5, 1.0)
_TINY = 1e-9
_Distances = Mapping[tuple[str, int], float]
"""How far controls are moved, by bone and axis."""


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
    with _Stage(scene, armature, head, [control.bone for control in named]) as stage:
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
        order, error = stage.best_order(rows) if rows else (turn_order.FICK, 0.0)
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


@dataclass(frozen=True)
class _Move:
    """A control at a distance along an axis, and what it does to the eyes of these sides."""

    bone: str
    axis: int
    distance: float
    angles: dict[str, Any]
    """Yaw and pitch (2,) [rad] by side, or how far the lid is closed [rad]."""


def _gaze_rows(controls: Sequence[tuple[EyeControlName, _Move]]) -> tuple[list[ShapeRow], list[Message]]:
    """The best row for each direction of each eye: of controls of one eye before those of both."""
    best: dict[tuple[str, str], tuple[tuple[bool, float], _Move, float]] = {}
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


def _lid_rows(controls: Sequence[tuple[EyeControlName, _Move]]) -> list[ShapeRow]:
    """The row that closes each eye: of a control of that eye before one of both."""
    best: dict[str, tuple[tuple[bool, float], _Move]] = {}
    for control, move in controls:
        for side, angle in move.angles.items():
            rank = (control.side != "", angle)
            if side not in best or rank > best[side][0]:
                best[side] = rank, move
    if len(best) == len(shape_eyes.SIDES) and best["L"][1] is best["R"][1]:
        return [_row(best["L"][1], "BOTH", shape_table.CLOSE, 0.0)]
    return [_row(best[side][1], eye, shape_table.CLOSE, 0.0) for side, eye in shape_eyes.SIDES.items() if side in best]


def _row(move: _Move, eye: str, where: str, angle: float) -> ShapeRow:
    return ShapeRow("", eye, where, float(angle), move.bone, shape_table.AXES[move.axis], float(move.distance))


class _Stage:
    """A rig evaluated with its controls at chosen places, as a context manager."""

    def __init__(self, scene: bpy.types.Scene, armature: bpy.types.Object, head: str, controls: Sequence[str]) -> None:
        self.armature, self.head = armature, head
        self.bones = [armature.pose.bones[name] for name in controls]
        self._frame = scene.frame_current_final
        self._sampler = Sampler(scene, armature, [head], cut_down={})
        self._open = ExitStack()

    def __enter__(self) -> "_Stage":
        try:
            self._open.enter_context(suspend.suspend_live())
            self._open.enter_context(self._sampler)
            reader = bpy.data.objects.new("Look-at PD Keys", None)
            self._open.callback(bpy.data.objects.remove, reader)
            self._sampler.scene.collection.objects.link(reader)
            # What reads the shape keys has their drivers evaluated, without any mesh.
            for keys in self._shape_keys:
                variable = reader.driver_add("delta_scale", 0).driver.variables.new()
                variable.targets[0].id_type, variable.targets[0].id = "KEY", keys
                variable.targets[0].data_path = f"{keys.key_blocks[0].path_from_id()}.value"
            whole = int(np.floor(self._frame))
            self._sampler.scene.frame_set(whole, subframe=self._frame - whole)
            for bone in self.bones:
                self._open.callback(setattr, bone, "location", bone.location.copy())
            (self._rest,) = self._probed([{}])
        except BaseException:
            self._open.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()
        self.armature.update_tag(refresh={"OBJECT"})

    # What there is

    @cached_property
    def _skeleton(self):
        return stance.skeleton(self.armature)

    @cached_property
    def axes(self) -> tuple[Array, Array]:
        """Forward and up (3,) in the frame of the head."""
        skeleton = self._skeleton
        back = rotation.inverse(skeleton.rotations[skeleton.index(self.head)])
        forward, up = facing.character(self.armature, self.head, skeleton)
        return rotation.rotate(back, forward), rotation.rotate(back, up)

    @cached_property
    def _eyes(self) -> dict[str, str]:
        """The eye bones, by side."""
        found = [eye.bone for eye in limbs.find_eyes(self.armature)]
        return dict(zip(shape_eyes.SIDES, found, strict=True)) if len(found) == len(shape_eyes.SIDES) else {}

    @cached_property
    def _centers(self) -> dict[str, Array]:
        """The centers (3,) of the eye bones at rest, in the frame of the head."""
        return shape_eyes.eye_bones(self.armature, self._skeleton, self.head)

    @cached_property
    def _shape_keys(self) -> list[bpy.types.Key]:
        """Shape keys with drivers."""
        found = (keys for _, keys in shape_eyes.meshes(self.armature))
        return [keys for keys in found if keys.animation_data is not None and len(keys.animation_data.drivers)]

    @cached_property
    def _shifts(self) -> dict[str, list[tuple[bpy.types.Key, str, Array]]]:
        """By side the shape keys with drivers that turn the eye, and how they shift its pupil (3,)."""
        shifts: dict[str, list[tuple[bpy.types.Key, str, Array]]] = {side: [] for side in shape_eyes.SIDES}
        for item, keys in shape_eyes.meshes(self.armature):
            if keys not in self._shape_keys:
                continue
            frame = shape_eyes.to_head(self.armature, self._skeleton, self.head, item)
            for (side, where), name in eye_shapes.looking(keys.key_blocks.keys()[1:]).items():
                for own in (side,) if side else shape_eyes.SIDES:
                    lid = blink.Lid(keys, name)
                    turn = shape_eyes.key_turn(lid, item, frame, self.axes, own, where, shared=not side)
                    shifts[own].append((keys, name, shape_gaze.shift(self.axes[0], *turn)))
        return shifts

    @cached_property
    def _closing_keys(self) -> dict[str, list[tuple[bpy.types.Key, str]]]:
        """By side the shape keys with drivers that close the eye."""
        found: dict[str, list[tuple[bpy.types.Key, str]]] = {side: [] for side in shape_eyes.SIDES}
        for keys in self._shape_keys:
            names = shape_keys.closing(keys.key_blocks.keys()[1:])
            for sides, name in zip([tuple(found)] if len(names) == 1 else [("L",), ("R",)], names, strict=False):
                for side in sides:
                    found[side].append((keys, name))
        return found

    @cached_property
    def _lids(self) -> dict[str, list[str]]:
        """By side the bones of the upper lid."""
        names = self.armature.data.bones.keys()
        beside = words.CONTROL | words.HELPER | words.LEAF
        found: dict[str, list[str]] = {side: [] for side in shape_eyes.SIDES}
        for bone, name in zip(names, read_names(names), strict=True):
            if name.side and name.has(words.LID) and not name.has(words.LOWER_LID) and not name.has(beside):
                found[name.side].append(bone)
        return found

    # What is seen

    def _pose(self) -> dict[Any, Any]:
        """What the rig shows now, in the frame of the head: matrices of eyes and lids, values of shape keys."""
        layer = self._sampler.scene.view_layers[0]
        layer.update()
        depsgraph = layer.depsgraph
        pose = self.armature.evaluated_get(depsgraph).pose.bones
        back = np.linalg.inv(np.array(pose[self.head].matrix))
        named = [*self._eyes.values(), *(bone for lids in self._lids.values() for bone in lids)]
        shown: dict[Any, Any] = {bone: back @ np.array(pose[bone].matrix) for bone in named}
        for keys in self._shape_keys:
            blocks = keys.evaluated_get(depsgraph).key_blocks
            shown |= {(keys, block.name): block.value for block in blocks}
        return shown

    def _gaze(self, now: dict[Any, Any]) -> dict[str, Array]:
        """Unit gaze directions (3,) by side."""
        ahead, directions = self.axes[0], {}
        for side in shape_eyes.SIDES:
            eye = self._eyes.get(side)
            if eye is not None and not np.allclose(now[eye][:3, :3], self._rest[eye][:3, :3], atol=1e-6):
                directions[side] = rotation.normalize(now[eye][:3, :3] @ np.linalg.inv(self._rest[eye][:3, :3]) @ ahead)
                continue
            moved = [(now[keys, name] - self._rest[keys, name]) * shift for keys, name, shift in self._shifts[side]]
            directions[side] = rotation.normalize(ahead + np.sum(moved, axis=0)) if moved else ahead
        return directions

    def _turn(self, now: dict[Any, Any]) -> dict[str, Array]:
        """Yaw to the left and pitch up (2,) [rad] by side, of eyes that turn."""
        forward, up = self.axes
        left = rotation.cross(up, forward)
        found = {}
        for side, seen in self._gaze(now).items():
            yaw, pitch = np.arctan2(seen @ left, seen @ forward), np.arcsin(np.clip(seen @ up, -1.0, 1.0))
            found[side] = np.array((yaw, pitch))
        return found

    def _closing(self, now: dict[Any, Any]) -> dict[str, float]:
        """How far the lids are closed [rad], by side."""
        found = {}
        for side in shape_eyes.SIDES:
            by_keys = [now[key] - self._rest[key] for key in self._closing_keys[side]]
            by_bones = [self._lowered(side, bone, now) for bone in self._lids[side]]
            found[side] = max((*(_CLOSED * value for value in by_keys), *by_bones), default=0.0)
        return found

    def _lowered(self, side: str, bone: str, now: dict[Any, Any]) -> float:
        """Angle [rad] about the center of the eye by which a bone of a lid goes down; negative up."""
        length = self.armature.data.bones[bone].length
        center = self._centers.get(side, self._rest[bone][:3, 3])
        angles = [0.0]
        for place in ((0.0, 0.0, 0.0, 1.0), (0.0, length, 0.0, 1.0)):
            before, after = ((matrix @ place)[:3] - center for matrix in (self._rest[bone], now[bone]))
            if np.linalg.norm(before) > _TINY + 0.01 * length:
                angle = float(rotation.angle_between(before, after))
                angles.append(-angle if (after - before) @ self.axes[1] > 0.0 else angle)
        return max(angles, key=abs)

    # Moving the controls

    def _probed(self, poses: Sequence[_Distances]) -> list[dict[Any, Any]]:
        """What the rig shows in each of these poses of the controls."""

        def evaluate(_: int) -> Generator[float, None, dict[Any, Any]]:
            yield 1.0
            return self._pose()

        return [seen for _, _, seen in drain(coupling.probing(poses, 1, self._place, evaluate))]

    def _place(self, poses: Sequence[_Distances]) -> None:
        for bone in self.bones:
            bone.location = (0.0, 0.0, 0.0)
        for (name, axis), distance in poses[0].items():
            self.armature.pose.bones[name].location[axis] = distance

    def turns(self, bone: str) -> Iterator[_Move]:
        """The moves of a control that turn an eye."""
        for move in self._moves(bone, self._turn, lambda seen: float(np.linalg.norm(seen)), _FAR):
            most = max(float(np.linalg.norm(angles)) for angles in move.angles.values())
            kept = {s: a for s, a in move.angles.items() if np.linalg.norm(a) > max(_SHARED * most, _TURNS)}
            yield _Move(move.bone, move.axis, move.distance, kept)

    def closings(self, bone: str) -> Iterator[_Move]:
        """The moves of a control that close an eye."""
        for move in self._moves(bone, self._closing, float, _CLOSED):
            most = max(move.angles.values())
            kept = {side: angle for side, angle in move.angles.items() if angle > max(_SHARED * most, _TURNS)}
            yield _Move(move.bone, move.axis, move.distance, kept)

    def _moves(
        self, name: str, see: Callable[[dict[Any, Any]], dict[Any, Any]], size: Callable[[Any], float], far: float
    ) -> Iterator[_Move]:
        bone = self.armature.pose.bones[name]
        for axis, sign in product(range(3), (1.0, -1.0)):
            if bone.lock_location[axis]:
                continue

            def at(distance: float, axis: int = axis, sign: float = sign) -> tuple[float, dict[Any, Any]]:
                (pose,) = self._probed([{(name, axis): sign * distance}])
                seen = see(pose)
                return max(map(size, seen.values())), seen

            reached = self._reach(at, bone.bone.length, _limit(bone, axis, sign), far)
            if reached is not None:
                yield _Move(name, axis, sign * reached[0], reached[1])

    def _reach(
        self, at: Callable[[float], tuple[float, Any]], length: float, limit: float | None, far: float
    ) -> tuple[float, Any] | None:
        """The distance at which a control has its full effect, and what is seen there; None where it has none."""
        if limit is not None and limit < _TINY:
            return None
        distance, before = length * _SHORTEST if limit is None else limit * _SHORTEST, (0.0, 0.0)
        for _ in range(_DOUBLINGS):
            if limit is not None:
                distance = min(distance, limit)
            angle, _seen = at(distance)
            if angle > far and limit is None:
                distance *= far / angle
                return distance, at(distance)[1]
            if distance == limit or (before[1] > _TURNS and angle < before[1] * _SATURATED):
                break
            before = distance, angle
            distance *= 2.0
        if max(angle, before[1]) < _TURNS:
            return None
        # Where it grows no more is its end.
        low, high, most = 0.0, distance, angle
        for _ in range(_HALVINGS + 2):
            middle = 0.5 * (low + high)
            if at(middle)[0] >= _SAME * most:
                high = middle
            else:
                low = middle
        return high, at(high)[1]

    # The table against the rig

    def best_order(self, rows: Sequence[ShapeRow]) -> tuple[str, float]:
        """The order in which the table is nearest to the rig, and its largest error [rad]."""
        errors = dict.fromkeys((*turn_order.ORDERS, STRAIGHT), 0.0)
        own = {side: {row.direction: row for row in rows if row.eye in ("BOTH", eye)} for side, eye in _SIDES}
        grid = [np.maximum((x, -x, y, -y), 0.0) for x, y in product(_GRID, _GRID)]
        poses = [_distances(own.values(), values) for values in grid]
        for values, pose in zip(grid, self._probed(poses), strict=True):
            seen = self._gaze(pose)
            for side, order in product(own, errors):
                wanted = shape_eyes.of_rows([own[side][where] for where in shape_gaze.DIRECTIONS], self.axes, order)
                off = float(rotation.angle_between(wanted.direction(values, self.axes), seen[side]))
                errors[order] = max(errors[order], off)
        return min(errors.items(), key=lambda pair: pair[1])


_SIDES = tuple(shape_eyes.SIDES.items())


def _distances(eyes: Iterable[Mapping[str, ShapeRow]], values: Array) -> _Distances:
    """How far the controls go that turn the eyes by values (4,) of the directions. eyes: rows by direction."""
    found = {}
    for own in eyes:
        for where, value in zip(shape_gaze.DIRECTIONS, values.tolist(), strict=True):
            if value:
                row = own[where]
                found[row.control, shape_table.AXES.index(row.axis)] = value * row.distance
    return found


def _limit(bone: bpy.types.PoseBone, axis: int, sign: float) -> float | None:
    """How far constraints let a control go along an axis of its own; None where they do not limit it."""
    name, least = "xyz"[axis], None
    for constraint in bone.constraints:
        if constraint.type != "LIMIT_LOCATION" or constraint.mute or constraint.owner_space != "LOCAL":
            continue
        end = "max" if sign > 0.0 else "min"
        if constraint.influence > 0.0 and getattr(constraint, f"use_{end}_{name}"):
            far = max(sign * getattr(constraint, f"{end}_{name}"), 0.0)
            least = far if least is None else min(least, far)
    return least
