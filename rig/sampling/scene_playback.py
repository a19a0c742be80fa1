"""Targets that only the animator's scene places right, as where physics moves them: that scene is played for them.

What is found is kept as long as nothing that it depends on changes. The scene is left at its frame, with the poses that
have no keys.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from time import perf_counter
from typing import Any

import bpy
import numpy as np

from ...lookat_pd.message import Message
from ...lookat_pd.rotation import Array
from ..animation import data_paths
from . import fingerprint, own_data, physics, suspend
from .targets import Target, world_matrix

_KEPT = 8
"""How many targets' places are kept."""
_ALIKE = 1e-4
"""How far places that are looked up may be from those that were played, as a part of their size."""
_READ = "The whole scene is evaluated for '{target}', which depends on its camera or view; that took {seconds} s."
_BAKED = "The whole scene is evaluated for '{target}', which is moved by physics; that took {seconds} s."
_PLAYED = (
    "'{target}' is moved by physics without a baked cache, which was played from its start ({seconds} s); "
    "bake the physics to keep it."
)
_UNKNOWN = (
    "Where '{target}' is cannot be known, because physics without a baked cache moves it and another frame "
    "shows it elsewhere when it is played again; bake the physics."
)
_BLIND = (
    "Bones of '{armature}' are moved by physics, which is not seen when the rig is sampled; bake them to keys, or what "
    "depends on them is off."
)


@dataclass(frozen=True)
class Places:
    """Where a target was seen in the animator's scene, at consecutive whole frames."""

    first: int
    worlds: Array
    """(F, 4, 4) matrices in the world."""
    note: Message | None
    """Why the scene was played, and how long that took."""

    def at(self, frame: float) -> Array:
        """The matrix (4, 4) at a frame, between whole frames in proportion."""
        place = min(max(frame - self.first, 0.0), len(self.worlds) - 1.0)
        before = min(math.floor(place), max(len(self.worlds) - 2, 0))
        after = min(before + 1, len(self.worlds) - 1)
        part = place - before
        return self.worlds[before] if part == 0.0 else (1.0 - part) * self.worlds[before] + part * self.worlds[after]

    def covers(self, frames: Sequence[float]) -> bool:
        return self.first <= min(frames) and max(frames) <= self.first + len(self.worlds) - 1


_kept: dict[tuple, tuple[bytes, Places]] = {}
"""By scene and target: a digest of what the places depend on, and these."""


def needs(scene: bpy.types.Scene, target: Target) -> list[physics.Need]:
    """Why a target has to be seen in the animator's scene; empty where it need not be."""
    if target.object is None:
        return []
    return physics.needs(scene, fingerprint.dependencies(scene, [target.object]).values())


def blind_note(scene: bpy.types.Scene, armature: bpy.types.Object) -> list[Message]:
    """A note where constraints hang bones of a rig on something that only the animator's scene places right."""
    followed = [
        holder.target
        for bone in armature.pose.bones
        for constraint in bone.constraints
        if not own_data.is_live_constraint(constraint)
        for holder in (constraint, *getattr(constraint, "targets", ()))
        if getattr(holder, "target", None) not in (None, armature)
    ]
    used = fingerprint.dependencies(scene, followed)
    used.pop(fingerprint.identity(armature), None)
    found = any(need.is_physics for need in physics.needs(scene, used.values()))
    return [Message(_BLIND, armature=armature.name)] if found else []


def places(scene: bpy.types.Scene, targets: Sequence[Target], frames: Sequence[float]) -> list[Places]:
    """Where targets with `needs` are at these frames and between them; those that are not known are played at once."""
    if len(frames) == 1 and frames[0] == scene.frame_current_final:
        depsgraph = _view_layer(scene).depsgraph
        shown = [_world(target.object, target.bone, depsgraph) for target in targets if target.object is not None]
        return [Places(math.floor(frames[0]), world[None], None) for world in shown]
    found = [_known(scene, target, frames) for target in targets]
    missing = [target for target, known in zip(targets, found, strict=True) if known is None]
    if missing:
        played = iter(_play(scene, missing, math.floor(min(frames)), math.ceil(max(frames))))
        found = [known or next(played) for known in found]
    return [known for known in found if known is not None]


