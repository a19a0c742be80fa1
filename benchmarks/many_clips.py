"""A generated Rigify human with dozens of clips on muted NLA tracks, beside one without: what does not play costs
nothing.

The work goes in slices, as in a window, but nothing is drawn and nothing waits for a hand to rest.
"""

from collections.abc import Callable
from functools import partial
from time import perf_counter

import bpy
import numpy as np

from standalone import load

from . import scenes
from .extension import registered
from .rows import Goal, Row
from .timing import Times, shortest

actions = load("rig.animation.actions")
live = load("rig.layers.live")
look_at_edit = load("rig.look_at.edit")
suspend = load("rig.sampling.suspend")

CLIPS, CURVES = 76, 3853
REPEATS, ROUNDS = 2, 2
_AT, _SLICE, _LOOKING = 60, 0.08, 8e-3
_WHAT = {
    "add": "a look-at added, until it is solved",
    "slider": "settle time moved, until it is solved",
    "key": "a key of the chest edited, until it is solved",
    "longest": "the longest turn of all that",
}


def run() -> list[Row]:
    """The table of many clips: the same edits of a human without clips and with them."""
    with registered(playing=True):
        rounds = [[_measured(clips=clips) for clips in (0, CLIPS)] for _ in range(ROUNDS)]
    none, many = ({name: min(times[name] for times in turns) for name in _WHAT} for turns in zip(*rounds, strict=True))
    group = f"A generated Rigify human with {CLIPS} clips of {CURVES:,} curves on muted tracks"
    return [
        Row(f"many_clips.{name}", what, many[name], many[name] / none[name], "without clips", Goal(1.2), group)
        for name, what in _WHAT.items()
    ]


def _measured(*, clips: int) -> Times:
    demo = load("assets.demo.human").build_scene(scenes.empty_file())
    _add_clips(demo.rig, clips)
    scene, turn = demo.scene, iter(range(10_000))
    scene.frame_set(_AT)
    head = demo.rig.pose.bones["head"]
    chest = demo.rig.pose.bones["chest"]
    chest.rotation_mode = "QUATERNION"

    def add() -> None:
        look_at_edit.add(scene, demo.rig, head.name, demo.ball)

    def slide() -> None:
        head.lookat_pd.settle_time = 0.6 + 0.01 * next(turn)

    def key() -> None:
        chest.rotation_quaternion = (1.0, 0.0, 0.1 + 0.01 * next(turn), 0.0)
        chest.keyframe_insert("rotation_quaternion", frame=_AT)

    with suspend.suspend_live():
        added = _answer(scene, "add", add)
        edits = {"slider": slide, "key": key}
        times = shortest({name: partial(_answer, scene, name, edit) for name, edit in edits.items()}, REPEATS)
    return {**times, **added, "longest": max(added["longest"], times["longest"])}


def _answer(scene: bpy.types.Scene, name: str, edit: Callable[[], None]) -> Times:
    """Times from an edit until it is solved, and of the longest turn meanwhile."""
    edit()
    live._any(scene)
    state = live._scene(scene)
    state.use(live._used)
    state.digests.note(scene)
    bpy.context.view_layer.update()
    turns, is_known, is_solved = [perf_counter()], False, False
    while not (is_known and is_solved):
        if not is_known:
            state.refresh(scene, live._structure, now=True, within=_LOOKING)
            is_known = state.check_at == np.inf
        is_solved = state.advance(_SLICE)
        state.show()
        turns.append(perf_counter())
    return {name: turns[-1] - turns[0], "longest": float(np.diff(turns).max())}


def _add_clips(rig: bpy.types.Object, count: int) -> None:
    """Clips that move nothing that there is, each on a muted track."""
    for n in range(count):
        if not n:
            clip = bpy.data.actions.new("Clip")
            bag = actions.channelbag(clip, clip.slots.new(id_type="OBJECT", name=rig.name), ensure=True)
            for k in range(CURVES):
                curve = bag.fcurves.new(f'pose.bones["idle {k // 10}"].location', index=k % 10)
                curve.keyframe_points.add(2)
                curve.keyframe_points.foreach_set("co", (1.0, 0.0, 40.0, 1.0))
        track = rig.animation_data.nla_tracks.new()
        strip = track.strips.new(f"Clip {n}", 1, clip if not n else clip.copy())
        strip.action_slot, track.mute = strip.action.slots[0], True
