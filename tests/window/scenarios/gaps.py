"""How long the window stands still for edits, on rigs as they come, on one with dozens of clips and on a linked one:
what the extension adds to one turn of the window's loop, in time of the thread, to what Blender takes in the same
file; and the longest turn by the wall. An edit is made again where it takes longer than it may: the least counts, and
how busy the machine is beside it.

What Blender takes is measured in the same run: to add an empty and a constraint by its own operators, with the step of
undo, for what makes such; a constraint alone for other operators; to insert a key; to undo; for all else to relate and
draw what there is once something was added.

Here are the edits that are made all day; every setting, feature and join, and more rigs, are in `measured`, which the
benchmark of the window runs beside these. LOOKAT_PD_RIGS names a folder of rigs from other makers; without it the
generated human alone is measured.
"""

import itertools
import json
import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import bpy
import numpy as np
from character import HEAD, armature
from edited_keys import plain_loop
from many_clips import CLIPS, add_clips
from rigify_human import build_scene
from rigify_human import human as _human
from windowed.clicking import click, clicking
from windowed.hands import Hands, Waiting
from windowed.scripts import script

from extension import load

LIVE = ("rig.layers.live",)
MARK = "@figures "
"""Before what an edit has added to a turn, for the benchmark."""
MOST, LOOP = 0.1, 0.05
"""Seconds of the thread that may be added to a turn where two plain loops take so long. Where they take longer, as on a
busy machine, it may be as much more."""
BAKING = 0.15
"""The same for a bake or join, which shows progress and can be stopped: with a step of it that cannot be divided."""
BESIDE = 1.5
"""How much longer the same work takes beside other programs, which share the caches of the processor with it."""
TRIES = 4
"""How often an edit is made until it takes no longer: what else the machine does meanwhile is no work of its own."""
WHILE = 300.0
"""Seconds until what follows from an edit must have come to its end, also beside other programs."""
REPEATS = 4
"""Of what Blender takes."""
Measured = Generator[float, None, float]
HUMAN = f"human with {CLIPS} clips"
RIGS = (
    "gltf/kaykit_knight.glb",
    "gltf/khronos_fox.glb",
    "gltf/m2m_snake.glb",
    "gltf/robot_expressive.glb",
    "gltf/godot_platformer_robot.glb",
    "vrm/cryptovoxels.vrm",
    "blend/m2m_human_ymca_2025.blend",
    "blend/rig-kaiju.blend",
    "bvh/cmu_131_02_start_walk_stop.bvh",
    "bvh/fair1_zombie.bvh",
    "fbx/cmu_91_50.fbx",
)


@dataclass(frozen=True)
class Edit:
    """An edit that must not hold the window up."""

    name: str
    do: Callable[[], object]
    undo: Callable[[], object]
    """Before it is tried again."""
    done: Callable[[], bool]
    """Whether what follows from it has come to its end."""
    bare: float
    """What a turn takes that Blender needs for it [s of the thread]."""
    most: float = MOST
    before: Callable[[], object] = lambda: None
    """What is done before the first try, and not measured."""


class Turns:
    """The turns of the window's loop while something is measured. Of all timers that of a script comes first, so that
    a turn has slices of the work, what is done by hand, and what is drawn of both."""

    def __init__(self) -> None:
        self.longest = self.work = 0.0
        """The longest turn [s], and the most that one has taken with all that Blender does [s of the window's
        thread]."""
        self._begin, self._worked = time.perf_counter(), time.thread_time()

    def end(self) -> None:
        """One more has ended."""
        now, worked = time.perf_counter(), time.thread_time()
        self.longest, self._begin = max(self.longest, now - self._begin), now
        self.work, self._worked = max(self.work, worked - self._worked), worked

    def until(self, done: Callable[[], bool], seconds: float) -> Generator[float, None, bool]:
        """Let them come until something is so, for a while at most; whether it is."""
        end = time.perf_counter() + seconds
        while not (found := done()) and time.perf_counter() < end:
            yield 0.001
            self.end()
        return found


