"""Hits: bones give way to impulses and return to their animation.

`start` returns a generator, so that an operator can show progress and stop at any step: it yields the completed
fraction. However it ends, by return, error or `close`, either everything is baked or nothing has changed.
"""

import itertools
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.checks import shown
from ...lookat_pd.dynamics import hits as law
from ...lookat_pd.errors import RigError
from ...lookat_pd.pd.second_order import check_tuning
from ...lookat_pd.progress import drain, subrange
from ...lookat_pd.rotation import Array
from ..animation import actions
from ..animation.bake_options import BakeOptions, check_frames
from ..animation.bake_transaction import BakeTransaction
from ..animation.channels import LOCATION
from ..animation.key_writer import KeyWriter
from ..controls import limb_switch
from ..detection import body_joints, limb_controls, rest
from ..detection.bone_ends import with_ends
from ..detection.limb_controls import LimbControls
from ..detection.read_once import unchanged
from ..sampling import suspend, targets
from ..sampling.sampler import Sampler, Samples, sample_frames
from ..sampling.scene_time import seconds_per_frame
from . import articulation as tree
from . import hit_hips, hit_joints, joint_ranges, masses, meshes
from .articulation import Articulation
from .hit_controls import HitControls
from .hit_joints import HitJoints
from .hit_request import HitRequest, HitSpec
from .hit_settings import STRONGEST
from .kept_results import KeptResults
from .masses import Masses

BAKED = " hit"
_REDUCED = 0.98
"""A hit of which less is left is said to be reduced."""
_TRAVEL = 0.15
"""The time that a blow takes to bones far away, in settle times: with the default of 0.8 s, a hit bone is farthest
after 0.15 s, and the last ones after 0.25 s."""
_MASS, _STATURE = 70.0, 1.75
"""The body [kg, m] for which a relative impulse is meant."""
_CHECKED = 0.05
"""Completed fraction after the check of a request."""
_WEIGHED, _SAMPLED, _BUILT, _MEASURED, _WRITTEN = 0.2, 0.6, 0.7, 0.8, 0.9
"""Completed fractions after measuring masses, after sampling, and after what the joints do was written."""
_SWITCHED_TO_FK = 0.4
"""Completed fraction after limbs were switched."""
_SWITCHED = 1e-6
"""Influence of inverse kinematics from which it poses a limb."""
_NOTHING = 1e-9
_FAR = 1e12


@dataclass(frozen=True)
class HitOutcome:
    """What a hit does."""

    frame: int
    bone: str
    impulse: Array
    """(3,) impulse [N s] in the world."""
    factor: float
    """The part of the speed along it that the largest angle leaves to what is hit."""
    joint: str
    """The bone that turns most because of it."""
    angle: float
    """The angle [rad] by which that bone turns, without limits."""


@dataclass(frozen=True)
class HitResult:
    """The result of a bake of hits."""

    tree: Articulation
    action: bpy.types.Action
    frames: Array
    """(F,) keyed frames."""
    angles: Array
    """(F, n) [rad] by which the joints deviate from the animation."""
    bones: tuple[str, ...]
    """Bones with keys."""
    outcomes: tuple[HitOutcome, ...]
    shift: float
    """Largest displacement [m] of the hips."""
    switched: tuple[str, ...] = ()
    """IK controls of limbs that are in FK from the first hit to the end."""

    @property
    def reduced(self) -> tuple[HitOutcome, ...]:
        """Those that were too strong for the largest angle."""
        return tuple(outcome for outcome in self.outcomes if outcome.factor < _REDUCED)


@dataclass(frozen=True)
class PlottedHits:
    """Hits for display in a panel."""

    number: int
    """A unique number for each bake."""
    curves: dict[str, Array]
    """By bone, the angles (F,) [degrees] of those that turn most."""


_MOST_CURVES = 3
kept: KeptResults[PlottedHits] = KeptResults()
_numbers = itertools.count()


def start(
    scene: bpy.types.Scene, armature: bpy.types.Object, request: HitRequest, into: str = "NEW"
) -> Generator[float, None, HitResult]:
    """Check the request and return the generator. Raises LookAtError."""
    return drain(_checked(scene, armature, request, into))


def steps(
    scene: bpy.types.Scene, armature: bpy.types.Object, request: HitRequest, into: str = "NEW"
) -> Generator[float, None, HitResult]:
    """The same, with the check as its first steps; yields the completed fraction. Raises LookAtError."""
    work = yield from subrange(_checked(scene, armature, request, into), 0.0, _CHECKED)
    return (yield from subrange(work, _CHECKED, 1.0))


