"""The settings of spring bones, one number for all or one a bone, and the bones that they are of."""

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import InvalidArgument
from ..pd.second_order import check_tuning
from ..rotation import Array

MOST_STRETCH = 1.0
"""No bone becomes longer than twice its length, nor shorter than half of it."""

MOST_DRAG = 1e4


@dataclass(frozen=True)
class SpringTuning:
    """How n bones swing: each setting (n,), vectors (n, 3)."""

    settle_time: Array
    """[s]"""
    damping_ratio: Array
    inertia: Array
    """Part of the motion of the center that is felt, from 0 to 1."""
    gravity: Array
    """Acceleration (n, 3) [m/s²] in the world."""
    drag: Array
    """Damping against the air [1/s]."""
    stretch: Array
    """Part of the swing along the bone that makes it longer, from 0 to 1."""
    limit: Array
    """Largest angle [rad] from what it hangs on, as animated; pi for none."""

    @property
    def omega(self) -> Array:
        """[rad/s]"""
        return 2.0 * np.pi / self.settle_time

    @property
    def resistance(self) -> Array:
        """Damping of the swing [1/s], that of the air included."""
        return 2.0 * self.damping_ratio * self.omega + self.drag

    def of(self, bones: Array) -> "SpringTuning":
        """That of some of the bones."""
        return replace(self, **{field.name: getattr(self, field.name)[bones] for field in fields(self)})


def checked(
    count: int,
    settle_time: ArrayLike,
    damping_ratio: ArrayLike,
    inertia: ArrayLike,
    gravity: ArrayLike,
    drag: ArrayLike,
    stretch: ArrayLike,
    limit: ArrayLike,
) -> SpringTuning:
    """The settings of so many bones. Raises InvalidArgument."""
    check_tuning(settle_time, damping_ratio)
    known = SpringTuning(
        checks.like("settle time", settle_time, count),
        checks.like("damping ratio", damping_ratio, count),
        checks.like("inertia", inertia, count),
        checks.like("gravity", gravity, count, 3),
        checks.like("drag", drag, count),
        checks.like("stretch", stretch, count),
        checks.like("limit", limit, count),
    )
    if not np.all((known.limit > 0.0) & (known.limit <= np.pi)):
        raise InvalidArgument(
            "The limit of spring bones must be above 0 and at most 180 degrees, not {value}.",
            value=checks.shown(np.degrees(known.limit)),
        )
    for value, most in ((known.inertia, 1.0), (known.stretch, MOST_STRETCH), (known.drag, MOST_DRAG)):
        if not np.all((value >= 0.0) & (value <= most)):
            raise InvalidArgument(
                "Inertia and stretch of spring bones must be from 0 to 1, and drag from 0 to {most:g}, not {value}.",
                most=MOST_DRAG,
                value=checks.shown(value),
            )
    return known