def _key(scene: bpy.types.Scene, target: Target) -> tuple:
    assert target.object is not None
    return scene.session_uid, target.object.session_uid, target.bone


def _known(scene: bpy.types.Scene, target: Target, frames: Sequence[float]) -> Places | None:
    known = _kept.get(_key(scene, target))
    if known is None or not known[1].covers(frames):
        return None
    return known[1] if known[0] == _digest(scene, target) else None


def _digest(scene: bpy.types.Scene, target: Target) -> bytes:
    """Of all that the place of a target depends on; empty, which is never the same, where layers move some of it."""
    found = blake2b(digest_size=16)
    used = fingerprint.dependencies(scene, [target.object])
    for identity, item in sorted(used.items(), key=lambda pair: pair[0]):
        if isinstance(item, bpy.types.Object) and any(map(own_data.is_live_constraint, _constraints(item))):
            return b""
        found.update(repr(identity).encode() + fingerprint.fingerprint(item))
    found.update(fingerprint.fingerprint(scene))
    return found.digest()


def _constraints(item: bpy.types.Object) -> Iterator[bpy.types.Constraint]:
    yield from item.constraints
    for bone in item.pose.bones if item.pose is not None else ():
        yield from bone.constraints


def _play(scene: bpy.types.Scene, targets: Sequence[Target], first: int, last: int) -> list[Places]:
    """Step the animator's scene through whole frames, from where a simulation has to begin."""
    begin = perf_counter()
    causes = [needs(scene, target) for target in targets]
    starts = [need.start for cause in causes for need in cause if need.start is not None]
    worlds = np.empty((len(targets), last - first + 1, 4, 4))
    with suspend.suspend_live(), _left_alone(scene), _seen(scene, targets) as seen:
        for frame in range(min([first, *starts]), last + 1):
            depsgraph = _go_to(scene, frame)
            if frame >= first:
                worlds[:, frame - first] = [_world(item, bone, depsgraph) for item, bone in seen]
        doubtful = _doubtful(scene, seen, worlds, first) if starts else [False] * len(targets)
    seconds = f"{perf_counter() - begin:.1f}"
    found = []
    for n, target in enumerate(targets):
        known = Places(first, worlds[n], _note(target, causes[n], seconds, is_doubtful=doubtful[n]))
        _keep(scene, target, known)
        found.append(known)
    return found


def _keep(scene: bpy.types.Scene, target: Target, known: Places) -> None:
    digest = _digest(scene, target)
    _kept.pop(_key(scene, target), None)
    if digest:
        _kept[_key(scene, target)] = digest, known
        while len(_kept) > _KEPT:
            _kept.pop(next(iter(_kept)))


def _note(target: Target, causes: Sequence[physics.Need], seconds: str, *, is_doubtful: bool) -> Message:
    if is_doubtful:
        return Message(_UNKNOWN, target=target.label)
    if any(need.start is not None for need in causes):
        return Message(_PLAYED, target=target.label, seconds=seconds)
    sentence = _BAKED if any(need.is_physics for need in causes) else _READ
    return Message(sentence, target=target.label, seconds=seconds)


def asks_to_bake(note: str) -> bool:
    """Whether a note asks for a bake of the physics that moves a target."""
    return isinstance(note, Message) and note.template in (_PLAYED, _UNKNOWN)


