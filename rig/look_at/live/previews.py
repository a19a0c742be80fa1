"""Where looks settle at the frame that is shown, while targets or bones are moved to places that are not keyed yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ....lookat_pd import rotation
from ....lookat_pd.rotation import Array
from ...animation.channels import TRANSFORM_SIZES
from ...layers.kinds import Key
from ...layers.track import Track
from .. import settled_pose
from ..look_at_solve import LookAtSolve
from ..resolve import LookAt
from ..settled_pose import ChainPose, SettledPose
from ..solve_context import SolveContext
from .playhead import SeenFirst

_MOVED = 1e-6
"""Difference [m, or of a quaternion's component] from which on something is seen to move."""


@dataclass(frozen=True)
class _Inputs:
    """What a look depends on at one frame."""

    targets: Array
    """(n, 3) targets in the world."""
    pose: Mapping[str, Array]
    """(k,) channels of each bone that matters, as far as these are known, as the animator has set them."""
    world: Array
    """(4, 4) world matrix of the armature."""

    def same_targets(self, other: "_Inputs") -> bool:
        return (
            self.targets.shape == other.targets.shape and np.abs(self.targets - other.targets).max(initial=0) <= _MOVED
        )

    def same_pose(self, other: "_Inputs") -> bool:
        # More bones matter once copies of the rig are known, fewer once it may be another one: none moves by that.
        both = self.pose.keys() & other.pose.keys()
        moved = [np.abs(self.pose[bone] - other.pose[bone]).max() for bone in both]
        return max([*moved, np.abs(self.world - other.world).max()]) <= _MOVED

    def same(self, other: "_Inputs") -> bool:
        return self.same_targets(other) and self.same_pose(other)


@dataclass(frozen=True)
class _Seen:
    """The inputs with which a frame was first seen after it was solved, and the track that it was solved as."""

    frame: float
    track: Track
    inputs: _Inputs


@dataclass
class _Preview:
    pose: SettledPose
    inputs: _Inputs


@dataclass(frozen=True)
class _Further:
    """What a head that follows edits was seen to miss: previews that follow begin with it, and so does the solution
    that is yet to be verified, which misses the same."""

    turn: Array
    """(4,) further turn of the aiming bone."""
    known: Track | None
    """The solution from which it was seen."""
    to_verify: Track | None = None
    """The first solution after that."""
    turned: Track | None = None
    """The same with the turn."""


class LookAtPreviews:
    """What is shown of look-ats instead of their solution, as long as the frame and the solution stay the same.

    first: what is shown until a long solve is done.
    """

    def __init__(self) -> None:
        self.first, self.is_new = SeenFirst(), False
        self._solves: Sequence[LookAtSolve] = ()
        self._context: SolveContext | None = None
        self._seen: dict[Key, _Seen] = {}
        self._previews: dict[Key, _Preview] = {}
        self._further: dict[Key, _Further] = {}

    def __contains__(self, key: Key) -> bool:
        return key in self._previews

    def __bool__(self) -> bool:
        return bool(self._previews)

    def of(self, solves: Sequence[LookAtSolve], context: SolveContext | None) -> None:
        """Preview these look-ats."""
        self._solves, self._context = solves, context

    def end(self) -> bool:
        """Back to the solutions; whether anything else was shown."""
        self._seen.clear()
        self._further.clear()
        shown, self._previews = bool(self._previews), {}
        return self.first.go_elsewhere() or shown

    def see_first(self, tracks: Mapping[LookAtSolve, Track]) -> None:
        """Show these until the solve is done: they know what previews know, and how the look gets there."""
        self.first = SeenFirst(tracks)
        self._seen.clear()
        self._previews.clear()

    def track(self, key: Key, solve: LookAtSolve) -> Track | None:
        """What a look-at shows."""
        seen = self._seen.get(key)
        if key in self._previews and seen is not None and seen.track is solve.track:
            return self._previews[key].pose.track
        first = self.first.track(solve)
        return first if first is not solve.track else self._to_verify(key, solve)

    def _to_verify(self, key: Key, solve: LookAtSolve) -> Track | None:
        """The solution; while it is the first that is yet to be verified, with what was missed before it."""
        further, track = self._further.get(key), solve.track
        if further is None or track is None or track is further.known:
            return track
        if solve.rough and further.to_verify is None:
            turned = settled_pose.turned_further(track, further.turn)
            further = self._further[key] = replace(further, to_verify=track, turned=turned)
        if solve.rough and track is further.to_verify:
            return further.turned
        # What comes after it has been corrected.
        del self._further[key]
        return track

    def follow(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> bool:
        """See whether targets or poses were moved at the frame that is shown; whether something else is to be shown."""
        if self._context is None:
            return False
        context, frame = self._context, scene.frame_current_final
        self.is_new = False
        moved = [self._follow(solve.key, solve, context, frame, depsgraph) for solve in self._solves]
        return any(moved)

    def aim(self, view_layer: bpy.types.ViewLayer) -> bool:
        """Let heads that follow edits turn by what they still miss."""
        if not any(preview.pose.place is not None for preview in self._previews.values()):
            return False
        view_layer.update()
        for solve in self._solves:
            self._aim(solve.key, solve, view_layer.depsgraph)
        return True

    def _follow(
        self, key: Key, solve: LookAtSolve, context: SolveContext, frame: float, depsgraph: bpy.types.Depsgraph
    ) -> bool:
        """See whether the target or the pose of a look-at was moved at a frame; whether something else is to be shown.

        depsgraph: evaluated at the frame, with what `track` gives.
        """
        inputs = _inputs(solve, depsgraph)
        if solve.track is None or inputs is None:
            self._seen.pop(key, None)
            self._further.pop(key, None)
            return self._previews.pop(key, None) is not None
        seen = self._seen.get(key)
        if seen is not None and seen.frame != frame:
            self._further.pop(key, None)
        if seen is None or seen.frame != frame or seen.track is not solve.track:
            self._seen[key] = _Seen(frame, solve.track, inputs)
            return self._previews.pop(key, None) is not None
        if inputs.same(seen.inputs):
            # It is back where it was.
            return self._previews.pop(key, None) is not None
        before = self._previews.get(key)
        if before is not None and inputs.same(before.inputs):
            return False
        shown, posed = self.track(key, solve), None
        if shown is not None and not inputs.same_pose(seen.inputs):
            posed = ChainPose.of(solve.look_at, depsgraph, shown.offsets_at(round(frame)))
        pose = settled_pose.settled(solve, context, frame, inputs.targets, posed)
        if pose is None:
            return False
        if pose.place is None:
            self._further.pop(key, None)
        elif key in self._further:
            pose = replace(pose, track=settled_pose.turned_further(pose.track, self._further[key].turn))
        self._previews[key], self.is_new = _Preview(pose, inputs), True
        return True

    def _aim(self, key: Key, solve: LookAtSolve, depsgraph: bpy.types.Depsgraph) -> None:
        """Turn the head by what it still misses, now that the rig is evaluated with the preview."""
        preview = self._previews.get(key)
        turn = None if preview is None else settled_pose.missed(solve, preview.pose, depsgraph)
        if preview is None or turn is None:
            return
        before = self._further.get(key)
        every = turn if before is None else rotation.multiply(before.turn, turn)
        self._further[key] = _Further(every, solve.track)
        preview.pose = SettledPose(settled_pose.turned_further(preview.pose.track, turn), None)


def _inputs(solve: LookAtSolve, depsgraph: bpy.types.Depsgraph) -> _Inputs | None:
    look_at = solve.look_at
    targets = settled_pose.places(look_at.watched, depsgraph)
    world = np.array(look_at.armature.evaluated_get(depsgraph).matrix_world)
    if targets is None or not np.all(np.isfinite(world)):
        return None
    return _Inputs(targets, _pose(look_at, _bones_that_matter(solve)), world)


def _bones_that_matter(solve: LookAtSolve) -> set[str]:
    """Bones of the armature that move the chain."""
    look_at, cut_down = solve.look_at, solve.kept.cut_down
    if cut_down and look_at.armature in cut_down:
        return cut_down[look_at.armature]
    bones = {name: look_at.armature.pose.bones[name] for name in look_at.bones}
    return {*bones, *(parent.name for bone in bones.values() for parent in bone.parent_recursive)}


def _pose(look_at: LookAt, names: set[str]) -> dict[str, Array]:
    """The channels of bones."""
    pose = look_at.armature.pose.bones
    chosen = {bone: n for n, bone in enumerate(pose.keys()) if bone in names}
    rows = []
    for name, size in TRANSFORM_SIZES.items():
        everything = np.empty(len(pose) * size, dtype=np.float32)
        pose.foreach_get(name, everything)
        rows.append(everything.reshape(-1, size)[list(chosen.values())])
    return dict(zip(chosen, np.concatenate(rows, axis=1), strict=True))
