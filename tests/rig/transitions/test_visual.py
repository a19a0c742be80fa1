"""Jumps of the visual pose: found with their cause, and decayed on any rig, while all other frames stay."""

from collections.abc import Callable
from functools import partial

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import scenes
from .motions import actions, character, make_visual_again, use, walk

join = load("rig.transitions.join")
pops = load("rig.transitions.pops")
visual_join = load("rig.transitions.visual.visual_join")
evaluated_pose = load("rig.transitions.visual.evaluated_pose")
visual_loop = load("rig.transitions.visual.visual_loop")
visual_offsets = load("rig.transitions.visual.visual_offsets")
visual_pops = load("rig.transitions.visual.visual_pops")
visual_transition = load("rig.transitions.visual.visual_transition")
visual_kind = load("rig.transitions.visual.visual_kind")
clock = load("rig.layers.clock")
layer_action = load("rig.layers.layer_action")
live = load("rig.layers.live")
live_scene = load("rig.layers.live_scene")
kinds = load("rig.layers.kinds")
offset_fit = load("rig.transitions.visual.offset_fit")
drain = load("lookat_pd.progress").drain
rotation = load("lookat_pd.rotation")
own_data = load("rig.sampling.own_data")
sampler = load("rig.sampling.sampler")
splice = load("rig.transitions.splice")
trial = load("rig.transitions.visual.trial")
suspend = load("rig.sampling.suspend")
RigError = load("lookat_pd.errors").RigError

POP = 20
FRAMES = range(1, 42)


def step(item, path: str, before: float, after: float, index: int = -1) -> None:
    """Key a property that jumps at the frame of the pop."""
    is_custom = path.endswith('"]')
    owner, _, name = path.removesuffix('"]').rpartition('["' if is_custom else ".")
    holder = item.path_resolve(owner) if owner else item
    for frame, value in ((1, before), (POP, after)):
        if is_custom:
            holder[name] = value
        elif index >= 0:
            getattr(holder, name)[index] = value
        else:
            setattr(holder, name, value)
        item.keyframe_insert(path, index=index, frame=frame)
    data = item.animation_data
    for curve in actions.curves(data.action, data.action_slot):
        if curve.data_path == path:
            for point in curve.keyframe_points:
                point.interpolation = "CONSTANT"


def hero() -> bpy.types.Object:
    armature = character()
    use(armature, calm(armature, "Walk", size=0.15))
    return armature


def calm(armature: bpy.types.Object, name: str, **options) -> bpy.types.Action:
    """A walk with a chest that keeps its size."""
    action = walk(armature, name, **options)
    actions.remove_curves(armature, 'pose.bones["chest"].scale')
    armature.pose.bones["chest"].scale = (1.0, 1.0, 1.0)
    return action


def child_of(armature: bpy.types.Object, bone: str) -> bpy.types.Constraint:
    """A Child Of that takes hold at the frame of the pop."""
    prop = bpy.data.objects.new("Prop", None)
    bpy.context.scene.collection.objects.link(prop)
    prop.location, prop.rotation_euler = (0.2, 0.1, 0.1), (0.3, 0.4, 0.5)
    constraint = armature.pose.bones[bone].constraints.new("CHILD_OF")
    constraint.target = prop
    constraint.set_inverse_pending = False
    constraint.inverse_matrix.identity()
    step(armature, f'pose.bones["{bone}"].constraints["Child Of"].influence', 0.0, 1.0)
    return constraint


def held() -> bpy.types.Object:
    armature = hero()
    child_of(armature, "upper_arm.L")
    return armature


def layered() -> bpy.types.Object:
    armature = hero()
    data = armature.animation_data
    base = data.action, data.action_slot
    use(armature, calm(armature, "Lean", seed=3, size=0.5, bones=("chest", "neck", "head")))
    lean = data.action, data.action_slot
    data.action = None
    for name, first, (action, slot) in (("Base", 1, base), ("Lean", POP, lean)):
        strip = data.nla_tracks.new().strips.new(name, first, action)
        strip.action_slot = slot
    strip.blend_type, strip.extrapolation = "COMBINE", "NOTHING"
    strip.action_frame_start = 9
    strip.frame_start_raw = POP
    return armature


def moved() -> bpy.types.Object:
    armature = hero()
    armature.rotation_mode = "QUATERNION"
    step(armature, "rotation_quaternion", 0.0, 0.6, index=3)
    step(armature, "location", 0.0, 0.4, index=0)
    return armature


def stretched() -> bpy.types.Object:
    """An unevenly scaled arm below a chest whose parent changes."""
    armature = hero()
    armature.pose.bones["upper_arm.L"].scale = (1.0, 1.6, 0.8)
    child_of(armature, "chest")
    return armature


