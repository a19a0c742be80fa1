"""`--smooth-pops`: a clip without the jumps that are found in it."""

import argparse
import math
from collections.abc import Generator
from dataclasses import dataclass

from ....lookat_pd.errors import RigError
from ....lookat_pd.message import Message
from ....lookat_pd.progress import drain
from ....rig.feet.contact_report import ContactReport
from ....rig.sampling import scene_time
from ....rig.transitions import pop_smoothing, pops, sequence
from ....rig.transitions.lock_feet import locking
from ....rig.transitions.visual import visual_feet, visual_pops, visual_transition
from ....rig.transitions.visual.visual_pops import VisualPop
from ....rig.transitions.visual.visual_transition import VisualTransition
from ...report import Row
from . import made, velocity_jump
from .made import Made
from .mode import EACH_ACTION, Mode
from .mode_task import ModeTask, check_method


def make(task: ModeTask) -> Made:
    options, rig, how = task.options, task.rig, task.blend()
    clip = task.take()
    missing = task.missing(clip)
    jumps = pops.bones_by_frame(pops.find(rig, clip.action, *(options.range or ()), slot=clip.slot))
    begin, _ = sequence.key_range(clip.action, clip.slot)
    smoothed = drain(
        pop_smoothing.smooth(
            task.scene,
            rig,
            jumps,
            how,
            name=task.name,
            lock_feet=options.lock_feet,
            shorten=True,
            writer=task.writer,
        )
    )
    task.warn_unlocked(smoothed.unlocked)
    if not jumps:
        task.warnings.append(
            Message(
                "No pop was found in '{action}'; '{result}' is an unchanged copy.",
                action=clip.action.name,
                result=smoothed.action.name,
            )
        )
    cuts = list(smoothed.blends)
    return Made(
        smoothed.action,
        smoothed.slot,
        [clip.action.name],
        cuts,
        [used.seconds or 0.0 for used in smoothed.blends.values()],
        [velocity_jump.across(cut) for cut in cuts],
        [begin],
        missing=missing,
        methods=[used.how.id for used in smoothed.blends.values()],
        foot_drift=None if smoothed.feet is None else (smoothed.feet.before, smoothed.feet.drift),
    )


@dataclass(frozen=True)
class _Smoothed:
    pops: list[tuple[VisualPop, VisualTransition]]
    feet: ContactReport | None
    unlocked: RigError | None = None


def make_visual(task: ModeTask, row: Row) -> None:
    scene, rig = task.scene, task.rig
    first, last = task.options.range or scene_time.key_range(scene)

    def steps(lock: bool) -> Generator[float, None, _Smoothed]:
        pops_and_transitions = yield from visual_transition.smooth_all(scene, rig, first, last, task.blend())
        made_here, feet = [transition for _, transition in pops_and_transitions], None
        if lock and made_here:
            feet = yield from visual_feet.lock_through(scene, rig, made_here, first, last)
        return _Smoothed(pops_and_transitions, feet)

    work = locking(rig, steps, task.options.lock_feet)
    result = drain(work, lambda fraction: task.console.progress(0.2 + 0.4 * fraction, "smoothing"))
    task.warn_unlocked(result.unlocked)
    smoothed, transitions = result.pops, [transition for _, transition in result.pops]
    if result.feet is not None:
        row["foot_drift"] = made.drift((result.feet.before, result.feet.drift))
    task.console.progress(0.6, "verifying")
    places = [velocity_jump.across(pop.frame) for pop, _ in smoothed]
    jumps = velocity_jump.velocity_jumps(scene, rig, places, only_left=True)
    made.fill_visual(row, (first, last), [pop.frame for pop, _ in smoothed], transitions, jumps)
    row["pops"] = [
        {
            "frame": pop.frame,
            "bones": [visual_pops.label(rig, bone) for bone in pop.bones],
            "turn_deg": round(math.degrees(pop.turn), 3),
            "cause": str(pop.cause),
        }
        for pop, _ in smoothed
    ]
    if not smoothed:
        row["warnings"].append(f"No pop was found in the visual pose of '{rig.name}' from frame {first} to {last}.")


def check(options: argparse.Namespace) -> None:
    if not options.visual:
        check_method(options, "--smooth-pops")


MODE = Mode(
    "smooth_pops",
    make,
    {"action": "store_true", "help": "detect the pops in --action and smooth each of them"},
    (*EACH_ACTION, "visual", "lock_feet", "method", "damping_ratio", "profile"),
    check=check,
    ending="smooth",
    is_copy=True,
    make_visual=make_visual,
)
