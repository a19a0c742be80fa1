"""Following in real time: one look-at is stepped with the clock, without playback, and shown on the rig.

Nothing is kept until `keep` or `keep_recording`; `restore` leaves everything as it was.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ..lookat_pd import carry, rotation, stepping
from ..lookat_pd.errors import RigError
from ..lookat_pd.rotation import Array
from . import actions, attach, auto_keying, channels, keys, live, look_at, offsets, sample, settings, unkeyed
from .look_at import LookAt
from .sample import Target
from .working import Working

_CHANNELS = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")
_PROBE = np.radians(10.0)
_DEAF = 0.02
_SHEAR = 1e-4
_RECORDED = " follow"


@dataclass(frozen=True)
class _Seen:
    """The chain as Blender evaluates it, in armature space, head first: (b, 4) and (b, 3). world: of the armature."""

    rotations: Array
    positions: Array
    world: Array
    sheared: bool


class Session:
    """A look-at that follows its target, or any point, in real time.

    The other look-ats of the file stand still meanwhile. error: angle [rad] between where the head looks and the
    goal, and seen_head: (4,) the head's orientation in the armature, both as last seen. place: (3,) the goal in the
    world. is_recording: whether ticks are taken down.
    """

    def __init__(
        self, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, armature: bpy.types.Object, bone: str
    ) -> None:
        """Raises RigError."""
        self.scene, self.view_layer, self.armature, self.bone = scene, view_layer, armature, bone
        self._resolve()
        modes = {name: armature.pose.bones[name].rotation_mode for name in self.look_at.bones}
        actions.check_curves(armature, modes, "NEW")
        attach.sync(armature)
        self.number = self._settings.number
        self.error, self.is_recording, self.seen_head = np.nan, False, rotation.identity()
        self._times: list[float] = []
        self._ticks: list[Array] = []
        self._open = ExitStack()
        self._open.enter_context(live.paused())
        self._before = _Before(self)
        try:
            self._begin()
        except BaseException:
            self.restore()
            raise

    # What is followed

    @property
    def _settings(self) -> Any:
        return self.armature.pose.bones[self.bone].lookat_pd

    @property
    def is_open(self) -> bool:
        """Whether it goes on: nothing has been kept or restored."""
        return self._before is not None

    def _resolve(self) -> None:
        """Raises RigError where there is no look-at to follow."""
        self.look_at: LookAt = look_at.resolve(self.armature, self.bone)
        if self._settings.mute:
            raise RigError(f"The look-at on '{self.bone}' is muted; unmute it to follow.")
        if not self._settings.influence > 0.0:
            raise RigError(f"The influence of the look-at on '{self.bone}' is 0 here; raise it to follow.")
        self._known = self._inputs()

    def _inputs(self) -> tuple:
        """What the chain, the tuning and the target are made from."""
        s = self._settings
        tuning = tuple(getattr(s, name) for name in settings.TUNING if name not in ("use", "influence"))
        chain = tuple(
            (c.bone, c.share, c.settle_factor, c.yaw_limit, c.pitch_up_limit, c.pitch_down_limit, c.makes_up)
            for c in s.chain
        )
        target = (s.target.session_uid, len(s.target.users_scene)) if s.target is not None else None
        return tuning, chain, target, s.subtarget, s.aim_axis, s.soft_edge, s.mute, self.armature.data.pose_position

    def _check(self) -> None:
        """See what the animator has changed meanwhile. Raises RigError where that leaves nothing to follow."""
        try:
            bone = self.armature.pose.bones.get(self.bone)
        except ReferenceError:
            raise RigError("The character was deleted while it followed.") from None
        if bone is None or self.armature.mode == "EDIT":
            raise RigError(f"Armature '{self.armature.name}' went into edit mode while it followed.")
        if not look_at.exists_on(bone):
            raise RigError(f"The look-at on '{self.bone}' was removed while it followed.")
        if self._inputs() != self._known:
            bones = self.look_at.bones
            self._resolve()
            if self.look_at.bones != bones:
                raise RigError(f"The chain of the look-at on '{self.bone}' changed while it followed; follow again.")
            self._stepper.retune(self.look_at.chain, self.look_at.tuning)

    # What is seen

    def _look(self) -> _Seen:
        """Let Blender evaluate what has changed, and see the chain."""
        self.view_layer.update()
        frame = self.scene.frame_current
        seen = self.armature.evaluated_get(self.view_layer.depsgraph)
        matrices = np.array([seen.pose.bones[name].matrix for name in self.look_at.bones])
        world = np.array(seen.matrix_world)
        axes = matrices[:, :3, :3]
        for name, matrix in zip(self.look_at.bones, matrices, strict=True):
            if not np.all(np.isfinite(matrix)):
                raise RigError(
                    f"Bone '{name}' has a pose that is not a number at frame {frame}; mend its F-curves or constraints."
                )
            if np.linalg.norm(matrix[:3, :3], axis=0).min() < 1e-9:
                raise RigError(f"Bone '{name}' has zero scale at frame {frame}; give it a scale above zero.")
        if not abs(np.linalg.det(world[:3, :3])) > 1e-18:
            raise RigError(
                f"Object '{self.armature.name}' has zero scale at frame {frame}; give it, and its parents, a scale "
                "above zero."
            )
        sizes = np.linalg.norm(axes, axis=-2)
        unit = axes / sizes[:, None]
        askew = np.abs(np.sum(unit * np.roll(unit, 1, axis=-1), axis=-2)).max()
        sheared = askew > _SHEAR or (sizes.max(axis=-1) / sizes.min(axis=-1)).max() > 1.0 + _SHEAR
        rotations = rotation.from_matrix(axes)
        if sheared:
            # Where the axis that aims points is what counts.
            aim = self.look_at.chain.forward[0]
            points = axes[0] @ aim * np.sign(np.linalg.det(axes[0]))
            turn = rotation.shortest_arc(rotation.rotate(rotations[0], aim), rotation.normalize(points))
            rotations[0] = rotation.multiply(turn, rotations[0])
        return _Seen(rotations, matrices[:, :3, 3], world, bool(sheared))

    @property
    def target(self) -> Target:
        """What is looked at at the current frame."""
        targets, active = self.look_at.targets, self._settings.active_target
        known = active < len(targets) and targets[active].object is not None
        return targets[active] if known else next(target for target in targets if target.object is not None)

    def target_place(self) -> Array:
        """Where the target is in the world, (3,). Raises RigError."""
        target = self.target
        assert target.object is not None
        if target.object.visible_get(view_layer=self.view_layer):
            seen = target.object.evaluated_get(self.view_layer.depsgraph)
            own = seen.pose.bones[target.bone].head if target.bone else (0.0, 0.0, 0.0)
            place = (np.array(seen.matrix_world) @ (*own, 1.0))[:3]
        else:
            # What is hidden is not evaluated with the scene.
            place = self._hidden_place()
        if not np.all(np.isfinite(place)):
            raise RigError(
                f"Target '{target.label}' has no finite position at frame {self.scene.frame_current}; mend its "
                "animation."
            )
        return place

    def _hidden_place(self) -> Array:
        place = self._hidden
        if place is None:
            with sample.Sampler(self.scene, self.armature, (), [self.target]) as sampler:
                points = next(sampler.sample_points([self.scene.frame_current_final]))
            self._hidden = place = points[0, 0].copy()
        return place

    # Ticks

    def _begin(self) -> None:
        """Begin with what is shown now."""
        self._hidden: Array | None = None
        shown = offsets.shown(self.armature, self.bone)
        self._found = np.array([shown.get(name, rotation.IDENTITY) for name in self.look_at.bones])
        turned = self._look()
        self.is_plain = self.look_at.plain and not turned.sheared and not self._is_shared()
        self._stepper = stepping.Stepper(self.look_at.chain, self.look_at.tuning)
        self._head: Array | None = None
        start = self._found
        if self.is_plain:
            self._base = turned
        else:
            self._take_base()
            self._carry = self._probe()
            start = stepping.offsets_between(self._base.rotations, turned.rotations) if shown else start
        if shown:
            self._stepper.start(rotation.exp(rotation.log(start) / self._settings.influence))
        self._put(self._found)
        self.place = self.target_place()

    def _is_shared(self) -> bool:
        """Whether another look-at turns bones of this chain too."""
        return any(
            bone.name in self.look_at.bones and offsets.number_of(constraint) != self.number and constraint.influence
            for bone, constraint in offsets.on(self.armature)
        )

    def _take_base(self) -> None:
        """See the pose that the look-at is added to."""
        offsets.put(self.armature, self.number, self.look_at.written, None)
        self._base = self._look()
        self._frame = self.scene.frame_current_final

    def _probe(self) -> Array:
        """carry[n, m]: how much of control m's turn control n receives, told by a small turn."""
        bones = self.look_at.bones
        received = np.eye(len(bones))
        for m, bone in enumerate(bones):
            row = rotation.identity(len(bones))
            row[m] = rotation.exp(_PROBE * self.look_at.chain.up[m])
            self._put(row)
            received[:, m] = carry.measure(self._base.rotations, self._look().rotations, row[m], m)
            if abs(received[m, m]) < _DEAF:
                raise RigError(
                    f"Bone '{bone}' does not answer to an offset, a constraint overrides it; take it out of the chain "
                    "or put the bone that drives it in."
                )
        return received

    def _put(self, found: Array) -> None:
        offsets.put(self.armature, self.number, self.look_at.written, offsets.angles(found[None])[0])

    def tick(self, dt: float, goal: Sequence[float] | Array | None = None) -> None:
        """Go on by dt seconds towards a point of the world, or towards the target. Raises RigError."""
        self._check()
        seen = self._look()
        if not self.is_plain and self.scene.frame_current_final != self._frame:
            self._take_base()
            self._put(self._found)
            self._hidden = None
            seen = self._look()
        self.place = self.target_place() if goal is None else np.asarray(goal, float)
        local = (np.linalg.inv(seen.world) @ np.append(self.place, 1.0))[:3]
        self.seen_head = seen.rotations[0]
        aim = rotation.rotate(self.seen_head, self.look_at.chain.forward[0])
        self.error = float(rotation.angle_between(aim, local - seen.positions[0]))
        if self.is_plain:
            base = stepping.unturned(seen.rotations, seen.positions, self._found)
            self._found = self._scaled(self._stepper.step(*base, local, dt))
        else:
            self._found = self._controls(seen, local, dt)
        self._put(self._found)
        if self.is_recording and dt > 0.0:
            self._times.append(self._times[-1] + dt)
            self._ticks.append(self._found)

    def _scaled(self, found: Array) -> Array:
        influence = min(float(self._settings.influence), 1.0)
        return found if influence == 1.0 else rotation.exp(influence * rotation.log(found))

    def _controls(self, seen: _Seen, local: Array, dt: float) -> Array:
        """Offsets of controls that act through constraints: what was seen of the last ones corrects the next."""
        base = self._base
        # The head is where it was seen, not where the chain alone would have carried it.
        shift = np.zeros(3) if self._head is None else seen.positions[0] - self._head
        turned = self._scaled(self._stepper.step(base.rotations, base.positions, local, dt, shift))
        wanted, self._head = stepping.carried(base.rotations, base.positions, turned)
        animated, before = base.rotations[None], self._found[None]
        correction = carry.correct(seen.rotations[None], animated, before, self._carry)
        active = np.array([bool(np.any(turned != rotation.IDENTITY))])
        return carry.realize(wanted[None], animated, self._carry, correction, active)[0]

    # Recording

    def record(self, on: bool) -> None:
        """Begin to take down what is shown, or stop and forget it."""
        self.is_recording = on
        self._times, self._ticks = ([0.0], [self._found]) if on else ([], [])

    @property
    def recorded_frames(self) -> int:
        """How many whole frames the recording covers."""
        if not self._times:
            return 0
        return int(np.floor(self._times[-1] / sample.seconds_per_frame(self.scene) + 1e-6)) + 1

    def check_keyed(self, into: str) -> None:
        """Raises RigError where a recording could not be keyed."""
        modes = {name: self.armature.pose.bones[name].rotation_mode for name in self.look_at.bones}
        actions.check(self.armature, into)
        actions.check_curves(self.armature, modes, into)

    def recording(self) -> tuple[Array, Array]:
        """Frames (F,) from the current one on, and the offsets (F, b, 4) that were shown then."""
        count, dt = self.recorded_frames, sample.seconds_per_frame(self.scene)
        times, ticks = np.array(self._times), rotation.align_hemisphere(np.array(self._ticks))
        at = np.minimum(dt * np.arange(count), times[-1])
        return self.scene.frame_current + np.arange(count), rotation.normalize(_curve(times, ticks, at))

    # How it ends

    def keep(self) -> None:
        """Leave the pose as it is shown, in the bones' own channels, with keys where auto keying is on.

        The look-at is muted then, since it would be added once more. Raises RigError, everything being restored.
        """
        bones = self.armature.pose.bones
        before: list[tuple[Any, str, tuple]] = []
        try:
            self._check()
            self._check_auto_keying()
            for n, found in zip(self.look_at.bones, self._in_channels(self._found[None])[0], strict=True):
                mode = bones[n].rotation_mode
                name = sample.channel(mode)[0]
                raw = np.array(getattr(bones[n], name), float)
                before.append((bones[n], name, tuple(getattr(bones[n], name))))
                setattr(bones[n], name, channels.turned(raw[None], mode, found[None])[0])
            auto_keying.key(self.scene, self.armature, self.look_at.bones)
        except BaseException:
            for bone, name, values in before:
                setattr(bone, name, values)
            self.restore()
            raise
        self._finish()

    def _check_auto_keying(self) -> None:
        linked = auto_keying.linked_action(self.scene, self.armature)
        if linked is not None:
            raise RigError(f"Action '{linked.name}' is linked from a library; make a copy of it to key the look-at.")

    def keep_recording(self, into: str = "NEW") -> bpy.types.Action:
        """Key what was recorded, from the current frame on, on top of the animation; the action that holds the keys.

        into: "NEW", "CURRENT" or "LAYER". The look-at is muted then. Raises RigError, everything being restored.
        """
        work, undone = None, None
        try:
            self._check()
            if self.recorded_frames < 2:
                raise RigError("The recording is shorter than two frames; follow for longer.")
            self.check_keyed(into)
            (frames, found), name = self.recording(), self._name(into)
            undone = unkeyed.bring_back(self.armature, self.bone)
            still = unkeyed.standing(self.armature, self.look_at.bones, ())
            with sample.Sampler(self.scene, self.armature, self.look_at.bones) as sampler:
                seen = sample.run(sampler.sample(frames.tolist()))
            work = Working(self.armature)
            for n, (bone, mode) in enumerate(zip(seen.bones, seen.modes, strict=True)):
                raw = seen.raw[mode if mode in seen.raw else "EULER"][:, n]
                turned = channels.turned(raw, mode, self._in_channels(found)[:, n])
                work.write(bone, mode, frames, turned, raw)
            action = work.commit(into, name)
        except BaseException:
            if work is not None:
                work.rollback()
            if undone is not None:
                undone()
            self.restore()
            raise
        unkeyed.remember(self.armature, self.bone, still)
        self._finish()
        return action

    def _name(self, into: str) -> str:
        data = self.armature.animation_data
        source = data.action if data else None
        name = self.armature.name if into == "LAYER" or source is None else source.name
        return name.removesuffix(_RECORDED) + _RECORDED

    def _in_channels(self, found: Array) -> Array:
        """The offsets (F, b, 4) as the bones' channels need them: other look-ats' constraints stand in between."""
        found = found.copy()
        for n, name in enumerate(self.look_at.bones):
            between = rotation.identity()
            for constraint in self.armature.pose.bones[name].constraints:
                if not offsets.is_own(constraint) or offsets.number_of(constraint) == self.number:
                    break
                if constraint.influence > 0.0 and not constraint.mute:
                    between = rotation.multiply(between, offsets.offset_of(constraint))
            if np.any(between != rotation.IDENTITY):
                own = rotation.multiply(found[:, n], rotation.inverse(between))
                found[:, n] = rotation.multiply(between, own)
        return found

    def _finish(self) -> None:
        """The pose is in the channels now."""
        offsets.put(self.armature, self.number, self.look_at.written, None)
        self._settings.mute = True
        attach.sync(self.armature)
        self.release()

    def restore(self) -> None:
        """Leave everything as it was before."""
        if self._before is not None:
            self._before.put_back()
        self.release()

    def release(self) -> None:
        """End without touching the file any more: it is about to be replaced."""
        self._before = None
        self._open.close()


