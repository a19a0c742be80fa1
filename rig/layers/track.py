"""What a layer adds to the bones of an armature over time, as a solver found it."""

from collections.abc import Mapping, Sequence

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ..animation import channels
from ..animation.channels import LOCATION
from ..animation.unkeyed_pose import Channels
from ..sampling.sampler import Samples
from .layer import ROTATION, Layer, Place, Row


class Track:
    """What a layer adds at whole frames.

    offsets: (F, b, 4) local rotations of the bones `turned` from frame `first` on; moves: (F, m, 3) displacements of
    the bones `moved` in their own frames; shapes: (F, s) how much the shape keys of a look-at change, in their order.
    uneven: some bone is scaled unevenly. Before and after them the nearest one holds; between two frames numbers are
    linear.
    """

    def __init__(
        self,
        number: int,
        turned: Sequence[str],
        first: int,
        offsets: Array,
        moved: Sequence[str] = (),
        moves: Array | None = None,
        shapes: Array | None = None,
        *,
        uneven: bool = False,
    ) -> None:
        self.number, self.first = number, first
        self.turned, self.moved = tuple(turned), tuple(moved)
        self.offsets = offsets
        self.moves = np.zeros((len(offsets), len(moved), 3)) if moves is None else moves
        self.shapes = np.zeros((len(offsets), 0)) if shapes is None else shapes
        self.uneven = uneven

    @classmethod
    def pose(
        cls,
        number: int,
        turned: Sequence[str],
        offsets: Array,
        moved: Sequence[str] = (),
        moves: Array | None = None,
        *,
        uneven: bool = False,
    ) -> "Track":
        """The same at all times. offsets: (b, 4) of the first b bones, the others do not turn. moves: (m, 3), None
        for no motion."""
        every = rotation.identity(1, len(turned))
        every[0, : len(offsets)] = offsets
        return cls(number, turned, 0, every, moved, None if moves is None else moves[None], uneven=uneven)

    def held(self, first: int, frames: int) -> "Track":
        """A pose at so many frames from `first` on."""
        offsets, moves, shapes = (np.repeat(part, frames, axis=0) for part in (self.offsets, self.moves, self.shapes))
        return Track(self.number, self.turned, first, offsets, self.moved, moves, shapes, uneven=self.uneven)

    def at(self, frames: slice) -> "Track":
        """The same at some of its frames, by their numbers from its first one on."""
        parts = self.offsets[frames], self.moved, self.moves[frames], self.shapes[frames]
        return Track(self.number, self.turned, self.first + frames.start, *parts, uneven=self.uneven)

    def turning(self, offsets: Array) -> "Track":
        """The same with other rotations (F, b, 4)."""
        others = self.moved, self.moves, self.shapes
        return Track(self.number, self.turned, self.first, offsets, *others, uneven=self.uneven)

    def same_as(self, other: "Track | None") -> bool:
        """Whether two tracks add the same to the same bones."""
        if other is None or (self.number, self.first) != (other.number, other.first):
            return False
        if (self.turned, self.moved, self.uneven) != (other.turned, other.moved, other.uneven):
            return False
        values = ((track.offsets, track.moves, track.shapes) for track in (self, other))
        return all(np.array_equal(one, same) for one, same in zip(*values, strict=True))

    def offsets_at(self, frame: int) -> Array:
        """(b, 4) local rotations at a whole frame."""
        return self.offsets[int(np.clip(frame - self.first, 0, len(self.offsets) - 1))]

    def shapes_at(self, frame: float) -> Array:
        """(s,) how much the shape keys change at a frame."""
        place = float(np.clip(frame - self.first, 0, len(self.shapes) - 1))
        low = int(place)
        high = min(low + 1, len(self.shapes) - 1)
        return (1.0 - (place - low)) * self.shapes[low] + (place - low) * self.shapes[high]

    def rows(self) -> list[Row]:
        """What is added to each bone, in the order of `places`."""
        mixing = Layer.ways[ROTATION][1 if self.uneven else 0]
        rows = [Row(bone, ROTATION, self.offsets[:, n], mixing) for n, bone in enumerate(self.turned)]
        return rows + [Row(bone, LOCATION, self.moves[:, n]) for n, bone in enumerate(self.moved)]

    def channels(
        self, s: Samples, frames: Array, baked: Mapping[Channels, Array], weights: Array
    ) -> dict[Channels, tuple[Array, Array]]:
        """What to key at some of its frames (n,): a bone and the kind of its channels to their values (n, 3 or 4), and
        to their values before.

        s: has the channels of its bones at all frames. baked: channels to which other layers have added. weights: (n,)
        how much of it.
        """
        first = int(frames[0] - self.first)
        chosen = slice(first, first + len(frames))
        rows = {bone: n for n, bone in enumerate(s.bones)}
        result = {}
        for n, bone in enumerate(self.turned):
            mode = s.modes[rows[bone]]
            before = baked.get((bone, mode))
            if before is None:
                before = s.raw[mode if mode in s.raw else "EULER"][chosen, rows[bone]]
            result[bone, mode] = channels.turned(before, mode, part(self.offsets[chosen, n], weights)), before
        for n, bone in enumerate(self.moved):
            before = baked.get((bone, LOCATION))
            if before is None:
                before = s.raw[LOCATION][chosen, rows[bone]]
            result[bone, LOCATION] = before + weights[:, None] * self.moves[chosen, n], before
        return result


def part(offsets: Array, weights: Array) -> Array:
    """Parts of rotations (n, 4), those with a weight of 1 to the last bit."""
    blended = weights < 1.0
    if not blended.any():
        return offsets
    result = offsets.copy()
    result[blended] = rotation.slerp(rotation.IDENTITY, offsets[blended], weights[blended])
    return result


def places(turned: Sequence[str], moved: Sequence[str] = ()) -> list[Place]:
    """Where a layer has rows that shows tracks of these bones."""
    return [(bone, ROTATION) for bone in turned] + [(bone, LOCATION) for bone in moved]


def read(layer: Layer, turned: Sequence[str], moved: Sequence[str] = ()) -> Track | None:
    """The track that a layer shows; None where it shows none, or not on these bones."""
    held = layer.read(places(turned, moved))
    if held is None:
        return None
    first, values = held
    frames = next(len(rows) for rows in values if rows is not None)
    offsets, moves = rotation.identity(frames, len(turned)), np.zeros((frames, len(moved), 3))
    for slot, rows in enumerate(values):
        if rows is not None and slot < len(turned):
            offsets[:, slot] = rows
        elif rows is not None:
            moves[:, slot - len(turned)] = rows
    uneven = any((c.owner_space, c.mix_mode) == Layer.ways[ROTATION][1] for _, c in layer.constraints())
    return Track(layer.number, turned, first, offsets, moved, moves, uneven=uneven)
