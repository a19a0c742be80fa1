"""Springs: add them to bones that are selected or found, copy and mirror their settings, remove them.

No postponed annotations: Blender reads them.
"""

from collections.abc import Sequence

import bpy

from ..lookat_pd.errors import RigError
from ..lookat_pd.message import Message
from ..rig.animation import editable
from ..rig.detection import names
from ..rig.settings import collection, switch, text
from ..rig.springs import chains, find_chains, springs_edit
from ..rig.springs.chains import SpringChain
from ..translations import messages
from . import drawing, polling, reporting, selection

NONE_FOUND = "No bone is called a tail, hair, an ear, a skirt, a strap or the like; select bones in pose mode"
_ADDED = Message("Added springs to {count} chains of bones.").template
_ADDED_ONE = Message("Added springs to a chain of bones.").template
_WIDTH = 360


def shown(context: bpy.types.Context) -> SpringChain | None:
    """The chain that the panel and the operators work on: that of the active bone, otherwise the first one."""
    item = selection.armature(context)
    if item is None or item.type != "ARMATURE" or item.pose is None:
        return None
    bone = selection.bone(context) if item.mode == "POSE" else None
    own = chains.containing(item, bone.name) if bone is not None else None
    return own or next(chains.on(item), None)


def chosen(context: bpy.types.Context) -> list[SpringChain]:
    """The chains of the selected bones; the shown one where none of them has springs."""
    item, names_of = selection.armature(context), {bone.name for bone in selection.selected_bones(context)}
    every = [] if item is None or item.pose is None else list(chains.on(item))
    found = [chain for chain in every if names_of.intersection(chain.bones)]
    one = shown(context)
    return found or ([] if one is None else [one])


def why_no_character(context: bpy.types.Context) -> str | None:
    """The reason why the armature can have no springs of its own, as a sentence; None if it can."""
    reason = polling.why_no_armature(context)
    return reason or polling.refusal(editable.check_changeable, selection.armature(context))


def why_no_springs(context: bpy.types.Context) -> str | None:
    """The reason why there are no springs to work on, as a sentence; None if there are."""
    reason = why_no_character(context)
    if reason is None and shown(context) is None:
        reason = "Add springs first"
    return reason


def added(count: int) -> Message:
    """What is said of chains that got springs."""
    return Message(_ADDED_ONE if count == 1 else _ADDED, count=count)


class OfSprings(polling.Explained):
    """An operator for the springs of the selected bones."""

    why_not = staticmethod(why_no_springs)


class LookAtFoundChain(bpy.types.PropertyGroup):
    """A chain of bones in the list of those that were found."""

    use: switch("Use", "Add springs to these bones", True)
    bones: text("Bones", "Names of the bones, divided by line breaks")
    preset: text("Preset", "What they are")


