"""How well baked look-ats aim, seen on the evaluated rig in the world and not on what the solver predicted."""

from collections.abc import Generator, Sequence

import bpy
import numpy as np

from ..lookat_pd import rotation
from ..lookat_pd.message import Message
from ..lookat_pd.rotation import Array
from ..rig.look_at import mixing
from ..rig.look_at.look_at_bake import BakeResult
from ..rig.look_at.resolve import LookAt
from ..rig.look_at.setting_paths import setting_path
from ..rig.sampling.sampler import Sampler, Samples


def measure(scene: bpy.types.Scene, results: Sequence[BakeResult]) -> Generator[float, None, list[float | None]]:
    """Largest angle [deg] between aim and target of each look-at over its settled frames with the target in reach.

    The aim is the gaze of the eyes where they look, else the aim axis of the bone; of eyes that shape keys turn it is
    what was solved. None where there are no such frames. Yields the fraction done.
    """
    errors: list[float | None] = []
    for number, result in enumerate(results):
        one = result.look_at
        if one.body is not None and one.body.looks:
            errors.append(None if np.isnan(result.settled_error) else round(float(np.degrees(result.settled_error)), 4))
            continue
        looking = [eye.bone for eye in one.body.eyes] if one.body is not None and one.body.eyes else [one.bone]
        worlds, bones = np.empty((len(result.frames), 4, 4)), np.empty((len(result.frames), len(looking), 4, 4))
        with Sampler(scene, one.armature, one.bones[:1], one.targets, cut_down={}) as sampler:
            seen = None
            for step, seen in enumerate(sampler.sample(result.frames.tolist(), _settings(one))):  # noqa: B007
                armature = one.armature.evaluated_get(sampler.scene.view_layers[0].depsgraph)
                # As it is, not as a rotation: uneven scale turns axes as well.
                worlds[step] = armature.matrix_world
                bones[step] = [armature.pose.bones[name].matrix for name in looking]
                yield (number + (step + 1) / len(result.frames)) / len(results)
        assert seen is not None
        errors.append(_largest_error(result, seen, worlds, bones))
    return errors


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
    """Why `settled_errors` has None for a look-at, as a sentence."""
    solution, name = result.solution, result.look_at.bone
    if not (solution.looked_at >= 0).any():
        reason = f"The look-at on '{name}' is off at every frame"
    elif not solution.reachable.any():
        reason = f"The target is out of reach of the look-at on '{name}' at every frame"
    elif not (solution.settled & solution.reachable).any():
        reason = (
            f"No frame of the look-at on '{name}' is settled with the target in reach, as is usual where the character "
            "or the target keeps moving"
        )
    elif not len(settled_frames(result)):
        reason = f"The eyes of the look-at on '{name}' look away from the target at every settled frame"
    else:
        reason = f"The influence of the look-at on '{name}' is below 1 at every settled frame"
    return Message("{reason}, so the aim error is not measured.", reason=reason)


def _largest_error(result: BakeResult, seen: Samples, worlds: Array, bones: Array) -> float | None:
    one, solution = result.look_at, result.solution
    chosen = settled_frames(result)
    chosen = chosen[seen.properties[setting_path(one.bone, "influence")][chosen] >= 1.0]
    if not len(chosen):
        return None
    linear = worlds[chosen, :3, :3]
    body = result.look_at.body
    axes = body.ocular.forward if body is not None and body.ocular is not None else result.look_at.chain.forward[:1]
    # Of two eyes that converge, the middle is what looks.
    aim = (linear[:, None] @ bones[chosen, :, :3, :3] @ axes[..., None])[..., 0].mean(axis=1)
    # Samples hold the targets in the armature's space.
    targets = seen.targets
    if one.mixes:
        settings = one.armature.pose.bones[one.bone].lookat_pd
        weights = mixing.sampled(settings, one.bone, seen.properties)
        assert weights is not None
        targets, _ = mixing.mixed(targets, one.targets, weights, seen.positions[:, 0])
    away = targets[solution.looked_at[chosen], chosen] - bones[chosen, :, :3, 3].mean(axis=1)
    direction = (linear @ away[..., None])[..., 0]
    angles = rotation.angle_between(aim, direction)
    return float(np.degrees(angles.max()))
