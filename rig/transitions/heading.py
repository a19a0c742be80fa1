"""The heading of a clip at a frame: where the character goes or faces, not how its hips are twisted in that pose."""

from collections.abc import Iterable
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..detection import detect, rest, stance
from . import clips
from .clips import Clip
from .root_motion import Ground

_STRIDE = 1.0
"""Seconds over which the sway of a walk or run cancels out."""
_SAMPLES = 12
"""Poses a stride."""
_TRAVELS = 0.25
"""Smallest speed [sizes/s] of a character that goes somewhere."""
_TURNING = np.radians(15.0)
"""Smallest change a second, from one stride to the next, that is a turn of the character."""
_SIDEWAYS = np.radians(45.0)
"""Largest angle between going and facing of a character that goes forwards."""
_STANCE = np.radians(30.0)
"""Largest angle from forward of a character in place that faces forward."""


@dataclass(frozen=True)
class Heading:
    """Angles [rad] about up at one frame of a clip, from the forward axis of the rest pose: the mean direction of the
    root, and that of travel, None where the character does not go forwards."""

    faced: float
    gone: float | None = None
    ahead: bool = False
    """Whether it stays in place, and its root or its head faces all but forward. Hips that are twisted below a head
    that looks ahead are a stance."""
    speed: float = 0.0
    """Speed [rad/s] of a turn."""

    def turn(self, other: "Heading") -> float:
        """The angle from another heading to this one, from what both have."""
        return self._angle(other) - other._angle(self)

    def _angle(self, other: "Heading") -> float:
        if self.ahead:
            return 0.0
        return self.faced if self.gone is None or (other.gone is None and not other.ahead) else self.gone


def of_clip(
    ground: Ground, action: bpy.types.Action, slot: bpy.types.ActionSlot, ends: tuple[int, int], frame: float, dt: float
) -> Heading:
    """The heading at one frame of an action, from up to two strides before and after it; while the character
    turns, at that frame.

    ends: first and last frame of the action. dt: seconds between two frames.
    """
    times, here = _times(ends, frame, dt)
    line = {"", *(bone.name for bone in _line(ground.armature, ground.root)), *_head_line(ground)}
    wanted = [channel for channel in ground.animated if channel.bone in line]
    clip = clips.read(ground.armature, action, slot, times, wanted)
    rows = range(len(clip.frames))
    step = _STRIDE / _SAMPLES
    forward, side = _axes(ground)
    poses = [ground.stand(clip, n) for n in rows]
    ahead = _ahead(ground, ground.root, forward)
    faced = np.array([rotation.rotate(turn, ahead) for _, turn in poses])
    angles = _angles(faced, forward, side)
    if angles is None:
        return Heading(float(np.arctan2(faced[here] @ side, faced[here] @ forward)))
    # The stride that has the frame in its middle, or the first or last one there is.
    first = min(max(here - _SAMPLES // 2, 0), max(len(rows) - _SAMPLES, 0))
    last = min(first + _SAMPLES, len(rows)) - 1
    mean = float(np.mean(angles[first : last + 1]))
    slope = _slope(angles, step)
    if abs(slope) > _TURNING:
        return Heading(mean + slope * step * (here - 0.5 * (first + last)), speed=slope)
    travel = poses[last][0] - poses[first][0]
    travel = travel - (travel @ ground.up) * ground.up
    if np.linalg.norm(travel) > _TRAVELS * ground.size * (last - first) * step > 0.0:
        gone = float(np.arctan2(travel @ side, travel @ forward))
        return Heading(mean, gone if abs(_wrapped(gone - mean)) < _SIDEWAYS else None)
    others = [] if ground.by_object else [mean, *_head(ground, clip, rows[first : last + 1])]
    return Heading(mean, ahead=any(abs(_wrapped(angle)) < _STANCE for angle in others))


def _times(ends: tuple[int, int], frame: float, dt: float) -> tuple[Array, int]:
    """Frames evenly spaced in time around a frame, as far as the action has keys, and which of them is that frame."""
    frame = min(max(frame, ends[0]), ends[1])
    times = np.arange(-2 * _SAMPLES, 2 * _SAMPLES + 1) * _STRIDE / _SAMPLES / dt + frame
    times = times[(times >= ends[0] - 1e-6) & (times <= ends[1] + 1e-6)]
    return times, int(np.argmin(np.abs(times - frame)))


def _slope(angles: Array, step: float) -> float:
    """The change a second from the first stride to the last one; 0 where there is not much more than one."""
    apart = len(angles) - _SAMPLES
    if apart < _SAMPLES // 3:
        return 0.0
    return float(np.mean(angles[-_SAMPLES:]) - np.mean(angles[:_SAMPLES])) / (apart * step)


def _line(armature: bpy.types.Object, bone: str) -> list[bpy.types.PoseBone]:
    """A bone and its ancestors."""
    return [armature.pose.bones[bone], *armature.pose.bones[bone].parent_recursive] if bone else []


def _axes(ground: Ground) -> tuple[Array, Array]:
    """Forward (3,) in the space of the ground's directions, level, and what is to its left."""
    forward = stance.of(ground.armature).axes.forward
    if ground.by_object:
        # Which direction an animated object calls forward says nothing; any one compares.
        forward = np.eye(3)[np.argmin(np.abs(ground.up))]
    forward = rotation.normalize(forward - (forward @ ground.up) * ground.up)
    return forward, np.cross(ground.up, forward)


def _ahead(ground: Ground, bone: str, forward: Array) -> Array:
    """The direction (3,) in a bone, or in the object, that is `forward` at rest."""
    if not bone:
        return stance.of(ground.armature).axes.forward if ground.by_object else forward
    matrix = np.array(ground.armature.data.bones[bone].matrix_local.to_3x3())
    return rotation.rotate(rotation.inverse(rotation.from_matrix(matrix)), forward)


def _angles(directions: Array, forward: Array, side: Array) -> Array | None:
    """Continuous angles (F,) of directions (F, 3) about up; None if one is upright, as of somebody who lies."""
    level = np.stack((directions @ forward, directions @ side), axis=-1)
    if np.linalg.norm(level, axis=-1).min() < 0.2:
        return None
    return np.unwrap(np.arctan2(level[:, 1], level[:, 0]))


def _head_line(ground: Ground) -> list[str]:
    """The head and its ancestors, if keys alone move them and the root is one of them."""
    item = ground.armature
    try:
        head = detect.find_head(rest.skeleton(item), rest.hints(item))
    except RigError:
        return []
    names = [bone.name for bone in _line(item, head)]
    return names if ground.root in names and not stance.is_constrained(item, names) else []


def _head(ground: Ground, clip: Clip, rows: Iterable[int]) -> list[float]:
    """The mean angle of the head, if it tells anything."""
    line = _head_line(ground)
    if not line:
        return []
    forward, side = _axes(ground)
    ahead = _ahead(ground, line[0], forward)
    faced = np.array([rotation.rotate(ground.orientation(clip, line[0], row), ahead) for row in rows])
    angles = _angles(faced, forward, side)
    return [] if angles is None else [float(np.mean(angles))]


def _wrapped(angle: float) -> float:
    return float(np.arctan2(np.sin(angle), np.cos(angle)))
