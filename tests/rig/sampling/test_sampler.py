"""The temporary scene: it sees what the animator sees, changes nothing of the animator's, and is gone at the end."""

from itertools import product

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector

from extension import load

from .. import scenes
from ..scenes import CHAIN, aim, ball, figure, run_bake, swaying

actions = load("rig.animation.actions")
bake = load("rig.look_at.look_at_bake")
gaze_solving = load("rig.look_at.gaze_solving")
verification = load("rig.look_at.verification")
working = load("rig.animation.bake_transaction")
look_at = load("rig.look_at.resolve")
track = load("rig.layers.track")
sample = load("rig.sampling.sampler")
rotation = load("lookat_pd.rotation")
errors = load("lookat_pd.errors")
bake_options = load("rig.animation.bake_options")
own_data = load("rig.sampling.own_data")
scene_time = load("rig.sampling.scene_time")
live = load("rig.layers.live")
offsets = load("rig.look_at.look_at_layer")
suspend = load("rig.sampling.suspend")
targets = load("rig.sampling.targets")

into_any = pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])


def lively():
    """A character with everything in its scene that a bake might disturb."""
    bpy.context.scene.frame_end = scenes.LAST
    scene = swaying(modes=("QUATERNION", "XYZ"))
    armature = scene.armature
    bpy.context.scene.frame_set(7, subframe=0.25)
    other = bpy.data.scenes.new("Other Scene")
    other.frame_current = 33
    mesh = bpy.data.objects.new("Body", bpy.data.meshes.new("Body"))
    mesh.modifiers.new("Armature", "ARMATURE").object = armature
    bpy.context.scene.collection.objects.link(mesh)
    mesh.parent = armature
    # Edits that are not keyed yet.
    armature.pose.bones["head"].rotation_quaternion = (0.9, 0.1, 0.2, 0.3)
    armature.pose.bones["hand.R"].location = (1, 2, 3)
    scene.target.select_set(True)
    bpy.context.view_layer.objects.active = armature
    # The look-at takes its place on the rig.
    bpy.context.view_layer.update()
    return scene


def job(scene, into: str = "NEW"):
    wanted = [look_at.resolve(scene.armature, "head")]
    return bake.bake(bpy.context.scene, wanted, bake_options.BakeOptions(1, 30, into))


def but_for_results(state: dict) -> dict:
    """A snapshot without what a bake may change: actions, the armature's animation data, and the look-at, muted, with
    all that shows it."""
    state["blocks"]["objects"] = [row for row in state["blocks"]["objects"] if row[0] != ".Look-at PD Clock"]
    state["objects"].pop(".Look-at PD Clock", None)
    state["blocks"].pop("actions")
    state.pop("actions")
    state["objects"]["Hero"].pop("animation")
    state["objects"]["Hero"]["bones"]["head"]["look_at"].pop("mute")
    for bone in state["objects"]["Hero"]["bones"].values():
        bone["constraints"] = [item for item in bone["constraints"] if not item["name"].startswith("'Look-at PD ")]
    return state


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["OBJECT", "POSE"])
@into_any
def test_only_the_result_is_new(into, mode) -> None:
    lively()
    bpy.ops.object.mode_set(mode=mode)
    before = but_for_results(scenes.snapshot())
    run_bake(bpy.data.objects["Hero"], into=into)
    assert not scenes.differences(before, but_for_results(scenes.snapshot()))


