"""The offsets with which the rig takes a visual pose.

Bones inherit offsets from each other or, where constraints of the rig pose them, do not, so what each bone needs is
measured until it is right.
"""

from collections.abc import Generator
from hashlib import blake2b

import bpy
import numpy as np

from ....lookat_pd import progress
from ....lookat_pd.rotation import Array
from ....lookat_pd.transitions import pose_tree
from ...controls import realize
from ...controls.realize import Correction, Realization, Tolerance
from ...sampling import fingerprint
from .. import pops
from . import visual_offsets
from .evaluated_pose import OBJECT, EvaluatedPoses, PoseReader
from .ik_chains import IKPosed
from .trial import Trial
from .visual_offsets import VisualOffsets, VisualTrack

EXACT = 2e-6
"""Difference of matrices, relative to the size of the skeleton, below which a bone is where it should be."""
_BETTER = 0.5
"""Part of the last difference that a pass must leave behind to be followed by another."""
_VISIBLE = 3.0
"""Factor of the difference from which on a bone gets a constraint."""
_CORRECTIONS = 11
_KEPT = 32
_fitted: dict[bytes, tuple[VisualTrack, float]] = {}
"""The last offsets and their errors, by digests of what they were fitted to: where the animation has changed elsewhere,
it is enough to see that they are right still. So they are after an undo."""


def fit(
    trial: Trial,
    reader: PoseReader,
    poses: EvaluatedPoses,
    wanted: Array,
    cut_at: int,
    *,
    is_step: bool,
    reached: bool = False,
) -> Generator[float, None, tuple[int, float]]:
    """Try offsets until the rig is as wanted (F, B, 4, 4); yields the completed fraction, from 0.3 on.

    cut_at: the row in `poses` of the first frame of `wanted`. is_step: as for `VisualTrack`. reached: as for `IKPosed`.
    Returns the last frame with an offset, and the remaining error of the bones that can have one.
    """
    close = EXACT * max(1.0, pops.skeleton_size(poses.armature))
    key = yield from _digest(poses, wanted, (cut_at, is_step, reached))
    yield 0.3
    shown = _ShownOffsets(trial, reader, poses, wanted, cut_at, close, is_step=is_step, reached=reached)
    yield 0.3
    first = yield from shown.first()
    if key in _fitted:
        track, error = _fitted[key]
        trial.show(track)
        seen = yield from progress.subrange(shown.evaluate(), 0.3, 0.6)
        if shown.compare(seen).max() <= error + close:
            return shown.last, error
    passes = realize.realize(shown, first, Tolerance(close, _CORRECTIONS, _BETTER))
    done = yield from progress.subrange(passes, 0.6 if key in _fitted else 0.3, 0.95)
    yield from progress.subrange(trial.writing(), 0.95, 1.0)
    assert trial.track is not None, "something was tried"
    _fitted.pop(key, None)
    _fitted[key] = trial.track, float(done.error.max())
    if len(_fitted) > _KEPT:
        del _fitted[next(iter(_fitted))]
    return shown.last, float(done.error.max())


def _digest(poses: EvaluatedPoses, wanted: Array, how: tuple[object, ...]) -> Generator[float, None, bytes]:
    """Of what offsets are fitted to; yields between what takes long."""
    found = blake2b(digest_size=16)
    found.update(repr((how, poses.frames.tolist(), poses.bones, poses.armature.session_uid)).encode())
    for item in (poses.armature, poses.armature.data):
        found.update((yield from progress.subrange(fingerprint.gradually(item), 0.3, 0.3)))
        yield 0.3
    found.update(poses.matrices.tobytes() + wanted.tobytes())
    return found.digest()


