"""Inverse kinematics: rotations of joints that bring the end of a chain to a target, for whole batches of chains.

One call, `solve`, with a choice of methods; `solve_tree` for several effectors on one body. `Limits` says how far
joints may turn, and every method keeps to it. Quaternions are w, x, y, z, lengths are whatever the offsets are in.
"""

from .chain import METHODS, Solution, solve
from .limits import Limits
from .tree import Effector, TreeSolution, solve_tree

__all__ = ["METHODS", "Effector", "Limits", "Solution", "TreeSolution", "solve", "solve_tree"]
