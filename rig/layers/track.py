"""What a look-at adds to its rig over time, as the solver found it."""

from collections.abc import Sequence

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array


class Track:
    """What a look-at adds at whole frames.

    offsets: (F, b, 4) local rotations of the bones `turned` from frame `first` on; moves: (F, m, 3) displacements of
    the bones `moved` in their own frames; shapes: (F, s) how much the shape keys of the look-at change, in their order.
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

    def channels(self) -> list[tuple[str, str, Array]]:
        """A row for each place: the bone, what of it, "ROTATION" or "LOCATION", and its numbers (F, 4) or (F, 3)."""
        rows = [(bone, "ROTATION", self.offsets[:, n]) for n, bone in enumerate(self.turned)]
        return rows + [(bone, "LOCATION", self.moves[:, n]) for n, bone in enumerate(self.moved)]
