"""Which bones other bones, armatures and objects move by constraints."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import bpy

from ..animation import data_paths
from ..sampling import fingerprint
from .read_once import read_once

_COPIES = ("COPY_TRANSFORMS", "COPY_ROTATION")
_CARRIES = (*_COPIES, "COPY_LOCATION", "CHILD_OF")


@dataclass(frozen=True)
class Constrained:
    """What the constraints of an armature say about its bones."""

    follows: Mapping[str, str]
    """Bone to the bone of the same armature that it copies its rotation from outright."""
    carriers: Mapping[str, Sequence[str]]
    """Bone to the bones of the same armature that move it."""
    outside: Mapping[str, tuple[bpy.types.Object, str]]
    """Bone to the other object that it copies its rotation from outright, and the bone of that, "" for none."""


@read_once
def read(armature: bpy.types.Object) -> Constrained:
    """What moves the bones of an armature."""
    follows: dict[str, str] = {}
    carriers: dict[str, list[str]] = {}
    outside: dict[str, tuple[bpy.types.Object, str]] = {}
    driven = _driven(armature) if armature.animation_data is not None else frozenset()
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            if constraint.mute:
                continue
            if constraint.influence > 0.0 or (bone.name, constraint.name) in driven:
                names = [name for name in _bones(constraint, armature) if name != bone.name]
                if names:
                    carriers.setdefault(bone.name, []).extend(names)
            if not _copies_outright(constraint):
                continue
            if constraint.target == armature:
                if constraint.subtarget:
                    follows[bone.name] = constraint.subtarget
                    outside.pop(bone.name, None)
            elif _is_bone_or_object(constraint) and not _switches(armature, bone.name, constraint.name):
                outside[bone.name] = (
                    constraint.target,
                    constraint.subtarget if constraint.target.type == "ARMATURE" else "",
                )
                follows.pop(bone.name, None)
    return Constrained(follows, carriers, outside)


def origin(armature: bpy.types.Object, bone: str) -> tuple[bpy.types.Object, str]:
    """The object and its bone whose rotation a bone has at the end of all copying, "" for an object without bones."""
    seen: set[tuple[int, str]] = set()
    while bone and (armature.session_uid, bone) not in seen:
        seen.add((armature.session_uid, bone))
        moved = read(armature)
        if bone in moved.outside:
            armature, bone = moved.outside[bone]
        else:
            bone = moved.follows.get(bone, bone)
    return armature, bone


def _bones(constraint: bpy.types.Constraint, armature: bpy.types.Object) -> Iterator[str]:
    """The bones of its own armature by which a constraint moves a bone."""
    targets = constraint.targets if constraint.type == "ARMATURE" else (constraint,)
    for target in targets if constraint.type in (*_CARRIES, "ARMATURE") else ():
        if target.target == armature and target.subtarget in armature.pose.bones:
            yield target.subtarget


def _copies_outright(constraint: bpy.types.Constraint) -> bool:
    if constraint.type not in _COPIES or constraint.target is None or constraint.influence < 1.0:
        return False
    return constraint.mix_mode == "REPLACE"


def _is_bone_or_object(constraint: bpy.types.Constraint) -> bool:
    return constraint.target.type != "ARMATURE" or constraint.subtarget in constraint.target.pose.bones


def _switches(armature: bpy.types.Object, bone: str, constraint: str) -> bool:
    """Whether keys or a driver set how much a constraint does: it may do nothing at other frames."""
    path = data_paths.constraint_path(bone, constraint)
    return any(fingerprint.animates(armature, f"{path}.{name}") for name in ("influence", "mute", "enabled"))


def _driven(armature: bpy.types.Object) -> frozenset[tuple[str, str]]:
    """Bones and constraints of which a driver sets something."""
    paths = (data_paths.split_constraint(curve.data_path) for curve in armature.animation_data.drivers)
    return frozenset((bone, constraint) for bone, constraint, _ in paths)
