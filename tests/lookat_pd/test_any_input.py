"""Whatever a solver is given, it answers with finite numbers or with our error, in bounded time and memory.

Each call begins as one that works. Then some of its arguments are replaced: by other shapes, units, degenerate values,
numbers that are none, or no numbers at all.
"""

import importlib
import inspect
import pkgutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from types import CodeType
from typing import Any

import numpy as np
import pytest
from attack import attack
from hypothesis import given, settings
from hypothesis import strategies as st

import lookat_pd
from lookat_pd import checks, conversation, dynamics, eyes, gaze, ik, pd, rotation, skeleton, springs, transitions
from lookat_pd.body import legs
from lookat_pd.conversation import files
from lookat_pd.dynamics import (
    Body,
    Hit,
    Obstacles,
    RootMotion,
    interpolate,
    key_velocities,
    reach,
    respond,
    simulate,
)
from lookat_pd.dynamics import available as engine_available
from lookat_pd.errors import FileError, InvalidArgument
from lookat_pd.gaze.realtime import RealtimeLookAt
from lookat_pd.message import Message
from lookat_pd.rotation import Array
from lookat_pd.transitions import methods, spring

SECONDS = 60.0
"""Processor time of all threads that only a call that does not return takes. The longest calls take 0.5 s; with numpy
1.26, whose threads wait for each other in small linear systems, 5 s, and machines may be five times as slow."""
BYTES = 1e9
"""Memory that one call may take."""
NUMBERS = (np.nan, np.inf, -np.inf, 0.0, -1.0, 1e-300, 1e-16, 1e-5, 1e6, 1e18, 1e200, -1e308)
MAY_BE_NAN = {"error", "costs", "listening", "speaking", "mutual"}
"""Fields that have no number where there is no target, where a pass has failed, and where nobody listens or speaks."""


@dataclass(frozen=True)
class Call:
    """A solver, and arguments with which it works, made from chance."""

    solver: Callable[..., Any]
    arguments: Callable[[np.random.Generator], dict[str, Any]]
    engine: bool = False


def unit(random: np.random.Generator, *shape: int) -> np.ndarray:
    return rotation.normalize(random.normal(size=(*shape, 4)))


def chain_arguments(n: int) -> dict[str, Any]:
    return {
        "shares": np.full(n, 1.0 / n),
        "settle_factors": np.linspace(1.0, 2.0, n),
        "yaw_limits": np.full(n, 0.8),
        "pitch_up_limits": np.full(n, 0.5),
        "pitch_down_limits": np.full(n, 0.5),
        "compensates_lag": np.arange(n) < 1,
        "forward": np.tile([0.0, 0.0, 1.0], (n, 1)),
        "up": np.tile([0.0, 1.0, 0.0], (n, 1)),
    }


CHAIN = set(chain_arguments(1)) | {"soft_edge", "near", "level"}
TUNING = {f.name for f in fields(gaze.Tuning)}


def look(**given: Any) -> Any:
    chain = gaze.Chain(**{name: given.pop(name) for name in CHAIN & given.keys()})
    tuning = gaze.Tuning(**{name: given.pop(name) for name in TUNING & given.keys()})
    events = [gaze.Event(given.pop("first"), given.pop("whom")), gaze.Event(given.pop("off"), None)]
    return gaze.solve(chain, tuning, events=events, **given)


def look_arguments(random: np.random.Generator) -> dict[str, Any]:
    n, frames = int(random.integers(1, 4)), int(random.integers(1, 9))
    return chain_arguments(n) | {
        "settle_time": 0.6,
        "damping_ratio": float(random.choice([0.0, 0.7, 1.0, 3.0])),
        "integrator": str(random.choice(["exact", "stable", "euler"])),
        "method": str(random.choice(["geodesic", "component"])),
        "max_speed": float(random.choice([0.0, 2.0])),
        "feed_forward": float(random.choice([0.0, 0.5])),
        "release_angle": 0.01,
        "release_speed": 0.03,
        "release_time": 0.2,
        "soft_edge": 0.1,
        "near": 0.1,
        "rotations": unit(random, frames, n),
        "positions": random.normal(size=(frames, n, 3)),
        "targets": random.normal(scale=5.0, size=(2, frames, 3)),
        "dt": 1.0 / 24.0,
        "first": float(random.uniform(-1.0, 0.1)),
        "whom": int(random.integers(2)),
        "off": float(random.uniform(0.0, 0.4)),
        "influence": 1.0,
        "shift": 0.0,
    }


def look_in_steps(**given: Any) -> Any:
    chain = gaze.Chain(**{name: given.pop(name) for name in CHAIN & given.keys()})
    tuning = gaze.Tuning(**{name: given.pop(name) for name in TUNING & given.keys()})
    events = [gaze.Event(given.pop("first"), given.pop("whom")), gaze.Event(given.pop("off"), None)]
    influence, moved, up, tilt, sizes = (given.pop(name) for name in ("influence", "moved", "upright", "tilt", "sizes"))
    samples = gaze.prepare(tuning, **given).standing(up).tilted(tilt).sized(sizes)
    kept = gaze.KeptParts()
    run = gaze.run_timeline(chain, tuning, samples, events, kept)
    whole = gaze.solve_samples(chain, tuning, samples, events, influence, kept)
    return whole, gaze.solve_shifted(run, samples, moved, influence), chain.ahead(tilt, sizes)


def look_in_steps_arguments(random: np.random.Generator) -> dict[str, Any]:
    found = look_arguments(random)
    frames = len(found["positions"])
    return found | {
        "moved": np.zeros((frames, 3)),
        "upright": np.tile([0.0, 0.0, 1.0], (frames, 1)),
        "level": 0.5,
        "tilt": random.choice([0.0, 0.1], frames),
        "sizes": random.uniform(0.5, 2.0, frames),
    }


def follow(**given: Any) -> Any:
    chain = gaze.Chain(**{name: given.pop(name) for name in CHAIN & given.keys()})
    one = RealtimeLookAt(chain, gaze.Tuning(settle_time=given.pop("settle_time")))
    one.start(given.pop("offsets"))
    return [one.step(**given) for _ in range(2)]


