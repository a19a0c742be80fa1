"""The live look-at: solved ahead over the scene's frames, and put on the rig just before Blender evaluates a frame.

Nothing here is state of a simulation. What is solved is thrown away and found again at any time, so a frame shows the
same pose however it was reached. The handlers keep three promises: what is solved is right for the data as it is, or
being solved again; playback costs one evaluation of the scene a frame; and nothing is done where there is no look-at.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ..lookat_pd.errors import LookAtError
from . import attach, inputs, look_at, offsets, sample, settings
from .look_at import LookAt
from .solving import BODY, FRESH, SETTINGS, TARGETS, Part, Shot

_AT_ONCE = 0.1
"""Seconds for which a handler may hold the window up to solve; what takes longer goes on in slices."""
_SLICE = 0.06
_PAUSE = 0.005
_CHECK_LATER = 0.3
_REDRAW = 0.25
_NONE: tuple[set, set] = set(), set()
Key = tuple[int, int]
"""An armature's session identifier and a look-at's number on it: they stay whatever is renamed."""


@dataclass(frozen=True)
class Status:
    """How a live look-at is doing. state: "SOLVED", "SOLVING", "STOPPED", "ERROR" or "OFF".

    fraction: done so far. left: seconds that solving will still take, nan if unknown. seconds: how long the last
    solve took. first, last: frames solved. error: what is wrong, a sentence with the remedy.
    """

    state: str
    first: int = 0
    last: int = 0
    fraction: float = 0.0
    left: float = np.nan
    seconds: float = 0.0
    error: str = ""


class _Scene:
    """The live look-ats of one scene."""

    def __init__(self) -> None:
        self.shot: Shot | None = None
        self.parts: dict[Key, Part] = {}
        self.errors: dict[Key, str] = {}
        self.span: tuple[int, int, float] = (0, 0, 0.0)
        self.as_built = -1
        self.places: dict[Key, tuple] = {}
        self.settings: dict[Key, tuple] = {}
        self.keyed: dict[Key, frozenset[str]] = {}
        self.editing: frozenset[int] = frozenset()
        self.prints: dict[tuple[str, str], bytes] = {}
        self.reach: dict[Key, tuple[set, set]] = {}
        self.job: Iterator[float] | None = None
        self.stopped = False
        self.fraction, self.started, self.spent, self.seconds = 0.0, 0.0, 0.0, 0.0
        self.check_at, self.drawn = np.inf, 0.0

    # What has changed

    def refresh(self, scene: bpy.types.Scene, *, now: bool) -> None:
        """Find out what is out of date. now: do not put off what is slow to tell."""
        span = (*sample.key_range(scene), sample.seconds_per_frame(scene))
        if self._is_outdated(scene, span):
            self._rebuild(scene, span)
        tuned = self._settings_changed()
        if tuned and not now:
            # A slider is being moved: nothing else can be, so look at the rest a little later.
            self.check_at = time.perf_counter() + _CHECK_LATER
            edited = False
        else:
            self.check_at = np.inf
            edited = self._inputs_changed(scene)
        # What is still to be sampled is solved with the new settings anyway.
        if edited or any(part.samples is not None for part in tuned):
            self.stop()
            self.begin()

    def _is_outdated(self, scene: bpy.types.Scene, span: tuple[int, int, float]) -> bool:
        """Whether look-ats may have come or gone, or are on other bones, or the frames are others."""
        if self.as_built != _structure or span != self.span or self.editing != _editing(scene) or self.unresolved:
            return True
        return not all(_stands(part.look_at) for part in self.parts.values())

    def _rebuild(self, scene: bpy.types.Scene, span: tuple[int, int, float]) -> None:
        """Find the look-ats that there are; what is known of them and still right is kept."""
        self.stop()
        before_parts = self.parts
        keep = self.parts if span == self.span else {}
        as_built, self.as_built, self.unresolved = _structure, -1, False
        settings_before, self.settings, self.keyed = self.settings, {}, {}
        errors, self.parts, self.errors, self.span = self.errors, {}, {}, span
        self.editing = _editing(scene)
        ready = True
        for armature in _armatures(scene):
            if any(bone.bone is None for bone in armature.pose.bones):
                # Just copied: Blender has not put it together yet.
                ready = False
                continue
            for found in attach.sync(armature):
                key = armature.session_uid, found.number
                self.keyed[key] = _keyed(armature, found.bone)
                self.settings[key] = _settings_key(armature, found.bone, self.keyed[key])
                if found.look_at is None:
                    self.errors[key], self.unresolved = found.error, True
                    continue
                place = _place(found.look_at)
                part = keep.get(key)
                if part is None or self.places[key] != place:
                    old, part = before_parts.get(key), Part(found.look_at, found.number)
                    if old is not None and old.look_at.bones == found.look_at.bones:
                        # What was shown is shown until there is something new.
                        part.track = old.track
                elif settings_before.get(key) != self.settings[key] or not _same(part.look_at, found.look_at):
                    part.stale = max(part.stale, SETTINGS)
                elif key in errors:
                    self.errors[key] = errors[key]
                part.look_at = found.look_at
                self.parts[key], self.places[key] = part, place
        self.shot = Shot(scene, span[0], max(span[0], span[1]), list(self.parts.values()))
        self.kinds = inputs.KINDS
        if ready:
            self.as_built = as_built
        else:
            _wake()
        self.begin()

    def _settings_changed(self) -> list[Part]:
        """Take over changed settings; the look-ats concerned."""
        changed = []
        for key, part in list(self.parts.items()):
            armature, bone = part.look_at.armature, part.look_at.bone
            new, old = _settings_key(armature, bone, self.keyed[key]), self.settings[key]
            if new == old:
                continue
            changed.append(part)
            self.settings[key] = new
            if new[1:] != old[1:]:
                # Another chain, target or axis.
                self.as_built = -1
            else:
                tuning = look_at.tuning(armature.pose.bones[bone].lookat_pd)
                part.look_at = replace(part.look_at, tuning=tuning)
                part.stale = max(part.stale, SETTINGS)
        if self.as_built < 0 and self.shot is not None:
            self._rebuild(self.shot.scene, self.span)
        return changed

    def _inputs_changed(self, scene: bpy.types.Scene) -> bool:
        """Compare fingerprints of all that the motions depend on."""
        everything: dict[tuple[str, str], bpy.types.ID] = {}
        reach = {}
        for key, part in self.parts.items():
            body = inputs.reach(scene, [part.look_at.armature])
            targets = inputs.reach(scene, [target.object for target in part.look_at.targets])
            everything.update(body)
            everything.update(targets)
            reach[key] = set(body), set(targets)
        own = {}
        for armature in _armatures(scene):
            everything.update({inputs.identity(item): item for item in (armature, armature.data)})
            own["OFFSETS", armature.name_full] = repr(offsets.fixed(armature)).encode()
        prints = {identity: inputs.fingerprint(item) for identity, item in everything.items()} | own
        self.kinds = inputs.KINDS | {kind for kind, _ in everything}
        before, reached = self.prints, self.reach
        self.prints, self.reach = prints, reach
        different = {i for i in {*prints, *before} if prints.get(i) != before.get(i)}
        if not before or not different:
            return False
        if any(kind in ("ARMATURE", "OBJECT", "OFFSETS") for kind, _ in different):
            # Bones or constraints may be others.
            self._rebuild(scene, self.span)
        changed = False
        for key, part in self.parts.items():
            body, targets = (a | b for a, b in zip(reach.get(key, _NONE), reached.get(key, _NONE), strict=True))
            if body & different or (targets & different and not part.look_at.plain):
                part.stale, changed = BODY, True
            elif targets & different:
                part.stale, changed = max(part.stale, TARGETS), True
            self.keyed[key] = _keyed(part.look_at.armature, part.look_at.bone)
            self.settings[key] = _settings_key(part.look_at.armature, part.look_at.bone, self.keyed[key])
        if self.shot is not None:
            self.shot.forget_order()
        return changed

    # Solving

    def begin(self) -> None:
        """Start to solve what is out of date."""
        if self.shot is None or self.stopped:
            return
        self.spent, self.fraction, self.started = 0.0, 0.0, time.perf_counter()
        for key, part in self.parts.items():
            if part.stale != FRESH:
                self.errors.pop(key, None)
        self.job = self.shot.steps(list(self.parts.values()), self._fail)

    def _fail(self, part: Part, error: LookAtError) -> None:
        part.track = None
        self.errors[part.look_at.armature.session_uid, part.number] = str(error)

    def stop(self) -> None:
        if self.job is not None:
            job, self.job = self.job, None
            job.close()  # type: ignore[attr-defined]
            sample.park_all()

    def advance(self, seconds: float | None, *, to_see: bool = False) -> bool:
        """Solve for so long, or to the end; whether that is reached. to_see: until there is something new to see."""
        if self.job is None:
            return True
        begin = time.perf_counter()
        done = True
        with paused():
            for fraction in self.job:
                self.fraction = fraction
                late = seconds is not None and time.perf_counter() - begin > seconds
                if late or (to_see and any(part.rough for part in self.parts.values())):
                    done = False
                    break
            sample.park_all()
        self.spent += time.perf_counter() - begin
        if done:
            self.job, self.seconds = None, self.spent
        return done

    def show(self, scene: bpy.types.Scene) -> None:
        """Put the offsets of the current frame on the rigs."""
        # Of the keys, where time is stretched.
        frame = scene.frame_current_final
        for part in self.parts.values():
            armature = part.look_at.armature
            if armature.mode == "EDIT":
                continue
            if part.track is not None:
                part.track.put(armature, frame)
            elif part.stale == FRESH or part.samples is None:
                offsets.put(armature, part.number, part.look_at.bones, None)


_scenes: dict[int, _Scene] = {}
_structure = 0
"""Goes up whenever look-ats may have come or gone."""
_known = False
"""Whether there may be a live look-at at all."""
_looked = -1
_objects = -1
_paused = 0
_lock = threading.RLock()
"""A render calls handlers from a thread of its own."""
_owners: dict[int, int] = {}
"""Which scene an armature, shown in several, was last played in."""


@persistent
def touch(*_: object) -> None:
    """Look-ats may have come or gone: find out before the next evaluation, and if none comes, soon."""
    global _structure
    _structure += 1
    _wake()


@contextmanager
def paused() -> Iterator[None]:
    """Leave rigs alone meanwhile: somebody else is sampling or writing."""
    global _paused
    _paused += 1
    try:
        yield
    finally:
        _paused -= 1


def update(scene: bpy.types.Scene, *, playing: bool = False) -> None:
    """Before an evaluation of the scene: see what has changed, solve it if that is quick, and put the offsets on."""
    if _paused or sample.TEMPORARY in scene or not _any(scene):
        return
    with _lock:
        try:
            _update(scene, playing=playing)
        except ReferenceError:
            # Something that was held is gone from the file without a sign.
            _let_go()
            _update(scene, playing=playing)


def _update(scene: bpy.types.Scene, *, playing: bool) -> None:
    state = _scene(scene)
    alone = bpy.app.background or is_rendering()
    if state.as_built != _structure or inputs.changed_kinds(scene, state.kinds) or (alone and state.check_at < np.inf):
        state.refresh(scene, now=alone)
    if state.job is not None and not (not alone and playing and _is_playing()):
        state.advance(None if alone else _AT_ONCE, to_see=not alone)
    if state.job is not None or state.check_at < np.inf:
        _wake()
    if _may_show(scene, state, playing):
        state.show(scene)


def _scene(scene: bpy.types.Scene) -> _Scene:
    state = _scenes.get(scene.session_uid)
    if state is None:
        state = _scenes[scene.session_uid] = _Scene()
    return state


def finish(scene: bpy.types.Scene) -> None:
    """Solve what is out of date to the end, now."""
    if _paused or sample.TEMPORARY in scene or not _any(scene):
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
    state.refresh(scene, now=True)
    state.begin()
    state.advance(None)
    state.show(scene)


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


def status(scene: bpy.types.Scene, armature: bpy.types.Object, bone: str) -> Status:
    owner = armature.pose.bones[bone]
    state = _scenes.get(scene.session_uid)
    if not attach.is_live(owner) or state is None:
        return Status("OFF")
    key = armature.session_uid, owner.lookat_pd.number
    first, last, _ = state.span
    if key in state.errors:
        return Status("ERROR", first, last, error=state.errors[key])
    if state.stopped:
        return Status("STOPPED", first, last, state.fraction)
    if state.job is not None:
        left = state.spent * (1.0 / state.fraction - 1.0) if state.fraction > 0.0 else np.nan
        return Status("SOLVING", first, last, state.fraction, left)
    return Status("SOLVED" if key in state.parts else "OFF", first, last, 1.0, 0.0, state.seconds)


def part_of(scene: bpy.types.Scene, armature: bpy.types.Object, bone: str) -> Part | None:
    """The solved look-at on a bone, if it is live in the scene."""
    state = _scenes.get(scene.session_uid)
    return state.parts.get((armature.session_uid, armature.pose.bones[bone].lookat_pd.number)) if state else None


def others(scene: bpy.types.Scene, baked: set[tuple[bpy.types.Object, str]]) -> list[LookAt]:
    """Look-ats that are live in a scene besides those that are being baked; such as have errors left out."""
    found = []
    for armature in [item for item in scene.objects if item.type == "ARMATURE" and _is_ours(item)]:
        for bone in attach.live_bones(armature):
            if (armature, bone) not in baked:
                try:
                    found.append(look_at.resolve(armature, bone))
                except LookAtError:
                    continue
    return found


def is_rendering() -> bool:
    return bpy.app.is_job_running("RENDER")


def _is_playing() -> bool:
    screens = (window.screen for manager in bpy.data.window_managers for window in manager.windows)
    return any(screen.is_animation_playing for screen in screens)


def _is_ours(armature: bpy.types.Object) -> bool:
    return armature.library is None and armature.pose is not None and armature.mode != "EDIT"


def _any(scene: bpy.types.Scene) -> bool:
    """Whether there is a live look-at anywhere; found out again only when there is reason to."""
    global _known, _looked, _objects
    if _looked != _structure or len(bpy.data.objects) != _objects:
        if len(bpy.data.objects) != _objects:
            touch()
        _looked, _objects = _structure, len(bpy.data.objects)
        armatures = [item for item in bpy.data.objects if item.type == "ARMATURE" and item.library is None]
        _known = any(attach.live_bones(item) or any(offsets.on(item)) for item in armatures if item.pose)
    return _known


def _may_show(scene: bpy.types.Scene, state: _Scene, playing: bool) -> bool:
    """Offsets of an armature that two windows show in two scenes are those of the scene played last."""
    shown = {window.scene.session_uid for manager in bpy.data.window_managers for window in manager.windows}
    allowed = True
    for uid, _ in state.parts:
        owner = _owners.get(uid, scene.session_uid)
        if playing or owner not in shown or len(shown) < 2:
            _owners[uid] = scene.session_uid
        elif owner != scene.session_uid:
            allowed = False
    return allowed


def _armatures(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Rigs of a scene that may have live look-ats now."""
    return [item for item in scene.objects if item.type == "ARMATURE" and _is_ours(item)]


