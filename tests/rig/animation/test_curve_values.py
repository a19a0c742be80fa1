"""Values of many curves at once: those that Blender gives one by one, whatever the curve has."""

import bpy
import numpy as np

from extension import load

from .. import scenes

actions = load("rig.animation.actions")
curve_values = load("rig.animation.curve_values")

KINDS = ("CONSTANT", "LINEAR", "BEZIER", "SINE", "BACK")
MODIFIERS = (None, "CYCLES", "NOISE", "STEPPED")


def clip():
    """An action with a curve of each kind, some with keys between the frames, modifiers, or no keys at all."""
    random = np.random.default_rng(3)
    action, slot = actions.new_action("Clip", scenes.ball(name="Owner"))
    bag = actions.channelbag(action, slot, ensure=True)
    for n, kind in enumerate(KINDS * len(MODIFIERS)):
        curve = bag.fcurves.new(f'["{n}"]', index=0)
        curve.extrapolation = ("CONSTANT", "LINEAR")[n % 2]
        for frame in (-7.0, 1.0, 8.3, 20.0):
            curve.keyframe_points.insert(frame, random.normal()).interpolation = kind
        if MODIFIERS[n % len(MODIFIERS)]:
            curve.modifiers.new(MODIFIERS[n % len(MODIFIERS)])
    bag.fcurves.new('["empty"]', index=0)
    return action, slot, list(bag.fcurves)


def test_all_values_are_those_of_each_curve() -> None:
    action, slot, curves = clip()
    names = [item.name for item in bpy.data.actions]
    for frames, asked in ((np.arange(-12.0, 30.0), None), (np.arange(-12.0, 30.0) + 0.5, None), (np.arange(3.0), 1)):
        wanted = np.array([[curve.evaluate(frame) for frame in frames] for curve in curves])
        with curve_values.CurveValues(action, slot, frames, asked) as values:
            seen = np.array([values.of(curve) for curve in curves])
            # A second time, too.
            assert np.array_equal(values.of(curves[0]), seen[0])
        assert np.array_equal(seen, wanted)
    assert [item.name for item in bpy.data.actions] == names
    assert [len(curve.keyframe_points) for curve in curves] == [4] * (len(curves) - 1) + [0]


def test_what_is_kept_of_an_action_that_does_not_change_is_the_same() -> None:
    action, slot, curves = clip()
    with curve_values.kept([action]):
        for frames in (np.arange(-12.0, 30.0), np.arange(-12.0, 30.0), np.arange(1.0, 9.0), np.arange(1.0, 40.0)):
            wanted = np.array([[curve.evaluate(frame) for frame in frames] for curve in curves])
            with curve_values.CurveValues(action, slot, frames) as values:
                for _ in range(2):
                    seen = [values.of(curve) for curve in curves]
                    assert np.array_equal(seen, wanted)
                    for found in seen:
                        # It is the caller's.
                        found[:] = 7.0
    curves[0].keyframe_points[0].co.y += 1.0
    curves[0].update()
    with curve_values.CurveValues(action, slot, np.arange(-12.0, 30.0)) as values:
        assert values.of(curves[0])[0] == curves[0].evaluate(-12.0)
