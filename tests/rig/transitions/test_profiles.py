"""Profiles on a rig: some bones blend longer, later, or play only one of the clips."""

from pathlib import Path

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import scenes
from .motions import character, poses, stored, use, walk

actions = load("rig.animation.actions")
blend_profiles = load("rig.transitions.blend_profiles")
join = load("rig.transitions.join")
loop = load("rig.transitions.loop")
pops = load("rig.transitions.pops")
profile_settings = load("rig.transitions.profile_settings")
profiles = load("lookat_pd.transitions.profiles")
rotation = load("lookat_pd.rotation")
visual_join = load("rig.transitions.visual.visual_join")
visual_transition = load("rig.transitions.visual.visual_transition")
drain = load("lookat_pd.progress").drain
methods = load("lookat_pd.transitions.methods")
splice = load("rig.transitions.splice")
errors = load("lookat_pd.errors")

Row = profiles.ProfileRow
CUT, ENTER, BLEND, FPS = 21, 9, 10, 24
QUATERNION = 'pose.bones["{}"].rotation_quaternion'


def pair():
    """A character, and two of its clips."""
    armature = character()
    bpy.context.scene.render.fps = FPS
    source, destination = walk(armature, "Run", seed=1), walk(armature, "Walk", seed=2)
    use(armature, source)
    return armature, source, destination


def joined(case, *rows: Row, method: str = "INERTIAL", **options):
    armature, source, destination = case
    blend = splice.Blend(BLEND / FPS, method, blend_profiles.fitted(rows, armature))
    refs = join.ClipRef(source, CUT), join.ClipRef(destination, ENTER)
    return join.join(armature, *refs, blend, root="NONE", **options)


def turns(case, action, frames) -> dict[str, np.ndarray]:
    """Rotations (F, 4) of each bone as an action has them."""
    values = stored(case[0], action, frames)
    bones = {path.split('"')[1] for path, _ in values if path.endswith("rotation_quaternion")}
    return {bone: np.array([values[QUATERNION.format(bone), n] for n in range(4)]).T for bone in bones}


def off(case, action, frames, clip, own) -> dict[str, np.ndarray]:
    """How far [rad] each bone is from a clip at frames of its own (F)."""
    here, there = turns(case, action, frames), turns(case, clip, own)
    return {bone: rotation.distance(rotation.normalize(here[bone]), rotation.normalize(there[bone])) for bone in here}


@pytest.mark.parametrize("method", [row.identifier for row in methods.METHODS.values()])
def test_each_bone_ends_its_blend_in_its_own_time(method: str) -> None:
    case = pair()
    rows = (
        Row("BONES", "head", factor=0.0),
        Row("BONES", "*arm.L", factor=0.5),
        Row("BONES", "*arm.R", factor=0.5, delay=4 / FPS),
        Row("BONES", "thigh.L", filter="SOURCE"),
        Row("BONES", "thigh.R", filter="DESTINATION"),
        Row("BONES", "*arm*", factor=2.0),
    )
    made = joined(case, *rows, method=method).action
    frames = list(range(CUT, CUT + 20))
    away = off(case, made, frames, case[2], [frame - CUT + ENTER for frame in frames])
    ends = {"head": 0, "upper_arm.L": 5, "upper_arm.R": 9, "thigh.R": 0, "spine": BLEND}
    for bone, end in ends.items():
        if method == "CUT":
            end = 5 if bone == "upper_arm.R" else 0
        assert away[bone][max(end - 1, 0) :].max() < 1e-6, bone
        assert end == 0 or away[bone][0] > 1e-3, bone
    on = off(case, made, frames, case[1], frames)
    assert on["thigh.L"].max() < 1e-6 and on["upper_arm.R"][:4].max() < 1e-6
    assert on["upper_arm.R"][6:].max() > 1e-2


def test_the_source_plays_on_to_the_end_and_then_holds_its_last_pose() -> None:
    case = pair()
    result = joined(case, Row("BONES", "head", filter="SOURCE"))
    frames = list(range(CUT, result.last + 1))
    on = off(case, result.action, frames, case[1], frames)
    assert result.last > 41 and on["head"].max() < 1e-6 < on["neck"].max()