def _editing(scene: bpy.types.Scene) -> frozenset[int]:
    """Rigs of a scene in edit mode: their look-ats wait."""
    if not _edit_mode():
        return frozenset()
    return frozenset(i.session_uid for i in scene.objects if i.type == "ARMATURE" and i.mode == "EDIT")


def _edit_mode() -> bool:
    return getattr(bpy.context, "mode", "OBJECT") == "EDIT_ARMATURE"


def _keyed(armature: bpy.types.Object, bone: str) -> frozenset[str]:
    """Those of `use` and `influence` that change with the frame."""
    path = f"{inputs.bone_path(bone)}.lookat_pd."
    return frozenset(name for name in ("use", "influence") if inputs.animates(armature, path + name))


def _settings_key(armature: bpy.types.Object, bone: str, keyed: frozenset[str]) -> tuple:
    """All settings of a look-at; first those that the chain and the samples do not depend on."""
    s = armature.pose.bones[bone].lookat_pd
    tuning = tuple(getattr(s, name) for name in settings.TUNING if name not in keyed)
    chain = tuple(
        (c.bone, c.share, c.settle_factor, c.yaw_limit, c.pitch_up_limit, c.pitch_down_limit, c.makes_up)
        for c in s.chain
    )
    target = (s.target.session_uid, s.target.users) if s.target is not None else None
    return tuning, chain, target, s.subtarget, s.aim_axis, s.soft_edge


