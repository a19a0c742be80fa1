"""Chains of bones with springs: which there are, and what is wrong with them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import bpy

from ...lookat_pd.errors import LookAtError, RigError
from ..animation import data_paths
from ..animation.editable import check_bones, check_local
from ..animation.stored_settings import read
from ..layers.bone_chains import SeenBones, lines
from ..sampling import own_data
from . import colliders
from .settings import NAME, SpringBone, SpringSettings
from .springs_layer import SpringLayer

_LEAST = 1e-5
"""Shortest length of a bone that can swing. One that is made without a length has a fifth of that in Blender."""

seen = SeenBones()


@dataclass(frozen=True)
class SpringChain:
    """A chain of bones with springs, known by its first bone, which has the settings."""

    armature: bpy.types.Object
    bone: str

    @property
    def item(self) -> bpy.types.PoseBone:
        return self.armature.pose.bones[self.bone]

    @property
    def settings(self) -> SpringSettings:
        return getattr(self.item, NAME)

    @property
    def bones(self) -> tuple[str, ...]:
        """Its bones, the first one first."""
        return tuple(item.bone for item in read(self.item, NAME).bones) or (self.bone,)

    @property
    def moved(self) -> tuple[str, ...]:
        """Its bones that move away from their parents."""
        return self.bones[1:] if self.settings.stretch > 0.0 else ()

    @property
    def items(self) -> list[SpringBone]:
        """What each bone has of its own."""
        return list(read(self.item, NAME).bones)

    @property
    def settings_path(self) -> str:
        """Data path from the armature object to the settings, with the dot behind it."""
        return f"{data_paths.bone_path(self.bone)}.{NAME}."

    def check_bone(self) -> None:
        """Raise RigError where its first bone cannot swing."""
        if self.item.bone.length < _LEAST:
            raise RigError(
                "Bone '{name}' of '{armature}' has no length and cannot swing; make it longer in edit mode.",
                name=self.bone,
                armature=self.armature.name,
            )

    def check(self) -> None:
        """Raise RigError where it cannot swing."""
        check_local(self.armature)
        bones = self.bones
        if bones[0] != self.bone:
            raise RigError(
                "The springs of bone '{bone}' were made for a bone '{name}'; remove them and add them anew.",
                bone=self.bone,
                name=bones[0],
            )
        for name in bones:
            if name not in self.armature.pose.bones:
                raise RigError(
                    "The springs of bone '{bone}' have a bone '{name}', which '{armature}' does not have; remove them "
                    "and add them anew.",
                    bone=self.bone,
                    name=name,
                    armature=self.armature.name,
                )
            SpringChain(self.armature, name).check_bone()
        check_bones(self.armature, bones)
        for name in self.moved:
            bone = self.armature.data.bones[name]
            if bone.use_connect:
                raise RigError(
                    "Bone '{name}' is connected to its parent and cannot move away from it; turn off Connected in edit "
                    "mode, or set Stretch to 0.",
                    name=name,
                )
        own = {collider.bone for collider in colliders.of_object(self.armature)}
        for name in bones if self.settings.collide else ():
            if name in own:
                raise RigError(
                    "Bone '{name}' is a collider of its own chain; remove it as a collider, or turn off Collide.",
                    name=name,
                )


def on(item: bpy.types.Object) -> Iterator[SpringChain]:
    """The chains with springs of an object, muted ones too."""
    for bone in item.pose.bones if item.pose else ():
        if bone.is_property_set(NAME) and getattr(bone, NAME).exists:
            yield SpringChain(item, bone.name)


def follow_renames(item: bpy.types.Object) -> None:
    """Where a bone was renamed, write its new name into the settings of the springs that name it."""
    every = list(on(item))
    if every and seen.have_changed(item):
        # Blender renames bones in the keys too, and 4.5 goes on with the names that it had.
        SpringLayer(item).evaluate()
    for chain in every:
        s = chain.settings
        for own in s.bones:
            if now := seen.new_name(item, own.bone):
                own.bone = now
        if now := seen.new_name(item, s.center):
            s.center = now
    if every:
        seen.see([item])


def containing(item: bpy.types.Object, bone: str) -> SpringChain | None:
    """The chain that has a bone."""
    return next((chain for chain in on(item) if bone in chain.bones), None)


def swinging(item: bpy.types.Object) -> tuple[list[SpringChain], dict[str, str]]:
    """The chains of an object that are not muted and can swing, and what is wrong with others, by their first bones.

    A bone swings in one chain only.
    """
    good: list[SpringChain] = []
    errors: dict[str, str] = {}
    for chain in on(item):
        if chain.settings.mute:
            continue
        try:
            chain.check()
            check_apart(chain, good)
            good.append(chain)
        except LookAtError as error:
            errors[chain.bone] = str(error)
    return good, errors


def to_bake(item: bpy.types.Object) -> list[SpringChain]:
    """The chains of an object that are not muted. Raises RigError where one of them cannot swing."""
    good, errors = swinging(item)
    for chain in on(item):
        if chain.bone in errors:
            chain.check()
            check_apart(chain, good)
    return good


def leaves_swing(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint leaves a bone the swing that is added before it.

    One of a layer of the extension does, and one that adds a rotation before the bone's own, as controls of tails by
    Rigify have it to follow a master.
    """
    if own_data.is_own_constraint(constraint) or constraint.mute or constraint.influence == 0.0:
        return True
    return follows_master(constraint)


def follows_master(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint adds the rotation of another bone before the bone's own."""
    is_before = constraint.type == "COPY_ROTATION" and constraint.mix_mode == "BEFORE"
    return is_before and constraint.owner_space == "LOCAL"


def check_apart(chain: SpringChain, others: Sequence[SpringChain]) -> None:
    """Raise RigError where a bone of a chain is in another one."""
    taken = {bone: other for other in others for bone in other.bones if other != chain}
    for bone in chain.bones:
        if bone in taken:
            raise already_swings(bone, taken[bone].bone)


def already_swings(bone: str, first: str) -> RigError:
    """The error about a bone that is in a chain already, with the first bone of that."""
    return RigError(
        "Bone '{name}' already swings with the springs of '{bone}'; remove those first.", name=bone, bone=first
    )


def selected(bones: Sequence[bpy.types.PoseBone]) -> list[list[str]]:
    """Selected bones of one armature as chains, each from its first bone on: lines of bones that hang on each other.

    One that is alone takes the bones that hang on it, as long as there is one each.
    """
    names = {bone.name for bone in bones}
    below: dict[str, list[bpy.types.PoseBone]] = {}
    heads = []
    for bone in bones:
        above = next((parent.name for parent in bone.parent_recursive if parent.name in names), "")
        below.setdefault(above, []).append(bone)
        if not above:
            heads.append(bone)
    every = lines(heads, lambda bone: below.get(bone.name, []))
    return [tip_of(line[0]) if len(line) == 1 else [bone.name for bone in line] for line in every]


def tip_of(bone: bpy.types.PoseBone) -> list[str]:
    """A bone with those that hang on it, as long as there is one each."""
    line = [bone]
    while len(line[-1].children) == 1:
        line.append(line[-1].children[0])
    return [item.name for item in line]
