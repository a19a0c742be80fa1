"""Bake look-ats to actions, with a progress display; Esc cancels without changes."""

from collections.abc import Sequence
from dataclasses import replace

import bpy

from ..lookat_pd.errors import RigError
from ..lookat_pd.message import Message
from ..rig.look_at import edit_live, look_at_bake, looking
from ..rig.look_at import resolve as look_at
from ..rig.sampling import targets
from ..rig.settings import choice, integer, text
from ..translations import messages
from . import drawing, job, polling, reporting, selection

_MUTED = "All look-ats of the armature are muted; unmute the one to bake"
_BAKED = "All look-ats of the armature are baked; press Edit Live Again to change them"
_MOST_LISTED = 12
"""Look-ats that the redo panel and the tooltip list."""


class LOOKAT_PD_OT_bake(job.Bake, bpy.types.Operator):
    """Bake the look-ats of the selected characters to keys on the bones of their chains"""

    bl_idname = "lookat_pd.bake"
    bl_label = "Bake Look-at"

    which: choice(
        "Look-ats",
        "Which look-ats to bake",
        (
            (
                "SELECTED",
                "All Selected",
                "All look-ats of the selected characters, except muted ones; characters who look at each other are "
                "solved together",
            ),
            ("ALL", "All on Armature", "All look-ats of the active armature, except muted ones"),
            ("ACTIVE", "Shown", "Only the look-at displayed in the panel, unless it is muted"),
        ),
    )
    blend_in: integer(
        "Blend In",
        "Frames at the start of the range over which the animation turns into the look-at; 0 for none",
        min=0,
    )
    blend_out: integer(
        "Blend Out", "Frames at the end of the range over which the look-at returns to the animation; 0 for none", min=0
    )
    # What was baked, for the redo panel: baked look-ats are muted and would no longer be listed.
    listed: text(options={"HIDDEN", "SKIP_SAVE"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        # Redo polls before it undoes the bake, while the look-at is still muted by it.
        return polling.poll(cls, why_not(context, but_muted=True))

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        listed = [] if why_not(context) is not None else _names(_chosen(context, properties.which))
        return "\n".join([bpy.app.translations.pgettext_tip(cls.__doc__), *listed])

    def draw(self, context: bpy.types.Context) -> None:
        layout = drawing.prepared(self.layout)
        self.draw_into(layout)
        layout.prop(self, "which")
        if self.which == "ACTIVE":
            layout.label(text=messages.translate(what_is_shown(context)))
        else:
            column = layout.column(align=True)
            for line in self.listed.splitlines():
                column.label(text=line, icon="DOT", translate=False)
        self.draw_frames(layout)
        column = layout.column(align=True)
        column.prop(self, "blend_in")
        column.prop(self, "blend_out")

    def why_not_now(self, context: bpy.types.Context) -> str | None:
        return why_not(context)

    def progress(self, percent: str) -> str:
        return progress(percent)

    def animated(self, context: bpy.types.Context) -> list[bpy.types.Object]:
        return list(dict.fromkeys(armature for armature, _ in _chosen(context, self.which)))

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        self.take_frames(context)
        if self.which == "ACTIVE" and selection.look_at_bone(context).lookat_pd.mute:
            raise RigError(what_is_shown(context))
        chosen = _chosen(context, self.which)
        if not chosen:
            raise RigError("{reason}.", reason=Message(_why_none(context)))
        look_ats = [look_at.resolve(armature, bone) for armature, bone in chosen]
        options = replace(self.bake_options(context), blend_in=self.blend_in, blend_out=self.blend_out)
        self.job = look_at_bake.bake(context.scene, look_ats, options, use_live=True)
        self.listed = "\n".join(_names(chosen))

    def finish(self, context: bpy.types.Context, result: list[look_at_bake.BakeResult]) -> None:
        bones = sum(len(item.look_at.bones) for item in result)
        values = {"what": reporting.bones(bones), **self.baked}
        people = len({item.look_at.armature for item in result})
        if len(result) == 1:
            summary = Message(
                "Baked the look-at on '{bone}' ({what}), frames {first} to {last}, into {where} ({took} s).",
                bone=result[0].look_at.bone,
                **values,
            )
        elif people == 1:
            summary = Message("Baked {what}, frames {first} to {last}, into {where} ({took} s).", **values)
        else:
            summary = Message(
                "Baked {what} of {people} characters, frames {first} to {last}, into {where} ({took} s).",
                people=people,
                **values,
            )
        reporting.report_info(self, summary)


def progress(percent: str) -> str:
    """What the status bar shows during a bake of look-ats."""
    return messages.translate(Message("Baking look-at: {percent} %   Esc: cancel", percent=percent))


def _chosen(context: bpy.types.Context, which: str) -> list[tuple[bpy.types.Object, str]]:
    """The look-ats to bake, as armatures and bones."""
    armature = selection.look_at_armature(context)
    if which == "ACTIVE":
        return [(armature, selection.look_at_bone(context).name)]
    return _awake(_characters(context) if which == "SELECTED" else [armature])


def _why_none(context: bpy.types.Context) -> str:
    """Why there is no look-at to bake, as a sentence."""
    baked = (edit_live.baked(bone.id_data, bone.name) for bone in selection.look_ats(context))
    return _BAKED if any(baked) else _MUTED


def _characters(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The active character first, and then the other selected ones."""
    return list(dict.fromkeys([selection.look_at_armature(context), *selection.selected_armatures(context)]))


def _awake(armatures: Sequence[bpy.types.Object]) -> list[tuple[bpy.types.Object, str]]:
    """The look-ats that are not muted."""
    return [
        (armature, bone.name) for armature in armatures for bone in looking.bones(armature) if not bone.lookat_pd.mute
    ]


def _names(chosen: Sequence[tuple[bpy.types.Object, str]]) -> list[str]:
    """The look-ats as lines, not too many."""
    lines = [f"{armature.name}: {bone}" for armature, bone in chosen]
    return lines if len(lines) <= _MOST_LISTED else [*lines[: _MOST_LISTED - 1], f"… ({len(lines)})"]


def what_is_shown(context: bpy.types.Context) -> str:
    """The look-at that *Shown* bakes, as a sentence, or that it is muted and cannot be baked."""
    bone = selection.look_at_bone(context)
    if bone.lookat_pd.mute:
        if edit_live.baked(bone.id_data, bone.name) is not None:
            return Message("The look-at on '{bone}' is baked; press Edit Live Again to change it.", bone=bone.name)
        return Message("The look-at on '{bone}' is muted; unmute it to bake it.", bone=bone.name)
    return Message("Bakes the look-at on '{bone}'.", bone=bone.name)


def why_not(context: bpy.types.Context, *, but_muted: bool = False, alone: bool = False) -> str | None:
    """The reason why nothing can be baked, as a sentence; None if it can.

    but_muted: allow muted look-ats. alone: leave out the selected characters other than the active one.
    """
    reason = polling.why_no_look_at(context)
    if reason is not None:
        return reason
    armature = selection.look_at_armature(context)
    if not but_muted and not _awake([armature] if alone else _characters(context)):
        return _why_none(context)
    names = (targets.has_any(armature.pose.bones[bone].lookat_pd) for _, bone in _awake([armature]))
    return polling.why_no_target(has_target=all(names))


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_bake,))
