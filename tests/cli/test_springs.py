"""`springs`: what swings in the file that is written, what is reported, and what is refused."""

import bpy
import numpy as np
import pytest

from extension import load

from ..rig import scenes
from ..rig.springs.tails import HAIR, LAST, TAIL, animal, bends, seen, swing

chains = load("rig.springs.chains")


@pytest.fixture
def shot(tools, tmp_path):
    """An animal that turns, with a tail and hair."""
    animal()
    return tools.save(tmp_path / "shot.blend")


@pytest.mark.every_blender
def test_what_is_found_swings_as_it_does_live(shot, call, tools, tmp_path) -> None:
    output = tmp_path / "out.blend"
    outcome = call("springs", shot, "--range", 1, LAST, "--output", output)
    assert outcome.code == 0, outcome.errors
    assert {tuple(found["bones"]) for found in outcome.row["springs"]} == {TAIL, HAIR}
    tail = next(found for found in outcome.row["springs"] if len(found["bones"]) == len(TAIL))
    assert tail["preset"] == "CAT_TAIL" and tail["cycle"] is None
    assert 3.0 < max(tail["peak_swing_deg"]) < 60.0
    tools.reopen(output)
    armature = bpy.data.objects["Hero"]
    assert all(chain.settings.mute for chain in chains.on(armature))
    baked = seen(armature)
    tools.reopen(shot)
    armature = bpy.data.objects["Hero"]
    swing(armature, TAIL)
    np.testing.assert_allclose(baked, seen(armature), atol=1e-4)


def test_bones_and_settings_are_chosen(shot, call, tools, tmp_path) -> None:
    words = ("--bones", "tail.00[12]", "tail.003", "--preset", "heavy-tail", "--settle-time", 0.4, "--range", 1, LAST)
    outcome = call("springs", shot, *words, "--output", tmp_path / "out.glb")
    assert outcome.code == 0, outcome.errors
    (found,) = outcome.row["springs"]
    assert found["bones"] == list(TAIL[:3])
    assert found["preset"] == "HEAVY_TAIL" and found["settle_time"] == pytest.approx(0.4)


def test_settings_change_along_chains(shot, call, tools, tmp_path) -> None:
    words = ("--bones", "tail*", "--along", "drag", 1, 4, "--along", "settle", 1, 0.5, 1, "--range", 1, LAST)
    words += ("--limit", 20, "--stretch", 0.1, "--wind", 1, -2, 0, "--turbulence", 0, "--along", "wind", 0, 1)
    outcome = call("springs", shot, *words, "--output", tmp_path / "out.blend")
    assert outcome.code == 0, outcome.errors
    tools.reopen(tmp_path / "out.blend")
    (chain,) = chains.on(bpy.data.objects["Hero"])
    along_chain = load("rig.springs.along_chain")
    np.testing.assert_allclose(along_chain.factors(chain, "drag_factor"), [1.0, 2.0, 3.0, 4.0], rtol=1e-6)
    np.testing.assert_allclose(along_chain.factors(chain, "settle_factor"), [1.0, 2 / 3, 2 / 3, 1.0], rtol=1e-6)
    np.testing.assert_allclose(along_chain.factors(chain, "wind_factor"), [0.0, 1 / 3, 2 / 3, 1.0], atol=1e-6)
    s = chain.settings
    np.testing.assert_allclose(
        (np.degrees(s.limit), s.stretch, s.turbulence, *s.wind), (20, 0.1, 0, 1, -2, 0), rtol=1e-6
    )
    along = [("--along", *words) for words in (("length", 1), ("drag",), ("drag", "much"), ("drag", -1))]
    for wrong in (*along, ("--limit", 0), ("--stretch", 2), ("--wind", 1), ("--wind", "nan", 0, 0)):
        outcome = call("springs", shot, *wrong, "--output", tmp_path / "wrong.blend")
        assert outcome.code == 2 and not (tmp_path / "wrong.blend").exists()


