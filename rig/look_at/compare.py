"""The plain animation of a character, without look-ats and without what was baked, to be drawn beside the result.

What is kept may be thrown away at any time. Ghosts are kept by armature, as long as *Compare* is on.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.progress import drain
from ...lookat_pd.rotation import Array
from ..animation import actions
from ..animation.bake_transaction import is_layer, source_of
from ..animation.channels import TRANSFORM_SIZES
from ..animation.playing import play
from ..sampling import fingerprint, sampler, scene_time, suspend
from . import looking

_WAIST, _THICK = 0.12, 0.08
"""Where an octahedron is widest, and half its width there, as fractions of the bone's length."""
_EDGES = np.array([(0, n) for n in range(1, 5)] + [(5, n) for n in range(1, 5)] + [(1, 2), (2, 3), (3, 4), (4, 1)])


@dataclass(frozen=True)
class Ghost:
    """The bones of a plain animation from frame `first` on, in armature space: orientations (F, n, 4), positions (F, n,
    3) and lengths (F, n) [m]."""

    bones: tuple[str, ...]
    first: int
    rotations: Array
    positions: Array
    lengths: Array
    made_from: bytes
    """Digest of the animation."""
    of_bake: bool
    """Whether a bake was playing."""

    def outline(self, frame: float, world: Array) -> Array:
        """The bones as octahedra at a frame: lines (k, 2, 3) in the world. world: (4, 4) of the armature."""
        k = int(np.clip(round(frame) - self.first, 0, len(self.rotations) - 1))
        size, thick = self.lengths[k][:, None], _THICK * self.lengths[k][:, None]
        waist = _WAIST * size * (0.0, 1.0, 0.0)
        sides = [waist + thick * np.array(side) for side in ((1, 0, 0), (0, 0, 1), (-1, 0, 0), (0, 0, -1))]
        corners = np.stack((np.zeros_like(waist), *sides, size * (0.0, 1.0, 0.0)), axis=1)
        corners = self.positions[k][:, None] + rotation.rotate(self.rotations[k][:, None], corners)
        lines = corners[:, _EDGES].reshape(-1, 2, 3)
        return lines @ world[:3, :3].T + world[:3, 3]

    def tips(self, frame: float) -> Array:
        """The ends (n, 3) of the bones at a frame, in armature space."""
        k = int(np.clip(round(frame) - self.first, 0, len(self.rotations) - 1))
        along = self.lengths[k][:, None] * (0.0, 1.0, 0.0)
        return self.positions[k] + rotation.rotate(self.rotations[k], along)


_ghosts: dict[int, Ghost] = {}


def ghost(armature: bpy.types.Object) -> Ghost | None:
    """The plain animation of an armature that is shown; None where *Compare* is off, or what it is compared with is
    not there: the bake no longer plays, or its source was deleted."""
    shown = _ghosts.get(armature.session_uid)
    return None if shown is None or (shown.of_bake and not _is_baked(armature)) else shown


def is_on() -> bool:
    """Whether any armature is compared."""
    return bool(_ghosts)


def show(armature: bpy.types.Object, ghost: Ghost) -> None:
    """Let a plain animation be drawn."""
    _ghosts[armature.session_uid] = ghost


def hide(armature: bpy.types.Object | None = None) -> None:
    """Draw it no more; None for all armatures."""
    if armature is None:
        _ghosts.clear()
    else:
        _ghosts.pop(armature.session_uid, None)


def out_of_date() -> list[bpy.types.Object]:
    """The armatures of which a plain animation is drawn and whose animation is another one since."""
    items = [item for item in bpy.data.objects if item.session_uid in _ghosts and ghost(item) is not None]
    return [item for item in items if _ghosts[item.session_uid].made_from != _digest(item)]


def is_comparable(armature: bpy.types.Object) -> bool:
    """Whether there is a live look-at, or a bake whose source is known."""
    live = any(not bone.lookat_pd.mute for bone in looking.bones(armature))
    return live or _is_baked(armature)


