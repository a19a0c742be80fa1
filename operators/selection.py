"""The data that operators and panels work on: what is active and selected."""

from contextlib import suppress

import bpy

from ..lookat_pd.errors import RigError
from ..rig.look_at import looking
from ..rig.sampling import shown_bones, targets

SelectedBones = tuple[dict[str, bool], str]
"""Whether each bone is selected, by name, and the name of the active one."""


def armature(context: bpy.types.Context) -> bpy.types.Object | None:
    """The current armature: the active object, the pinned one, or the one that deforms the active object."""
    item = getattr(context, "object", None) or context.view_layer.objects.active
    if item is None or item.type == "ARMATURE":
        return item
    deformer = item.find_armature()
    return deformer or (item.parent if item.parent and item.parent.type == "ARMATURE" else None)


def bone(context: bpy.types.Context) -> bpy.types.PoseBone | None:
    """The active pose bone of that armature."""
    item = armature(context)
    if item is None or item.type != "ARMATURE" or item.data.bones.active is None:
        return None
    return item.pose.bones.get(item.data.bones.active.name)


_chosen: list[tuple[int, str]] = []
"""The armature and the bone of the look-at that was chosen last, of several at one target."""


def look_at_bone(context: bpy.types.Context) -> bpy.types.PoseBone | None:
    """The bone whose look-at is displayed: of the current armature the active one, else one whose chain contains it,
    else the first; where that armature has none, one that looks at what is active, which may be in the hand."""
    own = look_ats_of(armature(context))
    if not own:
        selected = set(context.selected_objects)
        order = lambda one: (one.id_data not in selected, (one.id_data.session_uid, one.name) not in _chosen)  # noqa: E731
        return min(aiming(context), key=order, default=None)
    active = bone(context)
    if active in own:
        return active
    for candidate in own:
        if active is not None and any(link.bone == active.name for link in candidate.lookat_pd.chain):
            return candidate
    return own[0]


def look_ats(context: bpy.types.Context) -> list[bpy.types.PoseBone]:
    """The bones with look-ats among which one is displayed."""
    return look_ats_of(armature(context)) or aiming(context)


def look_ats_of(item: bpy.types.Object | None) -> list[bpy.types.PoseBone]:
    return looking.bones(item) if item is not None and item.type == "ARMATURE" else []


def named_look_at(context: bpy.types.Context, armature: str, bone: str) -> bpy.types.PoseBone:
    """The bone with the look-at that options of an operator name; of the displayed look-at where they are empty.
    Raises RigError."""
    item = named_object(context, armature) if armature else look_at_armature(context)
    shown = look_at_bone(context)
    name = bone or (shown.name if shown is not None else "")
    for owner in look_ats_of(item):
        if owner.name == name:
            return owner
    raise RigError(
        "Bone '{name}' of '{armature}' has no look-at; select a bone with a look-at.", name=name, armature=item.name
    )


def look_at_armature(context: bpy.types.Context) -> bpy.types.Object | None:
    """The armature of the displayed look-at; the current one where none is displayed."""
    shown = look_at_bone(context)
    return armature(context) if shown is None else shown.id_data


def aiming(context: bpy.types.Context) -> list[bpy.types.PoseBone]:
    """The bones that look at the active object, or in pose mode at its active bone."""
    item = getattr(context, "object", None) or context.view_layer.objects.active
    if item is None:
        return []
    active = bone(context) if item.mode == "POSE" else None
    return list(looking.at(context.scene, [item], "" if active is None else active.name))


def choose(owner: bpy.types.PoseBone) -> None:
    """Display the look-at on a bone, where several look at what is active."""
    _chosen[:] = [(owner.id_data.session_uid, owner.name)]


def other_selected_bones(context: bpy.types.Context) -> list[str]:
    """Names of the selected bones except the one whose look-at is displayed; none outside pose mode."""
    item, shown = armature(context), look_at_bone(context)
    if item is None or item.mode != "POSE" or (shown is not None and shown.id_data != item):
        return []
    return [bone.name for bone in item.pose.bones if bone != shown and is_chosen(bone)]


def other_selected_objects(context: bpy.types.Context, item: bpy.types.Object | None) -> list[bpy.types.Object]:
    """The selected objects that do not belong to a character."""
    return [other for other in context.selected_objects if not targets.belongs_to(other, item)]


def named_object(context: bpy.types.Context, name: str) -> bpy.types.Object:
    """The object of the scene that an operator's option names. Raises RigError."""
    item = context.scene.objects.get(name)
    if item is None:
        raise RigError("There is no object '{target}' in the scene; choose one that exists.", target=name)
    return item


def select_only(context: bpy.types.Context, item: bpy.types.Object) -> None:
    """Select one object, active and in object mode, and nothing else."""
    layer = context.view_layer
    if context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for other in layer.objects:
        other.select_set(other == item, view_layer=layer)
    layer.objects.active = item


def selected_armatures(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The armatures of all selected characters, by name."""
    armatures = {item if item.type == "ARMATURE" else item.find_armature() for item in context.selected_objects}
    return sorted(armatures - {None}, key=lambda item: item.name_full)


def selected_bones(context: bpy.types.Context) -> list[bpy.types.PoseBone]:
    """The selected bones of that armature that are in sight; none outside pose mode."""
    item = armature(context)
    if item is None or item.type != "ARMATURE" or item.mode != "POSE":
        return []
    return [bone for bone in item.pose.bones if is_chosen(bone)]


def posed_bones(context: bpy.types.Context) -> list[bpy.types.PoseBone]:
    """The selected bones of all armatures in pose mode that are in sight."""
    posed = [item for item in context.view_layer.objects if item.type == "ARMATURE" and item.mode == "POSE"]
    return [bone for item in posed for bone in item.pose.bones if is_chosen(bone)]


def is_chosen(bone: bpy.types.PoseBone) -> bool:
    """Whether a pose bone is selected and in sight: an operator changes nothing that the animator cannot see."""
    return is_selected(bone) and shown_bones.is_shown(bone)


def is_selected(bone: bpy.types.PoseBone) -> bool:
    """Whether a pose bone is selected; the property moved in Blender 5."""
    return bone.select if hasattr(bone, "select") else bone.bone.select


def select(bone: bpy.types.PoseBone, *, chosen: bool) -> None:
    """Select a pose bone or deselect it."""
    place = bone if hasattr(bone, "select") else bone.bone
    place.select = chosen


def bones_selected(armature: bpy.types.Object) -> SelectedBones:
    """The bones of an armature, which of them are selected, and the active one."""
    active = armature.data.bones.active
    return {bone.name: is_selected(bone) for bone in armature.pose.bones}, active.name if active else ""


def select_bones(armature: bpy.types.Object, before: SelectedBones) -> None:
    """Restore the selection of bones and the active one, as `bones_selected` has them."""
    with suppress(ReferenceError):
        bones, active = before
        # Before the selection: Blender 4.5 selects what becomes active.
        armature.data.bones.active = armature.data.bones.get(active)
        for name, chosen in bones.items():
            bone = armature.pose.bones[name]
            if is_selected(bone) != chosen:
                select(bone, chosen=chosen)


def under_click(armature: bpy.types.Object, before: SelectedBones) -> bpy.types.PoseBone | None:
    """The bone that a click has just selected; None if it is not of this armature."""
    active = armature.data.bones.active
    if active is None or not is_selected(armature.pose.bones[active.name]):
        return None
    chosen = bones_selected(armature)
    alone = sum(chosen[0].values()) == 1
    return armature.pose.bones[active.name] if alone or chosen != before else None