def pace() -> float:
    """How many times as long this machine takes for two plain loops, as busy as it is, 1 at least."""
    times = []
    for _ in range(3):
        begin = time.process_time()
        plain_loop()
        times.append(2.0 * (time.process_time() - begin))
    return max(min(times) / LOOP, 1.0)


def edited(name: str, edit: Callable[[], object], done: Callable[[], bool], hands: Hands) -> Measured:
    """How long the window stands still for an edit and for what follows: the most that a turn takes [s of the
    thread]."""
    with clicking():
        yield 0.05
        turns, begin = Turns(), time.perf_counter()
        for seconds in click(hands, edit, name):
            yield seconds
            turns.end()
        yield from turns.until(lambda: False, 0.1)
        assert (yield from turns.until(done, WHILE)), name
        solved = time.perf_counter() - begin
        yield from turns.until(lambda: False, 0.5)
    print(
        f"@ {name}: {1e3 * turns.work:.0f} ms in one turn of at most {1e3 * turns.longest:.0f} ms, "
        f"solved after {solved:.1f} s"
    )
    return turns.work


def short(edit: Edit, rested: Callable[[], bool], hands: Hands) -> Generator[float, None, str]:
    """An edit holds the window up no longer than it may, beyond what Blender itself needs: that is so once it was so
    once, of some tries; otherwise what is said of it. rested: whether nothing is left to be done once it was undone."""
    edit.before()
    yield 0.3
    told, least = "", np.inf
    for turn in range(TRIES):
        if turn:
            edit.undo()
            yield 0.5
            assert (yield from hands.until(rested, WHILE)), f"{edit.name}, undone"
        added = (yield from edited(edit.name, edit.do, edit.done, hands)) - edit.bare
        least, limit = min(least, added), edit.most * BESIDE * pace()
        told = f"{1e3 * added:.0f} ms beyond the {1e3 * edit.bare:.0f} ms of Blender, of at most {1e3 * limit:.0f} ms"
        print(f"@ {edit.name}: {told}")
        if added < limit:
            break
    print(MARK + json.dumps({"edit": edit.name, "added": max(least, 0.0), "most": edit.most}))
    return "" if least < limit else f"{edit.name}, also in the last of {TRIES} tries: {told}"


def blenders_own(name: str, edit: Callable[[], object], undo: Callable[[], object], hands: Hands) -> Measured:
    """The most that a turn takes [s of the thread] for what Blender does itself."""
    taken = []
    for _ in range(REPEATS):
        taken.append((yield from edited(name, edit, lambda: True, hands)))
        undo()
        yield 0.3
    return max(taken)


