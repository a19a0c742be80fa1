"""Offsets on the rig: native Transformation constraints that add what a look-at does to each of its bones.

Such a constraint adds exactly `basis * offset`, or a way to a bone's location, and leaves the animator's channels
alone. They are the look-at's own:
made, written and removed here, first in the bone's stack, and told from the animator's constraints by their names.
A file that is opened without the extension keeps the offsets last written.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..sampling import suspend
from ..sampling.own_data import NAME, PREFIX, is_own_constraint

_SETTINGS = {
    "owner_space": "LOCAL",
    "target_space": "LOCAL",
    "map_from": "LOCATION",
    "mix_mode": "ADD",
    "mix_mode_rot": "AFTER",
    "to_euler_order": "XYZ",
    "use_motion_extrapolate": False,
    "mute": False,
    **{f"from_{end}_{axis}": 0.0 for end in ("min", "max") for axis in "xyz"},
}
"""What makes such a constraint add a rotation, or a way, and nothing else."""
_NUMBERS = {
    "ROTATION": ("to_min_x_rot", "to_min_y_rot", "to_min_z_rot"),
    "LOCATION": ("to_min_x", "to_min_y", "to_min_z"),
}
"""Where a constraint has what it adds, by what it maps to."""
Numbers = tuple[float, float, float]
"""Euler angles [rad] of a rotation, or a way [m] in a bone's own frame."""
Written = tuple[str, str, float, tuple[float, ...]]
"""Names of a bone and of a look-at's constraint on it, the constraint's influence and angles."""


def name(number: int, slot: int) -> str:
    """Name of the constraint that look-at `number` of a rig has on the bone at that place of its chain."""
    return f"{PREFIX}{number}.{slot}"


def on(armature: bpy.types.Object) -> Iterator[tuple[bpy.types.PoseBone, bpy.types.Constraint]]:
    """All constraints of look-ats on an armature, with their bones."""
    for bone in armature.pose.bones if armature.pose else ():
        for constraint in bone.constraints:
            if is_own_constraint(constraint):
                yield bone, constraint


def places(armature: bpy.types.Object) -> dict[int, dict[int, list[str]]]:
    """For each look-at's number the bones that have the constraint of each place: they stay so when renamed."""
    found: dict[int, dict[int, list[str]]] = {}
    for bone, constraint in on(armature):
        number, slot = _number_and_slot(constraint)
        found.setdefault(number, {}).setdefault(slot, []).append(bone.name)
    return found


def is_installed(armature: bpy.types.Object, number: int, bones: Sequence[str], moved: Sequence[str] = ()) -> bool:
    """Whether a look-at has its constraints on these bones, as `install` makes them, and on no others."""
    wanted = {(bone, name(number, slot)): kind for slot, (bone, kind) in enumerate(_kinds(bones, moved))}
    found = [(bone, constraint) for bone, constraint in on(armature) if number_of(constraint) == number]
    if {(bone.name, c.name): c.map_to for bone, c in found} != wanted or len(found) != len(wanted):
        return False
    return all(_is_whole(armature, bone, constraint) for bone, constraint in found)


def _kinds(bones: Sequence[str], moved: Sequence[str]) -> list[tuple[str, str]]:
    """Each place's bone, and what its constraint maps to."""
    return [(bone, "ROTATION") for bone in bones] + [(bone, "LOCATION") for bone in moved]


def install(
    armature: bpy.types.Object,
    number: int,
    bones: Sequence[str],
    target: bpy.types.Object | None = None,
    moved: Sequence[str] = (),
) -> None:
    """Give bones the constraints of look-at `number`, which add nothing yet, and take away stray ones.

    bones: those that turn, the chain first. moved: those that are moved; their places come after. target: what is
    looked at, for a bone that has no parent to hold its constraint by. Raises RigError.
    """
    if is_installed(armature, number, bones, moved):
        return
    kinds = _kinds(bones, moved)
    holders = [_holder(armature, armature.pose.bones[bone], target) for bone, _ in kinds]
    remove(armature, number)
    for slot, ((bone, kind), (item, subtarget)) in enumerate(zip(kinds, holders, strict=True)):
        stack = armature.pose.bones[bone].constraints
        active = stack.active
        constraint = stack.new("TRANSFORM")
        constraint.name = name(number, slot)
        constraint.show_expanded = False
        constraint.target, constraint.subtarget = item, subtarget
        for setting, value in _SETTINGS.items():
            setattr(constraint, setting, value)
        constraint.map_to = kind
        constraint.influence = 0.0
        # What a bake would key lies below all constraints.
        stack.move(len(stack) - 1, sum(1 for other in stack if is_own_constraint(other)) - 1)
        if active is not None:
            stack.active = active


