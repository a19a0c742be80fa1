"""Visual transitions as keys of controls: in an NLA layer of the difference, or in an action.

What constraints add to the deforming bones is realized by the bones that the animator keys. How each of them changes
the visual pose is measured on the rig, so it does not matter which constraints and drivers lead from one to the
other.
"""

from collections.abc import Collection, Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import bpy
import numpy as np

from ....lookat_pd import progress
from ....lookat_pd.errors import RigError
from ...animation import actions, channels, data_paths, editable, playing
from ...animation.bake_transaction import BakeTransaction
from ...animation.key_writer import KeyWriter
from ...detection import limb_controls
from ...sampling import cut_down_rig, suspend
from . import evaluated_pose, visual_offsets
from .control_amounts import Candidate, ControlAmounts
from .evaluated_pose import OBJECT, PoseReader

_SUFFIX = " visual"
_SECOND_CHOICE = 0.3
"""Weight of controls that are not keyed, as long as the others can do it."""


@dataclass(frozen=True)
class WrittenKeys:
    """What was written from frame `first` to `last`."""

    action: bpy.types.Action | None
    """That holds the keys; None where nothing had to be keyed."""
    first: int
    last: int
    controls: tuple[str, ...]
    """The bones with keys."""
    error: float
    """Largest difference of the pose from the transition before it is written [rad, or a tenth of the size of the
    skeleton]."""


def write(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    into: str,
    transitions: Collection[bpy.types.Action] | None = None,
    writer: KeyWriter | None = None,
) -> Generator[float, None, list[WrittenKeys]]:
    """Write transitions, by default all, as keys of controls and remove their constraints; yields the completed
    fraction.

    into: "LAYER", "NEW" or "CURRENT", as for `BakeOptions`. Those that overlap are written together, each group into a
    layer of its own. writer: which keys, by default one at every frame. Raises LookAtError, after which
    nothing has changed.
    """
    editable.check_bones(armature, ())
    actions.check(armature, into)
    data = armature.animation_data
    if into != "LAYER" and (data is None or data.action is None):
        raise RigError(
            "'{armature}' has no action that transitions could be keyed in; choose an NLA layer.",
            armature=armature.name,
        )
    chosen = [action for action in visual_offsets.of(armature) if transitions is None or action in transitions]
    if any(name == OBJECT for name, item in visual_offsets.on(armature) if item.action in chosen):
        raise RigError(
            "The object '{armature}' itself jumps, and no bone moves it; leave its transition in constraints.",
            armature=armature.name,
        )
    groups, written, works = _groups(chosen), [], []
    with suspend.suspend_live(), ExitStack() as muted:
        try:
            for n, group in enumerate(groups):
                # The first one makes the new action that the others add to.
                to = "CURRENT" if into == "NEW" and works else into
                job = _write(scene, armature, group, to, works, muted, writer)
                written.append((yield from progress.subrange(job, n / len(groups), (n + 1) / len(groups))))
        except BaseException:
            for work in reversed(works):
                work.rollback()
            raise
        for action in chosen:
            visual_offsets.remove(armature, action)
    return written


def _groups(transitions: Sequence[bpy.types.Action]) -> list[list[bpy.types.Action]]:
    """Transitions that overlap, in order of time."""
    groups: list[list[bpy.types.Action]] = []
    end = -np.inf
    for action in transitions:
        note = visual_offsets.note_of(action)
        if note["frame"] > end:
            groups.append([])
        groups[-1].append(action)
        end = max(end, note["last"] + 1)
    return groups


def _write(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    group: Sequence[bpy.types.Action],
    into: str,
    works: list[BakeTransaction],
    muted: ExitStack,
    writer: KeyWriter | None,
) -> Generator[float, None, WrittenKeys]:
    """Write transitions that overlap, and mute them. works: takes what the keys are written by."""
    noted = [visual_offsets.note_of(action) for action in group]
    # Blender does not play a strip at the frame at which it ends.
    frames = np.arange(min(note["frame"] for note in noted), max(note["last"] for note in noted) + 2)
    moved = sorted({name for name, item in visual_offsets.on(armature) if item.action in group})
    seen = evaluated_pose.deforming(armature, moved)
    with PoseReader(scene, armature) as reader:
        reader.choose(seen, int(frames[0]) - 1)
        wanted = reader.read(frames.tolist())
        yield 0.05
        muted.enter_context(visual_offsets.muted(armature, group))
        amounts = ControlAmounts(reader, wanted, _candidates(armature, moved, into))
        error = yield from progress.subrange(amounts.solve(), 0.05, 1.0)
        work = BakeTransaction(armature)
        works.append(work)
        controls, action = amounts.key(work), None
        if controls:
            action = work.commit(into, actions.baked_name(armature, into, _SUFFIX), writer)
        else:
            work.rollback()
    return WrittenKeys(action, int(frames[0]), int(frames[-1]) - 1, controls, error)


def _candidates(armature: bpy.types.Object, moved: Sequence[str], into: str) -> list[Candidate]:
    """The bones whose channels may be keyed so that the bones `moved` change."""
    try:
        needed = cut_down_rig.needed_bones(armature, moved)
    except cut_down_rig.CannotCutDown:
        needed = set(armature.pose.bones.keys())
    generated = limb_controls.is_generated(armature)
    first = _keyed(armature) | {*limb_controls.controls_of(armature, moved).values()}
    for limb in limb_controls.find(armature):
        first |= {limb.goal, *limb.turned, limb_controls.base_of(armature, limb), limb_controls.pole_of(armature, limb)}
    candidates = []
    for bone in armature.pose.bones:
        if bone.name not in needed or (generated and bone.name.startswith(("ORG-", "DEF-", "MCH-"))):
            continue
        turns, moves = ~np.array(bone.lock_rotation), ~np.array(bone.lock_location)
        if not _is_free(armature, bone.name, bone.rotation_mode, into):
            turns[:] = False
        if bone.bone.use_connect or not _is_free(armature, bone.name, channels.LOCATION, into):
            moves[:] = False
        if turns.any() or moves.any():
            weight = 1.0 if bone.name in first else _SECOND_CHOICE
            candidates.append(Candidate(bone.name, turns, moves, weight))
    return candidates


def _is_free(armature: bpy.types.Object, bone: str, mode: str, into: str) -> bool:
    try:
        actions.check_curves(armature, {bone: mode}, into)
    except RigError:
        return False
    return True


def _keyed(armature: bpy.types.Object) -> set[str]:
    """The bones that what plays animates."""
    return {bone for path in playing.animated_paths(armature) if (bone := data_paths.split_bone(path)[0])}
