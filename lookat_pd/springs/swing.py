"""How bones swing: a recurrence in closed form for each mode of their chains, over all frames at once.

The swing of a bone is the vector from its animated direction along the sphere of all directions to its own, as a
complex number [rad] in the tangent plane at the animated direction. That plane is carried along without spin about the
chain's first bone, so that a head that shakes does not twist its hair. The linear part of the equation of motion is
solved in closed form by modes (`modes`), for an input that is linear between samples, as the second derivative of a
spline is. What is not linear, the angle at which gravity, wind and the acceleration of the base act, is taken from the
last result until that stays the same (waveform relaxation); a small swing needs one round.

For one bone without gravity, z'' + 2 zeta omega z' + omega² z = -P0'' / l, with P0 the tip as animated: a base shaken
with amplitude A at the frequency W makes it swing by A W² / l divided by the root of (omega² - W²)² +
(2 zeta omega W)².

Source: waveform relaxation: Lelarasmee, Ruehli, Sangiovanni-Vincentelli 1982.
"""

from dataclasses import dataclass

import numpy as np

from .. import rotation
from ..pd.integrators import make_step
from ..pd.recurrences import filtered
from ..pd.second_order import Step
from ..rotation import Array
from . import splines
from .modes import Bodies, Modes
from .pushes import WIDEST, bent
from .rests import at_rest
from .splines import Cycle
from .tuning import MOST_STRETCH, SpringTuning

_ROUNDS = 12
"""Most rounds of relaxation."""
_SAME = 3e-4
"""A swing that changes by less [rad] is the result."""
_LEAST_DAMPING = 1e-3
"""Smallest damping ratio of a motion that repeats itself; without any it would grow for ever in resonance."""


@dataclass(frozen=True)
class Animated:
    """m bones over S samples without their swing; all have a length."""

    bodies: Bodies
    turns: Array
    """(S, m, 4) orientations."""
    places: Array
    """(S, m, 3) of the joints [m]."""
    axes: Array
    """(m, 3, 3) by rows: two directions across each bone and its own, in its own frame, right-handed; across alike for
    all of a chain."""
    pull: Array
    """(S or 1, m, 3) gravity and wind [m/s²]."""
    step: float
    """Seconds from one sample to the next."""
    cycle: Cycle | None = None
    """How all is placed one cycle later, where the last sample is the first one again."""


@dataclass(frozen=True)
class Swing:
    """How m bones swing over S samples."""

    z: Array
    """(S, m) in their own frames."""
    longer: Array
    """(S, m) part of its length by which a bone becomes longer."""
    found: Array
    """(m,) whether the relaxation came to its end."""
    rate: Array
    """(S, m) rates of z [rad/s], the bones' frames at rest."""


@dataclass(frozen=True)
class Drive:
    """What drives m swings at S samples, as torques."""

    whole: Array
    """(S, m) complex: all that is independent of the swing."""
    across: Array
    """(S, m) complex: of gravity, wind and the base's acceleration alone."""
    along: Array
    """(S, m) the same along the bone, by the angle."""
    phase: Array
    """(S, m) unit complex numbers from the bone's own frame to the one that does not spin."""
    alone: Array
    """(m,) the moment of inertia of a bone that is a chain by itself, else 0."""
    spin: Array
    """(S, m) squared angular speed of the animated direction."""

    def row(self, sample: int) -> "Drive":
        """That of one sample."""
        n = sample
        return Drive(self.whole[n], self.across[n], self.along[n], self.phase[n], self.alone, self.spin[n])

    def at(self, z: Array, rate: Array) -> Array:
        """Torques (S, m) at swings z with these rates."""
        return self.whole + self.bent(z, rate)

    def bent(self, z: Array, rate: Array) -> Array:
        """What swings z with these rates add to the torques (S, m)."""
        torques = bent(self.across, self.along, z)
        return torques + self._curved(z, rate) if self.alone.any() else torques

    def bent_at(self, sample: int, z: Array, rate: Array) -> Array:
        """The same (m,) at one sample."""
        if np.count_nonzero(self.alone):
            return self.row(sample).bent(z, rate)
        return bent(self.across[sample], self.along[sample], z)

    def between(self, fine: Animated, parts: int) -> "Drive":
        """The same at `parts` times as many samples, those of `fine`: torques are linear between samples."""
        phase = _phase(fine)
        back = phase[::parts] * self.phase.conj()

        def refined(values: Array) -> Array:
            return splines.linear(values, parts)

        across, whole = refined(self.across * back), refined(self.whole * back)
        return Drive(whole, across, refined(self.along), phase, self.alone, refined(self.spin))

    def _curved(self, z: Array, rate: Array) -> Array:
        """What the curvature of the sphere adds where the swing is not in one plane."""
        angle = np.minimum(np.abs(z), WIDEST)
        if angle.max(initial=0.0) < 0.05:
            return np.zeros_like(z)
        safe = np.maximum(angle, 1e-6)
        unit = z / np.maximum(np.abs(z), 1e-6)
        sine, cosine = np.sin(safe), np.cos(safe)
        moving, pushed = rate * unit.conj(), self.across * unit.conj()
        outward = (sine * cosine - safe) / safe**2 * np.imag(moving) ** 2
        round_about = 2.0 * np.real(moving) * np.imag(moving) / safe * (1.0 - safe * cosine / sine)
        turned = (safe / sine - 1.0) * np.imag(pushed) * (self.alone > 0.0)
        return unit * (self.alone * (outward + 1j * round_about) + 1j * turned)


