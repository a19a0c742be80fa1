"""The curve by which a person draws how a setting changes along a chain.

Blender shows a curve only of data that has one: here a node group that is there while the curve is drawn. What is drawn
is kept by the bones, so it is saved, undone, overridden and mirrored with them.
"""

from collections.abc import Sequence

import bpy
import numpy as np

NAME = ".Look-at PD Curve"
"""A dot hides it in lists."""
_SAMPLES = 65
_HIGHEST = 2.0
"""To where the curve can be drawn at least."""
_SAME = 1e-4

Points = list[tuple[float, float]]


def begin(factors: Sequence[float]) -> None:
    """Show a curve with the factors of the bones of a chain."""
    discard()
    tree = bpy.data.node_groups.new(NAME, "ShaderNodeTree")
    mapping = tree.nodes.new("ShaderNodeFloatCurve").mapping
    mapping.clip_max_y = float(np.ceil(max(_HIGHEST, *factors)))
    points, own = corners(factors), mapping.curves[0].points
    for _ in points[2:]:
        own.new(0.5, 0.5)
    for point, (x, y) in zip(own, points, strict=True):
        point.location = x, y
        # Straight from bone to bone, or the curve would not be at each bone what the bone has.
        point.handle_type = "VECTOR" if len(points) > 2 else "AUTO"
        # A selected one has a field for its place, and the dialog would begin with typing into that.
        point.select = False
    mapping.update()
    mapping.reset_view()


def corners(factors: Sequence[float]) -> Points:
    """The points of a curve through factors, evenly from root to tip, but for those on the line of their neighbors."""
    every = [*factors, factors[0]] if len(factors) == 1 else list(factors)
    x = np.linspace(0.0, 1.0, len(every))
    kept = [0]
    for n in range(1, len(every) - 1):
        following = every[n] + (every[n] - every[kept[-1]]) * (x[n + 1] - x[n]) / (x[n] - x[kept[-1]])
        if abs(following - every[n + 1]) > _SAME:
            kept.append(n)
    return [(float(x[n]), float(every[n])) for n in (*kept, len(every) - 1)]


def node() -> bpy.types.Node | None:
    """The node with the curve, while it is drawn."""
    tree = bpy.data.node_groups.get(NAME)
    return tree.nodes[0] if tree is not None and tree.nodes else None


def drawn() -> Points:
    """The points of the curve as it is, close to each other; none where there is no curve."""
    own = node()
    if own is None:
        return []
    mapping = own.mapping
    return [(float(x), float(mapping.evaluate(mapping.curves[0], x))) for x in np.linspace(0.0, 1.0, _SAMPLES)]


def discard() -> None:
    """Remove the curve."""
    tree = bpy.data.node_groups.get(NAME)
    if tree is not None:
        bpy.data.node_groups.remove(tree)
