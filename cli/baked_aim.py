"""How well baked look-ats aim: seen on the evaluated rig in the world, or as predicted where that is exact."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ..lookat_pd import rotation
from ..lookat_pd.message import Message
from ..lookat_pd.progress import subrange
from ..lookat_pd.rotation import Array
from ..rig.animation import actions
from ..rig.look_at import mixing
from ..rig.look_at.aim_errors import AimErrors, over
from ..rig.look_at.look_at_bake import BakeResult
from ..rig.look_at.resolve import LookAt
from ..rig.look_at.setting_paths import setting_path
from ..rig.sampling import shear
from ..rig.sampling.sampler import Sampler, Samples, sample_frames

See = Callable[[BakeResult, int, bpy.types.Object], None]
"""Takes a result, a frame and the evaluated armature."""


@dataclass(frozen=True)
class AimFigures:
    """How well one baked look-at aims."""

    settled: float | None
    """Largest angle [deg] between aim and target over its settled frames with the target in reach. The aim is the gaze
    of the eyes where they look, else the aim axis of the bone. None where there are no such frames."""
    aim: AimErrors | None
    """Of the aim axis over all frames at which it looks with its whole influence, None where there are none."""
    eyes: AimErrors | None
    """Of the gaze of the eyes, likewise; None without eyes."""


def find(
    scene: bpy.types.Scene, results: Sequence[BakeResult], *, verify: bool, see: See | None = None
) -> Generator[float, None, list[AimFigures]]:
    """How well each look-at aims: as predicted where that is exact, else, and with `verify`, measured on the evaluated
    rig. see: is shown what is measured. Yields the fraction done."""
    if verify or not all(map(_is_predictable, results)):
        return (yield from measure(scene, results, see))
    return [_predicted(result) for result in results]


def _is_predictable(result: BakeResult) -> bool:
    """Whether forward kinematics says where everything is: on plain rigs, for one target, without eyes, and with an
    influence that does not change."""
    one = result.look_at
    has_eyes = result.response is not None and result.response.gaze is not None
    path = setting_path(one.bone, "influence")
    animated = any(
        curve.data_path == path
        for action in bpy.data.actions
        for slot in action.slots
        for curve in actions.curves(action, slot)
    )
    driven = any(driver.data_path == path for driver in _drivers(one.armature))
    return not (result.measured or one.mixes or has_eyes or animated or driven)


def _drivers(armature: bpy.types.Object) -> Sequence[bpy.types.FCurve]:
    return armature.animation_data.drivers if armature.animation_data is not None else ()


def _predicted(result: BakeResult) -> AimFigures:
    """The solver's own figures; a test compares them with those that are measured."""
    one, solution = result.look_at, result.solution
    if one.armature.pose.bones[one.bone].lookat_pd.influence < 1.0:
        return AimFigures(None, None, None)
    looks = (solution.looked_at >= 0) & np.isfinite(solution.error)
    chosen = settled_frames(result)
    settled = float(np.degrees(solution.error[chosen].max())) if len(chosen) else None
    return AimFigures(settled, over(solution.error, looks, solution.reachable, result.frames), None)


def measure(
    scene: bpy.types.Scene, results: Sequence[BakeResult], see: See | None = None
) -> Generator[float, None, list[AimFigures]]:
    """How well each look-at aims; what shape keys do to eyes is as solved. Yields the fraction done."""
    measured: list[AimFigures] = []
    for number, result in enumerate(results):
        one = _measure(scene, result, see)
        measured.append((yield from subrange(one, number / len(results), (number + 1) / len(results))))
    return measured


def _measure(scene: bpy.types.Scene, result: BakeResult, see: See | None) -> Generator[float, None, AimFigures]:
    one = result.look_at
    eyes = [] if one.body is None or one.body.looks else [eye.bone for eye in one.body.eyes]
    names = [one.bone, *eyes]
    worlds, bones = np.empty((len(result.frames), 4, 4)), np.empty((len(result.frames), len(names), 4, 4))

    def take(k: int, depsgraph: bpy.types.Depsgraph) -> None:
        armature = one.armature.evaluated_get(depsgraph)
        # As it is, not as a rotation: uneven scale turns axes as well.
        worlds[k] = armature.matrix_world
        bones[k] = [armature.pose.bones[name].matrix for name in names]
        if see is not None:
            see(result, int(result.frames[k]), armature)

    with Sampler(scene, one.armature, one.bones[:1], one.targets, cut_down={}) as sampler:
        seen = yield from sample_frames(sampler, result.frames, _settings(one), take=take)
    return _measured(result, seen, worlds, bones)


