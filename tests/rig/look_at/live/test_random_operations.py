"""Any sequence of an animator's operations ends in the pose that a new file would show, and removal leaves nothing.

Structural edits, settings, keys, poses, undo, files, library overrides and bakes of every kind. What undo does in modes
and while a window solves in slices has its scenarios in tests/window.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache

import bpy
import numpy as np
import pytest
from attack import IS_RANDOM, attack
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule, run_state_machine_as_test

from extension import load

from ... import scenes
from ...scenes import animate, ball, figure, poses, set_rotation
from . import fresh_process
from .feature_operations import LAST, FeatureOperations, Stage, number, whole
from .test_live import ours

bake = load("rig.look_at.look_at_bake")
bake_options = load("rig.animation.bake_options")
clock = load("rig.layers.clock")
copying = load("rig.look_at.copy")
drain = load("lookat_pd.progress").drain
join = load("rig.transitions.join")
live = load("rig.layers.live")
look_at = load("rig.look_at.resolve")
look_at_edit = load("rig.look_at.edit")
offsets = load("rig.look_at.look_at_layer")
loop = load("rig.transitions.loop")
own_data = load("rig.sampling.own_data")
pops = load("rig.transitions.pops")
presets = load("rig.look_at.presets")
sequence = load("rig.transitions.sequence")
splice = load("rig.transitions.splice")
strips = load("rig.transitions.strips")
LookAtError = load("lookat_pd.errors").LookAtError

FRAMES = (1, 7, 16, LAST)
ALIKE = 1e-5
FRESH = 16
"""Of so many random sequences one is opened by a new process."""
BONES = ("head", "neck", "chest", "upper_arm.L")


class Shot(FeatureOperations):
    """Two characters, one looks at a ball, the other one at the first; a box; and what can be done with them."""

    def __init__(self) -> None:
        super().__init__()
        self.library = library()
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.context.scene.frame_end = LAST
        for name, x in (("Hero", 0.0), ("Villain", 1.2)):
            item = figure(name)
            item.location.x = x
            animate(item, (1, 6, 13), seed=len(name))
        scenes.aim(bpy.data.objects["Hero"], ball())
        scenes.aim(bpy.data.objects["Villain"], bpy.data.objects["Hero"])
        bpy.data.objects["Villain"].pose.bones["head"].lookat_pd.subtarget = "head"
        mesh = bpy.data.meshes.new("Box")
        mesh.from_pydata([(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0.2)], [], [(0, 1, 2)])
        box = bpy.data.objects.new("Box", mesh)
        box.location = (-1.0, -1.5, 1.2)
        bpy.context.scene.collection.objects.link(box)
        self.begin_undo()

    # What is done

    @rule(n=whole, bone=st.sampled_from(BONES), towards=whole)
    def add(self, n: int, bone: str, towards: int) -> None:
        armature = self.armature(n)
        if bone in armature.pose.bones and not look_at.exists_on(armature.pose.bones[bone]):
            with suppress(LookAtError):
                scenes.aim(armature, self.item(towards), bone)

    @precondition(Stage.some_look)
    @rule(n=whole)
    def remove(self, n: int) -> None:
        looking = self.looking()
        look_at_edit.remove(*looking[n % len(looking)])

    @precondition(Stage.some_look)
    @rule(n=whole, towards=whole, bone=whole, of_bone=st.booleans())
    def aim_at(self, n: int, towards: int, bone: int, of_bone: bool) -> None:
        found, item = self.settings(n), self.item(towards)
        found.target = item
        if item is not None and item.type == "ARMATURE":
            found.subtarget = self.bone(item, bone).name if of_bone else ""

    @precondition(Stage.some_look)
    @rule(n=whole, name=st.sampled_from(("settle_time", "influence", "max_speed", "soft_edge")), share=st.floats(0, 1))
    def tune(self, n: int, name: str, share: float) -> None:
        found = self.settings(n)
        prop = found.bl_rna.properties[name]
        setattr(found, name, prop.soft_min + share * (prop.soft_max - prop.soft_min))

    @precondition(Stage.some_look)
    @rule(n=whole, name=st.sampled_from(("mute", "use")), value=st.booleans())
    def switch(self, n: int, name: str, value: bool) -> None:
        setattr(self.settings(n), name, value)

    @rule(n=whole, bone=whole, angles=st.tuples(number, number, number), frame=st.integers(0, LAST))
    def rotate(self, n: int, bone: int, angles: tuple[float, ...], frame: int) -> None:
        """Pose a bone; at frame 0 without a key."""
        found = self.bone(self.armature(n), bone)
        path = set_rotation(found, angles)
        if frame:
            found.keyframe_insert(path, frame=frame)

    @rule(n=whole, bone=whole, mode=st.sampled_from(("QUATERNION", "XYZ", "ZYX", "AXIS_ANGLE")))
    def rotation_mode(self, n: int, bone: int, mode: str) -> None:
        self.bone(self.armature(n), bone).rotation_mode = mode

    @rule(n=whole, place=st.tuples(number, number, number), frame=st.integers(0, LAST))
    def move(self, n: int, place: tuple[float, ...], frame: int) -> None:
        item = self.item(n, editable=True)
        if item is not None:
            item.location = place
            if frame:
                item.keyframe_insert("location", frame=frame)

    @rule(n=whole)
    def unkey(self, n: int) -> None:
        item = self.item(n, editable=True)
        if item is not None:
            item.animation_data_clear()

    @rule(n=whole)
    def delete(self, n: int) -> None:
        item = self.item(n)
        own = [rig for rig in bpy.context.scene.objects if rig.type == "ARMATURE" and not rig.override_library]
        if item is not None and own != [item]:
            bpy.data.objects.remove(item)

    @rule(n=whole, linked=st.booleans())
    def duplicate(self, n: int, linked: bool) -> None:
        if len(bpy.context.scene.objects) > 7:
            return
        item = self.armature(n)
        copy = item.copy()
        if not linked:
            copy.data = item.data.copy()
        copy.location.y += 0.5
        bpy.context.scene.collection.objects.link(copy)

    @rule(n=whole, parent=whole, bone=whole, to_bone=st.booleans())
    def parent(self, n: int, parent: int, bone: int, to_bone: bool) -> None:
        item, above = self.item(n, editable=True), self.item(parent)
        if item is None or item == above or (above is not None and item in _ancestors(above)):
            return
        item.parent, item.parent_type = above, "OBJECT"
        if to_bone and above is not None and above.type == "ARMATURE":
            item.parent_type, item.parent_bone = "BONE", self.bone(above, bone).name

    @rule(n=whole, bone=whole, name=st.sampled_from(("other", "spine.9", "kopf")))
    def rename_bone(self, n: int, bone: int, name: str) -> None:
        self.bone(self.armature(n), bone).name = name

    @rule(n=whole, name=st.sampled_from(("Other", "Hero", "A")))
    def rename(self, n: int, name: str) -> None:
        item = self.item(n, editable=True)
        if item is not None:
            item.name = name

    @rule(n=whole, bone=whole, parent=whole)
    def parent_bone(self, n: int, bone: int, parent: int) -> None:
        constrained = any(c for b in self.armature(n).pose.bones for c in b.constraints if not _is_own(c))

        def edit(data: bpy.types.Armature) -> None:
            bones = data.edit_bones
            below, above = bones[bone % len(bones)], bones[parent % len(bones)]
            if above != below and below not in above.parent_recursive and not constrained:
                below.use_connect = False
                below.parent = above

        self._edit(self.armature(n), edit)

    @rule(n=whole, bone=whole, add=st.booleans())
    def bones_come_and_go(self, n: int, bone: int, add: bool) -> None:
        def edit(data: bpy.types.Armature) -> None:
            bones = data.edit_bones
            chosen = bones[bone % len(bones)]
            if add and len(bones) < 20:
                new = bones.new("new")
                new.head, new.tail, new.parent = chosen.tail, chosen.tail * 1.1, chosen
            elif not add and len(bones) > 8:
                bones.remove(chosen)

        self._edit(self.armature(n), edit)

    @staticmethod
    def _edit(armature: bpy.types.Object, work: Callable[[bpy.types.Armature], None]) -> None:
        bpy.context.view_layer.objects.active = armature
        bpy.ops.object.mode_set(mode="EDIT")
        work(armature.data)
        bpy.ops.object.mode_set(mode="OBJECT")

    @rule(n=whole, bone=whole, towards=whole, influence=st.floats(0, 1))
    def constrain(self, n: int, bone: int, towards: int, influence: float) -> None:
        """A bone takes over the rotation of one that depends neither on it nor on another constraint."""
        armature = self.armature(n)
        own, other = self.bone(armature, bone), self.bone(armature, towards)
        above = {own, *own.parent_recursive}
        free = not any(c for b in (other, *other.parent_recursive) for c in b.constraints if not _is_own(c))
        if free and other not in above and own not in other.parent_recursive:
            constraint = own.constraints.new("COPY_ROTATION")
            constraint.target, constraint.subtarget, constraint.influence = armature, other.name, influence
            constraint.mix_mode = "ADD"

    @rule(n=whole, bone=whole)
    def constraints_go(self, n: int, bone: int) -> None:
        own = self.bone(self.armature(n), bone).constraints
        for constraint in [c for c in own if not _is_own(c)]:
            own.remove(constraint)

    @rule(frame=st.integers(1, LAST))
    def go(self, frame: int) -> None:
        bpy.context.scene.frame_set(frame)

    @rule()
    def evaluate(self) -> None:
        bpy.context.view_layer.update()

    @rule(end=st.integers(10, LAST), fps=st.sampled_from((24, 30, 60)))
    def range(self, end: int, fps: int) -> None:
        bpy.context.scene.frame_end, bpy.context.scene.render.fps = end, fps

    @rule(n=whole)
    def next_action(self, n: int) -> None:
        armature = self.armature(n)
        names = sorted(scenes.actions_of_the_animator())
        if armature.animation_data is not None and names:
            armature.animation_data.action = bpy.data.actions[names[n % len(names)]]

    @precondition(Stage.some_look)
    @rule(n=whole, group=st.sampled_from(("body", "eyes")), switch=whole, value=st.booleans())
    def body(self, n: int, group: str, switch: int, value: bool) -> None:
        found = getattr(self.settings(n), group)
        switches = [prop.identifier for prop in found.bl_rna.properties if prop.type == "BOOLEAN"]
        setattr(found, switches[switch % len(switches)], value)

    @precondition(Stage.some_look)
    @rule(n=whole, into=st.sampled_from(("NEW", "CURRENT", "LAYER")))
    def bake(self, n: int, into: str) -> None:
        looking = self.looking()
        armature, bone = looking[n % len(looking)]
        with suppress(LookAtError):
            wanted = [look_at.resolve(armature, bone)]
            drain(bake.bake(bpy.context.scene, wanted, bake_options.BakeOptions(1, LAST, into)))

    @precondition(Stage.some_look)
    @rule(n=whole, names=st.lists(st.sampled_from(BONES), min_size=1, max_size=2, unique=True), mirror=st.booleans())
    def copy_look_at(self, n: int, names: Sequence[str], mirror: bool) -> None:
        looking = self.looking()
        armature, bone = looking[n % len(looking)]
        others = [name for name in names if name != bone and name in armature.pose.bones]
        with suppress(LookAtError):
            if mirror:
                copying.mirror(bpy.context.scene, armature, bone)
            else:
                copying.copy(bpy.context.scene, armature, bone, others)

    @precondition(Stage.some_look)
    @rule(n=whole, which=whole)
    def preset(self, n: int, which: int) -> None:
        found = sorted(presets.available().items())
        presets.apply(presets.read(found[which % len(found)][1]), self.settings(n))

    @rule(n=whole, which=whole, cut=st.integers(2, LAST))
    def join_actions(self, n: int, which: int, cut: int) -> None:
        names = sorted(scenes.actions_of_the_animator())
        if names:
            first, second = (bpy.data.actions[names[k % len(names)]] for k in (which, which // 7))
            with suppress(LookAtError):
                join.join(self.character(n), sequence.ClipRef(first, cut), sequence.ClipRef(second, 1))

    @rule(n=whole, in_place=st.booleans())
    def loop_action(self, n: int, in_place: bool) -> None:
        armature = self.character(n)
        data = armature.animation_data
        if data is not None and data.action is not None:
            with suppress(LookAtError):
                loop.loop(armature, data.action, in_place=in_place)

    @rule(n=whole, frame=st.integers(3, LAST))
    def smooth_pop(self, n: int, frame: int) -> None:
        armature = self.character(n)
        data = armature.animation_data
        if data is not None and data.action is not None:
            with suppress(LookAtError):
                pops.smooth(armature, data.action, frame, splice.Blend(0.2))

    @rule(n=whole, start=st.integers(1, LAST), above=st.booleans())
    def strip(self, n: int, start: int, above: bool) -> None:
        """Push the action down, play one more strip, and join the two."""
        armature = self.character(n)
        data = armature.animation_data
        if data is None or data.action is None or len(data.nla_tracks) > 3:
            return
        action, slot = data.action, data.action_slot
        data.action = None
        first = data.nla_tracks.new()
        second = data.nla_tracks.new() if above else first
        try:
            made = [first.strips.new("A", 1, action), second.strips.new("B", start + 30 * (not above), action)]
        except RuntimeError:
            return
        for item in made:
            item.action_slot = slot
        with suppress(LookAtError):
            strips.join(armature, *made)

    # Files and undo

    def begin_undo(self) -> None:
        """Undo goes back to here, and no further."""
        self.steps = 0
        bpy.ops.ed.undo_push(message="Begin")

    @rule()
    def push(self) -> None:
        """Every operator of Blender ends with this."""
        bpy.ops.ed.undo_push(message="Step")
        self.steps += 1

    @rule(back=st.integers(1, 3), again=st.integers(0, 2))
    def undo(self, back: int, again: int) -> None:
        """Undo steps, and redo some of them. What no step contains Blender may leave half undone, so it is pushed."""
        self.push()
        back = min(back, self.steps)
        again = min(again, back)
        for _ in range(back):
            bpy.ops.ed.undo()
        for _ in range(again):
            bpy.ops.ed.redo()
        self.steps += again - back

    @rule(linked=st.booleans())
    def another(self, linked: bool) -> None:
        """A character that looks at something, from another file: a library override, or appended."""
        if len(bpy.context.scene.objects) > 9:
            return
        with bpy.data.libraries.load(self.library, link=linked) as (_, data):
            data.collections = ["Cast"]
        if linked:
            data.collections[0].override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
        else:
            bpy.context.scene.collection.children.link(data.collections[0])

    @rule()
    def reload(self) -> None:
        """What is open is what was saved."""
        path = os.path.join(bpy.app.tempdir, "shot.blend")
        rigs = sorted(item.name for item in bpy.context.scene.objects if item.type == "ARMATURE")
        seen = [poses(bpy.context.scene.objects[name], FRAMES) for name in rigs]
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
        self.begin_undo()
        for name, before in zip(rigs, seen, strict=True):
            away = np.abs(poses(bpy.context.scene.objects[name], FRAMES) - before).max()
            assert away < ALIKE, f"opened, {name} is {away:.4g} off"

    # What must be true

    def teardown(self) -> None:
        scene = bpy.context.scene
        rigs = [item for item in scene.objects if item.type == "ARMATURE"]
        seen = [poses(item, FRAMES) for item in rigs]
        told = [live.status(scene, item, bone) for item, bone in self.looking()]
        self._check_fresh_process(dict(zip((item.name for item in rigs), seen, strict=True)))
        scenes.forget_solutions()
        for item, before in zip(rigs, seen, strict=True):
            away = np.abs(poses(item, FRAMES) - before)
            assert away.max() < ALIKE, f"{item.name}: {away.max():.4g} off, {[s.state for s in told]}"
        assert [s.state for s in told] == [live.status(scene, item, bone).state for item, bone in self.looking()]
        for item, bone in self.looking():
            item.pose.bones[bone].lookat_pd.mute = True
        alone = [poses(item, FRAMES) for item in rigs]
        # Where a bake has changed the pose of bones without keys, removal gives that pose back.
        baked = {item for item, bone in self.looking() if len(item.pose.bones[bone].lookat_pd.unkeyed)}
        for item, bone in self.looking():
            look_at_edit.remove(item, bone)
        without = [poses(item, FRAMES) for item in rigs]
        for item, one, other in zip(rigs, alone, without, strict=True):
            assert item in baked or np.array_equal(one, other), f"{item.name} is not as it was muted"
        assert not any(any(offsets.on(item)) for item in rigs)
        left = [scene.name for scene in bpy.data.scenes if own_data.TEMPORARY in scene]
        assert not left
        assert not [item.name for item in bpy.data.objects if clock.is_clock(item) and item.library is None]
        live._forget()
        for item, before in zip(rigs, without, strict=True):
            assert np.array_equal(poses(item, FRAMES), before)

    ended = 0

    def _check_fresh_process(self, seen: dict[str, np.ndarray]) -> None:
        """Now and then, in the same file as a new process opens it."""
        Shot.ended += 1
        if not IS_RANDOM or Shot.ended % FRESH or bpy.app.binary_path:
            return
        path = os.path.join(bpy.app.tempdir, "fresh.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
        found = fresh_process.poses(path, FRAMES)
        for name, before in seen.items():
            away = np.abs(found[name] - before).max()
            assert away < ALIKE, f"in a new process {name} is {away:.4g} off"


@cache
def library() -> str:
    """A file with a collection of a character that looks at a ball."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.frame_end = LAST
    cast = bpy.data.collections.new("Cast")
    bpy.context.scene.collection.children.link(cast)
    guest, cup = figure("Guest"), ball((-0.8, -2.0, 1.2), "Cup")
    for item in (guest, cup):
        bpy.context.scene.collection.objects.unlink(item)
        cast.objects.link(item)
    guest.location.x = -1.5
    animate(guest, (1, 9, 18), seed=7)
    scenes.aim(guest, cup)
    path = os.path.join(bpy.app.tempdir, "cast.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    return path


def _is_own(constraint: bpy.types.Constraint) -> bool:
    return own_data.is_own_constraint(constraint)


def _ancestors(item: bpy.types.Object) -> list[bpy.types.Object]:
    found = []
    while item.parent is not None:
        item = item.parent
        found.append(item)
    return found


OPTIONS = {"deadline": None, "suppress_health_check": list(HealthCheck)}


@pytest.mark.every_blender
def test_any_operations_end_in_the_pose_of_a_new_file(empty_file, capfd) -> None:
    run_state_machine_as_test(Shot, settings=settings(max_examples=5, stateful_step_count=12, **OPTIONS))
    assert not ours(capfd.readouterr().err)


@pytest.mark.slow
def test_many_operations_end_in_the_pose_of_a_new_file(empty_file, capfd) -> None:
    run_state_machine_as_test(Shot, settings=attack(16, stateful_step_count=100 if IS_RANDOM else 40, **OPTIONS))
    assert not ours(capfd.readouterr().err)