def test_a_cycle_has_no_seam_and_no_other_action_is_one(shot, call, tools, tmp_path) -> None:
    outcome = call("springs", shot, "--bones", "tail*", "--cyclic", "--output", tmp_path / "out.blend")
    assert outcome.code != 0 and "is no cycle" in outcome.row["error"]
    tools.reopen(shot)
    armature = bpy.data.objects["Hero"]
    hips = armature.pose.bones["hips"]
    for frame in (1, 25):
        hips.rotation_euler.y = 0.3
        hips.keyframe_insert("rotation_euler", frame=frame)
    tools.save(shot)
    outcome = call(
        "springs", shot, "--bones", "tail*", "--cyclic", "--range", 1, 25, "--output", tmp_path / "out.blend"
    )
    assert outcome.code == 0, outcome.errors
    (found,) = outcome.row["springs"]
    assert found["cycle"] == [1, 25] and found["seam_deg"] < 1e-4
    assert found["penetration"] is None and found["beyond_limit"] is None
    tools.reopen(tmp_path / "out.blend")
    first, last = bends(seen(bpy.data.objects["Hero"], frames=[1, 25]))
    np.testing.assert_allclose(first, last, atol=1e-5)


def test_what_cannot_be_done_is_said(shot, call, tmp_path) -> None:
    outcome = call("springs", shot, "--bones", "wing*", "--output", tmp_path / "out.blend")
    assert outcome.code != 0 and "matches 'wing*'" in outcome.row["error"]


@pytest.mark.thorough
def test_colliders_are_chosen(shot, call, tools, tmp_path) -> None:
    output = tmp_path / "out.blend"
    tools.reopen(shot)
    scenes.keyed(bpy.data.objects["Hero"], "location", [(1, (0.0, 0.0, -0.9)), (20, (0.0, 0.0, -1.05))])
    tools.save(shot)
    words = ("springs", shot, "--bones", "tail*", "--limit", 2, "--radius", 0.02, "--range", 1, LAST)
    outcome = call(*words, "--collider", "floor", "head", "--output", output)
    assert outcome.code == 0, outcome.errors
    (found,) = outcome.row["springs"]
    # The root of the tail comes below the floor, out of which the rest is bent.
    assert found["beyond_limit"]["bone"] in TAIL and 1 <= found["beyond_limit"]["frame"] <= LAST
    assert found["beyond_limit"]["angle_deg"] > 1.0
    tools.reopen(output)
    assert bpy.data.objects["Hero"].pose.bones["head"].lookat_pd_collider.exists
    outcome = call(*words, "--collider", "wing*", "--output", output)
    assert outcome.code != 0 and "matches 'wing*'" in outcome.row["error"]


def test_all_who_have_something_that_swings_are_baked(call, tools, tmp_path) -> None:
    for name in ("Anna", "Bo", "Cleo"):
        armature = animal()
        armature.name = name
        armature.animation_data.action.name = f"{name} turns"
    bare = bpy.data.objects["Cleo"]
    for bone in bare.data.bones:
        if bone.name in {*TAIL, *HAIR}:
            bare.data.bones[bone.name].name = f"spare {bone.name[-3:]}"
    several = tools.save(tmp_path / "several.blend")
    outcome = call("springs", several, "--range", 1, LAST, "--output", tmp_path / "out.blend")
    assert outcome.code == 0, outcome.errors
    assert [own["rig"] for own in outcome.row["characters"]] == ["Anna", "Bo"]
    (note,) = [note for note in outcome.row["warnings"] if "choose with --rig" in note]
    assert "'Anna', 'Bo' of the armatures" in note
    tools.reopen(several)
    swing(bpy.data.objects["Bo"], TAIL)
    tools.save(several)
    outcome = call("springs", several, "--range", 1, LAST, "--output", tmp_path / "out.blend")
    assert outcome.code == 0, outcome.errors
    assert outcome.row["rig"] == "Bo" and not outcome.row.get("characters")
    outcome = call("springs", several, "--bones", "tail*", "--range", 1, LAST, "--output", tmp_path / "out.blend")
    assert [own["rig"] for own in outcome.row["characters"]] == ["Anna", "Bo"]
