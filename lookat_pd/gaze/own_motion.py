"""How far a target moves of its own: not with the character that looks at it, nor with the space of the samples.

A target that rides on a running character, and one that a runner passes, are both still in this sense. How far a
target is carried along is the least-squares share of the character's motion in its own, over about a second, so that
it changes smoothly. In real time that is a mean of what has passed.
"""

import numpy as np

from .. import curves, rotation
from ..rotation import Array

_SPREAD = 0.4
"""Standard deviation [s] of the window over which a motion is averaged."""
_WINDOWS = 3.0
"""Half the length of that window, in standard deviations."""
_WOBBLE = 0.2
"""Weight of the motion of the body about its travel: who sways on the spot does not travel."""
_SMOOTHING, _MEMORY = 0.3, 0.5
"""Time constants [s] of the two smoothings of a motion one after the other, and of the share, where nothing is known of
what comes."""
_FASTEST = 12.0
"""Angular speed [rad/s] above which something leaps."""
_LEAST = 1e-30
_BLOCK = 1.5
"""Least length of a block of sums over a window, in windows."""


def own_motion(targets: Array, carrier: tuple[Array, Array], dt: float, worlds: Array | None = None) -> Array | None:
    """What targets (m, n, 3) move of their own from each sample to the next, (m, n - 1, 3); None where none does.

    carrier: orientations (n, 4) and positions (n, 3) of the bone that says how the character travels. dt: seconds
    between samples. worlds: (n, 4, 4) from the space of all these to the world, None where that is the world.
    """
    points = targets if worlds is None else transformed(worlds, targets)
    moves = np.diff(points, axis=1)
    if not moves.any():
        return None
    window = _window(dt, targets.shape[1] - 1)
    steady = ~_leaps(targets, carrier[1])
    if worlds is not None:
        # As the space at the start of each step would carry them, and as that at its end has.
        carried = 0.5 * (transformed(worlds[1:], targets[:, :-1]) - points[:, :-1])
        carried += 0.5 * (points[:, 1:] - transformed(worlds[:-1], targets[:, 1:]))
        moves = moves - _share(moves, carried, 0.0, steady, window) * carried
    travel, wobble = _travel(targets, carrier, steady, window)
    middle = None if worlds is None else 0.5 * (worlds[:-1, :3, :3] + worlds[1:, :3, :3])
    if middle is not None:
        moves = _turned(np.linalg.inv(middle), moves)
    return moves - _share(moves, travel, wobble, steady, window) * travel


def between_spaces(begin: Array, end: Array, before: Array, after: Array) -> Array:
    """What a target moves of its own (3,) from one place to another (3,) in a space that is carried meanwhile.

    before, after: (4, 4) from that space to the world.
    """
    spaces, places = np.stack((before, after)), np.stack((begin, end))
    here, there = (transformed(space[None], places[:, None])[:, 0] for space in spaces)
    move, carried = there[1] - here[0], 0.5 * (there[0] - here[0] + there[1] - here[1])
    size = float(carried @ carried)
    share = float(np.clip(move @ carried / size, 0.0, 1.0)) if size > _LEAST else 0.0
    return np.linalg.inv(0.5 * (before + after)[:3, :3]) @ (move - share * carried)


class StepByStep:
    """What a target moves of its own, not with the character, where nothing is known of what comes."""

    def __init__(self) -> None:
        # Nobody is known to travel yet: a sway that has just begun would look like it.
        self._motion = np.zeros((2, 6))
        self._products = np.zeros(3)

    def of(
        self, move: Array, target: Array, before: tuple[Array, Array], after: tuple[Array, Array], dt: float
    ) -> Array:
        """The part (3,) of what a target (3,) moves in dt seconds that the travel of the character does not explain.

        before, after: orientation (4,) and position (3,) of the bone that says how the character travels.
        """
        moved = after[1] - before[1]
        turned = rotation.log(rotation.multiply(after[0], rotation.inverse(before[0])))
        arm = target - 0.5 * (before[1] + after[1])
        motion, velocity = np.concatenate((moved, turned)) / dt, move / dt
        if max(_size(moved), _size(move)) > _FASTEST * dt * max(_size(arm), _LEAST) or _size(turned) > _FASTEST * dt:
            # It leaps, which is no speed.
            return move
        self._motion[0] = _remembered(self._motion[0], motion, dt / _SMOOTHING)
        self._motion[1] = _remembered(self._motion[1], self._motion[0], dt / _SMOOTHING)
        smooth = self._motion[1]
        travel, wobble = (part[:3] + np.cross(part[3:], arm) for part in (smooth, motion - smooth))
        products = np.array((velocity @ travel, travel @ travel, wobble @ wobble))
        self._products = _remembered(self._products, products, dt / _MEMORY)
        common, size, other = self._products
        size += _WOBBLE * other
        share = float(np.clip(common / size, 0.0, 1.0)) if size > _LEAST else 0.0
        return move - share * dt * travel


def _remembered(before: Array, now: Array, times: float) -> Array:
    kept = float(np.exp(-times))
    return kept * before + (1.0 - kept) * now


def _size(vector: Array) -> float:
    return float(np.sqrt(vector @ vector))


def moves(worlds: Array) -> bool:
    """Whether spaces (F, 4, 4) move in the world, and none is flat."""
    return bool(np.any(worlds != worlds[:1]) and np.all(np.abs(np.linalg.det(worlds[:, :3, :3])) > _LEAST))


def transformed(worlds: Array, points: Array) -> Array:
    """Points (m, n, 3) by the transformations (n, 4, 4)."""
    return _turned(worlds[:, :3, :3], points) + worlds[:, :3, 3]


