"""Kinds of layers: what the live loop asks of a feature that adds something to rigs.

A feature registers its kind. The loop finds the layers that there are, notices what changes, has them solved in slices,
shows, saves and restores them; all that is done once, for all kinds. A kind says what its layers are solved from and
how, and where in the stacks they stand.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import bpy

from ...lookat_pd.errors import LookAtError
from ...lookat_pd.rotation import Array
from ..animation import stored_settings
from ..sampling import own_data, suspend
from ..sampling.sampler import CutDown, Sampler
from ..sampling.targets import Target
from . import track
from .layer import Layer, Row, all_disabled, number_of, own_on

FRESH, SETTINGS, TARGETS, BODY = range(4)
"""What of a solve is out of date; each includes those before it: nothing, the settings, what the layer aims at or
follows, and the object that has it."""
ROUNDS = 3
"""How often those are solved that depend on each other in a circle, each as the others were found to be the time
before. Of look-ats the others are as animated the first time."""
OWN = "LAYERS"
"""Beginning of the names of digests that are of no data of Blender."""
Key = tuple[str, int, Hashable]
"""Name of a kind, an object's session identifier and a layer's number on it: they stay whatever is renamed."""


class Added(Protocol):
    """What a layer adds over time. One that can be baked has `channels` too, see `Track`."""

    @property
    def first(self) -> int:
        """The first frame; the last rows hold after the last one."""
        ...

    def rows(self) -> list[Row]: ...

    def same_as(self, other: Any) -> bool: ...


@dataclass(frozen=True)
class Instance:
    """A layer that there is, as its kind finds it."""

    owner: bpy.types.Object
    """The object that it moves, or bones of which."""
    bone: str
    """The bone that has its settings, "" for the object."""
    number: int = 0
    """Unique among the layers of this kind on the object, 0 where each bone may have one."""
    resolved: Any = None
    """What the settings mean, None where they are wrong."""
    error: str = ""
    """What is wrong with the settings, a sentence with the remedy."""
    rows: tuple[tuple[str, str], ...] = ()
    """The bones to which it adds something and what of them changes, "ROTATION" or "LOCATION"."""
    is_installed: bool = True
    """Whether all its constraints are there; else `steps` makes the rest, and nothing is shown until then."""


class LayerSolve:
    """A layer being solved over a range of frames: what is kept of it, and its solution."""

    samples: Any = None
    """What it is solved from, kept while it is valid; None until that is complete."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.key: Key = "", 0, 0
        """What distinguishes it from all others, in a live scene."""
        self.stale = BODY
        """What is out of date."""
        self.track: Any = None
        """What it adds, an `Added`; None as long as there is nothing."""
        self.rough = False
        """Whether the track is still to be verified."""

    @property
    def owner(self) -> bpy.types.Object:
        return self.instance.owner

    @property
    def bone(self) -> str:
        return self.instance.bone

    @property
    def notes(self) -> tuple[str, ...]:
        """What the animator should know of the solution."""
        return ()

    @property
    def is_slow(self) -> bool:
        """Whether solving takes longer than a step of the mouse, so that it waits until nothing is dragged."""
        return False

    @property
    def copied(self) -> CutDown | None:
        """The armatures in whose place copies are sampled, and the bones of these; None where that is not known."""
        return None

    def keep(self, added: Added) -> None:
        """Take a solution. The same again leaves the track the same object, so that what depends on it stays valid."""
        if self.track is None or not added.same_as(self.track):
            self.track = added

    def succeed(self, before: "LayerSolve") -> None:
        """Take over what is known of the owner, whatever of it is solved: this one takes the place of another, as on
        other bones or with another target."""

    def restructured(self, *, moves_owner: bool = True) -> None:
        """Bones, constraints or drivers may be others, or data is replaced: hold nothing that depends on them.

        moves_owner: whether they may be those of what moves the owner, and not only of what it aims at or follows.
        """


@dataclass(frozen=True)
class SolveRange:
    """Over what a layer is solved."""

    scene: bpy.types.Scene
    frames: Array
    """(F,) consecutive whole frames."""
    dt: float
    """Seconds per frame."""
    order: int = 0
    """Of the kind. Layers that come first in the stacks are left out of what is sampled from this order on."""

    def sampler(
        self, owner: bpy.types.Object, bones: Sequence[str], targets: Sequence[Target] = (), **options: Any
    ) -> Sampler:
        """A sampler of bones and targets, in which layers of kinds that come before this one add what they add."""
        return Sampler(self.scene, owner, bones, targets, left_out=left_out(self.order), **options)


