"""What a reach is asked to do."""

from dataclasses import dataclass
from typing import NamedTuple

from ..sampling.targets import Target
from .body_obstacles import Ball
from .settings import BLEND, DAMPING, DISTANCE

AFTER = ("animation", "return", "hold")
"""What may follow an arrival."""


class Waypoint(NamedTuple):
    """What a hand passes. share: fraction of the duration. hand: its number; None for the middle between all hands,
    which are then as far apart as at their goals."""

    share: float
    target: Target
    hand: int | None = 0


@dataclass(frozen=True)
class ReachRequest:
    """The settings of a reach. first: its first frame. duration: [s]. vias: waypoints, in order of time.
    damping: [N m s/rad] of every joint. limits: whether Blender's joint limits apply. keeps_velocity: whether
    the reach begins with the velocity of the animation, with the method "optimal". follows: whether the effector stays
    on the goal while its pose is held, where the goal moves relative to the body, and arrives with its velocity.
    matches: whether the effector takes the orientation of the goal. approach: from where it comes to the goal, one of
    APPROACH_ITEMS; distance: length of that line, in units of the scene. Both need the method "optimal". others:
    further effectors and their goals, which are reached at the same time, with the method "optimal". avoids_body: also
    whether the arms keep apart. normals: of each hand, where its palm and not the head of its bone comes to the goal:
    the outward normal (3,), in the axes of the goal, of the face to which it then turns, from which it also comes with
    the method "optimal"; None for no face.

    What follows the arrival, if the animation goes on: after `hold` [s], for `after` "animation" a transition of
    `blend` [s] to the animation, for "return" a reach back to the pose at the start and then that transition; for
    "hold" the effector stays to the end of the animation.
    """

    effector: str
    goal: Target
    first: int
    duration: float
    length: int = 2
    base: str = ""
    at_tip: bool = False
    method: str = "optimal"
    passes: int = 50
    damping: float = DAMPING
    gravity: bool = True
    limits: bool = True
    vias: tuple[Waypoint, ...] = ()
    after: str = "animation"
    hold: float = 0.0
    blend: float = BLEND
    avoids_body: bool = True
    obstacles: tuple[Ball, ...] = ()
    keeps_velocity: bool = True
    follows: bool = True
    matches: bool = False
    approach: str = "FREE"
    distance: float = DISTANCE
    others: tuple[tuple[str, Target], ...] = ()
    normals: tuple[tuple[float, float, float] | None, ...] = ()

    @property
    def waypoints(self) -> list[Waypoint]:
        return [Waypoint(*via) for via in self.vias]

    @property
    def turns(self) -> bool:
        """Whether the hands take an orientation from their goals."""
        return self.matches or self.is_faced

    @property
    def is_faced(self) -> bool:
        """Whether the palms of all hands turn to faces."""
        return bool(self.normals) and None not in self.normals

    @property
    def hands(self) -> tuple[tuple[str, Target], ...]:
        """All hands and their goals."""
        return (self.effector, self.goal), *self.others
