"""*Lock Feet* of a loop: feet that are planted at its seam, or while its ends are blended, stay on their places.

The contacts are those of the clip itself; one that lasts until the end goes on in the next cycle if the foot is planted
at the start, too. Several cycles are locked one after another, each placed where the one before it ends, and the middle
one is taken, so that the result is as cyclic as the loop was.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...lookat_pd.body import foot_lock
from ...lookat_pd.body.foot_lock import FREE, FootStance
from ...lookat_pd.curves import runs
from ...lookat_pd.progress import subrange
from ...lookat_pd.rotation import Array
from ..animation.bake_options import BakeOptions
from ..animation.playing import playing
from ..feet import foot_bones, foot_locking
from ..feet.foot_bones import Footing
from ..feet.foot_locking import FootPlan, Plan
from ..sampling.own_data import TEMPORARY
from ..sampling.sampler import Samples
from ..sampling.suspend import LeftOut, suspend_live
from . import clips, join, lock_feet
from .clips import Clip
from .lock_feet import PlayedClip

_AROUND = 1.5
"""Time [s] on either side of the middle cycle beyond which nothing changes it."""
_ROUNDING = 1e-4


Locking = Callable[[Clip, Footing, Plan, Array], Generator[float, None, tuple[Clip, tuple[float, float]]]]
"""Locks several cycles with this footing and plan; yields the completed fraction. The frames of the cycle that is
wanted, and the largest drift of a foot before and after."""


@dataclass(frozen=True)
class LoopLockResult:
    """What locking the feet of a loop did."""

    before: float
    """Largest distance [units of the world] between two places of a point while it touches, unlocked."""
    drift: float
    """The same, locked."""
    stances: int
    """Number of stances in a cycle."""


def by_keys(scene: bpy.types.Scene, armature: bpy.types.Object) -> Locking:
    """Locking of clips of keys: they play, and the bones and controls of the legs get other keys."""

    def locked(
        played: Clip, footing: Footing, plan: Plan, frames: Array
    ) -> Generator[float, None, tuple[Clip, tuple[float, float]]]:
        action, slot = yield from subrange(join.making(armature, TEMPORARY, played), 0.0, 0.1)
        options = BakeOptions(int(played.frames[0]), int(played.frames[-1]), "CURRENT")
        try:
            with suspend_live(), playing(armature, action, slot):
                done = yield from subrange(foot_locking.lock(scene, armature, footing, plan, options), 0.1, 1.0)
            return clips.read(armature, action, slot, frames), (done.before, done.drift)
        finally:
            bpy.data.actions.remove(action)

    return locked


@dataclass(frozen=True)
class LoopFeet:
    """The feet of a clip of N + 1 frames, the last of which shows the first one again."""

    footing: Footing
    touching: Sequence[Array]
    """For each foot (N,) the point that touches at each frame, FREE at none of them."""
    blend: int
    """Frames of the blend at each end."""
    ends: str
    """Which of them change, see `loop.SHARES`."""
    dt: float
    """Seconds per frame."""

    @classmethod
    def of(
        cls,
        scene: bpy.types.Scene,
        armature: bpy.types.Object,
        clip: PlayedClip,
        dt: float,
        ends: str,
        left_out: LeftOut | None = None,
    ) -> "Generator[float, None, LoopFeet]":
        """clip: what is looped, with the length of its blend. left_out: as for `lock_feet.FootHold.of`. Yields the
        completed fraction. Raises RigError if the rig has no legs."""
        yield 0.0
        footing = foot_bones.find(armature, hands=True)
        yield 0.0
        known = yield from lock_feet.sample(scene, armature, footing, clip, left_out)
        gap = max(int(lock_feet.INTERRUPTED / dt), 1)
        touching = [
            _cyclic(
                [[(a - clip.begin, b - clip.begin) for a, b in point] for point in foot], clip.end - clip.begin, gap
            )
            for foot in known.contacts
        ]
        yield 1.0
        rows = [n for n, foot in enumerate(footing.feet) if not foot.hand or np.any(touching[n] != FREE)]
        footing, touching = footing.part(rows), [touching[n] for n in rows]
        return cls(footing, touching, _frames(clip.blend, dt), ends, dt)

    def blended(self, seconds: float) -> "LoopFeet":
        """With another length of the blend [s]."""
        return replace(self, blend=_frames(seconds, self.dt))

    @property
    def stand(self) -> bool:
        """Whether no foot is ever lifted."""
        return all(np.all(touching != FREE) for touching in self.touching)

    def lock(
        self, cycle: Clip, move: Callable[[Clip, bool], Clip], locked: Locking
    ) -> Generator[float, None, tuple[Clip, LoopLockResult | None]]:
        """The cycle with its feet on their places, and what was done, None if nothing is planted. cycle: N + 1 frames.
        Yields the completed fraction.

        move: a clip placed one cycle later or, with False, one earlier. locked: see `Locking`. Raises RigError.
        """
        count = len(cycle.frames) - 1
        side = int(np.ceil(_AROUND / (count * self.dt)))
        later = move(cycle, True)
        travels = any(np.abs(later.raw[channel] - raw).max() > _ROUNDING for channel, raw in cycle.raw.items())
        if not any(self.planted(n, count, 3, travels) for n in range(len(self.touching))):
            return cycle, None
        yield 0.0
        played = self._repeated(cycle, move, side)
        yield 0.0
        # Where one end stays as animated, so do the hips.
        footing = self.footing if self.ends == "BOTH" else Footing(self.footing.feet, "")
        plan = _Plan(self, count, 2 * side + 1, travels)
        result, drifts = yield from locked(played, footing, plan, cycle.frames)
        if not plan.count:
            return cycle, None
        kept = {"BOTH": slice(0, 0), "END": slice(0, count // 2 + 1), "START": slice(count // 2 + 1, None)}[self.ends]
        for channel, raw in cycle.raw.items():
            result.raw[channel][kept] = raw[kept]
        again = move(result.part(slice(0, 1)), True)
        for channel, raw in result.raw.items():
            if np.abs(raw[-1] - again.raw[channel][0]).max() < _ROUNDING:
                raw[-1] = again.raw[channel][0]
        return result, LoopLockResult(*drifts, plan.count)

    @staticmethod
    def _repeated(cycle: Clip, move: Callable[[Clip, bool], Clip], side: int) -> Clip:
        """The cycle with so many others before and after it."""
        count = len(cycle.frames) - 1
        before, after = [cycle], [cycle]
        for _ in range(side):
            before.append(move(before[-1], False))
            after.append(move(after[-1], True))
        parts = [
            *(item.part(slice(0, -1)) for item in reversed(before[1:])),
            *(item.part(slice(0, -1)) for item in after),
        ]
        parts[-1] = after[-1]
        raw = {channel: np.concatenate([item.raw[channel] for item in parts]) for channel in cycle.raw}
        begin = cycle.frames[0] - side * count
        return Clip(cycle.armature, begin + np.arange((2 * side + 1) * count + 1.0), raw)

    def planted(self, foot: int, count: int, cycles: int, travels: bool) -> list[FootStance]:
        """The stances of a foot that the blend changes, in so many cycles of `count` frames.

        A foot that is never lifted cannot stay on its place while the character travels.
        """
        touching = self.touching[foot]
        if travels and np.all(touching != FREE):
            return []
        tiled = np.concatenate((np.tile(touching, cycles), touching[:1]))
        stances = []
        for a, b in runs(tiled != FREE):
            # Of a contact at an end of all cycles only a part is known.
            if (a == 0) != (b == len(tiled) - 1):
                continue
            stances += self._changed(FootStance(a, b, tiled[a : b + 1]), count)
        return stances

    def _changed(self, stance: FootStance, count: int) -> list[FootStance]:
        """What of a stance has to be held."""
        half = count // 2
        seams = [frame for frame in range(stance.first, stance.last + 1) if frame % count == 0]
        across = [seam for seam in seams if stance.first < seam < stance.last]
        if across and self.ends == "BOTH":
            return [stance]
        if across and self.ends == "END":
            return [stance.cut(seam - half, seam, seam) for seam in across]
        if across:
            return [stance.cut(seam, seam + half, seam) for seam in across]
        phase = np.arange(stance.first, stance.last + 1) % count
        early, late = phase <= min(self.blend, half), phase >= count - min(self.blend, half)
        some = {"BOTH": early | late, "START": early, "END": late}[self.ends]
        if not some.any():
            return []
        rows = np.flatnonzero(some)
        a, b = int(rows[0]) + stance.first, int(rows[-1]) + stance.first
        if early.any() and late.any():
            return [stance.cut(a, b)]
        # The frames beyond the blend stay as animated.
        return [stance.cut(a, b, b if early.any() else a)]


class _Plan:
    """Where the feet of a repeated loop go. count: the stances of one cycle, after it was called."""

    def __init__(self, feet: LoopFeet, frames: int, cycles: int, travels: bool) -> None:
        self.feet, self.frames, self.cycles, self.travels = feet, frames, cycles, travels
        self.count = 0

    def __call__(self, samples: Samples) -> list[FootPlan]:
        kept = np.zeros(len(samples.positions), dtype=bool)
        phase, half = np.arange(len(kept)) % self.frames, self.frames // 2
        if self.feet.ends == "END":
            kept = phase <= half
        elif self.feet.ends == "START":
            kept = (phase > half) | (phase == 0)
        plans = []
        for number, foot in enumerate(self.feet.footing.feet):
            places, size = foot.touch(samples), foot.length(samples)
            stances = [
                stance
                for stance in self.feet.planted(number, self.frames, self.cycles, self.travels)
                if _away(places, stance) <= lock_feet.HELD * size
            ]
            self.count += sum(self._of_the_middle(stance) for stance in stances)
            moved = foot_lock.displacements(places, stances, self.feet.dt, unmoved=np.flatnonzero(kept).tolist())
            plans.append(FootPlan(moved, stances))
        return plans

    def _of_the_middle(self, stance: FootStance) -> bool:
        begin = self.cycles // 2 * self.frames
        end = begin + self.frames
        return begin < stance.last <= end or (stance.first <= begin and stance.last > end)


def _frames(blend: float, dt: float) -> int:
    return int(np.ceil(blend / dt)) + 1


def _cyclic(contacts: Sequence[Sequence[tuple[int, int]]], count: int, gap: int) -> Array:
    """The point (count,) that touches at each frame. gap: frames without contact at the seam up to which it is one."""
    touching = np.full(count + 1, FREE)
    for stance in foot_lock.stances(contacts, count + 1):
        touching[stance.first : stance.last + 1] = stance.touching
    if touching[0] == FREE:
        touching[0] = touching[count]
    touching = touching[:count]
    down = np.flatnonzero(touching != FREE)
    if len(down) and down[0] + count - 1 - down[-1] <= gap:
        touching[: down[0]] = touching[down[0]]
        touching[down[-1] + 1 :] = touching[down[-1]]
    return touching


def _away(places: Array, stance: FootStance) -> float:
    """The largest distance that the loop moves a point of a foot while it touches. places: (F, P, 3)."""
    rows = np.arange(stance.first, stance.last + 1)
    return max(
        float(np.linalg.norm(np.ptp(places[rows[stance.touching == point], point], axis=0)))
        for point in np.unique(stance.touching)
    )
