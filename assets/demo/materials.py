"""The demo's few colours, the same in solid view and in a render."""

from __future__ import annotations

import bpy

# name: linear colour, roughness
PAINTS = {
    "Skin": ((0.60, 0.33, 0.22), 0.55),
    "Shirt": ((0.055, 0.235, 0.275), 0.75),
    "Red Shirt": ((0.420, 0.080, 0.055), 0.75),
    "Trousers": ((0.055, 0.060, 0.085), 0.80),
    "Dark": ((0.030, 0.022, 0.020), 0.50),
    "Eye White": ((0.86, 0.85, 0.82), 0.25),
    "Iris": ((0.07, 0.17, 0.25), 0.20),
    "Ball": ((0.85, 0.20, 0.04), 0.35),
    "Bird": ((0.80, 0.62, 0.10), 0.50),
    "Ground": ((0.20, 0.19, 0.18), 0.90),
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
