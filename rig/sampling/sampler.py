"""Sampling: Blender evaluates the animated rig once a frame, in a scene of its own, into arrays.

The temporary scene holds the armature and an empty at each target, so that no mesh of the animator's scene is
evaluated and the animator's scene, with its un-keyed edits, stays as it is. Targets that physics moves, or whatever
else only that scene evaluates right, are seen there (`scene_playback`). Over many frames a copy stands in for the
armature that has only the bones that those asked for depend on.
"""

import math
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from time import perf_counter

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.message import Message
from ...lookat_pd.progress import drain
from ...lookat_pd.rotation import Array
from ..animation.channels import LOCATION, channel, family
from . import cut_down_rig, fingerprint, scene_playback, shear, suspend, transforming
from .own_data import TEMPORARY
from .records import PoseRecord, WorldRows
from .scene_time import key_range
from .targets import Target

NO_PLACE = "The position of target '{name}' is not finite at frame {frame}; fix its animation."
NO_POSE = "Bone '{name}' has a pose that is not a number at frame {frame}; fix its F-curves or constraints."
FLAT_BONE = "Bone '{name}' has a scale of 0 at frame {frame}; set a scale above 0."
FLAT_OBJECT = "Object '{name}' has a scale of 0 at frame {frame}; set a scale above 0 for it and its parents."
_NOWHERE = 1e18
"""No pose has a number as large: Blender turns an infinite key into the largest number there is."""
_MANY = 20
"""Frames from which on cutting a rig down costs less than it spares."""
_MOST = 0.75
"""Part of a rig's bones above which it is not cut down."""
_LEAST = 2000
"""Bones that a copy of a plain rig leaves out, times frames, below which stepping them costs less than the copy."""
_BLOCK = 4096
"""Poses of bones and places of objects that are worked on at once: in one step of the work, whatever the range."""
_ALIKE = 1e-6
"""Largest difference between matrices of a rig and of its cut-down copy; as a rule they are the same to the bit."""
_RIG = -1
"""Number of the armature itself among targets that are seen in the animator's scene."""
_SIMPLIFY = ("use_simplify", "simplify_subdivision", "simplify_child_particles")
"""Settings of a scene that change the shapes of meshes in the viewport."""
CutDown = dict[bpy.types.Object, set[str]]
"""Armatures that are stepped as cut-down copies, and the bones that these keep."""
Alike = set[tuple[bpy.types.Object, frozenset[str]]]
"""Armatures, each with bones of which a copy was seen to have the same poses: for as long as what moves them within
the rig stays as it is, whatever plays."""


def complaint(template: str, name: str, frame: int) -> RigError:
    """The error about something with that name at a frame. template: one of those above."""
    return RigError(template, name=name, frame=frame)


@dataclass
class Samples:
    """One armature over F frames. Bones are those asked for, in that order."""

    frames: Array
    """(F,)"""
    bones: tuple[str, ...]
    modes: tuple[str, ...]
    """Rotation mode of each bone."""
    rotations: Array
    """(F, b, 4) of the pose in armature space."""
    positions: Array
    """(F, b, 3)"""
    sizes: Array
    """(F, b), the mean scale."""
    targets: Array
    """(n, F, 3) in armature space."""
    worlds: Array
    """(F, 4, 4) matrices of the armature object."""
    raw: dict[str, Array] = field(default_factory=dict)
    """Per rotation mode in use ("QUATERNION", "AXIS_ANGLE", "EULER") the animated channels (F, b, 4 or 3) as they
    stand; "LOCATION" where that was asked for."""
    properties: dict[str, Array] = field(default_factory=dict)
    """(F,) values of the properties that were asked for, by their data path from the armature object."""
    shear: float = 0.0
    """The largest `shear.degree`."""
    axes: dict[str, Array] = field(default_factory=dict)
    """(F, 3, 3) by columns, those of the location of each control that `outside_samples` has added."""
    rests: dict[str, Array] = field(default_factory=dict)
    """(4,) the orientations at rest of the bones whose locations are not along their own axes, but along those of the
    armature."""

    def at(self, frames: slice | Array) -> "Samples":
        """These frames alone."""
        named = {
            name: {key: values[frames] for key, values in getattr(self, name).items()}
            for name in ("raw", "properties", "axes")
        }
        arrays = {name: getattr(self, name)[frames] for name in ("frames", "rotations", "positions", "sizes", "worlds")}
        return replace(self, targets=self.targets[:, frames], **arrays, **named)

    @property
    def sheared(self) -> bool:
        """Whether any bone was scaled unevenly."""
        return self.shear > shear.LEAST

    def channel(self, bone: str) -> tuple[str, Array]:
        """A bone's rotation mode and its channel (F, 3 or 4) as it stands."""
        row = self.bones.index(bone)
        mode = self.modes[row]
        return mode, self.raw[family(mode)][:, row]