class Subject:
    """A rig with what is done to the look-at of its head."""

    def __init__(self, hands: Hands, rig: bpy.types.Object, target: bpy.types.Object) -> None:
        self.hands = hands
        # An undo replaces all data of the file.
        self._names = rig.name, target.name
        self.bone = load("rig.look_at.resolve").find_head(rig)
        self._presets = itertools.cycle(("Attentive", "Relaxed"))

    @property
    def scene(self) -> bpy.types.Scene:
        return self.hands.window.scene

    @property
    def rig(self) -> bpy.types.Object:
        return self.scene.objects[self._names[0]]

    @property
    def target(self) -> bpy.types.Object:
        return self.scene.objects[self._names[1]]

    @property
    def settings(self):
        return self.rig.pose.bones[self.bone].lookat_pd

    def select(self) -> None:
        for item in self.scene.objects:
            item.select_set(item in (self.rig, self.target))
        self.hands.window.view_layer.objects.active = self.rig

    def is_rested(self) -> bool:
        """Whether nothing is left to be done."""
        known = load("rig.layers.live")._scenes.get(self.scene.session_uid)
        return known is None or known.job is None

    def is_idle(self) -> bool:
        """The same, of operators too, and whether all that may have changed was looked at."""
        live = load("rig.layers.live")
        known = live._scenes.get(self.scene.session_uid)
        waits = known is not None and bool(live._used) and known.check_at < np.inf
        return not self.hands.window.modal_operators and self.is_rested() and not waits

    def is_solved(self) -> bool:
        found = load("rig.layers.live").status(self.scene, self.rig, self.bone)
        assert found.state != "ERROR", found.error
        return found.state in ("SOLVED", "PREVIEW") and self.is_rested()

    def is_baked(self) -> bool:
        return self.settings.mute

    # What is done

    def add(self) -> None:
        self.select()
        with self.hands.override():
            bpy.ops.lookat_pd.add("EXEC_DEFAULT", True)

    def remove(self) -> None:
        with self.hands.override():
            bpy.ops.lookat_pd.remove("EXEC_DEFAULT", True)

    def slide(self) -> None:
        self.settings.settle_time = 0.5 if self.settings.settle_time > 0.55 else 0.6

    def preset(self) -> None:
        path = load("rig.look_at.presets").PRESETS.available()[next(self._presets)]
        with self.hands.override():
            bpy.ops.lookat_pd.preset("EXEC_DEFAULT", True, filepath=str(path))

    def key(self, frame: int | None = None) -> None:
        parent = self.rig.pose.bones[self.bone].parent or self.rig.pose.bones[self.bone]
        parent.rotation_mode = "XYZ"
        parent.rotation_euler.x += 0.05
        parent.keyframe_insert("rotation_euler", frame=self.scene.frame_current if frame is None else frame)

    def switch(self, part: str, *, on: bool) -> None:
        load("rig.look_at.body.layers").switch_whole_body(self.settings, on, part)

    def bake(self) -> None:
        with self.hands.override():
            bpy.ops.lookat_pd.bake("INVOKE_DEFAULT", True)

    def edit_live(self) -> None:
        with self.hands.override():
            bpy.ops.lookat_pd.edit_live("EXEC_DEFAULT", True)

    def nothing(self) -> None:
        """The same edit again is another one."""

    def operate(self, name: str, **options: object) -> None:
        """Call an operator as a click on its button does."""
        with self.hands.override():
            getattr(bpy.ops.lookat_pd, name)("INVOKE_DEFAULT", True, **options)

    def take_back(self) -> None:
        with self.hands.override():
            bpy.ops.ed.undo()

    def set(self, path: str, *values: object) -> None:
        """Set a setting of the look-at, by its path, to the one of these values that it does not have."""
        *parts, name = path.split(".")
        item = self.settings
        for part in parts:
            item = item[int(part)] if part.isdigit() else getattr(item, part)
        before = getattr(item, name)
        # Blender holds 0.9 as the next number that it has.
        same = [np.isclose(value, before) if isinstance(value, float) else value == before for value in values]
        setattr(item, name, values[same.index(False)])

    def key_target(self) -> None:
        self.target.location.x += 0.05
        self.target.keyframe_insert("location", frame=self.scene.frame_current)

    def key_setting(self, name: str) -> None:
        self.rig.keyframe_insert(f'pose.bones["{self.bone}"].lookat_pd.{name}', frame=self.scene.frame_current)

    def pose(self, *names: str) -> None:
        """Select bones of the rig in Pose Mode, the first one active."""
        # What an edit has added is the active object.
        self.select()
        with self.hands.override():
            if self.rig.mode != "POSE":
                bpy.ops.object.mode_set(mode="POSE")
            bpy.ops.pose.select_all(action="DESELECT")
        for name in names:
            bone = self.rig.pose.bones[name]
            (bone if hasattr(bone, "select") else bone.bone).select = True
        self.rig.data.bones.active = self.rig.data.bones[names[0]]

    # What Blender does itself

    def relate(self) -> None:
        """What is added to the file for a slice and taken away again: Blender relates and draws all there is."""
        item = bpy.data.objects.new("Added", None)
        self.scene.collection.objects.link(item)
        bpy.data.objects.remove(item)
        for area in self.hands.window.screen.areas:
            area.tag_redraw()

    def constrain(self) -> None:
        with self.hands.override():
            bpy.ops.object.constraint_add("EXEC_DEFAULT", True, type="COPY_LOCATION")
        self.rig.constraints[-1].mute = True

    def unconstrain(self) -> None:
        self.rig.constraints.remove(self.rig.constraints[-1])

    def add_all(self) -> None:
        """An empty and a constraint, as `Add` makes them."""
        with self.hands.override():
            bpy.ops.object.empty_add()
            self.hands.window.view_layer.objects.active = self.rig
        self.constrain()

    def remove_all(self) -> None:
        self.unconstrain()
        bpy.data.objects.remove(next(item for item in self.scene.objects if item.name.startswith("Empty")))
        self.select()


