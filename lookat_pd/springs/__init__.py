"""Spring bones: tails, hair, ears and straps that swing, solved in closed form over all frames."""

from .solver import SpringMotion, solve

__all__ = ["SpringMotion", "solve"]
