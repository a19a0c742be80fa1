"""Measuring how the controls of a chain turn each other: each is turned alone, and the rig is evaluated."""

from collections.abc import Callable

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.gaze import control_coupling
from ...lookat_pd.rotation import Array
from ..sampling import bone_response
from .resolve import LookAt

_PROBE = np.radians(10.0)


def measure(look_at: LookAt, animated: Array, evaluated: Callable[[Array], Array]) -> Array:
    """The coupling (b, b) of a chain: coupling[n, m] is the part of control m's turn that control n receives.

    animated: (b, 4) orientations without offsets. evaluated: gives these where the rig is evaluated with offsets
    (b, 4). Raises RigError where a control does not respond to its own offset.
    """
    bones = look_at.bones
    coupling = np.eye(len(bones))
    for m, bone in enumerate(bones):
        turns = rotation.identity(len(bones))
        turns[m] = rotation.exp(_PROBE * look_at.chain.up[m])
        turned = evaluated(turns)
        coupling[:, m] = control_coupling.measure(animated, turned, turns[m], m)
        bone_response.check(bone, abs(coupling[m, m]))
    return coupling
