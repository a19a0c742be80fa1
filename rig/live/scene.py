"""The live look-ats of one scene: what is out of date, solving it, and putting the offsets on the rigs."""

import time
from collections.abc import Iterator

import bpy
import numpy as np

from ...lookat_pd.errors import LookAtError
from ..layers import layer
from ..layers.track import Track
from ..look_at import constraint_sync
from ..look_at import look_at_layer as offsets
from ..look_at import resolve as look_at
from ..look_at.body import blink
from ..look_at.directing import shot_keys
from ..look_at.scene_solve import SceneSolve
from ..look_at.solve import BODY, FRESH, SETTINGS, TARGETS, LookAtSolve
from ..sampling import fingerprint, sampler, scene_time
from . import inputs, saved_solution
from .playhead import PlayheadSolve, SeenFirst, frames_around
from .previews import Key, Previews
from .time_left import TimeLeft

_CHECK_LATER, _CHECK_AT_WORK = 0.3, 1.0
"""Seconds after the last move of a slider, or of anything else, until all that it may not have changed is looked at;
and how often it is looked at while slices of work make changes themselves."""
_OWN = {"OBJECT", "ACTION"}
"""Kinds of data that are changed when a track is shown."""
_KEYED = ("ACTION", "ARMATURE")
"""Kinds of data that are changed where keys of the shot are."""
_STRUCTURE = ("SCENE", "COLLECTION")
"""Kinds of data that are changed where relations between others are."""
_NONE: tuple[set, set] = set(), set()


