"""Making, editing and removing the conversation of a scene. All functions raise LookAtError before any change."""

from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

import bpy

from ....lookat_pd.conversation import loudness, sounds
from ....lookat_pd.conversation.files import Line
from ....lookat_pd.errors import RigError
from ...animation.bake_options import LAST_FRAME
from ...sampling.scene_time import key_range, seconds_per_frame
from .. import resolve as look_at
from . import conversation, conversation_settings, looks, markers, setting_keys
from .conversation_settings import silent


def begin(
    scene: bpy.types.Scene,
    armatures: Sequence[bpy.types.Object] | None,
    values: Mapping[str, object],
    options: Mapping[str, Any],
) -> conversation.Planned:
    """Make the conversation of a scene: of these characters, None for those that it has.

    values: of its settings. options: of `conversation_settings.make`. The turns are those of the markers where any is
    named after one of the characters, else those of the table, else one for each character.
    """
    settings = scene.lookat_pd_conversation
    before = _stored(settings)
    try:
        with silent():
            if armatures is not None:
                conversation_settings.set_people(scene, armatures)
            for name, value in values.items():
                setattr(settings, name, value)
            if not len(settings.turns) and not settings.use_markers:
                _first_turns(scene)
        return conversation_settings.make(scene, **options)
    except Exception:
        with silent():
            _restore(settings, before)
        raise


def _first_turns(scene: bpy.types.Scene) -> None:
    """The turns of a new conversation: from markers, or one for each character."""
    settings = scene.lookat_pd_conversation
    if any(conversation_settings.speaker(settings, marker.name) for marker in scene.timeline_markers):
        settings.use_markers = True
        return
    first, last = key_range(scene)
    people = [person.armature for person in settings.people if person.armature is not None]
    for n, armature in enumerate(people):
        turn = settings.turns.add()
        turn.speaker, turn.frame = armature, first + n * (last - first) // max(len(people), 1)


_VALUES = ("use_markers", "end", "seed", "glances", *conversation_settings.AMOUNTS, "breathing", "made_of", "error")


def _stored(settings) -> tuple:
    people = [(person.armature, person.called, person.sound, person.personality) for person in settings.people]
    turns = [(turn.speaker, turn.frame, turn.text, turn.at) for turn in settings.turns]
    return people, turns, {name: getattr(settings, name) for name in _VALUES}


def _restore(settings, stored: tuple) -> None:
    people, turns, values = stored
    settings.people.clear()
    for armature, called, sound, personality in people:
        item = settings.people.add()
        item.armature, item.called, item.sound, item.personality = armature, called, sound, personality
    settings.turns.clear()
    for speaker, frame, text, at in turns:
        item = settings.turns.add()
        item.speaker, item.frame, item.text, item.at = speaker, frame, text, at
    for name, value in values.items():
        setattr(settings, name, value)


def add_turn(scene: bpy.types.Scene) -> None:
    """Let the next character speak from the current frame on: a marker or a row of the table."""
    settings = scene.lookat_pd_conversation
    frame = round(looks.here(scene))
    people = [person.armature for person in settings.people if person.armature is not None]
    if not people:
        raise RigError("The conversation has no characters; make it again.")
    said = conversation_settings.turns(scene) if settings.use_markers or len(settings.turns) else []
    if any(turn[0] == frame for turn in said):
        raise RigError("A turn begins at frame {frame} already; go to another frame.", frame=frame)
    before = [turn[1] for turn in said if turn[0] < frame]
    number = people.index(before[-1]) + 1 if before and before[-1] in people else 0
    speaker = people[number % len(people)]
    if settings.use_markers:
        scene.timeline_markers.new(speaker.name, frame=scene.frame_current)
    else:
        with silent():
            rows = _rows(settings)
            rows.append((frame, speaker, "", None))
            _write(settings, rows)
            settings.turns_index = [turn.frame for turn in settings.turns].index(frame)
    conversation_settings.update(scene)


