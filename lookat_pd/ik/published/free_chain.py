"""Damped least squares for a free chain: joints without limits, and the position of the effector as the only objective.

A joint that turns freely moves the effector by the cross product with its arm r, the vector from the joint to the
effector. So J J^T = sum of (|r|^2 - r r^T) is a matrix of three rows for a chain of any length, and the step
J^T (J J^T + m^2)^-1 e of all joints is r x f: f solves three equations for the error e with the damping m. The joint
orientations turn by the sums of these rotation vectors, and the bones with them; rotations of the joints are needed at
the end only.

The damping and the rejection of steps are those of `damped`. A step may be as long as a part of the chain, where limits
and further objectives allow no more than a bone. Lengths are in units of the chain's length. This is for one chain, in
plain numbers; `free_chains` does the same for a batch, in arrays of joints and chains.
Source: Wampler 1986; Nakamura and Hanafusa 1986; the closed form follows from J.
"""

import math
from itertools import pairwise

import numpy as np

from ...rotation import Array
from .. import arithmetic, unfolding
from ..arithmetic import Number, Quaternion, Vector
from ..iteration import SECOND_LOOKS, STALLED, Outcome
from ..task import Pose, Task

LARGEST_STEP = 0.4
"""The largest error that one step is to remove, in lengths of the chain."""
FIRST, LEAST, MOST = 0.15, 1e-8, 900.0
"""Squares of the damping, in lengths of a mean bone."""
EASIER, HARDER = 0.16, 9.0
"""Their factors after a step with and without improvement."""
UNIT_EVERY = 8
"""Iterations after which quaternions are scaled to length 1: each step makes them slightly longer."""
SHORTEST = 1e-100
"""Chains that are shorter have no length."""


def alone(
    offsets: Array, start: Array, target: Array, iterations: int, tolerance: float, *, history: bool = False
) -> Outcome:
    """One chain, in plain numbers. history: whether to keep the errors."""
    pose, bones = [tuple(q) for q in start[..., 0].tolist()], offsets[..., 0].tolist()
    tx, ty, tz = target[:, 0].tolist()
    lengths = [math.sqrt(x * x + y * y + z * z) for x, y, z in bones]
    reach, far = sum(lengths), math.sqrt(tx * tx + ty * ty + tz * tz)
    floor = max(far - reach, 2.0 * max(lengths) - reach - far, 0.0) + tolerance
    size = max(reach, SHORTEST)
    tx, ty, tz, goal = tx / size, ty / size, tz / size, floor / size
    scaled = [(x / size, y / size, z / size) for x, y, z in bones]
    turns, bones = forward(scaled, pose)
    ex, ey, ez = _remaining((tx, ty, tz), bones)
    error = math.sqrt(ex * ex + ey * ey + ez * ez)
    errors, used = [error], 0
    best, best_error = turns, error
    if iterations and error >= goal:
        bone = 1.0 / len(pose)
        damping, least, most = FIRST * bone * bone, LEAST * bone * bone, MOST * bone * bone
        bend = _is_on_line(bones, (tx, ty, tz))
        for used in range(1, iterations + 1):
            if bend:
                turns, bones = forward(scaled, _bent(offsets, _local(turns), target))
                ex, ey, ez = _remaining((tx, ty, tz), bones)
                error, bend = math.sqrt(ex * ex + ey * ey + ez * ez), False
            before = error
            part = min(1.0, LARGEST_STEP / error) if error else 0.0
            moved, ends, (x, y, z), stiff = _step(turns, bones, (part * ex, part * ey, part * ez), damping)
            x, y, z = tx - x, ty - y, tz - z
            now = math.sqrt(x * x + y * y + z * z)
            if now < error:
                turns, bones, ex, ey, ez, error = moved, ends, x, y, z, now
                damping = max(EASIER * damping, least)
            else:
                damping = min(max(HARDER * damping, stiff), most)
            if used % UNIT_EVERY == 0:
                turns = [_unit(q) for q in turns]
            errors.append(error)
            if error < best_error:
                best, best_error = turns, error
            if error < goal:
                break
            bend = used in SECOND_LOOKS and error > STALLED * before and _is_on_line(bones, (tx, ty, tz))
    poses = start if best_error == errors[0] else np.array(_local(best))[..., None]
    rows = list(size * np.array(errors)[:, None]) if history else []
    return Outcome(poses, np.array([used]), rows, np.array([size * best_error]))


