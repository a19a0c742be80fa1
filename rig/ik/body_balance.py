"""The centre of mass of a sampled body and the polygon on which it stands."""

from dataclasses import dataclass
from itertools import pairwise

import bpy
import numpy as np
from mathutils import Matrix

from ...lookat_pd import ik, rotation
from ...lookat_pd.curves import smooth_step
from ...lookat_pd.dynamics.segments import fractions
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ...lookat_pd.skeleton import Skeleton
from ..detection import body_segments, limb_controls, limbs, rest
from ..detection.anatomy import Anatomy
from ..detection.bone_ends import with_ends
from ..sampling.sampler import Samples
from .body import JointTree

_HEEL, _HALF_WIDTH = 0.3, 0.2
"""How far a foot extends behind the ankle and to each side, in lengths of its bone."""
_LIFTED = 0.1
"""Height of a foot, in lengths of its leg, at which it no longer supports."""


@dataclass(frozen=True)
class Weighed:
    """The masses of a body."""

    bones: tuple[str, ...]
    """Names of the bones."""
    masses: Array
    """(b,) masses."""
    centers: Array
    """(b, 3) centres of mass in the frames of the bones."""
    joints: Array
    """(b,) indices of the joints that move them."""
    feet: tuple[tuple[tuple[str, ...], float], ...]
    """Names of the bones of each foot, the ankle first, and the length of its leg."""
    controls: tuple[str, ...]
    """Controls that turn each foot."""

    @property
    def seen(self) -> tuple[str, ...]:
        """The bones that are sampled."""
        return tuple(dict.fromkeys((*self.bones, *(name for names, _ in self.feet for name in names))))


def weigh(body: JointTree) -> Weighed:
    """The masses of the bones that move with the body, and its feet. Raises RigError."""
    armature = body.armature
    skeleton = with_ends(rest.skeleton(armature))
    feet, controls = [], []
    for line in limbs.limb_lines(armature)[1]:
        if len(line) > 2:
            heads = [skeleton.heads[skeleton.index(name)] for name in line[:3]]
            shown = tuple(limb_controls.shown_by(armature, name) for name in line[2:4])
            controls.append(line[2])
            feet.append((shown, float(sum(np.linalg.norm(b - a) for a, b in pairwise(heads)))))
    if not feet:
        raise RigError(
            "The feet of '{armature}' were not found, so that it cannot be balanced; set Balance to 0.",
            armature=armature.name,
        )
    rows = {name: n for n, name in enumerate(body.joints)}
    weighed = []
    for name, mass in _masses(armature, skeleton).items():
        line = limb_controls.line(armature, limb_controls.control_of(armature, name) or name)
        joint = next((rows[above] for above in line if above in rows), None)
        if joint is not None:
            row = skeleton.index(name)
            along = 0.5 * (skeleton.tails[row] - skeleton.heads[row])
            center = rotation.rotate(rotation.inverse(skeleton.rotations[row]), along)
            if not body.plain:
                # Deforming bones of a generated rig are stretched: their places in the rest pose do instead.
                shown = body.shown[joint]
                rest_matrix = armature.data.bones[name].matrix_local @ Matrix.Translation(center)
                center = np.array((armature.data.bones[shown].matrix_local.inverted() @ rest_matrix).translation)
                name = shown
            weighed.append((name, mass, center, joint))
    if not weighed:
        raise RigError(
            "No bone of '{armature}' has a length, so that it cannot be balanced; set Balance to 0.",
            armature=armature.name,
        )
    names, masses, centers, joints = zip(*weighed, strict=True)
    return Weighed(names, np.array(masses), np.array(centers), np.array(joints), tuple(feet), tuple(controls))


