"""Sampling for one look-at: all frames, the targets alone, or the moments between frames where motion has corners."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ...lookat_pd import checks, curves, gaze, rotation
from ...lookat_pd.gaze import mixing as gaze_mixing
from ...lookat_pd.message import Message
from ...lookat_pd.progress import subrange
from ...lookat_pd.rotation import Array
from ..layers.track import Track
from ..sampling import cut_down_rig, fingerprint, sight
from ..sampling.sampler import CutDown, Sampler, Samples, sample_frames, seen_from
from . import look_at_layer as offsets
from . import mixing
from .directing import shot_drivers
from .evaluations import Evaluations
from .resolve import LookAt
from .setting_paths import KEYABLE, setting_path
from .solve_context import SolveContext

_STILL, _MOST_SHARE = np.radians(0.1), 2.0
"""What is learned of a control holds in proportion to its turn, within bounds."""


@dataclass(frozen=True)
class Learned:
    """What an evaluated rig has shown beyond the model: what to expect of a next solution before it is verified."""

    correction: Array
    """(F, b, 4) as `control_coupling.correct` gives it, with the controls turned by `turns` (F, b) [rad]."""
    turns: Array
    shift: Array
    """(F, 3) displacement of the aiming bone beyond the model and the hips."""
    remaining: Array
    """(F, b, 4) from what was wanted to what was reached: only the aim is corrected to the end, and bones below it stay
    where the last correction but that has brought them."""
    coupling: Array
    """(b, b) of the model: a coupling that is measured again may be another one, beyond which other things are seen."""

    def correction_for(self, turns: Array) -> Array:
        """The correction (F, b, 4) to expect where the controls turn by other angles (F, b) [rad]."""
        return rotation.exp(self._share(turns)[..., None] * rotation.log(self.correction))

    def reached(self, wanted: Array, turns: Array) -> Array:
        """The orientations (F, b, 4) to expect where others are wanted, (F, b, 4)."""
        missed = rotation.exp(self._share(turns)[..., None] * rotation.log(self.remaining))
        return rotation.multiply(missed, wanted)

    def shift_for(self, turns: Array) -> Array:
        """The shift (F, 3) to expect where the controls turn by other angles (F, b) [rad]."""
        return self._share(turns)[:, :1] * self.shift

    def _share(self, turns: Array) -> Array:
        return np.clip(turns / np.maximum(self.turns, _STILL), 0.0, _MOST_SHARE)

    def at(self, frames: slice) -> "Learned":
        correction, turns, shift = self.correction[frames], self.turns[frames], self.shift[frames]
        return Learned(correction, turns, shift, self.remaining[frames], self.coupling)


_NUMBERS = 40
"""For each bone at each moment between frames the samples and what they are made of are at most so many numbers."""


@dataclass
class KeptSamples:
    """What is known of a look-at's rig and targets, kept for as long as these do not change."""

    samples: Samples | None = None
    """Samples of all frames, None until they are complete."""
    between: curves.Between | None = None
    """Samples of moments between frames, None where none are needed."""
    coupling: Array | None = None
    """(b, b) how controls turn each other, None until it is measured."""
    passes: int = 0
    """Number of times that all frames were sampled."""
    doubtful: tuple[Samples, Array] | None = None
    """Samples, and the frames after which `between` is needed."""
    prepared: tuple[Array, curves.Between | None, Array | None, gaze.GazeSamples] | None = None
    """Targets, `between` the space of the armature if it matters, and what `gaze.prepare` made of them."""
    learned: Learned | None = None
    """Learned by the last verification."""
    hidden: Array | None = None
    """(n, F) whether targets are behind occluders, None without occluders."""
    cut_down: CutDown | None = None
    """As `Sampler` has it."""
    whole_because: Message | None = None
    """As `Sampler` has it."""
    scene_notes: tuple[Message, ...] = ()
    """As `Sampler` has them."""
    keys: bytes = b""
    """Digest of the keys of settings with which properties were sampled."""
    alone: tuple[Array, curves.Between | None] | None = None
    """Targets and `between` where nobody moves who looks back, None where nobody does: see `circle_solve`."""
    parts: gaze.KeptParts = field(default_factory=gaze.KeptParts)
    """Of its timeline, in the same circle."""
    evaluations: Evaluations | None = None
    """Of all rigs of that circle."""

    def chain(self, count: int) -> tuple[Array, Array]:
        """Orientations (F, b, 4) and positions (F, b, 3) of the first `count` sampled bones, which are the chain."""
        assert self.samples is not None
        return self.samples.rotations[:, :count], self.samples.positions[:, :count]

    def at(self, frames: slice, count: int) -> "KeptSamples":
        """The same of consecutive frames, each of so many samples; without what is made of all."""
        assert self.samples is not None
        begin, end = frames.start, frames.stop - 1
        samples, doubtful = self.samples.at(frames), None
        if self.doubtful is not None:
            places = self.doubtful[1]
            doubtful = samples, places[(places >= begin) & (places < end)] - begin
        return replace(
            self,
            samples=samples,
            between=None if self.between is None else self.between.within(count * begin, count * end),
            doubtful=doubtful,
            prepared=None,
            learned=None if self.learned is None else self.learned.at(frames),
            hidden=None if self.hidden is None else self.hidden[:, frames],
            alone=None,
            parts=gaze.KeptParts(),
            evaluations=None,
        )


