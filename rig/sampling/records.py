"""Room for what Blender gives of many bones or objects at once, as it gives it, and where in it those asked for are."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import bpy
import numpy as np

from ...lookat_pd.rotation import Array
from ..animation.channels import channel


@dataclass
class PoseRecord:
    """What Blender gave at the F frames of a block, as it gave it."""

    matrices: Array
    """(F, b, 4, 4) matrices of the pose."""
    scales: Array
    """(F, b, 3) scales."""
    channels: dict[str, Array]
    """Channels (F, b, 4 or 3) of each rotation mode in use."""
    _rows: Array
    _reads: list[tuple[str, Array, Array, Array]]

    @cached_property
    def _without_scales(self) -> list[tuple[str, Array, Array, Array]]:
        return [read for read in self._reads if read[0] != "scale"]

    @classmethod
    def of(cls, frames: int, bones: int, rows: Array, modes: Iterable[str]) -> "PoseRecord":
        """bones: how many the armature has. rows: which of them are recorded."""
        sizes = {"matrix": 16, "scale": 3, **{channel(mode)[0]: channel(mode)[1] for mode in modes}}
        blocks, reads = {}, []
        for name, size in sizes.items():
            # Blender gives all bones, as 32-bit numbers in one row.
            everything = np.empty(bones * size, dtype=np.float32)
            blocks[name] = np.empty((frames, len(rows), size), dtype=np.float32)
            reads.append((name, everything, everything.reshape(bones, size), blocks[name]))
        # Blender stores matrices by columns.
        matrices = blocks["matrix"].reshape(frames, len(rows), 4, 4).swapaxes(2, 3)
        channels = {mode: blocks[channel(mode)[0]] for mode in modes}
        return cls(matrices, blocks["scale"], channels, rows, reads)

    def read_pose(self, k: int, pose: "bpy.types.bpy_prop_collection", *, scales: bool) -> None:
        """Take down frame number k; without the scales where these are known."""
        for name, everything, table, block in self._reads if scales else self._without_scales:
            pose.foreach_get(name, everything)
            # Rows are known to be there; the other modes of `take` would fill a buffer of their own first.
            table.take(self._rows, 0, block[k], "clip")


@dataclass
class WorldRows:
    """Where the matrices of p objects are in what a view layer gives: all at once is faster than one by one."""

    matrices: Array
    """(m + p, 16) room for those of the m objects of the view layer, `numbers`, and of each of the p."""
    numbers: Array
    order: Array
    """(p,) rows of it that hold them."""
    hidden: list[tuple[int, bpy.types.Object]]
    """Rows of objects that are not in the view layer, to be read by themselves."""

    @classmethod
    def of(cls, names: Sequence[str], wanted: Sequence[bpy.types.Object | None]) -> "WorldRows":
        rows = {name: row for row, name in enumerate(names)}
        order, hidden = [], []
        for row, item in enumerate(wanted, len(names)):
            order.append(row if item is None else rows.get(item.name, row))
            if item is not None and item.name not in rows:
                hidden.append((row, item))
        matrices = np.zeros((len(names) + len(wanted), 16), dtype=np.float32)
        return cls(matrices, matrices[: len(names)].reshape(-1), np.array(order), hidden)
