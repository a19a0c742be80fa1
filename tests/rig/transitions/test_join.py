"""Two actions joined: the source before the cut, the placed destination after the blend, and no pop between."""

from itertools import product

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from extension import load

from .. import scenes
from .motions import BODY, character, heads, poses, stored, use, walk

join = load("rig.transitions.join")
timeline = load("rig.transitions.sequence")
animated = load("rig.transitions.animated")
clips = load("rig.transitions.clips")
actions = load("rig.animation.actions")
methods = load("lookat_pd.transitions.methods")
splice = load("rig.transitions.splice")
rotation = load("lookat_pd.rotation")
LookAtError = load("lookat_pd.errors").LookAtError
RigError = load("lookat_pd.errors").RigError

KeyWriter, EVERY_FRAME = (getattr(load("rig.animation.key_writer"), name) for name in ("KeyWriter", "EVERY_FRAME"))
BlendProfile = load("rig.transitions.blend_profiles").BlendProfile
Blend, ClipRef, Step = splice.Blend, join.ClipRef, join.ClipStep
CUT, ENTER, BLEND = 21, 9, 10
"""Frames of the cut in both clips; length of the blend in frames."""
SMALL = 2e-5


@pytest.fixture
def pair(request):
    modes = getattr(request, "param", ("QUATERNION",))
    armature = character(modes)
    run = walk(armature, "Run", seed=1, heading=0.5, speed=(0.0, -0.1, 0.0))
    stroll = walk(armature, "Stroll", seed=2, speed=(0.0, -0.04, 0.0))
    bpy.context.scene.render.fps = 24
    return armature, run, stroll


def joined(pair, method="INERTIAL", root="NONE", seconds=BLEND / 24, **options):
    armature, run, stroll = pair
    return join.join(armature, ClipRef(run, CUT), ClipRef(stroll, ENTER), Blend(seconds, method), root=root, **options)


def same_rotations(mode, a, b):
    size = {"QUATERNION": 4, "AXIS_ANGLE": 4}.get(mode, 3)
    to = load("rig.animation.channels").to_quaternion
    return rotation.distance(to(a, mode), to(b, mode)).max() if size else 0.0


ALL_MODES = [(mode,) for mode in scenes.MODES] + [scenes.MODES]
METHODS = [row.identifier for row in methods.METHODS.values()]


def crossed(*ways: tuple[str, ...]) -> list[tuple]:
    """All ways with bones in many modes, and the first of them with all bones in one mode, for each mode."""
    return [(scenes.MODES, *way) for way in ways] + [((mode,), *ways[0]) for mode in scenes.MODES]


@pytest.mark.slow
@pytest.mark.parametrize(("pair", "method"), crossed(*((method,) for method in METHODS)), indirect=["pair"], ids=str)
def test_source_before_and_destination_after(pair, method) -> None:
    """With a key at every frame; `test_kept_clips` has the laws of kept keys."""
    armature, run, stroll = pair
    result = joined(pair, method, writer=KeyWriter(EVERY_FRAME))
    before, after = range(1, CUT), range(CUT + BLEND - 1, result.last + 1)
    source, out = stored(armature, run, before), stored(armature, result.action, before)
    assert all(np.array_equal(out[key], values) for key, values in source.items())
    assert result.first == 1 and result.last == CUT + 41 - ENTER
    there = [frame - CUT + ENTER for frame in after]
    np.testing.assert_allclose(poses(armature, result.action, after), poses(armature, stroll, there), atol=SMALL)
    if armature.pose.bones["hips"].rotation_mode == "QUATERNION" == armature.pose.bones["head"].rotation_mode:
        wanted, out = stored(armature, stroll, there), stored(armature, result.action, after)
        for key, values in wanted.items():
            np.testing.assert_array_equal(np.abs(out[key]), np.abs(values))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pair", "root", "method"),
    crossed(*product(("HEADING", "NONE", "POSITION", "ALL"), ("INERTIAL", "DEAD", "FADE"))),
    indirect=["pair"],
    ids=str,
)
def test_no_pop_at_the_cut(pair, root, method) -> None:
    """Between the last frame of the source and the first of the destination nothing moves further than it did."""
    armature = pair[0]
    result = joined(pair, method, root)
    ways = np.linalg.norm(np.diff(heads(armature, result.action, range(CUT - 4, CUT + 4)), axis=0), axis=-1)
    usual = np.delete(ways, 3, axis=0).max(axis=0)
    assert np.all(ways[3] < 1.6 * usual + 0.02)
    hard = joined(pair, "CUT", root)
    soft, hard = (np.diff(heads(armature, r.action, range(CUT - 2, CUT + 1)), 2, axis=0)[0] for r in (result, hard))
    assert np.median(np.linalg.norm(soft, axis=-1)) < 0.25 * np.median(np.linalg.norm(hard, axis=-1))