def solve(animated: Animated, tuning: SpringTuning) -> Swing:
    """How these bones swing."""
    driven, still = drive(animated, tuning)
    system = ModeSystem(animated, tuning, driven)
    start = at_rest(system.modes, system.hold, still)
    # Numbers of a motion that runs away are of no use, and it is stepped.
    with np.errstate(over="ignore", invalid="ignore"):
        z, rate, found = _relaxed(system, driven, start)
        found &= np.abs(z).max(axis=0) < WIDEST
        z, rate = np.where(found, z, 0.0), np.where(found, rate, 0.0)
        longer = _longer(animated, tuning, driven, z, rate)
    back = driven.phase.conj()
    return Swing(z * back, longer, found, rate * back)


def drive(a: Animated, tuning: SpringTuning) -> tuple[Drive, tuple[Array, Array]]:
    """What drives the swings, and the torques of gravity and wind alone at the first sample, across and along."""
    first, second, own = (rotation.rotate(a.turns, a.axes[:, n]) for n in range(3))
    phase = _phase(a)
    tips = splines.padded(a.places + own * a.bodies.lengths[:, None], a.cycle)
    firsts, which = np.unique(a.bodies.roots, return_inverse=True)
    cycle = a.cycle and Cycle(a.cycle.turn[firsts], a.cycle.shift[firsts])
    joints = splines.padded(a.places[:, firsts], cycle)
    masses, hanging = a.bodies.lengths, a.bodies.hanging
    free = a.pull - splines.second_derivatives(tips, a.step)
    push = a.pull - splines.second_derivatives(joints, a.step)[:, which]
    if tuning.drag.any():
        free = free - tuning.drag[:, None] * splines.first_derivatives(tips, a.step)
        push = push - tuning.drag[:, None] * splines.first_derivatives(joints, a.step)[:, which]
    whole = _gathered(a.bodies, free * masses[:, None])
    push = push * hanging[:, None]
    lengths = a.bodies.lengths

    def across(vectors: Array) -> Array:
        return (rotation.dot(vectors, first) + 1j * rotation.dot(vectors, second)) * phase * lengths

    still = _gathered(a.bodies, a.pull[:1] * masses[:, None])[0] * lengths[:, None]
    at_first = rotation.dot(still, first[0]) + 1j * rotation.dot(still, second[0])
    alone = np.where(np.bincount(a.bodies.roots, minlength=len(lengths))[a.bodies.roots] == 1, lengths**3, 0.0)
    speed = splines.first_derivatives(splines.padded(own), a.step) if tuning.stretch.any() else np.zeros_like(own)
    result = Drive(
        across(whole), across(push), rotation.dot(push, own) * lengths, phase, alone, rotation.dot(speed, speed)
    )
    return result, (at_first, rotation.dot(still, own[0]))


def _gathered(bodies: Bodies, forces: Array) -> Array:
    """Forces (S, m, 3) with those on all that hangs on each bone."""
    result = forces.copy()
    for bone in np.flatnonzero(bodies.parents >= 0)[::-1]:
        result[:, bodies.parents[bone]] += result[:, bone]
    return result


def _phase(a: Animated) -> Array:
    """See `Drive.phase`: what undoes the turns of the chains' first bones about themselves."""
    firsts, which = np.unique(a.bodies.roots, return_inverse=True)
    turns = a.turns[:, firsts]
    steps = rotation.multiply(rotation.inverse(turns[:-1]), turns[1:])
    about = np.arctan2(rotation.dot(steps[..., 1:], a.axes[firsts, 2]), steps[..., 0])
    # Half an angle, either way round.
    about = 2.0 * (about - np.pi * np.round(about / np.pi))
    whole = np.concatenate((np.zeros((1, len(firsts))), np.cumsum(about, axis=0)))
    return np.exp(1j * whole)[:, which]


