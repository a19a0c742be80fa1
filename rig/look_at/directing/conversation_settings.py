"""The conversation of a scene: its people and turns, kept in the file as `scene.lookat_pd_conversation`.

A change of them, or of a marker they come from, keys the conversation again at once. No postponed annotations: Blender
reads them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import bpy

from ....lookat_pd.conversation import PERSONALITIES, Manner
from ....lookat_pd.conversation.turns import no_turns
from ....lookat_pd.errors import LookAtError, RigError
from ....lookat_pd.message import Message
from ...guards import callbacks
from ...settings import Properties, collection, integer, pointer, switch, text
from .. import resolve as look_at
from . import conversation, looks, markers

_SETTLE_TIME = 0.6
SEED = "Seed of the random reactions and glances"
GLANCES = "How often the characters avert their eyes; 1 for as often as people do, 0 for never"
_WATCHING = 0.25
"""Seconds between two looks at the markers, while a conversation comes from them."""
_changing = False
_errors: dict[int, Message] = {}
"""What prevents the conversations of scenes, as messages that can be translated."""


def _changed(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    update(settings.id_data)


def _source_changed(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """An empty table takes over the turns of the markers, so that there is something to edit."""
    scene = settings.id_data
    if not _changing and not settings.use_markers and not len(settings.turns) and len(scene.timeline_markers):
        with silent():
            for marker in sorted(scene.timeline_markers, key=lambda marker: marker.frame):
                who = speaker(settings, marker.name)
                if who is not None:
                    turn = settings.turns.add()
                    turn.speaker, turn.frame = who, round(looks.key_frame(scene, marker.frame))
                    turn.text = marker.name.partition(":")[2].strip()
    update(scene)


def _personality_changed(person: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    if person.armature is not None:
        for bone in look_at.bones_with_look_at(person.armature):
            settings = person.armature.pose.bones[bone].lookat_pd
            settings.settle_time = _SETTLE_TIME * PERSONALITIES[person.personality].settle
    update(person.id_data)


def _is_armature(settings: bpy.types.PropertyGroup, item: bpy.types.Object) -> bool:
    return item.type == "ARMATURE"


def _breathing_changed(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    for person in settings.people:
        if person.armature is not None:
            for bone in look_at.bones_with_look_at(person.armature):
                conversation.breathe(person.armature.pose.bones[bone].lookat_pd, settings.breathing)


_own = Properties(options=set(), update=_changed)
AMOUNTS = ("scanning", "blinks", "nods", "tilts", "gestures", "shifts")
"""Settings that are factors of amounts of each personality."""


class LookAtPerson(bpy.types.PropertyGroup):
    """A participant of a conversation."""

    armature: _own.pointer(bpy.types.Object, "Character", "Armature of the character", poll=_is_armature)
    called: _own.text(
        "Called", "Name of the character in markers and text files; leave empty for the name of the armature"
    )
    sound: text(
        "Recording",
        "WAV file with the voice of this character alone, for Turns from Recordings",
        subtype="FILE_PATH",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"},
    )
    personality: _own.choice(
        "Personality",
        "How the character looks, blinks, nods and tilts its head in a conversation; sets its settle time as well",
        tuple((row.id, row.label, row.description) for row in PERSONALITIES.values()),
        update=_personality_changed,
    )

    # What was detected: the bone that others look at, eye bones, one a line, and whether the look-at turns eyes.
    face: text(options={"HIDDEN"})
    eyes: text(options={"HIDDEN"})
    has_eyes: switch("Has Eyes", "The look-at of the character turns its eyes", options={"HIDDEN"})


class LookAtTurn(bpy.types.PropertyGroup):
    """A turn of a conversation."""

    speaker: _own.pointer(
        bpy.types.Object, "Speaking Character", "Character that speaks from this frame on", poll=_is_armature
    )
    frame: _own.integer("Frame", "Frame at which the turn begins")
    text: text("Text", "Text that is spoken, as a note; it has no effect")
    at: _own.pointer(
        bpy.types.Object,
        "Looks At",
        "Character that the speaker looks at in this turn, or object that all look at; empty to choose",
    )


class LookAtConversation(bpy.types.PropertyGroup):
    """The conversation of a scene."""

    people: collection(LookAtPerson, "Participants", "Participants of the conversation")
    people_index: integer("Highlighted Character", options={"HIDDEN"})
    turns: collection(LookAtTurn, "Speaking Turns", "Who speaks from when on")
    turns_index: integer("Highlighted Turn", options={"HIDDEN"})
    use_markers: _own.switch(
        "From Markers",
        "Take the turns from the timeline markers that are named after characters",
        update=_source_changed,
    )
    end: _own.integer("End", "Last frame of the conversation; 0 for the end of the scene", min=0)
    seed: _own.integer("Seed", SEED, min=0)
    glances: _own.number("Glances", GLANCES, 1.0, max=1.0)
    blinks: _own.number(
        "Blinks", "Factor of how often the characters blink; 1 for as often as people do, 0 for never", 1.0, max=2.0
    )
    nods: _own.number(
        "Nods", "Factor of how often listeners nod; 1 for as often as people do, 0 for never", 1.0, max=2.0
    )
    tilts: _own.number("Tilts", "Factor of the angles by which the heads tilt now and then; 0 for none", 1.0, max=2.0)
    scanning: _own.number(
        "Scanning",
        "Factor of how often the eyes move between eyes, nose and mouth of a face; 1 for as often as people do, 0 for "
        "never",
        1.0,
        max=2.0,
    )
    gestures: _own.number(
        "Gestures",
        "Factor of the angles by which the head of a speaker moves with the speech; 1 as people do, 0 for none",
        1.0,
        max=2.0,
    )
    shifts: _own.number(
        "Weight Shifts",
        "Factor of the distances by which the characters shift their weight to one leg and to the other, if their "
        "look-ats have Weight Shift; 0 for none",
        1.0,
        max=2.0,
    )
    breathing: _own.number(
        "Breathing",
        "Factor of the amount of breathing of the characters, if their look-ats have it; 0 for none",
        1.0,
        max=2.0,
        update=_breathing_changed,
    )
    objects: _own.pointer(
        bpy.types.Collection, "Objects", "Collection of objects that the characters talk about and look at now and then"
    )
    # What the keys were made of, and the sentence that says why they are not up to date.
    made_of: text(options={"HIDDEN"})
    error: text(options={"HIDDEN"})


CLASSES = (LookAtPerson, LookAtTurn, LookAtConversation)


def exists(scene: bpy.types.Scene) -> bool:
    """Whether a scene has a conversation."""
    return len(scene.lookat_pd_conversation.people) > 0


def names(settings) -> dict[str, bpy.types.Object]:
    """The characters by all names under which markers and files may call them."""
    return called([(person.armature, person.called) for person in settings.people if person.armature is not None])


def called(people: Sequence[tuple[bpy.types.Object, str]]) -> dict[str, bpy.types.Object]:
    """Armatures by the names that they are given, then their own, in lower case.

    A name of an import, such as Anna.001, is also found without its number.
    """
    by_name: dict[str, bpy.types.Object] = {}
    given = [(name, armature) for armature, name in people if name]
    own = [(armature.name, armature) for armature, _ in people]
    for name, armature in (*given, *own, *((name.partition(".")[0], armature) for name, armature in own)):
        by_name.setdefault(name.lower(), armature)
    return by_name


def speaker(settings, name: str) -> bpy.types.Object | None:
    """The character that a marker or line names, "Name" or "Name: text"; None for none."""
    known = names(settings)
    return known.get(name.strip().lower()) or known.get(name.partition(":")[0].strip().lower())


def set_people(scene: bpy.types.Scene, armatures: Sequence[bpy.types.Object]) -> None:
    """Make these the participants; those that are already there keep their personalities. Does not key."""
    settings = scene.lookat_pd_conversation
    with silent():
        for n in reversed(range(len(settings.people))):
            if settings.people[n].armature not in armatures:
                settings.people.remove(n)
        known = [person.armature for person in settings.people]
        for armature in armatures:
            if armature not in known:
                settings.people.add().armature = armature


@contextmanager
def silent() -> Iterator[None]:
    """Settings are written without keying the conversation each time."""
    global _changing
    before, _changing = _changing, True
    try:
        yield
    finally:
        _changing = before


def turns(scene: bpy.types.Scene) -> list[conversation.Spoken]:
    """The turns of a scene's conversation, in order of time: of the table, or of the markers. Raises RigError."""
    settings = scene.lookat_pd_conversation
    if settings.use_markers:
        begins = [(frame, speaker(settings, name)) for frame, name in markers.read(scene)]
        said: list[conversation.Spoken] = [
            (looks.key_frame(scene, frame), who, None) for frame, who in begins if who is not None
        ]
        if not said:
            raise RigError("No marker is named after a character of the conversation; rename the markers.")
        return said
    rows: list[conversation.Spoken] = [
        (float(turn.frame), turn.speaker, turn.at) for turn in settings.turns if turn.speaker is not None
    ]
    if not rows:
        raise no_turns()
    return sorted(rows, key=lambda row: row[0])