@pytest.mark.slow
@pytest.mark.parametrize("pair", ALL_MODES, indirect=True, ids=lambda modes: "+".join(modes))
def test_between_frames_it_runs_on_too(pair) -> None:
    """No number leaps by a turn or a sign between two keys, where a renderer with motion blur would look."""
    armature = pair[0]
    result = joined(pair, root="HEADING")
    frames = np.arange(1.0, result.last, 0.5)
    turns = poses(armature, result.action, frames)[:, :, :3, :3]
    cosine = (np.einsum("fbij,fbij->fb", turns[1:], turns[:-1]) / 1.0 - 1.0) / 2.0
    assert np.degrees(np.arccos(np.clip(cosine, -1, 1))).max() < 40.0


@pytest.mark.slow
@pytest.mark.parametrize("pair", ALL_MODES, indirect=True, ids=lambda modes: "+".join(modes))
def test_walk_goes_on_where_the_run_ended(pair) -> None:
    armature, run, stroll = pair
    result = joined(pair, root="HEADING")
    assert result.root == "hips"
    n = [bone.name for bone in armature.pose.bones].index("hips")
    after = range(CUT + BLEND, result.last + 1)
    out = poses(armature, result.action, after)[:, n]
    alone = poses(armature, stroll, [frame - CUT + ENTER for frame in after])[:, n]
    moved = out @ np.linalg.inv(alone)
    # One rigid transform for all frames: a turn about up and a way along the ground.
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=SMALL)
    np.testing.assert_allclose(moved[0][:3, 2], (0, 0, 1), atol=SMALL)
    assert abs(moved[0][2, 3]) < SMALL
    # At the cut the placed destination goes the way of the source, and stands on it, but for the way on which it loses
    # the speed it had more.
    place = moved[0] @ poses(armature, stroll, [ENTER])[0, n]
    before = poses(armature, run, [CUT - 2, CUT - 1, CUT])[:, n]
    after = moved[0] @ poses(armature, stroll, [ENTER, ENTER + 1])[:, n]
    there = before[2].copy()
    faster = (before[1] - before[0])[:3, 3] - (after[1] - after[0])[:3, 3]
    there[:3, 3] += (0.4 * BLEND - 1.0) * faster
    np.testing.assert_allclose(place[:2, 3], there[:2, 3], atol=SMALL)
    ways = [
        np.diff(poses(armature, action, around)[:, n, :2, 3], axis=0)[0]
        for action, around in ((run, (1, 41)), (stroll, (1, 41)))
    ]
    ways[1] = moved[0][:2, :2] @ ways[1]
    np.testing.assert_allclose(*(way / np.linalg.norm(way) for way in ways), atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("pair", [(mode,) for mode in scenes.MODES], indirect=True, ids="+".join)
@pytest.mark.parametrize("root", ["POSITION", "ALL"])
def test_placing_without_turning(pair, root) -> None:
    armature, _run, stroll = pair
    result = joined(pair, root=root)
    after = range(CUT + BLEND, result.last + 1)
    n = [bone.name for bone in armature.pose.bones].index("hips")
    moved = heads(armature, result.action, after) - heads(armature, stroll, [frame - CUT + ENTER for frame in after])
    if root == "POSITION":
        moved = moved[:, [n + 1, n + 3]]
        np.testing.assert_allclose(moved, np.broadcast_to(moved[0, 0], moved.shape), atol=SMALL)
        assert abs(moved[0, 0, 2]) < SMALL
    else:
        assert np.isfinite(moved).all()


@pytest.mark.every_blender
def test_destination_placed_by_hand_and_foot_controls() -> None:
    """All children of a root that does not move are placed, not only the one that moves the body."""
    rows = (
        *scenes.FIGURE,
        ("hand_ik", "root", (0.6, 0, 1), (0.8, 0, 1)),
        ("foot_ik", "root", (0.1, 0, 0), (0.1, -0.2, 0.1)),
    )
    armature = scenes.figure("Controls", rows)
    names = ("hips", "hand_ik", "foot_ik")
    clips_made = []
    for k, name in enumerate(("A", "B")):
        use(armature, None)
        action, slot = actions.new_action(name, armature)
        use(armature, action, slot)
        for bone in names:
            for frame in (1, 20, 40):
                pose = armature.pose.bones[bone]
                pose.location = (0.05 * frame * (1 + k), 0.3 * k, -0.02 * frame)
                pose.rotation_quaternion = Quaternion((0, 0, 1), 0.8 * k + 0.01 * frame)
                pose.keyframe_insert("location", frame=frame)
                pose.keyframe_insert("rotation_quaternion", frame=frame)
        clips_made.append(action)
    result = join.join(armature, ClipRef(clips_made[0], 20), ClipRef(clips_made[1], 5), Blend(0.2), root="HEADING")
    index = [[bone.name for bone in armature.pose.bones].index(name) for name in names]
    after = range(30, 45)
    out = poses(armature, result.action, after)[:, index]
    alone = poses(armature, clips_made[1], [f - 15 for f in after])[:, index]
    moved = out @ np.linalg.inv(alone)
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0, 0], moved.shape), atol=1e-4)
    assert not np.allclose(moved[0, 0], np.eye(4), atol=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("mode", scenes.MODES)
def test_keys_of_the_object_are_placed(mode) -> None:
    armature = character()
    armature.rotation_mode = mode
    made = []
    for k in range(2):
        action = walk(armature, f"Clip {k}", seed=k, speed=(0, 0, 0), bones=BODY[1:])
        for frame in (1, 20, 41):
            armature.location = (k + 0.1 * frame, 2.0 - 0.05 * frame * k, 0.0)
            scenes.set_rotation(armature, (0, 0, 0.4 + 0.9 * k))
            armature.keyframe_insert("location", frame=frame)
            armature.keyframe_insert(scenes.sample.channel(mode)[0], frame=frame)
        made.append(action)
    result = join.join(armature, ClipRef(made[0], 20), ClipRef(made[1], 8), Blend(0.25), root="HEADING")

    def world(action, frames):
        use(armature, action)
        return np.array([np.array(armature.evaluated_get(scenes.goto(f)).matrix_world) for f in frames])

    after = list(range(30, result.last))
    moved = world(result.action, after) @ np.linalg.inv(world(made[1], [f - 12 for f in after]))
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-4)
    # Where the source is at the cut, and on by the way on which the speed it had more is lost.
    before, entered = world(made[0], [18, 19, 20]), moved[0] @ world(made[1], [8, 9])
    there = before[2].copy()
    there[:3, 3] += (0.4 * 0.25 * 24 - 1.0) * ((before[1] - before[0]) - (entered[1] - entered[0]))[:3, 3]
    np.testing.assert_allclose(entered[0][:3], there[:3], atol=1e-4)