def _place(found: LookAt) -> tuple:
    """What the samples of a look-at were taken of."""
    targets = tuple((t.object.session_uid if t.object else 0, t.bone, t.point) for t in found.targets)
    axes = found.chain.forward.tobytes() + found.chain.up.tobytes()
    return found.bones, found.plain, targets, axes, found.armature.data.session_uid


def _stands(found: LookAt) -> bool:
    """Whether the bones of a look-at are there, under these names."""
    return all(bone in found.armature.pose.bones for bone in found.bones)


def _same(one: LookAt, other: LookAt) -> bool:
    """Whether two look-ats at the same place would be solved alike."""
    chains = ({f.name: getattr(item.chain, f.name) for f in fields(item.chain)} for item in (one, other))
    a, b = chains
    return one.tuning == other.tuning and all(np.array_equal(a[name], b[name]) for name in a)


# Slices, in a window


def _tick() -> float | None:
    """A slice of the work; how soon the next one is due."""
    if _paused or is_rendering() or not _lock.acquire(blocking=False):
        return _CHECK_LATER
    try:
        return _PAUSE if _take_turns() else None
    except ReferenceError:
        _let_go()
        return None
    finally:
        _lock.release()


def _take_turns() -> bool:
    """A slice for each window's scene; whether there is more to do."""
    due = False
    for window in (window for manager in bpy.data.window_managers for window in manager.windows):
        scene = window.scene
        state = _scenes.get(scene.session_uid)
        if state is None or state.as_built != _structure:
            update(scene)
            state = _scenes.get(scene.session_uid)
        if state is None:
            continue
        if time.perf_counter() > state.check_at:
            state.refresh(scene, now=True)
        if state.job is not None:
            if state.advance(_SLICE):
                state.show(scene)
            _redraw(window, state)
        due = due or state.job is not None or state.check_at < np.inf
    return due


