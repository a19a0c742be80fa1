"""The operators of in-betweens with weight: what they report, when they refuse, presets, comparing."""

import bpy
import numpy as np
import pytest

from extension import load
from lookat_pd import rotation

from ..rig import scenes

actions = load("rig.animation.actions")
compare = load("rig.look_at.compare")
engine = load("lookat_pd.dynamics.engine")
operator = load("operators.interpolate_keys")
presets = load("rig.dynamics.presets")

pytestmark = pytest.mark.skipif(not engine.available(), reason="needs the physics engine")

BONES = (
    ("hips", None, (0, 0, 1.0), (0, 0, 1.2)),
    ("arm", "hips", (0.1, 0, 1.2), (0.4, -0.02, 1.2)),
    ("forearm", "arm", (0.4, -0.02, 1.2), (0.7, 0, 1.2)),
)
KEYS = (1, 10, 22)


@pytest.fixture
def hero() -> bpy.types.Object:
    """A character in pose mode with a keyed arm that is selected."""
    armature = scenes.figure(rows=BONES)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.context.scene.frame_end = 30
    for k, frame in enumerate(KEYS):
        for bone in ("arm", "forearm"):
            armature.pose.bones[bone].rotation_quaternion = rotation.exp((0.0, 0.3 * k, 0.8 * (k % 2)))
            armature.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame)
    scenes.select(armature, "arm", "forearm")
    return armature


@pytest.fixture
def reports(monkeypatch) -> list[str]:
    """What operators say."""
    found: list[str] = []
    reporting = load("operators.reporting")
    monkeypatch.setattr(reporting, "report_info", lambda operator, text: found.append(text))
    return found


def curves(armature: bpy.types.Object) -> dict[tuple[str, int], list[float]]:
    data = armature.animation_data
    bag = actions.channelbag(data.action, data.action_slot)
    return {(c.data_path, c.array_index): [c.evaluate(frame) for frame in range(1, 31)] for c in bag.fcurves}


@pytest.mark.every_blender
@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
def test_in_betweens_into(hero, into, reports) -> None:
    before = curves(hero)
    assert bpy.ops.lookat_pd.interpolate_keys(into=into) == {"FINISHED"}
    assert reports == [
        text for text in reports if "3 poses of 2 bones" in text and "passes through all of them" in text
    ]
    if into != "LAYER":
        after = curves(hero)
        assert before.keys() == after.keys() and before != after
        for path, values in after.items():
            assert [values[frame - 1] for frame in KEYS] == [before[path][frame - 1] for frame in KEYS]


@pytest.mark.parametrize("preset", presets.PRESETS.shipped())
def test_presets_all_give_a_motion(hero, preset) -> None:
    path = presets.PRESETS.available()[preset]
    assert presets.PRESETS.about(path)
    assert bpy.ops.lookat_pd.dynamics_preset(filepath=str(path)) == {"FINISHED"}
    assert bpy.ops.lookat_pd.interpolate_keys() == {"FINISHED"}
    assert all(np.isfinite(values).all() for values in curves(hero).values())


def motion() -> dict[str, object]:
    settings = bpy.context.scene.lookat_pd_dynamics
    return {name: getattr(settings, name) for name in presets.SETTINGS}


@pytest.fixture
def own_preset(hero):
    """A preset "Wet rope" that the user has saved; its file."""
    settings = bpy.context.scene.lookat_pd_dynamics
    settings.tension, settings.swing_past, settings.damping, settings.weight = 6.5, 0.2, 0.7, 0.45
    settings.between, settings.keys, settings.duration = "TORQUE_CHANGE", "ALL", 2.5
    assert bpy.ops.lookat_pd.dynamics_preset_add(name="Wet rope") == {"FINISHED"}
    path = presets.PRESETS.available()["Wet rope"]
    yield path
    path.unlink(missing_ok=True)


def test_a_saved_preset_is_applied_and_removed(own_preset) -> None:
    """It has all settings of the motion, neither the choice of keys nor the duration of a reach."""
    settings, saved = bpy.context.scene.lookat_pd_dynamics, motion()
    presets.apply("Puppet", bpy.context.scene)
    settings.keys, settings.duration = "SELECTED", 1.0
    assert motion() != saved and settings.between == "MASS"
    assert bpy.ops.lookat_pd.dynamics_preset(filepath=str(own_preset)) == {"FINISHED"}
    assert motion() == saved and (settings.keys, settings.duration) == ("SELECTED", 1.0)
    assert bpy.ops.lookat_pd.dynamics_preset_add(name="Wet rope", remove_name=True) == {"FINISHED"}
    assert "Wet rope" not in presets.PRESETS.available() and not own_preset.exists()


def test_all_presets_show_mass_but_the_published_one(hero) -> None:
    methods = {}
    for name in presets.PRESETS.shipped():
        presets.apply(name, bpy.context.scene)
        methods[name] = bpy.context.scene.lookat_pd_dynamics.between
    assert methods.pop("As Published") == "TENSION" and set(methods.values()) == {"MASS"}


