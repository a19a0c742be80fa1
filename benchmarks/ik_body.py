"""Rows of `ik` for several effectors: hands of a body follow targets while its feet stay; mink where it is installed.

`ik` says how to install mink, which is not among the project's requirements.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from time import perf_counter

import numpy as np

from lookat_pd import ik, rotation, skeleton
from lookat_pd.ik.body_objectives import HIGH, NORMAL
from lookat_pd.rotation import Array

from .rows import SECONDS, SPEEDUP, Goal, Row, duration
from .timing import clocked, seconds, shortest

FRAMES, FEW, REPEATS = 250, 20, 3
POSITION, ANGLE = 1e-3, 2e-3
"""Largest distance [m] and angle [rad] of an effector that has arrived."""
MOST = 60
"""Iterations of mink for a frame."""


class Body:
    """A spine, a head, two arms with hands of four fingers and two legs: 60 joints, over frames that sway.

    Targets (F, 4, 3) and orientations (F, 4, 4) of hands and feet; the hands move by up to 8 cm, the feet stay.
    """

    def __init__(self) -> None:
        self.parents, offsets = [-1], [[0.0, 0.0, 1.0]]

        def line(parent: int, count: int, *offset: float) -> int:
            for _ in range(count):
                self.parents.append(parent)
                offsets.append(list(offset))
                parent = len(offsets) - 1
            return parent

        chest = line(0, 6, 0.0, 0.0, 0.09)
        line(chest, 3, 0.0, 0.0, 0.08)
        self.ends = []
        for side in (1.0, -1.0):
            shoulder = line(chest, 3, 0.07 * side, 0.0, 0.0)
            self.ends.append(line(shoulder, 4, 0.09 * side, -0.06, -0.08))
            for _ in range(4):
                line(self.ends[-1], 3, 0.03 * side, 0.0, -0.02)
        for side in (1.0, -1.0):
            knee = line(0, 3, 0.04 * side, -0.03, -0.15)
            self.ends.append(line(knee, 3, 0.0, 0.03, -0.15))
        self.offsets = np.array(offsets)
        random = np.random.default_rng(0)
        t = np.arange(FRAMES)[:, None, None] / 20.0
        phase = random.uniform(0.0, 6.0, size=(1, len(offsets), 3))
        self.start = rotation.exp(0.03 * random.normal(size=(1, len(offsets), 3)) + 0.03 * np.sin(t + phase))
        turns, places = skeleton.forward(self.parents, self.offsets, self.start)
        self.targets, self.orientations = places[:, self.ends].copy(), turns[:, self.ends]
        for n in range(2):
            ways = (np.sin(t[:, 0, 0] + n), np.cos(1.3 * t[:, 0, 0]), np.sin(0.7 * t[:, 0, 0]))
            self.targets[:, n] += 0.08 * np.stack(ways, axis=-1)

    def objectives(self, frames: slice) -> list[ik.BodyObjective]:
        wanted: list[ik.BodyObjective] = []
        for n, joint in enumerate(self.ends):
            priority = NORMAL if n < 2 else HIGH
            wanted.append(ik.BodyPosition(joint, self.targets[frames, n], priority=priority))
            wanted.append(ik.BodyOrientation(joint, self.orientations[frames, n], priority=priority))
        return wanted

    def solve(self, frames: slice, *, in_time: bool = False) -> ik.BodySolution:
        objectives = self.objectives(frames)
        return ik.solve_body(
            self.parents, self.offsets, self.start[frames], objectives, move_root=True, in_time=in_time
        )


def arrived(errors: Array) -> float:
    """The part of effectors that are in their place, of errors (..., 8): a distance and an angle of each in turn."""
    return float(np.mean((errors[..., ::2] < POSITION) & (errors[..., 1::2] < ANGLE)))


def with_mink(body: Body) -> tuple[float, Array]:
    """Seconds a frame of mink, each frame from the solution before, and errors (F, 8)."""
    import mink
    import mujoco

    children: list[list[int]] = [[] for _ in body.parents]
    for joint, parent in enumerate(body.parents[1:], start=1):
        children[parent].append(joint)

    def text(joint: int) -> str:
        place = " ".join(map(str, body.offsets[joint]))
        kind = '<joint type="ball"/>' if joint else "<freejoint/>"
        inside = "".join(map(text, children[joint]))
        return f'<body name="b{joint}" pos="{place}">{kind}<geom size="0.01" mass="0.1"/>{inside}</body>'

    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{text(0)}</worldbody></mujoco>")
    address = {n: int(model.body(f"b{n}").jntadr[0]) for n in range(len(body.parents))}
    configuration = mink.Configuration(model)
    tasks = [
        mink.FrameTask(f"b{joint}", "body", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6)
        for joint in body.ends
    ]
    posture = mink.PostureTask(model, cost=1e-3)
    errors = np.zeros((FEW, 8))
    begin = 0.0
    for frame in range(-1, FEW):
        if frame == 0:
            begin = perf_counter()
        pose = np.zeros(model.nq)
        for joint, start in address.items():
            at = int(model.jnt_qposadr[start]) + (0 if joint else 3)
            pose[at : at + 4] = body.start[max(frame, 0), joint]
        pose[:3] = body.offsets[0]
        posture.set_target(pose)
        if frame < 0:
            configuration.update(pose)
        for n, task in enumerate(tasks):
            turn = mink.SO3(body.orientations[max(frame, 0), n])
            task.set_target(mink.SE3.from_rotation_and_translation(turn, body.targets[max(frame, 0), n]))
        for _ in range(MOST):
            off = [task.compute_error(configuration) for task in tasks]
            away = [(np.linalg.norm(e[:3]), np.linalg.norm(e[3:])) for e in off]
            if all(a < POSITION and b < ANGLE for a, b in away):
                break
            velocity = mink.solve_ik(configuration, [*tasks, posture], 1.0, solver="daqp", damping=1e-6)
            configuration.integrate_inplace(velocity, 1.0)
        if frame >= 0:
            errors[frame] = np.ravel([(np.linalg.norm(e[:3]), np.linalg.norm(e[3:])) for e in off])
    return (perf_counter() - begin) / FEW, errors


def rows() -> Sequence[Row]:
    """The rows of several effectors; ratios are to one frame at a time."""
    body = Body()
    alone, followed = body.solve(slice(None)), body.solve(slice(None), in_time=True)
    works = {"batch": lambda: body.solve(slice(None)), "time": lambda: body.solve(slice(None), in_time=True)}
    times = shortest({name: clocked(work) for name, work in works.items()}, REPEATS)
    whole, in_time = times["batch"], times["time"]
    single = seconds(lambda: [body.solve(slice(n, n + 1)) for n in range(FEW)], 2) / FEW
    group, goal = f"IK, {len(body.parents)} bones, 4 effectors with orientation", Goal(0.5, SECONDS)
    near, also = (
        f"{arrived(part.errors):.1%} of the effectors within {1e3 * POSITION:g} mm" for part in (alone, followed)
    )
    result = [
        Row("ik.body.single", "one frame at a time", single, group=group, per="a frame"),
        Row(
            "ik.body.batch",
            f"{FRAMES} frames in a batch",
            whole,
            whole / FRAMES / single,
            "one frame at a time, per frame",
            goal,
            group,
            faster=True,
            also=near,
        ),
        Row(
            "ik.body.time",
            f"{FRAMES} frames that follow each other",
            in_time,
            in_time / whole,
            "in a batch",
            goal,
            group,
            faster=True,
            also=also,
        ),
    ]
    if find_spec("mink"):
        took, errors = min((with_mink(body) for _ in range(REPEATS)), key=lambda run: run[0])
        also = f"mink {duration(took)} a frame with {arrived(errors):.1%} of the effectors as near"
        each = in_time / FRAMES
        what = f"{FRAMES} frames that follow each other, against mink"
        goal = Goal(10, SPEEDUP)
        result.append(
            Row("ik.body.mink", what, each, each / took, "mink", goal, group, per="a frame", faster=True, also=also)
        )
    return result
