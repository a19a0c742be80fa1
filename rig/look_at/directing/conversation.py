"""Conversations: characters look at each other as people do, by keys of their look-ats.

The keys are of type *Generated*. Making the conversation again replaces them; keys of other types are the animator's:
they are kept, and win until the next turn begins.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

import bpy
import numpy as np

from ....lookat_pd import conversation
from ....lookat_pd.conversation import Manner, Turn
from ....lookat_pd.errors import RigError
from ....lookat_pd.rotation import Array
from ...animation import editable
from ...detection import eye_place, limbs, stance
from ...sampling.scene_time import key_range, seconds_per_frame
from ...sampling.targets import Target, listed
from .. import edit as look_at_edit
from .. import facing
from .. import resolve as look_at
from ..body import layers
from . import looks, markers, partners, setting_keys

USUAL_MANNER = Manner()
MOST_SEED = 2**31 - 1
"""Largest seed that a scene can store."""
_EYES, _BODY = ("eyes", "blink", "lids"), ("weight", "arms", "feet", "breathing")
_HEAD_SHARE, _DRIFT, _MICRO = 0.8, 0.01, 0.005
"""Of new look-ats with eyes: the share of the head, and the sizes [rad] of the idle drift and of microsaccades."""
_BLINK = 0.1
"""Time [s] between the keys of a blink."""
_MEETING = 2.0
"""Time [s] from the first frame to the first turn within which those who will talk look at each other already."""

Spoken = tuple[float, bpy.types.Object] | tuple[float, bpy.types.Object, bpy.types.Object | None]
"""Frame, speaker, and what is looked at in the turn, if that is chosen."""


@dataclass(frozen=True)
class Known:
    """What has been detected of a character."""

    face: str
    """The bone that others look at."""
    eyes: tuple[str, ...] = ()
    """Eye bones."""
    has_eyes: bool = False
    """Whether its look-at turns its eyes."""


@dataclass(frozen=True)
class Options:
    """Settings of a conversation."""

    manner: Manner | Sequence[Manner] = USUAL_MANNER
    """Behavior of all people, or of each."""
    replace: bool = False
    """Delete the animator's keys as well."""
    end: float | None = None
    """Last frame, None for that of the scene."""
    objects: Sequence[bpy.types.Object] = ()
    """Common objects that may be looked at."""
    eyes: bool = False
    """Enable the layers of the eyes where the rig has them."""
    body: bool = False
    """Enable the layers of the body where the rig has them."""
    breathing: float = 1.0
    """Factor of the amount of breathing of those who begin to."""
    whole: bool = False
    """Replace generated keys at all frames, not only from the first turn on."""
    known: Mapping[bpy.types.Object, Known] = field(default_factory=dict)
    """What is known of some of the characters, which spares its detection."""


USUAL = Options()


@dataclass(frozen=True)
class _Person:
    """A person in a conversation."""

    armature: bpy.types.Object
    bone: str
    """Aiming bone of the existing or new look-at."""
    face: Target
    """The target at which others look."""
    eyes: tuple[str, ...]
    """Eye bones."""


@dataclass(frozen=True)
class Planned:
    """A conversation before it is keyed."""

    turns: list[Turn]
    """Turns, with times [s]."""
    looks: list[list[conversation.Look]]
    """Looks of each person [s, rad]."""
    blinks: list[list[float]]
    """Blinks of each person [s]."""
    nods: list[list[conversation.Nod]]
    """Nods of each person [s, rad]."""
    tilts: list[list[conversation.Tilt]]
    """Tilts of each person's head [s, rad]."""
    fixations: list[list[conversation.Fixation]]
    """Where in a face each person's eyes rest [s]."""
    gestures: list[list[conversation.Gesture]]
    """Gestures of each person's head [s, rad]."""
    weights: list[list[conversation.WeightChange]]
    """Shifts of each person's weight [s]."""
    shares: conversation.Shares
    """Shares of the gaze, as measured."""
    seconds: float
    """Time [s] from the first turn to the end."""
    known: list[Known]
    """For each person what was detected."""
    seen: list[partners.SeenFace]
    """The face of each person as the first turn begins."""


