"""What somebody new meets: the example, buttons that select a character, and the camera as a target."""

import bpy
import pytest

from extension import load

from ..rig import scenes

live = load("rig.layers.live")
preferences = load("operators.preferences")
layers = load("rig.look_at.body.layers")


def settings(armature: bpy.types.Object, bone: str = "head"):
    return armature.pose.bones[bone].lookat_pd


def camera(place=(0.4, -3.0, 1.6)) -> bpy.types.Object:
    item = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    item.location = place
    bpy.context.scene.collection.objects.link(item)
    bpy.context.scene.camera = item
    return item


@pytest.mark.every_blender
def test_the_example_is_live_and_asks_nothing() -> None:
    own = bpy.context.scene
    scenes.ball()
    assert bpy.ops.lookat_pd.open_example() == {"FINISHED"}
    assert own in list(bpy.data.scenes) and list(own.objects) == [bpy.data.objects["Ball"]]
    scene = next(one for one in bpy.data.scenes if one != own)
    assert not [text.name for text in bpy.data.texts if text.use_module], "opening the file would ask for trust"
    rig = next(item for item in scene.objects if item.type == "ARMATURE")
    shown = settings(rig)
    assert shown.exists and not shown.mute
    assert layers.extent(shown) == "ALL"
    live.finish(scene)
    assert live.status(scene, rig, "head").state == "SOLVED"
    assert scene.camera is not None
    assert scene.view_layers[0].objects.active == rig


def test_without_rigify_the_example_says_so(monkeypatch) -> None:
    monkeypatch.setattr(load("operators.open_example"), "_has_rigify", lambda: False)
    scenes_before = len(bpy.data.scenes)
    with pytest.raises(RuntimeError, match="needs the add-on Rigify"):
        bpy.ops.lookat_pd.open_example()
    assert len(bpy.data.scenes) == scenes_before


@pytest.mark.thorough
def test_a_slider_of_the_example_does_something() -> None:
    bpy.ops.lookat_pd.open_example()
    scene = bpy.context.scene
    rig = bpy.context.view_layer.objects.active
    scene.frame_set(100)
    live.finish(scene)

    def head():
        return rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["head"].matrix.copy()

    before = head()
    settings(rig).settle_time = 1.5
    live.finish(scene)
    assert (
        max(abs(a - b) for one, other in zip(before, head(), strict=True) for a, b in zip(one, other, strict=True))
        > 0.05
    )


def test_look_at_the_camera_in_one_click() -> None:
    armature, lens = scenes.figure(), camera()
    assert bpy.ops.lookat_pd.look_at_camera() == {"FINISHED"}
    assert settings(armature).target == lens
    assert bpy.context.object == armature and armature.data.bones.active.name == "head"


def test_the_camera_joins_the_targets_of_a_look_at() -> None:
    armature, ball = scenes.figure(), scenes.ball()
    bpy.ops.lookat_pd.add(target=ball.name)
    lens = camera()
    assert bpy.ops.lookat_pd.look_at_camera() == {"FINISHED"}
    assert settings(armature).target == ball
    assert [target.object for target in settings(armature).targets] == [lens]
    assert settings(armature).active_target == 1
    assert bpy.ops.lookat_pd.look_at_camera() == {"FINISHED"}
    assert len(settings(armature).targets) == 1, "the same camera is one target"


def test_without_a_camera_it_says_so() -> None:
    scenes.figure()
    with pytest.raises(RuntimeError, match="no camera"):
        bpy.ops.lookat_pd.look_at_camera()


def test_an_armature_is_selected_by_its_button() -> None:
    small, large = scenes.figure("Small", scenes.FIGURE[:2]), scenes.figure("Large")
    ball = scenes.ball()
    bpy.context.view_layer.objects.active = ball
    assert bpy.ops.lookat_pd.select_armature() == {"FINISHED"}
    assert bpy.context.view_layer.objects.active == large
    assert bpy.ops.lookat_pd.select_armature(armature="Small") == {"FINISHED"}
    assert bpy.context.view_layer.objects.active == small
    assert [item for item in bpy.context.view_layer.objects if item.select_get()] == [small]
    with pytest.raises(RuntimeError, match="'Ball' is not a visible armature"):
        bpy.ops.lookat_pd.select_armature(armature="Ball")


def test_with_no_armature_in_view_it_says_so() -> None:
    scenes.figure().hide_set(True)
    with pytest.raises(RuntimeError, match="No armature is visible"):
        bpy.ops.lookat_pd.select_armature()


@pytest.fixture
def preferred():
    """The preferences, with their defaults afterwards."""
    chosen = preferences.current()
    yield chosen
    for name in chosen.bl_rna.properties.keys():
        if name not in ("rna_type", "name", "bl_idname"):
            chosen.property_unset(name)


def test_a_new_look_at_has_what_is_preferred(preferred) -> None:
    name, path = next(iter(load("rig.look_at.presets").available().items()))
    preferred.new_preset, preferred.new_whole_body = name, True
    armature = scenes.figure()
    bpy.ops.lookat_pd.add(target=scenes.ball().name)
    for setting, value in load("rig.look_at.presets").read(path).items():
        assert settings(armature).path_resolve(setting) == pytest.approx(value), setting
    assert layers.enabled(settings(armature))


def test_the_preferences_show_all_that_they_have(preferred) -> None:
    class Shown:
        """A layout that notes which properties it is given."""

        def __init__(self, names: set[str]) -> None:
            self.names = names

        def __getattr__(self, name: str):
            return lambda *_, **__: Shown(self.names)

        def prop(self, owner, name: str, **_: object) -> None:
            assert name in owner.bl_rna.properties
            self.names.add(name)

    layout = Shown(set())
    preferences.LOOKAT_PD_Preferences.draw(Drawn(preferred, layout), bpy.context)
    assert layout.names == set(preferred.bl_rna.properties.keys()) - {"rna_type", "name", "bl_idname"}


class Drawn:
    """The preferences with a layout of our own."""

    def __init__(self, chosen, layout) -> None:
        self.chosen, self.layout, self.bl_rna = chosen, layout, chosen.bl_rna

    def __getattr__(self, name: str):
        return getattr(self.chosen, name)


def test_panels_are_switched_off(preferred) -> None:
    scenes.figure()
    kinds = {name: getattr(bpy.types, f"LOOKAT_PD_PT_{name}") for name in ("springs", "pd_follow", "transitions", "ik")}
    for name, kind in kinds.items():
        assert kind.poll(bpy.context)
        setattr(preferred, f"show_{name}", False)
        assert not kind.poll(bpy.context)


def test_colors_are_those_of_the_theme_until_they_are_chosen(preferred) -> None:
    theme = bpy.context.preferences.themes[0].view_3d.bone_pose
    assert preferences.color("reach", theme) == theme
    preferred.use_own_colors, preferred.color_reach = True, (1.0, 0.0, 0.0)
    assert tuple(preferences.color("reach", theme)) == (1.0, 0.0, 0.0)
