"""Bones in sight, and what is selected: hidden bones stay selected, as Rigify leaves them, and nobody means them."""

import bpy
import pytest

from extension import load

from .. import scenes

shown_bones = load("rig.sampling.shown_bones")
selection = load("operators.selection")
pytestmark = pytest.mark.every_blender


def selected() -> list[str]:
    return [bone.name for bone in selection.selected_bones(bpy.context)]


def test_hidden_bones_are_not_in_sight_and_not_meant() -> None:
    armature = scenes.figure()
    bpy.ops.object.mode_set(mode="POSE")
    bones = armature.pose.bones
    names = [bone.name for bone in bones][:3]
    scenes.select(armature, *names)
    assert selected() == names
    shown_bones.owner_of_hide(bones[names[0]]).hide = True
    kept, other = (armature.data.collections.new(name) for name in ("Kept", "Other"))
    for name in names[1:]:
        kept.assign(armature.data.bones[name])
    kept.is_visible = False
    other.assign(armature.data.bones[names[2]])
    assert [shown_bones.is_shown(bones[name]) for name in names] == [False, False, True]
    assert selected() == [names[2]] == [bone.name for bone in selection.posed_bones(bpy.context)]
    other.is_visible = False
    assert not selected()


def test_springs_are_added_to_no_hidden_bone() -> None:
    """A hidden collection of selected bones is as if nothing were selected: what is found by name is taken."""
    armature = scenes.figure(rows=(*scenes.FIGURE, ("tail", scenes.FIGURE[0][0], (0, 0.2, 1), (0, 0.6, 1))))
    bpy.ops.object.mode_set(mode="POSE")
    scenes.select(armature, *(row[0] for row in scenes.FIGURE))
    hidden = armature.data.collections.new("Hidden")
    for row in scenes.FIGURE:
        hidden.assign(armature.data.bones[row[0]])
    hidden.is_visible = False
    bpy.ops.lookat_pd.add_springs()
    assert {bone for chain in load("rig.springs.chains").on(armature) for bone in chain.bones} == {"tail"}
