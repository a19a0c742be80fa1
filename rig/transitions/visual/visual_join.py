"""Visual joins: clips are cut hard, and the jump of the visual pose decays at each cut."""

from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import replace

import bpy
import numpy as np

from ....lookat_pd import progress
from ....lookat_pd.errors import RigError
from ...sampling import scene_time
from .. import join, splice
from ..blend_profiles import BlendProfile
from ..join import Joined
from ..lock_feet import WHERE_POSSIBLE, PlayedClip, locking
from ..splice import Blend
from . import evaluated_pose, visual_feet, visual_transition
from .evaluated_pose import OBJECT
from .visual_transition import NothingJumps, VisualTransition


def joined(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    make: Callable[[Blend], Generator[float, None, Joined]],
    blends: Blend | Sequence[Blend],
    *,
    lock_feet: bool | None = WHERE_POSSIBLE,
) -> Generator[float, None, Joined]:
    """What `make` joins with a blend, with the visual pose blended at each cut; yields the completed fraction.

    blends: for all cuts, or one for each. The armature has to play the result. lock_feet: keep planted feet on their
    places, by default where possible. Raises LookAtError, after which nothing has changed.
    """

    def once(lock: bool) -> Generator[float, None, Joined]:
        return _joined(scene, armature, make, blends, lock_feet=lock)

    return (yield from locking(armature, once, lock_feet))


def _joined(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    make: Callable[[Blend], Generator[float, None, Joined]],
    blends: Blend | Sequence[Blend],
    *,
    lock_feet: bool,
) -> Generator[float, None, Joined]:
    each = [blends] if isinstance(blends, Blend) else list(blends)
    plain = [replace(blend, profile=blend.profile.without_delays()) for blend in each]
    for blend in plain:
        visual_transition.check(armature, blend)
    data = armature.animation_data
    before = (data.action, data.action_slot) if data is not None else (None, None)
    was_kept = before[0] is not None and before[0].use_fake_user
    # The source plays on in the keys.
    profile = each[0].profile
    # Clips that are placed for the blend leave a difference that continues the velocity of the root.
    result = yield from progress.subrange(make(replace(each[0], hard=True)), 0.0, 0.1)
    made, seconds, used = [], [], []
    locked, part = None, 0.6 if lock_feet else 1.0
    try:
        if armature.animation_data.action != result.action:
            raise RigError("A visual transition needs the result on the armature; enable Use Result.")
        with visual_transition.removed_if_failed(armature, made):
            for n, cut in enumerate(result.cuts):
                blend = plain[min(n, len(plain) - 1)]
                job = _blend_cut(scene, armature, _jumps(scene, armature, cut, profile, result.last), blend)
                share = part / len(result.cuts)
                here = yield from progress.subrange(job, n * share, (n + 1) * share)
                made += here
                seconds.append(here[0].blend if here else 0.0)
                used.append(here[0].how.id if here else splice.CUT.how.id)
            if lock_feet:
                clips = _lasting(result.played, (0.0, *seconds), profile)
                locked = yield from progress.subrange(visual_feet.lock(scene, armature, clips), part, 1.0)
    except BaseException:
        if before[0] is None:
            armature.animation_data.action = None
        else:
            join.use(armature, *before)
            before[0].use_fake_user = was_kept
        bpy.data.actions.remove(result.action)
        raise
    return replace(result, blends=tuple(seconds), methods=tuple(used), feet=locked)


def _lasting(clips: Sequence[PlayedClip], seconds: Sequence[float], profile: BlendProfile) -> list[PlayedClip]:
    """The clips with transitions that last so long."""
    return [
        replace(clip, blend=profile.duration(blend) if blend else 0.0)
        for clip, blend in zip(clips, seconds, strict=True)
    ]


def _jumps(
    scene: bpy.types.Scene, armature: bpy.types.Object, cut: int, profile: BlendProfile, last: int
) -> list[tuple[int, list[str] | None]]:
    """The frames at which keys jump, the cut and the end of each delay, and the bones that jump then; None for any."""
    dt = scene_time.seconds_per_frame(scene)
    waiting = {bone for bone, row in profile.bones.items() if row.source_time > 0.0}
    others = [bone for bone in (OBJECT, *evaluated_pose.deforming(armature)) if bone not in waiting]
    jumps: dict[int, list[str] | None] = {cut: others if waiting else None}
    for row in profile.rows:
        if 0.0 < row.source_time < np.inf and cut + round(row.source_time / dt) <= last:
            own = {bone for bone, mine in profile.bones.items() if mine.source_time == row.source_time}
            late = [bone for bone in evaluated_pose.deforming(armature) if bone in own]
            jumps.setdefault(cut + round(row.source_time / dt), None if row in profile.curves else late)
    return sorted(jumps.items(), key=lambda item: item[0])


def _blend_cut(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    jumps: Sequence[tuple[int, list[str] | None]],
    blend: Blend,
) -> Generator[float, None, list[VisualTransition]]:
    """Let the jumps at these frames decay, where there are any; removed again if one fails."""
    made: list[VisualTransition] = []
    with visual_transition.removed_if_failed(armature, made):
        for n, (frame, bones) in enumerate(jumps):
            job = visual_transition.blend_at(scene, armature, frame, blend, bones=bones, is_cut=True)
            with suppress(NothingJumps):
                made.append((yield from progress.subrange(job, n / len(jumps), (n + 1) / len(jumps))))
    return made
