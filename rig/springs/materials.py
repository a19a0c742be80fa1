"""Presets of springs by what swings: a row each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Material:
    """How something swings."""

    id: str
    label: str
    description: str
    settle_time: float
    """[s]"""
    damping_ratio: float
    gravity: float
    """Part of the scene's gravity."""
    drag: float
    """[1/s]"""
    tip_factor: float
    """Settle time of the last bone, as a factor of that of the first one."""


# Blender saves the number of a row with the springs: append new ones at the end.
MATERIALS = (
    Material("CAT_TAIL", "Cat Tail", "A light tail that follows softly", 0.6, 0.5, 0.0, 0.5, 1.6),
    Material("HEAVY_TAIL", "Heavy Tail", "A heavy tail, as of a crocodile or a dragon", 1.1, 0.6, 0.0, 0.2, 1.3),
    Material("LONG_HAIR", "Long Hair", "Hair that hangs down and swings with the head", 0.65, 0.7, 0.3, 1.5, 1.5),
    Material("SHORT_HAIR", "Short Hair", "Bangs and short hair that hold their shape", 0.25, 0.6, 0.0, 1.0, 1.3),
    Material("EAR", "Ear", "Ears that twitch after each step", 0.25, 0.4, 0.0, 0.5, 1.3),
    Material("ANTENNA", "Antenna", "A thin, springy rod that swings for a while", 0.35, 0.15, 0.0, 0.2, 1.2),
    Material("STRAP", "Strap", "A belt, a strap or a ribbon that hangs down", 0.5, 0.5, 0.5, 1.0, 1.4),
    Material(
        "CLOTH", "Cloth Strip", "A skirt, a cape or a strip of cloth, slowed down by the air", 0.6, 0.6, 0.4, 3.0, 1.3
    ),
    Material("SOFT", "Soft Body", "A breast or a belly, in one bone or a few", 0.3, 0.35, 0.0, 0.0, 1.0),
)
BY_ID = {row.id: row for row in MATERIALS}
SET = ("settle_time", "damping_ratio", "gravity", "drag", "tip_factor")
"""What a preset sets."""
