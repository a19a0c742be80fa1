"""What a look-at that follows in real time sees: its chain and its target, as Blender evaluates them now."""

from dataclasses import dataclass

import bpy
import numpy as np

from ....lookat_pd import rotation
from ....lookat_pd.rotation import Array
from ...sampling import sampler, shear
from ...sampling.targets import Target, world_matrix
from ..resolve import LookAt


@dataclass(frozen=True)
class VisualChain:
    """The chain as Blender evaluates it, in armature space, head first: (b, 4) and (b, 3)."""

    rotations: Array
    positions: Array
    world: Array
    """World matrix of the armature."""
    sheared: bool
    size: float
    """Of the head."""


def see_chain(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, look_at: LookAt) -> VisualChain:
    """Let Blender evaluate what has changed, and read the chain. Raises RigError where it has no pose."""
    view_layer.update()
    evaluated = look_at.armature.evaluated_get(view_layer.depsgraph)
    matrices = np.array([evaluated.pose.bones[name].matrix for name in look_at.bones])
    world = np.array(evaluated.matrix_world)
    _check(look_at, scene.frame_current, matrices, world)
    axes = matrices[:, :3, :3]
    rotations = rotation.from_matrix(axes)
    sheared = bool(shear.degree(axes[None])[0] > shear.LEAST)
    if sheared:
        # The pose is judged by where the aim axis points.
        rotations[:1] = shear.aimed(rotations[:1], axes[:1], look_at.chain.forward[0])
    size = float(np.linalg.norm(axes[0], axis=0).mean())
    return VisualChain(rotations, matrices[:, :3, 3], world, sheared, size)


def _check(look_at: LookAt, frame: int, matrices: Array, world: Array) -> None:
    for name, matrix in zip(look_at.bones, matrices, strict=True):
        if not np.all(np.isfinite(matrix)):
            raise sampler.complaint(sampler.NO_POSE, name, frame)
        if np.linalg.norm(matrix[:3, :3], axis=0).min() < 1e-9:
            raise sampler.complaint(sampler.FLAT_BONE, name, frame)
    if not abs(np.linalg.det(world[:3, :3])) > 1e-18:
        raise sampler.complaint(sampler.FLAT_OBJECT, look_at.armature.name, frame)


class TargetView:
    """Where a target is in the world. What is hidden is sampled once, until `forget`."""

    def __init__(self, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, armature: bpy.types.Object) -> None:
        self.scene, self.view_layer, self.armature = scene, view_layer, armature
        self._hidden: Array | None = None

    def forget(self) -> None:
        """The frame is another one."""
        self._hidden = None

    def place(self, target: Target) -> Array:
        """The target's position (3,). Raises RigError."""
        assert target.object is not None
        if target.object.visible_get(view_layer=self.view_layer):
            evaluated = target.object.evaluated_get(self.view_layer.depsgraph)
            matrix = np.array(world_matrix(evaluated, target.bone))
            place = (matrix @ (*(target.point or (0.0, 0.0, 0.0)), 1.0))[:3]
        else:
            # What is hidden is not evaluated with the scene.
            place = self._hidden_place(target)
        if not np.all(np.isfinite(place)):
            raise sampler.complaint(sampler.NO_PLACE, target.label, self.scene.frame_current)
        return place

    def _hidden_place(self, target: Target) -> Array:
        place = self._hidden
        if place is None:
            with sampler.Sampler(self.scene, self.armature, (), [target]) as sampling:
                points = next(sampling.sample_points([self.scene.frame_current_final]))
            self._hidden = place = points[0, 0].copy()
        return place
