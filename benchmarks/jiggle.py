"""A frame of playback of a tail of nine bones: bare, with springs, and with the add-on Jiggle Physics beside it.

`python benchmarks jiggle --jiggle FOLDER`: the folder of that add-on's source, with its __init__.py, which whoever runs
this puts there; without one its rows are left out. The goal is 1.5 times the bare rig, all bones of which are keyed.
Beside it a rig with keys of one bone, which Blender evaluates in no time: what springs cost shows in full.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import bpy
import numpy as np

from standalone import load

from . import scenes
from .extension import registered
from .rows import Goal, Row
from .timing import Times, shortest

BODY, TAIL, FRAMES = 14, 9, 250
ROUNDS, TURNS = 5, 8
"""How often a file is played, and how many are made: a frame takes some hundredths of a millisecond."""
GROUP = f"Playback of a rig of {BODY + TAIL} bones"
folder: Path | None = None
"""Where the add-on is, None to leave it out."""


def rig(scene: bpy.types.Scene, *, moved: int = BODY + TAIL) -> tuple[bpy.types.Object, list[str]]:
    """A body, so many bones of which are keyed, and the bones of its tail."""
    data = bpy.data.armatures.new("Animal")
    animal = bpy.data.objects.new("Animal", data)
    scene.collection.objects.link(animal)
    bpy.context.view_layer.objects.active = animal
    bpy.ops.object.mode_set(mode="EDIT")
    rows = [(f"body.{n:02}", (0.0, 0.0, 0.1 * n), (0.0, 0.0, 0.1 * n + 0.1)) for n in range(BODY)]
    rows += [(f"tail.{n:02}", (0.0, 0.1 * n, 0.0), (0.0, 0.1 * n + 0.1, 0.0)) for n in range(TAIL)]
    for n, (name, begin, end) in enumerate(rows):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = begin, end
        bone.parent = data.edit_bones[rows[0 if n == BODY else n - 1][0]] if n else None
    bpy.ops.object.mode_set(mode="OBJECT")
    for n, bone in enumerate(animal.pose.bones):
        bone.rotation_mode = "QUATERNION"
        if n >= moved:
            continue
        for frame in range(1, FRAMES + 1, 10):
            half = 0.1 * np.sin(0.1 * frame + n)
            bone.rotation_quaternion = (np.cos(half), np.sin(half), 0.0, 0.0)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    return animal, [name for name, *_ in rows[BODY:]]


def swinging(moved: int) -> Times:
    """Seconds of a frame of a rig, bare and with springs on its tail. moved: how many of its bones are keyed.

    They take turns, each in a file of its own, so that another program slows down both.
    """
    with registered(playing=True):
        return shortest({"turn": lambda: _turn(moved)}, TURNS)


def _turn(moved: int) -> Times:
    scene = scenes.empty_file()
    scene.frame_start, scene.frame_end = 1, FRAMES
    animal, tail = rig(scene, moved=moved)
    times = shortest({"bare": lambda: scenes.played(scene, FRAMES)}, ROUNDS)
    load("rig.springs.springs_edit").add(animal, [tail])
    scene.frame_set(1)
    load("rig.layers.live").finish(scene)
    return times | shortest({"springs": lambda: scenes.played(scene, FRAMES)}, ROUNDS)


def run() -> list[Row]:
    """The table of playback with springs."""
    times, few = swinging(BODY + TAIL), swinging(1)
    if folder is not None:
        times["peer"] = _peer(folder)
    else:
        print("Jiggle Physics is left out: name the folder of its source, --jiggle FOLDER.", file=sys.stderr)
    labels = {"springs": "with springs on a tail of 9", "peer": "with Jiggle Physics on that tail"}
    rows = [Row("jiggle.bare", "a frame, bare", times["bare"], group=GROUP)]
    for key, goal in (("springs", Goal(1.5)), ("peer", None)):
        if key in times:
            ratio = times[key] / times["bare"]
            rows.append(Row(f"jiggle.{key}", labels[key], times[key], ratio, "the bare rig", goal, GROUP))
    rows.append(Row("jiggle.few.bare", "a frame with keys of one bone, bare", few["bare"], group=GROUP))
    ratio = few["springs"] / few["bare"]
    what = "with springs, keys of one bone"
    return [*rows, Row("jiggle.few", what, few["springs"], ratio, "that", None, GROUP)]


def _peer(source: Path) -> float:
    """Seconds of a frame with the add-on."""
    with _enabled(source):
        scene = scenes.empty_file()
        scene.frame_start, scene.frame_end = 1, FRAMES
        animal, tail = rig(scene)
        scene.jiggle.enable = scene.jiggle.simulate_during_scrub = animal.jiggle.enable = True
        for name in tail:
            animal.pose.bones[name].jiggle.enable = True
        plain = np.array(animal.pose.bones[tail[-1]].matrix)
        time = shortest({"peer": lambda: scenes.played(scene, FRAMES)}, ROUNDS)["peer"]
        scene.frame_set(FRAMES // 2)
        if np.array_equal(plain, np.array(animal.pose.bones[tail[-1]].matrix)):
            print("Jiggle Physics does not move the tail in this version of Blender.", file=sys.stderr)
        return time


@contextmanager
def _enabled(source: Path) -> Iterator[None]:
    """The add-on of that source, registered."""
    spec = spec_from_file_location("jiggle_peer", source / "__init__.py", submodule_search_locations=[str(source)])
    assert spec is not None and spec.loader is not None, "the arguments are checked"
    module = module_from_spec(spec)
    sys.modules["jiggle_peer"] = module
    spec.loader.exec_module(module)
    module.register()
    try:
        yield
    finally:
        module.unregister()
