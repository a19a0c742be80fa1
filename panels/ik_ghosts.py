"""Solvers compared: where each places the chain, as lines in the viewport with a legend, and the panel about it."""

from contextlib import suppress

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ..lookat_pd.ik import methods
from ..operators import ik_drag, polling, selection
from ..rig.ik import method_ghosts
from ..rig.ik import preview as ik_preview
from ..rig.ik.method_ghosts import MethodGhost
from .sidebar import ArmaturePanel
from .viewport import TEXT_SIZE, Batch, draw_handlers, write

_COLORS = (1, 3, 4, 6)
"""Strip colors of the theme, one for each compared solver: orange, green, blue, pink."""
_WIDTH, _MARGIN = 3.0, 20.0


def _ghosts(context: bpy.types.Context) -> list[MethodGhost]:
    """The chain as the compared solvers place it: that of the drag, or the one of the active bone at this frame."""
    names = method_ghosts.chosen(context.scene.lookat_pd_ik)
    if not names:
        return []
    session = ik_drag.dragged()
    if session is not None:
        return session.ghosts(names)
    if context.screen is not None and context.screen.is_animation_playing:
        return []
    armature, bone = selection.armature(context), selection.bone(context)
    if polling.why_no_armature(context) is not None or bone is None:
        return []
    convergence = ik_preview.convergence(context.scene, armature, bone.name)
    if convergence is None:
        return []
    key = (convergence.key, names)
    if key not in _kept:
        _kept.clear()
        _kept[key] = convergence.ghosts(names)
    return _kept[key]


def _figures(ghost: MethodGhost) -> str:
    values = ghost.iterations, 100.0 * ghost.share, 1000.0 * ghost.seconds
    return iface_("{} iterations, {:.3f} % remaining, {:.1f} ms").format(*values)


def _short(ghost: MethodGhost) -> str:
    """As much of the figures as fits beside a label."""
    return f"{100.0 * ghost.share:.2f} %  {1000.0 * ghost.seconds:.0f} ms"


def _draw_lines(context: bpy.types.Context) -> None:
    if not context.space_data.overlay.show_overlays:
        return
    lines = Batch()
    with suppress(ReferenceError):
        for ghost, color in zip(_ghosts(context), _colors(context), strict=False):
            lines.add(ghost.lines, color)
    lines.draw("LINES", _WIDTH)


def _draw_legend(context: bpy.types.Context) -> None:
    if not context.space_data.overlay.show_overlays:
        return
    scale = context.preferences.system.ui_scale
    with suppress(ReferenceError):
        rows = list(zip(_ghosts(context), _colors(context), strict=False))
        for n, (ghost, color) in enumerate(reversed(rows)):
            text = f"{iface_(methods.METHODS[ghost.method].label)}: {_figures(ghost)}"
            write(text, _MARGIN * scale, (_MARGIN + 1.5 * n * TEXT_SIZE) * scale, color, scale)


def _colors(context: bpy.types.Context) -> list:
    colors = context.preferences.themes[0].strip_color
    return [colors[n].color for n in _COLORS]


class LOOKAT_PD_PT_ik_compare(ArmaturePanel, bpy.types.Panel):
    bl_label = "Compare Solvers"
    bl_parent_id = "LOOKAT_PD_PT_ik"

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(context.scene.lookat_pd_ik, "compare", text="")

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = self.layout, context.scene.lookat_pd_ik
        layout.active = settings.compare
        names = method_ghosts.chosen(settings)
        by_method = {ghost.method: ghost for ghost in _ghosts(context)}
        full = sum(settings.compared) >= method_ghosts.MOST
        order = sorted(enumerate(methods.METHODS.values()), key=lambda item: item[1].key)
        for index, method in order:
            row = layout.row()
            row.enabled = settings.compared[index] or not full
            has_figures = method.id in by_method
            split = row.split(factor=0.63) if has_figures else row
            icon = f"STRIP_COLOR_0{_COLORS[names.index(method.id)] + 1}" if method.id in names else "BLANK1"
            split.prop(settings, "compared", index=index, text=iface_(method.label), translate=False, icon=icon)
            if has_figures:
                split.label(text=_short(by_method[method.id]), translate=False)
        if settings.compare and not by_method:
            own = ik_drag.dragged() is not None
            layout.label(
                text="The rig's own IK poses this limb" if own else "Choose a target, or drag a bone", icon="INFO"
            )


_kept: dict = {}
"""The last shown comparison, by the values it depends on."""

_register, _unregister = bpy.utils.register_classes_factory((LOOKAT_PD_PT_ik_compare,))
_add, _remove = draw_handlers((_draw_lines, "POST_VIEW"), (_draw_legend, "POST_PIXEL"))


def register() -> None:
    _register()
    _add()


def unregister() -> None:
    _remove()
    _kept.clear()
    _unregister()
