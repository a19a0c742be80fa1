"""The live loop: layers of all kinds are solved ahead over the scene's frames, and shown before Blender evaluates one.

Nothing here is state of a simulation. What is solved is thrown away and found again at any time, so a frame shows the
same pose however it was reached. The handlers keep three promises: what is solved is right for the data as it is, or
being solved again; playback costs one evaluation of the scene a frame; and nothing is done where there is no layer, nor
for a kind of which the file has none.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import bpy
import numpy as np

from ...lookat_pd.message import Message
from ..guards import callbacks
from ..sampling import fingerprint, own_data, sampler, suspend, transforming
from . import clock, kinds
from .kinds import FRESH, Kind, LayerSolve
from .live_scene import RESTING, LiveScene

_TURN = 0.05
"""Seconds for which a turn of the window's loop may be held up, to see what has changed and to solve; with what is
shown at its end, and what Blender evaluates for that, a tenth of a second. What takes longer goes on in the next."""
_TURN_ON = 0.06
"""The same of a turn after which Blender has little to relate, since temporary scenes rest."""
_LONGEST_TURN, _SHARE = 0.25, 0.3
"""The same where Blender takes long after each turn, to relate and to draw what there is, and which part of that."""
_AT_ONCE, _GIVEN_UP = 0.085, 0.11
"""The same of an edit of which the work until it is seen right should fit into its own turn, which is drawn anyway; and
when that is given up, since it does not."""
_LEAST = 0.02
"""Seconds of work in a turn: where less is left of it, once it was seen what has changed, work waits for the next."""
_LEFT = 0.5
"""Part of a turn that must be left for a slice, or it waits for the next, once: what takes long to look at has Blender
evaluate and draw something as well, as a rule, and a slice begins with what cannot be divided."""
_LOOKING, _LOOKING_ON = 8e-3, 25e-3
"""Seconds for which a turn of the window's loop may read data to see whether it has changed, and what may have changed
beside keys whose solution is under way."""
_PAUSE = 0.005
_CHECK_LATER = 0.3
_REDRAW = 0.5
"""Seconds between two drawings of how far a work has come; one that lasts twice as long shows nothing of it."""
_RESTORED = Message("The keys or constraints that show the result were changed; they are restored.")
_OF_ANOTHER_SCENE = Message(
    "The offsets are those of scene '{scene}', which another window shows; close that window to see those of this one."
)


@dataclass(frozen=True)
class Status:
    """How a live layer is doing."""

    state: str
    """"SOLVED", "SOLVING", "PREVIEW", "STOPPED", "ERROR" or "OFF"."""
    first: int = 0
    """First solved frame."""
    last: int = 0
    """Last solved frame."""
    fraction: float = 0.0
    """Fraction that is done."""
    remaining: float = np.nan
    """Seconds that solving will still take, nan if unknown."""
    seconds: float = 0.0
    """Time that the last solve took [s], 0 where the file had the solution."""
    error: str = ""
    """What is wrong, a sentence with the remedy."""
    notes: tuple[str, ...] = ()
    """What does not move in the body, and why, and what makes solving slow."""


_AnyKind = TypeVar("_AnyKind", bound=Kind)
_scenes: dict[int, LiveScene] = {}
_structure = 0
"""Goes up whenever layers may have come or gone."""
_used: list[type[Kind]] = []
"""Kinds of which the file has something."""
_there: set[type[Kind]] = set()
"""Kinds of which it may have something, such as muted layers."""
_unknown: set[type[Kind]] = set()
"""Kinds of which that is to be found out anew: with thousands of objects it takes milliseconds."""
_objects = -1
_looked: tuple[int, int, frozenset[str]] = -1, -1, frozenset()
"""For which structure and count of objects the file was looked at last while these are not known, and the names of the
kinds of which it may have something then."""
STAND_BY: list[Callable[[bpy.types.Window], bool]] = []
"""Whether something sees to it from now on that `sampler.park_all` is called before an event of a window is handled."""
_lock = threading.RLock()
"""A render calls handlers from a thread of its own."""
_owners: dict[int, int] = {}
"""Which scene an armature, shown in several, was last played in."""
_is_before_drawing = False
_done_before = 0.0
"""Seconds of the processor for which this turn of the window's loop was held up before the slices of work."""
_last = 0
"""The scene that was updated last, by its session identifier."""


