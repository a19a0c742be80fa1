"""A rig that is cut down to the bones that matter gives the samples of the whole rig, or is not used."""

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import linked, scenes

cut_down_rig = load("rig.sampling.cut_down_rig")
sample = load("rig.sampling.sampler")
targets = load("rig.sampling.targets")
actions = load("rig.animation.actions")
layer = load("rig.layers.layer")
offsets = load("rig.look_at.look_at_layer")
own_data = load("rig.sampling.own_data")
suspend = load("rig.sampling.suspend")
Track = load("rig.layers.track").Track

FRAMES = list(range(1, 31))
BONES = 40
KINDS = {
    "COPY_ROTATION": {},
    "COPY_LOCATION": {},
    "COPY_TRANSFORMS": {},
    "CHILD_OF": {},
    "TRANSFORM": {"map_from": "ROTATION", "map_to": "ROTATION", "from_max_x_rot": 1.0, "to_max_z_rot": 1.0},
    "DAMPED_TRACK": {},
    "STRETCH_TO": {},
    "LIMIT_DISTANCE": {},
}


@pytest.fixture(autouse=True)
def _few_bones_are_worth_it(monkeypatch) -> None:
    monkeypatch.setattr(sample, "_LEAST", 0)


def test_a_rig_is_cut_down_where_that_spares_more_than_the_copy_costs(monkeypatch) -> None:
    rig = scenes.figure(rows=[*scenes.FIGURE, *((f"widget {n}", None, (n, 1, 0), (n, 1, 1)) for n in range(20))])
    monkeypatch.undo()
    few, many = FRAMES, [*range(1, 301)]
    for frames, known in ((few, None), (many, {rig})):
        with sample.Sampler(bpy.context.scene, rig, ("head",)) as sampler:
            sample.run(sampler.sample(frames))
        assert (sampler.cut_down and set(sampler.cut_down)) == known
        assert sampler.whole_because is None


def control_rig(seed: int, name: str = "Control") -> bpy.types.Object:
    """An armature of many bones whose parents, constraints and drivers are drawn by chance; never in a circle."""
    random = np.random.default_rng(seed)
    rows = []
    for n in range(BONES):
        head = random.uniform(-1.0, 1.0, 3)
        parent = f"bone {random.integers(n)}" if n and random.random() < 0.7 else None
        rows.append((f"bone {n}", parent, head, head + random.uniform(0.1, 0.3, 3)))
    rig = scenes.figure(name, rows)
    rig["size"], rig["other"] = 0.3, 0.0
    bones = rig.pose.bones
    for n in range(1, BONES):
        bone = bones[f"bone {n}"]
        for _ in range(random.integers(3)):
            kind = list(KINDS)[random.integers(len(KINDS))]
            constraint = bone.constraints.new(kind)
            constraint.target, constraint.subtarget = rig, f"bone {random.integers(n)}"
            constraint.influence = float(random.uniform(0.2, 0.9))
            for setting, value in KINDS[kind].items():
                setattr(constraint, setting, value)
        if random.random() < 0.2:
            drive(bone, "location", f'pose.bones["bone {random.integers(n)}"].rotation_euler[1]', rig, index=1)
        if random.random() < 0.2:
            drive(bone, "rotation_euler", '["size"]', rig, index=2, expression="sin(var + frame / 9)")
    scenes.animate(rig, bones=[f"bone {n}" for n in range(0, BONES, 3)], size=0.6, seed=seed)
    for bone in bones:
        bone.rotation_mode = (
            "XYZ" if bone.rotation_mode == "QUATERNION" and not bone.constraints else bone.rotation_mode
        )
    return rig


def drive(owner, path: str, reads: str, rig, *, index: int = -1, expression: str = "var") -> bpy.types.Driver:
    driver = owner.driver_add(path, index).driver
    driver.expression = expression
    variable = driver.variables.new()
    variable.name = "var"
    target = variable.targets[0]
    target.id_type = rig.id_type
    target.id, target.data_path = rig, reads
    return driver


def sampled(rig, bones, looked_at=(), cut_down=None):
    """The samples over all frames, and the sampler."""
    with sample.Sampler(bpy.context.scene, rig, bones, looked_at, cut_down=cut_down) as sampler:
        seen = sample.run(sampler.sample(FRAMES))
        copies = {bone.name for item in sampler._copies.values() for bone in item.pose.bones}
    return seen, sampler, copies


