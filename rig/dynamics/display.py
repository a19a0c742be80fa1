"""Display of masses in the viewport: ellipsoids with the inertia of the bones, in the current pose."""

from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.dynamics import mass
from ...lookat_pd.errors import LookAtError
from ...lookat_pd.rotation import Array
from ..animation.stored_settings import read
from . import masses, meshes
from .masses import Masses

_ROUND = np.linspace(0.0, 2.0 * np.pi, 25)
_RINGS = np.stack(
    [np.roll(np.stack((np.cos(_ROUND), np.sin(_ROUND), 0.0 * _ROUND), axis=1), k, axis=1) for k in range(3)]
)
"""(3, 25, 3), a circle about each axis."""


@dataclass(frozen=True)
class _Shown:
    """What was drawn last."""

    key: object
    """The values on which it depends."""
    masses: Masses
    bones: tuple[str, ...]
    rings: Array
    """(b, 3, 25, 3) around the `bones` with mass, in the frames of the bones."""


_kept: dict[int, _Shown] = {}
"""A cache by armature."""


def summary(scene: bpy.types.Scene, armature: bpy.types.Object) -> tuple[Masses | None, str]:
    """The masses of the bones, without measuring meshes; or None and the reason, as a sentence."""
    try:
        return _current(scene, armature).masses, ""
    except LookAtError as error:
        return None, str(error)


def ellipsoids(scene: bpy.types.Scene, armature: bpy.types.Object) -> dict[str, Array]:
    """Lines (m, 2, 3) in world space around each bone with mass; none if masses are not available."""
    try:
        shown = _current(scene, armature)
    except LookAtError:
        return {}
    if not shown.bones:
        return {}
    pose = armature.pose.bones
    matrices = np.array(armature.matrix_world) @ np.array([pose[name].matrix for name in shown.bones])
    points = shown.rings @ matrices[:, None, :3, :3].swapaxes(-1, -2) + matrices[:, None, None, :3, 3]
    lines = np.stack((points[:, :, :-1], points[:, :, 1:]), axis=3).reshape(len(points), -1, 2, 3)
    return dict(zip(shown.bones, lines, strict=True))


def forget() -> None:
    """Clear the cache."""
    _kept.clear()


def _current(scene: bpy.types.Scene, armature: bpy.types.Object) -> _Shown:
    measured = meshes.last(armature) if read(armature, "lookat_pd_body").shape == "MESHES" else None
    key = _depends_on(scene, armature, id(measured))
    kept = _kept.get(armature.session_uid)
    if kept is None or kept.key != key:
        body = masses.of(scene, armature, measured)
        there = body.properties.mass > 0.0
        weights = mass.MassProperties(*(column[there] for column in body.properties))
        bones = tuple(name for name, weighs in zip(body.bones, there, strict=True) if weighs)
        axes, turns = mass.ellipsoid(weights)
        rings = rotation.rotate(turns[:, None, None], _RINGS * axes[:, None, None]) + weights.center[:, None, None]
        kept = _kept[armature.session_uid] = _Shown(key, body, bones, rings / masses.metres(scene, armature))
    return kept


def _depends_on(scene: bpy.types.Scene, armature: bpy.types.Object, measured: int) -> object:
    s, bones = read(armature, "lookat_pd_body"), armature.data.bones
    matrices, lengths = np.empty(16 * len(bones), dtype=np.float32), np.empty(len(bones), dtype=np.float32)
    bones.foreach_get("matrix_local", matrices)
    bones.foreach_get("length", lengths)
    deform = np.empty(len(bones), dtype=bool)
    bones.foreach_get("use_deform", deform)
    of_bones = (read(bone, "lookat_pd_body") for bone in armature.pose.bones)
    own = tuple((item.mass, item.density) for item in of_bones)
    whole = s.shape, s.spread, s.build, s.total_mass, s.density, s.radius, s.scale, masses.scene_metres(scene, armature)
    return whole, own, measured, tuple(bones.keys()), matrices.tobytes(), lengths.tobytes(), deform.tobytes()