@callbacks.handler
def touch(*_: object) -> None:
    """Layers may have come or gone: find out before the next evaluation, and if none comes, soon."""
    global _structure
    _structure += 1
    _unknown.update(kinds.KINDS)
    _wake()


def registration(
    kind: type[Kind], listeners: list[Callable[[], None]]
) -> tuple[Callable[[], None], Callable[[], None]]:
    """The functions that register and unregister a kind whose layers may have changed when `listeners` are called."""
    touched = partial(touch_kind, kind)

    def register() -> None:
        listeners.append(touched)
        kinds.register_kind(kind)

    def unregister() -> None:
        kinds.unregister_kind(kind)
        listeners.remove(touched)

    return register, unregister


def touch_kind(kind: type[Kind]) -> None:
    """The same where only layers of one kind may have."""
    global _structure
    _structure += 1
    _unknown.add(kind)
    _wake()


def update(scene: bpy.types.Scene, *, playing: bool = False) -> None:
    """Before an evaluation of the scene: see what has changed, solve it if that is quick, and put the offsets on."""
    if suspend.is_live_suspended() or own_data.TEMPORARY in scene or not _any(scene):
        return
    with _lock, fingerprint.reading_once():
        try:
            _update(scene, playing=playing)
        except ReferenceError:
            # Something that was held is gone from the file without a sign.
            _let_go()
            _update(scene, playing=playing)


def _update(scene: bpy.types.Scene, *, playing: bool) -> None:
    global _last, _done_before
    begin, state, _last = time.thread_time(), _scene(scene), scene.session_uid
    alone = bpy.app.background or is_rendering()
    within = np.inf if alone else _LOOKING
    state.use(_used)
    touched = fingerprint.changed_kinds(scene, state.data_kinds)
    if touched and not alone and state.as_built == _structure:
        # After an undo Blender reports what is no more.
        state.digests.note(scene)
    if state.as_built != _structure or (alone and state.check_at < np.inf):
        state.refresh(scene, _structure, now=alone, within=within)
    elif touched and state.is_concerned(scene):
        state.refresh(scene, _structure, touched, now=alone, within=within)
    waits = not alone and ((playing and _is_playing()) or (state.is_slow and transforming.is_under_way()))
    # What goes on in slices has had its slice of this turn.
    waits = waits or not (alone or (_rest(begin) and not state.is_in_slices))
    if state.job is not None and not waits:
        if alone or not state.must_sample:
            _advance(state, None if alone else _rest(begin), to_see=not alone)
            state.has_had_turn = not alone
        elif seconds := _at_once(state, begin):
            _advance(state, seconds, to_see=True, whole=True, rests=_is_before_drawing)
            state.has_had_turn = _is_before_drawing
    if state.job is not None or state.check_at < np.inf or state.is_unsure or state.as_built != _structure:
        _wake()
    if _may_show(scene, state, playing) and not (state.is_ending and state.job is not None):
        state.show()
    _know_objects()
    if _is_before_drawing:
        _done_before += time.thread_time() - begin


def _at_once(state: LiveScene, begin: float) -> float:
    """Seconds for which the turn of an edit goes on with a work that takes long: Blender draws the edit anyway, and
    what becomes of it is seen with it. 0 where that waits for the next turn.

    begin: as for `_rest`.
    """
    left, known = _rest(begin, _AT_ONCE), state.seen_within
    if 0.0 < known < left:
        return _rest(begin, _GIVEN_UP)
    # What is begun before Blender draws goes on after that without having to begin again.
    return left if known < (np.inf if _is_before_drawing else left) else 0.0


def _stays(scene: bpy.types.Scene, state: LiveScene | None) -> bool:
    """Whether nothing has changed since an update of the scene that left nothing to do: each frame asks this."""
    if state is None or not state.is_settled or state.as_built != _structure or _last != scene.session_uid:
        return False
    return _count() == _objects and not fingerprint.changed_kinds(scene, state.data_kinds)


def _scene(scene: bpy.types.Scene) -> LiveScene:
    state = _scenes.get(scene.session_uid)
    if state is None:
        state = _scenes[scene.session_uid] = LiveScene()
    return state


