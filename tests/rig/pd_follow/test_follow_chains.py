"""Chains of bones with PD Follow: each bone follows its own animation on the result of its parent."""

import random
from collections.abc import Sequence

import bpy
import numpy as np
import pytest
from numpy.testing import assert_allclose

from extension import load

from ..scenes import figure

bake_options = load("rig.animation.bake_options")
errors = load("lookat_pd.errors")
finish = load("lookat_pd.progress").drain
follow_chains = load("rig.pd_follow.follow_chains")
follow_edit = load("rig.pd_follow.follow_edit")
follow_kind = load("rig.pd_follow.follow_kind")
follow_solve = load("rig.pd_follow.follow_solve")
layer_bake = load("rig.layers.layer_bake")
offsets = load("lookat_pd.pd.offsets")
rotation = load("lookat_pd.rotation")
Owner = load("rig.pd_follow.owners").Owner

LAST = 40
TAIL = tuple(f"tail{n}" for n in range(4))
# A tail on the hips that begins away from their tail, with a fork at its tip, and an ear on a head.
ROWS = (
    ("root", None, (0, 0, 0), (0, 0.3, 0)),
    ("hips", "root", (0, 0, 1), (0, 0, 1.2)),
    ("head", "hips", (0, 0, 1.2), (0, 0, 1.5)),
    ("ear", "head", (0.1, 0, 1.4), (0.1, 0, 1.6)),
    *((f"tail{n}", f"tail{n - 1}" if n else "hips", (0, 0.1 + 0.2 * n, 1), (0, 0.3 + 0.2 * n, 1)) for n in range(4)),
    ("fork", "tail2", (0, 0.7, 1), (0.1, 0.9, 1)),
)


def creature(name: str = "Creature", *, connected: bool = True, phase: float = 0.0) -> bpy.types.Object:
    """A character that runs, turns and sways, in three rotation modes."""
    rig = figure(name, ROWS)
    if connected:
        bpy.ops.object.mode_set(mode="EDIT")
        for bone in (*TAIL[1:], "fork"):
            rig.data.edit_bones[bone].use_connect = True
        bpy.ops.object.mode_set(mode="OBJECT")
    rig.pose.bones["tail1"].rotation_mode, rig.pose.bones["fork"].rotation_mode = "XYZ", "AXIS_ANGLE"
    for frame in range(1, LAST + 1, 4):
        t = frame / 24.0 + phase
        rig.location = (np.sin(2 * t), -1.5 * t, 0.1 * np.cos(5 * t))
        rig.rotation_euler = (0.0, 0.1 * np.sin(3 * t), np.sin(1.5 * t))
        rig.keyframe_insert("location", frame=frame)
        rig.keyframe_insert("rotation_euler", frame=frame)
        for bone, turn in (("hips", 0.4 * np.sin(6 * t)), ("tail0", 0.5 * np.cos(4 * t)), ("tail2", np.sin(4 * t))):
            item = rig.pose.bones[bone]
            item.rotation_quaternion = (np.cos(turn / 2), 0.0, np.sin(turn / 2) * 0.6, np.sin(turn / 2) * 0.8)
            item.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_end = LAST
    bpy.context.scene.frame_set(1)
    return rig


def owners_of(rig: bpy.types.Object, bones) -> list:
    return [Owner(rig, bone) for bone in bones]


def follow(rig: bpy.types.Object, bones, target=None) -> list:
    """Let bones follow, with settle times of their own."""
    followers = owners_of(rig, bones)
    follow_edit.add(followers, target)
    for n, name in enumerate(sorted(bones)):
        rig.pose.bones[name].lookat_pd_follow.settle_time = 0.3 + 0.1 * n
    return followers


def seen(rig: bpy.types.Object, frames: Sequence[int] = range(1, LAST + 1)) -> dict[str, np.ndarray]:
    """World matrices (F, 4, 4) of all bones that Blender shows, by their names."""
    found: dict[str, list] = {bone.name: [] for bone in rig.pose.bones}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        for name, rows in found.items():
            rows.append(np.array(rig.matrix_world @ rig.pose.bones[name].matrix))
    return {name: np.array(rows) for name, rows in found.items()}


def bake(followers, into: str = "NEW", *, first: int = 1, last: int = LAST) -> None:
    instances = [follow_kind.instance_of(owner) for owner in followers]
    options = bake_options.BakeOptions(first, last, into)
    finish(layer_bake.bake(bpy.context.scene, follow_kind.FollowKind, instances, options))


