"""*Update*: all transitions as seen of an armature made again, for the animation as it is now."""

from collections.abc import Generator
from typing import Any

import bpy

from ....lookat_pd import progress
from ...animation import editable
from . import seen_feet, seen_loop, seen_offsets, seen_transition
from .evaluated_pose import OBJECT
from .seen_transition import NothingJumps


def update(
    scene: bpy.types.Scene, armature: bpy.types.Object
) -> Generator[float, None, tuple[list[bpy.types.Action], list[int]]]:
    """Make all transitions of an armature again.

    Returns their actions, and the frames of those that are gone because nothing jumps there any more, or because a
    clip is gone. Yields the completed fraction. Raises LookAtError, after which all are as before.
    """
    editable.check_bones(armature, ())
    before = seen_offsets.of(armature)
    # Feet are locked in what is blended.
    notes = sorted(map(seen_offsets.note_of, before), key=lambda note: "clips" in note)
    made: list[bpy.types.Action] = []
    gone = []
    with seen_offsets.muted(armature):
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
                seen_offsets.remove(armature, action)
            raise
        for action in before:
            seen_offsets.remove(armature, action)
    for action in made:
        seen_offsets.name_by_frame(armature, action)
    return made, gone


def _again(
    scene: bpy.types.Scene, armature: bpy.types.Object, note: dict[str, Any]
) -> Generator[float, None, bpy.types.Action | None]:
    """Make the transition that was noted so; None if there is nothing to do."""
    if "clips" in note:
        locked = yield from seen_feet.lock(scene, armature, seen_feet.clips_of(note))
        return locked.action if locked is not None else None
    if "loop" in note:
        ends = int(note["frame"]), int(note["last"])
        return (
            yield from seen_loop.closed(scene, armature, *ends, seen_transition.noted_blend(note), **note["loop"])
        ).action
    # Bones that are gone or renamed since are left out.
    bones = note["chosen"] and [name for name in note["chosen"] if name == OBJECT or name in armature.pose.bones]
    options = {"bones": bones, "is_cut": bool(note.get("is_cut"))}
    return (
        yield from seen_transition.blend_at(
            scene, armature, int(note["frame"]), seen_transition.noted_blend(note), **options
        )
    ).action
