"""Controls of limbs that are no bones of their armature: objects, or bones of other armatures."""

from dataclasses import dataclass, field

import bpy

from ...lookat_pd.errors import RigError
from . import actions, channels, data_paths, editable

_PLACING = ("COPY_TRANSFORMS", "COPY_LOCATION", "FOLLOW_PATH", "CLAMP_TO")


@dataclass(frozen=True)
class OutsideControl(data_paths.Place):
    """An object or a bone that is such a control."""

    name: str = field(kw_only=True)
    """What stands for it among the bones of the armature whose limb it moves; none of them has that name."""

    @property
    def mode(self) -> str:
        """The rotation mode."""
        return self.item.rotation_mode

    def check(self, into: str, *, turns: bool = True) -> None:
        """Raise RigError if it cannot be keyed in that destination. turns: whether its rotation is keyed too."""
        self.check_moves()
        actions.check(self.object, into)
        actions.check_curves(self.object, {self.bone: channels.LOCATION}, into)
        if turns:
            actions.check_curves(self.object, {self.bone: self.mode}, into)

    def check_moves(self) -> None:
        """Raise RigError if its own location does not move it."""
        editable.check_local(self.object)
        if all(self.item.lock_location):
            if not self.bone:
                raise RigError(
                    "Object '{target}' has a locked location; unlock it (Object Properties > Transform).",
                    target=self.name,
                )
            raise RigError("Bone '{bone}' has a locked location; unlock it (Transform > Location).", bone=self.bone)
        if self.bone and self.item.bone.use_connect and self.item.parent is not None:
            raise RigError(
                "Bone '{bone}' is connected to its parent and cannot be moved; disconnect it in Edit Mode (Alt+P).",
                bone=self.bone,
            )
        for constraint in self.item.constraints:
            adds = constraint.type == "COPY_LOCATION" and constraint.use_offset
            if constraint.type in _PLACING and not adds and not constraint.mute and constraint.influence > 0.0:
                raise RigError(
                    "'{target}', which moves a limb, is itself placed by its constraint '{constraint}'; mute that "
                    "constraint, or choose what it follows as the target of the limb.",
                    target=self.name,
                    constraint=constraint.name,
                )


def name_of(armature: bpy.types.Object, item: bpy.types.Object, bone: str) -> str:
    """The name of an outside control of an armature."""
    name = f"{item.name_full}:{bone}" if bone else item.name_full
    while name in armature.data.bones:
        name += "'"
    return name


def destination(owner: bpy.types.ID, into: str) -> str:
    """Where keys of other data go that belong to a bake: a new action where that has none."""
    data = owner.animation_data
    return into if into == "LAYER" or (data is not None and data.action is not None) else "NEW"