def plain(scene: bpy.types.Scene, armature: bpy.types.Object) -> Generator[float, None, Ghost]:
    """Sample the plain animation over the frames of the scene, as a generator of the fraction done. Raises RigError.

    The bones that deform are sampled, or all where none does.
    """
    if not is_comparable(armature):
        raise RigError("There is neither a live look-at nor a bake to compare; add a look-at first.")
    first, last = scene_time.key_range(scene)
    bones = tuple(bone.name for bone in armature.data.bones if bone.use_deform) or tuple(armature.data.bones.keys())
    frames = np.arange(int(first), int(last) + 1)
    made_from, baked = (yield from _digesting(armature)), _is_baked(armature)
    with suspend.suspend_live(), _sampler(scene, armature, bones, of_bake=baked) as sampling:
        seen = yield from sampler.sample_frames(sampling, frames)
    lengths = seen.sizes * [armature.data.bones[name].length for name in bones]
    return Ghost(bones, int(frames[0]), seen.rotations, seen.positions, lengths, made_from, baked)


def _sampler(
    scene: bpy.types.Scene, armature: bpy.types.Object, bones: tuple[str, ...], *, of_bake: bool
) -> sampler.Sampler:
    # Between two slices the animator sees what played before.
    copied = sampler.whole_copy(scene, armature)
    left_out = _bakes(armature) if of_bake else None
    return sampler.Sampler(scene, armature, bones, cut_down=copied, left_out=left_out)


def _bakes(armature: bpy.types.Object) -> suspend.LeftOut:
    """What is left out where an armature is to play what was baked from: layers of bakes, and all that is live."""
    return suspend.EVERYTHING.changing(armature, partial(_without_bakes, armature), partial(_play_source, armature))


def _play_source(armature: bpy.types.Object, item: bpy.types.Object) -> None:
    """Let an armature, or a copy of it, play what was baked from, and no layers of bakes."""
    source = _source(armature)
    for track in _layers(item):
        track.mute = True
    if source is not None:
        play(item, source, actions.find_slot(armature, source))


@contextmanager
def _without_bakes(armature: bpy.types.Object) -> Iterator[None]:
    """Let the armature itself do so meanwhile."""
    source, layers, data = _source(armature), _layers(armature), armature.animation_data
    pose = [(bone, name, tuple(getattr(bone, name))) for bone in armature.pose.bones for name in TRANSFORM_SIZES]
    action, slot = data.action, data.action_slot
    try:
        _play_source(armature, armature)
        yield
    finally:
        for track in layers:
            track.mute = False
        if source is not None:
            play(armature, action, slot)
        # Another action evaluates the pose anew; what is not keyed stays as the animator has it.
        for layer in (layer for scene in armature.users_scene for layer in scene.view_layers):
            layer.update()
        for bone, name, values in pose:
            if tuple(getattr(bone, name)) != values:
                setattr(bone, name, values)


def _source(armature: bpy.types.Object) -> bpy.types.Action | None:
    """The action from which the current one was baked; None where it was not baked, or the source is gone."""
    data = armature.animation_data
    return source_of(data.action) if data is not None and data.action is not None else None


def _is_baked(armature: bpy.types.Object) -> bool:
    """Whether the armature plays a bake whose source is known."""
    return _source(armature) is not None or bool(_layers(armature))


def _layers(armature: bpy.types.Object) -> list[bpy.types.NlaTrack]:
    """The NLA tracks that play layers of bakes."""
    data = armature.animation_data
    tracks = data.nla_tracks if data is not None else ()
    return [track for track in tracks if not track.mute and any(is_layer(strip.action) for strip in track.strips)]


def _digest(armature: bpy.types.Object) -> bytes:
    """Of the animation that plays and of that it is baked from."""
    return drain(_digesting(armature))


def _digesting(armature: bpy.types.Object) -> Generator[float, None, bytes]:
    data, found = armature.animation_data, b""
    for item in (armature, data.action, _source(armature)) if data is not None else (armature,):
        if item is not None:
            found += yield from fingerprint.gradually(item)
        yield 0.0
    return found
