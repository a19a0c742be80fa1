"""Look-ats like another one: on other bones of the armature, and on the bone of the other side.

The settings of body and eyes and the additional targets go along.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ..detection import detect, names, rest, stance
from ..detection.chain_defaults import ChainDefault
from ..sampling import targets
from ..sampling.targets import Target
from . import edit as look_at_edit
from . import facing, presets
from .body import layers
from .body.layers import BodyLayer
from .directing import looks
from .facing import AIM_AXES
from .resolve import exists_on, no_link
from .setting_paths import KEYABLE


@dataclass(frozen=True)
class _Plan:
    """A look-at to be made or changed: on which bone, with which chain, aim axis, targets and bones of the body."""

    bone: str
    links: list[ChainDefault]
    aim_axis: str
    targets: list[Target] | None
    """Targets by number, an empty one for an empty row; None to keep those that are there."""
    named: dict[str, str]
    """Settings of body and eyes that name bones or shape keys."""


def copy(
    scene: bpy.types.Scene, armature: bpy.types.Object, source: str, bones: Sequence[str], *, with_target: bool = True
) -> list[BodyLayer]:
    """Give other bones look-ats like that on `source`. Raises RigError, and then changes nothing.

    A bone that hangs on the same chain takes the head's place in it. Any other gets the chain that is detected for it,
    in which bones that are in both chains are as in the source. Keys are not copied. Returns the layers of the body
    that are left off where the chain has their bones.
    """
    settings = armature.pose.bones[source].lookat_pd
    wanted, named = targets.listed(settings) if with_target else None, _named(settings)
    plans = [
        _Plan(bone, _chain_for(armature, source, bone), _axis_like(armature, source, bone), wanted, named)
        for bone in bones
    ]
    return _apply(scene, armature, source, plans)


def mirror(scene: bpy.types.Scene, armature: bpy.types.Object, source: str) -> tuple[str, list[BodyLayer]]:
    """Give the bone on the other side a look-at like that on `source`; returns its name, and the layers as `copy`.

    Bones of the chain and targets that have another side change over to it. Raises RigError, and then changes nothing.
    """
    bone = names.other_side(source, armature.pose.bones.keys())
    if bone is None:
        raise RigError(
            "Bone '{bone}' has no counterpart on the other side; choose a bone with a side in its name, such as eye.L.",
            bone=source,
        )
    links = [replace(link, bone=_across(armature, link.bone)) for link in _links(armature, source)]
    axis = _axis_like(armature, source, bone, mirrored=True)
    settings = armature.pose.bones[source].lookat_pd
    wanted = [_target_across(target) for target in targets.listed(settings)]
    named = _named_across(armature, _named(settings))
    return bone, _apply(scene, armature, source, [_Plan(bone, links, axis, wanted, named)])


def _apply(scene: bpy.types.Scene, armature: bpy.types.Object, source: str, plans: Sequence[_Plan]) -> list[BodyLayer]:
    for plan in plans:
        for target in plan.targets or ():
            if target != Target():
                targets.check(armature, [link.bone for link in plan.links], target)
    settings = armature.pose.bones[source].lookat_pd
    keys = (*presets.contents(), "eyes.seed", "eyes.turned_by", "eyes.control_order")
    values = {key: presets.value(settings, key) for key in keys}
    for name in KEYABLE:
        # What is keyed is a performance, and of this moment only.
        if look_at_edit.key_state(armature, source, name, scene.frame_current) == "NONE":
            values[name] = getattr(settings, name)
    left_off: dict[str, BodyLayer] = {}
    for plan in plans:
        owner = armature.pose.bones[plan.bone]
        if not exists_on(owner):
            look_at_edit.add(scene, armature, plan.bone, plan.targets[0].object if plan.targets else None)
        look_at_edit.write_chain(owner.lookat_pd, plan.links)
        wanted = {**values, **plan.named, "aim_axis": plan.aim_axis}
        if plan.targets is None:
            del wanted["active_target"]
        presets.apply(wanted, owner.lookat_pd)
        if plan.targets is not None:
            _write_targets(scene, armature.pose.bones[source], owner.lookat_pd, plan.targets)
        left_off |= {layer.id: layer for layer in _leave_off(armature, plan)}
    return list(left_off.values())


def _write_targets(scene: bpy.types.Scene, source: bpy.types.PoseBone, settings, wanted: Sequence[Target]) -> None:
    """The main target where the source has one, and the additional ones with all that is set beside them."""
    main = wanted[0] if wanted[0] != Target() else targets.listed(settings)[0]
    looks.write(settings, [main, *wanted[1:]])
    for n, (item, like) in enumerate(zip(settings.targets, source.lookat_pd.targets, strict=False)):
        for name, prop in like.bl_rna.properties.items():
            if prop.type not in ("BOOLEAN", "INT", "FLOAT", "ENUM") or prop.is_readonly:
                continue
            state = look_at_edit.key_state(source.id_data, source.name, f"targets[{n}].{name}", scene.frame_current)
            if state == "NONE":
                setattr(item, name, getattr(like, name))


def _leave_off(armature: bpy.types.Object, plan: _Plan) -> list[BodyLayer]:
    """Disable the layers of the body whose bones are in the chain, since a bone can only be in one; returns which."""
    settings = armature.pose.bones[plan.bone].lookat_pd
    chain, axes = [link.bone for link in plan.links], facing.character(armature, plan.bone, stance.skeleton(armature))
    found = [layer for layer in layers.enabled(settings) if not layers.fits(layer, armature, chain, settings, axes)]
    for layer in found:
        layers.switch_off(settings, layer)
    return found


def _named(settings) -> dict[str, str]:
    """What of the settings of body and eyes names bones or shape keys."""
    return {
        f"{group}.{name}": getattr(getattr(settings, group), name)
        for group in presets.GROUPS
        for name, prop in getattr(settings, group).bl_rna.properties.items()
        if prop.type == "STRING" and not prop.is_readonly and name != "name"
    }


def _named_across(armature: bpy.types.Object, named: dict[str, str]) -> dict[str, str]:
    """The same with bones of the other side; the left eye stays the left one."""
    found = {key: _across(armature, word) if word in armature.pose.bones else word for key, word in named.items()}
    left, right = found["eyes.left"], found["eyes.right"]
    if (left, right) != (named["eyes.left"], named["eyes.right"]):
        found["eyes.left"], found["eyes.right"] = right, left
    return found


def _links(armature: bpy.types.Object, bone: str) -> list[ChainDefault]:
    """The chain in a look-at's settings, or the one that is detected where they name none."""
    chain = armature.pose.bones[bone].lookat_pd.chain
    if not len(chain):
        return _detected(armature, bone)
    for item in chain:
        if item.bone not in armature.pose.bones:
            raise no_link(bone, item.bone)
    # The setting keeps the name that files know it by.
    names = {field: "makes_up" if field == "compensates_lag" else field for field in ChainDefault.__dataclass_fields__}
    return [ChainDefault(**{field: getattr(item, name) for field, name in names.items()}) for item in chain]


