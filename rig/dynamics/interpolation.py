"""Interpolation with dynamics: keyed poses, the motion of a body through them, and its keys.

`bake` is a generator, so that an operator can show progress and stop at any step: it yields the completed fraction.
However it ends, by return, error or `close`, either everything is baked or nothing has changed.
"""

from collections.abc import Generator
from dataclasses import dataclass, field, replace

import bpy
import numpy as np
from numpy.typing import NDArray

from ...lookat_pd import dynamics, rotation
from ...lookat_pd.dynamics import law, succession
from ...lookat_pd.errors import RigError
from ...lookat_pd.pd.second_order import substeps
from ...lookat_pd.progress import subrange
from ...lookat_pd.rotation import Array
from ..animation import actions, editable
from ..animation.bake_options import check_frames
from ..animation.bake_transaction import BakeTransaction
from ..animation.key_writer import KeyWriter
from ..animation.keys import GENERATED
from ..animation.stored_settings import read
from ..sampling import suspend
from ..sampling.sampler import Sampler, Samples, sample_frames
from ..sampling.scene_time import seconds_per_frame
from ..settings import plain
from . import actuation, bone_attachment, independent_timing, joint_ranges, key_poses, masses, meshes
from . import articulation as tree
from .articulation import Articulation
from .key_poses import KeyPoses
from .settings import InterpolationSettings

BAKED = " dynamics"
_WEIGHED, _SAMPLED, _BUILT, _SOLVED = 0.1, 0.3, 0.4, 0.9
"""Completed fractions after measuring masses, sampling and solving."""
_FINE = 1.0 / 240.0
"""Interval [s] between samples of a motion with keys between frames."""
_MISSED = np.radians(0.05)
"""Angle above which a key counts as missed."""
_HIT = 1e-5
"""Angle [rad] within which a key is reached up to rounding."""
_STILL = 1e-6
"""Metres and radians below which the base is at rest."""
_LONGEST = 4.0
"""Time [s] after the last key in which bones settle at most."""
_SAME = 1e-3
"""Distance in frames within which two frames are equal."""


@dataclass(frozen=True)
class InterpolationRequest(plain(InterpolationSettings)):
    """The keys to reach, and the motion after them, with the settings of `InterpolationSettings` under their names.

    Motion with the least change of torque ("TORQUE_CHANGE") hits all keys, ends at the last one, and uses no muscles,
    passive bones, inertia or weight.
    """

    bones: tuple[str, ...]
    """Names of the bones."""
    first: float = -np.inf
    """First frame of the keys."""
    last: float = np.inf
    """Last frame of the keys."""
    selected: bool = True
    """Only selected keys must be reached."""
    poses: tuple[float, ...] = ()
    """Frames whose poses must be reached, instead of keys."""
    writer: KeyWriter = field(default_factory=KeyWriter, compare=False)
    """Which keys are written, and how many there were."""

    @property
    def passes(self) -> bool:
        """Whether keys are passed at the speed of the motion, by their types; otherwise they stop all joints."""
        return self.at_keys == "PASS"

    @property
    def settles(self) -> bool:
        """Whether bones settle after the last key for as long as their mass asks for."""
        return self.between == "MASS" and self.passes and not self.settle


@dataclass(frozen=True)
class Miss:
    """A key that was not reached: its frame, the bone, and the error [rad]."""

    frame: float
    bone: str
    angle: float


@dataclass(frozen=True)
class InterpolationResult:
    """The result of a bake."""

    tree: Articulation
    action: bpy.types.Action
    source: bpy.types.Action
    keys: Array
    """(k,) frames of the keys to reach."""
    frames: Array
    """(F,) keyed frames."""
    dt: float
    """Seconds per frame."""
    motion: dynamics.Interpolation
    misses: list[Miss]
    """Keys that were not reached, the worst first."""


def start(
    scene: bpy.types.Scene, armature: bpy.types.Object, request: InterpolationRequest, into: str = "NEW"
) -> Generator[float, None, InterpolationResult]:
    """Check the request and return the generator. Raises LookAtError."""
    actions.check(armature, into)
    keys = find_keys(armature, scene, request)
    modes = {bone: armature.pose.bones[bone].rotation_mode for bone in keys.bones}
    actions.check_curves(armature, modes, into)
    return _work(scene, armature, request, keys, into)


