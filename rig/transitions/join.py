"""Joining clips: one action until the cut, another after it, with a decaying difference.

All computations precede any change; the joined actions are never modified.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import bpy

from ...lookat_pd.errors import RigError
from ...lookat_pd.progress import drained, subrange
from ..animation import actions, curve_values, editable, key_writer
from ..animation.key_writer import KeyWriter
from ..detection.read_once import unchanged
from ..feet.contact_report import ContactReport
from ..sampling import scene_time
from . import clips, kept_clips, limb_swing, pose_markers, sequence, splice
from . import lock_feet as feet
from .clips import Clip
from .lock_feet import WHERE_POSSIBLE, PlayedClip, locking
from .pose_markers import Marker
from .sequence import ClipRef, ClipSequence, ClipStep, Used, check_lengths
from .splice import Blend


@dataclass(frozen=True)
class Joined:
    """The result of a join."""

    action: bpy.types.Action
    slot: bpy.types.ActionSlot
    first: int
    last: int
    """`first`, `last`: its frames."""
    cuts: tuple[int, ...]
    """First frame in it of each clip but the first."""
    blends: tuple[float, ...]
    """Length of each transition [s]."""
    bones: int
    """How many it animates."""
    root: str
    """The bone that places clips, "" for the object or none."""
    missing: tuple[str, ...]
    """Bones of the actions that the armature lacks."""
    methods: tuple[str, ...] = ()
    """Id of the method of each transition; of an automatic choice the one that was chosen."""
    begins: tuple[float, ...] = ()
    """The frame of each clip, the first included, with which it begins."""
    feet: ContactReport | None = None
    """What locking the feet did, None where they are not locked or not planted."""
    played: tuple[PlayedClip, ...] = ()
    """The clips as they play."""
    kept: tuple[float, ...] = ()
    """Of each clip, the share of its frames that plays."""
    converted: tuple[str, ...] = ()
    """Bones whose rotation an action keys in another mode than the bone now has."""
    unlocked: RigError | None = None
    """Why feet are not locked though the rig has legs, where nobody asked for it."""


def joining(
    armature: bpy.types.Object,
    source: ClipRef,
    destination: ClipRef,
    blend: Blend = splice.AUTOMATIC,
    *,
    root: str = "HEADING",
    repeat: int = 1,
    until: int | None = None,
    name: str = "",
    assign: bool = True,
    lock_feet: bool | None = WHERE_POSSIBLE,
    scene: bpy.types.Scene | None = None,
    writer: KeyWriter | None = None,
) -> Generator[float, None, Joined]:
    """A new action: `source` before its `frame`, which must be whole, then `destination` from its own.

    Yields the completed fraction. Frames of the source keep their numbers; a cycle plays as often as it takes until its
    `frame`. root: placement of the destination at the root of the source, see `Ground.placement`. repeat: how many
    times the destination plays. until: last frame of the result, until which it plays as often as needed, instead.
    assign: assign the result to the armature; the current action is kept. lock_feet: keep planted feet on their places,
    by default where possible. writer: which keys, by default those of the actions where they play unchanged. Raises
    LookAtError before any change.
    """
    first, last = sequence.frame_range(armature, source)
    source_slot = source.slot or actions.find_slot(armature, source.action)
    plays_on = source.frame > last + 1 and sequence.is_cycle(source.action, source_slot)
    _check_cut(source, first, last, plays_on=plays_on)
    beginning = [ClipStep(ClipRef(source.action, first, source.slot, source.last), first)]
    if plays_on:
        beginning = sequence.played_until(beginning[0], source_slot, int(source.frame))
    steps = [ClipStep(destination, int(source.frame), blend)]
    slot = destination.slot or actions.find_slot(armature, destination.action)
    if until is not None:
        steps = sequence.repeated_until(steps[0], slot, until)
    elif repeat > 1:
        steps += sequence.repetitions(destination, slot, int(source.frame), repeat - 1)
    return (
        yield from chaining(
            armature,
            [*beginning, *steps],
            root=root,
            name=name,
            assign=assign,
            lock_feet=lock_feet,
            scene=scene,
            writer=writer,
        )
    )


def _check_cut(source: ClipRef, first: int, last: int, *, plays_on: bool) -> None:
    if source.frame != round(source.frame):
        raise RigError(
            "The cut of '{action}' must be at a whole frame, not {frame:g}.",
            action=source.action.name,
            frame=source.frame,
        )
    if not first < source.frame <= last + 1 and not plays_on:
        raise RigError(
            "'{action}' with keys from frame {first} to {last} cannot be cut at frame {frame:g}; "
            "cut after frame {first} and not after frame {end}.",
            frame=source.frame,
            action=source.action.name,
            first=first,
            last=last,
            end=last + 1,
        )


def chaining(
    armature: bpy.types.Object,
    steps: Sequence[ClipStep],
    *,
    root: str = "HEADING",
    name: str = "",
    assign: bool = True,
    lock_feet: bool | None = WHERE_POSSIBLE,
    scene: bpy.types.Scene | None = None,
    writer: KeyWriter | None = None,
) -> Generator[float, None, Joined]:
    """A new action of several clips, each from the frame of its step to that of the next; the last to its end. Yields
    the completed fraction.

    A clip that ends before the next starts holds its last pose; transitions may overlap. Arguments and errors as for
    `joining`.
    """
    if any(step.blend.hard for step in steps):
        # Feet are locked where the visual pose is blended.
        lock_feet = lock_feet or False
    make = partial(_chain, armature, steps, root=root, name=name, assign=assign, scene=scene, writer=writer)
    with curve_values.kept(step.clip.action for step in steps):
        return (yield from locking(armature, lambda lock: make(lock_feet=lock), lock_feet))


def _chain(
    armature: bpy.types.Object,
    steps: Sequence[ClipStep],
    *,
    root: str,
    name: str,
    assign: bool,
    lock_feet: bool,
    scene: bpy.types.Scene | None,
    writer: KeyWriter | None,
) -> Generator[float, None, Joined]:
    _check(armature, steps, assign)
    used = [Used.of(armature, step.clip) for step in steps]
    yield 0.0
    scene = scene or bpy.context.scene
    dt = scene_time.seconds_per_frame(scene)
    check_lengths(steps, used, dt)
    played = ClipSequence(armature, steps, used, root, dt)
    with unchanged():
        clip = played.play()
    yield 0.05
    called = name or " > ".join(dict.fromkeys(s.clip.action.name for s in steps))
    work = making(armature, called, clip, pose_markers.of_sequence(played))
    action, slot = yield from subrange(work, 0.05, 0.1)
    locked = None
    with actions.removed_if_failed(action):
        # Limbs that inverse kinematics bends become straight gradually.
        soften = limb_swing.soften(scene, armature, action, slot, _clips(played), played.swings)
        yield from subrange(soften, 0.1, 0.2)
        if lock_feet and len(steps) > 1:
            locked = yield from subrange(feet.lock_feet(scene, armature, action, slot, _clips(played)), 0.2, 0.7)
        yield from subrange(with_keys(armature, action, slot, _clips(played), writer), 0.7, 1.0)
        yield 1.0
    if assign:
        use(armature, action, slot)
    missing = {bone for item in used for bone in item.contents.missing}
    placed = any(not placement.is_identity for placement in played.placements)
    return Joined(
        action,
        slot,
        int(clip.frames[0]),
        int(clip.frames[-1]),
        tuple(step.at for step in steps[1:]),
        tuple(played.blends),
        len(clip.bones()),
        played.ground.root if placed and played.ground else "",
        tuple(sorted(missing)),
        tuple(played.methods),
        tuple(step.clip.frame for step in steps),
        locked,
        tuple(_clips(played)),
        tuple(_kept(_clips(played), int(clip.frames[-1]))),
        tuple(dict.fromkeys(bone for item in used for bone in item.contents.converted)),
    )


join = drained("join", joining)
chain = drained("chain", chaining)


def with_keys(
    armature: bpy.types.Object,
    action: bpy.types.Action,
    slot: bpy.types.ActionSlot,
    clips: Sequence[PlayedClip],
    writer: KeyWriter | None,
    *,
    is_cycle: bool = False,
) -> Generator[float, None, None]:
    """Let a writer choose the keys of a new action that was made of clips, by default those of the clips where they
    play unchanged; it is removed again if that fails. is_cycle: all curves have keys at its ends. Yields the completed
    fraction."""
    with actions.removed_if_failed(action):
        yield from kept_clips.thin(armature, action, slot, clips, writer or key_writer.keeping(), is_cycle=is_cycle)


def _clips(played: ClipSequence) -> list[PlayedClip]:
    """The clips as they play, with how long their transitions last."""
    return [
        PlayedClip(
            item.action,
            item.slot,
            item.first,
            item.last,
            step.clip.frame,
            step.at,
            step.blend.profile.duration(blend) if blend else 0.0,
        )
        for item, step, blend in zip(played.used, played.steps, (0.0, *played.blends), strict=True)
    ]


def _kept(clips: Sequence[PlayedClip], last: int) -> Iterator[float]:
    """Of each clip the share of its frames that plays in a result until its last frame."""
    for clip, end in zip(clips, (*(after.at - 1 for after in clips[1:]), last), strict=True):
        plays = min(end, clip.end) - max(clip.at, clip.begin) + 1
        yield min(max(plays, 0) / max(clip.last - clip.first + 1, 1), 1.0)


def _check(armature: bpy.types.Object, steps: Sequence[ClipStep], assign: bool) -> None:
    editable.check_armature(armature)
    if not steps:
        raise RigError("The sequence has no clips; add at least one.")
    for before, after in pairwise(steps):
        if after.at <= before.at:
            raise RigError(
                "'{action}' starts at frame {at}, but '{before_action}' before it starts at frame "
                "{before_at}; place the clips in order, at least one frame apart.",
                action=after.clip.action.name,
                at=after.at,
                before_action=before.clip.action.name,
                before_at=before.at,
            )
    if not assign:
        return
    sequence.check_may_play(armature)
    data = armature.animation_data
    if data is None or data.action is None:
        return
    if data.action_blend_type != "REPLACE" or data.action_influence < 1.0:
        raise RigError(
            "Action '{action}' is blended with the NLA of '{armature}', and so would be the "
            "result; set its blending to Replace and its influence to 1.",
            action=data.action.name,
            armature=armature.name,
        )


def making(
    armature: bpy.types.Object, name: str, clip: Clip, markers: Iterable[Marker] = ()
) -> Generator[float, None, tuple[bpy.types.Action, bpy.types.ActionSlot]]:
    """A new action with a clip and pose markers; removed again if that fails. Yields the completed fraction."""
    action, slot = actions.new_action(name, armature)
    with actions.removed_if_failed(action):
        yield from clips.writing(action, slot, clip)
        pose_markers.write(action, markers)
    return action, slot


make = drained("make", making)


def use(armature: bpy.types.Object, action: bpy.types.Action, slot: bpy.types.ActionSlot) -> None:
    """Assign an action to the armature; the current one is kept in the file."""
    data = armature.animation_data or armature.animation_data_create()
    old = data.action
    data.action = action
    data.action_slot = slot
    actions.keep(old)
