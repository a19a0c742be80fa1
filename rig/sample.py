"""Sampling: Blender evaluates the animated rig once a frame, in a scene of its own, into arrays.

The temporary scene holds the armature and an empty at each target, so that no mesh of the animator's scene is
evaluated and the animator's scene, with its un-keyed edits, stays as it is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np

from ..lookat_pd import rotation
from ..lookat_pd.errors import RigError
from ..lookat_pd.rotation import Array

TEMPORARY = "lookat_pd_temporary"
"""Custom property that marks a temporary scene: frame handlers leave such a scene alone."""
_SHEAR = 1e-4


@dataclass(frozen=True)
class Target:
    """Something to look at: an object, a bone of an armature, or a fixed point of the world."""

    object: bpy.types.Object | None = None
    bone: str = ""
    point: tuple[float, float, float] | None = None

    @property
    def label(self) -> str:
        if self.object is None:
            return f"point {self.point}"
        return f"{self.object.name}:{self.bone}" if self.bone else self.object.name


@dataclass
class Samples:
    """One armature over F frames; arrays are filled frame by frame. Bones are those asked for, in that order.

    rotations (F, b, 4), positions (F, b, 3): pose in armature space. raw: per rotation mode in use ("QUATERNION",
    "AXIS_ANGLE", "EULER") the animated channels (F, b, 4 or 3) as they stand. targets: (n, F, 3) in armature space. use,
    influence: (F,) of the look-at. sheared: whether any bone was scaled unevenly.
    """

    frames: Array
    bones: tuple[str, ...]
    modes: tuple[str, ...]
    rotations: Array
    positions: Array
    targets: Array
    use: Array
    influence: Array
    raw: dict[str, Array] = field(default_factory=dict)
    sheared: bool = False


_CHANNELS = {"QUATERNION": ("rotation_quaternion", 4), "AXIS_ANGLE": ("rotation_axis_angle", 4)}
_EULER = ("rotation_euler", 3)


def channel(mode: str) -> tuple[str, int]:
    """Property that holds a bone's rotation in this rotation mode, and how many numbers it has."""
    return _CHANNELS.get(mode, _EULER)


