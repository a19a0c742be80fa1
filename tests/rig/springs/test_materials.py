"""The presets look right on a turn, a jump and a run that stops: they trail, swing past once and come to rest."""

import numpy as np

from extension import load
from lookat_pd import rotation, springs
from lookat_pd.rotation import Array

materials = load("rig.springs.materials")
along_chain = load("rig.springs.along_chain")
RATE, SECONDS, LONG = 24, 4.0, 0.5
"""Frames a second, what is seen of each motion [s], and the length of the chains [m]."""
HAIR = ("LONG_HAIR", "SHORT_HAIR")
ONCE = ("CAT_TAIL", "HEAVY_TAIL", "STRAP", "CLOTH", *HAIR)
"""What swings past once; ears, antennas and soft bodies do so again."""


def eased(t: Array, begin: float, seconds: float) -> Array:
    part = np.clip((t - begin) / seconds, 0.0, 1.0)
    return part**3 * (10.0 - 15.0 * part + 6.0 * part**2)


def motions() -> dict[str, tuple[Array, Array, float]]:
    """Places (F, 3) and orientations (F, 4) of what the chains hang on, and when the motion is over [s]."""
    t = np.arange(int(SECONDS * RATE) + 1) / RATE
    still, none = rotation.identity(len(t)), np.zeros((len(t), 3))
    flight = np.clip((t - 0.5) / 0.6, 0.0, 1.0)
    crouch = np.sin(np.pi * np.clip((t - 1.1) / 0.25, 0.0, 1.0)) ** 2
    speed = 3.0 * (eased(t, 0.2, 0.4) - eased(t, 1.6, 0.5))
    jump, way = 1.8 * flight * (1.0 - flight) - 0.15 * crouch, np.cumsum(speed) / RATE
    bob = 0.013 * speed * np.sin(2.0 * np.pi * 2.7 * t)
    return {
        "a turn of the head": (none, rotation.about([0.0, 0.0, 1.0], np.radians(60.0) * eased(t, 0.5, 0.35)), 0.85),
        "a jump": (np.stack((0.0 * t, 0.0 * t, jump), axis=-1), still, 1.35),
        "a run": (np.stack((0.0 * t, -way, bob), axis=-1), still, 2.1),
    }


def swung(preset, motion: tuple[Array, Array, float], bones: int, along: Array) -> Array:
    """(F, 3) where the tip is beside where it rests in what the chain hangs on, by the length of the chain."""
    base, turned, _ = motion
    step = along * LONG / bones
    offsets = np.arange(bones)[:, None] * step + [0.0, 0.12, 0.0]
    places = base[:, None] + rotation.rotate(turned[:, None], offsets)
    times = preset.settle_time * preset.tip_factor ** np.array(along_chain.places(bones))
    found = springs.solve(
        places,
        np.repeat(turned[:, None], bones, axis=1),
        np.tile(step, (bones, 1)),
        np.arange(bones) - 1,
        1.0 / RATE,
        settle_time=times,
        damping_ratio=preset.damping_ratio,
        gravity=(0.0, 0.0, -9.81 * preset.gravity),
        drag=preset.drag,
    )
    tips = rotation.rotate(turned * [1.0, -1.0, -1.0, -1.0], found.tips[:, -1] - base)
    return (tips - tips[-1]) / LONG


def test_presets_trail_swing_past_once_and_come_to_rest(subtests) -> None:
    hanging, behind = np.array([0.0, 0.3, -0.954]), np.array([0.0, 1.0, 0.0])
    for preset in materials.MATERIALS:
        along = behind if preset.id.endswith("TAIL") else hanging
        for name, motion in motions().items():
            for bones in (1, 5):
                with subtests.test(preset=preset.id, motion=name, bones=bones):
                    looks_right(preset, swung(preset, motion, bones, along), round(motion[2] * RATE))


def looks_right(preset, apart: Array, over: int) -> None:
    """over: the frame at which the motion is over."""
    size = np.linalg.norm(apart, axis=-1)
    assert size.max() > np.radians(1.0), "it is seen to swing"
    assert np.degrees(np.abs(np.diff(size[-RATE:])).max()) < 0.05 or preset.id == "ANTENNA", "nothing shivers at rest"
    if preset.id in HAIR:
        assert size[over + RATE // 2 :].max() < 0.05 * size.max(), "hair settles within half a second"
    if preset.id in ONCE:
        side = apart @ np.linalg.svd(apart, full_matrices=False)[2][0]
        after = side[over:]
        parts = np.split(after, np.flatnonzero(np.diff(np.sign(after))) + 1)
        seen = [part for part in parts if np.abs(part).max() > 0.1 * np.abs(side).max()]
        assert len(seen) <= 2, "what is left of trailing, and once past"