def assert_same(rig, bones, looked_at=()) -> set[str]:
    """Whole and cut down give the same; the bones that were left."""
    whole, _, none = sampled(rig, bones, looked_at, cut_down={})
    cut, sampler, kept = sampled(rig, bones, looked_at)
    assert not none and sampler.whole_because is None, sampler.whole_because
    for name in ("rotations", "positions", "sizes", "targets", "worlds"):
        np.testing.assert_allclose(getattr(cut, name), getattr(whole, name), atol=1e-6)
    return kept


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(8))
def test_random_control_rigs_give_the_same(seed) -> None:
    rig = control_rig(seed)
    random = np.random.default_rng(seed)
    used = 0
    for _ in range(4):
        bones = tuple({f"bone {n}" for n in random.integers(BONES, size=2)})
        looked_at = [targets.Target(rig, f"bone {random.integers(BONES)}")]
        kept = assert_same(rig, bones, looked_at)
        used += bool(kept) and len(kept) < BONES
    assert used


@pytest.mark.thorough
@pytest.mark.parametrize("bones", [("head", "neck", "chest", "hips"), ("DEF-hand.L", "DEF-foot.R", "DEF-spine.006")])
def test_a_generated_human_gives_the_same_to_the_bit(bones) -> None:
    """Rigify's stretching, switching and following, with far fewer bones."""
    rig = kept.human()
    whole, _, _ = sampled(rig, bones, cut_down={})
    cut, sampler, copies = sampled(rig, bones)
    assert sampler.whole_because is None and 0 < len(copies) < 0.5 * len(rig.pose.bones)
    for name in ("rotations", "positions", "sizes", "worlds"):
        np.testing.assert_array_equal(getattr(cut, name), getattr(whole, name))


def test_no_copy_is_made_while_something_is_transformed(monkeypatch) -> None:
    """Blender refuses another mode then; whole rigs give the same, and copies are made again as soon as it ends."""
    rig = kept.human()
    bones = ("head", "neck")
    before, sampler, copies = sampled(rig, bones)
    assert copies
    held = [True]
    monkeypatch.setattr(sample.transforming, "is_under_way", lambda: held[0])
    monkeypatch.setattr(cut_down_rig, "_keep_bones", lambda *_: pytest.fail("another mode was tried"))
    for known in (None, sampler.cut_down):
        seen, while_held, copies = sampled(rig, bones, cut_down=known)
        assert not copies and while_held.whole_because is None and while_held.cut_down == known
        for name in ("rotations", "positions", "sizes", "worlds"):
            np.testing.assert_array_equal(getattr(seen, name), getattr(before, name))
    monkeypatch.undo()
    assert sampled(rig, bones)[2]


def test_every_bone_of_a_chain_that_ik_solves_is_kept() -> None:
    rig = scenes.figure(rows=[*scenes.FIGURE, *((f"widget {n}", None, (n, 1, 0), (n, 1, 1)) for n in range(20))])
    scenes.animate(rig)
    constraint = rig.pose.bones["foot.L"].constraints.new("IK")
    constraint.target, constraint.chain_count = scenes.ball((0.2, -0.3, 0.4)), 3
    kept = assert_same(rig, ("thigh.L",))
    assert {"foot.L", "thigh.L", "hips", "root"} == kept


def test_a_chain_that_does_not_use_the_tail_of_its_owner_reaches_one_bone_further_up() -> None:
    """What is asked for is the first bone of the chain alone, which the foot's target moves."""
    rig = scenes.figure()
    constraint = rig.pose.bones["foot.L"].constraints.new("IK")
    constraint.target, constraint.chain_count = scenes.ball((0.2, -0.3, 0.4)), 2
    constraint.use_tail = False
    bpy.context.view_layer.update()
    line = [bone.name for bone in rig.pose.bones["foot.L"].parent_recursive]
    assert {*line[:2], "foot.L"} <= cut_down_rig.needed_bones(rig, line[1:2])


def test_nothing_else_moves_and_nothing_stays() -> None:
    """What is keyed and was moved by hand since stays where it was put: nothing is written back to the scene."""
    rig = control_rig(3)
    ball = scenes.ball()
    ball.keyframe_insert("location", frame=1)
    rig.pose.bones["bone 5"].constraints.new("COPY_LOCATION").target = ball
    bpy.context.view_layer.update()
    ball.location.x, rig.pose.bones["bone 0"].location.x = 7.0, 3.0
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    before = scenes.snapshot()
    _, _, kept = sampled(rig, ("bone 5",))
    assert 0 < len(kept) < BONES
    assert not scenes.differences(before, scenes.snapshot())
    assert ball.location.x == 7.0 and bpy.context.mode == "POSE"


@pytest.mark.parametrize("bone", ["", "bone 20"])
def test_what_a_layer_adds_to_a_copy_goes_with_it(bone) -> None:
    rig = control_rig(3)
    own = layer.Layer(rig, 1)
    own.install([(bone, "LOCATION")])
    own.show(1, [layer.Row(bone, "LOCATION", np.ones((len(FRAMES), 3)))])
    before = set(bpy.data.actions)
    _, _, kept_bones = sampled(rig, ("bone 20",))
    assert kept_bones and set(bpy.data.actions) == before