def test_the_source_plays_on_through_a_chain() -> None:
    case = armature, source, destination = pair()
    third = walk(armature, "Stroll", seed=3)
    blend = splice.Blend(0.2, profile=blend_profiles.fitted([Row("BONES", "head", filter="SOURCE")], armature))
    steps = [
        join.ClipStep(join.ClipRef(action, 1), at, blend)
        for action, at in ((source, 1), (destination, 11), (third, 21))
    ]
    result = join.chain(armature, steps, root="NONE")
    frames = list(range(1, result.last + 1))
    assert off(case, result.action, frames, source, frames)["head"].max() < 1e-6


def test_curves_have_rows_of_their_own() -> None:
    case = armature, source, destination = pair()
    rows = Row("CURVES", "mood", factor=0.0), Row("CURVES", '*["style"]', filter="SOURCE"), Row("BONES", "*", 1.0)
    values = stored(armature, joined(case, *rows).action, range(CUT, CUT + 5))
    there = stored(armature, destination, range(ENTER, ENTER + 5))
    before = stored(armature, source, range(CUT, CUT + 5))
    mood, style = ('pose.bones["head"]["mood"]', 0), ('pose.bones["head"]["style"]', 0)
    np.testing.assert_array_equal(values[mood], there[mood])
    np.testing.assert_array_equal(values[style], before[style])
    assert values[QUATERNION.format("head"), 1][0] != there[QUATERNION.format("head"), 1][0]


@pytest.mark.every_blender
def test_bone_collections() -> None:
    armature = character()
    upper = armature.data.collections.new("Upper")
    arms = armature.data.collections.new("Arms", parent=upper)
    arms.assign(armature.data.bones["upper_arm.L"])
    fitted = blend_profiles.fitted([Row("COLLECTION", "upper", 0.5)], armature)
    assert set(fitted.bones) == {"upper_arm.L"} and fitted.factor("upper_arm.L") == 0.5 and fitted.factor("head") == 1.0
    rows = Row("COLLECTION", "Upper"), Row("COLLECTION", "Nothing"), Row("BONES", "tail*")
    assert [blend_profiles.count(row, armature) for row in rows] == [1, 0, 0]
    assert blend_profiles.unused(rows, armature) == list(rows[1:])


def test_a_pop_and_a_loop_have_factors_too() -> None:
    case = armature, _, _ = pair()
    hard = join.join(
        armature, join.ClipRef(case[1], CUT), join.ClipRef(case[2], ENTER), splice.Blend(0.0, "CUT"), root="NONE"
    ).action
    profile = blend_profiles.fitted([Row("BONES", "head", 0.0), Row("BONES", "neck", 0.5)], armature)
    smooth = hard.copy()
    pops.smooth(armature, smooth, CUT, splice.Blend(BLEND / FPS, profile=profile), bones=["head", "neck", "spine"])
    frames = list(range(CUT, CUT + 15))
    away = off(case, smooth, frames, hard, frames)
    assert away["head"].max() < 1e-6 and away["neck"][5:].max() < 1e-6 < away["neck"][0]
    assert away["spine"][6] > 1e-4
    looped = loop.loop(armature, case[1], blend=splice.Blend(BLEND / FPS, profile=profile)).action
    frames = list(range(1, 42))
    away = off(case, looped, frames, case[1], frames)
    assert away["head"].max() < 1e-6 and away["neck"][5:-6].max() < 1e-6 and away["spine"][0] > 1e-3


def test_only_joined_actions_let_the_source_play_on() -> None:
    armature, source, _ = pair()
    profile = blend_profiles.fitted([Row("BONES", "he*", filter="SOURCE")], armature)
    before = scenes.snapshot()
    for attempt in (
        lambda: loop.loop(armature, source, blend=splice.Blend(profile=profile)),
        lambda: pops.smooth(armature, source, CUT, splice.Blend(profile=profile)),
        lambda: drain(visual_transition.blend_at(bpy.context.scene, armature, CUT, splice.Blend(profile=profile))),
    ):
        with pytest.raises(errors.RigError, match=r"Row 'he\*' of the profile lets the source play on"):
            attempt()
    assert not scenes.differences(before, scenes.snapshot())


