"""Conversations: characters look at the speaker, by keys of their look-ats."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy

from ....lookat_pd.errors import RigError
from ....lookat_pd.gaze import conversation
from ....lookat_pd.gaze.conversation import Manner, Turn
from ...animation import editable
from ...detection import limbs
from ...sampling.scene_time import key_range, seconds_per_frame
from ...sampling.targets import Target
from .. import edit as look_at_edit
from .. import resolve as look_at
from . import looks, markers, setting_keys


@dataclass(frozen=True)
class Options:
    """manner: behavior of the people. replace: delete existing keys of targets and of on and off. end: last frame, None
    for that of the scene."""

    manner: Manner = conversation.USUAL
    replace: bool = False
    end: float | None = None


USUAL = Options()


@dataclass(frozen=True)
class _Person:
    """bone: of the existing or new look-at. face: the target for others."""

    armature: bpy.types.Object
    bone: str
    face: Target


def converse(
    scene: bpy.types.Scene,
    turns: Sequence[tuple[float, bpy.types.Object]],
    armatures: Sequence[bpy.types.Object],
    options: Options = USUAL,
) -> None:
    """Key the looks from the first turn to the end. Characters without a look-at get one on the head.

    turns: frame and speaker, one of the armatures, in order of time. Frames before the first turn do not change. Raises
    LookAtError before any change.
    """
    people = [_person(item) for item in dict.fromkeys(armatures)]
    if len(people) < 2:
        raise RigError("A conversation needs at least two characters; select the armatures of all participants.")
    end = key_range(scene)[1] if options.end is None else options.end
    _check(people, turns, end, replace=options.replace)
    dt, who = seconds_per_frame(scene), [person.armature for person in people]
    said = [Turn(frame * dt, who.index(speaker)) for frame, speaker in turns]
    plan = conversation.plan(said, len(people), end * dt, options.manner)
    for person, planned in zip(people, plan, strict=True):
        _make_look_at(scene, person)
        setting_keys.clear(person.armature, person.bone, turns[0][0], end, key_range(scene)[0])
        faces = {look.at: people[look.at].face for look in planned if look.at is not None}
        numbers = {at: looks.add(person.armature, person.bone, face) for at, face in sorted(faces.items())}
        switches = {round(look.time / dt): None if look.at is None else numbers[look.at] for look in planned}
        if switches:
            looks.write_keys(scene, person.armature, person.bone, list(switches.items()))


def from_markers(scene: bpy.types.Scene, armatures: Sequence[bpy.types.Object]) -> list[tuple[float, bpy.types.Object]]:
    """The speakers and their start frames from the markers of the scene, named after an armature or "Name: text".

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
            "No selected character is named {names}; name each marker after the armature that starts to speak there.",
            names=markers.quoted(unknown),
        )
    return [(looks.key_frame(scene, frame), speaker) for frame, _, speaker in found]


def _person(armature: bpy.types.Object) -> _Person:
    editable.check_armature(armature)
    setting_keys.check(armature)
    bone = _looking(armature)
    eyes = limbs.find_eyes(armature)
    # People look each other in the eyes; the head bone starts at the neck.
    return _Person(armature, bone, Target(armature, eyes[0].bone if eyes else bone))


def _looking(armature: bpy.types.Object) -> str:
    """The bone of the participating look-at, or the head for a new one."""
    bones = look_at.bones_with_look_at(armature)
    live = [bone for bone in bones if not armature.pose.bones[bone].lookat_pd.mute]
    if bones and not live:
        raise RigError(
            "The look-at on '{bone}' of '{armature}' is muted; unmute it to include '{armature}' in the conversation.",
            bone=bones[0],
            armature=armature.name,
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
            raise RigError(
                "'{speaker}' has a turn but is not a participant; add it to the conversation.", speaker=speaker.name
            )
        if frame >= end:
            raise RigError(
                "'{speaker}' starts to speak at frame {frame:g}, after the end at frame {end:g}; choose a later end.",
                speaker=speaker.name,
                frame=frame,
                end=end,
            )
    for person in people:
        for other in people:
            if other is not person:
                looks.check(person.armature, person.bone, other.face)
        if turns and not replace:
            _check_free(person, turns[0][0], end)


def _check_free(person: _Person, first: float, last: float) -> None:
    for setting in setting_keys.SWITCHES:
        if any(first <= frame <= last for frame in setting_keys.frames(person.armature, person.bone, setting)):
            raise RigError(
                "The look-at of '{armature}' already has keys in this range; enable Replace to delete them.",
                armature=person.armature.name,
            )


def _make_look_at(scene: bpy.types.Scene, person: _Person) -> None:
    bone = person.armature.pose.bones[person.bone]
    if not look_at.exists_on(bone):
        look_at_edit.add(scene, person.armature, person.bone, None)
        bone.lookat_pd.use = False
