"""Visual transitions as keys of controls: in an NLA layer of the difference, or in an action.

What constraints add to the deforming bones is realized by the bones that the animator keys. How each of them changes
the evaluated pose is measured on the rig, so it does not matter which constraints and drivers lead from one to the
other.
"""

from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ....lookat_pd import progress, rotation
from ....lookat_pd.errors import RigError
from ....lookat_pd.rotation import Array
from ....lookat_pd.transitions import pose_tree
from ....lookat_pd.transitions.control_fit import ControlFit
from ...animation import actions, channels, data_paths, editable
from ...animation.bake_transaction import BakeTransaction, animated_by_nla
from ...controls import coupling
from ...detection import limb_controls
from ...sampling import cut_down_rig, suspend
from .. import pops
from . import evaluated_pose, visual_offsets
from .evaluated_pose import OBJECT, EvaluatedPoses, PoseReader

_SUFFIX = " visual"
_PROBE = 0.02
"""Amount of a control by which its effect is measured: radians, or of `_UNIT`."""
_UNIT = 0.1
"""The distance that counts as much as a radian, as a part of the size of the skeleton."""
_RESPONDS = 0.01
"""Least effect of an amount, as a part of what it would do to the bone itself."""
_LONGEST = 0.4
_ENOUGH = 5e-5
"""Largest number of the pose that may be missing: radians, or of `_UNIT`."""
_WORST = 5e-4
"""The same, from which on the controls cannot make the pose."""
_SECOND_CHOICE = 0.3
"""Weight of controls that are not keyed, as long as the others can do it."""
_LEAST = 5e-6
"""Change of a channel that is not worth a key."""
_IDLE = 5e-5, 2e-5
"""The same where it is measured that no more is missing without them. New keys divide the curve that they are in, whose
values then change in their last digit, and some rigs answer to this with a hundred times as much."""
_NUMBERS = 6
"""Of each bone: three of its rotation, three of its location."""
_TURN, _MOVE = "TURN", "MOVE"
_PASSES, _FEWEST, _STALLED = 40, 8, 0.7


@dataclass(frozen=True)
class WrittenKeys:
    """What was written from frame first to last. action: that holds the keys, None where nothing had to be keyed.
    controls: the bones with keys. error: largest difference of the pose from the transition before it is written [rad,
    or a tenth of the size of the skeleton]."""

    action: bpy.types.Action | None
    first: int
    last: int
    controls: tuple[str, ...]
    error: float


def write(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    into: str,
    transitions: Collection[bpy.types.Action] | None = None,
) -> Generator[float, None, list[WrittenKeys]]:
    """Write transitions, by default all, as keys of controls and remove their constraints; yields the completed
    fraction.

    into: "LAYER", "NEW" or "CURRENT", as for `BakeOptions`. Those that overlap are written together, each group into a
    layer of its own. Raises LookAtError, after which nothing has changed.
    """
    editable.check_bones(armature, ())
    actions.check(armature, into)
    data = armature.animation_data
    if into != "LAYER" and (data is None or data.action is None):
        raise RigError(
            "'{armature}' has no action that transitions could be keyed in; choose an NLA layer.",
            armature=armature.name,
        )
    chosen = [action for action in visual_offsets.of(armature) if transitions is None or action in transitions]
    if any(name == OBJECT for name, item in visual_offsets.on(armature) if item.action in chosen):
        raise RigError(
            "The object '{armature}' itself jumps, and no bone moves it; leave its transition in constraints.",
            armature=armature.name,
        )
    groups, written, works = _groups(chosen), [], []
    with suspend.suspend_live(), ExitStack() as muted:
        try:
            for n, group in enumerate(groups):
                # The first one makes the new action that the others add to.
                to = "CURRENT" if into == "NEW" and works else into
                job = _write(scene, armature, group, to, works, muted)
                written.append((yield from progress.subrange(job, n / len(groups), (n + 1) / len(groups))))
        except BaseException:
            for work in reversed(works):
                work.rollback()
            raise
        for action in chosen:
            visual_offsets.remove(armature, action)
    return written


def _groups(transitions: Sequence[bpy.types.Action]) -> list[list[bpy.types.Action]]:
    """Transitions that overlap, in order of time."""
    found: list[list[bpy.types.Action]] = []
    end = -np.inf
    for action in transitions:
        note = visual_offsets.note_of(action)
        if note["frame"] > end:
            found.append([])
        found[-1].append(action)
        end = max(end, note["last"] + 1)
    return found


