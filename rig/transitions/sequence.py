"""Clips on a timeline: read, placed where the previous one ends, and spliced, all as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.message import Message, joined
from ...lookat_pd.rotation import Array
from ..animation import actions, cycles, editable, playing
from ..animation.bake_options import check_frames
from . import animated, clips, heading, splice
from .animated import Channel
from .clips import Clip
from .root_motion import Ground, Placement
from .splice import Blend

MOST_TIMES = 1000
"""How many times a clip may be repeated."""
_NAMED_AT_MOST = 5
_ROUNDING = 1e-3
"""Tolerance for keys at whole frames: Blender stores their time in single precision."""


@dataclass(frozen=True)
class ClipRef:
    """A clip and a frame of it."""

    action: bpy.types.Action
    frame: float
    """Where the clip is cut."""
    slot: bpy.types.ActionSlot | None = None
    """Slot of the action, None for that of the armature."""
    last: float | None = None
    """The last frame to play, None for the end of its keys; it may be later, where a clip with cycles continues and any
    other one holds its last pose."""


@dataclass(frozen=True)
class ClipStep:
    """A clip of a chain that plays from its `frame` at frame `at` of the result, which must be whole."""

    clip: ClipRef
    at: int
    blend: Blend = field(default_factory=Blend)
    again: bool = False
    """Whether it is the clip before it once more, and goes on from the pose with which that ends."""


@dataclass(frozen=True)
class Used:
    """An action with its slot, the channels it animates, and the whole frames around all its keys."""

    action: bpy.types.Action
    slot: bpy.types.ActionSlot
    contents: animated.Contents
    first: int
    last: int

    @property
    def ends(self) -> tuple[int, int]:
        """First and last whole frame that show its motion, also where only a part is played."""
        return self.first, max(self.last, key_range(self.action, self.slot)[1])

    def channels(self, armature: bpy.types.Object) -> list[Channel]:
        """What it animates; rotations that are keyed in another mode are those of the current one."""
        converted = [animated.transform(armature, bone, "rotation") for bone in self.contents.converted]
        return [*self.contents.channels, *converted]

    @classmethod
    def of(cls, armature: bpy.types.Object, clip: ClipRef) -> "Used":
        slot = clip.slot or actions.find_slot(armature, clip.action)
        first, last = frame_range(armature, clip)
        return cls(clip.action, slot, fitting(armature, clip.action, slot), first, last)


def frame_range(armature: bpy.types.Object, clip: ClipRef) -> tuple[int, int]:
    """First and last whole frame of a clip. Raises RigError if there are none."""
    first, last = key_range(clip.action, clip.slot or actions.find_slot(armature, clip.action))
    return first, last if clip.last is None else int(np.ceil(clip.last))


def key_range(action: bpy.types.Action, slot: bpy.types.ActionSlot) -> tuple[int, int]:
    """First and last whole frame around all keys that an action has for a slot. Raises RigError if it has none."""
    first, last = _key_ends(action, slot)
    return int(np.floor(first)), int(np.ceil(last))


def repetitions(clip: ClipRef, slot: bpy.types.ActionSlot, at: int, times: int) -> list[ClipStep]:
    """The steps that play a clip so many more times after it has begun at frame `at` of the result.

    A cycle lasts from its first key to its last one, which need not be whole frames. Raises RigError where the clip has
    no length.
    """
    first, last = _key_ends(clip.action, slot)
    if last - first < 1.0:
        raise RigError(
            "Action '{action}' is shorter than a frame and cannot be repeated; choose one with keys at two frames.",
            action=clip.action.name,
        )
    starts = at + last - clip.frame + (last - first) * np.arange(times)
    whole = np.ceil(starts - _ROUNDING).astype(int)
    return [
        ClipStep(ClipRef(clip.action, first + max(begin - start, 0.0), slot), int(begin), again=True)
        for begin, start in zip(whole, starts, strict=True)
    ]


def played_until(step: ClipStep, slot: bpy.types.ActionSlot, end: int) -> list[ClipStep]:
    """A step, and as many more as a cycle needs to play until a frame of the result, at which another clip begins.

    Raises RigError if that frame is too far after it.
    """
    check_frames(step.at, end)
    first, last = _key_ends(step.clip.action, slot)
    more = int(np.ceil((end - step.at - last + step.clip.frame) / max(last - first, 1.0)))
    if more >= MOST_TIMES:
        raise _too_often(step.clip, end)
    again = repetitions(step.clip, slot, step.at, max(more, 0))
    return [step, *(each for each in again if each.at < end)]


def _too_often(clip: ClipRef, until: int) -> RigError:
    return RigError(
        "'{action}' would play more than {most} times until frame {until}; choose an earlier frame.",
        action=clip.action.name,
        most=MOST_TIMES,
        until=until,
    )


def repeated_until(step: ClipStep, slot: bpy.types.ActionSlot, until: int) -> list[ClipStep]:
    """A step, and as many more as the clip needs to play until a frame of the result, which is the last one.

    Raises RigError if that frame is not after the step, or too far after it, or where the clip has no length.
    """
    clip, at = step.clip, step.at
    if until <= at:
        raise RigError(
            "'{action}' cannot play until frame {until}, because it starts at frame {at}; choose a later frame.",
            action=clip.action.name,
            until=until,
            at=at,
        )
    check_frames(at, until)
    first, last = _key_ends(clip.action, slot)
    more = int(np.ceil((until - at - last + clip.frame) / max(last - first, 1.0)))
    if more >= MOST_TIMES:
        raise _too_often(clip, until)
    steps = [step, *(repetitions(clip, slot, at, more) if more > 0 else [])]
    steps = [each for each in steps if each.at < until]
    end = steps[-1]
    steps[-1] = replace(end, clip=replace(end.clip, last=end.clip.frame + until - end.at))
    return steps


def is_cycle(action: bpy.types.Action, slot: bpy.types.ActionSlot) -> bool:
    """Whether an action repeats, or ends as it begins, so that it may play on after its end."""
    return cycles.is_marked(action, slot) or cycles.ends_meet(action, slot, *key_range(action, slot))


def whole_frames(action: bpy.types.Action, slot: bpy.types.ActionSlot) -> tuple[int, int]:
    """First and last whole frame between the first key and the last one: outside of them the pose is constant.

    Raises RigError if there is no key.
    """
    first, last = _key_ends(action, slot)
    return int(np.ceil(first - _ROUNDING)), int(np.floor(last + _ROUNDING))


def key_ends(action: bpy.types.Action, slot: bpy.types.ActionSlot) -> tuple[float, float]:
    """The first key and the last one, which need not be at whole frames. Raises RigError if there is none."""
    return _key_ends(action, slot)


def _key_ends(action: bpy.types.Action, slot: bpy.types.ActionSlot) -> tuple[float, float]:
    curves = actions.curves(action, slot)
    if not any(len(curve.keyframe_points) for curve in curves):
        raise RigError("Action '{action}' is empty; choose an action with keys.", action=action.name)
    alone = len(action.slots) == 1
    ends = np.array(action.curve_frame_range if alone else [c.range() for c in curves if len(c.keyframe_points)])
    if not np.isfinite(ends).all():
        raise RigError(
            "Action '{action}' has a key at a frame that is not a number; delete that key.", action=action.name
        )
    return float(ends.min()), float(ends.max())


def fitting(armature: bpy.types.Object, action: bpy.types.Action, slot: bpy.types.ActionSlot) -> animated.Contents:
    """What an action animates on the armature. Raises RigError if the armature has less than half of its bones."""
    contents = animated.contents(armature, action, slot)
    if len(contents.fitting) < len(contents.missing):
        have = Message("only {fitting}", fitting=listed(contents.fitting)) if contents.fitting else "none of them"
        raise RigError(
            "Action '{action}' belongs to another rig: of its {bones} bones, '{armature}' has "
            "{have} but not {missing}; choose an action of this rig.",
            action=action.name,
            bones=len(contents.fitting) + len(contents.missing),
            armature=armature.name,
            have=Message(have),
            missing=listed(contents.missing),
        )
    if not contents.fitting:
        raise RigError(
            "Action '{action}' does not animate any bone of '{armature}'; choose an action of this rig.",
            action=action.name,
            armature=armature.name,
        )
    return contents


def listed(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    text = joined(", ", (Message("'{name}'", name=name) for name in names[:_NAMED_AT_MOST]))
    if len(names) <= _NAMED_AT_MOST:
        return text
    return Message("{names} and {others} more", names=text, others=len(names) - _NAMED_AT_MOST)


def check_may_play(armature: bpy.types.Object) -> None:
    """Raise RigError if the action of the armature cannot be replaced or changed."""
    editable.check_tweak_mode(armature)


def outside_keys(frame: float, action: str, first: int, last: int) -> RigError:
    """The error about a frame at which an action has no keys."""
    return RigError(
        "Frame {frame:g} is outside the keys of '{action}', frames {first} to {last}; choose a frame in this range.",
        frame=frame,
        action=action,
        first=first,
        last=last,
    )


def check_lengths(steps: Sequence[ClipStep], used: Sequence[Used], dt: float) -> None:
    for step, item in zip(steps[1:], used[1:], strict=True):
        frame = step.clip.frame
        if not item.first <= frame <= item.last:
            raise outside_keys(frame, item.action.name, item.first, item.last)
    # A transition that another one interrupts may have any length.
    step, item = steps[-1], used[-1]
    left = (np.floor(item.last - step.clip.frame + 1e-6) + 1) * dt
    blends = step.blend.how.blends and not step.blend.hard
    length = step.blend.profile.duration(step.blend.seconds or 0.0) if blends else 0.0
    if len(steps) > 1 and length > left + 1e-6:
        raise RigError(
            "The blend of {duration:g} s is longer than the remaining {left:.2f} s of '{action}' "
            "from frame {frame:g}; shorten the blend, or enter the clip earlier.",
            duration=length,
            left=left,
            action=item.action.name,
            frame=step.clip.frame,
        )


class ClipSequence:
    """Playback of clips one after another. placements: of each clip; blends, methods: length [s] and method of each
    transition; swings: whether what is moved in it swings out."""

    def __init__(
        self, armature: bpy.types.Object, steps: Sequence[ClipStep], used: Sequence[Used], root: str, dt: float
    ) -> None:
        self.armature, self.steps, self.used, self.root, self.dt = armature, steps, used, root, dt
        self.placements: list[Placement] = []
        self.blends: list[float] = []
        self.methods: list[str] = []
        self.swings: list[bool] = []
        self.ground: Ground | None = None
        self._size = 0.0
        keyed = (channel for item in used for channel in item.channels(armature))
        self.animated: list[Channel] = list(dict.fromkeys(keyed))
        self._played = playing.animated_paths(armature)

    def play(self) -> Clip:
        read = self._read()
        # A placement may need channels that no action has; unchanged ones are removed again.
        added = [channel for channel in self._placed(read) if channel not in self.animated]
        for clip in read:
            clip.raw.update({c: np.tile(self._unkeyed(c), (len(clip.frames), 1)) for c in added})
        running = read[0]
        for n, clip in enumerate(read[1:], 1):
            running = self._append(running, n, read[n - 1], clip)
        first = self.steps[0].at
        running = running.part(slice(int(first - running.frames[0]), None))
        for channel in added:
            if np.all(running.raw[channel] == self._unkeyed(channel)):
                del running.raw[channel]
        return running

    def _unkeyed(self, channel: Channel) -> Array:
        return animated.unkeyed(self.armature, channel, self._played)

    def _read(self) -> list[Clip]:
        """Each clip over the frames of the result at which it plays, and some more: two poses before the first cut, and
        the continuation of the clip after each one."""
        check_frames(self.steps[0].at, self.steps[-1].at)
        result = []
        for n, (step, item) in enumerate(zip(self.steps, self.used, strict=True)):
            begin = step.at - 2 if n == 0 else step.at
            end = self._end(n)
            check_frames(begin, end)
            frames = np.arange(begin, max(end, begin + 1), dtype=float)
            clip = clips.read(self.armature, item.action, item.slot, frames - step.at + step.clip.frame, self.animated)
            clip.frames = frames
            if result:
                self._hold_unkeyed(clip, item, result[-1])
            result.append(clip)
        return result

    def _hold_unkeyed(self, clip: Clip, item: Used, before: Clip) -> None:
        """Hold what a clip does not key as the clip before it leaves it at the cut."""
        at = min(int(clip.frames[0] - before.frames[0]), len(before.frames) - 1)
        keyed = set(item.channels(self.armature))
        for channel in self.animated:
            if channel not in keyed:
                clip.raw[channel] = np.tile(before.raw[channel][at], (len(clip.frames), 1))

    def _end(self, number: int) -> int:
        """The frame of the result before which a clip is read."""
        if number + 1 == len(self.steps):
            step = self.steps[number]
            return step.at + int(np.floor(self.used[number].last - step.clip.frame + 1e-6)) + 1
        after = self.steps[number + 1]
        end, profile = after.at + 1, after.blend.profile
        if after.blend.how.plays_both:
            seconds = profile.duration(1.0 if after.blend.seconds is None else after.blend.seconds)
            end += int(np.ceil(seconds / self.dt))
        if profile.source_time() > 0.0:
            frames = np.ceil(min(profile.source_time() / self.dt, self._end(number + 1) - after.at))
            end = max(end, after.at + 1 + int(frames))
        return end

    def _placed(self, read: Sequence[Clip]) -> list[Channel]:
        if self.root == "NONE" or len(read) < 2:
            return []
        ground = Ground(self.armature, read)
        self._size = ground.size
        if not ground.is_placed:
            return []
        self.ground = ground
        return ground.channels(self.root)

    def _append(self, running: Clip, number: int, last: Clip, clip: Clip) -> Clip:
        """What plays, with one more clip. last: the clip before that, as animated."""
        step = self.steps[number]
        cut = int(step.at - running.frames[0])
        placement = Placement.identity()
        speed = 0.0
        if self.ground is not None:
            here = self._place_at_cut(self.ground, running, cut, self._is_over(number - 1, step.at))
            there, (turn, speed) = self.ground.stand(clip, 0)[0], self._turn(self.ground, number, last, clip)
            placement = self.ground.placement((here, turn), (there, rotation.IDENTITY), self.root)
            clip = self.ground.place(clip, placement)
        before = running.part(slice(0, cut))
        item = self.used[number]
        blend = self._timed(step.blend, before, clip, item.last - item.first)
        self.blends.append(blend.seconds or 0.0)
        self.methods.append(blend.how.id)
        self.swings.append(blend.how_of("vector").swings and not blend.hard)
        if self.ground is not None:
            onwards = self._turn_onwards(self.ground, clip, blend, speed)
            clip = self.ground.place(clip, onwards)
            glide = Placement(rotation.IDENTITY.copy(), self._glide(self.ground, before, clip, blend))
            clip = self.ground.place(clip, glide)
            self.placements.append(glide.after(onwards).after(placement))
        plays_on = blend.how.plays_both or blend.profile.source_time() > 0.0
        going_on = _held(running.part(slice(cut, None)), len(clip.frames)) if plays_on else None
        upright = self.ground.upright() if self.ground is not None else None
        written = replace(splice.CUT, profile=blend.profile) if blend.hard else blend
        return before.then(splice.splice(before, clip, self.dt, written, going_on, upright))

    def _turn(self, ground: Ground, number: int, before: Clip, after: Clip) -> tuple[Array, float]:
        """The rotation (4,) that gives a clip the direction in which the one before it goes at the cut, and by how much
        faster [rad/s] that one turns."""
        step, last = self.steps[number], self.steps[number - 1]
        placed = self.placements[-1].rotation if self.placements else rotation.IDENTITY
        if step.again:
            end = ground.stand(before, min(int(step.at - before.frames[0]), len(before.frames) - 1))
            return rotation.multiply(placed, ground.placement(end, ground.stand(after, 0), "HEADING").rotation), 0.0
        at = (step.at - last.at + last.clip.frame, step.clip.frame)
        going, there = (
            heading.of_clip(ground, item.action, item.slot, item.ends, frame, self.dt)
            for item, frame in zip(self.used[number - 1 : number + 1], at, strict=True)
        )
        turn = rotation.multiply(placed, rotation.exp(going.turn(there) * ground.up))
        return turn, going.speed - there.speed

    def _turn_onwards(self, ground: Ground, clip: Clip, blend: Blend, speed: float) -> Placement:
        """The rotation of a placed clip about its root over which the turning speed [rad/s] of the root decays."""
        frames = self._glide_frames(ground, blend)
        if frames is None or speed == 0.0 or self.root not in ("HEADING", "ALL"):
            return Placement.identity()
        turn = rotation.exp(frames * self.dt * speed * ground.up)
        there = ground.stand(clip, 0)[0]
        return Placement(turn, there - rotation.rotate(turn, there))

    def _glide_frames(self, ground: Ground, blend: Blend) -> float | None:
        """Frames for which the velocity of the root persists; None if the method has none."""
        name = ground.root_handle()
        if blend.glide is None or name is None:
            return None
        frames = blend.glide * (blend.seconds or 0.0) * blend.profile.factor(name) / self.dt
        # One frame is included already: at the last frame before the cut the root is not yet at the placement.
        return max(frames - 1.0, 0.0)

    def _glide(self, ground: Ground, before: Clip, after: Clip, blend: Blend) -> Array:
        """The displacement (3,) of a placed clip over which the speed of the root decays, where its height is matched
        too the vertical speed.

        A clip placed exactly at the root would have no difference to continue its speed.
        """
        frames = self._glide_frames(ground, blend)
        if frames is None:
            return np.zeros(3)
        upwards = self.root == "ALL"
        last = len(before.frames) - 2
        return frames * (ground.step(before, last, upwards=upwards) - ground.step(after, 0, upwards=upwards))

    def _is_over(self, number: int, frame: int) -> bool:
        """Whether a clip has played to its last key by a frame of the result."""
        step = self.steps[number]
        return frame - step.at + step.clip.frame > self.used[number].last

    @staticmethod
    def _place_at_cut(ground: Ground, running: Clip, cut: int, over: bool) -> Array:
        """The position (3,) of the root at the cut; extrapolated if the clip has ended before it."""
        if over:
            return 2.0 * ground.stand(running, cut - 1)[0] - ground.stand(running, cut - 2)[0]
        return ground.stand(running, cut)[0]

    def _timed(self, blend: Blend, before: Clip, after: Clip, cycle: int) -> Blend:
        """The blend with its method and its length; an automatic one is no longer than half a cycle of the clip, nor
        than what is left of it. cycle: frames."""
        if not blend.how.blends:
            return replace(blend, seconds=0.0)
        size = self._size or 0.5 * float(np.linalg.norm(self.armature.dimensions)) or 1.0
        chosen = splice.chosen(blend, before, after, self.dt, size)
        if blend.seconds is not None:
            return chosen
        most = min(len(after.frames), 0.5 * cycle if cycle > 1 else 1)
        return chosen.at_most(blend.profile.longest_blend(most * self.dt))


def _held(clip: Clip, frames: int) -> Clip:
    """A clip with a number of frames, extended by its last pose if it is shorter."""
    rows = np.minimum(np.arange(frames), len(clip.frames) - 1)
    return Clip(clip.armature, clip.frames[rows], {channel: raw[rows] for channel, raw in clip.raw.items()})