def _masses(armature: bpy.types.Object, skeleton: Skeleton) -> dict[str, float]:
    """The mass of each deforming bone: that of its segment of a human, divided by length, else its volume."""
    bones = armature.data.bones
    rows = [n for n, name in enumerate(skeleton.names) if bones[name].use_deform] or list(range(len(skeleton)))
    rows.sort(key=lambda n: (len(skeleton.ancestors(n)), n))
    lengths = {n: float(np.linalg.norm(skeleton.tails[n] - skeleton.heads[n])) for n in rows}
    segments = body_segments.human(Anatomy(skeleton), rows)
    if segments is None:
        return {skeleton.names[n]: lengths[n] ** 3 for n in rows if lengths[n] > 0.0}
    parts, masses = fractions(), {}
    for n, segment in segments.items():
        whole = sum(lengths[other] for other, same in segments.items() if same == segment)
        if whole > 0.0:
            masses[skeleton.names[n]] = parts[segment[0]] * lengths[n] / whole
    return masses


def objective(
    body: JointTree, weighed: Weighed, samples: Samples, moved: dict[str, Array], weight: float
) -> ik.Balance:
    """The balance over F frames, in armature space. moved: how far the targets (F, 3) of feet are from where these are
    animated."""
    rows = {name: n for n, name in enumerate(samples.bones)}
    n, count = len(body.joints), len(samples.frames)
    joints = [rows[name] for name in body.shown]
    bones = [rows[name] for name in weighed.bones]
    sizes = samples.sizes[:, bones, None]
    places = samples.positions[:, bones] + rotation.rotate(samples.rotations[:, bones], sizes * weighed.centers)
    masses, sums = np.zeros(n), np.zeros((count, n, 3))
    np.add.at(masses, weighed.joints, weighed.masses)
    for joint, mass, place in zip(weighed.joints.tolist(), weighed.masses.tolist(), places.swapaxes(0, 1), strict=True):
        sums[:, joint] += mass * place
    away = sums / np.where(masses > 0.0, masses, 1.0)[:, None] - samples.positions[:, joints]
    centers = np.where(
        masses[:, None] > 0.0, rotation.rotate(rotation.inverse(samples.rotations[:, joints]), away), 0.0
    )
    world = rotation.from_matrix(samples.worlds[:, :3, :3])
    up = rotation.rotate(rotation.inverse(world), [0.0, 0.0, 1.0])
    polygon, stands = _polygon(body.armature, weighed, samples, moved, up)
    return ik.Balance(masses, centers, polygon, up, np.where(stands > 0.0, weight * stands, 0.0))


def _polygon(
    armature: bpy.types.Object, weighed: Weighed, samples: Samples, moved: dict[str, Array], up: Array
) -> tuple[Array, Array]:
    """Points (F, k, 3) of the feet, and how much they support (F,). Those of a lifted foot are drawn to the others, so
    that the polygon changes without a jump."""
    rows = {name: n for n, name in enumerate(samples.bones)}
    soles, heights = [], []
    for names, leg in weighed.feet:
        ankle = samples.positions[:, rows[names[0]]]
        last = rows[names[-1]]
        along = np.array([0.0, armature.data.bones[names[-1]].length, 0.0]) * samples.sizes[:, last, None]
        tip = samples.positions[:, last] + rotation.rotate(samples.rotations[:, last], along)
        length = tip - ankle
        length = length - np.sum(length * up, axis=-1, keepdims=True) * up
        side = _HALF_WIDTH * rotation.cross(up, length)
        shift = sum((moved[name] for name in names[:1] if name in moved), np.zeros(ankle.shape))
        heel, toe = ankle - _HEEL * length + shift, ankle + length + shift
        soles.append(np.stack((heel - side, heel + side, toe - side, toe + side), axis=1))
        low = np.minimum(np.sum(ankle * up, axis=-1), np.sum(tip * up, axis=-1))
        heights.append(low / (_LIFTED * leg))
    height = np.array(heights)
    above = np.clip(height - height.min(axis=1, keepdims=True), 0.0, 1.0)
    stands = 1.0 - smooth_step(above)[0]
    total = np.maximum(stands.sum(axis=0), 1e-9)
    middle = sum(part[:, None] * sole.mean(axis=1) for part, sole in zip(stands, soles, strict=True)) / total[:, None]
    points = [
        middle[:, None] + part[:, None, None] * (sole - middle[:, None])
        for part, sole in zip(stands, soles, strict=True)
    ]
    return np.concatenate(points, axis=1), stands.max(axis=0)
