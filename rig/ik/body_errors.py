"""Errors of a posed body: how far it is from its objectives, and what a solved pose makes of those it meets in part."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...lookat_pd import ik, rotation
from ...lookat_pd.rotation import Array
from .body_pose import BodyPose

Objectives = Sequence[tuple[int, ik.BodyObjective]]
"""Objectives with the index of their effector."""
AS_SOLVED, _RADIAN = 1e-4, 0.1
"""Largest difference between a solved pose and that of controls, in sizes of the body, and how many are a radian."""


def settled(
    objectives: Objectives, parents: Sequence[int], turns: Array, places: Array, behind: Array
) -> tuple[list[tuple[int, ik.BodyObjective]], Array]:
    """Objectives that a solved pose meets where their weights are between 0 and 1, with a weight of 1 there, or where
    limbs softly stay behind their targets (F, objectives), and where (F, objectives) that is. turns, places: (F, n, 4),
    (F, n, 3)."""
    met_objectives, where = [], np.zeros((len(turns), len(objectives)), dtype=bool)
    for n, (k, objective) in enumerate(objectives):
        weight = np.broadcast_to(np.asarray(objective.weight), len(turns))
        soft = (weight > 0.0) & ((weight < 1.0) | (behind[:, n] > 0.0))
        where[:, n] = soft
        if soft.any():
            met, lying, place = {}, turns[:, objective.joint], places[:, objective.joint]
            if isinstance(objective, ik.BodyPosition):
                met["target"] = place + rotation.rotate(lying, objective.offset)
            elif isinstance(objective, ik.BodyOrientation):
                met["orientation"] = lying
            elif isinstance(objective, ik.BodyAim):
                away = np.linalg.norm(np.asarray(objective.target) - place, axis=-1, keepdims=True)
                met["target"] = place + away * rotation.rotate(lying, rotation.normalize(objective.axis))
            elif isinstance(objective, ik.BodyPole):
                met["target"] = places[:, _line(objective, parents)[1:-1]].mean(axis=1)
            kept = {name: np.where(soft[:, None], value, getattr(objective, name)) for name, value in met.items()}
            objective = replace(objective, weight=np.where(soft, 1.0, weight), **kept)
        if isinstance(objective, ik.BodyPosition):
            objective = replace(objective, softness=0.0)
        met_objectives.append((k, objective))
    return met_objectives, where


def _line(objective: ik.BodyPole, parents: Sequence[int]) -> list[int]:
    """The joints of a limb with a pole, from its end to its base."""
    line = [objective.joint]
    for _ in range(objective.bones):
        line.append(parents[line[-1]])
    return line


def measured(objectives: Objectives, pose: BodyPose) -> Array:
    """The errors (F, objectives) of a pose: lengths and angles."""
    errors = []
    for _, objective in objectives:
        place, lying = pose.positions[:, objective.joint], pose.rotations[:, objective.joint]
        if isinstance(objective, ik.BodyPosition):
            point = place + rotation.rotate(lying, np.asarray(objective.offset))
            errors.append(np.linalg.norm(objective.target - point, axis=-1))
        elif isinstance(objective, ik.BodyOrientation):
            errors.append(rotation.distance(lying, objective.orientation))
        elif isinstance(objective, ik.BodyPole):
            errors.append(_bend_error(objective, pose))
        else:
            assert isinstance(objective, ik.BodyAim)
            aim = rotation.rotate(lying, objective.axis)
            errors.append(rotation.angle_between(aim, objective.target - place))
    return np.stack(errors, axis=-1)


def _bend_error(objective: ik.BodyPole, pose: BodyPose) -> Array:
    """The angle (F,) about the line of a limb between its bend and its pole."""
    line = _line(objective, pose.parents)
    base = pose.positions[:, line[-1]]
    along = rotation.normalize(pose.positions[:, line[0]] - base)
    middle = pose.positions[:, line[1:-1]].mean(axis=1)
    bend, away = (
        point - np.sum(along * point, axis=-1, keepdims=True) * along
        for point in (middle - base, np.asarray(objective.target) - base)
    )
    return rotation.angle_between(bend, away)


def score(objectives: Objectives, errors: Array, size: float) -> Array:
    """Errors (F, objectives) as one number for each frame, in sizes of the body."""
    total = np.zeros(len(errors))
    for n, (_, objective) in enumerate(objectives):
        unit = size if isinstance(objective, ik.BodyPosition) else 1.0 / _RADIAN
        total += np.asarray(objective.weight) * errors[:, n] / unit
    return total
