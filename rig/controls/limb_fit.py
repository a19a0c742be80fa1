"""Limbs of rigs with controls that keep their pose in another state: the controls that take over are placed and keyed.

FK controls get the orientations of the bones, and their lengths where the rig's inverse kinematics stretches them. The
IK control is placed like the last bone; then the bend is compared with the animated one on the evaluated rig, and the
control above the limb, or its pole, is turned until both agree.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ...lookat_pd import rotation
from ...lookat_pd.curves import cubic_step
from ...lookat_pd.errors import RigError
from ...lookat_pd.progress import subrange
from ...lookat_pd.rotation import Array
from ..animation import actions, channels, outside_controls
from ..animation.bake_options import BakeOptions
from ..animation.bake_together import BakeTogether
from ..animation.bake_transaction import BakeTransaction
from ..animation.outside_controls import OutsideControl
from ..detection import limb_controls
from ..detection.limb_controls import LimbControls
from ..sampling import outside_samples
from ..sampling.own_channels import along, location_axes
from ..sampling.sampler import Sampler, Samples
from ..sampling.scene_time import seconds_per_frame
from . import switch_property
from .goals import IKGoal, across, pole_place
from .realize import Correction, Realization, Tolerance, realize
from .switch_property import SwitchProperty

_GOOD_ENOUGH = 1e-5
"""Largest distance of a joint from its animated place, as a fraction of the length of its limb."""
_TOLERANCE = Tolerance(_GOOD_ENOUGH, corrections=5, gain=0.9)
_ANGLES = 10.0
"""How much larger angles [rad] may be than this fraction."""
_ROLLED = np.radians(0.05)
"""Angle [rad] of a bone from its animated orientation from which on the start of inverse kinematics is keyed."""
_VISIBLE = 1e-3
"""The same from which on the switch is eased."""
_TURNED = np.radians(1.0)
"""Angle [rad] of a bone from which on it is eased."""
_STRAIGHT = 1e-3
"""Height of a bend, as a fraction of the limb's length, below which it has no direction."""
_EASED = 0.2
"""Time [s] over which a state is eased in and out in which the limb differs from its animated pose."""
CALLED = {"FK": " FK", "IK": " IK"}
"""Ending of the name of a new action in each state."""


@dataclass(frozen=True)
class SwitchResult:
    """The result of switching limbs."""

    action: bpy.types.Action
    frames: Array
    limbs: tuple[LimbControls, ...]
    """Limbs that were switched."""
    errors: Array
    """(k, F), largest distance of a joint of each limb from its animated place in the world."""
    turned: Array
    """(k, F), largest angle [rad] of a bone from its animated orientation."""
    skipped: tuple[LimbControls, ...] = ()
    """Limbs that were in the state at all frames already."""
    others: tuple[BakeTransaction, ...] = ()
    """Bakes of other objects and data, which can be rolled back."""


@dataclass(frozen=True)
class _Channels:
    """Channels (F, 3 or 4) of controls by name."""

    turned: dict[str, Array]
    """Rotations (F, 4), whatever the rotation mode."""
    moved: dict[str, Array]
    scaled: dict[str, Array]


@dataclass(frozen=True)
class _Fit:
    """Limbs as evaluated."""

    seen: Samples
    channels: _Channels
    errors: Array
    """(k, F), distances in armature space."""
    angles: Array
    """(k, F) [rad]."""
    missed: float
    """The largest error as a fraction of the length of its limb."""

    @property
    def score(self) -> float:
        """Both errors as one number: where one of them cannot become smaller, the other still can."""
        return self.missed + float(self.angles.max()) / _ANGLES