def converse(
    scene: bpy.types.Scene,
    turns: Sequence[Spoken],
    armatures: Sequence[bpy.types.Object],
    options: Options = USUAL,
) -> Planned:
    """Key all from the first turn to the end. Characters without a look-at get one on the head.

    turns: frame and speaker, one of the armatures, in order of time. Frames before the first turn do not change, except
    that who looks at nothing shortly before it already looks. Raises LookAtError before any change.
    """
    armatures = list(dict.fromkeys(armatures))
    between = all(map(_sees_eyes, armatures))
    people = [_person(item, options.known.get(item), between_eyes=between) for item in armatures]
    if len(people) < 2:
        raise RigError("A conversation needs at least two characters; select the armatures of all participants.")
    end = key_range(scene)[1] if options.end is None else options.end
    objects = [look_at.face(item) for item in _objects(turns, people, options)]
    _check(people, objects, turns, end)
    planned = _plan(scene, turns, people, objects, end, options.manner)
    dt, begin = seconds_per_frame(scene), key_range(scene)[0]
    starts = [turn[0] for turn in turns]
    for n, person in enumerate(people):
        is_free = not _looks_elsewhere(person, begin, {*(other.face for other in people), *objects})
        _make_look_at(scene, person, n, options)
        first = begin if is_free and begin < starts[0] <= begin + _MEETING / dt else starts[0]
        if options.replace:
            setting_keys.clear(person.armature, person.bone, starts[0], end, begin, setting_keys.CONVERSED)
        seen = {look.at for look in planned.looks[n]}
        targets = [*(other.face for other in people), *objects]
        numbers = {at: looks.add(person.armature, person.bone, targets[at]) for at in sorted(seen)}
        span = (-inf, inf) if options.whole else (first, end)
        own = setting_keys.own_frames(person.armature, person.bone, setting_keys.SWITCHES)
        known = options.known.get(person.armature)
        has_eyes = _has_eyes(person) if known is None else known.has_eyes
        planned.known.append(Known(person.face.bone, person.eyes, has_eyes))
        for setting, keys in _keys(planned, n, numbers, dt, first, has_eyes=has_eyes).items():
            if setting in ("glance_yaw", "glance_pitch"):
                keys = _direct(keys, own, starts)
            setting_keys.generate(person.armature, person.bone, setting, keys, span, begin, starts)
        setting_keys.show(person.armature, person.bone, looks.here(scene), setting_keys.CONVERSED)
    return planned


def _objects(turns: Sequence[Spoken], people: Sequence[_Person], options: Options) -> list[bpy.types.Object]:
    """The common objects: those of the options, and those that turns name."""
    chosen = [turn[2] for turn in turns if len(turn) > 2 and turn[2] is not None]
    known = [person.armature for person in people]
    return [item for item in dict.fromkeys((*options.objects, *chosen)) if item not in known]


def _plan(
    scene: bpy.types.Scene,
    turns: Sequence[Spoken],
    people: Sequence[_Person],
    objects: Sequence[Target],
    end: float,
    manner: Manner | Sequence[Manner],
) -> Planned:
    dt = seconds_per_frame(scene)
    known = [*(person.armature for person in people), *(target.object for target in objects)]
    said = [
        Turn(turn[0] * dt, known.index(turn[1]), known.index(turn[2]) if len(turn) > 2 and turn[2] else None)
        for turn in turns
    ]
    count, last = len(people), end * dt
    planned = conversation.plan(said, count, last, manner, len(objects))
    return Planned(
        said,
        planned,
        conversation.blinks(said, count, last, planned, manner),
        conversation.nods(said, count, last, manner),
        conversation.tilts(said, count, last, manner),
        conversation.fixations(said, count, last, planned, manner),
        conversation.gestures(said, count, last, manner),
        conversation.shifts(said, count, last, manner),
        conversation.shares(said, count, last, planned),
        last - said[0].time,
        [],
        [partners.face(scene, person.face, person.eyes, turns[0][0]) for person in people],
    )