def same(one, other, atol: float = 2e-5) -> None:
    for bone, rows in one.items():
        assert_allclose(rows, other[bone], atol=atol, err_msg=bone)


def lengths(poses, rig: bpy.types.Object) -> dict[str, np.ndarray]:
    """How far each bone begins from its parent's beginning, at each frame."""
    pairs = [(bone.name, bone.parent.name) for bone in rig.pose.bones if bone.parent]
    return {bone: np.linalg.norm(poses[bone][:, :3, 3] - poses[above][:, :3, 3], axis=1) for bone, above in pairs}


@pytest.mark.every_blender
@pytest.mark.parametrize("connected", [True, False])
@pytest.mark.parametrize("into", ["NEW", "LAYER"])
def test_a_chain_keeps_its_lengths_at_every_frame(connected, into):
    rig = creature(connected=connected)
    plain = seen(rig)
    followers = follow(rig, (*TAIL, "fork", "ear"))
    assert not any(owner.settings.use_location for owner in followers)
    live = seen(rig)
    assert np.abs(live["tail3"] - plain["tail3"]).max() > 0.1
    same(lengths(live, rig), lengths(plain, rig), 1e-5)
    bake(followers, into)
    assert all(owner.settings.mute for owner in followers)
    # The rounding of each bone's keys is turned by those above it.
    same(seen(rig), live, 5e-5)


def test_each_bone_follows_on_the_result_of_its_parent():
    """What is shown is the controller's own answer, bone by bone, to what forward kinematics gives."""
    rig = creature()
    plain = seen(rig)
    follow(rig, TAIL)
    live = seen(rig)
    for n, bone in enumerate(TAIL):
        base = plain[bone].astype(float)
        if n:
            above = TAIL[n - 1]
            base = live[above].astype(float) @ np.linalg.inv(plain[above].astype(float)) @ base
        turned = rotation.from_matrix(base[:, :3, :3])
        tuning = offsets.Controller(settle_time=0.3 + 0.1 * n)
        added = offsets.rotation_offsets(turned, None, np.ones(LAST), 1.0 / 24.0, tuning)
        assert_allclose(live[bone][:, :3, :3], rotation.to_matrix(rotation.multiply(turned, added)), atol=2e-5)


def test_the_lag_grows_towards_the_tip():
    rig = creature()
    plain = seen(rig)
    followers = owners_of(rig, TAIL)
    follow_edit.add(followers, None)
    live = seen(rig)
    lag = [
        rotation.distance(*(rotation.from_matrix(poses[bone][:, :3, :3]) for poses in (plain, live))).mean()
        for bone in TAIL
    ]
    assert lag == sorted(lag) and lag[-1] > 1.5 * lag[0]


def test_the_order_in_which_bones_are_given_changes_nothing():
    shown = []
    for order in (TAIL, TAIL[::-1], ("tail2", "tail0", "tail3", "tail1")):
        rig = creature()
        follow(rig, (*order, *order[:1])[1:])
        shown.append(seen(rig))
        bpy.data.objects.remove(rig)
    for other in shown[1:]:
        assert all(np.array_equal(shown[0][bone], other[bone]) for bone in shown[0])


def test_a_frame_is_the_same_however_it_is_reached():
    rig = creature()
    follow(rig, (*TAIL, "fork"))
    played = seen(rig)
    frames = list(range(1, LAST + 1))
    random.Random(3).shuffle(frames)
    scrubbed = seen(rig, frames)
    order = np.argsort(frames)
    assert all(np.array_equal(played[bone], scrubbed[bone][order]) for bone in played)


