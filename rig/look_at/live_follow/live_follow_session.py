"""Following in real time: one look-at is stepped with the clock, without playback, and shown on the rig.

Nothing is kept until `keep` or `keep_recording`; `restore` leaves everything as it was.
"""

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import Any

import bpy
import numpy as np

from ....lookat_pd import rotation
from ....lookat_pd.errors import RigError
from ....lookat_pd.gaze import control_coupling, realtime
from ....lookat_pd.rotation import Array
from ....lookat_pd.transitions import inertialization
from ...animation.key_writer import KeyWriter
from ...controls import coupling
from ...layers import layer
from ...layers.track import Track
from ...sampling import scene_time, suspend
from ...sampling.sampler import seen_from
from ...sampling.targets import Target
from .. import constraint_sync, eye_origin, mixing, settings
from .. import look_at_layer as offsets
from .. import resolve as look_at
from ..body import blink, shape_table
from ..body import settings as body_settings
from ..resolve import LookAt
from . import live_follow_keys
from .live_follow_body import LiveFollowBody, Shown
from .live_follow_let_go import LiveFollowLetGo
from .live_follow_recording import LiveFollowRecording
from .live_follow_restore import LiveFollowSnapshot
from .live_follow_view import TargetView, VisualChain, see_chain

_FADE_IN = 0.3
"""Time [s] in which the body leaves what it showed before for what it shows in real time."""


