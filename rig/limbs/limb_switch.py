"""Switching limbs of rigs with controls between IK and FK over a range of frames: the switch is keyed, and so are the
controls that take over, so that the limb keeps its pose.

FK controls get the orientations of the bones, and their lengths where the rig's inverse kinematics stretches them. The
IK control is placed like the last bone; then the bend is compared with the animated one on the evaluated rig, and the
control above the limb, or its pole, is turned until both agree.
"""

import ast
import operator
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation import actions, bake_options, channels, data_paths
from ..animation.bake_options import BakeOptions
from ..animation.bake_transaction import BakeTransaction
from ..detection import limb_controls
from ..detection.limb_controls import LimbControls
from ..sampling import suspend
from ..sampling.sampler import Sampler, Samples
from ..sampling.scene_time import seconds_per_frame

STATES = {"FK": 0.0, "IK": 1.0}
"""Influence of IK in each state."""
_PASSES = 6
_GOOD_ENOUGH = 1e-5
"""Largest distance of a joint from its animated place, as a fraction of the length of its limb."""
_VISIBLE = 1e-3
"""The same from which on the switch is eased."""
_STRAIGHT = 1e-3
"""Height of a bend, as a fraction of the limb's length, below which it has no direction."""
_EASED = 0.2
"""Time [s] over which a state is eased in and out in which the limb differs from its animated pose."""
_HELD = 1e-6
"""Influence of IK from which it poses a limb."""
_OPERATIONS: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
CALLED = {"FK": " FK", "IK": " IK"}
"""Ending of the name of a new action in each state."""


@dataclass(frozen=True)
class SwitchResult:
    """The result. limbs: the switched ones. errors: (k, F), largest distance of a joint of each limb from its animated
    place in the world; turned: (k, F), largest angle [rad] of a bone from its animated orientation. skipped: the limbs
    that are in the state at all frames already."""

    action: bpy.types.Action
    frames: Array
    limbs: tuple[LimbControls, ...]
    errors: Array
    turned: Array
    skipped: tuple[LimbControls, ...] = ()


def check_switches(armature: bpy.types.Object) -> list[LimbControls]:
    """The limbs that switch. Raises RigError if there are none."""
    found = limb_controls.find(armature)
    if not found:
        raise RigError(
            "No arm or leg of '{armature}' switches between IK and FK by a property that drives its constraints; "
            "choose another rig, or key its controls by hand.",
            armature=armature.name,
        )
    return found


def belonging(armature: bpy.types.Object, bones: Sequence[str]) -> list[LimbControls]:
    """The limbs that these bones belong to; none for other bones."""
    controls = {*limb_controls.controls_of(armature, bones).values()}
    return [limb for limb in limb_controls.find(armature) if controls & {*limb.turned}]


def limbs_of(armature: bpy.types.Object, bones: Sequence[str]) -> list[LimbControls]:
    """The limbs that these bones belong to. Raises RigError."""
    check_switches(armature)
    found = belonging(armature, bones)
    if not found:
        raise RigError("No arm or leg that switches between IK and FK is selected; select one of its controls.")
    return found


def switch(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    bones: Sequence[str],
    state: str,
    options: BakeOptions,
    *,
    may_be_idle: bool = False,
) -> Generator[float, None, SwitchResult]:
    """Switch the limbs of these bones to "FK" or "IK"; yields the completed fraction. Raises RigError.

    Limbs that are in that state at all frames are left as they are. may_be_idle: have an action that is the same as
    before if these are all limbs, instead of an error.
    """
    bake_options.check_range(options.first, options.last)
    limbs = limbs_of(armature, bones)
    actions.check(armature, options.into)
    switches = {limb: _switch_of(armature, limb) for limb in limbs}
    frames = np.arange(options.first, options.last + 1)
    skipped = tuple(limb for limb in limbs if switches[limb].is_in(armature, state, frames))
    switched = [limb for limb in limbs if limb not in skipped]
    if not switched and not may_be_idle:
        raise RigError(
            "All of these limbs are in {state!s} already from frame {first} to {last}: {limbs}; choose other frames, "
            "or controls of another limb.",
            limbs=", ".join(f"'{limb.goal}'" for limb in skipped),
            state=state,
            first=options.first,
            last=options.last,
        )
    if not switched:
        none = np.zeros((0, len(frames)))
        return SwitchResult(_unchanged(armature, options, state), frames, (), none, none, skipped)
    with suspend.suspend_live():
        work = _Work(scene, armature, switched, [switches[limb] for limb in switched], state, options)
        return replace((yield from work.steps()), skipped=skipped)


