"""A skeleton at rest, and forward kinematics over (frames, bones)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike

from . import rotation
from .errors import InvalidArgument
from .message import Message
from .rotation import Array


@dataclass(frozen=True)
class Skeleton:
    """Named bones in rest pose, in the space of their armature. Raises InvalidArgument if the shapes or the order are
    wrong."""

    names: Sequence[str]
    """n unique names."""
    parents: Array
    """(n,) index of each bone's parent, -1 for a root; parents are listed before their children."""
    rotations: Array
    """(n, 4) rest orientation of each bone, +Y along the bone."""
    heads: Array
    """(n, 3) begin of each bone."""
    tails: Array
    """(n, 3) end of each bone."""

    def __post_init__(self) -> None:
        n = len(self.names)
        for field, width in (("parents", ()), ("rotations", (4,)), ("heads", (3,)), ("tails", (3,))):
            kind = int if field == "parents" else float
            value, shape = np.asarray(getattr(self, field), dtype=kind), (n, *width)
            if value.size != np.prod(shape):
                raise InvalidArgument(
                    "A skeleton of {count} bones needs {field} of shape {shape}, not {value_shape}.",
                    count=n,
                    field=Message(field),
                    shape=shape,
                    value_shape=value.shape,
                )
            object.__setattr__(self, field, value.reshape(shape))
        if len(set(self.names)) != n:
            raise InvalidArgument("The bone names of a skeleton must be unique; rename the duplicates.")
        if np.any(self.parents >= np.arange(n)):
            bone = self.names[int(np.argmax(self.parents >= np.arange(n)))]
            raise InvalidArgument("Bone {bone!r} is listed before its parent; list parents first.", bone=bone)

    def __len__(self) -> int:
        return len(self.names)

    def index(self, name: str) -> int:
        """Position of the bone called `name`; raises InvalidArgument if there is none."""
        try:
            return list(self.names).index(name)
        except ValueError:
            raise InvalidArgument("There is no bone {name!r}; choose one that exists.", name=name) from None

    def ancestors(self, bone: int) -> list[int]:
        """The bone's parent, its parent's parent and so on to the root."""
        line: list[int] = []
        while (bone := int(self.parents[bone])) >= 0:
            line.append(bone)
        return line

    @cached_property
    def content(self) -> bytes:
        """A digest of all that it has."""
        arrays = (self.parents, self.rotations, self.heads, self.tails)
        named = "\0".join(self.names).encode("utf-8", "surrogateescape")
        return blake2b(b"".join([named, *(array.tobytes() for array in arrays)]), digest_size=16).digest()

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

    @cached_property
    def size(self) -> float:
        """Diagonal of the box around all heads, never zero."""
        return extent(self.heads)

    def forward(self, basis: ArrayLike, translation: ArrayLike | None = None) -> tuple[Array, Array]:
        """Forward kinematics: basis rotations (..., n, 4), and optionally translations (..., n, 3), both in each
        bone's own rest frame, to orientations (..., n, 4) and head positions (..., n, 3) in armature space."""
        rest, offset = self.local_rest
        if translation is not None:
            offset = offset + rotation.rotate(rest, translation)
        return forward(self.parents.tolist(), offset, rotation.multiply(rest, basis))


def extent(points: Array) -> float:
    """Diagonal of the box around points (n, 3), or (3 n,); 1 if they are all in one place."""
    return float(np.linalg.norm(np.ptp(points.reshape(-1, 3), axis=0))) or 1.0


def forward(
    parents: Sequence[int],
    offsets: Array,
    rotations: Array,
    base: tuple[Array, Array] | None = None,
) -> tuple[Array, Array]:
    """Orientations (..., n, 4) and positions (..., n, 3) of joints, in the space of their base.

    parents: (n,), -1 for a root; parents are listed before their children. offsets: (..., n, 3) in the parent's frame.
    rotations: (..., n, 4) relative to the parent. base: position (..., 3) and orientation (..., 4) of the parent of the
    roots, if it is not the space itself. Leading axes broadcast.
    """
    batch = np.broadcast_shapes(offsets.shape[:-2], rotations.shape[:-2], *(values.shape[:-1] for values in base or ()))
    place, turn = (0.0, None) if base is None else (_flat(values, batch, 1) for values in base)
    turns, steps = (_flat(values, batch, 2).transpose(1, 0, 2) for values in (rotations, offsets))
    orientations = rotation.accumulate_tree(parents, turns, turn)
    above = orientations[list(parents)]
    above[[parent < 0 for parent in parents]] = rotation.IDENTITY if turn is None else turn
    positions = rotation.rotate(above, steps)
    for joint, parent in enumerate(parents):
        positions[joint] += place if parent < 0 else positions[parent]
    found = (values.transpose(1, 0, 2) for values in (orientations, positions))
    turned, moved = (values.reshape(*batch, *values.shape[1:]) for values in found)
    return turned, moved


def _flat(values: Array, batch: tuple[int, ...], tail: int) -> Array:
    """Values (..., tail) for a batch as (m, tail)."""
    whole = (*batch, *values.shape[values.ndim - tail :])
    wide = values if values.shape == whole else np.broadcast_to(values, whole)
    return wide.reshape(math.prod(batch), *whole[len(batch) :])
