"""A bone of the chain that leans by itself while the gaze holds, as a chest that breathes.

To the controllers it is part of the animation, so the bones above it cancel it as they do any motion of the body; in
the result it is part of the offsets.
"""

from dataclasses import replace

import numpy as np

from .. import rotation
from ..rotation import Array
from .chain import Solution
from .solver import GazeSamples


def leaning(samples: GazeSamples, bone: int, turn: Array) -> GazeSamples:
    """Samples with a bone, not the first, turned by `turn` (n, 4) in its own frame. Those above it go along with their
    places, and keep their orientations."""
    turned, places = samples.rotations.copy(), samples.positions.copy()
    turned[:, bone] = rotation.multiply(turned[:, bone], turn)
    lean = rotation.multiply(turned[:, bone], rotation.inverse(samples.rotations[:, bone]))[:, None]
    arms = places[:, :bone] - places[:, bone, None]
    leans = np.any(turn != rotation.IDENTITY, axis=-1)[:, None, None]
    places[:, :bone] += np.where(leans, rotation.rotate(lean, arms) - arms, 0.0)
    carrier = samples.carrier or (samples.rotations[:, -1], samples.positions[:, -1])
    return replace(samples, rotations=turned, positions=places, carrier=carrier)


def with_lean(solution: Solution, animated: Array, bone: int, turn: Array) -> Solution:
    """The solution of leaning samples with the lean in its offsets, which are to `animated` (F, b, 4) then.

    turn: (F, 4) as for `leaning`, at the frames. Where that is nothing the offsets are the same.
    """
    offsets, wanted = solution.offsets.copy(), solution.wanted
    offsets[:, bone] = rotation.multiply(turn, offsets[:, bone])
    inherited = rotation.multiply(wanted[:, bone], rotation.inverse(animated[:, bone]))
    above = rotation.multiply(inherited, animated[:, bone - 1])
    offsets[:, bone - 1] = rotation.multiply(rotation.inverse(above), wanted[:, bone - 1])
    offsets[:, bone - 1] *= np.where(offsets[:, bone - 1, :1] < 0.0, -1.0, 1.0)
    leans = np.any(turn != rotation.IDENTITY, axis=-1)
    return replace(solution, offsets=np.where(leans[:, None, None], offsets, solution.offsets))
