"""Solvers of Look-at PD: numpy arrays in, numpy arrays out, in seconds and radians.

Nothing here knows Blender. Quaternions are arrays (..., 4) in w, x, y, z order, unit, Hamilton product.
"""
