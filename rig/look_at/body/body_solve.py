"""The response of one body to the solved chain of its look-at: first the hips, which move the head, then the rest."""

from dataclasses import replace
from typing import Protocol

import numpy as np

from ....lookat_pd import gaze, rotation
from ....lookat_pd.body import weight_shift
from ....lookat_pd.eyes import EyeSolution
from ....lookat_pd.gaze import drift
from ....lookat_pd.rotation import Array
from ...sampling.sampler import Samples
from . import response
from .body_rig import BodyRig
from .response import BodyResponse

_LEVEL = 1e-5
"""Tolerance [m] of the height of the hips."""


def drifting_targets(body: BodyRig, targets: Array, head: Array, times: Array) -> Array:
    """Targets (n, F, 3) with the idle drift of the gaze, relative to the head (F, 3) at times (F,) [s]."""
    return drift.wander(targets, head, np.array(body.upright), times, body.drift, body.seed, body.repeat)


class GazeSource(Protocol):
    """What a body asks about the gaze."""

    def mixed(self, targets: Array) -> tuple[Array, Array]:
        """Targets (n, F, 3) that are looked at, and whether (F,) there is any."""
        ...

    def glanced_by_eyes(self, targets: Array) -> tuple[Array, list[gaze.Event]]:
        """Targets (m, F, 3) of the eyes and when they look at them."""
        ...

    def setting(self, name: str) -> Array:
        """A setting at every frame (F,)."""
        ...


class BodySolve:
    """The response of one body. samples: of the chain and the body as animated. dt: seconds per frame. begin: time [s]
    of the first frame, by default what its number says."""

    def __init__(
        self, body: BodyRig, chain: gaze.Chain, samples: Samples, dt: float, begin: float | None = None
    ) -> None:
        self.body, self.chain, self.samples, self.dt = body, chain, samples, dt
        self.begin = float(samples.frames[0]) * dt if begin is None else begin
        self._animated = response.posed(body, samples)

    def hips_displacement(self, offsets: Array, stance: Array | float = 0.0) -> Array:
        """The displacement (F, 3) of the hips for a chain with offsets (F, b, 4): level, and down.

        stance: (F,) part of the weight on the left leg.
        """
        body = self.body
        turn = weight_shift.head_turn(self.chain, offsets)
        pitch = weight_shift.head_pitch(self.chain, offsets)
        displacement = response.shifted(body, self._animated, turn, pitch, self.dt, stance)
        if body.reaching and body.hips_control:
            now = response.propagated(body, self.samples, self._chain_motion(offsets, displacement))
            down = response.lowered(body, self._animated, now, self.dt)
            displacement = displacement - down[:, None] * body.upright
        return displacement

    def _chain_motion(self, offsets: Array, displacement: Array) -> weight_shift.ChainMotion:
        bones, s = len(self.chain), self.samples
        return weight_shift.ChainMotion.of(s.rotations[:, :bones], s.positions[:, :bones], offsets, displacement)

    def corrected_displacement(self, seen: Samples, displacement: Array, active: Array) -> Array:
        """The displacement (F, 3) of the hips, lowered as the legs require in the evaluated rig.

        active: (F,) frames at which the chain turns. Returns the same array if nothing changes.
        """
        body = self.body
        if not (body.hips_control and body.reaching):
            return displacement
        up = np.array(body.upright)
        before = np.maximum(-(displacement @ up), 0.0)
        now = response.risen(response.posed(body, seen), before[:, None] * up)
        moving = active | np.any(displacement != 0.0, axis=1)
        down = response.lowered(body, self._animated, response.where(moving, now, self._animated), self.dt)
        if np.abs(down - before).max() < _LEVEL:
            return displacement
        return displacement + (before - down)[:, None] * up

    def respond(
        self,
        wanted: Array,
        offsets: Array,
        displacement: Array,
        seen: Samples | None,
        solver: GazeSource,
    ) -> BodyResponse:
        """The response of the body to the offsets (F, b, 4) of the chain and the displacement (F, 3) of the hips.

        wanted: (F, 4) orientation of the aiming bone that the chain was solved for. seen: the rig evaluated with these,
        None if forward kinematics predicts it. solver: of the gaze.
        """
        body, s, targets = self.body, self.samples, self.samples.targets
        if seen is None:
            motion = self._chain_motion(offsets, displacement)
            now, head, place = response.propagated(body, s, motion), wanted, motion.places[:, 0]
        else:
            moving = np.any(offsets != rotation.IDENTITY, axis=(1, 2)) | np.any(displacement != 0.0, axis=1)
            now = response.where(moving, response.posed(body, seen), self._animated)
            head = np.where(moving[:, None], seen.rotations[:, 0], s.rotations[:, 0])
            place = np.where(moving[:, None], seen.positions[:, 0], s.positions[:, 0])
            targets = seen.targets
        targets = solver.mixed(targets)[0]
        if body.drift:
            times = self.begin + np.arange(len(s.frames)) * self.dt
            targets = drifting_targets(body, targets, s.positions[:, 0], times)
        count = len(targets)
        targets, events = solver.glanced_by_eyes(targets)
        influence, shut = solver.setting("influence"), solver.setting("eyes_closed")
        found = response.respond(
            body, s, (head, place), now, displacement, targets, events, self.dt, self.begin, influence, shut
        )
        return replace(found, gaze=None if found.gaze is None else _on_targets(found.gaze, count))


def _on_targets(gaze: EyeSolution, count: int) -> EyeSolution:
    """The gaze without the virtual targets of glances, which come after the first `count`: beside a target there is no
    error, and none of them is what is looked at."""
    beside = gaze.looked_at >= count
    return replace(gaze, error=np.where(beside, np.nan, gaze.error), looked_at=np.where(beside, -1, gaze.looked_at))
