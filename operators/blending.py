"""Properties of transition operators: the blend time, and whether to assign the result."""

import bpy

from ..lookat_pd.errors import RigError
from ..lookat_pd.message import Message
from ..lookat_pd.transitions import methods, profiles
from ..rig.settings import switch, text
from ..rig.transitions import blend_profiles
from ..rig.transitions.lock_feet import WHERE_POSSIBLE, has_legs
from ..rig.transitions.settings import AutoBlend, foot_locking, has_damping
from ..rig.transitions.splice import Blend
from . import reporting, selection


class FootLocking:
    """Mixin of operators that join or smooth: planted feet."""

    properties: bpy.types.OperatorProperties
    lock_feet: foot_locking()

    @property
    def feet(self) -> bool | None:
        """As `lock_feet` of what joins and smooths: where a rig cannot, it is done without."""
        return WHERE_POSSIBLE if self.lock_feet else False

    def check_feet(self, context: bpy.types.Context) -> None:
        """Lock no feet of a rig that has none, and report it where it was asked for."""
        if not self.lock_feet or has_legs(selection.armature(context)):
            return
        if self.properties.is_property_set("lock_feet"):
            reporting.report_info(self, "No legs were found, so no feet are locked")
        self.lock_feet = False

    def report_unlocked(self, unlocked: RigError | None) -> None:
        """Say why feet are not locked."""
        if unlocked is not None:
            reporting.report_info(self, Message("Feet are not locked: {reason}", reason=unlocked))


class Blended(AutoBlend):
    """Mixin. The operator defines `blend` itself, because its tooltip differs."""

    blend: float
    profile: text("Blend Profile", "Rows of a blend profile as JSON, for bones that blend differently; empty for none")

    @property
    def seconds(self) -> float | None:
        """The blend time [s]; None for automatic."""
        return None if self.use_auto_blend else self.blend

    def how(self, context: bpy.types.Context) -> Blend:
        """The settings of the blend. Raises LookAtError."""
        rows = profiles.read_text(self.profile)
        return Blend(
            self.seconds,
            getattr(self, "method", methods.default().identifier),
            blend_profiles.fitted(rows, selection.armature(context)),
            getattr(self, "damping_ratio", 1.0),
        )

    def draw_blend(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "use_auto_blend")
        row = layout.row()
        row.active = not self.use_auto_blend
        row.prop(self, "blend")


def draw_method(layout: bpy.types.UILayout, settings: bpy.types.bpy_struct) -> None:
    """The method of settings or of an operator, and its damping ratio where it has one."""
    layout.prop(settings, "method")
    if has_damping(settings):
        layout.prop(settings, "damping_ratio")


def draw_repeat(layout: bpy.types.UILayout, settings: bpy.types.bpy_struct) -> None:
    """How many times the destination plays, or until which frame, of settings or of an operator."""
    column = layout.column(align=True)
    row = column.row()
    row.active = not settings.use_until
    row.prop(settings, "repeat")
    row = column.row(heading="Until Frame")
    row.prop(settings, "use_until", text="")
    row = row.row()
    row.active = settings.use_until
    row.prop(settings, "until", text="")


class Played:
    """Mixin of operators that create an action."""

    assign: switch("Use Result", "Assign the new action to the armature; the current action is kept", True)