@pytest.mark.slow
@into_any
def test_stopped_after_any_step_nothing_has_happened(into) -> None:
    scene = lively()
    before = scenes.snapshot()
    steps = len(list(job(scene, "LAYER")))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    for stop in (0, 1, 2, steps // 2, steps - 1):
        scene = lively()
        before = scenes.snapshot()
        work = job(scene, into)
        for _ in range(stop):
            next(work)
        work.close()
        assert not scenes.differences(before, scenes.snapshot())
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


WRITING = {"keys", "commit", "layer", "curves"}
"""Places where it matters into what a bake goes."""
PLACES = {
    "solver": (gaze_solving.gaze, "solve_samples"),
    "channels": (track.channels, "turned"),
    "coupling": (verification.control_coupling, "realize"),
    "keys": (working.keys.Keys, "write"),
    "sampler": (sample.Sampler, "_fill"),
    "sampling": (sample.Sampler, "sample"),
    "constraints": (verification.offsets, "install"),
    "commit": (working.BakeTransaction, "commit"),
    "layer": (working, "_push_down"),
    "curves": (working.actions, "new_curve"),
}


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_an_error_anywhere_leaves_everything_as_it_was(place, subtests, monkeypatch) -> None:
    """Whatever breaks, however late: no action, scene, empty, track, key or user too many."""
    destinations = ("NEW", "CURRENT", "LAYER") if place in WRITING else ("CURRENT",)
    for into, after, plain in product(destinations, (0, 5), (True, False)):
        with subtests.test(into=into, after=after, plain=plain):
            bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
            check_nothing_is_left(place, into, after, plain, monkeypatch)


def check_nothing_is_left(place: str, into: str, after: int, plain: bool, monkeypatch) -> None:
    """Of a bake that breaks after so many calls at a place."""
    scene = lively()
    if not plain:
        constraint = scene.armature.pose.bones["neck"].constraints.new("COPY_ROTATION")
        constraint.target, constraint.subtarget, constraint.influence = scene.armature, "hand.L", 0.2
    holder, name = PLACES[place]
    original, calls = getattr(holder, name), []

    def broken(*args, **options):
        calls.append(1)
        if len(calls) > after:
            raise RuntimeError("injected")
        return original(*args, **options)

    before = scenes.snapshot()
    monkeypatch.setattr(holder, name, broken)
    try:
        scenes.finish(job(scene, into))
    except RuntimeError:
        monkeypatch.undo()
        assert not scenes.differences(before, scenes.snapshot())


def test_other_peoples_handlers_may_fail() -> None:
    """Blender prints an error of a handler and goes on; the bake goes on with it."""
    scene = swaying()

    def broken(*_):
        raise RuntimeError("some other add-on")

    bpy.app.handlers.frame_change_pre.append(broken)
    bpy.app.handlers.frame_change_post.append(broken)
    try:
        run_bake(scene.armature)
    finally:
        bpy.app.handlers.frame_change_pre.remove(broken)
        bpy.app.handlers.frame_change_post.remove(broken)
    assert scenes.error(scene.armature, scene.place) < 0.1


def test_handler_of_another_add_on_that_drives_the_rig_is_seen() -> None:
    """What add-ons set in frame handlers, whatever scene they are called for, is part of the animation."""
    scene = swaying()

    def sway(current, depsgraph=None):
        scene.armature.pose.bones["root"].rotation_euler.z = 0.01 * min(current.frame_current, 20)

    scene.armature.pose.bones["root"].rotation_mode = "XYZ"
    bpy.app.handlers.frame_change_pre.append(sway)
    try:
        run_bake(scene.armature)
        assert scenes.error(scene.armature, scene.place) < 0.1
    finally:
        bpy.app.handlers.frame_change_pre.remove(sway)


def test_temporary_scene_is_marked_and_gone() -> None:
    scene = swaying()
    with sample.Sampler(bpy.context.scene, scene.armature, CHAIN) as sampler:
        assert sampler.scene.get(own_data.TEMPORARY)
        name = sampler.scene.name
    assert name not in bpy.data.scenes


@pytest.mark.every_blender
def test_steps_without_a_sign_to_the_window_sample_the_same_to_the_bit(monkeypatch) -> None:
    """Where the temporary scene may rest between two slices. What has no key stays as the animator has it."""
    scene = swaying(modes=scenes.MODES)
    scenes.keyed(scene.target, "location", [(-9, (2, -1, 1)), (30, (-0.9, -2, 1.4)), (45, (0.8, -2, 1.9))])
    scene.armature.pose.bones["hips"].location.y = 0.375
    bpy.context.view_layer.update()
    frames = [float(frame) for frame in range(-5, 48)] + [7.25, 8.5, 46.75]
    frames_shown, shown, heard = [], sample.Sampler._step, []
    elsewhere = bpy.data.scenes.new("Other Scene")
    elsewhere.frame_set(33, subframe=0.5)

    def sampled(*, can_rest: bool):
        def step(self, frame, before):
            self._can_rest = can_rest
            depsgraph = shown(self, frame, before)
            frames_shown.append((depsgraph.scene.frame_current_final, bpy.context.scene.frame_current_final))
            return depsgraph

        monkeypatch.setattr(sample.Sampler, "_step", step)
        with sample.Sampler(
            bpy.context.scene, scene.armature, CHAIN, [targets.Target(scene.target)], located=True
        ) as sampler:
            return sample.run(sampler.sample(frames))

    def hear(evaluated, *_) -> None:
        heard.extend([evaluated.frame_current] * (own_data.TEMPORARY in evaluated))

    here, one = bpy.context.scene.frame_current, sampled(can_rest=False)
    bpy.app.handlers.depsgraph_update_pre.append(hear)
    other = sampled(can_rest=True)
    bpy.app.handlers.depsgraph_update_pre.remove(hear)
    assert len(heard) < 15, heard
    assert elsewhere.frame_current_final == 33.5
    for name in ("rotations", "positions", "sizes", "targets", "worlds"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert all(np.array_equal(one.raw[name], other.raw[name]) for name in one.raw)
    assert np.ptp(one.rotations, axis=0).max() > 0.01 and np.ptp(one.targets, axis=1).max() > 0.1
    assert [shown for shown, _ in frames_shown][-len(frames) :] == frames and {at for _, at in frames_shown} == {here}
    assert scene.armature.pose.bones["hips"].location.y == 0.375 and bpy.context.scene.frame_current == here


def _known(samples) -> dict[str, np.ndarray]:
    return {name: getattr(samples, name) for name in ("rotations", "positions", "sizes", "targets", "worlds")}


@pytest.mark.every_blender
def test_a_sampler_goes_on_with_the_scene_of_one_of_the_same_that_has_come_to_its_end(monkeypatch) -> None:
    """Until the file is to hold nothing of it. What that has put on a copy of the rig adds nothing any more; one of
    other bones makes a scene of its own."""
    monkeypatch.setattr(sample, "_in_window", True)
    monkeypatch.setattr(sample, "_MOST", 1.0)
    scene = swaying()
    bpy.context.scene.frame_end = 30
    live.finish(bpy.context.scene)
    frames, objects = [float(frame) for frame in range(1, 31)], len(bpy.data.objects)
    shown = next(iter(live._scenes[bpy.context.scene.session_uid].solves.values())).track
    copied = {scene.armature: set(CHAIN)}

    def sampler(bones=CHAIN):
        return sample.Sampler(
            bpy.context.scene, scene.armature, bones, [targets.Target(scene.target)], cut_down=dict(copied)
        )

    def sampled(one, before=None) -> dict[str, np.ndarray]:
        return _known(sample.run(one.sample(frames, before=before)))

    with suspend.suspend_live():
        alone = sampler()
        expected = sampled(alone)
        alone.close()
        assert len(bpy.data.objects) == objects, "without slices nothing is left"
        sample.go_on()
        first, second, other = sampler(), sampler(), sampler(CHAIN[:-1])
        added = sampled(first, lambda: offsets.show(first.stand_in(scene.armature), shown))
        assert not np.array_equal(added["rotations"], expected["rotations"]), "it adds something"
        there, actions_there = first.scene, len(bpy.data.actions)
        first.close()
        found = sampled(second)
        assert second.scene == there and len(bpy.data.actions) == actions_there
        sampled(other)
        assert other.scene != there
        second.close()
        other.close()
        sample.rest_all()
        assert sample.is_resting()
        sample.park_all()
    assert len(bpy.data.objects) == objects
    for name, values in expected.items():
        assert np.array_equal(found[name], values), name


@pytest.mark.parametrize("base", [1.0, 1.001])
def test_samples_are_what_the_animator_sees_without_the_look_at(base) -> None:
    scene = swaying(modes=scenes.MODES)
    bpy.context.scene.render.fps_base = base
    frames = list(range(-5, 70))
    with sample.Sampler(bpy.context.scene, scene.armature, CHAIN, [targets.Target(scene.target)]) as sampler:
        seen = sample.run(sampler.sample(frames))
    scene.armature.pose.bones["head"].lookat_pd.mute = True
    truth = scenes.poses(scene.armature, frames, CHAIN)
    names = [bone.name for bone in scene.armature.pose.bones if bone.name in CHAIN]
    for n, bone in enumerate(CHAIN):
        matrices = truth[:, names.index(bone)]
        assert np.abs(rotation.to_matrix(seen.rotations[:, n]) - matrices[:, :3, :3]).max() < 1e-6
        assert np.array_equal(seen.positions[:, n], matrices[:, :3, 3])


def test_frames_are_worked_on_in_blocks_that_change_no_bit(monkeypatch) -> None:
    """However long the range, no step of the work handles more than a block; what comes out is the same."""
    scene = swaying(modes=scenes.MODES)
    scenes.keyed(scene.armature.pose.bones[CHAIN[1]], "scale", [(1, (1, 1, 1)), (30, (1, 1.5, 0.7))])
    wanted, aim = [targets.Target(scene.target)], np.array((0.0, 0.0, 1.0))
    setting = 'pose.bones["head"].lookat_pd.influence'
    frames, worked_on, from_matrix = list(range(-5, 48)), [], rotation.from_matrix

    def counted(matrices):
        worked_on.append(matrices[..., 0, 0].size)
        return from_matrix(matrices)

    def sampled():
        with sample.Sampler(bpy.context.scene, scene.armature, CHAIN, wanted, aim, located=True) as sampler:
            return sample.run(sampler.sample(frames, [setting]))

    def placed() -> np.ndarray:
        with sample.Sampler(bpy.context.scene, scene.armature, (), wanted) as sampler:
            return list(sampler.sample_points(frames))[-1].copy()

    whole, points = sampled(), placed()
    monkeypatch.setattr(rotation, "from_matrix", counted)
    monkeypatch.setattr(sample, "_BLOCK", 20)
    blocks = sampled()
    assert whole.sheared and sum(worked_on) == len(frames) * len(CHAIN) and max(worked_on) <= 20
    for name, value in vars(whole).items():
        one, other = value, getattr(blocks, name)
        if isinstance(value, dict):
            one, other = map(_joined, (one, other))
        assert np.array_equal(one, other), name
    assert np.array_equal(placed(), points)


def _joined(channels: dict[str, np.ndarray]) -> np.ndarray:
    return np.concatenate([channels[mode] for mode in sorted(channels)] or [np.empty(0)], axis=-1)


def test_properties_that_are_asked_for_are_sampled_as_they_are_at_each_frame() -> None:
    """Whoever wants a property names its data path; of whatever kind, keyed, driven or still."""
    scene = swaying()
    armature, head = scene.armature, scene.armature.pose.bones["head"]
    head["flag"] = 7
    scenes.settings_keyed(armature, "head", "influence", [(1, 0.25), (21, 0.75)])
    scenes.settings_keyed(armature, "head", "use", [(1, True), (10, False)])
    driver = armature.driver_add('pose.bones["head"].lookat_pd.nod').driver
    driver.expression = "frame / 100"
    paths = [f'pose.bones["head"]{end}' for end in (".lookat_pd.influence", ".lookat_pd.use", '["flag"]')]
    frames = list(range(1, 31))
    with sample.Sampler(bpy.context.scene, armature, CHAIN) as sampler:
        seen = sample.run(sampler.sample(frames, [*paths, 'pose.bones["head"].lookat_pd.nod']))
        assert not sample.run(sampler.sample(frames)).properties
    influence, use, flag, driven = seen.properties.values()
    assert influence[[0, 20, 29]].tolist() == [0.25, 0.75, 0.75] and np.all(np.diff(influence) >= 0.0)
    assert use.dtype == bool and use.tolist() == [frame < 10 for frame in frames]
    assert flag.tolist() == [7] * 30
    assert np.allclose(driven, np.array(frames) / 100.0, atol=1e-6)
    part = seen.at(slice(3, 5))
    assert part.frames.tolist() == [4, 5] and part.rotations.shape[0] == 2 and part.properties[paths[1]].all()


def test_where_time_is_stretched_frames_are_those_of_the_keys() -> None:
    """At half speed, frame 60 of the scene shows the keys of frame 30."""
    scene = swaying(frames=(1, 20))
    scene.armature.pose.bones["head"].lookat_pd.mute = True
    bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = 100, 200
    shown = scenes.poses(scene.armature, range(2, 61, 2), ("head",))[:, 0, :3, 3]
    with sample.Sampler(bpy.context.scene, scene.armature, ("head",)) as sampler:
        seen = sample.run(sampler.sample(range(1, 31)))
    assert np.array_equal(seen.positions[:, 0], shown)
    assert scene_time.key_range(bpy.context.scene, 2, 60) == (1, 30)


def test_baking_in_a_scene_that_is_not_the_active_one() -> None:
    scene = swaying()
    main = bpy.context.scene
    bpy.context.window.scene = bpy.data.scenes.new("Other") if bpy.context.window else main
    run_bake(scene.armature, scene=main)
    if bpy.context.window:
        bpy.context.window.scene = main
    assert scenes.error(scene.armature, scene.place) < 0.1


def test_armature_hidden_in_a_switched_off_collection() -> None:
    """Excluded or hidden things have no place in the animator's view layer, but they can be baked."""
    scene = swaying()
    shelf = bpy.data.collections.new("Shelf")
    bpy.context.scene.collection.children.link(shelf)
    for item in (scene.armature, scene.target):
        shelf.objects.link(item)
        bpy.context.scene.collection.objects.unlink(item)
    shelf.hide_viewport = True
    run_bake(scene.armature)
    shelf.hide_viewport = False
    assert scenes.error(scene.armature, scene.place) < 0.1


def test_target_hidden_from_the_viewport() -> None:
    scene = swaying()
    scenes.keyed(scene.target, "location", [(1, (2, -1, 1)), (30, (-0.9, -2, 1.4))])
    scene.target.hide_viewport = True
    run_bake(scene.armature)
    scene.target.hide_viewport = False
    assert scenes.error(scene.armature, scene.place, (1, *scenes.STILL)) < 0.1


def test_armature_hidden_from_the_viewport() -> None:
    scene = swaying()
    scene.armature.hide_viewport = True
    run_bake(scene.armature)
    scene.armature.hide_viewport = False
    assert scenes.error(scene.armature, scene.place, (1, *scenes.STILL)) < 0.1


def test_target_in_another_scene() -> None:
    """Targets need not be in the scene of the character."""
    scene = swaying()
    elsewhere = bpy.data.scenes.new("Elsewhere")
    elsewhere.collection.objects.link(scene.target)
    bpy.context.scene.collection.objects.unlink(scene.target)
    run_bake(scene.armature)
    assert scenes.error(scene.armature, lambda _: scene.target.location, (1, *scenes.STILL)) < 0.1


def test_sampling_costs_grow_with_frames_not_with_the_scene() -> None:
    """A scene full of meshes is not evaluated."""
    scene = swaying()
    mesh = bpy.data.meshes.new("Grid")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    for n in range(3):
        item = bpy.data.objects.new(f"Grid {n}", mesh)
        item.modifiers.new("Subdivision", "SUBSURF").levels = 6
        item.modifiers.new("Armature", "ARMATURE").object = scene.armature
        item.parent = scene.armature
        bpy.context.scene.collection.objects.link(item)
    with sample.Sampler(bpy.context.scene, scene.armature, CHAIN, [targets.Target(scene.target)]) as sampler:
        sample.run(sampler.sample(range(1, 5)))
        names = {item.object.original.name for item in sampler.scene.view_layers[0].depsgraph.object_instances}
    assert not any(name.startswith("Grid") for name in names)


def test_linked_target(tmp_path) -> None:
    ball((0.8, -2, 1.9), "Far Ball")
    path = str(tmp_path / "props.blend")
    bpy.data.libraries.write(path, {bpy.data.objects["Far Ball"]})
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.objects = ["Far Ball"]
    armature, target = figure(), bpy.data.objects["Far Ball"]
    bpy.context.scene.collection.objects.link(target)
    scenes.animate(armature)
    aim(armature, target)
    run_bake(armature)
    assert scenes.error(armature, scenes.place_of(target), (1, *scenes.STILL)) < 0.1


def test_points_of_the_world_are_seen_from_a_moving_object() -> None:
    """As Blender places them, whatever its place, rotation and scale."""
    worlds = [Matrix.LocRotScale((1.0 + k, -2.0, 0.5), Euler((0.3, 0.2 * k, 1.0)), (1.0, 2.0, 0.5)) for k in range(3)]
    points = np.random.default_rng(0).normal(size=(2, 3, 3))
    found = sample.seen_from(np.array(worlds), points)
    for n in range(2):
        for k, world in enumerate(worlds):
            assert np.abs(np.array(world @ Vector(found[n, k])) - points[n, k]).max() < 1e-5
