"""Moving the target of a look-at by itself, whatever is selected and in whichever mode."""

import bpy
import numpy as np
from mathutils import Vector

from ...lookat_pd.errors import RigError
from ..animation import auto_keying
from ..sampling.targets import Target

_PLACING = ("COPY_LOCATION", "COPY_TRANSFORMS", "FOLLOW_PATH", "CLAMP_TO", "SHRINKWRAP", "FOLLOW_TRACK", "ARMATURE")
"""Constraints that say where their owner is, whatever its location is."""


def check(target: Target) -> None:
    """Raise RigError where a target, which has an object, cannot be moved by its location."""
    item, name = target.object, target.label
    assert item is not None
    if item.library is not None:
        raise RigError("The target '{target}' is linked from a library; create a library override first.", target=name)
    owner = _owner(target)
    if owner is None:
        raise RigError("The target '{target}' does not exist; choose another bone.", target=name)
    if target.bone and (owner.bone.use_deform or owner.bone.use_connect):
        raise RigError("The target '{target}' is a bone of a body; pose that instead.", target=name)
    if all(owner.lock_location):
        raise RigError("The location of the target '{target}' is locked; unlock it.", target=name)
    placing = [one for one in owner.constraints if one.type in _PLACING and one.enabled and one.influence == 1.0]
    if placing:
        raise RigError(
            "The constraint '{constraint}' places the target '{target}'; mute it, or move what it refers to.",
            constraint=placing[0].name,
            target=name,
        )
    path = owner.path_from_id("location") if target.bone else "location"
    animation = item.animation_data
    if animation is not None and any(driver.data_path == path for driver in animation.drivers):
        raise RigError("A driver places the target '{target}'; move what it refers to.", target=name)


def _owner(target: Target) -> "bpy.types.Object | bpy.types.PoseBone | None":
    item = target.object
    if item is None or not target.bone:
        return item
    return item.pose.bones.get(target.bone) if item.pose else None


class HeldTarget:
    """A target that is being moved: an object by its location, or a control bone by its."""

    def __init__(self, target: Target) -> None:
        self.target = target
        owner = _owner(target)
        assert owner is not None
        self._before = owner.location.copy()
        world = target.object.matrix_world @ owner.matrix if target.bone else owner.matrix_world.copy()
        self.place = world.translation.copy()
        """Where it was in the world when it was taken."""
        # From the space of its location to the world: what its own channels do comes after that.
        self._into = (world @ owner.matrix_basis.inverted_safe()).to_3x3().inverted_safe()

    @property
    def moved(self) -> bool:
        return _owner(self.target).location != self._before

    def move(self, to: Vector) -> None:
        """Put it to a place in the world; locked axes stay."""
        owner, way = _owner(self.target), self._into @ (Vector(to) - self.place)
        if not np.all(np.isfinite(way)):
            return
        for n in range(3):
            if not owner.lock_location[n]:
                owner.location[n] = self._before[n] + way[n]

    def restore(self) -> None:
        _owner(self.target).location = self._before

    def key(self, scene: bpy.types.Scene) -> None:
        """Key it where it is, if auto keying is enabled."""
        item, bone = self.target.object, self.target.bone
        auto_keying.key(scene, item, (), (bone,))