def test_scale_and_properties_die_away_and_switches_switch(pair) -> None:
    armature, _run, stroll = pair
    result = joined(pair, writer=KeyWriter(EVERY_FRAME))
    frames = range(CUT - 1, CUT + BLEND)
    out = stored(armature, result.action, frames)
    mood = out['pose.bones["head"]["mood"]', 0]
    wanted = stored(armature, stroll, [frame - CUT + ENTER for frame in frames])['pose.bones["head"]["mood"]', 0]
    assert np.abs(np.diff(mood)).max() < 0.4 and mood[-1] == wanted[-1]
    apart = np.abs(mood - wanted)[1:]
    assert np.all(np.diff(apart) <= 1e-6) and apart[0] > 0.01
    style = out['pose.bones["head"]["style"]', 0]
    assert style[0] == 2 and set(style[1:]) == {3}
    bag = actions.channelbag(result.action, result.slot)
    curve = bag.fcurves.find('pose.bones["head"]["style"]')
    assert {point.interpolation for point in curve.keyframe_points} == {"CONSTANT"}


def test_actions_stay_as_they_are_and_one_step_is_undone(pair) -> None:
    armature, run, stroll = pair
    use(armature, run)
    before = {action.name: scenes.curves(action) for action in (run, stroll)}
    joined(pair, root="ALL")
    assert not scenes.differences(before, {action.name: scenes.curves(action) for action in (run, stroll)})
    assert armature.animation_data.action not in (run, stroll)
    assert run.use_fake_user


