"""Springs on bones: what is seen live, after look-ats, in every state of a file, and that a bake shows the same."""

import bpy
import numpy as np
import pytest
from numpy.testing import assert_allclose

from extension import load

from .. import scenes
from ..detection.test_detect import generated, rigify  # noqa: F401
from . import tails
from .tails import FRAMES, HAIR, LAST, TAIL, animal, bends, live, seen, springs_edit, swing

bake_options = load("rig.animation.bake_options")
chains = load("rig.springs.chains")
drain = load("lookat_pd.progress").drain
errors = load("lookat_pd.errors")
layer_bake = load("rig.layers.layer_bake")
springs_kind = load("rig.springs.springs_kind")
SpringLayer = load("rig.springs.springs_layer").SpringLayer


def status(armature: bpy.types.Object):
    return live.status(bpy.context.scene, armature, "", "SPRINGS")


def test_a_tail_trails_and_swings_past_and_everything_else_stays() -> None:
    armature = animal()
    others = ("hips", "head", "foot.L")
    before, plain = seen(armature, others), bends(seen(armature))
    swing(armature)
    found = bends(seen(armature)) - plain
    assert status(armature).state == "SOLVED"
    assert np.array_equal(seen(armature, others), before)
    turning = np.sign(plain[-1, 0] - plain[0, 0])
    tip = found[:, -1] * turning
    assert tip[:16].min() < -0.15
    assert tip[12:].max() > 0.15
    assert np.abs(tip[-6:]).max() < 0.06
    assert np.abs(tip[:5]).max() < 1e-3


def test_a_frame_is_the_same_however_it_is_reached_and_without_the_extension() -> None:
    armature = animal()
    swing(armature)
    played = seen(armature)
    for frame in (17, 3, 40, 11):
        assert np.array_equal(seen(armature, frames=[frame])[0], played[frame - 1])
    with load("rig.sampling.suspend").suspend_live():
        assert np.array_equal(seen(armature), played)


def test_a_head_that_looks_moves_its_hair() -> None:
    armature = animal()
    armature.animation_data_clear()
    ball = scenes.ball((2.0, -1.0, 1.7))
    scenes.keyed(ball, "location", [(1, (0.0, -3.0, 1.7)), (12, (0.0, -3.0, 1.7)), (13, (3.0, -0.5, 1.7))])
    swing(armature, HAIR)
    still = seen(armature, HAIR)
    assert np.abs(still - still[0]).max() < 1e-5
    scenes.aim(armature, ball)
    found = seen(armature, ("head", *HAIR))
    stack = armature.pose.bones["hair.001"].constraints
    assert [item.name for item in stack] == ["Springs PD 1.0"]
    local = np.linalg.inv(found[:, 0]) @ found[:, 2]
    assert np.abs(local - local[0]).max() > 0.02
    assert np.abs(local[-1] - local[0]).max() < 0.01


def test_settings_answer_at_once_and_muted_it_is_the_animation_to_the_bit() -> None:
    armature = animal()
    plain = seen(armature)
    (chain,) = swing(armature)
    soft = seen(armature)
    chain.settings.settle_time = 0.2
    hard = seen(armature)
    assert np.abs(hard - plain).max() < 0.4 * np.abs(soft - plain).max()
    chain.settings.settle_time = 0.6
    assert np.array_equal(seen(armature), soft)
    chain.settings.influence = 0.0
    assert_allclose(seen(armature), plain, atol=1e-6)
    chain.settings.influence = 1.0
    chain.settings.mute = True
    assert np.array_equal(seen(armature), plain)
    assert not list(SpringLayer.on(armature))
    chain.settings.mute = False
    assert np.array_equal(seen(armature), soft)
    springs_edit.remove(chain)
    assert np.array_equal(seen(armature), plain)
    assert not list(chains.on(armature))


def test_edited_keys_are_seen() -> None:
    armature = animal()
    swing(armature)
    before = seen(armature)
    scenes.keyed(armature.pose.bones["hips"], "rotation_euler", [(18, (0.0, 0.4, 0.0))])
    after = seen(armature)
    assert np.abs(after - before).max() > 0.1
    scenes.keyed(armature.pose.bones["hips"], "rotation_euler", [(18, (0.0, 1.2, 0.0))])
    assert_allclose(seen(armature), before, atol=1e-6)