def arrange(armature: bpy.types.Object, order: Sequence[int]) -> None:
    """Let look-ats that share bones turn them in this order of their numbers."""
    for bone in armature.pose.bones:
        stack = bone.constraints
        numbers = [number_of(constraint) for constraint in stack if is_own_constraint(constraint)]
        for slot, number in enumerate(sorted(numbers, key=lambda n: order.index(n) if n in order else -1)):
            now = next(n for n in range(slot, len(stack)) if number_of(stack[n]) == number)
            if now != slot:
                stack.move(now, slot)


def fixed(armature: bpy.types.Object) -> list[tuple[object, ...]]:
    """What nobody but this module should change about the constraints of look-ats, to tell whether somebody has."""
    return [
        (
            bone.name,
            constraint.name,
            constraint.target.name_full if constraint.target else "",
            constraint.subtarget,
            constraint.map_to,
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


def put(armature: bpy.types.Object, number: int, bones: Sequence[str], row: Sequence[Numbers | None] | None) -> None:
    """Let the constraints of a look-at add what is in a row of numbers, one a place; None adds nothing at all.

    bones: of all places, in their order. What is there already is not written again, since a write makes Blender
    evaluate the rig.
    """
    pose = armature.pose.bones
    for slot, bone in enumerate(bones):
        owner = pose.get(bone)
        constraint = owner.constraints.get(name(number, slot)) if owner is not None else None
        if constraint is None:
            continue
        wanted = None if row is None or slot >= len(row) else row[slot]
        if wanted is None:
            if constraint.influence != 0.0:
                constraint.influence = 0.0
            continue
        # Written out: this is what a frame of playback costs.
        x, y, z = wanted
        if constraint.map_to == "ROTATION":
            if constraint.to_min_x_rot != x:
                constraint.to_min_x_rot = x
            if constraint.to_min_y_rot != y:
                constraint.to_min_y_rot = y
            if constraint.to_min_z_rot != z:
                constraint.to_min_z_rot = z
        else:
            if constraint.to_min_x != x:
                constraint.to_min_x = x
            if constraint.to_min_y != y:
                constraint.to_min_y = y
            if constraint.to_min_z != z:
                constraint.to_min_z = z
        if constraint.influence != 1.0:
            constraint.influence = 1.0


def shown(armature: bpy.types.Object, bone: str) -> dict[str, Array]:
    """How the look-at on `bone` turns bones now: name to local offset (4,). Empty where it is idle."""
    number = armature.pose.bones[bone].lookat_pd.number
    return {
        owner.name: offset_of(constraint)
        for owner, constraint in on(armature)
        if number
        and number_of(constraint) == number
        and constraint.map_to == "ROTATION"
        and not constraint.mute
        and constraint.influence > 0.0
    }


def offset_of(constraint: bpy.types.Constraint) -> Array:
    """The local offset (4,) that a look-at's constraint holds."""
    return rotation.from_euler(np.array(_numbers(constraint)), "XYZ")


def _numbers(constraint: bpy.types.Constraint) -> Numbers:
    """What a constraint of a look-at has to add."""
    x, y, z = (getattr(constraint, setting) for setting in _NUMBERS[constraint.map_to])
    return x, y, z


def written(armature: bpy.types.Object, number: int | None = None) -> list[Written]:
    """What the constraints of one look-at, or of all, hold, for `write_back`."""
    return [
        (bone.name, constraint.name, constraint.influence, _numbers(constraint))
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
        for setting, value in zip(_NUMBERS[constraint.map_to], values, strict=True):
            if getattr(constraint, setting) != value:
                setattr(constraint, setting, value)
        if constraint.influence != influence:
            constraint.influence = influence


@contextmanager
def offsets_disabled(armatures: Iterable[bpy.types.Object]) -> Iterator[None]:
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


def angles(offsets: Array) -> list[list[Numbers | None]]:
    """Offsets (F, b, 4) as `put` takes them, a list a frame: None where an offset is exactly nothing."""
    return _rows(rotation.to_euler(offsets, "XYZ"), np.all(offsets == rotation.IDENTITY, axis=-1))


def displacements(moves: Array) -> list[list[Numbers | None]]:
    """The same of ways (F, m, 3)."""
    return _rows(moves, np.all(moves == 0.0, axis=-1))


def _rows(numbers: Array, nothing: Array) -> list[list[Numbers | None]]:
    # As Blender will store them, so that what is there can be compared.
    stored = numbers.astype(np.float32).tolist()
    return [
        [None if none else (x, y, z) for (x, y, z), none in zip(row, still, strict=True)]
        for row, still in zip(stored, nothing.tolist(), strict=True)
    ]


class Track:
    """What a look-at adds at whole frames, to be put on its rig at any time.

    offsets: (F, b, 4) rotations of `turned` bones from frame `first` on; moves: (F, m, 3) ways of `moved` bones in
    their own frames; closing: (F,) how far shape keys close the lids, 0 to 1, which `put` leaves to others. Before and
    after them the nearest one holds; between two frames they go from one to the other evenly.
    """

    def __init__(
        self,
        number: int,
        turned: Sequence[str],
        first: int,
        offsets: Array,
        moved: Sequence[str] = (),
        moves: Array | None = None,
        closing: Array | None = None,
    ) -> None:
        self.number, self.first = number, first
        self.turned, self.moved = tuple(turned), tuple(moved)
        self.offsets = offsets
        self.moves = np.zeros((len(offsets), len(moved), 3)) if moves is None else moves
        self.closing = np.zeros(len(offsets)) if closing is None else closing
        self._all: list[list[Numbers | None]] | None = None
        self._frame: float | None = None

    def same_as(self, other: "Track | None") -> bool:
        """Whether two tracks put the same on the same bones."""
        if other is None or (self.number, self.first) != (other.number, other.first):
            return False
        if (self.turned, self.moved) != (other.turned, other.moved):
            return False
        values = ((track.offsets, track.moves, track.closing) for track in (self, other))
        return all(np.array_equal(one, same) for one, same in zip(*values, strict=True))

    def row(self, frame: float) -> list[Numbers | None]:
        """What to `put` at a frame."""
        at = min(max(frame - self.first, 0.0), len(self.offsets) - 1.0)
        k = int(at)
        if at != k:
            a, b = self.offsets[k], self.offsets[k + 1]
            turn = rotation.log(rotation.multiply(rotation.inverse(a), b))
            offsets = rotation.multiply(a, rotation.exp((at - k) * turn))
            moves = self.moves[k] + (at - k) * (self.moves[k + 1] - self.moves[k])
            return [*angles(offsets[None])[0], *displacements(moves[None])[0]]
        if self._all is None and self._frame in (None, frame):
            # While a slider is moved no other frame of it is ever shown.
            self._frame = frame
            return [*angles(self.offsets[k : k + 1])[0], *displacements(self.moves[k : k + 1])[0]]
        if self._all is None:
            rows = zip(angles(self.offsets), displacements(self.moves), strict=True)
            self._all = [[*turns, *moves] for turns, moves in rows]
        return self._all[k]

    def closed(self, frame: float) -> float:
        """How far the lids are closed at a frame."""
        return float(np.interp(frame - self.first, np.arange(len(self.closing)), self.closing))

    def put(self, armature: bpy.types.Object, frame: float) -> None:
        put(armature, self.number, (*self.turned, *self.moved), self.row(frame))


def number_of(constraint: bpy.types.Constraint) -> int:
    """Which look-at's constraint it is; 0 for one of the animator's."""
    return _number_and_slot(constraint)[0] if is_own_constraint(constraint) else 0


def _number_and_slot(constraint: bpy.types.Constraint) -> tuple[int, int]:
    """Number and place that a constraint's name tells."""
    match = NAME.fullmatch(constraint.name)
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
    return held and all(is_own_constraint(other) for other in stack[: stack.index(constraint)])


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
        "Bone '{bone}' has no parent that its offset can be relative to; parent it to a root "
        "bone, or remove it from the chain.",
        bone=bone.name,
    )


def _hangs_on(item: bpy.types.Object | None, armature: bpy.types.Object) -> bool:
    while item is not None:
        if item == armature or any(getattr(c, "target", None) is not None for c in item.constraints):
            return True
        item = item.parent
    return False


def _all_disabled() -> AbstractContextManager[None]:
    return offsets_disabled(item for item in bpy.data.objects if item.type == "ARMATURE")


def register() -> None:
    """Sampling leaves out what look-ats add."""
    suspend.LAYERS.append(_all_disabled)


def unregister() -> None:
    suspend.LAYERS.remove(_all_disabled)