def follow_arguments(random: np.random.Generator) -> dict[str, Any]:
    n = int(random.integers(1, 4))
    return chain_arguments(n) | {
        "settle_time": 0.5,
        "offsets": rotation.identity(n),
        "rotations": unit(random, n),
        "positions": random.normal(size=(n, 3)),
        "target": random.normal(scale=4.0, size=3),
        "dt": 0.04,
        "shift": 0.0,
    }


EYES = {"forward", "head_forward", "head_up", "yaw_limit", "vergence", "saccade_rate", "micro", "micro_rate", "seed"}


def eyes_look(**given: Any) -> Any:
    able = eyes.Eyes(**{name: given.pop(name) for name in EYES & given.keys()})
    events = [gaze.Event(given.pop("first"), 0), gaze.Event(given.pop("off"), None)]
    return eyes.solve(able, events=events, **given)


def eyes_arguments(random: np.random.Generator) -> dict[str, Any]:
    n, k = int(random.integers(1, 12)), int(random.integers(1, 3))
    return {
        "forward": np.tile([0.0, -1.0, 0.0], (k, 1)),
        "head_forward": np.array([0.0, -1.0, 0.0]),
        "head_up": np.array([0.0, 0.0, 1.0]),
        "yaw_limit": 0.8,
        "vergence": 1.0,
        "saccade_rate": 0.13,
        "micro": float(random.choice([0.0, 0.01])),
        "micro_rate": 1.5,
        "seed": 3,
        "head": unit(random, n),
        "orientations": unit(random, n, k),
        "centers": random.normal(size=(n, k, 3)),
        "animated": unit(random, n, k),
        "targets": random.normal(scale=4.0, size=(2, n, 3)),
        "dt": 0.01,
        "first": float(random.uniform(-1.0, 0.05)),
        "off": 0.06,
        "time": 0.0,
    }


def cut_arguments(random: np.random.Generator, *, rotations: bool | None = None) -> dict[str, Any]:
    frames, bones = int(random.integers(1, 9)), int(random.integers(1, 4))
    turns = bool(random.integers(2)) if rotations is None else rotations
    make = unit if turns else lambda r, *shape: r.normal(size=(*shape, 3))
    return {
        "previous": make(random, 2, bones),
        "target": make(random, frames, bones),
        "dt": 1.0 / 30.0,
        "duration": 0.3,
        "kind": "rotation" if turns else "vector",
    }


def ik_arguments(random: np.random.Generator) -> dict[str, Any]:
    n, batch = int(random.integers(1, 5)), int(random.integers(1, 4))
    offsets = random.normal(size=(n, 3))
    if random.uniform() < 0.3:
        offsets[random.integers(n)] = 0.0
    limits = random.choice([None, "range", "euler", "locks"])
    return {
        "offsets": offsets,
        "rotations": unit(random, batch, n),
        "target": random.normal(size=(batch, 3)),
        "method": str(random.choice(list(ik.METHODS))),
        "iterations": 20,
        "tolerance": 1e-4,
        "base": random.normal(size=3),
        "minimum": np.full((n, 3), -0.5) if limits == "range" else None,
        "maximum": np.full((n, 3), 0.7) if limits == "range" else None,
        "euler_minimum": np.full((n, 3), -0.4) if limits == "euler" else None,
        "stiffness": np.full((n, 3), 0.5) if limits == "range" else None,
        "locks": random.uniform(size=(n, 3)) < 0.5 if limits == "locks" else None,
        "pole": random.normal(size=3) if random.uniform() < 0.3 else None,
        "elbow": random.normal(size=3) if random.uniform() < 0.3 else None,
        "hinges": np.eye(3)[random.integers(3, size=n)] if random.uniform() < 0.5 else None,
        "resistance": np.full(n, 0.2),
        "least": np.zeros(n),
        "most": np.full(n, 2.5),
        "orientation": unit(random) if random.uniform() < 0.5 else None,
    }


def limits_of(given: dict[str, Any]) -> ik.Limits | None:
    names = ("minimum", "maximum", "euler_minimum", "stiffness", "locks")
    found = {name: given.pop(name) for name in names if name in given}
    return ik.Limits(**found) if any(value is not None for value in found.values()) else None


def limited(**given: Any) -> Any:
    found = ik.Limits(**{name: value for name, value in given.items() if name != "rotations"})
    return [work(given["rotations"]) for work in (found.clamp, found.angles, found.excess)]


def limits_arguments(random: np.random.Generator) -> dict[str, Any]:
    n = int(random.integers(1, 4))
    return {
        "locks": random.uniform(size=(n, 3)) < 0.3,
        "minimum": np.full((n, 3), -0.5),
        "maximum": np.full((n, 3), 0.7),
        "stiffness": np.full((n, 3), 0.5),
        "rest": unit(random, n),
        "euler_minimum": np.full((n, 3), -0.4),
        "euler_maximum": np.full((n, 3), 0.4),
        "euler_order": "XYZ",
        "rotations": unit(random, 2, n),
    }


def solve_chain(**given: Any) -> Any:
    wanted = [ik.Pole(given["pole"])] if given["pole"] is not None else []
    wanted += [ik.Orientation(given["orientation"])] if given["orientation"] is not None else []
    wanted += [ik.JointGoal(1, given["elbow"])] if given["elbow"] is not None else []
    hinges, rest = given["hinges"], (given["resistance"], given["least"], given["most"])
    posture = None if hinges is None else ik.Posture(rest[0], hinges, *rest[1:])
    for name in ("pole", "orientation", "elbow", "hinges", "resistance", "least", "most"):
        del given[name]
    return ik.solve(**given | {"limits": limits_of(given)}, objectives=wanted, posture=posture)