def find_keys(armature: bpy.types.Object, scene: bpy.types.Scene, request: InterpolationRequest) -> KeyPoses:
    """The keys that the motion must reach. Raises RigError."""
    editable.check_posed(armature)
    if request.poses:
        keys = key_poses.at(armature, request.bones, request.poses)
    else:
        keys = key_poses.find(
            armature, request.bones, first=request.first, last=request.last, selected=request.selected
        )
    if request.between == "TORQUE_CHANGE":
        return keys
    others = [bone for bone in request.bones if bone not in keys.bones and _is_passive(armature, scene, bone)]
    return keys.of((*keys.bones, *others))


def _is_passive(armature: bpy.types.Object, scene: bpy.types.Scene, bone: str) -> bool:
    own = read(armature.pose.bones[bone], "lookat_pd_body")
    return own.passive if own.use_own else scene.lookat_pd_dynamics.passive


def _work(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    request: InterpolationRequest,
    keys: KeyPoses,
    into: str,
) -> Generator[float, None, InterpolationResult]:
    source = armature.animation_data.action
    weights = yield from subrange(meshes.weights(scene, armature), 0.0, _WEIGHED)
    unit = masses.metres(scene, armature)
    request = replace(request, settle=_settle(scene, armature, request, keys))
    plan = _Plan.of(keys.frames, request.settle, seconds_per_frame(scene))
    if request.settles:
        plan = _Plan.of(keys.frames, _room(armature, request, keys, plan.dt), plan.dt)
    with suspend.suspend_live():
        with Sampler(scene, armature, tree.seen(armature, keys.bones, weights.bones)) as sampler:
            samples = yield from subrange(sample_frames(sampler, plan.sampled), _WEIGHED, _SAMPLED)
            shown = request.weight if request.inertia == "TRUE" else 0.0
            building = tree.building(armature, sampler, samples, keys.bones, weights, unit, weight=shown)
            body = yield from subrange(building, _SAMPLED, _BUILT)
        keys = keys.of(body.bones)
        if request.settles:
            plan, samples = _as_long_as_needed(scene, plan, samples, body, request.swing_past)
        motion = yield from subrange(_solving(scene, request, plan, samples, body, keys), _BUILT, _SOLVED)
        passive = actuation.of(scene, body).passive & (request.between != "TORQUE_CHANGE")
        kept = keys.owned & ~passive
        rotations = _rotations(plan, samples, body, motion, kept)
        with BakeTransaction(armature) as work:
            for bone, (mode, turned, raw) in body.values(samples, rotations).items():
                values = joint_ranges.with_locks(armature.pose.bones[bone], turned, raw)
                types = np.full(len(plan.frames), GENERATED, dtype=np.int32)
                types[np.searchsorted(plan.frames, plan.keys)] = keys.types[:, body.bones.index(bone)]
                work.write(bone, mode, plan.frames, values[plan.shown], raw[plan.shown], types)
            action = work.commit(into, actions.baked_name(armature, into, BAKED), request.writer)
    if into == "NEW":
        armature.lookat_pd_body.before, armature.lookat_pd_body.after = source.name, action.name
    misses = _misses(body, keys.frames, motion.missed_joints)
    return InterpolationResult(body, action, source, keys.frames, plan.frames, plan.dt, motion, misses)


def _settle(
    scene: bpy.types.Scene, armature: bpy.types.Object, request: InterpolationRequest, found: KeyPoses
) -> float:
    """The time [s] after the last key: what was asked for, else as long as bones that swing past it need."""
    if request.settle or request.between == "MASS" or not (request.swing_past and request.passes):
        return request.settle
    tensions = np.array([actuation.settings(scene, armature.pose.bones[name]).tension for name in found.bones])
    interval = float(found.frames[-1] - found.frames[-2]) * seconds_per_frame(scene)
    return float(law.swing_time(tensions, interval, request.swing_past).max())


def _room(armature: bpy.types.Object, request: InterpolationRequest, found: KeyPoses, dt: float) -> float:
    """The time [s] after the last key in which bones may settle: up to the end of the range, if nothing moves them
    there."""
    last = found.frames[-1]
    stops = not request.swing_past and np.all(found.kinds[-1][found.owned[-1]] != "auto")
    if stops or request.poses or key_poses.goes_on(armature, found.bones, last):
        return 0.0
    return min(max(float(request.last - last), 0.0) * dt, _LONGEST)


