"""Lock Feet where there is no join: smoothed pops, of keys and of the visual pose, and transitions between strips."""

import bpy
import numpy as np
import pytest

from extension import load
from lookat_pd import rotation

from .. import scenes
from ..feet import walking
from .motions import make_visual_again, use

actions = load("rig.animation.actions")
visual_offsets = load("rig.transitions.visual.visual_offsets")
bake_options = load("rig.animation.bake_options")
foot_bones = load("rig.feet.foot_bones")
foot_locking = load("rig.feet.foot_locking")
sampler = load("rig.sampling.sampler")
POP = 41
JUMP = (0.05, 0.0, 0.0)
"""[m] by which the person is displaced from frame POP on."""


@pytest.fixture
def walker():
    """A person whose walk jumps aside at a frame."""
    armature = walking.person()
    action = walking.walk(armature, "Walk")
    slot = actions.find_slot(armature, action)
    path = 'pose.bones["hips"].location'
    aside = np.array(armature.data.bones["hips"].matrix_local.to_3x3()).T @ JUMP
    for n, curve in enumerate(actions.curves_at(action, slot, path, 3)):
        value = curve.evaluate(POP - 1)
        curve.keyframe_points.insert(POP - 1, value).interpolation = "CONSTANT"
        for point in curve.keyframe_points:
            if point.co.x >= POP:
                point.co.y += aside[n]
        curve.update()
    use(armature, action)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, walking.LAST
    bpy.context.view_layer.objects.active = armature
    armature.select_set(True)
    return armature


def evaluated(armature):
    """Places (F, 2, 3) of the balls of the feet as the armature plays, and the samples."""
    found = foot_bones.find(armature)
    with sampler.Sampler(bpy.context.scene, armature, found.sampled) as made:
        samples = sampler.run(made.sample(list(range(1, walking.LAST + 1))))
    return np.stack([foot.touch(samples)[:, 0] for foot in found.feet], axis=1), samples


def planted(places) -> list[tuple[int, int, int]]:
    """Which foot is at rest from which row to which across the pop, from the places as animated."""
    found = []
    for foot in range(2):
        rest = np.linalg.norm(np.diff(places[:, foot], axis=0), axis=-1) < 0.004
        rest[POP - 2] = rest[POP - 3]
        rows = [row for row in range(POP - 2, walking.LAST - 1) if not rest[row]]
        if rest[POP - 2] and rest[POP - 1]:
            found.append((foot, POP - 2, rows[0] if rows else walking.LAST - 1))
    assert found
    return found


def check(before, free, locked) -> None:
    """Planted feet slide through the blend when free, and stay when locked; what is around does not change."""
    slide = {}
    for name, places in (("free", free), ("locked", locked)):
        slide[name] = max(walking.drift(places[:, foot], [(a, b - 1)]) for foot, a, b in planted(before))
    assert slide["free"] > 0.04
    assert slide["locked"] < 0.002
    np.testing.assert_allclose(locked[: POP - 1], before[: POP - 1], atol=1e-5)
    np.testing.assert_allclose(locked[-1], before[-1], atol=1e-3)


@pytest.mark.thorough
@pytest.mark.parametrize("into", ["CURRENT", "NEW"])
@pytest.mark.parametrize("where", ["FRAME", "ALL"])
def test_feet_stay_where_a_pop_is_smoothed(walker, where, into) -> None:
    before, _ = evaluated(walker)
    keys = walker.animation_data.action
    options = {"frame": POP, "where": where, "use_auto_blend": False, "blend": 0.3}
    bpy.ops.lookat_pd.smooth_pop(**options, into="NEW", lock_feet=False)
    free, calm = evaluated(walker)
    bpy.data.actions.remove(walker.animation_data.action)
    use(walker, keys)
    count = len(bpy.data.actions)
    bpy.ops.lookat_pd.smooth_pop(**options, into=into, lock_feet=True)
    assert len(bpy.data.actions) == count + (into == "NEW")
    assert (walker.animation_data.action == keys) == (into == "CURRENT")
    locked, now = evaluated(walker)
    check(before, free, locked)
    hips = calm.bones.index("hips")
    push = [np.linalg.norm(np.diff(s.positions[:, hips], 2, axis=0), axis=-1).max() for s in (calm, now)]
    assert push[1] < 1.2 * push[0]