def test_only_what_either_clip_animates_is_keyed(pair) -> None:
    armature, run, stroll = pair
    result = joined(pair, root="HEADING")
    keyed = {k for action in (run, stroll) for k in stored(armature, action, ())}
    assert set(stored(armature, result.action, ())) == keyed
    assert (
        "hand.L"
        not in clips.Clip(
            armature, np.zeros(0), dict.fromkeys(animated.channels_of(armature, result.action, result.slot))
        ).bones()
    )


def _without(armature, action, bone: str):
    """An action without the keys of a bone."""
    bag = actions.channelbag(action, actions.find_slot(armature, action))
    for curve in [c for c in bag.fcurves if f'"{bone}"' in c.data_path]:
        bag.fcurves.remove(curve)
    return action


THIGH = 'pose.bones["thigh.L"].rotation_quaternion'


def _thigh(armature, action, frames) -> np.ndarray:
    numbers = stored(armature, action, frames)
    return np.array([numbers[THIGH, n] for n in range(4)]).T


def test_what_the_destination_does_not_key_is_held_from_the_cut(pair) -> None:
    armature, run, stroll = pair
    _without(armature, stroll, "thigh.L")
    use(armature, stroll)
    armature.pose.bones["thigh.L"].rotation_quaternion = Quaternion((1, 0, 0), 0.3)
    result = joined(pair)
    there, cut = _thigh(armature, result.action, [result.last]), _thigh(armature, run, [CUT])
    assert rotation.distance(there, cut).max() < SMALL


def test_what_the_source_does_not_key_stands_as_in_the_rig_or_at_rest(pair) -> None:
    """At rest where an action animates it now: how it stands would depend on the playhead."""
    armature, run, stroll = pair
    _without(armature, run, "thigh.L")
    use(armature, run)
    posed = np.array(Quaternion((1, 0, 0), 0.3))
    armature.pose.bones["thigh.L"].rotation_quaternion = posed
    assert rotation.distance(_thigh(armature, joined(pair, assign=False).action, [2.0]), posed).max() < SMALL
    use(armature, stroll)
    for playhead in (3, 17):
        bpy.context.scene.frame_set(playhead)
        result = joined(pair, assign=False)
        assert rotation.distance(_thigh(armature, result.action, [2.0]), rotation.IDENTITY).max() < SMALL


def test_the_result_does_not_depend_on_the_playhead_or_on_what_plays(pair) -> None:
    armature, run, stroll = pair
    _without(armature, stroll, "head")
    results = []
    for action in (run, stroll):
        use(armature, action)
        for playhead in (3, 17):
            bpy.context.scene.frame_set(playhead)
            result = joined(pair, root="HEADING", assign=False)
            results.append(scenes.curves(result.action))
            bpy.data.actions.remove(result.action)
    assert not any(scenes.differences(results[0], other) for other in results[1:])


def test_rotations_keyed_in_another_mode_are_converted() -> None:
    """Whatever the bones' modes were when the source was keyed, it looks the same before the cut, and the bones are
    named."""
    frames = [3.0, 11.0, float(CUT - 1)]
    for keyed, now in product(("QUATERNION", "AXIS_ANGLE", "XYZ"), ("QUATERNION", "AXIS_ANGLE", "ZXY")):
        armature = character((keyed,))
        run = walk(armature, "Run", seed=1)
        before = poses(armature, run, frames)
        for bone in BODY:
            armature.pose.bones[bone].rotation_mode = now
        stroll = walk(armature, "Stroll", seed=2)
        result = joined((armature, run, stroll))
        after = poses(armature, result.action, frames)
        is_other = keyed != now and not (keyed == "XYZ" and now == "ZXY")
        assert set(result.converted) == (set(BODY) if is_other else set())
        assert not is_other or np.abs(after - before).max() < 1e-4, (keyed, now)