class LiveFollowSession:
    """A look-at that follows its target, or any point, in real time.

    The other look-ats of the file stand still meanwhile. error: angle [rad] between where the head looks and the
    goal, and seen_head: (4,) the head's orientation in the armature, both as last seen. place: (3,) the goal in the
    world. let_go: whether the goal is beyond the limits of *Let Go*, so that the look-at returns to the animation.
    """

    def __init__(
        self, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, armature: bpy.types.Object, bone: str
    ) -> None:
        """Raises RigError."""
        self.scene, self.view_layer, self.armature, self.bone = scene, view_layer, armature, bone
        self._resolve()
        live_follow_keys.check_curves(self.look_at, "NEW")
        constraint_sync.sync(armature)
        self.number = self._settings.number
        self.error, self.seen_head, self.let_go = np.nan, rotation.identity(), False
        self._recording: LiveFollowRecording | None = None
        self._open = ExitStack()
        self._open.enter_context(suspend.suspend_live())
        self._faces = blink.shown_values(self.look_at.shapes)
        self._snapshot: LiveFollowSnapshot | None = LiveFollowSnapshot(
            scene, view_layer, armature, self.number, self.target
        )
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
    def eye(self) -> Array:
        """Where the head looks from (3,) in the world."""
        world, bone = np.array(self.armature.matrix_world), np.array(self.armature.pose.bones[self.bone].matrix)
        size = float(np.linalg.norm(bone[:3, :3], axis=0).mean())
        place = self.look_at.chain.eye(rotation.from_matrix(bone[:3, :3]), bone[:3, 3], size)
        return (world @ (*place, 1.0))[:3]

    @property
    def is_open(self) -> bool:
        """Whether it goes on: nothing has been kept or restored."""
        return self._snapshot is not None

    def _resolve(self) -> None:
        """Raises RigError where there is no look-at to follow."""
        self.look_at: LookAt = look_at.resolve(self.armature, self.bone)
        if self._settings.mute:
            raise RigError("The look-at on '{bone}' is muted; unmute it and start Live Follow again.", bone=self.bone)
        if not self._settings.influence > 0.0:
            raise RigError(
                "The influence of the look-at on '{bone}' is 0 at this frame; increase it and start Live Follow again.",
                bone=self.bone,
            )
        self._known = self._inputs()

    def _inputs(self) -> tuple:
        """What the chain, the tuning and the target are made from."""
        s = self._settings
        tuning = tuple(getattr(s, name) for name in settings.TUNING if name not in ("use", "influence"))
        chain = settings.chain_values(s)
        target = (s.target.session_uid, len(s.target.users_scene)) if s.target is not None else None
        up = s.world_up, s.world_up_object.session_uid if s.world_up_object is not None else 0
        aimed = s.aim_axis, s.aim_from, eye_origin.is_between_eyes(self.armature, s), *s.facing, up
        groups = (*body_settings.TUNING.items(), *body_settings.BONES.items())
        values = [getattr(getattr(s, group), name) for group, names in groups for name in names]
        behind = s.let_go_behind.all_objects.keys() if s.let_go_behind is not None else ()
        body = *values, shape_table.rows(s.eyes), bool(s.eyes.drift), tuple(behind)
        return tuning, chain, target, s.subtarget, aimed, s.soft_edge, s.mute, self.armature.data.pose_position, body

    def _check(self) -> None:
        """See what the animator has changed meanwhile. Raises RigError where that leaves nothing to follow."""
        try:
            bone = self.armature.pose.bones.get(self.bone)
        except ReferenceError:
            raise RigError("The character was deleted during Live Follow; select another one.") from None
        if bone is None or self.armature.mode == "EDIT":
            raise RigError(
                "Armature '{armature}' was switched to edit mode during Live Follow; leave edit mode (Tab) "
                "and start it again.",
                armature=self.armature.name,
            )
        if not look_at.exists_on(bone):
            raise RigError("The look-at on '{bone}' was removed during Live Follow; add it again.", bone=self.bone)
        if self._inputs() != self._known:
            before = self.look_at
            self._resolve()
            if self.look_at.bones != before.bones:
                raise RigError(
                    "The chain of the look-at on '{bone}' changed during Live Follow; start it again.", bone=self.bone
                )
            if self.look_at.written != before.written or self.look_at.shapes != before.shapes:
                raise RigError(
                    "The bones of the body response to the look-at on '{bone}' changed during Live Follow; "
                    "start it again.",
                    bone=self.bone,
                )
            if self._body is not None:
                self._body.look_at = self.look_at
            self._stepper.retune(self.look_at.chain, self.look_at.tuning)

    # What is seen

    def _look(self) -> VisualChain:
        return see_chain(self.scene, self.view_layer, self.look_at)

    @property
    def target(self) -> Target:
        """What is looked at at the current frame."""
        targets, active = self.look_at.targets, self._settings.active_target
        known = active < len(targets) and targets[active].object is not None
        return targets[active] if known else next(target for target in targets if target.object is not None)

    def target_place(self) -> Array:
        """Where the target is in the world, (3,), or the mix of all. Raises RigError."""
        if not self._settings.use_mix:
            return self._target_view.place(self.target)
        targets = self.look_at.targets
        places = [None if target.object is None else self._target_view.place(target) for target in targets]
        world = np.array(self.armature.matrix_world) @ np.array(self.armature.pose.bones[self.bone].matrix)
        point = mixing.point(self._settings, places, world[:3, 3])
        return next(place for place in places if place is not None) if point is None else point

    # Ticks

    def _begin(self) -> None:
        """Begin with what is shown now."""
        self._target_view = TargetView(self.scene, self.view_layer, self.armature)
        self._body: LiveFollowBody | None = None
        self._frame = self.scene.frame_current_final
        shown = offsets.shown(self.armature, self.bone, self.scene.frame_current_final)
        before = self._shown_before(shown)
        self._turns = np.array([shown.get(name, rotation.IDENTITY) for name in self.look_at.bones])
        turned = self._look()
        self._uneven = turned.sheared
        self.is_plain = self.look_at.plain and not turned.sheared and not self._is_shared()
        self._stepper = realtime.RealtimeLookAt(self.look_at.chain, self.look_at.tuning)
        self._head: Array | None = None
        start = self._turns
        if self.is_plain:
            self._base = turned
        else:
            self._take_base()
            self._coupling = self._measured_coupling()
            start = realtime.offsets_between(self._base.rotations, turned.rotations) if shown else start
        if shown:
            self._stepper.start(rotation.exp(rotation.log(start) / self._settings.influence))
        self._last = before
        self._put(self._turns, before)
        self.place = self.target_place()
        self._goals = [(0.0, self.place)]
        self._clock, self._limits = 0.0, LiveFollowLetGo()
        if self.look_at.body is not None:
            self._body = LiveFollowBody(self.scene, self.look_at, self._turns, self.place)
            self._settle(before)

    def _shown_before(self, shown: dict[str, Array]) -> Shown:
        """What the look-at adds when Live Follow starts. shown: to which bones (4,)."""
        look_at = self.look_at
        every = np.array([shown.get(name, rotation.IDENTITY) for name in look_at.turned])
        track, moves = offsets.read(self.armature, self.number, look_at.turned, look_at.moved), None
        if track is not None and len(track.moves):
            k = round(self.scene.frame_current_final) - track.first
            moves = track.moves[int(np.clip(k, 0, len(track.moves) - 1))]
        return Shown(
            every, np.zeros((len(look_at.moved), 3)) if moves is None else moves, np.zeros(len(look_at.shapes))
        )

    def _settle(self, before: Shown) -> None:
        """Begin the body with what it shows; the difference from what it would show decays."""
        assert self._body is not None
        world = np.array(self.armature.matrix_world)
        first = self._body.tick(0.0, self._turns, self.place, world, self._influence, self._measured())
        self._lacking = rotation.log(rotation.multiply(rotation.inverse(first.offsets), before.offsets))
        self._moves, self._begun = before.moves - first.moves, self._clock
        self._put(self._turns, before)

    def _is_shared(self) -> bool:
        """Whether another look-at turns bones of this chain too."""
        return any(
            bone.name in self.look_at.bones and layer.number_of(constraint) != self.number and constraint.influence
            for bone, constraint in offsets.on(self.armature)
        )

    def _take_base(self) -> None:
        """See the pose that the look-at is added to."""
        offsets.hide(self.armature, self.number)
        self._base = self._look()

    def _measured_coupling(self) -> Array:
        def evaluated(turns: Array) -> Array:
            self._put(turns)
            return self._look().rotations

        return coupling.measure_now(self.look_at.bones, self._base.rotations, self.look_at.chain.up, evaluated)

    def _put(self, turns: Array, shown: Shown | None = None) -> None:
        """Show offsets (b, 4) of the chain, and of the body what was `shown` or is known of the hips."""
        look_at, moves = self.look_at, None
        if shown is not None:
            turns, moves = shown.offsets, shown.moves
        offsets.show(
            self.armature, Track.pose(self.number, look_at.turned, turns, look_at.moved, moves, uneven=self._uneven)
        )
        if shown is not None and self._body is not None:
            amounts = zip(look_at.shapes, shown.shapes.tolist(), strict=True)
            blink.show({lid: (amount, self.armature.name_full) for lid, amount in amounts})

    def tick(self, dt: float, goal: Sequence[float] | Array | None = None) -> None:
        """Go on by dt seconds towards a point of the world, or towards the target. Raises RigError."""
        self._check()
        self._clock += max(dt, 0.0)
        moved_on = self.scene.frame_current_final != self._frame
        self._frame = self.scene.frame_current_final
        seen = self._look()
        if not self.is_plain and moved_on:
            self._take_base()
            self._put(self._turns)
            self._target_view.forget()
            seen = self._look()
        self.place = self.target_place() if goal is None else np.asarray(goal, float)
        local = (np.linalg.inv(seen.world) @ np.append(self.place, 1.0))[:3]
        self.seen_head = seen.rotations[0]
        base = self._animated(seen)
        if self._body is not None and (moved_on or (self.is_plain and not self._body.is_posed_as(base[1]))):
            self._body.sample()
        self.let_go = self._is_let_go(dt, *base, seen.world)
        error = self.look_at.chain.aim_error(self.seen_head, seen.positions[0], local, seen.size)
        self.error = np.nan if self.let_go else float(error)
        ahead = None if self.let_go else (np.linalg.inv(seen.world) @ np.append(self._seen_by_head(), 1.0))[:3]
        if self.is_plain:
            shift = np.zeros(3) if self._body is None else self._body.hips_shift(self._last.moves)
            self._turns = self._scaled(
                self._stepper.step(*base, ahead, dt, shift, self._upright(seen.world), seen.size, seen.world)
            )
        else:
            self._turns = self._controls(seen, ahead, dt)
        self._last = self._whole(dt, seen.world)
        self._put(self._turns, self._last)
        if self._recording is not None and dt > 0.0:
            self._recording.add(dt, self._last)

    def _animated(self, seen: VisualChain) -> tuple[Array, Array]:
        """Orientations (b, 4) and positions (b, 3) of the chain without the look-at."""
        if not self.is_plain:
            return self._base.rotations, self._base.positions
        rotations, positions = realtime.unturned(seen.rotations, seen.positions, self._turns)
        return rotations, positions if self._body is None else positions - self._body.hips_shift(self._last.moves)

    def _is_let_go(self, dt: float, rotations: Array, positions: Array, world: Array) -> bool:
        head = world[:3, :3] @ positions[0] + world[:3, 3]
        aim = world[:3, :3] @ rotation.rotate(rotations[0], self.look_at.chain.forward[0])
        depsgraph = self.view_layer.depsgraph
        return self._limits.tick(self._settings, self.look_at.occluders, depsgraph, dt, head, aim, self.place)

    def _seen_by_head(self) -> Array:
        """The goal (3,) of the head, which sets out later than the eyes."""
        delay = self.look_at.body.head_delay if self.look_at.body is not None else 0.0
        self._goals.append((self._clock, self.place))
        if delay <= 0.0:
            self._goals = self._goals[-1:]
            return self.place
        then = self._clock - delay
        while len(self._goals) > 1 and self._goals[1][0] <= then:
            del self._goals[0]
        times, places = [time for time, _ in self._goals], np.array([place for _, place in self._goals])
        return np.array([np.interp(then, times, places[:, axis]) for axis in range(3)])

    def _whole(self, dt: float, world: Array) -> Shown:
        """What the chain and the body show together."""
        if self._body is None:
            look_at, every = self.look_at, rotation.identity(len(self.look_at.turned))
            every[: len(self._turns)] = self._turns
            return Shown(every, np.zeros((len(look_at.moved), 3)), np.zeros(len(look_at.shapes)))
        seen = self._measured()
        goal = None if self.let_go else self.place
        shown = self._body.tick(dt, self._turns, goal, world, self._influence, seen)
        share = inertialization.decay(1.0, 0.0, _FADE_IN, self._clock - self._begun)
        if share > 0.0:
            # The chain begins with what is shown, by itself.
            turns = share * self._lacking
            turns[: len(self._turns)] = 0.0
            shown = Shown(
                rotation.multiply(shown.offsets, rotation.exp(turns)), shown.moves + share * self._moves, shown.shapes
            )
        return shown

    def _measured(self) -> tuple[Array, Array] | None:
        """The body as the chain and the hips alone move it; None where that is predicted."""
        assert self._body is not None
        if self._body.is_predicted:
            return None
        self._put(self._turns, self._body.hips_alone(self._turns, self._last))
        self.view_layer.update()
        return self._body.measured(self.view_layer)

    @property
    def _influence(self) -> float:
        return min(float(self._settings.influence), 1.0)

    def _upright(self, world: Array) -> Array | None:
        """The up (3,) to which the head is leveled, in armature space; None where it is not."""
        if not self.look_at.chain.levels:
            return None
        up, places = self.look_at.world_up, np.empty((0, 1, 3))
        if up.item is not None:
            matrix = np.array(up.item.matrix_world)
            places = np.array([[matrix[:3, 3]], [matrix[:3, 3] + matrix[:3, 2]]])
        return up.seen(world[None], seen_from(world[None], places))[0]

    def _scaled(self, turns: Array) -> Array:
        influence = self._influence
        return turns if influence == 1.0 else rotation.exp(influence * rotation.log(turns))

    def _controls(self, seen: VisualChain, local: Array | None, dt: float) -> Array:
        """Offsets of controls that act through constraints: what was seen of the last ones corrects the next."""
        base = self._base
        # The head is where it was measured, not where the chain alone would have moved it.
        shift = np.zeros(3) if self._head is None else seen.positions[0] - self._head
        up = self._upright(seen.world)
        turned = self._scaled(
            self._stepper.step(base.rotations, base.positions, local, dt, shift, up, seen.size, seen.world)
        )
        wanted, self._head = realtime.forward_kinematics(base.rotations, base.positions, turned)
        animated, before = base.rotations[None], self._turns[None]
        correction = control_coupling.correct(seen.rotations[None], animated, before, self._coupling)
        active = np.array([bool(np.any(turned != rotation.IDENTITY))])
        return control_coupling.realize(wanted[None], animated, self._coupling, correction, active)[0]

    # Recording

    @property
    def is_recording(self) -> bool:
        """Whether what is shown is recorded."""
        return self._recording is not None

    def record(self, on: bool) -> None:
        """Begin to record what is shown, or stop and discard it."""
        self._recording = LiveFollowRecording(self._last) if on else None

    @property
    def recorded_frames(self) -> int:
        """How many whole frames the recording covers."""
        return self._recording.frame_count(scene_time.seconds_per_frame(self.scene)) if self._recording else 0

    def check_keyed(self, into: str) -> None:
        """Raises RigError where a recording could not be keyed."""
        live_follow_keys.check_recording(self.look_at, into)

    def recording(self, fade: float = 0.0) -> tuple[Array, Shown]:
        """Frames (F,) from the current one on, and what was shown then, with a first axis of frames.

        fade: time [s] in which it sets out from the animation and, after its end, returns to it.
        """
        assert self._recording is not None
        recorded = self._recording.at_frames(scene_time.seconds_per_frame(self.scene), fade)
        return self.scene.frame_current + np.arange(len(recorded.offsets)), recorded

    # How it ends

    def keep(self) -> None:
        """Leave the pose as it is shown, in the bones' own channels, with keys where auto keying is on.

        The look-at is muted then, since it would be added once more. Raises RigError, everything being restored.
        """
        try:
            self._check()
            live_follow_keys.key_pose(self.scene, self.look_at, self.number, self._last)
        except BaseException:
            self.restore()
            raise
        self._finish()

    def keep_recording(self, into: str = "NEW", fade: float = 0.0, writer: KeyWriter | None = None) -> bpy.types.Action:
        """Key what was recorded, from the current frame on, on top of the animation; the action that holds the keys.

        into: "NEW", "CURRENT" or "LAYER". fade: as for `recording`. writer: which keys, by
        default one at every frame. The look-at is muted then. Raises RigError,
        everything being restored.
        """
        try:
            self._check()
            if self.recorded_frames < 2:
                raise RigError("The recording is shorter than two frames; record a longer take.")
            recording = self.recording(fade)
            action = live_follow_keys.key_recording(
                self.scene, self.look_at, self.number, *recording, into=into, writer=writer
            )
        except BaseException:
            self.restore()
            raise
        self._finish()
        return action

    def _finish(self) -> None:
        """The pose is in the channels now."""
        offsets.hide(self.armature, self.number)
        self._settings.mute = True
        constraint_sync.sync(self.armature)
        self.release()

    def restore(self) -> None:
        """Leave everything as it was before."""
        if self._snapshot is not None:
            self._snapshot.restore()
            with suppress(ReferenceError):
                blink.show_values(self._faces, self.armature.name_full)
        self.release()

    def release(self) -> None:
        """End without touching the file any more: it is about to be replaced."""
        self._snapshot = None
        self._open.close()
