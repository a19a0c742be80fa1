"""Baking look-ats: sample the animation, solve, write keys; where controls act through constraints, verify and correct.

`bake` is a generator, so that an operator can show progress and stop at any step: it yields the fraction done, and
however it ends, by return, error or `close`, either everything is baked or nothing has changed.
"""

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass

import bpy
import numpy as np

from ..lookat_pd import gaze
from ..lookat_pd.errors import RigError
from ..lookat_pd.rotation import Array
from . import actions, attach, live, look_at, unkeyed
from .body import blink_bake
from .body.answer import Answer
from .body.blink import Lid
from .look_at import LookAt
from .part import Part
from .sample import LOCATION
from .solving import Shot
from .unkeyed import Channels
from .working import Working

_BAKED = " look-at"


@dataclass(frozen=True)
class Options:
    """What to bake. first, last: whole frames, both included. into: "NEW", "CURRENT" or "LAYER".

    played: first and last of a longer range to solve, as it plays live; only first to last is baked of it.
    """

    first: int
    last: int
    into: str = "NEW"
    name: str = ""
    played: tuple[int, int] | None = None

    @property
    def solved(self) -> tuple[int, int]:
        """The range to solve."""
        first, last = self.played or (self.first, self.last)
        return min(first, self.first), max(last, self.last)


@dataclass(frozen=True)
class Result:
    """What was baked of one look-at.

    solution: as solved for the last write. settled_error: largest angle [rad] between aim axis and target over frames
    that are settled with the target in reach, nan where there is none; measured on the evaluated rig where `measured`,
    else predicted. answer: what the rest of the body does, None where nothing does. dt: seconds a frame.
    """

    look_at: LookAt
    action: bpy.types.Action
    solution: gaze.Solution
    frames: Array
    settled_error: float
    measured: bool
    passes: int
    answer: Answer | None
    dt: float


def check_range(first: int, last: int) -> None:
    if last < first:
        raise RigError(f"The frame range {first} to {last} is reversed; put the smaller number first.")
    if last == first:
        raise RigError(f"The frame range holds only frame {first}; a bake needs at least two.")


def bake(scene: bpy.types.Scene, look_ats: Sequence[LookAt], options: Options) -> Generator[float, None, list[Result]]:
    """Bake look-ats in order, later ones on the result of earlier ones, yielding the fraction done.

    Other look-ats that are live in the scene play while these are solved; these are muted at the end, since their
    motion is in the keys then. Raises LookAtError.
    """
    check_range(options.first, options.last)
    if not look_ats:
        raise RigError("There is no look-at to bake; add one to the head bone first.")
    armatures = list(dict.fromkeys(item.armature for item in look_ats))
    for armature in armatures:
        actions.check(armature, options.into)
    for item in look_ats:
        modes = {name: item.armature.pose.bones[name].rotation_mode for name in item.turned}
        actions.check_curves(item.armature, modes, options.into)
        actions.check_curves(item.armature, dict.fromkeys(item.moved, LOCATION), options.into)
        blink_bake.check(item.shapes, options.into)
    with live.paused():
        return (yield from _bake(scene, look_ats, armatures, options))


def _bake(
    scene: bpy.types.Scene, look_ats: Sequence[LookAt], armatures: Sequence[bpy.types.Object], options: Options
) -> Generator[float, None, list[Result]]:
    undone = [unkeyed.bring_back(item.armature, item.bone) for item in look_ats]
    still = [unkeyed.standing(item.armature, item.turned, item.moved) for item in look_ats]
    works: dict[bpy.types.Object, Working] = {}
    blinks = {armature: blink_bake.Working(armature, _BAKED) for armature in armatures}
    frames = np.arange(options.first, options.last + 1)
    try:
        parts = _parts(scene, look_ats)
        with closing(Shot(scene, *options.solved, parts)) as shot:
            wanted = parts[-len(look_ats) :]
            for fraction in shot.steps(wanted):
                yield 0.999 * fraction
        for armature in armatures:
            works[armature] = Working(armature)
            _write(works[armature], frames, [part for part in wanted if part.look_at.armature == armature])
        kept = {}
        for armature, work in works.items():
            name = options.name or actions.baked_name(armature, options.into, _BAKED)
            kept[armature] = work.commit(options.into, name)
            chosen = [part for part in wanted if part.look_at.armature == armature]
            blinks[armature].write(frames, _closing(chosen, frames), options.into, kept[armature])
    except BaseException:
        for blinking in blinks.values():
            blinking.rollback()
        for work in works.values():
            work.rollback()
        for undo in undone:
            undo()
        raise
    for item, bones in zip(look_ats, still, strict=True):
        unkeyed.remember(item.armature, item.bone, bones)
    for blinking in blinks.values():
        blinking.finish()
    _mute(look_ats)
    return [_result(part, shot, kept[part.look_at.armature]) for part in wanted]


def _mute(look_ats: Sequence[LookAt]) -> None:
    """Their motion is in the keys now and must not be added once more."""
    for item in look_ats:
        bone = item.armature.pose.bones[item.bone]
        if look_at.exists_on(bone):
            bone.lookat_pd.mute = True
        attach.sync(item.armature)


def _parts(scene: bpy.types.Scene, look_ats: Sequence[LookAt]) -> list[Part]:
    """What is to be solved: live look-ats of the scene that are not baked, and then those that are."""
    others = live.others(scene, {(item.armature, item.bone) for item in look_ats})
    used: dict[bpy.types.Object, set[int]] = {}
    parts = []
    for item in [*others, *look_ats]:
        taken = used.setdefault(item.armature, attach.numbers(item.armature))
        number = item.armature.pose.bones[item.bone].lookat_pd.number or max(taken, default=0) + 1
        taken.add(number)
        parts.append(Part(item, number))
    return parts


def _write(work: Working, frames: Array, parts: Sequence[Part]) -> None:
    """Key what the look-ats of one rig do; a bone that several of them turn is turned by one after the other."""
    done: dict[Channels, Array] = {}
    for part in parts:
        for (bone, mode), (values, base) in part.turned(frames, done).items():
            work.write(bone, mode, frames, values, base)
            done[bone, mode] = values


def _closing(parts: Sequence[Part], frames: Array) -> dict[Lid, Array]:
    """How far the look-ats of one rig close shape keys (F,); the one that closes more has the word."""
    found: dict[Lid, Array] = {}
    for part in parts:
        assert part.track is not None
        first = int(frames[0] - part.track.first)
        closing = part.track.closing[first : first + len(frames)]
        for lid in part.look_at.shapes:
            found[lid] = np.maximum(closing, found.get(lid, 0.0))
    return found


def _result(part: Part, shot: Shot, action: bpy.types.Action) -> Result:
    assert part.solution is not None
    return Result(
        part.look_at,
        action,
        part.solution,
        shot.frames,
        part.error,
        part.measured,
        part.passes,
        part.answer,
        shot.dt,
    )
