"""Baking look-ats: sample the animation, solve, write keys; where controls act through constraints, verify and correct.

`bake` is a generator, so that an operator can show progress and stop at any step: it yields the fraction done, and
however it ends, by return, error or `close`, either everything is baked or nothing has changed.
"""

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import gaze
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation import actions, unkeyed_pose
from ..animation.bake_options import BakeOptions, check_range
from ..animation.bake_transaction import BakeTransaction
from ..animation.channels import LOCATION
from ..layers import layer_bake, live
from ..layers.kinds import FRESH
from ..sampling import suspend
from ..sampling.scene_time import seconds_per_frame
from . import constraint_sync, cyclic_bake, edit_live
from . import resolve as look_at
from .body import blink_bake
from .body.blink import Lid
from .body.response import BodyResponse
from .live import inputs
from .live.look_at_kind import LookAtKind
from .look_at_solve import LookAtSolve
from .resolve import LookAt
from .scene_solve import SceneSolve
from .solve_context import SolveContext

BAKED = " look-at"
Range = tuple[int, int]
"""First and last frame."""


@dataclass(frozen=True)
class BakeResult:
    """What was baked of one look-at."""

    look_at: LookAt
    action: bpy.types.Action
    solution: gaze.Solution
    """The solution of the last write."""
    frames: Array
    settled_error: float
    """Largest angle [rad] between aim axis and target over frames that are settled with the target in reach, nan where
    there is none; measured on the evaluated rig where `measured`, else predicted."""
    measured: bool
    passes: int
    response: BodyResponse | None
    """The response of the rest of the body, None where there is none."""
    dt: float
    """Seconds a frame."""
    notes: tuple[str, ...] = ()
    """As of `LookAtSolve`."""
    cyclic: bool = False
    """Whether it was solved to the motion that returns to itself."""


def bake(
    scene: bpy.types.Scene, look_ats: Sequence[LookAt], options: BakeOptions, *, use_live: bool = False
) -> Generator[float, None, list[BakeResult]]:
    """Bake look-ats in order, later ones on the result of earlier ones, yielding the fraction done.

    Other look-ats that are live in the scene play while these are solved; these are muted at the end, since their
    motion is in the keys then. use_live: key what is solved live, where that is verified and up to date, instead of
    solving it again. Raises LookAtError.
    """
    check_range(options.first, options.last)
    if not look_ats:
        raise RigError("There is no look-at to bake; add a look-at to the head bone first.", code="no-look-at")
    armatures = list(dict.fromkeys(item.armature for item in look_ats))
    for armature in armatures:
        actions.check(armature, options.into)
    for item in look_ats:
        modes = {name: item.armature.pose.bones[name].rotation_mode for name in item.turned}
        actions.check_curves(item.armature, modes, options.into)
        actions.check_curves(item.armature, dict.fromkeys(item.moved, LOCATION), options.into)
        if item.shapes:
            blink_bake.check(item.shapes, options.into)
    with suspend.suspend_live():
        return (yield from _bake(scene, look_ats, armatures, options, use_live=use_live))


def _bake(
    scene: bpy.types.Scene,
    look_ats: Sequence[LookAt],
    armatures: Sequence[bpy.types.Object],
    options: BakeOptions,
    *,
    use_live: bool,
) -> Generator[float, None, list[BakeResult]]:
    undone = [unkeyed_pose.bring_back(item.armature, item.bone) for item in look_ats]
    still = [unkeyed_pose.standing(item.armature, item.turned, item.moved) for item in look_ats]
    works: dict[bpy.types.Object, BakeTransaction] = {}
    blinks = {item.armature: blink_bake.BlinkBake(item.armature, BAKED) for item in look_ats if item.shapes}
    frames = np.arange(options.first, options.last + 1)
    try:
        solved, cycle = _solved(scene, look_ats, options)
        known = _known(scene, look_ats, solved) if use_live and cycle is None else None
        yield 0.0
        wanted, context = known or (yield from _solve(scene, look_ats, solved, cycle))
        for armature in armatures:
            works[armature] = BakeTransaction(armature)
            chosen = [solve for solve in wanted if solve.look_at.armature == armature]
            layer_bake.write(works[armature], frames, chosen, options.weights())
            yield 1.0
        kept = {}
        for armature, work in works.items():
            name = options.name or actions.baked_name(armature, options.into, BAKED)
            kept[armature] = work.commit(options.into, name, options.writer)
            chosen = [solve for solve in wanted if solve.look_at.armature == armature]
            if armature in blinks:
                amounts = {lid: amount * options.weights() for lid, amount in _amounts(chosen, frames).items()}
                blinks[armature].write(frames, amounts, options.into, kept[armature], options.writer)
    except BaseException:
        for blinking in blinks.values():
            blinking.rollback()
        for work in works.values():
            work.rollback()
        for undo in undone:
            undo()
        raise
    for item, bones in zip(look_ats, still, strict=True):
        unkeyed_pose.remember(item.armature, item.bone, bones)
    for blinking in blinks.values():
        blinking.finish()
    for armature, action in kept.items():
        bones = [item.bone for item in look_ats if item.armature == armature]
        edit_live.mark(action, bones, options.into)
        if options.into == "LAYER":
            edit_live.replace_left(armature, bones)
    _mute(look_ats)
    return [_result(solve, context, kept[solve.look_at.armature]) for solve in wanted]


