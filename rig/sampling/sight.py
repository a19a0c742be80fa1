"""Which points of the world objects hide from an eye: rays in a temporary scene with these objects alone."""

from collections.abc import Generator, Sequence

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
) -> Generator[float, None, Array]:
    """Whether (n, F) points (n, F, 3) of the world are hidden from eyes (F, 3) at these frames.

    A generator of the fraction done. What look-ats add to rigs is left out.
    """
    is_hidden, linked = np.zeros(points.shape[:2], dtype=bool), 0
    with Sampler(scene, armature, (), cut_down={}) as sampler:
        for k, frame in enumerate(frames):
            # Between two slices of the work the scene is removed.
            sampler.open()
            if sampler.scene.session_uid != linked:
                linked = sampler.scene.session_uid
                for item in objects:
                    sampler.scene.collection.objects.link(item)
            depsgraph = sampler.step(frame)
            for n in range(len(points)):
                line = points[n, k] - eyes[k]
                distance = float(np.linalg.norm(line))
                if distance > 0.0:
                    ray = Vector(eyes[k]), Vector(line / distance)
                    is_hidden[n, k] = sampler.scene.ray_cast(depsgraph, *ray, distance=distance)[0]
            yield (k + 1) / len(frames)
    return is_hidden
