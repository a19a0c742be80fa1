"""Which look-ats are live, and their constraints on the rig: made, moved and taken away as look-ats come and go."""

from collections.abc import Iterator, Sequence
from time import perf_counter

import bpy
import numpy as np

from ...lookat_pd.errors import LookAtError
from ..animation import stored_settings
from ..animation.stored_settings import stored
from ..layers import bone_chains, live
from ..layers.kinds import Instance
from . import look_at_layer as offsets
from . import resolve as look_at
from .body import blink
from .directing import shot_keys
from .resolve import LookAt

_CHOSEN = (("body", "mover"), ("eyes", "left"), ("eyes", "right"))
"""Settings that may name further bones of the rig."""
_seen = bone_chains.SeenBones()


def is_live(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone has a look-at that moves the rig."""
    return look_at.exists_on(bone) and not bone.lookat_pd.mute


def live_bones(armature: bpy.types.Object) -> list[str]:
    """Names of the bones with a live look-at, in the order in which they play."""
    return [name for name in look_at.bones_with_look_at(armature) if is_live(armature.pose.bones[name])]


def numbers(armature: bpy.types.Object) -> set[int]:
    """Numbers that look-ats of this rig have, live or not, and those in names of an animator's own constraints."""
    held = {armature.pose.bones[name].lookat_pd.number for name in look_at.bones_with_look_at(armature)} - {0}
    return held | offsets.taken(armature)


def sync(armature: bpy.types.Object, seconds: float = np.inf) -> list[Instance]:
    """Give every live look-at of a rig its constraints, remove those of others, and return the live look-ats.

    Names of bones that were renamed are mended in the settings. Not for a rig in edit mode. seconds: for which
    constraints may be made; then the rest of them is left to `complete`.
    """
    follow_renames(armature)
    mend_keys(armature)
    found, used, until = [], set(), perf_counter() + seconds
    for bone in live_bones(armature):
        settings = armature.pose.bones[bone].lookat_pd
        if settings.number in used or not settings.number:
            # A copy of a bone brings the number of the original along.
            settings.number = max(numbers(armature) | used, default=0) + 1
        used.add(settings.number)
        found.append(_attach(armature, bone, settings.number, until))
    for number in set(offsets.places(armature)) - used:
        offsets.remove(armature, number)
        live.taken_away(armature, number)
    offsets.arrange(armature, [item.number for item in found])
    if stored_settings.in_file(("lookat_pd_blinks",)):
        blink.give_back(armature, (lid for item in found if item.resolved is not None for lid in item.resolved.shapes))
    return found


def mend_keys(armature: bpy.types.Object) -> None:
    """Bring the drivers of a rig in line with its keys of the shot, where it may have any."""
    animation, data = armature.animation_data, armature.data
    has_drivers = animation is not None and len(animation.drivers) > 0
    if has_drivers or data.library is not None or stored(data, "lookat_pd_shot") is not None:
        shot_keys.mend(armature)


def _attach(armature: bpy.types.Object, bone: str, number: int, until: float) -> Instance:
    try:
        resolved = look_at.resolve(armature, bone)
    except LookAtError as error:
        offsets.hide(armature, number)
        return Instance(armature, bone, number, None, str(error))
    late = False
    for _ in offsets.installing(armature, number, resolved.turned, resolved.moved):
        late = perf_counter() > until
        if late:
            break
    return Instance(armature, bone, number, resolved, is_installed=not late)


def complete(armature: bpy.types.Object, look_ats: Sequence[Instance]) -> Iterator[None]:
    """Make what `sync` has left of the constraints of all look-ats of a rig, with breaks, since each is slow."""
    for item in look_ats:
        if not item.is_installed:
            yield from offsets.installing(armature, item.number, item.resolved.turned, item.resolved.moved)
            yield
    offsets.arrange(armature, [item.number for item in look_ats])


def follow_renames(armature: bpy.types.Object) -> None:
    """Blender does not know that settings name bones: where one is renamed, its new name is written into them, also of
    a look-at that is muted."""
    places, names = offsets.places(armature), armature.data.bones.keys()
    renamed = _seen.have_changed(armature)
    if renamed:
        # Blender renames bones in the keys too, and 4.5 goes on with the names that it had.
        offsets.LookAtLayer(armature).evaluate()
    for bone in look_at.bones_with_look_at(armature):
        settings = armature.pose.bones[bone].lookat_pd
        held = places.get(settings.number, {})
        for place, item in enumerate(look_at.named_links(settings)):
            # A constraint stays on its bone whatever that is called now.
            owners = held.get(place, [])
            if (renamed or item.bone not in names) and owners and item.bone not in owners:
                for remembered in settings.unkeyed:
                    if remembered.bone == item.bone:
                        remembered.bone = owners[0]
                item.bone = owners[0]
        if not held:
            for item in (*look_at.named_links(settings), *settings.unkeyed):
                if item.bone not in names and (now := _seen.new_name(armature, item.bone)):
                    item.bone = now
        if settings.chain and settings.chain[0].bone not in names:
            settings.chain[0].bone = bone
        # To write what is there already would have Blender evaluate the rig, without end.
        if now := _seen.new_name(settings.target, settings.subtarget):
            settings.subtarget = now
        for item in settings.targets:
            if now := _seen.new_name(item.object, item.bone):
                item.bone = now
        for group, name in _CHOSEN:
            if now := _seen.new_name(armature, getattr(getattr(settings, group), name)):
                setattr(getattr(settings, group), name, now)
    _seen.see({armature, *_looked_at(armature)})


def _looked_at(armature: bpy.types.Object) -> Iterator[bpy.types.Object | None]:
    for bone in look_at.bones_with_look_at(armature):
        settings = armature.pose.bones[bone].lookat_pd
        yield settings.target
        yield from (item.object for item in settings.targets)


def may_be_live(armature: bpy.types.Object) -> bool:
    """Whether look-ats of a rig may move it now."""
    return armature.library is None and armature.pose is not None and armature.mode != "EDIT"


def live_armatures(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Rigs of a scene that may have live look-ats now."""
    return [item for item in scene.objects if item.type == "ARMATURE" and may_be_live(item)]


def other_live(scene: bpy.types.Scene, baked: set[tuple[bpy.types.Object, str]]) -> list[LookAt]:
    """Look-ats that are live in a scene besides those that are being baked; such as have errors left out."""
    others = []
    for armature in live_armatures(scene):
        for bone in live_bones(armature):
            if (armature, bone) not in baked:
                try:
                    others.append(look_at.resolve(armature, bone))
                except LookAtError:
                    continue
    return others
