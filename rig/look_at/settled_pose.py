"""Where a look settles at one frame, for a target or a bone that is being moved: without sampling the rig."""

from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.gaze import control_coupling
from ...lookat_pd.rotation import Array
from ..layers.track import Track
from ..sampling import targets as looked_at
from ..sampling.sampler import Samples, seen_from
from ..sampling.targets import Target
from .gaze_solving import GazeSolver
from .look_at_solve import LookAtSolve
from .resolve import LookAt
from .solve_context import SolveContext
from .solve_sampling import KeptSamples

_IN_REACH = np.radians(0.5)
"""Angle between aim and target below which the look is one that arrives."""


def places(look_at_targets: tuple[Target, ...], depsgraph: bpy.types.Depsgraph) -> Array | None:
    """Where targets are in the world, (n, 3), as evaluated; None where one of them is not."""
    at = np.zeros((len(look_at_targets), 3))
    for n, target in enumerate(look_at_targets):
        if target.object is None:
            at[n] = target.point or (0.0, 0.0, 0.0)
            continue
        item = target.object.evaluated_get(depsgraph)
        if not item.is_evaluated:
            return None
        matrix = np.array(looked_at.world_matrix(item, target.bone))
        at[n] = (matrix @ (*(target.point or (0.0, 0.0, 0.0)), 1.0))[:3]
    return at if np.all(np.isfinite(at)) else None


@dataclass(frozen=True)
class SettledPose:
    """The pose in which a look-at settles, as a track."""

    track: Track
    place: Array | None
    """(3,) of the world that it should aim at, None for none or for one out of reach."""


@dataclass(frozen=True)
class ChainPose:
    """A chain as it is evaluated at a frame: orientations (b, 4) and positions (b, 3) in the armature's space, and the
    offsets (b, 4) that are on it."""

    rotations: Array
    positions: Array
    offsets: Array

    @classmethod
    def of(cls, look_at: LookAt, depsgraph: bpy.types.Depsgraph, offsets: Array) -> "ChainPose":
        """offsets: (n, 4) of the chain first."""
        pose = look_at.armature.evaluated_get(depsgraph).pose.bones
        matrices = np.array([pose[name].matrix for name in look_at.bones])
        return cls(rotation.from_matrix(matrices[:, :3, :3]), matrices[:, :3, 3], offsets[: len(matrices)])


def settled(
    solve: LookAtSolve, context: SolveContext, frame: float, seen: Array, posed: ChainPose | None = None
) -> SettledPose | None:
    """Where a look-at settles that looks at places `seen` (n, 3) of the world at a frame.

    posed: the chain, where it has another pose than the animation. None where the look-at was not solved at this frame
    yet. Eyes and the rest of the body stay as they were solved.
    """
    kept, track = solve.kept, solve.track
    k = round(frame) - int(context.frames[0])
    if kept.samples is None or solve.solution is None or track is None or not 0 <= k < len(context.frames):
        return None
    here = _at(kept, k, seen)
    if posed is not None:
        here.samples = _animated(here, posed)
    assert here.samples is not None
    solver = GazeSolver(solve.look_at, replace(context, frames=context.frames[k : k + 1]), here)
    solution = solver.solve(here.samples.targets)
    turned = solution.offsets
    if here.coupling is not None:
        active = np.any(turned != rotation.IDENTITY, axis=(1, 2))
        expected, animated = solver.expected(solution, None, solver.chain[0]), solver.chain[0]
        turned = control_coupling.realize(expected.wanted, animated, here.coupling, expected.correction, active)
    every = track.offsets[k : k + 1].copy()
    every[:, : turned.shape[1]] = turned
    aims = solution.looked_at[0] >= 0 and solution.error[0] < _IN_REACH and not solver.mixes
    return SettledPose(track.at(slice(k, k + 1)).turning(every), seen[solution.looked_at[0]] if aims else None)


def _animated(here: KeptSamples, posed: ChainPose) -> Samples:
    """Samples of one frame with the chain as it is posed, without the offsets on it."""
    samples, bones = here.samples, len(posed.rotations)
    assert samples is not None
    measured, offsets, before = posed.rotations[None], posed.offsets[None], samples.rotations[:, :bones]
    correction = rotation.identity(1, bones)
    if here.learned is not None:
        correction = here.learned.correction_for(rotation.angle(offsets))
    # On a plain chain each bone takes part in all turns below it.
    coupling = np.triu(np.ones((bones, bones))) if here.coupling is None else here.coupling
    animated = control_coupling.without(measured, offsets, coupling, correction, before)
    rotations, positions = samples.rotations.copy(), samples.positions.copy()
    rotations[:, :bones] = animated
    back = rotation.multiply(animated, rotation.inverse(measured))[0]
    place = posed.positions[-1]
    for bone in reversed(range(bones)):
        if bone + 1 < bones:
            place = place + rotation.rotate(back[bone + 1], posed.positions[bone] - posed.positions[bone + 1])
        positions[:, bone] = place
    return replace(samples, rotations=rotations, positions=positions)


def missed(solve: LookAtSolve, pose: SettledPose, depsgraph: bpy.types.Depsgraph) -> Array | None:
    """The turn (4,) of the aiming bone by what is missing on the rig as it is evaluated with the pose; None where it
    does not arrive."""
    look_at, place = solve.look_at, pose.place
    armature = look_at.armature.evaluated_get(depsgraph)
    head = np.array(armature.pose.bones[look_at.bone].matrix)
    world = np.array(armature.matrix_world)
    if place is None or not abs(np.linalg.det(world[:3, :3])) > 0.0:
        return None
    local = (np.linalg.inv(world) @ (*place, 1.0))[:3] - head[:3, 3]
    wanted = rotation.rotate(rotation.inverse(rotation.from_matrix(head[:3, :3])), local)
    size = float(np.linalg.norm(head[:3, :3], axis=0).mean())
    ahead = look_at.chain.ahead(np.linalg.norm(wanted), size)
    missing = rotation.log(rotation.shortest_arc(ahead, wanted))
    coupling = solve.kept.coupling
    response = 1.0 if coupling is None else control_coupling.own_response(coupling, 0)
    return rotation.exp(missing / response)


def turned_further(track: Track, turn: Array) -> Track:
    """A track whose aiming bone is turned further by `turn` (4,) at all times."""
    offsets = track.offsets.copy()
    offsets[:, 0] = rotation.multiply(offsets[:, 0], turn)
    return track.turning(offsets)


def _at(kept: KeptSamples, k: int, seen: Array) -> KeptSamples:
    """What is known of one frame, with targets at places `seen` (n, 3) of the world."""
    samples, one = kept.samples, slice(k, k + 1)
    assert samples is not None
    found = replace(samples.at(one), targets=seen_from(samples.worlds[one], seen[:, None]))
    learned = None if kept.learned is None else kept.learned.at(one)
    hidden = None if kept.hidden is None else kept.hidden[:, one]
    coupling = kept.coupling if learned is None else learned.coupling
    return KeptSamples(samples=found, coupling=coupling, learned=learned, hidden=hidden)
