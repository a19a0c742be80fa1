"""Offsets on the rig: native Transformation constraints that add a look-at's turn to each bone of its chain.

Such a constraint adds exactly `basis * offset` and leaves the animator's channels alone. They are the look-at's own:
made, written and removed here, first in the bone's stack, and told from the animator's constraints by their names.
A file that is opened without the extension keeps the offsets last written.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import bpy
import numpy as np

from ..lookat_pd import rotation
from ..lookat_pd.errors import RigError
from ..lookat_pd.rotation import Array

_PREFIX = "Look-at PD "
_NAME = re.compile(r"Look-at PD (\d+)\.(\d+)(?:\.\d{3})?")
_SETTINGS = {
    "owner_space": "LOCAL",
    "target_space": "LOCAL",
    "map_from": "LOCATION",
    "map_to": "ROTATION",
    "mix_mode_rot": "AFTER",
    "to_euler_order": "XYZ",
    "use_motion_extrapolate": False,
    "mute": False,
    **{f"from_{end}_{axis}": 0.0 for end in ("min", "max") for axis in "xyz"},
}
"""What makes such a constraint add a rotation and nothing else."""
_ANGLES = ("to_min_x_rot", "to_min_y_rot", "to_min_z_rot")
Angles = tuple[float, float, float]
Written = tuple[str, str, float, tuple[float, ...]]
"""Names of a bone and of a look-at's constraint on it, the constraint's influence and angles."""


def name(number: int, place: int) -> str:
    """Name of the constraint that look-at `number` of a rig has on the bone at that place of its chain."""
    return f"{_PREFIX}{number}.{place}"


def is_own(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint is a look-at's, not the animator's."""
    return constraint.type == "TRANSFORM" and _NAME.fullmatch(constraint.name) is not None


def on(armature: bpy.types.Object) -> Iterator[tuple[bpy.types.PoseBone, bpy.types.Constraint]]:
    """All constraints of look-ats on an armature, with their bones."""
    for bone in armature.pose.bones if armature.pose else ():
        for constraint in bone.constraints:
            if is_own(constraint):
                yield bone, constraint


def places(armature: bpy.types.Object) -> dict[int, dict[int, list[str]]]:
    """For each look-at's number the bones that have the constraint of each place: they stay so when renamed."""
    found: dict[int, dict[int, list[str]]] = {}
    for bone, constraint in on(armature):
        number, place = _told(constraint)
        found.setdefault(number, {}).setdefault(place, []).append(bone.name)
    return found


def is_installed(armature: bpy.types.Object, number: int, bones: Sequence[str]) -> bool:
    """Whether a look-at has its constraints on these bones, as `install` makes them, and on no others."""
    wanted = {(bone, name(number, place)) for place, bone in enumerate(bones)}
    found = [(bone, constraint) for bone, constraint in on(armature) if number_of(constraint) == number]
    if {(bone.name, constraint.name) for bone, constraint in found} != wanted or len(found) != len(bones):
        return False
    return all(_is_whole(armature, bone, constraint) for bone, constraint in found)


def install(
    armature: bpy.types.Object, number: int, bones: Sequence[str], target: bpy.types.Object | None = None
) -> None:
    """Give the bones of a chain the constraints of look-at `number`, with no offset yet, and take away stray ones.

    target: what is looked at, for a bone that has no parent to hold its constraint by. Raises RigError.
    """
    if is_installed(armature, number, bones):
        return
    holders = [_holder(armature, armature.pose.bones[bone], target) for bone in bones]
    remove(armature, number)
    for place, (bone, (item, subtarget)) in enumerate(zip(bones, holders, strict=True)):
        stack = armature.pose.bones[bone].constraints
        active = stack.active
        constraint = stack.new("TRANSFORM")
        constraint.name = name(number, place)
        constraint.show_expanded = False
        constraint.target, constraint.subtarget = item, subtarget
        for setting, value in _SETTINGS.items():
            setattr(constraint, setting, value)
        constraint.influence = 0.0
        # What a bake would key lies below all constraints.
        stack.move(len(stack) - 1, sum(1 for other in stack if is_own(other)) - 1)
        if active is not None:
            stack.active = active


