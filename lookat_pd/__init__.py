"""Solvers of Look-at PD: numpy arrays in, numpy arrays out, in seconds and radians.

Nothing here imports Blender. Quaternions are unit, arrays (..., 4) in w, x, y, z order, with the Hamilton product.
"""
