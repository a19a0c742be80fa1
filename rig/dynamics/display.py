"""What the viewport shows of masses: the ellipsoids that have the bones' inertia, as the pose stands."""

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.dynamics import mass
from ...lookat_pd.errors import LookAtError
from ...lookat_pd.rotation import Array
from . import masses, meshes
from .masses import Masses

_ROUND = np.linspace(0.0, 2.0 * np.pi, 25)
_RINGS = np.stack(
    [np.roll(np.stack((np.cos(_ROUND), np.sin(_ROUND), 0.0 * _ROUND), axis=1), k, axis=1) for k in range(3)]
)
"""(3, 25, 3), a circle about each axis."""
_kept: dict[int, tuple[object, Masses, tuple[Array, Array], float]] = {}
"""What the armatures weigh, and their ellipsoids, by what that depends on; may be thrown away at any time."""


def told(scene: bpy.types.Scene, armature: bpy.types.Object) -> tuple[Masses | None, str]:
    """What the bones weigh as far as that is known without measuring meshes; or None, and why in a sentence."""
    try:
        return _current(scene, armature)[1], ""
    except LookAtError as error:
        return None, str(error)


def ellipsoids(scene: bpy.types.Scene, armature: bpy.types.Object) -> dict[str, Array]:
    """Lines (m, 2, 3) in the world around each bone that weighs something; none where masses cannot be told."""
    try:
        _, found, (axes, turns), unit = _current(scene, armature)
    except LookAtError:
        return {}
    world, lines = np.array(armature.matrix_world), {}
    for n, name in enumerate(found.bones):
        if not found.properties.mass[n] > 0.0:
            continue
        rings = rotation.rotate(turns[n], _RINGS * axes[n]) + found.properties.center[n]
        matrix = world @ np.array(armature.pose.bones[name].matrix)
        points = rings / unit @ matrix[:3, :3].T + matrix[:3, 3]
        lines[name] = np.stack((points[:, :-1], points[:, 1:]), axis=2).reshape(-1, 2, 3)
    return lines


def forget() -> None:
    """Throw away what is kept."""
    _kept.clear()


def _current(scene: bpy.types.Scene, armature: bpy.types.Object) -> tuple[object, Masses, tuple[Array, Array], float]:
    measured = meshes.last(armature) if armature.lookat_pd_body.shape == "MESHES" else None
    key = _depends_on(scene, armature, id(measured))
    kept = _kept.get(armature.session_uid)
    if kept is None or kept[0] != key:
        found = masses.of(scene, armature, measured)
        there = found.properties.mass > 0.0
        weights = mass.MassProperties(np.where(there, found.properties.mass, 1.0), *found.properties[1:])
        kept = key, found, mass.ellipsoid(weights), masses.metres(scene, armature)
        _kept[armature.session_uid] = kept
    return kept


def _depends_on(scene: bpy.types.Scene, armature: bpy.types.Object, measured: int) -> object:
    s, bones = armature.lookat_pd_body, armature.data.bones
    matrices, lengths = np.empty(16 * len(bones), dtype=np.float32), np.empty(len(bones), dtype=np.float32)
    bones.foreach_get("matrix_local", matrices)
    bones.foreach_get("length", lengths)
    own = tuple((bone.lookat_pd_body.mass, bone.lookat_pd_body.density) for bone in armature.pose.bones)
    whole = s.shape, s.spread, s.build, s.total_mass, s.density, s.radius, masses.metres(scene, armature)
    return whole, own, measured, tuple(bones.keys()), matrices.tobytes(), lengths.tobytes()