def _detected(armature: bpy.types.Object, bone: str) -> list[ChainDefault]:
    return detect.find_chain(stance.skeleton(armature), bone, rest.hints(armature))


def _chain_for(armature: bpy.types.Object, source: str, bone: str) -> list[ChainDefault]:
    first, *below = _links(armature, source)
    ancestors = [parent.name for parent in armature.pose.bones[bone].parent_recursive]
    if all(link.bone in ancestors for link in below):
        return [replace(first, bone=bone), *below]
    known = {link.bone: link for link in (first, *below)}
    return [known.get(link.bone, link) for link in _detected(armature, bone)]


def _axis_like(armature: bpy.types.Object, source: str, bone: str, *, mirrored: bool = False) -> str:
    """The aim axis of a bone that points at rest where that of the source does, or where its mirror image does."""
    axis = armature.pose.bones[source].lookat_pd.aim_axis
    if axis == "AUTO":
        return axis
    skeleton = stance.skeleton(armature)
    here, there = (skeleton.rotations[skeleton.index(name)] for name in (source, bone))
    direction = rotation.rotate(here, np.array(AIM_AXES[axis]))
    if mirrored:
        side = rotation.normalize(rotation.cross(*facing.character(armature, source, skeleton)))
        direction = direction - 2.0 * (direction @ side) * side
    local = rotation.rotate(rotation.inverse(there), direction)
    return max(AIM_AXES, key=lambda name: float(local @ np.array(AIM_AXES[name])))


def _across(armature: bpy.types.Object, bone: str) -> str:
    """The bone of the other side, or the bone itself where it is in the middle."""
    return names.other_side(bone, armature.pose.bones.keys()) or bone


def _target_across(target: Target) -> Target:
    item, bone = target.object, target.bone
    if item is None:
        return target
    if bone and item.pose:
        return Target(item, _across(item, bone))
    other = bpy.data.objects.get(bpy.utils.flip_name(item.name))
    return Target(other or item, bone)