def whole_body_arguments(random: np.random.Generator) -> dict[str, Any]:
    found = ik_arguments(random)
    n = len(found["offsets"])
    for name in ("method", "pole", "elbow", "hinges", "resistance", "least", "most"):
        del found[name]
    return found | {
        "parents": [int(random.integers(-1, joint)) if joint else -1 for joint in range(n)],
        "joint": n - 1,
        "offset": np.zeros(3),
        "weight": 1.0,
        "orientation": unit(random),
        "axis": np.array([0.0, 1.0, 0.0]),
        "polygon": np.eye(3),
    }


def solve_whole_body(**given: Any) -> Any:
    joint, target, weight = given.pop("joint"), given.pop("target"), given.pop("weight")
    objectives = [
        ik.BodyPosition(joint, target, given.pop("offset"), weight=weight),
        ik.BodyOrientation(joint, given.pop("orientation"), weight=weight),
        ik.BodyAim(joint, target, given.pop("axis"), priority=3),
        ik.BodyPole(joint, target, priority=2),
    ]
    n = len(given["offsets"]) if np.iterable(given["offsets"]) else 1
    balance = ik.Balance(np.ones(n), np.zeros((n, 3)), given.pop("polygon"), weight=weight)
    limits = limits_of(given)
    return ik.solve_body(objectives=objectives, balance=balance, **given, limits=limits, move_root=True)


def body_in_time_arguments(random: np.random.Generator) -> dict[str, Any]:
    """As many poses as some of them are solved from guesses."""
    found = whole_body_arguments(random)
    return found | {"rotations": np.stack(40 * [found["rotations"]]), "in_time": True}


def body_arguments(random: np.random.Generator, spread: float = 2.5) -> dict[str, Any]:
    n = int(random.integers(1, 4))
    masses = 10.0 ** random.uniform(-spread, spread, n)
    return {
        "parents": np.arange(n) - 1,
        "offsets": random.normal(scale=0.3, size=(n, 3)),
        "masses": masses,
        "centers": random.normal(scale=0.1, size=(n, 3)),
        "inertias": masses[:, None, None] * 0.01 * np.eye(3),
    }


BODY = {"parents", "offsets", "masses", "centers", "inertias"}


def with_body(solver: Callable[..., Any]) -> Callable[..., Any]:
    def call(**given: Any) -> Any:
        return solver(Body(**{name: given.pop(name) for name in BODY}), **given)

    return call


def keys_arguments(random: np.random.Generator) -> dict[str, Any]:
    body = body_arguments(random)
    n = len(body["parents"])
    return body | {
        "keys": unit(random, 3, n),
        "key_times": np.array([0.0, 0.1, 0.3]),
        "dt": 1.0 / 24.0,
        "residual": 0.01,
        "torque_limit": float(random.choice([0.5, 50.0, np.inf])),
        "gravity": np.array([0.0, 0.0, -9.81]),
        "inertia": str(random.choice(["true", "reference"])),
        "damping": float(random.choice([0.0, 0.1])),
        "stiffness": 1.0,
        "passive": random.uniform(size=n) < 0.3,
        "settle": 0.1,
        "velocities": random.normal(size=(3, n, 3)),
        "swing_past": 0.1,
    }


def poses_arguments(random: np.random.Generator) -> dict[str, Any]:
    body = body_arguments(random)
    n = len(body["parents"])
    return body | {
        "keys": unit(random, 3, n),
        "key_times": np.array([0.0, 0.1, 0.3]),
        "dt": 0.05,
        "kinds": ["auto", "auto", "stop"],
        "gravity": np.array([0.0, 0.0, -9.81]),
        "damping": 0.1,
        "strength": 1.0,
        "passes": 2,
    }


def reach_arguments(random: np.random.Generator) -> dict[str, Any]:
    body = body_arguments(random)
    n = len(body["parents"])
    return body | {
        "start": unit(random, n),
        "goal": random.normal(scale=0.3, size=3),
        "duration": 0.5,
        "dt": 1.0 / 24.0,
        "effector": (n - 1, np.array([0.0, 0.2, 0.0])),
        "method": str(random.choice(["smoothing", "optimal"])),
        "passes": int(random.integers(0, 3)),
        "gravity": np.array([0.0, 0.0, -9.81]),
        "damping": 0.1,
        "strength": 1.0,
    }


def moving_arguments(random: np.random.Generator) -> dict[str, Any]:
    given = reach_arguments(random)
    n = len(given["parents"])
    return given | {"method": "optimal", "velocities": random.normal(size=(n, 3)), "goal_velocity": np.full(3, 0.1)}


def reach_together(**given: Any) -> Any:
    names = "effector", "goal", "orientation"
    one = dynamics.Hand(**{name: given.pop(name) for name in names})
    other = dynamics.Hand(**{name: given.pop(f"other_{name}") for name in names})
    return with_body(dynamics.reach_together)(hands=[one, other], **given)


def hands_arguments(random: np.random.Generator) -> dict[str, Any]:
    given = reach_arguments(random)
    del given["method"]
    # The goals are reached in a pose that is near.
    parents, offsets, pose = (given[part] for part in ("parents", "offsets", "start"))
    near = rotation.multiply(pose, rotation.exp(random.normal(scale=0.05, size=(len(pose), 3))))
    turns, places = skeleton.forward(parents, offsets, near)
    points = [given["effector"], (0, np.array([0.0, 0.0, 0.2]))]
    goals = [places[joint] + rotation.rotate(turns[joint], point) for joint, point in points]
    hands = dict(zip(("effector", "other_effector", "goal", "other_goal"), (*points, *goals), strict=True))
    return given | hands | {"orientation": None, "other_orientation": None}


def path_arguments(random: np.random.Generator) -> dict[str, Any]:
    given = reach_arguments(random)
    chosen = {name: given[name] for name in (*body_arguments(random), "start", "effector")}
    orientations = unit(random, 4) if random.random() < 0.5 else None
    return chosen | {"path": random.normal(scale=0.3, size=(4, 3)), "orientations": orientations}


def reach_around(**given: Any) -> Any:
    obstacles = Obstacles(given.pop("starts"), given.pop("ends"), given.pop("radii"))
    return with_body(reach)(obstacles=obstacles, **given)


