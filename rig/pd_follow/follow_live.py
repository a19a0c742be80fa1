"""PD Follow kept up to date: solved again over the frames of the scene before an evaluation, when an input has changed.

What is solved is native data, so frames, playback and rendering need nothing from here.
"""

import time
from dataclasses import dataclass, field

import bpy
from bpy.app.handlers import persistent

from ...lookat_pd.errors import LookAtError
from ...lookat_pd.progress import drain
from ..layers import layer
from ..sampling import fingerprint, own_data, scene_time, suspend
from . import follow_solve, owners, settings
from .follow_layer import FollowLayer
from .follow_solve import FollowSamples
from .owners import Owner

_AT_ONCE = 0.1
"""Seconds that solving may take for the window to wait for it at every step of a drag."""
_LATER = 0.3
"""Seconds without a change after which what takes longer is solved."""


@dataclass
class _Known:
    """What one owner was last solved from. kinds: of all data that its inputs are."""

    inputs: tuple = ()
    tuning: tuple = ()
    samples: FollowSamples | None = None
    kinds: frozenset[str] = fingerprint.KINDS
    seconds: float = 0.0
    error: str = ""


@dataclass
class _Scene:
    owners: list[Owner]
    count: int
    built: int
    known: dict[tuple[int, str], _Known] = field(default_factory=dict)


_scenes: dict[int, _Scene] = {}
_structure = 0
"""Goes up whenever something else may follow."""
_looked: set[tuple[int, int]] = set()
"""Scenes that were searched since then, for files in which nothing follows."""
_due = 0.0
_layers = False
"""Whether what look-ats add has changed since: Blender does not say so in the update after."""


def _is_any() -> bool:
    return any(FollowLayer.mark in action for action in bpy.data.actions)


def touch(*_: object) -> None:
    """What follows may be another: find out before the next evaluation."""
    global _structure
    _structure += 1
    _looked.clear()


def error_of(scene: bpy.types.Scene, owner: Owner) -> str:
    """What is wrong with an owner, a sentence with the remedy; "" where nothing is."""
    state = _scenes.get(scene.session_uid)
    known = state.known.get(owner.key) if state is not None else None
    return known.error if known is not None else ""


def update(scene: bpy.types.Scene, *, now: bool = True) -> None:
    """Solve what has changed, and let the constraints show it. now: even if that takes long."""
    if suspend.is_live_suspended() or own_data.TEMPORARY in scene:
        return
    if not _is_any() and (scene.session_uid, _structure) in _looked:
        return
    _looked.add((scene.session_uid, _structure))
    try:
        _update(scene, now=now)
    except ReferenceError:
        # Something that was held is gone from the file without a sign.
        _forget()
        _update(scene, now=now)


def _update(scene: bpy.types.Scene, *, now: bool) -> None:
    global _layers
    state = _scenes.get(scene.session_uid)
    if state is None or state.built != _structure or state.count != len(scene.objects):
        known = state.known if state is not None else {}
        state = _scenes[scene.session_uid] = _Scene(owners.in_scene(scene), len(scene.objects), _structure, known)
    elif not _due and not _layers and not fingerprint.changed_kinds(scene, _kinds(state)):
        return
    _layers = False
    for owner in state.owners:
        with suspend.suspend_live():
            _refresh(scene, owner, state.known.setdefault(owner.key, _Known()), now=now)


def _kinds(state: _Scene) -> frozenset[str]:
    return frozenset().union(fingerprint.KINDS, *(known.kinds for known in state.known.values()))


