"""Spring bones: one chain and a hundred, against the plain loop over frames and bones of the solvers' table.

The goals are 5 ms, 60 ms among colliders that are touched, and 0.3 s where that loop takes 50 ms.
"""

from collections.abc import Callable

import numpy as np

from lookat_pd import rotation, springs
from lookat_pd.springs import Colliders, SpringMotion

from . import solver
from .rows import Goal, Row
from .timing import clocked, shortest

RATE, FRAMES, REPEATS = 24, 250, 15


def chains(count: int, bones: int, **among) -> Callable[[], SpringMotion]:
    """Tails of an animal that sways, each with so many bones. among: what they collide with."""
    t = np.arange(FRAMES) / RATE
    base = np.stack((0.1 * np.sin(5.0 * t), 0.05 * np.sin(3.0 * t), 0.03 * np.cos(9.0 * t)), axis=-1)
    turned = rotation.exp(0.3 * np.stack((np.sin(2.0 * t), np.cos(3.0 * t), np.sin(4.0 * t)), axis=-1))[:, None, None]
    along = np.zeros((count, bones, 3))
    along[..., 1], along[..., 0] = 0.1 * np.arange(bones), 0.002 * np.arange(count)[:, None]
    places = base[:, None, None] + rotation.rotate(turned, along)
    rotations = np.broadcast_to(turned, (FRAMES, count, bones, 4))
    parents = np.where(np.arange(count * bones) % bones, np.arange(count * bones) - 1, -1)
    tips = np.tile([0.0, 0.1, 0.0], (count * bones, 1))
    shape = FRAMES, count * bones
    arguments = places.reshape(*shape, 3), rotations.reshape(*shape, 4), tips, parents, 1.0 / RATE
    return lambda: springs.solve(*arguments, settle_time=0.6, gravity=(0.0, 0.0, -3.0), drag=0.5, **among)


def run() -> list[Row]:
    """The table of spring bones."""
    ball = Colliders.made([[0.05, 0.4, -0.05]], [[0.05, 0.4, -0.05]], 0.1, 0.3)
    works = {
        "loop": solver.plain_loop(solver.FRAMES),
        "one": chains(1, 9),
        "many": chains(100, 6),
        "colliding": chains(1, 9, colliders=ball, radius=0.02),
    }
    times = shortest({name: clocked(work) for name, work in works.items()}, REPEATS)
    group = f"Spring bones, {FRAMES} frames"
    peer = "the plain loop"
    rows = [
        ("one", "a chain of 9", Goal(0.1)),
        ("many", "100 chains of 6", Goal(6.0)),
        ("colliding", "a chain of 9 on a sphere", Goal(1.2)),
    ]
    return [
        Row(f"springs.{name}", what, times[name], times[name] / times["loop"], peer, goal, group)
        for name, what, goal in rows
    ]
