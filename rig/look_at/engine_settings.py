"""The settings of a look-at as plain data for a game engine: gains, chain, limits, body and eyes.

Angles in radians, times in seconds, lengths in the units of the armature, axes in the frame of their bone.
"""

import json
from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np

from ..sampling.targets import Target
from . import gains, resolve
from .body import layers
from .body.body_rig import BodyRig
from .resolve import LookAt

FORMAT, VERSION = "lookat_pd.settings", 1
_DIGITS = 6


def as_json(armature: bpy.types.Object, bone: str) -> str:
    """The settings of the look-at on a bone as a JSON object. Raises RigError."""
    return json.dumps(read(armature, bone), indent=2, ensure_ascii=False) + "\n"


def read(armature: bpy.types.Object, bone: str) -> dict[str, Any]:
    """The settings of the look-at on a bone, with what is detected where they name nothing. Raises RigError."""
    look_at = resolve.resolve(armature, bone, [Target(point=(0.0, 0.0, 0.0))], ((0.0, 0),))
    settings = armature.pose.bones[bone].lookat_pd
    on = {layer.id for layer in layers.enabled(settings)}
    body = look_at.body if look_at.body is not None else BodyRig()
    data = {
        "format": FORMAT,
        "version": VERSION,
        "bone": bone,
        "controller": _controller(look_at),
        "release": {
            "angle": look_at.tuning.release_angle,
            "speed": look_at.tuning.release_speed,
            "time": look_at.tuning.release_time,
        },
        "soft_edge": look_at.chain.soft_edge,
        "eye_height": look_at.chain.eye_height,
        "chain": _chain(look_at),
        "body": {
            "torso_threshold": look_at.chain.torso_from,
            "weight_shift": _weight_shift(body) if "weight" in on else None,
            "arm_recoil": _arm_recoil(body) if "arms" in on else None,
            "planted_feet": _planted_feet(body) if "feet" in on else None,
        },
        "eyes": _eyes(body, settings.eyes, on) if "eyes" in on else None,
    }
    return _rounded(data)


def _controller(look_at: LookAt) -> dict[str, Any]:
    tuning = look_at.tuning
    return {
        **_pd(tuning.settle_time, tuning.damping_ratio),
        "integrator": tuning.integrator,
        "method": tuning.method,
        "max_speed": tuning.max_speed or None,
        "feed_forward": tuning.feed_forward,
        "stabilize": look_at.chain.stabilize,
        "level_head": look_at.chain.level,
        "head_roll": look_at.chain.most_roll if look_at.chain.most_roll < np.pi else None,
        "head_speed": look_at.chain.head_speed or None,
    }


def _pd(settle_time: float, damping_ratio: float) -> dict[str, float]:
    k_p, k_d = gains.of(settle_time, damping_ratio)
    return {"k_p": k_p, "k_d": k_d, "settle_time": settle_time, "damping_ratio": damping_ratio}


def _chain(look_at: LookAt) -> list[dict[str, Any]]:
    chain, tuning = look_at.chain, look_at.tuning
    return [
        {
            "bone": name,
            "share": chain.shares[n],
            **_pd(tuning.settle_time * chain.settle_factors[n], tuning.damping_ratio),
            "yaw_limit": chain.yaw_limits[n],
            "pitch_up_limit": chain.pitch_up_limits[n],
            "pitch_down_limit": chain.pitch_down_limits[n],
            "compensates_lag": bool(chain.compensates_lag[n]),
            "forward": chain.forward[n],
            "up": chain.up[n],
        }
        for n, name in enumerate(look_at.bones)
    ]


def _weight_shift(body: BodyRig) -> dict[str, Any] | None:
    if body.shift is None:
        return None
    shift = body.shift
    pd = _pd(shift.settle_time, shift.damping_ratio)
    return {"bone": body.hips_control, "side": shift.side, "back": shift.back, **pd}


def _arm_recoil(body: BodyRig) -> dict[str, Any] | None:
    if body.recoil is None:
        return None
    recoil = body.recoil
    arms = [{"clavicle": arm.clavicle or None, "upper": arm.upper, "hand": arm.hand} for arm in body.arms]
    return {"amount": recoil.amount, **_pd(recoil.settle_time, recoil.damping_ratio), "arms": arms}


def _planted_feet(body: BodyRig) -> dict[str, Any] | None:
    legs = [{"upper": leg.upper, "lower": leg.lower, "foot": leg.foot} for leg in body.legs]
    return {"legs": legs} if legs else None


def _eyes(body: BodyRig, settings: Any, on: set[str]) -> dict[str, Any] | None:
    ocular = body.ocular
    if ocular is None:
        return None
    blink = {
        "threshold": ocular.blink_from,
        "lid_angle": body.blink_angle,
        "lids": list(body.lids),
        "shape_keys": list(dict.fromkeys(lid.name for lid in body.shapes)),
    }
    return {
        "eyes": [
            *({"bone": eye.bone, "forward": ocular.forward[n]} for n, eye in enumerate(body.eyes)),
            *(
                {
                    "bone": None,
                    "forward": ocular.forward[n],
                    "center": eye.center,
                    "shape_keys": [lids[0].name if lids else None for lids in eye.lids],
                    "controls": [
                        [{"bone": c.bone, "axis": "XYZ"[c.axis], "distance": c.distance} for c in row]
                        for row in eye.controls
                    ],
                    "order": eye.order or None,
                    "angles": [sum(part**2 for part in turn) ** 0.5 for turn in eye.turns],
                }
                for n, eye in enumerate(body.looks)
            ),
        ],
        "head_share": settings.head_share,
        "head_delay": body.head_delay,
        "yaw_limit": ocular.yaw_limit,
        "pitch_up_limit": ocular.pitch_up_limit,
        "pitch_down_limit": ocular.pitch_down_limit,
        "vergence": ocular.vergence,
        "vergence_limit": ocular.vergence_limit,
        "lid_follow": body.lid_follow if "lids" in on else None,
        "blink": blink if "blink" in on else None,
    }


def _rounded(value: Any) -> Any:
    """Plain data with numbers in single precision."""
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, Iterable):
        return [_rounded(part) for part in value]
    return round(float(f"{float(value):.{_DIGITS}g}"), 9) + 0.0