def test_same_at_24_and_60_frames_a_second(pair) -> None:
    """The blend takes the same time, so that at 60 frames a second it takes more of them."""
    armature, _run, _stroll = pair
    ends = []
    for fps in (24, 60):
        bpy.context.scene.render.fps = fps
        result = joined(pair, seconds=0.25)
        out, hard = result.action, joined(pair, "CUT", assign=False).action
        frames = range(CUT, result.last)
        differ = np.abs(heads(armature, out, frames) - heads(armature, hard, frames)).max(axis=(1, 2)) > 1e-5
        ends.append((np.flatnonzero(differ)[-1] + 2) / fps)
    np.testing.assert_allclose(ends, 0.25, atol=1 / 24)


def test_factors_shorten_the_blend_of_single_bones(pair) -> None:
    armature, run, stroll = pair
    profile = BlendProfile.of_factors({"upper_arm.L": 0.0, "head": 0.5})
    blend = Blend(BLEND / 24, profile=profile)
    result = join.join(armature, ClipRef(run, CUT), ClipRef(stroll, ENTER), blend, root="NONE")
    out, wanted = stored(armature, result.action, (CUT, CUT + 4)), stored(armature, stroll, (ENTER, ENTER + 4))
    path = 'pose.bones["{}"].rotation_quaternion'
    assert all(
        abs(out[path.format("upper_arm.L"), n][0]) == abs(wanted[path.format("upper_arm.L"), n][0]) for n in range(4)
    )
    assert all(abs(out[path.format("head"), n][1]) == abs(wanted[path.format("head"), n][1]) for n in range(4))
    assert any(abs(out[path.format("spine"), n][1]) != abs(wanted[path.format("spine"), n][1]) for n in range(4))


def test_an_action_joined_with_itself(pair) -> None:
    armature, run, _ = pair
    result = join.join(armature, ClipRef(run, 30), ClipRef(run, 5), root="HEADING")
    assert result.last == 30 + 41 - 5 and 0.1 <= result.blends[0] <= 0.6


def test_the_whole_source_may_be_kept(pair) -> None:
    """Cut after its last frame, the root goes on with the speed it had."""
    armature = pair[0]
    run, stroll = (
        walk(armature, name, speed=(0.0, -0.1 * f, 0.0), heading=f, every=1) for name, f in (("A", 1), ("B", 0.8))
    )
    result = join.join(armature, ClipRef(run, 42), ClipRef(stroll, 1), Blend(0.3), root="HEADING")
    n = [bone.name for bone in armature.pose.bones].index("hips")
    ways = np.linalg.norm(np.diff(heads(armature, result.action, range(38, 46))[:, n], axis=0), axis=-1)
    assert ways.min() > 0.07 and ways.max() < 0.11


def test_chain_with_an_interrupted_transition(pair) -> None:
    armature, run, stroll = pair
    third = walk(armature, "Third", seed=5, speed=(0.03, 0.0, 0.0), heading=-0.6)
    steps = [
        Step(ClipRef(run, 1), 1),
        Step(ClipRef(stroll, 5), 20, Blend(0.6)),
        Step(ClipRef(third, 3), 25, Blend(0.5)),
        Step(ClipRef(run, 2), 80, Blend(0.5)),
    ]
    result = join.chain(armature, steps)
    assert result.cuts == (20, 25, 80) and result.first == 1 and result.last == 80 + 39
    ways = np.linalg.norm(np.diff(heads(armature, result.action, range(1, 100)), axis=0), axis=-1)
    for cut in result.cuts:
        around = np.delete(ways[cut - 6 : cut + 4], 4, axis=0).max(axis=0)
        assert np.all(ways[cut - 2] < 1.6 * around + 0.03)
    # The third clip holds its last pose until the run begins again.
    assert ways[70:76].max() < 1e-5


def test_frames_of_the_clip_may_be_fractions(pair) -> None:
    armature, run, stroll = pair
    result = join.join(armature, ClipRef(run, CUT), ClipRef(stroll, 8.5), Blend(0.2), root="NONE")
    after = np.arange(CUT + 8, result.last)
    np.testing.assert_allclose(
        poses(armature, result.action, after), poses(armature, stroll, after - CUT + 8.5), atol=SMALL
    )