def _looks_elsewhere(person: _Person, frame: float, known: Collection[Target]) -> bool:
    """Whether somebody looks at a frame, and at none of the known targets."""
    bone = person.armature.pose.bones[person.bone]
    if not look_at.exists_on(bone) or not setting_keys.value(person.armature, person.bone, "use", frame):
        return False
    number = int(setting_keys.value(person.armature, person.bone, "active_target", frame))
    seen = listed(bone.lookat_pd)
    return 0 <= number < len(seen) and seen[number].object is not None and seen[number] not in known


def _keys(
    plan: Planned, person: int, numbers: dict[int, int], dt: float, first: float, *, has_eyes: bool
) -> dict[str, list[tuple[float, float]]]:
    """Frames and values of the keys of each setting of one person. first: frame of the first look.

    has_eyes: the eyes scan faces, which a head does not.
    """
    result: dict[str, list[tuple[float, float]]] = {name: [] for name in setting_keys.CONVERSED}
    rested = plan.fixations[person] if has_eyes else ()
    for n, (time, at, yaw, pitch) in enumerate(partners.merged(plan.looks[person], rested, plan.seen, person)):
        frame = float(round(time / dt)) if n else min(first, float(round(time / dt)))
        result["active_target"].append((frame, numbers[at]))
        result["glance_yaw"].append((frame, yaw))
        result["glance_pitch"].append((frame, pitch))
    if result["active_target"]:
        result["use"].append((result["active_target"][0][0], 1.0))
    for time in plan.blinks[person]:
        frame = float(round(time / dt))
        result["eyes_closed"] += [(frame, 1.0), (frame + max(round(_BLINK / dt), 1.0), 0.0)]
    for nod in plan.nods[person]:
        first = float(round(nod.time / dt))
        result["nod"] += [(first, nod.angle), (max(float(round(nod.end / dt)), first + 1.0), 0.0)]
    result["tilt"] = [(float(round(tilt.time / dt)), tilt.angle) for tilt in plan.tilts[person]]
    for gesture in plan.gestures[person]:
        frame = float(round(gesture.time / dt))
        result["gesture_yaw"].append((frame, gesture.yaw))
        result["gesture_pitch"].append((frame, gesture.pitch))
    for n, weight in enumerate(plan.weights[person]):
        frame = float(round(weight.time / dt))
        result["stance"].append((frame if n else min(first, frame), float(np.clip(weight.side, -1.0, 1.0))))
    return {name: _changes(keys) for name, keys in result.items()}


def _direct(
    keys: Sequence[tuple[float, float]], own: Sequence[float], turns: Sequence[float]
) -> list[tuple[float, float]]:
    """Keys of glances without glances beside a target that a key of the animator's has chosen until the next turn."""
    result = list(keys)
    for frame in own:
        until = min((turn for turn in turns if turn > frame), default=inf)
        at_turn = [value for time, value in result if time <= until]
        kept = [key for key in result if key[0] < frame or key[0] >= until]
        result = [*kept, (frame, 0.0)]
        if until < inf and at_turn and until not in (time for time, _ in kept):
            result.append((until, at_turn[-1]))
        result.sort()
    return _changes(result) if keys else []


