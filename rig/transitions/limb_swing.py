"""Limbs that the rig's own inverse kinematics bends, where a transition swings their controls out of reach.

A control goes on with its velocity whatever the length of the limb, so that a knee snaps straight. Where it would be
straighter than in both clips, the control is moved along the limb so that the joint becomes straight gradually, and
bends again.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import bpy
import numpy as np

from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ...lookat_pd.transitions import straightening
from ..animation import actions
from ..animation.bake_options import BakeOptions
from ..animation.channels import LOCATION
from ..animation.playing import playing
from ..controls.changes import Changes
from ..detection import switched_limbs
from ..feet import foot_bones, limb_goals
from ..feet.foot_bones import Foot
from ..sampling.sampler import Sampler, Samples, run
from ..sampling.scene_time import seconds_per_frame
from .lock_feet import PlayedClip

_BEFORE, _AFTER = 2, 2
"""Frames before a cut and after a blend that stay, with their velocity."""
_AT_THE_END = 0.02
"""Of the length of a limb: a goal at rest that is no farther from its end is what it reaches for."""
_AROUND = 0.25
"""Time [s] before and after a snap in which a joint may move otherwise."""
_SEEN = np.radians(2.0)
"""By so much a joint has to be straighter than it should be."""
_MISSED = 0.02
"""Of the length of a limb: with a larger error its end does not go where its control is."""


@dataclass(frozen=True)
class _Limb:
    """A limb that inverse kinematics bends."""

    foot: Foot
    goal: str
    """The bone to which its end is brought."""

    @property
    def bones(self) -> tuple[str, ...]:
        return (*self.foot.bones, self.goal, self.foot.control)


def soften(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    action: bpy.types.Action,
    slot: bpy.types.ActionSlot,
    clips: Sequence[PlayedClip],
    swings: Sequence[bool],
) -> Generator[float, None, None]:
    """Let limbs of a new action of these clips become straight gradually; yields the completed fraction.

    swings: for each transition, whether its controls swing.
    """
    limbs = _find(armature) if any(swings) else []
    if not limbs:
        return
    dt = seconds_per_frame(scene)
    around = max(round(_AROUND / dt), _BEFORE)
    for n, (clip, swing) in enumerate(zip(clips[1:], swings, strict=True), 2):
        last = min(clip.at + int(np.ceil(clip.blend / dt)), clip.end, *(after.at - 1 for after in clips[n : n + 1]))
        if not swing or last - clip.at < _AFTER:
            continue
        frames = np.arange(clip.at, last + 1) - clip.at + clip.frame
        bones = tuple(dict.fromkeys(bone for limb in limbs for bone in limb.bones))
        with clip.playing(armature), Sampler(scene, armature, bones) as sampler:
            own = run(sampler.sample(frames.tolist()))
        options, left = BakeOptions(clip.at - _BEFORE, last, "CURRENT"), limbs
        while left:
            try:
                with playing(armature, action, slot):
                    yield from limb_goals.put(scene, armature, bones, partial(_Goal, left, around, own), options)
                break
            except _Elsewhere as error:
                left = [limb for limb in left if limb not in error.limbs]


class _Elsewhere(Exception):
    """The ends of some limbs do not follow their controls."""

    def __init__(self, limbs: Sequence["_Limb"]) -> None:
        super().__init__()
        self.limbs = limbs


class _Goal:
    """The ends of limbs over F frames, the first ones before a cut.

    around: frames before and after a snap at which the joint may move otherwise. own: the destination alone from the
    cut on.
    """

    def __init__(self, limbs: Sequence[_Limb], around: int, own: Samples, seen: Samples) -> None:
        self.limbs, self.around = limbs, around
        self.size = np.array([sum(_lengths(own, limb)) for limb in limbs])
        self._wanted, self._moves, self._errors = [], {}, np.zeros(len(limbs))
        self.changing = np.zeros(len(seen.frames), dtype=bool)
        for limb in limbs:
            end = self._end(limb, seen, own)
            here = _place(seen, limb.goal)
            self._wanted.append(end)
            self.changing |= np.any(end != here, axis=-1)
            self._moves[limb.foot.control] = end - here

    def _end(self, limb: _Limb, seen: Samples, own: Samples) -> Array:
        """Where the end of a limb goes (F, 3)."""
        upper, lower = _lengths(own, limb)
        goal, base = _place(seen, limb.goal), _place(seen, limb.foot.bones[0])
        away = np.linalg.norm(goal - base, axis=-1)
        bends = straightening.bend_of(away, upper, lower)
        theirs = np.linalg.norm(_place(own, limb.goal) - _place(own, limb.foot.bones[0]), axis=-1)
        least = straightening.least_bends(bends[_BEFORE - 1], straightening.bend_of(theirs, upper, lower))
        free = np.zeros(len(bends), dtype=bool)
        free[_BEFORE:-_AFTER] = True
        lowest = np.concatenate((np.zeros(_BEFORE), least))
        snaps = free & (bends < lowest - _SEEN)
        if not snaps.any():
            return goal
        free &= np.convolve(snaps, np.ones(2 * self.around + 1), "full")[self.around : len(snaps) + self.around] > 0.5
        eased = straightening.distance_of(straightening.eased(bends, lowest, free), upper, lower)
        factor = np.where(free, eased / np.maximum(away, 1e-300), 1.0)
        return np.where(free[:, None], base + factor[:, None] * (goal - base), goal)

    def pose(self) -> Changes:
        return Changes({}, dict(self._moves))

    def _missing(self, now: Samples) -> Iterator[Array]:
        for limb, end in zip(self.limbs, self._wanted, strict=True):
            yield np.where(self.changing[:, None], end - _place(now, limb.goal), 0.0)

    def missed(self, now: Samples) -> float:
        missing = np.stack(list(self._missing(now)), axis=1)
        self._errors = (np.linalg.norm(missing, axis=-1) / self.size).max(axis=0)
        return float(self._errors.max())

    def correct(self, now: Samples) -> None:
        for limb, missing in zip(self.limbs, self._missing(now), strict=True):
            self._moves[limb.foot.control] = self._moves[limb.foot.control] + missing

    def check(self, error: float) -> None:
        if error > _MISSED:
            raise _Elsewhere([limb for limb, own in zip(self.limbs, self._errors, strict=True) if own > _MISSED])


def _find(armature: bpy.types.Object) -> list[_Limb]:
    """The limbs whose ends the rig's own inverse kinematics brings to what a control moves."""
    goals = [item.target for item in switched_limbs.solvers(armature) if item.target in armature.data.bones]
    if not goals:
        return []
    try:
        feet = foot_bones.find(armature, hands=True).feet
    except RigError:
        return []
    bones, found = armature.data.bones, []
    for foot in feet:
        upper, lower, end = (bones[name].head_local for name in foot.bones)
        length = (lower - upper).length + (end - lower).length
        goal = min(goals, key=lambda name: (bones[name].head_local - end).length)
        if foot.control and (bones[goal].head_local - end).length <= _AT_THE_END * length and _movable(armature, foot):
            found.append(_Limb(foot, goal))
    return found


def _movable(armature: bpy.types.Object, foot: Foot) -> bool:
    try:
        actions.check_curves(armature, {foot.control: LOCATION}, "CURRENT")
    except RigError:
        return False
    return True


def _place(samples: Samples, name: str) -> Array:
    return samples.positions[:, samples.bones.index(name)]


def _lengths(samples: Samples, limb: _Limb) -> tuple[float, float]:
    """Usual lengths of the upper and the lower bone: inverse kinematics may stretch them."""
    places = [_place(samples, name) for name in limb.foot.bones]
    upper, lower = (float(np.median(np.linalg.norm(b - a, axis=-1))) for a, b in pairwise(places))
    return max(upper, 1e-9), max(lower, 1e-9)
