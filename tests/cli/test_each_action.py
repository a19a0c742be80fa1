"""Several actions in one go: which are chosen, what each becomes, and that none depends on the others."""

from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Euler

from ..rig import scenes

AIM = "--point=0.4,-2,1.7"


def sway(hero, name: str, size: float, last: int) -> None:
    """An action in which one bone of its own moves besides the head."""
    hero.animation_data.action = bpy.data.actions.new(name)
    hero.animation_data.action.use_fake_user = True
    for bone in ("head", "upper_arm.L" if size > 0.2 else "thigh.L"):
        for frame, angle in ((1, 0.0), (last, size)):
            hero.pose.bones[bone].rotation_quaternion = Euler((angle, 0.0, 0.0)).to_quaternion()
            hero.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame)


@pytest.fixture(params=[".blend", ".glb"])
def shot(request, tools, tmp_path) -> Path:
    """A character with four actions of which it plays none, one of them of the ball alone."""
    hero = tools.make_armature("Hero")
    hero.animation_data_create()
    for name, size, last in (("Walk", 0.1, 11), ("Walk fast", 0.3, 9), ("Death", 0.6, 13)):
        sway(hero, name, size, last)
    hero.animation_data.action = None
    for bone in hero.pose.bones:
        bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    ball = tools.make_ball()
    ball.keyframe_insert("location", frame=1)
    ball.keyframe_insert("location", frame=20)
    ball.animation_data.action.name = "Bounce"
    path = tmp_path / f"shot{request.param}"
    if request.param == ".blend":
        return tools.save(path)
    bpy.ops.export_scene.gltf(filepath=str(path), export_format="GLB", export_animation_mode="ACTIONS")
    return path


def names(path: Path, tools) -> set[str]:
    tools.reopen(path)
    return {action.name for action in bpy.data.actions}


def curves(path: Path, tools, name: str) -> dict:
    """The keys of an action."""
    tools.reopen(path)
    found = {}
    for layer in bpy.data.actions[name].layers:
        for bag in layer.strips[0].channelbags:
            for curve in bag.fcurves:
                values = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
                curve.keyframe_points.foreach_get("co", values)
                found[bag.slot.name_display, curve.data_path, curve.array_index] = values.tobytes()
    return found


@pytest.mark.slow
def test_each_action_becomes_what_it_becomes_alone(shot, call, tools, tmp_path) -> None:
    out = tmp_path / f"out{shot.suffix}"
    outcome = call("bake", shot, "--output", out, AIM, "--action", "Walk*", "--action", "Death")
    assert outcome.code == 0, outcome.errors
    row = outcome.row
    assert [own["source"] for own in row["baked"]] == ["Walk", "Walk fast", "Death"]
    assert [own["action"] for own in row["baked"]] == ["Walk look-at", "Walk fast look-at", "Death look-at"]
    assert [own["frames"][1] - own["frames"][0] for own in row["baked"]] == [10, 8, 12]
    assert row["action"] == "Walk look-at" and row["frames"] == row["baked"][0]["frames"] and row["ok"]
    assert "3 actions" in outcome.out
    for source in ("Walk", "Walk fast", "Death"):
        alone = tmp_path / f"{source}{shot.suffix}"
        assert call("bake", shot, "--output", alone, AIM, "--action", source).row["baked"] is None
        assert curves(out, tools, f"{source} look-at") == curves(alone, tools, f"{source} look-at")
    assert {"Walk", "Walk fast", "Death", "Bounce"} <= names(out, tools)
    if shot.suffix == ".blend":
        data = bpy.data.objects["Hero"].animation_data
        assert data.action.name == "Walk look-at" and all(track.mute for track in data.nla_tracks)
        assert [track.name for track in data.nla_tracks] == ["Walk look-at", "Walk fast look-at", "Death look-at"]


def test_all_actions_are_those_that_move_the_character(shot, call, tmp_path) -> None:
    row = call("bake", shot, "--output", tmp_path / f"out{shot.suffix}", AIM, "--all-actions").row
    assert {own["source"] for own in row["baked"]} == {"Walk", "Walk fast", "Death"}


def test_without_a_choice_the_command_asks_for_one(shot, call, tmp_path) -> None:
    outcome = call("bake", shot, "--output", tmp_path / f"out{shot.suffix}", AIM)
    assert outcome.code == 1 and not (tmp_path / f"out{shot.suffix}").exists()
    error = outcome.row["error"]
    assert all(name in error for name in ("'Walk'", "'Walk fast'", "'Death'", "--action", "--all-actions"))
    assert "Bounce" not in error


@pytest.mark.parametrize(
    ("pattern", "said"), [("Swim*", "There is no action 'Swim*'"), ("Bounce", "'Bounce' does not move 'Hero'")]
)
def test_a_choice_of_nothing_is_reported(shot, call, tmp_path, pattern, said) -> None:
    words = ["--output", tmp_path / f"out{shot.suffix}", AIM, "--action", "Walk", "--action", pattern]
    outcome = call("bake", shot, *words)
    assert outcome.code == 1 and said in outcome.row["error"] and "'Death'" in outcome.row["error"]
    assert not (tmp_path / f"out{shot.suffix}").exists()


