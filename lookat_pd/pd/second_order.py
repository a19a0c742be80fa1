"""The linear second-order system x'' = k_p (g - x) - k_d x': its steps as matrices, and its free motion.

With omega = 2 pi / settle_time and damping ratio zeta: k_p = omega**2, k_d = 2 zeta omega. One step of length h
maps the state (x, v) and the goal's polynomial over the step to the next state; where nothing is clamped the map
is the same at every step, so a whole motion is one linear recurrence that numpy runs without a loop over frames.

The integrators that make such steps are in `integrators`.

Source: the PD look-at of FINAL FANTASY XVI (Kawachi et al., CEDEC 2024).
"""

from dataclasses import dataclass
from math import ceil, floor

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidArgument
from ..rotation import Array

_BLOCK = 32
"""Steps that are taken as one matrix product; a power of 2."""
_FORGOTTEN = 1e-20
CLAMPED_STEP = 1.0 / 240.0
"""Longest step [s] wherever a clamp breaks the closed form, so that all frame rates still agree."""


def check_tuning(settle_time: ArrayLike, damping_ratio: ArrayLike) -> None:
    settle_time, damping_ratio = np.asarray(settle_time, dtype=float), np.asarray(damping_ratio, dtype=float)
    if not np.all(np.isfinite(settle_time) & (settle_time > 0.0)):
        raise InvalidArgument(
            "The settle time must be longer than 0 seconds, not {settle_time}.", settle_time=settle_time
        )
    if not np.all(np.isfinite(damping_ratio) & (damping_ratio >= 0.0)):
        raise InvalidArgument("The damping ratio must be 0 or more, not {damping_ratio}.", damping_ratio=damping_ratio)


def substeps(length: float, longest: float) -> int:
    """How many equal steps of at most `longest` seconds make `length` seconds."""
    return max(1, ceil(length / longest - 1e-9))


def stable_substeps(length: float, limit: float) -> int:
    """How many equal steps, each shorter than the stability limit, make `length` seconds."""
    return 1 if length < limit else floor(length / limit) + 1


@dataclass(frozen=True)
class Step:
    """One step as matrices: next state = transition @ (x, v) + response @ goal coefficients.

    transition: (..., 2, 2). response: (..., 2, degree + 1), for the goal c0 + c1 t + c2 t^2 + ... over the step, t in
    seconds from its start. Leading axes are those of the settle times.
    """

    transition: Array
    response: Array

    def __call__(self, state: Array, coefficients: Array) -> Array:
        """state (..., 2) and goal coefficients (..., degree + 1) to the next state (..., 2)."""
        return apply(self.transition, state) + apply(self.response, coefficients)


def apply(matrix: Array, vector: Array) -> Array:
    """matrix (..., 2, n) @ vector (..., n), broadcasting; on so short an axis plain sums beat einsum and matmul."""
    rows = []
    for row in range(matrix.shape[-2]):
        total = matrix[..., row, 0] * vector[..., 0]
        for column in range(1, matrix.shape[-1]):
            total = total + matrix[..., row, column] * vector[..., column]
        rows.append(total)
    result = np.empty((*rows[0].shape, len(rows)))
    for row, total in enumerate(rows):
        result[..., row] = total
    return result


def free_decay(h: ArrayLike, omega: ArrayLike, zeta: ArrayLike) -> Array:
    """Transition matrices (..., 2, 2) of the undriven system over h seconds; everything broadcasts."""
    h, omega, zeta = np.broadcast_arrays(np.asarray(h, float), np.asarray(omega, float), np.asarray(zeta, float))
    a = zeta * omega
    turning = omega * np.sqrt(np.abs(1.0 - zeta**2))
    under, over = zeta < 1.0, zeta > 1.0
    decay = np.exp(-a * h)
    safe = np.where(turning > 0.0, turning, 1.0)
    # Two real poles: the slow one is omega^2 / (a + turning), which loses no digits and never overflows.
    slow, spread = np.exp(-np.where(over, omega**2 / (a + safe), 0.0) * h), np.where(over, 2.0 * turning * h, 0.0)
    cosine = np.where(under, decay * np.cos(turning * h), np.where(over, slow * (1 + np.exp(-spread)) / 2, decay))
    sine = np.where(
        under & (turning > 0.0),
        decay * np.sin(turning * h) / safe,
        np.where(over & (turning > 0.0), -slow * np.expm1(-spread) / (2.0 * safe), decay * h),
    )
    return to_matrix(((cosine + a * sine, sine), (-(omega**2) * sine, cosine - a * sine)))


