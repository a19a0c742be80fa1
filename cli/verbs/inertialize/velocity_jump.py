"""How much bones change their speed from one frame to the next, seen on the evaluated rig."""

from collections.abc import Sequence

import bpy
import numpy as np

from ....lookat_pd import rotation
from ....lookat_pd.rotation import Array
from ....rig.sampling import scene_time
from ....rig.sampling.sampler import Sampler

_MOVES = 1.0
"""Angular velocity [deg/s] from which on a bone counts as moving."""
_FLAT = 1e-9

Step = tuple[int, int]


def across(cut: int) -> tuple[Step, Step]:
    """The step before a cut, and the one across it to the first frame after."""
    return (cut - 2, cut - 1), (cut - 1, cut)


def velocity_jumps(
    scene: bpy.types.Scene, rig: bpy.types.Object, places: Sequence[tuple[Step, Step]], *, only_left: bool = False
) -> list[float | None]:
    """For each pair of steps the median change of angular velocity [deg/s] over the bones that move in either.

    Bones turn as seen from their parents. only_left: without the change that the motion has by itself there, the mean
    of that in the frame before and in the frame after. 0 where none moves; None on a rig that shows no bone as large as
    it should.
    """
    around = [(_moved(old, -1), old, new, _moved(new, 1)) if only_left else (old, new) for old, new in places]
    frames = sorted({frame for steps in around for step in steps for frame in step})
    row = {frame: n for n, frame in enumerate(frames)}
    turns = _local_turns(scene, rig, frames)
    if not turns.shape[1]:
        return [None for _ in places]
    dt = scene_time.seconds_per_frame(scene)

    def velocity(step: Step) -> Array:
        a, b = (turns[row[frame]] for frame in step)
        return np.degrees(rotation.log(rotation.multiply(b, rotation.inverse(a)))) / dt

    changes: list[float | None] = []
    for steps in around:
        speeds = [velocity(step) for step in steps]
        old, new = speeds[len(speeds) // 2 - 1 : len(speeds) // 2 + 1]
        change = new - old
        if only_left:
            change = change - 0.5 * (old - speeds[0] + speeds[-1] - new)
        moves = np.maximum(np.linalg.norm(old, axis=-1), np.linalg.norm(new, axis=-1)) > _MOVES
        changes.append(float(np.median(np.linalg.norm(change, axis=-1)[moves])) if moves.any() else 0.0)
    return changes


def _moved(step: Step, frames: int) -> Step:
    return step[0] + frames, step[1] + frames


def _local_turns(scene: bpy.types.Scene, rig: bpy.types.Object, frames: Sequence[int]) -> Array:
    """Rotations (F, b, 4) against their parents of all bones that have a size at all frames."""
    bones = rig.pose.bones
    buffer = np.empty(16 * len(bones), dtype=np.float32)
    poses = np.empty((len(frames), len(bones), 4, 4))
    with Sampler(scene, rig, bones.keys()) as sampler:
        for k, frame in enumerate(frames):
            sampler.scene.frame_set(frame)
            seen = rig.evaluated_get(sampler.scene.view_layers[0].depsgraph)
            seen.pose.bones.foreach_get("matrix", buffer)
            # Blender stores matrices by columns.
            poses[k] = buffer.reshape(-1, 4, 4).swapaxes(1, 2)
    axes = poses[..., :3, :3]
    sizes = np.linalg.norm(axes, axis=-2)
    good = (np.isfinite(sizes) & (sizes > _FLAT)).all(axis=(0, 2))
    turns = rotation.from_matrix(axes[:, good])
    names = [name for name, has in zip(bones.keys(), good, strict=True) if has]
    index = {name: n for n, name in enumerate(names)}
    parents = [bones[name].parent for name in names]
    above = np.array([index[parent.name] if parent and parent.name in index else -1 for parent in parents], dtype=int)
    return np.where((above >= 0)[:, None], rotation.multiply(rotation.inverse(turns[:, above]), turns), turns)