def _changes(keys: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The keys at which the value changes; of several at one frame the last."""
    found: list[tuple[float, float]] = []
    for frame, value in dict(keys).items():
        if not found or found[-1][1] != value:
            found.append((frame, value))
    return found


def from_markers(scene: bpy.types.Scene, armatures: Sequence[bpy.types.Object]) -> list[tuple[float, bpy.types.Object]]:
    """The speakers and their start frames from the markers of the scene, named after an armature or "Name: text".

    Raises RigError.
    """
    names = {item.name: item for item in armatures}
    speakers = [
        (frame, name, names.get(name) or names.get(name.partition(":")[0].strip()))
        for frame, name in markers.read(scene)
    ]
    unknown = [name for _, name, speaker in speakers if speaker is None]
    if unknown:
        raise RigError(
            "No selected character is named {names}; name each marker after the armature that starts to speak there.",
            names=markers.quoted(unknown),
        )
    return [(looks.key_frame(scene, frame), speaker) for frame, _, speaker in speakers]


def _sees_eyes(armature: bpy.types.Object) -> bool:
    """Whether who looks at a head looks between its eyes, as new look-ats do."""
    if armature.pose is None:
        return True
    return all(armature.pose.bones[name].lookat_pd.aim_from != "BONE" for name in look_at.bones_with_look_at(armature))


def _person(armature: bpy.types.Object, known: Known | None, *, between_eyes: bool) -> _Person:
    """known: what was detected before; detected again if there is no bone of that name any more. between_eyes: a look
    at the head goes there."""
    editable.check_armature(armature)
    bone = looking_bone(armature)
    setting_keys.check(armature, bone)
    if known is None or not {known.face, *known.eyes} <= set(armature.pose.bones.keys()):
        eyes = tuple(eye.bone for eye in limbs.find_eyes(armature))
        # People look each other in the eyes; the head bone starts at the neck.
        at_head = not eyes or (between_eyes and eye_place.between_eyes(armature, bone) is not None)
        known = Known(bone if at_head else eyes[0], eyes)
    return _Person(armature, bone, Target(armature, known.face), known.eyes)


def looking_bone(armature: bpy.types.Object) -> str:
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


def _check(people: Sequence[_Person], objects: Sequence[Target], turns: Sequence[Spoken], end: float) -> None:
    armatures = [person.armature for person in people]
    for frame, speaker in (turn[:2] for turn in turns):
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
        for target in (*(other.face for other in people if other is not person), *objects):
            looks.check(person.armature, person.bone, target)


def _make_look_at(scene: bpy.types.Scene, person: _Person, number: int, options: Options) -> None:
    bone = person.armature.pose.bones[person.bone]
    settings = bone.lookat_pd
    if not look_at.exists_on(bone):
        look_at_edit.add(scene, person.armature, person.bone, None)
        settings.use = False
        if options.eyes:
            settings.eyes.head_share, settings.eyes.seed = _HEAD_SHARE, number
            settings.eyes.drift, settings.eyes.micro = _DRIFT, _MICRO
    wanted = (*(_EYES if options.eyes else ()), *(_BODY if options.body else ()))
    if wanted:
        chain, axes = [link.bone for link in settings.chain], _axes(person)
        for name in wanted:
            layer = layers.LAYERS[name]
            if not layers.is_switched_on(layer, settings):
                layers.switch_on(settings, (name,))
                if name == "breathing":
                    breathe(settings, options.breathing)
                if not layers.fits(layer, person.armature, chain, settings, axes):
                    layers.switch_off(settings, layer)


def _has_eyes(person: _Person) -> bool:
    """Whether the eyes of a person turn to what it looks at."""
    settings = person.armature.pose.bones[person.bone].lookat_pd
    layer = layers.LAYERS["eyes"]
    if not layers.is_switched_on(layer, settings):
        return False
    chain = [link.bone for link in settings.chain]
    body = layer.find(layers.BodyRequest(person.armature, chain, settings, axes=_axes(person)), layers.BodyRig())
    return bool(body.looks or body.eyes)


def breathe(settings, factor: float) -> None:
    """Set the amounts of breathing of a look-at to their defaults times a factor."""
    for name in ("breathing", "breathing_chest"):
        setattr(settings.body, name, factor * settings.body.bl_rna.properties[name].default)


def _axes(person: _Person) -> tuple[Array, Array]:
    return facing.character(person.armature, person.bone, stance.skeleton(person.armature))