def largest_response(damping_ratio: float, feed_forward: float = 0.0) -> float:
    """How far from 0 goals that stay within 1 can ever drive the state: 1 where nothing overshoots.

    It is the total variation of the step response, 1.09 for a ratio of 0.707.
    """
    times = np.linspace(0.0, 40.0, 4001)
    start = np.array([-1.0, 2.0 * damping_ratio * feed_forward])
    away = apply(free_decay(times, 1.0, damping_ratio), start)[:, 0]
    return max(1.0, float(np.sum(np.abs(np.diff(away)))))


def to_matrix(rows: tuple[tuple[Array, ...], ...]) -> Array:
    """Rows of components (...), broadcast, as one matrix (..., m, n)."""
    return np.stack([np.stack(np.broadcast_arrays(*row), axis=-1) for row in rows], axis=-2)


def recurrence(transition: Array, inputs: Array, start: Array) -> Array:
    """States s[k + 1] = transition @ s[k] + inputs[k] from s[0] = start, for all k at once.

    transition: (..., 2, 2). inputs: (n, ..., 2). start: (..., 2). Returns (n + 1, ..., 2).
    """
    start = np.broadcast_to(start, inputs.shape[1:])
    if len(inputs) > 2 * _BLOCK and inputs.ndim == 4 and transition.shape[:-2] == (inputs.shape[1], 1):
        return _in_blocks(transition[:, 0], inputs, start)
    return _by_doubling(transition, inputs, start)


def _by_doubling(transition: Array, inputs: Array, start: Array) -> Array:
    """After pass j every state holds the inputs of the last 2**j steps, so n steps take log2(n) passes."""
    x, v = (np.concatenate((start[None, ..., n], inputs[..., n])) for n in (0, 1))
    reach, power = 1, transition
    # What is older than the system's memory adds nothing any more.
    while reach < len(x) and np.abs(power).max() > _FORGOTTEN:
        # Both are evaluated before either is stored, so a pass never reads its own results.
        to_x = power[..., 0, 0] * x[:-reach] + power[..., 0, 1] * v[:-reach]
        to_v = power[..., 1, 0] * x[:-reach] + power[..., 1, 1] * v[:-reach]
        x[reach:] += to_x
        v[reach:] += to_v
        reach, power = 2 * reach, power @ power
    return np.stack((x, v), axis=-1)


def _in_blocks(transition: Array, inputs: Array, start: Array) -> Array:
    """The same for m systems, transition (m, 2, 2) and inputs (n, m, w, 2): blocks of steps as matrix products.

    Within a block every state is the sum of what the block's inputs have become by then; only from block to block
    does one state lead to the next.
    """
    steps, systems, width, _ = inputs.shape
    blocks = -(-steps // _BLOCK)
    padded = np.zeros((blocks * _BLOCK, systems, width, 2))
    padded[:steps] = inputs
    powers = np.empty((_BLOCK + 1, systems, 2, 2))
    powers[0], powers[1], known = np.eye(2), transition, 1
    while known < _BLOCK:
        powers[known + 1 : 2 * known + 1] = powers[1 : known + 1] @ powers[known]
        known *= 2
    age = np.subtract.outer(np.arange(_BLOCK), np.arange(_BLOCK))
    response = np.where((age >= 0)[..., None, None, None], powers[np.maximum(age, 0)], 0.0)
    # (m, step and coordinate, step and coordinate)
    response = response.transpose(2, 0, 3, 1, 4).reshape(systems, 2 * _BLOCK, 2 * _BLOCK)
    folded = padded.reshape(blocks, _BLOCK, systems, width, 2).transpose(2, 1, 4, 0, 3)
    inside = response @ folded.reshape(systems, 2 * _BLOCK, blocks * width)
    inside = inside.reshape(systems, _BLOCK, 2, blocks, width)
    ends = inside[:, -1].transpose(2, 0, 3, 1)
    begins = _by_doubling(powers[_BLOCK][:, None], ends, start)[:-1]
    carried = powers[1:].transpose(1, 0, 2, 3).reshape(systems, 2 * _BLOCK, 2)
    carried = carried @ begins.transpose(1, 3, 0, 2).reshape(systems, 2, blocks * width)
    states = (inside + carried.reshape(inside.shape)).transpose(3, 1, 0, 4, 2).reshape(-1, systems, width, 2)
    return np.concatenate((start[None], states[:steps]))