CASES = {make.__name__: make for make in (held, layered, moved, stretched)}
CAUSES = {
    "held": "The influence of constraint 'Child Of' of 'upper_arm.L' jumps from 0 to 1.",
    "layered": "NLA strip 'Lean' begins.",
    "moved": "The keys of 'Hero' in 'Walk' jump.",
    "stretched": "The influence of constraint 'Child Of' of 'chest' jumps from 0 to 1.",
}


def shown(armature: bpy.types.Object, frames=FRAMES) -> np.ndarray:
    """World matrices (F, b, 4, 4) of the deforming bones, in the animator's own scene."""
    found = []
    for frame in frames:
        depsgraph = scenes.goto(frame)
        item = armature.evaluated_get(depsgraph)
        names = evaluated_pose.deforming(armature)
        found.append([item.matrix_world @ item.pose.bones[name].matrix for name in names])
    return np.array(found)


def velocity_jumps(matrices: np.ndarray) -> np.ndarray:
    """Change of angular velocity [rad/s] of each bone from one frame to the next (F - 2, b)."""
    turns = rotation.from_matrix(matrices[:, :, :3, :3])
    steps = rotation.log(rotation.multiply(turns[1:], rotation.inverse(turns[:-1])))
    return np.linalg.norm(np.diff(steps, axis=0), axis=-1) * bpy.context.scene.render.fps


def smooth(armature: bpy.types.Object, frame: int = POP, blend=splice.AUTOMATIC, **options):
    return drain(visual_transition.blend_at(bpy.context.scene, armature, frame, blend, **options))


def check_mended(armature: bpy.types.Object, frame: int, frames: range, blend=splice.AUTOMATIC) -> None:
    """The law: no tenth of the jump is left, no other frame changes."""
    before = shown(armature, frames)
    made = smooth(armature, frame, blend)
    after = shown(armature, frames)
    outside = [k for k, at in enumerate(frames) if at < frame or at > made.last]
    np.testing.assert_allclose(after[outside], before[outside], atol=1e-5)
    jumps, left = velocity_jumps(before), velocity_jumps(after)
    # What moves in the animation itself moves on.
    row = frames.index(frame)
    own = np.delete(jumps, (row - 2, row - 1), axis=0).max()
    assert jumps.max() > 10.0 * own or jumps.max() > 5.0
    assert left.max() < own + 0.1 * jumps.max()
    assert frame <= made.last < frames[-1] and made.error < 1e-4


@pytest.mark.every_blender
@pytest.mark.parametrize("name", CASES)
def test_the_jump_decays_and_all_other_frames_stay(name: str) -> None:
    check_mended(CASES[name](), POP, FRAMES)


@pytest.mark.parametrize("method", ["DEAD", "SPRING", "AUTO"])
def test_methods(method: str) -> None:
    check_mended(held(), POP, FRAMES, splice.Blend(0.6, method))


@pytest.mark.parametrize("name", CASES)
def test_pops_are_found_with_their_cause(name: str) -> None:
    armature = CASES[name]()
    found = drain(visual_pops.find(bpy.context.scene, armature, 1, 41))
    assert [pop.frame for pop in found] == [POP]
    assert found[0].cause == CAUSES[name]
    bone = {"held": "upper_arm.L", "stretched": "chest", "moved": evaluated_pose.OBJECT}.get(name)
    assert bone is None or found[0].bones[0] == bone
    drain(visual_transition.smooth_all(bpy.context.scene, armature, 1, 41, splice.AUTOMATIC))
    assert not drain(visual_pops.find(bpy.context.scene, armature, 1, 41))


def test_the_rig_is_left_alone_while_pops_are_searched() -> None:
    """A copy without its look-at stands in for it, one with a constraint on a bone of its own too."""
    armature = held()
    follows = armature.pose.bones["upper_arm.R"].constraints.new("COPY_ROTATION")
    follows.target, follows.subtarget = armature, "upper_arm.L"
    scenes.aim(armature, scenes.ball())
    scenes.goto(1)
    owners = [c for bone in armature.pose.bones for c in bone.constraints]
    before, slices = [c.influence for c in owners], 0
    search = visual_pops.find(bpy.context.scene, armature, 1, 41)
    for _ in search:
        slices += 1
        assert [c.influence for c in owners] == before
    assert slices > 40 and len(owners) > 3


