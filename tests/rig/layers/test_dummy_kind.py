"""A kind of layer with five short methods is found live, baked, saved and undone, and costs nothing where it is not."""

from collections.abc import Iterable, Iterator

import bpy
import numpy as np
import pytest
from numpy.testing import assert_allclose

from comparison import largest_angle
from extension import load
from lookat_pd import rotation

from .. import scenes
from ..scenes import aim, ball, figure, keyed, poses, swaying

bake_options = load("rig.animation.bake_options")
drain = load("lookat_pd.progress").drain
kinds = load("rig.layers.kinds")
layer = load("rig.layers.layer")
layer_bake = load("rig.layers.layer_bake")
live = load("rig.layers.live")
sampler = load("rig.sampling.sampler")
suspend = load("rig.sampling.suspend")
track = load("rig.layers.track")
PLACE, LAST = "sway", 30
FRAMES = range(1, LAST + 1)
ARMS = ("upper_arm.L", "upper_arm.R")


class SwayLayer(layer.Layer):
    prefix, order, action_name = "Sway PD ", 10, "Sway PD Offsets"


class Sway(kinds.Kind):
    """Several bones of a rig in one layer turn by a part of how the head is turned, look-ats included."""

    name, layer = "SWAY", SwayLayer

    def find(self, scene: bpy.types.Scene) -> Iterator:
        rows = tuple((bone, "ROTATION") for bone in ARMS)
        for item in scene.objects:
            if item.get(PLACE):
                yield kinds.Instance(item, "", 1, rows=rows)

    def settings(self, instance, keyed: frozenset[str]) -> tuple:
        return (instance.owner[PLACE],)

    def inputs(self, instance) -> tuple[list, list]:
        return [instance.owner], []

    def solve(self, solve, over) -> Iterator[float]:
        if solve.samples is None or solve.stale > kinds.SETTINGS:
            with over.sampler(solve.owner, ("head", *ARMS)) as work:
                solve.samples = yield from sampler.sample_frames(work, over.frames)
        part = rotation.exp(solve.owner[PLACE] * rotation.log(solve.samples.rotations[:, :1]))
        solve.keep(track.Track(1, ARMS, int(over.frames[0]), np.repeat(part, len(ARMS), axis=1)))

    def mute(self, instance) -> None:
        instance.owner[PLACE] = 0.0


@pytest.fixture(autouse=True)
def registered(empty_file) -> Iterator[None]:
    bpy.context.scene.frame_end = LAST
    kinds.register_kind(Sway)
    yield
    kinds.unregister_kind(Sway)


def sway(armature: bpy.types.Object, amount: float = 0.5) -> None:
    armature[PLACE] = amount
    armature.update_tag()
    live.touch()


def seen(armature: bpy.types.Object, frames: Iterable[float] = FRAMES) -> np.ndarray:
    return poses(armature, frames, ("head", *ARMS))


def heads(found: np.ndarray) -> np.ndarray:
    """(F, 4) rotations of the head in its armature."""
    return rotation.from_matrix(found[:, 0, :3, :3])


def looking() -> scenes.Scene:
    scene = swaying()
    keyed(scene.target, "location", [(1, (2, -1, 1)), (20, (-0.9, -2, 1.4))])
    return scene


def test_live_it_is_solved_with_the_look_at_of_the_same_rig() -> None:
    armature = looking().armature
    plain = seen(armature)
    sway(armature)
    shown = seen(armature)
    assert np.array_equal(shown[:, 0], plain[:, 0])
    turned = rotation.exp(0.5 * rotation.log(heads(shown)))
    for n in range(1, 1 + len(ARMS)):
        before, after = (rotation.from_matrix(found[:, n, :3, :3]) for found in (plain, shown))
        assert largest_angle(rotation.multiply(before, turned), after) < 1e-4
    assert live.status(bpy.context.scene, armature, "", "SWAY").state == "SOLVED"
    before = heads(shown)
    armature.pose.bones["head"].lookat_pd.influence = 0.3
    again = seen(armature)
    assert largest_angle(heads(again), before) > 0.05
    sway(armature, 0.0)
    bones = [rotation.from_matrix(found[:, 1, :3, :3]) for found in (seen(armature), again)]
    turned = rotation.exp(0.5 * rotation.log(heads(again)))
    assert largest_angle(rotation.multiply(bones[0], turned), bones[1]) < 1e-4


def test_layers_that_come_with_constraints_are_found_once(monkeypatch) -> None:
    armature = looking().armature
    sway(armature)
    seen(armature, (1,))
    found, rebuilt = [], Sway.rebuilt
    monkeypatch.setattr(Sway, "rebuilt", lambda self, *known: found.append(known) or rebuilt(self, *known))
    with suspend.suspend_live():
        other = figure("Other")
        sway(other)
        armature.pose.bones["neck"].constraints.new("LIMIT_ROTATION")
    live.finish(bpy.context.scene)
    assert len(found) == 1
    assert live.status(bpy.context.scene, other, "", "SWAY").state == "SOLVED"


