"""The live layers of one scene: what is out of date, solving it, and showing the solutions on the rigs."""

import time
from collections.abc import Generator, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import bpy
import numpy as np

from ...lookat_pd.errors import LookAtError
from ...lookat_pd.message import Message
from ...lookat_pd.progress import drain
from ..guards import faults
from ..sampling import fingerprint, sampler, scene_time, transforming
from ..sampling.kept_digests import KeptDigests
from . import kinds, saved_solution
from .dependence import Dependence, Reach
from .kinds import BODY, FRESH, ROUNDS, SETTINGS, TARGETS, Added, Instance, Key, Kind, LayerSolve, Previews, SolveRange
from .layer import is_part
from .time_left import TimeLeft

_CHECK_LATER, _CHECK_AT_WORK = 0.3, 1.0
"""Seconds after the last move of a slider, or of anything else, until all that it may not have changed is looked at;
and how often it is looked at while slices of work make changes themselves."""
RESTING = 3
"""Turns of the window's loop without a change, after which a hand rests, also where a turn takes long."""
_WORKING, _WORKING_ON = 0.04, 0.05
"""Seconds of the processor for which a slice may work, however long it may last: while others work, or the slice waits
for them, it lasts longer. And one whose temporary scene rests, after which Blender has little to do."""
_BESIDE = 0.02
"""Seconds of work that may be in the same turn as what is shown of a long one."""
_BEGUN = 0.004
"""Seconds of the processor after which a slice makes no temporary scene and no copy of a rig, but ends."""
_EDITED = 0.03
"""Seconds for which edited keys may be read in the turn of the edit, to see at once whether they are others."""
_BUSIER = 1.25
"""By how much more a work may be taken to last than before: a machine that is busy beside it says little of it."""
_OWN = {"OBJECT", "ACTION"}
"""Kinds of data that are changed when a track is shown."""
_STRUCTURE = ("SCENE", "COLLECTION")
"""Kinds of data that are changed where relations between others are."""
_CONSTRAINTS = kinds.OWN
"""What digests of constraints of layers are known by."""
_DATA = frozenset(("ARMATURE", "OBJECT"))