@dataclass(frozen=True)
class Blenders:
    """The most that a turn takes [s of the thread] for what Blender does itself."""

    drawn: float
    """To relate and draw what there is."""
    made: float
    """To add an empty and a constraint."""
    operated: float
    """To add a constraint."""
    keyed: float
    """To insert a key."""
    undone: float
    """To undo a step that added a constraint."""


def measured(of: Subject, name: str) -> Generator[float, None, Blenders]:
    """What Blender takes on this rig."""
    hands, drawn = of.hands, f"{name}, Blender's"
    relations = yield from blenders_own(f"{drawn} relations", of.relate, of.nothing, hands)
    made = yield from blenders_own(f"{drawn} objects", of.add_all, of.remove_all, hands)
    operated = yield from blenders_own(f"{drawn} constraint", of.constrain, of.unconstrain, hands)
    keyed = yield from blenders_own(f"{drawn} key", of.key, of.nothing, hands)
    of.constrain()
    undone = yield from blenders_own(f"{drawn} undo", of.take_back, of.constrain, hands)
    of.take_back()
    yield 0.5
    of.select()
    return Blenders(relations, made, max(relations, operated), max(relations, keyed), max(relations, undone))


def each(of: Subject, name: str, edits: Iterable[Edit]) -> Waiting:
    """Make one edit after the other, all of them, before anything is said of those that take longer than they may."""
    missed = []
    for edit in edits:
        missed.append((yield from short(replace(edit, name=f"{name}, {edit.name}"), of.is_idle, of.hands)))
    assert not any(missed), "\n".join(filter(None, missed))


def common_edits(of: Subject, name: str) -> Waiting:
    of.select()
    of.scene.frame_set(of.scene.frame_start)
    yield 0.5
    own = yield from measured(of, name)
    off = partial(of.switch, "eyes", on=False)
    edits = [
        Edit("Add", of.add, of.remove, of.is_solved, own.made),
        Edit("settle time", of.slide, of.nothing, of.is_solved, own.drawn),
        Edit("key", of.key, of.nothing, of.is_solved, own.keyed),
        Edit("target's key", of.key_target, of.nothing, of.is_solved, own.keyed),
        Edit("preset", of.preset, of.nothing, of.is_solved, own.operated),
        Edit("eyes", partial(of.switch, "eyes", on=True), off, of.is_solved, own.drawn),
        Edit("bake", of.bake, of.edit_live, of.is_baked, own.operated, BAKING),
        Edit("Edit Live Again", of.edit_live, of.take_back, of.is_solved, own.operated),
        Edit("Remove", of.remove, of.add, of.is_rested, own.operated),
    ]
    yield from each(of, name, edits)


def _ball(scene: bpy.types.Scene) -> bpy.types.Object:
    ball = bpy.data.objects.new("Goal", None)
    scene.collection.objects.link(ball)
    ball.location = (1.0, -4.0, 1.5)
    for frame, x in ((scene.frame_start, -1.0), (scene.frame_end, 1.0)):
        ball.location.x = x
        ball.keyframe_insert("location", frame=frame)
    return ball


