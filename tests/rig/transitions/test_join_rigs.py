"""The laws of joined clips on rigs of other makers, over many pairs of their clips."""

from dataclasses import dataclass

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import scenes
from .motions import poses, use

animated = load("rig.transitions.animated")
best_cut = load("rig.transitions.best_cut")
clips = load("rig.transitions.clips")
join = load("rig.transitions.join")
splice = load("rig.transitions.splice")
timeline = load("rig.transitions.sequence")
root_motion = load("rig.transitions.root_motion")
foot_bones = load("rig.feet.foot_bones")
legs = load("lookat_pd.body.legs")
playing = load("rig.animation.playing")
drain = load("lookat_pd.progress").drain
rotation = load("lookat_pd.rotation")
visual_join = load("rig.transitions.visual.visual_join")
sampler = load("rig.sampling.sampler")

FPS = 30
FILES = ["godot_platformer_robot.glb", "kaykit_knight.glb", "khronos_fox.glb", "m2m_snake.glb", "robot_expressive.glb"]
PAIRS = 12


@dataclass
class Case:
    """Two clips and where they are cut."""

    source: bpy.types.Action
    destination: bpy.types.Action
    out: int
    into: int

    def refs(self):
        return join.ClipRef(self.source, self.out), join.ClipRef(self.destination, self.into)


def load_rig(path):
    armature = kept.rig(path, fps=FPS)
    for track in armature.animation_data.nla_tracks:
        track.mute = True
    # What is drawn is of no interest here, and costs most of the time.
    for item in [item for item in bpy.data.objects if item.type == "MESH" and item.parent is not None]:
        bpy.data.objects.remove(item)
    return armature


def ranges(armature, action):
    return timeline.frame_range(armature, timeline.ClipRef(action, 0))


def cases(armature, count=PAIRS, seed=0):
    """Pairs of clips cut at random, with room for history and blend."""
    random = np.random.default_rng(seed)
    long = [a for a in bpy.data.actions if np.diff(ranges(armature, a))[0] >= 9]
    for _ in range(count):
        a, b = (long[n] for n in random.integers(len(long), size=2))
        (first, last), (begin, end) = ranges(armature, a), ranges(armature, b)
        yield Case(a, b, int(random.integers(first + 3, last + 1)), int(random.integers(begin, end - 6)))


def rest(armature):
    """Put what no clip animates at rest: it is what another clip left there."""
    use(armature, None)
    for bone in armature.pose.bones:
        bone.matrix_basis.identity()


def size(armature):
    return float(np.linalg.norm(np.ptp([bone.head_local for bone in armature.data.bones], axis=0)))


def jump(armature, action, cut):
    """How much the velocities of all joints change at the cut (joints,)."""
    heads = poses(armature, action, (cut - 2, cut - 1, cut))[:, :, :3, 3]
    return np.linalg.norm(np.diff(heads, 2, axis=0)[0], axis=-1)


