"""What detection finds is kept by the content of what it looks at: the files of a batch have the same characters again
and again, and several parts of a body are looked for one after the other."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

_MOST = 64
"""Results of a function that are kept."""
Asked = ParamSpec("Asked")
Found = TypeVar("Found")


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
