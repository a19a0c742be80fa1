"""Limbs that have weight: mass properties, the equations of motion, motion between keys, reaching."""
