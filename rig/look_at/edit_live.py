"""From a bake back to the live look-at: what a look-at is baked into, and the animation that it was baked from.

A baked action says which look-ats its keys contain, so the answer holds for renamed and copied actions, and changes
with the action that plays.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import bpy

from ...lookat_pd.errors import RigError
from ..animation import actions, editable, unkeyed_pose
from ..animation.bake_transaction import SOURCE, source_of
from . import constraint_sync
from .body import blink_bake
from .resolve import exists_on

_BAKED = "lookat_pd_baked"
"""Custom property of a baked action: for each bone whose look-at its keys contain, the destination of the bake."""
_LEFT = "lookat_pd_left"
"""Custom property of an action in a layer: there was a way back from it, by which its track was muted."""


@dataclass(frozen=True)
class Baked:
    """What a look-at is baked into, where that plays."""

    action: bpy.types.Action
    into: str
    """"NEW", "CURRENT" or "LAYER"."""
    track: bpy.types.NlaTrack | None
    """The NLA track that plays it, None for the current action."""


def mark(action: bpy.types.Action, bones: Iterable[str], into: str) -> None:
    """Note that the keys of an action contain what the look-ats on some bones do."""
    known = dict(action[_BAKED]) if _BAKED in action else {}
    if into == "CURRENT" and "NEW" in known.values():
        # The action of an earlier bake: what that was baked from is without these look-ats, too.
        into = "NEW"
    action[_BAKED] = known | dict.fromkeys(bones, into)


def baked(armature: bpy.types.Object, bone: str) -> Baked | None:
    """What the look-at on a bone is baked into, None where no such bake plays."""
    for action, track in _playing(armature):
        if bone in action[_BAKED]:
            return Baked(action, action[_BAKED][bone], track)
    return None


def _playing(armature: bpy.types.Object) -> Iterator[tuple[bpy.types.Action, bpy.types.NlaTrack | None]]:
    """The actions of bakes that an armature plays, with their NLA tracks."""
    data = armature.animation_data
    if data is None:
        return
    if data.action is not None and _BAKED in data.action:
        yield data.action, None
    for track in data.nla_tracks if data.use_nla else ():
        for strip in track.strips if not track.mute else ():
            if strip.action is not None and not strip.mute and _BAKED in strip.action:
                yield strip.action, track


def replace_left(armature: bpy.types.Object, bones: Collection[str]) -> None:
    """Take away the muted tracks of earlier bakes of these look-ats from which there was a way back: a new bake into a
    layer is there. Their actions stay in the file."""
    for track in list(armature.animation_data.nla_tracks):
        found = [strip.action for strip in track.strips]
        if track.mute and found and all(_is_left(action, bones) for action in found):
            armature.animation_data.nla_tracks.remove(track)
            for action in found:
                actions.keep(action)


def _is_left(action: bpy.types.Action | None, bones: Collection[str]) -> bool:
    return action is not None and _LEFT in action and set(dict(action.get(_BAKED, {}))) <= set(bones)


def check(armature: bpy.types.Object, bone: str) -> Baked:
    """What the look-at on a bone is baked into. Raises RigError where there is no way back."""
    editable.check_armature(armature)
    found = baked(armature, bone)
    if found is None:
        raise RigError("The look-at on '{bone}' is not baked into what plays; unmute it with the eye.", bone=bone)
    editable.check_tweak_mode(armature)
    name, source = found.action.name, found.action.get(SOURCE)
    if found.into == "CURRENT":
        raise RigError(
            "The bake into '{action}' replaced keys of the animation; undo it, or bake into a new action next time.",
            action=name,
        )
    if found.into == "NEW" and found.track is not None:
        raise RigError(
            "'{action}' plays as an NLA strip; mute its track, assign the original action, and unmute the look-at.",
            action=name,
        )
    if found.into == "NEW" and source and source_of(found.action) is None:
        raise RigError(
            "The action '{source}' from which '{action}' was baked is not in the file any more; delete the look-at, or "
            "add the action again under this name.",
            source=source,
            action=name,
        )
    return found


def edit_live(armature: bpy.types.Object, bone: str) -> Sequence[str]:
    """Play what the look-at on a bone was baked from, with it and all others of the same bake live; their bones.

    The baked action is kept. Raises RigError, and then changes nothing.
    """
    found = check(armature, bone)
    constraint_sync.follow_renames(armature)
    if found.track is not None:
        shapes = [strip.action for strip in found.track.strips if strip.action is not None]
        bones = [name for action in shapes for name in dict(action.get(_BAKED, {}))]
        found.track.mute = True
        for action in shapes:
            action[_LEFT] = True
    else:
        bones = [name for name, into in dict(found.action[_BAKED]).items() if into == "NEW"]
        shapes = [found.action]
        _play_source(armature, found.action)
    for action in shapes:
        blink_bake.play_source(armature, action)
    live = [name for name in bones if name in armature.pose.bones and exists_on(armature.pose.bones[name])]
    for name in live:
        unkeyed_pose.bring_back(armature, name)
        armature.pose.bones[name].lookat_pd.mute = False
    return live


def _play_source(armature: bpy.types.Object, action: bpy.types.Action) -> None:
    data, source = armature.animation_data, source_of(action)
    slot = data.action_slot
    data.action = source
    if source is not None:
        same = None if slot is None else source.slots.get(slot.identifier)
        data.action_slot = same or actions.find_slot(armature, source)
    actions.keep(action)