def _solve(
    scene: bpy.types.Scene, look_ats: Sequence[LookAt], solved: Range, cycle: Range | None
) -> Generator[float, None, tuple[list[LookAtSolve], SolveContext]]:
    """Solve them, with the others that are live, yielding the fraction done."""
    solves = _solves(scene, look_ats)
    wanted = solves[-len(look_ats) :]
    if cycle is not None:
        seconds = (cycle[1] - cycle[0]) * seconds_per_frame(scene)
        for solve in solves:
            solve.look_at = cyclic_bake.repeating(solve.look_at, seconds)
    with closing(SceneSolve(scene, *solved, solves, cycle=cycle)) as scene_solve:
        for fraction in scene_solve.steps(wanted):
            yield 0.999 * fraction
        return wanted, scene_solve.context


def _solved(scene: bpy.types.Scene, look_ats: Sequence[LookAt], options: BakeOptions) -> tuple[Range, Range | None]:
    """The range to solve, and the cycle, None where nothing repeats."""
    first, last = options.first, options.last
    is_cyclic = cyclic_bake.is_cyclic(look_ats, first, last) if options.cyclic is None else options.cyclic
    if not is_cyclic:
        return options.solved, None
    return cyclic_bake.solved(look_ats, first, last, seconds_per_frame(scene)), (first, last)


def _mute(look_ats: Sequence[LookAt]) -> None:
    """Their motion is in the keys now and must not be added once more."""
    for item in look_ats:
        bone = item.armature.pose.bones[item.bone]
        if look_at.exists_on(bone):
            bone.lookat_pd.mute = True
        constraint_sync.sync(item.armature)


def _solves(scene: bpy.types.Scene, look_ats: Sequence[LookAt]) -> list[LookAtSolve]:
    """What is to be solved: live look-ats of the scene that are not baked, and then those that are."""
    for armature in {*constraint_sync.live_armatures(scene), *(item.armature for item in look_ats)}:
        # The clip may be another one than at the last live update.
        constraint_sync.mend_keys(armature)
    others = constraint_sync.other_live(scene, {(item.armature, item.bone) for item in look_ats})
    used: dict[bpy.types.Object, set[int]] = {}
    solves = []
    for item in [*others, *look_ats]:
        taken = used.setdefault(item.armature, constraint_sync.numbers(item.armature))
        number = item.armature.pose.bones[item.bone].lookat_pd.number or max(taken, default=0) + 1
        taken.add(number)
        solves.append(LookAtSolve(item, number))
    return solves


def _amounts(solves: Sequence[LookAtSolve], frames: Array) -> dict[Lid, Array]:
    """How much the look-ats of one rig change shape keys (F,); the one that changes more has the word."""
    by_lid: dict[Lid, Array] = {}
    for solve in solves:
        assert solve.track is not None
        first = int(frames[0] - solve.track.first)
        for n, lid in enumerate(solve.look_at.shapes):
            amounts = solve.track.shapes[first : first + len(frames), n]
            known = by_lid.get(lid, np.zeros(len(amounts)))
            by_lid[lid] = np.where(np.abs(amounts) >= np.abs(known), amounts, known)
    return by_lid


def _result(solve: LookAtSolve, context: SolveContext, action: bpy.types.Action) -> BakeResult:
    assert solve.solution is not None
    frames, solution, response = context.frames, solve.solution, solve.response
    if context.cycle is not None:
        cut = cyclic_bake.LastCycle(frames, *context.cycle, context.dt)
        frames, solution, response = cut(frames), cut(solution), cut(response)
    return BakeResult(
        solve.look_at,
        action,
        solution,
        frames,
        solve.error,
        solve.measured,
        solve.passes,
        response,
        context.dt,
        solve.notes,
        context.cycle is not None,
    )


def _known(
    scene: bpy.types.Scene, look_ats: Sequence[LookAt], frames: tuple[int, int]
) -> tuple[list[LookAtSolve], SolveContext] | None:
    """The live solutions of look-ats over exactly these frames, as the animation is now, with their context.

    None where one is out of date, not verified yet, or not live in this scene.
    """
    kind = live.solved_kind(scene, LookAtKind)
    if kind is None or kind.scene_solve is None:
        return None
    context = kind.scene_solve.context
    if (int(context.frames[0]), int(context.frames[-1])) != frames or context.cycle is not None:
        return None
    there = {(solve.owner, solve.bone): solve for solve in kind.scene_solve.solves}
    found = [there.get((item.armature, item.bone)) for item in look_ats]
    known = [solve for solve, item in zip(found, look_ats, strict=True) if solve is not None and _is_of(solve, item)]
    return (known, context) if len(known) == len(look_ats) else None


def _is_of(solve: LookAtSolve, item: LookAt) -> bool:
    """Whether a solution is one of this look-at, complete and verified."""
    complete = solve.stale == FRESH and not solve.rough
    complete = complete and None not in (solve.track, solve.samples, solve.solution)
    if not complete or item.schedule is not None:
        return False
    return inputs.place(solve.look_at) == inputs.place(item) and inputs.same(solve.look_at, item)
