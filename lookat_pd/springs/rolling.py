"""How often contacts are to be seen anew of bones that rock on a collider.

The point at which a bone lies along a round collider rolls as the bone rocks, and stays the same from one look at the
geometry to the next. If it is then on the other side, again and again, the looks are too far apart.
"""

import numpy as np

from .chain_places import NearPairs, SeenPairs
from .colliders import TRUE

_TOUCHES = 0.02
"""Part of the radius within which something touches."""
_ROLLS = 2e-3
"""Part of a bone by which a contact rolls to and fro that is seen."""
_CALM = 8
"""Looks without that, after which the next is later by a step."""
_LEAST = 10
"""By how much shorter the times between looks become at most."""


class Rolling:
    """The most steps from one look to the next. span: those where nothing rocks."""

    def __init__(self, span: int) -> None:
        self.most, self._span, self._least = span, span, max(1, span // _LEAST)
        self._pairs: NearPairs | None = None
        self._along = self._moved = np.zeros(0)
        self._calm = 0

    def see(self, known: SeenPairs) -> None:
        """Take notice of where bones touch now."""
        if known.pairs is not self._pairs:
            self._pairs, self._along, self._moved = known.pairs, known.along, 0.0 * known.along
            return
        moved = known.along - self._along
        back = moved * self._moved < 0.0
        if TRUE in back.tobytes():
            back &= np.minimum(np.abs(moved), np.abs(self._moved)) > _ROLLS
            back &= known.gaps < _TOUCHES * known.pairs.radii
        if TRUE in back.tobytes():
            self.most, self._calm = max(self._least, self.most // 2), 0
        elif self.most < self._span:
            self._calm += 1
            if self._calm == _CALM:
                self.most, self._calm = self.most + 1, 0
        self._along, self._moved = known.along, moved