def test_what_a_copy_stands_in_for_is_not_evaluated_again() -> None:
    """It keeps what a layer adds to it, which no sample has; a slice of work changes nothing of it that is seen. Nor
    are bones evaluated that its copy does not keep."""
    rig = control_rig(5)
    before, _, kept = sampled(rig, ("bone 3",))
    with suspend.suspend_live():
        offsets.install(rig, 1, ("bone 3",))
        offsets.show(rig, Track.pose(1, ("bone 3",), np.array([[0.8, 0.6, 0.0, 0.0]])))
        bpy.context.view_layer.update()
        shown, evaluated, bones = bpy.context.scene, [], set()

        def note(scene: bpy.types.Scene, graph: bpy.types.Depsgraph) -> None:
            if scene == shown:
                evaluated.extend(
                    update.id.name
                    for update in graph.updates
                    if update.is_updated_geometry or update.is_updated_transform
                )
            else:
                bones.update(bone.name for item in graph.objects if item.pose for bone in item.pose.bones)

        bpy.app.handlers.depsgraph_update_post.append(note)
        try:
            with sample.Sampler(bpy.context.scene, rig, ("bone 3",), cut_down={rig: kept}) as sampler:
                seen = sample.run(sampler.sample(FRAMES))
            bpy.context.view_layer.update()
        finally:
            bpy.app.handlers.depsgraph_update_post.remove(note)
    assert rig.name not in evaluated and bones <= kept
    np.testing.assert_allclose(seen.rotations, before.rotations, atol=1e-6)
    (own,) = (item for item in rig.pose.bones["bone 3"].constraints if own_data.is_own_constraint(item))
    assert own.influence == 1.0


def test_what_keys_on_the_armatures_data_drive_is_the_same() -> None:
    rig = control_rig(1)
    rig.data["turn"] = 0.0
    for frame in (1, 30):
        rig.data["turn"] = frame / 30.0
        rig.data.keyframe_insert('["turn"]', frame=frame)
    drive(rig.pose.bones["bone 2"], "rotation_euler", '["turn"]', rig.data, index=0)
    rig.pose.bones["bone 2"].rotation_mode = "XYZ"
    assert_same(rig, ("bone 2",))


@pytest.mark.parametrize(
    "expression", ["bpy.context.scene.frame_current / 9", "self.location.x + frame / 9", "unknown(frame)"]
)
def test_a_driver_that_may_read_anything_needs_the_whole_rig(expression) -> None:
    rig = control_rig(2)
    driver = drive(rig.pose.bones["bone 1"], "location", '["size"]', rig, index=0, expression=expression)
    driver.use_self = "self" in expression
    whole, _, _ = sampled(rig, ("bone 1",), cut_down={})
    seen, sampler, kept = sampled(rig, ("bone 1",))
    assert not kept and "driver" in str(sampler.whole_because)
    np.testing.assert_array_equal(seen.positions, whole.positions)


def test_what_follows_the_rig_and_moves_it_needs_the_whole_rig() -> None:
    rig = control_rig(4)
    prop = scenes.child(scenes.ball(), rig, "bone 3")
    rig.pose.bones["bone 9"].constraints.new("COPY_LOCATION").target = prop
    _, sampler, kept = sampled(rig, ("bone 9",))
    assert not kept and f"'{prop.name}', which moves 'Control'" in str(sampler.whole_because)
    assert str(sampler.whole_because).count(prop.name) == 1


def test_a_curve_that_hooks_to_the_rig_needs_the_whole_rig() -> None:
    rig = control_rig(5)
    curve = bpy.data.objects.new("Path", bpy.data.curves.new("Path", "CURVE"))
    spline = curve.data.splines.new("POLY")
    spline.points.add(3)
    for n, point in enumerate(spline.points):
        point.co = (0.1 * n, 0.0, 0.3 * n, 1.0)
    hook = curve.modifiers.new("Hook", "HOOK")
    hook.object, hook.subtarget = rig, "bone 0"
    bpy.context.scene.collection.objects.link(curve)
    constraint = rig.pose.bones["bone 9"].constraints.new("SPLINE_IK")
    constraint.target, constraint.chain_count = curve, 1
    _, sampler, kept = sampled(rig, ("bone 9",))
    assert not kept and "'Path', which moves 'Control'" in str(sampler.whole_because)


def test_the_bone_of_another_character_is_looked_at_on_a_copy() -> None:
    rig, other = control_rig(6), control_rig(7, "Other")
    looked_at = [targets.Target(other, "bone 4")]
    whole, _, _ = sampled(rig, ("bone 2",), looked_at, cut_down={})
    seen, sampler, _ = sampled(rig, ("bone 2",), looked_at)
    assert set(sampler.cut_down) == {rig, other}
    np.testing.assert_allclose(seen.targets, whole.targets, atol=1e-6)