class _Before:
    """What following may change, as it was: offsets on the rig, the target's place, selection and frame."""

    def __init__(self, session: Session) -> None:
        self.session = session
        armature, target = session.armature, session.target
        self.written = offsets.written(armature, session.number)
        item = target.object
        assert item is not None
        self.target = item
        self.target_bone = target.bone
        owner = self._owner()
        self.place = {name: tuple(getattr(owner, name)) for name in _CHANNELS}
        self.paths = {name if owner == item else owner.path_from_id(name) for name in _CHANNELS}
        self.action, self.keys = self._keys()
        layer = session.view_layer
        self.selected = [item for item in layer.objects if item.select_get(view_layer=layer)]
        self.active = layer.objects.active
        self.frame = session.scene.frame_current, session.scene.frame_subframe

    def _owner(self) -> Any:
        return self.target.pose.bones[self.target_bone] if self.target_bone else self.target

    def _curves(self) -> Iterator[tuple[tuple[str, int], Any]]:
        data = self.target.animation_data
        if data is not None and data.action is not None and data.action_slot is not None:
            bag = actions.channelbag(data.action, data.action_slot)
            for curve in list(bag.fcurves) if bag is not None else ():
                if curve.data_path in self.paths:
                    yield (curve.data_path, curve.array_index), curve

    def _keys(self) -> tuple[bpy.types.Action | None, dict[tuple[str, int], keys.Keys]]:
        """The target's action, and the keys that place it: auto keying may add to them while it is dragged."""
        data = self.target.animation_data
        self.had_data = data is not None
        return data.action if data else None, {place: keys.Keys.read(curve) for place, curve in self._curves()}

    def _put_keys_back(self) -> None:
        data = self.target.animation_data
        if data is None or data.action is None:
            return
        if self.action is None:
            made, data.action = data.action, None
            if not made.users:
                bpy.data.actions.remove(made)
            if not self.had_data:
                self.target.animation_data_clear()
            return
        for place, curve in self._curves():
            if place not in self.keys:
                actions.channelbag(data.action, data.action_slot).fcurves.remove(curve)
            elif not np.array_equal(self.keys[place].attributes, keys.Keys.read(curve).attributes):
                self.keys[place].write(curve)

    def put_back(self) -> None:
        session = self.session
        with suppress(ReferenceError, KeyError):
            self._put_keys_back()
            owner = self._owner()
            for name, values in self.place.items():
                if tuple(getattr(owner, name)) != values:
                    setattr(owner, name, values)
        with suppress(ReferenceError):
            scene = session.scene
            if (scene.frame_current, scene.frame_subframe) != self.frame:
                scene.frame_set(self.frame[0], subframe=self.frame[1])
        with suppress(ReferenceError):
            self._select()
        with suppress(ReferenceError):
            offsets.write_back(session.armature, self.written)

    def _select(self) -> None:
        layer = self.session.view_layer
        if layer.objects.active != self.active:
            layer.objects.active = self.active
        for item in layer.objects:
            if item.select_get(view_layer=layer) != (item in self.selected):
                item.select_set(item in self.selected, view_layer=layer)


def _curve(times: Array, values: Array, at: Array) -> Array:
    """Values (n, ...) at rising times (n,), on a smooth curve through them, at other times (F,).

    A slow machine has fewer ticks than frames: straight lines would have corners at the ticks.
    """
    slopes = np.gradient(values, times, axis=0)
    k = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
    span = (times[k + 1] - times[k]).reshape(-1, *(1,) * (values.ndim - 1))
    u = (at - times[k]).reshape(span.shape) / span
    rise, enter, leave = values[k + 1] - values[k], span * slopes[k], span * slopes[k + 1]
    return values[k] + u * (enter + u * (3.0 * rise - 2.0 * enter - leave + u * (enter + leave - 2.0 * rise)))
