"""Conversations: characters look at whoever speaks, by keys of their look-ats."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy

from ...lookat_pd import conversation
from ...lookat_pd.conversation import Manner, Turn
from ...lookat_pd.errors import RigError
from .. import look_at, look_at_edit
from ..detection import limbs
from ..sample import Target, key_range, seconds_per_frame
from . import keys, looks, markers


@dataclass(frozen=True)
class Options:
    """manner: how people behave. replace: delete keys of targets, and of on and off, that are in the way. end: last
    frame, None for the scene's."""

    manner: Manner = conversation.USUAL
    replace: bool = False
    end: float | None = None


USUAL = Options()


@dataclass(frozen=True)
class _Person:
    """bone: that of the look-at, which is there or still to be made. face: where others look."""

    armature: bpy.types.Object
    bone: str
    face: Target


def converse(
    scene: bpy.types.Scene,
    turns: Sequence[tuple[float, bpy.types.Object]],
    armatures: Sequence[bpy.types.Object],
    options: Options = USUAL,
) -> None:
    """Key who looks at whom from the first turn to the end. Whoever has no look-at gets one on the head.

    turns: frame and speaker, one of the armatures, in order of time. Before the first turn all stays as it was. Raises
    LookAtError, and then changes nothing.
    """
    people = [_person(item) for item in dict.fromkeys(armatures)]
    if len(people) < 2:
        raise RigError("A conversation needs at least two characters; select the armatures of all who take part.")
    end = key_range(scene)[1] if options.end is None else options.end
    _check(people, turns, end, replace=options.replace)
    dt, who = seconds_per_frame(scene), [person.armature for person in people]
    said = [Turn(frame * dt, who.index(speaker)) for frame, speaker in turns]
    plan = conversation.plan(said, len(people), end * dt, options.manner)
    for person, planned in zip(people, plan, strict=True):
        _make_look_at(scene, person)
        keys.clear(person.armature, person.bone, turns[0][0], end, key_range(scene)[0])
        faces = {look.at: people[look.at].face for look in planned if look.at is not None}
        numbers = {at: looks.add(person.armature, person.bone, face) for at, face in sorted(faces.items())}
        switches = {round(look.time / dt): None if look.at is None else numbers[look.at] for look in planned}
        if switches:
            looks.write_keys(scene, person.armature, person.bone, list(switches.items()))


def from_markers(scene: bpy.types.Scene, armatures: Sequence[bpy.types.Object]) -> list[tuple[float, bpy.types.Object]]:
    """Who speaks from when on, as the scene's markers say: named after an armature, or "Name: whatever".

    Raises RigError.
    """
    names = {item.name: item for item in armatures}
    found = [
        (frame, name, names.get(name) or names.get(name.partition(":")[0].strip()))
        for frame, name in markers.read(scene)
    ]
    unknown = [name for _, name, speaker in found if speaker is None]
    if unknown:
        raise RigError(
            f"Nobody selected is called {markers.quoted(unknown)}; name each marker after the armature that "
            "begins to speak there."
        )
    return [(looks.key_frame(scene, frame), speaker) for frame, _, speaker in found]


def _person(armature: bpy.types.Object) -> _Person:
    look_at.check_armature(armature)
    keys.check(armature)
    bone = _looking(armature)
    eyes = limbs.find_eyes(armature)
    # People look each other in the eye; the bone of the head begins at the neck.
    return _Person(armature, bone, Target(armature, eyes[0].bone if eyes else bone))


def _looking(armature: bpy.types.Object) -> str:
    """The bone with the look-at that takes part, or the head for one to be made."""
    bones = look_at.bones_with_look_at(armature)
    live = [bone for bone in bones if not armature.pose.bones[bone].lookat_pd.mute]
    if bones and not live:
        raise RigError(
            f"The look-at on '{bones[0]}' of '{armature.name}' is muted; unmute it to let '{armature.name}' take part."
        )
    if len(live) == 1:
        return live[0]
    head = look_at.find_head(armature)
    return head if head in live or not live else live[0]


def _check(
    people: Sequence[_Person], turns: Sequence[tuple[float, bpy.types.Object]], end: float, *, replace: bool
) -> None:
    armatures = [person.armature for person in people]
    for frame, speaker in turns:
        if speaker not in armatures:
            raise RigError(f"'{speaker.name}' speaks but does not take part; add it to those who converse.")
        if frame >= end:
            raise RigError(
                f"'{speaker.name}' begins to speak at frame {frame:g}, but all ends at {end:g}; go on longer."
            )
    for person in people:
        for other in people:
            if other is not person:
                looks.check(person.armature, person.bone, other.face)
        if turns and not replace:
            _check_free(person, turns[0][0], end)


def _check_free(person: _Person, first: float, last: float) -> None:
    for setting in keys.SWITCHES:
        if any(first <= frame <= last for frame in keys.frames(person.armature, person.bone, setting)):
            raise RigError(
                f"The look-at of '{person.armature.name}' has keys there already, of another conversation perhaps; "
                "choose Replace to delete them."
            )


def _make_look_at(scene: bpy.types.Scene, person: _Person) -> None:
    bone = person.armature.pose.bones[person.bone]
    if not look_at.exists_on(bone):
        look_at_edit.add(scene, person.armature, person.bone, None)
        bone.lookat_pd.use = False