def _advance(
    state: LiveScene, seconds: float | None, *, to_see: bool = False, rests: bool = False, whole: bool = False
) -> bool:
    """Solve for so long, or to the end; whether that is reached. Meanwhile the handlers keep still."""
    with suspend.suspend_live():
        return state.advance(seconds, to_see=to_see, rests=rests, whole=whole)


def _stands_by() -> bool:
    """Whether temporary scenes may stay in the file until the next slice: nothing sees them until then."""
    if not STAND_BY or _is_playing() or sum(state.job is not None for state in _scenes.values()) > 1:
        return False
    windows = [window for manager in bpy.data.window_managers for window in manager.windows]
    return all(stand_by(window) for stand_by in STAND_BY for window in windows)


def finish(scene: bpy.types.Scene) -> None:
    """Solve what is out of date to the end, now."""
    if suspend.is_live_suspended() or own_data.TEMPORARY in scene or not _any(scene):
        return
    with _lock:
        try:
            _finish(scene)
        except ReferenceError:
            _let_go()
            _finish(scene)


def _finish(scene: bpy.types.Scene) -> None:
    state = _scene(scene)
    state.stopped = False
    state.use(_used)
    state.refresh(scene, _structure, now=True)
    state.begin()
    state.end_previews()
    _advance(state, None)
    state.show()
    with suspend.suspend_live():
        # All that had changed is known: what is shown now is no change to be looked into.
        for layer in scene.view_layers:
            layer.update()
    _know_objects()


def stop(scene: bpy.types.Scene) -> None:
    """Give up solving until asked again."""
    if state := _scenes.get(scene.session_uid):
        state.stop()
        state.stopped = True


def resume(scene: bpy.types.Scene) -> None:
    """Solve again after `stop`."""
    if state := _scenes.get(scene.session_uid):
        state.stopped = False
        state.begin()
        _wake()


def status(scene: bpy.types.Scene, owner: bpy.types.Object, bone: str = "", kind: str = "", number: int = 0) -> Status:
    """How the layer of an object or a bone is doing; of several that of this kind and number, or of the first."""
    state = _scenes.get(scene.session_uid)
    key = None if state is None else state.key_of(owner, bone, kind, number)
    if state is None or key is None:
        return Status("OFF")
    first, last, _ = state.span
    if key in state.errors:
        return Status("ERROR", first, last, error=state.errors[key])
    if state.stopped:
        return Status("STOPPED", first, last, state.fraction)
    solve = state.solves.get(key)
    notes = () if solve is None else solve.notes
    if state.job is None and state.is_preview(key):
        return Status("PREVIEW", first, last, notes=notes)
    if state.is_at_work:
        return Status("SOLVING", first, last, state.fraction, state.remaining, notes=notes)
    if solve is None:
        return Status("OFF", first, last, 1.0, 0.0, state.seconds)
    if owner.name_full in state.restored:
        notes = (*notes, _RESTORED)
    if other := _elsewhere(scene, owner):
        notes = (*notes, Message(_OF_ANOTHER_SCENE.template, scene=other))
    return Status("SOLVED", first, last, 1.0, 0.0, state.seconds, notes=notes)


def solve_of(scene: bpy.types.Scene, owner: bpy.types.Object, bone: str, kind: str) -> LayerSolve | None:
    """What is kept of the layer of a bone, None where it is not live."""
    state = _scenes.get(scene.session_uid)
    key = None if state is None else state.key_of(owner, bone, kind)
    return None if state is None or key is None else state.solves.get(key)


def solved_kind(scene: bpy.types.Scene, kind: type[_AnyKind]) -> _AnyKind | None:
    """The layers of a kind in a scene, if all layers are solved for the data as it is now; None if not, also where
    their solutions were read from the file."""
    if own_data.TEMPORARY in scene or not _any(scene):
        return None
    with _lock:
        state = _scenes.get(scene.session_uid)
        if state is None or state.stopped or state.job is not None or not state.prints:
            return None
        state.use(_used)
        # What has been changed a moment ago may still be to be looked at.
        state.refresh(scene, _structure, now=True)
        solved = state.job is None and not state.errors
        solved = solved and all(solve.stale == FRESH and not solve.rough for solve in state.solves.values())
        found = state.kinds.get(kind) if solved else None
        return found if isinstance(found, kind) else None