def _unchanged(armature: bpy.types.Object, options: BakeOptions, state: str) -> bpy.types.Action:
    """The action without a switch, as after any other bake."""
    with BakeTransaction(armature) as work:
        name = options.name or actions.baked_name(armature, options.into, CALLED[state])
        return work.commit(options.into, name)


def is_held(armature: bpy.types.Object, limb: LimbControls, frames: Array) -> bool:
    """Whether inverse kinematics poses a limb at any of these frames. Raises RigError."""
    item = _switch_of(armature, limb)
    return bool(np.any(np.abs(item.animated(armature, frames) - item.values["FK"]) > _HELD))


@dataclass(frozen=True)
class _Switch:
    """The property that switches a limb, and its values in FK and IK."""

    bone: str
    name: str
    values: dict[str, float]

    def animated(self, armature: bpy.types.Object, frames: Array) -> Array:
        """The value (F, 1) over these frames."""
        return _animated(armature, self.bone, channels.custom(self.name), frames)

    def is_in(self, armature: bpy.types.Object, state: str, frames: Array) -> bool:
        """Whether the limb is in a state at all of these frames."""
        return bool(np.all(np.abs(self.animated(armature, frames) - self.values[state]) < _HELD))


def _switch_of(armature: bpy.types.Object, limb: LimbControls) -> _Switch:
    path = f"{data_paths.constraint_path(*limb.switch)}.influence"
    driven = armature.animation_data and armature.animation_data.drivers.find(path)
    if driven:
        variables = driven.driver.variables
        owner, name = data_paths.split_key(variables[0].targets[0].data_path) if len(variables) == 1 else ("", "")
        holder, rest = data_paths.split_bone(owner)
        line = _straight_line(driven)
        if holder and name and not rest and line is not None and variables[0].targets[0].id == armature:
            wanted = {key: 1.0 - value if limb.inverted else value for key, value in STATES.items()}
            values = {key: (value - line[0]) / line[1] for key, value in wanted.items()}
            return _Switch(holder, name, values)
    raise RigError(
        "IK-FK of '{bone}' is not driven by one custom property of a bone; key the switch and the controls by hand, or "
        "drive it by such a property.",
        bone=limb.goal,
    )


def _straight_line(curve: bpy.types.FCurve) -> tuple[float, float] | None:
    """What a driver makes of its only variable at 0, and by how much that grows with it; None if that is no straight
    line."""
    factors = next((list(m.coefficients) for m in curve.modifiers if m.type == "GENERATOR" and not m.mute), [0.0, 1.0])
    if len(factors) != 2:
        return None
    driver, at = curve.driver, [0.0, 1.0, 0.5]
    if driver.type == "SCRIPTED":
        try:
            tree = ast.parse(driver.expression.strip(), mode="eval").body
            at = [_computed(tree, {driver.variables[0].name: value}) for value in at]
        except (SyntaxError, ValueError, ZeroDivisionError):
            return None
    elif driver.type not in ("SUM", "AVERAGE"):
        return None
    zero, one, middle = (factors[0] + factors[1] * value for value in at)
    slope = one - zero
    return (zero, slope) if abs(slope) > _HELD and abs(middle - 0.5 * (zero + one)) < _HELD else None


