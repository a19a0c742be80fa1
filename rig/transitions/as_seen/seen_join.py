"""Joins as seen: clips are cut hard, and the jump of the evaluated pose decays at each cut."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace

import bpy

from ....lookat_pd import progress
from ....lookat_pd.errors import RigError
from ....lookat_pd.transitions import methods
from .. import join
from ..join import Joined
from ..splice import Blend
from . import seen_offsets, seen_transition
from .seen_transition import NothingJumps

CUT = Blend(0.0, methods.METHODS["cut"].identifier)
"""How clips are joined whose evaluated pose is blended."""


def joined(
    scene: bpy.types.Scene, armature: bpy.types.Object, make: Callable[[Blend], Joined], blends: Blend | Sequence[Blend]
) -> Generator[float, None, Joined]:
    """What `make` joins with a blend, with the evaluated pose blended at each cut; yields the completed fraction.

    blends: for all cuts, or one for each. The armature has to play the result. Raises LookAtError, after which nothing
    has changed.
    """
    for blend in [blends] if isinstance(blends, Blend) else blends:
        seen_transition.check(armature, blend)
    data = armature.animation_data
    before = (data.action, data.action_slot) if data is not None else (None, None)
    result, made, seconds, used = make(CUT), [], [], []
    try:
        if armature.animation_data.action != result.action:
            raise RigError("A transition as seen needs the result on the armature; enable Use Result.")
        for n, cut in enumerate(result.cuts):
            blend = blends if isinstance(blends, Blend) else blends[n]
            job = seen_transition.blend_at(scene, armature, cut, blend)
            try:
                here = yield from progress.subrange(job, n / len(result.cuts), (n + 1) / len(result.cuts))
            except NothingJumps:
                seconds.append(0.0)
                used.append(CUT.how.id)
                continue
            made.append(here)
            seconds.append(here.blend)
            used.append(here.how.id)
    except BaseException:
        for transition in made:
            seen_offsets.remove(armature, transition.action)
        if before[0] is None:
            armature.animation_data.action = None
        else:
            join.use(armature, *before)
        bpy.data.actions.remove(result.action)
        raise
    return replace(result, blends=tuple(seconds), methods=tuple(used))
