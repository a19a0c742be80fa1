"""Transitions and the search for the best cut: the project's figures, and what a cross-fade in plain Python costs."""

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from lookat_pd import rotation
from lookat_pd.rotation import Array
from lookat_pd.transitions import best_cut, clip_graph, inertialization

from .rows import SECONDS, Goal, Row
from .timing import clocked, shortest

RATE = 30
BONES = 70
FRAMES = 250
LONG = 500
CLIPS = 50
SHORT = 60
BLEND = 0.4
REPEATS = 9


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


def search_in_a_loop(first: Array, second: Array) -> Callable[[], int]:
    """For each frame of the first clip the distance of its joints to those of all frames of the second."""

    def work() -> int:
        return int(np.argmin([np.square(second - frame).sum(axis=(1, 2)).min() for frame in first]))

    return work


def run() -> list[Row]:
    """The table of transitions."""
    return _blends() + _cuts() + _library()


def _blends() -> list[Row]:
    source, target = clip(1, FRAMES), clip(2, FRAMES)
    dt, whole = 1.0 / RATE, FRAMES / RATE
    works: dict[str, Callable[[], object]] = {
        "short": lambda: inertialization.transition(source[-2:], target, dt, BLEND),
        "whole": lambda: inertialization.transition(source[-2:], target, dt, whole),
        "fade": lambda: inertialization.cross_fade(source, target, dt, whole),
        "dead": lambda: inertialization.dead_blend(source[-2:], target, dt, whole),
    }
    if find_spec("bpy"):
        import bpy  # noqa: F401 - mathutils comes with it

        works["loop"] = fade_in_python(source, target)
    times = shortest({name: clocked(work) for name, work in works.items()}, REPEATS)
    loop = times.get("loop")
    group = f"{BONES} bones over {FRAMES} frames"
    rows = [Row("inertialize.loop", "a cross-fade in a Python loop", loop, group=group)] if loop else []
    quick = Goal(5e-3, SECONDS)
    for name, what, goal in (
        ("short", f"inertialization, blended in {BLEND:g} s", quick),
        ("whole", "inertialization, blended in all frames", quick),
        ("fade", "cross-fade, blended in all frames", None),
        ("dead", "dead blend, blended in all frames", None),
    ):
        ratio = times[name] / loop if loop else None
        rows.append(Row(f"inertialize.{name}", what, times[name], ratio, "the loop", goal, group))
    return rows


def _cuts() -> list[Row]:
    first, second = joints(1, LONG), joints(2, LONG)
    feet = first[:, :4, 2] < 0.0, second[:, :4, 2] < 0.0
    works = {
        "search": clocked(lambda: best_cut.search(first, second, 1.0 / RATE, contacts=feet).best(10)),
        "loop": clocked(search_in_a_loop(first, second)),
    }
    times = shortest(works, REPEATS)
    group, goal = f"Best cuts between {LONG} by {LONG} frames of {BONES} joints", Goal(0.02, SECONDS)
    search, ratio = times["search"], times["search"] / times["loop"]
    return [
        Row("inertialize.cut.loop", "distances of joints alone, in a loop over frames", times["loop"], group=group),
        Row("inertialize.cut", "the search", search, ratio, "the loop", goal, group),
    ]


def _library() -> list[Row]:
    """All clips of a library with each other, beside a search for each pair."""
    clips = [joints(seed, SHORT) for seed in range(CLIPS)]
    feet = [clip[:, :4, 2] < 0.0 for clip in clips]
    dt = 1.0 / RATE

    def pair_by_pair() -> None:
        # A tenth of the pairs.
        for first in range(0, CLIPS, 10):
            for second in range(CLIPS):
                best_cut.search(clips[first], clips[second], dt, contacts=(feet[first], feet[second])).best(4)

    works = {
        "library": clocked(lambda: clip_graph.compare(clips, dt, contacts=feet).cheapest(0, 1, stay=9)),
        "pairs": clocked(pair_by_pair),
    }
    times = shortest(works, 3)
    group, goal = f"Best cuts between {CLIPS} clips of {SHORT} frames, {BONES} joints", Goal(2.0, SECONDS)
    whole, ratio = times["library"], times["library"] / times["pairs"]
    return [
        Row("inertialize.library.pairs", "a tenth of the pairs, each by itself", times["pairs"], group=group),
        Row("inertialize.library", "all pairs, and the cheapest path", whole, ratio, "the tenth", goal, group),
    ]
