"""The strength of the joints of a body: from the settings of the scene and of bones to the units of the solvers."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ..animation.stored_settings import read
from .articulation import Articulation

_GRAVITY = 9.81


@dataclass(frozen=True)
class Actuation:
    """How n joints are moved."""

    residual: Array
    """(n,) fraction of the distance that remains at the key."""
    torque_limit: Array
    """(n,) [N m], inf for none."""
    passive: Array
    """(n,) whether joints have no muscles."""
    stiffness: Array
    """(n,) [N m/rad] of passive joints, 0 for the others."""
    damping: Array
    """(n,) [N m s/rad]; of joints that are not passive their friction."""


def of(scene: bpy.types.Scene, body: Articulation) -> Actuation:
    """The actuation from the settings of the bones or, for bones without their own, of the scene."""
    chosen = [settings(scene, body.armature.pose.bones[name]) for name in body.bones]
    tension = np.array([s.tension for s in chosen])
    moment, inertia = _level(body)
    limits = [
        {"NONE": np.inf, "STRENGTH": s.strength * m, "TORQUE": s.torque}[s.limit]
        for s, m in zip(chosen, moment, strict=True)
    ]
    passive = np.array([s.passive for s in chosen], dtype=bool)
    swing = 2.0 * np.pi * np.array([s.stiffness for s in chosen])
    # A limb that hangs freely swings by its weight.
    fade = 2.0 * np.array([s.damping for s in chosen]) * np.sqrt(swing**2 + moment / inertia)
    return Actuation(
        (1.0 + tension) * np.exp(-tension),
        np.array(limits, dtype=float),
        passive,
        np.where(passive, inertia * swing**2, 0.0),
        np.where(passive, inertia * fade, [s.friction for s in chosen]),
    )


def shares(scene: bpy.types.Scene, body: Articulation) -> Array | None:
    """The strength of the joints (n,) relative to the strongest, which a reach uses more; None if all are equal."""
    limits = of(scene, body).torque_limit
    bounded = np.isfinite(limits)
    if not bounded.any():
        return None
    most = limits[bounded].max()
    return np.where(bounded, limits, most) / most


def needs_engine(scene: bpy.types.Scene, bones: Iterable[bpy.types.PoseBone]) -> str | None:
    """The setting because of which the motion of these bones between keys must be simulated; None if it has a closed
    form."""
    bones, common = list(bones), scene.lookat_pd_dynamics
    chosen = [settings(scene, bone) for bone in bones]
    if common.inertia != "TRUE":
        return "inertia"
    if any(own.passive for own in chosen):
        return "passive"
    if any(own.limit != "NONE" for own in chosen):
        return "limit"
    if any(own.friction > 0.0 for own in chosen):
        return "friction"
    return "weight" if common.weight and bones and has_load(bones[0].id_data) else None


def has_load(armature: bpy.types.Object) -> bool:
    """Whether single bones were given a mass or a density."""
    own = (read(bone, "lookat_pd_body") for bone in armature.pose.bones)
    return any(item.mass > 0.0 or item.density != 1.0 for item in own)


def settings(scene: bpy.types.Scene, bone: bpy.types.PoseBone) -> Any:
    """The settings of a bone: its own, or those of the scene."""
    own = read(bone, "lookat_pd_body")
    return own if own.use_own else scene.lookat_pd_dynamics


def _level(body: Articulation) -> tuple[Array, Array]:
    """At rest: the torque (n,) [N m] of each joint that holds its limb horizontal, and the largest moment of inertia
    (n,) [kg m²] of the limb about the joint."""
    n, pose = len(body.bones), body.fixed
    orientations, places = body.body.forward(pose)
    matrices = body.body.mass_matrix(pose).reshape(n, 3, n, 3)
    inertia = np.array([np.linalg.eigvalsh(matrices[k, :, k])[-1] for k in range(n)])
    weights = np.asarray(body.body.masses)
    centers = places + rotation.rotate(orientations, np.asarray(body.body.centers))
    descendants = body.body.ancestors.T
    arms = centers[None] - places[:, None]
    moment = np.linalg.norm(np.einsum("jk,k,jki->ji", descendants, weights, arms), axis=-1) * _GRAVITY
    return moment, inertia
