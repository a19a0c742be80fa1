"""Evaluated poses as clips: each bone as seen from another one, in channels, so that clips of poses and of keys are
blended, looped and placed by the same code."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ....lookat_pd.rotation import Array
from ....lookat_pd.transitions import pose_tree
from ..animated import Channel
from ..clips import Clip
from .evaluated_pose import EvaluatedPoses

_PARTS = {"locations": "location", "rotations": "rotation_quaternion", "sizes": "scale"}
"""The property of a bone that stands for each part of relative poses."""


def channel(bone: str, name: str) -> Channel:
    """The channel of a bone's relative location, rotation or size."""
    if name == "rotation_quaternion":
        return Channel(f"{bone}.{name}", -1, 4, "rotation", bone, "QUATERNION")
    return Channel(f"{bone}.{name}", -1, 3, "vector", bone)


def of(poses: EvaluatedPoses, rows: Iterable[int] | None = None) -> Clip:
    """The relative poses of all bones, or of those in some rows, as channels of a clip."""
    local = poses.relative()
    raw = {
        channel(poses.bones[n], name): getattr(local, part)[:, n]
        for n in (range(len(poses.bones)) if rows is None else rows)
        for part, name in _PARTS.items()
    }
    return Clip(poses.armature, poses.frames.copy(), raw)


def matrices(poses: EvaluatedPoses, clip: Clip, rows: slice | Array = slice(None)) -> Array:
    """The matrices (F, B, 4, 4) of a clip. rows: those of the poses that have the scale and shear of its frames, and
    the values of bones that are not in the clip. What is sheared keeps its scale."""
    local = poses.relative(rows)
    for part, name in _PARTS.items():
        values: Array = getattr(local, part)
        shown: list[Array] = [clip.raw.get(channel(bone, name), values[:, n]) for n, bone in enumerate(poses.bones)]
        local = replace(local, **{part: np.stack(shown, axis=1)})
    sheared = np.any(pose_tree.is_sheared(poses.matrices), axis=0)
    sizes = np.where(sheared[:, None], poses.relative(rows).sizes, local.sizes)
    return pose_tree.composed(replace(local, sizes=sizes), poses.anchors)
