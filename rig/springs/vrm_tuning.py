"""Springs as VRM has them, as settings of chains, and back."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd.rotation import Array
from ...lookat_pd.springs import verlet
from . import along_chain
from .chains import SpringChain
from .settings import OF_BONE
from .vrm_data import VrmChain, VrmJoint

_SAME = 1e-3
"""Relative difference below which a setting is still that of the file."""
_LEAST = 1e-5
"""The same of what is 0."""
MOST_FELT = 0.5
"""Part of the motion of a center from which on a file has no center."""
_SLOWEST, _FASTEST = 60.0, 0.01
"""Bounds of settle times [s]."""


@dataclass(frozen=True)
class JointTuning:
    """What a bone that swings one way has."""

    settle_time: float
    damping_ratio: float
    drag: float
    pulled: Array
    """(3,) acceleration by gravity and wind [m/s²]."""
    radius: float

    @property
    def air(self) -> float:
        """All damping [1/s], as VRM has it."""
        return self.drag + 4.0 * np.pi * self.damping_ratio / self.settle_time

    def is_like(self, other: "JointTuning") -> bool:
        """Whether they are the same but for rounding."""
        mine, yours = ((t.settle_time, t.damping_ratio, t.drag, t.radius, *t.pulled) for t in (self, other))
        return bool(np.allclose(mine, yours, rtol=_SAME, atol=_LEAST))


def of_joint(joint: VrmJoint) -> JointTuning:
    """How a joint of a file swings."""
    found = verlet.settings_of(joint.stiffness, joint.drag, joint.length)
    settle_time = float(np.clip(2.0 * np.pi / max(float(found.omega), 1e-9), _FASTEST, _SLOWEST))
    pulled = float(found.unit) * np.array(joint.pull)
    return JointTuning(settle_time, float(found.damping_ratio), float(found.air), pulled, joint.radius)


def of_chain(chain: SpringChain, gravity: Array) -> dict[str, JointTuning]:
    """How the bones of a chain swing. gravity: of the scene (3,) [m/s²]."""
    s, size = chain.settings, _size(chain.armature)
    wind = np.array(s.wind)
    return {
        own.bone: JointTuning(
            own.settle_time, own.damping_ratio, own.drag, own.gravity * gravity + own.wind * wind, own.radius * size
        )
        for own in along_chain.of(chain)
    }


def joint_of(bone: str, tuning: JointTuning, length: float, omega: float) -> VrmJoint:
    """A joint for VRM. omega: of the bone, by itself [rad/s]."""
    stiffness, drag = (float(value) for value in verlet.of_settings(omega, tuning.air, length))
    unit = float(verlet.settings_of(stiffness, drag, length).unit)
    x, y, z = (float(value) / unit for value in tuning.pulled)
    return VrmJoint(bone, length, stiffness, drag, (x, y, z), tuning.radius)


def omegas(chain: SpringChain, tunings: Sequence[JointTuning], lengths: Sequence[float]) -> list[float]:
    """omega of each bone by itself [rad/s]: for bones that pull at each other that with which they bend as far."""
    times = np.array([tuning.settle_time for tuning in tunings])
    if chain.settings.one_way:
        return (2.0 * np.pi / times).tolist()
    return verlet.omega_of_chain(np.maximum(lengths, 1e-6), times).tolist()


def center_of(armature: bpy.types.Object, node: str) -> tuple[float, str]:
    """The inertia and the center of chains with this center in a file, "" for none.

    A node that is no bone is one that carries the bones, as the armature object does.
    """
    return (0.0, node if node in armature.data.bones else "") if node else (1.0, "")


@dataclass(frozen=True)
class _Pulls:
    """Accelerations of bones as parts of gravity and of a wind."""

    parts: Array
    """(n,) of gravity, none of them of another sign than others."""
    wind: Array
    """(3,) [m/s²]"""
    winds: Array
    """(n,) factors of the wind, not negative."""
    off: float
    """How far they are from the accelerations at most [m/s²]."""

    @classmethod
    def of(cls, pulled: Array, gravity: Array) -> "_Pulls":
        """pulled: (n, 3), gravity: (3,) of the scene [m/s²]."""
        strength = max(float(np.linalg.norm(gravity)), 1e-9)
        along = pulled @ gravity / strength**2
        ways = [np.zeros(len(pulled)), along, np.maximum(along, 0.0), np.minimum(along, 0.0)]
        # Gravity alone where it does, then a wind alone.
        found = [cls._with(pulled, gravity, parts) for parts in (ways[1], ways[0], *ways[2:])]
        return next((own for own in found if own.off < _LEAST * strength), min(found, key=lambda own: own.off))

    @classmethod
    def _with(cls, pulled: Array, gravity: Array, parts: Array) -> "_Pulls":
        """Those with these parts of gravity, and the largest of what is left as the wind."""
        if parts.min(initial=0.0) < 0.0 < parts.max(initial=0.0):
            parts = np.where(np.sign(parts) == np.sign(parts.sum()), parts, 0.0)
        left = pulled - parts[:, None] * gravity
        sizes = np.linalg.norm(left, axis=1)
        wind = left[int(np.argmax(sizes))] if sizes.max() > _LEAST else np.zeros(3)
        winds = np.maximum(left @ wind / max(float(wind @ wind), 1e-12), 0.0) if wind.any() else np.ones(len(left))
        off = float(np.linalg.norm(left - winds[:, None] * wind, axis=1).max())
        return cls(parts, wind, winds, off)


def is_pull_kept(scene: bpy.types.Scene, said: VrmChain) -> bool:
    """Whether the gravity of a chain of a file can be said by settings."""
    gravity = gravity_of(scene)
    pulled = np.array([of_joint(joint).pulled for joint in said.joints])
    return _Pulls.of(pulled, gravity).off < _SAME * max(float(np.linalg.norm(gravity)), 1.0)


def use(scene: bpy.types.Scene, chain: SpringChain, said: VrmChain) -> None:
    """Set the settings of a chain as the file has them."""
    s, size = chain.settings, _size(chain.armature)
    known = {joint.bone: joint for joint in said.joints}
    tunings = [of_joint(known[bone]) for bone in chain.bones]
    s.one_way, s.limit, s.stretch, s.influence, s.turbulence = True, np.pi, 0.0, 1.0, 0.0
    s.tip_factor = s.tip_damping = s.tip_gravity = s.tip_radius = s.tip_drag = s.falloff = 1.0
    pulls = _Pulls.of(np.array([tuning.pulled for tuning in tunings]), gravity_of(scene))
    s.wind = pulls.wind.tolist()
    columns = {
        "settle": [tuning.settle_time for tuning in tunings],
        "damping": [tuning.damping_ratio for tuning in tunings],
        "drag": [tuning.drag for tuning in tunings],
        "gravity": pulls.parts.tolist(),
        "radius": [tuning.radius / size for tuning in tunings],
    }
    names = dict(zip(columns, ("settle_time", "damping_ratio", "drag", "gravity", "radius"), strict=True))
    for item in chain.items:
        for name in OF_BONE:
            setattr(item, name, 1.0)
    for kind, values in columns.items():
        # The largest, so that no factor is out of bounds where another bone has nothing.
        base = max(values, key=abs)
        setattr(s, names[kind], base)
        for item, value in zip(chain.items, values, strict=True):
            setattr(item, f"{kind}_factor", value / base if base else 1.0)
    for item, value in zip(chain.items, pulls.winds, strict=True):
        item.wind_factor = value
    s.inertia, s.center = center_of(chain.armature, said.center)
    s.collide, s.collider_groups = bool(said.groups), ", ".join(said.groups)
    s.floor = False


def gravity_of(scene: bpy.types.Scene) -> Array:
    """(3,) [m/s²]"""
    return np.array(scene.gravity) if scene.use_gravity else np.zeros(3)


def _size(armature: bpy.types.Object) -> float:
    return max(float(np.mean(np.abs(armature.matrix_world.to_scale()))), 1e-9)
