"""Settings in files of earlier versions: they keep the defaults that they were made with."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import bpy

from ..guards import callbacks
from .stored_settings import stored

Later = Sequence[Mapping[str, Any]]
"""For each version, the settings that it did not have yet or whose defaults changed after it, by name or as
`group.name`, with the values that they had until then."""
Owner = bpy.types.ID | bpy.types.PoseBone
Handler = Callable[..., None]


def scenes() -> Iterable[Owner]:
    return bpy.data.scenes


def armatures() -> Iterable[Owner]:
    return [item for item in bpy.data.objects if item.type == "ARMATURE"]


def bones() -> Iterator[Owner]:
    for item in armatures():
        yield from item.pose.bones if item.pose is not None else ()


@dataclass(frozen=True)
class Saved:
    """Settings of one kind, which are saved with a file."""

    name: str
    """The name of the group."""
    owners: Callable[[], Iterable[Owner]]
    """What may have it."""
    later: Later
    is_made: Callable[[Any], bool] = lambda settings: True
    """Whether there is more than the group, which is there as soon as a panel has shown it."""
    says_version: Callable[[Any], bool] = lambda settings: False
    """Whether settings have their version from when they were made; others get it when the file is saved."""
    first: int = 0
    """The earliest version that others may be of."""

    def every(self) -> Iterator[tuple[Owner, Any]]:
        """What can be edited in the file, with its settings."""
        for owner in self.owners():
            settings = stored(owner, self.name)
            if settings is not None and owner.id_data.is_editable and self.is_made(settings):
                yield owner, settings

    def stamp(self) -> None:
        """Let settings say which defaults they have."""
        for owner, settings in self.every():
            if not self.says_version(settings) and not self._comes_from_library(owner):
                settings.version = max(settings.version, len(self.later))

    def keep_as_saved(self) -> None:
        """Give settings of an earlier version the defaults that they were saved with; new files start as they are."""
        for _owner, settings in self.every():
            if self.says_version(settings):
                keep(settings, self.later)
            elif bpy.data.filepath:
                keep(settings, self.later, max(settings.version, self.first))

    def _comes_from_library(self, owner: Owner) -> bool:
        """Whether the settings of an override are those of the linked original, which may be of an earlier version."""
        override = owner.id_data.override_library
        original = override.reference if override is not None else None
        if original is not None and isinstance(owner, bpy.types.PoseBone):
            original = original.pose.bones.get(owner.name) if original.pose is not None else None
        settings = stored(original, self.name) if original is not None else None
        return settings is not None and self.is_made(settings)


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


def handlers(*kinds: Saved) -> tuple[Handler, Handler, Callable[[], None], Callable[[], None]]:
    """What is called before a file is saved and after one is opened, and functions that register and unregister it."""

    @callbacks.handler
    def stamp(*_: object) -> None:
        for kind in kinds:
            kind.stamp()

    @callbacks.handler
    def keep_as_saved(*_: object) -> None:
        for kind in kinds:
            kind.keep_as_saved()

    called = ("save_pre", stamp), ("load_post", keep_as_saved)
    add, remove = (partial(change, called) for change in (callbacks.add_handlers, callbacks.remove_handlers))
    return stamp, keep_as_saved, add, remove
