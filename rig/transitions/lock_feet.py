"""*Lock Feet*: planted feet stay on their places through the transitions of a new action, by default where the rig has
legs that can be locked.

The contacts are those of the clips, each sampled as it is played alone. A foot that both clips have on the ground at a
cut stays where the source has it until the destination lifts it; if the two places are far from each other, it makes a
step. A foot that lands during a blend stays where it is at the end of the blend or, if it is lifted before, at its mean
place; it lands when it can have come there without pulling at the body. After the last of these contacts the result is
the destination.
"""

from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import bpy
import numpy as np
from numpy.typing import ArrayLike

from ...lookat_pd import curves
from ...lookat_pd.body import foot_lock
from ...lookat_pd.body.contacts import Detection, Interval
from ...lookat_pd.body.foot_lock import FootStance
from ...lookat_pd.errors import RigError
from ...lookat_pd.progress import subrange
from ...lookat_pd.rotation import Array
from ..animation.bake_options import BakeOptions
from ..animation.playing import play, playing
from ..feet import foot_bones, foot_locking
from ..feet.contact_report import ContactReport
from ..feet.foot_bones import Foot, Footing
from ..feet.foot_locking import FootPlan
from ..sampling import cut_down_rig
from ..sampling.sampler import Sampler, Samples, sample_frames
from ..sampling.scene_time import seconds_per_frame
from ..sampling.suspend import LeftOut, suspend_live

WHERE_POSSIBLE = None
"""The default of `lock_feet` in panel, operators, command line and Python: feet are locked if the rig has legs and they
can be. With True it is an error if they cannot."""

_ACCELERATION = 12.0
"""Acceleration [lengths of the leg/s²] with which a foot is brought to its place: that of free fall for a leg of 0.8 m,
since the hips come down with a foot that lands."""
_BELOW = 0.01
"""By how much of the length of the leg another point of a foot is lower than the one that touches, from which on the
foot stands on it."""
HELD = 0.25
"""Distance between the places in both clips, in lengths of the leg, up to which a foot stays; it makes a step else."""
_STEP = 0.1
"""Height of a step as a fraction of its length."""
INTERRUPTED = 0.05
"""Time [s] from the end of a contact to the next one, up to which they are one."""


@dataclass(frozen=True)
class PlayedClip:
    """A clip as it plays in a result: frame `frame` of the action at frame `at`."""

    action: bpy.types.Action | None
    """None for whatever the armature plays."""
    slot: bpy.types.ActionSlot | None
    first: int
    """First of the clip's own frames that play."""
    last: int
    """Last of the clip's own frames that play."""
    frame: float
    at: int
    blend: float
    """Length [s] of the transition at its beginning, from frame `at` on."""

    @property
    def begin(self) -> int:
        """The first frame of the result that is one of the clip, whether it plays there or not."""
        return int(np.ceil(self.first - self.frame + self.at - 1e-6))

    @property
    def end(self) -> int:
        """The last such frame."""
        return int(np.floor(self.last - self.frame + self.at + 1e-6))

    def playing(self, armature: bpy.types.Object) -> AbstractContextManager[None]:
        """The armature plays the clip meanwhile."""
        return nullcontext() if self.action is None else playing(armature, self.action, self.slot)


def divided(
    action: bpy.types.Action | None,
    slot: bpy.types.ActionSlot | None,
    first: int,
    last: int,
    transitions: Sequence[tuple[int, float]],
) -> list[PlayedClip]:
    """The parts of an animation from frame first to last that are joined where it jumps.

    action, slot: None for whatever the armature plays. transitions: the first frame after each jump and the length [s]
    of its blend, in order of time.
    """
    begins, blends = [first, *(frame for frame, _ in transitions)], [0.0, *(blend for _, blend in transitions)]
    ends = [*(begin - 1 for begin in begins[1:]), last]
    return [
        PlayedClip(action, slot, begin, end, float(begin), begin, blend)
        for begin, end, blend in zip(begins, ends, blends, strict=True)
    ]