def obstacle_arguments(random: np.random.Generator) -> dict[str, Any]:
    places = random.normal(scale=0.3, size=(2, 3))
    return reach_arguments(random) | {"starts": places, "ends": 0.9 * places, "radii": np.array([0.1, 0.2])}


def hit_response(**given: Any) -> Any:
    hit = Hit(*(given.pop(name) for name in ("time", "joint", "point", "impulse")))
    return with_body(respond)(hits=[hit], **given)


def hit_arguments(random: np.random.Generator) -> dict[str, Any]:
    body = body_arguments(random)
    n = len(body["parents"])
    return body | {
        "animated": unit(random, 12, n),
        "dt": 1.0 / 24.0,
        "time": 0.1,
        "joint": int(random.integers(n)),
        "point": random.normal(scale=0.1, size=3),
        "impulse": 10.0 ** random.uniform(-2.0, 3.0) * random.normal(size=3),
        "settle_time": 0.6,
        "damping_ratio": 1.0,
        "stiffness": 0.25,
        "hinges": random.normal(size=(n, 3)) * (random.uniform(size=(n, 1)) < 0.5),
        "largest_angle": 1.0,
    }


def simulate_arguments(random: np.random.Generator) -> dict[str, Any]:
    body = body_arguments(random, 0.3)
    n = len(body["parents"])
    return body | {
        "start": unit(random, n),
        "duration": 0.1,
        "dt": 0.02,
        "velocity": random.normal(size=(n, 3)),
        "torques": 0.1 * body["masses"][:, None] * random.normal(size=(n, 3)),
        "gravity": np.array([0.0, 0.0, -9.81]),
        "damping": 0.1,
    }


def turned_torques(body: Body, **given: Any) -> Any:
    root = RootMotion(*(given.pop(name) for name in RootMotion._fields))
    return body.inverse(**given, root=root)


def turned_arguments(random: np.random.Generator) -> dict[str, Any]:
    vectors = {name: random.normal(size=(2, 3)) for name in RootMotion._fields[1:]}
    return inverse_arguments(random) | vectors | {"rotation": unit(random, 2)}


def inverse_arguments(random: np.random.Generator) -> dict[str, Any]:
    body = body_arguments(random)
    n = len(body["parents"])
    return body | {"q": unit(random, 2, n), "w": random.normal(size=(n, 3)), "dw": random.normal(size=(n, 3))}


def leg_arguments(random: np.random.Generator) -> dict[str, Any]:
    n, count = int(random.integers(1, 8)), int(random.integers(1, 3))
    found = {name: random.normal(size=(n, count, 3)) for name in ("hip", "knee", "ankle")}
    return (
        found
        | {name: unit(random, n, count) for name in ("upper", "lower", "foot")}
        | {
            "moved": random.normal(scale=0.1, size=3),
            "up": np.array([0.0, 0.0, 1.0]),
            "dt": 1.0 / 24.0,
            "smooth": 0.12,
            "acceleration": 1.5,
        }
    )


def plant(**given: Any) -> Any:
    names = ("hip", "knee", "ankle", "upper", "lower", "foot")
    animated = legs.Leg(**{name: given[name] for name in names})
    moved = checks.like("moved", given["moved"], 3)
    displaced = legs.Leg(*(getattr(animated, name) + (moved if n < 3 else 0.0) for n, name in enumerate(names)))
    soft = {name: given[name] for name in ("smooth", "acceleration")}
    lowered = legs.lowering(animated, displaced, given["up"], given["dt"], **soft)
    return lowered, legs.replant(animated, displaced)


TURNS = {"first", "second", "one", "other", "at"}


def talk(**given: Any) -> Any:
    """Everything that is planned for a conversation, and what is measured of it."""
    first, second, one, other, at = (given.pop(name) for name in ("first", "second", "one", "other", "at"))
    people, end, objects = (given.pop(name) for name in ("people", "end", "objects"))
    manner = conversation.Manner(**given)
    turns = [conversation.Turn(first, one), conversation.Turn(second, other, at)]
    looks = conversation.plan(turns, people, end, manner, objects)
    signs = (
        conversation.blinks(turns, people, end, looks, manner),
        conversation.nods(turns, people, end, manner),
        conversation.tilts(turns, people, end, manner),
        conversation.fixations(turns, people, end, looks, manner),
        conversation.gestures(turns, people, end, manner),
        conversation.shifts(turns, people, end, manner),
    )
    return looks, signs, conversation.shares(turns, people, end, looks)


def talk_arguments(random: np.random.Generator) -> dict[str, Any]:
    return {
        "seed": int(random.integers(100)),
        "reaction": (0.2, 0.6),
        "glances": float(random.choice([0.0, 0.5, 1.0])),
        "listening": 0.7,
        "speaking": 0.4,
        "hold": 3.0,
        "nearest": 0.2,
        "size": 1.0,
        "scanning": 1.0,
        "gestures": 1.0,
        "shifts": 1.0,
        "blinks": 1.0,
        "nods": 1.0,
        "tilts": 1.0,
        "first": 0.0,
        "second": 2.0,
        "one": 0,
        "other": 1,
        "at": random.choice([None, 2, 3]),
        "people": 3,
        "end": 6.0,
        "objects": 1,
    }


def few(count: Any) -> int:
    return count if isinstance(count, int) and 0 <= count < 9 else 0


def measured(**given: Any) -> Any:
    """What is measured, and the blinks, with looks and manners of somebody else."""
    turns = [conversation.Turn(0.0, 0), conversation.Turn(2.0, 1)]
    look = conversation.Look(given["time"], given["at"], given["yaw"], given["pitch"])
    looks, manners = [[look]] * few(given["rows"]), [conversation.Manner()] * few(given["manners"])
    people, end = given["people"], given["end"]
    plan = conversation.plan(turns, people, end, manners)
    signs = conversation.blinks(turns, people, end, looks, manners), conversation.nods(turns, people, end, manners)
    return conversation.shares(turns, people, end, looks), plan, signs


def measured_arguments(random: np.random.Generator) -> dict[str, Any]:
    look = {"time": float(random.uniform(-1.0, 6.0)), "at": int(random.integers(2)), "yaw": 0.1, "pitch": 0.0}
    return look | {"people": 2, "end": 6.0, "rows": 2, "manners": 2}


