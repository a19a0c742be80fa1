"""From the solved pose of a body to the channels of controls: FK controls turn, IK controls and the hips move.

How much of its rotation each control passes on is measured once. The evaluated result shows what else happens, such as
a hand whose IK control moves with the chest, and each frame is corrected by that.
"""

from collections.abc import Callable, Generator

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ..animation import channels
from ..controls.changes import AnimatedChannels, Changes, ChannelWriter
from ..controls.goals import Carried, IKGoal
from ..controls.kept_probe import RigState
from ..controls.turned_controls import TurnedControls
from ..sampling.sampler import Samples
from .body import JointTree

_SWITCHED = 1e-6
"""Influence of IK up to which a limb is FK only, and vice versa."""


def is_mixed(ik: Array) -> Array:
    """Where a limb with this influence of IK is between IK and FK."""
    return (ik > _SWITCHED) & (ik < 1.0 - _SWITCHED)


def moves_goal(ik: Array) -> Array:
    """Where a limb with this influence of IK is moved by its IK control."""
    return ik > _SWITCHED


class BodyControls:
    """The controls of a body over F frames. ik: (F, g), influence of IK on each limb that switches."""

    def __init__(self, body: JointTree, samples: Samples, ik: Array, size: float) -> None:
        """size: of the body."""
        self.body, self.samples, self.ik = body, samples, ik
        self._first = samples.bones.index(body.joints[0])
        self._goals = [samples.bones.index(limb.goal) for limb in body.limbs]
        places = {name: n for n, name in enumerate(body.joints)}
        self._limbs = [[places[name] for name in limb.turned] for limb in body.limbs]
        self._turned = TurnedControls(samples, body.joints, [limb.goal for limb in body.limbs])
        self._channels = AnimatedChannels(samples, size=size)
        self.turns = np.ones((len(ik), len(body.joints)), dtype=bool)
        """Frames and joints at which an FK control has an effect."""
        for limb, joints in enumerate(self._limbs):
            ended = joints if body.limbs[limb].turns_end else joints[:-1]
            self.turns[:, ended] = (ik[:, limb] < 1.0 - _SWITCHED)[:, None]
        self.turns[:, body.still] = False

    def write(self, writer: ChannelWriter, changes: Changes, part: slice = slice(None)) -> list[str]:
        """Key the controls that turn or move, and those keyed before, at some of the frames; returns their names."""
        return self._channels.write(writer, changes, part)

    @property
    def written(self) -> list[str]:
        """The controls with keys."""
        return self._channels.written

    def are_changed(self, changes: Changes) -> bool:
        """Whether there is anything to key."""
        return self._channels.are_changed(changes)

    def measure(
        self,
        show: Callable[[Changes, int], object],
        evaluate: Callable[[int], Generator[float, None, Samples]],
        state: RigState | None = None,
    ) -> Generator[float, None, None]:
        """Measure how the controls turn each other, as `TurnedControls.measure`. Raises RigError."""
        # Without inverse kinematics they are plain bones.
        posed = {
            joint
            for limb, joints in zip(self.body.limbs, self._limbs, strict=True)
            for joint in joints
            if limb.direct and not self.turns[:, joint].all()
        }
        yield from self._turned.measure(show, evaluate, self.body.parents, posed, state)
        self._channels.forget()

    def realized(self, changes: Changes, seen: Samples, rotations: Array, positions: Array) -> Changes:
        """The changes with which the joints get rotations (F, n, 4) and positions (F, n, 3) in armature space.

        seen: the rig as evaluated with `changes`.
        """
        turns = self._turned.realized(rotations, self._turned.turns(changes), seen)
        turns = np.where(self.turns[:, :, None], turns, rotation.IDENTITY)
        realized = Changes({name: turns[:, n] for n, name in enumerate(self.body.joints)}, {})
        if self.body.moves:
            realized.moves[self.body.joints[0]] = self._location(changes, seen, positions)
        for k in range(len(self.body.limbs)):
            self._move_goal(k, realized, changes, seen, rotations, positions)
        return realized

    def _location(self, changes: Changes, seen: Samples, positions: Array) -> Array:
        """The location of the first joint in its channels."""
        missing = positions[:, 0] - seen.positions[:, self._first]
        above, size = rotation.identity(len(missing)), np.ones(len(missing))
        if self.body.parent:
            row = seen.bones.index(self.body.parent)
            above, size = seen.rotations[:, row], seen.sizes[:, row]
        frame = rotation.multiply(above, self.body.rests[0])
        return changes.move(self.body.joints[0], len(missing)) + (
            rotation.rotate(rotation.inverse(frame), missing) / size[:, None]
        )

    def _move_goal(
        self, k: int, realized: Changes, changes: Changes, seen: Samples, rotations: Array, positions: Array
    ) -> None:
        """Turn and move an IK control as the last bone of its limb should."""
        limb, count = self.body.limbs[k], len(seen.frames)
        turned, moved = changes.turn(limb.turner, count), changes.move(limb.goal, count)
        joint, turn = self._limbs[k][-1], rotation.identity(count)
        if limb.turns_end:
            now = seen.rotations[:, seen.bones.index(limb.moved)]
            turn = rotation.multiply(rotations[:, joint], rotation.inverse(now))
        mode, raw = self.samples.channel(limb.goal)
        basis = channels.to_quaternion(raw, mode)
        if limb.turner == limb.goal:
            basis = rotation.multiply(basis, turned)
        carried = self._carried(k, seen, rotations, positions)
        goal = IKGoal(limb.goal, limb.turner, limb.moved)
        local, move = goal.change(self.body.armature, seen, basis, turn, positions[:, joint], carried)
        acts = moves_goal(self.ik[:, k])[:, None]
        realized.turns[limb.turner] = np.where(acts, rotation.multiply(turned, local), turned)
        realized.moves[limb.goal] = moved + np.where(acts, move, 0.0)

    def _carried(self, limb: int, seen: Samples, rotations: Array, positions: Array) -> Carried | None:
        """How an IK control moves with what it is attached to when the joints move."""
        above = np.flatnonzero(self._turned.received(limb) > 0.5)
        if not len(above):
            return None
        joint, place = int(above[-1]), seen.positions[:, self._goals[limb]]
        row = seen.bones.index(self.body.shown[joint])
        turn = rotation.multiply(rotations[:, joint], rotation.inverse(seen.rotations[:, row]))
        return Carried(turn, positions[:, joint] + rotation.rotate(turn, place - seen.positions[:, row]))