def _step(turns: Pose, bones: list[Vector], error: Vector, damping: float) -> tuple[Pose, list[Vector], Vector, float]:
    """One step: orientations, bones, effector, and the damping that affects it at all."""
    rx = ry = rz = xx = yy = zz = xy = yz = zx = 0.0
    for x, y, z in reversed(bones):
        rx, ry, rz = rx + x, ry + y, rz + z
        xx, yy, zz = xx + rx * rx, yy + ry * ry, zz + rz * rz
        xy, yz, zx = xy + rx * ry, yz + ry * rz, zx + rz * rx
    (fx, fy, fz), stiff = force(xx, yy, zz, xy, yz, zx, error, damping)
    moved, ends = [], []
    hx = hy = hz = ox = oy = oz = 0.0
    for (w, x, y, z), (bx, by, bz) in zip(turns, bones, strict=True):
        # Half the rotation vector of the bone, the sum of those of its joints; its quaternion (1, h) is no unit one.
        hx, hy, hz = hx + ry * fz - rz * fy, hy + rz * fx - rx * fz, hz + rx * fy - ry * fx
        rx, ry, rz = rx - bx, ry - by, rz - bz
        moved.append(
            (w - hx * x - hy * y - hz * z, x + hx * w + hy * z - hz * y,
             y + hy * w + hz * x - hx * z, z + hz * w + hx * y - hy * x)
        )  # fmt: skip
        tx, ty, tz = hy * bz - hz * by, hz * bx - hx * bz, hx * by - hy * bx
        s = 2.0 / (1.0 + hx * hx + hy * hy + hz * hz)
        x = bx + s * (tx + hy * tz - hz * ty)
        y = by + s * (ty + hz * tx - hx * tz)
        z = bz + s * (tz + hx * ty - hy * tx)
        ends.append((x, y, z))
        ox, oy, oz = ox + x, oy + y, oz + z
    return moved, ends, (ox, oy, oz), stiff


def force(
    xx: Number,
    yy: Number,
    zz: Number,
    xy: Number,
    yz: Number,
    zx: Number,
    error: Vector,
    damping: Number,
) -> tuple[Vector, Number]:
    """Half the solution of (J J^T + damping) f = error, and about the smallest eigenvalue of this matrix.

    xx to zx: the sums of the products of the arms. By the matrix of cofactors: a smaller damping than the smallest
    eigenvalue has no effect.
    """
    a, b, c = yy + zz + damping, zz + xx + damping, xx + yy + damping
    aa, bb, cc = b * c - yz * yz, a * c - zx * zx, a * b - xy * xy
    ab, bc, ca = xy * c + yz * zx, a * yz + xy * zx, xy * yz + b * zx
    determinant = a * aa - xy * ab - zx * ca
    ex, ey, ez = error
    half = 0.5 / determinant
    force = (
        half * (aa * ex + ab * ey + ca * ez),
        half * (ab * ex + bb * ey + bc * ez),
        half * (ca * ex + bc * ey + cc * ez),
    )
    return force, determinant / (aa + bb + cc)


def forward(offsets: list[Vector], pose: Pose) -> tuple[Pose, list[Vector]]:
    """Orientations of the joints, and their bones, in the frame of the base."""
    turn, turns, bones = pose[0], [pose[0]], [arithmetic.rotate(pose[0], offsets[0])]
    for q, offset in zip(pose[1:], offsets[1:], strict=True):
        turn = arithmetic.multiply(turn, q)
        turns.append(turn)
        bones.append(arithmetic.rotate(turn, offset))
    return turns, bones


def _local(turns: Pose) -> Pose:
    """The inverse of `forward`: rotations relative to the joint before. turns: of any lengths."""
    relative = [arithmetic.multiply((w, -x, -y, -z), after) for (w, x, y, z), after in pairwise(turns)]
    return [_unit(turns[0]), *map(_unit, relative)]


def _unit(q: Quaternion) -> Quaternion:
    w, x, y, z = q
    factor = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    return factor * w, factor * x, factor * y, factor * z


def _remaining(target: Vector, bones: list[Vector]) -> Vector:
    x, y, z = target
    for a, b, c in bones:
        x, y, z = x - a, y - b, z - c
    return x, y, z


def _is_on_line(bones: list[Vector], target: Vector) -> bool:
    """Whether all joints are about on the line to the target, a pose that no rotation improves: see `unfolding`."""
    far = math.sqrt(arithmetic.dot(target, target))
    if far <= unfolding.NO_DISTANCE:
        return True
    place, most = arithmetic.ORIGIN, unfolding.STRAIGHT * far
    for bone in bones:
        place = arithmetic.add(place, bone)
        aside = arithmetic.cross(place, target)
        if arithmetic.dot(aside, aside) > most * most:
            return False
    return True


def _bent(offsets: Array, pose: Pose, target: Array) -> Pose:
    """The pose of one chain, bent if it is on the line to the target."""
    bent = unfolding.unfolded(task(offsets, target, single=True), np.array(pose)[..., None])
    return [tuple(q) for q in bent[..., 0].tolist()]


def task(offsets: Array, target: Array, *, single: bool) -> Task:
    """What `unfolding` asks for. offsets: (n, 3, 1 or m)."""
    shared = offsets.shape[-1] == 1
    return Task(
        single=single,
        data={"target": target} if shared else {"target": target, "offsets": offsets},
        limits=[None] * len(offsets),
        shared_offsets=[tuple(offset) for offset in offsets[..., 0].tolist()] if shared else None,
    )