def blended(row: methods.TransitionMethod) -> Callable[..., Any]:
    def call(**given: Any) -> Any:
        return row.blend(**given)

    return call


def blended_arguments(row: methods.TransitionMethod) -> Callable[[np.random.Generator], dict[str, Any]]:
    def arguments(random: np.random.Generator) -> dict[str, Any]:
        found = cut_arguments(random)
        return found | {"source": found["target"][::-1]} | ({"damping_ratio": 0.6} if row.has_damping else {})

    return arguments


def places(random: np.random.Generator, *shape: int) -> Array:
    return random.normal(size=(*shape, 3))


def followed(solver: Callable[..., Any]) -> Callable[..., Any]:
    """A solver of offsets with the fields of its controller as arguments."""

    def follow_goals(animated, goals, on, dt, **tuning: Any) -> Any:
        return solver(animated, goals, on, dt, pd.offsets.Controller(**tuning))

    return follow_goals


def offset_arguments(random: np.random.Generator, motion: Callable[..., Array]) -> dict[str, Any]:
    frames = int(random.integers(1, 9))
    return {
        "animated": motion(random, frames),
        "goals": motion(random, frames) if random.random() < 0.7 else None,
        "on": random.random(frames) < 0.5,
        "dt": 1.0 / 24.0,
        "settle_time": 0.5,
        "damping_ratio": float(random.choice([0.0, 0.7, 1.0, 2.0])),
        "integrator": str(random.choice(["exact", "stable", "euler"])),
        "max_speed": random.choice([None, 2.0]),
        "max_turn": random.choice([None, 2.0]),
        "feed_forward": 0.3,
    }


def springs_arguments(random: np.random.Generator) -> dict[str, Any]:
    n, frames = int(random.integers(1, 5)), int(random.integers(1, 9))
    return {
        "positions": random.normal(size=(frames, n, 3)),
        "rotations": unit(random, frames, n),
        "tips": random.normal(size=(n, 3)) * (random.random((n, 1)) < 0.9),
        "parents": np.array([int(random.integers(-1, bone)) if bone else -1 for bone in range(n)]),
        "dt": 1.0 / 24.0,
        "settle_time": float(random.uniform(0.1, 2.0)),
        "damping_ratio": random.choice([0.0, 0.5, 2.0], n),
        "inertia": float(random.choice([0.0, 0.5, 1.0])),
        "center": (random.normal(size=(frames, 3)), unit(random, frames)),
        "gravity": (0.0, 0.0, -9.81),
        "wind": random.normal(size=(frames, n, 3)),
        "drag": float(random.choice([0.0, 1.0])),
        "stretch": float(random.choice([0.0, 0.5])),
        "cyclic": False,
        "restarts": random.random(frames) < 0.2,
    }


def swing_among_colliders(**given: Any) -> Any:
    made = {name: given.pop(name) for name in ("begins", "ends", "radii", "friction", "is_plane")}
    return springs.solve(**given, colliders=springs.Colliders.made(**made))


def colliders_arguments(random: np.random.Generator) -> dict[str, Any]:
    given = springs_arguments(random)
    return given | {
        "begins": random.normal(size=(2, 3)),
        "ends": random.normal(size=(2, 3)),
        "radii": 0.2,
        "friction": float(random.uniform(0.0, 1.0)),
        "is_plane": random.random(2) < 0.3,
        "radius": float(random.choice([0.0, 0.1])),
    }


