"""A button that cannot be pressed says why in words that are seen, not only in its tooltip."""

from collections.abc import Iterator
from typing import Any

import bpy
import pytest

from extension import load

from .drawn import Context, Drawn, panels
from .layouts import Item, Layout
from .states import STATES


@pytest.fixture
def advanced() -> Iterator[None]:
    bpy.context.window_manager.lookat_pd_use_advanced = True
    yield
    bpy.context.window_manager.lookat_pd_use_advanced = False


@pytest.mark.thorough
@pytest.mark.parametrize("state", STATES)
def test_grey_buttons_say_why(state: str, advanced, monkeypatch) -> None:
    STATES[state]()
    context, reasons = Context(), {}
    polling = load("operators.polling")

    def noted(kind: type, reason: str | None) -> bool:
        reasons[kind] = reason
        return reason is None

    monkeypatch.setattr(polling, "poll", noted)
    silent = []
    for panel in panels():
        if hasattr(panel, "poll") and not panel.poll(context):
            continue
        layout = Layout(lambda text, _: text)
        Drawn(panel, layout).draw(context)
        shown = list(layout.seen())
        labels = [item for item, _ in shown if isinstance(item, Item) and item.icon is not None]
        words, explained = (
            _run_together("".join(item.text for item in labels)),
            "INFO" in {item.icon for item in labels},
        )
        for item, enabled in shown:
            if isinstance(item, Item) and item.operator:
                silent += [
                    f"{panel.__name__}: {item.operator} ({item.text}): {reason}"
                    for reason in _reasons(item.operator, enabled, context, reasons)
                    if (_run_together(reason) not in words if reason else not explained)
                ]
    assert not silent, "\n".join(silent)


def _reasons(name: str, enabled: bool, context: Context, reasons: dict[type, str | None]) -> Iterator[str]:
    """Why a button cannot be pressed; empty where it is grey for a reason of its panel's, which is not known here."""
    group, _, own = name.partition(".")
    kind: Any = getattr(bpy.types, f"{group.upper()}_OT_{own}", None)
    if group != "lookat_pd" or not hasattr(kind, "poll"):
        return
    if not kind.poll(context):
        yield reasons[kind] or ""
    elif not enabled:
        yield ""


def _run_together(text: str) -> str:
    """As it is however it was broken into lines."""
    return "".join(text.split())
