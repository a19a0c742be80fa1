"""The bone under the mouse while one is to be clicked: what is highlighted is what a click takes."""

from typing import Any

import bpy
import numpy as np
from bpy_extras import view3d_utils

from ..lookat_pd.rotation import Array
from ..rig.ik.drawn_bones import NEAR, DrawnBones, View
from ..rig.sampling import shown_surface


class BoneUnderMouse:
    """The bone of an armature that is drawn under the mouse. name: "" for none. lines: (s, 2, 3) in the world."""

    def __init__(self, armature: bpy.types.Object) -> None:
        self._armature = armature
        self._drawn: DrawnBones | None = None
        self._frame: float | None = None
        self.forget()

    def forget(self) -> None:
        """There is no bone under the mouse."""
        self.name, self.lines = "", np.zeros((0, 2, 3))

    def look(self, context: bpy.types.Context, place: Any, at: tuple[float, float], space: Any) -> str:
        """What is at a position [pixels] of a region, which with its view is the place; space: its editor."""
        self.forget()
        if space.overlay.show_overlays and space.overlay.show_bones:
            region, view = place
            frame = context.scene.frame_current_final
            if self._drawn is None or self._frame != frame:
                self._drawn, self._frame = DrawnBones(self._armature, context.view_layer.depsgraph), frame
            shown = View(
                np.array(view.perspective_matrix),
                (region.width, region.height),
                None if _sees_through(context, self._armature, space) else _wall(context, place, at, space),
            )
            # The middle of the pixel.
            middle = at[0] + 0.5, at[1] + 0.5
            self.name = self._drawn.under(shown, middle, NEAR * context.preferences.system.ui_scale)
            self.lines = self._drawn.lines_of(self.name)
        return self.name


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