CALLS = {
    "track": Call(
        pd.track,
        lambda random: {
            "target": random.normal(size=(int(random.integers(1, 9)), 2)),
            "dt": 1.0 / 24.0,
            "settle_time": 0.5,
            "damping_ratio": float(random.choice([0.0, 0.7, 1.0, 2.0])),
            "x0": None,
            "v0": np.zeros(2),
            "integrator": str(random.choice(["exact", "stable", "euler"])),
            "max_speed": random.choice([None, 2.0]),
            "max_step": None,
            "feed_forward": 0.3,
        },
    ),
    "track_quaternion": Call(
        pd.track_quaternion,
        lambda random: {
            "target": unit(random, int(random.integers(1, 9)), 2),
            "dt": 1.0 / 24.0,
            "settle_time": 0.5,
            "damping_ratio": 0.8,
            "q0": None,
            "w0": np.zeros(3),
            "method": str(random.choice(["geodesic", "component"])),
            "integrator": str(random.choice(["exact", "stable", "euler"])),
            "max_speed": random.choice([None, 2.0]),
            "max_angle": random.choice([None, 0.5]),
        },
    ),
    "position_offsets": Call(followed(pd.offsets.position_offsets), lambda random: offset_arguments(random, places)),
    "rotation_offsets": Call(followed(pd.offsets.rotation_offsets), lambda random: offset_arguments(random, unit)),
    "springs": Call(springs.solve, springs_arguments),
    "springs among colliders": Call(swing_among_colliders, colliders_arguments),
    "gusts": Call(springs.gusts, lambda random: {"frames": 9, "dt": 1 / 24, "turbulence": 0.5, "period": 0.4}),
    "jumps": Call(
        springs.find_jumps,
        lambda random: {"positions": random.normal(size=(5, 2, 3)), "rotations": unit(random, 5, 2), "reach": 0.5},
    ),
    "step_limit": Call(
        pd.step_limit, lambda random: {"settle_time": 0.5, "damping_ratio": 1.0, "integrator": "stable"}
    ),
    "look-at": Call(look, look_arguments),
    "realtime": Call(follow, follow_arguments),
    "eyes": Call(eyes_look, eyes_arguments),
    "look-at in steps": Call(look_in_steps, look_in_steps_arguments),
    "conversation": Call(talk, talk_arguments),
    "measures of a conversation": Call(measured, measured_arguments),
    **{f"method {row.id}": Call(blended(row), blended_arguments(row)) for row in methods.METHODS.values()},
    "choice of a method": Call(
        lambda duration, **given: methods.choose(**given) and None,
        lambda random: cut_arguments(random) | {"size": 1.0},
    ),
    "spring": Call(
        lambda **given: (spring.settle_time(**given), spring.glide(given["damping_ratio"])),
        lambda random: {"duration": 0.3, "damping_ratio": float(random.choice([0.2, 1.0, 3.0]))},
    ),
    "decay": Call(
        transitions.decay,
        lambda random: {"x0": random.normal(size=3), "v0": random.normal(size=3), "duration": 0.3, "t": 0.1},
    ),
    "transition": Call(transitions.transition, cut_arguments),
    "transition with swing": Call(transitions.swing_transition, cut_arguments),
    "dead blending": Call(transitions.dead_blend, lambda random: cut_arguments(random) | {"half_life": 0.1}),
    "cross-fade": Call(
        lambda previous, **given: transitions.cross_fade(**given),
        lambda random: (found := cut_arguments(random)) | {"source": found["target"][::-1]},
    ),
    "blend time": Call(
        lambda duration, **given: transitions.blend_time(**given), lambda random: cut_arguments(random) | {"size": 1.0}
    ),
    "best cut": Call(
        lambda **given: (
            transitions.search(
                given["source"],
                given["destination"],
                given["dt"],
                root=given["root"],
                weights=transitions.Weights(given["velocity"], joints=given["joints"]),
            )
            .repeated(given["rows"], given["columns"])
            .best(given["count"], spacing=given["spacing"], room=given["room"])
        ),
        lambda random: {
            "source": random.normal(size=(5, 3, 3)),
            "destination": random.normal(size=(4, 3, 3)),
            "dt": 0.04,
            "root": 0,
            "velocity": 0.15,
            "joints": np.ones(3),
            "rows": np.arange(5),
            "columns": np.arange(4),
            "count": 3,
            "spacing": 1,
            "room": 1,
        },
    ),
    "foot contacts": Call(
        transitions.foot_contacts,
        lambda random: {"feet": random.normal(size=(6, 2, 3)), "dt": 0.04, "size": 1.0, "height": 0.05, "speed": 0.5},
    ),
    "chain": Call(solve_chain, ik_arguments),
    "limits": Call(limited, limits_arguments),
    "soft reach": Call(
        ik.soft_goal,
        lambda random: {
            "target": random.normal(size=(4, 3)),
            "base": random.normal(size=3),
            "length": 0.7,
            "softness": float(random.uniform(0.0, 0.5)),
            "initial": random.normal(size=3),
        },
    ),
    "whole body": Call(solve_whole_body, whole_body_arguments),
    "whole body in time": Call(solve_whole_body, body_in_time_arguments),
    "legs": Call(plant, leg_arguments),
    "inverse dynamics": Call(with_body(Body.inverse), inverse_arguments),
    "inverse dynamics of a moving root": Call(with_body(turned_torques), turned_arguments),
    "pose of a body": Call(with_body(lambda body, **given: body.forward(given["q"])), inverse_arguments),
    "mass matrix": Call(with_body(lambda body, **given: body.mass_matrix(given["q"])), inverse_arguments),
    "interpolate": Call(with_body(interpolate), keys_arguments, engine=True),
    "pose to pose": Call(with_body(dynamics.connect), poses_arguments),
    "key velocities": Call(
        key_velocities,
        lambda random: {"keys": unit(random, 3, 2), "key_times": np.array([0.0, 0.1, 0.3]), "kinds": ["auto"] * 3},
    ),
    "hit": Call(hit_response, hit_arguments),
    "reach": Call(with_body(reach), reach_arguments, engine=True),
    "reach in motion": Call(with_body(reach), moving_arguments),
    "reach with two hands": Call(reach_together, hands_arguments),
    "follow with a hand": Call(with_body(dynamics.track_path), path_arguments),
    "reach around obstacles": Call(reach_around, obstacle_arguments, engine=True),
    "simulate": Call(with_body(simulate), simulate_arguments, engine=True),
}

# What an argument is replaced by


def _element(value: Any, number: float, place: int) -> Any:
    found = np.array(value, dtype=float)
    if found.size:
        found.flat[place % found.size] = number
    return found if found.ndim else float(found)


REPLACEMENTS: dict[str, Callable[[Any, float, int], Any]] = {
    "one element": _element,
    "all elements": lambda value, number, place: np.full(np.shape(value), number)[()],
    "times": lambda value, number, place: np.asarray(value, dtype=float) * number,
    "no axis": lambda value, number, place: number,
    "one axis more": lambda value, number, place: np.asarray(value)[None],
    "one axis less": lambda value, number, place: np.asarray(value)[0] if np.ndim(value) else value,
    "transposed": lambda value, number, place: np.asarray(value).T,
    "one more": lambda value, number, place: np.concatenate((value, value[:1])) if np.ndim(value) else [value, value],
    "empty": lambda value, number, place: np.asarray(value)[:0] if np.ndim(value) else [],
    "nothing": lambda value, number, place: None,
    "a word": lambda value, number, place: "word",
    "ragged": lambda value, number, place: [[1.0], [1.0, 2.0]],
    "a huge integer": lambda value, number, place: 10**400,
    "an object": lambda value, number, place: object(),
}


def replaced(arguments: dict[str, Any], changes: list[tuple[int, str, float, int]]) -> dict[str, Any]:
    names = sorted(arguments)
    for which, how, number, place in changes:
        name = names[which % len(names)]
        try:
            with np.errstate(all="ignore"):
                arguments[name] = REPLACEMENTS[how](arguments[name], number, place)
        except (TypeError, ValueError, IndexError, OverflowError):
            # What stands there has no elements.
            arguments[name] = number
    return arguments


