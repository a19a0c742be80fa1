"""Where the palm of a hand is in the rest pose, and where it faces."""

from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ...lookat_pd.skeleton import Skeleton
from . import limb_controls, rest
from . import vocabulary as words
from .bone_ends import with_ends
from .names import BoneName, read_names

_THUMB = "thumb"
_BEHIND = 0.6
"""The thumb starts nearer to the wrist than this fraction of the way to the middle one of the other fingers."""
_SAME_PLACE = 1e-2
"""Distance between the ends of bones in the same place, as a fraction of their length."""
_NOTHING = 1e-3
"""A direction whose part across another one is below this has none."""


@dataclass(frozen=True)
class Palm:
    """In the frame of the bone, in units of the armature."""

    middle: Array
    """Position (3,)."""
    normal: Array
    """(3,), where it faces."""
    along: Array
    """Along (3,), from the wrist to the fingers, square to that."""

    @property
    def frame(self) -> Array:
        """The matrix (3, 3) with `along`, `normal` and what is square to both as columns."""
        return framed(self.along, self.normal)


def framed(along: Array, normal: Array) -> Array:
    """The rotation matrix (3, 3) with the unit vector `normal` as its second column, and `along` in the plane of its
    first two. Where both are parallel, any such matrix."""
    first = along - along @ normal * normal
    if np.linalg.norm(first) < _NOTHING:
        first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    first = first / np.linalg.norm(first)
    return np.stack((first, normal, np.cross(first, normal)), axis=1)


def find(armature: bpy.types.Object, bone: str, other: str = "") -> Palm:
    """The palm of a hand; other: the hand of the other side, if there is one.

    By the thumb and the side that the name says; without these by the knuckles, and without them as people hold their
    arms: downwards where the arm is level, towards the body where it hangs.
    """
    skeleton = with_ends(rest.skeleton(armature))
    names = read_names(skeleton.names)
    own, shown = skeleton.names.index(bone), _shown(armature, skeleton, names, bone)
    below = {row: _below(skeleton, row) for row in _fingers(skeleton, names, shown)}
    wrist = skeleton.heads[shown]
    middle = 0.5 * (skeleton.heads[own] + skeleton.tails[own])
    along = skeleton.tails[own] - skeleton.heads[own]
    if below:
        along = np.concatenate([skeleton.heads[rows] for rows in below.values()]).mean(axis=0) - wrist
        middle = wrist + 0.5 * np.linalg.norm(skeleton.tails[own] - skeleton.heads[own]) * _unit(along)
    along = _unit(along)
    guess = -np.array(rest.vertical(armature))
    if other in skeleton.names:
        guess = guess + _unit(skeleton.heads[skeleton.names.index(other)] - wrist)
    normal = framed(along, _across(guess, along))[:, 1]
    side, spread = {"L": 1.0, "R": -1.0}.get(names[own].side, 0.0), _spread(skeleton, names, below, along)
    if spread is not None:
        towards, is_thumb = spread
        across_palm = np.cross(along, towards)
        sign = side if is_thumb and side else float(np.sign(across_palm @ normal)) or 1.0
        normal = sign * across_palm
    back = rotation.inverse(skeleton.rotations[own])
    local = rotation.rotate(back, np.stack((middle - skeleton.heads[own], normal, along)))
    return Palm(*local)


def fingertip(armature: bpy.types.Object, bone: str) -> tuple[str, Array]:
    """The last bone of the finger of a hand that reaches farthest, and the position (3,) of its tip in its own frame,
    in units of the armature; without fingers those of the hand itself."""
    skeleton = with_ends(rest.skeleton(armature))
    names = read_names(skeleton.names)
    own, shown = skeleton.names.index(bone), _shown(armature, skeleton, names, bone)
    fingers = [_below(skeleton, row) for row in _fingers(skeleton, names, shown)]
    rows = [row for finger in fingers for row in finger if _THUMB not in names[row].words]
    # Controls may be as long as the finger that they bend.
    rows = [row for row in rows if armature.data.bones[skeleton.names[row]].use_deform] or rows
    along = skeleton.tails[shown] - skeleton.heads[shown]
    last = max(rows, key=lambda row: skeleton.tails[row] @ along, default=own)
    tip = rotation.rotate(rotation.inverse(skeleton.rotations[last]), skeleton.tails[last] - skeleton.heads[last])
    return skeleton.names[last], tip


def _unit(vector: Array) -> Array:
    return vector / max(float(np.linalg.norm(vector)), 1e-12)


def _across(vector: Array, along: Array) -> Array:
    """The direction of the part of a vector across a unit vector; any one across it if there is none."""
    part = vector - vector @ along * along
    if np.linalg.norm(part) < _NOTHING:
        part = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    return _unit(part)


def _shown(armature: bpy.types.Object, skeleton: Skeleton, names: list[BoneName], bone: str) -> int:
    """The bone that shows a hand, with its fingers: of generated rigs they hang on another bone in the same place."""
    shown = skeleton.names.index(limb_controls.shown_by(armature, bone))
    ends = np.concatenate((skeleton.heads, skeleton.tails), axis=1)
    apart = np.linalg.norm(ends - ends[shown], axis=1)
    within = _SAME_PLACE * float(np.linalg.norm(skeleton.tails[shown] - skeleton.heads[shown]))
    same = [shown, *np.flatnonzero(apart < within).tolist()]
    return next((row for row in same if _fingers(skeleton, names, row)), shown)


def _fingers(skeleton: Skeleton, names: list[BoneName], hand: int) -> list[int]:
    """The first bones of the fingers of a hand, or of its palm."""
    children = skeleton.children[hand]
    digits = [row for row in children if names[row].has(words.DIGIT | words.PALM)]
    found = digits or children
    if len(found) == 1:
        found = skeleton.children[found[0]]
    return found if len(found) > 1 else []


def _below(skeleton: Skeleton, row: int) -> list[int]:
    return [row, *(other for child in skeleton.children[row] for other in _below(skeleton, child))]


def _spread(
    skeleton: Skeleton, names: list[BoneName], fingers: dict[int, list[int]], along: Array
) -> tuple[Array, bool] | None:
    """A direction across the hand, and whether it is that from the other fingers to the thumb; None without fingers."""
    if len(fingers) < 2:
        return None
    rows = list(fingers)
    middles = {row: skeleton.heads[fingers[row]].mean(axis=0) for row in rows}
    hand = skeleton.heads[skeleton.parents[rows[0]]]
    ahead = {row: float((skeleton.heads[row] - hand) @ along) for row in rows}
    thumb = next((row for row in rows if any(_THUMB in names[part].words for part in fingers[row])), None)
    if thumb is None and len(rows) > 2:
        first = min(rows, key=lambda row: ahead[row])
        thumb = first if ahead[first] < _BEHIND * float(np.median([*ahead.values()])) else None
    if thumb is not None:
        away = middles[thumb] - np.mean([middles[row] for row in rows if row != thumb], axis=0)
        return _across(away, along), True
    places = np.array([middles[row] for row in rows])
    places = places - places.mean(axis=0)
    places -= np.multiply.outer(places @ along, along)
    return _across(np.linalg.svd(places)[2][0], along), False
