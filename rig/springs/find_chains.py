"""Finds the bones of a rig that want to swing, by their names and by what hangs on what."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import bpy

from ..detection import names, vocabulary
from ..detection.names import BoneName
from ..layers.bone_chains import lines
from . import chains

_LONG = 0.12
"""Length of hair, by the height of the rig, from which on it is long."""
_LARGE = 0.08
"""Length of ears, by the height of the rig, from which on they are worth it."""


@dataclass(frozen=True)
class FoundChain:
    """Bones that want to swing."""

    bones: tuple[str, ...]
    """The first one first."""
    preset: str
    """What they are."""
    is_likely: bool
    """Whether they want to swing in most animations."""


def find(armature: bpy.types.Object) -> list[FoundChain]:
    """The chains of a rig that want to swing and have no springs yet, in the order of the bones."""
    bones = armature.data.bones
    taken = {bone for chain in chains.on(armature) for bone in chain.bones}
    kinds = _kinds(armature, taken)
    height = max((_height(bone) for bone in bones), default=0.0) - min((_height(bone) for bone in bones), default=0.0)
    found = []
    for line in _lines(bones, kinds):
        length = sum(bones[name].length for name in line)
        preset, is_likely = kinds[line[0]], True
        if preset == "LONG_HAIR" and length < _LONG * height:
            preset = "SHORT_HAIR"
        if preset == "EAR":
            is_likely = length > _LARGE * height
        found.append(FoundChain(tuple(line), preset, is_likely and preset != "SOFT"))
    return found


def preset_of(armature: bpy.types.Object, bone: str) -> str:
    """What a bone is by its name, "" if that says nothing."""
    return _kinds(armature, frozenset()).get(bone, "")


def called(armature: bpy.types.Object) -> set[str]:
    """Bones that are called what swings, those that deform for controls, too."""
    read = _read(armature)
    tails = {f"{layer}{name}" for name in _tails(armature, read) for layer in ("", *vocabulary.RIGIFY_LAYERS)}
    return tails | {name for name, words in read.items() if _swings(name, words)}


def _read(armature: bpy.types.Object) -> dict[str, BoneName]:
    """What the names of the bones say."""
    every = armature.data.bones.keys()
    return dict(zip(every, names.read_names(every), strict=True))


def _swings(name: str, read: BoneName) -> str:
    """What a bone is that is called what swings, else ""."""
    for preset, words, signs in vocabulary.SWINGING:
        if read.has(words) or any(sign in name for sign in signs):
            return preset
    return ""


def _kinds(armature: bpy.types.Object, taken: set[str] | frozenset[str]) -> dict[str, str]:
    """Presets by the names of the bones that may swing."""
    every = _read(armature)
    wanted = _tails(armature, every) | {name: preset for name, read in every.items() if (preset := _preset(name, read))}
    free = (name for name in every if name not in taken and _is_free(armature.pose.bones[name]))
    return {name: wanted[name] for name in free if name in wanted}


def _tails(armature: bpy.types.Object, read: Mapping[str, BoneName]) -> dict[str, str]:
    """Controls that Rigify makes of a tail, with their presets, also where its bones are called those of a spine: the
    first one hangs on a bone of Rigify's own that is called a tail, and each follows the one on which it hangs."""
    found: dict[str, str] = {}
    for bone in armature.data.bones:
        above = bone.parent.name if bone.parent is not None else ""
        if not any(map(chains.follows_master, armature.pose.bones[bone.name].constraints)):
            continue
        of_rigify = above.startswith(tuple(vocabulary.RIGIFY_LAYERS))
        preset = _swings(above, read[above]) if of_rigify else found.get(above)
        if preset:
            found[bone.name] = preset
    return found


def _preset(name: str, read: BoneName) -> str:
    if name.startswith(tuple(vocabulary.RIGIFY_LAYERS)) or read.has(vocabulary.LEAF, vocabulary.NO_SWING):
        return ""
    return _swings(name, read)


def _is_free(bone: bpy.types.PoseBone) -> bool:
    """Whether nothing but its parent and its keys moves a bone."""
    return all(map(chains.leaves_swing, bone.constraints))


def _lines(bones: Sequence[bpy.types.Bone], kinds: Mapping[str, str]) -> Iterator[list[str]]:
    """Lines of bones of one kind that hang on each other; where one forks, the longest branch goes on."""
    heads = [bone for bone in bones if bone.name in kinds and not _goes_on(bone, kinds)]

    def below(bone: bpy.types.Bone) -> list[bpy.types.Bone]:
        following = [child for child in bone.children if _goes_on(child, kinds)]
        return sorted(following, key=lambda child: -len(child.children_recursive))

    for line in lines(heads, below):
        yield [bone.name for bone in line]


def _goes_on(bone: bpy.types.Bone, kinds: Mapping[str, str]) -> bool:
    """Whether a bone goes on with what its parent is."""
    kind = kinds.get(bone.name)
    return kind is not None and bone.parent is not None and kinds.get(bone.parent.name) == kind


def _height(bone: bpy.types.Bone) -> float:
    return bone.tail_local.z
