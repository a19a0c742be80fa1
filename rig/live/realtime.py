"""Following in real time: one look-at is stepped with the clock, without playback, and shown on the rig.

Nothing is kept until `keep` or `keep_recording`; `restore` leaves everything as it was.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.gaze import control_coupling, realtime
from ...lookat_pd.rotation import Array
from ..animation import actions
from ..look_at import constraint_sync, coupling_probe, mixing, settings
from ..look_at import resolve as look_at
from ..look_at.resolve import LookAt
from ..offset_layer import constraints as offsets
from ..offset_layer.track import Track
from ..sampling import scene_time, suspend
from ..sampling.sampler import seen_from
from ..sampling.targets import Target
from . import follow_keys
from .follow_recording import FollowRecording
from .follow_restore import FollowSnapshot
from .follow_view import SeenChain, TargetView, see_chain


class FollowSession:
    """A look-at that follows its target, or any point, in real time.

    The other look-ats of the file stand still meanwhile. error: angle [rad] between where the head looks and the
    goal, and seen_head: (4,) the head's orientation in the armature, both as last seen. place: (3,) the goal in the
    world.
    """

    def __init__(
        self, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, armature: bpy.types.Object, bone: str
    ) -> None:
        """Raises RigError."""
        self.scene, self.view_layer, self.armature, self.bone = scene, view_layer, armature, bone
        self._resolve()
        actions.check_curves(armature, follow_keys.rotation_modes(self.look_at), "NEW")
        constraint_sync.sync(armature)
        self.number = self._settings.number
        self.error, self.seen_head = np.nan, rotation.identity()
        self._recording: FollowRecording | None = None
        self._open = ExitStack()
        self._open.enter_context(suspend.suspend_live())
        self._snapshot: FollowSnapshot | None = FollowSnapshot(scene, view_layer, armature, self.number, self.target)
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
        return self._snapshot is not None

    def _resolve(self) -> None:
        """Raises RigError where there is no look-at to follow."""
        self.look_at: LookAt = look_at.resolve(self.armature, self.bone)
        if self._settings.mute:
            raise RigError("The look-at on '{bone}' is muted; unmute it and start Follow again.", bone=self.bone)
        if not self._settings.influence > 0.0:
            raise RigError(
                "The influence of the look-at on '{bone}' is 0 at this frame; increase it and start Follow again.",
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
        aimed = s.aim_axis, *s.facing, up
        return tuning, chain, target, s.subtarget, aimed, s.soft_edge, s.mute, self.armature.data.pose_position

    def _check(self) -> None:
        """See what the animator has changed meanwhile. Raises RigError where that leaves nothing to follow."""
        try:
            bone = self.armature.pose.bones.get(self.bone)
        except ReferenceError:
            raise RigError("The character was deleted during Follow; select another one.") from None
        if bone is None or self.armature.mode == "EDIT":
            raise RigError(
                "Armature '{armature}' was switched to edit mode during Follow; leave edit mode (Tab) "
                "and start Follow again.",
                armature=self.armature.name,
            )
        if not look_at.exists_on(bone):
            raise RigError("The look-at on '{bone}' was removed during Follow; add it again.", bone=self.bone)
        if self._inputs() != self._known:
            bones = self.look_at.bones
            self._resolve()
            if self.look_at.bones != bones:
                raise RigError(
                    "The chain of the look-at on '{bone}' changed during Follow; start Follow again.", bone=self.bone
                )
            self._stepper.retune(self.look_at.chain, self.look_at.tuning)

    # What is seen

    def _look(self) -> SeenChain:
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
        shown = offsets.shown(self.armature, self.bone, self.scene.frame_current_final)
        self._found = np.array([shown.get(name, rotation.IDENTITY) for name in self.look_at.bones])
        turned = self._look()
        self._uneven = turned.sheared
        self.is_plain = self.look_at.plain and not turned.sheared and not self._is_shared()
        self._stepper = realtime.RealtimeLookAt(self.look_at.chain, self.look_at.tuning)
        self._head: Array | None = None
        start = self._found
        if self.is_plain:
            self._base = turned
        else:
            self._take_base()
            self._coupling = self._measured_coupling()
            start = realtime.offsets_between(self._base.rotations, turned.rotations) if shown else start
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
        offsets.hide(self.armature, self.number)
        self._base = self._look()
        self._frame = self.scene.frame_current_final

    def _measured_coupling(self) -> Array:
        def evaluated(turns: Array) -> Array:
            self._put(turns)
            return self._look().rotations

        return coupling_probe.measure(self.look_at, self._base.rotations, evaluated)

    def _put(self, found: Array) -> None:
        offsets.show(
            self.armature, Track.pose(self.number, self.look_at.turned, found, self.look_at.moved, uneven=self._uneven)
        )

    def tick(self, dt: float, goal: Sequence[float] | Array | None = None) -> None:
        """Go on by dt seconds towards a point of the world, or towards the target. Raises RigError."""
        self._check()
        seen = self._look()
        if not self.is_plain and self.scene.frame_current_final != self._frame:
            self._take_base()
            self._put(self._found)
            self._target_view.forget()
            seen = self._look()
        self.place = self.target_place() if goal is None else np.asarray(goal, float)
        local = (np.linalg.inv(seen.world) @ np.append(self.place, 1.0))[:3]
        self.seen_head = seen.rotations[0]
        aim = rotation.rotate(self.seen_head, self.look_at.chain.forward[0])
        self.error = float(rotation.angle_between(aim, local - seen.positions[0]))
        if self.is_plain:
            base = realtime.unturned(seen.rotations, seen.positions, self._found)
            self._found = self._scaled(self._stepper.step(*base, local, dt, upright=self._upright(seen.world)))
        else:
            self._found = self._controls(seen, local, dt)
        self._put(self._found)
        if self._recording is not None and dt > 0.0:
            self._recording.add(dt, self._found)

    def _upright(self, world: Array) -> Array | None:
        """The up (3,) to which the head is leveled, in armature space; None where it is not."""
        if not self.look_at.chain.level:
            return None
        up, places = self.look_at.world_up, np.empty((0, 1, 3))
        if up.item is not None:
            matrix = np.array(up.item.matrix_world)
            places = np.array([[matrix[:3, 3]], [matrix[:3, 3] + matrix[:3, 2]]])
        return up.seen(world[None], seen_from(world[None], places))[0]

    def _scaled(self, found: Array) -> Array:
        influence = min(float(self._settings.influence), 1.0)
        return found if influence == 1.0 else rotation.exp(influence * rotation.log(found))

    def _controls(self, seen: SeenChain, local: Array, dt: float) -> Array:
        """Offsets of controls that act through constraints: what was seen of the last ones corrects the next."""
        base = self._base
        # The head is where it was seen, not where the chain alone would have carried it.
        shift = np.zeros(3) if self._head is None else seen.positions[0] - self._head
        up = self._upright(seen.world)
        turned = self._scaled(self._stepper.step(base.rotations, base.positions, local, dt, shift, up))
        wanted, self._head = realtime.carried(base.rotations, base.positions, turned)
        animated, before = base.rotations[None], self._found[None]
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
        self._recording = FollowRecording(self._found) if on else None

    @property
    def recorded_frames(self) -> int:
        """How many whole frames the recording covers."""
        return self._recording.frame_count(scene_time.seconds_per_frame(self.scene)) if self._recording else 0

    def check_keyed(self, into: str) -> None:
        """Raises RigError where a recording could not be keyed."""
        follow_keys.check_recording(self.look_at, into)

    def recording(self) -> tuple[Array, Array]:
        """Frames (F,) from the current one on, and the offsets (F, b, 4) that were shown then."""
        assert self._recording is not None
        found = self._recording.at_frames(scene_time.seconds_per_frame(self.scene))
        return self.scene.frame_current + np.arange(len(found)), found

    # How it ends

    def keep(self) -> None:
        """Leave the pose as it is shown, in the bones' own channels, with keys where auto keying is on.

        The look-at is muted then, since it would be added once more. Raises RigError, everything being restored.
        """
        try:
            self._check()
            follow_keys.key_pose(self.scene, self.look_at, self.number, self._found)
        except BaseException:
            self.restore()
            raise
        self._finish()

    def keep_recording(self, into: str = "NEW") -> bpy.types.Action:
        """Key what was recorded, from the current frame on, on top of the animation; the action that holds the keys.

        into: "NEW", "CURRENT" or "LAYER". The look-at is muted then. Raises RigError, everything being restored.
        """
        try:
            self._check()
            if self.recorded_frames < 2:
                raise RigError("The recording is shorter than two frames; record a longer take.")
            action = follow_keys.key_recording(self.scene, self.look_at, self.number, *self.recording(), into)
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
        self.release()

    def release(self) -> None:
        """End without touching the file any more: it is about to be replaced."""
        self._snapshot = None
        self._open.close()
