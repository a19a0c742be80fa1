"""The state of the live look-at: a line below the settings."""

import re
from collections.abc import Callable, Iterator

import blf
import bpy

from ..lookat_pd.message import Message
from ..rig.layers import live
from ..rig.layers.kinds import LayerSolve
from ..rig.look_at import facing
from ..rig.look_at.live import look_at_kind
from ..rig.look_at.look_at_solve import LookAtSolve
from ..rig.sampling import scene_playback
from ..translations import messages

_SIDEBAR, _EDGES, _LEAST = 280.0, 92.0, 100.0
"""Width of a sidebar as Blender opens it, what of it is not for text, and the least room [pixels at a scale of 1]."""
_SIGN = r"\u3000-\u9fff\uff00-\uffef"
_OPENING, _NEVER_FIRST = "「『（【", "、。」』）】，．：！？ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ"
_PARTS = re.compile(rf"[{_OPENING}]*(?:[{_SIGN}]|[^\s{_SIGN}]+)[{_NEVER_FIRST}]*\s*|\s+")
"""What stays in one line: a word or a Japanese character, with the brackets before it, and after it what no line begins
with and the space."""

_FOUND = ("SOLVED", "SOLVING", "PREVIEW")
"""States in which there is something that was found, the last time or now."""


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, armature: bpy.types.Object, bone: str) -> None:
    """Solved, being solved, stopped, or the error."""
    state = live.status(context.scene, armature, bone, look_at_kind.NAME)
    solve = live.solve_of(context.scene, armature, bone, look_at_kind.NAME)
    if state.state == "ERROR":
        draw_long(layout, context, messages.translate(state.error), "ERROR")
    elif state.state == "SOLVING":
        row = layout.row(align=True)
        row.progress(factor=state.fraction, text=solving(state), translate=False)
        row.operator("lookat_pd.solve", text="", icon="X").stop = True
    elif state.state == "PREVIEW":
        layout.label(text="Preview at this frame", icon="TIME")
    elif state.state == "STOPPED":
        row = layout.row(align=True)
        row.label(text="Not solved", icon="INFO")
        row.operator("lookat_pd.solve", text="Solve", icon="FILE_REFRESH")
    elif state.state == "SOLVED":
        layout.label(text=_solved(state), icon="CHECKMARK", translate=False)
    if state.state in _FOUND:
        _draw_found(layout, context, state, solve)


def _draw_found(
    layout: bpy.types.UILayout, context: bpy.types.Context, state: live.Status, solve: LayerSolve | None
) -> None:
    """How well it aims and what to know. While something is dragged this stays, so that nothing below it moves."""
    found = layout.column()
    found.active = state.state == "SOLVED"
    if isinstance(solve, LookAtSolve) and solve.figures is not None:
        draw_long(found, context, messages.translate(solve.figures), "BLANK1")
    # The panel says which way it faces, with what to do, above.
    for note in (note for note in state.notes if not facing.is_doubt(note)):
        draw_long(found, context, messages.translate(note), "INFO")
    if any(scene_playback.asks_to_bake(note) for note in state.notes):
        found.operator("ptcache.bake_all", text="Bake Physics", icon="PHYSICS").bake = True
    blinks = isinstance(solve, LookAtSolve) and bool(solve.look_at.shapes)
    if blinks and not context.scene.render.use_lock_interface:
        # A render in a window runs at the same time, and both would set the shape keys of blinks.
        row = layout.row()
        row.use_property_split = False
        row.prop(context.scene.render, "use_lock_interface", text="Lock Interface while Rendering", icon="UNLOCKED")


def solving(state: live.Status) -> str:
    """How far solving is, and how long it will still take."""
    percent = f"{100 * state.fraction:.0f}"
    if state.remaining > 1.0:
        return messages.translate(
            Message("Solving {percent} %, {remaining:.0f} s left", percent=percent, remaining=state.remaining)
        )
    return messages.translate(Message("Solving {percent} %", percent=percent))


def _solved(state: live.Status) -> str:
    if not state.seconds > 0.0:
        return messages.translate(Message("Solved frames {first} to {last}", first=state.first, last=state.last))
    if state.seconds >= 1.0:
        return messages.translate(
            Message(
                "Solved frames {first} to {last} in {seconds:.1f} s",
                first=state.first,
                last=state.last,
                seconds=state.seconds,
            )
        )
    return messages.translate(
        Message(
            "Solved frames {first} to {last} in {milliseconds:.0f} ms",
            first=state.first,
            last=state.last,
            milliseconds=1000 * state.seconds,
        )
    )


def draw_reason(layout: bpy.types.UILayout, context: bpy.types.Context, reason: str | None) -> None:
    """Why something cannot be done, over as many lines as that needs; nothing where it can be."""
    if reason is not None:
        draw_long(layout, context, messages.translate(reason), "INFO")


def draw_long(layout: bpy.types.UILayout, context: bpy.types.Context, text: str, icon: str) -> None:
    """A sentence over as many lines as it needs."""
    column = layout.column(align=True)
    column.alert = icon == "ERROR"
    region, scale = getattr(context, "region", None), context.preferences.system.ui_scale or 1.0
    room = (region.width / scale if region else _SIDEBAR) - _EDGES
    blf.size(0, context.preferences.ui_styles[0].widget.points)
    for n, line in enumerate(lines(text, max(room, _LEAST), lambda part: blf.dimensions(0, part)[0])):
        column.label(text=line, icon=icon if n == 0 else "BLANK1", translate=False)


def lines(text: str, room: float, width: Callable[[str], float]) -> Iterator[str]:
    """Text in lines that are no wider than room, broken between words, or in Japanese between any two characters."""
    line = ""
    for part in _PARTS.findall(text):
        if line and width((line + part).rstrip()) > room:
            yield line.rstrip()
            line = ""
        line += part
    yield line.rstrip()
