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

    def is_like(self, other: "JointTuning") -> bool:
        """Whether they are the same but for rounding."""
        mine, yours = ((t.settle_time, t.damping_ratio, t.drag, t.radius, *t.pulled) for t in (self, other))
        return bool(np.allclose(mine, yours, rtol=_SAME, atol=_SAME))


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
            own.settle_time, own.damping_ratio, own.drag, own.gravity * gravity + wind, own.radius * size
        )
        for own in along_chain.of(chain)
    }


def joint_of(bone: str, tuning: JointTuning, length: float, omega: float) -> VrmJoint:
    """A joint for VRM. omega: of the bone, by itself [rad/s]."""
    air = tuning.drag + 4.0 * np.pi * tuning.damping_ratio / tuning.settle_time
    stiffness, drag = (float(value) for value in verlet.of_settings(omega, air, length))
    unit = float(verlet.settings_of(stiffness, drag, length).unit)
    x, y, z = (float(value) / unit for value in tuning.pulled)
    return VrmJoint(bone, length, stiffness, drag, (x, y, z), tuning.radius)


def omegas(chain: SpringChain, tunings: Sequence[JointTuning], lengths: Sequence[float]) -> list[float]:
    """omega of each bone by itself [rad/s]: for bones that pull at each other that with which they bend as far."""
    times = np.array([tuning.settle_time for tuning in tunings])
    if chain.settings.one_way:
        return (2.0 * np.pi / times).tolist()
    return verlet.omega_of_chain(np.maximum(lengths, 1e-6), times).tolist()


def use(scene: bpy.types.Scene, chain: SpringChain, said: VrmChain) -> None:
    """Set the settings of a chain as the file has them."""
    s, size = chain.settings, _size(chain.armature)
    known = {joint.bone: joint for joint in said.joints}
    tunings = [of_joint(known[bone]) for bone in chain.bones]
    s.one_way, s.limit, s.stretch, s.influence, s.turbulence = True, np.pi, 0.0, 1.0, 0.0
    s.tip_factor = s.tip_damping = s.tip_gravity = s.tip_radius = s.tip_drag = s.falloff = 1.0
    pulled = np.array([tuning.pulled for tuning in tunings])
    down = gravity_of(scene)
    strength, way = float(np.linalg.norm(down)), down / max(float(np.linalg.norm(down)), 1e-9)
    parts = pulled @ way / max(strength, 1e-9)
    is_down = strength > 0.0 and np.allclose(parts[:, None] * down, pulled, atol=1e-3)
    s.wind = (0.0, 0.0, 0.0) if is_down else pulled[int(np.argmax(np.linalg.norm(pulled, axis=1)))].tolist()
    columns = {
        "settle": [tuning.settle_time for tuning in tunings],
        "damping": [tuning.damping_ratio for tuning in tunings],
        "drag": [tuning.drag for tuning in tunings],
        "gravity": parts.tolist() if is_down else [0.0] * len(tunings),
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
    s.inertia, s.center = (0.0, said.center) if said.center in chain.armature.data.bones else (1.0, "")
    s.collide, s.collider_groups = bool(said.groups), ", ".join(said.groups)
    s.floor = False


def gravity_of(scene: bpy.types.Scene) -> Array:
    """(3,) [m/s²]"""
    return np.array(scene.gravity) if scene.use_gravity else np.zeros(3)


def _size(armature: bpy.types.Object) -> float:
    return max(float(np.mean(np.abs(armature.matrix_world.to_scale()))), 1e-9)
