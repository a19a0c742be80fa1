"""The part of a look-at that cancels the body's own motion at once, as the reflexes of neck and eyes do.

The goal of a bone changes because the target moves, and because the body does. Only the first change is news that the
controller follows with its settle time; the second is known and is passed on as it is. It is what the goal does while
the target makes none of its own motion: over a step, from the target half of that motion later than at the start of
the step, to the target half of it earlier than at its end.

Source: the division into a slow turn towards a target and the vestibulo-collic and vestibulo-ocular reflexes.
"""

import numpy as np

from ..rotation import Array

_FASTEST = 12.0
"""Speed [rad/s] up to which the motion of the body is canceled: bodies that spin reach 620° per second. It is exceeded
where a target passes the nose."""


def beside(values: Array, own: Array | float) -> tuple[Array, Array, Array]:
    """Values (n, ...) as they are, and half their `own` motion (n - 1, ...) after each sample and before it."""
    if not np.any(own):
        return values, values, values
    after, before = values.copy(), values.copy()
    after[:-1] += 0.5 * own
    before[1:] -= 0.5 * own
    return values, after, before


def is_still(versions: tuple[Array, Array, Array]) -> bool:
    """Whether values have no motion of their own."""
    return versions[1] is versions[2]


def goal_of_body(after: Array, before: Array, radians_per_unit: float, dt: float) -> Array:
    """What goals (n, b, width) every dt seconds do without the target's own motion, from 0 on.

    after, before: the goals for what `beside` has.
    """
    steps = before[1:] - after[:-1]
    speed = radians_per_unit / dt * np.linalg.norm(steps, axis=-1, keepdims=True)
    steps = steps * np.minimum(1.0, _FASTEST / np.maximum(speed, 1e-300))
    return np.concatenate((np.zeros_like(before[:1]), np.cumsum(steps, axis=0)))
