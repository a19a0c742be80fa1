"""What a reach is asked to do."""

from dataclasses import dataclass, field
from typing import NamedTuple

from ..animation.key_writer import KeyWriter
from ..sampling.targets import Target
from ..settings import plain
from .body_obstacles import Ball
from .settings import ReachSettings


class Waypoint(NamedTuple):
    """What a hand passes."""

    share: float
    """Time at which it passes, as a fraction of the duration."""
    target: Target
    hand: int | None = 0
    """Number of the hand; None for the middle between all hands, which are then as far apart as at their goals."""


@dataclass(frozen=True)
class ReachRequest(plain(ReachSettings)):
    """A reach, with the settings of `ReachSettings` under their names.

    What follows the arrival, if the animation goes on: after `hold` [s], for `after` "ANIMATION" a transition of
    `blend` [s] to the animation, for "RETURN" a reach back to the pose at the start and then that transition; for
    "HOLD" the effector stays to the end of the animation.
    """

    effector: str
    """Bone that reaches."""
    goal: Target
    """What it reaches for."""
    first: int
    """First frame of the reach."""
    base: str = ""
    """First bone of the chain, instead of its length."""
    at_tip: bool = False
    """Bring the tip of the effector to the goal, not its head."""
    point: str = "HEAD"
    """What of a hand comes to the goal instead of its head: "HAND" the palm, "FINGERTIPS" the tip of the longest
    finger, as the animation of the hand has them on arrival. Of other effectors it is the head with any of these."""
    vias: tuple[Waypoint, ...] = ()
    """Waypoints, in order of time."""
    obstacles: tuple[Ball, ...] = ()
    """What the body goes around."""
    others: tuple[tuple[str, Target], ...] = ()
    """Further effectors and their goals, which are reached at the same time, with the method "OPTIMAL"."""
    normals: tuple[tuple[float, float, float] | None, ...] = ()
    """Of each hand, where its palm and not the head of its bone comes to the goal: the outward normal, in the axes of
    the goal, of the face to which it then turns, from which it also comes with the method "OPTIMAL"; None for no face.
    """
    writer: KeyWriter = field(default_factory=KeyWriter, compare=False)
    """Which keys are written, and how many there were."""

    @property
    def waypoints(self) -> list[Waypoint]:
        return [Waypoint(*via) for via in self.vias]

    @property
    def turns(self) -> bool:
        """Whether the hands take an orientation from their goals."""
        return self.match_orientation or self.is_faced

    @property
    def is_faced(self) -> bool:
        """Whether the palms of all hands turn to faces."""
        return bool(self.normals) and None not in self.normals

    @property
    def hands(self) -> tuple[tuple[str, Target], ...]:
        """All hands and their goals."""
        return (self.effector, self.goal), *self.others