def make(
    scene: bpy.types.Scene, *, detect: bool = True, nearest: float | None = None, **options
) -> conversation.Planned:
    """Key the conversation of a scene. Raises LookAtError before any change.

    detect: detect the faces again, rather than use those that are known. nearest: the smallest angle [rad] of glances,
    5 degrees in earlier versions. options: of `conversation.Options`.
    """
    settings = scene.lookat_pd_conversation
    said = turns(scene)
    chosen = {person.armature: person for person in settings.people if person.armature is not None}
    people = list(chosen)
    manners = [_manner(settings, person) for person in chosen.values()]
    if nearest is not None:
        manners = [replace(manner, nearest=nearest) for manner in manners]
    objects = tuple(settings.objects.all_objects) if settings.objects is not None else ()
    planned = conversation.converse(
        scene,
        said,
        people,
        conversation.Options(
            manners,
            end=float(settings.end) or None,
            objects=[item for item in objects if item not in people],
            breathing=settings.breathing,
            whole=True,
            known={} if detect else {armature: _known(person) for armature, person in chosen.items() if person.face},
            **options,
        ),
    )
    for person, known in zip(chosen.values(), planned.known, strict=True):
        person.face, person.eyes, person.has_eyes = known.face, "\n".join(known.eyes), known.has_eyes
    settings.made_of, settings.error = _digest(scene), ""
    return planned