class SolveSampling:
    """Fills the kept samples of one look-at, as generators of the fraction done. All of them raise RigError."""

    def __init__(self, look_at: LookAt, context: SolveContext, sampler: Sampler, kept: KeptSamples) -> None:
        self.look_at, self.context, self.sampler, self.kept = look_at, context, sampler, kept

    def sample_frames(self, share: float) -> Generator[float, None, None]:
        """Sample all frames as animated, up to the fraction `share`."""
        self.kept.keys = self._keys
        self.kept.samples = yield from self._step(0.0, share, self._play, self._animated_settings())

    def _animated_settings(self) -> list[str]:
        """Data paths of the settings that change with the frame."""
        armature, bone = self.look_at.armature, self.look_at.bone
        moving = fingerprint.animated_paths(armature)
        found = [path for path in (setting_path(bone, name) for name in KEYABLE) if path in moving]
        if mixing.is_keyed(armature, bone):
            found += mixing.paths(armature.pose.bones[bone].lookat_pd, bone)
        return found

    @property
    def _keys(self) -> bytes:
        return fingerprint.settings_keys(self.look_at.armature.data)

    @property
    def are_settings_outdated(self) -> bool:
        """Whether settings have other keys than when they were sampled."""
        return self.kept.keys != self._keys

    def sample_settings(self, done: float) -> Generator[float, None, bool]:
        """Sample the settings that change with the frame alone, of a copy that has nothing but their bone; whether that
        is possible. done: the fraction to report meanwhile.

        It is not where drivers of the animator move them.
        """
        look_at, kept, paths = self.look_at, self.kept, self._animated_settings()
        armature, bone, frames = look_at.armature, look_at.bone, self._different(self.context.frames)
        if any(fingerprint.is_driven(armature, path) and not shot_drivers.follows(armature, path) for path in paths):
            return False
        assert kept.samples is not None
        kept.keys, samples = self._keys, None
        if paths:
            sampler = Sampler(self.context.scene, armature, (bone,), cut_down={armature: {bone}})
            try:
                with closing(sampler):
                    for samples in sampler.sample(frames[0], paths):  # noqa: B007
                        yield done
            except cut_down_rig.CannotCutDown:
                return False
            assert samples is not None, "there is at least one frame"
            samples = samples if frames[1] is None else samples.at(frames[1])
        kept.samples = replace(kept.samples, properties={} if samples is None else samples.properties)
        return True

    def sample_turned(
        self, track: Track, begin: float, share: float, places: Array | None = None
    ) -> Generator[float, None, Samples]:
        """Frames with the offsets of `track` on the rig, sampled from fraction `begin` on over a `share`.

        places: (n,) indices of the frames, None for all.
        """

        def before() -> None:
            self._play()
            offsets.show(self.sampler.stand_in(self.look_at.armature), track)

        frames = self.context.frames
        return (yield from self._step(begin, share, before, frames=frames if places is None else frames[places]))

    def _play(self) -> None:
        self.context.play(self.sampler)

    def _step(
        self,
        begin: float,
        share: float,
        before: Callable[[], None],
        properties: Sequence[str] = (),
        frames: Array | None = None,
    ) -> Generator[float, None, Samples]:
        kept, wanted = self.kept, self.context.frames if frames is None else frames
        kept.passes += 1
        stepped, back = self._different(wanted)
        steps = sample_frames(self.sampler, stepped, properties, before)
        samples = yield from subrange(steps, begin, min(begin + share, 0.999))
        kept.scene_notes = self.sampler.scene_notes
        return samples if back is None else replace(samples.at(back), frames=wanted)

    def _different(self, moments: Array) -> tuple[list[float], Array | None]:
        """The different frames at which the animation is as at moments (n,), and of which each is one (n,); None where
        these are the moments themselves."""
        if self.context.cycle is None:
            return moments.tolist(), None
        frames, back = np.unique(self.context.sampled(moments), return_inverse=True)
        return frames.tolist(), back.reshape(-1)

    def sample_targets(self, done: float) -> Generator[float, None, None]:
        """Sample the targets alone, in a scene without the character. done: the fraction to report meanwhile."""
        kept, context, points = self.kept, self.context, None
        assert kept.samples is not None
        with closing(context.sampler(self.look_at, None, bones=())) as sampler:
            play = partial(context.play, sampler)
            frames, back = self._different(context.frames)
            for points in sampler.sample_points(frames, play):  # noqa: B007
                yield done
            assert points is not None, "there is at least one frame"
            kept.scene_notes = sampler.scene_notes
            points = points if back is None else points[:, back]
            kept.samples = replace(kept.samples, targets=seen_from(kept.samples.worlds, points))

    def sample_between(self, begin: float, share: float, *, keep: bool) -> Generator[float, None, None]:
        """Sample between frames where the animation has corners, so that the result is the same at any frame rate.

        Goes from fraction `begin` on over a `share`. keep: the rig and the targets are as they were, so samples of the
        same moments stay right.
        """
        self.kept.between = yield from self._between(begin, share, keep=keep)

    def _between(self, begin: float, share: float, *, keep: bool) -> Generator[float, None, curves.Between | None]:
        kept, context = self.kept, self.context
        count = gaze.samples_per_frame(self.look_at.tuning, context.dt)
        if count == 1:
            return None
        doubtful = self._doubtful()
        if not len(doubtful):
            return None
        checks.check_memory(_NUMBERS * len(doubtful) * count * len(self.look_at.bones))
        indices = (doubtful[:, None] * count + np.arange(1, count)).ravel()
        if keep and kept.between is not None and np.array_equal(kept.between.indices, indices):
            return kept.between
        moments, back = self._different(context.frames[0] + indices / count)
        steps = sample_frames(self.sampler, moments, before=self._play)
        seen = yield from subrange(steps, begin, begin + share)
        seen = seen if back is None else seen.at(back)
        bones = len(self.look_at.bones)
        chain = seen.rotations[:, :bones], seen.positions[:, :bones]
        return curves.Between(indices, *chain, seen.targets, seen.worlds)

    def sample_sight(self, begin: float, share: float) -> Generator[float, None, None]:
        """See which targets are behind occluders, from the head as animated.

        Goes from fraction `begin` on over a `share`.
        """
        kept, look_at = self.kept, self.look_at
        samples = kept.samples
        kept.hidden = None
        if samples is None or not look_at.occluders:
            return
        count = len(look_at.targets)
        places = np.concatenate((samples.targets[:count], samples.positions[None, :, 0]))
        world = samples.worlds[None, :, :3, :3] @ places[..., None]
        world = world[..., 0] + samples.worlds[None, :, :3, 3]
        frames = self.context.sampled(self.context.frames).tolist()
        steps = sight.hidden(self.context.scene, look_at.armature, look_at.occluders, frames, world[-1], world[:-1])
        rows = yield from subrange(steps, begin, begin + share)
        kept.hidden = np.array([gaze_mixing.lasting(row, self.context.dt) for row in rows])

    def _doubtful(self) -> Array:
        """Indices of the frames after which the motion may be other than the smooth curve through the frames."""
        kept = self.kept
        assert kept.samples is not None
        if kept.doubtful is None or kept.doubtful[0] is not kept.samples:
            chain = kept.chain(len(self.look_at.bones))
            kept.doubtful = kept.samples, np.flatnonzero(curves.doubtful(*chain, kept.samples.targets))
        return kept.doubtful[1]
