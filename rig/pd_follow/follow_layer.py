"""The layer of PD Follow: two Action constraints, last in the stack, that read an action of their own."""

from collections.abc import Hashable, Iterator

import bpy

from ..animation.channels import LOCATION
from ..layers.layer import ROTATION, Item, Layer, Place
from .owners import Owner

_NAMES = ("PD Follow Location", "PD Follow Rotation")
_WAY = ("WORLD", "AFTER_SPLIT")
"""Adds the location in the world, and turns locally."""


class FollowLayer(Layer):
    """What is added to an object or a bone, after its own constraints."""

    order, action_name, mark = -1, ".PD Follow Offsets", "lookat_pd_follow"
    ways = {LOCATION: (_WAY,), ROTATION: (_WAY,)}
    tolerance = 1e-6
    """Two that depend on each other never agree on more."""

    def __init__(self, owner: Owner) -> None:
        super().__init__(owner.object)
        self.bone = owner.bone

    @property
    def key(self) -> Hashable:
        return self.owner, type(self), self.bone

    def name(self, slot: int) -> str:
        return _NAMES[slot]

    @classmethod
    def owns(cls, constraint: bpy.types.Constraint) -> bool:
        if constraint.type != "ACTION" or constraint.name not in _NAMES:
            return False
        return constraint.action is None or cls.mark in constraint.action

    def constraints(self) -> Iterator[tuple[Item, bpy.types.Constraint]]:
        item = self._item(self.bone)
        yield from ((item, constraint) for constraint in item.constraints if self.owns(constraint))

    def _sharing(self) -> Iterator[tuple[Item, bpy.types.Constraint]]:
        return self.constraints()

    @property
    def places(self) -> list[Place]:
        """Where it has rows."""
        return [(self.bone, LOCATION), (self.bone, ROTATION)]

    def others(self) -> list[bpy.types.Constraint]:
        """The constraints that are the animator's own and act."""
        stack = self._item(self.bone).constraints
        return [c for c in stack if c.name not in _NAMES and not c.mute and c.influence > 0.0]
