"""Clips in place, clips that travel, and clips that follow a path."""

import math

import bpy

from ..lookat_pd.message import Message
from ..rig.animation.key_settings import KeptKeys
from ..rig.sampling.action_names import action_name
from ..rig.settings import text
from ..rig.transitions import locomotion, path_following
from ..rig.transitions.locomotion import Travelled
from ..rig.transitions.path_following import PathFollowed
from ..rig.transitions.travel_settings import PATH, Eased, Removing, Travelling, Turning
from ..translations import messages
from . import drawing, inertialize, reporting, selection
from .blending import Played
from .job import ModalJob
from .key_choice import KeyChoice


def _action(operator, context: bpy.types.Context) -> bpy.types.Action:
    """The action of an operator, or the current one. Raises RigError."""
    return inertialize.find_action(operator.action or inertialize.current_action(context), "action")


class Changing:
    """Mixin of operators that change an action."""

    action: action_name("Action", "Action to change; leave empty for the current action")


class LOOKAT_PD_OT_in_place(Changing, KeptKeys, KeyChoice, ModalJob, Removing, Played, bpy.types.Operator):
    """Make a copy of the current action in which the character stays in place"""

    bl_idname = "lookat_pd.in_place"
    bl_label = "Make In Place"
    why_not = staticmethod(inertialize.why_not)

    def draw(self, context: bpy.types.Context) -> None:
        layout = drawing.prepared(self.layout)
        layout.prop(self, "action", icon="ACTION")
        layout.prop(self, "removed")
        self.draw_keys(layout)
        layout.prop(self, "assign")

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Making in place: {percent} %   Esc: cancel", percent=percent))

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        armature, action = selection.armature(context), _action(self, context)
        options = {"assign": self.assign, "writer": self.writer()}
        self.job = locomotion.making_in_place(context.scene, armature, action, self.removed, **options)

    def finish(self, context: bpy.types.Context, result: Travelled) -> None:
        reporting.report_info(
            self,
            Message(
                "'{action}': removed {speed:.2f} m/s and {turn:.1f}° per second from the root.",
                action=result.action.name,
                speed=result.speed.speed,
                turn=math.degrees(result.speed.turn),
            ),
        )


class LOOKAT_PD_OT_travelling(Changing, KeptKeys, KeyChoice, ModalJob, Travelling, Turning, Played, bpy.types.Operator):
    """Make a copy of the current action in which the character moves over the ground"""

    bl_idname = "lookat_pd.travelling"
    bl_label = "Make Travelling"
    why_not = staticmethod(inertialize.why_not)

    def draw(self, context: bpy.types.Context) -> None:
        layout = drawing.prepared(self.layout)
        layout.prop(self, "action", icon="ACTION")
        draw_speed(layout, self)
        self.draw_keys(layout)
        layout.prop(self, "assign")

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Making travelling: {percent} %   Esc: cancel", percent=percent))

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        armature, action = selection.armature(context), _action(self, context)
        speed = None if self.use_feet_speed else locomotion.Speed(self.speed, self.direction, self.turn_speed)
        options = {"turns": self.use_feet_turn, "assign": self.assign, "writer": self.writer()}
        self.job = locomotion.making_travelling(context.scene, armature, action, speed, **options)

    def finish(self, context: bpy.types.Context, result: Travelled) -> None:
        reporting.report_info(
            self,
            Message(
                "'{action}' travels at {speed:.2f} m/s, {direction:.0f}° to the left, and turns {turn:.1f}° per "
                "second.",
                action=result.action.name,
                speed=result.speed.speed,
                direction=math.degrees(result.speed.direction),
                turn=math.degrees(result.speed.turn),
            ),
        )


def draw_speed(layout: bpy.types.UILayout, settings: bpy.types.bpy_struct) -> None:
    """The speed of a clip that travels, of settings or of an operator."""
    layout.prop(settings, "use_feet_speed")
    if settings.use_feet_speed:
        layout.prop(settings, "use_feet_turn")
        return
    column = layout.column(align=True)
    for name in ("speed", "direction", "turn_speed"):
        column.prop(settings, name)


class LOOKAT_PD_OT_follow_path(KeptKeys, KeyChoice, ModalJob, Travelling, Eased, Played, bpy.types.Operator):
    """Repeat the current action along a path: the character goes as far as its steps do, and faces along the path"""

    bl_idname = "lookat_pd.follow_path"
    bl_label = "Follow Path"
    why_not = staticmethod(inertialize.why_not)

    action: action_name("Action", "Action to repeat; leave empty for the current action")
    path: text("Path", PATH)

    def draw(self, context: bpy.types.Context) -> None:
        layout = drawing.prepared(self.layout)
        layout.prop(self, "action", icon="ACTION")
        layout.prop_search(self, "path", context.scene, "objects", icon="OBJECT_DATA")
        layout.prop(self, "use_feet_speed")
        if not self.use_feet_speed:
            layout.prop(self, "speed")
        for name in ("ease", "lock_path_feet", "assign"):
            layout.prop(self, name)
        self.draw_keys(layout)

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Following the path: {percent} %   Esc: cancel", percent=percent))

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        self.job = path_following.follow(
            context.scene,
            selection.armature(context),
            _action(self, context),
            path_following.find_path(context.scene, self.path),
            speed=None if self.use_feet_speed else self.speed,
            ease=self.ease,
            lock_feet=self.lock_path_feet,
            assign=self.assign,
            writer=self.writer(),
        )

    def finish(self, context: bpy.types.Context, result: PathFollowed) -> None:
        reporting.report_info(
            self,
            Message(
                "'{action}': {cycles:.1f} cycles over {distance:.2f} m, frames {first} to {last}{feet}.",
                action=result.action.name,
                cycles=result.cycles,
                distance=result.distance,
                first=result.first,
                last=result.last,
                feet=inertialize.locked(result.feet),
            ),
        )


register, unregister = bpy.utils.register_classes_factory(
    (LOOKAT_PD_OT_in_place, LOOKAT_PD_OT_travelling, LOOKAT_PD_OT_follow_path)
)