def _write(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    group: Sequence[bpy.types.Action],
    into: str,
    works: list[BakeTransaction],
    muted: ExitStack,
) -> Generator[float, None, WrittenKeys]:
    """Write transitions that overlap, and mute them. works: takes what the keys are written by."""
    noted = [visual_offsets.note_of(action) for action in group]
    # Blender does not play a strip at the frame at which it ends.
    frames = np.arange(min(note["frame"] for note in noted), max(note["last"] for note in noted) + 2)
    moved = sorted({name for name, item in visual_offsets.on(armature) if item.action in group})
    seen = evaluated_pose.deforming(armature, moved)
    with PoseReader(scene, armature, seen, int(frames[0]) - 1) as reader:
        wanted = reader.read(frames.tolist())
        yield 0.05
        muted.enter_context(visual_offsets.muted(armature, group))
        fit = _Fit(reader, wanted, _candidates(armature, moved, into))
        error = yield from progress.subrange(fit.solve(), 0.05, 1.0)
        work = BakeTransaction(armature)
        works.append(work)
        controls, action = fit.write(work), None
        if controls:
            action = work.commit(into, actions.baked_name(armature, into, _SUFFIX))
        else:
            work.rollback()
    return WrittenKeys(action, int(frames[0]), int(frames[-1]) - 1, controls, error)


@dataclass(frozen=True)
class _Candidate:
    """A bone that may be keyed. turns, moves: (3,) which axes are free. weight: preference."""

    bone: str
    mode: str
    turns: NDArray[np.bool_]
    moves: NDArray[np.bool_]
    weight: float

    def free(self) -> Iterator[tuple[str, int]]:
        """Kind and axis of each of its amounts."""
        for kind, axes in ((_TURN, self.turns), (_MOVE, self.moves)):
            for axis in np.flatnonzero(axes):
                yield kind, int(axis)


def _candidates(armature: bpy.types.Object, moved: Sequence[str], into: str) -> list[_Candidate]:
    """The bones whose channels may be keyed so that the bones `moved` change."""
    try:
        needed = cut_down_rig.needed_bones(armature, moved)
    except cut_down_rig.CannotCutDown:
        needed = set(armature.pose.bones.keys())
    generated = limb_controls.is_generated(armature)
    first = _keyed(armature) | {*limb_controls.controls_of(armature, moved).values()}
    for limb in limb_controls.find(armature):
        first |= {limb.goal, *limb.turned, limb_controls.base_of(armature, limb), limb_controls.pole_of(armature, limb)}
    found = []
    for bone in armature.pose.bones:
        if bone.name not in needed or (generated and bone.name.startswith(("ORG-", "DEF-", "MCH-"))):
            continue
        turns, moves = ~np.array(bone.lock_rotation), ~np.array(bone.lock_location)
        mode = bone.rotation_mode
        if not _is_free(armature, bone.name, mode, into):
            turns[:] = False
        if bone.bone.use_connect or not _is_free(armature, bone.name, channels.LOCATION, into):
            moves[:] = False
        if turns.any() or moves.any():
            weight = 1.0 if bone.name in first else _SECOND_CHOICE
            found.append(_Candidate(bone.name, mode, turns, moves, weight))
    return found


def _is_free(armature: bpy.types.Object, bone: str, mode: str, into: str) -> bool:
    try:
        actions.check_curves(armature, {bone: mode}, into)
    except RigError:
        return False
    return True


def _keyed(armature: bpy.types.Object) -> set[str]:
    """The bones that what plays animates."""
    data = armature.animation_data
    if data is None:
        return set()
    paths = {path for path, _ in animated_by_nla(data)}
    paths |= {curve.data_path for curve in actions.curves(data.action, data.action_slot)}
    return {bone for path in paths if (bone := data_paths.split_bone(path)[0])}


@dataclass(frozen=True)
class _Seen:
    """Rotations (F, B, 4) and displacements (F, B, 3) of bones from their anchors, in the frames of these."""

    turns: Array
    moves: Array

    @classmethod
    def of(cls, poses: EvaluatedPoses) -> "_Seen":
        # A length without the scale of the anchor: controls may stretch a bone otherwise than the transition does.
        places, turns, _ = pose_tree.parts(poses.matrices)
        above, has = np.maximum(poses.anchors, 0), (poses.anchors >= 0)[:, None]
        frames = np.where(has, rotation.inverse(turns[:, above]), rotation.IDENTITY)
        away = places - np.where(has, places[:, above], 0.0)
        return cls(rotation.multiply(frames, turns), rotation.rotate(frames, away))

    def missing(self, wanted: "_Seen", unit: float) -> Array:
        """(F, m) what leads to wanted poses: rotations, and displacements in units."""
        turns = rotation.log(rotation.multiply(rotation.inverse(self.turns), wanted.turns))
        found = np.concatenate((turns, (wanted.moves - self.moves) / unit), axis=-1)
        return found.reshape(len(found), -1)


