"""From the solved pose of a body to the channels of controls: FK controls turn, IK controls and the hips move.

How much of its rotation each control passes on is measured once. The evaluated result shows what else happens, such as
a hand whose IK control moves with the chest, and each frame is corrected by that.
"""

from dataclasses import dataclass, replace

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.gaze import control_coupling
from ...lookat_pd.rotation import Array
from ..animation import channels
from ..controls.changes import ChannelWriter
from ..controls.goals import Carried, IKGoal
from ..sampling import bone_response
from ..sampling.sampler import Samples
from .body import JointTree

_PROBE = np.radians(10.0)
_NEARLY_NOTHING = 1e-7
_SWITCHED = 1e-6
"""Influence of IK up to which a limb is FK only, and vice versa."""


@dataclass(frozen=True)
class Moves:
    """What is added to the channels: turns (F, n, 4) of the joints, the location (F, 3) of the first one, and turns
    (F, g, 4) and locations (F, g, 3) of the IK controls."""

    turns: Array
    location: Array
    goal_turns: Array
    goal_locations: Array

    def where(self, chosen: Array, other: "Moves") -> "Moves":
        """These at the chosen frames (F,), others elsewhere."""
        return Moves(
            np.where(chosen[:, None, None], self.turns, other.turns),
            np.where(chosen[:, None], self.location, other.location),
            np.where(chosen[:, None, None], self.goal_turns, other.goal_turns),
            np.where(chosen[:, None, None], self.goal_locations, other.goal_locations),
        )

    def halfway(self, other: "Moves") -> "Moves":
        """The middle of both."""
        return Moves(
            rotation.slerp(self.turns, other.turns, 0.5),
            0.5 * (self.location + other.location),
            rotation.slerp(self.goal_turns, other.goal_turns, 0.5),
            0.5 * (self.goal_locations + other.goal_locations),
        )


def is_mixed(ik: Array) -> Array:
    """Where a limb with this influence of IK is between IK and FK."""
    return (ik > _SWITCHED) & (ik < 1.0 - _SWITCHED)


def moves_goal(ik: Array) -> Array:
    """Where a limb with this influence of IK is moved by its IK control."""
    return ik > _SWITCHED


