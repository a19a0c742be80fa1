"""Swings in steps of 1/240 s: the equation of `swing` where its relaxation does not come to an end.

That is so for swings that pass the horizontal, and under pushes that are stronger than the springs. There is no
randomness, and no step depends on where playback begins.
"""

from math import ceil

import numpy as np

from ..pd.second_order import CLAMPED_STEP
from ..rotation import Array
from . import splines, swing
from .pushes import WIDEST
from .rests import at_rest
from .swing import Animated, Drive
from .tuning import SpringTuning
from .widest import FASTEST, Widest, yields

_MOST_CYCLES = 12
"""Cycles after which a motion that is to repeat itself is left as it is."""
_RETURNED = 1e-8
"""Change [rad] from one cycle to the next below which it has returned."""


def solve(animated: Animated, tuning: SpringTuning) -> Array:
    """Swings (S, m) of bones in their own frames."""
    parts = max(1, ceil(animated.step / CLAMPED_STEP - 1e-9))
    fine = finer(animated, parts)
    drive, still = swing.drive(fine, tuning)
    run = _Run(fine, tuning, drive)
    z = run.through(*run.begin(still))
    if animated.cycle is not None:
        for _ in range(_MOST_CYCLES):
            turned = drive.phase[-1].conj()
            again = run.through(run.last[0] * turned, run.last[1] * turned)
            change, z = float(np.abs(again - z).max(initial=0.0)), again
            if change < _RETURNED:
                break
    return (z * drive.phase.conj())[::parts]


def finer(a: Animated, parts: int) -> Animated:
    """The same at `parts` times as many samples."""
    if parts == 1:
        return a
    pull = a.pull if len(a.pull) == 1 else splines.refined(a.pull, parts, splines.padded(a.pull))
    return Animated(
        a.bodies,
        splines.refined_turns(a.turns, parts, a.cycle),
        splines.refined(a.places, parts, splines.padded(a.places, a.cycle)),
        a.axes,
        pull,
        a.step / parts,
        a.cycle,
    )


class _Run:
    """Bones on their way through a motion."""

    def __init__(self, animated: Animated, tuning: SpringTuning, drive: Drive) -> None:
        self.drive = drive
        self.system = swing.ModeSystem(animated, tuning, drive)
        modes, response = self.system.modes, self.system.taps.sum(axis=2)
        self.widest = Widest([(rows, yields(shapes, response[rows])) for rows, shapes in modes.by_size()])
        self.last = np.zeros(len(self.system.hold), complex), np.zeros(len(self.system.hold), complex)
        """Swings and rates (m,) at the end."""

    def begin(self, still: tuple[Array, Array]) -> tuple[Array, Array]:
        """Swings and rates (m,) at rest under gravity and wind."""
        z = self.system.modes.swings(at_rest(self.system.modes, self.system.hold, still))
        return self.widest.within(z, np.zeros_like(z))

    def through(self, z: Array, rate: Array) -> Array:
        """Swings (S, m) from the first ones and their rates (m,)."""
        drive, system, modes = self.drive, self.system, self.system.modes
        seen = np.empty(drive.along.shape, dtype=complex)
        seen[0] = z
        state = modes.amounts(np.stack((z, rate))).T[..., None]
        for k in range(1, len(seen)):
            held = system.hold * z
            torques = np.stack([drive.row(n).at(z, rate) + held for n in (k - 1, k)])
            state = system.transition @ state + system.taps @ modes.of(torques).T[..., None]
            z, rate = modes.swings(state[..., 0].T)
            if np.abs(z).max() > WIDEST or np.abs(rate).max() > FASTEST:
                z, rate = self.widest.within(z, rate)
                state = modes.amounts(np.stack((z, rate))).T[..., None]
            seen[k] = z
        self.last = z, rate
        return seen
