"""What a motion through keys is: a body follows it, whatever law it comes from."""

from typing import Protocol

from ..rotation import Array


class KeyedMotion(Protocol):
    """A motion through k keys of n joints. Interval i ends at key i + 1; the last one follows the last key."""

    @property
    def times(self) -> Array:
        """(k,) times of the keys [s]."""
        ...

    @property
    def left(self) -> Array:
        """(k, n, 3), what is left at the end of each interval before it is corrected."""
        ...

    @property
    def frequency(self) -> Array:
        """(k, n) [rad/s], with which a body that is disturbed returns to the motion."""
        ...

    def at(self, t: Array, interval: Array | None = None) -> tuple[Array, Array, Array]:
        """Poses (m, n, 4), velocities and accelerations (m, n, 3) at times (m,); at a key those after it."""
        ...

    def poses(self, t: Array, interval: Array | None = None) -> Array:
        """The poses (m, n, 4) of `at` alone."""
        ...
