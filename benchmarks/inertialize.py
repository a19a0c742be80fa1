"""Transitions and the search for the best cut: the project's figures, and what a cross-fade in plain Python costs."""

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
from solver import Row, seconds

from lookat_pd import cut, inertialize, rotation
from lookat_pd.rotation import Array

RATE = 30
BONES = 70
FRAMES = 250
LONG = 500
BLEND = 0.4


def clip(seed: int, frames: int) -> Array:
    """Rotations (frames, BONES, 4) that sway, each bone about its own axes."""
    random = np.random.default_rng(seed)
    t = np.arange(frames)[:, None, None] / RATE
    return rotation.exp(0.4 * np.sin(random.uniform(1.0, 4.0, (BONES, 3)) * t + random.uniform(0.0, 6.0, (BONES, 3))))


def joints(seed: int, frames: int) -> Array:
    """Positions (frames, BONES, 3) of as many joints about a root."""
    return np.random.default_rng(0).normal(size=(BONES, 3)) + 0.3 * clip(seed, frames)[..., 1:]


def fade_in_python(source: Array, target: Array) -> Callable[[], list]:
    """Frame by frame and bone by bone with Blender's own quaternions, as most scripts for Blender do it."""
    from mathutils import Quaternion

    before, after = ([[Quaternion(q) for q in frame] for frame in poses.tolist()] for poses in (source, target))

    def work() -> list:
        result = []
        for frame, (old, new) in enumerate(zip(before, after, strict=True)):
            s = (frame + 1) / FRAMES
            weight = s * s * (3.0 - 2.0 * s)
            result.append([a.slerp(b, weight) for a, b in zip(old, new, strict=True)])
        return result

    return work


def run() -> list[Row]:
    """Rows of (what, figure)."""
    source, target = clip(1, FRAMES), clip(2, FRAMES)
    here = seconds(lambda: inertialize.transition(source[-2:], target, 1.0 / RATE, BLEND))
    whole = seconds(lambda: inertialize.transition(source[-2:], target, 1.0 / RATE, FRAMES / RATE))
    of = f"{BONES} bones over {FRAMES} frames"
    rows = [
        (f"Transition of {of}, blended in {BLEND:g} s", f"{1e3 * here:.1f} ms (goal: below 5)"),
        (f"Transition of {of}, blended in all of them", f"{1e3 * whole:.1f} ms (goal: below 5)"),
    ]
    if find_spec("bpy"):
        import bpy  # noqa: F401 - mathutils comes with it

        loop = seconds(fade_in_python(source, target), 5)
        rows.append(
            ("The same as a cross-fade in a Python loop", f"{1e3 * loop:.1f} ms, {loop / whole:.1f} times as long")
        )
    fade = seconds(lambda: inertialize.cross_fade(source, target, 1.0 / RATE, FRAMES / RATE))
    dead = seconds(lambda: inertialize.dead_blend(source[-2:], target, 1.0 / RATE, FRAMES / RATE))
    rows.append((f"Cross-fade and dead blend of {of}, blended in all", f"{1e3 * fade:.1f} ms and {1e3 * dead:.1f} ms"))
    first, second = joints(1, LONG), joints(2, LONG)
    feet = first[:, :4, 2] < 0.0, second[:, :4, 2] < 0.0
    found = seconds(lambda: cut.search(first, second, 1.0 / RATE, contacts=feet).best(10))
    size = f"{LONG} by {LONG} frames of {BONES} joints"
    return [*rows, (f"Best cuts between {size}", f"{1e3 * found:.0f} ms (goal: below 500)")]
