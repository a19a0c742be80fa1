"""Offsets as F-curves with samples, as they are stored, against the same with linear keys: file, playback, writing."""

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import bpy
import numpy as np

from standalone import load

from . import scenes
from .rows import Row
from .timing import shortest

actions = load("rig.animation.actions")
keys = load("rig.animation.keys")
layer_action = load("rig.layers.layer_action")
live = load("rig.layers.live")
suspend = load("rig.sampling.suspend")

FRAMES = 1_000
ROUNDS = 5


def rows() -> list[Row]:
    """Both kinds of curves on a chain of its own, with the extension registered and playing."""
    scene = scenes.empty_file()
    scene.frame_end = FRAMES
    scenes.chain_character(scene, FRAMES)
    live.finish(scene)
    with suspend.suspend_live():
        works = {"samples": _measured(scene, sampled=True), "keys": _measured(scene, sampled=False)}
        times = shortest(works, ROUNDS)
    group = f"Offsets of {scenes.BONES} bones, {FRAMES:,} frames"
    table = []
    for what, label in (("write", "written again"), ("first", "written for the first time"), ("play", "a frame")):
        ours, theirs = times[f"samples {what}"], times[f"keys {what}"]
        table += [
            Row(f"live.curves.{what}.keys", f"keys, {label}", theirs, group=group),
            Row(f"live.curves.{what}", f"samples, {label}", ours, ours / theirs, "keys", group=group),
        ]
    size = times["samples size"] / times["keys size"]
    return [*table, Row("live.curves.size", "samples, the file", ratio=size, peer="keys", group=group)]


def _measured(scene: bpy.types.Scene, *, sampled: bool) -> Callable[[], dict[str, float]]:
    """Seconds by name, and bytes of the file, with curves of one kind."""
    kind = "samples" if sampled else "keys"

    def work() -> dict[str, float]:
        points = _points(scene)
        begin = perf_counter()
        for curve, row in zip(_renewed(), points, strict=True):
            _fill(curve, row, sampled=sampled, anew=True)
        first = perf_counter()
        for curve, row in zip(_curves(), points, strict=True):
            _fill(curve, row, sampled=sampled, anew=False)
        again = perf_counter()
        for action in bpy.data.actions:
            action.update_tag()
        scene.frame_set(1)
        size, played = _size(), perf_counter()
        for frame in range(1, FRAMES + 1):
            scene.frame_set(frame)
        end = perf_counter()
        return {
            f"{kind} first": first - begin,
            f"{kind} write": again - first,
            f"{kind} play": (end - played) / FRAMES,
            f"{kind} size": float(size),
        }

    return work


def _bags() -> Iterator[bpy.types.ActionChannelbag]:
    for action in filter(layer_action.is_layer, bpy.data.actions):
        yield from (bag for slot in action.slots if (bag := actions.channelbag(action, slot)) is not None)


def _curves() -> Iterator[bpy.types.FCurve]:
    """All F-curves that hold offsets."""
    for bag in _bags():
        yield from bag.fcurves


def _points(scene: bpy.types.Scene) -> list[np.ndarray]:
    """Frames and values of all of them, in one row each."""
    frames = range(scene.frame_start, scene.frame_end + 1)
    return [np.array([(f, curve.evaluate(f)) for f in frames], dtype=np.float32).ravel() for curve in _curves()]


def _renewed() -> Iterator[bpy.types.FCurve]:
    """The same curves, empty."""
    for bag in _bags():
        paths, name = [(curve.data_path, curve.array_index) for curve in bag.fcurves], bag.groups[0].name
        bag.fcurves.clear()
        for group in list(bag.groups):
            bag.groups.remove(group)
        group = bag.groups.new(name)
        for path, index in paths:
            curve = bag.fcurves.new(path, index=index)
            curve.group = group
            yield curve


def _fill(curve: bpy.types.FCurve, points: np.ndarray, *, sampled: bool, anew: bool) -> None:
    if anew:
        curve.keyframe_points.add(1 if sampled else FRAMES)
        if sampled:
            curve.convert_to_samples(1, FRAMES + 1)
        else:
            kinds = np.full(FRAMES, keys.LINEAR, dtype=np.int32)
            curve.keyframe_points.foreach_set("interpolation", kinds)
    (curve.sampled_points if sampled else curve.keyframe_points).foreach_set("co", points)


def _size() -> int:
    """Bytes of the file as it is, not compressed."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "offsets.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, compress=False)
        return path.stat().st_size