def test_an_action_that_is_assigned_meanwhile_is_seen() -> None:
    rig = control_rig(8)
    with sample.Sampler(bpy.context.scene, rig, ("bone 3",)) as sampler:
        first = sample.run(sampler.sample(FRAMES))
        scenes.animate(rig, bones=["bone 3"], modes=(rig.pose.bones["bone 3"].rotation_mode,), size=1.0, seed=9)
        second = sample.run(sampler.sample(FRAMES))
        assert sampler._copies
    whole, _, _ = sampled(rig, ("bone 3",), cut_down={})
    assert np.abs(second.rotations - first.rotations).max() > 0.01
    np.testing.assert_allclose(second.rotations, whole.rotations, atol=1e-6)


def test_few_frames_and_small_rigs_are_not_copied() -> None:
    rig = control_rig(9)
    with sample.Sampler(bpy.context.scene, rig, ("bone 3",)) as sampler:
        sample.run(sampler.sample([1.0, 2.0]))
        assert not sampler._copies
    small = scenes.figure("Small", scenes.FIGURE[:6])
    _, sampler, kept = sampled(small, ("head",))
    assert not kept and sampler.whole_because is None


def test_a_copy_that_was_compared_is_not_compared_again(monkeypatch) -> None:
    """With what is known of copies the same is sampled, without a step of the whole rig; other bones are compared."""
    rig, alike = control_rig(1), set()
    whole, step = [], sample.Sampler._step

    def noting(sampler, frame, before):
        depsgraph = step(sampler, frame, before)
        whole.extend(() if sampler._copies else (frame,))
        return depsgraph

    monkeypatch.setattr(sample.Sampler, "_step", noting)
    bones, other = ("bone 12", "bone 5"), ("bone 30",)
    seen = []
    for asked, stepped in ((bones, 3), (bones, 0), (other, 3), (bones, 0), (other, 0)):
        whole.clear()
        with sample.Sampler(bpy.context.scene, rig, asked, alike=alike) as sampler:
            seen.append(sample.run(sampler.sample(FRAMES)))
        assert len(whole) == stepped and set(sampler.cut_down) == {rig}
    for again in (seen[1], seen[3]):
        np.testing.assert_array_equal(again.rotations, seen[0].rotations)


def test_a_target_that_follows_the_rig_needs_the_whole_rig_though_its_copy_is_known() -> None:
    rig, alike = control_rig(4), set()
    prop = scenes.child(scenes.ball(), rig, "bone 3")
    for looked_at, copied in (((), {rig}), ([targets.Target(prop)], set())):
        with sample.Sampler(bpy.context.scene, rig, ("bone 9",), looked_at, alike=alike) as sampler:
            sample.run(sampler.sample(FRAMES))
        assert set(sampler.cut_down) == copied and bool(sampler.whole_because) != bool(copied)


def test_few_frames_of_many_are_sampled_on_a_copy() -> None:
    """So that those who sample the others know it."""
    rig = control_rig(9)
    whole, _, _ = sampled(rig, ("bone 3",), cut_down={})
    with sample.Sampler(bpy.context.scene, rig, ("bone 3",), in_all=len(FRAMES)) as sampler:
        few = sample.run(sampler.sample(FRAMES[:2]))
        assert set(sampler.cut_down) == {rig}
    np.testing.assert_allclose(few.rotations, whole.rotations[:2], atol=1e-6)


@pytest.mark.parametrize("kind", linked.KINDS)
def test_an_overridden_rig_is_cut_down_like_any_other(tmp_path, kind) -> None:
    """Whatever of it is an override: none of that can enter edit mode."""
    library = linked.save_library(tmp_path, control_rig(1, "Hero"))
    rig = linked.overridden(library, kind)
    if kind != "object":
        drive(rig.pose.bones["bone 3"], "location", '["size"]', rig.data, index=1)
        rig.data["size"] = 0.4
    before = set(bpy.data.objects), set(bpy.data.armatures), set(bpy.data.actions)
    assert 0 < len(assert_same(rig, ["bone 12", "bone 5"])) < BONES
    assert rig.override_library is not None
    assert before == (set(bpy.data.objects), set(bpy.data.armatures), set(bpy.data.actions))


def test_one_character_of_a_library_looks_at_another_that_is_only_linked(tmp_path) -> None:
    library = linked.save_library(tmp_path, control_rig(2, "Hero"), control_rig(3, "Other"))
    rig = linked.overridden(library, "object and data")
    other = linked.link(library, "objects", "Other")
    bpy.context.scene.collection.objects.link(other)
    bpy.context.view_layer.update()
    looked_at = [targets.Target(other, "bone 4")]
    assert set(sampled(rig, ("bone 2",), looked_at)[1].cut_down) == {rig, other}
    assert_same(rig, ("bone 2",), looked_at)
