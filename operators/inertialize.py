"""Join two actions into one, without a pop at the cut."""

import time
from collections.abc import Callable, Generator

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ..lookat_pd.errors import RigError
from ..lookat_pd.message import Message, joined
from ..lookat_pd.transitions import methods
from ..rig.animation import key_settings
from ..rig.feet.contact_report import ContactReport
from ..rig.settings import integer, switch
from ..rig.transitions import join, profile_settings, sequence, splice
from ..rig.transitions.loop_feet import LoopLockResult
from ..rig.transitions.settings import CURRENT_ACTION, Blending, PoseSource, Repeating, TwoActions, blends
from ..rig.transitions.visual import visual_join
from ..translations import messages
from . import drawing, polling, reporting, selection
from .blending import Blended, FootLocking, Played, draw_method, draw_repeat
from .job import ModalJob
from .key_choice import KeyChoice

_REPEATING = ("repeat", "use_until", "until")
_BLENDING = ("pose_source", "use_auto_blend", "blend", "root", "method", "damping_ratio", *key_settings.NAMES)


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why nothing can be joined, as a sentence; None if it can."""
    reason = polling.why_no_armature(context)
    if reason is not None:
        return reason
    if not bpy.data.actions:
        return "There are no actions to join; animate the armature, or append actions"
    data = selection.armature(context).animation_data
    if data is not None and data.use_tweak_mode:
        return "Leave NLA tweak mode"
    return None


Making = Callable[[splice.Blend], Generator[float, None, join.Joined]]
"""Joins with a blend; yields the completed fraction."""


class Joining(Blended, FootLocking, PoseSource, KeyChoice, ModalJob):
    """Mixin of operators that join actions, of keys or of the visual pose."""

    _says_keys = True

    @property
    def locks_keys(self) -> bool | None:
        """`feet` of keys: in the visual pose, what deforms is moved instead."""
        return self.feet if self.pose_source == "KEYS" else False

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Joining actions: {percent} %   (Esc cancels)", percent=percent))

    def start_join(self, context: bpy.types.Context, make: Making) -> None:
        """Begin with what `make` joins with a blend. Raises LookAtError."""
        self.job = self.joined(context.scene, selection.armature(context), make, self.how(context))

    def joined(
        self,
        scene: bpy.types.Scene,
        armature: bpy.types.Object,
        make: Making,
        blend: splice.Blend,
    ) -> Generator[float, None, join.Joined]:
        """What `make` joins with a blend of keys or of the visual pose."""
        yield 0.0
        if self.pose_source == "KEYS":
            return (yield from make(blend))
        return (yield from visual_join.joined(scene, armature, make, blend, lock_feet=self.feet))

    def finish(self, context: bpy.types.Context, result: join.Joined) -> None:
        self.report_unlocked(result.unlocked)
        reporting.report_info(self, self.summary(result))

    def summary(self, result: join.Joined) -> str:
        # The blend time is called `seconds` too.
        return summary(result, time.perf_counter() - self._started, self.written)


class LOOKAT_PD_OT_inertialize(TwoActions, Blending, Repeating, Played, Joining, bpy.types.Operator):
    """Join two actions into a new one: the source up to the cut, then the destination, without a pop"""

    bl_idname = "lookat_pd.inertialize"
    bl_label = "Join Actions"
    why_not = staticmethod(why_not)

    source_frame: integer(
        "Cut at Frame", "First frame at which the source no longer plays; the current frame if not set"
    )
    destination_frame: integer(
        "Entry Frame", "Frame of the destination that plays at the cut; its first frame if not set"
    )

    use_dialog: switch("Dialog", "Show the settings first", True, options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if not self.use_dialog:
            return super().invoke(context, event)
        settings = context.scene.lookat_pd_transition
        for name in ("source", "destination", *_BLENDING, *_REPEATING, "lock_feet"):
            if not self.properties.is_property_set(name):
                setattr(self, name, getattr(settings, name))
        if not self.properties.is_property_set("profile"):
            self.profile = profile_settings.used(settings)
        if not self.source:
            self.source = current_action(context)
        if not self.properties.is_property_set("source_frame"):
            is_set = bool(settings.destination)
            self.source_frame = settings.source_frame if is_set else context.scene.frame_current
            if is_set:
                self.destination_frame = settings.destination_frame
        return context.window_manager.invoke_props_dialog(self, width=360)

    def draw(self, context: bpy.types.Context) -> None:
        layout = drawing.prepared(self.layout)
        for action, frame in (("source", "source_frame"), ("destination", "destination_frame")):
            column = layout.column(align=True)
            column.prop(self, action, icon="ACTION")
            column.prop(self, frame)
        draw_repeat(layout, self)
        layout.prop(self, "pose_source")
        draw_method(layout, self)
        column = layout.column(align=True)
        column.active = blends(self)
        self.draw_blend(column)
        layout.prop(self, "root")
        layout.prop(self, "lock_feet")
        self.draw_keys(layout)
        layout.prop(self, "assign")

    def start(self, context: bpy.types.Context) -> None:
        armature = selection.armature(context)
        source = find_action(self.source or current_action(context), "source")
        destination = find_action(self.destination, "destination")
        if not self.properties.is_property_set("source_frame"):
            self.source_frame = context.scene.frame_current
        if not self.properties.is_property_set("destination_frame"):
            self.destination_frame = sequence.frame_range(armature, sequence.ClipRef(destination, 0))[0]
        self.check_feet(context)
        refs = join.ClipRef(source, self.source_frame), join.ClipRef(destination, self.destination_frame)
        options = {
            "root": self.root,
            "repeat": self.repeat,
            "until": self.until if self.use_until else None,
            "assign": self.assign,
            "lock_feet": self.locks_keys,
            "scene": context.scene,
            "writer": self.writer(),
        }
        if not self.use_dialog:
            # The result becomes the current action: the field of the panel goes on showing what is joined.
            context.scene.lookat_pd_transition.source = source.name
        self.start_join(context, lambda how: join.joining(armature, *refs, how, **options))


def current_action(context: bpy.types.Context) -> str:
    """Name of the action assigned to the armature; empty if there is none."""
    armature = selection.armature(context)
    data = armature.animation_data if armature is not None else None
    return data.action.name if data and data.action else ""


def find_action(name: str, role: str) -> bpy.types.Action:
    """The action of that name. Raises RigError if there is none."""
    if not name:
        raise RigError("The {role} of the transition is empty; choose an action.", role=Message(role))
    action = bpy.data.actions.get(name)
    if action is None:
        raise RigError(
            "There is no action '{name}' for the {role}; choose one that exists.", name=name, role=Message(role)
        )
    return action


def locked(feet: ContactReport | LoopLockResult | None) -> Message | str:
    """What locking the feet did, as a part of a sentence."""
    return Message("; {feet} foot contacts locked", feet=feet.stances) if feet else ""


def summary(result: join.Joined, seconds: float, keys: Message | None = None) -> str:
    """The result, as a sentence. keys: how many it has."""
    cut = joined(
        ", ",
        (
            Message(
                "frame {cut} ({blend:.2f} s, {method})",
                cut=cut,
                blend=blend,
                method=iface_(methods.METHODS[how].label),
            )
            for cut, blend, how in zip(result.cuts, result.blends, result.methods, strict=True)
        ),
    )
    one, several = "; 1 bone is missing in this rig", "; {missing} bones are missing in this rig"
    count = len(result.missing)
    missing = Message(one if count == 1 else several, missing=count) if count else ""
    if result.converted:
        bones = sequence.listed(result.converted)
        missing = Message("{missing}; converted from another rotation mode: {bones}", missing=missing, bones=bones)
    placed = Message(", placed by '{root}'", root=result.root) if result.root else ""
    return Message(
        "'{action}': {bones}, frames {first} to {last}, joined at {cut}{placed}{feet}{keys}{missing} "
        "({seconds:.2f} s).",
        action=result.action.name,
        bones=reporting.bones(result.bones),
        first=result.first,
        last=result.last,
        cut=cut,
        placed=placed,
        feet=locked(result.feet),
        keys=Message("; {keys}", keys=keys) if keys else "",
        missing=missing,
        seconds=seconds,
    )


_register, _unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_inertialize,))


def register() -> None:
    _register()
    CURRENT_ACTION.append(current_action)


def unregister() -> None:
    CURRENT_ACTION.remove(current_action)
    _unregister()
