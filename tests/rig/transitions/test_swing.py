"""Joins keep the swing of what moves: by default no joint reverses within a frame."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from .motions import BODY, character, use

actions, join, splice = load("rig.animation.actions"), load("rig.transitions.join"), load("rig.transitions.splice")
visual_join, rotation = load("rig.transitions.visual.visual_join"), load("lookat_pd.rotation")
saved_settings, drain = load("rig.transitions.saved_settings"), load("lookat_pd.progress").drain

LAST, CUT, ENTER, FPS = 61, 31, 21, 30
MOST = 3.0
"""The velocity step of the worst joint, as a factor of the largest one that the clips have themselves."""


def swinging(armature: bpy.types.Object, name: str, bones, axis, *, size: float, period: float, phase: float, still):
    """A clip in which some bones swing about an axis, keyed at each frame; `still` is where the others stand."""
    use(armature, None)
    action, slot = actions.new_action(name, armature)
    use(armature, action, slot)
    for frame in range(1, LAST + 1):
        angle = size * np.sin(2.0 * np.pi * (frame - phase) / (period * FPS))
        for bone in BODY:
            angles = angle * np.asarray(axis) if bone in bones else np.full(3, still)
            bone = armature.pose.bones[bone]
            bone.keyframe_insert(scenes.set_rotation(bone, angles), frame=frame)
    return action


def steps(armature: bpy.types.Object, action: bpy.types.Action, frames: range) -> np.ndarray:
    """By how much the velocity [deg/s] of each joint changes from frame to frame (F - 2, B)."""
    use(armature, action)
    seen = scenes.poses(armature, frames)[:, :, :3, :3]
    seen = seen / np.linalg.norm(seen, axis=-2, keepdims=True)
    bones = [bone.name for bone in armature.pose.bones]
    parents = [bones.index(bone.parent.name) if bone.parent else None for bone in armature.pose.bones]
    local = [seen[:, n] if p is None else np.swapaxes(seen[:, p], 1, 2) @ seen[:, n] for n, p in enumerate(parents)]
    turns = rotation.from_matrix(np.stack(local, axis=1))
    velocity = rotation.log(rotation.multiply(turns[1:], rotation.inverse(turns[:-1]))) * FPS
    return np.degrees(np.linalg.norm(np.diff(velocity, axis=0), axis=-1))


def swing(seed: int):
    """An arm that is fastest, and moves away from the destination, at the cut; its clips."""
    random = np.random.default_rng(seed)
    armature = character(("QUATERNION", "XYZ"))
    bpy.context.scene.render.fps = FPS
    axis = random.normal(size=3)
    axis /= np.linalg.norm(axis)
    bones = [("upper_arm.L",), ("upper_arm.R", "thigh.R"), ("head",)][seed % 3]
    move = {"size": random.uniform(0.6, 1.0), "period": random.uniform(0.8, 1.2)}
    source = swinging(armature, "Swing", bones, axis, **move, phase=CUT - 2, still=0.0)
    after = swinging(
        armature, "Rest", bones, axis, size=0.1, period=2.0, phase=random.uniform(0, 20), still=random.uniform(0, 0.1)
    )
    return armature, source, after


def own(armature: bpy.types.Object, *clips: bpy.types.Action) -> float:
    return max(steps(armature, clip, range(1, LAST + 1)).max() for clip in clips)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("source", ["KEYS", "VISUAL"])
def test_no_joint_reverses_within_a_frame(seed, source) -> None:
    armature, a, b = swing(seed)
    largest = own(armature, a, b)
    refs = join.ClipRef(a, CUT), join.ClipRef(b, ENTER)
    use(armature, a)
    if source == "KEYS":
        made = join.join(armature, *refs, root="NONE")
    else:
        make = lambda how: join.joining(armature, *refs, how, root="NONE")  # noqa: E731
        made = drain(visual_join.joined(bpy.context.scene, armature, make, splice.AUTOMATIC))
    assert steps(armature, made.action, range(CUT - 5, made.last)).max() <= MOST * largest


@pytest.mark.parametrize("seed", range(3))
def test_the_published_form_discards_it_and_is_there_by_name(seed) -> None:
    armature, a, b = swing(seed)
    refs = join.ClipRef(a, CUT), join.ClipRef(b, ENTER)
    made = join.join(armature, *refs, splice.Blend(method="INERTIAL"), root="NONE")
    assert made.methods == ("inertial",)
    assert steps(armature, made.action, range(CUT - 5, made.last)).max() > MOST * own(armature, a, b)


def test_panel_scripts_and_command_line_have_one_default() -> None:
    default = load("lookat_pd.transitions.methods").default().identifier
    owners = [load("rig.transitions.settings").TransitionSettings.bl_rna]
    for name in ("inertialize", "smooth_pop", "chain_actions", "strip_transition"):
        owners.append(getattr(bpy.ops.lookat_pd, name).get_rna_type())
    assert {owner.properties["method"].default for owner in owners} == {default} == {splice.Blend().method}


def test_files_of_earlier_versions_keep_their_method(tmp_path) -> None:
    """A method that was set stays, whichever version it is of."""
    settings = bpy.context.scene.lookat_pd_transition
    expected = {"old": (0, None, "INERTIAL"), "set": (0, "DEAD", "DEAD"), "new": (saved_settings.VERSION, None, "AUTO")}
    bpy.app.handlers.save_pre.remove(saved_settings._stamp)
    try:
        for name, (version, method, _) in expected.items():
            settings.property_unset("method")
            settings.version, settings.source = version, "Walk"
            if method is not None:
                settings.method = method
            bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / f"{name}.blend"))
    finally:
        bpy.app.handlers.save_pre.append(saved_settings._stamp)
    for name, (*_, method) in expected.items():
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / f"{name}.blend"))
        settings = bpy.context.scene.lookat_pd_transition
        assert (settings.method, settings.version) == (method, saved_settings.VERSION), name


def test_what_is_made_now_is_not_of_an_earlier_version(tmp_path) -> None:
    bpy.context.scene.lookat_pd_transition.source = "Walk"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "new.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "new.blend"))
    assert bpy.context.scene.lookat_pd_transition.method == "AUTO"
