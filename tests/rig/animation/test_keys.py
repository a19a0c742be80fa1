"""Keys as arrays: what is written is what was read, and replacing a stretch of a curve moves nothing outside it."""

from itertools import product

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes

actions = load("rig.animation.actions")
keys = load("rig.animation.keys")

INTERPOLATIONS = [
    item.identifier for item in bpy.types.Keyframe.bl_rna.properties["interpolation"].enum_items if item.identifier
]
HANDLES = [item.identifier for item in bpy.types.Keyframe.bl_rna.properties["handle_left_type"].enum_items]
FRAMES = (-20, -7, 3, 10.5, 22, 41, 60)


def new_curve(interpolations, handles=("FREE",), extrapolation: str = "CONSTANT", seed: int = 1):
    """An F-curve with uneven keys whose handles point anywhere."""
    random = np.random.default_rng(seed)
    action, slot = actions.new_action("Curve", scenes.ball(name="Owner"))
    curve = actions.channelbag(action, slot, ensure=True).fcurves.new("location", index=0)
    curve.extrapolation = extrapolation
    curve.keyframe_points.add(len(FRAMES))
    for n, (point, frame) in enumerate(zip(curve.keyframe_points, FRAMES, strict=True)):
        point.co = (frame, random.uniform(-2, 2))
        point.interpolation = interpolations[n % len(interpolations)]
        point.easing = ("AUTO", "EASE_IN", "EASE_OUT", "EASE_IN_OUT")[n % 4]
        point.handle_left_type = point.handle_right_type = handles[n % len(handles)]
        point.handle_left = point.co.x - random.uniform(0.5, 25), point.co.y + random.uniform(-1, 1)
        point.handle_right = point.co.x + random.uniform(0.5, 25), point.co.y + random.uniform(-1, 1)
        point.back, point.amplitude, point.period = random.uniform(0.5, 3, 3)
    for _ in range(4):
        # Aligned handles take turns in following each other.
        curve.update()
    return curve


def values(curve, frames) -> np.ndarray:
    return np.array([curve.evaluate(frame) for frame in frames])


@pytest.mark.parametrize("extrapolation", ["CONSTANT", "LINEAR"])
@pytest.mark.parametrize("handles", [*((kind,) for kind in HANDLES), HANDLES], ids="+".join)
def test_written_keys_are_the_keys_read(handles, extrapolation) -> None:
    curve = new_curve(INTERPOLATIONS, handles, extrapolation)
    before = scenes.curve(curve)
    keys.Keys.read(curve).write(curve)
    assert not scenes.differences(before, scenes.curve(curve))


KINDS = [*((kind,) for kind in INTERPOLATIONS), INTERPOLATIONS, INTERPOLATIONS[::-1]]
DIVISIBLE = {"CONSTANT", "LINEAR", "BEZIER"}
STRETCHES = [(5, 30), (-4, 8), (25, 26), (-40, 0), (30, 90), (-50, -30), (70, 90), (-50, 90), (4, 40), (2, 10)]


def check_outside(curve, first: int, last: int, *, between: bool = True) -> None:
    """Replace a stretch; outside it no value may change, but for the step on either side that leads to the new keys."""
    frames, new = np.arange(first, last + 1), np.linspace(-1, 1, last - first + 1)
    outside = np.arange(-90.0, 130.0, 0.5 if between else 1.0)
    outside = outside[(outside <= first - 1) | (outside >= last + 1)]
    before = values(curve, outside)
    keys.replace(keys.Keys.read(curve), frames, new, curve.evaluate).write(curve)
    assert values(curve, frames) == pytest.approx(new, abs=1e-6)
    # Handles as long as these make near-vertical places, where 32 bits say no more.
    assert values(curve, outside) == pytest.approx(before, abs=5e-4)


@pytest.mark.thorough
@pytest.mark.parametrize("interpolations", KINDS, ids=lambda kind: kind[0] if len(kind) == 1 else "mixed")
def test_nothing_outside_the_replaced_stretch_moves(interpolations, subtests) -> None:
    """At whole frames and halfway; an easing that is cut in two keeps its values at whole frames."""
    for extrapolation, stretch in product(("CONSTANT", "LINEAR"), STRETCHES):
        with subtests.test(extrapolation=extrapolation, stretch=stretch):
            curve = new_curve(interpolations, extrapolation=extrapolation)
            check_outside(curve, *stretch, between=DIVISIBLE.issuperset(interpolations))


@pytest.mark.thorough
@pytest.mark.parametrize("handles", [*((kind,) for kind in HANDLES), HANDLES], ids="+".join)
def test_automatic_handles_do_not_follow_the_new_keys(handles, subtests) -> None:
    for smoothing, stretch in product(("NONE", "CONT_ACCEL"), STRETCHES):
        with subtests.test(smoothing=smoothing, stretch=stretch):
            curve = new_curve(("BEZIER",), handles)
            curve.auto_smoothing = smoothing
            curve.update()
            check_outside(curve, *stretch)


def test_without_keys_what_was_there_stays_on_either_side() -> None:
    new = keys.replace(keys.Keys.read(None), np.arange(1, 4), np.array([1.0, 2.0, 3.0]), lambda frame: 7.0)
    assert new.attributes["co"].tolist() == [[0, 7], [1, 1], [2, 2], [3, 3], [4, 7]]


@pytest.mark.parametrize("edges", [(False, False), (True, False), (False, True)])
def test_where_there_is_no_edge_the_new_keys_have_the_last_word(edges) -> None:
    curve = new_curve(("BEZIER",))
    new = keys.replace(keys.Keys.read(curve), np.arange(-20, 61), np.zeros(81), curve.evaluate, edges)
    assert (new.frames[0] < -20, new.frames[-1] > 60) == edges


def test_replacing_twice_is_replacing_once() -> None:
    curve = new_curve(("BEZIER",))
    frames = np.arange(5, 31)
    for value in (1.0, 2.0):
        keys.replace(keys.Keys.read(curve), frames, np.full(26, value), curve.evaluate).write(curve)
    once = scenes.curve(curve)
    keys.replace(keys.Keys.read(curve), frames, np.full(26, 2.0), curve.evaluate).write(curve)
    assert not scenes.differences(once, scenes.curve(curve))
