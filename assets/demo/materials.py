"""The demo's few colours, the same in solid view and in a render."""

from __future__ import annotations

import bpy

# name: linear colour, roughness
PAINTS = {
    "Skin": ((0.72, 0.42, 0.29), 0.60),
    "Lids": ((0.58, 0.30, 0.21), 0.65),
    "Lips": ((0.46, 0.13, 0.10), 0.60),
    "Shirt": ((0.030, 0.290, 0.330), 0.80),
    "Red Shirt": ((0.520, 0.075, 0.050), 0.80),
    "Trousers": ((0.055, 0.070, 0.130), 0.85),
    "Shoes": ((0.075, 0.045, 0.030), 0.60),
    "Dark": ((0.012, 0.010, 0.010), 0.90),
    "Hair": ((0.060, 0.030, 0.018), 0.65),
    "Auburn Hair": ((0.230, 0.070, 0.022), 0.65),
    "Eye White": ((0.90, 0.89, 0.86), 0.50),
    "Iris": ((0.045, 0.200, 0.330), 0.60),
    "Iris Rim": ((0.010, 0.040, 0.070), 0.90),
    "Pupil": ((0.002, 0.002, 0.003), 1.00),
    "Glint": ((1.00, 1.00, 1.00), 0.10),
    "Ball": ((0.85, 0.20, 0.04), 0.35),
    "Bird": ((0.80, 0.62, 0.10), 0.50),
    "Ground": ((0.42, 0.40, 0.37), 0.90),
}


def paint(name: str) -> bpy.types.Material:
    """The demo's material of that name, made at first need; the prefix keeps the user's own out of it."""
    label = f"Demo {name}"
    existing = bpy.data.materials.get(label)
    if existing is not None:
        return existing
    color, roughness = PAINTS[name]
    material = bpy.data.materials.new(label)
    material.diffuse_color = (*color, 1.0)
    material.roughness = roughness
    if bpy.app.version < (5, 0, 0):
        material.use_nodes = True  # always on since
    shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = (*color, 1.0)
    shader.inputs["Roughness"].default_value = roughness
    return material