class _ShownOffsets(Realization[VisualOffsets, Array]):
    """Offsets on the bones of a rig, and the matrices that are then evaluated."""

    def __init__(
        self,
        trial: Trial,
        reader: PoseReader,
        poses: EvaluatedPoses,
        wanted: Array,
        cut_at: int,
        close: float,
        *,
        is_step: bool,
        reached: bool,
    ) -> None:
        self._trial, self._reader, self._poses, self._close, self._is_step = trial, reader, poses, close, is_step
        self._frame, shown = int(poses.frames[cut_at]), poses.matrices[cut_at:]
        self._posed = IKPosed(reader, poses, self._frame, reached=reached)
        wanted = self._posed.with_handles(wanted, shown)
        moving = np.flatnonzero(pose_tree.distance(wanted, shown).max(axis=1) > close)
        count = int(moving[-1]) + 1 if len(moving) else 1
        self._wanted, shown = wanted[:count], shown[:count]
        self.last = self._frame + count - 1
        """The last frame with an offset."""
        self._shown = shown
        self._used = np.zeros(len(poses.bones), dtype=bool)

    def first(self) -> Generator[float, None, VisualOffsets]:
        """The first offsets; yields between what takes long."""
        self._goal = self._posed.attainable(self._wanted, self._shown)
        expected = self._expected(self._shown)
        expected = np.where(self._used[:, None, None], expected, self._goal)
        yield 0.3
        return VisualOffsets.between(self._poses.bones, expected, self._goal, _mixing(self._poses.matrices))

    def write(self, values: VisualOffsets) -> None:
        rows = np.flatnonzero(self._used).tolist()
        self._trial.show(VisualTrack(self._frame - 1, values.of_rows(rows), self._is_step))

    def evaluate(self) -> Generator[float, None, Array]:
        yield from progress.subrange(self._trial.writing(), 0.0, 0.3)
        reading = self._reader.reading(range(self._frame, self.last + 1))
        return (yield from progress.subrange(reading, 0.3, 1.0)).matrices

    def compare(self, seen: Array) -> Array:
        self._goal = self._posed.attainable(self._wanted, seen)
        return np.array([pose_tree.distance(self._goal, seen).max()])

    def correct(self, values: VisualOffsets, seen: Array) -> Generator[float, None, Correction[VisualOffsets]]:
        yield 0.3
        expected = self._expected(seen)
        yield 0.6
        return Correction(values.corrected(expected, self._goal))

    def _expected(self, shown: Array) -> Array:
        """Where the bones are (F, B, 4, 4) once those above are right; those that are not right then get offsets."""
        expected = _inherited(self._poses.armature, self._poses, self._goal, shown)
        self._used |= self._posed.leave(pose_tree.distance(self._goal, expected).max(axis=0) > _VISIBLE * self._close)
        return expected


def _mixing(matrices: Array) -> tuple[str, ...]:
    """(B,) how offsets are added to bones with these matrices (F, B, 4, 4)."""
    uneven, sheared = pose_tree.is_uneven(matrices).any(axis=0), pose_tree.is_sheared(matrices).any(axis=0)
    modes = np.where(sheared, visual_offsets.BEFORE, np.where(uneven, visual_offsets.SPLIT, visual_offsets.AFTER))
    return tuple(str(mode) for mode in modes)


def _inherited(armature: bpy.types.Object, poses: EvaluatedPoses, wanted: Array, shown: Array) -> Array:
    """Where bones are expected without offsets of their own (F, B, 4, 4), once those above them are as wanted.

    Those with constraints stay where they are shown; others follow the nearest parent.
    """
    rows = {name: row for row, name in enumerate(poses.bones)}
    inherited = shown.copy()
    for row, name in enumerate(poses.bones):
        bone = armature.pose.bones[name] if name != OBJECT else None
        while bone is not None and not _is_constrained(bone):
            bone = bone.parent
            if bone is not None and bone.name in rows:
                above = rows[bone.name]
                inherited[:, row] = wanted[:, above] @ np.linalg.inv(shown[:, above]) @ shown[:, row]
                break
    return inherited


def _is_constrained(bone: bpy.types.PoseBone) -> bool:
    """Whether constraints pose a bone, other than those of transitions."""
    rig = (item for item in bone.constraints if not (item.type == "ACTION" and visual_offsets.is_own(item.action)))
    return any(not item.mute and item.influence > 0.0 for item in rig)