def taken_away(owner: bpy.types.Object, number: int) -> None:
    """The constraints of a layer were removed on purpose, as by a bake."""
    for state in _scenes.values():
        state.forget_shown(owner.session_uid, number)


def unsettled(scene: bpy.types.Scene) -> list[tuple[bpy.types.Object, str, Status]]:
    """Bones with layers that show something else than their solution: armature, bone and how it is doing."""
    state = _scenes.get(scene.session_uid)
    if state is None or not (state.job is not None or state.is_previewing or state.stopped or state.errors):
        return []
    layers = []
    for key, solve in state.solves.items():
        if not solve.bone:
            continue
        how = status(scene, solve.owner, solve.bone, key[0])
        if how.state not in ("SOLVED", "OFF") and not (how.state == "SOLVING" and solve.stale == FRESH):
            layers.append((solve.owner, solve.bone, how))
    return layers


def all_statuses(scene: bpy.types.Scene) -> list[tuple[str, Status]]:
    """How each live layer of a scene is doing, with the name of its kind."""
    state = _scenes.get(scene.session_uid)
    if state is None:
        return []
    return [(key[0], status(scene, solve.owner, solve.bone, key[0])) for key, solve in state.solves.items()]


def is_rendering() -> bool:
    return bpy.app.is_job_running("RENDER")


def _is_playing() -> bool:
    screens = (window.screen for manager in bpy.data.window_managers for window in manager.windows)
    return any(screen.is_animation_playing for screen in screens)


def _any(scene: bpy.types.Scene) -> bool:
    """Whether there is a live layer anywhere; found out again only when there is reason to."""
    if _count() != _objects:
        touch()
        _know_objects()
    if _unknown:
        _find_out()
        if not _used and not is_rendering():
            # Whoever deletes a character leaves the clock that its constraints read.
            clock.remove_unread()
            _know_objects()
            for state in _scenes.values():
                state.forget_shown()
    return bool(_used)


def _find_out() -> None:
    """Of which kinds the file has something."""
    global _used, _there
    found = kinds.in_file(_unknown)
    _there = {kind for kind in kinds.KINDS if kind in (found if kind in _unknown else _there)}
    _used = [kind for kind in kinds.KINDS if kind in _there and (kind in _used or kind in _unknown)]
    _used = [kind for kind in _used if kind not in _unknown or kind.is_used()]
    _unknown.clear()


def is_there(kind: str) -> bool:
    """Whether the file may have anything of a kind of that name, muted layers too."""
    global _looked
    if not _unknown and _count() == _objects:
        return any(found.name == kind for found in _there)
    # Panels ask several times each time they are drawn, also while something samples.
    if _looked[:2] != (_structure, _count()):
        _looked = _structure, _count(), frozenset(found.name for found in kinds.in_file(kinds.KINDS))
    return kind in _looked[2]


def _know_objects() -> None:
    """What was made of objects just now, such as a clock, is no change to be looked into."""
    global _objects
    _objects = _count()


def _count() -> int:
    return len(bpy.data.objects) - sampler.objects_in_file()


def _may_show(scene: bpy.types.Scene, state: LiveScene, playing: bool) -> bool:
    """Offsets of an armature that two windows show in two scenes are those of the scene played last."""
    shown = {} if playing else _scenes_in_windows()
    allowed = True
    for _, uid, _ in state.solves:
        owner = _owners.get(uid, scene.session_uid)
        if playing or owner not in shown or len(shown) < 2:
            _owners[uid] = scene.session_uid
        elif owner != scene.session_uid:
            allowed = False
    return allowed


def _scenes_in_windows() -> dict[int, str]:
    """The scenes that windows show, by session identifier, with their names."""
    windows = (window for manager in bpy.data.window_managers for window in manager.windows)
    return {window.scene.session_uid: window.scene.name for window in windows}


def _elsewhere(scene: bpy.types.Scene, armature: bpy.types.Object) -> str:
    """Name of another scene in a window whose offsets an armature shows, since it can show those of one; else ""."""
    owner = _owners.get(armature.session_uid)
    return "" if owner in (None, scene.session_uid) else _scenes_in_windows().get(owner, "")