@dataclass(frozen=True)
class SampledClip:
    """A clip, the places (F, P, 3) of the points of each foot, and their contacts as frames of the result."""

    clip: PlayedClip
    places: list[Array]
    contacts: list[list[list[Interval]]]

    def part(self, rows: Sequence[int]) -> "SampledClip":
        """Only these feet."""
        return SampledClip(self.clip, [self.places[n] for n in rows], [self.contacts[n] for n in rows])


@dataclass(frozen=True)
class FootHold:
    """What holds the feet of clips that are joined: which of them are planted when."""

    footing: Footing
    """All feet, and the hands that are planted."""
    known: Sequence[SampledClip]
    planted: Sequence[Sequence[FootStance]]
    first: int
    """First frame of the result that may change."""
    last: int
    """Last frame of the result that may change."""
    begin: int
    """The first cut."""
    dt: float

    @classmethod
    def of(
        cls,
        scene: bpy.types.Scene,
        armature: bpy.types.Object,
        clips: Sequence[PlayedClip],
        left_out: LeftOut | None = None,
        changed: Collection[str] | None = None,
    ) -> Generator[float, None, "FootHold | None"]:
        """None if nothing is planted at a transition; yields the completed fraction. Raises RigError if the rig has no
        legs.

        changed: the bones that the transitions move, "" for the object, None for any: a foot that none of them moves
        is left alone. left_out: where the rig shows what it showed before between two steps, beside which nothing is
        solved live; None where it plays one clip after the other.
        """
        footing, dt = foot_bones.find(armature, hands=True), seconds_per_frame(scene)
        yield 0.0
        known = []
        for n, clip in enumerate(clips):
            steps = sample(scene, armature, footing, clip, left_out)
            known.append((yield from subrange(steps, n / len(clips), (n + 1) / len(clips))))
        planted = [
            _planted(known, n, dt) if _may_move(armature, foot, changed) else [] for n, foot in enumerate(footing.feet)
        ]
        if not any(planted):
            return None
        rows = [n for n, foot in enumerate(footing.feet) if planted[n] or not foot.hand]
        footing, known, planted = footing.part(rows), [item.part(rows) for item in known], [planted[n] for n in rows]
        begin = clips[1].at
        release = int(np.ceil((foot_lock.RELEASE + foot_lock.SMOOTH) / dt)) + 1
        last = min(max(stance.last for stances in planted for stance in stances) + release, clips[-1].end)
        return cls(footing, known, planted, begin - 2, last, begin, dt)

    def plan(self, feet: Sequence[Foot], samples: Samples) -> list[FootPlan]:
        """Where the feet go from how they are blended. feet: as they are named in the samples, in the same order."""
        cuts = [item.clip.at - self.first for item in self.known[1:] if item.clip.at <= self.last]
        unmoved = [frame for cut in cuts for frame in (cut - 2, cut - 1)]
        plans = []
        for foot, of_foot in zip(feet, self.planted, strict=True):
            places = foot.touch(samples)
            size = foot.length(samples)
            landings = [_landing(_rolling(item, places, size, self), size, places, self) for item in of_foot]
            stances = [landing.stance for landing in landings if landing is not None]
            moved = foot_lock.displacements(places, stances, self.dt, begin=self.begin - self.first, unmoved=unmoved)
            for landing in landings:
                if landing is not None:
                    landing.lift(moved)
            plans.append(FootPlan(moved, stances))
        return plans

    def steps(
        self, scene: bpy.types.Scene, armature: bpy.types.Object, into: str, name: str = ""
    ) -> Generator[float, None, ContactReport]:
        """Lock the feet of what the armature plays; yields the completed fraction. into, name: as for `BakeOptions`.

        Raises RigError.
        """
        return foot_locking.lock(
            scene,
            armature,
            self.footing,
            lambda samples: self.plan(self.footing.feet, samples),
            BakeOptions(self.first, self.last, into, name),
            begin=self.begin - self.first,
        )


