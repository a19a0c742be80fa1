"""The last results for display in a panel, by armature, until Blender ends or they are cleared."""

from collections import defaultdict
from typing import Generic, TypeVar

import bpy

_MOST = 4
"""How many results of an armature are kept: the last one and those to compare it with."""
T = TypeVar("T")


class KeptResults(Generic[T]):
    """A cache, which can be thrown away at any time."""

    def __init__(self) -> None:
        self._found: defaultdict[int, list[T]] = defaultdict(list)

    def add(self, armature: bpy.types.Object, result: T) -> None:
        results = self._found[armature.session_uid]
        results.insert(0, result)
        del results[_MOST:]

    def of(self, armature: bpy.types.Object) -> tuple[T, ...]:
        """The last results of an armature, the newest first."""
        return tuple(self._found.get(armature.session_uid, ()))

    def clear(self, armature: bpy.types.Object | None = None) -> None:
        """Forget those of an armature, or all."""
        if armature is None:
            self._found.clear()
        else:
            self._found.pop(armature.session_uid, None)