class BodyControls:
    """The controls of a body over F frames. ik: (F, g), influence of IK on each limb that switches."""

    def __init__(self, body: JointTree, samples: Samples, ik: Array) -> None:
        self.body, self.samples, self.ik = body, samples, ik
        self.frames = samples.frames
        self._rows = [samples.bones.index(name) for name in body.joints]
        self._goals = [samples.bones.index(limb.goal) for limb in body.limbs]
        places = {name: n for n, name in enumerate(body.joints)}
        self._limbs = [[places[name] for name in limb.turned] for limb in body.limbs]
        # As the coupling has them: children before their parents.
        self._animated = samples.rotations[:, self._rows][:, ::-1]
        self.coupling = np.eye(len(self._rows))
        self._received = np.zeros((len(self._goals), len(self._rows)))
        """The part of each joint's rotation that each IK control receives."""
        self._written: dict[tuple[str, str], None] = {}
        self.turns = np.ones((len(ik), len(self._rows)), dtype=bool)
        """Frames and joints at which an FK control has an effect."""
        for limb, joints in enumerate(self._limbs):
            ended = joints if body.limbs[limb].turns_end else joints[:-1]
            self.turns[:, ended] = (ik[:, limb] < 1.0 - _SWITCHED)[:, None]
        self.turns[:, body.still] = False

    @property
    def none(self) -> Moves:
        """No change of any channel."""
        count, limbs = len(self.frames), len(self.body.limbs)
        return Moves(
            rotation.identity(count, len(self._rows)),
            np.zeros((count, 3)),
            rotation.identity(count, limbs),
            np.zeros((count, limbs, 3)),
        )

    # Measuring

    def probes(self) -> list[tuple[list[int], Moves]]:
        """What is evaluated to measure the coupling: each joint turned alone, at a frame of its own. As many joints as
        there are frames are measured in one pass, and are given with it."""
        count, found = len(self.frames), []
        for first in range(0, len(self._rows), count):
            joints = list(range(first, min(first + count, len(self._rows))))
            turns = rotation.identity(count, len(self._rows))
            for frame, joint in enumerate(joints):
                turns[frame, joint] = rotation.exp(np.array([_PROBE, 0.0, 0.0]))
            found.append((joints, replace(self.none, turns=turns)))
        return found

    def learn(self, joints: list[int], moves: Moves, seen: Samples) -> None:
        """Take the coupling of some joints from what a probe has shown. Raises RigError."""
        last = len(self._rows) - 1
        measured = seen.rotations[:, self._rows][:, ::-1]
        for frame, joint in enumerate(joints):
            if self._is_posed(frame, joint):
                # Without inverse kinematics it is a plain bone, which turns those below it.
                self.coupling[[last - below for below in self._with_below(joint)], last - joint] = 1.0
                continue
            column = control_coupling.measure(
                self._animated[frame], measured[frame], moves.turns[frame, joint], last - joint
            )
            bone_response.check(self.body.joints[joint], abs(float(column[last - joint])))
            if self._goals:
                still, turned = self.samples.rotations[frame, self._goals], seen.rotations[frame, self._goals]
                own = self.samples.rotations[frame, self._rows[joint]]
                both = np.concatenate((own[None], still)), np.concatenate((own[None], turned))
                self._received[:, joint] = control_coupling.measure(*both, moves.turns[frame, joint], 0)[1:]
            # A control below another does not turn it, whatever follows from the constraints between them.
            column[last - joint + 1 :] = 0.0
            self.coupling[:, last - joint] = column

    def _is_posed(self, frame: int, joint: int) -> bool:
        """Whether inverse kinematics poses a joint at a frame, so that turning it does not show."""
        limbs = zip(self.body.limbs, self._limbs, strict=True)
        return any(limb.direct and joint in joints and not self.turns[frame, joint] for limb, joints in limbs)

    def _with_below(self, joint: int) -> list[int]:
        """A joint and all below it."""
        found = [joint]
        for other in range(joint + 1, len(self._rows)):
            if self.body.parents[other] in found:
                found.append(other)
        return found

    def forget(self) -> None:
        """No control is keyed yet: the probes are gone."""
        self._written.clear()

    # Realizing

    def realize(self, moves: Moves, seen: Samples, rotations: Array, positions: Array) -> Moves:
        """The moves with which the joints get rotations (F, n, 4) and positions (F, n, 3) in armature space.

        seen: the rig as evaluated with `moves`.
        """
        measured = seen.rotations[:, self._rows][:, ::-1]
        before = moves.turns[:, ::-1]
        correction = control_coupling.correct(measured, self._animated, before, self.coupling)
        active = np.ones(len(self.frames), dtype=bool)
        turns = control_coupling.realize(rotations[:, ::-1], self._animated, self.coupling, correction, active)
        turns = np.where(self.turns[:, :, None], turns[:, ::-1], rotation.IDENTITY)
        return Moves(
            turns, self._location(moves, seen, positions), *self._goal_moves(moves, seen, rotations, positions)
        )

    def _location(self, moves: Moves, seen: Samples, positions: Array) -> Array:
        """The location of the first joint in its channels."""
        if not self.body.moves:
            return moves.location
        missing = positions[:, 0] - seen.positions[:, self._rows[0]]
        above, size = rotation.identity(len(missing)), np.ones(len(missing))
        if self.body.parent:
            row = seen.bones.index(self.body.parent)
            above, size = seen.rotations[:, row], seen.sizes[:, row]
        frame = rotation.multiply(above, self.body.rests[0])
        return moves.location + rotation.rotate(rotation.inverse(frame), missing) / size[:, None]

    def _goal_moves(self, moves: Moves, seen: Samples, rotations: Array, positions: Array) -> tuple[Array, Array]:
        """Turns and locations of the IK controls: they move as the last bones of their limbs should."""
        turns, locations = moves.goal_turns.copy(), moves.goal_locations.copy()
        for k, limb in enumerate(self.body.limbs):
            joint, turn = self._limbs[k][-1], rotation.identity(len(seen.frames))
            if limb.turns_end:
                now = seen.rotations[:, seen.bones.index(limb.moved)]
                turn = rotation.multiply(rotations[:, joint], rotation.inverse(now))
            mode, raw = self.samples.channel(limb.goal)
            basis = channels.to_quaternion(raw, mode)
            if limb.turner == limb.goal:
                basis = rotation.multiply(basis, turns[:, k])
            carried = self._carried(k, seen, rotations, positions)
            goal = IKGoal(limb.goal, limb.turner, limb.moved)
            local, move = goal.change(self.body.armature, seen, basis, turn, positions[:, joint], carried)
            moved = moves_goal(self.ik[:, k])
            turns[:, k] = np.where(moved[:, None], rotation.multiply(turns[:, k], local), turns[:, k])
            locations[:, k] += np.where(moved[:, None], move, 0.0)
        return turns, locations

    def _carried(self, limb: int, seen: Samples, rotations: Array, positions: Array) -> Carried | None:
        """How an IK control moves with what it is attached to when the joints move."""
        above = np.flatnonzero(self._received[limb] > 0.5)
        if not len(above):
            return None
        joint, place = int(above[-1]), seen.positions[:, self._goals[limb]]
        row = seen.bones.index(self.body.shown[joint])
        turn = rotation.multiply(rotations[:, joint], rotation.inverse(seen.rotations[:, row]))
        return Carried(turn, positions[:, joint] + rotation.rotate(turn, place - seen.positions[:, row]))

    # Writing

    def write(self, work: ChannelWriter, moves: Moves, size: float) -> list[str]:
        """Key the controls that turn or move, and those keyed before; returns their names. size: of the body."""
        for n, name in enumerate(self.body.joints):
            self._turn(work, name, moves.turns[:, n])
        if self.body.moves:
            self._move(work, self.body.joints[0], moves.location, size)
        for k, limb in enumerate(self.body.limbs):
            self._turn(work, limb.turner, moves.goal_turns[:, k])
            self._move(work, limb.goal, moves.goal_locations[:, k], size)
        return list(dict.fromkeys(name for name, _ in self._written))

    def _turn(self, work: ChannelWriter, name: str, turn: Array) -> None:
        turn = np.where((rotation.angle(turn) < _NEARLY_NOTHING)[:, None], rotation.IDENTITY, turn)
        mode, raw = self.samples.channel(name)
        if np.any(turn != rotation.IDENTITY) or (name, mode) in self._written:
            work.write(name, mode, self.frames, channels.turned(raw, mode, turn), raw)
            self._written[name, mode] = None

    def _move(self, work: ChannelWriter, name: str, move: Array, size: float) -> None:
        far = np.linalg.norm(move, axis=-1) > _NEARLY_NOTHING * size
        raw = self.samples.raw[channels.LOCATION][:, self.samples.bones.index(name)]
        if far.any() or (name, channels.LOCATION) in self._written:
            work.write(name, channels.LOCATION, self.frames, raw + np.where(far[:, None], move, 0.0), raw)
            self._written[name, channels.LOCATION] = None