def _as_long_as_needed(
    scene: bpy.types.Scene, plan: "_Plan", samples: Samples, body: Articulation, swing_past: float
) -> tuple["_Plan", Samples]:
    """A plan that ends when the bones have settled, with its samples."""
    last = body.poses(samples)[np.searchsorted(plan.sampled, plan.keys[-1])]
    settings = actuation.of(scene, body).residual, float(plan.keys[-1] - plan.keys[-2]) * plan.dt, swing_past
    needed = succession.settle_time(body.felt or body.body, last, *settings)
    room = float(plan.seconds(plan.sampled[-1:])[0] - plan.seconds(plan.keys[-1:])[0])
    shorter = _Plan.of(plan.keys, min(np.ceil(needed / plan.dt) * plan.dt, room), plan.dt)
    return shorter, samples.at(np.searchsorted(plan.sampled, shorter.sampled - _SAME))


@dataclass(frozen=True)
class _Plan:
    """The frames of an interpolation."""

    keys: Array
    """(k,) frames of the keys."""
    frames: Array
    """(F,) keyed frames."""
    sampled: Array
    """(S,) all sampled frames."""
    solved: Array
    step: float
    """Time [s] between the frames `solved`, (G,), of the motion."""
    dt: float
    """Seconds per frame."""

    @classmethod
    def of(cls, keys: Array, settle: float, dt: float) -> "_Plan":
        """Keys between frames are reached at their times, which requires a finer motion."""
        last = np.floor(keys[-1] + settle / dt + 1e-6) if settle else keys[-1]
        check_frames(float(keys[0]), float(last))
        whole = np.arange(np.ceil(keys[0]), np.floor(last) + 1.0)
        frames = _together(whole, keys)
        finer = 1 if np.allclose(frames, np.round(frames), atol=_SAME) else substeps(dt, _FINE)
        solved = keys[0] + np.arange(int(np.floor((last - keys[0]) * finer + 1e-6)) + 1) / finer
        return cls(keys, frames, _together(solved, frames), solved, dt / finer, dt)

    @property
    def shown(self) -> Array:
        """The indices of `frames` among the sampled frames."""
        return np.searchsorted(self.sampled, self.frames)

    def seconds(self, frames: Array) -> Array:
        """Times of frames relative to the first key."""
        return (frames - self.keys[0]) * self.dt


def _together(frames: Array, others: Array) -> Array:
    """Both merged and sorted; of two equal ones that of `other`."""
    away = np.abs(frames[:, None] - others).min(axis=1) > _SAME
    return np.sort(np.concatenate((frames[away], others)))


def _solving(
    scene: bpy.types.Scene,
    request: InterpolationRequest,
    plan: _Plan,
    samples: Samples,
    body: Articulation,
    own: KeyPoses,
) -> Generator[float, None, dynamics.Interpolation]:
    """The motion at the solved frames. own: the keys of each joint."""
    if request.between == "TORQUE_CHANGE":
        return _least_change(scene, request, plan, samples, body, own)
    powers = actuation.of(scene, body)
    kinds = own.kinds if request.passes else None
    keeps = None
    if request.between == "MASS":
        keeps = np.zeros(own.types.shape) if kinds is None else (kinds == "auto").astype(float)
    keys = body.poses(samples)[np.searchsorted(plan.sampled, plan.keys)]
    keys[:, powers.passive] = keys[0, powers.passive]
    at = np.abs(plan.sampled[None] - plan.solved[:, None]).argmin(axis=1)
    gravity = body.gravity(scene, samples) if request.use_gravity else (0.0, 0.0, 0.0)
    settle = float(plan.seconds(plan.sampled[-1:])[0] - plan.seconds(plan.keys[-1:])[0])
    swing_past = request.swing_past if request.passes and settle else 0.0
    times = plan.seconds(plan.keys)
    limits = joint_ranges.limits(body.armature, body.bones, body.fixed, keys) if request.use_limits else None
    hinges = joint_ranges.hinges(body.armature, body.bones, keys)
    bends = None
    if request.use_limits and (request.between == "MASS" or body.assumed is not None):
        bends = joint_ranges.bends(body, keys)
    inertia = request.inertia.lower() if body.assumed is None else "reference"
    if not own.owned.all() and independent_timing.can_be(powers, inertia):
        animated = body.poses(samples)[at]
        given = independent_timing.Keyed(keys, times, own.owned, kinds, limits, hinges, keeps, bends)
        return independent_timing.interpolating(
            body, animated, given, plan.step, powers, gravity, settle, swing_past=swing_past
        )
    places, turns = (subrange[at] for subrange in body.base_motion(samples))
    stands = np.ptp(places, axis=0).max() < _STILL and rotation.angle(turns).max() < _STILL
    return dynamics.interpolating(
        body.body,
        keys,
        times,
        plan.step,
        residual=powers.residual,
        torque_limit=powers.torque_limit,
        gravity=gravity,
        inertia=inertia,
        reference=body.assumed,
        passive=powers.passive,
        stiffness=powers.stiffness,
        damping=powers.damping,
        settle=settle,
        root=None if stands else (places, turns),
        velocities=None if kinds is None else dynamics.key_velocities(keys, times, kinds),
        swing_past=swing_past,
        limits=limits,
        hinges=hinges,
        keeps=keeps,
        felt=body.felt,
        bends=bends,
    )


