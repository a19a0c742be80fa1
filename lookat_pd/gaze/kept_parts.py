"""Parts of timelines that were solved before and need not be solved again.

What is found of a part depends on the state at its start and on the samples in it alone. Where all of that is as in an
earlier solve, to the last bit, so is what is found: after an edit only what it touches is solved, and the result is
that of a solve from the start.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import Any

import numpy as np

from ..rotation import Array
from .head_speed import Lateness

_MOST = 64_000_000
"""Bytes that are kept of one look-at: about a minute and a half of a talk."""


@dataclass(frozen=True)
class SolvedPart:
    """What a timeline has found of a part."""

    rows: tuple[Array, ...]
    """At its samples, (n, ...)."""
    ends: tuple[Array, ...]
    """The states of the controllers at its end."""
    late: tuple[Lateness, Lateness]
    """At its start and at its end."""

    @property
    def size(self) -> int:
        """In bytes."""
        return sum(part.nbytes for part in (*self.rows, *self.ends))


class KeptParts:
    """The last solved parts, by digests of all that they were solved from. solved: how many were not known."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, SolvedPart] = OrderedDict()
        self._size = self.solved = 0

    def find(self, key: bytes) -> SolvedPart | None:
        if key not in self._known:
            self.solved += 1
            return None
        self._known.move_to_end(key)
        return self._known[key]

    def keep(self, key: bytes, part: SolvedPart) -> None:
        self._known[key] = part
        self._size += part.size
        while self._size > _MOST:
            self._size -= self._known.popitem(last=False)[1].size


def digest(values: Iterable[Any]) -> bytes:
    """Of arrays, dataclasses of these, and what else has a `repr` that says all of it."""
    made = blake2b(digest_size=20)
    for value in values:
        if isinstance(value, np.ndarray):
            made.update(f"{value.shape}{value.dtype}".encode())
            made.update(np.ascontiguousarray(value).data)
        elif hasattr(value, "__dataclass_fields__"):
            made.update(digest(getattr(value, part.name) for part in fields(value)))
        else:
            made.update(f"{value!r};".encode())
    return made.digest()
