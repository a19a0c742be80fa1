"""Forward and up are right, or in doubt and said to be: zero poses, many legs, backward knees, turned objects."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from ..look_at.body import bodies
from . import skeletons, zero_poses
from .skeletons import CONVENTIONS, human

actions = load("rig.animation.actions")
axes = load("rig.detection.axes")
axis_votes = load("rig.detection.axis_votes")
detect = load("rig.detection.detect")
rest = load("rig.detection.rest")
rotation = load("lookat_pd.rotation")
stance = load("rig.detection.stance")
limbs = load("rig.detection.limbs")
errors = load("lookat_pd.errors")
facing = load("rig.look_at.facing")
look_at = load("rig.look_at.resolve")


def off(found, truth) -> float:
    return float(np.degrees(rotation.angle_between(np.array(found), np.array(truth))))


def aim(armature, bone: str):
    """Forward and up in the frame of a bone."""
    found = stance.of(armature)
    back = rotation.inverse(found.skeleton.rotations[found.skeleton.index(bone)])
    return rotation.rotate(back, found.axes.forward), rotation.rotate(back, found.axes.up)


ALONG = {"X": (1, 0, 0), "-X": (-1, 0, 0), "Y": (0, 1, 0), "Z": (0, 0, 1), "-Z": (0, 0, -1)}
NAMED = ("bvh", "mixamo", "vrm", "unreal", "daz", "biped", "maya", "mmd", "no_neck", "character_creator")


@pytest.mark.slow
@pytest.mark.parametrize("along", ALONG)
@pytest.mark.parametrize("name", NAMED)
def test_a_zero_pose_along_one_axis_is_read_from_the_animation(name: str, along: str) -> None:
    names = CONVENTIONS[name]
    body = zero_poses.zero_posed(human(names), ALONG[along])
    armature = zero_poses.armature(body, zero_poses.motion(body, seed=len(name)))
    head = names.chain[0]
    found = stance.of(armature)
    assert not found.at_rest
    plain = rest.skeleton(armature)
    truth = body.truth(head, plain.rotations[plain.index(head)])
    forward, up = aim(armature, head)
    assert off(forward, truth[0]) < 10.0
    assert off(up, truth[1]) < 10.0
    assert detect.find_head(found.skeleton, rest.hints(armature)) == head
    chain = [link.bone for link in detect.find_chain(found.skeleton, head, rest.hints(armature))]
    assert [bone for bone in chain if not bone.endswith("Base")] == names.chain
    legs = limbs.find_legs(armature)
    assert [leg.upper for leg in legs] == [names.leg.split("|")[0].format(side) for side in names.sides]


@pytest.mark.thorough
@pytest.mark.parametrize("up", ["Z", "Y"])
@pytest.mark.parametrize("along", ["X", "Y", "Z"])
def test_a_bvh_file_with_a_zero_pose_along_one_axis(tmp_path, along: str, up: str) -> None:
    names = CONVENTIONS["bvh"]
    axes = {"Z": ((0.0, -1.0, 0.0), (0.0, 0.0, 1.0)), "Y": ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0))}[up]
    plain = human(names)
    if up == "Y":
        plain = skeletons.moved(plain, rotation.from_axis_angle([1.0, 0.0, 0.0], -0.5 * np.pi))
    body = zero_poses.zero_posed(plain, ALONG[along], *axes)
    path = zero_poses.bvh(body, zero_poses.motion(body, seed=3), tmp_path / "walk.bvh")
    settings = {"axis_forward": "Y", "axis_up": "Z"} if up == "Z" else {"axis_forward": "-Z", "axis_up": "Y"}
    bpy.ops.import_anim.bvh(filepath=str(path), **settings)
    armature = bpy.context.object
    found = stance.of(armature)
    assert not found.at_rest
    resting = rest.skeleton(armature)
    # In Blender the file's axes are turned with the whole figure.
    to_blender = rotation.IDENTITY if up == "Z" else rotation.from_axis_angle([1.0, 0.0, 0.0], 0.5 * np.pi)
    at_zero = rotation.multiply(rotation.inverse(to_blender), resting.rotations[resting.index("Head")])
    truth = body.truth("Head", at_zero)
    forward, upward = aim(armature, "Head")
    assert off(forward, truth[0]) < 10.0
    assert off(upward, truth[1]) < 10.0
    assert [leg.upper for leg in limbs.find_legs(armature)] == ["LeftUpLeg", "RightUpLeg"]


def test_a_zero_pose_without_an_animation_is_in_doubt() -> None:
    body = zero_poses.zero_posed(human(CONVENTIONS["bvh"]))
    armature = zero_poses.armature(body, zero_poses.motion(body))
    armature.animation_data_clear()
    assert stance.of(armature).axes.confidence < axes.CERTAIN
    assert not any("Arm" in leg.upper for leg in limbs.find_legs(armature))


def spider(names: str, legs: int = 4, sides=("L", "R")):
    """A spider that faces -Y. names: of the bones of a leg, {0} is its number and {1} its side."""
    rows = [
        ("Body", None, (0, 0, 0.3), (0, -0.2, 0.3)),
        ("Abdomen", "Body", (0, 0.05, 0.3), (0, 0.6, 0.4)),
        ("Head", "Body", (0, -0.25, 0.3), (0, -0.4, 0.28)),
    ]
    for side, sign in zip(sides, (1.0, -1.0), strict=True):
        for n in range(legs):
            fan = np.radians(50.0 - 100.0 * n / max(legs - 1, 1))
            out = np.array([sign * np.cos(fan), -np.sin(fan), 0.0])
            base = np.array([sign * 0.1, 0.15 * (n / legs - 0.5), 0.3])
            points = [
                base,
                base + 0.35 * out + [0, 0, 0.3],
                base + 0.8 * out + [0, 0, 0.1],
                base + 1.1 * out - [0, 0, 0.3],
            ]
            bones = [bone.format(n + 1, side) for bone in names.split("|")]
            rows += skeletons.line(bones, points[: len(bones) + 1], "Body")
    return skeletons.build(rows)


SPIDERS = (
    "Leg{0}_Upper_{1}|Leg{0}_Mid_{1}|Leg{0}_Foot_{1}",
    "leg{0}a.{1}|leg{0}b.{1}|leg{0}c.{1}",
    "Leg_{1}_{0}|Leg_{1}_{0}_001|Leg_{1}_{0}_002",
    "Femur{0}.{1}|Tibia{0}.{1}|Tarsus{0}.{1}",
    "UpperLeg{0}.{1}|LowerLeg{0}.{1}",
    "coxa_{0}_{1}|femur_{0}_{1}|tibia_{0}_{1}",
)


@pytest.mark.parametrize("legs", [3, 4])
@pytest.mark.parametrize("names", SPIDERS)
def test_many_legs_all_vote_on_up(names: str, legs: int) -> None:
    found = detect.read_axes(spider(names, legs))
    assert off(found.up, (0, 0, 1)) < 10.0
    assert off(found.forward, (0, -1, 0)) < 10.0


KNEE_BACK = ((0.2, 0.0, 1.0), (0.2, 0.35, 0.6), (0.2, 0.0, 0.1), (0.2, -0.25, 0.0))
ROBOTS = {
    "feet": ("UpperLeg.{0}|LowerLeg.{0}|Foot.{0}", 3),
    "no feet": ("UpperLeg.{0}|LowerLeg.{0}", 2),
    "one bone": ("Leg.{0}", 1),
    "four bones": ("Thigh.{0}|Shin.{0}|Ankle.{0}", 3),
}


def robot(kind: str):
    """A machine with backward knees that faces -Y."""
    names, count = ROBOTS[kind]
    rows = skeletons.line(["Hips", "Torso", "Head"], [(0, 0, 1.0), (0, 0, 1.2), (0, 0, 1.6), (0, 0, 1.8)])
    for side, sign in (("L", 1.0), ("R", -1.0)):
        mirror = np.array([sign, 1.0, 1.0])
        rows += skeletons.line(
            [b.format(side) for b in names.split("|")], list(KNEE_BACK[: count + 1] * mirror), "Hips"
        )
        rows += skeletons.line(
            [f"Arm.{side}", f"Hand.{side}"], list(((0.3, 0, 1.5), (0.5, 0, 1.2), (0.5, -0.1, 1.0)) * mirror), "Torso"
        )
    return skeletons.build(rows)


@pytest.mark.parametrize("kind", ROBOTS)
def test_backward_knees_do_not_turn_a_robot_round(kind: str) -> None:
    found = detect.read_axes(robot(kind))
    assert off(found.up, (0, 0, 1)) < 10.0
    assert off(found.forward, (0, -1, 0)) < 10.0


BODIES = {
    "human": lambda: human(CONVENTIONS["bvh"]),
    "animal": skeletons.quadruped,
    "bird": skeletons.bird,
    "snake": lambda: skeletons.snake(12),
    **{f"{2 * legs} legs": lambda legs=legs: spider(SPIDERS[0], legs) for legs in (2, 3, 4, 5)},
    **{f"robot, {kind}": lambda kind=kind: robot(kind) for kind in ROBOTS},
}


@pytest.mark.parametrize("names", skeletons.RENAMED)
@pytest.mark.parametrize("kind", BODIES)
def test_whatever_the_names_forward_is_right_or_in_doubt(kind: str, names: str) -> None:
    found = detect.read_axes(skeletons.RENAMED[names](BODIES[kind]()))
    assert off(found.up, (0, 0, 1)) < 10.0 or found.confidence < axes.CERTAIN
    assert off(found.forward, (0, -1, 0)) < 10.0 or found.confidence < axes.CERTAIN


@pytest.mark.parametrize("names", ["numbers", "sides alone"])
@pytest.mark.parametrize("legs", [2, 3, 4, 5])
def test_legs_without_names_vote_on_up_and_the_short_end_is_the_head(legs: int, names: str) -> None:
    body = spider(SPIDERS[0], legs)
    strange = skeletons.RENAMED[names](body)
    found = detect.read_axes(strange)
    assert body.names[strange.index(detect.find_head(strange))] == "Head"
    assert off(found.up, (0, 0, 1)) < 1.0 and off(found.forward, (0, -1, 0)) < 1.0
    assert {str(vote.source) for vote in found.up_votes} == {"legs"}
    assert (found.confidence < axes.CERTAIN) == (names == "numbers"), "nothing but its length shows which end it is"
    assert not found.against, "legs that splay agree together"


def test_what_stands_on_the_ground_is_no_head() -> None:
    """Controls for feet in pairs, with names that say nothing."""
    body = human(CONVENTIONS["unreal"])
    strange = skeletons.RENAMED["numbers"](body)
    assert body.names[strange.index(detect.find_head(strange))] == "head"


def walk(armature, body, legs: int, ahead=(0.0, -1.0, 0.0), *, on_the_spot: bool = True) -> None:
    """Key steps of all legs in a direction."""
    plain = rest.skeleton(armature)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for n in range(legs):
            row = body.names.index(f"Leg{n + 1}_Upper_{side}")
            bone = armature.pose.bones[plain.names[row]]
            out = plain.heads[plain.names.index(bone.children[0].children[0].name)] - plain.heads[row]
            lift = rotation.normalize(rotation.cross(out, (0.0, 0.0, 1.0)))
            for frame in range(1, 26):
                phase = 2.0 * np.pi * (frame - 1) / 24.0 + np.pi * ((n + (sign > 0)) % 2)
                step = 0.25 * np.sin(phase) * np.sign(rotation.cross((0.0, 0.0, 1.0), out) @ np.array(ahead))
                turn = rotation.multiply(
                    rotation.about([0.0, 0.0, 1.0], step), rotation.about(lift, 0.15 * max(np.cos(phase), 0.0))
                )
                rested = plain.rotations[row]
                own = rotation.multiply(rotation.inverse(rested), rotation.multiply(turn, rested))
                bone.rotation_quaternion = own
                bone.keyframe_insert("rotation_quaternion", frame=frame)
    root = armature.pose.bones[plain.names[body.names.index("Body")]]
    back = rotation.inverse(plain.rotations[body.names.index("Body")])
    for frame in (1, 25):
        root.location = rotation.rotate(back, 0.02 * frame * np.array(ahead) * (not on_the_spot))
        root.keyframe_insert("location", frame=frame)


@pytest.mark.parametrize("on_the_spot", [True, False])
@pytest.mark.parametrize("degrees", [0.0, 180.0])
def test_steps_show_which_end_of_a_body_without_names_is_ahead(degrees: float, on_the_spot: bool) -> None:
    """One whose shape misleads, too: it walks towards its long end."""
    body = spider(SPIDERS[0], 3)
    strange = skeletons.RENAMED["numbers"](body)
    rows = [
        (name, None if parent < 0 else strange.names[parent], head, tail)
        for name, parent, head, tail in zip(strange.names, strange.parents, strange.heads, strange.tails, strict=True)
    ]
    armature = scenes.figure("Spider", rows)
    armature.scale = (-0.01, 0.01, 0.01)
    ahead = rotation.rotate(rotation.about([0.0, 0.0, 1.0], np.radians(degrees)), (0.0, -1.0, 0.0))
    walk(armature, body, 3, ahead, on_the_spot=on_the_spot)
    found = stance.of(armature).axes
    assert off(found.forward, ahead) < 10.0
    one_key = armature.animation_data.action
    for curve in actions.curves(one_key, armature.animation_data.action_slot):
        for key in list(curve.keyframe_points)[:0:-1]:
            curve.keyframe_points.remove(key)
    stance.forget()
    assert stance.of(armature).axes.confidence < axes.CERTAIN, "a pose makes no steps"
    assert (found.confidence < axes.CERTAIN) == (degrees == 180.0)
    assert (axis_votes.SPINE in found.against) == (degrees == 180.0)


@pytest.mark.parametrize("degrees", [-35.0, 20.0])
def test_a_head_that_looks_aside_throughout_the_clip_does_not_take_its_forward_along(degrees: float) -> None:
    names = CONVENTIONS["mixamo"]
    body = zero_poses.zero_posed(human(names))
    turns, head = zero_poses.motion(body), body.names.index(names.chain[0])
    turns[:, head] = rotation.multiply(rotation.about([0.0, 0.0, 1.0], np.radians(degrees)), turns[:, head])
    armature = zero_poses.armature(body, turns)
    plain = rest.skeleton(armature)
    truth, _ = body.truth(names.chain[0], plain.rotations[plain.index(names.chain[0])])
    assert off(aim(armature, names.chain[0])[0], truth) < 10.0


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (-0.01, 0.01, 0.01), (100.0, 100.0, -100.0)])
@pytest.mark.parametrize("body", [spider(SPIDERS[0]), robot("no feet"), robot("feet"), skeletons.quadruped()])
def test_the_world_shows_up_on_turned_scaled_and_mirrored_objects(body, scale: tuple[float, ...]) -> None:
    """An armature whose Y is up, as many files have it, in an object that is turned upright."""
    turn = rotation.from_axis_angle([1.0, 0.0, 0.0], -0.5 * np.pi)
    lying = skeletons.moved(body, turn)
    rows = [
        (name, None if parent < 0 else lying.names[parent], head, tail)
        for name, parent, head, tail in zip(lying.names, lying.parents, lying.heads, lying.tails, strict=True)
    ]
    armature = scenes.figure("Turned", rows)
    armature.rotation_euler, armature.scale = (0.5 * np.pi, 0.0, 0.0), scale
    bpy.context.view_layer.update()
    found = stance.of(armature).axes
    assert off(found.up, rotation.rotate(turn, (0.0, 0.0, 1.0))) < 10.0
    assert off(found.forward, rotation.rotate(turn, (0.0, -1.0, 0.0))) < 10.0
    for bone, name in zip(armature.data.bones, skeletons.RENAMED["numbers"](body).names, strict=True):
        bone.name = f"{name}."
    found = stance.of(armature).axes
    assert off(found.up, rotation.rotate(turn, (0.0, 0.0, 1.0))) < 10.0
    assert off(found.forward, rotation.rotate(turn, (0.0, -1.0, 0.0))) < 10.0 or found.confidence < axes.CERTAIN


def test_arms_are_no_legs_whatever_the_zero_pose() -> None:
    body = zero_poses.zero_posed(human(CONVENTIONS["bvh"]))
    armature = zero_poses.armature(body, zero_poses.motion(body))
    for animated in (True, False):
        if not animated:
            armature.animation_data_clear()
        legs = limbs.find_legs(armature)
        assert not any("Arm" in bone or "Hand" in bone for leg in legs for bone in (leg.upper, leg.lower, leg.foot))


def test_an_animation_that_faces_elsewhere_than_the_rest_pose_leaves_it_in_doubt() -> None:
    """The head's rest orientation has been turned round against the body that it sits on."""
    armature = scenes.figure("Turned", bodies.PERSON)
    scenes.animate(armature, bones=("hips", "spine"), size=0.05)
    assert stance.of(armature).axes.confidence > axes.CERTAIN
    assert any(vote.source == axis_votes.CLIP for vote in stance.of(armature).axes.forward_votes)
    head = armature.pose.bones["head"]
    for frame in (1, 60):
        head.rotation_quaternion = rotation.from_axis_angle([0.0, 1.0, 0.0], np.pi)
        head.keyframe_insert("rotation_quaternion", frame=frame)
    stance.forget()
    found = stance.of(armature).axes
    assert found.confidence < axes.CERTAIN
    assert axis_votes.CLIP in found.against


