"""Baking several effectors of one body: sample the animation, solve all frames, write keys."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeVar

import bpy
import numpy as np

from ...lookat_pd import ik, rotation
from ...lookat_pd.body import legs
from ...lookat_pd.body.contacts import Interval
from ...lookat_pd.errors import RigError
from ...lookat_pd.ik.body_objectives import LOW
from ...lookat_pd.rotation import Array
from ..animation import actions, bake_options, channels
from ..animation.bake_options import BakeOptions
from ..animation.bake_transaction import BakeTransaction
from ..detection import limbs
from ..sampling import suspend
from ..sampling.sampler import Sampler, Samples, seen_from
from ..sampling.scene_time import seconds_per_frame
from ..sampling.targets import Target, rides_at
from . import body as bodies
from . import body_balance, contact_plan, goals
from .bake import BAKED, axes_of, from_armature, in_world
from .body import PRIORITIES, BodyEffector, JointTree
from .body_balance import Weighed
from .body_controls import BodyControls, ChannelWriter, is_mixed
from .body_errors import AS_SOLVED, Objectives, measured, score, settled
from .body_pose import BodyPose, SolvedBody
from .chain_solve import in_channels
from .contact_plan import Surface

Sliced = TypeVar("Sliced", ik.BodyObjective, ik.Balance)
_SLICE = 128
"""Frames that are solved together between two checks of the keyboard."""
_FAR = 1e12
_ALL = 1_000_000
_REACHED = 1e-3
"""Largest error of an effector in reach, as a fraction of the body's size."""
_TURNED = np.radians(0.5)
"""Largest angle of an effector that has its orientation."""
_PASSES = 6
"""How often a pose on controls is corrected at most."""
_SOFT = 1.5
"""Largest angular acceleration of a knee whose foot is held, as a factor of the animated one."""
_NEARLY_NOTHING = 1e-7
"""A rotation [rad] or a movement, as a fraction of the body's size, that is none."""


@dataclass(frozen=True)
class BodyTuning:
    """balance: weight of the centre of mass above the feet, 0 for none. move_hips: let the first joint change its
    location. ease: [s], over which targets take effect at the start of the range and end at its end. iterations: most
    steps of the solver. still: only the limbs of the effectors turn, and the hips are lowered, smoothly and if they may
    move, where a leg does not reach."""

    balance: float = 0.0
    move_hips: bool = True
    ease: float = 0.0
    iterations: int = 100
    still: bool = False


@dataclass(frozen=True)
class BodyBakeResult:
    """The result of a bake. errors: (k, F), distances of the effectors from their targets in the world; turned: (k, F),
    remaining angles [rad]. in_reach: (k, F), whether an effector with its whole weight has reached its target. weights:
    (k, F). unbalanced: (F,), distance of the centre of mass from the support polygon in the world. bones: those with
    keys. contacts: of each effector. lowered: (F,), how much lower the hips are in the world, by contacts. lengths:
    (k,), of the limbs of the effectors in the world."""

    body: JointTree
    effectors: tuple[BodyEffector, ...]
    action: bpy.types.Action
    frames: Array
    errors: Array
    turned: Array
    in_reach: Array
    weights: Array
    unbalanced: Array
    bones: tuple[str, ...]
    contacts: tuple[tuple[Interval, ...], ...]
    lowered: Array
    lengths: Array

    @property
    def redirected(self) -> dict[str, str]:
        """The effectors that are neither turned nor moved themselves, and the control that is, on generated rigs."""
        found = {}
        for effector, joint in zip(self.effectors, self.body.joints_of_effectors, strict=True):
            limb = next((limb for limb in self.body.limbs if joint == limb.turned[-1]), None)
            controls = [joint]
            if limb is not None:
                is_fk = not self.bones or any(name in self.bones for name in limb.turned)
                controls = [limb.goal] * (limb.goal in self.bones) + [joint] * is_fk
            if controls and effector.bone not in controls:
                found[effector.bone] = controls[0]
        return found

    @property
    def missing(self) -> dict[str, int]:
        """The effectors that do not reach their targets with their whole weight, and at how many frames."""
        away = (~self.in_reach & (self.weights >= 1.0)).sum(axis=-1).tolist()
        return {effector.bone: count for effector, count in zip(self.effectors, away, strict=True) if count}

    @property
    def largest_error(self) -> float:
        """Of the effectors and frames in reach; nan if there are none."""
        return float(self.errors[self.in_reach].max()) if self.in_reach.any() else np.nan


