"""The solver alone: the project's figure, its growth, and what a plain loop over frames and bones costs."""

from collections.abc import Callable, Sequence

import numpy as np

from lookat_pd import gaze, rotation
from lookat_pd.rotation import Array

from .rows import LOOP, SECONDS, Goal, Row
from .timing import clocked, shortest

RATE = 24
BONES = 10
FRAMES = 250
REPEATS = 15
FEW = 4
EVENTS = (gaze.Event(0.5, 0), gaze.Event(3.0, 1), gaze.Event(7.0, None))
ALWAYS = (gaze.Event(-1.0, 0),)
"""As a look-at has it that nobody switches off: after the last of `EVENTS` most frames of a long range are not solved.
"""


def chain() -> gaze.Chain:
    torso = BONES - 2
    return gaze.Chain(
        shares=np.array([0.4, 0.25, *[0.35 / torso] * torso]),
        settle_factors=np.linspace(1.0, 2.3, BONES),
        yaw_limits=np.radians([60.0, 35.0, *[15.0] * torso]),
        pitch_up_limits=np.radians([45.0, 25.0, *[10.0] * torso]),
        pitch_down_limits=np.radians([45.0, 25.0, *[10.0] * torso]),
        compensates_lag=np.arange(BONES) < 2,
        forward=np.tile([0.0, 0.0, 1.0], (BONES, 1)),
        up=np.tile([0.0, 1.0, 0.0], (BONES, 1)),
        near=0.1,
    )


def shot(frames: int) -> tuple[Array, Array, Array]:
    """Rotations, positions and two targets: a spine that sways, a ball that goes about it, a still one."""
    t = np.arange(frames) / RATE
    sway = 0.1 * np.stack((np.sin(t), np.sin(1.7 * t), np.cos(0.9 * t)), axis=-1)
    orientation, place = rotation.identity(frames), np.tile([0.0, 0.0, 1.0], (frames, 1))
    rest = rotation.from_axis_angle([1.0, 0.0, 0.0], 0.5 * np.pi)
    rotations, positions = np.empty((frames, BONES, 4)), np.empty((frames, BONES, 3))
    for bone in reversed(range(BONES)):
        orientation = rotation.multiply(orientation, rotation.exp(sway / (1 + bone)))
        rotations[:, bone], positions[:, bone] = rotation.multiply(orientation, rest), place
        place = place + rotation.rotate(orientation, np.array([0.0, 0.0, 0.06]))
    ball = np.stack((2.0 * np.sin(t), -2.0 * np.cos(0.8 * t), 2.0 + 0.0 * t), axis=-1)
    return rotations, positions, np.stack((ball, np.tile([2.0, -2.0, 2.0], (frames, 1))))


def solve(frames: int, events: Sequence[gaze.Event] = EVENTS) -> Callable[[], gaze.Solution]:
    arguments = shot(frames)
    return lambda: gaze.solve(chain(), gaze.Tuning(), *arguments, 1.0 / RATE, events)


def plain_loop(frames: int) -> Callable[[], Array]:
    """The same controllers as a game engine has them: per frame, per bone, one number at a time."""
    rotations, positions, targets = shot(frames)
    wanted = chain()
    omegas = 2.0 * np.pi / (0.6 * wanted.settle_factors)

    def work() -> Array:
        x, v = np.zeros((BONES, 3)), np.zeros((BONES, 3))
        offsets = np.empty((frames, BONES, 4))
        for frame in range(frames):
            time = frame / RATE
            target = next((e.target for e in reversed(EVENTS) if e.time <= time), None)
            yaw = pitch = 0.0
            if target is not None:
                away = targets[target, frame] - positions[frame, 0]
                local = rotation.rotate(rotation.inverse(rotations[frame, 0]), away)
                yaw = np.arctan2(local[0], local[2])
                pitch = np.arctan2(local[1], np.hypot(local[0], local[2]))
            for bone in reversed(range(BONES)):
                share = wanted.shares[bone]
                across = np.clip(share * yaw, -wanted.yaw_limits[bone], wanted.yaw_limits[bone])
                upward = np.clip(share * pitch, -wanted.pitch_down_limits[bone], wanted.pitch_up_limits[bone])
                goal = across * wanted.up[bone] + upward * wanted.right[bone]
                omega, h = omegas[bone], 1.0 / RATE
                decay, y = np.exp(-omega * h), x[bone] - goal
                rise = v[bone] + omega * y
                x[bone], v[bone] = goal + decay * (y + rise * h), decay * (v[bone] - omega * rise * h)
                offsets[frame, bone] = rotation.exp(x[bone])
        return offsets

    return work


def run() -> list[Row]:
    """The table of the solver."""
    times = shortest({"solver": clocked(solve(FRAMES)), "loop": clocked(plain_loop(FRAMES))}, REPEATS)
    of = f"Look-at of {BONES} bones over {FRAMES} frames"
    rows = [
        Row(LOOP, "a plain loop over frames and bones", times["loop"], group=of),
        Row(
            "solver.solve",
            "the solver",
            times["solver"],
            times["solver"] / times["loop"],
            "the loop",
            Goal(15e-3, SECONDS),
            of,
            faster=True,
        ),
    ]
    return rows + _characters() + _frames()


def _characters() -> list[Row]:
    work, group = solve(FRAMES), f"Characters, {FRAMES} frames each"
    times = shortest({str(n): clocked(lambda n=n: [work() for _ in range(n)]) for n in (1, 10, 100)}, FEW)
    each = {n: times[str(n)] / n for n in (1, 10, 100)}
    return [Row("solver.characters.1", "1", each[1], group=group, per="a character")] + [
        Row(f"solver.characters.{n}", str(n), each[n], each[n] / each[1], "one", group=group, per="a character")
        for n in (10, 100)
    ]


def _frames() -> list[Row]:
    sizes, group = (100, 1_000, 10_000), "Frames of 1 character"
    times = shortest({str(n): clocked(solve(n)) for n in sizes}, FEW)
    rows = []
    for n, before in zip(sizes, (0, *sizes), strict=False):
        each = times[str(n)] / n
        # Below a thousand frames most of the time does not depend on their number.
        ratio = each * before / times[str(before)] if before >= 1_000 else None
        peer = f"a frame of {before:,}" if ratio else ""
        also = f"{1e6 * each:.0f} µs a frame"
        rows.append(Row(f"solver.frames.{n}", f"{n:,}", times[str(n)], ratio, peer, group=group, also=also))
    return rows