# Slices, in a window


def _tick() -> float | None:
    """A slice of the work; how soon the next one is due."""
    if suspend.is_live_suspended() or is_rendering() or not _lock.acquire(blocking=False):
        return _CHECK_LATER
    try:
        with fingerprint.reading_once():
            if not _take_turns():
                return None
        # While temporary scenes rest, whatever somebody does comes before the next slice.
        return 0.0 if sampler.is_resting() else _PAUSE
    except ReferenceError:
        _let_go()
        return None
    finally:
        _lock.release()


def _before_drawing() -> float:
    """After each event, before Blender draws what it has changed: evaluate that, and solve what becomes of it.

    Blender would do so only once it has seen to what windows have to draw. What makes and removes data then has them
    draw once more, in the next turn.
    """
    global _is_before_drawing, _done_before
    manager, _done_before = bpy.context.window_manager, 0.0
    if not _used or suspend.is_live_suspended() or is_rendering() or manager.is_interface_locked:
        return 0.0
    _is_before_drawing = True
    try:
        for window in manager.windows:
            window.view_layer.update()
    finally:
        _is_before_drawing = False
    if sampler.is_resting() and not _stands_by():
        sampler.park_all()
    return 0.0


def _take_turns() -> bool:
    """A slice for each window's scene; whether there is more to do."""
    due, begin = False, time.thread_time() - _done_before
    for window in (window for manager in bpy.data.window_managers for window in manager.windows):
        scene = window.scene
        state = _scenes.get(scene.session_uid)
        if state is None or state.as_built != _structure:
            update(scene)
            state = _scenes.get(scene.session_uid)
        if state is None:
            continue
        if state.has_had_turn:
            # What was done before Blender drew counts for this turn, too.
            state.has_had_turn, due = False, True
            continue
        # What was solved in the turn before this one has been drawn.
        state.time_left.seen(time.perf_counter())
        if state.is_previewing and state.job is None:
            with suspend.suspend_live():
                state.aim_previews(window.view_layer)
        if transforming.is_under_way():
            # What is held is seen as a preview; it is solved when it is let go, also after a long rest.
            due, state.resting = due or state.job is not None or state.check_at < np.inf, 0
            continue
        if time.perf_counter() > state.check_at and not state.is_to_be_seen and _done_before < _LEAST:
            state.resting += 1
            if state.resting >= RESTING or state.job is not None:
                state.refresh(scene, _structure, now=True, within=_LOOKING_ON if state.is_by_keys else _LOOKING)
        elif state.is_unsure and not _is_playing() and state.job is None and state.check_at == np.inf:
            with suspend.suspend_live():
                state.look_again(_LOOKING)
        if state.job is not None:
            state.is_in_slices, state.news, state.found = True, False, False
            # To stand by has Blender evaluate what is tagged, which is looked at and may be solved.
            rests = _stands_by()
            seconds = _turn(state, rests)
            rest = _rest(begin, seconds, _LEAST if state.has_waited else _LEFT * seconds)
            state.has_waited = not rest
            if rest and (_advance(state, rest, rests=rests) or state.news or state.found):
                state.show()
            _redraw(window, state)
        due = due or state.job is not None or state.check_at < np.inf or (state.is_unsure and not _is_playing())
        due = due or state.time_left.is_ending
    return due


def _turn(state: LiveScene, rests: bool) -> float:
    """Seconds that this turn may take: what is removed at the end of a slice has Blender build the relations of its
    scene again, and draw it. Of a character with dozens of clips that takes longer than a turn.

    rests: whether nothing is removed.
    """
    least = _TURN_ON if rests else _TURN
    if state.worked < state.started:
        return least
    return min(max(_SHARE * (time.perf_counter() - state.worked), least), _LONGEST_TURN)


def _rest(begin: float, seconds: float = _TURN, least: float = _LEAST) -> float:
    """What is left for work [s] of a turn that began at that time of the thread and may take so long, 0 where that is
    less than `least`."""
    left = begin + seconds - time.thread_time()
    return left if left > least else 0.0