@dataclass(eq=False)
class LiveScene:
    """The live layers of one scene."""

    scene: bpy.types.Scene | None = None
    kinds: dict[type[Kind], Kind] = field(default_factory=dict)
    """Those of which the file has something."""
    instances: dict[Key, Instance] = field(default_factory=dict)
    """All that were found, also those with errors."""
    solves: dict[Key, LayerSolve] = field(default_factory=dict)
    errors: dict[Key, str] = field(default_factory=dict)
    span: tuple[int, int, float] = (0, 0, 0.0)
    structure: int = -1
    as_built: int = -1
    is_apart: bool = False
    """Whether what comes next begins a turn of its own."""
    is_ending: bool = False
    """Whether the work goes on by removing a temporary scene, after which all that the window shows is drawn: what was
    solved is shown with that."""
    is_just_built: bool = False
    """Whether the layers were found since what has changed was last asked for."""
    unresolved: bool = False
    is_ready: bool = True
    """Whether Blender has put everything together that the kinds have seen."""
    is_gradual: bool = False
    """Whether what takes long to find or to make may be left to later turns of the window's loop."""
    places: dict[Key, object] = field(default_factory=dict)
    tracks: dict[Key, Added] = field(default_factory=dict)
    """The tracks that the rigs show."""
    layers: dict[Key, tuple[list[tuple], list[bytes]]] = field(default_factory=dict)
    """The constraints that show them, and what is keyed for these."""
    restored: set[str] = field(default_factory=set)
    """Names of objects whose keys someone else has changed, so that they were written again."""
    is_settled: bool = False
    """Whether all is shown as it is known to be, so that only a change gives something to do."""
    noted: bool = False
    """Whether the offsets are noted as the solution of what they were solved from."""
    wrote: bool = False
    """Whether something was shown since the scene was last looked at."""
    has_shown: bool = False
    """Whether something was shown since edits were followed last."""
    settings: dict[Key, tuple] = field(default_factory=dict)
    keyed: dict[Key, frozenset[str]] = field(default_factory=dict)
    editing: frozenset[int] = frozenset()
    prints: dict[tuple[str, str], bytes] = field(default_factory=dict)
    digests: KeptDigests = field(default_factory=KeptDigests)
    """Of the same, as far as nothing has changed."""
    is_unsure: bool = False
    """Whether something may have changed that Blender does not report."""
    dependence: Dependence = field(default_factory=Dependence)
    watched: frozenset[tuple[str, str]] = frozenset()
    """Tags of all data that the motions depend on; none where that is more than can be listed."""
    job: Iterator[float] | None = None
    stopped: bool = False
    outdated: bool = False
    fraction: float = 0.0
    started: float = 0.0
    seconds: float = 0.0
    time_left: TimeLeft = field(default_factory=TimeLeft)
    work: Hashable = None
    """What kind of work it is."""
    spent: float = 0.0
    """Seconds of the processor that went into the work."""
    was_seen: bool = False
    """Whether something was seen of it."""
    to_see: dict[Hashable, float] = field(default_factory=dict)
    """How many seconds of the processor works of each kind took until something was seen of them."""
    check_at: float = np.inf
    """When to look at all that may have changed."""
    drawn: float = 0.0
    """When panels were drawn."""
    worked: float = 0.0
    """When the last slice of work ended."""
    keyed_at: float = -np.inf
    """When keys were edited last."""
    is_by_keys: bool = False
    """Whether keys alone were looked at, of what is being solved, and the rest is still to be looked at."""
    is_known: bool = False
    """Whether what is evaluated next are keys that are being solved."""
    resting: int = 0
    """Turns of the window's loop without a change since it was time to look."""
    seen: bool = False
    """Whether the work has come to something new to see."""
    is_expected: bool = False
    """Whether what is expected around the playhead could be shown, though a little of it may change."""
    waited_for: bool = False
    """Whether it goes on to its end before that is drawn."""
    is_in_slices: bool = False
    """Whether the work goes on in turns of the window's loop."""
    has_had_turn: bool = False
    """Whether it has been worked on since the last of these turns began."""
    has_waited: bool = False
    """Whether the last of these turns had too little left for it."""
    news: bool = False
    """Whether what is seen first has just been found."""
    found: bool = False
    """Whether something to see has just been found that is still to be verified."""
    data_kinds: frozenset[str] = fingerprint.KINDS
    """Of the data that the motions depend on."""

    def use(self, used: Sequence[type[Kind]]) -> None:
        """Have layers of these kinds, and of no others."""
        if list(self.kinds) == list(used):
            return
        self.kinds = {kind: self.kinds.get(kind) or kind(self) for kind in used}
        names = {kind.name for kind in used}
        self.solves = {key: solve for key, solve in self.solves.items() if key[0] in names}

    def kind_of(self, solve: LayerSolve) -> Kind:
        return next(kind for kind in self.kinds.values() if kind.name == solve.key[0])

    def key_of(self, owner: bpy.types.Object, bone: str, name: str = "", number: int = 0) -> Key | None:
        """Key of the layer that an object or a bone has and that still moves something; None if there is none.

        name: of its kind, "" for the first. number: its own among several of that kind, 0 for the first.
        """
        for kind in self.kinds.values():
            for key, instance in self.instances.items():
                is_it = key[0] == kind.name and key[1] == owner.session_uid and instance.bone == bone
                is_it = is_it and number in (0, instance.number)
                if is_it and name in ("", kind.name) and kind.is_live(replace(instance, owner=owner)):
                    return key
        return None

    # What has changed

    def refresh(
        self,
        scene: bpy.types.Scene,
        structure: int,
        touched: set[str] | None = None,
        *,
        now: bool,
        within: float = np.inf,
    ) -> None:
        """Find out what is out of date. now: do not postpone slow checks.

        structure: another number whenever layers may have come or gone. touched: kinds of data that were changed since
        the last time, where nothing was put off then; else it may be any. within: seconds for which data may be read;
        where that is not enough, more of it is read the next time. Then what Blender reports is trusted for now
        (`digests`), and all else left to `look_again`.
        """
        self.scene, self.is_settled, self.is_gradual = scene, False, within < np.inf
        if self.structure != structure:
            self.digests.forget()
        self.structure, reported, self.is_just_built = structure, touched, False
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
        elif not now and self.prints and (self.is_slow or self._is_held()) and not self._is_key_edited(scene):
            # Something may be being dragged: meanwhile `follow_edits` shows where looks settle.
            self._wait(scene, reported)
        else:
            edited = self._look(scene, touched, within, now=now)
        # What is still to be sampled is solved with the new settings anyway.
        if edited or any(solve.samples is not None for solve in tuned):
            self.stop()
            self.begin()
            self.is_known = edited and not now
        elif self.job is None and self.check_at == np.inf and self._has_more_to_show():
            self.begin()

    def _has_more_to_show(self) -> bool:
        """Whether large layers do not show what is known of them, which the work does in steps."""
        for key, solve in self.solves.items() if self.is_gradual else ():
            kind = self.kind_of(solve)
            track = kind.shown(solve) if kind.layer.is_large else None
            if track is not None and track is not self.tracks.get(key):
                return True
        return False

    def _look(self, scene: bpy.types.Scene, touched: set[str] | None, within: float, *, now: bool) -> bool:
        """Look at what may have changed, as `refresh` is told; whether something is out of date by that."""
        self.check_at, unknown = np.inf, not self.prints
        # All else that may have changed with keys is looked at while what becomes of them is solved.
        by_keys = not now and self._keys_changed(scene, within)
        changed = True if by_keys else self._inputs_changed(scene, touched, within)
        edited = bool(changed)
        if changed is None:
            if unknown or (not now and self._are_keys_edited(scene)):
                # The file may have the solution; or what is being solved is of keys that are no more.
                self.stop()
            if now and self.job is not None and self.is_in_slices and not self.is_by_keys:
                # Each slice has Blender report what it evaluates, which would be read in each turn.
                self._check_later(_CHECK_AT_WORK)
            else:
                self._check_on()
        elif unknown and self._restore():
            # The file has been solved before it was saved.
            self.stop()
        if changed is not None and not edited and self.job is None:
            # What moved is where it was or is not keyed, or the work was stopped meanwhile.
            edited = any(solve.stale != FRESH for solve in self.solves.values())
        self.is_by_keys = by_keys or (self.is_by_keys and changed is None)
        if by_keys:
            self._check_on()
        return edited

    @property
    def is_slow(self) -> bool:
        """Whether solving takes longer than a step of the mouse."""
        return any(solve.is_slow for solve in self.solves.values())

    @property
    def must_sample(self) -> bool:
        """Whether something is out of date that takes long, and for which the rig is sampled first."""
        return any(solve.is_slow and solve.stale >= TARGETS for solve in self.solves.values())

    @property
    def seen_within(self) -> float:
        """Seconds of the processor after which what begins now was seen right when it was done last; of keys that were
        never edited 0, since they are worth a try, and of other works that were never done without end."""
        return self.to_see.get(self.work, 0.0 if self.is_by_keys else np.inf)

    @property
    def is_to_be_seen(self) -> bool:
        """Whether what becomes of edited keys comes first, and all else that may have changed with them after it."""
        return self.is_by_keys and self.job is not None and not self.seen and self.seen_within < np.inf

    @property
    def is_at_work(self) -> bool:
        """Whether it is being solved, or found out whether the file has the solution."""
        return self.job is not None or (not self.prints and self.check_at < np.inf)

    def _is_held(self) -> bool:
        """Whether a rig is being moved, or one of its bones, of which a preview shows what becomes of it."""
        owners = [solve.owner for solve in self.solves.values() if self.kind_of(solve).previews is not None]
        held = any(owner.mode == "POSE" or owner.select_get() for owner in owners)
        return held and transforming.is_under_way()

    def is_concerned(self, scene: bpy.types.Scene) -> bool:
        """Whether something that was changed since the last evaluation may concern the layers."""
        span = (*scene_time.key_range(scene), scene_time.seconds_per_frame(scene))
        if not self.watched or self.check_at < np.inf or self.unresolved or span != self.span:
            return True
        changed = fingerprint.reported(scene)
        return any(
            fingerprint.tag(item) in self.watched or item.id_type in _STRUCTURE or is_part(item) for item in changed
        )

    def _wait(self, scene: bpy.types.Scene, touched: set[str] | None) -> None:
        """Look later at what has changed. What was shown from here is a change too, but none to wait longer for."""
        own, self.wrote = self.wrote and touched is not None and touched <= _OWN, False
        if self._are_keys_edited(scene):
            self.stop()
            self._check_later()
        elif self.check_at == np.inf or not (own or self.job is not None):
            self._check_later(_CHECK_LATER if self.job is None else _CHECK_AT_WORK)

    def _are_keys_edited(self, scene: bpy.types.Scene) -> bool:
        """Whether keys of what the motions depend on were edited since the last evaluation, and not from here."""
        changed = (fingerprint.tag(item) for item in fingerprint.reported(scene))
        return any(tag[0] == "ACTION" and tag in self.watched for tag in changed)

    def _is_key_edited(self, scene: bpy.types.Scene) -> bool:
        """Whether keys were edited that no hand holds: those would be edited again and again."""
        if self._is_held() or not self._are_keys_edited(scene):
            return False
        before, self.keyed_at = self.keyed_at, time.perf_counter()
        return self.keyed_at > before + _CHECK_LATER

    def _check_on(self) -> None:
        """Go on at once with what was looked at, in the next turn of the window's loop."""
        self.check_at, self.resting = time.perf_counter(), RESTING

    def look_again(self, seconds: float) -> None:
        """For so long, see whether something has changed that Blender has not reported."""
        different = self.digests.look_again(seconds)
        self.is_unsure = different is None
        if different:
            self._check_on()

    def _check_later(self, seconds: float = _CHECK_LATER) -> None:
        self.check_at, self.resting = time.perf_counter() + seconds, 0

    def _is_outdated(self, scene: bpy.types.Scene, span: tuple[int, int, float]) -> bool:
        """Whether layers may have come or gone, or are on other bones, or the frames are others."""
        if self.as_built != self.structure or span != self.span or self.editing != _editing(scene) or self.unresolved:
            return True
        return not all(map(self._stands, self.solves.values()))

    def _stands(self, solve: LayerSolve) -> bool:
        """Whether the bones of a layer are there, under these names."""
        pose = solve.owner.pose
        return all(not bone or (pose and bone in pose.bones) for bone, _ in self.kind_of(solve).places(solve.instance))

    def _rebuild(self, scene: bpy.types.Scene, span: tuple[int, int, float]) -> None:
        """Find the layers that there are; what is known of them and still right is kept."""
        self.stop()
        for key, solve in self.solves.items():
            if self._was_meddled_with(key, solve, keys=True):
                self.restored.add(solve.owner.name_full)
        self.tracks.clear()
        self.layers.clear()
        before, known_settings, known_errors = self.solves, self.settings, self.errors
        keep = self.solves if span == self.span else {}
        self.as_built, self.unresolved, self.is_ready, self.is_just_built = -1, False, True, True
        self.instances, self.settings, self.keyed, self.span = {}, {}, {}, span
        self.solves, self.errors = {}, {}
        self.editing = _editing(scene)
        for kind in self.kinds.values():
            instances = list(kind.find(scene))
            kind.tidy(scene, instances)
            for instance in instances:
                key = kind.name, instance.owner.session_uid, (instance.bone if not instance.number else instance.number)
                self.instances[key] = instance
                self.keyed[key] = keyed = kind.keyed(instance)
                self.settings[key] = kind.settings(instance, keyed)
                if instance.error:
                    self.errors[key], self.unresolved = instance.error, True
                    continue
                place = kind.place(instance)
                solve = keep.get(key)
                if solve is None or self.places[key] != place:
                    old, solve = before.get(key), kind.make(instance)
                    if old is not None:
                        solve.succeed(old)
                    if old is not None and kind.places(old.instance) == kind.places(instance):
                        # What was shown is shown until there is something new.
                        solve.track = old.track
                elif known_settings.get(key) != self.settings[key] or not kind.same(solve.instance, instance):
                    solve.stale = max(solve.stale, SETTINGS)
                elif key in known_errors:
                    self.errors[key] = known_errors[key]
                solve.instance, solve.key = instance, key
                self.solves[key], self.places[key] = solve, place
        first, last = span[0], max(span[0], span[1])
        for kind in self.kinds.values():
            kind.rebuilt(scene, first, last, self._of(kind))
        if self.is_ready:
            self.as_built = self.structure
        self.begin()

    def _of(self, kind: Kind) -> list[LayerSolve]:
        return [solve for key, solve in self.solves.items() if key[0] == kind.name]

    def _settings_changed(self) -> list[LayerSolve]:
        """Take over changed settings; the layers concerned."""
        changed = []
        for key, solve in list(self.solves.items()):
            kind = self.kind_of(solve)
            new, old = kind.settings(solve.instance, self.keyed[key]), self.settings[key]
            if new == old:
                continue
            changed.append(solve)
            self.settings[key] = new
            if new[1:] != old[1:]:
                # Other bones, or another target.
                self.as_built = -1
            else:
                kind.retune(solve)
                solve.stale = max(solve.stale, SETTINGS)
        if self.as_built < 0 and self.scene is not None:
            self._rebuild(self.scene, self.span)
        return changed

    def _inputs_changed(self, scene: bpy.types.Scene, touched: set[str] | None, within: float) -> bool | None:
        """Compare fingerprints of all that the motions depend on; None if they are not known within so many seconds."""
        everything: dict[tuple[str, str], bpy.types.ID] = {}
        reach = {}
        with fingerprint.reading_once(self.digests.read):
            for key, solve in self.solves.items():
                items = [fingerprint.dependencies(scene, items) for items in self.kind_of(solve).inputs(solve.instance)]
                for used in items:
                    everything.update(used)
                reach[key] = set(items[0]), set(items[1])
        owners = dict.fromkeys(instance.owner for instance in self.instances.values())
        for owner in owners:
            items = (owner, owner.data) if owner.type == "ARMATURE" else (owner,)
            everything.update({fingerprint.identity(item): item for item in items})
        found = self._fingerprints(everything, touched, within)
        if found is None:
            return None
        self.digests.read = {}
        prints: dict[tuple[str, str], bytes] = {}
        for kind in self.kinds.values():
            prints.update(kind.look(scene, touched))
        sees_all = bool(prints)
        prints |= found
        prints.update({(_CONSTRAINTS, owner.name_full): self._constraints(owner) for owner in owners})
        sees_keys = touched is None or "ACTION" in touched
        for key, solve in self.solves.items():
            if self._was_meddled_with(key, solve, keys=sees_keys):
                self.tracks.clear()
                self.restored.add(solve.owner.name_full)
        parts = [part for item in everything.values() for part in fingerprint.whole(item)]
        self.watched = frozenset(() if sees_all else map(fingerprint.tag, parts))
        self.data_kinds = fingerprint.KINDS | {part.id_type for part in parts}
        before, reached = self.prints, self.dependence.reach
        self.prints, self.dependence.reach = prints, reach
        different = {i for i in {*prints, *before} if prints.get(i) != before.get(i)}
        if not before or not different:
            return False
        # What is new was come to by what was found before, which is known by now.
        known = {identity for identity in different if identity in prints and identity in before}
        if not self.is_just_built and any(kind in _DATA or kind.startswith(kinds.OWN) for kind, _ in known):
            # Bones or constraints may be others. What shows the solutions was just looked at.
            if sees_keys:
                self.layers.clear()
            self._rebuild(scene, self.span)
        changed = self._mark(different, reached)
        for kind in self.kinds.values():
            kind.forget_order()
        return changed

    def _keys_changed(self, scene: bpy.types.Scene, within: float) -> bool:
        """Whether keys are others than they were known to be, as far as Blender reports edited actions and these are
        read in time: what depends on them is out of date then."""
        reported = {fingerprint.tag(item) for item in fingerprint.reported(scene) if item.id_type == "ACTION"}
        if not self.prints or within == np.inf or reported.isdisjoint(self.watched):
            return False
        prints, until = {}, time.perf_counter() + _EDITED
        for action in (action for action in bpy.data.actions if fingerprint.tag(action) in reported):
            identity = fingerprint.identity(action)
            if identity in self.prints:
                digest = self.digests.one(action, until)
                if digest is None:
                    return False
                if digest != self.prints[identity]:
                    prints[identity] = digest
        self.prints.update(prints)
        self.is_unsure = True
        return self._mark(set(prints), self.dependence.reach)

    def _mark(self, different: set[tuple[str, str]], reached: Mapping[Key, Reach]) -> bool:
        """Note what is out of date where some data is different; whether anything is. reached: on what else layers
        depended before."""
        changed = False
        built = {identity for identity in different if identity[0] != "ACTION"}
        for key, solve in self.solves.items():
            body, targets = self.dependence.touched(key, reached)
            if built & (body | targets):
                solve.restructured(moves_owner=not built.isdisjoint(body))
            if body & different:
                solve.stale, changed = BODY, True
            elif targets & different:
                solve.stale, changed = max(solve.stale, TARGETS), True
            kind = self.kind_of(solve)
            self.keyed[key] = kind.keyed(solve.instance)
            self.settings[key] = kind.settings(solve.instance, self.keyed[key])
        return changed

    def _constraints(self, owner: bpy.types.Object) -> bytes:
        """A digest of what always stays of the constraints of layers on an object."""
        return repr([kind.layer.fixed_on(owner) for kind in self.kinds]).encode()

    def _fingerprints(
        self, everything: dict[tuple[str, str], bpy.types.ID], touched: set[str] | None, within: float
    ) -> dict[tuple[str, str], bytes] | None:
        """Of everything, None if that takes longer than `within` seconds."""
        if within < np.inf:
            self.is_unsure = True
            return self.digests.of(everything, within)
        prints = {}
        for identity, item in everything.items():
            kinds_of_it = {part.id_type for part in fingerprint.whole(item)}
            known = self.prints.get(identity) if touched is not None and not kinds_of_it & touched else None
            prints[identity] = fingerprint.fingerprint(item) if known is None else known
            self.digests.learn(item, prints[identity])
        return prints

    def _was_meddled_with(self, key: Key, solve: LayerSolve, *, keys: bool) -> bool:
        """Whether someone else has changed the constraints of a layer, or with `keys` what these read."""
        known = self.layers.get(key)
        if known is None:
            return False
        try:
            owner, bone = solve.owner, solve.bone
            if bone and (owner.pose is None or bone not in owner.pose.bones):
                return False
            kind = self.kind_of(solve)
            if not kind.is_live(solve.instance):
                return False
            layer = kind.layer_of(solve.instance)
        except ReferenceError:
            return False
        fixed, contents = known
        with layer.read_once():
            return fixed != layer.fixed() or (keys and contents != layer.contents())

    # Solving

    def begin(self) -> None:
        """Start to solve what is out of date."""
        if self.scene is None or self.stopped:
            return
        self.fraction, self.started = 0.0, time.perf_counter()
        self.seen = self.is_expected = False
        self.is_settled = self.is_apart = self.is_ending = False
        stale = max((solve.stale for solve in self.solves.values()), default=FRESH)
        frame = self.scene.frame_current_final
        work = stale, *(kind.begin(self._of(kind), frame) for kind in self.kinds.values())
        self.work, self.spent, self.was_seen = work, 0.0, False
        self.time_left.begin(work, even=not self.is_slow)
        self.outdated = stale != FRESH
        if self.outdated:
            self.restored.clear()
        for key, solve in self.solves.items():
            if solve.stale != FRESH:
                self.errors.pop(key, None)
        self.job, self.is_in_slices = self._steps(self.scene), False

    def _steps(self, scene: bpy.types.Scene) -> Iterator[float]:
        """The work: layer after layer, each after those on which it depends; then it is shown."""
        yield from self._rounds(scene)
        yield from self.apart(1.0)
        yield from self._showing_large(list(self.kinds.values()), 1.0)

    def _showing_large(self, of: Sequence[Kind], fraction: float) -> Iterator[float]:
        """Show what is solved of large layers, in turns of the window's loop that have little else."""
        self.is_apart = self.is_gradual
        for _ in self._showing([kind for kind in of if kind.layer.is_large and self.is_gradual]):
            yield fraction
        self.is_apart = False

    def apart(self, fraction: float) -> Iterator[float]:
        """Where solving takes long much is shown: that begins, and what comes after it, in another turn of the window's
        loop than what was done before."""
        self.is_apart = self.is_slow
        if self.is_apart:
            yield fraction
        self.is_apart = False

    def _rounds(self, scene: bpy.types.Scene) -> Iterator[float]:
        frames = np.arange(self.span[0], max(self.span[0], self.span[1]) + 1)
        for turn in range(ROUNDS):
            groups, done = self.dependence.groups(scene, self._each()), 0
            for n, (kind, solves) in enumerate(groups):
                for solve in solves:
                    self._see_below(scene, kind, solve)
                over = SolveRange(scene, frames, self.span[2], kind.layer.order)
                for fraction in kind.steps(solves, over):
                    yield (turn + (done + len(solves) * fraction) / len(self.solves)) / (turn + 1)
                done += len(solves)
                if n < len(groups) - 1 or turn:
                    # Those that come after are solved with it.
                    fraction = (turn + done / len(self.solves)) / (turn + 1)
                    yield fraction
                    yield from self.apart(fraction)
                    yield from self._showing_large([kind], fraction)
                    self._show_tracks([kind])
                    yield from self.apart(fraction)
            if len(groups) < 2:
                return
            changed = [self._see_below(scene, kind, solve) for kind, solve in self._each()]
            if not any(changed):
                return

    def _each(self) -> list[tuple[Kind, LayerSolve]]:
        return [(self.kind_of(solve), solve) for solve in self.solves.values()]

    def _see_below(self, scene: bpy.types.Scene, kind: Kind, solve: LayerSolve) -> bool:
        """Note what has changed of the layers of other kinds on which a layer depends; whether anything has."""
        if len(self.kinds) < 2 and kind.is_together:
            return False
        return self.dependence.see_below(scene, kind, solve, self._each())

    def fail(self, solve: LayerSolve, error: LookAtError) -> None:
        """A layer cannot be solved."""
        solve.track, solve.stale = None, FRESH
        self.errors[solve.key] = str(error)

    def complete(self, solve: LayerSolve) -> None:
        """The last constraints of a layer were made, which is no change to be looked into."""
        self.tracks.pop(solve.key, None)
        self.layers.pop(solve.key, None)
        if self.prints:
            self.prints[_CONSTRAINTS, solve.owner.name_full] = self._constraints(solve.owner)

    def stop(self) -> None:
        if self.job is not None:
            job, self.job = self.job, None
            job.close()  # type: ignore[attr-defined]
            sampler.park_all()

    def advance(self, seconds: float | None, *, to_see: bool = False, rests: bool = False, whole: bool = False) -> bool:
        """Solve for so long, or to the end; whether that is reached. to_see: until there is something new to see.

        rests: temporary scenes may stay in the file until the next slice. whole: so long is the time of the processor,
        with what it takes to begin.
        """
        if self.job is None:
            return True
        if to_see and self.seen:
            # The timer does the rest: to begin a slice takes long.
            return False
        begin, opened, worked = time.perf_counter(), sampler.seconds_opening(), time.thread_time()
        most = _WORKING_ON if rests else _WORKING
        done, self.waited_for, self.news, self.found = True, seconds is None, False, False
        if rests:
            sampler.go_on()
        else:
            sampler.park_all()
        job = self._until_fault(self.job)
        before = 0.0
        for fraction in job:
            self.fraction = max(self.fraction, fraction)
            self.time_left.note(self.fraction, time.perf_counter())
            opening = 0.0 if rests and sampler.can_rest() else sampler.seconds_opening() - opened
            spent = time.perf_counter() - begin
            # The next step takes as long as the last one, as a rule.
            lasting = 2.0 * spent - opening - before
            working = (time.thread_time() - worked) / max(spent, 1e-9)
            begins, self.is_ending = sampler.is_to_begin(), sampler.is_to_end()
            late = seconds is not None and (
                working * spent > seconds
                if whole
                else _is_late(lasting, opening, seconds) or _is_late(working * lasting, working * opening, most)
            )
            before = spent - opening
            if not self.seen and any(solve.rough for solve in self.solves.values()):
                self.seen, self.found = True, not self.waited_for
            if seconds is not None:
                late = late or (begins and working * spent > _BEGUN)
                late = late or ((self.is_apart or self.is_ending) and not whole and spent > _BESIDE)
            if late or (to_see and self.seen) or self.news or self.found:
                done = False
                break
        if rests and not done:
            sampler.rest_all()
        else:
            sampler.park_all()
        self.worked = time.perf_counter()
        self.spent += time.thread_time() - worked
        if (self.seen or (whole and self.is_expected)) and not self.was_seen:
            self.was_seen, known = True, self.to_see.get(self.work, np.inf)
            # The machine may be busy beside it.
            self.to_see[self.work] = min(self.spent, _BUSIER * known)
        if done:
            self.job = None
            if self.outdated:
                self.time_left.finish(self.worked)
                if self.waited_for or not self.is_in_slices:
                    # No turn comes that would tell when it was drawn.
                    self.time_left.seen(self.worked)
                self.seconds = self.worked - self.started
        return done

    def _until_fault(self, job: Iterator[float]) -> Iterator[float]:
        """The work; where a fault ends it, layers that are not solved say so, until something of them changes."""
        while True:
            try:
                fraction = next(job)
            except StopIteration:
                return
            except ReferenceError:
                raise
            except Exception as fault:
                self._give_up(fault)
                if self.waited_for:
                    raise
                return
            yield fraction

    def _give_up(self, fault: Exception) -> None:
        """Nothing is solved any more until something changes."""
        self.job = None
        sampler.park_all()
        faults.keep_once(fault)
        error = LookAtError(
            Message(
                "Solving failed because of a fault in Look-at PD ({fault}); use Report a Problem in its tab.",
                fault=faults.named(fault),
            )
        )
        waiting = [solve for solve in self.solves.values() if solve.stale != FRESH or solve.rough]
        for solve in waiting or self.solves.values():
            self.fail(solve, error)

    def let_go(self) -> None:
        """Hold nothing of the file: it is about to be replaced."""
        self.stop()
        self.is_settled = False
        for solve in self.solves.values():
            solve.restructured()
        self.scene, self.as_built, self.noted = None, -1, False
        self.digests.forget()
        self.tracks.clear()
        self.layers.clear()
        for kind in self.kinds.values():
            kind.let_go()

    @property
    def remaining(self) -> float:
        """Seconds that solving will still take, nan if unknown."""
        return self.time_left.remaining(time.perf_counter())

    # Saved solutions

    def _digest(self) -> str:
        """Of all that the layers are solved from. Own constraints are put right, whatever becomes of them."""
        prints = {identity: digest for identity, digest in self.prints.items() if identity[0] != _CONSTRAINTS}
        settings = [
            (
                key[0],
                solve.owner.name_full,
                solve.bone,
                key[2],
                self.kind_of(solve).saved(solve.instance, self.keyed[key]),
            )
            for key, solve in self.solves.items()
        ]
        return saved_solution.digest(self.span, prints, settings)

    def _restore(self) -> bool:
        """Take the offsets in the file for the solutions, if they were solved from what is there; whether they were."""
        if not self.solves or not saved_solution.restore(self._each(), self.span, self._digest()):
            return False
        for kind, solve in self._each():
            if self.scene is not None:
                self._see_below(self.scene, kind, solve)
        for solve in self.solves.values():
            solve.stale, solve.rough = FRESH, False
        for kind in self.kinds.values():
            kind.trust()
        return True

    # Showing

    def _show_tracks(self, of: Sequence[Kind]) -> bool:
        """Let the rigs show what is solved, but large layers where the work will; whether anything was written."""
        later = self.is_gradual and (self.job is not None or self.check_at < np.inf)
        return drain(self._showing([kind for kind in of if not (kind.layer.is_large and later)]))

    def _showing(self, of: Sequence[Kind]) -> Generator[float, None, bool]:
        """Let the rigs show what is solved of these kinds; whether anything was written. Yields between what takes
        long."""
        shown = False
        for key, solve in list(self.solves.items()):
            kind = self.kind_of(solve)
            if solve.owner.mode == "EDIT" or kind not in of or not solve.instance.is_installed:
                continue
            track = kind.shown(solve)
            if track is not None:
                if self.tracks.get(key) is not track:
                    # Until all of it is there, it is no solution, nor are changes somebody else's.
                    self.tracks.pop(key, None)
                    self.layers.pop(key, None)
                    layer, shown = kind.installed(solve.instance), True
                    self.wrote = self.has_shown = True
                    self.noted = False
                    yield from layer.showing(track.first, track.rows())
                    yield 1.0
                    # What is there of its constraints and keys is from here.
                    with layer.read_once():
                        self.layers[key] = layer.fixed(), layer.contents()
                    self.tracks[key] = track
                    if kind.layer.is_large and self.prints:
                        # Constraints that it has now are no change to be looked into.
                        yield 1.0
                        self.prints[_CONSTRAINTS, solve.owner.name_full] = self._constraints(solve.owner)
            elif self.prints and (solve.stale == FRESH or solve.samples is None):
                # Until then what the file shows may be its solution.
                kind.layer_of(solve.instance).hide()
                self.tracks.pop(key, None)
                self.layers.pop(key, None)
        return shown

    def show(self) -> None:
        """Let the rigs show what is solved, and what no constraint shows, at the current frame."""
        shown = self._show_tracks(list(self.kinds.values()))
        known = self.job is None and not self.errors and bool(self.prints) and not self.is_previewing
        solved = known and all(solve.stale == FRESH and not solve.rough for solve in self.solves.values())
        # The last of a solution may have been shown before all of it was known to be right.
        if shown or (solved and not self.noted):
            saved_solution.store(self._each(), self._digest() if solved else "")
            self.noted = solved
        self.after_show()
        self.is_settled = self.job is None and self.check_at == np.inf

    def forget_shown(self, owner: int = 0, number: int = 0) -> None:
        """What a layer showed was taken away, which is no change by somebody else. By default of all layers.

        owner: session identifier.
        """
        self.is_settled = False
        gone = [key for key in {**self.tracks, **self.layers} if not owner or key[1:] == (owner, number)]
        for key in gone:
            self.tracks.pop(key, None)
            self.layers.pop(key, None)

    def after_show(self) -> None:
        if self.scene is not None:
            for kind in self.kinds.values():
                kind.after_show(self.scene)

    @property
    def is_previewing(self) -> bool:
        """Whether something else than the solutions is shown."""
        return any(self._previews())

    def is_preview(self, key: Key) -> bool:
        """Whether something else than its solution is shown of a layer."""
        return any(key in previews for previews in self._previews())

    def _previews(self) -> list[Previews]:
        return [kind.previews for kind in self.kinds.values() if kind.previews is not None]

    def follow_edits(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
        """Where a target or the pose was moved at the frame that is shown, show what becomes of it.

        For what is moved faster than it can be solved, and for what is not keyed, which the solution does not know.
        """
        if self.scene is None:
            return
        moved = [previews.follow(scene, depsgraph) for previews in self._previews()]
        own, self.has_shown = self.has_shown, False
        if any(moved):
            # The preview of what was just found is over, and no reason to begin again.
            # Nor is one of keys that are being solved, nor that somebody else turns the head as was found.
            is_new = any(previews.is_new for previews in self._previews())
            if self.job is not None and is_new and not self.is_known and not own:
                self.stop()
                self._check_later()
            self.show()
        self.is_known = False

    def aim_previews(self, view_layer: bpy.types.ViewLayer) -> None:
        """Improve previews by what they still miss, once the rigs are evaluated with them."""
        aimed = [previews.aim(view_layer) for previews in self._previews()]
        if any(aimed):
            self.show()

    def end_previews(self) -> None:
        """Show what is solved: another frame comes, or the file is saved."""
        ended = [previews.end() for previews in self._previews()]
        if any(ended):
            self.show()


def _is_late(lasting: float, opening: float, seconds: float) -> bool:
    """Whether a slice lasts too long [s], of which it took a part to begin it: that is worth some work, or it would
    never come to an end."""
    return lasting > max(seconds, opening + 0.5 * seconds)


def _editing(scene: bpy.types.Scene) -> frozenset[int]:
    """Rigs of a scene in edit mode: their layers wait."""
    if getattr(bpy.context, "mode", "OBJECT") != "EDIT_ARMATURE":
        return frozenset()
    return frozenset(i.session_uid for i in scene.objects if i.type == "ARMATURE" and i.mode == "EDIT")
