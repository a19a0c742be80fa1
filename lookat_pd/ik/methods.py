"""The methods of inverse kinematics: one row each.

The solvers, their menu, the keys of a drag and the choices of the command line derive from this table, so a new method
is one more row.
"""

from collections.abc import Callable
from dataclasses import dataclass

from . import nearest_pose
from .iteration import Outcome
from .published import ccd, ccd_root, fabrik, free_chains, jacobian_euler, jacobian_quaternion, particle
from .task import Pose, Task


@dataclass(frozen=True)
class Method:
    """A method of solving a chain."""

    id: str
    """Name in `solve`; in capitals the identifier in Blender, with hyphens the word on the command line."""
    label: str
    """Name in the interface."""
    description: str
    """Tooltip."""
    key: str
    """Digit that selects it during a drag."""
    step: Callable[[Task, Pose], Pose]
    """One iteration."""
    least_squares: bool = False
    """Whether it solves for position and orientation together; otherwise the last joint is rotated separately, and
    overshoot is used."""
    draws_joints: bool = False
    """Whether it supports goals of joints."""
    settles: bool = False
    """Whether it continues at the target until the joints are at rest, and uses a posture."""
    leaps: bool = False
    """Whether poses leap where a target leaves the reach, frame by frame, unless they are made continuous in time."""
    published: Callable[[Task, Pose], Pose] | None = None
    """One iteration as published, where that differs."""
    free: Callable[..., Outcome] | None = None
    """All iterations of chains without limits whose only objective is the position, where there is something faster."""
    is_default: bool = False
    """True for exactly one row."""

    @property
    def identifier(self) -> str:
        """The identifier in Blender's enumerations."""
        return self.id.upper()

    @property
    def word(self) -> str:
        """The word on the command line."""
        return self.id.replace("_", "-")


# Blender saves the number of a row with the scene: append new ones at the end. Digits 0 to 3 are those of the published
# demo.
METHODS: dict[str, Method] = {
    row.id: row
    for row in (
        Method(
            "ccd",
            "CCD",
            "Cyclic coordinate descent from the tip to the base; joints near the tip turn most",
            "0",
            ccd.step,
            leaps=True,
        ),
        Method(
            "ccd_root",
            "CCD from the Base",
            "Cyclic coordinate descent from the base to the tip; fast, and even on any chain",
            "5",
            ccd_root.step,
        ),
        Method(
            "particle",
            "Particle",
            "Treat the joints as particles connected by the bones; flexible, for tails and ropes",
            "1",
            particle.step,
            draws_joints=True,
            leaps=True,
            published=particle.published,
        ),
        Method(
            "jacobian_euler",
            "Jacobian, Euler",
            "Damped least squares on angles about fixed axes; small, smooth rotations",
            "2",
            jacobian_euler.step,
            least_squares=True,
            draws_joints=True,
        ),
        Method(
            "jacobian_quaternion",
            "Jacobian, Quaternion",
            "Damped least squares on rotation vectors; small, smooth rotations",
            "3",
            jacobian_quaternion.step,
            least_squares=True,
            draws_joints=True,
            free=free_chains.run,
        ),
        Method(
            "fabrik",
            "FABRIK",
            "Place the joints from both ends alternately; fast, and bends the chain evenly",
            "4",
            fabrik.step,
            draws_joints=True,
            leaps=True,
        ),
        Method(
            "nearest_pose",
            "Nearest Pose",
            "Smallest rotations from the animated pose, weighted by the stiffness of the joints; smooth in time",
            "6",
            nearest_pose.step,
            least_squares=True,
            draws_joints=True,
            settles=True,
            is_default=True,
        ),
    )
}


def default() -> Method:
    """The default method."""
    return next(row for row in METHODS.values() if row.is_default)


def of_key(key: str) -> Method | None:
    """The method of a digit; None if there is none."""
    return next((row for row in METHODS.values() if row.key == key), None)