def test_visual() -> None:
    """Bones with a factor of 0 are cut, delayed ones follow later, and the source plays on where it should."""
    case = armature, _, _ = pair()
    for action in case[1:]:
        use(armature, action)
        actions.remove_curves(armature, 'pose.bones["chest"].scale')
    rows = (
        Row("BONES", "head", 0.0),
        Row("BONES", "upper_arm.L", 0.5),
        Row("BONES", "upper_arm.R", delay=5 / FPS),
        Row("BONES", "thigh.L", filter="SOURCE"),
    )
    frames = range(CUT - 2, CUT + 20)
    hard = poses(armature, joined(case, *rows, method="CUT").action, frames)
    use(armature, case[1])
    blend = splice.Blend(BLEND / FPS, profile=blend_profiles.fitted(rows, armature))
    refs = join.ClipRef(case[1], CUT), join.ClipRef(case[2], ENTER)
    job = visual_join.joined(
        bpy.context.scene, armature, lambda how: join.joining(armature, *refs, how, root="NONE"), blend
    )
    result = drain(job)
    seen = poses(armature, result.action, frames)
    names = [bone.name for bone in armature.pose.bones]
    away = {name: np.abs(local(seen, armature, n) - local(hard, armature, n)) for n, name in enumerate(names)}
    assert away["head"].max() < 1e-4 and away["thigh.L"].max() < 1e-4
    assert away["upper_arm.L"][7:].max() < 1e-4 < away["upper_arm.L"][3].max()
    # The arm that waits does not jump with the others, and blends afterwards.
    assert away["upper_arm.R"][2:7].max() < 1e-4 < away["upper_arm.R"][8].max()
    assert away["upper_arm.R"][2 + 5 + BLEND :].max() < 1e-4


def local(matrices: np.ndarray, armature, row: int) -> np.ndarray:
    """Matrices (F, 4, 4) of a bone relative to its parent."""
    parent = armature.pose.bones[row].parent
    if parent is None:
        return matrices[:, row]
    return np.linalg.inv(matrices[:, list(armature.pose.bones).index(parent)]) @ matrices[:, row]


def test_deforming_bones_of_a_generated_rig_have_the_row_of_their_control() -> None:
    armature = kept.human()
    fitted = blend_profiles.fitted(
        [Row("BONES", "upper_arm_fk.L, hand_fk.L", 0.5), Row("BONES", "DEF-hand.L")], armature
    )
    assert fitted.factor("DEF-upper_arm.L") == 0.5 and fitted.factor("DEF-upper_arm.L.001") == 0.5
    assert fitted.factor("DEF-hand.L") == 1.0 and fitted.factor("DEF-upper_arm.R") == 1.0


def test_shipped_presets_fit_a_generated_human() -> None:
    armature = kept.human()
    assert {"Arms Later", "Fingers Cut", "Face from Source"} <= profile_settings.available().keys()
    for path in profile_settings.available().values():
        assert profile_settings.about(path)
        fitted = blend_profiles.fitted(profile_settings.read(path), armature)
        assert fitted.bones and "torso" not in fitted.bones and "DEF-thigh.L" not in fitted.bones


@pytest.mark.parametrize("text", ["", "[", '[{"bones": ""}]', "\0", "[]" + " " * 2_000_000])
def test_presets_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "Mine.json"
    path.write_text(text)
    if not text:
        assert profile_settings.read(path) == ()
        return
    with pytest.raises(errors.FileError, match="The profile 'Mine'"):
        profile_settings.read(path)
    assert profile_settings.about(path) == ""
    with pytest.raises(errors.FileError):
        profile_settings.read(tmp_path / "Nothing.json")
