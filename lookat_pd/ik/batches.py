"""Batches as arrays, and as the nested lists of components of the solvers, see `arithmetic`."""

from typing import Any

import numpy as np

from ..rotation import Array


def unpacked(packed: Array, single: bool) -> Any:
    """An array (..., m) as nested lists of floats, or of arrays (m,)."""
    if single:
        return packed[..., 0].tolist()
    if packed.ndim == 1:
        return packed
    return [unpacked(part, single) for part in packed]


def packed(values: Any, count: int) -> Array:
    """The inverse of `unpacked`, for a batch of `count`."""
    if isinstance(values, list | tuple):
        if count == 1 and not isinstance(_leaf(values), np.ndarray):
            return np.array(values, dtype=float)[..., None]
        result = np.empty((*_shape(values), count))
        _fill(result, values)
        return result
    return np.broadcast_to(np.asarray(values, dtype=float), (count,))


def _shape(values: Any) -> list[int]:
    shape = []
    while isinstance(values, list | tuple):
        shape.append(len(values))
        values = values[0]
    return shape


def _fill(result: Array, values: Any) -> None:
    for part, value in zip(result, values, strict=True):
        if isinstance(value, list | tuple):
            _fill(part, value)
        else:
            part[...] = value


def _leaf(values: Any) -> Any:
    while isinstance(values, list | tuple):
        values = values[0]
    return values


def batch_last(values: Array, batch: tuple[int, ...], tail: int) -> Array:
    """Values (..., *tail) of a batch with the batch as the last axis: (*tail, m)."""
    ends = values.shape[values.ndim - tail :]
    whole = np.broadcast_to(values, (*batch, *ends)).reshape(-1, *ends) if batch else values.reshape(1, *ends)
    return np.ascontiguousarray(batch_back(whole))


def batch_front(a: Array) -> Array:
    """(..., m) to (m, ...)."""
    return a.transpose(a.ndim - 1, *range(a.ndim - 1))


def batch_back(a: Array) -> Array:
    """(m, ...) to (..., m)."""
    return a.transpose(*range(1, a.ndim), 0)
