"""Whole bodies: a person with eyes, arms and legs, in motion, whose look-at has everything on."""

from typing import Any

import bpy
import numpy as np

from extension import load

from ... import scenes

body = load("rig.look_at.body.layers")

# Name, parent, head, tail: a person of 1.8 m who faces -Y, arms hanging, knees a little bent.
_MIDDLE = (
    ("root", None, (0, 0, 0), (0, 0.3, 0)),
    ("hips", "root", (0, 0, 0.98), (0, 0.01, 1.08)),
    ("spine", "hips", (0, 0.01, 1.08), (0, 0.02, 1.25)),
    ("chest", "spine", (0, 0.02, 1.25), (0, 0.02, 1.48)),
    ("neck", "chest", (0, 0.02, 1.48), (0, 0, 1.58)),
    ("head", "neck", (0, 0, 1.58), (0, 0.01, 1.8)),
)
_SIDE = (
    ("eye", "head", (0.032, -0.075, 1.68), (0.032, -0.1, 1.68)),
    ("clavicle", "chest", (0.02, 0, 1.45), (0.15, 0.01, 1.44)),
    ("upper_arm", "clavicle", (0.17, 0.01, 1.43), (0.24, 0.03, 1.15)),
    ("forearm", "upper_arm", (0.24, 0.03, 1.15), (0.28, -0.05, 0.9)),
    ("hand", "forearm", (0.28, -0.05, 0.9), (0.29, -0.09, 0.8)),
    ("thigh", "hips", (0.1, 0, 0.95), (0.11, -0.02, 0.52)),
    ("shin", "thigh", (0.11, -0.02, 0.52), (0.12, 0.03, 0.1)),
    ("foot", "shin", (0.12, 0.03, 0.1), (0.13, -0.12, 0.02)),
    ("toe", "foot", (0.13, -0.12, 0.02), (0.13, -0.2, 0.02)),
)


def _mirrored(row: tuple, side: str) -> tuple:
    name, parent, head, tail = row
    sign = 1.0 if side == "L" else -1.0
    own = {row[0] for row in _SIDE}
    return (
        f"{name}.{side}",
        f"{parent}.{side}" if parent in own else parent,
        (sign * head[0], *head[1:]),
        (sign * tail[0], *tail[1:]),
    )


PERSON = (*_MIDDLE, *(_mirrored(row, side) for side in "LR" for row in _SIDE))
CHAIN = ("head", "neck", "chest", "spine", "hips")
FEET = ("foot.L", "foot.R", "toe.L", "toe.R")
EYES = ("eye.L", "eye.R")


def person(name: str = "Person", *, moving: bool = True, **options: Any) -> bpy.types.Object:
    """A person, who sways and then stands still."""
    armature = scenes.figure(name, PERSON)
    if moving:
        scenes.animate(armature, bones=(*CHAIN, "upper_arm.L", "thigh.L", "shin.R"), **options)
    return armature


def look(armature: bpy.types.Object, target: bpy.types.Object | None, bone: str = "head", **settings: Any) -> Any:
    """A look-at with everything on; its settings."""
    found = scenes.aim(armature, target, bone, **settings)
    body.switch_on(found)
    return found


def bones(armature: bpy.types.Object, *names: str) -> list[int]:
    """Where bones stand in `scenes.poses`."""
    return [armature.pose.bones.keys().index(name) for name in names]


def differences(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Largest distance [m] and largest angle [deg] between poses (F, b, 4, 4)."""
    turn = one[..., :3, :3] @ np.swapaxes(other[..., :3, :3], -1, -2)
    away = np.linalg.norm(one[..., :3, 3] - other[..., :3, 3], axis=-1)
    # Of a small turn the sine is exact, the cosine is not.
    skew = np.stack([turn[..., n, m] - turn[..., m, n] for n, m in ((0, 1), (1, 2), (2, 0))], axis=-1)
    sine = 0.5 * np.linalg.norm(skew, axis=-1)
    cosine = 0.5 * (np.trace(turn, axis1=-2, axis2=-1) - 1.0)
    return float(away.max()), float(np.degrees(np.arctan2(sine, cosine)).max())
