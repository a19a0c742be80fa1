"""Preview of a library: the graph of its best cuts, with the highlighted one and the cheapest path."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd.errors import LookAtError
from ...lookat_pd.rotation import Array
from . import library
from .library import LibraryCut, PathEnds

DRAWN = 3
"""Cuts of each action that are drawn."""
_last: dict[str, tuple[Hashable, "LibraryPreview"]] = {}


@dataclass(frozen=True)
class LibraryPreview:
    """A graph of n actions."""

    key: Hashable
    """A value that changes with the graph."""
    places: Array
    """(n, 2) on the unit circle, by name, the first on top and clockwise."""
    cuts: tuple[tuple[int, int, float], ...]
    """Source, destination and rank, 0 for the smallest difference and 1 for the largest, of the best cuts of each
    action."""
    pair: tuple[int, int] | None
    """Source and destination of the highlighted cut, None for none."""
    path: tuple[LibraryCut, ...]
    """The cuts of the cheapest path."""
    steps: tuple[int, ...]
    """Numbers of the actions of the path."""


def preview(armature: bpy.types.Object, settings, ends: PathEnds, cut_cost: float) -> LibraryPreview | None:
    """The graph of the cuts in the scene's settings of the library; None if there are none.

    The path is that of the last comparison since Blender was started; it is empty where this lacks an end, or no cuts
    lead there. The last result is cached until one of these changes.
    """
    pairs = settings.pairs
    if not len(pairs):
        return None
    known = library.last(armature)
    number = None if known is None else known.number
    listed = (len(pairs), *((pair.name, pair.cost) for pair in (pairs[0], pairs[len(pairs) - 1])))
    key = (armature.name, number, listed, settings.pair_index, ends, cut_cost)
    if "graph" not in _last or _last["graph"][0] != key:
        path: Sequence[LibraryCut] = ()
        if known is not None:
            try:
                path = known.path(ends, cut_cost)
            except LookAtError:
                path = ()
        _last["graph"] = key, _preview(key, settings, path)
    return _last["graph"][1]


def _preview(key: Hashable, settings, path: Sequence[LibraryCut]) -> LibraryPreview:
    pairs = [(pair.source, pair.destination) for pair in settings.pairs]
    on_path = [path[0].source, *(cut.destination for cut in path)] if path else []
    names = tuple(sorted({name for pair in pairs for name in pair} | set(on_path)))
    rows = {name: n for n, name in enumerate(names)}
    angles = 0.5 * np.pi - 2.0 * np.pi * np.arange(len(names)) / len(names)
    drawn: dict[str, int] = {}
    cuts = []
    for n, (source, destination) in enumerate(pairs):
        drawn[source] = drawn.get(source, 0) + 1
        if drawn[source] <= DRAWN:
            cuts.append((rows[source], rows[destination], n / len(pairs)))
    pair = None
    if 0 <= settings.pair_index < len(pairs):
        source, destination = pairs[settings.pair_index]
        pair = rows[source], rows[destination]
    return LibraryPreview(
        key,
        np.stack((np.cos(angles), np.sin(angles)), axis=-1),
        tuple(cuts),
        pair,
        tuple(path),
        tuple(rows[name] for name in on_path),
    )