def drawn_once(hands: Hands) -> Waiting:
    """What draws the panel and the viewport of a look-at is compiled where it is drawn for the first time."""
    yield from hands.sidebar()
    with hands.override():
        bpy.ops.lookat_pd.add()
    yield 0.5
    load("rig.look_at.edit").remove(armature(), HEAD)
    yield 0.3


def local_human(hands: Hands) -> Generator[float, None, Subject]:
    """The generated human with its clips."""
    yield from drawn_once(hands)
    demo = build_scene()
    hands.window.scene = demo.scene
    add_clips()
    other = bpy.data.objects.new("Other", None)
    other.location = (-1.0, -3.0, 1.5)
    demo.scene.collection.objects.link(other)
    of = Subject(hands, _human(), demo.ball)
    of.select()
    demo.scene.frame_set(demo.scene.frame_start)
    yield 0.5
    return of


def linked_subject(hands: Hands) -> Generator[float, None, Subject]:
    """The generated human and its clips from a library, overridden."""
    yield from drawn_once(hands)
    demo, path = build_scene(), Path(bpy.data.filepath).with_name("human library.blend")
    add_clips()
    made = bpy.data.collections.new("Character")
    made.objects.link(demo.rig)
    bpy.data.libraries.write(str(path), {made})
    with hands.override():
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True, load_ui=False)
    yield 0.2
    yield from hands.sidebar()
    with bpy.data.libraries.load(str(path), link=True) as (_, into):
        into.collections = ["Character"]
    scene, layer = hands.window.scene, hands.window.view_layer
    found = into.collections[0].override_hierarchy_create(scene, layer, do_fully_editable=True)
    rig = next(item for item in found.all_objects if item.type == "ARMATURE")
    data, scene.frame_end = rig.animation_data, 250
    # A linked action has no keys that could be changed.
    data.action = data.action.copy()
    data.action_slot = data.action.slots[0]
    return Subject(hands, rig, _ball(scene))


def other_maker(hands: Hands, path: Path) -> Generator[float, None, Subject]:
    """A rig from a file in an empty one, or in its own."""
    with hands.override():
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True, load_ui=False)
    yield 0.2
    scene = hands.window.scene
    scene.frame_end = 100
    with hands.override():
        IMPORTERS[path.suffix](filepath=str(path))
    yield 0.2
    yield from hands.sidebar()
    rigs = [item for item in hands.window.scene.objects if item.type == "ARMATURE"]
    rig = max(rigs, key=lambda item: len(item.pose.bones))
    return Subject(hands, rig, _ball(hands.window.scene))


def _append(filepath: str) -> None:
    """All objects of a .blend file."""
    with bpy.data.libraries.load(filepath) as (here, into):
        into.objects = here.objects
    for item in filter(None, into.objects):
        bpy.context.scene.collection.objects.link(item)


IMPORTERS: dict[str, Callable[..., object]] = {
    ".glb": bpy.ops.import_scene.gltf,
    ".vrm": bpy.ops.import_scene.gltf,
    ".fbx": bpy.ops.wm.fbx_import,
    ".bvh": partial(bpy.ops.import_anim.bvh, update_scene_fps=True, update_scene_duration=True),
    ".blend": _append,
}


def rigs_of_other_makers() -> Iterator[Path]:
    """Those of `RIGS` that are here."""
    folder = os.environ.get("LOOKAT_PD_RIGS")
    return (Path(folder) / name for name in RIGS) if folder else iter(())


@script(needs=LIVE)
def human_with_clips(hands: Hands) -> Waiting:
    yield from common_edits((yield from local_human(hands)), HUMAN)


@script(needs=LIVE)
def linked_human(hands: Hands) -> Waiting:
    yield from common_edits((yield from linked_subject(hands)), "linked human")


@script(needs=LIVE)
def rig_of_another_maker(hands: Hands) -> Waiting:
    for path in itertools.islice(rigs_of_other_makers(), 1):
        yield from common_edits((yield from other_maker(hands, path)), path.stem)