def _computed(node: ast.expr, names: dict[str, float]) -> float:
    """The value of a sum or product of numbers and variables. Raises ValueError for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_computed(node.operand, names)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_computed(node.left, names), _computed(node.right, names))
    raise ValueError(ast.dump(node))


class _Work:
    def __init__(
        self,
        scene: bpy.types.Scene,
        armature: bpy.types.Object,
        limbs: list[LimbControls],
        switches: list[_Switch],
        state: str,
        options: BakeOptions,
    ) -> None:
        self.scene, self.armature, self.limbs, self.switches = scene, armature, limbs, switches
        self.state, self.options = state, options
        self.frames = np.arange(options.first, options.last + 1)
        self.bends = [_Bend.of(armature, limb) for limb in limbs]
        self.before = [item.animated(armature, self.frames) for item in switches]
        self.turned: dict[str, Array] = {}
        self.scaled: dict[str, Array] = {}
        self._unscaled: dict[str, Array] = {}
        self.moved: dict[str, Array] = {}

    def steps(self) -> Generator[float, None, SwitchResult]:
        bones: dict[str, None] = {}
        for limb, bend in zip(self.limbs, self.bends, strict=True):
            bones |= dict.fromkeys((*limb.shown, *limb.turned, limb.goal, limb.moved, *bend.bones))
        modes = {name: self.armature.pose.bones[name].rotation_mode for name in bones}
        actions.check_curves(self.armature, modes, self.options.into)
        actions.check_curves(self.armature, dict.fromkeys(bones, channels.LOCATION), self.options.into)
        with Sampler(self.scene, self.armature, tuple(bones), [], located=True) as sampler:
            self.samples = yield from self._sampled(sampler, 0.0)
            with BakeTransaction(self.armature) as work:
                weights = np.ones(len(self.frames))
                for n in range(len(self.limbs)):
                    self._key(work, n, weights)
                errors, turned = yield from self._fitted(sampler, work)
                for n, (limb, error) in enumerate(zip(self.limbs, errors, strict=True)):
                    if error.max() > _VISIBLE * self._length(limb):
                        self._key(work, n, self._eased(*work.edges(self.frames)))
                name = self.options.name or actions.baked_name(self.armature, self.options.into, CALLED[self.state])
                action = work.commit(self.options.into, name)
        scale = np.cbrt(np.abs(np.linalg.det(self.samples.worlds[:, :3, :3])))
        return SwitchResult(action, self.frames, tuple(self.limbs), errors * scale, turned)

    def _sampled(self, sampler: Sampler, share: float) -> Generator[float, None, Samples]:
        for samples in sampler.sample(self.frames.tolist()):  # noqa: B007
            yield min(share, 0.99)
        return samples

    def _fitted(self, sampler: Sampler, work: BakeTransaction) -> Generator[float, None, tuple[Array, Array]]:
        """Correct the controls until the limbs are as animated; returns the distances (k, F) in armature space and the
        angles (k, F)."""
        seen, lengths = self.samples, np.array([self._length(limb) for limb in self.limbs])
        least, best = np.inf, (np.zeros(0), np.zeros(0))
        kept = dict(self.turned), dict(self.moved), dict(self.scaled)
        for turn in range(_PASSES):
            for limb, bend in zip(self.limbs, self.bends, strict=True):
                if self.state == "FK":
                    self._turn(limb, seen, stretches=turn > 0)
                else:
                    self._move(limb, bend, seen, bends=turn > 0)
            self._write(work)
            seen = yield from self._sampled(sampler, (turn + 1) / (_PASSES + 1))
            errors, angles = (np.stack(part) for part in zip(*(self._error(x, seen) for x in self.limbs), strict=True))
            score = float((errors / lengths[:, None]).max())
            if score > 0.9 * least:
                # As it was before this pass.
                self.turned, self.moved, self.scaled = kept
                self._write(work)
                break
            least, best = score, (errors, angles)
            kept = dict(self.turned), dict(self.moved), dict(self.scaled)
            if least <= _GOOD_ENOUGH:
                break
        return best

    # What is wanted

    def _wanted(self, bone: str) -> tuple[Array, Array]:
        """The animated rotation (F, 4) and position (F, 3) of a bone."""
        row = self.samples.bones.index(bone)
        return self.samples.rotations[:, row], self.samples.positions[:, row]

    def _length(self, limb: LimbControls) -> float:
        places = np.stack([self._wanted(name)[1] for name in limb.shown])
        return float(np.median(np.linalg.norm(np.diff(places, axis=0), axis=-1).sum(axis=0))) or 1.0

    def _error(self, limb: LimbControls, seen: Samples) -> tuple[Array, Array]:
        """The largest distance and angle (F,) of a bone of a limb."""
        away, turned = [], []
        for name in limb.shown:
            row, (lying, place) = seen.bones.index(name), self._wanted(name)
            away.append(np.linalg.norm(seen.positions[:, row] - place, axis=-1))
            turned.append(rotation.distance(seen.rotations[:, row], lying))
        return np.max(away, axis=0), np.max(turned, axis=0)

    # The controls

    def _basis(self, bone: str) -> Array:
        """The rotation (F, 4) of a control's channels as they are now."""
        if bone not in self.turned:
            mode, raw = self.samples.channel(bone)
            self.turned[bone] = channels.to_quaternion(raw, mode)
        return self.turned[bone]

    def _turn(self, limb: LimbControls, seen: Samples, *, stretches: bool) -> None:
        """Turn the FK controls, each below the one before; stretches: scale them to the lengths of the bones, too."""
        if stretches:
            self._stretch(limb, seen)
        above = rotation.identity(len(self.frames))
        for control, shown in zip(limb.turned, limb.shown, strict=True):
            now, wanted = seen.rotations[:, seen.bones.index(control)], self._wanted(shown)[0]
            basis = self._basis(control)
            frame = rotation.multiply(above, rotation.multiply(now, rotation.inverse(basis)))
            self.turned[control] = rotation.multiply(rotation.inverse(frame), wanted)
            above = rotation.multiply(wanted, rotation.inverse(now))

    def _stretch(self, limb: LimbControls, seen: Samples) -> None:
        """Scale FK controls along their lengths, where the rig's inverse kinematics has stretched or shortened the
        bones; what a control passes on to the next one is taken back there."""
        above = np.ones(len(self.frames))
        for control, bone, end in zip(limb.turned, limb.shown, limb.shown[1:], strict=False):
            now = seen.positions[:, seen.bones.index(end)] - seen.positions[:, seen.bones.index(bone)]
            wanted = self._wanted(end)[1] - self._wanted(bone)[1]
            factor = np.linalg.norm(wanted, axis=-1) / np.maximum(np.linalg.norm(now, axis=-1), 1e-12)
            if control not in self.scaled and np.abs(factor - 1.0).max() > _GOOD_ENOUGH:
                self.scaled[control] = self._unscaled[control] = self._scale(control)
            if control in self.scaled:
                scale = self.scaled[control].copy()
                scale[:, 1] *= factor / above
                self.scaled[control], above = scale, factor

    def _scale(self, bone: str) -> Array:
        """The animated scale (F, 3) of a control's channels."""
        return _animated(self.armature, bone, channels.SCALE, self.frames)

    def _move(self, limb: LimbControls, bend: "_Bend", seen: Samples, *, bends: bool) -> None:
        """Move the IK control; bends: turn the plane of the bend, too."""
        lying, place = self._wanted(limb.shown[-1])
        row, end = seen.bones.index(limb.goal), seen.bones.index(limb.moved)
        turn = rotation.multiply(lying, rotation.inverse(seen.rotations[:, end]))
        own = seen.rotations[:, row]
        there = place + rotation.rotate(turn, seen.positions[:, row] - seen.positions[:, end])
        self._shift(limb.goal, seen, there - seen.positions[:, row])
        local = rotation.multiply(rotation.inverse(own), rotation.multiply(turn, own))
        self.turned[limb.goal] = rotation.multiply(self._basis(limb.goal), local)
        root, middle = (self._wanted(name)[1] for name in limb.shown[:2])
        axis = rotation.normalize(place - root)
        out = _across(middle - root, axis)
        size = self._length(limb)
        # How far the plane of the bend is from where it should be, about the line from the first joint to the last.
        now = _across(seen.positions[:, seen.bones.index(limb.shown[1])] - root, axis)
        sine, cosine = np.sum(np.cross(now, out) * axis, axis=-1), np.sum(now * out, axis=-1)
        angle = np.where(np.hypot(sine, cosine) < (_STRAIGHT * size) ** 2, 0.0, np.arctan2(sine, cosine))
        spin = rotation.exp(axis * angle[:, None])
        if bend.pole:
            at = seen.positions[:, seen.bones.index(bend.pole)]
            straight = np.linalg.norm(out, axis=-1, keepdims=True) < _STRAIGHT * size
            away = np.where(straight, _across(at - root, axis), out)
            if bends:
                # The pole angle of the rig may bend the limb beside its pole.
                away = rotation.rotate(spin, _across(at - root, axis))
            far = size + np.linalg.norm(out, axis=-1, keepdims=True)
            self._shift(bend.pole, seen, middle - out + far * rotation.normalize(away) - at)
        elif bends:
            frame = rotation.multiply(seen.rotations[:, seen.bones.index(bend.parent)], bend.rest)
            spun = rotation.multiply(spin, frame)
            local = rotation.multiply(rotation.inverse(frame), spun)
            self.turned[bend.control] = rotation.multiply(local, self._basis(bend.control))

    def _shift(self, bone: str, seen: Samples, away: Array) -> None:
        """Add a displacement (F, 3) in armature space to the location of a control."""
        row, data = seen.bones.index(bone), self.armature.data.bones[bone]
        frame = rotation.multiply(seen.rotations[:, row], rotation.inverse(self._basis(bone)))
        if not data.use_local_location:
            # The axes of the location are those of the armature, turned with the parent.
            rest = rotation.from_matrix(np.array(data.matrix_local)[:3, :3])
            frame = rotation.multiply(frame, rotation.inverse(rest))
        raw = self.samples.raw[channels.LOCATION][:, self.samples.bones.index(bone)]
        move = rotation.rotate(rotation.inverse(frame), away) / seen.sizes[:, row, None]
        self.moved[bone] = self.moved.get(bone, raw) + move

    # Keys

    def _eased(self, starts: bool, ends: bool) -> Array:
        """The weight (F,) of the new state if it is eased in and out where the animation continues beyond the range."""
        count, whole = len(self.frames), _EASED / seconds_per_frame(self.scene)
        away = np.arange(1.0, count + 1.0)
        t = np.minimum(away if starts else np.inf, away[::-1] if ends else np.inf) / (min(whole, 0.5 * count) + 1.0)
        t = np.minimum(t, 1.0)
        return t * t * (3.0 - 2.0 * t)

    def _key(self, work: BakeTransaction, limb: int, weights: Array) -> None:
        """Key IK-FK of a limb: weights (F,) of the new state against the animated one."""
        item, before = self.switches[limb], self.before[limb]
        values = before + weights[:, None] * (item.values[self.state] - before)
        work.write(item.bone, channels.custom(item.name), self.frames, values, before)

    def _write(self, work: BakeTransaction) -> None:
        for bone, basis in self.turned.items():
            mode, raw = self.samples.channel(bone)
            offset = rotation.multiply(rotation.inverse(channels.to_quaternion(raw, mode)), basis)
            work.write(bone, mode, self.frames, channels.turned(raw, mode, offset), raw)
        for bone, place in self.moved.items():
            raw = self.samples.raw[channels.LOCATION][:, self.samples.bones.index(bone)]
            work.write(bone, channels.LOCATION, self.frames, place, raw)
        for bone, scale in self.scaled.items():
            work.write(bone, channels.SCALE, self.frames, scale, self._unscaled[bone])