def _wake() -> None:
    if not bpy.app.background and not bpy.app.timers.is_registered(_tick):
        bpy.app.timers.register(_tick, first_interval=_PAUSE)


def _redraw(window: bpy.types.Window, state: _Scene) -> None:
    """Panels that show how far solving is, a few times a second."""
    if state.job is not None and time.perf_counter() < state.drawn + _REDRAW:
        return
    state.drawn = time.perf_counter()
    shown = {"VIEW_3D": "UI", "PROPERTIES": "WINDOW"}
    for area in window.screen.areas:
        for region in area.regions:
            if region.type == shown.get(area.type):
                region.tag_redraw()


# Handlers


@persistent
def _before_frame(scene: bpy.types.Scene, *_: object) -> None:
    update(scene, playing=True)


@persistent
def _before_update(scene: bpy.types.Scene, *_: object) -> None:
    update(scene)


@persistent
def _before_render(scene: bpy.types.Scene, *_: object) -> None:
    finish(scene)


@persistent
def _forget(*_: object) -> None:
    """Another file comes: hold nothing of this one."""
    _let_go()
    _scenes.clear()
    _owners.clear()


@persistent
def _let_go(*_: object) -> None:
    """Data is about to be replaced by an undo: numbers stay, what belongs to Blender is looked up again."""
    for state in _scenes.values():
        state.stop()
        state.shot, state.as_built = None, -1
    sample.park_all()
    touch()


@persistent
def _before_save(*_: object) -> None:
    sample.park_all()


_HANDLERS = (
    ("frame_change_pre", _before_frame),
    ("depsgraph_update_pre", _before_update),
    ("render_init", _before_render),
    ("undo_pre", _let_go),
    ("redo_pre", _let_go),
    ("undo_post", touch),
    ("redo_post", touch),
    ("load_pre", _forget),
    ("load_post", touch),
    ("save_pre", _before_save),
)


def register() -> None:
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)
    settings.listeners.append(touch)
    touch()


def unregister() -> None:
    """The look-ats stay in the file; what moves the rigs goes, since nobody would write it any more."""
    settings.listeners.remove(touch)
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).remove(handler)
    _forget()
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
    for item in bpy.data.objects:
        if item.type == "ARMATURE" and item.library is None:
            offsets.remove(item)
