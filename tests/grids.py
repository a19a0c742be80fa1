"""Combinations of settings that hardly depend on one another."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pytest


def diagonal(**axes: Sequence[Any] | Mapping[str, Any]) -> pytest.MarkDecorator:
    """Run a test with all combinations; each value is in a quick one, the others are slow. Mappings give names."""
    rows = [
        [*axis.items()]
        if isinstance(axis, Mapping)
        else [(getattr(value, "__name__", str(value)), value) for value in axis]
        for axis in axes.values()
    ]
    quick = {tuple(n % len(row) for row in rows) for n in range(max(map(len, rows)))}
    cases = []
    for places in product(*(range(len(row)) for row in rows)):
        names, values = zip(*(row[n] for row, n in zip(rows, places, strict=True)), strict=True)
        marks = () if places in quick else pytest.mark.slow
        cases.append(pytest.param(*values, id="-".join(names), marks=marks))
    return pytest.mark.parametrize(tuple(axes), cases)


def _named(axis: Sequence[Any] | Mapping[str, Any]) -> list[tuple[str, Any]]:
    if isinstance(axis, Mapping):
        return [*axis.items()]
    return [(getattr(value, "__name__", str(value)), value) for value in axis]