def test_a_played_frame_updates_nothing_until_something_changes(monkeypatch) -> None:
    armature = looking().armature
    sway(armature)
    scenes.goto(1)
    scenes.goto(2)
    updated: list[int] = []
    update = live._update
    monkeypatch.setattr(live, "_update", lambda *a, **k: (updated.append(1), update(*a, **k)))
    before = seen(armature, range(3, 9))
    assert not updated
    armature.pose.bones[ARMS[0]].constraints[0].influence = 0.25
    assert np.array_equal(seen(armature, range(3, 9)), before)
    armature.pose.bones["head"].lookat_pd.influence = 0.3
    assert np.abs(seen(armature, (5,)) - before[2:3]).max() > 0.01
    armature.pose.bones["head"].lookat_pd.influence = 1.0
    assert np.array_equal(seen(armature, range(3, 9)), before)
    live.taken_away(armature, 1)
    count = len(updated)
    assert np.array_equal(seen(armature, range(3, 9)), before)
    assert len(updated) == count + 1


def test_its_constraints_stand_between_those_of_look_ats_and_of_the_animator() -> None:
    armature = looking().armature
    stack = armature.pose.bones[ARMS[0]].constraints
    stack.new("LIMIT_ROTATION").name = "Mine"
    sway(armature)
    seen(armature, (1,))
    assert [item.name for item in stack] == ["Sway PD 1.0", "Mine"]
    aim(armature, ball(name="Other"), ARMS[0])
    seen(armature, (1,))
    assert [item.name for item in stack] == ["Look-at PD 2.0", "Sway PD 1.0", "Mine"]


def test_a_changed_setting_and_a_changed_animation_are_seen_at_once() -> None:
    armature = looking().armature
    sway(armature)
    before = seen(armature)
    sway(armature, 0.2)
    less = seen(armature)
    assert np.abs(less - before).max() > 0.01
    keyed(armature.pose.bones["head"], "location", [(1, (0, 0, 0)), (20, (0.1, 0, 0))])
    sway(armature, 0.5)
    armature.pose.bones["head"].lookat_pd.mute = True
    plain = seen(armature)
    assert np.abs(plain - before).max() > 0.01


@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
def test_the_bake_shows_what_was_live(into) -> None:
    armature = looking().armature
    sway(armature)
    shown = seen(armature)
    (instance,) = Sway().find(bpy.context.scene)
    options = bake_options.BakeOptions(1, LAST, into)
    drain(layer_bake.bake(bpy.context.scene, Sway, [instance], options))
    assert not list(SwayLayer.on(armature))
    assert_allclose(seen(armature), shown, atol=1e-5)


@pytest.mark.thorough
@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
def test_a_bake_that_fails_at_the_last_moment_changes_nothing(into, monkeypatch) -> None:
    """Of two rigs the second one cannot be written: the first one is as it was, too."""
    rigs = [looking().armature, figure("Other")]
    scenes.animate(rigs[1])
    for armature in rigs:
        sway(armature)
        seen(armature)
    scenes.goto(1)
    before, commit, done = scenes.snapshot(), layer_bake.BakeTransaction.commit, []

    def failing(*given: object) -> bpy.types.Action:
        if done:
            raise RuntimeError("no room")
        done.append(True)
        return commit(*given)

    monkeypatch.setattr(layer_bake.BakeTransaction, "commit", failing)
    with pytest.raises(RuntimeError, match="no room"):
        drain(
            layer_bake.bake(
                bpy.context.scene, Sway, [*Sway().find(bpy.context.scene)], bake_options.BakeOptions(1, LAST, into)
            )
        )
    scenes.goto(1)
    assert not scenes.differences(before, scenes.snapshot())