def _wake() -> None:
    if not bpy.app.background and not callbacks.is_timed(_tick):
        callbacks.start_timer(_tick, _PAUSE)


def _redraw(window: bpy.types.Window, state: LiveScene) -> None:
    """Panels that show how far solving is, now and then, and viewports at its end: they are slow to draw."""
    new = state.job is None or state.news or state.found
    soon = time.perf_counter() < max(state.drawn, state.started + _REDRAW) + _REDRAW or state.remaining < _REDRAW
    if soon and not new:
        return
    state.drawn = time.perf_counter()
    viewport = ("UI", "WINDOW") if new else ("UI",)
    shown = {"VIEW_3D": viewport, "PROPERTIES": ("WINDOW",)}
    for area in window.screen.areas:
        for region in area.regions:
            if region.type in shown.get(area.type, ()):
                region.tag_redraw()


# Handlers


@callbacks.handler
def _before_frame(scene: bpy.types.Scene, *_: object) -> None:
    """A frame needs nothing from here but what no constraint shows, and to hear of what a script has changed."""
    if suspend.is_live_suspended():
        return
    state = _scenes.get(scene.session_uid)
    if bpy.app.background and not is_rendering():
        if not _stays(scene, state):
            update(scene, playing=True)
        elif state is not None:
            state.after_show()
        return
    if state is None or not _used:
        return
    state.end_previews()
    state.after_show()
    if not is_rendering() and not _is_playing() and fingerprint.changed_kinds(scene, state.data_kinds):
        # A script changed something and went to a frame at once: no update comes for it.
        update(scene, playing=True)


@callbacks.handler
def _before_update(scene: bpy.types.Scene, *_: object) -> None:
    update(scene)


@callbacks.handler
def _after_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, *_: object) -> None:
    """Let looks follow targets and bones that are dragged, until there is time to solve them."""
    state = _scenes.get(scene.session_uid)
    if state is None or not _used or bpy.app.background or is_rendering() or suspend.is_live_suspended():
        return
    if own_data.TEMPORARY in scene or _is_playing() or not _lock.acquire(blocking=False):
        return
    try:
        state.follow_edits(scene, depsgraph)
        if state.is_previewing:
            _wake()
    except ReferenceError:
        _let_go()
    finally:
        _lock.release()


@callbacks.handler
def _before_render(scene: bpy.types.Scene, *_: object) -> None:
    sampler.park_all()
    finish(scene)


@callbacks.handler
def _forget(*_: object) -> None:
    """Another file comes: hold nothing of this one."""
    _let_go()
    _scenes.clear()
    _owners.clear()


@callbacks.handler
def _let_go(*_: object) -> None:
    """Data is about to be replaced by an undo: numbers stay, what belongs to Blender is looked up again."""
    for state in _scenes.values():
        state.let_go()
    sampler.park_all()
    touch()


@callbacks.handler
def _find_again(*_: object) -> None:
    """Data was replaced by an undo or another file."""
    sampler.remove_left()
    touch()


@callbacks.handler
def _before_save(*_: object) -> None:
    """Save what the animator has set; to give that back calls for an evaluation, and that closes the lids again."""
    sampler.park_all()
    for scene in bpy.data.scenes:
        if state := _scenes.get(scene.session_uid):
            state.end_previews()
    for kind in _used:
        kind.before_save()


_HANDLERS = (
    ("frame_change_pre", _before_frame),
    ("depsgraph_update_pre", _before_update),
    ("depsgraph_update_post", _after_update),
    ("render_init", _before_render),
    ("undo_pre", _let_go),
    ("redo_pre", _let_go),
    ("undo_post", _find_again),
    ("redo_post", _find_again),
    ("load_pre", _forget),
    ("load_post", _find_again),
    ("save_pre", _before_save),
)


def register() -> None:
    callbacks.add_handlers(_HANDLERS)
    if not bpy.app.background:
        callbacks.start_timer(_before_drawing, 0.0, persistent=True)
    kinds.listeners.append(touch)
    touch()


def unregister() -> None:
    kinds.listeners.remove(touch)
    callbacks.remove_handlers(_HANDLERS)
    _forget()
    callbacks.stop_timer(_tick)
    callbacks.stop_timer(_before_drawing)
