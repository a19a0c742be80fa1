"""What operators of transitions share: how long a blend lasts, and who plays the result."""

import bpy
from bpy.props import BoolProperty

from ..rig.transitions.settings import AutoBlend


class Blended(AutoBlend):
    """Mixin. `blend` is a property of the operator's own, for its tooltip says until when."""

    blend: float

    @property
    def seconds(self) -> float | None:
        """None for as long as suits."""
        return None if self.use_auto_blend else self.blend

    def draw_blend(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "use_auto_blend")
        row = layout.row()
        row.active = not self.use_auto_blend
        row.prop(self, "blend")


class Played:
    """Mixin of operators that make an action."""

    assign: BoolProperty(
        name="Use Result", description="Assign the new action to the armature; the current action is kept", default=True
    )
