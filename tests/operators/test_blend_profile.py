"""The profile of the panel: rows are added, moved and removed, used by the buttons, saved and applied as presets."""

from pathlib import Path

import bpy
import pytest

from extension import load

from ..rig import scenes
from ..rig.transitions.motions import character, use, walk

profile_settings = load("rig.transitions.profile_settings")
profiles = load("lookat_pd.transitions.profiles")


@pytest.fixture
def settings():
    armature = character()
    walk(armature, "Walk", seed=2)
    use(armature, walk(armature, "Run", seed=1))
    return bpy.context.scene.lookat_pd_transition


def patterns(settings) -> list[str]:
    return [item.pattern for item in settings.profile_rows]


def test_rows(settings) -> None:
    assert not bpy.ops.lookat_pd.profile_row_remove.poll()
    bpy.context.view_layer.objects.active = bpy.data.objects["Hero"]
    bpy.ops.object.mode_set(mode="POSE")
    scenes.select(bpy.data.objects["Hero"], "neck", "head")
    bpy.ops.lookat_pd.profile_row_add()
    assert patterns(settings) == ["neck, head"] and settings.use_profile
    scenes.select(bpy.data.objects["Hero"])
    bpy.ops.lookat_pd.profile_row_add()
    assert patterns(settings) == ["neck, head", "*"] and settings.profile_index == 1
    bpy.ops.lookat_pd.profile_row_move(direction="UP")
    assert patterns(settings) == ["*", "neck, head"] and settings.profile_index == 0
    assert bpy.ops.lookat_pd.profile_row_move(direction="UP") == {"CANCELLED"}
    bpy.ops.lookat_pd.profile_row_remove()
    bpy.ops.lookat_pd.profile_row_remove()
    assert patterns(settings) == []


@pytest.mark.every_blender
def test_presets(settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "presets" / profile_settings.SUBFOLDER
    folder.mkdir(parents=True)
    resource, paths = bpy.utils.user_resource, bpy.utils.preset_paths
    monkeypatch.setattr(
        bpy.utils,
        "user_resource",
        lambda kind, path="", create=False: str(tmp_path / path) if "presets" in path else resource(kind, path=path),
    )
    monkeypatch.setattr(bpy.utils, "preset_paths", lambda name: [str(folder), *paths(name)])
    add = bpy.ops.lookat_pd.profile_preset_add
    with pytest.raises(RuntimeError, match="at least one row"):
        add(name="Mine")
    bpy.ops.lookat_pd.profile_preset(filepath=str(profile_settings.available()["Arms Later"]))
    shipped = profile_settings.rows(settings)
    assert len(shipped) == 2 and settings.use_profile
    settings.profile_rows[0].factor = 0.25
    with pytest.raises(RuntimeError, match="There is a profile 'Arms Later' already"):
        add(name="Arms Later")
    add(name="Mine")
    bpy.ops.lookat_pd.profile_preset(filepath=str(profile_settings.available()["Fingers Cut"]))
    bpy.ops.lookat_pd.profile_preset(filepath=str(profile_settings.available()["Mine"]))
    assert profile_settings.rows(settings)[0].factor == 0.25 and profile_settings.rows(settings)[1] == shipped[1]
    with pytest.raises(RuntimeError, match="cannot be removed"):
        add(name="Fingers Cut", remove_name=True)
    add(name="Mine", remove_name=True)
    assert "Mine" not in profile_settings.available()
    with pytest.raises(RuntimeError, match="There is no profile 'Mine'"):
        add(name="Mine", remove_name=True)


def test_operators_take_a_profile(settings) -> None:
    text = profiles.text_of([profiles.ProfileRow("BONES", "*", 0.0)])
    bpy.ops.lookat_pd.inertialize(destination="Walk", source_frame=21, profile=text, root="NONE", use_auto_blend=False)
    made, other = bpy.data.actions["Run > Walk"], bpy.data.actions["Walk"]
    curves = [action.layers[0].strips[0].channelbag(action.slots[0]).fcurves for action in (made, other)]
    path = 'pose.bones["head"].rotation_quaternion'
    at = [abs(found.find(path, index=1).evaluate(frame)) for found, frame in zip(curves, (21, 1), strict=True)]
    assert at[0] == pytest.approx(at[1], abs=1e-6)
    with pytest.raises(RuntimeError, match="Row 1 of the profile: A row must have exactly one"):
        bpy.ops.lookat_pd.smooth_pop(frame=21, profile="[{}]")
    with pytest.raises(RuntimeError, match="lets the source play on"):
        bpy.ops.lookat_pd.loop_action(profile='[{"bones": "*", "filter": "source"}]')