def test_a_property_that_switches_a_constraint_is_the_cause() -> None:
    armature = hero()
    constraint = child_of(armature, "head")
    armature.animation_data.action = None
    use(armature, calm(armature, "Walk", size=0.15))
    armature.pose.bones["head"]["follow"] = 0.0
    variable = constraint.driver_add("influence").driver.variables.new()
    constraint.id_data.animation_data.drivers[0].driver.expression = variable.name
    variable.targets[0].id, variable.targets[0].data_path = armature, 'pose.bones["head"]["follow"]'
    step(armature, 'pose.bones["head"]["follow"]', 0.0, 1.0)
    (pop,) = drain(visual_pops.find(bpy.context.scene, armature, 1, 41))
    assert pop.cause == ("Property 'follow' of 'head' jumps from 0 to 1 and switches constraint 'Child Of' of 'head'.")


def test_removing_restores_everything() -> None:
    armature = held()
    before, names = shown(armature), sorted(bpy.data.actions.keys())
    smooth(armature)
    assert visual_offsets.remove(armature) == 1
    np.testing.assert_array_equal(shown(armature), before)
    assert sorted(bpy.data.actions.keys()) == names and not any(map(clock.is_clock, bpy.data.objects))
    assert len(armature.pose.bones["upper_arm.L"].constraints) == 1


def status(armature: bpy.types.Object, number: int = 1):
    return live.status(bpy.context.scene, armature, "", visual_kind.NAME, number)


def test_transitions_follow_the_animation() -> None:
    armature = held()
    smooth(armature)
    prop = bpy.data.objects["Prop"]
    for change in (0.3, 0.0, -0.2):
        prop.location.x += change
        after = shown(armature)
        visual_offsets.remove(armature)
        smooth(armature)
        np.testing.assert_allclose(after, shown(armature), atol=1e-6)


def test_a_transition_stays_where_nothing_jumps_any_more() -> None:
    armature = held()
    constraint = armature.pose.bones["upper_arm.L"].constraints["Child Of"]
    constraint.mute = True
    plain = shown(armature)
    constraint.mute = False
    smooth(armature)
    before = shown(armature)
    constraint.mute = True
    np.testing.assert_array_equal(shown(armature), plain)
    assert len(visual_offsets.of(armature)) == 1 and "Nothing jumps at frame 20" in status(armature).notes[0]
    constraint.mute = False
    np.testing.assert_allclose(shown(armature), before, atol=1e-6)
    assert not status(armature).notes


def test_what_fails_says_why_and_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    armature = held()
    smooth(armature)
    step(armature, "location", 0.0, 0.4, index=1)
    smooth(armature)
    before, prop = shown(armature), bpy.data.objects["Prop"]
    with monkeypatch.context() as patch:
        patch.setattr(visual_transition, "solve", lambda *_, **options: (_ for _ in ()).throw(RigError("It is wrong.")))
        prop.location.x += 0.3
        shown(armature, (POP,))
        assert status(armature, 1).error == status(armature, 2).error == "It is wrong."
    assert len(visual_offsets.of(armature)) == 2
    prop.location.x -= 0.3
    np.testing.assert_allclose(shown(armature), before, atol=1e-6)


def test_bones_that_are_gone_are_left_out() -> None:
    armature = held()
    smooth(armature, bones=["upper_arm.L"])
    armature.data.bones["upper_arm.L"].name = "arm"
    shown(armature, (POP,))
    assert len(visual_offsets.of(armature)) == 1 and "Nothing jumps at frame 20" in status(armature).notes[0]


