"""Adding springs to chains of bones, copying and mirroring their settings, and removing them."""

from collections.abc import Sequence

import bpy
import numpy as np

from ..animation import actions, editable
from . import along_chain, chains, collider_settings, settings
from .chains import SpringChain
from .springs_layer import SpringLayer

_SIZE = 0.1
"""Radius of a new collider [m]."""


def add(armature: bpy.types.Object, every: Sequence[Sequence[str]], presets: Sequence[str] = ()) -> list[SpringChain]:
    """Give chains of bones springs. Raises RigError, and then changes nothing.

    every: their bones, the first one of each first. presets: what each is, the first preset without.
    """
    editable.check_changeable(armature)
    made = [SpringChain(armature, bones[0]) for bones in every]
    known = list(chains.on(armature))
    taken = {bone: chain.bone for chain in known for bone in chain.bones}
    for bones in every:
        for bone in bones:
            if bone in taken:
                raise chains.already_swings(bone, taken[bone])
            taken[bone] = bones[0]
            SpringChain(armature, bone).check()
    for n, (chain, bones) in enumerate(zip(made, every, strict=True)):
        s = chain.settings
        s.bones.clear()
        for bone in bones:
            s.bones.add().bone = bone
        s.preset = presets[n] if n < len(presets) and presets[n] else settings.MATERIALS[0].id
        s.exists = True
    chains.seen.see([armature])
    return made


def remove(chain: SpringChain) -> None:
    """Take springs away with their settings, as if they had never been there."""
    actions.remove_curves(chain.armature, chain.settings_path)
    s = chain.settings
    s.exists = False
    for name in s.bl_rna.properties.keys():
        if name not in ("rna_type", "name"):
            s.property_unset(name)
    if not any(True for _ in chains.on(chain.armature)):
        SpringLayer(chain.armature).remove()


def copy(source: SpringChain, other: SpringChain) -> None:
    """Let a chain swing as another one does, and its bones as those of the other one at the same parts of it."""
    for name in other.settings.bl_rna.properties.keys():
        if name not in ("rna_type", "name", "exists", "mute", "bones"):
            setattr(other.settings, name, getattr(source.settings, name))
    mine, yours = source.items, other.items
    begins, ends = along_chain.places(len(mine)), along_chain.places(len(yours))
    for name in settings.OF_BONE if mine else ():
        found = np.interp(ends, begins, [getattr(item, name) for item in mine])
        for item, value in zip(yours, found, strict=True):
            setattr(item, name, value)


def add_collider(scene: bpy.types.Scene, shape: str) -> bpy.types.Object:
    """A new empty at the 3D cursor that is a collider."""
    item = bpy.data.objects.new("Collider", None)
    scene.collection.objects.link(item)
    item.empty_display_size = _SIZE
    item.empty_display_type = "SPHERE" if shape == "SPHERE" else "SINGLE_ARROW"
    item.location = scene.cursor.location
    own = getattr(item, collider_settings.NAME)
    own.shape, own.exists = shape, True
    return item


def make_colliders(bones: Sequence[bpy.types.PoseBone]) -> None:
    """Make bones colliders."""
    for bone in bones:
        getattr(bone, collider_settings.NAME).exists = True
