"""Settings in files of earlier versions: they keep the defaults that they were made with."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import bpy

Later = Sequence[Mapping[str, Any]]
"""For each version, the settings that it did not have yet or whose defaults changed after it, by name or as
`group.name`, with the values that they had until then."""


def keep(settings: Any, later: Later, known: int | None = None) -> None:
    """Give settings of an earlier version what was the default then, except what is set; they are of the newest version
    afterwards. known: the version that they are of, by default the one that they say."""
    first = settings.version if known is None else known
    for path, value in (pair for former in later[first:] for pair in former.items()):
        *group, name = path.split(".")
        owner = getattr(settings, group[0]) if group else settings
        if not owner.is_property_set(name):
            setattr(owner, name, value)
    if settings.version < len(later):
        settings.version = len(later)


Handler = Callable[..., None]


def handlers(stamp: Handler, keep_as_saved: Handler) -> tuple[Callable[[], None], Callable[[], None]]:
    """Functions that register and unregister what is called before a file is saved and after one is opened; both are
    persistent."""

    def register() -> None:
        bpy.app.handlers.save_pre.append(stamp)
        bpy.app.handlers.load_post.append(keep_as_saved)

    def unregister() -> None:
        bpy.app.handlers.load_post.remove(keep_as_saved)
        bpy.app.handlers.save_pre.remove(stamp)

    return register, unregister