def test_opened_again_it_is_not_solved_again(tmp_path, monkeypatch) -> None:
    armature = looking().armature
    sway(armature)
    shown = seen(armature)
    path = str(tmp_path / "sway.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    monkeypatch.setattr(Sway, "solve", lambda *_: pytest.fail("it was solved when the file was saved"))
    bpy.ops.wm.open_mainfile(filepath=path)
    armature = bpy.data.objects["Hero"]
    assert np.array_equal(seen(armature), shown)
    with load("rig.sampling.suspend").suspend_live():
        assert np.array_equal(seen(armature), shown)


def test_meddled_with_it_is_put_right() -> None:
    armature = looking().armature
    sway(armature)
    shown = seen(armature)
    constraint = armature.pose.bones[ARMS[1]].constraints[0]
    constraint.influence = 0.5
    constraint.action.slots.remove(constraint.action_slot)
    assert np.array_equal(seen(armature), shown)
    stack = armature.pose.bones[ARMS[1]].constraints
    stack.remove(stack[0])
    assert np.array_equal(seen(armature), shown)
    assert "restored" in " ".join(live.status(bpy.context.scene, armature, "", "SWAY").notes)


def test_undone_it_is_as_it_was() -> None:
    armature = looking().armature
    sway(armature)
    shown = seen(armature)
    bpy.ops.ed.undo_push(message="before")
    sway(armature, 0.2)
    less = seen(armature)
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert np.array_equal(seen(bpy.data.objects["Hero"]), shown)
    bpy.ops.ed.redo()
    assert np.array_equal(seen(bpy.data.objects["Hero"]), less)


def test_what_is_gone_leaves_nothing() -> None:
    armature = looking().armature
    plain = seen(armature)
    sway(armature)
    seen(armature)
    sway(armature, 0.0)
    assert np.array_equal(seen(armature), plain)


def test_no_kind_is_entered_where_the_file_has_nothing_of_it(monkeypatch) -> None:
    """Nor is any while something samples or bakes."""
    armature = looking().armature
    seen(armature, (1,))
    entered: list[str] = []
    for kind in kinds.KINDS:
        for name in dir(kinds.Kind):
            method = getattr(kind, name)
            if callable(method) and not name.startswith("__") and name not in ("layer",):
                monkeypatch.setattr(kind, name, counted(entered, kind, name), raising=False)
    seen(armature)
    armature.pose.bones["head"].lookat_pd.settle_time = 1.1
    seen(armature)
    assert {name.split(".")[0] for name in entered} == {"LookAtKind"}
    entered.clear()
    scenes.run_bake(armature, last=LAST)
    assert not entered
    bpy.context.view_layer.update()
    # It has no settings by which `in_file` could tell.
    assert {name for name in entered if not name.startswith("LookAtKind.")} <= {"Sway.find", "Sway.is_used"}


def counted(entered: list[str], kind: type, name: str):
    """A method that notes that it was called."""
    method = kind.__dict__.get(name) or getattr(kind, name)
    if isinstance(method, classmethod):

        def of_class(cls, *args, **options):
            entered.append(f"{kind.__name__}.{name}")
            return method.__func__(cls, *args, **options)

        return classmethod(of_class)
    if isinstance(method, property):
        return method

    def of_instance(*args, **options):
        entered.append(f"{kind.__name__}.{name}")
        return method(*args, **options)

    return of_instance


def test_a_file_without_layers_enters_no_kind(monkeypatch) -> None:
    armature = figure()
    scenes.goto(1)
    entered: list[str] = []
    for kind in kinds.KINDS:
        for name in ("find", "is_used", "settings", "solve", "__init__"):
            monkeypatch.setattr(kind, name, counted(entered, kind, name))
    for frame in FRAMES:
        scenes.goto(frame)
        armature.location.x = frame
        bpy.context.view_layer.update()
    assert not entered
    live.touch()
    armature.location.x = 0.0
    bpy.context.view_layer.update()
    assert entered == ["Sway.is_used", "Sway.__init__", "Sway.find"]


def test_a_kind_is_there_by_its_settings_or_by_what_is_left_of_its_layers() -> None:
    armature, find = looking().armature, lambda: {kind.name for kind in kinds.in_file(kinds.KINDS)} - {"SWAY"}
    assert find() == {"LOOK_AT"}
    bpy.context.view_layer.update()
    armature.pose.bones["head"].lookat_pd.mute = True
    assert find() == {"LOOK_AT"} and live.is_there("LOOK_AT") and not live.is_there("SPRINGS")
    empty, other = ball(name="Other"), figure("Other")
    empty.lookat_pd_follow.exists = True
    other.pose.bones["head"].constraints.new("ACTION").name = "Springs PD 1.0"
    bpy.data.actions.new("Left")["lookat_pd_visual"] = True
    assert find() == {"LOOK_AT", "FOLLOW", "SPRINGS", "VISUAL"}


def test_the_file_is_looked_at_once_for_panels_that_are_drawn_while_something_samples(monkeypatch) -> None:
    looking()
    bpy.context.view_layer.update()
    looked, in_file = [], kinds.in_file
    monkeypatch.setattr(kinds, "in_file", lambda asked: (looked.append(asked), in_file(asked))[1])
    for change in (lambda: bpy.data.objects.new("Copy", None), live.touch):
        change()
        looked.clear()
        assert [live.is_there(kind) for kind in ("LOOK_AT", "SPRINGS", "LOOK_AT")] == [True, False, True]
        assert len(looked) == 1