def arrange(armature: bpy.types.Object, order: Sequence[int]) -> None:
    """Let look-ats that share bones turn them in this order of their numbers."""
    for bone in armature.pose.bones:
        stack = bone.constraints
        numbers = [number_of(constraint) for constraint in stack if is_own(constraint)]
        for place, number in enumerate(sorted(numbers, key=lambda n: order.index(n) if n in order else -1)):
            now = next(n for n in range(place, len(stack)) if number_of(stack[n]) == number)
            if now != place:
                stack.move(now, place)


def fixed(armature: bpy.types.Object) -> list[tuple[object, ...]]:
    """What nobody but this module should change about the constraints of look-ats, to tell whether somebody has."""
    return [
        (
            bone.name,
            constraint.name,
            constraint.target.name_full if constraint.target else "",
            constraint.subtarget,
            *(getattr(constraint, setting) for setting in _SETTINGS),
        )
        for bone, constraint in on(armature)
    ]


def remove(armature: bpy.types.Object, number: int | None = None) -> None:
    """Take the constraints of one look-at, or of all, off an armature."""
    for bone, constraint in list(on(armature)):
        if number is None or number_of(constraint) == number:
            active = bone.constraints.active
            others = active is not None and active != constraint
            bone.constraints.remove(constraint)
            if others:
                bone.constraints.active = active


def put(armature: bpy.types.Object, number: int, bones: Sequence[str], angles: Sequence[Angles | None] | None) -> None:
    """Let the constraints of a look-at add these offsets; None adds nothing at all.

    What is there already is not written again, since a write makes Blender evaluate the rig.
    """
    pose = armature.pose.bones
    for place, bone in enumerate(bones):
        constraint = pose[bone].constraints.get(name(number, place)) if bone in pose else None
        if constraint is None:
            continue
        wanted = None if angles is None else angles[place]
        if wanted is None:
            if constraint.influence != 0.0:
                constraint.influence = 0.0
            continue
        x, y, z = wanted
        if constraint.to_min_x_rot != x:
            constraint.to_min_x_rot = x
        if constraint.to_min_y_rot != y:
            constraint.to_min_y_rot = y
        if constraint.to_min_z_rot != z:
            constraint.to_min_z_rot = z
        if constraint.influence != 1.0:
            constraint.influence = 1.0


def shown(armature: bpy.types.Object, bone: str) -> dict[str, Array]:
    """What the look-at on `bone` adds now: name of a bone of its chain to local offset (4,). Empty where it is idle."""
    number = armature.pose.bones[bone].lookat_pd.number
    return {
        owner.name: offset_of(constraint)
        for owner, constraint in on(armature)
        if number and number_of(constraint) == number and not constraint.mute and constraint.influence > 0.0
    }


def offset_of(constraint: bpy.types.Constraint) -> Array:
    """The local offset (4,) that a look-at's constraint holds."""
    return rotation.from_euler(np.array([getattr(constraint, angle) for angle in _ANGLES]), "XYZ")


def written(armature: bpy.types.Object, number: int | None = None) -> list[Written]:
    """What the constraints of one look-at, or of all, hold, for `write_back`."""
    return [
        (bone.name, constraint.name, constraint.influence, tuple(getattr(constraint, angle) for angle in _ANGLES))
        for bone, constraint in on(armature)
        if number is None or number_of(constraint) == number
    ]


def write_back(armature: bpy.types.Object, rows: Iterable[Written]) -> None:
    """Let constraints of look-ats hold what they held; those that are gone stay gone."""
    for bone_name, constraint_name, influence, values in rows:
        bone = armature.pose.bones.get(bone_name)
        constraint = bone.constraints.get(constraint_name) if bone is not None else None
        if constraint is None:
            continue
        for angle, value in zip(_ANGLES, values, strict=True):
            if getattr(constraint, angle) != value:
                setattr(constraint, angle, value)
        if constraint.influence != influence:
            constraint.influence = influence


@contextmanager
def quiet(armatures: Iterable[bpy.types.Object]) -> Iterator[None]:
    """Let no look-at of these armatures add anything, and at the end all add what they added before."""
    before = [(armature, written(armature)) for armature in armatures]
    for armature, _ in before:
        for _, constraint in on(armature):
            if constraint.influence != 0.0:
                constraint.influence = 0.0
    try:
        yield
    finally:
        for armature, rows in before:
            write_back(armature, rows)