def bake(
    scene: bpy.types.Scene,
    armature: bpy.types.Object | None,
    effectors: Sequence[BodyEffector],
    tuning: BodyTuning,
    options: BakeOptions,
    *,
    called: str = BAKED,
) -> Generator[float, None, BodyBakeResult]:
    """Make all effectors follow their targets over the range; yields the completed fraction. Raises RigError.

    With a balance, feet that are no effectors stay where they are animated. called: suffix of the name of the action.
    """
    bake_options.check_range(options.first, options.last)
    work = prepared(scene, armature, effectors, tuning, options, called=called)
    actions.check(work.body.armature, options.into)
    with suspend.suspend_live():
        return (yield from work.steps())


def prepared(
    scene: bpy.types.Scene,
    armature: bpy.types.Object | None,
    effectors: Sequence[BodyEffector],
    tuning: BodyTuning,
    options: BakeOptions,
    *,
    called: str = BAKED,
) -> "BodyWork":
    """The body of these effectors, with the feet that a balance needs. Raises RigError."""
    body = bodies.resolve(armature, effectors, move_hips=tuning.move_hips)
    if tuning.still:
        body = bodies.with_still_trunk(body)
    weighed = None
    if tuning.balance > 0.0:
        weighed = body_balance.weigh(body)
        listed = set(body.joints_of_effectors)
        pins = [BodyEffector(name, priority="HIGH") for name in weighed.controls if name not in listed]
        if pins:
            effectors = [*effectors, *pins]
            body = bodies.resolve(armature, effectors, move_hips=tuning.move_hips)
            weighed = body_balance.weigh(body)
    moved = [limb.goal for limb in body.limbs]
    modes = {name: body.armature.pose.bones[name].rotation_mode for name in (*body.joints, *moved)}
    actions.check_curves(body.armature, modes, options.into)
    moved += [body.joints[0]] if body.moves else []
    actions.check_curves(body.armature, dict.fromkeys(moved, channels.LOCATION), options.into)
    return BodyWork(scene, body, tuple(effectors), tuning, options, weighed, called)