class ModeSystem:
    """The linear part: M z'' + C z' + (K + hold) z, for torques that are linear between samples."""

    def __init__(self, a: Animated, tuning: SpringTuning, drive: Drive) -> None:
        # Where a constant push along the bone holds it as gravity holds a pendulum, that is part of the linear system.
        with np.errstate(over="ignore"):
            self.hold = np.clip(drive.along.mean(axis=0), 0.0, 1e12)
        self.hold[self.hold < 1e-9 * np.maximum(np.abs(drive.whole).max(axis=0, initial=0.0), 1e-300)] = 0.0
        self.modes = Modes(a.bodies, tuning, self.hold)
        step = mode_step(self.modes, a.step, least=_LEAST_DAMPING if a.cycle is not None else 0.0)
        slope = step.response[..., 1] / a.step
        self.transition = step.transition
        self.taps = np.stack((step.response[..., 0] - slope, slope), axis=-1)
        self.turned = None if a.cycle is None else drive.phase[-1]
        """What a motion that repeats itself is multiplied with after a cycle."""

    def run(self, torques: Array, start: Array) -> tuple[Array, Array]:
        """Swings and their rates (S, m), from torques (S, m) and the first swing (m,) in modes, which is at rest."""
        steps = len(torques) - 1
        driven = self.modes.of(torques)
        signal = np.stack((np.real(driven).T, np.imag(driven).T), axis=1)
        states = np.zeros((len(start), 2, 2))
        if self.turned is None:
            states[:, 0, 0], states[:, 1, 0] = np.real(start), np.imag(start)
        elif steps:
            states = self._periodic(filtered(self.transition, self.taps, signal, states)[-1], steps)
        found = filtered(self.transition, self.taps, signal, states)
        whole = found[:, :, 0] + 1j * found[:, :, 1]
        return self.modes.swings(whole[..., 0]), self.modes.swings(whole[..., 1])

    def settled(self, torques: Array) -> Array:
        """Swings (m,) of modes at rest under constant torques (m,)."""
        return self.modes.of(torques) / self.modes.stiffness

    def _periodic(self, last: Array, steps: int) -> Array:
        """The first state (m, 2, 2) that returns after a cycle, from the last one (m, 2, 2) of a start at 0."""
        assert self.turned is not None, "the caller has asked"
        cycle = np.linalg.matrix_power(self.transition, steps)
        missing = self.turned[:, None, None] * np.eye(2) - cycle
        ends = (last[:, 0] + 1j * last[:, 1])[..., None]
        found = np.linalg.solve(missing, ends)[..., 0]
        return np.stack((np.real(found), np.imag(found)), axis=1)


def mode_step(modes: Modes, length: float, least: float = 0.0) -> Step:
    """A step of `length` seconds of each mode, by what drives it. least: smallest damping ratio."""
    omega = np.sqrt(modes.stiffness)
    step = make_step(length, 2.0 * np.pi / omega, np.maximum(modes.damping / (2.0 * omega), least))
    return Step(step.transition, step.response / modes.stiffness[:, None, None])


def _relaxed(system: ModeSystem, drive: Drive, start: Array) -> tuple[Array, Array, Array]:
    """Swings and rates (S, m), and which of the bones came to rest (m,)."""
    z = np.broadcast_to(system.modes.swings(start), drive.along.shape)
    rate, found = np.zeros_like(z), np.zeros(len(start), dtype=bool)
    for _ in range(_ROUNDS):
        last = z
        z, rate = system.run(drive.at(z, rate) + system.hold * z, start)
        found = np.abs(z - last).max(axis=0) < _SAME
        if found.all():
            break
    return z, rate, found


def _longer(a: Animated, tuning: SpringTuning, drive: Drive, z: Array, rate: Array) -> Array:
    """(S, m) part of their lengths by which bones become longer: each a spring along itself."""
    if not tuning.stretch.any():
        return np.zeros(z.shape)
    angle = np.abs(z)
    unit = z / np.maximum(angle, 1e-9)
    pulled = drive.along * np.cos(angle) + np.real(drive.across * unit.conj()) * np.sin(angle)
    pulled = pulled / (a.bodies.hanging * a.bodies.lengths**2) + np.abs(rate) ** 2 + drive.spin
    step = make_step(a.step, tuning.settle_time, tuning.resistance / (2.0 * tuning.omega))
    slope = step.response[..., 1] / a.step
    taps = np.stack((step.response[..., 0] - slope, slope), axis=-1) / tuning.omega[:, None, None] ** 2
    start = np.zeros((len(tuning.omega), 1, 2))
    start[:, 0, 0] = pulled[0] / tuning.omega**2
    found = filtered(step.transition, taps, pulled.T[:, None], start)[:, :, 0, 0]
    return np.clip(tuning.stretch * found, -0.5, MOST_STRETCH)


def turns_of(z: Array, axes: Array) -> Array:
    """Local rotations (..., m, 4) of swings z (..., m) in the frames of bones with these axes (m, 3, 3)."""
    half = 0.5 * np.abs(z)
    scale = np.where(half > 1e-9, np.sin(half) / np.maximum(2.0 * half, 1e-18), 0.5)
    result = np.empty((*z.shape, 4))
    result[..., 0] = np.cos(half)
    # The bone turns about the direction across the swing.
    result[..., 1:] = scale[..., None] * (np.real(z)[..., None] * axes[:, 1] - np.imag(z)[..., None] * axes[:, 0])
    return result
