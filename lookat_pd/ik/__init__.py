"""Inverse kinematics: rotations of joints that bring the end of a chain to a target, for whole batches of chains.

`solve` for a chain, with a choice of methods; `solve_body` for any number of effectors of a body, with priorities and
balance; `soft_goal` for targets that limbs reach without snapping straight. `objectives` are further requirements of a
chain. All methods respect the joint `Limits`. Quaternions are w, x, y, z; lengths have the unit of the offsets.
"""

from .body_objectives import Balance, BodyAim, BodyObjective, BodyOrientation, BodyPole, BodyPosition
from .full_body import BodySolution, solve_body
from .limits import Limits
from .methods import METHODS, Method
from .objectives import JointGoal, Objective, Orientation, Pole, Position
from .posture import Posture
from .soft_reach import soft_goal
from .solver import IKSolution, solve

__all__ = [
    "METHODS",
    "Balance",
    "BodyAim",
    "BodyObjective",
    "BodyOrientation",
    "BodyPole",
    "BodyPosition",
    "BodySolution",
    "IKSolution",
    "JointGoal",
    "Limits",
    "Method",
    "Objective",
    "Orientation",
    "Pole",
    "Position",
    "Posture",
    "soft_goal",
    "solve",
    "solve_body",
]