@dataclass
class BodyWork:
    """What a bake and a drag of several effectors do at each of their frames: objectives, solution, channels."""

    scene: bpy.types.Scene
    body: JointTree
    effectors: tuple[BodyEffector, ...]
    tuning: BodyTuning
    options: BakeOptions
    weighed: Weighed | None
    called: str

    def __post_init__(self) -> None:
        self.frames = np.arange(self.options.first, self.options.last + 1)
        both = [target for effector in self.effectors for target in (effector.target, effector.pole)]
        self.followed = [target for target in both if target is not None]

    @property
    def seen(self) -> tuple[str, ...]:
        """The bones that are sampled."""
        return tuple(dict.fromkeys((*self.body.seen, *(() if self.weighed is None else self.weighed.seen))))

    def steps(self) -> Generator[float, None, BodyBakeResult]:
        """The bake; yields the completed fraction."""
        armature = self.body.armature
        with Sampler(self.scene, armature, self.seen, self.followed, located=True) as sampler:
            samples, orientations = yield from self._sample(sampler)
            self.check_scale(samples)
            return (yield from self._solved(sampler, samples, orientations))

    def check_scale(self, samples: Samples) -> None:
        """Raise RigError if the rig is scaled so that its effectors cannot be solved together."""
        mirrored = np.any(np.linalg.det(samples.worlds[:, :3, :3]) < 0.0)
        held = all(effector.contact is not None for effector in self.effectors)
        if mirrored and not self.body.plain and (samples.sheared or not held):
            raise RigError(
                "'{armature}' is mirrored by a negative scale, with which Blender evaluates the constraints of its "
                "controls differently, so that several effectors cannot be solved together; make the scale positive, "
                "or bake one effector at a time.",
                armature=self.body.armature.name,
            )
        if samples.sheared:
            raise RigError(
                "A bone of '{armature}' is scaled unevenly, so that several effectors cannot be solved together; "
                "bake one effector at a time.",
                armature=self.body.armature.name,
            )

    def _solved(
        self, sampler: Sampler, samples: Samples, orientations: Array
    ) -> Generator[float, None, BodyBakeResult]:
        body, armature = self.body, self.body.armature
        objectives, balance = self.objectives_of(samples, BodyPose(body, samples), orientations)
        touching = [effector.bone for effector in self.effectors if effector.contact is not None]
        if touching and not any(self.intervals):
            raise contact_plan.no_contact(touching, self.options.first, self.options.last)
        pose = self.pose(samples)
        self.lowering = self._lowering(samples, pose, objectives)
        self.root = pose.positions[:, 0] - self.lowering
        objectives = [(k, self._lowered(objective, self.rides[k])) for k, objective in objectives]
        found = yield from self._solve_all(pose, objectives, balance, 0.0 if body.plain else 0.1)
        checked = None
        if not body.plain:
            checked = _Verified(self, sampler, samples, pose, objectives, balance, found)
            yield from checked.measure()
        with BakeTransaction(armature) as work:
            if checked is None:
                written = self.write(work, samples, pose, found.rotations, found.displacement)
                errors, unbalanced = found.errors, found.unbalanced
            else:
                errors, unbalanced, written = yield from checked.steps(work)
            if not written:
                # An action that is the same as before, as after any other bake.
                mode, raw = samples.channel(body.joints[0])
                work.write(body.joints[0], mode, self.frames, raw, raw)
            name = self.options.name or actions.baked_name(armature, self.options.into, self.called)
            action = work.commit(self.options.into, name)
        away, turned = self._errors(objectives, errors)
        weights = np.array([np.minimum(self._weight(item), self._share(item)) for item in self.effectors])
        scale = in_world(np.ones(len(self.frames)), samples)
        return BodyBakeResult(
            body,
            self.effectors,
            action,
            self.frames,
            away * scale,
            turned,
            (away <= _REACHED * pose.size) & (turned <= _TURNED) & (weights >= 1.0),
            weights,
            unbalanced * scale,
            tuple(written),
            tuple(self.intervals),
            np.linalg.norm(self.lowering, axis=-1) * scale,
            np.array([self._length(pose, joint) * float(np.median(scale)) for joint in body.effectors]),
        )

    def _sample(self, sampler: Sampler) -> Generator[float, None, tuple[Samples, Array]]:
        """The body over all frames, and the axes (t, F, 3, 3) of the targets in the world."""
        count, share = len(self.frames), 0.7 if self.body.plain else 0.3
        orientations = np.tile(np.eye(3), (len(self.followed), count, 1, 1))
        self.ik = np.zeros((count, len(self.body.limbs)))
        samples = None
        for k, samples in enumerate(sampler.sample(self.frames.tolist())):  # noqa: B007
            depsgraph = sampler.scene.view_layers[0].depsgraph
            for n, target in enumerate(self.followed):
                if target.object is not None:
                    orientations[n, k] = axes_of(sampler.stand_in(target.object), target.bone, depsgraph)
            self.ik[k] = self.body.influences(sampler.stand_in(self.body.armature).evaluated_get(depsgraph))
            yield share * (k + 1) / count
        assert samples is not None
        for target, points in zip(self.followed, samples.targets, strict=True):
            far = np.abs(points).max(axis=-1) > _FAR
            if far.any():
                raise RigError(
                    "The position of target '{target}' is infinite at frame {frame}; fix its animation.",
                    target=target.label,
                    frame=samples.frames[int(np.argmax(far))],
                )
        return samples, orientations

    # Objectives

    def objectives_of(
        self, samples: Samples, pose: BodyPose, orientations: Array
    ) -> tuple[list[tuple[int, ik.BodyObjective]], ik.Balance | None]:
        """The objectives with the index of their effector, over all frames and in armature space."""
        found: list[tuple[int, ik.BodyObjective]] = []
        self.intervals: list[tuple[Interval, ...]] = [()] * len(self.effectors)
        self.rides = np.zeros((len(self.effectors), len(self.frames)), dtype=bool)
        moved: dict[str, Array] = {}
        targets = iter(zip(samples.targets, orientations, strict=True))
        worlds = rotation.from_matrix(samples.worlds[:, :3, :3])
        for k, (effector, joint) in enumerate(zip(self.effectors, self.body.effectors, strict=True)):
            place, lying = pose.positions[:, joint], pose.rotations[:, joint]
            priority, weight = PRIORITIES[effector.priority], self._weight(effector)
            common = {"weight": weight, "priority": priority}
            target, turn = (place, lying) if effector.target is None else next(targets)
            if effector.contact is not None:
                target, lying = self._held(k, samples, pose, None if effector.target is None else (target, turn))
            elif effector.target is not None:
                turn = rotation.multiply(rotation.inverse(worlds), rotation.from_matrix(turn))
                if effector.offset:
                    away = rotation.rotate(worlds[0], place[0] - target[0])
                    target = target + rotation.rotate(rotation.inverse(worlds), away)
            point = self.tip(joint, samples) if effector.tip else np.zeros(3)
            ease, aimed = self._share(effector)[:, None], target
            if np.any(ease < 1.0):
                seen = rotation.rotate(lying, self.body.aims[k])
                ahead = place + np.linalg.norm(target - place, axis=-1, keepdims=True) * seen
                here, turn = place + rotation.rotate(lying, point), rotation.slerp(lying, turn, ease[:, 0])
                target, aimed = here + ease * (target - here), ahead + ease * (target - ahead)
            if effector.position or effector.contact is not None:
                found.append((k, ik.BodyPosition(joint, target, point, **common)))
                moved[self.body.shown[joint]] = np.broadcast_to(np.asarray(weight)[..., None], (len(place), 1)) * (
                    target - place
                )
            if effector.keeps_orientation:
                found.append((k, ik.BodyOrientation(joint, lying, **common)))
            elif effector.orientation == "AIM":
                found.append((k, ik.BodyAim(joint, aimed, self.body.aims[k], **common)))
            elif effector.orientation == "TARGET":
                found.append((k, ik.BodyOrientation(joint, turn, **common)))
            if effector.pole is not None:
                found.append((k, self._bend(effector, joint, next(targets)[0], weight, pose)))
        balance = None
        if self.weighed is not None:
            balance = body_balance.objective(self.body, self.weighed, samples, moved, min(self.tuning.balance, 1.0))
        return found, balance

    def _bend(self, effector: BodyEffector, joint: int, pole: Array, weight: Array, pose: BodyPose) -> ik.BodyPole:
        """The objective of a pole (F, 3) in armature space. Raises RigError where the limb has none or its own."""
        bones = len(bodies.limb_of(self.body, joint)) - 1
        if bones < 2:
            raise RigError(
                "Effector '{bone}' does not end a limb that bends; leave its pole target empty.", bone=effector.bone
            )
        limb = next((n for n, limb in enumerate(self.body.limbs) if limb.turned[-1] == self.body.joints[joint]), None)
        if limb is not None and np.any(self.ik[:, limb] > 0.0):
            raise RigError(
                "The limb of '{bone}' is in IK at frame {frame}, where the rig's own pole bends it; switch it to FK, "
                "or leave its pole target empty.",
                bone=effector.bone,
                frame=int(self.frames[np.argmax(self.ik[:, limb] > 0.0)]),
            )
        bend = pose.positions[:, self.body.parents[joint]]
        pole = bend + self._share(effector)[:, None] * (pole - bend)
        return ik.BodyPole(joint, pole, bones, weight=weight, priority=LOW)

    def tip(self, joint: int, samples: Samples) -> Array:
        """The tip (F, 3) of a joint in its own frame."""
        name = self.body.shown[joint]
        length = self.body.armature.data.bones[name].length * samples.sizes[:, samples.bones.index(name)]
        return length[:, None] * np.array([0.0, 1.0, 0.0])

    def _held(
        self, k: int, samples: Samples, pose: BodyPose, surface: tuple[Array, Array] | None
    ) -> tuple[Array, Array]:
        """Place (F, 3) and orientation (F, 4) at which an effector is held during its contacts, in armature space.

        surface: places (F, 3) in armature space and axes (F, 3, 3) in the world of what it touches.
        """
        effector, joint, worlds = self.effectors[k], self.body.effectors[k], samples.worlds
        assert effector.contact is not None
        spin = rotation.from_matrix(worlds[:, :3, :3])
        touched = None
        if surface is not None:
            assert effector.target is not None
            rides = bodies.rides_on_limb(self.body, joint, effector.target, self.frames)
            places = from_armature(worlds, surface[0])
            touched = Surface(places, rotation.from_matrix(surface[1]), rides)
            contact_plan.check_surface(
                effector.contact, touched, self.options.first, effector.bone, effector.target.label
            )
        place, lying = pose.positions[:, joint], pose.rotations[:, joint]
        size = self._length(pose, joint) * float(np.median(in_world(np.ones(len(worlds)), samples)))
        found = contact_plan.held(
            effector.contact,
            from_armature(worlds, place),
            rotation.multiply(spin, lying),
            size or 1.0,
            seconds_per_frame(self.scene),
            self.options.first,
            touched,
            base=from_armature(worlds, pose.positions[:, bodies.limb_of(self.body, joint)[0]]),
        )
        self.intervals[k] = found.intervals
        if effector.target is not None and effector.target.object is not None:
            self.rides[k] = self._carried(k, effector.target, found.weight > 0.0)
        touches = (found.weight > 0.0)[:, None]
        return (
            np.where(touches, seen_from(worlds, found.place[None])[0], place),
            np.where(touches, rotation.multiply(rotation.inverse(spin), found.orientation), lying),
        )

    def _carried(self, k: int, target: Target, touches: Array) -> Array:
        """The frames (F,) at which what an effector touches moves with the trunk. Raises RigError if it moves with
        another effector."""
        for other, joint in zip(self.effectors, self.body.effectors, strict=True):
            same = other is self.effectors[k]
            if not same and np.any(bodies.rides_on_limb(self.body, joint, target, self.frames) & touches):
                raise RigError(
                    "'{target}' moves with '{effector}'; clean up the contacts of that first and those of '{bone}' "
                    "after that.",
                    target=target.label,
                    effector=other.bone,
                    bone=self.effectors[k].bone,
                )
        item, top = target.object, self.body.joints[:1]
        assert item is not None
        return rides_at(item, target.bone, self.body.armature, top, self.frames)

    def _lowered(self, objective: ik.BodyObjective, rides: Array) -> ik.BodyObjective:
        """An objective whose target is lowered with the trunk at some frames (F,)."""
        if not (isinstance(objective, ik.BodyPosition) and rides.any() and self.lowering.any()):
            return objective
        return replace(objective, target=np.asarray(objective.target) - rides[:, None] * self.lowering)

    def _length(self, pose: BodyPose, joint: int) -> float:
        """Length of the limb that ends with a joint, in armature space."""
        inner = bodies.limb_of(self.body, joint)[1:]
        return float(np.linalg.norm(pose.offsets[:, inner], axis=-1).sum(axis=-1).mean())

    def _lowering(self, samples: Samples, pose: BodyPose, objectives: Objectives) -> Array:
        """How far the first joint is lowered (F, 3) in armature space, so that all feet reach their places."""
        none = np.zeros((len(self.frames), 3))
        if not (self.tuning.still and self.body.moves):
            return none
        rows, shifts = [], []
        feet = {line[2]: line[:3] for line in limbs.limb_lines(self.body.armature)[1] if len(line) > 2}
        for _, objective in objectives:
            leg = feet.get(self.body.joints[objective.joint])
            if leg is not None and isinstance(objective, ik.BodyPosition) and set(leg) <= set(self.body.joints):
                rows.append([self.body.joints.index(name) for name in leg])
                shifts.append(np.asarray(objective.target) - pose.positions[:, objective.joint])
        if not rows:
            return none
        shift = np.stack(shifts, axis=1)
        joints = [[row[n] for row in rows] for n in range(3)]
        places, turns = ([part[:, row] for row in joints] for part in (pose.positions, pose.rotations))
        wanted = legs.Leg(*(place + shift for place in places), *turns)
        up = rotation.normalize(np.linalg.inv(samples.worlds[:, :3, :3])[:, :, 2])
        moved = legs.Leg(*places, *turns)
        low = legs.lowering(wanted, moved, up, seconds_per_frame(self.scene), acceleration=_SOFT)
        return low[:, None] * up

    def _weight(self, effector: BodyEffector) -> Array:
        """The weight (F,) of an effector."""
        return np.broadcast_to(np.clip(effector.weight, 0.0, 1.0), (len(self.frames),))

    def _share(self, effector: BodyEffector) -> Array:
        """How far (F,) what an effector is to reach is from the animation, 0, to its target, 1: by its weight, which
        alone would bring it near its target at a third already, and 0 at the ends of a range that is eased."""
        if effector.is_pin or effector.contact is not None:
            return np.ones(len(self.frames))
        ease = goals.ease_in_and_out(len(self.frames), self.tuning.ease / seconds_per_frame(self.scene))
        return ease * self._weight(effector)

    # Solving and writing

    def pose(self, samples: Samples) -> BodyPose:
        """The pose that is solved: limbs between IK and FK have that of their FK controls, which have fixed lengths."""
        mixed = np.zeros((len(self.frames), len(self.body.joints)), dtype=bool)
        for limb, influence in zip(self.body.limbs, self.ik.T, strict=True):
            mixed[:, [self.body.joints.index(name) for name in limb.turned]] = is_mixed(influence)[:, None]
        return BodyPose(self.body, samples, mixed)

    def _solve_all(
        self,
        pose: BodyPose,
        objectives: Objectives,
        balance: ik.Balance | None,
        share: float,
    ) -> Generator[float, None, SolvedBody]:
        found = []
        for first in range(0, len(self.frames), _SLICE):
            part = slice(first, first + _SLICE)
            found.append(self.solve(pose, objectives, balance, part))
            yield 0.7 + 0.25 * min(1.0, (first + _SLICE) / len(self.frames)) if not share else 0.3 + share
        return SolvedBody(*(np.concatenate([getattr(part, f.name) for part in found]) for f in fields(SolvedBody)))

    def solve(
        self,
        pose: BodyPose,
        objectives: Objectives,
        balance: ik.Balance | None,
        part: slice,
        iterations: int = _ALL,
    ) -> SolvedBody:
        """Solve some successive frames. iterations: largest number, below that of the tuning."""
        offsets, lowered = pose.offsets[part], np.zeros((1, 3))
        if self.tuning.still:
            lowered = rotation.rotate(rotation.inverse(pose.base[part, 3:]), (self.root - pose.positions[:, 0])[part])
            offsets = np.concatenate((offsets[:, :1] + lowered[:, None], offsets[:, 1:]), axis=1)
        found = ik.solve_body(
            self.body.parents,
            offsets,
            pose.local[part],
            [_part(objective, part) for _, objective in objectives],
            balance=None if balance is None else _part(balance, part),
            posture=pose.posture,
            limits=self.body.limits,
            base=pose.base[part],
            move_root=self.body.moves and not self.tuning.still,
            iterations=min(iterations, self.tuning.iterations),
            in_time=True,
        )
        return SolvedBody(
            found.rotations, found.displacement + lowered, found.errors, found.unbalanced, found.iterations
        )

    def write(
        self, work: ChannelWriter, samples: Samples, pose: BodyPose, rotations: Array, displacement: Array
    ) -> list[str]:
        """Write the channels of the bones that turn or move; returns their names."""
        body, written = self.body, []
        turns = rotation.multiply(rotation.inverse(pose.local), rotations)
        turns[rotation.angle(turns) < _NEARLY_NOTHING] = rotation.IDENTITY
        for n, name in enumerate(body.joints):
            mode, raw = samples.channel(name)
            if not np.any(turns[:, n] != rotation.IDENTITY):
                continue
            turn = in_channels(turns[:, n], body.limits, pose.local[:, n], body.rests[n], (mode, raw))
            work.write(name, mode, self.frames, channels.turned(raw, mode, turn), raw)
            written.append(name)
        far = np.linalg.norm(displacement, axis=-1) > _NEARLY_NOTHING * pose.size
        if body.moves and far.any():
            raw = samples.raw[channels.LOCATION][:, samples.bones.index(body.joints[0])]
            size = samples.sizes[:, samples.bones.index(body.parent)] if body.parent else np.ones(len(raw))
            # The location of a bone has the axes of its rest pose.
            move = rotation.rotate(rotation.inverse(body.rests[0]), displacement) / size[:, None]
            work.write(body.joints[0], channels.LOCATION, self.frames, raw + np.where(far[:, None], move, 0.0), raw)
            written = list(dict.fromkeys((*written, body.joints[0])))
        return written

    def _errors(self, objectives: Objectives, errors: Array) -> tuple[Array, Array]:
        """Distances and angles (k, F) of the effectors; 0 where they have no such objective."""
        away, turned = np.zeros((2, len(self.effectors), len(self.frames)))
        for (k, objective), error in zip(objectives, errors.T, strict=True):
            if isinstance(objective, ik.BodyPole):
                continue
            (away if isinstance(objective, ik.BodyPosition) else turned)[k] = error
        return away, turned


