"""Lists of objects in JSON files: reading one, and naming the entry that is wrong."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from .arguments import Misuse, shown

Parsed = TypeVar("Parsed")


def read(path: Path, kind: str, parse: Callable[[Any], Parsed]) -> Parsed:
    """What `parse` makes of the decoded file; its ValueError becomes a Misuse. kind: what messages call the file."""
    try:
        entries = json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise Misuse(f"the {kind} {path} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        # Python has a remark of its own on numbers of thousands of digits.
        raise Misuse(f"the {kind} {path} is not JSON ({str(error).partition(';')[0]})") from None
    try:
        return parse(entries)
    except ValueError as error:
        raise Misuse(f"{path}: {error}") from None


def each(entries: Sequence[Any], word: str, parse: Callable[[Any], Parsed]) -> Iterator[tuple[int, Parsed]]:
    """Number, from 1, and parsed value of each entry. A ValueError of `parse` begins with `word` and the number."""
    for number, entry in enumerate(entries, 1):
        try:
            parsed = parse(entry)
        except ValueError as error:
            raise ValueError(f"{word} {number}: {error}") from None
        yield number, parsed


def check_keys(entry: Any, keys: Sequence[str], listed: str) -> None:
    """Raise ValueError unless an entry is an object that has the first of the keys, and of the others no unknown one.

    listed: the keys as a message names them.
    """
    if not isinstance(entry, dict):
        raise ValueError("it is not an object in braces")
    unknown = sorted(entry.keys() - set(keys))
    if unknown:
        raise ValueError(f"unknown key {quoted(unknown[0])}; there are {listed}")
    if keys[0] not in entry:
        raise ValueError(f"it has no {keys[0]}")


def quoted(value: Any) -> str:
    """A value as it is written in a file, never at length."""
    try:
        return shown(repr(value))
    except ValueError:
        # Python writes no whole number of thousands of digits.
        return shown(value)


def is_number(value: Any, most: float = sys.float_info.max) -> bool:
    """Whether a value is a finite number, of either sign, not beyond `most`."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= most
