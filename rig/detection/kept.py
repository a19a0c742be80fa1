"""What detection finds is kept: by the content of what it looks at, as the files of a batch have the same characters
again and again, and several parts of a body are looked for one after the other; and what is read of armatures for as
long as nothing of them changes, as to tell their limbs takes many readings."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import bpy

_MOST = 64
"""Results of a function that are kept."""
Asked = ParamSpec("Asked")
Found = TypeVar("Found")
_read: list[dict[tuple[str, int], Any]] = []
"""What was read, in the outermost `unchanged`."""


def by_content(find: Callable[Asked, Found]) -> Callable[Asked, Found]:
    """A function that is not called again with what has the same content.

    Arguments have a `content` that can be compared, or are compared themselves; results are changed by nobody. What of
    an argument is found out only where it matters is no content: `telling` returns one that writes down the answers
    which it gives, and `tells` whether they would be the same now.
    """
    known: dict[Any, tuple[Found, list[tuple[int, dict[str, Any]]]]] = {}

    @wraps(find)
    def found(*given: Asked.args, **named: Asked.kwargs) -> Found:
        key = tuple(_content(item) for item in (*given, *named.items()))
        items: list[Any] = [*given]
        if key in known and all(items[n].tells(answers) for n, answers in known[key][1]):
            return known[key][0]
        told: list[tuple[int, dict[str, Any]]] = [(n, {}) for n, item in enumerate(items) if hasattr(item, "telling")]
        for n, answers in told:
            items[n] = items[n].telling(answers)
        ask: Any = find
        result = ask(*items, **named)
        if len(known) >= _MOST:
            known.clear()
        known[key] = result, told
        return result

    return found


def _content(item: Any) -> Any:
    return getattr(item, "content", item)


@contextmanager
def unchanged() -> Iterator[None]:
    """Nothing of any armature changes meanwhile."""
    _read.append(_read[-1] if _read else {})
    try:
        yield
    finally:
        _read.pop()


def read_once(read: Callable[[bpy.types.Object], Found]) -> Callable[[bpy.types.Object], Found]:
    """A reading of an armature, which is the same object each time while nothing changes."""
    name = f"{read.__module__}.{read.__qualname__}"

    @wraps(read)
    def kept(armature: bpy.types.Object) -> Found:
        if not _read:
            return read(armature)
        key = name, armature.session_uid
        if key not in _read[-1]:
            _read[-1][key] = read(armature)
        return _read[-1][key]

    return kept