def found_in(result: Any, name: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """All arrays and numbers of a result, and the fields that they are in."""
    if is_dataclass(result):
        for field in fields(result):
            yield from found_in(getattr(result, field.name), field.name)
    elif isinstance(result, list | tuple):
        for item in result:
            yield from found_in(item, name)
    elif isinstance(result, np.ndarray | float):
        yield name, np.asarray(result)


def check(name: str, seed: int, changes: list[tuple[int, str, float, int]]) -> None:
    call = CALLS[name]
    arguments = replaced(call.arguments(np.random.default_rng(seed)), changes)
    began, before = time.process_time(), largest()
    answer = None
    try:
        with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
            warnings.simplefilter("ignore")
            patch.setattr(checks, "memory_limit", 0.5 * BYTES)
            answer = call.solver(**arguments)
    except InvalidArgument as error:
        message = str(error)
        told = isinstance(message, Message) and message.endswith(".") and len(message) < 500
    else:
        message, told = "", True
    assert told, message
    for field, values in found_in(answer):
        wrong = ~np.isfinite(values) if values.dtype.kind == "f" else np.zeros(())
        assert field in MAY_BE_NAN or name == "step_limit" or not np.any(wrong), field
    assert time.process_time() - began < SECONDS
    assert largest() - before < BYTES


def largest() -> float:
    """Bytes that this process has held at most."""
    resource = pytest.importorskip("resource")
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kilobytes if sys.platform == "darwin" else 1024.0 * kilobytes


SEEDS = 10
"""How often each solver is called with arguments of other sizes and methods."""
names = st.sampled_from([name for name, call in CALLS.items() if engine_available() or not call.engine])
seeds = st.integers(0, 2**32 - 1)
changes = st.lists(
    st.tuples(st.integers(0, 40), st.sampled_from(list(REPLACEMENTS)), st.sampled_from(NUMBERS), st.integers(0, 1000)),
    min_size=0,
    max_size=3,
)


NOT_SOLVERS = {
    "conversation.Personality",
    "dynamics.available",
    "dynamics.reason",
    "ik.BodyObjective",
    "ik.Method",
    "ik.Posture.as_bent",
    "ik.Posture.bend",
    "ik.Posture.take",
}
"""Public names that take no numbers, or only what was checked before."""


def public() -> dict[str, CodeType]:
    """All functions, and methods of classes, that the rooms of the solvers export, with their code."""
    found = {}
    for room in pkgutil.iter_modules(lookat_pd.__path__):
        module = importlib.import_module(f"lookat_pd.{room.name}")
        for name in getattr(module, "__all__", ()) if room.ispkg else ():
            item = getattr(module, name)
            if inspect.isfunction(item):
                found[f"{room.name}.{name}"] = inspect.unwrap(item).__code__
            elif inspect.isclass(item):
                # Objectives work on the tasks of the solvers; what they are given is checked when they are made.
                is_objective = issubclass(item, (ik.Objective, ik.BodyObjective))
                for method, function in vars(item).items():
                    if inspect.isfunction(function) and method == "__init__":
                        found[f"{room.name}.{name}"] = function.__code__
                    elif inspect.isfunction(function) and not method.startswith("_") and not is_objective:
                        found[f"{room.name}.{name}.{method}"] = function.__code__
    return {name: code for name, code in found.items() if name not in NOT_SOLVERS}


@contextmanager
def noting_calls(seen: set[CodeType]) -> Iterator[None]:
    """Add the code of all functions that are called to `seen`; on Python 3.11 nothing says what is called."""
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None:
        yield
        return

    def called(code: CodeType, _: int) -> object:
        seen.add(code)
        return monitoring.DISABLE

    monitoring.use_tool_id(monitoring.PROFILER_ID, __name__)
    monitoring.register_callback(monitoring.PROFILER_ID, monitoring.events.PY_START, called)
    monitoring.set_events(monitoring.PROFILER_ID, monitoring.events.PY_START)
    monitoring.restart_events()
    try:
        yield
    finally:
        monitoring.free_tool_id(monitoring.PROFILER_ID)


@pytest.mark.thorough
def test_the_calls_work_as_they_are_and_call_every_public_solver() -> None:
    """A solver that nothing here calls needs a row in CALLS."""
    seen: set[CodeType] = set()
    with noting_calls(seen):
        for name, call in CALLS.items():
            made = not engine_available() and call.engine
            for seed in range(0 if made else SEEDS):
                try:
                    call.solver(**call.arguments(np.random.default_rng(seed)))
                    made = True
                except Exception as error:
                    error.add_note(f"{name}, seed {seed}")
                    # A goal may be out of reach by chance.
                    if not (isinstance(error, InvalidArgument) and (name.startswith("reach") or name == "chain")):
                        raise
            assert made, name
    solvers = public()
    assert len(solvers) > 40
    missing = {name for name, code in solvers.items() if seen and code not in seen}
    assert not (missing if engine_available() else {name for name in missing if not name.startswith("dynamics")})


@pytest.mark.thorough
@settings(max_examples=500)
@given(names, seeds, changes)
def test_a_solver_returns_or_says_what_is_wrong(
    name: str, seed: int, changes: list[tuple[int, str, float, int]]
) -> None:
    check(name, seed, changes)


@pytest.mark.slow
@attack(2_000)
@given(names, seeds, changes)
def test_a_solver_returns_or_says_what_is_wrong_many_times(
    name: str, seed: int, changes: list[tuple[int, str, float, int]]
) -> None:
    check(name, seed, changes)


# Texts of turns

PIECES = (
    *("0", "7", "-1", "1.5", "1:02.5", "36f", "00:00:01,000", " --> ", "1e9", "9" * 5000, "nan", "inf", "1e999"),
    *("Anna", "Anna:", ": hello", "time", "frame", "speaker", "text", "at", ",", ";", "\n", "\n\n", " ", "#", "\x00"),
    *("[", "]", "{", "}", '"', '"time"', '"speaker"', '"turns"', ":", "null", "true", "[" * 3000, "\ufeff", '"' * 5),
    *('[{"time": 1, "speaker": "Anna"}]', "time,speaker\n1,Anna\n", "1 Anna: hello\n"),
)
texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@settings(max_examples=300)
@given(texts, st.sampled_from(["json", "csv", "srt", "txt", "", "exe"]))
def test_a_text_gives_turns_or_says_what_is_wrong(text: str, kind: str) -> None:
    found, message = None, None
    try:
        found = files.read(text, kind)
    except FileError as error:
        message = error.args[0]
    if found is None:
        assert isinstance(message, Message) and message.endswith(".") and len(message) < 500
    else:
        assert found and all(np.isfinite(line.time) and line.name for line in found)


@pytest.mark.parametrize(
    ("text", "kind", "word"),
    [
        ("time,speaker\n1," + "x" * 140_000, "csv", "table"),
        ("[" * 100_000, "json", "deep"),
        ('[{"time": 1e999, "speaker": "Anna"}]', "json", "beyond"),
        ("nan Anna", "txt", "not a turn"),
        ("9" * 400 + " Anna", "txt", "beyond"),
        ("9" * 5000 + ":00:01,000 --> 1\nAnna: hello", "srt", "beyond"),
        ("time,speaker\n1\n", "csv", "speaker"),
    ],
    ids=range(7),
)
def test_what_is_wrong_with_a_text_is_named(text: str, kind: str, word: str) -> None:
    with pytest.raises(FileError, match=word):
        files.read(text, kind)


# What was found once


def test_a_time_that_is_an_array_is_not_changed() -> None:
    start = np.array(0.0)
    turns = [conversation.Turn(start, 0), conversation.Turn(2.0, 1, 2)]
    looks = conversation.plan(turns, 3, 6.0, conversation.Manner(85, glances=0.5), 1)
    assert start == 0.0 and looks == conversation.plan(
        [conversation.Turn(0.0, 0), *turns[1:]], 3, 6.0, conversation.Manner(85, glances=0.5), 1
    )


@pytest.mark.parametrize("method", list(ik.METHODS))
@pytest.mark.parametrize("length", [0.0, 1e-200])
def test_bones_without_length_and_with_limits(method: str, length: float) -> None:
    limits = ik.Limits(minimum=np.full((3, 3), -0.5), maximum=np.full((3, 3), 0.5))
    offsets = length * np.ones((3, 3))
    found = ik.solve(offsets, rotation.identity(3), (1.0, 2.0, 3.0), method=method, limits=limits)
    assert np.isfinite(found.rotations).all() and np.isfinite(found.error).all()


def test_a_body_so_small_that_nothing_is_to_be_solved() -> None:
    hand = ik.BodyPosition(1, (1.0, 2.0, 3.0))
    found = ik.solve_body([-1, 0], 1e-300 * np.ones((2, 3)), rotation.identity(2), [hand])
    assert np.isfinite(found.rotations).all()


@pytest.mark.skipif(not engine_available(), reason="needs the physics engine")
@pytest.mark.parametrize("method", ["smoothing", "optimal"])
def test_a_reach_without_passes_is_the_minimum_jerk_one(method: str) -> None:
    inertias = np.tile(0.01 * np.eye(3), (2, 1, 1))
    body = Body([-1, 0], [[0.0, 0.0, 0.0], [0.0, 0.3, 0.0]], [1.0, 1.0], [[0.0, 0.15, 0.0]] * 2, inertias)
    start = rotation.exp([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0]])
    goal, hand = (0.0, 0.2, 0.4), (1, np.array([0.0, 0.3, 0.0]))
    found = reach(body, start, goal, 0.5, 0.05, effector=hand, method=method, passes=0)
    assert np.isfinite(found.rotations).all() and found.cost <= found.costs[0]


