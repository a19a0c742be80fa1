"""Chains of bones: their order from the root to the tip, what they are called when they are renamed, and where a bone
is that hangs on the result of another one.

For layers that give each of several bones a motion of its own: a bone's motion begins with what its parent has become.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TypeVar

import bpy
import numpy as np

from ...lookat_pd.rotation import Array
from ..animation import data_paths
from ..sampling import plain_chain
from ..sampling.posed_bones import TYPES, posed_bones

Item = TypeVar("Item")
_AT_TAIL = 0.01
"""Part of the parent's length within which a bone begins at its tail."""


class SeenBones:
    """The names of the bones of armatures when last seen: what is renamed keeps its place among them.

    Blender does not know that settings name bones. Each feature has one of its own, so that all hear of a new name.
    """

    def __init__(self) -> None:
        self._names: dict[int, list[str]] = {}
        """By the session identifier of the armature object."""
        self._later: dict[tuple[int, str], str] = {}
        """What bones were called after such a name. An undo may bring settings back that have that."""

    def have_changed(self, armature: bpy.types.Object) -> bool:
        """Whether bones are called otherwise than when they were last seen."""
        names = armature.data.bones.keys()
        return self._names.get(armature.session_uid, names) != names

    def new_name(self, item: bpy.types.Object | None, bone: str) -> str:
        """What a bone that was renamed is called now; "" for all others."""
        if not bone or item is None or item.type != "ARMATURE":
            return ""
        self._compare(item)
        now, name, tried = item.data.bones.keys(), bone, set()
        while name not in now and name not in tried:
            tried.add(name)
            name = self._later.get((item.session_uid, name), name)
        return name if name in now and name != bone else ""

    def see(self, items: Iterable[bpy.types.Object | None]) -> None:
        """Remember how the bones of armatures are called."""
        for item in items:
            if item is not None and item.type == "ARMATURE":
                self._compare(item)
                self._names[item.session_uid] = item.data.bones.keys()

    def _compare(self, item: bpy.types.Object) -> None:
        """Remember what was renamed since the bones were last seen."""
        before, now = self._names.get(item.session_uid, []), item.data.bones.keys()
        pairs = zip(before, now, strict=True) if len(before) == len(now) else ()
        # Where bones came and went, others are at their places.
        gone, come = set(before) - set(now), set(now) - set(before)
        self._later |= {(item.session_uid, old): new for old, new in pairs if old in gone and new in come}


def lines(heads: Iterable[Item], below: Callable[[Item], Sequence[Item]]) -> Iterator[list[Item]]:
    """Lines from heads down, each to where nothing more is below: the first of those below goes on, and each of the
    others is the head of a line that comes later."""
    left = list(heads)
    while left:
        line = [left.pop(0)]
        while following := below(line[-1]):
            left += following[1:]
            line.append(following[0])
        yield line


def root_to_tip(armature: bpy.types.Object, names: Iterable[str]) -> list[str]:
    """Names of bones, each after those that it hangs on, one chain after the other, in whatever order given."""
    order = {name: n for n, name in enumerate(armature.data.bones.keys())}
    return sorted(dict.fromkeys(names), key=order.__getitem__)


def parent_among(armature: bpy.types.Object, bone: str, names: Collection[str]) -> str:
    """The nearest of these bones that a bone hangs on, "" for none."""
    above = (parent.name for parent in armature.pose.bones[bone].parent_recursive)
    return next((name for name in above if name in names), "")


def is_joint(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone is jointed to its parent, so that moving it would tear it off.

    That is so if it is connected, begins at the tail of its parent or is the base of a chain that does, cannot be moved
    by hand, or deforms the same body as its parent: many files of game engines and BVH have tails anywhere.
    """
    if bone.parent is None:
        return False
    deforms = bone.bone.use_deform and bone.parent.bone.use_deform
    tight = _is_at_tail(bone) or any(map(_is_at_tail, bone.children))
    return tight or deforms or all(bone.lock_location)


def _is_at_tail(bone: bpy.types.PoseBone) -> bool:
    rest, parent = bone.bone, bone.parent.bone
    return rest.use_connect or (rest.head_local - parent.tail_local).length <= _AT_TAIL * parent.length


def is_carried(
    armature: bpy.types.Object,
    bone: str,
    ancestor: str,
    harmless: Callable[[bpy.types.Constraint], bool] = lambda constraint: False,
) -> bool:
    """Whether a bone moves with an ancestor as a child does, and nothing else that depends on that moves it.

    harmless: says which constraints do not count.
    """
    between = plain_chain.line(armature, bone, (ancestor,))
    bones = [armature.pose.bones[name] for name in between]
    if not all(item.bone.inherit_scale == "FULL" and item.bone.use_local_location for item in bones):
        return False
    if any(name in between for item in armature.pose.bones for c in item.constraints for name in _posed(item, c)):
        return False
    paths = tuple(f"{data_paths.bone_path(name)}." for name in between)
    animation = armature.animation_data
    if animation and any(driver.data_path.startswith(paths) for driver in animation.drivers):
        return False
    return plain_chain.is_plain(armature, between, inheriting=between, harmless=harmless)


def _posed(bone: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> list[str]:
    return posed_bones(bone, constraint) if constraint.type in TYPES else []


def carrying(base: Array, result: Array) -> Array:
    """Matrices (F, 4, 4), to be multiplied on the left, by which what hangs on a bone is carried along when the bone
    comes from matrices `base` (F, 4, 4) in the world to `result`."""
    return result @ np.linalg.pinv(base)