def lock_feet(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    action: bpy.types.Action,
    slot: bpy.types.ActionSlot,
    clips: Sequence[PlayedClip],
    changed: Collection[str] | None = None,
) -> Generator[float, None, ContactReport | None]:
    """Keep the feet of an action of these clips on their places through its transitions; None if nothing is planted.

    Yields the completed fraction. changed: as for `FootHold.of`. Raises RigError.
    """
    hold = yield from subrange(FootHold.of(scene, armature, clips, changed=changed), 0.0, 0.2)
    if hold is None:
        return None
    with suspend_live(), playing(armature, action, slot):
        return (yield from subrange(hold.steps(scene, armature, "CURRENT"), 0.2, 1.0))


def sample(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    footing: Footing,
    clip: PlayedClip,
    left_out: LeftOut | None = None,
) -> Generator[float, None, SampledClip]:
    """A clip as it is played alone; yields the completed fraction. left_out: as for `FootHold.of`."""
    frames = np.arange(clip.begin, clip.end + 1) - clip.at + clip.frame
    with ExitStack() as stack:
        if left_out is None:
            stack.enter_context(suspend_live())
            stack.enter_context(clip.playing(armature))
        else:
            left_out = _alone(armature, clip, left_out)
        sampler = stack.enter_context(Sampler(scene, armature, footing.sampled, left_out=left_out))
        samples = yield from sample_frames(sampler, frames)
    contacts = footing.contacts(samples, seconds_per_frame(scene), Detection())
    shifted = [[[(clip.begin + a, clip.begin + b) for a, b in point] for point in foot] for foot in contacts]
    return SampledClip(clip, [foot.touch(samples) for foot in footing.feet], shifted)


def _alone(armature: bpy.types.Object, clip: PlayedClip, others: LeftOut) -> LeftOut:
    """What is left out, and all that an armature plays but a clip."""

    def on_copy(copy: bpy.types.Object) -> None:
        if clip.action is not None:
            play(copy, clip.action, clip.slot)

    return others.changing(armature, partial(clip.playing, armature), on_copy)


def _may_move(armature: bpy.types.Object, foot: Foot, changed: Collection[str] | None) -> bool:
    """Whether a foot moves with the bones that have changed, "" for the object, None for any."""
    if changed is None or "" in changed:
        return True
    try:
        return not cut_down_rig.needed_bones(armature, foot.bones).isdisjoint(changed)
    except cut_down_rig.CannotCutDown:
        return True


def _planted(known: Sequence[SampledClip], foot: int, dt: float) -> list[FootStance]:
    """The stances of a foot that transitions change, in frames of the result."""
    gap = max(int(INTERRUPTED / dt), 1)
    stances: list[FootStance] = []
    for n in range(1, len(known)):
        clip = known[n].clip
        end = known[n + 1].clip.at - 1 if n + 1 < len(known) else clip.end
        blended = min(clip.at + int(np.ceil(clip.blend / dt)) + 1, end)
        was_down = any(a <= clip.at - 1 <= b for point in known[n - 1].contacts[foot] for a, b in point)
        for stance in foot_lock.stances([_from(clip.begin, point) for point in known[n].contacts[foot]], _count(clip)):
            begins, ends = stance.first + clip.begin, stance.last + clip.begin
            if ends < clip.at or begins > blended:
                continue
            here = FootStance(begins, ends, stance.touching).cut(clip.at, end)
            if was_down and here.first <= clip.at + gap:
                stances.append(_continued(stances, here, clip.at))
            elif here.last > blended:
                stances.append(here.cut(here.first, blended, blended))
            else:
                stances.append(here)
    return stances


def _rolling(stance: FootStance, places: Array, size: float, hold: FootHold) -> FootStance:
    """The stance on another point of the foot where the blended foot is turned so that it would be below the ground.

    size, places: as for `_landing`.
    """
    heights = places[stance.first - hold.first : stance.last + 1 - hold.first, :, 2]
    held = heights[np.arange(len(heights)), stance.touching]
    lower = held - heights.min(axis=1) > _BELOW * size
    return replace(stance, touching=np.where(lower, np.argmin(heights, axis=1), stance.touching))


def _from(begin: int, contacts: Sequence[Interval]) -> list[Interval]:
    return [(a - begin, b - begin) for a, b in contacts]


def _count(clip: PlayedClip) -> int:
    return clip.end - clip.begin + 1


