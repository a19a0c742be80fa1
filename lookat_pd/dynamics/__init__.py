"""Limbs that have weight: mass properties, the equations of motion, motion between keys, reaching.

Units are metres, kilograms, seconds and radians; quaternions are w, x, y, z.
"""

from .body import Body, RootMotion
from .interpolate import Interpolation, interpolate, interpolating

__all__ = ["Body", "Interpolation", "RootMotion", "interpolate", "interpolating"]
