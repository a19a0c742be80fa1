"""The lessons of the documents, on what Blender itself brings; the first one is a scenario in the window."""

import math

import bpy
import numpy as np
import pytest

from .rig import scenes

pytestmark = pytest.mark.usefixtures("empty_file")


@pytest.fixture(autouse=True)
def rigify():
    bpy.ops.preferences.addon_enable(module="rigify")
    yield
    bpy.ops.preferences.addon_disable(module="rigify")


def alone(*items: bpy.types.Object) -> None:
    bpy.ops.object.select_all(action="DESELECT")
    for item in items:
        item.select_set(True)
    bpy.context.view_layer.objects.active = items[-1]


def test_springs_on_a_tail() -> None:
    bpy.context.scene.frame_end = 80
    bpy.ops.object.armature_cat_metarig_add()
    cat = bpy.context.object
    for frame, place in ((1, 0.0), (20, 0.5)):
        cat.location.x = place
        cat.keyframe_insert("location", frame=frame)
    bpy.ops.object.mode_set(mode="POSE")
    tail = [bone.name for bone in cat.data.bones if "tail" in bone.name.lower()]
    scenes.select(cat, tail[0])
    cat.data.bones.active = cat.data.bones[tail[0]]
    assert bpy.ops.lookat_pd.add_springs() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    rest, *moving, last = (scenes.poses(cat, [frame], tail)[0] for frame in (1, *range(2, 30), 80))
    turned = max(np.abs(pose[:, :3, :3] - rest[:, :3, :3]).max() for pose in moving)
    assert turned > 0.05
    assert np.abs(last - rest)[:, :3, :3].max() < 0.2 * turned


@pytest.mark.thorough
def test_a_conversation() -> None:
    bpy.context.scene.frame_end = 120
    people = []
    for name, place, turn in (("Anna", 0.0, 0.0), ("Bo", -1.5, math.pi)):
        bpy.ops.object.armature_human_metarig_add()
        person = bpy.context.object
        person.name, person.location.y, person.rotation_euler.z = name, place, turn
        people.append(person)
    alone(*people)
    assert bpy.ops.lookat_pd.converse() == {"FINISHED"}
    before = [scenes.poses(person, [60]) for person in people]
    alone(*people)
    assert bpy.ops.lookat_pd.bake() == {"FINISHED"}
    actions = {person.animation_data.action for person in people}
    assert len(actions) == 2
    for person, pose in zip(people, before, strict=True):
        assert np.abs(scenes.poses(person, [60]) - pose).max() < 1e-3
