"""Inverse kinematics of a whole body: any number of objectives at once, by priority, with the smallest rotations.

All poses of a batch are solved together. An iteration is a Gauss-Newton step in the coordinates z, the rotation vectors
of the joints divided by their compliance. The residuals of each priority are reduced in the null space of those before
it, and the way back to the initial pose is projected onto the null space of all of them, so that the result has the
smallest rotations, weighted by the stiffness, that reach the objectives. All matrices that are inverted are as large as
the number of residuals, not of joints: a step is a combination of the rows of the Jacobian. The damping is proportional
to the remaining error, so that poses out of reach do not shake and others converge quadratically. What is left near the
objectives is the way back, an iteration to a fixed point: its relaxation is adapted to its last two steps. Sources:
Liegeois 1977; Nakamura and Hanafusa 1986; Siciliano and Slotine 1991; Sugihara 2011; the relaxation, Irons and Tuck
1969.

Arrays of quaternions and vectors have the component first and the pose last, (4, n, m), so that each operation runs
over contiguous memory; what is solved has the pose first, (m, r, d).
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
from .batches import batch_back, batch_front, batch_last
from .body_objectives import BALANCE, Balance, BodyObjective, BodyState, Members
from .limits import Limits
from .objectives import in_base
from .posture import Posture

_GAIN, _LEAST_GAIN, _MOST_GAIN = 0.7, 0.4, 2.0
"""Fraction of the way back to the initial pose in one iteration: at first, as 1 would overshoot where rotations are
large; and its range near the objectives."""
_NEAR = 0.03
"""Sum of the residuals that is near."""
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
        self.objectives, self.balance = objectives, balance
        self.root = _STIFF_ROOT**0.5 if move_root else 0.0
        self._keep(limits, posture)
        offsets = offsets[..., self.used, :]
        lengths = np.linalg.norm(offsets[..., 1:, :] if len(self.used) > 1 else offsets, axis=-1)
        self.bone = float(lengths.mean()) if lengths.mean() > 0.0 else 1.0
        self.data: dict[str, Array] = {
            "start": _last(self.whole[:, self.used]),
            "heads": _last(_flat(offsets, self.batch, 2)) / self.bone,
        }
        if limits is not None and np.any(np.asarray(limits.locks)):
            self.data["locked"] = limits.parameters(batch_last(self.whole, (self.count,), 2))[self.used]
        self.data["weights"] = np.empty((len(self.levels.mean), self.count))
        for g, (kind, members, _) in enumerate(self.groups):
            for name in kind.sizes:
                found = []
                for k in members:
                    values = np.asarray(getattr(objectives[k], name))
                    if name in ("target", "orientation"):
                        values = in_base(values, position, frame)
                    if name in ("target", "offset"):
                        values = values / self.bone
                    found.append(_flat(values, self.batch, 1))
                self.data[f"{name} {g}"] = _last(np.stack(found, axis=1))
            for k in members:
                self.data["weights"][self.rows_of[k]] = _flat(np.asarray(objectives[k].weight), self.batch, 0)
        if balance is not None:
            ground = support.ground(_flat(rotation.rotate(rotation.inverse(frame), balance.up), self.batch, 1))
            polygon = in_base(np.asarray(balance.polygon), position[..., None, :], frame[..., None, :])
            polygon = _flat(polygon, self.batch, 2) @ np.swapaxes(ground, -1, -2) / self.bone
            self.data["ground"], self.data["polygon"] = batch_back(ground), batch_back(polygon)
            self.data["centers"] = _last(_flat(np.asarray(balance.centers), self.batch, 2)[:, self.used]) / self.bone
            self.data["weights"][self.levels.balance] = _flat(np.asarray(balance.weight), self.batch, 0)
        self._hinges()

    def _keep(self, limits: Limits | None, posture: Posture | None) -> None:
        """Leave out the joints whose rotation changes nothing; those left are in the order of their depth."""
        lines = [np.array(line) for line in _lines(self.parents)]
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
        self.lines = [np.array(line) for line in _lines(self.parents)]
        self.is_above = np.zeros((len(self.used), len(self.used)))
        for joint, line in enumerate(self.lines):
            self.is_above[joint, line] = 1.0
        self.doublings = _doublings(self.lines)
        self.place = np.array([place[objective.joint] for objective in self.objectives])
        self._order()
        n = len(self.used)
        self.limits = [None] * n if limits is None else [limits.joints[joint] for joint in self.used.tolist()]
        self.limited = any(joint is not None for joint in self.limits)
        self.posture = None if posture is None else posture.take(self.used)
        self.scale = self.unscale = None
        if self.limited or self.posture is not None:
            compliance = np.broadcast_to(np.eye(3), (n, 3, 3)) if self.posture is None else self.posture.compliance
            values, vectors = np.linalg.eigh(compliance)
            root = (vectors * np.sqrt(values)[:, None]) @ np.swapaxes(vectors, -1, -2)
            self.scale = damped.freedom(self.limits)[:, :, None] * root
            self.unscale = np.linalg.pinv(self.scale)

    def _order(self) -> None:
        """The rows of objectives and balance by priority, those of one kind together; `groups` are the objectives of
        each kind, and their rows of each priority."""
        kinds: dict[type[BodyObjective], list[int]] = {}
        for k in sorted(range(len(self.objectives)), key=lambda k: self.objectives[k].priority):
            kinds.setdefault(type(self.objectives[k]), []).append(k)
        rows: list[tuple[int, int]] = [(BALANCE, -1)] * 2 if self.balance is not None else []
        for members in kinds.values():
            rows += [(self.objectives[k].priority, k) for k in members for _ in range(3)]
        rows.sort(key=lambda row: row[0])
        self.levels = _Levels.of(rows)
        places = [k for _, k in rows]
        self.rows_of = {k: slice(places.index(k), places.index(k) + 3) for k in range(len(self.objectives))}
        self.groups: list[tuple[type[BodyObjective], list[int], Members]] = []
        for kind, members in kinds.items():
            joints = self.place[members]
            priorities = np.array([self.objectives[k].priority for k in members])
            starts = np.flatnonzero(np.diff(priorities, prepend=-1)).tolist()
            runs = [slice(*pair) for pair in pairwise((*starts, len(members)))]
            spaces = [
                slice(self.rows_of[members[run.start]].start, self.rows_of[members[run.stop - 1]].stop) for run in runs
            ]
            group = Members(
                [self.objectives[k] for k in members],
                joints,
                [self.lines[joint] for joint in joints.tolist()],
                self.is_above[joints][:, None],
                list(zip(runs, spaces, strict=True)),
            )
            self.groups.append((kind, members, group))

    def _hinges(self) -> None:
        """For the bend of hinges: the bone before, in the frame of the parent, and the own bone of each."""
        heads = self.data["heads"]
        after = np.zeros(heads.shape)
        found = [False] * len(self.parents)
        offsets = {
            k: self.data[f"offset {g}"][:, p]
            for g, (kind, members, _) in enumerate(self.groups)
            for p, k in enumerate(members)
            if "offset" in kind.sizes
        }
        for k, place in enumerate(self.place):
            line = self.lines[place].tolist()
            if k in offsets and not found[line[0]]:
                after[:, line[0]] = offsets[k]
            for child, joint in pairwise(line):
                if not found[joint]:
                    after[:, joint], found[joint] = heads[:, child], True
        self.hinges = np.zeros(0, dtype=int)
        if self.posture is None:
            return
        long = np.minimum(np.linalg.norm(heads, axis=0).min(axis=1), np.linalg.norm(after, axis=0).min(axis=1))
        self.hinges = np.flatnonzero(self.posture.is_hinge & (long > 1e-9) & (np.array(self.parents) >= 0))
        if not len(self.hinges):
            return
        self.hinge = self.posture.take(self.hinges)
        self.data["before"], self.data["after"] = heads[:, self.hinges], after[:, self.hinges]
        bend = self.bend(self.data["start"], self.data)
        # The range of a hinge includes the bend of the initial pose.
        self.data["least"] = np.minimum(np.asarray(self.hinge.minimum)[:, None], bend)
        self.data["most"] = np.maximum(np.asarray(self.hinge.maximum)[:, None], bend)

    # Poses

    def state(self, pose: Array, displacement: Array, data: dict[str, Array]) -> BodyState:
        """Products and sums along the lines of all joints at once, in as many steps as the depth has binary digits."""
        turns = pose.copy()
        for first, above in self.doublings:
            turns[:, first:] = rotation.multiply(turns[:, above].T, turns[:, first:].T).T
        places = data["heads"].copy()
        roots = self.parents.count(-1)
        places[:, :roots] += displacement[:, None]
        places[:, roots:] = rotation.rotate(turns[:, self.parents[roots:]].T, places[:, roots:].T).T
        for first, above in self.doublings:
            places[:, first:] += places[:, above]
        axes = _matrices(np.ascontiguousarray(turns.transpose(0, 2, 1)))
        if self.scale is not None:
            axes = np.einsum("idmn,ndc->icmn", axes, self.scale)
        return BodyState(turns, places, axes)

    def bend(self, pose: Array, data: dict[str, Array]) -> Array:
        """The bend (h, m) [rad] of the hinges."""
        return self.hinge.bend(data["before"].T, data["after"].T, pose[:, self.hinges].T).T

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
            pose = _last(damped.clamped(self.limits, pose.T, before.T, data.get("locked")))
        return pose, ends

    def bent(self, pose: Array, angles: Array) -> Array:
        """The pose with its hinges bent by angles (h, m) [rad]; those with 0 stay to the bit."""
        pose, here = pose.copy(), pose[:, self.hinges]
        more = rotation.exp(angles.T[..., None] * np.asarray(self.hinge.hinges))
        pose[:, self.hinges] = np.where(angles != 0.0, rotation.multiply(here.T, more).T, here)
        return pose

    def undone(self, values: Array) -> Array:
        """Whether the initial poses (m,) do not meet their objectives, with residuals (m, r)."""
        weights = self.data["weights"].T
        away = np.any((np.abs(values) > _THERE) & (weights > 0.0), axis=-1)
        if self.balance is not None:
            state = self.state(self.data["start"], np.zeros((3, len(values))), self.data)
            away |= (self.unbalanced(state) > _THERE) & (weights[:, self.levels.balance] > 0.0).all(axis=-1)
        return away

    def unbalanced(self, state: BodyState) -> Array:
        """The distance (m,) of the centre of mass from the support polygon."""
        assert self.balance is not None
        center = self.balance.center(state, self.masses, self.data["centers"]).T
        center = _across(batch_front(self.data["ground"]), center)
        return np.linalg.norm(support.outside(center, batch_front(self.data["polygon"])), axis=-1)

    def first_pose(self, values: Array, matrix: Array, active: Array) -> Array:
        """The initial poses with those of the active ones (a,) bent whose limbs are straight."""
        start, data = self.data["start"], self.data
        pose, count = start, len(values)
        away = np.isin(np.arange(count), active)
        if len(self.hinges):
            bend = self.bend(start, data)
            pose = self.bent(pose, np.where(np.abs(bend) < _BENT, _BENT - bend, 0.0) * away)
        for k, objective in enumerate(self.objectives):
            if "target" not in objective.sizes:
                continue
            line = np.setdiff1d(self.lines[self.place[k]], self.hinges)
            part, rows = values[:, self.rows_of[k]], matrix[:, self.rows_of[k]].reshape(count, 3, 3, -1)[..., line]
            size = np.linalg.norm(part, axis=-1)
            force = np.linalg.norm(np.einsum("mr,mrdj->mdj", part, rows), axis=(-2, -1))
            level = away & (size > 1e-6) & (force < _LEVEL * size)
            if level.any():
                pose = pose.copy()
                bent = rotation.multiply(pose[:, line].T, rotation.exp([_NUDGE, 0.0, 0.5 * _NUDGE])).T
                pose[:, line] = np.where(level, bent, pose[:, line])
        return np.where(away, self.allowed(pose, start, data)[0], start)

    # Rows

    def residuals(self, state: BodyState, data: dict[str, Array], matrix: Array | None = None) -> Array:
        """The residuals (m, r) of the objectives, 0 for the balance. Their changes for the coordinates of the joints
        are written into a matrix (m, r, 3, n + 1)."""
        values = np.zeros((state.positions.shape[-1], len(self.levels.mean)))
        changes = None if matrix is None else matrix[..., :-1]
        for g, (kind, _, members) in enumerate(self.groups):
            arrays = {name: data[f"{name} {g}"] for name in kind.sizes}
            found = kind.linear(state, members, arrays, changes).T
            for some, rows in members.rows:
                values[:, rows] = found[:, some].reshape(len(values), -1)
        return values

    def balance_rows(self, state: BodyState, data: dict[str, Array], matrix: Array) -> Array:
        """The centre of mass on the ground (m, 2); its changes are written into the matrix."""
        assert self.balance is not None
        rows, ground = self.levels.balance, batch_front(data["ground"])
        center, change = self.balance.linear(state, self.masses, data["centers"], self.is_above.T)
        across = ground @ change.reshape(len(ground), 3, -1)
        matrix[:, rows, :, :-1] = across.reshape(len(ground), 2, 3, -1)
        matrix[:, rows, :, -1] = ground * self.root
        return _across(ground, center.T)

    def coordinates(self, start: Array, pose: Array, displacement: Array) -> Array:
        """The coordinates (m, 3, n + 1) of poses from others, and of displacements (3, m) of the root."""
        away = rotation.log(rotation.multiply(rotation.inverse(start.T), pose.T)).T
        if self.unscale is not None:
            away = np.einsum("ncd,dnm->cnm", self.unscale, away)
        z = np.empty((pose.shape[-1], 3, pose.shape[1] + 1))
        z[..., :-1], z[..., -1] = away.transpose(2, 0, 1), displacement.T / _STIFF_ROOT**0.5
        return z

    # Solving

    def solution(self, iterations: int, tolerance: float) -> BodySolution:
        count = self.count
        pose, displacement = self.data["start"], np.zeros((3, count))
        done = np.zeros(count, dtype=int)
        if iterations and count:
            matrix = self.space()
            values = self.residuals(self.state(pose, displacement, self.data), self.data, matrix)
            active = np.flatnonzero(self.undone(values))
            pose = self.first_pose(values, matrix, active)
            data, here, moved = _some(self.data, active), pose[..., active], displacement[..., active]
            relaxation = _Relaxation.of(len(active), matrix[0, 0].size)
            for iteration in range(iterations if len(active) else 0):
                part = matrix[: len(active)]
                here, moved, size = self.step(here, moved, data, part, _EASY * _SLOWING**iteration, relaxation)
                done[active] += 1
                going = size > tolerance
                if not going.all() or iteration == iterations - 1:
                    pose[..., active], displacement[..., active] = here, moved
                    active, here, moved = active[going], here[..., going], moved[..., going]
                    if not len(active):
                        break
                    data, relaxation = _some(self.data, active), relaxation.take(going)
        state = self.state(pose, displacement, self.data)
        values = self.residuals(state, self.data)
        errors = np.empty((count, len(self.objectives)))
        for k, objective in enumerate(self.objectives):
            size = self.bone if objective.moves_with_root else 1.0
            errors[:, k] = size * np.linalg.norm(values[:, self.rows_of[k]], axis=-1)
        unbalanced = np.zeros(count)
        if self.balance is not None:
            unbalanced = self.bone * self.unbalanced(state)
        rotations = self.whole.copy()
        rotations[:, self.used] = pose.T
        return BodySolution(
            rotations.reshape(*self.batch, *rotations.shape[1:]),
            (self.bone * displacement.T).reshape(*self.batch, 3),
            errors.reshape(*self.batch, -1),
            unbalanced.reshape(self.batch),
            done.reshape(self.batch),
        )

    def space(self) -> Array:
        """A Jacobian (m, r, 3, n + 1) with the changes of all objectives for the root, its last coordinates."""
        matrix = np.zeros((self.count, len(self.levels.mean), 3, len(self.used) + 1))
        for k, objective in enumerate(self.objectives):
            if objective.moves_with_root:
                matrix[:, self.rows_of[k], :, -1] = self.root * np.eye(3)
        return matrix

    def step(
        self,
        pose: Array,
        displacement: Array,
        data: dict[str, Array],
        matrix: Array,
        ease: float,
        relaxation: "_Relaxation",
    ) -> tuple[Array, Array, Array]:
        """One iteration: poses, displacements of the root, and the largest movement (m,) of a joint. matrix: space for
        the Jacobian, as of `space`."""
        state = self.state(pose, displacement, data)
        values = self.residuals(state, data, matrix)
        center = None if self.balance is None else self.balance_rows(state, data, matrix)
        z = self.coordinates(data["start"], pose, displacement)
        system = _System(matrix, values, z, self.levels, data["weights"].T, ease, center, relaxation)
        way = system.solve(data)
        found, shift, size, ends = self._moved(pose, displacement, way, data)
        if self.limited or ends.any():
            made = self.coordinates(pose, found, shift - displacement)[..., :-1]
            blocked = self._blocked(ends, way[..., :-1], made)
            some = blocked.any(axis=(1, 2, 3))
            if some.any():
                # Other coordinates are fixed than before.
                relaxation.put(some, _Relaxation.of(len(made[some]), way[0].size))
                again = system.held(some, blocked[some], made[some])
                way[some] = again.solve(_some(data, some)) + again.kept
                found, shift, size, _ = self._moved(pose, displacement, way, data)
        return found, shift, size

    def _moved(
        self, pose: Array, displacement: Array, way: Array, data: dict[str, Array]
    ) -> tuple[Array, Array, Array, Array]:
        """Poses and displacements after a step (m, 3, n + 1), the largest movement (m,) of a joint, and which hinges
        (h, m) are at their end."""
        turn = way[..., :-1].transpose(1, 2, 0)
        if self.scale is not None:
            turn = np.einsum("ncd,dnm->cnm", self.scale, turn)
        move = way[..., -1].T * _STIFF_ROOT**0.5
        moved = np.linalg.norm(move, axis=0)
        largest = np.maximum(rotation.length(turn.T).max(axis=1), moved)
        factor = np.minimum(1.0, _LARGEST_STEP / np.maximum(largest, 1e-300))
        found = rotation.normalize(rotation.multiply(pose.T, rotation.exp((factor * turn).T))).T
        found, ends = self.allowed(found, pose, data)
        size = factor * largest
        if self.limited or ends.any():
            size = np.maximum(rotation.distance(found.T, pose.T).max(axis=1), factor * moved)
        return found, displacement + factor * move, size, ends

    def _blocked(self, ends: Array, way: Array, made: Array) -> Array:
        """The projections (m, n, 3, 3) on the coordinates that a limit or the end of a hinge fixes, in a step (m, 3, n)
        of which only a part is made."""
        count, _, n = way.shape
        blocked = np.zeros((count, n, 3, 3))
        if self.limited:
            stopped = np.abs(made - way) > _BLOCKED * np.abs(way) + 1e-12
            limited = np.array([joint is not None for joint in self.limits])
            axes = np.arange(3)
            blocked[:, :, axes, axes] = (stopped & limited).swapaxes(1, 2)
        if ends.any():
            blocked[:, self.hinges] = np.where(ends.T[..., None, None], self.hinge.along, blocked[:, self.hinges])
        return blocked


@dataclass
class _Relaxation:
    """The fraction of the way back to the initial pose that each of m poses goes in one iteration.

    gain: (m, 1). back: (m, d), the way back in the last iteration, 0 where it is unknown. Near the objectives the gain
    is that of Irons and Tuck (1969), under which the last two ways back cancel as far as they can: it is close to 1
    for small rotations, and for large ones small enough that the iteration does not overshoot.
    """

    gain: Array
    back: Array

    @classmethod
    def of(cls, count: int, size: int) -> "_Relaxation":
        return cls(np.full((count, 1), _GAIN), np.zeros((count, size)))

    def take(self, some: Array | slice) -> "_Relaxation":
        return _Relaxation(self.gain[some], self.back[some])

    def put(self, some: Array | slice, found: "_Relaxation") -> None:
        self.gain[some], self.back[some] = found.gain, found.back

    def after(self, back: Array, error: Array) -> "_Relaxation":
        """For a way back (m, d), at a sum of residuals (m, 1)."""
        change = back - self.back
        along = -np.einsum("md,md->m", self.back, change)[:, None]
        square = np.einsum("md,md->m", change, change)[:, None]
        best = np.clip(self.gain * along / np.maximum(square, 1e-300), _LEAST_GAIN, _MOST_GAIN)
        known = self.back.any(axis=1, keepdims=True)
        return _Relaxation(np.where(known & (error < _NEAR), best, _GAIN), back)


@dataclass(frozen=True)
class _Levels:
    """Rows in the order of their priority. steps: those of each priority. mean: (r, r), which averages over the rows of
    an objective. balance: the two rows of a balance."""

    steps: list[slice]
    mean: Array
    balance: slice

    @classmethod
    def of(cls, rows: Sequence[tuple[int, int]]) -> "_Levels":
        """For the priority and the objective of each row, -1 for a balance."""
        priorities, objectives = np.array(rows).T
        ends = np.flatnonzero(np.diff(priorities, prepend=-1)).tolist()
        steps = [slice(*pair) for pair in pairwise((*ends, len(rows)))]
        same = (objectives[:, None] == objectives).astype(float)
        first = int(np.argmin(objectives))
        return cls(steps, same / same.sum(axis=-1), slice(first, first + 2))


@dataclass
class _System:
    """The linear equations of one iteration.

    matrix: (m, r, 3, n + 1) for residuals (m, r); z: (m, 3, n + 1), the coordinates. levels: of the rows. weights:
    (m, r). ease: factor of the damping. center: (m, 2), of mass, if there is a balance. kept: (m, 3, n + 1), a part of
    the step that is fixed, or None.
    """

    matrix: Array
    values: Array
    z: Array
    levels: _Levels
    weights: Array
    ease: float
    center: Array | None
    relaxation: _Relaxation
    kept: Array | None = None

    def held(self, some: Array, blocked: Array, made: Array) -> "_System":
        """The system of some poses (m,) without the blocked coordinates (s, n, 3, 3), which move as `made` (s, 3,
        n)."""
        matrix, z, center = self.matrix[some], self.z[some], None
        kept = np.zeros(z.shape)
        kept[..., :-1] = np.einsum("mjcd,mdj->mcj", blocked, made)
        moved = np.einsum("mrcj,mcj->mr", matrix, kept)
        rest = self.values[some] - moved
        if self.center is not None:
            center = self.center[some] + moved[:, self.levels.balance]
            rest[:, self.levels.balance] = 0.0
        matrix[..., :-1] -= np.einsum("mrcj,mjcd->mrdj", matrix[..., :-1], blocked)
        z[..., :-1] -= np.einsum("mjcd,mdj->mcj", blocked, z[..., :-1])
        relaxation = _Relaxation.of(len(z), z[0].size)
        return _System(matrix, rest, z, self.levels, self.weights[some], self.ease, center, relaxation, kept)

    def solve(self, data: dict[str, Array]) -> Array:
        """The step (m, 3, n + 1)."""
        count, rows = self.values.shape
        matrix, z = self.matrix.reshape(count, rows, -1), self.z.reshape(count, -1)
        gram = matrix @ np.swapaxes(matrix, -1, -2)
        along = (matrix @ z[..., None])[..., 0]
        error = np.abs(self.values).sum(axis=-1, keepdims=True)

        def step(some: Array | slice, values: Array, weights: Array) -> tuple[Array, _Relaxation]:
            forces = self._forces(gram[some], along[some], values, weights)
            ways = np.swapaxes(matrix[some], -1, -2) @ forces
            back = ways[..., 1] - z[some]
            relaxation = self.relaxation.take(some).after(back, error[some])
            # As small as the steps of objectives out of reach.
            gain = relaxation.gain / (1.0 + _SLOW * self.ease * error[some])
            return ways[..., 0] + gain * back, relaxation

        weights, balance = self.weights, self.levels.balance
        if self.center is not None:
            weights = weights.copy()
            weights[:, balance] = 0.0
        found, relaxation = step(slice(None), self.values, weights)
        if self.center is not None:
            # The centre of mass after a step without the balance.
            moved = (matrix[:, balance] @ found[..., None])[..., 0]
            out = support.outside(self.center + moved, batch_front(data["polygon"]))
            leaves = np.linalg.norm(out, axis=-1) > 1e-9
            if leaves.any():
                values = self.values[leaves]
                values[:, balance] = (moved + out)[leaves]
                found[leaves], part = step(leaves, values, self.weights[leaves])
                relaxation.put(leaves, part)
        self.relaxation.put(slice(None), relaxation)
        return found.reshape(self.z.shape)

    def _forces(self, gram: Array, along: Array, values: Array, weights: Array) -> Array:
        """The combinations (m, r, 2) of the rows whose sums are the step towards the objectives, and what keeps the way
        back to the initial pose from them."""
        hard = weights >= 1.0
        forces = np.zeros((*values.shape, 2))
        forces[..., 1] = self._back(gram, along, values, weights, hard)
        if not hard.all():
            values = np.where(hard, values, 0.0)
            gram = np.where(hard[:, :, None] & hard[:, None, :], gram, 0.0)
        # Row k of `spans` are the rows of the Jacobian that make up row k in the null space of those before, and
        # `inner` are their products.
        inner, spans = gram, np.zeros(0)
        if len(self.levels.steps) > 1:
            inner, spans = gram.copy(), np.tile(np.eye(len(gram[0])), (len(gram), 1, 1))
        found = forces[..., :1]
        for mine in self.levels.steps:
            square, want = inner[:, mine, mine], values[:, mine, None]
            error = np.abs(want).sum(axis=1)
            # The same for the rows of an objective.
            even = np.diagonal(square, axis1=-2, axis2=-1) @ self.levels.mean[mine, mine]
            damping = _DAMPING * self.ease * error * even + _LEAST
            until, later = slice(mine.stop), slice(mine.stop, None)
            if mine.start == 0:
                found[:, mine] = _solved(square, damping, want)
            else:
                own = spans[:, mine, until]
                y = _solved(square, damping, want - gram[:, mine] @ found)
                found[:, until] += np.swapaxes(own, -1, -2) @ y
            if mine.stop < len(gram[0]):
                crossed = inner[:, mine, later]
                less = np.swapaxes(_solved(square, _EXACT, crossed), -1, -2)
                both = less @ crossed
                spans[:, later, until] -= less @ spans[:, mine, until]
                inner[:, later, later] += less @ square @ np.swapaxes(less, -1, -2) - both - np.swapaxes(both, -1, -2)
        return forces

    @staticmethod
    def _back(gram: Array, along: Array, values: Array, weights: Array, hard: Array) -> Array:
        """The forces (m, r) that keep the way back to the initial pose from the objectives, and those of weights below
        1, which are balanced against it."""
        if hard.all():
            return _solved(gram, _SINGULAR, along[..., None])[..., 0]
        soft = ~hard & (weights > _SOFTEST)
        rows = hard | soft
        square = np.where(rows[:, :, None] & rows[:, None, :], gram, 0.0)
        w = np.where(soft, weights, 1.0)
        want = np.where(hard, along, np.where(soft, values + along, 0.0))
        return _solved(square, ((1.0 - w) / w) ** 2 + _SINGULAR, want[..., None])[..., 0]


def _solved(square: Array, damping: Array | float, right: Array) -> Array:
    """The solutions for matrices (m, k, k) with a damping on their diagonals."""
    diagonal = np.einsum("mii->mi", square)
    before = diagonal.copy()
    diagonal += damping
    found = np.linalg.solve(square, right)
    diagonal[:] = before
    return found


def _some(data: dict[str, Array], poses: Array) -> dict[str, Array]:
    """The data of some of the poses."""
    return {name: array[..., poses] for name, array in data.items()}


def _last(values: Array) -> Array:
    """(m, n, c) as (c, n, m)."""
    return np.ascontiguousarray(values.T)


def _matrices(q: Array) -> Array:
    """Unit quaternions (4, ...) as rotation matrices (3, 3, ...)."""
    w, x, y, z = q
    double = 2.0 * q[1:]
    wx, wy, wz = w * double
    (xx, xy, xz), (yy, yz), zz = x * double, y * double[1:], z * double[2]
    found = np.empty((3, 3, *w.shape))
    found[0, 0], found[1, 1], found[2, 2] = 1.0 - (yy + zz), 1.0 - (xx + zz), 1.0 - (xx + yy)
    found[0, 1], found[1, 0] = xy - wz, xy + wz
    found[0, 2], found[2, 0] = xz + wy, xz - wy
    found[1, 2], found[2, 1] = yz - wx, yz + wx
    return found


def _doublings(lines: Sequence[Array]) -> list[tuple[int, Array]]:
    """What combines quantities along lines of joints, which are in the order of their depth, by twice as many joints
    each time: the first joint with another one that far above, and these of it and all after it."""
    found, far = [], 1
    while far < len(lines[-1]):
        first = next(n for n, line in enumerate(lines) if len(line) > far)
        found.append((first, np.array([line[far] for line in lines[first:]])))
        far *= 2
    return found


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