def _refresh(scene: bpy.types.Scene, owner: Owner, known: _Known, *, now: bool) -> None:
    if owner.settings.mute or owner.object.mode == "EDIT":
        FollowLayer(owner).hide()
        known.inputs, known.error = (), ""
        return
    inputs, tuning = _inputs(scene, owner, known), _tuning(owner)
    if (inputs, tuning) == (known.inputs, known.tuning):
        return
    if not now and known.seconds > _AT_ONCE:
        _solve_later()
        return
    begin = time.perf_counter()
    try:
        known.error = ""
        owners.check(owner)
        if known.samples is None or inputs != known.inputs:
            first, last = scene_time.key_range(scene)
            known.samples = drain(follow_solve.sample(scene, owner, first, last))
        motion = follow_solve.solve(owner, known.samples, scene_time.seconds_per_frame(scene))
        shown = FollowLayer(owner)
        shown.install(shown.places)
        shown.show(motion.first, motion.rows(owner.bone))
    except LookAtError as error:
        known.error, known.samples = str(error), None
        FollowLayer(owner).hide()
    known.seconds = time.perf_counter() - begin
    # What was written just now is no change to be looked into.
    known.inputs, known.tuning = _inputs(scene, owner, known), tuning


def _tuning(owner: Owner) -> tuple:
    """Settings that samples do not depend on."""
    return settings.values(owner.settings)


def _inputs(scene: bpy.types.Scene, owner: Owner, known: _Known) -> tuple:
    """All that samples are taken from."""
    s = owner.settings
    standing = tuple(
        getattr(s, name)
        for name in settings.KEYABLE
        if not fingerprint.animates(owner.object, owner.settings_path + name)
    )
    reached = fingerprint.reach(scene, [owner.object, s.target])
    known.kinds = frozenset(kind for kind, _ in reached)
    prints = frozenset((identity, fingerprint.fingerprint(item)) for identity, item in reached.items())
    layers = [
        [(c.name, k.values.tobytes()) for _, c in layer.own_on(item) if (k := layer.read_keys(c))]
        for _, item in sorted(reached.items())
        if isinstance(item, bpy.types.Object) and item.pose
    ]
    return (
        prints,
        repr(layers),
        standing,
        scene_time.key_range(scene),
        scene_time.seconds_per_frame(scene),
        (s.target.session_uid if s.target is not None else 0, s.subtarget),
        owner.item.rotation_mode,
    )


def _look_ats_changed() -> None:
    global _layers
    if _is_any():
        _layers = True
        if not bpy.app.background:
            _solve_later()


def _solve_later() -> None:
    global _due
    _due = time.perf_counter() + _LATER
    if not bpy.app.timers.is_registered(_tick):
        bpy.app.timers.register(_tick, first_interval=_LATER)


def _tick() -> float | None:
    """Solve what takes long once nothing changes any more."""
    global _due
    if time.perf_counter() < _due or suspend.is_live_suspended() or bpy.app.is_job_running("RENDER"):
        return _LATER
    for window in (window for manager in bpy.data.window_managers for window in manager.windows):
        update(window.scene)
    _due = 0.0
    return None


@persistent
def _before_update(scene: bpy.types.Scene, *_: object) -> None:
    if not bpy.app.is_job_running("RENDER"):
        update(scene, now=bpy.app.background)


@persistent
def _before_frame(scene: bpy.types.Scene, *_: object) -> None:
    """A script may have changed something, and gone to a frame without an update in between."""
    if not bpy.app.is_job_running("RENDER"):
        update(scene)


@persistent
def _before_render(scene: bpy.types.Scene, *_: object) -> None:
    update(scene)


@persistent
def _forget(*_: object) -> None:
    """Data is replaced: hold nothing of it."""
    _scenes.clear()
    touch()


_HANDLERS = (
    ("frame_change_pre", _before_frame),
    ("depsgraph_update_pre", _before_update),
    ("render_init", _before_render),
    ("undo_pre", _forget),
    ("undo_post", _forget),
    ("redo_pre", _forget),
    ("redo_post", _forget),
    ("load_pre", _forget),
    ("load_post", _forget),
)


def register() -> None:
    settings.listeners.append(touch)
    layer.listeners.append(_look_ats_changed)
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).remove(handler)
    settings.listeners.remove(touch)
    layer.listeners.remove(_look_ats_changed)
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
    _forget()