def _doubtful(
    scene: bpy.types.Scene, seen: Sequence[tuple[bpy.types.Object, str]], worlds: Array, first: int
) -> list[bool]:
    """Which targets are elsewhere when the scene goes to a frame at once: what was played was not kept."""
    doubtful = np.zeros(len(seen), dtype=bool)
    for k in {0, worlds.shape[1] // 2}:
        depsgraph = _go_to(scene, first + k)
        for n, (item, bone) in enumerate(seen):
            away = np.abs(_world(item, bone, depsgraph) - worlds[n, k]).max()
            doubtful[n] |= not away <= _ALIKE * max(1.0, np.abs(worlds[n, k]).max())
    return doubtful.tolist()


def _go_to(scene: bpy.types.Scene, frame: int) -> bpy.types.Depsgraph:
    """The scene at a frame of keys, which it shows at another one where its time is stretched."""
    shown = frame * scene.render.frame_map_new / scene.render.frame_map_old
    scene.frame_set(math.floor(shown), subframe=shown - math.floor(shown))
    return _view_layer(scene).depsgraph


def _world(item: bpy.types.Object, bone: str, depsgraph: bpy.types.Depsgraph) -> Array:
    return np.array(world_matrix(item.evaluated_get(depsgraph), bone))


def _view_layer(scene: bpy.types.Scene) -> bpy.types.ViewLayer:
    shown = getattr(bpy.context, "view_layer", None)
    return shown if shown is not None and bpy.context.scene == scene else scene.view_layers[0]


@contextmanager
def _seen(scene: bpy.types.Scene, targets: Sequence[Target]) -> Iterator[list[tuple[bpy.types.Object, str]]]:
    """What to read for each target: itself, or an empty that is where it is if Blender does not evaluate it."""
    made: list[bpy.types.Object] = []
    seen = []
    layer = _view_layer(scene)
    try:
        for target in targets:
            item = target.object
            assert item is not None
            if item.visible_get(view_layer=layer):
                seen.append((item, target.bone))
                continue
            empty = bpy.data.objects.new("Look-at PD Target", None)
            made.append(empty)
            scene.collection.objects.link(empty)
            constraint = empty.constraints.new("COPY_TRANSFORMS")
            constraint.target, constraint.subtarget = item, target.bone
            seen.append((empty, ""))
        yield seen
    finally:
        for empty in made:
            scene.collection.objects.unlink(empty)
        if made:
            # Removed from what is evaluated, they would take the caches of rigid bodies along.
            layer.update()
        for empty in made:
            bpy.data.objects.remove(empty)


# What is left as it was


@contextmanager
def _left_alone(scene: bpy.types.Scene) -> Iterator[None]:
    """Back to the frame afterwards, with what was changed there and has no key for it."""
    frame, subframe = scene.frame_current, scene.frame_subframe
    before = list(_animated_values())
    try:
        yield
    finally:
        scene.frame_set(frame, subframe=subframe)
        changed = False
        for item, path, value in before:
            changed |= _set(item, path, value)
        if changed:
            _view_layer(scene).update()


def _animated_values() -> Iterator[tuple[bpy.types.ID, str, Any]]:
    """The values of all that has keys in the file, as they stand."""
    for item in _all_data():
        for path in fingerprint.keyed_paths(item):
            try:
                yield item, path, _plain(item.path_resolve(path))
            except ValueError:
                # Keys of something that is not there.
                continue


def _all_data() -> Iterator[bpy.types.ID]:
    """All of the file that may have animation, with the nodes of materials and the like."""
    for kind in bpy.data.bl_rna.properties:
        for item in getattr(bpy.data, kind.identifier) if kind.type == "COLLECTION" else ():
            if item.library is None:
                yield from fingerprint.whole(item)


def _plain(value: Any) -> Any:
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


def _set(item: bpy.types.ID, path: str, value: Any) -> bool:
    """Give a property its value back; whether it had another one."""
    if _plain(item.path_resolve(path)) == value:
        return False
    owner, key = data_paths.split_key(path)
    if key:
        (item.path_resolve(owner) if owner else item)[key] = value
    else:
        owner, _, name = path.rpartition(".")
        setattr(item.path_resolve(owner) if owner else item, name, value)
    return True