def test_a_doubtful_axis_is_noted_and_a_choice_settles_it() -> None:
    swap = {"L": "R", "R": "L"}
    rows = [
        tuple(f"{part[:-1]}{swap[part[-1]]}" if str(part)[-2:] in (".L", ".R") else part for part in row[:2]) + row[2:]
        for row in scenes.FIGURE
    ]
    armature = scenes.figure("Swapped", rows)
    target = scenes.ball()
    scenes.aim(armature, target)
    found = look_at.resolve(armature, "head")
    assert any("uncertain" in note and "feet" in note for note in found.notes)
    assert [note for note in found.notes if facing.is_doubt(note)] == [facing.doubt(armature, "head")]
    first, second = stance.of(armature).axes.candidates
    assert off(first[0], -second[0]) < 1.0
    for candidate, (forward, _) in enumerate((first, second)):
        facing.choose(armature, "head", candidate)
        chosen = look_at.resolve(armature, "head")
        assert not any("uncertain" in note for note in chosen.notes)
        plain = rest.skeleton(armature)
        back = rotation.inverse(plain.rotations[plain.index("head")])
        assert off(chosen.aim_axis, rotation.rotate(back, forward)) < 0.01
    facing.choose(armature, "head", -1)
    assert look_at.resolve(armature, "head").notes == found.notes
    armature.pose.bones["head"].lookat_pd.aim_axis = "POS_Z"
    assert not any("uncertain" in note for note in look_at.resolve(armature, "head").notes)


