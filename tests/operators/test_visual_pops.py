"""The operators for pops of the visual pose, as a script would call them and as an animator's undo sees them."""

import bpy
import pytest

from extension import load

from ..rig.transitions.motions import walk
from ..rig.transitions.test_visual import POP, held, layered

visual_offsets = load("rig.transitions.visual.visual_offsets")


def shown_by(armature: bpy.types.Object) -> None:
    bpy.context.view_layer.objects.active = armature
    bpy.context.scene.frame_end = 41


@pytest.mark.every_blender
def test_pops_are_listed_and_smoothed() -> None:
    armature = held()
    shown_by(armature)
    assert bpy.ops.lookat_pd.find_visual_pops() == {"FINISHED"}
    settings = bpy.context.scene.lookat_pd_transition
    (item,) = settings.visual_pops
    assert (item.frame, item.bone) == (POP, "upper_arm.L") and item.turn > 0.3 and "Child Of" in item.cause
    settings.visual_pop_index = 0
    assert bpy.context.scene.frame_current == POP
    assert bpy.ops.lookat_pd.smooth_pop(pose_source="VISUAL") == {"FINISHED"}
    assert bpy.ops.lookat_pd.find_visual_pops() == {"FINISHED"} and not settings.visual_pops
    (action,) = visual_offsets.of(armature)
    assert visual_offsets.note_of(action)["frame"] == POP
    with pytest.raises(RuntimeError, match="no visual transition at frame 3"):
        bpy.ops.lookat_pd.remove_visual_transitions(frame=3)
    assert bpy.ops.lookat_pd.remove_visual_transitions(frame=POP) == {"FINISHED"} and not visual_offsets.of(armature)
    with pytest.raises(RuntimeError, match="The visual pose of no bone of 'Hero' jumps at frame 30"):
        bpy.ops.lookat_pd.smooth_pop(pose_source="VISUAL", frame=30)


def test_without_an_action_what_is_seen_can_be_smoothed() -> None:
    armature = layered()
    shown_by(armature)
    with pytest.raises(RuntimeError, match="no action"):
        bpy.ops.lookat_pd.smooth_pop()
    assert bpy.ops.lookat_pd.smooth_pop(pose_source="VISUAL", where="ALL") == {"FINISHED"}
    assert len(visual_offsets.of(armature)) == 1


def test_transitions_are_written_as_keys_in_one_undo_step() -> None:
    armature = held()
    shown_by(armature)
    with pytest.raises(RuntimeError, match="Smooth a pop of the visual pose first"):
        bpy.ops.lookat_pd.key_visual_transitions(into="LAYER")
    assert bpy.ops.lookat_pd.smooth_pop(pose_source="VISUAL", frame=POP) == {"FINISHED"}
    bpy.context.preferences.edit.use_global_undo = True
    bpy.ops.ed.undo_push(message="Smooth")
    bpy.ops.lookat_pd.key_visual_transitions("EXEC_DEFAULT", into="LAYER")
    bpy.ops.ed.undo_push(message="Key")
    hero = bpy.data.objects["Hero"]
    assert not visual_offsets.of(hero) and len(hero.animation_data.nla_tracks) == 2
    bpy.ops.ed.undo()
    hero = bpy.data.objects["Hero"]
    assert len(visual_offsets.of(hero)) == 1 and not hero.animation_data.nla_tracks


@pytest.mark.every_blender
def test_strips_visual() -> None:
    armature = layered()
    shown_by(armature)
    for track in armature.animation_data.nla_tracks:
        for strip in track.strips:
            strip.select = True
    tracks = len(armature.animation_data.nla_tracks)
    assert bpy.ops.lookat_pd.strip_transition(pose_source="VISUAL") == {"FINISHED"}
    assert len(armature.animation_data.nla_tracks) == tracks and len(visual_offsets.of(armature)) == 1


def test_joined_visual_in_one_undo_step() -> None:
    armature = held()
    shown_by(armature)
    source = armature.animation_data.action
    walk(armature, "Run", seed=2, size=0.15)
    armature.animation_data.action, armature.animation_data.action_slot = source, source.slots[0]
    bpy.context.preferences.edit.use_global_undo = True
    bpy.ops.ed.undo_push(message="Before")
    bpy.ops.lookat_pd.inertialize("EXEC_DEFAULT", destination="Run", source_frame=POP, pose_source="VISUAL")
    bpy.ops.ed.undo_push(message="Join")
    assert len(visual_offsets.of(bpy.data.objects["Hero"])) == 1
    bpy.ops.ed.undo()
    assert not visual_offsets.of(bpy.data.objects["Hero"])
    assert bpy.data.objects["Hero"].animation_data.action.name == "Walk"