def refined(
    targets: Array, heads: Array, worlds: Array, count: int, between: curves.Between | None
) -> tuple[Array, Array]:
    """Targets (m, F, 3) and spaces (F, 4, 4) with `count` samples a frame: a target that stands still in the world does
    so between the frames, too.

    heads: (F, 3) from which they are seen. between: the samples at some moments, where they are known.
    """
    points, seen_from = transformed(worlds, targets), transformed(worlds, heads[None])[0]
    away = np.maximum(np.linalg.norm(points - seen_from, axis=-1), 1e-12)
    away = np.minimum(away[:, 1:], away[:, :-1])
    jumps = [
        curves.sudden(moved / far)
        for moved, far in zip(np.linalg.norm(np.diff(points, axis=1), axis=-1), away, strict=True)
    ]
    finer_points = np.array([curves.curve(*path, count) for path in zip(points, jumps, strict=True)])
    turned = np.linalg.norm(np.diff(worlds[:, :3, :3], axis=0), axis=(1, 2)) / np.linalg.norm(worlds[0, :3, :3])
    moved = np.linalg.norm(np.diff(seen_from, axis=0), axis=-1) / away.min(axis=0, initial=np.inf)
    leaps = curves.sudden(turned) | curves.sudden(moved)
    finer_worlds = curves.curve(worlds.reshape(-1, 16), leaps, count).reshape(-1, 4, 4)
    if between is not None and between.worlds is not None:
        finer_worlds[between.indices] = between.worlds
        finer_points[:, between.indices] = transformed(between.worlds, between.targets)
    return transformed(np.linalg.inv(finer_worlds), finer_points), finer_worlds


def _turned(matrices: Array, vectors: Array) -> Array:
    """Vectors (m, n, 3) by matrices (n, 3, 3)."""
    return (matrices @ vectors[..., None])[..., 0]


def _leaps(targets: Array, places: Array) -> Array:
    """Between which samples (m, n - 1) targets or what they are seen from leap: no speed is known there."""
    away = np.linalg.norm(targets - places, axis=-1)
    away = np.maximum(np.minimum(away[:, 1:], away[:, :-1]), 1e-12)
    moved = np.linalg.norm(np.diff(places, axis=0), axis=-1)
    both = (
        curves.sudden((np.linalg.norm(np.diff(targets, axis=1), axis=-1) / away).T),
        curves.sudden((moved / away).T),
    )
    return (both[0] | both[1]).T


def _window(dt: float, count: int) -> Array:
    """Weights of the samples around one, odd in number and no more than all."""
    half = min(int(np.ceil(_WINDOWS * _SPREAD / dt)), max(count - 1, 0))
    return np.exp(-0.5 * (dt / _SPREAD * np.arange(-half, half + 1)) ** 2)


def _averaged(values: Array, steady: Array, window: Array) -> Array:
    """Values (m, n, c) averaged over a window, of the steps that are `steady` (m, n)."""
    known = _sums(steady[..., None].astype(float), window)
    return _sums(np.where(steady[..., None], values, 0.0), window) / np.maximum(known, _LEAST)


def _sums(values: Array, window: Array) -> Array:
    """Values (m, n, c) summed over a window, in blocks: what changes in one leaves those away from it as they are, to
    the last bit."""
    rows, half = np.moveaxis(values, 1, -1), len(window) // 2
    size = 1 << int(np.ceil(np.log2(_BLOCK * len(window))))
    step, count = size - 2 * half, rows.shape[-1]
    padded = np.zeros((*rows.shape[:-1], half + -(-count // step) * step + half))
    padded[..., half : half + count] = rows
    blocks = np.lib.stride_tricks.sliding_window_view(padded, size, axis=-1)[..., ::step, :]
    # A circular sum over a block is right but for its first samples.
    sums = np.fft.irfft(np.fft.rfft(blocks) * np.fft.rfft(window, size), size)[..., 2 * half :]
    return np.moveaxis(sums.reshape(*rows.shape[:-1], -1)[..., :count], -1, 1)


def _travel(targets: Array, carrier: tuple[Array, Array], steady: Array, window: Array) -> tuple[Array, Array]:
    """The smooth motion of the character at the place of each target (m, n - 1, 3), and what its body adds to that."""
    orientations, places = carrier
    moved = np.diff(places, axis=0)
    turned = rotation.log(rotation.multiply(orientations[1:], rotation.inverse(orientations[:-1])))
    arm = 0.5 * (targets[:, 1:] + targets[:, :-1]) - 0.5 * (places[1:] + places[:-1])
    motion = np.broadcast_to(np.concatenate((moved, turned), axis=-1), (len(targets), len(moved), 6))
    smooth = _averaged(motion, steady, window)
    at_target, smoothly = (part[..., :3] + np.cross(part[..., 3:], arm) for part in (motion, smooth))
    return smoothly, at_target - smoothly


def _share(moves: Array, carried: Array, wobble: Array | float, steady: Array, window: Array) -> Array:
    """The share (m, n, 1) of a carried motion in moves (m, n, 3), 0 to 1."""
    products = np.sum((moves * carried, carried * carried, np.broadcast_to(wobble, moves.shape) ** 2), axis=-1)
    common, size, other = np.moveaxis(_averaged(np.moveaxis(products, 0, -1), steady, window), -1, 0)
    size = size + _WOBBLE * other
    # Transforms round: sums of nothing are not quite zero.
    clear = size > 1e-12 * np.maximum(size.max(axis=-1, keepdims=True), _LEAST)
    return np.where(clear, np.clip(common / np.where(clear, size, 1.0), 0.0, 1.0), 0.0)[..., None]