def test_opened_again_it_is_not_solved_again(tmp_path, monkeypatch) -> None:
    armature = animal()
    swing(armature, TAIL, HAIR)
    shown = seen(armature, (*TAIL, *HAIR))
    path = str(tmp_path / "tail.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    monkeypatch.setattr(springs_kind.SpringKind, "solve", lambda *_: pytest.fail("it was solved when it was saved"))
    bpy.ops.wm.open_mainfile(filepath=path)
    armature = bpy.data.objects["Hero"]
    assert {chain.bones for chain in chains.on(armature)} == {TAIL, HAIR}
    assert np.array_equal(seen(armature, (*TAIL, *HAIR)), shown)


def test_undone_and_done_again_it_is_as_it_was() -> None:
    armature = animal()
    (chain,) = swing(armature)
    shown = seen(armature)
    bpy.ops.ed.undo_push(message="before")
    chain.settings.settle_time = 1.2
    softer = seen(armature)
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert np.array_equal(seen(bpy.data.objects["Hero"]), shown)
    bpy.ops.ed.redo()
    assert np.array_equal(seen(bpy.data.objects["Hero"]), softer)


@pytest.mark.every_blender
@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
def test_a_bake_shows_what_was_live_and_mutes(into) -> None:
    armature = animal()
    (chain,) = swing(armature)
    shown = seen(armature)
    (instance,) = springs_kind.SpringKind().find(bpy.context.scene)
    options = bake_options.BakeOptions(1, LAST, into)
    drain(layer_bake.bake(bpy.context.scene, springs_kind.SpringKind, [instance], options))
    assert chain.settings.mute
    assert not list(SpringLayer.on(armature))
    # Blender's Combine takes small angles from their cosines, in single precision.
    assert_allclose(seen(armature), shown, atol=2e-3 if into == "LAYER" else 2e-5)


def test_an_object_that_moves_is_felt_and_one_that_jumps_is_not() -> None:
    armature = animal()
    armature.animation_data_clear()
    plain = seen(armature)
    (chain,) = swing(armature)
    scenes.keyed(armature, "location", [(6, (0.0, 0.0, 0.0)), (16, (1.0, 0.0, 0.0))])
    moved = seen(armature)
    assert np.abs(moved - plain).max() > 0.1
    chain.settings.inertia = 0.0
    assert_allclose(seen(armature), plain, atol=1e-5)
    chain.settings.inertia = 1.0
    armature.animation_data_clear()
    scenes.keyed(armature, "location", [(19, (0.0, 0.0, 0.0)), (20, (9.0, 0.0, 0.0))])
    for curve in load("rig.animation.actions").curves(
        armature.animation_data.action, armature.animation_data.action_slot
    ):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    assert_allclose(seen(armature), plain, atol=1e-5)


def test_under_a_parent_that_moves_and_scaled_it_swings() -> None:
    armature = animal()
    armature.animation_data_clear()
    carrier = scenes.ball((0.0, 0.0, 0.0), "Carrier")
    armature.parent = carrier
    plain = seen(armature)
    swing(armature)
    scenes.keyed(carrier, "location", [(6, (0.0, 0.0, 0.0)), (16, (1.0, 0.0, 0.0))])
    whole = bends(seen(armature))
    assert np.abs(whole - bends(plain)).max() > 0.1
    armature.scale = (2.0, 2.0, 2.0)
    assert np.abs(bends(seen(armature)) - bends(plain)).max() < 0.75 * np.abs(whole - bends(plain)).max()


def test_bones_of_game_engines_end_at_the_next_joint() -> None:
    rows = [("hips", None, (0, 0, 1.0), (0, 0, 1.1)), ("head", "hips", (0, 0, 1.5), (0, 0, 1.6))]
    rows += [
        (name, TAIL[n - 1] if n else "hips", (0, 0.1 + 0.15 * n, 1.0), (0, 0.1 + 0.15 * n, 1.02))
        for n, name in enumerate(TAIL)
    ]
    found = []
    for bones in (rows, [*rows[:2], *(row for row in tails.ROWS if row[0] in TAIL)]):
        bpy.ops.wm.read_homefile(use_empty=True)
        bpy.context.scene.frame_end = LAST
        armature = scenes.figure(rows=bones)
        scenes.keyed(armature, "rotation_euler", [(6, (0.0, 0.0, 0.0)), (18, (0.0, 0.0, 1.2))])
        swing(armature)
        found.append(seen(armature)[:, :, :3, 3])
    assert np.abs(found[0] - found[0][0]).max() > 0.05
    assert_allclose(found[0][:, 1:], found[1][:, 1:], atol=0.01)


def cycle(armature: bpy.types.Object, last: int = 25) -> None:
    """A cycle of one second that repeats itself."""
    hips = armature.pose.bones["hips"]
    armature.animation_data_clear()
    scenes.keyed(hips, "rotation_euler", [(1, (0.0, 0.5, 0.0)), (13, (0.0, -0.5, 0.0)), (last, (0.0, 0.5, 0.0))])
    data = armature.animation_data
    for curve in load("rig.animation.actions").curves(data.action, data.action_slot):
        curve.modifiers.new("CYCLES")


def test_on_a_cycle_it_has_no_seam_and_needs_no_run_up() -> None:
    armature = animal()
    cycle(armature)
    (chain,) = swing(armature, settle_time=1.0)
    found = seen(armature, frames=range(1, 50))
    assert_allclose(found[24], found[0], atol=2e-6)
    assert_allclose(found[24:48], found[:24], atol=2e-6)
    assert "cycle" in " ".join(status(armature).notes)
    # Also in a range that is shorter than the cycle, or that begins elsewhere.
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 10, 20
    assert_allclose(seen(armature, frames=range(10, 21)), found[9:20], atol=2e-6)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    chain.settings.cyclic = False
    assert np.abs(seen(armature, frames=[1, 25])[1] - found[0]).max() > 1e-3


def test_where_the_character_jumps_within_a_cycle_the_chain_begins_at_rest() -> None:
    armature = animal()
    cycle(armature)
    carrier = scenes.ball((0.0, 0.0, 0.0), "Carrier")
    armature.parent = carrier
    scenes.keyed(carrier, "location", [(12, (0.0, 0.0, 0.0)), (13, (50.0, 0.0, 0.0))])
    plain = seen(armature, frames=[12, 13])
    swing(armature)
    found = seen(armature, frames=[12, 13])
    assert_allclose(found[1], plain[1], atol=1e-4)
    assert np.abs(bends(found[:1]) - bends(plain[:1])).max() < 1.0


def test_wind_blows_the_chain_aside_alike_each_time_and_without_a_seam() -> None:
    armature = animal()
    cycle(armature)
    (chain,) = swing(armature)
    calm = bends(seen(armature))
    chain.settings.wind = (15.0, 0.0, 0.0)
    chain.settings.turbulence = 0.0
    steady = bends(seen(armature)) - calm
    assert np.all(np.sign(steady[:, -1]) == np.sign(steady[0, -1]))
    assert np.abs(steady[:, -1]).min() > 0.05
    chain.settings.turbulence = 0.8
    gusty = seen(armature)
    assert np.abs(bends(gusty) - calm - steady).max() > 0.02
    assert np.array_equal(seen(armature), gusty)
    assert_allclose(gusty[24:48], gusty[:24], atol=2e-6)


def test_what_cannot_swing_is_said_with_the_remedy() -> None:
    armature = animal()
    with pytest.raises(errors.RigError, match="already swings"):
        springs_edit.add(armature, [list(TAIL), list(TAIL[2:])])
    assert not list(chains.on(armature))
    armature.data.pose_position = "REST"
    with pytest.raises(errors.RigError, match="rest position"):
        springs_edit.add(armature, [list(TAIL)])
    armature.data.pose_position = "POSE"
    (chain,) = swing(armature)
    chain.settings.bones[2].bone = "gone"
    assert "does not have" in chains.swinging(armature)[1]["tail.001"]
    seen(armature, frames=[1])
    assert "does not have" in status(armature).error


@pytest.mark.every_blender
def test_renamed_bones_swing_on() -> None:
    armature = animal()
    (chain,) = swing(armature, inertia=0.5)
    chain.settings.center = "hips"
    shown = seen(armature)
    for name in ("hips", *TAIL):
        armature.data.bones[name].name = f"my {name}"
    mine = tuple(f"my {name}" for name in TAIL)
    assert_allclose(seen(armature, mine), shown, atol=1e-5)
    assert status(armature).state == "SOLVED"
    (chain,) = chains.on(armature)
    assert (chain.bones, chain.settings.center) == (mine, "my hips")
    # An undo brings settings back that were saved before they followed.
    chain.settings.bones[1].bone = TAIL[1]
    assert_allclose(seen(armature, mine), shown, atol=1e-5)
    assert chain.bones == mine
    chain.settings.settle_time = 0.3
    assert np.abs(seen(armature, mine) - shown).max() > 0.01


def test_an_object_without_a_size_is_named_when_springs_come_and_later() -> None:
    armature = animal()
    armature.scale = (0.0, 1.0, 1.0)
    swing(armature)
    for height in (1.0, 2.0):
        armature.scale = (0.0, 1.0, height)
        seen(armature, frames=[1])
        assert status(armature).error == (
            "Object 'Hero' has a scale of 0 at frame 1; set a scale above 0 for it and its parents."
        )
    armature.scale = (1.0, 1.0, 1.0)
    seen(armature, frames=[1])
    assert status(armature).state == "SOLVED"


def test_several_characters_and_a_linked_one(tmp_path) -> None:
    armature = animal()
    swing(armature)
    shown = seen(armature)
    other = armature.copy()
    bpy.context.scene.collection.objects.link(other)
    assert np.array_equal(seen(other), shown)
    assert np.array_equal(seen(armature), shown)
    bpy.data.objects.remove(other)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.context.scene.frame_end = LAST
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["Hero"]
    linked = bpy.data.objects["Hero"]
    bpy.context.scene.collection.objects.link(linked)
    own = linked.override_create(remap_local_usages=True)
    (chain,) = chains.on(own)
    assert np.array_equal(seen(own), shown)
    chain.settings.settle_time = 0.3
    changed = seen(own)
    assert np.abs(changed - shown).max() > 0.01
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    own = next(item for item in bpy.data.objects if item.override_library)
    assert np.array_equal(seen(own), changed)


def test_a_file_without_springs_enters_nothing(monkeypatch) -> None:
    animal()
    monkeypatch.setattr(springs_kind.SpringKind, "find", lambda *_: pytest.fail("there are none"))
    for frame in FRAMES:
        scenes.goto(frame)


def test_bones_that_constraints_move_swing_as_solved_or_it_is_told() -> None:
    armature = animal()
    swing(armature)
    wanted = seen(armature)
    assert not status(armature).notes
    # As controls of tails by Rigify: each turns with the one above it once more.
    constraint = armature.pose.bones["tail.003"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget = armature, "tail.002"
    constraint.owner_space = constraint.target_space = "LOCAL"
    constraint.mix_mode = "BEFORE"
    assert_allclose(seen(armature), wanted, atol=1e-3)
    assert not status(armature).notes
    constraint.mix_mode = "REPLACE"
    seen(armature, frames=[1])
    assert "hold bone 'tail.003'" in " ".join(status(armature).notes)


def pairs(plain: np.ndarray, found: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Directions (F, 3) of each bone without and with springs."""
    return [(plain[:, n, :3, 1], found[:, n, :3, 1]) for n in range(plain.shape[1])]


@pytest.mark.slow
def test_the_tail_of_a_rigify_cat_swings_as_solved(rigify) -> None:  # noqa: F811
    rig = generated("cat")
    bpy.context.scene.frame_end = LAST
    scenes.keyed(rig, "rotation_euler", [(6, (0.0, 0.0, 0.0)), (18, (0.0, 0.0, 1.2))])
    tail = ("tail.001", "tail.002", "tail.003", "tail.004")
    plain = seen(rig, tail)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.lookat_pd.add_springs()
    assert tail in {chain.bones for chain in chains.on(rig)}
    found = seen(rig, tail)
    assert not status(rig).notes
    assert_allclose(found[-1], plain[-1], atol=0.05)
    # The joints stay together, though each control copies the one before it.
    bent = [np.degrees(np.arccos(np.clip(np.einsum("fi,fi->f", *pair), -1, 1))) for pair in pairs(plain, found)]
    assert 5.0 < np.max(bent) < 60.0
    live_found = found.copy()
    (instance,) = springs_kind.SpringKind().find(bpy.context.scene)
    options = bake_options.BakeOptions(1, LAST, "NEW")
    drain(layer_bake.bake(bpy.context.scene, springs_kind.SpringKind, [instance], options))
    assert_allclose(seen(rig, tail), live_found, atol=1e-3)
    assert np.abs(found - plain).max() > 0.05


def test_a_copy_is_sampled_like_the_rig_which_is_left_as_it_is(monkeypatch) -> None:
    armature = animal()
    scenes.aim(armature, scenes.ball((2.0, -1.0, 1.7)))
    armature.pose.bones["foot.L"].constraints.new("LIMIT_SCALE").mute = True
    swing(armature, HAIR)
    live.finish(bpy.context.scene)
    over = load("rig.layers.kinds").SolveRange(bpy.context.scene, np.array(FRAMES), 1.0 / 24.0, SpringLayer.order)

    def sampled() -> tuple[set[float], np.ndarray]:
        with over.sampler(armature, HAIR) as work:
            samples = drain(load("rig.sampling.sampler").sample_frames(work, over.frames))
            return {constraint.influence for _, constraint in SpringLayer(armature).constraints()}, samples.rotations

    shown, copied = sampled()
    assert shown == {1.0}
    monkeypatch.setattr(load("rig.sampling.transforming"), "is_under_way", lambda: True)
    shown, whole = sampled()
    assert shown == {0.0}
    assert_allclose(copied, whole, atol=1e-6)