@dataclass(frozen=True)
class _Bend:
    """What turns the plane of a limb's bend in IK: a control, its parent, and its rest rotation (4,) below that; or the
    pole, if it is in use."""

    control: str
    parent: str
    rest: Array
    pole: str

    @classmethod
    def of(cls, armature: bpy.types.Object, limb: LimbControls) -> "_Bend":
        """Raises RigError."""
        pole = limb_controls.pole_of(armature, limb)
        control = limb_controls.base_of(armature, limb)
        parent = armature.pose.bones[control].parent if control else None
        if pole and parent is None:
            return cls("", "", rotation.IDENTITY, pole)
        if parent is None:
            raise RigError(
                "The control that turns the limb of '{bone}' in IK was not found; give its inverse kinematics a pole.",
                bone=limb.goal,
            )
        rest = parent.bone.matrix_local.to_3x3().inverted_safe() @ armature.data.bones[control].matrix_local.to_3x3()
        return cls(control, parent.name, rotation.from_matrix(np.array(rest)), pole)

    @property
    def bones(self) -> tuple[str, ...]:
        return (self.pole,) if self.pole else (self.control, self.parent)


def _animated(armature: bpy.types.Object, bone: str, mode: str, frames: Array) -> Array:
    """The channels (F, n) of a bone as its action plays them, or as they stand."""
    data, (name, size) = armature.animation_data, channels.channel(mode)
    action = data.action if data is not None else None
    item = armature.pose.bones[bone]
    key = data_paths.split_key(name)[1]
    still = [item[key]] if key else getattr(item, name)
    path, found = actions.rotation_path(bone, mode), np.empty((len(frames), size))
    curves = actions.curves_at(action, data.action_slot, path, size) if action is not None else [None] * size
    for n, curve in enumerate(curves):
        found[:, n] = still[n]
        if curve is not None and actions.plays(curve):
            found[:, n] = [curve.evaluate(frame) for frame in frames.tolist()]
    return found


def _across(away: Array, axis: Array) -> Array:
    """The part of vectors (F, 3) across unit vectors (F, 3)."""
    return away - axis * np.sum(away * axis, axis=-1, keepdims=True)
