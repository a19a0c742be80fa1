"""Bake look-ats onto several actions, each into a new action of its own."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial

import bpy
import numpy as np

from ...lookat_pd.errors import LookAtError, RigError
from ...lookat_pd.progress import subrange
from ..animation import actions
from ..animation.bake_options import BakeOptions
from ..animation.key_writer import KeyWriter
from ..detection import moving_actions
from ..detection.moving_actions import Playing
from ..sampling import suspend
from . import look_at_bake, resolve
from .look_at_bake import BAKED, BakeResult


@dataclass(frozen=True)
class BakedAction:
    """What came of one action."""

    source: bpy.types.Action
    action: bpy.types.Action
    slot: bpy.types.ActionSlot
    results: list[BakeResult]
    """The result of each look-at."""


def bake_actions(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    bones: Sequence[str],
    chosen: Sequence[bpy.types.Action],
    writer: KeyWriter | None = None,
) -> Generator[float, None, list[BakedAction]]:
    """Bake the look-ats on `bones` onto each chosen action, over its own frames; yields the fraction done.

    writer: which keys, by default one at every frame.

    Each begins with the same pose. The new actions are on muted NLA tracks, and the armature plays the first. Nothing
    has changed where it ends early. Raises LookAtError.
    """
    if not chosen:
        raise RigError("No action is checked; check the actions to bake onto.")
    moving_actions.check_results([action.name for action in chosen], partial(actions.name_of_result, ending=BAKED))
    start = Playing.of(armature)
    played = {*chosen, *([start.action] if start.action is not None else [])}
    kept = [(action, action.use_fake_user) for action in played]
    settings = [armature.pose.bones[bone].lookat_pd for bone in bones]
    muted = [item.mute for item in settings]
    made: list[BakedAction] = []
    tracks: list[bpy.types.NlaTrack] = []
    with suspend.suspend_live():
        try:
            for number, action in enumerate(chosen):
                start.restore()
                for item, mute in zip(settings, muted, strict=True):
                    item.mute = mute
                work = _one(scene, armature, bones, action, writer or KeyWriter())
                steps = subrange(work, number / len(chosen), (number + 1) / len(chosen))
                results = yield from steps
                made.append(BakedAction(action, results[0].action, armature.animation_data.action_slot, results))
            start.restore()
            moving_actions.play(armature, chosen[0], "NEW")
            tracks += moving_actions.keep_on_tracks(armature, [(item.action, item.slot) for item in made])
        except BaseException:
            _undo(armature, start, made, tracks)
            for item, mute in zip(settings, muted, strict=True):
                item.mute = mute
            for action, before in kept:
                action.use_fake_user = before
            raise
    return made


def _one(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    bones: Sequence[str],
    action: bpy.types.Action,
    writer: KeyWriter,
) -> Generator[float, None, list[BakeResult]]:
    moving_actions.play(armature, action, "NEW")
    try:
        look_ats = [resolve.resolve(armature, bone) for bone in bones]
        options = BakeOptions(*whole_frames(action), "NEW", writer=writer)
        return (yield from look_at_bake.bake(scene, look_ats, options))
    except LookAtError as error:
        raise RigError("Action '{name}': {error}", name=action.name, error=error) from None


def whole_frames(action: bpy.types.Action) -> tuple[int, int]:
    """First and last frame of an action."""
    first, last = action.frame_range
    return int(np.floor(first)), int(np.ceil(last))


def _undo(
    armature: bpy.types.Object, start: Playing, made: Sequence[BakedAction], tracks: Sequence[bpy.types.NlaTrack]
) -> None:
    start.restore()
    for track in tracks:
        armature.animation_data.nla_tracks.remove(track)
    for item in made:
        bpy.data.actions.remove(item.action)
