"""Forward and backward reaching: joints are moved along the bones, first from the target, then from the root.

Source: Aristidou and Lasenby, "FABRIK: a fast, iterative solver for the inverse kinematics problem", 2011. Limits apply
when the bones are fitted to the joint positions.
"""

from .. import arithmetic
from ..arithmetic import Arithmetic, Number, Vector
from ..task import Pose, Task
from . import ccd_root


def step(task: Task, pose: Pose) -> Pose:
    """One reach from the target to the root and one back; then the bones are fitted."""
    xp, places = task.xp, drawn(task, [arithmetic.ORIGIN, *task.places(pose)])
    places[-1] = task.target
    for n in range(len(pose) - 1, 0, -1):
        places[n] = _towards(xp, places[n + 1], places[n], task.lengths[n])
    for n in range(len(pose)):
        places[n + 1] = _towards(xp, places[n], places[n + 1], task.lengths[n])
    fitted = task.fit(pose, places[1:])
    return ccd_root.step(task, fitted) if task.limited else fitted


def drawn(task: Task, places: list[Vector]) -> list[Vector]:
    """Positions of joints 0 to n, moved towards their own goals, if any, by the weights."""
    result = list(places)
    for goal in task.goals:
        pull = arithmetic.subtract(task.numbers[goal.name], places[goal.joint])
        result[goal.joint] = arithmetic.add(places[goal.joint], arithmetic.scaled(pull, task.pull * goal.weight))
    return result


def _towards(xp: Arithmetic, start: Vector, end: Vector, length: Number) -> Vector:
    """The point at this distance from start on the line to end."""
    displacement = arithmetic.subtract(end, start)
    size = arithmetic.length(xp, displacement)
    return arithmetic.add(start, arithmetic.scaled(displacement, length / (size + (size == 0.0))))
