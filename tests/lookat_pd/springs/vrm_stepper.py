"""VRM's springBone as its specification says it: one joint after the other, one frame after the other.

Nothing of the extension is used. Source: VRMC_springBone 1.0, *SpringBone Algorithm* (not normative).
"""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Joint:
    """A head with its tail."""

    head: int
    tail: int
    stiffness: float = 1.0
    drag: float = 0.4
    power: float = 0.0
    direction: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, -1.0]))
    radius: float = 0.0


def quaternion(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The smallest rotation (w, x, y, z) from one direction to another."""
    start, end = start / np.linalg.norm(start), end / np.linalg.norm(end)
    found = np.array([1.0 + start @ end, *np.cross(start, end)])
    return found / np.linalg.norm(found)


def multiplied(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    vector = one[0] * other[1:] + other[0] * one[1:] + np.cross(one[1:], other[1:])
    return np.array([one[0] * other[0] - one[1:] @ other[1:], *vector])


def turned(q: np.ndarray, vector: np.ndarray) -> np.ndarray:
    across = 2.0 * np.cross(q[1:], vector)
    return vector + q[0] * across + np.cross(q[1:], across)


def inverse(q: np.ndarray) -> np.ndarray:
    return q * [1.0, -1.0, -1.0, -1.0]


def run(
    joints: list[Joint],
    parents: list[int],
    places: np.ndarray,
    turns: np.ndarray,
    rate: float,
    spheres: np.ndarray | None = None,
    center: tuple[np.ndarray, np.ndarray] | None = None,
) -> np.ndarray:
    """(F, j, 3) the tails of the joints, from frame to frame.

    places (F, n, 3) and turns (F, n, 4) of nodes without springs; parents of the nodes, before them. spheres: (s, 4)
    centers and radii. center: places (F, 3) and turns (F, 4) of the space in which inertia is evaluated.
    """
    frames = len(places)
    found = np.zeros((frames, len(joints), 3))
    local_turns = np.array([_local(turns[0], parents, n) for n in range(len(parents))])
    axes = [turned(inverse(turns[0, j.head]), places[0, j.tail] - places[0, j.head]) for j in joints]
    now = [_into(center, 0, places[0, j.tail]) for j in joints]
    before = [tail.copy() for tail in now]
    for frame in range(frames):
        world_turns, world_places = turns[frame].copy(), places[frame].copy()
        for n, (joint, axis) in enumerate(zip(joints, axes, strict=True)):
            length = np.linalg.norm(axis)
            _carry(parents, joint.head, places[frame], turns[frame], world_places, world_turns)
            head, above = world_places[joint.head], parents[joint.head]
            base = (
                world_turns[above]
                if above >= 0
                else multiplied(turns[frame, joint.head], inverse(local_turns[joint.head]))
            )
            # The rotation of the joint at rest, within its solved parent.
            rest = multiplied(base, _rest(turns[frame], parents, joint.head, local_turns))
            inertia = (now[n] - before[n]) * (1.0 - joint.drag)
            following = _out_of(center, frame, now[n] + inertia)
            following = following + joint.stiffness / rate * turned(rest, axis / length)
            following = following + joint.power / rate * joint.direction
            following = head + (following - head) / np.linalg.norm(following - head) * length
            for x, y, z, radius in spheres if spheres is not None else ():
                way = following - [x, y, z]
                distance = np.linalg.norm(way) - radius - joint.radius
                if distance < 0.0:
                    following = following - way / np.linalg.norm(way) * distance
                    following = head + (following - head) / np.linalg.norm(following - head) * length
            before[n], now[n] = now[n], _into(center, frame, following)
            to = turned(inverse(rest), following - head)
            world_turns[joint.head] = multiplied(rest, quaternion(axis, to))
            found[frame, n] = following
    return found


def _local(turns: np.ndarray, parents: list[int], n: int) -> np.ndarray:
    return turns[n] if parents[n] < 0 else multiplied(inverse(turns[parents[n]]), turns[n])


def _rest(turns: np.ndarray, parents: list[int], n: int, local_turns: np.ndarray) -> np.ndarray:
    """The local rotation of a node as it is animated: the same as at rest in files that do not animate it."""
    return _local(turns, parents, n) if parents[n] >= 0 else local_turns[n]


def _carry(parents, node, places, turns, world_places, world_turns) -> None:
    """Place a node, and those between, on its solved ancestor."""
    above = parents[node]
    if above < 0:
        return
    way = turned(inverse(turns[above]), places[node] - places[above])
    world_places[node] = world_places[above] + turned(world_turns[above], way)


def _into(center, frame: int, point: np.ndarray) -> np.ndarray:
    return point if center is None else turned(inverse(center[1][frame]), point - center[0][frame])


def _out_of(center, frame: int, point: np.ndarray) -> np.ndarray:
    return point if center is None else center[0][frame] + turned(center[1][frame], point)