class Sampler:
    """A temporary scene for one armature and its targets, as a context manager; gone at exit whatever happened.

    What look-ats add to any rig is left out while the scene is there, and added again when it goes.
    """

    def __init__(
        self,
        scene: bpy.types.Scene,
        armature: bpy.types.Object,
        bones: Sequence[str],
        targets: Sequence[Target] = (),
        aim: Array | None = None,
        *,
        located: bool = False,
        cut_down: CutDown | None = None,
        alike: Alike | None = None,
        in_all: int = 0,
        left_out: suspend.LeftOut | None = None,
    ) -> None:
        """aim: axis (3,) in the first bone's frame whose direction counts where uneven scale makes a bone askew.

        located: sample the channels of the bones' locations too. cut_down: what another sampler of the same bones and
        targets has found out, empty for whole rigs; None to find out when many frames are sampled. `whole_because` says
        afterwards why a rig that is worth it could not be cut down. alike: copies that need not be compared any more,
        to which those are added that are. in_all: how many frames are sampled, where other samplers go on with what
        this one finds out. left_out: what is left out, by default all layers.
        """
        self._original, self._armature = scene, armature
        self.bones, self.targets = tuple(bones), tuple(targets)
        self.cut_down = cut_down
        self._alike, self._in_all = set() if alike is None else alike, in_all
        self.whole_because: Message | None = None
        self._copies: dict[bpy.types.Object, bpy.types.Object] = {}
        self._played: dict[bpy.types.Object, tuple[bpy.types.Action | None, int]] = {}
        """What armatures played when their copies were given that."""
        self._modes = tuple(armature.pose.bones[name].rotation_mode for name in self.bones)
        self._empties: list[bpy.types.Object | None] = []
        self._helpers: list[bpy.types.Object] = []
        self._world_rows: WorldRows | None = None
        self._in_scene: dict[int, scene_playback.Places | None] | None = None
        self._blind: list[Message] = []
        self._placed_with: Callable[[], None] | None = None
        self._aim, self._located = aim, located
        self._left_out = None if left_out is None else (left_out,)
        self._open = ExitStack()
        self._is_new = False
        """Whether the temporary scene was not evaluated yet."""
        self._can_rest = False
        """Whether the temporary scene can stay in the file between two slices: nothing that is seen was changed."""
        self._is_spare = False
        """Whether it has come to its end and its temporary scene is left to the next sampler of the same."""
        self._host: Sampler | None = None
        self._guests: list[Sampler] = []
        self._copied: CutDown = {}
        """What the copies that are there keep."""

    def __enter__(self) -> "Sampler":
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.park()

    def close(self) -> None:
        """The end, where it was not entered: sampling opens it when it begins."""
        self._is_spare = _keeps and self in _open and self._can_rest and not self._guests
        if not self._is_spare:
            self.park()

    def open(self) -> None:
        """Make the temporary scene, if it is not there."""
        if self._host is not None:
            self._host.open()
        if self._host is not None or self in _open:
            return
        if _is_resting:
            # Somebody else samples.
            park_all()
        # Copies need another mode for a moment, which Blender refuses then; whole rigs are the same, only slower.
        copied = {} if transforming.is_under_way() else self.cut_down or {}
        played = [sampler._find_in_scene() for sampler in (self, *self._guests)]
        if not (any(played) or self._guests) and self._take_over(copied):
            return
        _open.append(self)
        begin = perf_counter()
        try:
            # A rig that is not evaluated stays as it is: else each slice has Blender evaluate it where it is seen. What
            # others look at may hang on the rig of a guest.
            spared = () if any(played) or self._guests else copied
            changed = self._open.enter_context(suspend.layers_disabled(spared, self._left_out))
            self._can_rest = _in_window and not changed
            self.scene = bpy.data.scenes.new("Look-at PD")
            self._open.callback(bpy.data.scenes.remove, self.scene)
            self._open.callback(self._empty_out)
            self._copied = copied
            self._fill(self.scene, copied)
            suspend.disable_on(self._copies, self._left_out)
        except BaseException:
            self.park()
            raise
        self._is_new = True
        _note_opening(perf_counter() - begin)

    def _take_over(self, copied: CutDown) -> bool:
        """Go on with the temporary scene of a sampler that has come to its end, if that sampled the same; whether there
        is one. The copies in it add nothing again."""
        spare = next((other for other in _open if other._is_spare and other._has(self, copied)), None)
        if spare is None:
            return False
        _open[_open.index(spare)] = self
        for name in ("scene", "_open", "_copies", "_played", "_empties", "_helpers", "_is_new", "_can_rest"):
            setattr(self, name, getattr(spare, name))
        spare._open = ExitStack()
        self._find_rows()
        suspend.disable_on(self._copies, self._left_out)
        return True

    def _has(self, other: "Sampler", copied: CutDown) -> bool:
        """Whether the temporary scene is what another sampler would make, with these copies."""
        same = (self._original, self._armature, self.bones, self.targets, self._left_out) == (
            other._original,
            other._armature,
            other.bones,
            other.targets,
            other._left_out,
        )
        return same and self._copied == copied

    def park(self) -> None:
        """Leave nothing in the file, between two slices of the work and at its end; sampling makes it anew."""
        self._is_spare = False
        if self in _open:
            _open.remove(self)
        self._open.close()

    @property
    def data_in_file(self) -> int:
        """How many objects of the file are its own, now."""
        made = [item for sampler in (self, *self._guests) for item in (*sampler._empties, *sampler._helpers)]
        return len(self._copies) + sum(item is not None for item in made)

    def _empty_out(self) -> None:
        for sampler in (self, *self._guests):
            for item in (*sampler._empties, *sampler._helpers):
                if item is not None:
                    bpy.data.objects.remove(item)
            sampler._empties.clear()
            sampler._helpers.clear()
        for copy in self._copies.values():
            cut_down_rig.remove(copy)
        self._copies.clear()

    def stand_in(self, armature: bpy.types.Object) -> bpy.types.Object:
        """What is evaluated for an armature while the temporary scene is there: a copy of it, or the armature."""
        return self._copies.get(armature, armature)

    @property
    def scene_notes(self) -> tuple[Message, ...]:
        """Of what was seen in the animator's scene, once frames are sampled, and of what should have been."""
        seen = (self._in_scene or {}).values()
        notes = [places.note for places in seen if places is not None and places.note is not None]
        return (*notes, *self._blind)

    def _fill(self, scene: bpy.types.Scene, copied: CutDown) -> None:
        scene[TEMPORARY] = True
        scene.render.fps, scene.render.fps_base = self._original.render.fps, self._original.render.fps_base
        # Blender marks all objects of the file when these are written.
        for name in _SIMPLIFY if self._original.render.use_simplify else ():
            setattr(scene.render, name, getattr(self._original.render, name))
        scene.gravity, scene.use_gravity = self._original.gravity, self._original.use_gravity
        for key in self._original.keys():  # custom properties, which drivers may read
            if isinstance(self._original[key], int | float | str):
                scene[key] = self._original[key]
        cut_down_rig.share_action(self._original, scene)
        # Frames are those of keys here, whatever the time they are shown at.
        scene.render.frame_map_old = scene.render.frame_map_new = 100
        for armature, bones in copied.items():
            self._copies[armature] = cut_down_rig.build(scene, armature, bones)
            self._played[armature] = _played(armature)
        for sampler in (self, *self._guests):
            sampler._enter(scene)
        self._can_rest = self._can_rest and self._armature not in scene.collection.objects.values()

    def _enter(self, scene: bpy.types.Scene) -> None:
        """Put what is sampled into a temporary scene, its own or that of its host."""
        self.scene = scene
        rig = self.stand_in(self._armature)
        if self.bones and rig is self._armature and rig not in scene.collection.objects.values():
            scene.collection.objects.link(rig)
        self._find_rows()
        if self.bones and rig.hide_viewport:
            # Something that depends on it, so that it is evaluated all the same.
            self._helpers.append(_follower(scene, rig, self.bones[0]))
        for n, target in enumerate(self.targets):
            self._empties.append(None if n in (self._in_scene or ()) else self._empty(scene, target))

    def _find_rows(self) -> None:
        """Where what is sampled stands among what is evaluated."""
        self._world_rows = None
        names = self.stand_in(self._armature).pose.bones.keys() if self.bones else []
        index = {name: n for n, name in enumerate(names)}
        self._rows, self._count = np.array([index[name] for name in self.bones], dtype=int), len(names)

    def _find_in_scene(self) -> bool:
        """Find out, once, what has to be seen in the animator's scene; whether there is anything."""
        if self._in_scene is None:
            self._in_scene = {n: None for n, target in enumerate(self.targets) if self._is_in_scene(target)}
            if self.bones and self.targets and scene_playback.needs(self._original, Target(self._armature)):
                self._in_scene[_RIG] = None
                self._blind = scene_playback.blind_note(self._original, self._armature)
        return bool(self._in_scene)

    def _is_in_scene(self, target: Target) -> bool:
        """Whether a target has to be seen in the animator's scene."""
        return target.object is not self._armature and bool(scene_playback.needs(self._original, target))

    def _see_scene(self, frames: Sequence[float], before: Callable[[], None] | None) -> None:
        """Play the animator's scene for the targets that need it, unless that is known."""
        if not self._in_scene:
            return
        if self._placed_with == before and all(p and p.covers(frames) for p in self._in_scene.values()):
            return
        self._placed_with = before
        if len(frames) > 1:
            # What is asked for next is as a rule the scene's range, or part of it.
            frames = [*frames, *key_range(self._original)]
        targets = [self.targets[n] if n != _RIG else Target(self._armature) for n in self._in_scene]
        found = scene_playback.places(self._original, targets, frames)
        self._in_scene = dict(zip(self._in_scene, found, strict=True))

    def _empty(self, scene: bpy.types.Scene, target: Target) -> bpy.types.Object | None:
        """An empty that is where the target is: looking at a mesh must not evaluate its modifiers."""
        if target.object is None:
            return None
        return _follower(scene, self.stand_in(target.object), target.bone, turns=target.point is not None)

    # Cutting rigs down

    def prepare(self, frames: Sequence[float]) -> Generator[None, None, None]:
        """Before many frames are sampled: see whether cut-down copies can be stepped instead of whole rigs. Yields
        where that may go on later; `sample` does it in one go where it was not done."""
        count = max(len(frames), self._in_all)
        if self.cut_down is not None or count < _MANY or transforming.is_under_way():
            return
        try:
            plan = self._plan()
            worth = {a: bones for a, bones in plan.items() if _is_worth(a, bones, count)}
            if worth:
                yield from self._try(worth, [frames[0], frames[len(frames) // 2], frames[-1]])
            elif not plan:
                self.cut_down = {}
        except cut_down_rig.CannotCutDown as error:
            self.park()
            self.cut_down, self.whole_because = {}, error.reason

    def _prepare(self, frames: Sequence[float], before: Callable[[], None] | None) -> None:
        drain(self.prepare(frames))
        self.open()
        for armature, copy in self._copies.items():
            # A copy may play something else because of what is left out.
            if self._played[armature] != _played(armature):
                cut_down_rig.share_action(armature, copy)
                self._played[armature] = _played(armature)
        if before is not None:
            before()
        self._see_scene(frames, before)

    def _plan(self) -> CutDown:
        """The armatures that are worth being cut down over enough frames. Raises CannotCutDown."""
        wanted: CutDown = {self._armature: set(self.bones)} if self.bones else {}
        for n, target in enumerate(self.targets):
            if target.object is not None and target.bone and n not in (self._in_scene or ()):
                wanted.setdefault(target.object, set()).add(target.bone)
        plan = {armature: cut_down_rig.needed_bones(armature, bones) for armature, bones in wanted.items()}
        return {a: bones for a, bones in plan.items() if len(bones) <= _MOST * len(a.pose.bones)}

    def _try(self, plan: CutDown, frames: Sequence[float]) -> Iterator[None]:
        """Step copies. Raises CannotCutDown where they are not the same as the whole rigs at a few frames."""
        unknown = {a: bones for a, bones in plan.items() if (a, frozenset(bones)) not in self._alike}
        whole, compared = [], frames if unknown else ()
        if not unknown or self not in _open or self._is_new:
            note_begin()
            yield
        for frame in compared:
            whole.append(self._poses(unknown, frame))
            if len(whole) == len(compared):
                note_begin()
            yield
        self.park()
        self.cut_down = plan
        self.open()
        yield
        self.open()
        targets = [self.stand_in(target.object) for target in self.targets if target.object is not None]
        cut_down_rig.check_alone(self.scene, [*self._copies.values(), *targets], plan.keys())
        for frame, before in zip(compared, whole, strict=True):
            for (armature, names), one, other in zip(unknown.items(), before, self._poses(unknown, frame), strict=True):
                same = np.isclose(one, other, rtol=_ALIKE, atol=_ALIKE, equal_nan=True).all(axis=(1, 2))
                if not same.all():
                    raise cut_down_rig.CannotCutDown(
                        Message(
                            "Bone '{bone}' of '{armature}' has another pose in a copy of the rig; see what its drivers "
                            "and constraints read outside the rig.",
                            bone=sorted(names)[int(np.argmin(same))],
                            armature=armature.name,
                        )
                    )
        self._alike.update((armature, frozenset(bones)) for armature, bones in unknown.items())

    def _poses(self, plan: CutDown, frame: float) -> list[Array]:
        """Matrices (b, 4, 4) of the bones of each armature of a plan at a frame, in the order of their names."""
        depsgraph = self._step(frame, None)
        rigs = [(self.stand_in(armature).evaluated_get(depsgraph), bones) for armature, bones in plan.items()]
        return [np.array([rig.pose.bones[name].matrix for name in sorted(bones)]) for rig, bones in rigs]

    def sample(
        self,
        frames: Sequence[float],
        properties: Sequence[str] = (),
        before: Callable[[], None] | None = None,
    ) -> Generator[Samples, None, Samples]:
        """Step through `frames`, yielding the same Samples after each one; complete, and checked, after the last.
        Returns them.

        properties: data paths from the armature object to numbers that are sampled as well. before: called at the
        beginning, and whenever the temporary scene was made anew: what is put on `stand_in` is gone with it.
        """
        self._prepare(frames, before)
        reading = _Reading(self, frames, properties)
        for k, frame in enumerate(frames):
            reading.take(k, self._step(frame, before))
            yield reading.samples
        return reading.samples

    def sample_with(
        self, guests: Sequence["Sampler"], frames: Sequence[float], before: Callable[[], None] | None = None
    ) -> Generator[float, None, list[Samples]]:
        """Step through `frames` once for this sampler and for others, yielding the completed fraction. Returns the
        samples of each, its own first.

        guests: have entered no scene of their own, and are of no more use by themselves. cut_down of this sampler
        counts for all. before: as for `sample`.
        """
        self._guests = list(guests)
        for guest in guests:
            guest._host, guest._copies = self, self._copies
        self._prepare(frames, before)
        for guest in guests:
            guest._see_scene(frames, before)
        readings = [_Reading(sampler, frames, ()) for sampler in (self, *guests)]
        for k, frame in enumerate(frames):
            depsgraph = self._step(frame, before)
            for reading in readings:
                reading.take(k, depsgraph)
            yield (k + 1) / len(frames)
        return [reading.samples for reading in readings]

    def sample_points(self, frames: Sequence[float], before: Callable[[], None] | None = None) -> Iterator[Array]:
        """Where the targets are in the world, (n, F, 3): stepped as in `sample`, but without the armature.

        For a sampler without bones. Raises RigError after the last frame where a target is nowhere.
        """
        self._prepare(frames, before)
        blocks = self._blocks(len(frames))
        worlds = self._empty_worlds(blocks)
        points = np.empty((len(frames), len(self.targets), 3))
        for k, frame in enumerate(frames):
            block = blocks[k // blocks[0].stop]
            self._read_worlds(self._step(frame, before), worlds[k - block.start])
            if k == block.stop - 1:
                points[block] = self._worlds(worlds[: block.stop - block.start], frames[block])[1]
                self._check_points(np.asarray(frames[block]), points[block])
            yield points.swapaxes(0, 1)

    def matrices(self, depsgraph: bpy.types.Depsgraph) -> Array:
        """World matrices (n, 4, 4) at the targets, those with a point with their orientation and scale."""
        worlds = np.empty((1 + len(self.targets), 16), dtype=np.float32)
        self._read_worlds(depsgraph, worlds)
        found = worlds[1:].astype(float).reshape(-1, 4, 4).swapaxes(1, 2)
        if self._in_scene:
            frame = self.scene.frame_current_final
            self._see_scene([frame, frame + 1.0], self._placed_with)
            for n, places in self._in_scene.items():
                assert places is not None
                found[n] = places.at(frame)
        return found

    def _blocks(self, frames: int) -> list[slice]:
        """Frames that are worked on at once, one block after the other; all are as long as the first but the last."""
        size = max(1, _BLOCK // (len(self.bones) + 1 + len(self.targets)))
        return [slice(begin, min(begin + size, frames)) for begin in range(0, max(frames, 1), size)]

    def _empty_worlds(self, blocks: list[slice]) -> Array:
        return np.empty((blocks[0].stop, 1 + len(self.targets), 16), dtype=np.float32)

    def step(self, frame: float) -> bpy.types.Depsgraph:
        """The temporary scene at a frame."""
        return self._step(frame, None)

    def _step(self, frame: float, before: Callable[[], None] | None) -> bpy.types.Depsgraph:
        if self not in _open:
            self.open()
            if before is not None:
                before()
        whole, begin = math.floor(frame), perf_counter()
        if self._can_rest and not self._is_new and whole >= 0:
            # The same without a sign to the window, which would draw all it shows again.
            _go_quietly(self.scene, whole, frame - whole)
            self.scene.view_layers[0].depsgraph.update()
        else:
            self.scene.frame_set(whole, subframe=frame - whole)
        if self._is_new:
            # Blender builds the relations of the scene.
            self._is_new = False
            _note_opening(perf_counter() - begin)
        return self.scene.view_layers[0].depsgraph

    def _read_worlds(self, depsgraph: bpy.types.Depsgraph, worlds: Array) -> None:
        """Take down the matrices (1 + n, 16), by columns, of the armature, where it is sampled, and at n targets."""
        objects = depsgraph.view_layer_eval.objects
        if self._world_rows is None:
            rig = self.stand_in(self._armature) if self.bones else None
            self._world_rows = WorldRows.of(objects.keys(), [rig, *self._empties])
        rows = self._world_rows
        objects.foreach_get("matrix_world", rows.numbers)
        for n, item in rows.hidden:
            rows.matrices[n] = np.array(item.evaluated_get(depsgraph).matrix_world).T.ravel()
        rows.matrices.take(rows.order, 0, worlds, "clip")

    def _worlds(self, record: Array, frames: Sequence[float] | Array) -> tuple[Array, Array]:
        """Matrices (F, 4, 4) of the armature and places (F, n, 3) of the targets from what was taken down."""
        worlds = record.astype(float).reshape(len(record), -1, 4, 4).swapaxes(2, 3)
        for n, places in (self._in_scene or {}).items():
            assert places is not None
            worlds[:, 1 + n] = [places.at(frame) for frame in frames]
        points = worlds[:, 1:, :3, 3]
        for n, (target, empty) in enumerate(zip(self.targets, self._empties, strict=True)):
            if empty is None and target.object is None:
                # A target that is nothing is never looked at.
                points[:, n] = target.point or (0.0, 0.0, 0.0)
            elif target.point is not None:
                points[:, n] += worlds[:, 1 + n, :3, :3] @ np.array(target.point)
        return worlds[:, 0], points

    def _empty_samples(self, frames: Sequence[float]) -> Samples:
        f, b = len(frames), len(self.bones)
        families = {family(mode) for mode in self._modes} | ({LOCATION} if self._located else set())
        return Samples(
            frames=np.asarray(frames),
            bones=self.bones,
            modes=self._modes,
            rotations=np.empty((f, b, 4)),
            positions=np.empty((f, b, 3)),
            sizes=np.ones((f, b)),
            targets=np.empty((len(self.targets), f, 3)),
            worlds=np.empty((f, 4, 4)),
            raw={mode: np.empty((f, b, channel(mode)[1])) for mode in families},
            rests=self._rests(),
        )

    def _rests(self) -> dict[str, Array]:
        bones = self._armature.data.bones
        away = [bones[name] for name in self.bones if name in bones and not bones[name].use_local_location]
        return {bone.name: np.array(bone.matrix_local.to_quaternion()) for bone in away}

    def _finish(self, samples: Samples, record: PoseRecord, worlds: Array, block: slice) -> None:
        """From what was taken down of a block of frames to its samples. Raises RigError where the rig cannot be baked.

        record, worlds: hold the block at their beginning.
        """
        count = block.stop - block.start
        pose = record.matrices[:count].astype(float)
        world, points = self._worlds(worlds[:count], samples.frames[block])
        with np.errstate(all="ignore"):
            sizes = np.linalg.norm(pose[..., :3, :3], axis=-2)
        self._check(samples.frames[block], pose, sizes, record.scales[:count], world, points)
        rotations = rotation.from_matrix(pose[..., :3, :3])
        degree = shear.degree(pose[..., :3, :3])
        samples.shear = max(samples.shear, float(degree.max(initial=0.0)))
        sheared = degree > shear.LEAST
        if sheared.any() and self._aim is not None:
            rotations[sheared, 0] = shear.aimed(rotations[sheared, 0], pose[sheared, 0, :3, :3], self._aim)
        samples.rotations[block], samples.positions[block] = rotations, pose[..., :3, 3]
        samples.sizes[block] = sizes.mean(axis=-1)
        for mode, channels in record.channels.items():
            samples.raw[mode][block] = channels[:count]
        samples.worlds[block] = world
        if self.targets:
            samples.targets[:, block] = seen_from(world, np.swapaxes(points, 0, 1))

    def _check(self, frames: Array, pose: Array, sizes: Array, scales: Array, world: Array, points: Array) -> None:
        """Raise RigError at the first frame that cannot be solved. sizes: (F, b, 3) of the pose's axes."""
        armature, targets = (self._armature.name,), [target.label for target in self.targets]
        with np.errstate(all="ignore"):
            lengths = np.linalg.norm(world[:, :3, :3], axis=1)
            volume = np.linalg.det(world[:, :3, :3] / np.maximum(lengths, 1e-30)[:, None])
            no_size = (lengths.min(axis=1) < 1e-9) | (np.abs(volume) < 1e-9)
            flat = sizes.min(axis=-1) < 1e-9
        negative = scales < 0.0
        _raise_first(
            frames,
            (
                # The object first: what is wrong with it shows in its bones.
                (
                    ~np.isfinite(world).all(axis=(1, 2))[:, None],
                    armature,
                    "Object '{name}' has a transform that is not a number at frame {frame}; fix its animation.",
                ),
                ((no_size & (flat.any(axis=1) | bool(targets)))[:, None], armature, FLAT_OBJECT),
                (~(np.abs(pose) < _NOWHERE).all(axis=(2, 3)), self.bones, NO_POSE),
                (flat, self.bones, FLAT_BONE),
                (
                    negative.any(axis=-1) & ~negative.all(axis=-1),
                    self.bones,
                    "Bone '{name}' has a negative scale at frame {frame}; set a positive scale.",
                ),
                (~np.isfinite(points).all(axis=-1), targets, NO_PLACE),
            ),
        )

    def _check_points(self, frames: Array, points: Array) -> None:
        targets = [target.label for target in self.targets]
        _raise_first(frames, ((~np.isfinite(points).all(axis=-1), targets, NO_PLACE),))


class _Reading:
    """What one sampler takes down at frame after frame, and the samples that this becomes."""

    def __init__(self, sampler: Sampler, frames: Sequence[float], properties: Sequence[str]) -> None:
        self.samples = sampler._empty_samples(frames)
        self._sampler, self._properties = sampler, properties
        moving = fingerprint.animated_paths(sampler._armature)
        self._scaled = len(frames) == 1 or any(path.endswith(".scale") for path in moving)
        self._blocks = sampler._blocks(len(frames))
        size = self._blocks[0].stop
        self._record = PoseRecord.of(size, sampler._count, sampler._rows, self.samples.raw)
        self._worlds = sampler._empty_worlds(self._blocks)

    def take(self, k: int, depsgraph: bpy.types.Depsgraph) -> None:
        """Take down frame number k. Raises RigError where the rig cannot be baked."""
        # Only what Blender gives is taken down here; numpy makes something of a block of frames at once.
        sampler, samples, record = self._sampler, self.samples, self._record
        block = self._blocks[k // self._blocks[0].stop]
        rig = sampler.stand_in(sampler._armature).evaluated_get(depsgraph)
        record.read_pose(k - block.start, rig.pose.bones, scales=self._scaled or not k)
        sampler._read_worlds(depsgraph, self._worlds[k - block.start])
        for path in self._properties:
            value = rig.path_resolve(path)
            if not k:
                samples.properties[path] = np.empty(len(samples.frames), dtype=type(value))
            samples.properties[path][k] = value
        if not k and not self._scaled:
            record.scales[1:] = record.scales[0]
        if k == block.stop - 1:
            sampler._finish(samples, record, self._worlds, block)


def whole_copy(scene: bpy.types.Scene, armature: bpy.types.Object) -> CutDown:
    """As `cut_down` of a sampler: a copy with all bones stands in for an armature; none where that might be posed
    otherwise."""
    try:
        return {armature: cut_down_rig.all_bones(scene, armature)}
    except cut_down_rig.CannotCutDown:
        return {}


def _played(armature: bpy.types.Object) -> tuple[bpy.types.Action | None, int]:
    """The action that an armature plays, and the handle of its slot."""
    data = armature.animation_data
    return (None, 0) if data is None else (data.action, data.action_slot_handle)


def _is_worth(armature: bpy.types.Object, bones: Collection[str], frames: int) -> bool:
    """Whether making a copy with some of the bones costs less than it spares; with constraints or drivers, of which
    nobody knows what they cost, it always does."""
    pose, data = armature.pose.bones, armature.animation_data
    if any(len(bone.constraints) for bone in pose) or (data is not None and len(data.drivers)):
        return True
    return frames * (len(pose) - len(bones)) >= _LEAST


def _raise_first(frames: Array, problems: Sequence[tuple[Array, Sequence[str], str]]) -> None:
    """Raise RigError for the first frame at which anything is wrong, and of several things for the first one listed.

    problems: each (F, m) whether, m names, and a template for the name and the frame.
    """
    first_bad = [(int(np.argmax(bad.any(axis=1))), n) for n, (bad, _, _) in enumerate(problems) if bad.any()]
    if first_bad:
        k, n = min(first_bad)
        bad, names, sentence = problems[n]
        # Of bones, the one nearest to the root: its descendants are affected by it.
        raise complaint(sentence, names[int(np.flatnonzero(bad[k])[-1])], frames[k])


def _follower(scene: bpy.types.Scene, item: bpy.types.Object, bone: str, *, turns: bool = False) -> bpy.types.Object:
    """An empty that is where an object or its bone is. turns: and has its orientation and scale."""
    empty = bpy.data.objects.new("Look-at PD Target", None)
    scene.collection.objects.link(empty)
    constraint = empty.constraints.new("COPY_TRANSFORMS" if turns else "COPY_LOCATION")
    constraint.target, constraint.subtarget = item, bone
    return empty


def _go_quietly(scene: bpy.types.Scene, whole: int, part: float) -> None:
    """Go to a frame of a scene; to set that of one scene alone has each window draw its status bar."""
    scenes = list(bpy.data.scenes)
    frames = np.empty(len(scenes), dtype=np.int32)
    bpy.data.scenes.foreach_get("frame_current", frames)
    place, part = scenes.index(scene), float(np.float32(part))
    is_there = scene.frame_current == whole and scene.frame_subframe == part
    if is_there or frames.min() < 0:
        # At the same frame nothing else has Blender evaluate what is put on the rig meanwhile. And no property is set
        # to a frame below 0, unless the preferences allow that.
        scene.frame_current = whole
    else:
        frames[place] = whole
        bpy.data.scenes.foreach_set("frame_current", frames)
    if scene.frame_subframe != part:
        parts = np.empty(len(scenes), dtype=np.float32)
        bpy.data.scenes.foreach_get("frame_subframe", parts)
        parts[place] = part
        bpy.data.scenes.foreach_set("frame_subframe", parts)


_open: list[Sampler] = []
_in_window = not bpy.app.background
_is_resting = _is_to_begin = _is_to_end = _keeps = False
_seconds_opening = 0.0


def _note_opening(seconds: float) -> None:
    global _seconds_opening
    _seconds_opening += seconds


def seconds_opening() -> float:
    """Seconds that making temporary scenes has taken in all: what a slice of work is too short to pay for."""
    return _seconds_opening


def park_all() -> None:
    """Leave nothing of any sampling in the file, for now: it goes on as if nothing had been."""
    global _is_resting, _keeps
    _is_resting = _keeps = False
    for sampler in list(_open):
        sampler.park()


def rest_all() -> None:
    """Leave temporary scenes in the file until `go_on`, between two slices, where that changes nothing that is seen.

    To make and to remove one has Blender relate and draw all that the window shows again, which takes longer than a
    slice. Whoever calls this sees to it that `park_all` is called before anything else looks at the file.
    """
    global _is_resting, _keeps
    for sampler in list(_open):
        if not sampler._can_rest:
            sampler.park()
    _is_resting, _keeps = bool(_open), False


def can_rest() -> bool:
    """Whether all that is sampled with now stays in the file between two slices, so that it is made only once."""
    return all(sampler._can_rest for sampler in _open)


def note_begin() -> None:
    """The next step makes a temporary scene, see `is_to_begin`."""
    global _is_to_begin
    _is_to_begin = True


def is_to_begin() -> bool:
    """Whether the next step makes a temporary scene or copies of rigs, which takes as long as a slice of the work; once
    for each time."""
    global _is_to_begin
    found, _is_to_begin = _is_to_begin, False
    return found


def note_end() -> None:
    """The next step leaves nothing of a sampling in the file."""
    global _is_to_end
    _is_to_end = True


def is_to_end() -> bool:
    """Whether the next step removes a temporary scene, after which Blender relates and draws all that the window shows;
    once for each time."""
    global _is_to_end
    found, _is_to_end = _is_to_end and bool(_open), False
    return found


def go_on() -> None:
    """What rests is sampled with again. Until `rest_all` or `park_all` a temporary scene that has served is left to the
    next sampler of the same."""
    global _is_resting, _keeps
    _is_resting, _keeps = False, True


def is_resting() -> bool:
    """Whether the file holds a temporary scene between two slices."""
    return _is_resting


def remove_left() -> None:
    """Remove temporary scenes that nobody samples with, and actions that are for such: an undo step or a file has them
    where a script that no event had started pushed the step, or quit, between two slices; the actions also where
    somebody did something then."""
    at_work = [sampler.scene for sampler in _open]
    for scene in [scene for scene in bpy.data.scenes if TEMPORARY in scene and scene not in at_work]:
        for item in [item for item in scene.collection.objects if list(item.users_scene) == [scene]]:
            if item.type == "ARMATURE":
                cut_down_rig.remove(item)
            else:
                bpy.data.objects.remove(item)
        bpy.data.scenes.remove(scene)
    for action in [action for action in bpy.data.actions if TEMPORARY in action and not action.users]:
        bpy.data.actions.remove(action)


def objects_in_file() -> int:
    """How many objects of the file belong to temporary scenes, now."""
    return sum(sampler.data_in_file for sampler in _open)


def seen_from(worlds: Array, points: Array) -> Array:
    """Points of the world (n, F, 3) in the space of an object with these matrices (F, 4, 4)."""
    to_object = np.linalg.inv(worlds)
    places = to_object[None, :, :3, :3] @ points[..., None] + to_object[None, :, :3, 3:]
    return places[..., 0]


class ShownPose:
    """One armature as a view layer shows it, changes without keys included, again and again as samples of one frame."""

    def __init__(self, scene: bpy.types.Scene, armature: bpy.types.Object, bones: Sequence[str]) -> None:
        self._scene, self._armature = scene, armature
        self._sampler = Sampler(scene, armature, bones, located=True)
        rows = {name: n for n, name in enumerate(armature.pose.bones.keys())}
        samples = self._sampler._empty_samples([scene.frame_current])
        order = np.array([rows[name] for name in bones], dtype=int)
        self._record = PoseRecord.of(1, len(rows), order, samples.raw)

    def read(self, rig: bpy.types.Object) -> Samples:
        """The pose of the evaluated armature. Raises RigError where it cannot be solved."""
        samples = self._sampler._empty_samples([self._scene.frame_current])
        self._record.read_pose(0, rig.pose.bones, scales=True)
        world = np.array(rig.matrix_world, dtype=np.float32).T.reshape(1, 1, 16)
        self._sampler._finish(samples, self._record, world, slice(0, 1))
        return samples


def run(steps: Generator[Samples, None, Samples]) -> Samples:
    """Take all steps of `Sampler.sample` and return what they filled."""
    return drain(steps)


def sample_frames(
    sampler: Sampler,
    frames: Sequence[float] | Array,
    properties: Sequence[str] = (),
    before: Callable[[], None] | None = None,
    take: Callable[[int, bpy.types.Depsgraph], object] | None = None,
) -> Generator[float, None, Samples]:
    """The rig at these frames, cut down where that is worth it; yields the completed fraction. Raises RigError.

    properties, before: as for `Sampler.sample`. take: called with the number of each frame and what is evaluated at it,
    for what else is read there.
    """
    samples, wanted = None, np.asarray(frames).tolist()
    for _ in sampler.prepare(wanted):
        yield 0.0
    for k, samples in enumerate(sampler.sample(wanted, properties, before)):  # noqa: B007
        if take is not None:
            take(k, sampler.scene.view_layers[0].depsgraph)
        yield (k + 1) / len(wanted)
    assert samples is not None, "there is at least one frame"
    return samples