def _rows(settings) -> list[tuple]:
    return [(turn.frame, turn.speaker, turn.text, turn.at) for turn in settings.turns]


def _write(settings, rows: Sequence[tuple]) -> None:
    settings.turns.clear()
    for frame, speaker, text, at in sorted(rows, key=lambda row: row[0]):
        item = settings.turns.add()
        item.frame, item.speaker, item.text, item.at = frame, speaker, text, at


def remove_turn(scene: bpy.types.Scene) -> None:
    """Remove the highlighted turn of the table."""
    settings = scene.lookat_pd_conversation
    number = settings.turns_index
    if settings.use_markers or not 0 <= number < len(settings.turns):
        raise RigError("No turn of the table is selected; click a turn, or delete its marker.")
    if len(settings.turns) == 1:
        raise RigError("A conversation needs at least one turn; remove the conversation instead.")
    with silent():
        settings.turns.remove(number)
        settings.turns_index = max(number - 1, 0)
    conversation_settings.update(scene)


def take_lines(scene: bpy.types.Scene, lines: Sequence[Line], first: int | None = None) -> None:
    """Replace the table by the turns of a file.

    first: the frame of time 0; by default the first frame of the scene.
    """
    settings = scene.lookat_pd_conversation
    dt = seconds_per_frame(scene)
    first = key_range(scene)[0] if first is None else first
    rows: dict[int, tuple] = {}
    unknown = []
    for line in lines:
        who = conversation_settings.speaker(settings, line.name)
        at = conversation_settings.speaker(settings, line.at) or scene.objects.get(line.at) if line.at else None
        unknown += [line.name] if who is None else []
        unknown += [line.at] if line.at and at is None else []
        frame = round(line.time) if line.in_frames else first + round(line.time / dt)
        if abs(frame) > LAST_FRAME:
            raise RigError(
                "The turn of {name} is at frame {frame}, which Blender does not have; correct the file.",
                name=line.name,
                frame=frame,
            )
        rows[frame] = frame, who, line.text, at
    if unknown:
        raise RigError(
            "No character of the conversation is called {names}; set the name under Called, or change the file.",
            names=markers.quoted(unknown),
        )
    with silent():
        settings.use_markers = False
        _write(settings, list(rows.values()))
    conversation_settings.update(scene)


def take_sounds(scene: bpy.types.Scene) -> int:
    """Replace the table by the turns that are heard in the recordings of the characters; their number.

    Time 0 of the recordings is the first frame of the scene.
    """
    settings = scene.lookat_pd_conversation
    recorded = [person for person in settings.people if person.armature is not None and person.sound]
    if not recorded:
        raise RigError("No character has a recording; choose a WAV file for each who speaks.")
    heard = [loudness.speech(*sounds.load(Path(bpy.path.abspath(person.sound)))) for person in recorded]
    dt, first = seconds_per_frame(scene), key_range(scene)[0]
    rows: dict[int, tuple] = {}
    for phrase in loudness.turns(heard):
        frame = first + round(phrase.start / dt)
        rows.setdefault(frame, (frame, recorded[phrase.speaker].armature, "", None))
    if not rows:
        raise RigError("No speech was found in the recordings; choose recordings with pauses and speech.")
    with silent():
        settings.use_markers = False
        _write(settings, list(rows.values()))
    conversation_settings.update(scene)
    return len(rows)


def remove(scene: bpy.types.Scene) -> None:
    """Remove the conversation and its generated keys."""
    settings = scene.lookat_pd_conversation
    with silent():
        for person in settings.people:
            if person.armature is None or person.armature.name not in bpy.data.objects:
                continue
            for bone in look_at.bones_with_look_at(person.armature):
                for setting in setting_keys.CONVERSED:
                    setting_keys.generate(person.armature, bone, setting, (), (-inf, inf), 0.0, ())
                setting_keys.show(person.armature, bone, looks.here(scene), setting_keys.CONVERSED)
        settings.people.clear()
        settings.turns.clear()
        settings.made_of = settings.error = ""
        settings.use_markers = False