def test_two_results_of_one_name_are_refused(tools, call, tmp_path) -> None:
    hero = tools.make_armature("Hero")
    hero.animation_data_create()
    sway(hero, "Walk", 0.1, 11)
    sway(hero, "Walk.001", 0.1, 11)
    shot = tools.save(tmp_path / "shot.blend")
    error = call("bake", shot, "--output", tmp_path / "out.blend", AIM, "--all-actions").row["error"]
    assert "'Walk' and 'Walk.001' would both become 'Walk look-at'" in error


def test_an_error_names_the_action(tools, call, tmp_path) -> None:
    hero = tools.make_armature("Hero")
    hero.animation_data_create()
    sway(hero, "Walk", 0.1, 11)
    sway(hero, "Pose", 0.0, 1)
    shot = tools.save(tmp_path / "shot.blend")
    outcome = call("inertialize", shot, "--output", tmp_path / "out.blend", "--all-actions", "--loop")
    assert outcome.code == 1 and "Action 'Pose': " in outcome.row["error"]
    assert not (tmp_path / "out.blend").exists()


def test_all_actions_follow_the_keys_of_the_shot(tools, call, tmp_path) -> None:
    """Keys in one of the actions are of that one alone, as in files of earlier versions, until they are moved."""
    hero = tools.make_armature("Hero")
    hero.animation_data_create()
    for name in ("Death", "Walk"):
        sway(hero, name, 0.1, 31)
    settings = scenes.aim(hero, tools.make_ball())
    for frame, value in ((1, True), (5, False)):
        settings.use = value
        hero.keyframe_insert('pose.bones["head"].lookat_pd.use', frame=frame)
    settings.use = True
    shot = tools.save(tmp_path / "shot.blend")
    differs, moved = {}, {}
    for words in ((), ("--move-keys",)):
        out = tmp_path / f"out{len(words)}.blend"
        row = call("bake", shot, "--output", out, "--all-actions", *words).row
        assert row["ok"] and len(row["baked"]) == 2
        moved[words] = row["moved_keys"]
        head = 'pose.bones["head"].rotation_quaternion'
        keys = [curves(out, tools, f"{name} look-at")["Hero", head, 2] for name in ("Walk", "Death")]
        last = [np.frombuffer(one, np.float32)[-1] for one in keys]
        differs[words] = abs(last[0] - last[1]) > 0.01
    assert moved == {(): None, ("--move-keys",): 1}
    assert differs == {(): True, ("--move-keys",): False}


@pytest.mark.every_blender
def test_keys_go_into_the_actions_themselves(shot, call, tools, tmp_path) -> None:
    out = tmp_path / f"out{shot.suffix}"
    row = call("bake", shot, "--output", out, AIM, "--action", "Walk*", "--into", "current").row
    assert [own["action"] for own in row["baked"]] == ["Walk", "Walk fast"]
    found = names(out, tools)
    assert not any("look-at" in name for name in found) and {"Walk", "Walk fast", "Death"} <= found
    assert curves(out, tools, "Walk") != curves(shot, tools, "Walk")


def test_a_layer_belongs_to_one_action(shot, call, tmp_path) -> None:
    outcome = call("bake", shot, "--output", tmp_path / "o.blend", AIM, "--all-actions", "--into", "layer")
    assert outcome.code == 2 and "--into layer" in outcome.errors[-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verb", "words", "ending"),
    [
        ("ik", ["--bone", "foot.L", "--point=0.1,-0.2,0.2"], "IK"),
        ("inertialize", ["--loop"], "loop"),
        ("inertialize", ["--smooth-pops"], "smooth"),
        ("reach", ["--bone", "foot.L", "--point=0.1,-0.2,0.2", "--duration", "0.2"], "reach"),
        ("hit", ["--hit", "5,head,0,10,0", "--settle-time", "0.2"], "hit"),
    ],
)
def test_other_verbs_take_several_actions_too(shot, call, tools, tmp_path, verb, words, ending) -> None:
    if verb == "reach":
        pytest.importorskip("mujoco", reason="the engine of dynamics is not installed")
    out = tmp_path / f"out{shot.suffix}"
    outcome = call(verb, shot, "--output", out, "--action", "Walk*", *words)
    assert outcome.code == 0, outcome.errors
    wanted = {f"Walk {ending}", f"Walk fast {ending}"}
    assert {own["action"] for own in outcome.row["baked"]} == wanted and wanted <= names(out, tools)


def test_a_join_needs_one_action(shot, call, tmp_path) -> None:
    outcome = call("inertialize", shot, "--output", tmp_path / "o.blend", "--action", "Walk*", "--to", "Death")
    assert outcome.code == 1 and "--action stands for 2 actions: 'Walk', 'Walk fast'" in outcome.row["error"]
    outcome = call("inertialize", shot, "--output", tmp_path / "o.blend", "--all-actions", "--to", "Death")
    assert outcome.code == 2


@pytest.mark.thorough
def test_the_choice_of_actions_is_part_of_the_digest(shot, call, tmp_path) -> None:
    words = ["--output", tmp_path / f"out{shot.suffix}", AIM, "--skip-done"]
    for choice in (["--action", "Walk"], ["--action", "Walk*"], ["--all-actions"]):
        assert [call("bake", shot, *words, *choice).row["skipped"] for _ in range(2)] == [False, True]
