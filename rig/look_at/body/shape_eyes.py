"""Eyes that shape keys or control bones turn: which ones, where the eyes are in the head, and the values that look
somewhere."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import bpy
import numpy as np

from ....lookat_pd import rotation
from ....lookat_pd.errors import RigError
from ....lookat_pd.eyes import shape_gaze, turn_order
from ....lookat_pd.message import Message
from ....lookat_pd.rotation import Array
from ....lookat_pd.skeleton import Skeleton
from ...animation import actions, data_paths
from ...animation.channels import LOCATION
from ...detection import eye_shapes, face, limbs
from ...detection.face import EyeControlName
from ...detection.limbs import EyeBone
from ...sampling import targets
from ...sampling.sampler import Samples
from . import blink, shape_table
from .blink import Lid
from .shape_table import ShapeRow

NOMINAL = np.radians(30.0)
"""Angle [rad] of an eye at value 1 of a shape key whose mesh does not show it."""
SIDES = {"L": "LEFT", "R": "RIGHT"}
_AXES = {"LEFT": (0.0, 1.0), "RIGHT": (0.0, -1.0), "UP": (1.0, 0.0), "DOWN": (-1.0, 0.0)}
"""Parts of the right and the up axis of the head about which an eye turns that way."""
_NO_DISTANCE = 1e-6
_ASTRAY = np.cos(np.radians(60.0))


@dataclass(frozen=True)
class EyeControl:
    """A bone that acts as a shape key whose value is its location on an `axis`, 0 to 2, divided by a distance."""

    bone: str
    axis: int
    distance: float

    def value(self, samples: Samples) -> Array:
        """Its value (F,) as animated."""
        return samples.raw[LOCATION][:, samples.bones.index(self.bone), self.axis] / self.distance

    def location(self, amount: Array) -> Array:
        """The location (F, 3) that changes the value by an amount (F,)."""
        return amount[:, None] * (self.distance * np.eye(3)[self.axis])


@dataclass(frozen=True)
class ShapeEye:
    """An eye that shape keys or control bones turn."""

    side: str
    """"L" or "R"."""
    center: tuple[float, float, float]
    """(3,) in the frame of the aiming bone."""
    lids: tuple[tuple[Lid, ...], ...]
    """Shape keys of each of `shape_gaze.DIRECTIONS`."""
    turns: tuple[tuple[float, float, float], ...]
    """For each of `shape_gaze.DIRECTIONS` the rotation vector (3,) [rad] at value 1."""
    controls: tuple[tuple[EyeControl, ...], ...] = ((),) * 4
    """Control bones of each of `shape_gaze.DIRECTIONS`."""
    order: str = ""
    """One of `turn_order.ORDERS` where control bones turn it by angles, "" where the pupil moves on straight lines."""

    def direction(self, values: Array, axes: tuple[Array, Array]) -> Array:
        """Unit gaze directions (..., 3) of values (..., 4). axes: forward and up (3,) of the head."""
        if self.order:
            return turn_order.direction(values, self.order, axes, self._angles)
        return shape_gaze.direction(values, axes[0], self._shifts(axes[0]))

    def values(self, directions: Array, axes: tuple[Array, Array]) -> Array:
        """Values (..., 4) that look in directions (..., 3), as far as they reach."""
        if self.order:
            return turn_order.values(directions, self.order, axes, self._angles)
        return shape_gaze.weights(directions, axes[0], self._shifts(axes[0]))

    @property
    def _angles(self) -> Array:
        return np.linalg.norm(self.turns, axis=-1)

    def _shifts(self, forward: Array) -> Array:
        turns = zip(self.turns, self._angles, strict=True)
        return np.stack([shape_gaze.shift(forward, turn, float(angle)) for turn, angle in turns])

    @property
    def largest_turns(self) -> tuple[float, float, float]:
        """How far [rad] the eye turns to the lesser of both sides, up and down."""
        angles = self._angles.tolist()
        return min(angles[:2]), angles[2], angles[3]


@dataclass
class _Found:
    """A shape key that turns an eye: the keys of all meshes that have it, with their meshes; and control bones."""

    lids: list[Lid] = field(default_factory=list)
    controls: list[EyeControl] = field(default_factory=list)
    items: list[bpy.types.Object] = field(default_factory=list)
    angle: float = 0.0


def find(
    armature: bpy.types.Object, skeleton: Skeleton, head: str, aim: tuple[Array, Array], settings: Any
) -> tuple[tuple[ShapeEye, ...], list[str]]:
    """The eyes that shape keys turn, left before right, and what is to be noted. Raises RigError.

    aim: forward and up (3,) in the frame of the bone `head`.
    """
    table = [row for row in shape_table.rows(settings) if row.direction != shape_table.CLOSE]
    shapes = _chosen(armature, table) if table else _detected(armature)
    if not shapes:
        return (), []
    eyes = [side for side in SIDES if any(role[0] == side for role in shapes)]
    missing = [(side, where) for side in eyes for where in shape_gaze.DIRECTIONS if (side, where) not in shapes]
    if missing or len(eyes) < len(SIDES):
        missing += [(side, where) for side in SIDES if side not in eyes for where in shape_gaze.DIRECTIONS]
        side, where = missing[0]
        message = Message(
            "No shape key of '{armature}' turns the {side} eye {direction}, so shape keys do not turn the eyes; add it "
            "to the table in the Eyes panel.",
            armature=armature.name,
            side=Message("left" if side == "L" else "right"),
            direction=TOLD[where],
        )
        if table:
            raise RigError(message)
        return (), [message]
    frames = {item: to_head(armature, skeleton, head, item) for row in shapes.values() for item in row.items}
    bones = eye_bones(armature, skeleton, head)
    if not bones and any(row.controls for row in shapes.values()):
        bones = _key_places(armature, skeleton, head, aim)
    return tuple(_eye(side, shapes, frames, aim, bones.get(side), settings.control_order) for side in eyes), []


def eye_bones(armature: bpy.types.Object, skeleton: Skeleton, head: str) -> dict[str, Array]:
    """The centers (3,) of eye bones at rest in the frame of the aiming bone, by side; none without a pair."""
    bones = [eye.bone for eye in limbs.find_eyes(armature)]
    if len(bones) != len(SIDES):
        return {}
    row = skeleton.index(head)
    back = rotation.inverse(skeleton.rotations[row])
    places = [rotation.rotate(back, skeleton.heads[skeleton.index(eye)] - skeleton.heads[row]) for eye in bones]
    return dict(zip(SIDES, places, strict=True))


def _key_places(
    armature: bpy.types.Object, skeleton: Skeleton, head: str, aim: tuple[Array, Array]
) -> dict[str, Array]:
    """The centers (3,) of the eyes in the frame of the aiming bone, by side, from shape keys that turn them."""
    by_side: dict[str, list[Array]] = {}
    for (side, _), row in (detected := _detected(armature)).items():
        for lid, item in zip(row.lids, row.items, strict=True):
            shared = sum(lid in other.lids for other in detected.values()) > 1
            frame = to_head(armature, skeleton, head, item)
            turn, place = _measured(lid, item, frame, _outward(aim, side), shared)
            if place is not None:
                by_side.setdefault(side, []).append(place if turn is None else np.array(turn.place))
    return {side: np.mean(places, axis=0) for side, places in by_side.items()}


TOLD = {
    "LEFT": Message("to the left"),
    "RIGHT": Message("to the right"),
    "UP": Message("up"),
    "DOWN": Message("down"),
}


def meshes(armature: bpy.types.Object) -> Iterator[tuple[bpy.types.Object, bpy.types.Key]]:
    """The meshes of a character with relative shape keys."""
    seen = set()
    for item in bpy.data.objects:
        keys = item.data.shape_keys if item.type == "MESH" else None
        if keys is not None and keys.use_relative and keys not in seen and targets.belongs_to(item, armature):
            seen.add(keys)
            yield item, keys


def names(armature: bpy.types.Object) -> set[str]:
    """The shape keys of the meshes of a character."""
    return {name for _, keys in meshes(armature) for name in keys.key_blocks.keys()[1:]}


def _detected(armature: bpy.types.Object) -> dict[tuple[str, str], _Found]:
    found: dict[tuple[str, str], _Found] = {}
    for item, keys in meshes(armature):
        for (side, where), name in eye_shapes.looking(keys.key_blocks.keys()[1:]).items():
            for own in (side,) if side else SIDES:
                _note(found.setdefault((own, where), _Found()), keys, name, item)
    return found


def _chosen(armature: bpy.types.Object, table: Sequence[ShapeRow]) -> dict[tuple[str, str], _Found]:
    by_role: dict[tuple[str, str], _Found] = {}
    for row in table:
        for side in SIDES if row.eye == "BOTH" else (row.eye[0],):
            place = by_role.setdefault((side, row.direction), _Found())
            place.angle = row.angle
            if row.control:
                place.controls.append(control(armature, row))
                continue
            for item, keys in holders(armature, row):
                _note(place, keys, row.shape_key, item)
    return by_role


def holders(armature: bpy.types.Object, row: ShapeRow) -> list[tuple[bpy.types.Object, bpy.types.Key]]:
    """The meshes that have the shape key of a row. Raises RigError for none."""
    if not np.isfinite(row.angle):
        raise RigError(
            "The angle of the shape key '{shape_key}' is not a number; enter one in the Eyes panel.",
            shape_key=row.shape_key,
        )
    with_key = [(item, keys) for item, keys in meshes(armature) if row.shape_key in keys.key_blocks.keys()[1:]]
    if not with_key:
        raise no_shape(armature, row.shape_key)
    return with_key


def no_shape(armature: bpy.types.Object, shape_key: str) -> RigError:
    """The error about a shape key that no mesh has."""
    return RigError(
        "No mesh of '{armature}' has a shape key '{shape_key}' that turns the eyes; choose another shape key.",
        armature=armature.name,
        shape_key=shape_key,
    )


def control(armature: bpy.types.Object, row: ShapeRow) -> EyeControl:
    """The control bone of a row. Raises RigError."""
    if row.shape_key:
        raise RigError(
            "A row of the table of eye shape keys names the shape key '{shape_key}' and the control bone '{bone}'; "
            "clear one of them.",
            shape_key=row.shape_key,
            bone=row.control,
        )
    if row.control not in armature.pose.bones:
        raise RigError(
            "Armature '{armature}' has no control bone '{bone}' for the eyes; choose another bone.",
            armature=armature.name,
            bone=row.control,
        )
    if not (np.isfinite(row.angle) and np.isfinite(row.distance)) or abs(row.distance) < _NO_DISTANCE:
        raise RigError(
            "The control bone '{bone}' of the eyes has a distance of 0, or its numbers are invalid; enter the location "
            "at which it has its full effect.",
            bone=row.control,
        )
    return EyeControl(row.control, shape_table.AXES.index(row.axis), row.distance)


def closing(armature: bpy.types.Object, settings: Any) -> tuple[tuple[Lid, ...], tuple[EyeControl, ...]]:
    """The shape keys and the control bones that close the eyes by the table. Raises RigError."""
    shapes: list[Lid] = []
    controls: list[EyeControl] = []
    for row in shape_table.rows(settings):
        if row.direction != shape_table.CLOSE:
            continue
        if row.control:
            controls.append(control(armature, row))
        else:
            shapes += [Lid(keys, row.shape_key) for _, keys in holders(armature, row)]
    return tuple(dict.fromkeys(shapes)), tuple(dict.fromkeys(controls))


def note_unseen(armature: bpy.types.Object, bones: Iterable[str], notes: list[str]) -> None:
    """Add a note for each of these control bones whose channels a driver reads, since a live look-at adds to its pose
    and leaves these alone."""
    paths = _read_by_drivers(armature)
    for bone in dict.fromkeys(bones):
        if any(path.startswith(f"{data_paths.bone_path(bone)}.location") for path in paths):
            notes.append(
                Message(
                    "A driver reads the location of the control bone '{bone}' as a single property, so the eyes move "
                    "only after a bake; give the driver a variable of the type Transform Channel.",
                    bone=bone,
                )
            )


def _read_by_drivers(armature: bpy.types.Object) -> set[str]:
    """The data paths of the armature that drivers of the character read as they are."""
    owners: list[Any] = [armature, armature.data, *(keys for _, keys in meshes(armature))]
    return {
        target.data_path
        for owner in owners
        for curve in _drivers(owner)
        for variable in curve.driver.variables
        if variable.type == "SINGLE_PROP"
        for target in variable.targets
        if target.id == armature
    }


def named_controls(armature: bpy.types.Object, eyes: Sequence[EyeBone]) -> list[EyeControlName]:
    """The control bones whose names say that they turn or close eyes, except what is known to turn these."""
    known = {name for eye in eyes for name in (eye.bone, eye.target)}
    aimed = bool(eyes) and all(eye.target for eye in eyes)
    controls = face.eye_controls(armature.data.bones.keys())
    return [control for control in controls if control.bone not in known and (control.closes or not aimed)]


def driving_controls(armature: bpy.types.Object, eyes: Sequence[EyeBone]) -> list[str]:
    """The control bones whose names say that they turn eyes, where drivers turn these eye bones or, without any, the
    shape keys."""
    paths = [f"{data_paths.bone_path(eye.bone)}.rotation" for eye in eyes]
    if eyes:
        driven = any(driver.data_path.startswith(tuple(paths)) for driver in _drivers(armature))
    else:
        named = ((keys, eye_shapes.looking(keys.key_blocks.keys()[1:]).values()) for _, keys in meshes(armature))
        driven = any(driver.data_path == Lid(k, n).path for k, names in named for n in names for driver in _drivers(k))
    return [control.bone for control in named_controls(armature, eyes) if not control.closes] if driven else []


def _drivers(item: bpy.types.ID) -> Sequence[bpy.types.FCurve]:
    return item.animation_data.drivers if item.animation_data is not None else ()


def controls(eyes: Sequence[ShapeEye]) -> tuple[EyeControl, ...]:
    """All control bones that turn these eyes."""
    return tuple(dict.fromkeys(control for eye in eyes for row in eye.controls for control in row))


def _note(found: _Found, keys: bpy.types.Key, name: str, item: bpy.types.Object) -> None:
    found.lids.append(Lid(keys, name, adds=True))
    found.items.append(item)


def to_head(armature: bpy.types.Object, skeleton: Skeleton, head: str, item: bpy.types.Object) -> tuple[Array, Array]:
    """Matrix (3, 3) and origin (3,) that bring the vertices of a mesh at rest into the frame of the aiming bone."""
    world = np.array(armature.matrix_world)
    if item.find_armature() == armature:
        row = skeleton.index(head)
        bone = np.eye(4)
        bone[:3, :3] = rotation.to_matrix(skeleton.rotations[row])
        bone[:3, 3] = skeleton.heads[row]
    else:
        # It moves with a bone as a whole.
        bone = np.array(armature.pose.bones[head].matrix)
    matrix = np.linalg.inv(world @ bone) @ np.array(item.matrix_world)
    return matrix[:3, :3], matrix[:3, 3]


def _eye(
    side: str,
    by_role: dict[tuple[str, str], _Found],
    frames: dict[bpy.types.Object, tuple[Array, Array]],
    aim: tuple[Array, Array],
    bone: Array | None,
    order: str,
) -> ShapeEye:
    turns, centers, guesses = [], [], []
    for where in shape_gaze.DIRECTIONS:
        row = by_role[side, where]
        axis, angle = _axis(aim, where), row.angle or NOMINAL
        for lid, item in zip(row.lids, row.items, strict=True):
            shared = sum(lid in by_role[other, where].lids for other in SIDES if (other, where) in by_role) > 1
            turn, place = _measured(lid, item, frames[item], _outward(aim, side), shared)
            if place is not None:
                guesses.append(place)
            if turn is None or np.dot(turn.axis, axis) < _ASTRAY:
                continue
            centers.append(turn.place)
            if not row.angle:
                axis, angle = np.array(turn.axis), turn.angle
            break
        turns.append(tuple((angle * axis).tolist()))
    if bone is not None and not centers:
        guesses = [bone]
    places = centers or guesses or [(0.0, 0.0, 0.0)]
    center = tuple(np.mean(places, axis=0).tolist())
    rows = [by_role[side, where] for where in shape_gaze.DIRECTIONS]
    return ShapeEye(
        side,
        center,
        tuple(tuple(row.lids) for row in rows),
        tuple(turns),
        tuple(tuple(row.controls) for row in rows),
        "" if any(row.lids for row in rows) else _order(order),
    )


def _axis(aim: tuple[Array, Array], where: str) -> Array:
    """The axis (3,) about which an eye turns in a direction. aim: forward and up (3,) of the head."""
    about_right, about_up = _AXES[where]
    return about_right * rotation.cross(*aim) + about_up * aim[1]


def _outward(aim: tuple[Array, Array], side: str) -> Array:
    right = rotation.cross(*aim)
    return -right if side == "L" else right


def of_rows(table: Sequence[ShapeRow], aim: tuple[Array, Array], order: str) -> ShapeEye:
    """The eye that rows of control bones, one for each of `shape_gaze.DIRECTIONS`, turn; without its place."""
    turns = [(row.angle * _axis(aim, row.direction)).tolist() for row in table]
    return ShapeEye("", (0.0, 0.0, 0.0), ((),) * 4, tuple(map(tuple, turns)), order=_order(order))


def _order(name: str) -> str:
    return name if name in turn_order.ORDERS else ""


def key_turn(
    lid: Lid,
    item: bpy.types.Object,
    frame: tuple[Array, Array],
    aim: tuple[Array, Array],
    side: str,
    where: str,
    *,
    shared: bool,
) -> tuple[Array, float]:
    """Axis (3,) and angle [rad] of an eye at value 1 of a shape key, in the frame of the head; as the name says where
    the mesh does not show it. frame: of `to_head`. shared: it turns both eyes."""
    turn, _ = _measured(lid, item, frame, _outward(aim, side), shared)
    axis = _axis(aim, where)
    if turn is None or np.dot(turn.axis, axis) < _ASTRAY:
        return axis, float(NOMINAL)
    return np.array(turn.axis), turn.angle


def _measured(
    lid: Lid, item: bpy.types.Object, frame: tuple[Array, Array], outward: Array, shared: bool
) -> tuple[eye_shapes.ShapeTurn | None, Array | None]:
    """What a shape key does to an eye, in the frame of the head. shared: it turns both, and only this side counts."""
    block, mesh = lid.block, item.data
    assert block is not None
    matrix, origin = frame
    points = _coordinates(block.relative_key.data) @ matrix.T + origin
    moved = _coordinates(block.data) @ matrix.T + origin
    edges = np.empty(2 * len(mesh.edges), dtype=np.int32)
    mesh.edges.foreach_get("vertices", edges)
    counts = (points @ outward > 0.0).tobytes() if shared else b""
    turn, place = eye_shapes.cached(points.tobytes(), moved.tobytes(), edges.tobytes(), counts)
    return turn, None if place is None else np.array(place)


def _coordinates(data: Any) -> Array:
    values = np.empty(3 * len(data), dtype=np.float32)
    data.foreach_get("co", values)
    return values.reshape(-1, 3).astype(float)


def detected_rows(armature: bpy.types.Object) -> list[ShapeRow]:
    """The table of the shape keys that are detected by their names, each to be measured."""
    rows: list[ShapeRow] = []
    for _, keys in meshes(armature):
        for (side, where), name in eye_shapes.looking(keys.key_blocks.keys()[1:]).items():
            rows.append(ShapeRow(name, SIDES.get(side, "BOTH"), where))
    return list(dict.fromkeys(rows))


def lids(eyes: Sequence[ShapeEye]) -> tuple[Lid, ...]:
    """All shape keys that turn these eyes."""
    return tuple(dict.fromkeys(lid for eye in eyes for row in eye.lids for lid in row))


def animated(eyes: Sequence[ShapeEye], samples: Samples) -> Array:
    """The values (F, k, 4) of the shape keys or control bones of k eyes as the animator has them."""
    values = np.zeros((len(samples.frames), len(eyes), 4))
    for (n, eye), where in product(enumerate(eyes), range(4)):
        if eye.lids[where]:
            values[:, n, where] = animated_values(eye.lids[where][0], samples.frames)
        else:
            values[:, n, where] = eye.controls[where][0].value(samples)
    return np.clip(values, 0.0, 1.0)


def animated_values(lid: Lid, frames: Array) -> Array:
    """The values (F,) of a shape key without the look-at, on these frames."""
    data = lid.keys.animation_data
    curve = actions.curves_at(data.action, data.action_slot, lid.path, 1)[0] if data is not None else None
    if curve is None or blink.state(lid) != "KEYED":
        return np.full(len(frames), blink.base(lid))
    return np.array([curve.evaluate(frame) for frame in frames])


def largest_turns(eyes: Sequence[ShapeEye]) -> tuple[float, float, float]:
    """How far [rad] all of the eyes turn to either side, up and down."""
    every = np.array([eye.largest_turns for eye in eyes])
    return tuple(every.min(axis=0).tolist())
