"""The body and the eyes of a look-at that follows in real time: solved over the last seconds as they were shown.

The controllers of the body start at rest as long ago as their memory reaches, so that they are where a solve of the
whole session would have them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import bpy
import numpy as np

from ....lookat_pd import gaze, rotation
from ....lookat_pd.body.weight_shift import ChainMotion
from ....lookat_pd.rotation import Array
from ...sampling import sampler, shear
from ...sampling.sampler import Samples, seen_from
from ..body import response
from ..body.body_solve import BodySolve
from ..resolve import LookAt

_STEP = 1.0 / 60.0
_MEMORY = 2.0
"""How many of the longest settle times matter."""
_SHORTEST, _LONGEST = 1.0, 4.0
"""Bounds of the memory [s]."""
_PURSUIT = np.radians(100.0)
"""Speed [rad/s] of a goal up to which eyes follow it smoothly; beyond, a saccade brings them there."""
_LATENCY = 0.2
"""Least time [s] from one saccade to the next."""
_PLACE = 1e-5


@dataclass(frozen=True)
class Shown:
    """What a look-at adds at one time: offsets (t, 4) of the bones that turn, the chain first, displacements (m, 3) of
    those that move, and by how much its shape keys change (s,)."""

    offsets: Array
    moves: Array
    shapes: Array


@dataclass(frozen=True)
class _Moment:
    """What was shown at one moment, for the solution of the next."""

    time: float
    offsets: Array
    """(b, 4) offsets of the chain."""
    goal: Array
    """(3,) goal in the world."""
    aimed: int | None
    """Number of the path to which the goal belongs, None where nothing is looked at."""
    influence: float
    rotations: Array | None = None
    """Orientations of all sampled bones as measured, None where they are predicted."""
    positions: Array | None = None
    """Positions of all sampled bones as measured, None where they are predicted."""


@dataclass(frozen=True)
class _FollowedGaze:
    """What a body asks about a gaze that follows: events, and the influence (F,)."""

    events: list[gaze.Event]
    influence: Array

    def mixed(self, targets: Array) -> tuple[Array, Array]:
        return targets, np.ones(len(self.influence), dtype=bool)

    def glanced_by_eyes(self, targets: Array) -> tuple[Array, list[gaze.Event]]:
        return targets, self.events

    def setting(self, name: str) -> Array:
        return self.influence if name == "influence" else np.zeros(len(self.influence))


class LiveFollowBody:
    """The response of the body of one look-at, tick by tick.

    displacement: (3,) of the hips after the last tick, in armature space. is_predicted: forward kinematics predicts
    the pose of the body; otherwise the evaluated pose is measured.
    """

    def __init__(self, scene: bpy.types.Scene, look_at: LookAt, offsets: Array, goal: Array) -> None:
        """Begin at rest with offsets (b, 4) of the chain and a goal (3,). Raises RigError."""
        self.scene, self.look_at = scene, look_at
        self.is_predicted = look_at.plain and look_at.body is not None and look_at.body.plain
        self.displacement = np.zeros(3)
        self._time, self._paths, self._latest = 0.0, 0, -np.inf
        self.sample()
        self._moments = [_Moment(-2.0 * _LONGEST, offsets, goal, 0, 1.0), _Moment(0.0, offsets, goal, 0, 1.0)]

    @property
    def bones(self) -> tuple[str, ...]:
        """The chain, and the other bones that matter."""
        assert self.look_at.body is not None
        return tuple(dict.fromkeys((*self.look_at.bones, *self.look_at.body.sampled)))

    def sample(self) -> None:
        """See the animated pose of the current frame. Raises RigError."""
        look_at = self.look_at
        aim, located = look_at.chain.forward[0], bool(look_at.moved)
        frames = [self.scene.frame_current_final]
        with sampler.Sampler(self.scene, look_at.armature, self.bones, (), aim, located=located) as sampling:
            self._animated = sampler.run(sampling.sample(frames))

    def is_posed_as(self, positions: Array) -> bool:
        """Whether the chain is where it was sampled; positions: (b, 3) without the look-at."""
        there = self._animated.positions[0, : len(positions)]
        return bool(np.abs(there - positions).max() < _PLACE * max(1.0, float(np.ptp(there))))

    def hips_shift(self, moves: Array) -> Array:
        """How far (3,) displacements (m, 3) of the body's bones move the hips, in armature space."""
        body, samples = self.look_at.body, self._animated
        if body is None or not body.hips_control:
            return np.zeros(3)
        unit = [
            response.own_displacement(samples, body.hips_control, samples.rotations[:, n], axis[None])[0]
            for n in [samples.bones.index(body.hips_control)]
            for axis in np.eye(3)
        ]
        return moves[body.moved.index(body.hips_control)] @ np.linalg.inv(np.array(unit))

    def hips_alone(self, offsets: Array, shown: Shown) -> Shown:
        """The chain with offsets (b, 4) and the hips as `shown`, without the rest of the body."""
        look_at = self.look_at
        every, moves = rotation.identity(len(look_at.turned)), np.zeros_like(shown.moves)
        every[: len(offsets)] = offsets
        if look_at.body is not None and look_at.body.hips_control:
            hips = look_at.moved.index(look_at.body.hips_control)
            moves[hips] = shown.moves[hips]
        return Shown(every, moves, shown.shapes)

    def measured(self, view_layer: bpy.types.ViewLayer) -> tuple[Array, Array]:
        """Orientations (n, 4) and positions (n, 3) of `bones` as Blender evaluates them."""
        evaluated = self.look_at.armature.evaluated_get(view_layer.depsgraph)
        matrices = np.array([evaluated.pose.bones[name].matrix for name in self.bones])
        axes = matrices[:, :3, :3]
        rotations = rotation.from_matrix(axes)
        if self._animated.sheared:
            rotations[:1] = shear.aimed(rotations[:1], axes[:1], self.look_at.chain.forward[0])
        return rotations, matrices[:, :3, 3]

    def tick(
        self,
        dt: float,
        offsets: Array,
        goal: Array | None,
        world: Array,
        influence: float,
        seen: tuple[Array, Array] | None = None,
    ) -> Shown:
        """What is to be shown dt seconds later with offsets (b, 4) of the chain, looking at a point of the world.

        goal: (3,), None where the target is let go. world: (4, 4) of the armature. seen: as `measured` with these
        offsets and the displacement of the hips, None where it is predicted.
        """
        self._time += dt
        before = self._moments[-1]
        aimed = self._aimed(before, goal, dt, world)
        place = before.goal if goal is None else goal
        if dt <= 0.0:
            self._moments.pop()
        self._moments.append(_Moment(self._time, offsets, place, aimed, influence, *(seen or ())))
        return self._solved(world)

    def _aimed(self, before: _Moment, goal: Array | None, dt: float, world: Array) -> int | None:
        """The number of the path that a goal belongs to: another one where the eyes need a saccade to it."""
        if goal is None:
            return None
        leaps = before.aimed is None
        if not leaps and dt > 0.0 and self._time - self._latest > _LATENCY:
            head = world[:3, :3] @ self._animated.positions[0, 0] + world[:3, 3]
            angle = rotation.angle_between(before.goal - head, goal - head)
            leaps = float(angle) > _PURSUIT * dt
        if leaps:
            self._paths, self._latest = self._paths + 1, self._time
        return self._paths

    def _solved(self, world: Array) -> Shown:
        look_at, body = self.look_at, self.look_at.body
        assert body is not None
        memory = self._memory()
        self._forget(memory)
        times = self._time + _STEP * np.arange(-int(memory / _STEP), 1)
        offsets = rotation.normalize(self._at(times, [m.offsets for m in self._moments], turns=True))
        targets, events = self._goals(times)
        influence = self._at(times, [np.array(m.influence) for m in self._moments])
        samples = self._standing(len(times), world, targets)
        solve = BodySolve(body, look_at.chain, samples, _STEP, self._time - memory)
        displacement = solve.hips_displacement(offsets)
        seen = None
        if not self.is_predicted:
            seen = self._measured_samples(times, samples)
        bones = len(look_at.bones)
        chain = samples.rotations[:, :bones], samples.positions[:, :bones]
        wanted = rotation.multiply(ChainMotion.of(*chain, offsets, displacement).turns[:, 0], chain[0][:, 0])
        response = solve.respond(wanted, offsets, displacement, seen, _FollowedGaze(events, influence))
        self.displacement = displacement[-1]
        shapes = response.shapes[-1] if response.shapes is not None else np.zeros(0)
        return Shown(np.concatenate((offsets[-1], response.offsets[-1])), response.moves[-1], shapes)

    def _memory(self) -> float:
        body = self.look_at.body
        assert body is not None
        slowest = [part.settle_time for part in (body.shift, body.recoil) if part is not None]
        return float(np.clip(_MEMORY * max(slowest, default=0.0), _SHORTEST, _LONGEST))

    def _forget(self, memory: float) -> None:
        """Drop what is older than the memory, but for the moment before it."""
        begin = self._time - memory
        old = sum(moment.time < begin for moment in self._moments) - 1
        del self._moments[: max(old, 0)]

    def _at(self, times: Array, values: Sequence[Array], *, turns: bool = False) -> Array:
        """Values at other times (F,), linear between the moments."""
        every = np.array(values)
        if turns:
            every = rotation.align_hemisphere(every)
        here = np.array([moment.time for moment in self._moments])
        k = np.clip(np.searchsorted(here, times, side="right") - 1, 0, len(here) - 2)
        share = np.clip((times - here[k]) / np.maximum(here[k + 1] - here[k], 1e-9), 0.0, 1.0)
        share = share.reshape(-1, *(1,) * (every.ndim - 1))
        return every[k] + share * (every[k + 1] - every[k])

    def _goals(self, times: Array) -> tuple[Array, list[gaze.Event]]:
        """The paths of goals (n, F, 3) in the world, which stand still where they are not looked at, and events."""
        moments, goals = self._moments, [moment.goal for moment in self._moments]
        starts = [0] + [k for k, (a, b) in enumerate(pairwise(moments), 1) if a.aimed != b.aimed]
        places, events = [], []
        for number, (first, end) in enumerate(zip(starts, [*starts[1:], len(moments)], strict=True)):
            within = np.clip(times, moments[first].time, moments[end - 1].time)
            places.append(self._at(within, goals))
            time = moments[first].time - times[0] if number else -1.0
            events.append(gaze.Event(time, None if moments[first].aimed is None else number))
        return np.array(places), events

    def _standing(self, frames: int, world: Array, targets: Array) -> Samples:
        """The animated pose of this frame at all times, with targets (n, F, 3) of the world."""
        one, worlds = self._animated, np.repeat(world[None], frames, axis=0)

        def still(values: Array) -> Array:
            return np.repeat(values, frames, axis=0)

        return replace(
            one,
            frames=still(one.frames),
            rotations=still(one.rotations),
            positions=still(one.positions),
            sizes=still(one.sizes),
            targets=seen_from(worlds, targets),
            worlds=worlds,
            raw={mode: still(values) for mode, values in one.raw.items()},
        )

    def _measured_samples(self, times: Array, samples: Samples) -> Samples:
        """The pose as measured at each time; at those without a measurement as at the first one."""
        known = next(m for m in reversed(self._moments) if m.rotations is not None)
        rotations, positions = [], []
        for moment in reversed(self._moments):
            known = moment if moment.rotations is not None else known
            rotations.append(known.rotations)
            positions.append(known.positions)
        turned = rotation.normalize(self._at(times, rotations[::-1], turns=True))
        return replace(samples, rotations=turned, positions=self._at(times, positions[::-1]))
