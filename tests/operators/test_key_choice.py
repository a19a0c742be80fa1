"""Which keys are written is a choice of every operator that bakes or joins, and of the command line; what it became is
said, and undone with the bake."""

from pathlib import Path

import bpy
import numpy as np
import pytest

from extension import load

from ..rig import scenes

actions = load("rig.animation.actions")
edit_live = load("rig.look_at.edit_live")
key_settings = load("rig.animation.key_settings")
key_writer = load("rig.animation.key_writer")
saved_settings = load("rig.transitions.saved_settings")

KEPT = ("inertialize", "chain_actions", "join_path", "loop_action", "smooth_pop", "strip_transition")
KEPT += ("in_place", "travelling", "follow_path")


def operators() -> dict[str, type]:
    package = load("operators")
    modules = [item for item in vars(package).values() if getattr(item, "__name__", "").startswith(package.__name__)]
    kinds = {kind for module in modules for kind in load("operators.guarding").operators(module)}
    return {kind.bl_idname.partition(".")[2]: kind for kind in kinds}


def test_every_operator_with_a_destination_has_the_choice() -> None:
    assert len(operators()) > 40
    for name in operators():
        properties = getattr(bpy.ops.lookat_pd, name).get_rna_type().properties
        if name in KEPT:
            assert properties["key_mode"].default == key_writer.KEEP
        elif "into" in properties:
            assert properties["key_mode"].default == key_writer.EVERY_FRAME, name
        if "key_mode" in properties:
            assert all(setting in properties for setting in key_settings.NAMES)


def test_scenes_of_earlier_files_keep_a_key_at_every_frame(tmp_path: Path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    settings = bpy.context.scene.lookat_pd_transition
    assert settings.key_mode == key_writer.KEEP
    settings.version = 1
    saved_settings._keep_as_saved()
    assert settings.key_mode == key_writer.EVERY_FRAME


@pytest.fixture
def hero() -> bpy.types.Object:
    """A character with a sparse clip that looks at a ball, in pose mode."""
    armature = scenes.figure()
    scenes.animate(armature)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.context.scene.frame_end = 60
    load("rig.look_at.edit").add(bpy.context.scene, armature, "head", scenes.ball((0.8, -2.0, 1.9)))
    return armature


def keyed(armature: bpy.types.Object) -> int:
    data = armature.animation_data
    return sum(len(curve.keyframe_points) for curve in actions.curves(data.action, data.action_slot))


@pytest.mark.every_blender
@pytest.mark.parametrize("mode", ["KEEP", "FITTED"])
def test_a_bake_says_its_keys_and_becomes_live_and_baked_again(hero, mode, capfd) -> None:
    """The same keys each time, and the animation as it was in between."""
    source, before = hero.animation_data.action, keyed(hero)
    counts = []
    for _ in range(2):
        assert bpy.ops.lookat_pd.bake(key_mode=mode) == {"FINISHED"}
        said = capfd.readouterr().out
        counts.append(keyed(hero))
        # A look-at that turns at all frames leaves no keys to keep.
        assert all((words in said) is (mode == "FITTED") for words in ("keys instead of", "largest error"))
        assert hero.animation_data.action != source
        assert bpy.ops.lookat_pd.edit_live() == {"FINISHED"}
        assert hero.animation_data.action == source and keyed(hero) == before
    assert counts[0] == counts[1]


def test_fitted_keys_look_where_a_key_at_every_frame_looks(hero) -> None:
    seen = {}
    for mode in ("EVERY_FRAME", "FITTED"):
        bpy.ops.lookat_pd.bake(key_mode=mode, fit_angle=0.005)
        seen[mode] = scenes.poses(hero, range(1, 61), ["head"])
        bpy.ops.lookat_pd.edit_live()
    # As many radians for each bone from the hips to the head, over less than a meter.
    np.testing.assert_allclose(seen["FITTED"], seen["EVERY_FRAME"], atol=5 * 0.005)
