"""What a reach is asked to do."""

from dataclasses import dataclass

from ..sampling.targets import Target
from .body_obstacles import Ball
from .settings import BLEND, DAMPING, DISTANCE

AFTER = ("animation", "return", "hold")
"""What may follow an arrival."""


@dataclass(frozen=True)
class ReachRequest:
    """The settings of a reach. first: its first frame. duration: [s]. vias: waypoints, each with its fraction of the
    duration. damping: [N m s/rad] of every joint. limits: whether Blender's joint limits apply. keeps_velocity: whether
    the reach begins with the velocity of the animation, with the method "optimal". follows: whether the effector stays
    on the goal while its pose is held, where the goal moves relative to the body, and arrives with its velocity.
    matches: whether the effector takes the orientation of the goal. approach: from where it comes to the goal, one of
    APPROACH_ITEMS; distance: length of that line, in units of the scene. Both need the method "optimal". others:
    further effectors and their goals, which are reached at the same time, with the method "optimal" and no waypoints.

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
    vias: tuple[tuple[float, Target], ...] = ()
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

    @property
    def hands(self) -> tuple[tuple[str, Target], ...]:
        """All hands and their goals."""
        return (self.effector, self.goal), *self.others