def _checked(
    scene: bpy.types.Scene, armature: bpy.types.Object, request: HitRequest, into: str
) -> Generator[float, None, Generator[float, None, HitResult]]:
    """Check the request; yields the completed fraction, and returns the work. Raises LookAtError."""
    if not request.hits:
        raise RigError("There is no hit; add one.")
    check_tuning(request.settle_time, request.damping_ratio)
    heavy = masses.of(scene, armature).bones
    yield 0.3
    joints = _joints(armature, request, heavy, into)
    yield 0.6
    for hit in request.hits:
        _check(armature, hit, joints)
    actions.check(armature, into)
    turning = (*joints.line, *joints.followers)
    shifted = hit_hips.find(armature, turning) if request.hips else None
    yield 0.9
    if shifted is not None:
        turning = (*turning, *shifted.footing.turned)
        actions.check_curves(armature, dict.fromkeys(shifted.footing.moved, LOCATION), into)
    modes = {bone: armature.pose.bones[bone].rotation_mode for bone in turning}
    actions.check_curves(armature, modes, into)
    for limb in joints.goals:
        limb.check(armature, into)
    for name in joints.line:
        joint_ranges.check(armature.pose.bones[name])
    dt = seconds_per_frame(scene)
    first = min(hit.frame for hit in request.hits)
    end = max(hit.frame for hit in request.hits) + int(np.ceil(law.ENDS * request.settle_time / dt - 1e-6))
    check_frames(first, end)
    frames = np.arange(first, end + 1.0)
    caught = [limb for limb in joints.switched if set(limb.turned) & set(joints.line)] if request.use_switch else []
    held = [limb for limb in caught if limb_switch.is_held(armature, limb, frames)]
    if not held:
        return _work(scene, armature, request, frames, into)
    if into == "LAYER":
        raise RigError(
            "The limb of '{bone}' is in IK and must be switched to FK to give way, which an NLA layer cannot do; bake "
            "into a new action.",
            bone=held[0].goal,
        )
    return _switching(scene, armature, request, frames, into, held)


def _travel(request: HitRequest) -> float | None:
    """The time [s] that a blow takes to bones far away; None for all at once."""
    return _TRAVEL * request.settle_time if request.joints != "PUBLISHED" else None


def _switching(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    request: HitRequest,
    frames: Array,
    into: str,
    held: Sequence[LimbControls],
) -> Generator[float, None, HitResult]:
    """As `_work`, with these limbs switched to FK first, in a working action."""
    name = actions.baked_name(armature, into, BAKED)
    with BakeTransaction(armature) as work:
        options = BakeOptions(int(frames[0]), int(frames[-1]), "CURRENT")
        bones = [limb.turned[-1] for limb in held]
        switch = limb_switch.switch(scene, armature, bones, "FK", options, into_others=into)
        switched = yield from subrange(switch, 0.0, _SWITCHED_TO_FK)
        try:
            # The keys are chosen once both have written theirs.
            plain = replace(request, writer=KeyWriter())
            result = yield from subrange(_work(scene, armature, plain, frames, "CURRENT"), _SWITCHED_TO_FK, 1.0)
        except BaseException:
            for other in switched.others:
                other.rollback()
            raise
        action = work.commit_all(into, name, request.writer)
    return replace(result, action=action, switched=tuple(limb.goal for limb in held))


def _joints(armature: bpy.types.Object, request: HitRequest, heavy: Sequence[str], into: str) -> HitJoints:
    bones, switches = [hit.bone for hit in request.hits], request.use_switch and into != "LAYER"
    with unchanged():
        return hit_joints.find(
            armature, bones, heavy, length=request.length, follow=request.use_follow, keeps_switches=switches
        )


def _check(armature: bpy.types.Object, hit: HitSpec, joints: HitJoints) -> None:
    if not 0.0 <= hit.impulse <= STRONGEST:
        raise RigError(
            "The impulse of the hit on '{bone}' must be from 0 to {most:g} N s, not {impulse}.",
            bone=hit.bone,
            most=STRONGEST,
            impulse=shown(hit.impulse),
        )
    if hit.source is None:
        size = float(np.linalg.norm(hit.direction))
        if not 0.0 < size < _FAR:
            raise _no_direction(hit)
    elif hit.source.object is not None:
        targets.check_exists(armature, hit.source.object, hit.source.bone)
        if targets.rides_on(hit.source.object, hit.source.bone, armature, (*joints.line, *joints.followers)):
            raise RigError(
                "'{source}' moves with the bones that are hit; choose another object from which the hit comes.",
                source=hit.source.label,
            )


