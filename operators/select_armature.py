"""Select a character where something else, or nothing, is selected."""

import bpy

from ..lookat_pd.errors import RigError
from ..rig.look_at import looking
from ..rig.settings import text
from . import polling, selection


def armatures(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The armatures in view, those with look-ats first, then those with the most bones."""
    seen = [item for item in context.view_layer.objects if item.type == "ARMATURE" and item.visible_get()]
    return sorted(seen, key=lambda item: (-len(looking.bones(item)), -len(item.data.bones), item.name_full))


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why no armature can be selected, as a sentence; None if one can."""
    return None if armatures(context) else "No armature is visible; import a character or open the example"


class LOOKAT_PD_OT_select_armature(polling.Explained, bpy.types.Operator):
    """Select this armature and nothing else, in object mode"""

    bl_idname = "lookat_pd.select_armature"
    bl_label = "Select Armature"
    why_not = staticmethod(why_not)

    armature: text(
        "Armature",
        "Armature to select; leave empty for the one with look-ats or the most bones",
        options={"SKIP_SAVE"},
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        found = armatures(context)
        wanted = selection.named_object(context, self.armature) if self.armature else found[0]
        if wanted not in found:
            raise RigError("'{armature}' is not a visible armature; choose one that is.", armature=self.armature)
        selection.select_only(context, wanted)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_select_armature,))
