"""Solving the gaze of one look-at from its samples: what is looked at when, and the offsets of the chain."""

from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...lookat_pd import curves, gaze, rotation
from ...lookat_pd.body import breathing
from ...lookat_pd.gaze import glances, leaning
from ...lookat_pd.gaze import mixing as let_go
from ...lookat_pd.progress import in_thread
from ...lookat_pd.rotation import Array
from ..sampling.targets import Target
from . import aim_errors, mixing
from .aim_errors import AimErrors
from .body.body_solve import drifting_targets
from .cyclic_bake import repeated
from .resolve import LookAt
from .setting_paths import setting_path
from .solve_context import SolveContext
from .solve_sampling import KeptSamples

_LONG = 2_500
"""A solve of more samples runs in a thread of its own, so that the window stays responsive."""
_BACK = 0.2
"""Seconds after a glance until the eyes are back on the target."""


class Expected(NamedTuple):
    """What the evaluated rig should make of a solution, by what was learned from it before."""

    wanted: Array
    """(F, b, 4) the orientations of the controls."""
    correction: Array
    """(F, b, 4) what they inherit beyond the model."""
    shift: Array
    """(F, 3) what moves the aiming bone beyond the model and the hips."""
    place: Array
    """(F, 3) where the aiming bone is with that."""


def takes_long(look_at: LookAt, context: SolveContext) -> bool:
    """Whether solving takes longer than a turn of the window's loop may."""
    return len(context.frames) * gaze.samples_per_frame(look_at.tuning, context.dt) > _LONG


