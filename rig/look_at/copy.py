"""Look-ats like another one: on other bones of the armature, and on the bone of the other side."""

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
from .resolve import exists_on
from .settings import AIM_AXES


@dataclass(frozen=True)
class _Plan:
    """A look-at to be made or changed: on which bone, with which chain, aim axis and target."""

    bone: str
    links: list[ChainDefault]
    aim_axis: str
    target: Target


def copy(
    scene: bpy.types.Scene, armature: bpy.types.Object, source: str, bones: Sequence[str], *, with_target: bool = True
) -> None:
    """Give other bones look-ats like that on `source`. Raises RigError, and then changes nothing.

    A bone that hangs on the same chain takes the head's place in it. Any other gets the chain that is detected for it,
    in which bones that are in both chains are as in the source. Keys are not copied.
    """
    settings = armature.pose.bones[source].lookat_pd
    target = Target(settings.target, settings.subtarget) if with_target else Target()
    plans = [
        _Plan(bone, _chain_for(armature, source, bone), _axis_like(armature, source, bone), target) for bone in bones
    ]
    _carry_out(scene, armature, source, plans)


def mirror(scene: bpy.types.Scene, armature: bpy.types.Object, source: str) -> str:
    """Give the bone on the other side a look-at like that on `source`; returns its name.

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
    _carry_out(scene, armature, source, [_Plan(bone, links, axis, _target_across(armature.pose.bones[source]))])
    return bone


def _carry_out(scene: bpy.types.Scene, armature: bpy.types.Object, source: str, plans: Sequence[_Plan]) -> None:
    for plan in plans:
        if plan.target.object is not None:
            targets.check(armature, [link.bone for link in plan.links], plan.target)
    settings = armature.pose.bones[source].lookat_pd
    values = {name: getattr(settings, name) for name in presets.SETTINGS}
    for name in ("use", "influence"):
        # What is keyed is a performance, and of this moment only.
        if look_at_edit.key_state(armature, source, name, scene.frame_current) == "NONE":
            values[name] = getattr(settings, name)
    for plan in plans:
        owner = armature.pose.bones[plan.bone]
        if not exists_on(owner):
            look_at_edit.add(scene, armature, plan.bone, plan.target.object)
        look_at_edit.write_chain(owner.lookat_pd, plan.links)
        presets.apply({**values, "aim_axis": plan.aim_axis}, owner.lookat_pd)
        if plan.target.object is not None:
            owner.lookat_pd.target, owner.lookat_pd.subtarget = plan.target.object, plan.target.bone


def _links(armature: bpy.types.Object, bone: str) -> list[ChainDefault]:
    """The chain in a look-at's settings, or the one that is detected where they name none."""
    chain = armature.pose.bones[bone].lookat_pd.chain
    if not len(chain):
        return _detected(armature, bone)
    for item in chain:
        if item.bone not in armature.pose.bones:
            raise RigError(
                "The chain of the look-at on '{bone}' contains '{name}', which does not exist; remove "
                "it from the chain.",
                bone=bone,
                name=item.bone,
            )
    # The setting keeps the name that files know it by.
    names = {field: "makes_up" if field == "compensates_lag" else field for field in ChainDefault.__dataclass_fields__}
    return [ChainDefault(**{field: getattr(item, name) for field, name in names.items()}) for item in chain]


def _detected(armature: bpy.types.Object, bone: str) -> list[ChainDefault]:
    return detect.find_chain(stance.skeleton(armature), bone, rest.hints(armature))


def _chain_for(armature: bpy.types.Object, source: str, bone: str) -> list[ChainDefault]:
    first, *below = _links(armature, source)
    carrying = [parent.name for parent in armature.pose.bones[bone].parent_recursive]
    if all(link.bone in carrying for link in below):
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


def _target_across(source: bpy.types.PoseBone) -> Target:
    item, bone = source.lookat_pd.target, source.lookat_pd.subtarget
    if item is None:
        return Target()
    if bone and item.pose:
        return Target(item, _across(item, bone))
    other = bpy.data.objects.get(bpy.utils.flip_name(item.name))
    return Target(other or item, bone)
