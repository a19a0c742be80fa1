"""Where a look settles at one frame, for a target that is being moved: from what is known, without sampling the rig."""

from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.gaze import control_coupling
from ...lookat_pd.rotation import Array
from ..offset_layer.track import Track
from ..sampling.sampler import seen_from
from ..sampling.targets import Target
from .gaze_solving import GazeSolver
from .solve import LookAtSolve
from .solve_context import SolveContext
from .solve_sampling import KeptSamples

_IN_REACH = np.radians(0.5)
"""Angle between aim and target below which the look is one that arrives."""


def places(look_at_targets: tuple[Target, ...], depsgraph: bpy.types.Depsgraph) -> Array | None:
    """Where targets are in the world, (n, 3), as evaluated; None where one of them is not."""
    found = np.zeros((len(look_at_targets), 3))
    for n, target in enumerate(look_at_targets):
        if target.object is None:
            found[n] = target.point or (0.0, 0.0, 0.0)
            continue
        item = target.object.evaluated_get(depsgraph)
        if not item.is_evaluated:
            return None
        own = item.pose.bones[target.bone].head if target.bone else (0.0, 0.0, 0.0)
        found[n] = (np.array(item.matrix_world) @ (*own, 1.0))[:3]
    return found if np.all(np.isfinite(found)) else None


@dataclass(frozen=True)
class SettledPose:
    """The pose in which a look-at settles, as a track. place: (3,) of the world that it should aim at, None for none
    or for one out of reach."""

    track: Track
    place: Array | None


def settled(solve: LookAtSolve, context: SolveContext, frame: float, seen: Array) -> SettledPose | None:
    """Where a look-at settles that looks at places `seen` (n, 3) of the world at a frame.

    None where the look-at was not solved at this frame yet. Eyes and the rest of the body stay as they were solved.
    """
    kept, solution, track = solve.kept, solve.solution, solve.track
    k = round(frame) - int(context.frames[0])
    if kept.samples is None or solution is None or track is None or not 0 <= k < len(context.frames):
        return None
    here = _at(kept, k, seen)
    assert here.samples is not None
    solver = GazeSolver(solve.look_at, replace(context, frames=context.frames[k : k + 1]), here)
    found = solver.solve(here.samples.targets)
    turned = found.offsets
    if kept.coupling is not None:
        still, active = rotation.identity(*turned.shape[:2]), np.any(turned != rotation.IDENTITY, axis=(1, 2))
        turned = control_coupling.realize(found.wanted, solver.chain[0], kept.coupling, still, active)
        # What verifying the solution has added to what the coupling alone gives.
        before = control_coupling.realize(
            solution.wanted[k : k + 1], solver.chain[0], kept.coupling, still, np.array([True])
        )
        learned = rotation.multiply(rotation.inverse(before), track.offsets[k : k + 1, : turned.shape[1]])
        turned = np.where(active[:, None, None], rotation.multiply(turned, learned), turned)
    every = track.offsets[k : k + 1].copy()
    every[:, : turned.shape[1]] = turned
    aims = found.looked_at[0] >= 0 and found.error[0] < _IN_REACH
    return SettledPose(_with(track, int(context.frames[k]), every, k), seen[found.looked_at[0]] if aims else None)


def aimed(solve: LookAtSolve, pose: SettledPose, depsgraph: bpy.types.Depsgraph) -> SettledPose:
    """The same with the aiming bone turned by what is missing on the rig as it is evaluated with the pose."""
    look_at, place = solve.look_at, pose.place
    armature = look_at.armature.evaluated_get(depsgraph)
    head = np.array(armature.pose.bones[look_at.bone].matrix)
    world = np.array(armature.matrix_world)
    if place is None or not abs(np.linalg.det(world[:3, :3])) > 0.0:
        return pose
    local = (np.linalg.inv(world) @ (*place, 1.0))[:3] - head[:3, 3]
    wanted = rotation.rotate(rotation.inverse(rotation.from_matrix(head[:3, :3])), local)
    missing = rotation.log(rotation.shortest_arc(look_at.chain.forward[0], wanted))
    coupling = solve.kept.coupling
    response = 1.0 if coupling is None else control_coupling.own_response(coupling, 0)
    every = pose.track.offsets.copy()
    every[:, 0] = rotation.multiply(every[:, 0], rotation.exp(missing / response))
    return SettledPose(_with(pose.track, pose.track.first, every, 0), None)


def _with(track: Track, first: int, offsets: Array, k: int) -> Track:
    """A track that holds offsets (1, b, 4) at all times, and otherwise what it has at its frame number k."""
    return Track(track.number, track.turned, first, offsets, track.moved, track.moves[k : k + 1], uneven=track.uneven)


def _at(kept: KeptSamples, k: int, seen: Array) -> KeptSamples:
    """What is known of one frame, with targets at places `seen` (n, 3) of the world."""
    samples, one = kept.samples, slice(k, k + 1)
    assert samples is not None
    found = replace(
        samples,
        frames=samples.frames[one],
        rotations=samples.rotations[one],
        positions=samples.positions[one],
        sizes=samples.sizes[one],
        targets=seen_from(samples.worlds[one], seen[:, None]),
        worlds=samples.worlds[one],
        use=samples.use[one],
        influence=samples.influence[one],
        active_target=samples.active_target[one],
        raw={mode: values[one] for mode, values in samples.raw.items()},
    )
    return KeptSamples(samples=found, keyed=kept.keyed, coupling=kept.coupling)