def test_legs_get_no_keys_for_a_pop_that_does_not_move_them(walker) -> None:
    """Though they slide, as the hips sway."""
    action = walker.animation_data.action
    leaps, sways = ((1, 0.0), (19, 0.05), (20, 0.8), (60, 0.85)), [(at, 0.05 * np.sin(at / 3.0)) for at in range(1, 61)]
    for name, keys in (("chest", leaps), ("hips", sways)):
        bone = walker.pose.bones[name]
        for frame, angle in keys:
            bone.rotation_quaternion = rotation.exp((angle, 0.0, 0.0))
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    before = scenes.curves(action)
    bpy.ops.lookat_pd.smooth_pop(frame=20, use_auto_blend=False, blend=0.3, lock_feet=True)
    changed = scenes.differences(before, scenes.curves(action))
    assert changed and all("chest" in str(what) for what in changed), changed


@pytest.mark.thorough
def test_feet_stay_where_a_pop_is_smoothed_in_the_visual_pose(walker) -> None:
    before, _ = evaluated(walker)
    keys = scenes.curves(walker.animation_data.action)
    options = {"frame": POP, "pose_source": "VISUAL", "use_auto_blend": False, "blend": 0.3}
    bpy.ops.lookat_pd.smooth_pop(**options, lock_feet=False)
    free, _ = evaluated(walker)
    visual_offsets.remove(walker)
    bpy.ops.lookat_pd.smooth_pop(**options, lock_feet=True)
    assert not scenes.differences(keys, scenes.curves(walker.animation_data.action))
    locked, _ = evaluated(walker)
    check(before, free, locked)
    made = len(visual_offsets.of(walker))
    assert made == 2
    make_visual_again(walker)
    assert len(visual_offsets.of(walker)) == made
    np.testing.assert_allclose(evaluated(walker)[0], locked, atol=1e-4)


@pytest.mark.parametrize("source", ["KEYS", "VISUAL"])
def test_feet_stay_between_strips(walker, source) -> None:
    action = walker.animation_data.action
    use(walker, None)
    chosen = []
    for name, start, end in (("before", 1, POP), ("after", POP, walking.LAST)):
        track = walker.animation_data.nla_tracks.new()
        strip = track.strips.new(name, start, action)
        strip.action_slot = actions.find_slot(walker, action)
        strip.action_frame_start, strip.action_frame_end = start, end
        strip.frame_start_raw, strip.frame_end_raw = start, end
        strip.extrapolation = "HOLD_FORWARD"
        strip.select = True
        chosen.append(strip)
    before, _ = evaluated(walker)
    count = len(walker.animation_data.nla_tracks)
    options = {"pose_source": source, "use_auto_blend": False, "blend": 0.3}

    def joined(lock_feet: bool):
        for track in walker.animation_data.nla_tracks:
            for strip in track.strips:
                strip.select = strip in chosen
        bpy.ops.lookat_pd.strip_transition(**options, lock_feet=lock_feet)
        return evaluated(walker)[0]

    free = joined(False)
    visual_offsets.remove(walker)
    for track in list(walker.animation_data.nla_tracks)[count:]:
        walker.animation_data.nla_tracks.remove(track)
    check(before, free, joined(True))
    assert len(walker.animation_data.nla_tracks) == count + (2 if source == "KEYS" else 0)


def test_a_rig_without_feet_is_smoothed_without_them() -> None:
    armature = scenes.figure(rows=scenes.FIGURE[:6])
    scenes.animate(armature, bones=("spine", "head"))
    bpy.context.view_layer.objects.active = armature
    armature.select_set(True)
    keys = armature.animation_data.action
    found = []
    for lock_feet in (False, True):
        use(armature, keys)
        bpy.ops.lookat_pd.smooth_pop(frame=10, into="NEW", lock_feet=lock_feet)
        found.append(scenes.curves(armature.animation_data.action))
    assert not scenes.differences(*found)


def test_legs_that_are_not_selected_do_not_change(walker) -> None:
    keys = walker.animation_data.action
    scenes.select(walker, "hips")
    found = []
    for lock_feet in (False, True):
        use(walker, keys)
        bpy.ops.lookat_pd.smooth_pop(frame=POP, into="NEW", only_selected=True, lock_feet=lock_feet)
        found.append(scenes.curves(walker.animation_data.action))
    assert not scenes.differences(*found)


def test_panel_and_scripts_lock_feet() -> None:
    assert bpy.context.scene.lookat_pd_transition.lock_feet
    assert bpy.ops.lookat_pd.inertialize.get_rna_type().properties["lock_feet"].default
