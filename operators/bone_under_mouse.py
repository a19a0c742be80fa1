"""The bone under the mouse while one is to be clicked: what is highlighted is what a click takes."""

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
from bpy_extras import view3d_utils

from ..lookat_pd.rotation import Array
from ..rig.ik.drawn_bones import NEAR, DrawnBones, View
from ..rig.sampling import shown_surface


class BoneUnderMouse:
    """The bone that is drawn under the mouse, of some armatures.

    armature: whose it is, the first one where there is none. name: "" for none. lines: (s, 2, 3) in the world.
    """

    def __init__(self, armatures: Sequence[bpy.types.Object]) -> None:
        self._armatures = armatures
        self._drawn: list[DrawnBones] = []
        self._frame: float | None = None
        self.forget()

    def forget(self) -> None:
        """There is no bone under the mouse."""
        self.armature, self.name, self.lines = self._armatures[0], "", np.zeros((0, 2, 3))

    def look(self, context: bpy.types.Context, place: Any, at: tuple[float, float], space: Any) -> str:
        """What is at a position [pixels] of a region, which with its view is the place; space: its editor."""
        self.forget()
        if not (space.overlay.show_overlays and space.overlay.show_bones):
            return ""
        frame = context.scene.frame_current_final
        if not self._drawn or self._frame != frame:
            depsgraph = context.view_layer.depsgraph
            self._drawn, self._frame = [DrawnBones(item, depsgraph) for item in self._armatures], frame
        best = np.inf, np.inf
        for item, drawn in zip(self._armatures, self._drawn, strict=True):
            name, rank = self._nearest(context, place, at, space, item, drawn)
            if name and rank < best:
                best, self.armature, self.name, self.lines = rank, item, name, drawn.lines_of(name)
        return self.name

    @staticmethod
    def _nearest(
        context: bpy.types.Context,
        place: Any,
        at: tuple[float, float],
        space: Any,
        armature: bpy.types.Object,
        drawn: DrawnBones,
    ) -> tuple[str, tuple[float, float]]:
        region, view = place
        sees_through = _sees_through(context, armature, space)
        shown = View(
            np.array(view.perspective_matrix),
            (region.width, region.height),
            None if sees_through else _wall(context, place, at, space),
        )
        # The middle of the pixel.
        return drawn.nearest(shown, (at[0] + 0.5, at[1] + 0.5), NEAR * context.preferences.system.ui_scale)


def _sees_through(context: bpy.types.Context, armature: bpy.types.Object, space: Any) -> bool:
    """Whether bones are drawn in front of everything."""
    shading = space.shading
    if armature.show_in_front or (space.overlay.show_xray_bone and context.mode == "POSE"):
        return True
    if shading.type == "WIREFRAME":
        return shading.show_xray_wireframe
    return shading.type == "SOLID" and shading.show_xray


def _wall(context: bpy.types.Context, place: Any, at: tuple[float, float], space: Any) -> Array | None:
    """The point of a surface under the mouse; None where there is none."""
    origin = view3d_utils.region_2d_to_origin_3d(*place, at)
    direction = view3d_utils.region_2d_to_vector_3d(*place, at)
    found = shown_surface.hit(context.scene, context.view_layer.depsgraph, space, origin, direction)
    return None if found is None else np.array(found.point)