def left_out(order: int) -> suspend.LeftOut:
    """Layers that come first in the stacks, from an order on."""

    def find(owner: bpy.types.Object) -> Iterator[tuple[Any, bpy.types.Constraint]]:
        return ((item, c) for item, c in own_on(owner) if own_data.order_of(c) >= order)

    def on_rigs(spared: Collection[bpy.types.Object]) -> AbstractContextManager[bool]:
        return all_disabled(spared, own_on if order <= 0 else find)

    def on_copy(copy: bpy.types.Object, _: bpy.types.Object) -> None:
        for _, constraint in find(copy):
            constraint.influence = 0.0

    return suspend.LeftOut(on_rigs, on_copy)


class Previews(Protocol):
    """What a kind shows of some layers instead of their solutions, while something is moved that is not keyed."""

    is_new: bool
    """Whether something was moved since `follow` was called before."""

    def __bool__(self) -> bool:
        """Whether anything else is shown."""
        ...

    def __contains__(self, key: Key) -> bool:
        """Whether something else is shown of a layer."""
        ...

    def follow(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> bool:
        """After an evaluation: see what is moved; whether something else is to be shown."""
        ...

    def aim(self, view_layer: bpy.types.ViewLayer) -> bool:
        """Improve what is shown once it is evaluated; whether something else is to be shown."""
        ...

    def end(self) -> bool:
        """Show the solutions again; whether anything else was shown."""
        ...


class LiveWork(Protocol):
    """What a kind needs of the scene whose layers are kept up to date."""

    is_ready: bool
    """Whether Blender has put everything together that `find` has seen."""
    is_gradual: bool
    """Whether what takes long to find or to make may be left to later turns of the window's loop."""
    waited_for: bool
    """Whether the work goes on to its end before it is drawn."""
    seen: bool
    """Whether the work has come to something new to see."""
    was_seen: bool
    """Whether something was seen of it."""
    is_expected: bool
    """Whether what is expected around the playhead could be shown, though a little of it may change."""
    news: bool
    """Whether something new to see has just been found."""

    def fail(self, solve: LayerSolve, error: LookAtError) -> None: ...

    def apart(self, fraction: float) -> Iterator[float]:
        """Where solving takes long much is shown: that begins, and what comes after it, in another turn of the window's
        loop than what was done before, unless that is the turn of the edit."""
        ...

    def complete(self, solve: LayerSolve) -> None:
        """The last constraints of a layer were made, which is no change to be looked into."""
        ...


class Kind:
    """A kind of layer, for the layers of one scene. A subclass has to say what `find`, `settings`, `inputs`, `solve`,
    or `steps` in its place, and `mute` say; the other methods have defaults.
    """

    name: ClassVar[str]
    """Unique among kinds."""
    layer: ClassVar[type[Layer]] = Layer
    """What it shows its solutions by. Its `order` is the one in which kinds are solved and stand in the stacks."""
    groups: ClassVar[tuple[str, ...] | None] = None
    """Names of groups of settings (`stored_settings.declare`), one of which there is wherever anything of this kind is,
    or else something of its layers. None where that is not so, and `is_used` is asked each time."""
    is_together: ClassVar[bool] = False
    """Whether `steps` knows how all its layers depend on each other. Else each is solved after those found before it,
    or with those that `together` says."""

    previews: Previews | None = None
    """What is shown instead of solutions, None for a kind that shows nothing else."""

    def __init__(self, live: LiveWork | None = None) -> None:
        """live: the scene whose layers these are, None to bake some."""
        self.live = live

    # What each kind says

    def find(self, scene: bpy.types.Scene) -> Iterable[Instance]:
        """The layers of this kind that move something now, in the order in which they depend on each other."""
        raise NotImplementedError

    def settings(self, instance: Instance, keyed: frozenset[str]) -> tuple:
        """All settings, equal as long as it need not be solved again: first those on which the samples do not depend.

        keyed: as returned by `keyed`.
        """
        raise NotImplementedError

    def inputs(self, instance: Instance) -> tuple[Sequence[bpy.types.ID | None], Sequence[bpy.types.ID | None]]:
        """What it depends on: the object that has it, with what else moves that; and what it aims at or follows."""
        raise NotImplementedError

    def solve(self, solve: LayerSolve, over: SolveRange) -> Iterator[float]:
        """Solve one layer and `keep` the solution, yielding the fraction done. Raises LookAtError."""
        raise NotImplementedError

    def mute(self, instance: Instance) -> None:
        """Let it move nothing any more: what it adds was baked."""
        raise NotImplementedError

    # What most kinds have in common

    @classmethod
    def is_used(cls) -> bool:
        """Whether the file has anything of this kind that moves something or is to be taken away. If not, nothing else
        of it is called; where `in_file` finds nothing of it, not even this."""
        if any(True for scene in bpy.data.scenes for _ in cls().find(scene)):
            return True
        return any(True for item in bpy.data.objects if item.library is None for _ in cls.layer.on(item))

    def tidy(self, scene: bpy.types.Scene, instances: Sequence[Instance]) -> None:
        """Take away constraints of layers that are no more, but not of what is linked.

        instances: the layers that there are.
        """
        kept = {(instance.owner, instance.number) for instance in instances}
        for item in (item for item in scene.objects if item.library is None):
            numbers = {number_of(constraint) for _, constraint in self.layer.on(item)}
            for number in (number for number in numbers if (item, number) not in kept):
                self.layer(item, number).remove()

    def make(self, instance: Instance) -> LayerSolve:
        return LayerSolve(instance)

    def layer_of(self, instance: Instance) -> Layer:
        return self.layer(instance.owner, instance.number)

    def places(self, instance: Instance) -> list[tuple[str, str]]:
        """The places of its rows."""
        return list(instance.rows)

    def baked(self, instance: Instance) -> list[tuple[str, str]]:
        """The places that a bake keys. Raises LookAtError where keys cannot show what is seen."""
        return self.places(instance)

    def installed(self, instance: Instance) -> Layer:
        """The layer with its constraints in place."""
        layer = self.layer_of(instance)
        layer.install(self.places(instance))
        return layer

    def installing(self, solve: LayerSolve) -> Iterator[float]:
        """Make the constraints of a live layer, with breaks: to name one Blender looks for the name in all F-curves of
        the file."""
        layer, places = self.layer_of(solve.instance), self.places(solve.instance)
        if self.live is None or layer.is_installed(places):
            return
        for _ in layer.installing(places):
            # What was made until now is no change to be looked into.
            self.live.complete(solve)
            yield 0.0
        self.live.complete(solve)

    def place(self, instance: Instance) -> Hashable:
        """What samples were taken of: another one makes them worthless."""
        return tuple(self.places(instance))

    def is_live(self, instance: Instance) -> bool:
        """Whether a layer that was found moves something still."""
        return True

    def same(self, one: Instance, other: Instance) -> bool:
        """Whether what the settings mean is the same, besides what `settings` returns."""
        return True

    def keyed(self, instance: Instance) -> frozenset[str]:
        """Names of settings that change with the frame."""
        return frozenset()

    def saved(self, instance: Instance, keyed: frozenset[str]) -> tuple:
        """All settings, with names for what they point to, for the digest in a file."""
        return self.settings(instance, keyed)

    def sees(self, solve: LayerSolve, kind: "Kind", other: LayerSolve) -> bool:
        """Whether what this one is solved from has another layer, of any kind, if it depends on the object of that."""
        if kind is self and self.is_together:
            return False
        return kind.layer.order < 0 or rank(type(kind)) <= rank(type(self))

    def together(self, solve: LayerSolve) -> Hashable:
        """What is equal for layers that are given to `steps` at once, and is so for no others."""
        return self.name if self.is_together else solve.key

    def retune(self, solve: LayerSolve) -> None:
        """Take over settings on which samples do not depend."""

    def steps(self, solves: Sequence[LayerSolve], over: SolveRange) -> Iterator[float]:
        """Bring these up to date, yielding the fraction done."""
        for n, solve in enumerate(solves):
            if solve.stale == FRESH:
                continue
            try:
                for fraction in self.solve(solve, over):
                    yield (n + fraction) / len(solves)
                solve.stale, solve.rough = FRESH, False
            except LookAtError as error:
                if self.live is None:
                    raise
                self.live.fail(solve, error)

    def read(self, solve: LayerSolve, first: int, last: int) -> Any:
        """The solution that the layer in a file shows, None if that is not one over these frames."""
        layer = self.layer_of(solve.instance)
        places = self.places(solve.instance)
        turned = [bone for bone, what in places if what == "ROTATION"]
        known = track.read(layer, turned, [bone for bone, what in places if what == "LOCATION"])
        return known if known is not None and (known.first, len(known.offsets)) == (first, last - first + 1) else None

    def store(self, solve: LayerSolve, *, is_solved: bool) -> None:
        """Note beside the keys what no constraint shows."""

    def shown(self, solve: LayerSolve) -> Any:
        """What to show of a layer."""
        return solve.track

    # What some kinds add

    def look(self, scene: bpy.types.Scene, touched: set[str] | None) -> dict[tuple[str, str], bytes]:
        """Before all inputs are compared: digests of data that cannot be listed, on which its layers depend too, by
        names that begin with `OWN`.

        touched: kinds of data that were changed, None for any.
        """
        return {}

    def forget_order(self) -> None:
        """Something on which layers depend has changed: find out anew which ones depend on which."""

    def rebuilt(self, scene: bpy.types.Scene, first: int, last: int, solves: Sequence[LayerSolve]) -> None:
        """The layers that there are were found anew."""

    def begin(self, solves: Sequence[LayerSolve], frame: float) -> Hashable:
        """Work begins; works for which this returns the same spend their time alike."""
        return tuple(solve.stale for solve in solves)

    def trust(self) -> None:
        """All solutions of the scene were restored from the file."""

    def let_go(self) -> None:
        """Hold nothing of the file: it is about to be replaced."""

    def after_show(self, scene: bpy.types.Scene) -> None:
        """Set what no constraint shows, at the current frame."""

    @classmethod
    def before_save(cls) -> None:
        """The file is about to be saved."""

    @classmethod
    def remove_all(cls) -> None:
        """Take away what would move rigs when nobody updates it any more."""


KINDS: list[type[Kind]] = []
"""Those that features have registered, in the order in which they are solved and stand in the stacks."""
listeners: list[Callable[[], None]] = []
"""Called when kinds come or go."""


def register_kind(kind: type[Kind]) -> None:
    KINDS.append(kind)
    KINDS.sort(key=rank)
    if kind.layer.order >= 0:
        own_data.PREFIXES[kind.layer.prefix] = kind.layer.order
    else:
        own_data.MARKS.add(kind.layer.mark)
    for listener in listeners:
        listener()


def unregister_kind(kind: type[Kind]) -> None:
    kind.remove_all()
    KINDS.remove(kind)
    if kind.layer.order > 0:
        own_data.PREFIXES.pop(kind.layer.prefix)
    own_data.MARKS.discard(kind.layer.mark)
    for listener in listeners:
        listener()


def in_file(asked: Collection[type[Kind]]) -> set[type[Kind]]:
    """Those of some kinds of which the file may have something, found without calling any of them: their settings, or
    constraints or actions of their layers."""
    known = {kind: kind.groups for kind in asked if kind.groups is not None}
    there = stored_settings.in_file({name for groups in known.values() for name in groups})
    found = {kind for kind in asked if kind not in known or not there.isdisjoint(known[kind])}
    marks = {kind.layer.mark: kind for kind in known if kind.layer.mark}
    if marks:
        found.update(kind for mark, kind in marks.items() if any(mark in action for action in bpy.data.actions))
    prefixes = {kind.layer.prefix: kind for kind in known if kind.layer.order >= 0 and kind not in found}
    if prefixes:
        names = {name for item in bpy.data.objects if item.library is None for name in _names_on(item)}
        found.update(kind for prefix, kind in prefixes.items() if any(name.startswith(prefix) for name in names))
    return found


def _names_on(item: bpy.types.Object) -> Iterator[str]:
    """Names of constraints of an object and its bones."""
    for owner in (item, *(item.pose.bones if item.pose else ())):
        for constraint in owner.constraints:
            yield constraint.name


def rank(kind: type[Kind]) -> tuple[bool, int]:
    """Where a kind stands: first those before the animator's constraints, in their order, then those after."""
    return kind.layer.order < 0, kind.layer.order
