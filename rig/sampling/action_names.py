"""Settings that name an action: fields that offer the actions of the file, but not those that hold what layers add."""

from collections.abc import Iterator
from typing import Any

import bpy

from ..settings import text
from .own_data import CLOCK, OFFSETS


def action_name(name: str, description: str = "", **own: Any) -> Any:
    """Declares the name of an action as a setting; `UILayout.prop` draws it with the names that there are."""
    return text(name, description, search=_offered, **own)


def _offered(settings: Any, context: bpy.types.Context, typed: str) -> Iterator[str]:
    wanted = typed.casefold()
    return (action.name for action in bpy.data.actions if wanted in action.name.casefold() and not _is_own(action))


def _is_own(action: bpy.types.Action) -> bool:
    return OFFSETS in action or CLOCK in action
