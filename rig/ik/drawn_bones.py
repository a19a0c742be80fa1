"""What is drawn of the bones of an armature in a viewport, and which bone is under the mouse.

Blender's own selection takes another bone than the one that is drawn there where that is selected already, or where
shapes are near each other. Shapes count by their edges, bones without shape by their lines with their thickness.
"""

from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix

from ...lookat_pd.rotation import Array
from . import clicked

NEAR = 10.0
"""Largest distance [pixels] of the mouse from what is drawn."""
_ON = 0.6
"""Distance [pixels] from the middle of a line up to which it is drawn; of several what is in front is taken."""
_NONE = "", (np.inf, np.inf)
_SAME = 1e-3
"""Difference of depths, in parts of the size of the rig, up to which bones meet."""
_THICK = {"OCTAHEDRAL": 0.05, "BBONE": 0.05, "ENVELOPE": 0.1}
"""Distance from its line, in lengths of a bone, up to which a bone without shape is drawn."""


@dataclass(frozen=True)
class View:
    """How a viewport shows the world."""

    matrix: Array
    """(4, 4), from the world to the clip space of the region."""
    size: tuple[float, float]
    """Width and height of the region [pixels]."""
    wall: Array | None = None
    """(3,), the point of the world under the mouse that hides all bones behind it; None if bones are in front."""

    def seen(self, points: Array) -> tuple[Array, Array]:
        """Positions [pixels] (n, 2) of points (n, 3), and their depth (n,) along the view in units of the world, inf
        behind the eye."""
        clip = points @ self.matrix[:, :3].T + self.matrix[:, 3]
        ahead = clip[:, 3] > 1e-6
        shares = clip[:, :2] / np.where(ahead, clip[:, 3], 1.0)[:, None]
        # In clip space the depth of what is far away in a perspective is nearly the same everywhere.
        row = 3 if np.any(self.matrix[3, :3]) else 2
        depth = clip[:, row] / np.linalg.norm(self.matrix[row, :3])
        return (0.5 * shares + 0.5) * np.array(self.size), np.where(ahead, depth, np.inf)


class DrawnBones:
    """The bones in sight of an armature, as they are evaluated."""

    def __init__(self, armature: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
        seen = armature.evaluated_get(depsgraph)
        data = armature.data
        self.names = [bone.name for bone in armature.pose.bones if not clicked.is_hidden(armature, bone.name)]
        self._levels = np.array([len(armature.pose.bones[name].parent_recursive) for name in self.names])
        lines, owners, thick = [], [], []
        shapes: dict[str, Array] = {}
        for n, name in enumerate(self.names):
            bone = seen.pose.bones[name]
            shape = bone.custom_shape if data.show_bone_custom_shapes else None
            edges = None if shape is None else shapes.setdefault(shape.name, _edges(shape))
            if edges is not None and len(edges):
                own, width = _placed(edges, _matrix(bone)), 0.0
            else:
                own, width = np.array([[bone.head, bone.tail]]), _THICK.get(data.display_type, 0.0) * bone.length
            lines.append(own)
            owners.append(np.full(len(own), n))
            thick.append(np.full(len(own), width))
        world = np.array(seen.matrix_world)
        self._lines = _placed(np.concatenate(lines), world) if lines else np.zeros((0, 2, 3))
        size = float(np.abs(np.linalg.det(world[:3, :3])) ** (1.0 / 3.0))
        self._owners = np.concatenate(owners) if owners else np.zeros(0, dtype=int)
        self._thick = size * (np.concatenate(thick) if thick else np.zeros(0))

    def lines_of(self, name: str) -> Array:
        """The lines (s, 2, 3) in the world that are drawn of a bone; none if it is not in sight."""
        if name not in self.names:
            return np.zeros((0, 2, 3))
        return self._lines[self._owners == self.names.index(name)]

    def under(self, view: View, at: tuple[float, float], near: float = NEAR) -> str:
        """The bone that is drawn at a position of the region, or the nearest one [pixels]; "" for none."""
        return self.nearest(view, at, near)[0]

    def nearest(self, view: View, at: tuple[float, float], near: float = NEAR) -> tuple[str, tuple[float, float]]:
        """The same, and how far it is from there [pixels] and from the eye, by which bones of several rigs compare."""
        if not len(self._lines):
            return _NONE
        (begin, first), (end, last) = (view.seen(self._lines[:, k]) for k in (0, 1))
        along = end - begin
        length = np.maximum(np.sum(along * along, axis=-1), 1e-12)
        part = np.clip(np.sum((np.array(at) - begin) * along, axis=-1) / length, 0.0, 1.0)
        away = np.linalg.norm(begin + part[:, None] * along - np.array(at), axis=-1)
        shown = np.isfinite(first) & np.isfinite(last)
        depth = np.where(shown, first + part * (np.where(shown, last, 0.0) - np.where(shown, first, 0.0)), np.inf)
        away = np.maximum(away - self._thick * self._pixels(view, part), 0.0)
        good = shown & (away <= near)
        same = _SAME * float(np.ptp(self._lines, axis=(0, 1)).max())
        if view.wall is not None:
            good &= depth <= view.seen(view.wall[None])[1][0] + 0.1 * same
        if not good.any():
            return _NONE
        rows = np.flatnonzero(good & (away <= max(away[good].min(), _ON)))
        rows = rows[depth[rows] <= depth[rows].min() + same]
        # Of bones that meet, the child, whose joint it is.
        order = np.lexsort((away[rows], -self._levels[self._owners[rows]]))
        row = int(rows[order[0]])
        return self.names[int(self._owners[row])], (max(float(away[row]), _ON), float(depth[row]))

    def _pixels(self, view: View, part: Array) -> Array:
        """How many pixels a unit of length is at parts (s,) of the lines."""
        places = self._lines[:, 0] + part[:, None] * (self._lines[:, 1] - self._lines[:, 0])
        far = np.abs(places @ view.matrix[3, :3] + view.matrix[3, 3])
        return 0.5 * view.size[0] * np.linalg.norm(view.matrix[0, :3]) / np.maximum(far, 1e-6)


def _matrix(bone: bpy.types.PoseBone) -> Array:
    """Where the shape of an evaluated bone is in the armature."""
    base = bone.custom_shape_transform or bone
    size = bone.bone.length if bone.use_custom_shape_bone_size else 1.0
    own = Matrix.LocRotScale(
        bone.custom_shape_translation, bone.custom_shape_rotation_euler, bone.custom_shape_scale_xyz * size
    )
    return np.array(base.matrix @ own)


def _edges(shape: bpy.types.Object) -> Array:
    """The edges (s, 2, 3) of what bones are drawn as; none if that is no mesh."""
    if shape.type != "MESH" or not len(shape.data.edges):
        return np.zeros((0, 2, 3))
    mesh = shape.data
    places, pairs = np.empty(3 * len(mesh.vertices)), np.empty(2 * len(mesh.edges), dtype=np.int32)
    mesh.vertices.foreach_get("co", places)
    mesh.edges.foreach_get("vertices", pairs)
    return places.reshape(-1, 3)[pairs.reshape(-1, 2)]


def _placed(lines: Array, matrix: Array) -> Array:
    """Lines (s, 2, 3) transformed by a matrix (4, 4)."""
    return lines @ matrix[:3, :3].T + matrix[:3, 3]