def _work(
    scene: bpy.types.Scene, armature: bpy.types.Object, request: HitRequest, frames: Array, into: str
) -> Generator[float, None, HitResult]:
    dt = seconds_per_frame(scene)
    weights = yield from subrange(meshes.weights(scene, armature), 0.0, _WEIGHED)
    yield _WEIGHED
    unit = masses.metres(scene, armature)
    yield _WEIGHED
    joints = _joints(armature, request, weights.bones, into)
    yield _WEIGHED
    turning = (*joints.line, *joints.followers)
    switches = [limb.switch[0] for limb in joints.switched]
    shifted = hit_hips.find(armature, turning) if request.hips else None
    yield _WEIGHED
    moved = () if shifted is None else shifted.sampled
    held_by = (*switches, *(name for limb in joints.goals for name in limb.sampled))
    seen = dict.fromkeys((*moved, *tree.seen(armature, turning, weights.bones), *joints.struck, *joints.hit, *held_by))
    sources = [hit.source for hit in request.hits if hit.source is not None]
    located = shifted is not None or bool(joints.goals)
    with suspend.suspend_live(), Sampler(scene, armature, tuple(seen), sources, located=located) as sampler:
        sampling = _sample(sampler, armature, frames, joints.switched)
        samples, held = yield from subrange(sampling, _WEIGHED, _SAMPLED)
        turning = joints.without(limb for limb, is_held in zip(joints.switched, held, strict=True) if is_held)
        lines = {name: limb_controls.line(armature, name)[1:] for name in turning}
        building = tree.building(armature, sampler, samples, turning, weights, unit, lines, idle=joints.followers)
        body = yield from subrange(building, _SAMPLED, _BUILT)
        yield _BUILT
        controls = HitControls(sampler, body, samples, joints.goals)
        animated = controls.local
        strength = _relative(armature, weights, unit) if request.use_relative else 1.0
        given = _given(request, joints, samples, body, dt, strength)
        yield _BUILT
        response = _response(request, body, animated, dt, [hit for hit, _ in given])
        yield _BUILT
        yield from subrange(controls.measure(), _BUILT, _MEASURED)
        with BakeTransaction(armature) as work:
            written = yield from subrange(controls.steps(work, response.rotations), _MEASURED, _WRITTEN)
            moves = np.zeros((len(frames), 3))
            if shifted is not None:
                moves = request.hips * _moves([i for _, i in given], request, response.factors, samples, dt)
                moves /= weights.total * unit
            if np.any(moves):
                moves = yield from subrange(shifted.write(work, sampler, samples, moves, dt), _WRITTEN, 1.0)
                written = (*written, *shifted.footing.moved[:1], *shifted.footing.turned)
            if joints.goals:
                written = (*written, *controls.follow(work, response.rotations))
            if not written and into == "LAYER":
                # A layer has keys, if only of what is there without it.
                controls.hold(work)
            action = work.commit(into, actions.baked_name(armature, into, BAKED), request.writer)
    angles = rotation.distance(animated, response.rotations)
    kept.add(armature, PlottedHits(next(_numbers), _curves(body.bones, angles)))
    outcomes = _outcomes(request, body, [impulse for _, impulse in given], response)
    shift = unit * float(np.linalg.norm(moves, axis=-1).max())
    return HitResult(body, action, frames, angles, written, outcomes, shift)


def _response(
    request: HitRequest, body: Articulation, animated: Array, dt: float, hits: Sequence[law.Hit]
) -> law.HitResponse:
    """How the joints give way."""
    limits = joint_ranges.limits(body.armature, body.bones, body.fixed, animated) if request.use_limits else None
    anatomy = body_joints.posture(body.armature, body.bones)
    as_people = request.joints == "PEOPLE"
    return law.respond(
        body.body,
        animated,
        dt,
        hits,
        settle_time=request.settle_time,
        damping_ratio=request.damping_ratio,
        contact=request.contact,
        stiffness=request.stiffness / (1.0 - np.asarray(anatomy.stiffness)),
        hinges=anatomy.hinges,
        largest_angle=request.largest_angle,
        limits=limits,
        travel=_travel(request),
        ranges=joint_ranges.give_way(body) if as_people else None,
        bends=joint_ranges.bends(body, animated) if as_people and request.use_limits else None,
    )


def _sample(
    sampler: Sampler, armature: bpy.types.Object, frames: Array, switched: Sequence[LimbControls]
) -> Generator[float, None, tuple[Samples, list[bool]]]:
    """The rig over all frames, and which of the limbs inverse kinematics poses at any of them."""
    held = [False] * len(switched)

    def take(_: int, depsgraph: bpy.types.Depsgraph) -> None:
        seen = sampler.stand_in(armature).evaluated_get(depsgraph)
        for n, limb in enumerate(switched):
            held[n] |= limb.influence(seen) > _SWITCHED

    samples = yield from sample_frames(sampler, frames, take=take)
    return samples, held


