"""Drawing by hand how a setting of springs changes along a chain.

No postponed annotations: Blender reads them.
"""

from dataclasses import dataclass

import bpy
import numpy as np

from ..lookat_pd.errors import RigError
from ..rig.guards import callbacks
from ..rig.settings import choice, collection, declared, vector
from ..rig.springs import along_chain, drawn_curve, settings
from ..rig.springs.chains import SpringChain
from ..rig.springs.drawn_curve import Points
from . import drawing, springs

_LABELS = {name: declared(settings.SpringBone)[name].keywords["name"] for name in settings.OF_BONE}
_PAUSE = 0.05
"""Seconds between two looks at the curve."""


class LookAtCurvePoint(bpy.types.PropertyGroup):
    """A point of a curve that is drawn along a chain."""

    location: vector("Location", "Place along the chain, from 0 to 1, and the factor there", size=2, min=0.0, max=1e4)


@dataclass
class _Drawing:
    """Chains along which a curve is drawn in a dialog, with what they had before."""

    name: str
    chains: list[SpringChain]
    before: list[tuple[float | None, list[float]]]
    """The factor of the tip of each, if there is one, and those of the bones."""
    shown: Points

    @classmethod
    def of(cls, name: str, chains: list[SpringChain]) -> "_Drawing":
        tip = settings.TIPS.get(name)
        before = [
            (getattr(c.settings, tip) if tip else None, [getattr(item, name) for item in c.items]) for c in chains
        ]
        return cls(name, chains, before, drawn_curve.drawn())

    def follow(self) -> bool:
        """Let the chains have what has been drawn; whether anything has."""
        points = drawn_curve.drawn()
        if points and points != self.shown:
            self.shown = points
            _draw(self.chains, self.name, points)
            return True
        return False

    def restore(self) -> None:
        for chain, (tip, factors) in zip(self.chains, self.before, strict=True):
            if tip is not None:
                setattr(chain.settings, settings.TIPS[self.name], tip)
            for item, factor in zip(chain.items, factors, strict=True):
                setattr(item, self.name, factor)


_drawings: list[_Drawing] = []
"""The one in the dialog that is open."""


def _draw(chains: list[SpringChain], name: str, points: Points) -> None:
    x, y = zip(*sorted(points), strict=True)
    for chain in chains:
        along_chain.draw(chain, name, lambda at: float(np.interp(at, x, y)))


def _follow() -> float | None:
    """The timer by which springs answer while their curve is drawn."""
    if not _drawings or drawn_curve.node() is None:
        return None
    try:
        _drawings[0].follow()
    except ReferenceError:
        # Undone while the dialog was open.
        _drawings.clear()
        return None
    return _PAUSE


class LOOKAT_PD_OT_springs_curve(springs.OfSprings, bpy.types.Operator):
    """Draw a curve by which this setting is multiplied along the selected chains, from root to tip. It takes the place of the tip factor"""  # noqa: E501 - a tooltip

    bl_idname = "lookat_pd.springs_curve"
    bl_label = "Draw Along Chain"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    setting: choice("Setting", "Setting that changes along the chain", tuple((n, t, "") for n, t in _LABELS.items()))
    points: collection(
        LookAtCurvePoint,
        "Points",
        "Points of the curve, for scripts; between them it is straight",
        options={"SKIP_SAVE"},
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        chain = springs.shown(context)
        assert chain is not None, "otherwise why_not gives the reason"
        self.points.clear()
        drawn_curve.begin(along_chain.factors(chain, self.setting))
        _drawings[:] = [_Drawing.of(self.setting, springs.chosen(context))]
        callbacks.start_timer(_follow, _PAUSE)
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context: bpy.types.Context) -> None:
        layout = drawing.prepared(self.layout)
        node = drawn_curve.node()
        if node is None:
            return
        layout.label(text=_LABELS[self.setting])
        layout.template_curve_mapping(node, "mapping")
        row = layout.row()
        row.label(text="Root")
        last = row.row()
        last.alignment = "RIGHT"
        last.label(text="Tip")

    def execute(self, context: bpy.types.Context) -> set[str]:
        points = [(x, y) for x, y in (point.location for point in self.points)]
        if _drawings and not points:
            own = _drawings.pop()
            own.follow()
            drawn_curve.discard()
            for location in drawn_curve.corners([y for _, y in own.shown]):
                self.points.add().location = location
        elif points:
            _draw(springs.chosen(context), self.setting, points)
        else:
            raise RigError("There is no curve; draw it in the dialog, or give its points.")
        return {"FINISHED"}

    def cancel(self, context: bpy.types.Context) -> None:
        if _drawings:
            _drawings.pop().restore()
        drawn_curve.discard()


register, unregister = bpy.utils.register_classes_factory((LookAtCurvePoint, LOOKAT_PD_OT_springs_curve))