BAD = {
    "cut before the source": (lambda a, r, s: (ClipRef(r, 1), ClipRef(s, 9)), "cannot be cut"),
    "cut after the source": (lambda a, r, s: (ClipRef(r, 44), ClipRef(s, 9)), "cannot be cut"),
    "cut between frames": (lambda a, r, s: (ClipRef(r, 9.5), ClipRef(s, 9)), "whole frame"),
    "entry outside": (lambda a, r, s: (ClipRef(r, 9), ClipRef(s, 99)), "outside"),
    "blend too long": (lambda a, r, s: (ClipRef(r, 9), ClipRef(s, 38)), "longer than"),
    "empty": (lambda a, r, s: (ClipRef(r, 9), ClipRef(_empty(a), 9)), "is empty"),
    "no slot": (lambda a, r, s: (ClipRef(r, 9), ClipRef(bpy.data.actions.new("None"), 9)), "no slot"),
    "other rig": (lambda a, r, s: (ClipRef(r, 9), ClipRef(_other(a, s), 9)), "another rig"),
    "not a number": (lambda a, r, s: (ClipRef(r, 9), ClipRef(_broken(a, s), 9)), "not a number"),
}


def _empty(armature):
    return actions.new_action("Empty", armature)[0]


def _other(armature, action):
    other = action.copy()
    for curve in actions.channelbag(other, other.slots[0]).fcurves:
        for bone in BODY[:6]:
            curve.data_path = curve.data_path.replace(f'"{bone}"', f'"mixamorig:{bone}"')
    return other


def _broken(armature, action):
    other = action.copy()
    actions.channelbag(other, other.slots[0]).fcurves[0].keyframe_points[3].co.y = float("nan")
    return other


@pytest.mark.slow
@pytest.mark.parametrize(("case", "assign"), list(product(BAD, (True, False))))
def test_bad_input_is_reported_and_changes_nothing(pair, case, assign) -> None:
    armature, run, stroll = pair
    use(armature, run)
    make, words = BAD[case]
    source, destination = make(armature, run, stroll)
    before = scenes.snapshot()
    with pytest.raises(LookAtError, match=words) as caught:
        join.join(armature, source, destination, Blend(0.5), assign=assign)
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)
    assert not [line for line in scenes.differences(before, scenes.snapshot()) if "nan" not in line]


def test_a_few_missing_bones_are_reported(pair) -> None:
    _armature, _run, stroll = pair
    for curve in actions.channelbag(stroll, stroll.slots[0]).fcurves:
        curve.data_path = curve.data_path.replace('"neck"', '"Neck_01"')
    assert joined(pair).missing == ("Neck_01",)


@pytest.mark.parametrize(
    "options", [{"seconds": -1.0}, {"seconds": np.nan}, {"method": "MELT"}, {"damping_ratio": -1.0}]
)
def test_bad_blends(options) -> None:
    with pytest.raises(LookAtError):
        Blend(**options)


def test_result_is_not_laid_over_an_nla_half_way(pair) -> None:
    armature, run, _ = pair
    use(armature, run)
    armature.animation_data.action_influence = 0.5
    with pytest.raises(RigError, match="Replace"):
        joined(pair)
    assert joined(pair, assign=False).action.name.startswith("Run")


def test_linked_actions_are_read(pair, tmp_path) -> None:
    """Actions of a library are joined like others, and nothing is written to them."""
    armature, run, stroll = pair
    library = tmp_path / "clips.blend"
    bpy.data.libraries.write(str(library), {run, stroll})
    for item in (run, stroll):
        bpy.data.actions.remove(item)
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.actions = ["Run", "Stroll"]
    run, stroll = wanted.actions
    use(armature, run)
    result = join.join(armature, ClipRef(run, CUT), ClipRef(stroll, ENTER), root="HEADING")
    assert result.action.library is None and run.library is not None
    use(armature, stroll)
    with pytest.raises(RigError, match="linked"):
        load("rig.transitions.pops").smooth(armature, stroll, 20, Blend(0.2))


