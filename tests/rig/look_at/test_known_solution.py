"""A bake of what is solved and verified live keys what is seen, and samples and solves nothing again."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes

bake = load("rig.look_at.look_at_bake")
bake_options = load("rig.animation.bake_options")
resolve = load("rig.look_at.resolve")
live = load("rig.layers.live")
look_at_solve = load("rig.look_at.look_at_solve")
sampler = load("rig.sampling.sampler")
_step = sampler.Sampler._step

FRAMES = range(1, scenes.LAST + 1)


def pair() -> list[bpy.types.Object]:
    """Two characters who look at each other, one with controls, that must be verified."""
    rigs = [scenes.figure(name) for name in ("Anna", "Bob")]
    rigs[1].location = 0.2, -1.5, 0.0
    rigs[1].rotation_euler.z = np.pi
    for rig, other in (rigs, rigs[::-1]):
        scenes.animate(rig)
        constraint = rig.pose.bones["neck"].constraints.new("COPY_ROTATION")
        constraint.target, constraint.subtarget, constraint.influence = rig, "upper_arm.L", 0.3
        settings = scenes.aim(rig, other)
        settings.subtarget = "head"
    bpy.context.scene.frame_end = scenes.LAST
    return rigs


def baked(rigs, monkeypatch, first=1, last=scenes.LAST, *, into="NEW", use_live=True) -> int:
    """Bake all look-ats; how many steps of sampling and solving that took."""
    wanted = [resolve.resolve(rig, bone) for rig in rigs for bone in resolve.bones_with_look_at(rig)]
    steps: list[object] = []
    solve = look_at_solve.LookAtSolve.steps

    def noted(self, *given, **named):
        steps.append(self)
        return solve(self, *given, **named)

    scene = bpy.context.scene
    played = (scene.frame_start, scene.frame_end)
    options = bake_options.BakeOptions(first, last, into, played=played)
    with monkeypatch.context() as patch:
        patch.setattr(sampler.Sampler, "_step", lambda self, *a: steps.append(a) or _step(self, *a))
        patch.setattr(look_at_solve.LookAtSolve, "steps", noted)
        scenes.finish(bake.bake(scene, wanted, options, use_live=use_live))
    return len(steps)


@pytest.mark.thorough
@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
def test_what_is_verified_is_not_solved_again(into, monkeypatch) -> None:
    rigs = pair()
    live.finish(bpy.context.scene)
    seen = [scenes.poses(rig, FRAMES) for rig in rigs]
    assert baked(rigs, monkeypatch, into=into) == 0
    for rig, before in zip(rigs, seen, strict=True):
        np.testing.assert_allclose(scenes.poses(rig, FRAMES), before, atol=5e-5)


@pytest.mark.thorough
def test_the_result_is_that_of_a_bake_by_itself(monkeypatch) -> None:
    keys = []
    for use_live in (True, False):
        for item in list(bpy.data.objects):
            bpy.data.objects.remove(item)
        rigs = pair()
        live.finish(bpy.context.scene)
        steps = baked(rigs, monkeypatch, use_live=use_live)
        assert (steps == 0) == use_live
        keys.append([scenes.poses(rig, FRAMES) for rig in rigs])
    np.testing.assert_allclose(keys[0], keys[1], atol=2e-5)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "change",
    [
        lambda rig: setattr(rig.pose.bones["head"].lookat_pd, "settle_time", 0.9),
        lambda rig: scenes.keyed(rig.pose.bones["chest"], "location", [(5, (0.0, 0.0, 0.2)), (9, (0.0, 0.0, 0.0))]),
        lambda rig: setattr(rig, "location", (0.1, 0.0, 0.0)),
        lambda rig: setattr(bpy.context.scene, "frame_end", scenes.LAST + 5),
    ],
)
def test_what_has_changed_since_is_baked_as_it_is_now(change, monkeypatch) -> None:
    rigs = pair()
    live.finish(bpy.context.scene)
    change(rigs[0])
    baked(rigs, monkeypatch)
    keyed = [scenes.poses(rig, FRAMES) for rig in rigs]
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    rigs = pair()
    change(rigs[0])
    baked(rigs, monkeypatch, use_live=False)
    for rig, seen in zip(rigs, keyed, strict=True):
        np.testing.assert_allclose(scenes.poses(rig, FRAMES), seen, atol=2e-5)


def test_a_part_of_the_range_and_one_of_two(monkeypatch) -> None:
    rigs = pair()
    live.finish(bpy.context.scene)
    seen = scenes.poses(rigs[0], FRAMES)
    assert baked(rigs[:1], monkeypatch, 5, 20) == 0
    np.testing.assert_allclose(scenes.poses(rigs[0], range(5, 21)), seen[4:20], atol=2e-5)