class _Verified:
    """A solved pose put on controls, which is evaluated and corrected until it is as solved."""

    def __init__(
        self,
        work: BodyWork,
        sampler: Sampler,
        samples: Samples,
        pose: BodyPose,
        objectives: Objectives,
        balance: ik.Balance | None,
        found: SolvedBody,
    ) -> None:
        self.work, self.sampler, self.objectives, self.balance = work, sampler, objectives, balance
        self.found, self.pose, self.samples = found, pose, samples
        self.controls = BodyControls(work.body, samples, work.ik)
        self.changing = np.ones(len(samples.frames), dtype=bool)
        if work.tuning.still:
            # All other frames stay as animated to the bit.
            self.changing = np.any(measured(objectives, pose) > _NEARLY_NOTHING, axis=-1) | np.any(
                work.lowering != 0.0, axis=-1
            )

    def steps(self, transaction: BakeTransaction) -> Generator[float, None, tuple[Array, Array, list[str]]]:
        """The errors (F, objectives) as measured, the distances (F,) from balance, and the bones with keys."""
        controls, pose, found, size = self.controls, self.pose, self.found, self.pose.size
        # Solved again from what the controls made of a pose, a weight below 1 would go further to its target.
        aims, soft = settled(self.objectives, self.work.body.parents, *pose.solved(found))
        expected = np.where(soft, 0.0, found.errors)
        moves = best = controls.none
        seen, written = self.samples, []
        errors, unbalanced = measured(self.objectives, BodyPose(self.work.body, seen)), found.unbalanced
        least, nearest = np.full(len(errors), np.inf), errors
        for turn in range(_PASSES):
            moves = controls.realize(moves, seen, *pose.solved(found)).where(self.changing, controls.none)
            written = controls.write(transaction, moves, size)
            if not written:
                return errors, unbalanced, written
            seen = yield from self._sampled(0.5 + 0.4 * turn / _PASSES)
            pose = self.work.pose(seen)
            there = BodyPose(self.work.body, seen)
            now = measured(aims, there)
            total = score(aims, now, self.pose.size)
            better = total < least
            best, least = moves.where(better, best), np.where(better, total, least)
            nearest = np.where(better[:, None], now, nearest)
            errors = np.where(better[:, None], measured(self.objectives, there), errors)
            worse = np.maximum(nearest - expected, 0.0)
            if np.all(score(aims, worse, self.pose.size) < AS_SOLVED) or turn == _PASSES - 1:
                break
            found = yield from self.work._solve_all(pose, aims, self.balance, 0.3)
            expected, unbalanced = found.errors, found.unbalanced
        written = controls.write(transaction, best, size)
        return errors, unbalanced, written

    def measure(self) -> Generator[float, None, None]:
        """Measure how the controls turn each other; nothing of it stays."""
        for joints, moves in self.controls.probes():
            with BakeTransaction(self.work.body.armature) as probe:
                self.controls.write(probe, moves, self.pose.size)
                seen = yield from self._sampled(0.4)
                probe.rollback()
            self.controls.learn(joints, moves, seen)
        self.controls.forget()

    def _sampled(self, share: float) -> Generator[float, None, Samples]:
        for seen in self.sampler.sample(self.work.frames.tolist()):  # noqa: B007
            yield share
        return seen


def _part(objective: Sliced, part: slice) -> Sliced:
    """An objective over some of its frames."""
    names = (
        ("weight", "centers", "polygon", "up") if isinstance(objective, ik.Balance) else ("weight", *objective.sizes)
    )
    least = {"weight": 1, "centers": 3, "polygon": 3}
    found = {name: np.asarray(getattr(objective, name)) for name in names}
    return replace(objective, **{k: v[part] for k, v in found.items() if v.ndim >= least.get(k, 2)})