class Sampler:
    """A temporary scene for one armature and its targets, as a context manager; gone at exit whatever happened."""

    def __init__(
        self,
        scene: bpy.types.Scene,
        armature: bpy.types.Object,
        bones: Sequence[str],
        targets: Sequence[Target] = (),
    ) -> None:
        self._original, self._armature = scene, armature
        self.bones, self.targets = tuple(bones), tuple(targets)
        names = armature.pose.bones.keys()
        index = {name: n for n, name in enumerate(names)}
        self._rows = np.array([index[name] for name in self.bones], dtype=int)
        self._count = len(names)
        self._modes = tuple(armature.pose.bones[name].rotation_mode for name in self.bones)
        self._empties: list[bpy.types.Object | None] = []

    def __enter__(self) -> "Sampler":
        self.scene = bpy.data.scenes.new("Look-at PD")
        try:
            self._fill(self.scene)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for empty in self._empties:
            if empty is not None:
                bpy.data.objects.remove(empty)
        self._empties.clear()
        bpy.data.scenes.remove(self.scene)

    def _fill(self, scene: bpy.types.Scene) -> None:
        scene[TEMPORARY] = True
        scene.render.fps, scene.render.fps_base = self._original.render.fps, self._original.render.fps_base
        scene.gravity, scene.use_gravity = self._original.gravity, self._original.use_gravity
        for key in self._original.keys():  # noqa: SIM118  (a scene's custom properties, which drivers may read)
            if isinstance(self._original[key], int | float | str):
                scene[key] = self._original[key]
        scene.collection.objects.link(self._armature)
        for target in self.targets:
            self._empties.append(self._empty(scene, target))

    @staticmethod
    def _empty(scene: bpy.types.Scene, target: Target) -> bpy.types.Object | None:
        """An empty that is where the target is: looking at a mesh must not evaluate its modifiers."""
        if target.object is None:
            return None
        empty = bpy.data.objects.new("Look-at PD Target", None)
        scene.collection.objects.link(empty)
        constraint = empty.constraints.new("COPY_LOCATION")
        constraint.target, constraint.subtarget = target.object, target.bone
        return empty

    def sample(self, frames: Sequence[int], look_at: str = "") -> Iterator[Samples]:
        """Step through `frames`, yielding the same Samples after each one; complete after the last.

        look_at: name of the bone whose `use` and `influence` are sampled as well.
        """
        samples = self._empty_samples(frames)
        matrices = np.empty(self._count * 16, dtype=np.float32)
        scales = np.empty(self._count * 3, dtype=np.float32)
        buffers = {
            mode: (*channel(mode), np.empty(self._count * channel(mode)[1], dtype=np.float32))
            for mode in {_family(mode) for mode in self._modes}
        }
        for k, frame in enumerate(frames):
            self.scene.frame_set(frame)
            armature = self._armature.evaluated_get(self.scene.view_layers[0].depsgraph)
            pose = armature.pose.bones
            pose.foreach_get("matrix", matrices)
            pose.foreach_get("scale", scales)
            # Blender stores matrices by columns.
            matrix = matrices.reshape(-1, 4, 4)[self._rows].swapaxes(1, 2).astype(float)
            self._check(matrix, scales.reshape(-1, 3)[self._rows], frame)
            samples.rotations[k] = rotation.from_matrix(matrix[:, :3, :3])
            samples.positions[k] = matrix[:, :3, 3]
            samples.sheared |= _is_sheared(matrix[:, :3, :3])
            for mode, (name, size, buffer) in buffers.items():
                pose.foreach_get(name, buffer)
                samples.raw[mode][k] = buffer.reshape(-1, size)[self._rows]
            self._sample_targets(samples, k, np.array(armature.matrix_world), frame)
            if look_at:
                settings = pose[look_at].lookat_pd
                samples.use[k], samples.influence[k] = settings.use, settings.influence
            yield samples

    def _empty_samples(self, frames: Sequence[int]) -> Samples:
        f, b = len(frames), len(self.bones)
        return Samples(
            frames=np.asarray(frames, dtype=int),
            bones=self.bones,
            modes=self._modes,
            rotations=np.empty((f, b, 4)),
            positions=np.empty((f, b, 3)),
            targets=np.empty((len(self.targets), f, 3)),
            use=np.ones(f, dtype=bool),
            influence=np.ones(f),
            raw={mode: np.empty((f, b, channel(mode)[1])) for mode in {_family(mode) for mode in self._modes}},
        )

    def _check(self, matrix: Array, scale: Array, frame: int) -> None:
        bad = ~np.isfinite(matrix).all(axis=(1, 2))
        if np.any(bad):
            bone = self.bones[int(np.argmax(bad))]
            raise RigError(
                f"Bone '{bone}' has a pose that is not a number at frame {frame}; mend its F-curves or constraints."
            )
        flat = np.linalg.norm(matrix[:, :3, :3], axis=1).min(axis=1) < 1e-9
        if np.any(flat):
            bone = self.bones[int(np.argmax(flat))]
            raise RigError(f"Bone '{bone}' has zero scale at frame {frame}; give it a scale above zero.")
        mirrored = np.any(scale < 0.0, axis=1) & ~np.all(scale < 0.0, axis=1)
        if np.any(mirrored):
            bone = self.bones[int(np.argmax(mirrored))]
            raise RigError(
                f"Bone '{bone}' is mirrored by a negative scale of its own at frame {frame}; make its scale positive."
            )

    def _sample_targets(self, samples: Samples, k: int, world: Array, frame: int) -> None:
        if not np.all(np.isfinite(world)):
            raise RigError(f"Object '{self._armature.name}' has a transform that is not a number at frame {frame}.")
        if not self.targets:
            return
        sizes = np.linalg.norm(world[:3, :3], axis=0)
        if sizes.min() < 1e-9 or abs(np.linalg.det(world[:3, :3] / np.maximum(sizes, 1e-30))) < 1e-9:
            raise RigError(
                f"Object '{self._armature.name}' has zero scale at frame {frame}; give it, and its parents, a scale "
                "above zero."
            )
        to_armature = np.linalg.inv(world)
        depsgraph = self.scene.view_layers[0].depsgraph
        for n, (target, empty) in enumerate(zip(self.targets, self._empties, strict=True)):
            point = target.point if empty is None else empty.evaluated_get(depsgraph).matrix_world.translation
            place = to_armature[:3, :3] @ np.array(point, dtype=float) + to_armature[:3, 3]
            if not np.all(np.isfinite(place)):
                raise RigError(f"Target '{target.label}' has no finite position at frame {frame}; mend its animation.")
            samples.targets[n, k] = place


def _family(mode: str) -> str:
    return mode if mode in _CHANNELS else "EULER"


def _is_sheared(axes: Array) -> bool:
    """Whether any of the frames (b, 3, 3) is scaled differently along its axes, or not square."""
    sizes = np.linalg.norm(axes, axis=1)
    unit = axes / sizes[:, None, :]
    square = np.abs(np.swapaxes(unit, 1, 2) @ unit - np.eye(3)).max()
    return bool(square > _SHEAR or (sizes.max(axis=1) / sizes.min(axis=1)).max() > 1.0 + _SHEAR)


def run(steps: Iterator[Samples]) -> Samples:
    """Take all steps of `Sampler.sample` and return what they filled."""
    samples = None
    for samples in steps:  # noqa: B007
        pass
    assert samples is not None, "there is at least one frame"
    return samples