def test_frame_rates_agree():
    """A chain that starts at rest and is turned at constant speed: the same at 24 and 60 frames a second."""
    shown = {}
    for fps in (24, 60):
        rig = figure("Creature", ROWS)
        bpy.context.scene.render.fps, bpy.context.scene.frame_end = fps, 1 + 2 * fps
        for second, turn in ((0.0, 0.0), (0.5, 0.0), (1.0, 1.0), (2.0, 1.0)):
            rig.rotation_euler.z = turn
            rig.keyframe_insert("rotation_euler", frame=1 + second * fps)
        for curve in load("rig.animation.actions").curves(rig.animation_data.action, rig.animation_data.action_slot):
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"
        follow(rig, TAIL)
        shown[fps] = seen(rig, [1 + n * fps // 12 for n in range(25)])
        bpy.data.objects.remove(rig)
    for bone in TAIL:
        turns = [rotation.from_matrix(poses[bone][:, :3, :3]) for poses in shown.values()]
        assert np.degrees(rotation.distance(*turns)).max() < 0.3


def test_several_characters_do_not_know_each_other():
    alone = []
    for n in range(2):
        rig = creature(f"Creature {n}", phase=0.7 * n)
        follow(rig, TAIL)
        alone.append(seen(rig))
        bpy.data.objects.remove(rig)
    rigs = [creature(f"Creature {n}", phase=0.7 * n) for n in range(2)]
    follow_edit.add([owner for rig in rigs for owner in owners_of(rig, TAIL)], None)
    for rig in rigs:
        for n, name in enumerate(TAIL):
            rig.pose.bones[name].lookat_pd_follow.settle_time = 0.3 + 0.1 * n
    for rig, known in zip(rigs, alone, strict=True):
        same(seen(rig), known, 1e-6)
    bake([owner for rig in rigs for owner in owners_of(rig, TAIL)])
    for rig, known in zip(rigs, alone, strict=True):
        same(seen(rig), known)


def constrain_to_another_follower(rig: bpy.types.Object) -> None:
    constraint = rig.pose.bones["head"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget, constraint.influence = rig, "tail1", 0.5


def inherit_no_rotation(rig: bpy.types.Object) -> None:
    rig.data.bones["tail2"].use_inherit_rotation = False


def inherit_no_scale(rig: bpy.types.Object) -> None:
    rig.data.bones["tail1"].inherit_scale = "NONE"
    rig.pose.bones["tail0"].scale = (1.0, 1.3, 1.0)


def drive(rig: bpy.types.Object) -> None:
    driver = rig.pose.bones["head"].driver_add("rotation_quaternion", 1).driver
    variable = driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].bone_target = rig, "tail1"
    variable.targets[0].transform_type, variable.targets[0].transform_space = "ROT_X", "WORLD_SPACE"
    driver.expression = variable.name


def pull(rig: bpy.types.Object) -> None:
    """The fork's parent is posed by IK towards the ear."""
    constraint = rig.pose.bones["tail2"].constraints.new("IK")
    constraint.target, constraint.subtarget, constraint.chain_count = rig, "ear", 2


def scale_unevenly(rig: bpy.types.Object) -> None:
    rig.scale = (0.5, 0.5, 0.5)
    rig.pose.bones["hips"].scale = (1.2, 1.2, 1.2)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("change", "bones", "count"),
    [
        (lambda rig: None, (*TAIL, "ear"), 1),
        (scale_unevenly, (*TAIL, "ear"), 1),
        (constrain_to_another_follower, (*TAIL, "ear"), 2),
        (inherit_no_rotation, (*TAIL, "fork"), 2),
        (inherit_no_scale, TAIL, 2),
        (drive, (*TAIL, "ear"), 2),
        (pull, ("tail0", "ear", "tail3", "fork"), 3),
    ],
)
def test_baking_bone_by_bone_from_the_root_gives_what_the_chain_shows(change, bones, count):
    """Whatever moves bones besides their parents: then they are sampled after those that they depend on."""
    rig = creature()
    change(rig)
    bpy.context.view_layer.update()
    followers = follow(rig, bones)
    groups = follow_chains.groups(followers)
    live = seen(rig)
    bake(followers)
    together = seen(rig)
    rig.animation_data.action = bpy.data.actions["CreatureAction"]
    for bone in rig.pose.bones:
        # What has no keys keeps the pose of the bake.
        bone.rotation_quaternion, bone.rotation_euler = (1, 0, 0, 0), (0, 0, 0)
        bone.rotation_axis_angle = (0, 0, 1, 0)
    for owner in (owner for group in groups for owner in group):
        owner.settings.mute = False
        bake([owner])
    same(together, seen(rig))
    same(together, live)
    assert len(groups) == count


def test_location_that_is_set_follows_on_the_result_of_the_parent():
    rig = creature(connected=False)
    followers = follow(rig, TAIL)
    rig.pose.bones["tail2"].lookat_pd_follow.use_location = True
    live = seen(rig)
    assert np.ptp(lengths(live, rig)["tail2"]) > 0.05
    bake(followers)
    same(seen(rig), live)


def test_a_chain_of_controls_stays_where_it_hangs():
    """Controls with gaps between them, which alone follow in location too, as a control of a hand does."""
    rig = figure(
        "Controls",
        [
            (name, above, (0, 0, n), (0, 0, n + 0.5))
            for n, (name, above) in enumerate((("root", None), ("a", "root"), ("b", "a"), ("c", "b")))
        ],
    )
    for bone in rig.data.bones:
        bone.use_deform = False
    follow(rig, "a")
    assert rig.pose.bones["a"].lookat_pd_follow.use_location
    follow_edit.remove(Owner(rig, "a"))
    follow(rig, "cab")
    assert not any(rig.pose.bones[bone].lookat_pd_follow.use_location for bone in "abc")
    for bone in "abc":
        follow_edit.remove(Owner(rig, bone))
    follow(rig, ("root", "a"))
    assert rig.pose.bones["root"].lookat_pd_follow.use_location, "it hangs on nothing"


def test_the_first_of_each_chain_follows_the_target():
    rig = creature()
    ball = bpy.data.objects.new("Ball", None)
    bpy.context.scene.collection.objects.link(ball)
    follow(rig, (*TAIL[::-1], "ear"), ball)
    assert {name for name in (*TAIL, "ear") if rig.pose.bones[name].lookat_pd_follow.target} == {"tail0", "ear"}
    on_tip = bpy.data.objects.new("Tip", None)
    bpy.context.scene.collection.objects.link(on_tip)
    on_tip.parent, on_tip.parent_type, on_tip.parent_bone = rig, "BONE", "tail3"
    bpy.context.view_layer.update()
    follow_edit.remove(Owner(rig, "ear"))
    with pytest.raises(errors.LookAtError, match="would follow itself"):
        follow_edit.add([Owner(rig, "head"), Owner(rig, "hips")], on_tip)
    assert not Owner(rig, "head").follows


def test_changes_of_one_bone_are_seen_in_those_that_hang_on_it(monkeypatch):
    rig = creature()
    follow(rig, (*TAIL, "ear"))
    before = seen(rig)
    sampled, solved = [], []
    sample, solve = follow_solve.sample, follow_solve.solve
    monkeypatch.setattr(follow_solve, "sample", lambda *args: sampled.append(args) or sample(*args))
    monkeypatch.setattr(follow_solve, "solve", lambda owner, *args: solved.append(owner.bone) or solve(owner, *args))
    rig.pose.bones["tail1"].lookat_pd_follow.settle_time = 1.0
    after = seen(rig)
    assert not sampled and solved == ["tail1", "tail2", "tail3"]
    assert np.abs(after["tail3"] - before["tail3"]).max() > 0.02
    rig.pose.bones["tail1"].lookat_pd_follow.mute = True
    muted = seen(rig)
    plain = creature("Other")
    follow(plain, (*TAIL, "ear"))
    plain.pose.bones["tail1"].lookat_pd_follow.mute = True
    same(muted, seen(plain), 1e-6)
    rig.pose.bones["tail1"].lookat_pd_follow.settle_time = 0.5
    rig.pose.bones["tail1"].lookat_pd_follow.mute = False
    rig.pose.bones["tail1"].lookat_pd_follow.settle_time = 0.6
    follow_edit.remove(Owner(rig, "tail0"))
    plain.pose.bones["tail1"].lookat_pd_follow.mute = False
    plain.pose.bones["tail1"].lookat_pd_follow.settle_time = 0.6
    follow_edit.remove(Owner(plain, "tail0"))
    same(seen(rig), seen(plain), 1e-6)


def test_a_saved_chain_is_shown_and_goes_on(tmp_path, monkeypatch):
    rig = creature()
    follow(rig, TAIL)
    before = seen(rig)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "chain.blend"))
    solved = []
    solve = follow_solve.solve
    monkeypatch.setattr(follow_solve, "solve", lambda owner, *args: solved.append(owner.bone) or solve(owner, *args))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "chain.blend"))
    rig = bpy.data.objects["Creature"]
    same(seen(rig), before, 1e-6)
    assert not solved
    follow_edit.remove(Owner(rig, "tail1"))
    other = creature("Other")
    follow(other, TAIL)
    follow_edit.remove(Owner(other, "tail1"))
    same(seen(rig), seen(other), 1e-6)
