"""Control offsets for desired orientations on a rig whose controls do not simply inherit each other's rotation.

On a plain chain each bone inherits all rotations below it. Controls of a generated rig act through constraints: a head
may inherit nothing from the neck, or a chest nothing from the hips. The fraction that each inherits is measured once
(`coupling`) and gives the offsets; the error that remains when the result is evaluated becomes a correction for each
frame.
"""

import numpy as np

from .. import rotation
from ..rotation import Array

_WHOLE = 0.02
_RESPONSE_RANGE = 0.25, 2.0
_TOO_SMALL = np.radians(0.01)
_TURNS = 4
"""How often the axes are found anew when offsets are taken out of a measured pose."""


def measure(animated: Array, turned: Array, offset: Array, bone: int) -> Array:
    """The fraction (b,) of one control's rotation that every control receives.

    animated, turned: (b, 4) orientations without and with the local `offset` (4,) of `bone`.
    """
    own = rotation.log(rotation.multiply(animated[bone], rotation.multiply(offset, rotation.inverse(animated[bone]))))
    received = rotation.log(rotation.multiply(turned, rotation.inverse(animated)))
    return received @ own / np.dot(own, own)


def inherited(animated: Array, offsets: Array, coupling: Array, bone: int) -> Array:
    """The rotation (F, 4) that `bone` inherits from those below it, by the measured fractions
    coupling (b, b): coupling[n, m] from m to n.

    animated, offsets: (F, b, 4), head first, so that the bones below follow.
    """
    turn = rotation.identity(len(animated))
    for below in range(animated.shape[1] - 1, bone, -1):
        if coupling[bone, below]:
            here = animated[:, below]
            own = rotation.multiply(here, rotation.multiply(offsets[:, below], rotation.inverse(here)))
            turn = rotation.multiply(turn, rotation.exp(coupling[bone, below] * rotation.log(own)))
    return turn


def _pass_on(turn: Array, animated: Array, offsets: Array, coupling: Array, below: int) -> None:
    """Add what the bones above inherit from the one `below` to `turn` (F, b, 4); root first, it becomes `inherited`."""
    shares = coupling[:below, below]
    if not shares.any() or np.all(offsets[:, below] == rotation.IDENTITY):
        return
    here = animated[:, below]
    own = rotation.log(rotation.multiply(here, rotation.multiply(offsets[:, below], rotation.inverse(here))))
    passed = rotation.exp(shares[:, None] * own[:, None])
    turn[:, :below] = rotation.multiply(turn[:, :below], passed)


def own_response(coupling: Array, bone: int) -> float:
    """The fraction of its own offset with which a bone responds: constraints may reduce it."""
    own = float(coupling[bone, bone])
    return 1.0 if abs(own - 1.0) < _WHOLE else float(np.clip(own, *_RESPONSE_RANGE))


def _scaled(q: Array, factor: float) -> Array:
    return q if factor == 1.0 else rotation.exp(factor * rotation.log(q))


def realize(wanted: Array, animated: Array, coupling: Array, correction: Array, active: Array) -> Array:
    """Local offsets (F, b, 4) of the controls that change the orientations (F, b, 4) from `animated` to `wanted`.

    correction: (F, b, 4) measured inheritance of each bone beyond the model. active: (F,) frames with any rotation; at
    the others the offsets are exactly the identity.
    """
    offsets, turn = rotation.identity(*wanted.shape[:2]), rotation.identity(*wanted.shape[:2])
    for bone in range(wanted.shape[1] - 1, -1, -1):
        below = rotation.multiply(correction[:, bone], turn[:, bone])
        inheriting = rotation.multiply(below, animated[:, bone])
        own = rotation.multiply(rotation.inverse(inheriting), wanted[:, bone])
        own = _scaled(np.where(own[:, :1] < 0.0, -own, own), 1.0 / own_response(coupling, bone))
        offsets[:, bone] = np.where(active[:, None], own, rotation.IDENTITY)
        _pass_on(turn, animated, offsets, coupling, bone)
    return offsets


def correct(measured: Array, animated: Array, offsets: Array, coupling: Array) -> Array:
    """The correction (F, b, 4) with which the model gives the `measured` orientations (F, b, 4) for these offsets."""
    model = rotation.identity(*measured.shape[:2])
    own = np.empty_like(measured)
    for bone in range(measured.shape[1] - 1, -1, -1):
        own[:, bone] = _scaled(offsets[:, bone], own_response(coupling, bone))
        _pass_on(model, animated, offsets, coupling, bone)
    received = rotation.multiply(measured, rotation.inverse(rotation.multiply(animated, own)))
    return rotation.multiply(received, rotation.inverse(model))


def without(measured: Array, offsets: Array, coupling: Array, correction: Array, guess: Array) -> Array:
    """The animated orientations (F, b, 4) from those `measured` with offsets (F, b, 4) on the controls.

    The inverse of `correct`. guess: (F, b, 4) near the result, the axes about which controls turn those above them.
    """
    animated = guess
    for _ in range(_TURNS):
        better = np.empty_like(measured)
        for bone in range(measured.shape[1]):
            below = rotation.multiply(correction[:, bone], inherited(animated, offsets, coupling, bone))
            own = _scaled(offsets[:, bone], own_response(coupling, bone))
            received = rotation.multiply(rotation.inverse(below), measured[:, bone])
            better[:, bone] = rotation.multiply(received, rotation.inverse(own))
        animated = better
    return animated


class AimCorrection:
    """Points the axis of one bone in its desired direction by measured steps, without moving the bones below.

    axis: (3,) or (F, 3) in the bone's own frame. response: to a step, as expected; later steps use the measured one.
    The roll about the axis is not changed, because a constraint may remove it.
    """

    def __init__(self, axis: Array, response: float) -> None:
        self.axis = axis
        self._response: Array | float = response
        self._before: Array | None = None

    def step(self, measured: Array, wanted: Array) -> tuple[Array, float]:
        """The local rotation (F, 4) to add, and the largest remaining angle [rad]. measured, wanted: (F, 4)."""
        there = rotation.rotate(rotation.multiply(rotation.inverse(measured), wanted), self.axis)
        missing = rotation.log(rotation.shortest_arc(self.axis, there))
        if self._before is not None:
            self._response = self._seen(self._before, missing)
        self._before = missing
        turn = rotation.exp(missing / np.reshape(self._response, (-1, 1)))
        return turn, float(np.linalg.norm(missing, axis=-1).max())

    def _seen(self, before: Array, after: Array) -> Array:
        """The response to the last step (F,); the expected one where the step was too small to measure."""
        size = np.sum(before * before, axis=-1)
        seen = self._response * (1.0 - np.sum(after * before, axis=-1) / np.maximum(size, _TOO_SMALL**2))
        return np.clip(np.where(size > _TOO_SMALL**2, seen, self._response), *_RESPONSE_RANGE)
