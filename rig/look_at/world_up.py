"""Which way is up for a look-at that levels the head: the world's Z, the up of the character, or an object's Z axis."""

from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..sampling.targets import Target, check_exists, rides_on

KINDS = (
    ("SCENE", "Scene Z", "The Z axis of the world"),
    ("ARMATURE", "Armature", "The up axis of the character, for characters on walls and ceilings"),
    ("OBJECT", "Object", "The Z axis of an object, for characters in a moving or turning room"),
)


@dataclass(frozen=True)
class WorldUp:
    """The direction that counts as up for a level head."""

    kind: str = "SCENE"
    """One of `KINDS`."""
    own: tuple[float, ...] = (0.0, 0.0, 1.0)
    """Up of the character (3,) in armature space."""
    item: bpy.types.Object | None = None
    """The object, None for the other kinds."""

    @property
    def points(self) -> tuple[Target, ...]:
        """What is sampled for it besides the targets: the object, and a point on its axis."""
        if self.item is None:
            return ()
        return Target(self.item, point=(0.0, 0.0, 0.0)), Target(self.item, point=(0.0, 0.0, 1.0))

    def seen(self, worlds: Array, points: Array) -> Array:
        """The up (F, 3) in armature space, of length 1.

        worlds: (F, 4, 4) of the armature. points: (n, F, 3) where `points`, which are the last ones, are in its space.
        """
        if self.kind == "ARMATURE":
            up = np.broadcast_to(self.own, (len(worlds), 3))
        elif self.item is not None:
            up = points[-1] - points[-2]
        else:
            up = np.linalg.inv(worlds[:, :3, :3])[..., 2]
        return rotation.normalize(up)


def of(armature: bpy.types.Object, bones: tuple[str, ...], settings, own: Array) -> WorldUp:
    """What the settings of a look-at say. own: up of the character (3,) in armature space. Raises RigError."""
    kind, item = settings.world_up, settings.world_up_object
    if kind != "OBJECT":
        return WorldUp(kind, tuple(own.tolist()))
    if item is None:
        raise RigError(
            "The World Up of the look-at on '{bone}' is set to Object, but no object is chosen; choose an object, "
            "or another World Up.",
            bone=bones[0],
        )
    if item != armature:
        check_exists(armature, item, "")
    if rides_on(item, "", armature, bones):
        raise RigError(
            "The World Up object '{item}' moves with the chain of the look-at; choose an object outside the chain.",
            item=item.name,
        )
    return WorldUp(kind, tuple(own.tolist()), item)
