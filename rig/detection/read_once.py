"""What is read of armatures, kept for as long as nothing of them changes: to tell their limbs takes many readings."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

import bpy

_Read = TypeVar("_Read")
_known: list[dict[tuple[str, int], Any]] = []
"""What was read, in the outermost `unchanged`."""


@contextmanager
def unchanged() -> Iterator[None]:
    """Nothing of any armature changes meanwhile."""
    _known.append(_known[-1] if _known else {})
    try:
        yield
    finally:
        _known.pop()


def read_once(read: Callable[[bpy.types.Object], _Read]) -> Callable[[bpy.types.Object], _Read]:
    """A reading of an armature, which is the same object each time while nothing changes."""
    name = f"{read.__module__}.{read.__qualname__}"

    @wraps(read)
    def kept(armature: bpy.types.Object) -> _Read:
        if not _known:
            return read(armature)
        key = name, armature.session_uid
        if key not in _known[-1]:
            _known[-1][key] = read(armature)
        return _known[-1][key]

    return kept
