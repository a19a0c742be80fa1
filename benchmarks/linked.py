"""A character that is linked and overridden, as in a studio's shots, beside the same one in the file."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import bpy
import numpy as np

from standalone import load

from . import ik_drag, scenes
from .bake import FRAMES, our_bake
from .extension import registered
from .live import slider
from .rows import Goal, Row
from .scenes import Character
from .timing import Times, shortest

body_settings = load("rig.ik.body_settings")
layers = load("rig.look_at.body.layers")
live = load("rig.layers.live")
look_at = load("rig.look_at.resolve")
look_at_edit = load("rig.look_at.edit")

REPEATS = 3
ROUNDS = 2
"""Each opens the two files again, one after the other."""
RIG, TARGET = "Character", "Target"
HAND, HELD = "hand_ik.L", ("foot_ik.L", "foot_ik.R", "hand_ik.R", "head")
CHEST = "chest"
WORKS = {
    "slider": "slider to verified pose",
    "key": "key to verified pose",
    "body": "slider to verified pose, with body and eyes",
    "bake": "bake into a new action",
    "limb": "a step of a drag of a hand, its limb alone",
    "held": f"a step of a drag of a hand, {len(HELD)} effectors held",
}


def run() -> list[Row]:
    """The table of linked characters: all works on one that was appended and on one that is linked and overridden."""
    with registered(playing=True), TemporaryDirectory() as folder:
        library = _library(Path(folder) / "library.blend")
        rounds = [[_measured(library, overridden=overridden) for overridden in (False, True)] for _ in range(ROUNDS)]
    local, linked = (
        {name: min(times[name] for times in turns) for name in WORKS} for turns in zip(*rounds, strict=True)
    )
    group = f"A generated Rigify human, {FRAMES} frames, linked and overridden"
    return [
        Row(f"linked.{name}", what, linked[name], linked[name] / local[name], "a local one", Goal(1.5), group)
        for name, what in WORKS.items()
    ]


def _library(path: Path) -> str:
    """A file with the demo's human and its target, each in a collection."""
    demo = load("assets.demo.human").build_scene(scenes.empty_file())
    made = set()
    for name, item in ((RIG, demo.rig), (TARGET, demo.ball)):
        collection = bpy.data.collections.new(name)
        collection.objects.link(item)
        made.add(collection)
    bpy.data.libraries.write(str(path), made)
    return str(path)


def _measured(library: str, *, overridden: bool) -> Times:
    scene = scenes.empty_file()
    scene.frame_end = FRAMES
    target = _brought(library, TARGET, link=False).all_objects[0]
    rigs = _brought(library, RIG, link=overridden)
    if overridden:
        rigs = rigs.override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
    armature = next(item for item in rigs.all_objects if item.type == "ARMATURE")
    bpy.context.view_layer.objects.active = armature
    data = armature.animation_data
    # A linked action has no keys that could be changed.
    data.action = data.action.copy()
    data.action_slot = data.action.slots[0]
    bpy.context.view_layer.update()
    head = look_at.find_head(armature)
    look_at_edit.add(scene, armature, head, target)
    # The keys make the armature's data an override, too.
    bpy.ops.lookat_pd.key(setting="use")
    human = Character(armature, data.action, target, look_at.resolve(armature, head).bones)
    return {**_look_at(scene, human), **_drags(scene, human)}


def _brought(library: str, name: str, *, link: bool) -> bpy.types.Collection:
    with bpy.data.libraries.load(library, link=link) as (_, into):
        into.collections = [name]
    collection = into.collections[0]
    if not link:
        bpy.context.scene.collection.children.link(collection)
    return collection


def _look_at(scene: bpy.types.Scene, human: Character) -> Times:
    settings = human.armature.pose.bones[human.bones[0]].lookat_pd
    times = shortest({"slider": slider(scene, human), "key": _keyed(scene, human)}, REPEATS)
    with_body = slider(scene, human)
    layers.switch_whole_body(settings, True)
    live.finish(scene)
    times |= shortest({"body": with_body}, REPEATS)
    layers.switch_whole_body(settings, False)
    live.finish(scene)
    settings.mute = True
    times |= {"bake": shortest({"bake": our_bake(scene, [human], FRAMES)}, REPEATS)["bake"]}
    settings.mute = True
    return times


def _keyed(scene: bpy.types.Scene, human: Character) -> Callable[[], float]:
    """Time from a changed key of the chest to the evaluated pose; another one each time."""
    turn, chest = iter(range(10_000)), human.armature.pose.bones[CHEST]

    def work() -> float:
        n = next(turn)
        chest.rotation_mode = "QUATERNION"
        chest.rotation_quaternion = (1.0, 0.0, 0.1 + 0.01 * n, 0.0)
        chest.keyframe_insert("rotation_quaternion", frame=50)
        begin = perf_counter()
        scene.frame_set(2 + n)
        return perf_counter() - begin

    return work


def _drags(scene: bpy.types.Scene, human: Character) -> Times:
    scene.frame_set(1)
    body_settings.add(human.armature, HELD)
    return {
        name: float(np.median(ik_drag.steps(ik_drag.drag(human.armature, HAND, holds=holds), ik_drag.NEAR)))
        for name, holds in (("limb", False), ("held", True))
    }
