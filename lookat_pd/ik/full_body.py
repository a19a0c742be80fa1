"""Inverse kinematics of a whole body: any number of objectives at once, by priority, with the smallest rotations.

All poses of a batch are solved together. An iteration is a Gauss-Newton step in the coordinates z, the rotation vectors
of the joints divided by their compliance. The residuals of each priority are reduced in the null space of those before
it, and the way back to the initial pose is projected onto the null space of all of them, so that the result has the
smallest rotations, weighted by the stiffness, that reach the objectives. All matrices that are inverted are as large as
the number of residuals, not of joints: a step is a combination of the rows of the Jacobian. The damping is proportional
to the remaining error, so that poses out of reach do not shake and others converge quadratically. Sources: Liegeois
1977; Nakamura and Hanafusa 1986; Siciliano and Slotine 1991; Sugihara 2011.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..checks import check_memory
from ..errors import InvalidArgument
from ..rotation import Array
from . import checks, damped, support
from .batches import batch_last
from .body_objectives import BALANCE, Balance, BodyObjective, BodyState
from .limits import Limits
from .objectives import in_base
from .posture import Posture

_GAIN = 0.7
"""Fraction of the way back to the initial pose in one iteration; 1 would overshoot where rotations are large."""
_SLOW = 50.0
"""How much the remaining error slows this way down, as a factor of the damping: what is out of reach comes first."""
_DAMPING = 1.0
"""Square of the damping for an error of a mean bone's length, as a factor of the squares of the residuals' changes."""
_EASY, _SLOWING = 0.01, 1.15
"""Factor of the damping in the first iteration, and its growth in each. It depends on nothing else, so that the result
is smooth in time."""
_SINGULAR = 1e-6
"""Square of the smallest singular values of the null spaces, in lengths of a mean bone."""
_EXACT, _LEAST = 1e-8, 1e-4
"""As `_SINGULAR`, but between priorities, and the smallest damping: their ratio is what a lower priority may take from
a higher one on the same joints."""
_LARGEST_STEP = 0.4
"""[rad], of one joint in one iteration; also the largest movement of the root, in lengths of a mean bone."""
_THERE = 1e-9
"""Residuals up to this one are none; a body without any keeps its pose to the bit."""
_BENT = 0.1
"""[rad], to which straight hinges are bent first: a straight limb is singular."""
_LEVEL = 1e-6
"""Smallest gradient relative to the residual; below it the limb is straight towards its target."""
_NUDGE = 0.05
"""Rotation [rad] of each joint of a limb that is."""
_BLOCKED = 0.05
"""A coordinate that limits reduce by more than this fraction is fixed, and the others take its part."""
_STIFF_ROOT = 0.1
"""Compliance of a root that may move: the square of its way, in lengths of a mean bone, that costs as much as a radian
of a joint."""
_SOFTEST = 1e-3
"""Smallest weight that has an effect."""


@dataclass(frozen=True)
class BodySolution:
    """rotations: (..., n, 4) local. displacement: (..., 3) of the root, in the space of the base. errors: (..., k), of
    each objective: lengths of positions, [rad] of orientations and directions. unbalanced: (...), distance of the
    centre of mass from the support polygon, 0 without a `Balance`. iterations: (...)."""

    rotations: Array
    displacement: Array
    errors: Array
    unbalanced: Array
    iterations: Array


def solve_body(
    parents: Sequence[int],
    offsets: ArrayLike,
    rotations: ArrayLike,
    objectives: Sequence[BodyObjective],
    *,
    balance: Balance | None = None,
    posture: Posture | None = None,
    limits: Limits | None = None,
    base: ArrayLike | None = None,
    move_root: bool = False,
    iterations: int = 80,
    tolerance: float = 1e-4,
) -> BodySolution:
    """Local rotations that meet all objectives, or those of higher priority where they contradict each other.

    parents: (n,), -1 for a root; parents are listed before their children. offsets: (..., n, 3), each joint in its
    parent's frame, a root in the base's. rotations: (..., n, 4), each relative to its parent: the initial pose, to
    which the result is as near as the objectives allow. Leading axes are a batch, each of which is solved for itself.
    posture: stiffness and hinges. limits, base: as for `solve`. move_root: let the root change its position as well.
    tolerance: the largest rotation [rad] of a joint in the last iteration. Raises InvalidArgument.
    """
    return _Problem(parents, offsets, rotations, objectives, balance, posture, limits, base, move_root).solution(
        *checks.bounds(iterations, tolerance)
    )


class _Problem:
    """A batch of bodies, (m, ...) arrays in lengths of a mean bone and in the space of the base."""

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
    ) -> None:
        rotations = checks.quaternions("rotations", rotations, None)
        n = rotations.shape[-2]
        if not n:
            raise InvalidArgument("A body needs at least one joint; give one offset and one rotation for each.")
        offsets = checks.array("offsets", offsets, n, 3)
        self.parents = checks.parents(parents, n)
        checks.effectors(objectives, n)
        checks.same_joints(limits, n)
        checks.same_joints(posture, n)
        self.masses = np.zeros(0)
        if balance is not None and len(np.asarray(balance.masses)) != n:
            raise InvalidArgument(
                "The balance has {masses} masses, but the body has {count} joints; give a mass for each, 0 for none.",
                masses=len(np.asarray(balance.masses)),
                count=n,
            )
        position, frame = checks.base(base)
        shapes = {f"objective {k}": objective.batch for k, objective in enumerate(objectives)}
        self.batch = checks.leading(
            rotations=rotations.shape[:-2],
            offsets=offsets.shape[:-2],
            base=np.broadcast_shapes(position.shape[:-1], frame.shape[:-1]),
            **shapes,
            **({} if balance is None else {"balance": balance.batch}),
        )
        self.count = int(np.prod(self.batch))
        rows = 3 * len(objectives) + 2
        check_memory(8.0 * self.count * (rows * (3.0 * n + 3.0) + 60.0 * n))
        start = rotations if limits is None else limits.clamp(rotations)
        self.whole = _flat(start, self.batch, 2)
        self.objectives, self.balance, self.move_root = objectives, balance, move_root
        self._keep(limits, posture)
        offsets = offsets[..., self.used, :]
        lengths = np.linalg.norm(offsets[..., 1:, :] if len(self.used) > 1 else offsets, axis=-1)
        self.bone = float(lengths.mean()) if lengths.mean() > 0.0 else 1.0
        self.data: dict[str, Array] = {
            "start": self.whole[:, self.used],
            "heads": _flat(offsets, self.batch, 2) / self.bone,
        }
        if limits is not None and np.any(np.asarray(limits.locks)):
            locked = limits.parameters(batch_last(self.whole, (self.count,), 2))
            self.data["locked"] = locked.transpose(2, 0, 1)[:, self.used]
        for k, objective in enumerate(objectives):
            for name in objective.sizes:
                values = np.asarray(getattr(objective, name))
                if name in ("target", "orientation"):
                    values = in_base(values, position, frame)
                if name in ("target", "offset"):
                    values = values / self.bone
                self.data[f"{name} {k}"] = _flat(values, self.batch, 1)
            self.data[f"weight {k}"] = _flat(np.asarray(objective.weight), self.batch, 0)
        if balance is not None:
            ground = support.ground(_flat(rotation.rotate(rotation.inverse(frame), balance.up), self.batch, 1))
            polygon = in_base(np.asarray(balance.polygon), position[..., None, :], frame[..., None, :])
            self.data["ground"] = ground
            self.data["polygon"] = _flat(polygon, self.batch, 2) @ np.swapaxes(ground, -1, -2) / self.bone
            self.data["centers"] = _flat(np.asarray(balance.centers), self.batch, 2)[:, self.used] / self.bone
            self.data["weight of balance"] = _flat(np.asarray(balance.weight), self.batch, 0)
        self._hinges()

    def _keep(self, limits: Limits | None, posture: Posture | None) -> None:
        """Leave out the joints whose rotation changes nothing."""
        lines = [np.array(line) for line in _lines(self.parents)]
        moving = [lines[objective.joint] for objective in self.objectives]
        if self.balance is not None:
            moving += [lines[joint] for joint in np.flatnonzero(np.asarray(self.balance.masses) > 0.0)]
        self.used = np.unique(np.concatenate(moving))
        if self.balance is not None:
            self.masses = np.asarray(self.balance.masses)[self.used]
        place = {joint: n for n, joint in enumerate(self.used.tolist())}
        self.place = [place[objective.joint] for objective in self.objectives]
        self.parents = [place.get(self.parents[joint], -1) for joint in self.used.tolist()]
        self.lines = [np.array(line) for line in _lines(self.parents)]
        depths = np.array([len(line) for line in self.lines])
        parents = np.array(self.parents)
        self.levels = [(np.flatnonzero(depths == d), parents[depths == d]) for d in range(1, depths.max() + 1)]
        n = len(self.used)
        self.limits = [None] * n if limits is None else [limits.joints[joint] for joint in self.used.tolist()]
        self.limited = any(joint is not None for joint in self.limits)
        self.posture = None if posture is None else posture.take(self.used)
        compliance = np.broadcast_to(np.eye(3), (n, 3, 3)) if self.posture is None else self.posture.compliance
        values, vectors = np.linalg.eigh(compliance)
        root = (vectors * np.sqrt(values)[:, None]) @ np.swapaxes(vectors, -1, -2)
        self.scale = damped.freedom(self.limits)[:, :, None] * root
        self.unscale = np.linalg.pinv(self.scale)

    def _hinges(self) -> None:
        """For the bend of hinges: the bone before, in the frame of the parent, and the own bone of each joint."""
        heads = self.data["heads"]
        after = np.zeros(heads.shape)
        found = [False] * len(self.parents)
        for k, place in enumerate(self.place):
            line = self.lines[place].tolist()
            if f"offset {k}" in self.data and not found[line[0]]:
                after[:, line[0]] = self.data[f"offset {k}"]
            for child, joint in pairwise(line):
                if not found[joint]:
                    after[:, joint], found[joint] = heads[:, child], True
        self.data["after"] = after
        bends = np.zeros(len(self.parents), dtype=bool)
        if self.posture is not None:
            long = np.linalg.norm(heads, axis=-1).min(axis=0), np.linalg.norm(after, axis=-1).min(axis=0)
            bends = self.posture.is_hinge & (np.minimum(*long) > 1e-9)
            bends &= np.array(self.parents) >= 0
        self.hinges = bends

    # Poses

    def state(self, pose: Array, displacement: Array, data: dict[str, Array]) -> BodyState:
        orientations, positions = np.empty(pose.shape), np.empty((*pose.shape[:-1], 3))
        for joints, parents in self.levels:
            if parents[0] < 0:
                orientations[:, joints] = pose[:, joints]
                positions[:, joints] = data["heads"][:, joints] + displacement[:, None]
            else:
                above = orientations[:, parents]
                orientations[:, joints] = rotation.multiply(above, pose[:, joints])
                positions[:, joints] = positions[:, parents] + rotation.rotate(above, data["heads"][:, joints])
        axes = np.swapaxes(rotation.to_matrix(orientations) @ self.scale, -1, -2)
        return BodyState(orientations, positions, axes, self.lines)

    def allowed(self, pose: Array, before: Array, data: dict[str, Array]) -> tuple[Array, Array]:
        """The pose within the limits and the natural ranges of the hinges, and which hinges (m, n) are at their end."""
        ends = np.zeros(pose.shape[:-1], dtype=bool)
        if self.hinges.any():
            assert self.posture is not None
            excess = self.posture.excess(data["heads"], data["after"], data["start"], pose) * self.hinges
            ends = excess != 0.0
            if ends.any():
                back = rotation.exp(-excess[..., None] * np.asarray(self.posture.hinges))
                pose = np.where(ends[..., None], rotation.multiply(pose, back), pose)
        if self.limited:
            locked = data["locked"].transpose(1, 2, 0) if "locked" in data else None
            pose = damped.clamped(self.limits, pose, before, locked)
        return pose, ends

    def undone(self, values: Array) -> Array:
        """Whether the initial poses (m,) do not meet their objectives, with residuals (m, r)."""
        _, weights = self.weights(self.data)
        away = np.any((np.abs(values) > _THERE) & (weights[:, : values.shape[1]] > 0.0), axis=-1)
        if self.balance is not None:
            state = self.state(self.data["start"], np.zeros((len(values), 3)), self.data)
            away |= (self.unbalanced(state) > _THERE) & (weights[:, -1] > 0.0)
        return away

    def unbalanced(self, state: BodyState) -> Array:
        """The distance (m,) of the centre of mass from the support polygon."""
        assert self.balance is not None
        center = _across(self.data["ground"], self.balance.center(state, self.masses, self.data["centers"]))
        return np.linalg.norm(support.outside(center, self.data["polygon"]), axis=-1)

    def first_pose(self, values: Array, blocks: Array, active: Array) -> Array:
        """The initial poses with those of the active ones (a,) bent whose limbs are straight."""
        start, data = self.data["start"], self.data
        pose = start.copy()
        away = np.isin(np.arange(len(pose)), active)
        if self.hinges.any():
            assert self.posture is not None
            bend = self.posture.bend(data["heads"], data["after"], start)
            missing = np.where(self.hinges & (np.abs(bend) < _BENT), _BENT - bend, 0.0) * away[:, None]
            pose = rotation.multiply(pose, rotation.exp(missing[..., None] * np.asarray(self.posture.hinges)))
        for k, objective in enumerate(self.objectives):
            if "target" not in objective.sizes:
                continue
            part, rows = values[:, 3 * k : 3 * k + 3], blocks[:, 3 * k : 3 * k + 3, :-1]
            line = self.lines[self.place[k]]
            line = line[~self.hinges[line]]
            size = np.linalg.norm(part, axis=-1)
            force = np.linalg.norm(np.einsum("mr,mrjd->mjd", part, rows[:, :, line]), axis=(-2, -1))
            level = away & (size > 1e-6) & (force < _LEVEL * size)
            if level.any():
                bent = rotation.multiply(pose[:, line], rotation.exp([_NUDGE, 0.0, 0.5 * _NUDGE]))
                pose[:, line] = np.where(level[:, None, None], bent, pose[:, line])
        return np.where(away[:, None, None], self.allowed(pose, start, data)[0], start)

    # Rows

    def rows(self, state: BodyState, data: dict[str, Array]) -> tuple[Array, Array]:
        """Residuals (m, r) and their changes (m, r, n + 1, 3) for the coordinates of joints and root."""
        count, n = state.positions.shape[:2]
        total = 3 * len(self.objectives)
        values, blocks = np.empty((count, total)), np.zeros((count, total, n + 1, 3))
        for k, objective in enumerate(self.objectives):
            part = slice(3 * k, 3 * k + 3)
            arrays = {name: data[f"{name} {k}"] for name in objective.sizes}
            values[:, part], line, change = objective.linear(state, self.place[k], arrays)
            blocks[:, part, line] = change.transpose(0, 3, 1, 2)
            if self.move_root and objective.moves_with_root:
                blocks[:, part, n] = _STIFF_ROOT**0.5 * np.eye(3)
        return values, blocks

    def balance_rows(self, state: BodyState, data: dict[str, Array]) -> tuple[Array, Array]:
        """The centre of mass on the ground (m, 2), and its changes (m, 2, n + 1, 3)."""
        assert self.balance is not None
        ground = data["ground"]
        center, change = self.balance.linear(state, self.masses, data["centers"], self.parents)
        blocks = np.zeros((len(center), 2, len(self.parents) + 1, 3))
        blocks[:, :, :-1] = (change @ np.swapaxes(ground, -1, -2)[:, None]).transpose(0, 3, 1, 2)
        if self.move_root:
            blocks[:, :, -1] = _STIFF_ROOT**0.5 * ground
        return _across(ground, center), blocks

    def weights(self, data: dict[str, Array]) -> tuple[list[int], Array]:
        """The priority of each row, and its weight (m, r)."""
        levels = [objective.priority for objective in self.objectives for _ in range(3)]
        weights = [data[f"weight {k}"] for k in range(len(self.objectives)) for _ in range(3)]
        if self.balance is not None:
            levels += [BALANCE] * 2
            weights += [data["weight of balance"]] * 2
        return levels, np.stack(weights, axis=-1)

    # Solving

    def solution(self, iterations: int, tolerance: float) -> BodySolution:
        count = self.count
        pose, displacement = self.data["start"], np.zeros((count, 3))
        done = np.zeros(count, dtype=int)
        if iterations and count:
            values, blocks = self.rows(self.state(pose, displacement, self.data), self.data)
            active = np.flatnonzero(self.undone(values))
            pose = self.first_pose(values, blocks, active)
            part = {name: array[active] for name, array in self.data.items()}
            for iteration in range(iterations if len(active) else 0):
                here, moved = pose[active], displacement[active]
                found, shift, size = self.step(here, moved, part, _EASY * _SLOWING**iteration)
                pose[active], displacement[active] = found, shift
                done[active] += 1
                going = size > tolerance
                if not going.any():
                    break
                if not going.all():
                    active = active[going]
                    part = {name: array[active] for name, array in self.data.items()}
        state = self.state(pose, displacement, self.data)
        values, _ = self.rows(state, self.data)
        errors = np.linalg.norm(values.reshape(count, -1, 3), axis=-1)
        errors *= [self.bone if objective.moves_with_root else 1.0 for objective in self.objectives]
        unbalanced = np.zeros(count)
        if self.balance is not None:
            unbalanced = self.bone * self.unbalanced(state)
        rotations = self.whole.copy()
        rotations[:, self.used] = pose
        return BodySolution(
            rotations.reshape(*self.batch, *rotations.shape[1:]),
            (self.bone * displacement).reshape(*self.batch, 3),
            errors.reshape(*self.batch, -1),
            unbalanced.reshape(self.batch),
            done.reshape(self.batch),
        )

    def step(self, pose: Array, displacement: Array, data: dict[str, Array], ease: float) -> tuple[Array, Array, Array]:
        """One iteration: poses, displacements of the root, and the largest movement (m,) of a joint."""
        count = len(pose)
        state = self.state(pose, displacement, data)
        values, blocks = self.rows(state, data)
        center = None
        if self.balance is not None:
            center, change = self.balance_rows(state, data)
            values = np.concatenate((values, np.zeros((count, 2))), axis=1)
            blocks = np.concatenate((blocks, change), axis=1)
        matrix = blocks.reshape(count, blocks.shape[1], -1)
        away = rotation.log(rotation.multiply(rotation.inverse(data["start"]), pose))
        z = np.concatenate(
            ((self.unscale @ away[..., None])[..., 0].reshape(count, -1), displacement / _STIFF_ROOT**0.5), axis=1
        )
        levels, weights = self.weights(data)
        system = _System(matrix, values, z, levels, weights, ease, center)
        way = system.solve(data)
        found, shift, ends = self._moved(pose, displacement, way, data)
        if self.limited or ends.any():
            made = rotation.log(rotation.multiply(rotation.inverse(pose), found))
            made = (self.unscale @ made[..., None])[..., 0].reshape(count, -1)
            blocked = self._blocked(ends, way[:, :-3], made)
            some = blocked.any(axis=(1, 2, 3))
            if some.any():
                part = {name: array[some] for name, array in data.items()}
                again = system.held(some, blocked[some], made[some])
                way[some] = again.solve(part) + again.kept
                found, shift, _ = self._moved(pose, displacement, way, data)
        turned = rotation.distance(found, pose).max(axis=-1)
        return found, shift, np.maximum(turned, np.linalg.norm(shift - displacement, axis=-1))

    def _moved(
        self, pose: Array, displacement: Array, way: Array, data: dict[str, Array]
    ) -> tuple[Array, Array, Array]:
        """Poses and displacements after a step (m, 3 n + 3), and which hinges are at their end."""
        count, n = pose.shape[:2]
        turn = (self.scale @ way[:, :-3].reshape(count, n, 3)[..., None])[..., 0]
        move = way[:, -3:] * _STIFF_ROOT**0.5
        largest = np.maximum(np.linalg.norm(turn, axis=-1).max(axis=-1), np.linalg.norm(move, axis=-1))
        factor = np.minimum(1.0, _LARGEST_STEP / np.maximum(largest, 1e-300))
        found = rotation.normalize(rotation.multiply(pose, rotation.exp(factor[:, None, None] * turn)))
        found, ends = self.allowed(found, pose, data)
        return found, displacement + factor[:, None] * move, ends

    def _blocked(self, ends: Array, way: Array, made: Array) -> Array:
        """The projections (m, n, 3, 3) on the coordinates that a limit or the end of a hinge fixes."""
        count, n = ends.shape
        blocked = np.zeros((count, n, 3, 3))
        if self.limited:
            stopped = np.abs(made - way) > _BLOCKED * np.abs(way) + 1e-12
            axes = np.arange(3)
            limited = np.array([joint is not None for joint in self.limits])
            blocked[:, :, axes, axes] = stopped.reshape(count, n, 3) * limited[:, None]
        if ends.any():
            assert self.posture is not None
            blocked = np.where(ends[..., None, None], self.posture.along, blocked)
        return blocked


@dataclass
class _System:
    """The linear equations of one iteration.

    matrix: (m, r, d) for residuals (m, r); z: (m, d), the coordinates. levels: (r,) priorities; weights: (m, r). ease:
    factor of the damping. center: (m, 2), of mass, if the last two rows are the balance. kept: (m, d), a part of the
    step that is fixed, or None.
    """

    matrix: Array
    values: Array
    z: Array
    levels: list[int]
    weights: Array
    ease: float
    center: Array | None
    kept: Array | None = None

    def held(self, some: Array, blocked: Array, made: Array) -> "_System":
        """The system of some poses (m,) without the blocked coordinates (s, n, 3, 3), which move as `made` (s, 3 n)."""
        matrix, z, center = self.matrix[some], self.z[some], None
        count, rows, size = matrix.shape
        n = len(blocked[0])
        kept = np.zeros((count, size))
        kept[:, :-3] = (blocked @ made.reshape(count, n, 3, 1))[..., 0].reshape(count, -1)
        moved = (matrix @ kept[..., None])[..., 0]
        rest = self.values[some] - moved
        if self.center is not None:
            center = self.center[some] + moved[:, -2:]
            rest[:, -2:] = 0.0
        turns = matrix[..., :-3].reshape(count, rows, n, 3)
        stopped = np.einsum("mrnd,mnde->mrne", turns, blocked)
        matrix[..., :-3] -= stopped.reshape(count, rows, -1)
        z[:, :-3] -= (blocked @ z[:, :-3].reshape(count, n, 3, 1))[..., 0].reshape(count, -1)
        return _System(matrix, rest, z, self.levels, self.weights[some], self.ease, center, kept)

    def gain(self, values: Array) -> Array:
        """The fraction (m, 1) of the way back to the initial pose; as small as the steps of objectives out of reach."""
        return _GAIN / (1.0 + _SLOW * self.ease * np.abs(values).sum(axis=-1, keepdims=True))

    def solve(self, data: dict[str, Array]) -> Array:
        """The step (m, d)."""
        gram = self.matrix @ np.swapaxes(self.matrix, -1, -2)
        along = (self.matrix @ self.z[..., None])[..., 0]
        if self.center is None:
            return self._combined(self._forces(gram, along, self.values, self.weights))
        idle = self.weights.copy()
        idle[:, -2:] = 0.0
        forces = self._forces(gram, along, self.values, idle)
        # The centre of mass after a step without the balance.
        moved = (gram[:, -2:] @ forces[..., None])[..., 0] - self.gain(self.values) * along[:, -2:]
        out = support.outside(self.center + moved, data["polygon"])
        leaves = np.linalg.norm(out, axis=-1) > 1e-9
        if leaves.any():
            values = self.values[leaves].copy()
            values[:, -2:] = (moved + out)[leaves]
            forces[leaves] = self._forces(gram[leaves], along[leaves], values, self.weights[leaves])
        return self._combined(forces)

    def _combined(self, forces: Array) -> Array:
        return (np.swapaxes(self.matrix, -1, -2) @ forces[..., None])[..., 0] - self.gain(self.values) * self.z

    def _forces(self, gram: Array, along: Array, values: Array, weights: Array) -> Array:
        """The combination (m, r) of the rows whose sum, with the way back to the initial pose, is the step."""
        count, total = values.shape
        hard = weights >= 1.0
        forces = np.zeros((count, total))
        # Row k of `spans` are the rows of the Jacobian that make up row k in the null space of those before.
        spans = np.broadcast_to(np.eye(total), (count, total, total)) * hard[..., None]
        levels = np.array(self.levels)
        for level in sorted(set(self.levels)):
            mine = np.flatnonzero(levels == level)
            own = spans[:, mine]
            square = own @ gram @ np.swapaxes(own, -1, -2)
            want = np.where(hard[:, mine], values[:, mine] - (gram[:, mine] @ forces[..., None])[..., 0], 0.0)
            error = np.abs(np.where(hard[:, mine], values[:, mine], 0.0)).sum(axis=-1)
            size = np.diagonal(square, axis1=-2, axis2=-1)
            # The same for the three rows of an objective.
            parts = [slice(n, n + 3) for n in range(0, len(mine) - 2, 3)] or [slice(0, len(mine))]
            even = np.concatenate(
                [np.repeat(size[:, p].mean(-1, keepdims=True), size[:, p].shape[1], -1) for p in parts], -1
            )
            damping = _DAMPING * (self.ease * error)[:, None] * even + _LEAST
            y = _solved(square, damping, want[..., None])
            forces += (np.swapaxes(own, -1, -2) @ y)[..., 0]
            later = np.flatnonzero(levels > level)
            if len(later):
                crossed = own @ gram @ np.swapaxes(spans[:, later], -1, -2)
                less = np.swapaxes(_solved(square, np.full((count, len(mine)), _EXACT), crossed), -1, -2) @ own
                spans = spans.copy()
                spans[:, later] -= less
        return forces + self.gain(values) * self._back(gram, along, values, weights, hard)

    def _back(self, gram: Array, along: Array, values: Array, weights: Array, hard: Array) -> Array:
        """The forces (m, r) that keep the way back to the initial pose from the objectives, and those of weights below
        1, which are balanced against it."""
        soft = ~hard & (weights > _SOFTEST)
        rows = hard | soft
        pair = rows[:, :, None] & rows[:, None, :]
        square = np.where(pair, gram, 0.0)
        w = np.where(soft, weights, 1.0)
        give = ((1.0 - w) / w) ** 2 + _SINGULAR
        diagonal = np.arange(square.shape[-1])
        square[:, diagonal, diagonal] += give
        want = np.where(hard, along, np.where(soft, values + along, 0.0))
        return np.linalg.solve(square, want[..., None])[..., 0]


def _solved(square: Array, damping: Array, right: Array) -> Array:
    square = square.copy()
    diagonal = np.arange(square.shape[-1])
    square[:, diagonal, diagonal] += damping
    return np.linalg.solve(square, right)


def _flat(values: Array, batch: tuple[int, ...], tail: int) -> Array:
    """Values (..., tail) for a batch as (m, tail)."""
    shape = np.shape(values)[np.ndim(values) - tail :]
    return np.broadcast_to(values, (*batch, *shape)).reshape(-1, *shape)


def _across(ground: Array, points: Array) -> Array:
    """Points (m, 3) on the ground (m, 2)."""
    return (ground @ points[..., None])[..., 0]


def _lines(parents: Sequence[int]) -> list[list[int]]:
    """Each joint and its ancestors."""
    found: list[list[int]] = []
    for joint, parent in enumerate(parents):
        found.append([joint, *(found[parent] if parent >= 0 else ())])
    return found