def left(bone, out, alone):
    """Whether a bone stands still where the destination has it, and what is below it does not."""
    names = [item.name for item in bone.id_data.pose.bones]
    here = names.index(bone.name)
    still = np.allclose(out[:, here], alone[0, here], atol=1e-4)
    children = [names.index(child.name) for child in bone.children_recursive]
    return bool(still and children and not np.allclose(out[:, children], alone[:, children], atol=1e-4))


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_source_before_and_placed_destination_after(rigs, name) -> None:
    armature = load_rig(rigs / "gltf" / name)
    small = 2e-4 * size(armature)
    for case in cases(armature):
        before = {item.name: scenes.curves(item) for item in (case.source, case.destination)}
        rest(armature)
        result = join.join(armature, *case.refs(), splice.Blend(0.2), root="HEADING", lock_feet=False)
        assert not scenes.differences(before, {a.name: scenes.curves(a) for a in (case.source, case.destination)})
        early = range(result.first, case.out)
        np.testing.assert_allclose(
            poses(armature, result.action, early), poses(armature, case.source, early), atol=small
        )
        late = range(case.out + 5, result.last + 1)
        out = poses(armature, result.action, late)
        # What the destination does not key stays as the cut leaves it.
        rest(armature)
        use(armature, case.source)
        bpy.context.scene.frame_set(case.out)
        alone = poses(armature, case.destination, [f - case.out + case.into for f in late])
        # All are moved by one rigid transform, but for still bones from which others travel away: they stay.
        bones = armature.pose.bones.keys()
        row = bones.index(result.root) if result.root else 0
        moved = out[:, row] @ np.linalg.inv(alone[:, row])
        rigid = np.median(moved, axis=0)
        np.testing.assert_allclose(
            moved[:, :3, 3], np.broadcast_to(rigid[:3, 3], moved[:, :3, 3].shape), atol=5 * small
        )
        keyed = {channel.bone for channel in animated.channels_of(armature, result.action, result.slot)}
        chosen = [n for n, bone in enumerate(armature.pose.bones) if bone.name in keyed and not left(bone, out, alone)]
        np.testing.assert_allclose((rigid @ alone)[:, chosen, :3, 3], out[:, chosen, :3, 3], atol=5 * small)
        bpy.data.actions.remove(result.action)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_the_root_goes_on_where_it_was(rigs, name) -> None:
    armature = load_rig(rigs / "gltf" / name)
    for case in cases(armature):
        result = join.join(armature, *case.refs(), root="HEADING")
        row = armature.pose.bones.keys().index(result.root) if result.root else 0
        up = load("rig.detection.detect").find_axes(load("rig.detection.rest").skeleton(armature))[1]
        own = [
            np.linalg.norm(np.diff(poses(armature, a, range(f - 1, f + 2))[:, row, :3, 3], axis=0), axis=-1).max()
            for a, f in ((case.source, case.out - 1), (case.destination, case.into))
        ]
        there = poses(armature, result.action, (case.out - 1, case.out))[:, row, :3, 3]
        way = there[1] - there[0]
        level = way - (way @ up) * up
        assert np.linalg.norm(level) <= 1.2 * max(own) + 1e-3 * size(armature)
        bpy.data.actions.remove(result.action)


@pytest.mark.slow
def test_joints_keep_their_velocity(rigs) -> None:
    """Over all clips at hand the median change of velocity at the cut is less than a tenth of that of a plain cut."""
    soft, hard = [], []
    for name in FILES:
        armature = load_rig(rigs / "gltf" / name)
        for case in cases(armature, 40 if "kaykit" in name else PAIRS):
            for found, method in ((soft, "INERTIAL"), (hard, "CUT")):
                result = join.join(armature, *case.refs(), splice.Blend(None, method), root="HEADING")
                found.append(jump(armature, result.action, case.out) / size(armature))
                bpy.data.actions.remove(result.action)
    ratio = np.median(np.concatenate(soft)) / np.median(np.concatenate(hard))
    print(f"median change of velocity: {100 * ratio:.1f} % of a plain cut's")
    assert ratio < 0.1


def captured(rigs, *names, lies=False):
    """Motion files of one skeleton, each on an armature of its own; the first armature and all actions.

    lies: the figure lies on its side and moves slowly, as where a file is imported with other axes and another frame
    rate than it has.
    """
    armatures = []
    for name in names:
        path = rigs / name
        if path.suffix == ".bvh":
            axes = {"axis_forward": "Y", "axis_up": "Z"} if lies or "fair1" in name else {}
            bpy.ops.import_anim.bvh(filepath=str(path), update_scene_fps=not lies, **axes)
        else:
            bpy.ops.import_scene.fbx(filepath=str(path))
        armatures.append(next(item for item in bpy.context.selected_objects if item.type == "ARMATURE"))
    return armatures[0], [item.animation_data.action for item in armatures]


CAPTURED = (
    ("fbx/cmu_91_48.fbx", "fbx/cmu_91_50.fbx"),
    ("bvh/fair1_dab.bvh", "bvh/fair1_zombie.bvh"),
    ("bvh/cmu_131_01_start_walk_stop.bvh", "bvh/cmu_131_02_start_walk_stop.bvh"),
)


