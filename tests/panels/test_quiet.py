"""How much somebody sees after *Add*, with Blender's settings as it is installed."""

import bpy

import kept

from .drawn import Context, Drawn, panels
from .layouts import Layout, Valued

_TAB = "Look-at PD"


def test_after_add_there_is_little() -> None:
    bpy.context.view_layer.objects.active = kept.human()
    bpy.ops.lookat_pd.add(target="Ball")
    context = Context()
    seen = {kind for kind in panels() if not hasattr(kind, "poll") or kind.poll(context)}
    top = {kind.__name__ for kind in seen if getattr(kind, "bl_category", "") == _TAB and not _parent(kind)}
    below = [kind for kind in seen if _parent(kind) in top]
    assert len(top - {"LOOKAT_PD_PT_sidebar"}) <= 5, sorted(top)
    within = [kind for kind in below if _parent(kind) == "LOOKAT_PD_PT_sidebar"]
    assert len(within) <= 10, sorted(kind.bl_label for kind in within)
    # All but the first are closed.
    assert all("DEFAULT_CLOSED" in kind.bl_options for kind in within)
    layout = Layout(lambda text, _: text)
    Drawn(bpy.types.LOOKAT_PD_PT_sidebar, layout).draw(context)
    controls = [item for item, _ in layout.seen() if isinstance(item, Valued) or (item.icon is None and item.text)]
    assert len(controls) <= 14, controls


def _parent(kind: type) -> str:
    return getattr(kind, "bl_parent_id", "")
