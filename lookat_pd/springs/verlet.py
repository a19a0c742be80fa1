"""The settings of VRM's springBone as those of spring bones, and back.

VRM steps the tip of a bone once a frame, and keeps its distance from the joint: what it went in the last frame without
the drag's part, plus the stiffness along the direction at rest, plus gravity. For a small swing that is a linear
recurrence with two poles,

    (1 + kappa) X[n + 1] = X[n] + (1 - drag) (X[n] - X[n - 1]) + kappa P[n + 1],   kappa = stiffness / (rate length),

and its motion depends on the frame rate. Games run at 60 frames a second, so these poles, at 60, are those of the
differential equation X'' = omega² (P - X) + 2 zeta omega (P' - X') - air X' that has the same free motion at the times
of the frames. Damping is divided into zeta and air so that a bone of which the joint moves evenly trails as far behind.

Source: the algorithm of the specification VRMC_springBone 1.0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..rotation import Array
from .modes import Bodies, Modes
from .tuning import SpringTuning

RATE = 60.0
"""Frames a second for which VRM characters are made."""
_MOST_DRAG = 1.0 - 1e-6
_LEAST = 1e-9


@dataclass(frozen=True)
class VrmTuning:
    """How bones swing as VRM has them."""

    omega: Array
    """[rad/s]"""
    damping_ratio: Array
    air: Array
    """Drag against still air [1/s]."""
    unit: Array
    """The acceleration [m/s²] that a gravity of 1 is."""


def settings_of(stiffness: ArrayLike, drag: ArrayLike, length: ArrayLike) -> VrmTuning:
    """How bones swing with stiffness and drag as VRM has them; length [m]. Raises InvalidArgument."""
    stiff = np.maximum(checks.array("stiffness", stiffness), 0.0)
    lost = np.clip(checks.array("drag", drag), 0.0, _MOST_DRAG)
    long = np.maximum(checks.array("length", length), 1e-6)
    kappa = stiff / (RATE * long)
    product = (1.0 - lost) / (1.0 + kappa)
    total = (2.0 - lost) / (1.0 + kappa)
    apart = 0.25 * total**2 - product
    decay = 0.5 * np.log(product)
    # Complex poles, then real ones.
    turned = np.arctan2(np.sqrt(np.maximum(-apart, 0.0)), 0.5 * total)
    root = np.sqrt(np.maximum(apart, 0.0))
    larger = 0.5 * total + root
    # 1 - larger, without the loss of digits of a difference of near numbers.
    slow = np.log1p(-np.clip(kappa / (1.0 + kappa) / np.maximum(1.0 - 0.5 * total + root, 1e-12), 0.0, 1.0 - 1e-12))
    fast = np.log(product / larger)
    squared = RATE**2 * np.where(apart < 0.0, decay**2 + turned**2, slow * fast)
    unit = np.where(
        stiff > _LEAST,
        squared * long / np.maximum(stiff, _LEAST),
        RATE * np.where(lost > 1e-6, -np.log1p(-lost) / np.maximum(lost, 1e-12), 1.0),
    )
    omega, whole, air = np.sqrt(squared), -2.0 * RATE * decay, lost * unit
    ratio = np.maximum(whole - air, 0.0) / np.maximum(2.0 * omega, 1e-9)
    return VrmTuning(omega, ratio, whole - 2.0 * omega * ratio, unit)


def of_settings(omega: ArrayLike, air: ArrayLike, length: ArrayLike) -> tuple[Array, Array]:
    """Stiffness and drag as VRM has them, of bones with omega [rad/s], damping [1/s] and length [m].

    Where VRM at 60 frames a second cannot follow, the nearest that it can. Raises InvalidArgument.
    """
    squared = (checks.array("omega", omega) / RATE) ** 2
    half = -0.5 * np.maximum(checks.array("damping", air), 0.0) / RATE
    long = np.maximum(checks.array("length", length), 1e-6)
    apart = half**2 - squared
    turned, root = np.sqrt(np.maximum(-apart, 0.0)), np.sqrt(np.maximum(apart, 0.0))
    product = np.exp(2.0 * half)
    complex_sum = 2.0 * np.exp(half) * np.cos(np.minimum(turned, np.pi))
    real_sum = np.exp(half + root) + np.exp(half - root)
    part = np.clip(np.where(apart < 0.0, complex_sum, real_sum) - product, 1e-3, 1.0)
    return RATE * long * (1.0 / part - 1.0), np.clip(1.0 - product / part, 0.0, 1.0)


def omega_of_chain(lengths: ArrayLike, settle_time: ArrayLike) -> Array:
    """omega (n,) [rad/s] of one-way bones that bend under a steady pull as far as those of a chain, each of which hangs
    on the one before and pulls at it, with these lengths [m] and settle times [s], (n,). Raises InvalidArgument."""
    long = checks.array("length", lengths)
    count, nothing = len(long), np.zeros(len(long))
    tuning = SpringTuning(
        checks.like("settle time", settle_time, count),
        nothing,
        nothing,
        np.zeros((count, 3)),
        nothing,
        nothing,
        np.full(count, np.pi),
    )
    bodies = Bodies.made(np.arange(count) - 1, long)
    modes = Modes(bodies, tuning, nothing)
    swings = modes.swings(modes.of(bodies.hanging * long) / modes.stiffness)
    bends = np.diff(swings, prepend=0.0)
    return 1.0 / np.sqrt(np.maximum(bends * long, 1e-12))
