"""A skeleton at rest, and forward kinematics over (frames, bones)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from . import rotation
from .errors import InvalidArgument
from .rotation import Array


@dataclass(frozen=True)
class Skeleton:
    """Named bones in rest pose, in the space of their armature.

    names: n unique names. parents: (n,) index of each bone's parent, -1 for a root; parents stand before their
    children. rotations: (n, 4) rest orientation of each bone, +Y along the bone. heads, tails: (n, 3) its ends.
    Raises InvalidArgument where the shapes or the order do not fit.
    """

    names: Sequence[str]
    parents: Array
    rotations: Array
    heads: Array
    tails: Array

    def __post_init__(self) -> None:
        n = len(self.names)
        for field, width in (("parents", ()), ("rotations", (4,)), ("heads", (3,)), ("tails", (3,))):
            kind = int if field == "parents" else float
            value, shape = np.asarray(getattr(self, field), dtype=kind), (n, *width)
            if value.size != np.prod(shape):
                raise InvalidArgument(f"A skeleton of {n} bones needs {field} of shape {shape}, not {value.shape}.")
            object.__setattr__(self, field, value.reshape(shape))
        if len(set(self.names)) != n:
            raise InvalidArgument("A skeleton needs a name of its own for every bone.")
        if np.any(self.parents >= np.arange(n)):
            bone = self.names[int(np.argmax(self.parents >= np.arange(n)))]
            raise InvalidArgument(f"Bone {bone!r} stands before its parent; list parents first.")

    def __len__(self) -> int:
        return len(self.names)

    def index(self, name: str) -> int:
        """Position of the bone called `name`; raises InvalidArgument where there is none."""
        try:
            return list(self.names).index(name)
        except ValueError:
            raise InvalidArgument(f"There is no bone called {name!r}.") from None

    def ancestors(self, bone: int) -> list[int]:
        """The bone's parent, its parent's parent and so on to the root."""
        line: list[int] = []
        while (bone := int(self.parents[bone])) >= 0:
            line.append(bone)
        return line

    @cached_property
    def children(self) -> list[list[int]]:
        """Indices of each bone's children."""
        below: list[list[int]] = [[] for _ in self.names]
        for bone, parent in enumerate(self.parents):
            if parent >= 0:
                below[int(parent)].append(bone)
        return below

    @cached_property
    def local_rest(self) -> tuple[Array, Array]:
        """Rest rotation (n, 4) and offset (n, 3) of each bone in its parent's frame (a root's: the armature's)."""
        rooted = self.parents < 0
        parent = np.where(rooted, 0, self.parents).astype(int)
        above = np.where(rooted[:, None], rotation.IDENTITY, self.rotations[parent])
        origin = np.where(rooted[:, None], 0.0, self.heads[parent])
        back = rotation.inverse(above)
        return rotation.multiply(back, self.rotations), rotation.rotate(back, self.heads - origin)

    def forward(self, basis: ArrayLike, translation: ArrayLike | None = None) -> tuple[Array, Array]:
        """Forward kinematics: basis rotations (..., n, 4), and optionally translations (..., n, 3), both in each
        bone's own rest frame, to orientations (..., n, 4) and head positions (..., n, 3) in armature space."""
        basis = np.asarray(basis, dtype=float)
        rest, offset = self.local_rest
        orientations, positions = np.empty(basis.shape), np.empty((*basis.shape[:-1], 3))
        for bone, parent in enumerate(self.parents):
            here = offset[bone]
            if translation is not None:
                here = here + rotation.rotate(rest[bone], np.asarray(translation, dtype=float)[..., bone, :])
            local = rotation.multiply(rest[bone], basis[..., bone, :])
            if parent < 0:
                orientations[..., bone, :], positions[..., bone, :] = local, here
            else:
                above = orientations[..., parent, :]
                orientations[..., bone, :] = rotation.multiply(above, local)
                positions[..., bone, :] = positions[..., parent, :] + rotation.rotate(above, here)
        return orientations, positions
