"""What a click in the viewport means where no bone is in sight: the bone that moves the skin there, and its control."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import bpy

from ..sampling import shown_bones, shown_surface


def bone_of_skin(
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    armature: bpy.types.Object,
    space: Any,
    origin: Sequence[float],
    direction: Sequence[float],
) -> str:
    """The bone with the largest weight where a ray of the world first hits something that the viewport `space` draws;
    "" if that is no mesh that the armature deforms."""
    found = shown_surface.hit(scene, depsgraph, space, origin, direction)
    if found is None or found.item.type != "MESH":
        return ""
    item, face = found.item, found.face
    if not any(modifier.type == "ARMATURE" and modifier.object == armature for modifier in item.modifiers):
        return ""
    mesh = item.evaluated_get(depsgraph).data
    weights: dict[str, float] = defaultdict(float)
    for vertex in mesh.polygons[face].vertices:
        for group in mesh.vertices[vertex].groups:
            if group.group < len(item.vertex_groups):
                weights[item.vertex_groups[group.group].name] += group.weight
    by_bone = {name: weight for name, weight in weights.items() if name in armature.pose.bones and weight > 0.0}
    return max(by_bone, key=lambda name: by_bone[name]) if by_bone else ""


def is_hidden(armature: bpy.types.Object, bone: str) -> bool:
    """Whether a bone is not in sight: hidden by itself, or in no bone collection that is shown. An object itself, with
    "" as the bone, never is."""
    return bool(bone) and not shown_bones.is_shown(armature.pose.bones[bone])


def show(armature: bpy.types.Object, bone: str) -> Callable[[], None]:
    """Bring a bone in sight, with the first of its collections and those that hold that; returns what undoes it."""
    data, changed = armature.data.bones[bone], []
    owner = shown_bones.owner_of_hide(armature.pose.bones[bone])
    before = owner.hide
    owner.hide = False
    if data.collections and not any(item.is_visible_effectively for item in data.collections):
        item = data.collections[0]
        while item is not None:
            changed.append((item, item.is_visible))
            item.is_visible = True
            item = item.parent

    def undo() -> None:
        owner.hide = before
        for item, visible in changed:
            item.is_visible = visible

    return undo