def _known(person) -> conversation.Known:
    return conversation.Known(person.face, tuple(person.eyes.split("\n")) if person.eyes else (), person.has_eyes)


def _manner(settings, person) -> Manner:
    """The manner of one person: the personality with the amounts of the conversation."""
    preset = Manner(seed=settings.seed, glances=settings.glances, **PERSONALITIES[person.personality].manner)
    amounts = {name: getattr(preset, name) * getattr(settings, name) for name in AMOUNTS}
    return replace(preset, **amounts)


def update(scene: bpy.types.Scene) -> None:
    """Key the conversation again after a change; what prevents it is kept as a sentence for the panel."""
    settings = scene.lookat_pd_conversation
    if _changing or not settings.made_of or not exists(scene):
        return
    with silent():
        try:
            make(scene, detect=False)
        except LookAtError as error:
            settings.error, settings.made_of = str(error), _digest(scene)
            _errors[scene.session_uid] = error.args[0]


def problem(scene: bpy.types.Scene) -> str:
    """The sentence that says why the keys are not up to date; "" where they are."""
    error = scene.lookat_pd_conversation.error
    known = _errors.get(scene.session_uid)
    return known if known is not None and str(known) == error else error


def _digest(scene: bpy.types.Scene) -> str:
    """What the keys depend on that no setting reports: markers and the range of the scene."""
    marks = [(m.frame, m.name) for m in scene.timeline_markers] if scene.lookat_pd_conversation.use_markers else []
    return repr((sorted(marks), scene.frame_start, scene.frame_end, scene.render.fps, scene.render.fps_base))


def update_stale() -> None:
    """Key the conversations again whose markers have changed."""
    for scene in bpy.data.scenes:
        settings = scene.lookat_pd_conversation
        if settings.made_of and exists(scene) and settings.made_of != _digest(scene):
            update(scene)


def _watch() -> float:
    update_stale()
    return _WATCHING


def _start() -> None:
    if not bpy.app.background and not callbacks.is_timed(_watch):
        callbacks.start_timer(_watch, _WATCHING, persistent=True)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Scene.lookat_pd_conversation = pointer(LookAtConversation, "Conversation")
    _start()


def unregister() -> None:
    callbacks.stop_timer(_watch)
    del bpy.types.Scene.lookat_pd_conversation
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