def _continued(stances: list[FootStance], stance: FootStance, cut: int) -> FootStance:
    """A stance that began before the cut; one that lasts until the cut is removed from those found."""
    touching = np.concatenate((np.full(stance.first - cut + 1, stance.touching[0]), stance.touching))
    if stances and stances[-1].last >= cut - 1:
        before = stances.pop()
        return FootStance(
            before.first,
            stance.last,
            np.concatenate((before.touching[: cut - before.first], touching[1:])),
            before.anchor,
        )
    return FootStance(cut - 1, stance.last, touching, cut - 1)


@dataclass(frozen=True)
class _Landing:
    """A stance as indices of samples."""

    stance: FootStance
    lifted: int = 0
    step: float = 0.0
    """Height [units of the world] of a step from frame `lifted` to it; else 0."""

    def lift(self, moved: Array) -> None:
        """Add the step to the displacements (F, 3) of a foot."""
        frames = np.arange(self.lifted, self.stance.first + 1)
        if self.step > 0.0 and len(frames) > 1:
            t = (frames - frames[0]) / (frames[-1] - frames[0])
            moved[frames, 2] += self.step * (4.0 * t * (1.0 - t)) ** 2


def _landing(stance: FootStance, size: float, places: Array, hold: FootHold) -> _Landing | None:
    """A stance from the frame at which the foot can have come to its place, or has made a step; None if it never has.

    size, places: the length of the leg, and the places (F, P, 3) of the points of the blended foot.
    """
    first, dt = hold.first, hold.dt
    anchor = None if stance.anchor is None else stance.anchor - first
    here = FootStance(stance.first - first, stance.last - first, stance.touching, anchor)
    clip = max((item.clip for item in hold.known if item.clip.at <= stance.last), key=lambda clip: clip.at)
    if anchor == here.first:
        settled = min(clip.at + int(np.ceil(clip.blend / dt)) + 1 - first, here.last)
        way = float(np.linalg.norm(places[settled, here.touching[-1], :2] - places[anchor, here.touching[-1], :2]))
        if way <= HELD * size:
            return _Landing(here)
        begin = here.first + 1 + max(int(np.ceil(_time_for(way / size, 0.0) / dt)), 2)
        if begin >= here.last:
            return None
        return _Landing(here.cut(begin, max(settled, begin + 1), max(settled, begin + 1)), here.first, _STEP * way)
    rows = np.arange(stance.first, stance.last + 1)
    touched = places[rows - first, here.touching]
    moved = touched - places[np.maximum(rows - first - 1, 0), here.touching]
    # Where it would stay, if from then on.
    left = np.arange(len(rows), 0, -1)[:, None]
    spot = np.cumsum(touched[::-1], axis=0)[::-1] / left if anchor is None else touched[anchor - here.first]
    far, fast = (np.linalg.norm(values, axis=-1) / size for values in (touched - spot, moved / dt))
    landed = np.flatnonzero((rows - clip.at + 1) * dt >= _time_for(far, fast))
    if not len(landed) or landed[0] + here.first >= here.last:
        return None
    return _Landing(here.cut(here.first + int(landed[0]), here.last, anchor))


def _time_for(distance: ArrayLike, speed: ArrayLike) -> Array:
    """The time [s] in which a foot is brought to a place so far away from where it moves with this speed."""
    return curves.quintic_time(distance, speed, _ACCELERATION)


def locking(
    armature: bpy.types.Object, make: Callable[[bool], Generator[float, None, Any]], lock_feet: bool | None
) -> Generator[float, None, Any]:
    """What `make` makes with locked feet or without; yields the completed fraction.

    make: leaves nothing behind where it fails. Its result has a field `unlocked`, for the reason why feet are not
    locked though the rig has legs. Raises LookAtError.
    """
    if lock_feet is not None:
        return (yield from make(lock_feet))
    if not has_legs(armature):
        return (yield from make(False))
    yield 0.0
    try:
        return (yield from make(True))
    except RigError as error:
        # What is wrong with anything else is wrong again.
        return replace((yield from make(False)), unlocked=error)


def has_legs(armature: bpy.types.Object) -> bool:
    try:
        foot_bones.find(armature)
    except RigError:
        return False
    return True