class LOOKAT_PD_OT_add_springs(polling.Explained, bpy.types.Operator):
    """Let the selected bones swing, such as a tail or hair; a single one with the bones that hang on it. With no bone selected, choose among those that were found by their names"""  # noqa: E501 - a tooltip

    bl_idname = "lookat_pd.add_springs"
    bl_label = "Add Springs"
    why_not = staticmethod(why_no_character)

    found: collection(LookAtFoundChain, "Found", "Chains of bones that were found", options={"SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        armature = selection.armature(context)
        assert armature is not None, "otherwise why_not gives the reason"
        if self._selected(context):
            return self.execute(context)
        self.found.clear()
        for chain in find_chains.find(armature):
            item = self.found.add()
            item.name, item.use, item.preset = chain.bones[0], chain.is_likely, chain.preset
            item.bones = "\n".join(chain.bones)
        if not len(self.found):
            return reporting.report_error(self, Message("{reason}.", reason=Message(NONE_FOUND)))
        return context.window_manager.invoke_props_dialog(self, width=_WIDTH)

    def draw(self, context: bpy.types.Context) -> None:
        layout = drawing.prepared(self.layout)
        layout.use_property_split = False
        for item in self.found:
            row = layout.row()
            row.prop(item, "use", text="")
            count = item.bones.count("\n") + 1
            text = Message("{name} (1 bone)" if count == 1 else "{name} ({count} bones)", name=item.name, count=count)
            row.label(text=messages.translate(text), translate=False)

    def execute(self, context: bpy.types.Context) -> set[str]:
        armature = selection.armature(context)
        assert armature is not None, "otherwise why_not gives the reason"
        every, presets = self._chains(context, armature)
        if not every:
            raise RigError("{reason}.", reason=Message(NONE_FOUND))
        springs_edit.add(armature, every, presets)
        reporting.report_info(self, added(len(every)))
        return {"FINISHED"}

    def _chains(self, context: bpy.types.Context, armature: bpy.types.Object) -> tuple[list[list[str]], list[str]]:
        """Chains that get springs, and their presets."""
        if len(self.found):
            used = [item for item in self.found if item.use]
            return [item.bones.split("\n") for item in used], [item.preset for item in used]
        selected = self._selected(context)
        if selected:
            every = chains.selected(selected)
            return every, [find_chains.preset_of(armature, bones[0]) for bones in every]
        likely = [chain for chain in find_chains.find(armature) if chain.is_likely]
        return [list(chain.bones) for chain in likely], [chain.preset for chain in likely]

    @staticmethod
    def _selected(context: bpy.types.Context) -> Sequence[bpy.types.PoseBone]:
        return selection.selected_bones(context)


class LOOKAT_PD_OT_springs_remove(OfSprings, bpy.types.Operator):
    """Remove the springs of the selected bones with their settings; baked keys are kept"""

    bl_idname = "lookat_pd.springs_remove"
    bl_label = "Remove Springs"

    def execute(self, context: bpy.types.Context) -> set[str]:
        for chain in chosen(context):
            springs_edit.remove(chain)
        return {"FINISHED"}


def why_no_copy(context: bpy.types.Context) -> str | None:
    """The reason why there is nothing to copy settings to, as a sentence; None if there is."""
    reason = why_no_springs(context)
    if reason is None and len(chosen(context)) < 2:
        reason = "Select bones of further chains with springs"
    return reason


class LOOKAT_PD_OT_springs_copy(polling.Explained, bpy.types.Operator):
    """Copy the settings of the springs of the active bone to the other selected chains"""

    bl_idname = "lookat_pd.springs_copy"
    bl_label = "Copy to Selected Chains"
    why_not = staticmethod(why_no_copy)

    def execute(self, context: bpy.types.Context) -> set[str]:
        source = shown(context)
        assert source is not None, "otherwise why_not gives the reason"
        for chain in chosen(context):
            if chain != source:
                springs_edit.copy(source, chain)
        return {"FINISHED"}


class LOOKAT_PD_OT_springs_mirror(OfSprings, bpy.types.Operator):
    """Copy the springs of the selected bones to the bones of the other side"""

    bl_idname = "lookat_pd.springs_mirror"
    bl_label = "Mirror Springs"

    def execute(self, context: bpy.types.Context) -> set[str]:
        count = 0
        for chain in chosen(context):
            every = chain.armature.data.bones.keys()
            other = [names.other_side(bone, every) for bone in chain.bones]
            if None in other:
                continue
            own = chains.containing(chain.armature, str(other[0]))
            made = own or springs_edit.add(chain.armature, [[str(bone) for bone in other]])[0]
            springs_edit.copy(chain, made)
            if (center := chain.settings.center) in every:
                made.settings.center = names.other_side(center, every) or center
            count += 1
        if not count:
            raise RigError("None of the selected chains has bones on the other side; select one on the left or right.")
        several = "Mirrored the springs of {count} chains of bones."
        text = "Mirrored the springs of a chain of bones." if count == 1 else several
        reporting.report_info(self, Message(text, count=count))
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (
        LookAtFoundChain,
        LOOKAT_PD_OT_add_springs,
        LOOKAT_PD_OT_springs_remove,
        LOOKAT_PD_OT_springs_copy,
        LOOKAT_PD_OT_springs_mirror,
    )
)
