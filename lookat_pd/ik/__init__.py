"""Inverse kinematics: rotations of joints that bring the end of a chain to a target, for whole batches of chains.

One call, `solve`, with a choice of methods; `solve_tree` for several effectors on one body, `solve_body` for a
whole body with priorities and balance. `objectives` are further
requirements of a chain. All methods respect the joint `Limits`. Quaternions are w, x, y, z; lengths have the unit of
the offsets.
"""

from .body_objectives import Balance, BodyAim, BodyObjective, BodyOrientation, BodyPole, BodyPosition
from .full_body import BodySolution, solve_body
from .limits import Limits
from .methods import METHODS, Method
from .objectives import Effector, JointGoal, Objective, Orientation, Pole, Position
from .posture import Posture
from .solver import IKSolution, solve
from .tree import TreeSolution, solve_tree

__all__ = [
    "METHODS",
    "Balance",
    "BodyAim",
    "BodyObjective",
    "BodyOrientation",
    "BodyPole",
    "BodyPosition",
    "BodySolution",
    "Effector",
    "IKSolution",
    "JointGoal",
    "Limits",
    "Method",
    "Objective",
    "Orientation",
    "Pole",
    "Position",
    "Posture",
    "TreeSolution",
    "solve",
    "solve_body",
    "solve_tree",
]
