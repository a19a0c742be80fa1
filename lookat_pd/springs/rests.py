"""Where bones are at rest under gravity and wind.

That is found by the iteration of the springs alone, which needs a few rounds where these are stronger than the pull.
Where they are weaker it may come to a place from which all would fall, or to none: there chains are let down from where
the animation has them, each change going downhill, which ends where they would come to rest by themselves.

Source: modified Newton's method: Gill, Murray, Wright, Practical Optimization, 1981, section 4.4.2.
"""

import numpy as np

from ..rotation import Array
from .modes import Modes
from .pushes import WIDEST, pushed, slopes

_ROUNDS, _MOST_ROUNDS, _AT_REST = 12, 60, 1e-9
"""Rounds after each of which changes are halved, the most of them, and the part of its change at which a rest is
found."""
_SMALL = 0.5
"""Swings up to which [rad] what the springs alone come to is where bones rest."""
_LETS, _LET, _DOWN = 600, 0.2, 1e-10
"""Most rounds in which chains are let down, the largest change [rad] in one, and the change of the last one."""
_DOWNHILL = 1.5
"""By how much more than the steepest way up the equation is held, in its parts."""

_HELD = 1e6
"""How stiff the end of the widest swing is, in parts of what pulls at it."""


def at_rest(modes: Modes, hold: Array, still: tuple[Array, Array]) -> Array:
    """Amounts (m,) of modes at rest. hold: (m,) the part of the stiffness that is not that of springs. still: torques
    of gravity and wind, across bones and along them."""
    amounts = np.zeros(len(hold), dtype=complex)
    if not (np.any(still[0]) or np.any(still[1])):
        return amounts
    change = amounts
    for n in range(_MOST_ROUNDS):
        z = modes.swings(amounts)
        z = z * np.minimum(1.0, WIDEST / np.maximum(np.abs(z), WIDEST))
        change = modes.of(pushed(*still, z) + hold * z) / modes.stiffness - amounts
        # Where gravity is much stronger than the springs, whole changes swing to and fro.
        amounts = amounts + change * 0.5 ** (n // _ROUNDS)
        if np.abs(change).max() < _AT_REST * np.abs(amounts).max():
            break
    z = modes.swings(amounts)
    for rows, shapes in modes.by_size():
        wide = np.flatnonzero(np.abs(z[rows]).max(axis=1) > _SMALL)
        if len(wide):
            some = rows[wide]
            chains = _Chains(shapes[wide], modes.stiffness[some], hold[some], still[0][some], still[1][some])
            left = np.abs(change[some]).max(axis=1) >= _AT_REST * np.abs(amounts[some]).max(axis=1)
            falls = left | (chains.steepest(z[some])[1] <= 0.0) | (np.abs(z[some]).max(axis=1) > WIDEST)
            if falls.any():
                amounts[some[falls]] = chains.of(falls).let_down()
    return amounts


class _Chains:
    """c chains of s bones: shapes (c, s, s) and stiffness (c, s) of their modes, hold (c, s), and torques (c, s)."""

    def __init__(self, shapes: Array, stiffness: Array, hold: Array, across: Array, along: Array) -> None:
        self.shapes, self.stiffness, self.hold, self.across, self.along = shapes, stiffness, hold, across, along

    def of(self, chains: Array) -> "_Chains":
        """Some of them."""
        own = self.shapes, self.stiffness, self.hold, self.across, self.along
        return _Chains(*(values[chains] for values in own))

    def steepest(self, z: Array, held: Array | float = 0.0) -> tuple[Array, Array]:
        """How torques that pull modes back change with these, (c, 2 s, 2 s), real and imaginary parts in turn, and the
        least that they do (c,): below 0 for what falls. held: (c, s) by how much more outward."""
        count, size = z.shape
        outward = (z / np.maximum(np.abs(z), 1e-9)).view(float).reshape(count, size, 2)
        bends = slopes(self.across, self.along, z) + self.hold[..., None, None] * np.eye(2)
        bends -= np.broadcast_to(held, z.shape)[..., None, None] * outward[..., None] * outward[..., None, :]
        own = np.einsum("cim,ciab,cin->cmanb", self.shapes, bends, self.shapes).reshape(count, 2 * size, 2 * size)
        found = -own
        found[:, np.arange(2 * size), np.arange(2 * size)] += np.repeat(self.stiffness, 2, axis=1)
        return found, np.linalg.eigvalsh(0.5 * (found + np.swapaxes(found, 1, 2)))[:, 0]

    def let_down(self) -> Array:
        """Amounts (c, s) of modes at the end of the way down from where the animation has the bones."""
        count, size = self.hold.shape
        z, back = np.zeros((count, size), dtype=complex), np.linalg.inv(self.shapes)
        every = np.arange(2 * size)
        for n in range(_LETS):
            amounts = (back @ z[..., None])[..., 0]
            torques = pushed(self.across, self.along, z) + self.hold * z
            force = torques - (np.swapaxes(back, 1, 2) @ (self.stiffness * amounts)[..., None])[..., 0]
            left = (np.swapaxes(self.shapes, 1, 2) @ force[..., None])[..., 0]
            # What is as wide as it may be, and pulled beyond that, only turns about.
            held = (np.abs(z) > WIDEST - 1e-9) & (np.real(force * np.conj(z)) > 0.0)
            whole, least = self.steepest(z, held * _HELD * np.abs(force))
            whole[:, every, every] += np.maximum(-_DOWNHILL * least, 1e-9 * self.stiffness.max(axis=1))[:, None]
            parts = np.ascontiguousarray(left).view(float)[..., None]
            change = np.ascontiguousarray(np.linalg.solve(whole, parts)[..., 0]).view(complex)
            move = (self.shapes @ change[..., None])[..., 0]
            most = np.abs(move).max(axis=1)
            last, z = z, z + move * np.minimum(1.0, _LET / np.maximum(most, 1e-12))[:, None] * 0.5 ** (4 * n // _LETS)
            z = z * np.minimum(1.0, WIDEST / np.maximum(np.abs(z), WIDEST))
            if np.abs(z - last).max() < _DOWN:
                break
        return (back @ z[..., None])[..., 0]
