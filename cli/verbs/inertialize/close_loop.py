"""`--loop`: a clip whose end goes over into its start."""

import argparse

from ....lookat_pd.progress import drain
from ....rig.sampling import scene_time
from ....rig.transitions import loop
from ....rig.transitions.visual import visual_loop
from ...report import Row
from . import made, velocity_jump
from .made import Made
from .mode import EACH_ACTION, Mode
from .mode_task import ModeTask


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--loop-ends",
        choices=tuple(end.lower() for end in loop.SHARES),
        help="with --loop: what is changed so that the ends meet (default: both, by half of the difference)",
    )


def _ends(task: ModeTask) -> str:
    return (task.options.loop_ends or "both").upper()


def make(task: ModeTask) -> Made:
    options, clip = task.options, task.take()
    first, last = options.range or (None, None)
    looped = loop.loop(
        task.rig,
        clip.action,
        first,
        last,
        task.blend(),
        slot=clip.slot,
        scene=task.scene,
        ends=_ends(task),
        name=task.name,
        lock_feet=options.lock_feet,
        writer=task.writer,
    )
    task.warn_unlocked(looped.unlocked)
    return Made(
        looped.action,
        looped.slot,
        [clip.action.name],
        [looped.last],
        [looped.blend],
        [_seam(looped.first, looped.last)],
        [looped.first],
        missing=task.missing(clip),
        foot_drift=None if looped.feet is None else (looped.feet.before, looped.feet.drift),
    )


def _seam(first: int, last: int) -> tuple[velocity_jump.Step, velocity_jump.Step]:
    """The last step and the first one, which follows it."""
    return (last - 1, last), (first, first + 1)


def make_visual(task: ModeTask, row: Row) -> None:
    scene, rig, lock_feet = task.scene, task.rig, task.options.lock_feet
    first, last = task.options.range or scene_time.key_range(scene)
    steps = visual_loop.closed(scene, rig, first, last, task.blend(), ends=_ends(task), lock_feet=lock_feet)
    looped = drain(steps, lambda fraction: task.console.progress(0.2 + 0.4 * fraction, "looping"))
    task.warn_unlocked(looped.unlocked)
    if looped.feet is not None:
        row["foot_drift"] = made.drift(looped.feet and (looped.feet.before, looped.feet.drift))
    task.console.progress(0.6, "verifying")
    jumps = velocity_jump.velocity_jumps(scene, rig, [_seam(first, last)], only_left=True)
    made.fill_visual(row, (first, last), [last], [looped], jumps)


MODE = Mode(
    "loop",
    make,
    {"action": "store_true", "help": "make --action cyclic by blending its end into its start"},
    (*EACH_ACTION, "visual", "loop_ends", "lock_feet", "profile"),
    add_arguments=add_arguments,
    ending="loop",
    make_visual=make_visual,
)