@pytest.mark.parametrize(
    ("name", "changes", "word"),
    [
        ("look-at", {"influence": np.nan}, "influence"),
        ("look-at", {"shift": np.nan}, "shift"),
        ("look-at", {"forward": np.full((1, 3), np.nan)}, "forward axes"),
        ("look-at", {"up": np.zeros((7, 3))}, "up axes"),
        ("look-at", {"shares": np.ones((2, 2))}, "shares"),
        ("look-at", {"dt": 1e6}, "10000"),
        ("eyes", {"targets": np.full((2, 5, 3), 1e200)}, "target"),
        ("eyes", {"time": 1e18}, "time of the first sample"),
        ("track", {"x0": np.zeros(5)}, "x0"),
        ("track", {"v0": np.zeros((2, 2))}, "v0"),
        ("track", {"settle_time": np.ones(7)}, "settle time"),
        ("decay", {"x0": np.zeros(5)}, "offset"),
        ("interpolate", {"masses": np.full(1, 1e-16)}, "masses|mass"),
        ("interpolate", {"settle": 1e8}, "GB of memory"),
        ("simulate", {"duration": 3000.0, "dt": 1e-9}, "GB of memory"),
        ("simulate", {"dt": 2e-7}, "number of frames"),
        ("reach", {"strength": 1e-300}, "strength"),
        ("realtime", {"dt": [[1.0], [1.0, 2.0]]}, "time step"),
        ("best cut", {"root": [10**400]}, "root joint"),
        ("choice of a method", {"size": 0.0}, "size"),
        ("conversation", {"at": "word"}, "look at another person or an object"),
        ("inverse dynamics of a moving root", {"turn": np.full(3, np.nan)}, "angular velocity of the root"),
        ("limits", {"rotations": np.full((1, 4), np.nan)}, "rotations"),
        ("limits", {"euler_order": 3.0}, "Euler order"),
        ("look-at in steps", {"upright": np.nan}, "up axis"),
        ("look-at in steps", {"moved": np.ones((99, 3))}, "shift"),
        ("measures of a conversation", {"manners": 1}, "manners of 1 people"),
        ("measures of a conversation", {"rows": 1}, "looks of 1 people"),
        ("measures of a conversation", {"at": -1}, "looked at"),
        ("method cut", {"target": np.full((2, 1, 4), np.nan)}, "target"),
        ("spring", {"damping_ratio": np.nan}, "damping ratio"),
        ("spring", {"duration": [np.inf]}, "blend time"),
    ],
)
def test_what_is_wrong_is_named(name: str, changes: dict[str, Any], word: str) -> None:
    call = CALLS[name]
    with pytest.raises(InvalidArgument, match=word):
        call.solver(**call.arguments(np.random.default_rng(1)) | changes)