@pytest.mark.parametrize("names", CAPTURED, ids=lambda names: names[0])
def test_motion_files_are_joined(rigs, names) -> None:
    """Clips that came on another armature of the same skeleton; the root does not leap."""
    armature, (a, b) = captured(rigs, *names)
    out, into = 60, 40
    blend = splice.Blend(0.3)
    # Locked feet would lower the hips as long as they stand.
    result = join.join(armature, join.ClipRef(a, out), join.ClipRef(b, into), blend, root="HEADING", lock_feet=False)
    assert result.root and not result.missing
    row = armature.pose.bones.keys().index(result.root)
    frames = range(out - 3, out + 3)
    ways = np.linalg.norm(np.diff(poses(armature, result.action, frames)[:, row, :3, 3], axis=0), axis=-1)
    own = [
        np.linalg.norm(np.diff(poses(armature, action, range(f - 3, f + 3))[:, row, :3, 3], axis=0), axis=-1).max()
        for action, f in ((a, out), (b, into))
    ]
    assert ways.max() < 1.3 * max(own) + 2e-3 * size(armature)
    late = [out + 40, out + 60]
    moved = poses(armature, result.action, late)[:, row] @ np.linalg.inv(
        poses(armature, b, [f - out + into for f in late])[:, row]
    )
    np.testing.assert_allclose(moved[0], moved[1], atol=2e-4 * size(armature))


@pytest.mark.slow
@pytest.mark.parametrize("is_seen", [False, True], ids=["keys", "visual"])
@pytest.mark.parametrize("late", [0, 12], ids=["best cut", "bad cut"])
@pytest.mark.parametrize("names", CAPTURED[1:], ids=lambda names: names[0])
def test_captured_feet_stay_where_they_are_put_down(rigs, names, late, is_seen) -> None:
    """Hips accelerate at most 1.2 times as much as in the clips, and knees do not snap."""
    armature, (a, b) = captured(rigs, *names)
    use(armature, a)
    footing = foot_bones.find(armature)
    out, into = best_cut.find(armature, a, b, count=1, room=15, scene=bpy.context.scene).cuts[0][:2]
    into += late
    refs = join.ClipRef(a, out), join.ClipRef(b, into)
    if is_seen:
        steps = visual_join.joined(
            bpy.context.scene,
            armature,
            lambda how: join.joining(armature, *refs, how),
            splice.AUTOMATIC,
            lock_feet=True,
        )
        result = drain(steps)
    else:
        result = join.join(armature, *refs, lock_feet=True)
    assert result.feet is not None and result.feet.stances
    clips = (
        legs_of(armature, footing, a, range(out - 40, out + 20)),
        legs_of(armature, footing, b, range(into - 5, into + 60)),
    )
    hips, knees, size = legs_of(armature, footing, result.action, range(out - 5, min(out + 60, result.last)))
    # 2 mm of a leg of 0.9 m.
    assert result.feet.drift < 0.0022 * size and result.feet.drift < 0.1 * result.feet.before
    assert hips < 1.2 * max(clip[0] for clip in clips)
    assert knees < 2.0 * max(clip[1] for clip in clips)


@pytest.mark.slow
@pytest.mark.parametrize("late", [0, 12], ids=["best cut", "bad cut"])
def test_hips_are_calm_however_a_file_is_imported(rigs, late) -> None:
    armature, (a, b) = captured(rigs, *CAPTURED[2], lies=True)
    use(armature, a)
    footing = foot_bones.find(armature)
    out, into = best_cut.find(armature, a, b, count=1, room=15, scene=bpy.context.scene).cuts[0][:2]
    into += late
    result = join.join(armature, join.ClipRef(a, out), join.ClipRef(b, into), lock_feet=True)
    assert result.feet is not None and result.feet.stances
    clips = [
        legs_of(armature, footing, a, range(out - 40, out + 20))[0],
        legs_of(armature, footing, b, range(into - 5, into + 60))[0],
    ]
    assert legs_of(armature, footing, result.action, range(out - 5, out + 60))[0] < 1.2 * max(clips)


