"""What is solved and verified live already, so that a bake of it has nothing to solve again."""

from collections.abc import Sequence

import bpy

from ..layers import live
from ..layers.kinds import FRESH
from .live import inputs
from .live.look_at_kind import LookAtKind
from .look_at_solve import LookAtSolve
from .resolve import LookAt
from .solve_context import SolveContext


def find(
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