def test_a_candidate_that_is_not_there_is_named() -> None:
    armature = scenes.figure()
    scenes.aim(armature, scenes.ball())
    with pytest.raises(errors.RigError, match="no candidate 3"):
        facing.choose(armature, "head", 2)
    assert not any(armature.pose.bones["head"].lookat_pd.facing)


@pytest.mark.parametrize("tails", [True, False])
@pytest.mark.parametrize("legs", [3, 4])
def test_the_rig_decides_where_a_spider_faces_not_the_clip_that_plays(legs: int, tails: bool) -> None:
    """It rears up, lies on its back, or turns round; bones may all point along one axis."""
    body = spider(SPIDERS[0], legs)
    rows = [
        (name, None if parent < 0 else body.names[parent], head, tail if tails else head + np.array([0.03, 0.0, 0.0]))
        for name, parent, head, tail in zip(body.names, body.parents, body.heads, body.tails, strict=True)
    ]
    armature = scenes.figure("Spider", rows)
    data = armature.animation_data_create()
    for clip, turn in {"rears": (0.9, 0, 0), "dies": (3.0, 0, 0), "turns": (0, 3.0, 0), "walks": (0.05, 0, 0)}.items():
        data.action = None
        for bone in armature.pose.bones:
            bone.matrix_basis.identity()
        root = armature.pose.bones["Body"]
        root.rotation_mode = "XYZ"
        for frame, part in ((1, 0.7), (20, 1.0)):
            root.rotation_euler = [part * angle for angle in turn]
            root.keyframe_insert("rotation_euler", frame=frame)
            for bone in armature.pose.bones[1:]:
                bone.rotation_quaternion = rotation.about([1.0, 0.0, 0.0], 0.1 * part)
                bone.keyframe_insert("rotation_quaternion", frame=frame)
        data.action.name = clip
        track = data.nla_tracks.new()
        track.strips.new(clip, 1, data.action)
    for clip in ("rears", "dies", "turns", "walks"):
        data.action = bpy.data.actions[clip]
        stands = stance.of(armature)
        assert stands.at_rest
        assert off(stands.axes.up, (0, 0, 1)) < 1.0 and off(stands.axes.forward, (0, -1, 0)) < 1.0, clip


def test_of_several_clips_of_a_zero_pose_it_does_not_matter_which_plays() -> None:
    body = zero_poses.zero_posed(human(CONVENTIONS["bvh"]))
    armature = zero_poses.armature(body, zero_poses.motion(body, seed=1))
    data = armature.animation_data
    clips = [data.action]
    track = data.nla_tracks.new()
    track.strips.new("one", 1, data.action)
    other = data.action.copy()
    for curve in list(actions.curves(other, data.action_slot or other.slots[0])):
        for key in curve.keyframe_points:
            key.co[1] *= 0.9
    clips.append(other)
    data.nla_tracks.new().strips.new("other", 200, other)
    found = []
    for clip in clips:
        data.action = clip
        data.action_slot = clip.slots[0]
        found.append(stance.of(armature).axes)
    np.testing.assert_allclose(found[0].forward, found[1].forward, atol=1e-9)
    np.testing.assert_allclose(found[0].up, found[1].up, atol=1e-9)