class GazeSolver:
    """The gaze of one look-at, solved from complete samples with the settings as they are now."""

    def __init__(self, look_at: LookAt, context: SolveContext, kept: KeptSamples) -> None:
        assert kept.samples is not None
        self.look_at, self.context, self.kept, self.samples = look_at, context, kept, kept.samples
        self._timeline: tuple[gaze.Timeline, gaze.GazeSamples] | None = None
        self._lean: tuple[int, Array] | None = None
        """The bone of the chain that breathes, and by how much (F, 4)."""

    @property
    def chain(self) -> tuple[Array, Array]:
        """Orientations (F, b, 4) and positions (F, b, 3) of the chain as animated."""
        return self.kept.chain(len(self.look_at.bones))

    @property
    def _settings(self) -> Any:
        return self.look_at.armature.pose.bones[self.look_at.bone].lookat_pd

    @property
    def mixes(self) -> bool:
        """Whether all targets are looked at by their weights."""
        return self.look_at.mixes

    def mixed(self, targets: Array) -> tuple[Array, Array]:
        """Targets (n, F, 3) with the mix, if there is one, as the first; and whether there is something (F,) to see."""
        frames = len(self.samples.frames)
        if not self.mixes:
            return targets, np.ones(frames, dtype=bool)
        count = len(self.look_at.targets)
        shares = mixing.sampled(self._settings, self.look_at.bone, self.samples.properties)
        if shares is None or len(shares) != count:
            now = mixing.weights(self._settings)[:count]
            shares = np.repeat(np.array(now, dtype=float)[:, None], frames, axis=1)
        if self.kept.hidden is not None:
            shares = np.where(self.kept.hidden, 0.0, shares)
        return mixing.mixed(targets, self.look_at.targets, shares, self.chain[1][:, 0])

    def setting(self, name: str) -> Array:
        """One of the `KEYABLE` settings at every frame (F,): as sampled where it is keyed, else its value now."""
        sampled = self.samples.properties.get(setting_path(self.look_at.bone, name))
        return np.full(len(self.samples.frames), getattr(self._settings, name)) if sampled is None else sampled

    def is_behind(self, solution: gaze.Solution) -> bool:
        """Whether the target is let go at all frames because it is behind the character."""
        limit = self._settings.let_go_angle
        if not limit or np.any(solution.looked_at >= 0) or not self.setting("use").any():
            return False
        orientations, places = self.chain
        targets = self.mixed(self.samples.targets)[0]
        active = np.clip(self.setting("active_target"), 0, len(targets) - 1).astype(int)
        aim = rotation.rotate(orientations[:, 0], self.look_at.chain.forward[0])
        aside = rotation.angle_between(aim, targets[active, np.arange(len(active))] - places[:, 0])
        return bool(np.all(aside > let_go.BACK * limit))

    def events(self) -> list[gaze.Event]:
        """When what is looked at: by the schedule, else as the settings and their keys have it."""
        first, dt = self.context.frames[0], self.context.dt
        schedule = self.look_at.schedule
        if schedule is not None:
            if self.context.cycle is not None:
                schedule = repeated(schedule, *self.context.cycle, self.context.frames)
            return [gaze.Event((frame - first) * dt, target) for frame, target in schedule]
        active = self.setting("active_target")
        if self.mixes:
            # The mix stands in for the first target.
            active = np.where(self.mixed(self.samples.targets)[1], 0, -1)
        named = np.array([target != Target() for target in self.look_at.targets])
        # A number beyond the list, or of an entry without an object, is no target.
        known = (active >= 0) & (active < len(named)) & (named[np.clip(active, 0, len(named) - 1)] | self.mixes)
        looked_at = np.where(self.setting("use") & known, active, -1)
        if self.kept.hidden is not None and not self.mixes:
            gone = self.kept.hidden[np.maximum(looked_at, 0), np.arange(len(looked_at))]
            looked_at = np.where(gone, -1, looked_at)
        settings = self._settings
        if settings.let_go_distance > 0.0 or settings.let_go_angle > 0.0:
            orientations, places = self.chain
            aim = rotation.rotate(orientations[:, 0], self.look_at.chain.forward[0])
            there = self.mixed(self.samples.targets)[0]
            gone = mixing.gone(settings, there, looked_at, self.samples.worlds, places[:, 0], aim)
            looked_at = np.where(gone, -1, looked_at)
        changes = np.flatnonzero(np.diff(looked_at)) + 1
        aims = [None if n < 0 else int(n) for n in looked_at[[0, *changes]]]
        return [gaze.Event(time, aim) for time, aim in zip([-1.0, *(changes * dt)], aims, strict=True)]

    def glanced(
        self, targets: Array, events: list[gaze.Event], seen_from: Array, up: Array, *, by_head: bool
    ) -> tuple[Array, list[gaze.Event]]:
        """Targets (n, m, 3) and events with the keyed glances, those of the eyes or the part of the head in them.

        seen_from, up: (m, 3) at the samples of the targets.
        """
        yaw, pitch = self.setting("glance_yaw"), self.setting("glance_pitch")
        body = self.look_at.body
        if by_head and body is not None and body.ocular is not None:
            yaw, pitch = glances.of_head(yaw, pitch)
        return glances.applied(targets, events, yaw, pitch, self.context.dt, seen_from, up)

    def _up(self, orientations: Array) -> Array:
        """The vertical axis (n, 3) of the head with these orientations (n, 4)."""
        return rotation.rotate(orientations, self.look_at.chain.up[0])

    @property
    def _gesture(self) -> Array:
        """Yaw and pitch (F, 2) [rad] of the head beside what it looks at."""
        return np.stack((self.setting("gesture_yaw"), self.setting("gesture_pitch")), axis=-1)

    def glanced_by_eyes(self, targets: Array) -> tuple[Array, list[gaze.Event]]:
        """What the eyes look at: targets (n, F, 3) and events."""
        orientations, places = self.chain
        return self.glanced(targets, self.events(), places[:, 0], self._up(orientations[:, 0]), by_head=False)

    @property
    def stance(self) -> Array:
        """(F,) the part of the weight on the left leg, where the look-at is on."""
        return self.setting("stance") * self.setting("use") * self.setting("influence")

    def _on_target(self, solution: gaze.Solution, count: int) -> gaze.Solution:
        """The solution without the virtual targets of glances, which come after the first `count`.

        Where the head looks beside the target, nods or gestures, nothing is settled, nor where the eyes set out.
        """
        yaw, pitch = self.setting("glance_yaw"), self.setting("glance_pitch")
        leaving = np.diff(yaw, prepend=0.0) ** 2 + np.diff(pitch, prepend=0.0) ** 2 > 0.0
        body = self.look_at.body
        if body is not None and body.ocular is not None:
            yaw, pitch = glances.of_head(yaw, pitch)
        beside = (yaw != 0.0) | (pitch != 0.0)
        moving = (self.setting("nod") > 0.0) | np.any(self._gesture != 0.0, axis=-1)
        if not (leaving.any() or moving.any()):
            return solution
        active = np.clip(self.setting("active_target"), 0, count - 1)
        looked_at = glances.real(solution.looked_at, count, active)
        after = round(_BACK / self.context.dt) + 1
        # A glance is over when the eyes are back.
        lasting = np.convolve(beside | leaving | moving, np.ones(after, dtype=int))[: len(beside)] > 0
        error = np.where((solution.looked_at >= count) | moving, np.nan, solution.error)
        return replace(solution, looked_at=looked_at, error=error, settled=solution.settled & ~lasting)

    def steps(
        self, done: float, targets: Array | None = None, shift: Array | None = None, sizes: Array | None = None
    ) -> Generator[float, None, gaze.Solution]:
        """Solve, where that takes long in a thread: it is numpy only, so Blender continues beside it.

        done: the fraction to report meanwhile. targets: by default as sampled; otherwise as `solve`.
        """
        work, count = self._work(self.samples.targets if targets is None else targets, shift, sizes)
        if not takes_long(self.look_at, self.context):
            return self._finished(work(), count)
        yield done
        return self._finished((yield from in_thread(work, done)), count)

    def solve(self, targets: Array, shift: Array | None = None, sizes: Array | None = None) -> gaze.Solution:
        """The gaze at targets (n, F, 3). shift: (F, 3) what moves the aiming bone besides these offsets. sizes: (F,) of
        that, None for those of the animation."""
        work, count = self._work(targets, shift, sizes)
        return self._finished(work(), count)

    def _work(
        self, targets: Array, shift: Array | None, sizes: Array | None
    ) -> tuple[Callable[[], gaze.Solution], int]:
        """What is left of `solve` once all was read of Blender's data; and the number of targets that are none of
        glances."""
        look_at, body = self.look_at, self.look_at.body
        targets, between = self.mixed(targets)[0], None if self.mixes else self.kept.between
        if shift is None:
            samples = self._prepared(targets, between)
        else:
            samples = gaze.prepare(look_at.tuning, *self.chain, targets, self.context.dt, shift, between, self._worlds)
        if look_at.chain.levels:
            samples = samples.standing(look_at.world_up.seen(self.samples.worlds, self.samples.targets))
        if look_at.chain.eye_height:
            samples = samples.sized(self.samples.sizes[:, 0] if sizes is None else sizes)
        samples = samples.tilted(self.setting("tilt"))
        events, influence = self.events(), self.setting("influence")
        samples = self._breathing(samples, events, influence)
        if body is not None and body.drift:
            times = self.context.begin + np.arange(len(samples.positions)) * self.context.dt / samples.count
            head = samples.positions[:, 0]
            samples = replace(samples, targets=drifting_targets(body, samples.targets, head, times))
        count = len(samples.targets)
        samples, events = self._glancing(samples, events)
        if body is not None:
            # The eyes set out first.
            events = glances.delayed(events, body.head_delay)
        if shift is not None or (body is None and self.kept.learned is None):
            work = partial(gaze.solve_samples, look_at.chain, look_at.tuning, samples, events, influence, self._parts)
            return work, count

        def kept() -> gaze.Solution:
            self._timeline = gaze.run_timeline(look_at.chain, look_at.tuning, samples, events, self._parts), samples
            return self._timeline[0].solution(*gaze.of_frames(samples, influence))

        return kept, count

    @property
    def _parts(self) -> gaze.KeptParts | None:
        """The parts that were solved before, of one who looks at somebody who looks back: that is solved many times."""
        return None if self.kept.alone is None else self.kept.parts

    def _breathing(self, samples: gaze.GazeSamples, events: list[gaze.Event], influence: Array) -> gaze.GazeSamples:
        """The samples with a chest that breathes: the highest bone below neck and head."""
        body, chain = self.look_at.body, self.look_at.chain
        torso = np.flatnonzero(~chain.compensates_lag)
        self._lean = None
        if body is None or body.breathing is None or not body.breathing.chest or not len(torso):
            return samples
        still = np.zeros(samples.frames - 1, dtype=bool)
        share = np.clip(curves.curve(influence[:, None], still, samples.count)[:, 0], 0.0, 1.0)
        filled = breathing.amount(body.breathing, events, self.context.begin, samples.dt / samples.count, share)
        turn = rotation.exp(body.breathing.chest * filled[:, None] * chain.right[torso[0]])
        self._lean = int(torso[0]), turn[:: samples.count]
        return leaning.leaning(samples, int(torso[0]), turn)

    def _finished(self, solution: gaze.Solution, count: int) -> gaze.Solution:
        """The solution with the breath in its offsets, and without the virtual targets of glances."""
        if self._lean is not None:
            solution = leaning.with_lean(solution, self.chain[0], *self._lean)
        return self._on_target(solution, count)

    @property
    def _worlds(self) -> Array | None:
        """Where the armature is in the world (F, 4, 4), for a gaze that holds while it moves."""
        return self.samples.worlds if self.look_at.chain.stabilize else None

    def _glancing(
        self, samples: gaze.GazeSamples, events: list[gaze.Event]
    ) -> tuple[gaze.GazeSamples, list[gaze.Event]]:
        """The samples and events with the head's part of glances, and with its nods and gestures."""
        nod, head = self.setting("nod"), samples.positions[:, 0]
        up = self._up(samples.rotations[:, 0])
        targets, events = self.glanced(samples.targets, events, head, up, by_head=True)
        gesture, tuning, dt = self._gesture, self.look_at.tuning, self.context.dt
        if nod.any() or gesture.any():
            yaw, pitch = glances.gesturing(gesture, dt, samples.count, tuning).T
            pitch = pitch + glances.nodding(nod, dt, samples.count, tuning.settle_time, tuning.damping_ratio)
            targets = glances.beside(targets, head, up, yaw, pitch)
        return (samples if targets is samples.targets else replace(samples, targets=targets)), events

    def _prepared(self, targets: Array, between: curves.Between | None) -> gaze.GazeSamples:
        """The prepared samples, kept while only settings change."""
        kept, tuning, dt, worlds = self.kept, self.look_at.tuning, self.context.dt, self._worlds
        if kept.prepared is not None:
            known_targets, known_between, known_worlds, known = kept.prepared
            same = known_targets is targets and known_between is between and known_worlds is worlds
            if same and known.count == gaze.samples_per_frame(tuning, dt):
                return known
        samples = gaze.prepare(tuning, *self.chain, targets, dt, 0.0, between, worlds)
        kept.prepared = targets, between, worlds, samples
        return samples

    def solve_displaced(self, solution: gaze.Solution, displacement: Array) -> gaze.Solution:
        """The `solution` of `steps` again, where the hips take the head along by a displacement (F, 3)."""
        if not np.any(displacement):
            return solution
        assert self._timeline is not None, "a look-at whose head may be displaced keeps the timeline of its solve"
        displaced = gaze.solve_shifted(*self._timeline, displacement, self.setting("influence"))
        return self._finished(displaced, len(self.samples.targets))

    def expected(self, solution: gaze.Solution, displacement: Array | None, animated: Array) -> Expected:
        """What the evaluated rig should make of the `solution` of `steps`, by what was learned from it before.

        displacement: (F, 3) of the hips. animated: (F, b, 4).
        """
        learned = self.kept.learned
        if learned is None:
            still = rotation.identity(*animated.shape[:2])
            return Expected(solution.wanted, still, np.zeros_like(solution.position), solution.position)
        turns = rotation.distance(animated, solution.wanted)
        shift = learned.shift_for(turns)
        displaced = self.solve_displaced(solution, shift if displacement is None else shift + displacement)
        wanted = learned.reached(displaced.wanted, turns)
        return Expected(wanted, learned.correction_for(turns), shift, displaced.position)

    def settled_error(self, solution: gaze.Solution, error: Array) -> float:
        """The largest of errors (F,) [rad] where the solution is settled with its target in reach, nan for none."""
        # Eyes that look away have no error, while the head has not set out yet.
        wanted = solution.settled & solution.reachable & np.isfinite(error)
        chosen = error[wanted & (self.setting("influence") >= 1.0)]
        return float(chosen.max()) if len(chosen) else np.nan

    def aim_errors(self, solution: gaze.Solution, error: Array, looked_at: Array | None = None) -> AimErrors | None:
        """Of errors (F,) [rad] over all frames at which the solution looks with its whole influence.

        looked_at: (F,) instead of that of the solution, as of eyes, which set out first.
        """
        looked_at = solution.looked_at if looked_at is None else looked_at
        looks = (looked_at >= 0) & (self.setting("influence") >= 1.0)
        return aim_errors.over(error, looks, solution.reachable, self.samples.frames)
