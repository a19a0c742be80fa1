"""Spring bones: tails, hair, ears and straps that swing, solved in closed form over all frames."""

from .jumps import find_jumps
from .solver import SpringMotion, solve

__all__ = ["SpringMotion", "find_jumps", "solve"]
