"""A batch of bodies with their objectives, as `full_body` solves them: poses, residuals and coordinates.

Arrays of quaternions and vectors have the component first and the pose last, (4, n, m), so that each operation runs
over contiguous memory; what is solved has the pose first, (m, r, d).
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..checks import check_memory
from ..errors import InvalidArgument
from ..rotation import Array
from . import body_lines, joint_checks, support
from .batches import batch_back, batch_front, batch_last
from .body_freedom import Freedom, TurningAxes
from .body_objectives import BALANCE, Balance, BodyObjective, BodyState, Members
from .body_system import Levels
from .joint_limits import clamped
from .limits import Limits
from .objectives import in_base
from .posture import Posture

STIFF_ROOT = 0.1
"""Compliance of a root that may move: the square of its way, in lengths of a mean bone, that costs as much as a radian
of a joint."""
_THERE = 1e-9
"""Residuals up to this one are none; a body without any keeps its pose to the bit."""
_BENT, _BACKWARDS = 0.1, 0.3
"""[rad], to which straight hinges are bent first, as a straight limb is singular; and so are those that are bent the
wrong way by less than this, as captured knees are."""
_SLIGHT = 0.05
"""[rad], to which limbs become straight; two equal bones then lack 0.03 % of their length."""
_LEVEL = 1e-6
"""Smallest gradient relative to the residual; below it the limb is straight towards its target."""
_NUDGE = 0.05
"""Rotation [rad] of each joint of a limb that is."""


class Problem:
    """A batch of bodies, (..., m) arrays in lengths of a mean bone and in the space of the base."""

    def __init__(
        self,
        parents: Sequence[int],
        offsets: ArrayLike,
        rotations: ArrayLike,
        objectives: Sequence[BodyObjective],
        balance: Balance | None,
        posture: Posture | None,
        limits: Limits | None,
        base: ArrayLike | None,
        move_root: bool,
        least_bend: float = _SLIGHT,
    ) -> None:
        rotations = checks.quaternions("rotations", rotations, None)
        n = rotations.shape[-2]
        if not n:
            raise InvalidArgument("A body needs at least one joint; give one offset and one rotation for each.")
        offsets = checks.array("offsets", offsets, n, 3)
        self.parents = joint_checks.parents(parents, n)
        _check_joints(n, objectives, balance, posture, limits)
        lies = joint_checks.base(base)
        self.batch = _batch(rotations, offsets, lies, objectives, balance)
        self.count = int(np.prod(self.batch))
        check_memory(8.0 * self.count * ((3.0 * len(objectives) + 2.0) * (3.0 * n + 3.0) + 60.0 * n))
        start = rotations if limits is None else limits.clamp(rotations)
        self.whole = _flat(start, self.batch, 2)
        self.objectives, self.balance, self.masses = objectives, balance, np.zeros(0)
        self.root = STIFF_ROOT**0.5 if move_root else 0.0
        self._keep(limits, posture)
        heads = _flat(offsets[..., self.used, :], self.batch, 2)
        lengths = np.linalg.norm(heads[:, 1:] if len(self.used) > 1 else heads, axis=-1).mean(axis=-1)
        self.bone = np.where(lengths > 0.0, lengths, 1.0)
        # The data of the poses that were asked for last: guess, iterations and errors ask for the same.
        self._some: tuple[Array, dict[str, Array]] = np.full(1, -1), {}
        self.data: dict[str, Array] = {
            "start": _last(self.whole[:, self.used]),
            "heads": _last(heads) / self.bone,
        }
        if limits is not None and np.any(np.asarray(limits.locks)):
            self.data["locked"] = limits.parameters(batch_last(self.whole, (self.count,), 2))[self.used]
        self._add_objectives(lies)
        if balance is not None:
            self._add_balance(lies, balance)
        self._hinges(least_bend)
        self.bend_joint = 0

    def _add_objectives(self, base: tuple[Array, Array]) -> None:
        """Data of the objectives, those of one kind together, and all their weights."""
        self.data["weights"] = np.empty((len(self.levels.mean), self.count))
        for members, group in self.groups:
            for name in self.objectives[members[0]].sizes:
                columns, key = [], name + group.key
                for k in members:
                    values = np.asarray(getattr(self.objectives[k], name))
                    if name in ("target", "orientation"):
                        values = in_base(values, *base)
                    columns.append(_flat(values, self.batch, 1))
                self.data[key] = _last(np.stack(columns, axis=1))
                if name in ("target", "offset"):
                    self.data[key] /= self.bone
            for k in members:
                weight = np.asarray(self.objectives[k].weight)
                self.data["weights"][self.rows_of[k]] = _flat(weight, self.batch, 0)

    def _add_balance(self, base: tuple[Array, Array], balance: Balance) -> None:
        """Data of a balance: the ground, the polygon on it, the centres of mass, and its weight."""
        position, frame = base
        ground = support.ground(_flat(rotation.rotate(rotation.inverse(frame), balance.up), self.batch, 1))
        polygon = in_base(np.asarray(balance.polygon), position[..., None, :], frame[..., None, :])
        polygon = _flat(polygon, self.batch, 2) @ np.swapaxes(ground, -1, -2) / self.bone[:, None, None]
        self.data["ground"], self.data["polygon"] = batch_back(ground), batch_back(polygon)
        self.data["centers"] = _last(_flat(np.asarray(balance.centers), self.batch, 2)[:, self.used]) / self.bone
        self.data["weights"][self.levels.balance] = _flat(np.asarray(balance.weight), self.batch, 0)

    def bend_about(self, joint: int, axis: Array) -> None:
        """Have a hinge bend about another axis (3, m) than that of the posture."""
        assert self.freedom is not None and self.posture is not None
        self.bend_joint = joint
        self.data["bend"], self.data["bend inverse"] = self.freedom.hinged(self.posture, joint, axis)

    def _keep(self, limits: Limits | None, posture: Posture | None) -> None:
        """Leave out the joints whose rotation changes nothing; those left are in the order of their depth."""
        lines = [np.array(line) for line in body_lines.lines(self.parents)]
        moving = [lines[objective.joint] for objective in self.objectives]
        if self.balance is not None:
            moving += [lines[joint] for joint in np.flatnonzero(np.asarray(self.balance.masses) > 0.0)]
        used = np.unique(np.concatenate(moving))
        depths = np.array([len(lines[joint]) for joint in used.tolist()])
        self.used = used[np.argsort(depths, kind="stable")]
        if self.balance is not None:
            self.masses = np.asarray(self.balance.masses)[self.used]
        place = {joint: n for n, joint in enumerate(self.used.tolist())}
        self.parents = [place.get(self.parents[joint], -1) for joint in self.used.tolist()]
        self.lines = [np.array(line) for line in body_lines.lines(self.parents)]
        self.is_above = np.zeros((len(self.used), len(self.used)))
        for joint, line in enumerate(self.lines):
            self.is_above[joint, line] = 1.0
        self.doublings = body_lines.doublings(self.lines)
        self.place = np.array([place[objective.joint] for objective in self.objectives])
        self._order()
        n = len(self.used)
        self.limits = [None] * n if limits is None else [limits.joints[joint] for joint in self.used.tolist()]
        self.limited = any(joint is not None for joint in self.limits)
        self.posture = None if posture is None else posture.take(self.used)
        self.freedom = Freedom.of(self.limits, self.posture)

    def _order(self) -> None:
        """The rows of the equations: three of each objective, those of one kind together, then those of a balance."""
        kinds: dict[type[BodyObjective], list[int]] = {}
        for k, objective in enumerate(self.objectives):
            kinds.setdefault(type(objective), []).append(k)
        self.order = [k for members in kinds.values() for k in members]
        rows = [(self.objectives[k].priority, k) for k in self.order for _ in range(3)]
        self.levels = Levels.of([*rows, *([(BALANCE, -1)] * 2 if self.balance is not None else ())])
        self.rows_of = {k: slice(3 * n, 3 * n + 3) for n, k in enumerate(self.order)}
        self.groups: list[tuple[list[int], Members]] = []
        for members in kinds.values():
            joints = self.place[members]
            first = self.rows_of[members[0]].start
            group = Members(
                [self.objectives[k] for k in members],
                joints,
                [self.lines[joint] for joint in joints.tolist()],
                self.is_above[joints][:, None],
                slice(first, first + 3 * len(members)),
                f" {len(self.groups)}",
            )
            self.groups.append((members, group))

    def _hinges(self, least: float) -> None:
        """For the bend of hinges: the bone before, in the frame of the parent, and the own bone of each."""
        heads = self.data["heads"]
        after = np.zeros(heads.shape)
        known = [False] * len(self.parents)
        offsets = {
            k: self.data["offset" + group.key][:, p]
            for members, group in self.groups
            for p, k in enumerate(members)
            if "offset" in self.objectives[k].sizes
        }
        for k, place in enumerate(self.place):
            line = self.lines[place].tolist()
            if k in offsets and not known[line[0]]:
                after[:, line[0]] = offsets[k]
            for child, joint in pairwise(line):
                if not known[joint]:
                    after[:, joint], known[joint] = heads[:, child], True
        self.hinges = np.zeros(0, dtype=int)
        if self.posture is None:
            return
        long = np.minimum(np.linalg.norm(heads, axis=0).min(axis=1), np.linalg.norm(after, axis=0).min(axis=1))
        self.hinges = np.flatnonzero(self.posture.is_hinge & (long > 1e-9) & (np.array(self.parents) >= 0))
        if not len(self.hinges):
            return
        self.hinge = self.posture.take(self.hinges)
        self.data["before"], self.data["after"] = heads[:, self.hinges], after[:, self.hinges]
        self.data["side"] = rotation.cross(self.data["after"].T, self.hinge.hinges).T
        bend = self.bend(self.data["start"], self.data)
        # The range of a hinge includes the bend of the initial pose. A range that ends straight ends just before: a
        # straight limb is singular, and would let go with a snap.
        minimum, maximum = np.asarray(self.hinge.minimum), np.asarray(self.hinge.maximum)
        minimum = np.where(np.abs(minimum) < least, np.minimum(least, maximum), minimum)
        self.data["least"] = np.minimum(minimum[:, None], bend)
        self.data["most"] = np.maximum(maximum[:, None], bend)

    def goal(self, k: int) -> tuple[Array, Array]:
        """The targets and offsets (3, m) of an objective that is about a position."""
        key, n = next((group.key, members.index(k)) for members, group in self.groups if k in members)
        return self.data["target" + key][:, n], self.data["offset" + key][:, n]

    # Poses

    def state(
        self, pose: Array, displacement: Array, data: dict[str, Array], turning: TurningAxes | None = None
    ) -> BodyState:
        """Products and sums along the lines of all joints at once, in as many steps as the depth has binary digits."""
        turns = body_lines.products(pose, self.doublings)
        places = data["heads"].copy()
        roots = self.parents.count(-1)
        places[:, :roots] += displacement[:, None]
        places[:, roots:] = rotation.rotate(turns.take(self.parents[roots:], axis=1).T, places[:, roots:].T).T
        for first, above in self.doublings:
            places[:, first:] += places.take(above, axis=1)
        axes = body_lines.matrices(np.ascontiguousarray(turns.transpose(0, 2, 1)))
        if turning is not None:
            axes = turning.axes(axes)
        return BodyState(turns, places, axes)

    def turning(self, pose: Array, data: dict[str, Array]) -> TurningAxes | None:
        """What the coordinates of the joints turn; None if they are components of rotation vectors."""
        if self.freedom is None:
            return None
        return self.freedom.at(pose, (self.bend_joint, data["bend"], data["bend inverse"]) if self.bend_joint else None)

    def bend(self, pose: Array, data: dict[str, Array]) -> Array:
        """The bend (h, m) [rad] of the hinges."""
        # As `Posture.bend`, with one rotation: that of the bone before into the frame of the joint.
        bone = rotation.rotate(rotation.inverse(pose[:, self.hinges].T), data["before"].T).T
        return np.arctan2(np.sum(bone * data["side"], axis=0), np.sum(bone * data["after"], axis=0))

    def allowed(self, pose: Array, before: Array, data: dict[str, Array]) -> tuple[Array, Array]:
        """The pose within the limits and the natural ranges of the hinges, and which hinges (h, m) are at their end."""
        ends = np.zeros((len(self.hinges), pose.shape[-1]), dtype=bool)
        if len(self.hinges):
            bend = self.bend(pose, data)
            excess = bend - np.clip(bend, data["least"], data["most"])
            ends = excess != 0.0
            if ends.any():
                pose = self.bent(pose, -excess)
        if self.limited:
            pose = _last(clamped(self.limits, pose.T, before.T, data.get("locked")))
        return pose, ends

    def inwards(self, pose: Array, data: dict[str, Array]) -> Array:
        """The sign (h, m) of the bend of hinges away from the nearer end of their range."""
        return np.where(2.0 * self.bend(pose, data) < data["least"] + data["most"], 1.0, -1.0)

    def bent(self, pose: Array, angles: Array) -> Array:
        """The pose with its hinges bent by angles (h, m) [rad]; those with 0 stay to the bit."""
        pose, here = pose.copy(), pose[:, self.hinges]
        more = rotation.exp(angles.T[..., None] * np.asarray(self.hinge.hinges))
        pose[:, self.hinges] = np.where(angles != 0.0, rotation.multiply(here.T, more).T, here)
        return pose

    def missed(self, which: Array, errors: Array, unbalanced: Array) -> Array:
        """By how much (a,) some poses with errors as of `errors` miss their objectives."""
        weights = self.data["weights"][:, which]
        away = [errors[:, k] * (weights[rows.start] > 0.0) for k, rows in self.rows_of.items()]
        if self.balance is not None:
            away.append(unbalanced * (weights[self.levels.balance.start] > 0.0))
        return np.max(away, axis=0)

    def undone(self, errors: Array, unbalanced: Array) -> Array:
        """The indices of the poses that do not meet their objectives, with errors as of `errors`."""
        return np.flatnonzero(self.missed(np.arange(self.count), errors, unbalanced) > _THERE)

    def unbalanced(self, state: BodyState, data: dict[str, Array]) -> Array:
        """The distance (m,) of the centre of mass from the support polygon."""
        assert self.balance is not None
        center = self.balance.center(state, self.masses, data["centers"]).T
        center = _across(batch_front(data["ground"]), center)
        return np.linalg.norm(support.outside(center, batch_front(data["polygon"])), axis=-1)

    def first_pose(self, which: Array) -> Array:
        """Some of the initial poses (4, n, a), those bent whose limbs are straight."""
        data, count, matrix = self.some(which), len(which), self.space(len(which))
        start = pose = data["start"]
        turning = self.turning(start, data)
        values = self.residuals(self.state(start, np.zeros((3, count)), data, turning), data, matrix)
        if len(self.hinges):
            bend = self.bend(start, data)
            backwards = (bend < np.asarray(self.hinge.minimum)[:, None]) & (bend > -_BACKWARDS)
            pose = self.bent(pose, np.where((np.abs(bend) < _BENT) | backwards, _BENT - bend, 0.0))
        pulled = np.array(["target" in self.objectives[k].sizes for k in self.order])
        parts = values[:, : 3 * len(pulled)].reshape(count, len(pulled), 3)
        rows = matrix[:, : 3 * len(pulled), :, :-1].reshape(*parts.shape, 3, len(self.used)).copy()
        rows[..., self.hinges] = 0.0
        size = np.linalg.norm(parts, axis=-1)
        force = np.linalg.norm(np.einsum("mkr,mkrdj->mkdj", parts, rows), axis=(-2, -1))
        level = pulled & (size > 1e-6) & (force < _LEVEL * size)
        for k in np.flatnonzero(level.any(axis=0)).tolist():
            line = np.setdiff1d(self.lines[self.place[self.order[k]]], self.hinges)
            pose = pose.copy()
            bent = rotation.multiply(pose[:, line].T, rotation.exp([_NUDGE, 0.0, 0.5 * _NUDGE])).T
            pose[:, line] = np.where(level[:, k], bent, pose[:, line])
        return self.allowed(pose, start, data)[0].copy()

    def errors(self, which: Array, pose: Array, displacement: Array) -> tuple[Array, Array]:
        """The errors (a, k) of the objectives and the distances (a,) from balance of some poses, as of a
        `BodySolution` but in lengths of a mean bone."""
        data = self.some(which)
        state = self.state(pose, displacement, data)
        values = self.residuals(state, data)
        errors = np.empty((len(which), len(self.order)))
        errors[:, self.order] = rotation.length(values[:, : 3 * len(self.order)].reshape(*errors.shape, 3))
        return errors, np.zeros(len(which)) if self.balance is None else self.unbalanced(state, data)

    def is_soft(self, which: Array) -> Array:
        """Whether some poses (a,) have objectives of a weight between 0 and 1."""
        weights = self.data["weights"][:, which]
        return np.any((weights > 0.0) & (weights < 1.0), axis=0)

    # Rows

    def residuals(self, state: BodyState, data: dict[str, Array], matrix: Array | None = None) -> Array:
        """The residuals (m, r) of the objectives, 0 for the balance. Their changes for the coordinates of the joints
        are written into a matrix (m, r, 3, n + 1)."""
        values = np.zeros((state.positions.shape[-1], len(self.levels.mean)))
        for _, members in self.groups:
            members.add(state, data, values, matrix)
        return values

    def squares(self, pose: Array, displacement: Array, data: dict[str, Array]) -> Array:
        """The sums (m,) of the squares of the residuals of objectives with a weight."""
        values = self.residuals(self.state(pose, displacement, data), data)
        return np.sum(np.where(data["weights"].T > 0.0, values, 0.0) ** 2, axis=-1)

    def balance_rows(self, state: BodyState, data: dict[str, Array], matrix: Array) -> Array:
        """The centre of mass on the ground (m, 2); its changes are written into the matrix."""
        assert self.balance is not None
        rows, ground = self.levels.balance, batch_front(data["ground"])
        center, change = self.balance.linear(state, self.masses, data["centers"], self.is_above.T)
        across = ground @ change.reshape(len(ground), 3, -1)
        matrix[:, rows, :, :-1] = across.reshape(len(ground), 2, 3, -1)
        matrix[:, rows, :, -1] = ground * self.root
        return _across(ground, center.T)

    @staticmethod
    def coordinates(start: Array, pose: Array, displacement: Array, turning: TurningAxes | None) -> Array:
        """The coordinates (m, 3, n + 1) of poses from others, and of displacements (3, m) of the root."""
        away = rotation.log(rotation.multiply(rotation.inverse(start.T), pose.T)).T
        if turning is not None:
            away = turning.coordinates(away)
        z = np.empty((pose.shape[-1], 3, pose.shape[1] + 1))
        z[..., :-1], z[..., -1] = away.transpose(2, 0, 1), displacement.T / STIFF_ROOT**0.5
        return z

    def space(self, count: int) -> Array:
        """Room for the Jacobians (m, r, 3, n + 1) of poses, with the changes of all objectives for the root, their last
        coordinates."""
        matrix = np.empty((count, len(self.levels.mean), 3, len(self.used) + 1))
        matrix[..., -1] = 0.0
        for k, objective in enumerate(self.objectives):
            if objective.moves_with_root:
                matrix[:, self.rows_of[k], :, -1] = self.root * np.eye(3)
        return matrix

    def some(self, poses: Array) -> dict[str, Array]:
        """The data of some of the poses."""
        if len(poses) == self.count:
            return self.data
        if not np.array_equal(self._some[0], poses):
            self._some = poses, {name: array.take(poses, axis=-1) for name, array in self.data.items()}
        return self._some[1]


def _last(values: Array) -> Array:
    """(m, n, c) as (c, n, m)."""
    return np.ascontiguousarray(values.T)


def _flat(values: Array, batch: tuple[int, ...], tail: int) -> Array:
    """Values (..., tail) for a batch as (m, tail)."""
    shape = np.shape(values)[np.ndim(values) - tail :]
    return np.broadcast_to(values, (*batch, *shape)).reshape(-1, *shape)


def _across(ground: Array, points: Array) -> Array:
    """Points (m, 3) on the ground (m, 2)."""
    return (ground @ points[..., None])[..., 0]


def _check_joints(
    n: int,
    objectives: Sequence[BodyObjective],
    balance: Balance | None,
    posture: Posture | None,
    limits: Limits | None,
) -> None:
    """Raise InvalidArgument where what is given is not of a body with n joints."""
    joint_checks.effectors(objectives, n)
    joint_checks.same_joints(limits, n)
    joint_checks.same_joints(posture, n)
    if balance is not None and len(np.asarray(balance.masses)) != n:
        raise InvalidArgument(
            "The balance has {masses} masses, but the body has {count} joints; give a mass for each, 0 for none.",
            masses=len(np.asarray(balance.masses)),
            count=n,
        )


def _batch(
    rotations: Array,
    offsets: Array,
    base: tuple[Array, Array],
    objectives: Sequence[BodyObjective],
    balance: Balance | None,
) -> tuple[int, ...]:
    """Shape of the batch of all that is given, broadcast. Raises InvalidArgument."""
    shapes = {f"objective {k}": objective.batch for k, objective in enumerate(objectives)}
    return joint_checks.leading(
        rotations=rotations.shape[:-2],
        offsets=offsets.shape[:-2],
        base=np.broadcast_shapes(*(part.shape[:-1] for part in base)),
        **shapes,
        **({} if balance is None else {"balance": balance.batch}),
    )