class LimbFit(Realization[_Channels, Samples]):
    """Limbs that take the pose of the other state, and their controls."""

    def __init__(
        self,
        scene: bpy.types.Scene,
        armature: bpy.types.Object,
        limbs: list[LimbControls],
        switches: list[list[SwitchProperty]],
        state: str,
        options: BakeOptions,
        into_others: str,
    ) -> None:
        """Raises RigError."""
        self.scene, self.armature, self.limbs, self.switches = scene, armature, limbs, switches
        self.state, self.options = state, options
        self.frames = np.arange(options.first, options.last + 1)
        self.bends = [_Bend.of(armature, limb) for limb in limbs]
        self.chains = [limb_controls.chain_of(armature, limb) if state == "IK" else () for limb in limbs]
        self.before = {item: item.key_values(self.frames) for items in switches for item in items}
        self.outside = self._outside_controls()
        self.destinations = self._other_destinations(into_others)
        self.keyed: dict[tuple[bpy.types.ID, str, str], Array] = {}
        self.turned: dict[str, Array] = {}
        self.scaled: dict[str, Array] = {}
        self._unscaled: dict[str, Array] = {}
        self.moved: dict[str, Array] = {}
        self.bones = self._seen_bones()
        modes = {name: armature.pose.bones[name].rotation_mode for name in self.bones}
        actions.check_curves(armature, modes, options.into)
        actions.check_curves(armature, dict.fromkeys(self.bones, channels.LOCATION), options.into)

    def _seen_bones(self) -> tuple[str, ...]:
        bones = dict[str, None]()
        for limb, bend in zip(self.limbs, self.bends, strict=True):
            bones |= dict.fromkeys((*limb.shown, *limb.turned, limb.goal, limb.turner, limb.moved, *bend.bones))
        bones = {name: None for name in bones if name not in self.outside}
        above = [self.armature.pose.bones[chain[0]].parent for chain in self.chains if chain]
        bones |= dict.fromkeys((*(name for chain in self.chains for name in chain), *(b.name for b in above if b)))
        return tuple(bones)

    def _outside_controls(self) -> dict[str, OutsideControl]:
        """By name the outside controls of the limbs, and their poles."""
        found: dict[str, OutsideControl] = {}
        for limb, bend in zip(self.limbs, self.bends, strict=True):
            controls = limb_controls.outside_of(self.armature, limb)
            found |= {name: controls[name] for name in (limb.goal, limb.moved, bend.pole) if name in controls}
        return found

    def steps(self) -> Generator[float, None, SwitchResult]:
        armature, ending = self.armature, CALLED[self.state]
        with Sampler(self.scene, self.armature, self.bones, [], located=True) as self.sampler:
            self.samples = seen = yield from subrange(self.evaluate(), 0.0, 0.1)
            with BakeTogether(armature, self.destinations, self.outside.values()) as self.work:
                weights = np.ones(len(self.frames))
                for n in range(len(self.limbs)):
                    self._key(n, weights)
                if any(limb.direct for limb in self.limbs):
                    # The FK controls are seen as they are only now that the state is keyed.
                    seen = yield from subrange(self.evaluate(), 0.1, 0.2)
                fit = yield from subrange(self._fitted(seen), 0.2, 0.99)
                errors, turned = fit.errors, fit.angles
                for n, (limb, error, angle) in enumerate(zip(self.limbs, errors, turned, strict=True)):
                    if error.max() > _VISIBLE * self._length(limb) or angle.max() > _TURNED:
                        self._key(n, self._eased(*self.work.main.edges(self.frames)))
                yield 1.0
                name = self.options.name or actions.baked_name(armature, self.options.into, ending)
                action = self.work.commit(self.options.into, name, ending, self.options.writer)
        scale = np.cbrt(np.abs(np.linalg.det(self.samples.worlds[:, :3, :3])))
        return SwitchResult(action, self.frames, tuple(self.limbs), errors * scale, turned, others=self.work.others)

    def _other_destinations(self, into: str) -> dict[bpy.types.ID, str]:
        """Where keys of switches go that another object or the armature's data has: a new action where that has none.
        Raises RigError."""
        destinations: dict[bpy.types.ID, str] = {}
        for place in self.before:
            destination = outside_controls.destination(place.owner, into)
            place.check(destination)
            if place.owner != self.armature:
                destinations[place.owner] = destination
        ends = {limb.goal: limb.turns_end for limb in self.limbs}
        for control in self.outside.values() if self.state == "IK" else ():
            destinations[control.object] = destination = outside_controls.destination(control.object, into)
            control.check(destination, turns=ends.get(control.name, False))
        return destinations

    # The passes

    def _fitted(self, seen: Samples) -> Generator[float, None, _Fit]:
        """Correct the controls until the limbs are as animated."""
        fit = yield from subrange(self._corrected(seen, bends=False), 0.0, 0.5)
        rolled = self._rolled(fit) if self.state == "IK" else []
        if rolled:
            for chain, limb in rolled:
                self._start(chain, limb, fit.seen)
            self.write(self._channels)
            seen = yield from self.evaluate()
            again = yield from subrange(self._corrected(seen, bends=True), 0.5, 1.0)
            if again.score < _TOLERANCE.gain * fit.score:
                return again
            self.write(fit.channels)
        return fit

    def _corrected(self, seen: Samples, *, bends: bool) -> Generator[float, None, _Fit]:
        """The best of several passes. bends: turn the planes of bends in the first one already."""
        self._control(seen, stretches=False, bends=bends)
        yield from realize(self, self._channels, _TOLERANCE)
        return self._best

    def write(self, values: _Channels) -> None:
        # Controls that others than these values have keyed are as animated again.
        animated = {bone: self._animated(bone) for bone in self.turned}
        self.turned, self.moved, self.scaled = animated | values.turned, dict(values.moved), dict(values.scaled)
        for bone, basis in self.turned.items():
            mode, raw = self.samples.channel(bone)
            offset = rotation.multiply(rotation.inverse(channels.to_quaternion(raw, mode)), basis)
            self.work.write(bone, mode, self.frames, channels.turned(raw, mode, offset), raw)
        for bone, place in values.moved.items():
            raw = self.samples.raw[channels.LOCATION][:, self.samples.bones.index(bone)]
            self.work.write(bone, channels.LOCATION, self.frames, place, raw)
        for bone, scale in values.scaled.items():
            self.work.write(bone, channels.SCALE, self.frames, scale, self._unscaled[bone])

    def evaluate(self) -> Generator[float, None, Samples]:
        return (yield from outside_samples.sample(self.sampler, self.frames, tuple(self.outside.values())))

    def compare(self, seen: Samples) -> Array:
        errors, angles = (np.stack(part) for part in zip(*(self._error(x, seen) for x in self.limbs), strict=True))
        lengths = np.array([self._length(limb) for limb in self.limbs])
        self._last = _Fit(seen, self._channels, errors, angles, float((errors / lengths[:, None]).max()))
        return np.array([self._last.score])

    def note(self, seen: Samples, better: NDArray[np.bool_]) -> None:
        if better.all():
            self._best = self._last

    def correct(self, values: _Channels, seen: Samples) -> Generator[float, None, Correction[_Channels]]:
        yield 1.0
        self._control(seen, stretches=True, bends=True)
        return Correction(self._channels)

    @property
    def _channels(self) -> _Channels:
        """The channels of the controls as they are to be."""
        return _Channels(dict(self.turned), dict(self.moved), dict(self.scaled))

    def _control(self, seen: Samples, *, stretches: bool, bends: bool) -> None:
        """Turn and move the controls by what is missing."""
        for limb, bend in zip(self.limbs, self.bends, strict=True):
            if self.state == "FK":
                self._turn(limb, seen, stretches=stretches)
            else:
                self._move(limb, bend, seen, bends=bends)

    def _rolled(self, fit: _Fit) -> list[tuple[tuple[str, ...], LimbControls]]:
        """The limbs that are visibly turned about their bones, with the bones of their inverse kinematics."""
        angles = zip(self.limbs, self.chains, fit.angles.max(axis=-1), strict=True)
        return [(chain, limb) for limb, chain, angle in angles if angle > _ROLLED and chain]

    def _start(self, chain: Sequence[str], limb: LimbControls, seen: Samples) -> None:
        """Turn the bones from whose pose inverse kinematics starts as the limb is animated: it then changes nothing
        about a bend that is not that of the rest pose, such as one backwards."""
        rests = self.armature.data.bones
        parent = rests[chain[0]].parent
        above = rotation.identity(len(self.frames))
        if parent is not None:
            above = seen.rotations[:, seen.bones.index(parent.name)]
        for name, shown in zip(chain, limb.shown, strict=False):
            bone, wanted = rests[name], self._wanted(shown)[0]
            rest = bone.matrix_local.to_3x3()
            if bone.parent is not None:
                rest = bone.parent.matrix_local.to_3x3().inverted_safe() @ rest
            frame = rotation.multiply(above, rotation.from_matrix(np.array(rest)))
            self.turned[name] = rotation.multiply(rotation.inverse(frame), wanted)
            above = wanted

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
            self.turned[bone] = self._animated(bone)
        return self.turned[bone]

    def _animated(self, bone: str) -> Array:
        mode, raw = self.samples.channel(bone)
        return channels.to_quaternion(raw, mode)

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

    def _turn_alone(self, control: str, shown: str, seen: Samples) -> None:
        """Turn one control, whatever moves those above it."""
        now, basis = seen.rotations[:, seen.bones.index(control)], self._basis(control)
        frame = rotation.multiply(now, rotation.inverse(basis))
        self.turned[control] = rotation.multiply(rotation.inverse(frame), self._wanted(shown)[0])

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
        return switch_property.animated(self.armature, bone, *channels.channel(channels.SCALE), self.frames)

    def _move(self, limb: LimbControls, bend: "_Bend", seen: Samples, *, bends: bool) -> None:
        """Move the IK control; bends: turn the plane of the bend, too."""
        lying, place = self._wanted(limb.shown[-1])
        if limb.turns_end:
            now = seen.rotations[:, seen.bones.index(limb.moved)]
            turn = rotation.multiply(lying, rotation.inverse(now))
        else:
            turn = rotation.identity(len(self.frames))
            self._turn_alone(limb.turned[-1], limb.shown[-1], seen)
        goal = IKGoal(limb.goal, limb.turner, limb.moved)
        local, move = goal.change(self.armature, seen, self._basis(limb.goal), turn, place)
        self._shift(limb.goal, move)
        if limb.turns_end or limb.goal not in self.outside:
            self.turned[limb.turner] = rotation.multiply(self._basis(limb.turner), local)
        root, middle = (self._wanted(name)[1] for name in limb.shown[:2])
        axis = rotation.normalize(place - root)
        out = across(middle - root, axis)
        size = self._length(limb)
        # How far the plane of the bend is from where it should be, about the line from the first joint to the last.
        now = across(seen.positions[:, seen.bones.index(limb.shown[1])] - root, axis)
        sine, cosine = np.sum(np.cross(now, out) * axis, axis=-1), np.sum(now * out, axis=-1)
        angle = np.where(np.hypot(sine, cosine) < (_STRAIGHT * size) ** 2, 0.0, np.arctan2(sine, cosine))
        spin = rotation.exp(axis * angle[:, None])
        if bend.pole:
            at = seen.positions[:, seen.bones.index(bend.pole)]
            # The pole angle of the rig may bend the limb beside its pole.
            towards = rotation.rotate(spin, at - root) if bends else out
            far = size + np.linalg.norm(out, axis=-1, keepdims=True)
            there = pole_place(at, middle - out, axis, towards, 0.0 if bends else _STRAIGHT * size, far)
            axes = location_axes(self.armature, seen, bend.pole, self._basis(bend.pole))
            self._shift(bend.pole, along(axes, there - at))
        elif bends:
            frame = rotation.multiply(seen.rotations[:, seen.bones.index(bend.parent)], bend.rest)
            spun = rotation.multiply(spin, frame)
            local = rotation.multiply(rotation.inverse(frame), spun)
            self.turned[bend.control] = rotation.multiply(local, self._basis(bend.control))

    def _shift(self, bone: str, move: Array) -> None:
        """Add a displacement (F, 3) to the location of a control."""
        raw = self.samples.raw[channels.LOCATION][:, self.samples.bones.index(bone)]
        self.moved[bone] = self.moved.get(bone, raw) + move

    # Keys

    def _eased(self, starts: bool, ends: bool) -> Array:
        """The weight (F,) of the new state if it is eased in and out where the animation continues beyond the range."""
        count, whole = len(self.frames), _EASED / seconds_per_frame(self.scene)
        away = np.arange(1.0, count + 1.0)
        t = np.minimum(away if starts else np.inf, away[::-1] if ends else np.inf) / (min(whole, 0.5 * count) + 1.0)
        return cubic_step(t)

    def _key(self, limb: int, weights: Array) -> None:
        """Key IK-FK of a limb: weights (F,) of the new state against the animated one."""
        for item in self.switches[limb]:
            before = self.before[item]
            now = item.number(before)
            # One control may have the switches of several limbs, each along one axis.
            other = self.keyed.get(item.place, before)
            values = item.with_number(other, now + weights[:, None] * (item.value(self.state) - now))
            self.keyed[item.place] = values
            self.work.write_of(item.owner, item.bone, item.mode, self.frames, values, before)


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
