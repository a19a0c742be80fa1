"""Pick the target of a look-at in the viewport."""

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ..lookat_pd.message import Message
from ..rig.look_at import picking
from ..rig.look_at.directing import looks
from ..rig.sampling import targets
from ..rig.sampling.targets import Target
from ..translations import messages
from . import polling, reporting, selection, viewports

_OF_THE_VIEW = ("MIDDLEMOUSE", "WHEEL", "NDOF", "TRACKPAD", "NUMPAD")


class LOOKAT_PD_OT_pick_target(polling.OfLookAt, bpy.types.Operator):
    """Click what to look at in the viewport: an object, a bone, or another character, of which it is the face"""

    bl_idname = "lookat_pd.pick_target"
    bl_label = "Pick Target"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if context.window is None:
            return reporting.report_error(self, "A target is picked in a window; run this from the 3D viewport.")
        shown = selection.look_at_bone(context)
        # Names: an undo replaces the data.
        self._place = shown.id_data.name, shown.name
        self._said = ""
        context.window_manager.modal_handler_add(self)
        context.window.cursor_modal_set("EYEDROPPER")
        self._say(context, None)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if event.type in ("ESC", "RIGHTMOUSE") and event.value == "PRESS":
            self._end(context)
            return {"CANCELLED"}
        if event.type.startswith(_OF_THE_VIEW):
            return {"PASS_THROUGH"}
        if event.type not in ("MOUSEMOVE", "LEFTMOUSE"):
            return {"RUNNING_MODAL"}
        found = self._under(context, event)
        self._say(context, found)
        if event.type != "LEFTMOUSE" or event.value != "PRESS" or found is None:
            return {"RUNNING_MODAL"}
        self._end(context)
        return self._take(context, found)

    def cancel(self, context: bpy.types.Context) -> None:
        """Called when Blender quits or loads another file."""
        self._end(context)

    def _under(self, context: bpy.types.Context, event: bpy.types.Event) -> Target | None:
        place, armature = viewports.view_under(context.window, event.mouse_x, event.mouse_y), self._armature(context)
        if place is None or armature is None:
            return None
        at = event.mouse_x - place[0].x, event.mouse_y - place[0].y
        return picking.under(context, *place, at, armature)

    def _armature(self, context: bpy.types.Context) -> bpy.types.Object | None:
        item = context.scene.objects.get(self._place[0])
        return item if item is not None and self._place[1] in item.pose.bones else None

    def _take(self, context: bpy.types.Context, found: Target) -> set[str]:
        armature, bone = self._armature(context), self._place[1]
        looks.check(armature, bone, found)
        settings = armature.pose.bones[bone].lookat_pd
        looks.write(settings, [found, *targets.listed(settings)[1:]])
        reporting.report_info(self, Message("'{bone}' looks at '{target}'.", bone=bone, target=found.label))
        return {"FINISHED"}

    def _say(self, context: bpy.types.Context, found: Target | None) -> None:
        what = iface_("Click what to look at") if found is None else found.label
        text = messages.translate(Message("Target: {what}   Esc: cancel", what=what))
        if text != self._said:
            self._said = text
            context.workspace.status_text_set(text)

    @staticmethod
    def _end(context: bpy.types.Context) -> None:
        context.window.cursor_modal_restore()
        context.workspace.status_text_set(None)


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_pick_target,))