def _measured(result: BakeResult, seen: Samples, worlds: Array, bones: Array) -> AimFigures:
    one, solution, response = result.look_at, result.solution, result.response
    full = seen.properties[setting_path(one.bone, "influence")] >= 1.0
    targets = _targets(one, solution.looked_at, seen)
    head = _errors(bones[:, :1], one.chain.forward[:1], targets, worlds, one.chain.eye_place)
    # Where it looks beside the target or nods, the solution has no error either.
    looks = full & (solution.looked_at >= 0)
    aim = over(head, looks & np.isfinite(solution.error), solution.reachable, result.frames)
    gaze, eyes = head, None
    if response is not None and response.gaze is not None and one.body is not None:
        # Eyes set out before the head.
        looked_at, gaze = response.gaze.looked_at, response.gaze.error
        if one.body.ocular is not None and bones.shape[1] > 1:
            seen_by_eyes = _targets(one, looked_at, seen)
            measured = _errors(bones[:, 1:], one.body.ocular.forward, seen_by_eyes, worlds)
            gaze = np.where(np.isfinite(gaze), measured, np.nan)
        eyes = over(gaze, full & (looked_at >= 0), solution.reachable, result.frames)
    chosen = settled_frames(result)
    chosen = chosen[full[chosen]]
    return AimFigures(float(np.degrees(gaze[chosen].max())) if len(chosen) else None, aim, eyes)


def _settings(look_at: LookAt) -> list[str]:
    """Data paths of the settings of a look-at that decide which frames count, and what is aimed at."""
    settings = look_at.armature.pose.bones[look_at.bone].lookat_pd
    weights = mixing.paths(settings, look_at.bone) if look_at.mixes else ()
    return [setting_path(look_at.bone, "influence"), *weights]


def settled_frames(result: BakeResult) -> Array:
    """Indices of the frames whose look-at is settled with the target in reach, the eyes on it."""
    solution, response = result.solution, result.response
    settled = solution.settled & solution.reachable & (solution.looked_at >= 0)
    if response is not None and response.gaze is not None:
        # Eyes look away before the head does.
        settled &= np.isfinite(response.gaze.error)
    return np.flatnonzero(settled)


def why_no_error(result: BakeResult) -> str:
    """Why a look-at has no settled error, as a sentence."""
    solution, name, code = result.solution, result.look_at.bone, "never-settled"
    if not (solution.looked_at >= 0).any():
        reason, code = f"The look-at on '{name}' is off at every frame", "always-off"
    elif not solution.reachable.any():
        reason, code = f"The target is out of reach of the look-at on '{name}' at every frame", "target-unreachable"
    elif not (solution.settled & solution.reachable).any():
        reason = (
            f"No frame of the look-at on '{name}' is settled with the target in reach, as is usual where the character "
            "or the target keeps moving"
        )
    elif not len(settled_frames(result)):
        reason = f"The eyes of the look-at on '{name}' look away from the target at every settled frame"
    else:
        reason = f"The influence of the look-at on '{name}' is below 1 at every settled frame"
    return Message("{reason}, so the settled aim error is not measured.", code, reason=reason)


def _targets(one: LookAt, looked_at: Array, seen: Samples) -> Array:
    """What is looked at (F, 3), by its number (F,), in the armature's space as the samples have it."""
    targets = seen.targets
    if one.mixes:
        settings = one.armature.pose.bones[one.bone].lookat_pd
        weights = mixing.sampled(settings, one.bone, seen.properties)
        assert weights is not None
        targets, _ = mixing.mixed(targets, one.targets, weights, seen.positions[:, 0])
    return targets[np.maximum(looked_at, 0), np.arange(len(looked_at))]


def _errors(bones: Array, axes: Array, targets: Array, worlds: Array, eye: Array | None = None) -> Array:
    """Angles (F,) [rad] between the axes (k, 3) of bones (F, k, 4, 4) and targets (F, 3). eye: where the aim starts
    (3,), in the frame of a bone."""
    linear = worlds[:, :3, :3]
    # Of two eyes that converge, the middle is what looks.
    aim = (linear[:, None] @ bones[..., :3, :3] @ axes[..., None])[..., 0].mean(axis=1)
    away = targets - bones[..., :3, 3].mean(axis=1)
    if eye is not None:
        # As the solver has it.
        size = np.linalg.norm(bones[:, 0, :3, :3], axis=-2).mean(axis=-1, keepdims=True)
        turns = shear.aimed(rotation.from_matrix(bones[:, 0, :3, :3]), bones[:, 0, :3, :3], axes[0])
        away = away - size * rotation.rotate(turns, eye)
    return rotation.angle_between(aim, (linear @ away[..., None])[..., 0])


def in_degrees(errors: AimErrors | None) -> dict[str, float] | None:
    """The same for the report."""
    if errors is None:
        return None
    angles = {"median": errors.median, "p90": errors.most, "largest": errors.largest}
    rounded = {name: round(float(np.degrees(angle)), 4) for name, angle in angles.items()}
    return {**rounded, "frame": errors.frame, "frames": errors.frames, "in_reach": errors.in_reach}
