"""Bones with keys at different times.

Without disturbances the joints do not influence each other: bones with keys at the same frames are solved together, the
others separately.
"""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...lookat_pd import dynamics, ik, rotation
from ...lookat_pd.dynamics.bend_ranges import BendRanges
from ...lookat_pd.progress import subrange
from ...lookat_pd.rotation import Array
from . import joint_ranges
from .actuation import Actuation
from .articulation import Articulation


@dataclass(frozen=True)
class Keyed:
    """Keys of joints that have some of their own."""

    keys: Array
    """(k, n, 4) at times (k,) [s]."""
    times: Array
    owned: NDArray[np.bool_]
    """(k, n), whether a key is one of a joint."""
    kinds: NDArray | None
    """(k, n), how the joints pass them; None if all stop, as published."""
    limits: ik.Limits | None
    """Limits of the joints."""
    hinges: Array
    """(n, 3), axes, 0 for ball joints."""
    keeps: Array | None = None
    """(k, n), the speeds that joints keep at keys, as of `dynamics.interpolate`."""
    bends: BendRanges | None = None
    """How far hinges bend."""


def can_be(powers: Actuation, inertia: str) -> bool:
    """Whether the joints do not influence each other."""
    disturbed = powers.passive.any() or np.isfinite(powers.torque_limit).any() or powers.damping.any()
    return inertia == "true" and not disturbed


def interpolating(
    body: Articulation,
    animated: Array,
    given: Keyed,
    step: float,
    powers: Actuation,
    gravity: tuple[float, float, float],
    settle: float,
    *,
    swing_past: float = 0.0,
) -> Generator[float, None, dynamics.Interpolation]:
    """The motion at G frames, at intervals of `step` [s] from the first key; yields the completed fraction.

    animated: (G, n, 4), the motion of a bone before its first key and after it has settled. settle: [s] after the last
    key of a joint. swing_past: as of `dynamics.interpolate`. Torques do not include the motion of the base.
    """
    keys, times, owned = given.keys, given.times, given.owned
    rotations, count = animated.copy(), len(animated)
    everything = np.arange(owned.shape[1])
    residuals = np.zeros(owned.shape)
    beats = [beat for beat in np.unique(owned, axis=1).T if beat.sum() > 1]
    for done, beat in enumerate(beats):
        mine, joints = np.flatnonzero(beat), np.flatnonzero((owned == beat[:, None]).all(axis=0))
        velocities = None
        if given.kinds is not None:
            velocities = dynamics.key_velocities(keys[mine], times[mine], given.kinds[mine])
        steps = dynamics.interpolating(
            body.body,
            keys[mine],
            times[mine],
            step,
            residual=powers.residual,
            gravity=gravity,
            settle=settle,
            velocities=velocities,
            swing_past=swing_past,
            limits=None if given.limits is None else joint_ranges.only(given.limits, np.isin(everything, joints)),
            hinges=given.hinges,
            felt=body.felt,
            bends=given.bends,
            keeps=None if given.keeps is None else given.keeps[mine],
        )
        motion = yield from subrange(steps, done / len(beats), (done + 1) / len(beats))
        at = (step * np.arange(count) - times[mine[0]]) / step
        inside = np.flatnonzero((at > -1e-6) & (at < len(motion.rotations) - 1 + 1e-6))
        moved = between(motion.rotations[:, joints], at[inside])
        rotations[np.ix_(inside, joints)] = moved
        residuals[np.ix_(mine, joints)] = motion.residuals[:, joints]
    nothing = np.zeros(owned.shape)
    torques = _torques(body, rotations, step, gravity)
    return dynamics.Interpolation(step * np.arange(count), rotations, torques, nothing.max(axis=1), nothing, residuals)


def between(rotations: Array, at: Array) -> Array:
    """Rotations (m, ..., 4) interpolated at fractional indices (F,)."""
    before = np.clip((at + 1e-6).astype(int), 0, len(rotations) - 1)
    after = np.minimum(before + 1, len(rotations) - 1)
    share = np.clip(at - before, 0.0, 1.0)
    share = np.where(share < 1e-5, 0.0, share)
    return rotation.slerp(rotations[before], rotations[after], share.reshape(-1, *(1,) * (rotations.ndim - 2)))


def _torques(body: Articulation, rotations: Array, step: float, gravity: tuple[float, float, float]) -> Array:
    """(G, n, 3) [N m], from differences of the motion."""
    turns = rotation.log(rotation.multiply(rotation.inverse(rotations[:-1]), rotations[1:])) / step
    ahead, behind = np.concatenate((turns, turns[-1:])), np.concatenate((turns[:1], turns))
    return body.body.inverse(rotations, 0.5 * (ahead + behind), (ahead - behind) / step, gravity)
