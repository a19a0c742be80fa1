"""Which points of the world objects hide from an eye: rays in a temporary scene with these objects alone."""

from collections.abc import Sequence

import bpy
import numpy as np
from mathutils import Vector

from ...lookat_pd.rotation import Array
from .sampler import Sampler


def hidden(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    objects: Sequence[bpy.types.Object],
    frames: Sequence[float],
    eyes: Array,
    points: Array,
) -> Array:
    """Whether (n, F) points (n, F, 3) of the world are hidden from eyes (F, 3) at these frames.

    What look-ats add to rigs is left out.
    """
    found = np.zeros(points.shape[:2], dtype=bool)
    with Sampler(scene, armature, (), cut_down={}) as sampler:
        for item in objects:
            sampler.scene.collection.objects.link(item)
        for k, frame in enumerate(frames):
            depsgraph = sampler.step(frame)
            for n in range(len(points)):
                way = points[n, k] - eyes[k]
                distance = float(np.linalg.norm(way))
                if distance > 0.0:
                    ray = Vector(eyes[k]), Vector(way / distance)
                    found[n, k] = sampler.scene.ray_cast(depsgraph, *ray, distance=distance)[0]
    return found
