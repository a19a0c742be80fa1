"""What springs collide with: empties and bones that are colliders, and the floor."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd.rotation import Array
from ...lookat_pd.springs import Colliders
from ..animation import data_paths
from ..sampling.sampler import Samples
from ..sampling.targets import Target
from .collider_settings import NAME, ColliderSettings

FLOOR = "floor"
_FLOOR_FRICTION = 0.5


@dataclass(frozen=True)
class Collider(data_paths.Place):
    """An object or a bone of an armature that springs collide with."""

    @property
    def settings(self) -> ColliderSettings:
        return getattr(self.item, NAME)

    @property
    def label(self) -> str:
        return self.bone or self.object.name

    @property
    def shape(self) -> str:
        return "CAPSULE" if self.bone else self.settings.shape

    def line(self) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """Where its axis begins and ends, in its own frame. A sphere's and a plane's end tells its size or side."""
        if self.bone:
            return (0.0, 0.0, 0.0), (0.0, self.item.bone.length, 0.0)
        half = 0.5 * self.settings.length
        if self.shape == "CAPSULE" and half > 0.0:
            return (0.0, 0.0, -half), (0.0, 0.0, half)
        return (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)

    @property
    def thickness(self) -> float:
        """The radius in its own frame."""
        return self.settings.radius if self.bone else self.object.empty_display_size

    def values(self) -> tuple:
        """All that decides about it besides where it is."""
        return self.shape, self.line(), self.thickness, self.settings.friction, self.settings.groups


def of_object(item: bpy.types.Object) -> Iterator[Collider]:
    """The colliders that an object has: itself, and its bones."""
    if item.is_property_set(NAME) and getattr(item, NAME).exists and item.type == "EMPTY":
        yield Collider(item)
    for bone in item.pose.bones if item.pose else ():
        if bone.is_property_set(NAME) and getattr(bone, NAME).exists:
            yield Collider(item, bone.name)


def on(scene: bpy.types.Scene) -> list[Collider]:
    """All colliders of a scene."""
    return [collider for item in scene.objects for collider in of_object(item)]


def targets(every: Iterable[Collider]) -> list[Target]:
    """Two points of each, to be sampled."""
    return [Target(c.object, c.bone, point) for c in every for point in c.line()]


def placed(every: Sequence[Collider], s: Samples, floor: float | None) -> Colliders | None:
    """The colliders at the frames of samples of their `targets`, None where there are none. floor: its height."""
    if not every and floor is None:
        return None
    frames, scale = len(s.worlds), s.worlds[:, :3, :3]
    points = np.einsum("fij,nfj->nfi", scale, s.targets[: 2 * len(every)]) + s.worlds[:, :3, 3]
    begins, ends = points[0::2].copy(), points[1::2].copy()
    radii = np.zeros(len(every))
    for n, collider in enumerate(every):
        first, last = np.array(collider.line())
        size = np.linalg.norm(ends[n, 0] - begins[n, 0]) / np.linalg.norm(last - first)
        radii[n] = collider.thickness * size
        if collider.shape == "SPHERE":
            ends[n] = begins[n]
    planes = [collider.shape == "PLANE" for collider in every]
    friction = [collider.settings.friction for collider in every]
    if floor is not None:
        low = np.broadcast_to([0.0, 0.0, floor], (1, frames, 3))
        begins, ends = np.concatenate((begins, low)), np.concatenate((ends, low + np.array([0.0, 0.0, 1.0])))
        radii, planes, friction = np.append(radii, 0.0), [*planes, True], [*friction, _FLOOR_FRICTION]
    return Colliders.made(np.swapaxes(begins, 0, 1), np.swapaxes(ends, 0, 1), radii, friction, planes)


def names_of(text: str) -> set[str]:
    """Names that are divided by commas."""
    return {name.strip() for name in text.split(",")} - {""}


def meets(every: Sequence[Collider], groups: str) -> list[bool]:
    """Whether a chain with these groups collides with each."""
    wanted = names_of(groups)
    return [not wanted or bool(wanted & names_of(collider.settings.groups)) for collider in every]


def rings(collider: Collider, steps: int = 24) -> Array:
    """(k, 2, 3) lines that draw a collider, in the world."""
    matrix = np.array(collider.object.matrix_world)
    if collider.bone:
        matrix = matrix @ np.array(collider.item.matrix)
    first, last = np.array(collider.line())
    size = collider.thickness
    if collider.shape == "PLANE":
        corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]) * size
        loops = [np.concatenate((corners, corners[:1])), np.array([[0.0, 0.0, 0.0], [0.0, 0.0, size]])]
    else:
        if collider.shape == "SPHERE":
            last = first
        turn = np.linspace(0.0, 2.0 * np.pi, steps + 1)
        wave = size * np.stack((np.cos(turn), np.sin(turn), 0.0 * turn), axis=-1)
        planes = [wave[:, order] for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0])]
        loops = [plane + end for end in (first, last) for plane in planes]
        along = last - first
        if along.any():
            side = np.eye(3)[[n for n in range(3) if abs(along[n]) < 1e-9]] * size
            loops += [np.array([first + way, last + way]) for way in (*side, *-side)]
    lines = np.concatenate([np.stack((loop[:-1], loop[1:]), axis=1) for loop in loops])
    return lines @ matrix[:3, :3].T + matrix[:3, 3]
