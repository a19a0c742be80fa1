"""Edits that are answered live: a turn of a talk of two people, keys of a chest and of a target; and its bake.

The work goes in slices, as in a window, but nothing is drawn and nothing waits for a hand to rest.
"""

from collections.abc import Callable, Iterator
from time import perf_counter

import bpy
import numpy as np

from standalone import load

from . import scenes, solver
from .extension import finish
from .rows import GOALS_LOOP, Goal, Row
from .timing import Times, clocked, shortest

bake = load("rig.look_at.look_at_bake")
bake_options = load("rig.animation.bake_options")
conversation_settings = load("rig.look_at.directing.conversation_settings")
follow_edit = load("rig.pd_follow.follow_edit")
live = load("rig.layers.live")
look_at = load("rig.look_at.resolve")
owners = load("rig.pd_follow.owners")
suspend = load("rig.sampling.suspend")

REPEATS = 3
FRAMES, AT = 250, 60
CHAIN = 12
TURN, LATER = 80, (84, 88, 92, 96)
SLICE = 0.06
_GOALS = {"talk": (0.3, 2.0), "chest": (0.15, 0.5), "target": (0.15, 0.5)}
"""Seconds until an edit is seen, and until it is verified, on the machine for which goals are set."""
_WHAT = {"talk": "a turn moved", "chest": "a key of the chest edited", "target": "a key of the target moved"}


def rows() -> list[Row]:
    """The rows of edits. Ratios are to the plain loop of the solvers' table, run in turn with them."""
    loop = clocked(solver.plain_loop(solver.FRAMES))
    talk = load("assets.demo.conversation")
    with suspend.suspend_live():
        made = talk.build_scene(scenes.empty_file())
    begin = perf_counter()
    live.finish(made.scene)
    first = perf_counter() - begin
    times = shortest({"loop": loop, "talk": _answers("talk", _turns(made.scene))}, REPEATS)
    group = f"Two generated Rigify humans talk, {talk.LAST - talk.FIRST + 1} frames, all of body and eyes"
    found = [_row("talk.first", "made, verified", first, times["loop"], 2.0, group)]
    found += _rows("talk", times, group)
    found.append(_row("talk.bake", "solved, baked", _bake(made.scene), times["loop"], 0.2, group))
    chain = _follow_chain(scenes.empty_file())
    found.append(
        _row("follow", "solved", chain, times["loop"], 0.5, f"A chain of {CHAIN} bones with PD Follow, {FRAMES} frames")
    )
    human = scenes.rigify_human(scenes.empty_file())
    # The demo's human has a scene of its own.
    scene = bpy.context.scene
    scene.frame_set(AT)
    live.finish(scene)
    chest = _answers("chest", _chests(human))
    target = _answers("target", _places(human))
    times = shortest({"loop": loop, "chest": chest, "target": target}, REPEATS)
    group = f"A generated Rigify human, {FRAMES} frames"
    return [*found, *_rows("chest", times, group), *_rows("target", times, group)]


def _rows(name: str, times: Times, group: str) -> list[Row]:
    what, (seen, verified) = _WHAT[name], _GOALS[name]
    return [
        _row(f"{name}.seen", f"{what}, seen", times[f"{name}.seen"], times["loop"], seen, group),
        _row(f"{name}.verified", f"{what}, verified", times[f"{name}.verified"], times["loop"], verified, group),
    ]


def _row(key: str, what: str, seconds: float, loop: float, goal: float, group: str) -> Row:
    return Row(f"live.edits.{key}", what, seconds, seconds / loop, "the plain loop", Goal(goal / GOALS_LOOP), group)


def _answers(name: str, edits: Iterator[Callable[[], None]]) -> Callable[[], Times]:
    """Times from an edit until what becomes of it is seen, and until it is verified; another edit each time."""

    def work() -> Times:
        scene = bpy.context.scene
        with suspend.suspend_live():
            next(edits)()
            bpy.context.view_layer.update()
            state, seen = live._scenes[scene.session_uid], None
            begin = perf_counter()
            state.refresh(scene, live._structure, now=True)
            assert state.job is not None, f"nothing is solved after {_WHAT[name]}"
            while not state.advance(SLICE):
                if state.found or state.news:
                    state.show()
                    seen = seen or perf_counter() - begin
            state.show()
            verified = perf_counter() - begin
        return {f"{name}.seen": seen or verified, f"{name}.verified": verified}

    return work


def _bake(scene: bpy.types.Scene) -> float:
    """Time of the bake of what is solved, of all characters into new actions; once, since it is no longer live then."""
    live.finish(scene)
    rigs = [item for item in scene.objects if item.type == "ARMATURE"]
    wanted = [look_at.resolve(rig, bone) for rig in rigs for bone in look_at.bones_with_look_at(rig)]
    first, last = scene.frame_start, scene.frame_end
    options = bake_options.BakeOptions(first, last, played=(first, last))
    return clocked(lambda: finish(bake.bake(scene, wanted, options, use_live=True)))()


def _follow_chain(scene: bpy.types.Scene) -> float:
    """Time from PD Follow on the bones of a chain until it is solved."""
    data = bpy.data.armatures.new("Tail")
    rig = bpy.data.objects.new("Tail", data)
    scene.collection.objects.link(rig)
    scene.frame_end = FRAMES
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    names: list[str] = []
    for n in range(CHAIN):
        bone = data.edit_bones.new(f"tail.{n:02d}")
        bone.head, bone.tail = (0.0, 0.1 * n, 1.0), (0.0, 0.1 * (n + 1), 1.0)
        bone.parent, bone.use_connect = (data.edit_bones[names[-1]], True) if names else (None, False)
        names.append(bone.name)
    bpy.ops.object.mode_set(mode="OBJECT")
    for frame in range(1, FRAMES + 1, 10):
        rig.location.x = np.sin(0.2 * frame)
        rig.keyframe_insert("location", frame=frame)
    follow_edit.add([owners.Owner(rig, name) for name in names], None)
    return clocked(lambda: live.finish(scene))()


def _turns(scene: bpy.types.Scene) -> Iterator[Callable[[], None]]:
    """The second turn begins at another frame each time."""
    marker = next(marker for marker in scene.timeline_markers if marker.frame == TURN)

    def move(frame: int) -> None:
        marker.frame = frame
        conversation_settings.update_stale()

    while True:
        for frame in LATER:
            yield lambda frame=frame: move(frame)


def _chests(human: scenes.Character) -> Iterator[Callable[[], None]]:
    chest = human.armature.pose.bones["chest"]
    chest.rotation_mode = "QUATERNION"

    def key(x: float) -> None:
        chest.rotation_quaternion = (1.0, x, 0.05, 0.0)
        chest.keyframe_insert("rotation_quaternion", frame=AT)

    for n in range(1, 1000):
        yield lambda n=n: key(0.02 * (n % 7))


def _places(human: scenes.Character) -> Iterator[Callable[[], None]]:
    place = np.array(human.target.location)

    def key(x: float) -> None:
        human.target.location.x = place[0] + x
        human.target.keyframe_insert("location", frame=AT)

    for n in range(1, 1000):
        yield lambda n=n: key(0.03 * (n % 7))
