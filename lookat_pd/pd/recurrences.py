"""Linear recurrences s[k + 1] = transition @ s[k] + input[k] of two coordinates, for all k at once.

Long ones are run in blocks: within a block every state is one matrix product of the block's inputs and the state at its
start; only from block to block does one state lead to the next.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..rotation import Array

_BLOCK = 32
"""Steps that are taken as one matrix product; a power of 2."""
_FEWEST = 24
"""Below this many steps blocks do not pay."""
_FORGOTTEN = 1e-20


def recurrence(transition: Array, inputs: Array, start: Array) -> Array:
    """States s[k + 1] = transition @ s[k] + inputs[k] from s[0] = start, for all k at once.

    transition: (..., 2, 2). inputs: (n, ..., 2). start: (..., 2). Returns (n + 1, ..., 2).
    """
    start = np.broadcast_to(start, inputs.shape[1:])
    if len(inputs) < _FEWEST or inputs.ndim != 4 or transition.shape[:-2] != (inputs.shape[1], 1):
        return _by_doubling(transition, inputs, start)
    steps, systems, width, _ = inputs.shape
    blocks = _blocks_of(transition[:, 0], np.tile(np.eye(2), (systems, 1, 1)), 2)
    return blocks.run(inputs.transpose(1, 2, 0, 3).reshape(systems, width, 2 * steps), steps, start)


def filtered(transition: Array, taps: Array, signal: Array, start: Array) -> Array:
    """States s[k + 1] = transition @ s[k] + taps @ signal[k : k + L] from s[0] = start, for m systems of width w.

    transition: (m, 2, 2). taps: (m, 2, L). signal: (m, w, n + L - 1). start: (m, w, 2). Returns (n + 1, m, w, 2).
    """
    steps = signal.shape[-1] - taps.shape[-1] + 1
    if not steps:
        return start[None]
    if steps < _FEWEST:
        windows = sliding_window_view(signal, taps.shape[-1], axis=-1)
        inputs = windows @ taps[:, None].swapaxes(-1, -2)
        return _by_doubling(transition[:, None], inputs.transpose(2, 0, 1, 3), start)
    return _blocks_of(transition, taps, 1).run(signal, steps, start)


def undriven(transition: Array, steps: int, start: Array) -> Array:
    """States s[k + 1] = transition @ s[k] of m systems, transition (m, 2, 2), start (m, w, 2): (steps + 1, m, w, 2)."""
    if steps < _FEWEST:
        return _by_doubling(transition[:, None], np.zeros((steps, *start.shape)), start)
    return _blocks_of(transition, np.zeros((len(transition), 2, 0)), 1).run(None, steps, start)


def _by_doubling(transition: Array, inputs: Array, start: Array) -> Array:
    """As `recurrence`: after pass j every state holds the inputs of the last 2**j steps, so n take log2(n) passes."""
    x, v = (np.concatenate((start[None, ..., n], inputs[..., n])) for n in (0, 1))
    reach, power = 1, transition
    # What is older than the system's memory adds nothing any more.
    while reach < len(x) and np.abs(power).max() > _FORGOTTEN:
        # Both are evaluated before either is stored, so a pass never reads its own results.
        to_x = power[..., 0, 0] * x[:-reach] + power[..., 0, 1] * v[:-reach]
        to_v = power[..., 1, 0] * x[:-reach] + power[..., 1, 1] * v[:-reach]
        x[reach:] += to_x
        v[reach:] += to_v
        reach, power = 2 * reach, power @ power
    return np.stack((x, v), axis=-1)


@dataclass(frozen=True)
class _Blocks:
    """A block of steps of m systems as matrices; a step takes L samples of a signal, each `stride` further on."""

    matrices: Array
    """Matrices (2, m, K + 2, _BLOCK), from the block's K samples and the two coordinates at its start to each
    coordinate after each step."""
    chain: Array
    """Chain (m, 2 _BLOCK, 2 _BLOCK), from what _BLOCK blocks in a row add to the state that the one before each of them
    ends with, to the states at their starts."""
    stride: int

    def run(self, signal: Array | None, steps: int, start: Array) -> Array:
        """States (steps + 1, m, w, 2) from start (m, w, 2), steps > 0, by a signal (m, w, stride (steps - 1) + L)."""
        systems, width, _ = start.shape
        count = -(-steps // _BLOCK)
        reach = self.matrices.shape[2] - 2 if signal is not None else 0
        blocks = np.zeros((systems, width, count, reach + 2))
        if signal is not None:
            whole = self.stride * _BLOCK
            rest = signal[..., (count - 1) * whole :]
            blocks[:, :, -1, : rest.shape[-1]] = rest
            if count > 1:
                windows = sliding_window_view(signal, reach, axis=-1)[:, :, ::whole]
                blocks[:, :, :-1, :reach] = windows[:, :, : count - 1]
        last = self.matrices[..., -1].transpose(1, 2, 0)
        ends = blocks[..., :reach] @ last[:, None, :reach]
        blocks[..., reach:] = self._begins(ends, start)
        states = np.empty((2, systems, width, 1 + count * _BLOCK))
        states[..., 0] = start.transpose(2, 0, 1)
        # In the memory of `states`, so that the products are written there.
        after = states[..., 1:].reshape(2, systems, width, count, _BLOCK)
        np.matmul(blocks, self.matrices[:, :, None], out=after)
        return states[..., : steps + 1].transpose(3, 1, 2, 0)

    def _begins(self, ends: Array, start: Array) -> Array:
        """States at the starts of blocks (m, w, count, 2), from what each block alone ends with and the first state."""
        systems, width, count, _ = ends.shape
        added = np.concatenate((start[:, :, None], ends[:, :, :-1]), axis=2)
        transition = self.chain[:, :2, 2:4]
        result = np.empty_like(added)
        for first in range(0, count, _BLOCK):
            some = added[:, :, first : first + _BLOCK]
            if first:
                some[:, :, 0] += result[:, :, first - 1] @ transition
            numbers = 2 * some.shape[2]
            chained = some.reshape(systems, width, numbers) @ self.chain[:, :numbers, :numbers]
            result[:, :, first : first + _BLOCK] = chained.reshape(some.shape)
        return result


def _blocks_of(transition: Array, taps: Array, stride: int) -> _Blocks:
    """transition: (m, 2, 2). taps: (m, 2, L), which a step multiplies with L samples of the signal."""
    return _cached_blocks(transition.tobytes(), taps.tobytes(), len(transition), stride)


@lru_cache(maxsize=16)
def _cached_blocks(transition_bytes: bytes, taps_bytes: bytes, systems: int, stride: int) -> _Blocks:
    """By content: bones are solved again and again with the same tuning."""
    transition = np.frombuffer(transition_bytes).reshape(systems, 2, 2)
    taps = np.frombuffer(taps_bytes).reshape(systems, 2, -1)
    powers = _powers(transition)
    length = taps.shape[-1]
    reach = stride * (_BLOCK - 1) + length if length else 0
    matrices = np.zeros((2, systems, reach + 2, _BLOCK))
    driven = _toeplitz(powers[:-1] @ taps)
    for tap in range(length):
        # From (step, step of the input, m, coordinate) to (coordinate, m, step of the input, step).
        matrices[:, :, tap : tap + stride * _BLOCK : stride] += driven[..., tap].transpose(3, 2, 1, 0)
    matrices[:, :, reach:] = powers[1:].transpose(2, 1, 3, 0)
    # From (block, earlier block, m, coordinate, that of the earlier) to (m, earlier block and its, block and its).
    chain = _toeplitz(_powers(powers[-1])[:-1]).transpose(2, 1, 4, 0, 3).reshape(systems, 2 * _BLOCK, 2 * _BLOCK)
    matrices.flags.writeable = chain.flags.writeable = False
    return _Blocks(matrices, chain, stride)


def _powers(transition: Array) -> Array:
    """Powers 0 to _BLOCK of matrices (m, 2, 2): (_BLOCK + 1, m, 2, 2)."""
    powers = np.empty((_BLOCK + 1, *transition.shape))
    powers[0], powers[1], known = np.eye(2), transition, 1
    while known < _BLOCK:
        powers[known + 1 : 2 * known + 1] = powers[1 : known + 1] @ powers[known]
        known *= 2
    return powers


def _toeplitz(by_age: Array) -> Array:
    """Values (_BLOCK, ...) by the steps that have passed, as (step, earlier step, ...); 0 for later steps."""
    age = np.subtract.outer(np.arange(_BLOCK), np.arange(_BLOCK))
    return np.where((age >= 0).reshape(*age.shape, *(1,) * (by_age.ndim - 1)), by_age[np.maximum(age, 0)], 0.0)