LANDING = (
    ("kaykit_knight.glb", "Running_A", "Idle", 13, 1),
    ("khronos_fox.glb", "Run", "Survey", 35, 1),
    ("kaykit_knight.glb", "Jump_Idle", "Idle", 20, 1),
)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "source", "destination", "out", "into"), LANDING)
def test_feet_that_land_do_not_pull_the_body_down(rigs, name, source, destination, out, into) -> None:
    armature = kept.rig(rigs / "gltf" / name, fps=FPS)
    refs = join.ClipRef(bpy.data.actions[source], out), join.ClipRef(bpy.data.actions[destination], into)
    footing, found = foot_bones.find(armature), []
    for lock in (False, True):
        result = join.join(armature, *refs, lock_feet=lock)
        hips, knees, size = legs_of(armature, footing, result.action, range(out - 1, out + FPS))
        found.append((hips / size * FPS**2, knees))
    (free, bend), (locked, bent) = found
    # Lengths of the leg/s²: a fall has 11 of a person.
    assert locked < max(1.2 * free, 11.0)
    assert bent < 2.0 * bend


@pytest.mark.slow
def test_knees_do_not_swing_backwards(rigs) -> None:
    armature = kept.rig(rigs / "gltf" / "kaykit_knight.glb", fps=FPS)
    refs = join.ClipRef(bpy.data.actions["Running_A"], 13), join.ClipRef(bpy.data.actions["Idle"], 1)
    footing = foot_bones.find(armature)
    result = join.join(armature, *refs, lock_feet=False)
    with (
        playing.playing(armature, result.action, result.slot),
        sampler.Sampler(bpy.context.scene, armature, footing.sampled) as reader,
    ):
        leg = footing.legs(sampler.run(reader.sample(list(range(1, 33)))))
    backwards = legs.bent_forwards(leg)[1]
    straight = np.linalg.norm(leg.ankle - leg.hip, axis=-1) / np.sum(leg.lengths, axis=0)
    # By 7° at most.
    assert straight[backwards].min(initial=1.0) > np.cos(np.radians(3.5))


def legs_of(armature, footing, action, frames) -> tuple[float, float, float]:
    """The largest acceleration of the hips and step of a knee over frames, and the length of a leg."""
    sampled = playing.playing(armature, action, action.slots[0])
    with sampled, sampler.Sampler(bpy.context.scene, armature, footing.sampled) as open_sampler:
        samples = sampler.run(open_sampler.sample(list(frames)))
    thighs, shins = ([samples.bones.index(foot.bones[n]) for foot in footing.feet] for n in (0, 1))
    hips = samples.positions[:, thighs].mean(axis=1)
    knees = rotation.distance(samples.rotations[:, thighs], samples.rotations[:, shins])
    size = max(foot.length(samples) for foot in footing.feet)
    return (
        float(np.linalg.norm(np.diff(hips, 2, axis=0), axis=-1).max()),
        float(np.abs(np.diff(knees, axis=0)).max()),
        size,
    )


IN_PLACE = (
    ("kaykit_knight.glb", "1H_Ranged_Aiming", "Running_B"),
    ("kaykit_knight.glb", "Unarmed_Idle", "Walking_A"),
    ("kaykit_knight.glb", "Running_A", "Running_Strafe_Left"),
    ("robot_expressive.glb", "Punch", "Running"),
    ("khronos_fox.glb", "Survey", "Run"),
    ("kaykit_knight.glb", "2H_Melee_Idle", "Running_A"),
    ("robot_expressive.glb", "Idle", "Running"),
)


@pytest.mark.parametrize(("name", "source", "destination"), IN_PLACE)
def test_clips_in_place_are_not_turned(rigs, name, source, destination) -> None:
    armature = load_rig(rigs / "gltf" / name)
    one, other = bpy.data.actions[source], bpy.data.actions[destination]
    last = int(one.frame_range[1])
    result = join.join(armature, join.ClipRef(one, last), join.ClipRef(other, 0), splice.Blend(0.2), root="HEADING")
    row = armature.pose.bones.keys().index(result.root) if result.root else 0
    out = poses(armature, result.action, [last + 8])[0, row, :3, :3]
    rest(armature)
    alone = poses(armature, other, [8])[0, row, :3, :3]
    assert np.degrees(np.arccos(np.clip((np.trace(out @ np.linalg.inv(alone)) - 1.0) / 2.0, -1.0, 1.0))) < 2.0
