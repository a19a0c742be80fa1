"""Spring bones: tails, hair, ears and straps that swing, solved in closed form over all frames."""

from .cascade import solve
from .colliders import Colliders
from .jumps import find_jumps
from .solver import SpringMotion
from .wind import gusts

__all__ = ["Colliders", "SpringMotion", "find_jumps", "gusts", "solve"]