@pytest.mark.parametrize("fps", [24, 60])
def test_destination_repeated(fps) -> None:
    """A cycle whose ends meet plays on without a pop, each time further by the same way and turn."""
    armature = character()
    bpy.context.scene.render.fps = fps
    source = walk(armature, "Run", seed=1, heading=0.5, speed=(0.0, -0.1, 0.0))
    cycle = load("rig.transitions.loop").loop(armature, walk(armature, "Walk", seed=2), name="Cycle").action
    result = join.join(armature, ClipRef(source, 20), ClipRef(cycle, 1), Blend(0.2), root="HEADING", repeat=3)
    assert result.cuts == (20, 60, 100) and result.last == 140 and result.begins == (1, 1, 1, 1)
    row = armature.pose.bones.keys().index("hips")
    out = poses(armature, result.action, range(20, 141))
    onwards = [out[n + 40, row] @ np.linalg.inv(out[n, row]) for n in (30, 70)]
    np.testing.assert_allclose(onwards[0], onwards[1], atol=2e-3)
    steps = np.linalg.norm(np.diff(out[:, :, :3, 3], axis=0), axis=-1)
    assert np.all(steps[38:42] < 1.1 * steps[45:75].max(axis=0) + 1e-3)


def test_a_cycle_that_ends_between_two_frames_keeps_its_length() -> None:
    """Clips of 30 frames a second in a scene of 24 have such keys."""
    armature = character()
    source, cycle = walk(armature, "Run", seed=1), walk(armature, "Walk", seed=2)
    for curve in actions.channelbag(cycle, actions.find_slot(armature, cycle)).fcurves:
        for point in curve.keyframe_points:
            point.co.x = 1 + 0.48 * (point.co.x - 1)
        curve.update()
    result = join.join(armature, ClipRef(source, 20), ClipRef(cycle, 1), Blend(0.1), root="HEADING", repeat=4)
    lengths = np.array(result.cuts) - np.array(result.begins[1:])
    np.testing.assert_allclose(np.diff(lengths), 0.48 * 40, atol=1e-4)


def test_a_pose_is_not_repeated() -> None:
    armature = character()
    source = walk(armature, "Run", seed=1)
    pose = walk(armature, "Pose", first=1, last=1)
    with pytest.raises(RigError, match="cannot be repeated"):
        join.join(armature, ClipRef(source, 20), ClipRef(pose, 1), Blend(0.0), repeat=2)


def test_destination_until_a_frame() -> None:
    armature = character()
    source, cycle = walk(armature, "Run", seed=1), walk(armature, "Walk", seed=2)
    for until, cuts in ((45, (20,)), (60, (20,)), (61, (20, 60)), (130, (20, 60, 100))):
        result = join.join(armature, ClipRef(source, 20), ClipRef(cycle, 1), Blend(0.1), root="HEADING", until=until)
        assert (result.cuts, result.last) == (cuts, until)
    whole = join.join(armature, ClipRef(source, 20), ClipRef(cycle, 1), Blend(0.1), root="HEADING", repeat=3)
    np.testing.assert_allclose(
        poses(armature, result.action, range(20, 131)), poses(armature, whole.action, range(20, 131)), atol=SMALL
    )
    for until, words in ((20, "later frame"), (90000, "1000 times")):
        with pytest.raises(RigError, match=words):
            join.join(armature, ClipRef(source, 20), ClipRef(cycle, 1), Blend(0.1), until=until)


def test_an_automatic_blend_leaves_half_of_a_short_cycle_as_it_is() -> None:
    armature = character()
    source, cycle = walk(armature, "Run", seed=1), walk(armature, "Dash", seed=2, last=9, size=1.5)
    result = join.join(armature, ClipRef(source, 20), ClipRef(cycle, 1), root="NONE", repeat=2)
    assert result.blends[0] == pytest.approx(4 / 24)


def test_a_rise_slows_down_and_does_not_stop_at_once() -> None:
    armature = character()
    rise = walk(armature, "Rise", seed=1, speed=(0.0, 0.0, 0.05), size=0.0)
    still = walk(armature, "Still", seed=1, speed=(0.0, 0.0, 0.0), size=0.0)
    result = join.join(armature, ClipRef(rise, 20), ClipRef(still, 5), Blend(0.5), root="ALL")
    row = armature.pose.bones.keys().index("hips")
    steps = np.diff(poses(armature, result.action, range(14, 36))[:, row, 2, 3])
    np.testing.assert_allclose(steps[:5], steps[0], rtol=0.25)
    assert np.abs(np.diff(steps[4:])).max() < 0.3 * steps[:5].mean()
    assert abs(steps[-1]) < 1e-3 and steps.min() > -1e-3