@dataclass(frozen=True)
class _Amount:
    """One number of a candidate: a rotation about an axis of the bone [rad], or a displacement along it [units]."""

    candidate: int
    kind: str
    axis: int


class _Fit:
    """The amounts of the candidates over F frames, and the rig that shows what they do.

    turns: (F, c, 4) and moves (F, c, 3), in units, are added to the channels of the c candidates.
    """

    def __init__(self, reader: PoseReader, wanted: EvaluatedPoses, candidates: Sequence[_Candidate]) -> None:
        self._reader, self._wanted, self._candidates = reader, _Seen.of(wanted), list(candidates)
        self._armature, self._frames, self._bones = wanted.armature, wanted.frames, wanted.bones
        self._unit = _UNIT * pops.skeleton_size(wanted.armature)
        self._raw = self._read_channels()
        self._turns = rotation.identity(len(self._frames), len(self._candidates))
        self._moves = np.zeros((len(self._frames), len(self._candidates), 3))

    def _read_channels(self) -> list[dict[str, Array]]:
        """The channels of each candidate in the animation, (F, 3 or 4)."""
        poses = []
        for frame in self._frames:
            pose = self._reader.step(float(frame)).pose.bones
            poses.append([(_rotation(pose[item.bone]), pose[item.bone].location[:]) for item in self._candidates])
        return [
            {
                item.mode: np.array([row[n][0] for row in poses]),
                channels.LOCATION: np.array([row[n][1] for row in poses]),
            }
            for n, item in enumerate(self._candidates)
        ]

    # Solving

    def solve(self) -> Generator[float, None, float]:
        """Find the amounts; yields the completed fraction and returns what is missing at most. Raises RigError.

        Controls of second choice are used only for what the others cannot do.
        """
        first = [n for n, item in enumerate(self._candidates) if item.weight >= 1.0]
        both = list(range(len(self._candidates)))
        error, before = np.inf, _of_bones(self._residual())
        with BakeTransaction(self._armature) as work:
            try:
                for k, (chosen, alone) in enumerate(((first, True), (both, True), (both, False))):
                    part = k / 3.0
                    amounts = yield from progress.subrange(self._measured(work, chosen, alone), part, part + 0.2)
                    error = yield from progress.subrange(self._improved(work, *amounts), part + 0.2, part + 0.33)
                    if error < _ENOUGH:
                        break
                error = self._release_idle(work, error)
                after = _of_bones(self._residual()) if error > _WORST else np.zeros_like(before)
            finally:
                work.rollback()
        if error > _WORST:
            # Where something is missing, the bone that jumps most: others have been moved to make up for it.
            worst = self._bones[int(np.argmax(np.where(after > _WORST, before, 0.0)))]
            text = "No controls that can be keyed pose '{bone}' as the transition does; leave it in constraints."
            raise RigError(text, bone=worst)
        return error

    def _measured(
        self, work: BakeTransaction, chosen: Sequence[int], alone: bool
    ) -> Generator[float, None, tuple[list[_Amount], Array, Array]]:
        """The amounts that have an effect, what they change, (m, n), and a preference for each (n,): the fewer bones
        move from which nothing is missing, the larger.

        alone: only those that move no bones, relative to the bone above, but those from which something is missing.
        """
        amounts = [_Amount(n, kind, axis) for n in chosen for kind, axis in self._candidates[n].free()]
        count = len(self._frames)
        base = self._seen()
        missing = _of_bones(base.missing(self._wanted, self._unit))
        was, touched = (self._turns, self._moves), set[int]()

        def show(part: Sequence[_Amount]) -> None:
            nonlocal touched
            before, touched = touched, {amount.candidate for amount in part}
            self._turns, self._moves = was
            self._add(part, _PROBE * np.eye(count, len(part)))
            self._key(work, sorted(before | touched))

        def evaluate(_: int) -> Generator[float, None, Array]:
            yield 1.0
            return base.missing(self._seen(), self._unit)

        shown = yield from coupling.probing(amounts, count, show, evaluate)
        show(())
        every = np.array([seen[frame] for _, frame, seen in shown]).reshape(-1, missing.size * _NUMBERS) / _PROBE
        moved = np.abs(every).reshape(len(every), -1, _NUMBERS).max(axis=-1) > _RESPONDS
        others = moved[:, missing < _ENOUGH].sum(axis=1)
        acts = moved.any(axis=1) & ~(alone & (others > 0))
        weights = np.array([self._candidates[amount.candidate].weight for amount in amounts]) / (1.0 + others)
        return [amount for amount, has in zip(amounts, acts, strict=True) if has], every[acts].T, weights[acts]

    def _improved(
        self, work: BakeTransaction, amounts: Sequence[_Amount], jacobian: Array, weights: Array
    ) -> Generator[float, None, float]:
        """Change the amounts until nothing is missing or nothing more can be done; returns what is missing."""
        residual = self._residual()
        error = np.abs(residual).max(axis=-1)
        if not amounts:
            return float(error.max())
        used = np.abs(jacobian).max(axis=1) > 0.1 * _RESPONDS
        fit = ControlFit(jacobian[used], weights, _LONGEST, len(self._frames))
        touched = sorted({amount.candidate for amount in amounts})
        history = [float(np.sum(residual * residual))]
        for number in range(_PASSES):
            was = self._turns, self._moves
            step = fit.step(residual[:, used])
            self._add(amounts, step)
            self._key(work, touched)
            after = self._residual()
            fit.learn(step, (residual - after)[:, used])
            better = np.sum(after * after, axis=-1) <= np.sum(residual * residual, axis=-1)
            fit.judge(better)
            self._turns, self._moves = (
                np.where(better[:, None, None], new, old)
                for new, old in zip((self._turns, self._moves), was, strict=True)
            )
            residual = np.where(better[:, None], after, residual)
            error = np.abs(residual).max(axis=-1)
            history.append(float(np.sum(residual * residual)))
            yield (number + 1) / _PASSES
            stalled = number >= _FEWEST and history[-1] > _STALLED * history[-1 - _FEWEST // 2]
            if error.max() < _ENOUGH or stalled:
                break
        self._key(work, touched)
        return float(error.max())

    def _release_idle(self, work: BakeTransaction, error: float) -> float:
        """Leave channels that hardly change as they were, if they are not needed; returns what is missing."""
        was = self._turns, self._moves
        angles, distances = rotation.angle(was[0]).max(axis=0), np.abs(was[1]).max(axis=(0, 2))
        keyed = np.flatnonzero((angles > 0.0) | (distances > 0.0)).tolist()
        for least in _IDLE:
            self._turns = np.where((angles < least)[:, None], rotation.IDENTITY, was[0])
            self._moves = np.where((distances < least)[:, None], 0.0, was[1])
            self._key(work, keyed)
            left = float(np.abs(self._residual()).max())
            if left < max(error, _ENOUGH):
                return left
        self._turns, self._moves = was
        self._key(work, keyed)
        return error

    def _add(self, amounts: Sequence[_Amount], steps: Array) -> None:
        """Change amounts by steps (F, n)."""
        turns, moves = np.zeros_like(self._moves), np.zeros_like(self._moves)
        for n, amount in enumerate(amounts):
            (turns if amount.kind == _TURN else moves)[:, amount.candidate, amount.axis] = steps[:, n]
        still = np.all(turns == 0.0, axis=-1, keepdims=True)
        self._turns = np.where(still, self._turns, rotation.multiply(self._turns, rotation.exp(turns)))
        self._moves = self._moves + moves

    def _seen(self) -> _Seen:
        return _Seen.of(self._reader.read(self._frames.tolist()))

    def _residual(self) -> Array:
        """What is missing in the pose as it is keyed, (F, m)."""
        return self._seen().missing(self._wanted, self._unit)

    # Keys

    def write(self, work: BakeTransaction) -> tuple[str, ...]:
        """Key the controls that move or turn; returns their names."""
        return self._key(work, range(len(self._candidates)), least=_LEAST)

    def _key(self, work: BakeTransaction, candidates: Sequence[int], least: float = -1.0) -> tuple[str, ...]:
        """Key those that change by at least so much at any frame."""
        found = {}
        for n in candidates:
            item, raw = self._candidates[n], self._raw[n]
            turn, move = self._turns[:, n], self._moves[:, n]
            if item.turns.any() and rotation.angle(turn).max() > least:
                work.write(
                    item.bone, item.mode, self._frames, channels.turned(raw[item.mode], item.mode, turn), raw[item.mode]
                )
                found[item.bone] = None
            if item.moves.any() and np.abs(move).max() > least:
                base = raw[channels.LOCATION]
                work.write(item.bone, channels.LOCATION, self._frames, base + self._unit * move, base)
                found[item.bone] = None
        return tuple(found)


def _of_bones(residual: Array) -> Array:
    """What is missing at most of each bone (B,), of what is missing (F, m)."""
    return np.abs(residual).max(axis=0).reshape(-1, _NUMBERS).max(axis=-1)


def _rotation(bone: bpy.types.PoseBone) -> Sequence[float]:
    return tuple(getattr(bone, channels.channel(bone.rotation_mode)[0]))