def test_opened_again_nothing_is_solved(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    armature = held()
    smooth(armature)
    before = shown(armature)
    path = str(tmp_path / "held.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    monkeypatch.setattr(visual_transition, "solve", lambda *_, **options: pytest.fail("it was solved before"))
    bpy.ops.wm.open_mainfile(filepath=path)
    armature = bpy.data.objects["Hero"]
    np.testing.assert_array_equal(shown(armature), before)
    assert status(armature).state == "SOLVED"


def test_undone_it_is_as_it_was() -> None:
    smooth(held())
    before = shown(bpy.data.objects["Hero"])
    bpy.ops.ed.undo_push(message="before")
    bpy.data.objects["Prop"].location.x += 0.3
    moved = shown(bpy.data.objects["Hero"])
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    np.testing.assert_allclose(shown(bpy.data.objects["Hero"]), before, atol=1e-6)
    bpy.ops.ed.redo()
    np.testing.assert_allclose(shown(bpy.data.objects["Hero"]), moved, atol=1e-6)


def edited() -> tuple[bpy.types.Object, object]:
    """A rig with a transition that is out of date, since bones of which no constraint moves any yet need one now; and
    the live scene that is to make it again."""
    armature = held()
    smooth(armature)
    shown(armature, (POP,))
    scene, state = bpy.context.scene, live._scene(bpy.context.scene)
    with suspend.suspend_live():
        step(armature, 'pose.bones["thigh.L"].location', 0.0, 0.1, index=0)
        bpy.context.view_layer.update()
    state.refresh(scene, live._structure, now=True)
    return armature, state


def tried() -> list[bpy.types.Action]:
    """Actions with what is tried for a transition."""
    return [action for action in bpy.data.actions if own_data.TEMPORARY in action]


def known_to_a_file() -> dict:
    """All of the file but what is tried, which nothing uses."""
    found, names = scenes.snapshot(), {action.name_full for action in tried()}
    assert not any(action.users for action in tried())
    found["blocks"]["actions"] = [item for item in found["blocks"]["actions"] if item[0] not in names]
    found["actions"] = {name: value for name, value in found["actions"].items() if name not in names}
    return found


@pytest.mark.thorough
def test_between_two_slices_the_rig_shows_what_it_showed_before() -> None:
    armature, state = edited()
    before, slices = known_to_a_file(), 0
    while not live._advance(state, 0.0):
        slices += 1
        assert not scenes.differences(before, known_to_a_file())
    assert slices > 4
    state.show()
    assert "thigh.L" in {name for name, _ in visual_offsets.on(armature)}
    assert not status(armature).notes and not tried()


def readings(armature: bpy.types.Object) -> list[tuple]:
    """What the rig plays, and what constraints of transitions add to it."""
    found = ((bone, c.name, c.influence, c.action, c.action_slot_handle) for bone, c in visual_offsets.on(armature))
    return [armature.animation_data.action, *found]


def test_a_copy_that_rests_between_two_slices_stands_in_for_the_rig(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rig is left alone until there is a solution, which is the one that is found at once, to the bit."""
    armature, state = edited()
    while not live._advance(state, 0.0):
        pass
    at_once = {key: solve.track for key, solve in state.solves.items()}
    offset_fit._fitted.clear()
    monkeypatch.setattr(sampler, "_in_window", True)
    for solve in state.solves.values():
        solve.stale, solve.track = kinds.BODY, None
    state.begin()
    before, rested, slices = readings(armature), 0, 0
    while not live._advance(state, 0.0, rests=True):
        slices += 1
        if sampler.is_resting():
            rested += 1
            assert readings(armature) == before and not suspend.is_live_suspended()
    assert rested > 0.8 * slices > 10 and not sampler.is_resting() and not tried()
    assert all(solve.track.same_as(at_once[key]) for key, solve in state.solves.items())


def test_a_rig_that_its_own_target_hangs_on_is_sampled_itself() -> None:
    """A copy would not move what the rig depends on."""
    armature = held()
    assert sampler.whole_copy(bpy.context.scene, armature)
    prop = bpy.data.objects["Prop"]
    prop.parent, prop.parent_type, prop.parent_bone = armature, "BONE", "hips"
    assert not sampler.whole_copy(bpy.context.scene, armature)
    before = shown(armature)
    made = smooth(armature)
    outside = [k for k, at in enumerate(FRAMES) if at < POP or at > made.last]
    np.testing.assert_allclose(shown(armature)[outside], before[outside], atol=1e-5)
    assert velocity_jumps(shown(armature)).max() < 0.3 * velocity_jumps(before).max()


def test_in_a_window_a_solution_is_shown_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever Blender evaluates meanwhile."""
    armature, state = edited()
    state.is_gradual = True
    monkeypatch.setattr(live_scene, "_BESIDE", 0.0)
    while not all(solve.stale == kinds.FRESH for solve in state.solves.values()):
        assert not live._advance(state, 1e6)
    unshown = [key for key, solve in state.solves.items() if state.tracks.get(key) is not solve.track]
    assert unshown
    state.show()
    assert all(state.tracks.get(key) is not state.solves[key].track for key in unshown)
    steps = 0
    while not live._advance(state, 1e6):
        steps += 1
    assert steps >= len(state.solves[unshown[0]].track.rows())
    state.show()
    assert all(state.tracks[key] is solve.track for key, solve in state.solves.items())
    assert "thigh.L" in {name for name, _ in visual_offsets.on(armature)}
    after = shown(armature, (POP,))
    make_visual_again(armature)
    np.testing.assert_allclose(shown(armature, (POP,)), after, atol=1e-6)


def test_what_took_long_to_solve_is_shown_in_a_turn_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much a turn has time for."""
    for most in ("_WORKING", "_BEGUN"):
        monkeypatch.setattr(live_scene, most, np.inf)
    _, state = edited()
    assert not live._advance(state, 1e6)
    assert all(solve.stale == live.FRESH for solve in state.solves.values())
    assert live._advance(state, 1e6)


def test_in_slices_each_try_of_one_that_is_made_again_is_keyed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    _, state = edited()
    keyed, tries, write, show = [], [], layer_action.write, trial.Trial.show
    monkeypatch.setattr(layer_action, "write", lambda *args: (keyed.append(args[1].name_display), write(*args)))
    monkeypatch.setattr(trial.Trial, "show", lambda *args: (tries.append(args[1]), show(*args)))
    while not live._advance(state, 0.0):
        pass
    assert tries and max(map(keyed.count, keyed)) <= len(tries)


@pytest.mark.parametrize("end", ["stop", "save", "undo"])
def test_what_is_tried_is_in_no_file(end: str, tmp_path) -> None:
    _, state = edited()
    bpy.ops.ed.undo_push(message="before")
    while not tried():
        assert not live._advance(state, 0.0)
    if end == "save":
        path = str(tmp_path / "between.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
        names = {action.name for action in tried()}
        with bpy.data.libraries.load(path) as (there, _):
            assert there.actions and names.isdisjoint(there.actions)
        return
    if end == "undo":
        bpy.ops.ed.undo_push(message="between")
        bpy.ops.ed.undo()
        assert not tried()
        bpy.ops.ed.redo()
    state.stop()
    assert not tried()


def test_in_slices_a_new_transition_is_keyed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    armature, keyed = held(), []
    write = layer_action.write
    monkeypatch.setattr(layer_action, "write", lambda *args: (keyed.append(args[1].name_display), write(*args)))
    smooth(armature)
    at_once, before = list(keyed), shown(armature)
    visual_offsets.remove(armature)
    keyed.clear()
    plain, others = shown(armature), set(bpy.data.actions)
    job = visual_transition.blend_at(bpy.context.scene, armature, POP, splice.AUTOMATIC)
    for _ in job:
        sampler.park_all()
        assert not any(constraint.influence for _, constraint in visual_offsets.on(armature))
    assert keyed == at_once
    np.testing.assert_allclose(shown(armature), before, atol=1e-6)
    visual_offsets.remove(armature)
    job = visual_transition.blend_at(bpy.context.scene, armature, POP, splice.AUTOMATIC)
    while not list(visual_offsets.on(armature)):
        next(job)
    job.close()
    assert not list(visual_offsets.on(armature)) and set(bpy.data.actions) == others
    np.testing.assert_array_equal(shown(armature), plain)


def test_a_copy_has_transitions_of_its_own() -> None:
    armature = held()
    smooth(armature)
    copy = armature.copy()
    bpy.context.scene.collection.objects.link(copy)
    before = shown(armature)
    copy.animation_data.action = copy.animation_data.action.copy()
    step(copy, "location", 0.0, 0.4, index=1)
    shown(copy)
    actions_of = [visual_offsets.of(item) for item in (armature, copy)]
    assert len(actions_of[0]) == len(actions_of[1]) == 1 and actions_of[0] != actions_of[1]
    np.testing.assert_allclose(shown(armature), before, atol=1e-6)


def test_what_changes_elsewhere_is_only_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    armature = held()
    smooth(armature)
    before = shown(armature)
    realize = load("rig.controls.realize")
    monkeypatch.setattr(realize, "realize", lambda *_: pytest.fail("the offsets are right"))
    armature.pose.bones["head"].keyframe_insert("location", frame=90)
    np.testing.assert_array_equal(shown(armature), before)


def test_a_transition_may_interrupt_another() -> None:
    armature = held()
    smooth(armature, blend=splice.Blend(0.5))
    bone = armature.pose.bones["upper_arm.L"]
    bone.rotation_mode = "QUATERNION"
    prop = bpy.data.objects["Prop"]
    for frame, place in ((1, 0.2), (POP + 4, 0.2), (POP + 5, 0.8), (60, 0.8)):
        prop.rotation_euler.x = place
        prop.keyframe_insert("rotation_euler", index=0, frame=frame)
    before = velocity_jumps(shown(armature))
    smooth(armature, POP + 5, splice.Blend(0.5))
    assert velocity_jumps(shown(armature)).max() < 0.25 * before.max()
    assert len(visual_offsets.of(armature)) == 2


def test_frames_between_follow_the_animation_up_to_the_switch() -> None:
    armature = held()
    before = shown(armature, (POP - 1, POP - 0.5, POP - 0.1))
    smooth(armature)
    np.testing.assert_allclose(shown(armature, (POP - 1, POP - 0.5, POP - 0.1)), before, atol=1e-5)


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (30, {}, "The visual pose of no bone of 'Hero' jumps at frame 30"),
        (POP, {"bones": ["head"]}, "The visual pose of none of the chosen bones of 'Hero' jumps at frame 20"),
        (POP, {"bones": ["tail"]}, "has no bone 'tail'"),
        (POP, {"blend": splice.Blend(0.3, "FADE")}, "Cross-Fade is not available for the visual pose"),
        (POP, {"blend": splice.Blend(0.3, "CUT")}, "Cut is not available for the visual pose"),
    ],
)
def test_bad_input_changes_nothing(frame: int, options: dict, message: str) -> None:
    armature = held()
    before = scenes.snapshot()
    with pytest.raises(RigError, match=message):
        smooth(armature, frame, **options)
    assert not scenes.differences(before, scenes.snapshot())


def test_joined_visual() -> None:
    """The clips are cut hard, and the visual pose blends: also what only constraints do."""
    armature = hero()
    child_of(armature, "upper_arm.L")
    source = armature.animation_data.action
    destination = calm(armature, "Run", seed=2, size=0.15)
    refs = join.ClipRef(source, POP), join.ClipRef(destination, 9)
    hard = join.join(armature, *refs, splice.CUT)
    keys = scenes.curves(hard.action)
    before = velocity_jumps(shown(armature))
    job = visual_join.joined(
        bpy.context.scene, armature, lambda how: join.joining(armature, *refs, how), splice.Blend(0.4, "INERTIAL")
    )
    result = drain(job)
    assert result.blends == (0.4,) and result.methods == ("inertial",) and result.cuts == (POP,)
    made = scenes.curves(result.action)
    assert made.keys() == keys.keys() and len(visual_offsets.of(armature)) == 1
    assert velocity_jumps(shown(armature)).max() < 0.3 * before.max()


def with_ik() -> bpy.types.Object:
    """The figure with shins that reach for handles on the ground: bones that deform are posed by the rig's own IK."""
    rows = [row for row in scenes.FIGURE if not row[0].startswith("foot")]
    for side, x in (("L", 0.1), ("R", -0.1)):
        rows += [
            (f"shin.{side}", f"thigh.{side}", (x, -0.02, 0.5), (x, 0, 0.1)),
            (f"foot.{side}", f"shin.{side}", (x, 0, 0.1), (x, -0.15, 0)),
            (f"foot_ik.{side}", "root", (x, 0, 0.1), (x, -0.2, 0.1)),
        ]
    armature = scenes.figure("Hero", rows)
    for bone in armature.pose.bones:
        bone.rotation_mode = "QUATERNION"
    for side in "LR":
        armature.data.bones[f"foot_ik.{side}"].use_deform = False
        constraint = armature.pose.bones[f"shin.{side}"].constraints.new("IK")
        constraint.target, constraint.subtarget, constraint.chain_count = armature, f"foot_ik.{side}", 2
    armature.data.bones["root"].use_deform = False
    return armature


def stepping(armature: bpy.types.Object, name: str, sign: float) -> bpy.types.Action:
    """Hips that sway and a left foot that is elsewhere, which IK follows; the bones of the leg are keyed, too."""
    action = bpy.data.actions.new(name)
    use(armature, action, action.slots.new("OBJECT", "Hero"))
    hips, handle, thigh = (armature.pose.bones[bone] for bone in ("hips", "foot_ik.L", "thigh.L"))
    for frame in range(1, 62, 5):
        hips.location = (0.03 * sign * np.sin(0.1 * frame), -0.06, 0.0)
        handle.location = (0.05 * sign, 0.1 * sign + 0.02 * np.sin(0.2 * frame), 0.0)
        thigh.rotation_quaternion = rotation.exp((0.1, 0.0, 0.1))
        hips.keyframe_insert("location", frame=frame)
        handle.keyframe_insert("location", frame=frame)
        thigh.keyframe_insert("rotation_quaternion", frame=frame)
    return action


def test_legs_that_the_rig_bends_with_ik_blend_with_what_moves_them() -> None:
    """No constraint has an effect on the bones of an IK chain: the handle gets the offset."""
    armature = with_ik()
    refs = [join.ClipRef(stepping(armature, name, sign), POP) for name, sign in (("Left", -1.0), ("Right", 1.0))]
    join.join(armature, *refs, splice.CUT, lock_feet=False)
    before = shown(armature)
    make = partial(join.joining, armature, *refs)
    drain(visual_join.joined(bpy.context.scene, armature, make, splice.Blend(0.5), lock_feet=False))
    after = shown(armature)
    assert velocity_jumps(after).max() < 0.25 * velocity_jumps(before).max()
    np.testing.assert_allclose(after[: POP - 1], before[: POP - 1], atol=1e-5)
    owners = {name for name, _ in visual_offsets.on(armature)}
    assert "foot_ik.L" in owners and not owners & {"thigh.L", "shin.L"}


def test_a_leg_that_is_switched_to_ik_reaches_its_handle_in_the_blend() -> None:
    armature = with_ik()
    stepping(armature, "Walk", 1.0)
    for side in "LR":
        step(armature, f'pose.bones["shin.{side}"].constraints["IK"].influence', 0.0, 1.0)
    before = shown(armature)
    made = smooth(armature)
    after, feet = shown(armature), [evaluated_pose.deforming(armature).index(f"foot.{side}") for side in "LR"]
    jumps, left = (
        np.linalg.norm(np.diff(item[:, feet][..., :3, 3], axis=0), axis=-1).max() for item in (before, after)
    )
    assert left < 0.35 * jumps
    outside = [k for k, at in enumerate(FRAMES) if at < POP or at > made.last]
    np.testing.assert_allclose(after[outside], before[outside], atol=1e-5)


def test_the_root_does_not_stop_in_a_frame() -> None:
    """A character that travels and then stands slows down over the blend: it is placed further ahead."""
    armature, step, refs = hero(), 0.1, []
    for speed in (step, 0.0):
        action = calm(armature, "Clip", size=0.05, speed=(0.0, -speed, 0.0))
        refs.append(join.ClipRef(action, POP))
    job = visual_join.joined(
        bpy.context.scene, armature, lambda how: join.joining(armature, *refs, how), splice.Blend(0.4)
    )
    assert drain(job).blends == (0.4,)
    hips = shown(armature, range(POP - 8, POP + 15))[:, evaluated_pose.deforming(armature).index("hips"), :3, 3]
    assert np.linalg.norm(np.diff(hips, 2, axis=0), axis=-1).max() < 0.35 * step


def test_a_join_that_fails_leaves_nothing() -> None:
    armature = held()
    refs = [join.ClipRef(armature.animation_data.action, frame) for frame in (POP, 9)]
    before = scenes.snapshot()
    job = visual_join.joined(
        bpy.context.scene,
        armature,
        lambda how: join.joining(armature, *refs, how, assign=False),
        splice.AUTOMATIC,
    )
    with pytest.raises(RigError, match="enable Use Result"):
        drain(job)
    assert not scenes.differences(before, scenes.snapshot())


@pytest.mark.thorough
@pytest.mark.parametrize("ends", ["BOTH", "START", "END"])
def test_a_loop_ends_as_it_begins(ends: str) -> None:
    """An arm that is held by something that moves: no key of the armature is in it."""
    armature = hero()
    child_of(armature, "upper_arm.L").influence = 1.0
    actions.remove_curves(armature, 'pose.bones["upper_arm.L"].constraints["Child Of"].influence')
    armature.pose.bones["upper_arm.L"].constraints["Child Of"].influence = 1.0
    prop = bpy.data.objects["Prop"]
    for frame, angle in ((1, 0.0), (40, 0.8)):
        prop.rotation_euler.y = angle
        prop.keyframe_insert("rotation_euler", index=1, frame=frame)
    before, keys = shown(armature, range(1, 41)), scenes.curves(armature.animation_data.action)
    made = drain(visual_loop.closed(bpy.context.scene, armature, 5, 35, splice.Blend(0.4), ends=ends, in_place=True))
    after = shown(armature, range(1, 41))
    assert made.error < 1e-4 and not scenes.differences(keys, scenes.curves(armature.animation_data.action))
    np.testing.assert_allclose(after[34], after[4], atol=2e-4)
    np.testing.assert_allclose(after[[*range(4), *range(35, 40)]], before[[*range(4), *range(35, 40)]], atol=1e-5)
    hard = np.concatenate((before[4:34], before[4:10]))
    soft = np.concatenate((after[4:34], after[4:10]))
    assert velocity_jumps(soft)[27:32].max() < 0.3 * velocity_jumps(hard)[27:32].max()
    if ends != "BOTH":
        # In place, the turn of the hips is taken out.
        kept, hips = 4 if ends == "END" else 34, evaluated_pose.deforming(armature).index("hips")
        turns = rotation.from_matrix(np.stack((before[kept], after[kept]))[..., :3, :3])
        turns = rotation.multiply(rotation.inverse(turns[:, hips, None]), turns[:, hips:])
        assert rotation.distance(*turns).max() < 1e-3
    make_visual_again(armature)
    np.testing.assert_allclose(shown(armature, range(1, 41)), after, atol=1e-5)


def test_a_loop_that_travels_goes_on_from_where_it_has_come() -> None:
    """The last pose is the first one, moved over the ground and turned about the vertical."""
    armature = character()
    use(armature, calm(armature, "Walk"))
    for index, far in ((0, 1.0), (2, -2.0)):
        for frame in (1, 40):
            armature.pose.bones["hips"].location[index] = far * frame / 40
            armature.pose.bones["hips"].keyframe_insert("location", index=index, frame=frame)
    drain(visual_loop.closed(bpy.context.scene, armature, 5, 35))
    first, last = shown(armature, (5, 35))
    row = evaluated_pose.deforming(armature).index("hips")
    moved = last[row] @ np.linalg.inv(first[row])
    first, last = first[row:], last[row:]
    assert np.linalg.norm(moved[:2, 3]) > 0.3
    np.testing.assert_allclose(moved[2], (0.0, 0.0, 1.0, 0.0), atol=2e-4)
    np.testing.assert_allclose(last, moved @ first, atol=5e-4)


def test_a_loop_needs_five_frames() -> None:
    armature = hero()
    before = scenes.snapshot()
    with pytest.raises(RigError, match="Frames 5 to 8 are too few for a loop"):
        drain(visual_loop.closed(bpy.context.scene, armature, 5, 8))
    assert not scenes.differences(before, scenes.snapshot())


def human_case(switch: Callable[[bpy.types.Object], None]) -> bpy.types.Object:
    armature = kept.human()
    switch(armature)
    return armature


def ik_fk(armature: bpy.types.Object) -> None:
    step(armature, 'pose.bones["upper_arm_parent.L"]["IK_FK"]', 0.0, 1.0)


def hand_held(armature: bpy.types.Object) -> None:
    child_of(armature, "hand_ik.L")


def torso_parent(armature: bpy.types.Object) -> None:
    armature.pose.bones["root"].location = (0.3, 0.1, 0.0)
    step(armature, 'pose.bones["torso"]["torso_parent"]', 1, 0)


def layer(armature: bpy.types.Object) -> None:
    data = armature.animation_data
    action, slot = data.action, data.action_slot
    other, other_slot = actions.new_action("Layer", armature)
    bag = actions.channelbag(other, other_slot, ensure=True)
    for bone, index, value in (("torso", 3, 0.3), ("upper_arm_fk.R", 1, 0.4), ("chest", 2, 0.3)):
        curve = bag.fcurves.new(f'pose.bones["{bone}"].rotation_quaternion', index=index)
        curve.keyframe_points.insert(1, value)
    data.action = None
    for name, first, (a, s) in (("Base", 1, (action, slot)), ("Layer", POP, (other, other_slot))):
        strip = data.nla_tracks.new().strips.new(name, first, a)
        strip.action_slot = s
    strip.blend_type, strip.extrapolation, strip.frame_end = "COMBINE", "NOTHING", 60


@pytest.mark.slow
@pytest.mark.parametrize("switch", [ik_fk, hand_held, torso_parent, layer])
def test_on_a_generated_human(switch) -> None:
    check_mended(human_case(switch), POP, range(12, 42))


@pytest.mark.slow
def test_feet_of_a_generated_human_stay_where_its_hips_jump() -> None:
    """The feet are held by the rig's IK, and each joint blends by itself."""
    armature, clips = kept.human(), []
    for name, place in (("Left", 0.0), ("Right", 0.2)):
        use(armature, None)
        action, slot = actions.new_action(name, armature)
        bag = actions.channelbag(action, slot, ensure=True)
        for index, value in enumerate((place, 0.0, -0.08)):
            curve = bag.fcurves.new('pose.bones["torso"].location', index=index)
            for frame, more in ((1, 0.0), (40, 0.03)):
                curve.keyframe_points.insert(frame, value + more)
        clips.append(join.ClipRef(action, POP))
    drift, hips = {}, {}
    for locked in (False, True):
        use(armature, clips[0].action)
        job = visual_join.joined(
            bpy.context.scene,
            armature,
            lambda how: join.joining(armature, *clips, how, root="NONE"),
            splice.Blend(0.5),
            lock_feet=locked,
        )
        assert (drain(job).feet is not None) == locked
        places = shown(armature, range(14, 41))[..., :3, 3]
        rows = [evaluated_pose.deforming(armature).index(name) for name in ("DEF-toe.L", "DEF-toe.R", "DEF-spine")]
        drift[locked] = np.ptp(places[:, rows[:2]], axis=0).max()
        hips[locked] = np.linalg.norm(np.diff(places[:, rows[2]], 2, axis=0), axis=-1).max()
        make_visual_again(armature)
        np.testing.assert_allclose(shown(armature, range(14, 41))[..., :3, 3], places, atol=1e-5)
        visual_offsets.remove(armature)
    assert drift[False] > 0.005 and drift[True] < 0.0005
    assert hips[True] < 1.2 * hips[False]
