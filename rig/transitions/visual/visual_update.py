"""*Update*: all visual transitions of an armature made again, for the animation as it is now."""

from collections.abc import Generator
from typing import Any

import bpy

from ....lookat_pd import progress
from ...animation import editable
from . import visual_feet, visual_loop, visual_offsets, visual_transition
from .evaluated_pose import OBJECT
from .visual_transition import NothingJumps


def update(
    scene: bpy.types.Scene, armature: bpy.types.Object
) -> Generator[float, None, tuple[list[bpy.types.Action], list[int]]]:
    """Make all transitions of an armature again.

    Returns their actions, and the frames of those that are gone because nothing jumps there any more, or because a
    clip is gone. Yields the completed fraction. Raises LookAtError, after which all are as before.
    """
    editable.check_bones(armature, ())
    before = visual_offsets.of(armature)
    # Feet are locked in what is blended.
    notes = sorted(map(visual_offsets.note_of, before), key=lambda note: "clips" in note)
    made: list[bpy.types.Action] = []
    gone = []
    with visual_offsets.muted(armature):
        try:
            for n, note in enumerate(notes):
                try:
                    job = _again(scene, armature, note)
                    action = yield from progress.subrange(job, n / len(notes), (n + 1) / len(notes))
                    if action is None:
                        gone.append(int(note["frame"]))
                    else:
                        made.append(action)
                except (NothingJumps, KeyError):
                    gone.append(int(note.get("frame", 0)))
        except BaseException:
            for action in made:
                visual_offsets.remove(armature, action)
            raise
        for action in before:
            visual_offsets.remove(armature, action)
    for action in made:
        visual_offsets.name_by_frame(armature, action)
    return made, gone


def _again(
    scene: bpy.types.Scene, armature: bpy.types.Object, note: dict[str, Any]
) -> Generator[float, None, bpy.types.Action | None]:
    """Make the transition that was noted so; None if there is nothing to do."""
    if "clips" in note:
        locked = yield from visual_feet.lock(scene, armature, visual_feet.clips_of(note))
        return locked.action if locked is not None else None
    if "loop" in note:
        ends = int(note["frame"]), int(note["last"])
        return (
            yield from visual_loop.closed(scene, armature, *ends, visual_transition.noted_blend(note), **note["loop"])
        ).action
    # Bones that are gone or renamed since are left out.
    bones = note["chosen"] and [name for name in note["chosen"] if name == OBJECT or name in armature.pose.bones]
    options = {"bones": bones, "is_cut": bool(note.get("is_cut"))}
    return (
        yield from visual_transition.blend_at(
            scene, armature, int(note["frame"]), visual_transition.noted_blend(note), **options
        )
    ).action