def test_shipped_presets_cannot_be_removed(hero) -> None:
    with pytest.raises(RuntimeError, match="cannot be removed"):
        bpy.ops.lookat_pd.dynamics_preset_add(name="Human Arm", remove_name=True)
    assert "Human Arm" in presets.PRESETS.available()


def test_a_preset_with_an_invalid_value_changes_nothing(hero, tmp_path) -> None:
    before, path = motion(), tmp_path / "Broken.py"
    path.write_text("dynamics.tension = 9.0\ndynamics.limit = 'SOME'\n")
    with pytest.raises(RuntimeError, match="'limit'"):
        bpy.ops.lookat_pd.dynamics_preset(filepath=str(path))
    assert motion() == before


def test_what_is_missed_is_reported_with_frame_and_bone(hero, reports) -> None:
    bpy.context.scene.lookat_pd_dynamics.limit = "TORQUE"
    bpy.context.scene.lookat_pd_dynamics.torque = 0.5
    assert bpy.ops.lookat_pd.interpolate_keys() == {"FINISHED"}
    assert (
        "torque limits miss" in reports[0]
        and ("'arm'" in reports[0] or "'forearm'" in reports[0])
        and "°" in reports[0]
    )


def test_result_and_original_are_compared(hero) -> None:
    assert not bpy.ops.lookat_pd.dynamics_compare.poll()
    source = hero.animation_data.action
    before = curves(hero)
    bpy.ops.lookat_pd.interpolate_keys()
    after = curves(hero)
    assert bpy.ops.lookat_pd.dynamics_compare() == {"FINISHED"}
    assert hero.animation_data.action == source and curves(hero) == before
    bpy.ops.lookat_pd.dynamics_compare()
    assert curves(hero) == after


def test_the_original_is_a_ghost_until_it_is_deleted(hero) -> None:
    bpy.context.scene.frame_set(16)
    bpy.context.view_layer.update()
    where = {name: np.array(hero.pose.bones[name].tail) for name in ("arm", "forearm")}
    source = hero.animation_data.action
    assert not bpy.ops.lookat_pd.compare.poll()
    bpy.ops.lookat_pd.interpolate_keys()
    assert bpy.ops.lookat_pd.compare() == {"FINISHED"}
    ghost = compare.ghost(hero)
    tips = dict(zip(ghost.bones, ghost.tips(16.0), strict=True))
    bpy.context.scene.frame_set(16)
    for name, place in where.items():
        np.testing.assert_allclose(tips[name], place, atol=1e-5)
        assert np.linalg.norm(place - hero.pose.bones[name].tail) > 1e-3
    bpy.ops.lookat_pd.dynamics_compare()
    assert compare.ghost(hero) is None
    bpy.ops.lookat_pd.dynamics_compare()
    assert compare.ghost(hero) is not None
    bpy.data.actions.remove(source)
    assert compare.ghost(hero) is None


def test_the_range_counts(hero) -> None:
    assert bpy.ops.lookat_pd.interpolate_keys(use_scene_range=False, frame_start=1, frame_end=10) == {"FINISHED"}
    with pytest.raises(RuntimeError, match="only one key"):
        bpy.ops.lookat_pd.interpolate_keys(use_scene_range=False, frame_start=20, frame_end=30)


def test_why_it_is_disabled(hero, monkeypatch) -> None:
    assert operator.why_not(bpy.context) is None
    scenes.select(hero)
    assert "Select the bones" in operator.why_not(bpy.context)
    scenes.select(hero, "arm")
    monkeypatch.setattr(engine, "reason", lambda: "The physics engine MuJoCo is not installed.")
    assert operator.why_not(bpy.context) is None
    settings = bpy.context.scene.lookat_pd_dynamics
    settings.method, settings.limit = "SMOOTHING", "STRENGTH"
    assert not bpy.ops.lookat_pd.interpolate_keys.poll() and not bpy.ops.lookat_pd.reach.poll()
    assert "MuJoCo" in operator.why_not(bpy.context)


def test_an_error_changes_nothing(hero) -> None:
    hero.pose.bones["arm"].lock_rotation = (True, True, True)
    before, count = curves(hero), len(bpy.data.actions)
    with pytest.raises(RuntimeError, match="is locked"):
        bpy.ops.lookat_pd.interpolate_keys()
    assert curves(hero) == before and len(bpy.data.actions) == count


def test_meshes_are_measured(hero, reports) -> None:
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.mesh.primitive_cube_add(size=0.1, location=(0.5, 0.0, 1.2))
    box = bpy.context.object
    box.vertex_groups.new(name="forearm").add(range(8), 1.0, "REPLACE")
    box.modifiers.new("Armature", "ARMATURE").object = hero
    bpy.context.view_layer.objects.active = hero
    assert bpy.ops.lookat_pd.measure_masses() == {"FINISHED"}
    assert reports == ["Total mass: 1.0 kg, number of bones: 1."]