def _least_change(
    scene: bpy.types.Scene,
    request: InterpolationRequest,
    plan: _Plan,
    samples: Samples,
    body: Articulation,
    own: KeyPoses,
) -> Generator[float, None, dynamics.Interpolation]:
    """The motion at the solved frames with the least change of torque."""
    if np.any(np.abs(plan.keys - np.round(plan.keys)) > _SAME):
        raise RigError(
            "Minimum Torque Change needs keys on whole frames; select the keys and snap them to the nearest frame."
        )
    keys = body.poses(samples)[np.searchsorted(plan.sampled, plan.keys)]
    kinds = np.full(own.kinds.shape, "stop") if not request.passes else own.kinds
    return dynamics.connecting(
        body.body,
        keys,
        plan.seconds(plan.keys),
        plan.step,
        kinds=kinds,
        gravity=body.gravity(scene, samples) if request.use_gravity else (0.0, 0.0, 0.0),
        damping=request.joint_damping,
        limits=joint_ranges.limits(body.armature, body.bones, body.fixed, keys) if request.use_limits else None,
        strength=np.ones(len(body.bones)) if request.torque_cost == "EQUAL" else None,
    )


def _rotations(
    plan: _Plan, samples: Samples, body: Articulation, motion: dynamics.Interpolation, kept: NDArray[np.bool_]
) -> Array:
    """Local rotations (S, n, 4) of the motion at all sampled frames, with the exact values of keys (k, n) that were
    reached and are `kept`."""
    rotations = independent_timing.between(motion.rotations, plan.seconds(plan.sampled) / plan.step)
    at_keys = np.searchsorted(plan.sampled, plan.keys)
    # Keyed values stay exact: the motion has them only up to rounding.
    keys = body.poses(samples)[at_keys]
    near = rotation.distance(rotations[at_keys], keys) < _HIT
    hit = near | ((plan.step < plan.dt) & (motion.missed_joints < _HIT) & kept)
    rotations[at_keys] = np.where(hit[..., None], keys, rotations[at_keys])
    return rotations


def _misses(body: Articulation, frames: Array, angles: Array) -> list[Miss]:
    late = np.argwhere(angles > _MISSED)
    found = [Miss(float(frames[k]), body.bones[n], float(angles[k, n])) for k, n in late]
    return sorted(found, key=lambda miss: -miss.angle)


def compared(armature: bpy.types.Object) -> tuple[bpy.types.Action, bpy.types.Action] | None:
    """The action before the last interpolation and the one after it; None if one of them no longer exists."""
    settings = read(armature, "lookat_pd_body")
    before, after = bpy.data.actions.get(settings.before), bpy.data.actions.get(settings.after)
    return None if before is None or after is None or before == after else (before, after)


def swap(armature: bpy.types.Object) -> None:
    """Assign the other one of the two."""
    results = compared(armature)
    assert results is not None, "asked for only where there are two"
    before, after = results
    data = armature.animation_data_create()
    action = before if data.action == after else after
    slot = actions.find_slot(armature, action)
    played = data.action
    data.action = action
    data.action_slot = slot
    actions.keep(played)


def keyed_bones(scene: bpy.types.Scene, armature: bpy.types.Object) -> list[str]:
    """Names of the bones whose rotation has keys in the current action, without those that cannot have mass."""
    keys = [bone.name for bone in armature.pose.bones if key_poses.has_keys(armature, bone.name)]
    heavy = masses.of(scene, armature).bones
    if not bone_attachment.is_plain(armature, heavy):
        return keys
    affects_mass = bone_attachment.by_parents(armature, keys, heavy).any(axis=0)
    return [name for name, affects in zip(keys, affects_mass, strict=True) if affects]