def _relative(armature: bpy.types.Object, weights: Masses, unit: float) -> float:
    """The impulse that turns this body as 1 N s turns one of 70 kg and 1.75 m: it grows with mass times length."""
    skeleton = with_ends(rest.skeleton(armature))
    rows = [skeleton.index(name) for name in weights.bones]
    ends = np.concatenate((skeleton.heads[rows], skeleton.tails[rows]))
    return weights.total / _MASS * float(np.ptp(ends, axis=0).max()) * unit / _STATURE


def _given(
    request: HitRequest, joints: HitJoints, samples: Samples, body: Articulation, dt: float, strength: float
) -> list[tuple[law.Hit, Array]]:
    """The hits as the solver needs them, each with its impulse (3,) [N s] in the world."""
    given, sources = [], iter(samples.targets)
    orientations, _ = body.base_pose(samples)
    worlds = rotation.from_matrix(samples.worlds[:, :3, :3])
    ends = with_ends(rest.skeleton(body.armature))
    for hit, joint, struck in zip(request.hits, joints.hit, joints.struck, strict=True):
        k = int(np.searchsorted(samples.frames, hit.frame))
        row, end = samples.bones.index(struck), samples.bones.index(joint)
        bone = ends.index(struck)
        along = rotation.rotate(rotation.inverse(ends.rotations[bone]), ends.tails[bone] - ends.heads[bone])
        middle = 0.5 * samples.sizes[k, row] * along
        point = samples.positions[k, row] + rotation.rotate(samples.rotations[k, row], middle)
        direction = np.array(hit.direction, dtype=float)
        if hit.source is not None:
            direction = samples.worlds[k, :3, :3] @ (point - next(sources)[k])
        size = float(np.linalg.norm(direction))
        if not _NOTHING < size < _FAR:
            raise _no_direction(hit)
        impulse = strength * hit.impulse / size * direction
        back = rotation.inverse(rotation.multiply(worlds[k], orientations[k]))
        local = rotation.rotate(rotation.inverse(samples.rotations[k, end]), point - samples.positions[k, end])
        time = float(hit.frame - samples.frames[0]) * dt
        index = body.bones.index(joint)
        given.append((law.Hit(time, index, body.unit * local, rotation.rotate(back, impulse)), impulse))
    return given


def _moves(impulses: Sequence[Array], request: HitRequest, factors: Array, samples: Samples, dt: float) -> Array:
    """The displacement (F, 3) in the axes of the armature of 1 kg on which the hits act, on level ground [m]."""
    total = np.zeros((len(samples.frames), 3))
    for hit, impulse, factor in zip(request.hits, impulses, factors, strict=True):
        passed = dt * (samples.frames - hit.frame)
        response = law.impulse_response(passed, request.settle_time, request.damping_ratio, request.contact)
        total += factor * response[:, None] * impulse * (1.0, 1.0, 0.0)
    return rotation.rotate(rotation.inverse(rotation.from_matrix(samples.worlds[:, :3, :3])), total)


def _outcomes(
    request: HitRequest, body: Articulation, impulses: Sequence[Array], response: law.HitResponse
) -> tuple[HitOutcome, ...]:
    times = np.linspace(0.0, law.ENDS * request.settle_time, 401)
    shape = law.impulse_response(times, request.settle_time, request.damping_ratio, request.contact)
    most = float(np.abs(shape).max())
    outcomes = []
    for hit, impulse, velocities, factor in zip(
        request.hits, impulses, response.velocities, response.factors, strict=True
    ):
        angles = most * np.linalg.norm(velocities, axis=-1)
        joint = int(np.argmax(angles))
        outcomes.append(
            HitOutcome(hit.frame, hit.bone, impulse, float(factor), body.bones[joint], float(angles[joint]))
        )
    return tuple(outcomes)


def _curves(bones: Sequence[str], angles: Array) -> dict[str, Array]:
    order = np.argsort(-angles.max(axis=0), kind="stable")[:_MOST_CURVES]
    return {bones[int(n)]: np.degrees(angles[:, n]) for n in order}


def _no_direction(hit: HitSpec) -> RigError:
    return RigError(
        "The hit on '{bone}' has no direction; enter a vector that is not zero, or choose an object from which "
        "it comes.",
        bone=hit.bone,
    )