class LiveScene:
    """The live look-ats of one scene."""

    def __init__(self) -> None:
        self.scene_solve: SceneSolve | None = None
        self.solves: dict[Key, LookAtSolve] = {}
        self.errors: dict[Key, str] = {}
        self.span: tuple[int, int, float] = (0, 0, 0.0)
        self.structure = self.as_built = -1
        self.unresolved = False
        self.places: dict[Key, tuple] = {}
        self.shown: dict[Key, Track] = {}
        """The tracks that the rigs show."""
        self.layers: dict[Key, tuple[list[tuple], list[bytes]]] = {}
        """The constraints that show them, and what is keyed for these."""
        self.restored: set[str] = set()
        """Names of armatures whose keys someone else has changed, so that they were written again."""
        self.previews = Previews()
        """What is shown of look-ats whose targets or bones are being moved."""
        self.noted = False
        """Whether the offsets are noted as the solution of what they were solved from."""
        self.wrote = False
        """Whether something was shown since the scene was last looked at."""
        self.settings: dict[Key, tuple] = {}
        self.keyed: dict[Key, frozenset[str]] = {}
        self.editing: frozenset[int] = frozenset()
        self.prints: dict[tuple[str, str], bytes] = {}
        self.clips: dict[int, tuple[int, int]] = {}
        """Which action each rig has played when its keys of the shot were last looked at."""
        self.reach: dict[Key, tuple[set, set]] = {}
        self.watched: frozenset[int] = frozenset()
        """Session identifiers of all data that the motions depend on; none where that is more than can be listed."""
        self.job: Iterator[float] | None = None
        self.stopped = self.outdated = False
        self.fraction, self.started, self.seconds = 0.0, 0.0, 0.0
        self.time_left = TimeLeft()
        self.check_at, self.drawn, self.worked = np.inf, 0.0, 0.0
        """When to look at all that may have changed, when panels were drawn, and when the last slice of work ended."""
        self.resting = 0
        """Turns of the window's loop without a change since it was time to look."""
        self.seen = self.waited_for = False
        """Whether the work has come to something new to see; and whether it goes on to its end before that is drawn."""
        self.news = False
        """Whether what is seen first has just been found."""
        self.kinds = fingerprint.KINDS
        """Of the data that the motions depend on."""

    # What has changed

    def refresh(self, scene: bpy.types.Scene, structure: int, touched: set[str] | None = None, *, now: bool) -> None:
        """Find out what is out of date. now: do not postpone slow checks.

        structure: another number whenever look-ats may have come or gone. touched: kinds of data that were changed
        since the last time, where nothing was put off then; else it may be any.
        """
        self.structure = structure
        if self.check_at < np.inf:
            touched = None
        span = (*scene_time.key_range(scene), scene_time.seconds_per_frame(scene))
        if self._is_outdated(scene, span):
            self._rebuild(scene, span)
        tuned = self._settings_changed()
        edited = False
        if tuned and not now:
            # A slider is being moved: nothing else can be, so look at the rest a little later.
            self._check_later()
        elif not now and self.prints and any(_is_slow(solve) for solve in self.solves.values()):
            # Something may be being dragged: meanwhile `follow_edits` shows where looks settle.
            self._wait(touched)
        else:
            self.check_at, unknown = np.inf, not self.prints
            edited = self._inputs_changed(scene, touched)
            if unknown and saved_solution.restore(self.solves.values(), self.span, self._digest()):
                # The file has been solved before it was saved.
                self.stop()
                if self.scene_solve is not None:
                    self.scene_solve.trust()
            if not edited and self.job is None:
                # What moved is where it was or is not keyed, or the work was stopped meanwhile.
                edited = any(solve.stale != FRESH for solve in self.solves.values())
        # What is still to be sampled is solved with the new settings anyway.
        if edited or any(solve.samples is not None for solve in tuned):
            self.stop()
            self.begin()

    def is_concerned(self, scene: bpy.types.Scene) -> bool:
        """Whether something that was changed since the last evaluation may concern the look-ats."""
        span = (*scene_time.key_range(scene), scene_time.seconds_per_frame(scene))
        if not self.watched or self.check_at < np.inf or self.unresolved or span != self.span:
            return True
        graphs = (layer.depsgraph for layer in scene.view_layers)
        changed = (update.id.original for graph in graphs if graph is not None for update in graph.updates)
        return any(
            item.session_uid in self.watched or item.id_type in _STRUCTURE or layer.is_part(item) for item in changed
        )

    def _wait(self, touched: set[str] | None) -> None:
        """Look later at what has changed. What was shown from here is a change too, but none to wait longer for."""
        own, self.wrote = self.wrote and touched is not None and touched <= _OWN, False
        if self.check_at == np.inf or not (own or self.job is not None):
            self._check_later(_CHECK_LATER if self.job is None else _CHECK_AT_WORK)

    def _check_later(self, seconds: float = _CHECK_LATER) -> None:
        self.check_at, self.resting = time.perf_counter() + seconds, 0

    def _is_outdated(self, scene: bpy.types.Scene, span: tuple[int, int, float]) -> bool:
        """Whether look-ats may have come or gone, or are on other bones, or the frames are others."""
        if self.as_built != self.structure or span != self.span or self.editing != _editing(scene) or self.unresolved:
            return True
        return not all(inputs.stands(solve.look_at) for solve in self.solves.values())

    def _rebuild(self, scene: bpy.types.Scene, span: tuple[int, int, float]) -> None:
        """Find the look-ats that there are; what is known of them and still right is kept."""
        self.stop()
        for key, solve in self.solves.items():
            if self._was_meddled_with(key, solve, keys=True):
                self.restored.add(solve.look_at.armature.name_full)
        self.shown.clear()
        self.layers.clear()
        before_parts = self.solves
        keep = self.solves if span == self.span else {}
        self.as_built, self.unresolved = -1, False
        settings_before, self.settings, self.keyed = self.settings, {}, {}
        errors, self.solves, self.errors, self.span = self.errors, {}, {}, span
        self.editing = _editing(scene)
        ready = True
        for armature in constraint_sync.live_armatures(scene):
            if any(bone.bone is None for bone in armature.pose.bones):
                # Just copied: Blender has not put it together yet.
                ready = False
                continue
            for found in constraint_sync.sync(armature):
                key = armature.session_uid, found.number
                self.keyed[key] = inputs.keyed(armature, found.bone)
                self.settings[key] = inputs.settings_key(armature, found.bone, self.keyed[key])
                if found.look_at is None:
                    self.errors[key], self.unresolved = found.error, True
                    continue
                place = inputs.place(found.look_at)
                solve = keep.get(key)
                if solve is None or self.places[key] != place:
                    old, solve = before_parts.get(key), LookAtSolve(found.look_at, found.number)
                    if old is not None and old.look_at.written == found.look_at.written:
                        # What was shown is shown until there is something new.
                        solve.track = old.track
                elif settings_before.get(key) != self.settings[key] or not inputs.same(solve.look_at, found.look_at):
                    solve.stale = max(solve.stale, SETTINGS)
                elif key in errors:
                    self.errors[key] = errors[key]
                solve.look_at = found.look_at
                self.solves[key], self.places[key] = solve, place
        blink.give_back_lost(
            item.name_full for item in bpy.data.objects if item.pose and constraint_sync.live_bones(item)
        )
        self.scene_solve = SceneSolve(scene, span[0], max(span[0], span[1]), list(self.solves.values()))
        self.kinds = fingerprint.KINDS
        if ready:
            self.as_built = self.structure
        self.begin()

    def _settings_changed(self) -> list[LookAtSolve]:
        """Take over changed settings; the look-ats concerned."""
        changed = []
        for key, solve in list(self.solves.items()):
            armature, bone = solve.look_at.armature, solve.look_at.bone
            new, old = inputs.settings_key(armature, bone, self.keyed[key]), self.settings[key]
            if new == old:
                continue
            changed.append(solve)
            self.settings[key] = new
            if new[1:] != old[1:]:
                # Another chain, target or axis.
                self.as_built = -1
            else:
                solve.look_at = look_at.retuned(solve.look_at)
                solve.stale = max(solve.stale, SETTINGS)
        if self.as_built < 0 and self.scene_solve is not None:
            self._rebuild(self.scene_solve.scene, self.span)
        return changed

    def _inputs_changed(self, scene: bpy.types.Scene, touched: set[str] | None) -> bool:
        """Compare fingerprints of all that the motions depend on."""
        everything: dict[tuple[str, str], bpy.types.ID] = {}
        reach = {}
        for key, solve in self.solves.items():
            body = fingerprint.reach(scene, [solve.look_at.armature])
            targets = fingerprint.reach(scene, solve.look_at.surroundings)
            everything.update(body)
            everything.update(targets)
            reach[key] = set(body), set(targets)
        own = {}
        for armature in constraint_sync.live_armatures(scene):
            clip = inputs.clip(armature)
            if touched is None or not touched.isdisjoint(_KEYED) or self.clips.get(armature.session_uid) != clip:
                # Keys may have come or gone in an animation editor, or another clip has keys of its own.
                shot_keys.mend(armature)
                self.clips[armature.session_uid] = clip
            everything.update({fingerprint.identity(item): item for item in (armature, armature.data)})
            own["OFFSETS", armature.name_full] = repr(offsets.LookAtLayer.fixed_on(armature)).encode()
        for key, solve in self.solves.items():
            found, number = solve.look_at, key[1]
            if self._was_meddled_with(key, solve, keys=touched is None or "ACTION" in touched):
                self.shown.clear()
                self.restored.add(found.armature.name_full)
            if inputs.blinks(found):
                faces = blink.signature(found.armature, found.shapes)
                own["SHAPES", f"{found.armature.name_full} {number}"] = repr(faces).encode()
            if found.occluders:
                own["OCCLUDERS", f"{found.armature.name_full} {number}"] = repr(inputs.occluders(found)).encode()
        prints = dict(own)
        for identity, item in everything.items():
            known = self.prints.get(identity) if touched is not None and identity[0] not in touched else None
            prints[identity] = fingerprint.fingerprint(item) if known is None else known
        sees_meshes = any(inputs.blinks(solve.look_at) or solve.look_at.occluders for solve in self.solves.values())
        self.watched = frozenset(() if sees_meshes else (item.session_uid for item in everything.values()))
        self.kinds = fingerprint.KINDS | {kind for kind, _ in everything}
        if any(solve.look_at.occluders for solve in self.solves.values()):
            self.kinds = self.kinds | {"COLLECTION"}
        before, reached = self.prints, self.reach
        self.prints, self.reach = prints, reach
        different = {i for i in {*prints, *before} if prints.get(i) != before.get(i)}
        if not before or not different:
            return False
        if any(kind in ("ARMATURE", "OBJECT", "OFFSETS", "SHAPES", "OCCLUDERS") for kind, _ in different):
            # Bones or constraints may be others.
            self._rebuild(scene, self.span)
        changed = False
        for key, solve in self.solves.items():
            body, targets = (a | b for a, b in zip(reach.get(key, _NONE), reached.get(key, _NONE), strict=True))
            if any(kind != "ACTION" for kind, _ in (body | targets) & different):
                solve.restructured()
            if body & different or (targets & different and not solve.look_at.plain):
                solve.stale, changed = BODY, True
            elif targets & different:
                solve.stale, changed = max(solve.stale, TARGETS), True
            self.keyed[key] = inputs.keyed(solve.look_at.armature, solve.look_at.bone)
            self.settings[key] = inputs.settings_key(solve.look_at.armature, solve.look_at.bone, self.keyed[key])
        if self.scene_solve is not None:
            self.scene_solve.forget_order()
        return changed

    def _was_meddled_with(self, key: Key, solve: LookAtSolve, *, keys: bool) -> bool:
        """Whether someone else has changed the constraints of a look-at, or with `keys` what these read."""
        known = self.layers.get(key)
        if known is None:
            return False
        try:
            armature = solve.look_at.armature
            bone = armature.pose.bones.get(solve.look_at.bone)
        except ReferenceError:
            return False
        if bone is None or not constraint_sync.is_live(bone):
            return False
        (fixed, contents), own = known, offsets.LookAtLayer(armature, key[1])
        return fixed != own.fixed() or (keys and contents != own.contents())

    def _know_layer(self, key: Key, armature: bpy.types.Object) -> None:
        """What is there of a look-at's constraints and keys is from here."""
        own = offsets.LookAtLayer(armature, key[1])
        self.layers[key] = own.fixed(), own.contents()

    # Solving

    def begin(self) -> None:
        """Start to solve what is out of date."""
        if self.scene_solve is None or self.stopped:
            return
        self.fraction, self.started, self.seen = 0.0, time.perf_counter(), False
        stale = max((solve.stale for solve in self.solves.values()), default=FRESH)
        solves, scene = self.solves.values(), self.scene_solve.scene
        around = frames_around(self.scene_solve, scene.frame_current_final)
        kind = stale, around is not None, *map(_extent, solves)
        self.time_left.begin(kind, even=all(solve.predicted for solve in solves))
        self.outdated = stale != FRESH
        if self.outdated:
            self.restored.clear()
        for key, solve in self.solves.items():
            if solve.stale != FRESH:
                self.errors.pop(key, None)
        self.job = self._steps(self.scene_solve, around)

    def _steps(self, scene_solve: SceneSolve, around: tuple[int, int] | None) -> Iterator[float]:
        """The work: first the frames `around` the playhead, unless it is waited for, then all."""
        share = 0.0
        if around is not None and not self.waited_for:
            first, frames = PlayheadSolve(scene_solve, around), len(scene_solve.context.frames)
            part = around[1] - around[0] + 1
            share = part / (part + frames)
            for fraction in first.steps():
                yield share * fraction
            self.previews.first = SeenFirst(first.tracks)
            self.seen = self.news = True
            yield share
        for fraction in scene_solve.steps(list(self.solves.values()), self._fail):
            yield share + (1.0 - share) * fraction

    def _fail(self, solve: LookAtSolve, error: LookAtError) -> None:
        solve.track = None
        self.previews.first.forget(solve)
        self.errors[solve.look_at.armature.session_uid, solve.number] = str(error)

    def stop(self) -> None:
        if self.job is not None:
            job, self.job = self.job, None
            job.close()  # type: ignore[attr-defined]
            sampler.park_all()

    def advance(self, seconds: float | None, *, to_see: bool = False) -> bool:
        """Solve for so long, or to the end; whether that is reached. to_see: until there is something new to see."""
        if self.job is None:
            return True
        if to_see and self.seen:
            # The timer does the rest: to begin a slice takes long.
            return False
        begin, opened = time.perf_counter(), sampler.seconds_opening()
        done, self.waited_for, self.news = True, seconds is None, False
        for fraction in self.job:
            self.fraction = max(self.fraction, fraction)
            self.time_left.note(self.fraction, time.perf_counter())
            # What the slice itself costs is worth as much time again.
            allowed = np.inf if seconds is None else seconds + 2.0 * (sampler.seconds_opening() - opened)
            late = time.perf_counter() - begin > allowed
            self.seen = self.seen or any(solve.rough for solve in self.solves.values())
            if late or (to_see and self.seen) or self.news:
                done = False
                break
        sampler.park_all()
        self.worked = time.perf_counter()
        if done:
            self.job, self.previews.first = None, SeenFirst()
            self.previews.clear()
            if self.outdated:
                self.time_left.finish(self.worked)
                self.seconds = self.worked - self.started
        return done

    def let_go(self) -> None:
        """Hold nothing of the file: it is about to be replaced."""
        self.stop()
        for solve in self.solves.values():
            solve.restructured()
        self.scene_solve, self.as_built, self.noted = None, -1, False
        for solve in self.solves.values():
            # It names armatures, which an undo replaces.
            solve.kept.cut_down = None
        self.shown.clear()
        self.layers.clear()
        self.previews.clear()
        self.previews.first = SeenFirst()

    @property
    def remaining(self) -> float:
        """Seconds that solving will still take, nan if unknown."""
        return self.time_left.remaining(time.perf_counter())

    def _digest(self) -> str:
        """Of all that the look-ats are solved from. Own constraints are put right, whatever becomes of them."""
        prints = {identity: found for identity, found in self.prints.items() if identity[0] != "OFFSETS"}
        return saved_solution.digest(
            self.span, prints, [(solve, self.keyed[key]) for key, solve in self.solves.items()]
        )

    def show(self, scene: bpy.types.Scene) -> None:
        """Let the rigs show what is solved, and the lids what it is at the current frame."""
        shown = False
        for key, solve in self.solves.items():
            armature = solve.look_at.armature
            if armature.mode == "EDIT":
                continue
            track = self.previews.track(key, solve)
            if track is not None:
                if self.shown.get(key) is not track:
                    offsets.show(armature, track)
                    self.shown[key] = track
                    self._know_layer(key, armature)
                    shown = True
            elif solve.stale == FRESH or solve.samples is None:
                offsets.hide(armature, solve.number)
                self.shown.pop(key, None)
                self.layers.pop(key, None)
        self.wrote = self.wrote or shown
        known = self.job is None and not self.errors and bool(self.prints) and not self.previews
        solved = known and all(solve.stale == FRESH and not solve.rough for solve in self.solves.values())
        # The last of a solution may have been shown before all of it was known to be right.
        if shown or (solved and not self.noted):
            saved_solution.store(self.solves.values(), self._digest() if solved else "")
            self.noted = solved
        self.show_lids(scene)

    def follow_edits(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
        """Where a target or the pose was moved at the frame that is shown, show where the look settles.

        For what is moved faster than it can be solved, and for what is not keyed, which the solution does not know.
        """
        if self.scene_solve is None:
            return
        frame, changed = scene.frame_current_final, False
        for key, solve in self.solves.items():
            if self.previews.follow(key, solve, self.scene_solve.context, frame, depsgraph):
                changed = True
                if self.job is not None:
                    self.stop()
                    self._check_later()
        if changed:
            self.show(scene)

    def aim_previews(self, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> None:
        """Let heads that follow edits turn by what they still miss, once the rigs are evaluated with the previews."""
        if not self.previews.waiting:
            return
        view_layer.update()
        for key, solve in self.solves.items():
            self.previews.aim(key, solve, view_layer.depsgraph)
        self.show(scene)

    def end_previews(self, scene: bpy.types.Scene) -> None:
        """Show what is solved: another frame comes, or the file is saved."""
        if self.previews.clear():
            self.show(scene)

    def show_lids(self, scene: bpy.types.Scene) -> None:
        """Close and turn the eyes by shape keys as it is solved for the current frame."""
        # Of the keys, where time is stretched.
        frame = scene.frame_current_final
        amounts: dict[blink.Lid, tuple[float, str]] = {}
        for solve in self.solves.values():
            armature = solve.look_at.armature
            if not solve.look_at.shapes or armature.mode == "EDIT":
                continue
            lids, track = solve.look_at.shapes, self.previews.first.track(solve)
            there = track is not None and track.shapes.shape[1] == len(lids)
            for lid, amount in zip(lids, track.shapes_at(frame) if there else [0.0] * len(lids), strict=True):
                # Characters may share a face; who changes it more has the word.
                known = amounts.get(lid, (0.0, ""))
                amounts[lid] = (float(amount), armature.name_full) if abs(amount) >= abs(known[0]) else known
        blink.show(amounts)


def _is_slow(solve: LookAtSolve) -> bool:
    """Whether a look-at is verified on the evaluated rig, so that solving it takes longer than a step of the mouse."""
    look_at = solve.look_at
    return not look_at.plain or (look_at.body is not None and not look_at.body.plain)


def _extent(solve: LookAtSolve) -> tuple[int | bool, ...]:
    """What decides in which proportions the time of a solve goes to its parts."""
    found = solve.look_at
    return solve.stale, len(found.turned), len(found.moved), len(found.shapes), solve.predicted


def _editing(scene: bpy.types.Scene) -> frozenset[int]:
    """Rigs of a scene in edit mode: their look-ats wait."""
    if not _edit_mode():
        return frozenset()
    return frozenset(i.session_uid for i in scene.objects if i.type == "ARMATURE" and i.mode == "EDIT")


def _edit_mode() -> bool:
    return getattr(bpy.context, "mode", "OBJECT") == "EDIT_ARMATURE"
