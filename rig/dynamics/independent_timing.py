"""Bones that have their keys at different times, each on the beat of its own.

As long as nothing disturbs the law, joints do not feel each other: bones with keys at the same frames are moved
together, the others as if they were alone.
"""

from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from ...lookat_pd import dynamics, rotation
from ...lookat_pd.rotation import Array
from ..animation.progress import subrange
from .actuation import Actuation
from .articulation import Articulation


def can_be(powers: Actuation, inertia: str) -> bool:
    """Whether the joints do not feel each other."""
    return inertia == "true" and not powers.passive.any() and not np.isfinite(powers.torque_limit).any()


def interpolating(
    body: Articulation,
    animated: Array,
    keys: Array,
    times: Array,
    owned: NDArray[np.bool_],
    step: float,
    powers: Actuation,
    gravity: tuple[float, float, float],
    settle: float,
) -> Generator[float, None, dynamics.Interpolation]:
    """The motion at G frames, `step` [s] apart from the first key on, yielding the fraction done.

    animated: (G, n, 4), what a bone does before its first key and after it has come to rest. keys: (k, n, 4) at times
    (k,), of which each joint has those that are `owned` (k, n). settle: [s] after a joint's own last key. Torques leave
    out that the base moves.
    """
    rotations, count = animated.copy(), len(animated)
    residuals = np.zeros(owned.shape)
    beats = [beat for beat in np.unique(owned, axis=1).T if beat.sum() > 1]
    for done, beat in enumerate(beats):
        mine, joints = np.flatnonzero(beat), np.flatnonzero((owned == beat[:, None]).all(axis=0))
        steps = dynamics.interpolating(
            body.body, keys[mine], times[mine], step, residual=powers.residual, gravity=gravity, settle=settle
        )
        found = yield from subrange(steps, done / len(beats), (done + 1) / len(beats))
        at = (step * np.arange(count) - times[mine[0]]) / step
        inside = np.flatnonzero((at > -1e-6) & (at < len(found.rotations) - 1 + 1e-6))
        moved = between(found.rotations[:, joints], at[inside])
        rotations[np.ix_(inside, joints)] = moved
        residuals[np.ix_(mine, joints)] = found.residuals[:, joints]
    nothing = np.zeros(owned.shape)
    torques = _torques(body, rotations, step, gravity)
    return dynamics.Interpolation(step * np.arange(count), rotations, torques, nothing.max(axis=1), nothing, residuals)


def between(rotations: Array, at: Array) -> Array:
    """Rotations (m, ..., 4) at places (F,) between them."""
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