def angles(offsets: Array) -> list[list[Angles | None]]:
    """Offsets (F, b, 4) as `put` takes them, a list a frame: None where an offset is exactly nothing."""
    still = np.all(offsets == rotation.IDENTITY, axis=-1).tolist()
    # As Blender will store them, so that what is there can be compared.
    rows = rotation.to_euler(offsets, "XYZ").astype(np.float32).tolist()
    return [
        [None if none else (x, y, z) for (x, y, z), none in zip(row, nothing, strict=True)]
        for row, nothing in zip(rows, still, strict=True)
    ]


class Track:
    """The offsets of a look-at at whole frames, to be put on its rig at any time.

    offsets: (F, b, 4) from frame `first` on. Before and after them the nearest one holds; between two frames the
    offset turns from one to the other evenly.
    """

    def __init__(self, number: int, bones: Sequence[str], first: int, offsets: Array) -> None:
        self.number, self.bones, self.first, self.offsets = number, tuple(bones), first, offsets
        self._rows: list[list[Angles | None]] | None = None
        self._frame: float | None = None

    def row(self, frame: float) -> list[Angles | None]:
        """What to `put` at a frame."""
        at = min(max(frame - self.first, 0.0), len(self.offsets) - 1.0)
        k = int(at)
        if at != k:
            a, b = self.offsets[k], self.offsets[k + 1]
            turn = rotation.log(rotation.multiply(rotation.inverse(a), b))
            return angles(rotation.multiply(a, rotation.exp((at - k) * turn))[None])[0]
        if self._rows is None and self._frame in (None, frame):
            # While a slider is moved no other frame of it is ever shown.
            self._frame = frame
            return angles(self.offsets[k : k + 1])[0]
        if self._rows is None:
            self._rows = angles(self.offsets)
        return self._rows[k]

    def put(self, armature: bpy.types.Object, frame: float) -> None:
        put(armature, self.number, self.bones, self.row(frame))


def number_of(constraint: bpy.types.Constraint) -> int:
    """Which look-at's constraint it is; 0 for one of the animator's."""
    return _told(constraint)[0] if is_own(constraint) else 0


def _told(constraint: bpy.types.Constraint) -> tuple[int, int]:
    """Number and place that a constraint's name tells."""
    match = _NAME.fullmatch(constraint.name)
    assert match is not None, "it is one of a look-at's"
    return int(match[1]), int(match[2])


def _is_whole(armature: bpy.types.Object, bone: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> bool:
    """Whether nobody has muted or bent the constraint, and what holds it is still there."""
    if constraint.target is None or any(getattr(constraint, name) != value for name, value in _SETTINGS.items()):
        return False
    if bone.parent is not None:
        held = constraint.target == armature and constraint.subtarget == bone.parent.name
    else:
        held = constraint.target != armature or constraint.subtarget in armature.pose.bones
    stack = list(bone.constraints)
    return held and all(is_own(other) for other in stack[: stack.index(constraint)])


def _holder(
    armature: bpy.types.Object, bone: bpy.types.PoseBone, target: bpy.types.Object | None
) -> tuple[bpy.types.Object, str]:
    """What a constraint of this bone may name as its target: it must name one, and the rig must not wait for it."""
    if bone.parent is not None:
        return armature, bone.parent.name
    for other in armature.pose.bones:
        if other.parent is None and other != bone:
            return armature, other.name
    if target is not None and target != armature and not _hangs_on(target, armature):
        return target, ""
    for item in bpy.data.objects:
        if item != armature and item.library is None and not _hangs_on(item, armature):
            return item, ""
    raise RigError(
        f"Bone '{bone.name}' has no parent and nothing else stands still to hold its offset by; give it a root bone as "
        "its parent, or take it out of the chain."
    )


def _hangs_on(item: bpy.types.Object | None, armature: bpy.types.Object) -> bool:
    while item is not None:
        if item == armature or any(getattr(c, "target", None) is not None for c in item.constraints):
            return True
        item = item.parent
    return False
