"""Control offsets that give wanted orientations on a rig whose controls do not simply carry one another.

On a plain chain each bone inherits all turns below it. Controls of a generated rig act through constraints: a head may
inherit nothing of the neck, a chest nothing of the hips. How much each inherits is measured once (`carry`), then
the offsets follow; what is still missing when the result is evaluated goes into a correction a frame.
"""

import numpy as np

from .. import rotation
from ..rotation import Array

_WHOLE = 0.02
_ANSWER = 0.25, 2.0
_TOO_SMALL = np.radians(0.01)


def measure(animated: Array, turned: Array, offset: Array, bone: int) -> Array:
    """How much of one control's turn every control receives: (b,).

    animated, turned: (b, 4) orientations before and after `bone` alone got the local `offset` (4,).
    """
    own = rotation.log(rotation.multiply(animated[bone], rotation.multiply(offset, rotation.inverse(animated[bone]))))
    received = rotation.log(rotation.multiply(turned, rotation.inverse(animated)))
    return received @ own / np.dot(own, own)


def inherited(animated: Array, offsets: Array, carry: Array, bone: int) -> Array:
    """The turn (F, 4) that `bone` gets from those below it, by the measured carry (b, b): carry[n, m] from m to n.

    animated, offsets: (F, b, 4), head first, so that the bones below come after.
    """
    turn = rotation.identity(len(animated))
    for below in range(animated.shape[1] - 1, bone, -1):
        if carry[bone, below]:
            here = animated[:, below]
            own = rotation.multiply(here, rotation.multiply(offsets[:, below], rotation.inverse(here)))
            turn = rotation.multiply(turn, rotation.exp(carry[bone, below] * rotation.log(own)))
    return turn


def own_response(carry: Array, bone: int) -> float:
    """How much of its own offset a bone makes: constraints may let only a part of it through."""
    own = float(carry[bone, bone])
    return 1.0 if abs(own - 1.0) < _WHOLE else float(np.clip(own, *_ANSWER))


def _scaled(q: Array, factor: float) -> Array:
    return q if factor == 1.0 else rotation.exp(factor * rotation.log(q))


def realize(wanted: Array, animated: Array, carry: Array, correction: Array, active: Array) -> Array:
    """Local offsets (F, b, 4) of the controls that turn `animated` into `wanted` orientations (F, b, 4).

    correction: (F, b, 4) what each bone was measured to inherit beyond the model. active: (F,) frames where anything
    turns; at the others the offsets are the identity, exactly.
    """
    offsets = rotation.identity(*wanted.shape[:2])
    for bone in range(wanted.shape[1] - 1, -1, -1):
        below = rotation.multiply(correction[:, bone], inherited(animated, offsets, carry, bone))
        carried = rotation.multiply(below, animated[:, bone])
        own = rotation.multiply(rotation.inverse(carried), wanted[:, bone])
        own = _scaled(np.where(own[:, :1] < 0.0, -own, own), 1.0 / own_response(carry, bone))
        offsets[:, bone] = np.where(active[:, None], own, rotation.IDENTITY)
    return offsets


def correct(measured: Array, animated: Array, offsets: Array, carry: Array) -> Array:
    """The correction (F, b, 4) that makes the model give the `measured` orientations (F, b, 4) for these offsets."""
    correction = np.empty_like(measured)
    for bone in range(measured.shape[1]):
        own = rotation.multiply(animated[:, bone], _scaled(offsets[:, bone], own_response(carry, bone)))
        received = rotation.multiply(measured[:, bone], rotation.inverse(own))
        model = inherited(animated, offsets, carry, bone)
        correction[:, bone] = rotation.multiply(received, rotation.inverse(model))
    return correction


class AimCorrection:
    """Brings one bone's axis to where it should point by measured steps, while nothing below the bone moves.

    axis: (3,) in the bone's own frame. answer: how much of a step is expected to show; later steps go by how much of
    the last one did. The roll about the axis is left alone: a constraint may have taken it away.
    """

    def __init__(self, axis: Array, answer: float) -> None:
        self.axis = axis
        self._answer: Array | float = answer
        self._before: Array | None = None

    def step(self, measured: Array, wanted: Array) -> tuple[Array, float]:
        """The local turn (F, 4) to add, and the largest angle [rad] that was missing. measured, wanted: (F, 4)."""
        there = rotation.rotate(rotation.multiply(rotation.inverse(measured), wanted), self.axis)
        missing = rotation.log(rotation.shortest_arc(self.axis, there))
        if self._before is not None:
            self._answer = self._seen(self._before, missing)
        self._before = missing
        turn = rotation.exp(missing / np.reshape(self._answer, (-1, 1)))
        return turn, float(np.linalg.norm(missing, axis=-1).max())

    def _seen(self, before: Array, after: Array) -> Array:
        """How much of the last step showed (F,); where it was too small to tell, what was expected of it."""
        size = np.sum(before * before, axis=-1)
        seen = self._answer * (1.0 - np.sum(after * before, axis=-1) / np.maximum(size, _TOO_SMALL**2))
        return np.clip(np.where(size > _TOO_SMALL**2, seen, self._answer), *_ANSWER)
