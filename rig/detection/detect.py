"""The head of a character and the chain of bones that turns with it, found from names, hierarchy and rest pose."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ...lookat_pd.skeleton import Skeleton
from . import anatomy as anatomies
from . import axes, hanging, kept, key_control, limb_pairs, limb_words
from . import vocabulary as words
from .anatomy import VERTICAL, Anatomy
from .chain_defaults import CHEST, HEAD, HIPS, NECK, PARTS, SPINE, ChainDefault, share_out

LONGEST_CHAIN = 10
_AS_HIGH = 0.1
"""Of a skeleton's size: ends that differ by less in height count as equally high."""
_ON_GROUND = 0.2
"""Of a skeleton's height: no head is lower, unless there is nothing else."""


@dataclass(frozen=True)
class RigHints:
    """What is known of a rig besides its rest pose."""

    follows: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Bone to the bone of the same armature that it copies its rotation from outright, so that an offset on it has no
    effect."""
    carriers: Mapping[str, Sequence[str]] = field(default_factory=lambda: MappingProxyType({}))
    """Bone to the bones of the same armature that move it by constraints, entirely or in part."""
    outside: frozenset[str] = frozenset()
    """Bones that copy their rotation from another armature or object outright, so that an offset on them has no
    effect."""
    shaped: frozenset[str] = frozenset()
    """Names of the bones that are drawn with a shape of their own, as controls are."""
    deform: frozenset[str] = frozenset()
    """Names of the deforming bones; empty where unknown."""
    vertical: tuple[float, float, float] = VERTICAL
    """The armature's axis that points up in the world."""
    mesh_normal: Callable[[], Array | None] = lambda: None
    """Gives the normal (3,) of the plane in which the character's mesh is symmetric."""
    mesh_face: Callable[[], Array | None] = lambda: None
    """Gives the middle (3,) of what eyes, nose and mouth are called in the character's meshes."""

    @property
    def content(self) -> tuple[object, ...]:
        """All that it has but for the meshes, to be compared."""
        carriers = tuple((bone, tuple(names)) for bone, names in self.carriers.items())
        return tuple(self.follows.items()), carriers, self.outside, self.shaped, self.deform, self.vertical

    def telling(self, answers: dict[str, Array | None]) -> "RigHints":
        """The same, which adds to `answers` what is asked of its meshes."""

        def normal() -> Array | None:
            answers["mesh_normal"] = self.mesh_normal()
            return answers["mesh_normal"]

        def face() -> Array | None:
            answers["mesh_face"] = self.mesh_face()
            return answers["mesh_face"]

        return replace(self, mesh_normal=normal, mesh_face=face)

    def tells(self, answers: dict[str, Array | None]) -> bool:
        """Whether its meshes give these answers."""
        now = ((getattr(self, name)(), answer) for name, answer in answers.items())
        return all(one is other is None or np.array_equal(one, other) for one, other in now)


@kept.by_content
def find_head(skeleton: Skeleton, hints: RigHints = RigHints()) -> str:
    """Name of the bone to aim with. Raises RigError where nothing looks like a head."""
    anatomy = _anatomy(skeleton, hints)
    name = source(anatomy.skeleton.names[_head(anatomy)], skeleton, hints)
    return _control(anatomy, name, hints)


def find_chain(skeleton: Skeleton, head: str, hints: RigHints = RigHints()) -> list[ChainDefault]:
    """The bones that share the turn of `head`, head first, down to the pelvis."""
    return [*_chain(skeleton, head, hints)]


@kept.by_content
def _chain(skeleton: Skeleton, head: str, hints: RigHints) -> list[ChainDefault]:
    anatomy = _anatomy(skeleton, hints)
    skeleton = anatomy.skeleton
    body = skeleton.index(_follower(head, skeleton, hints))
    line = [body, *skeleton.ancestors(body)]
    if is_rigify(skeleton) and source(head, skeleton, hints) == words.RIGIFY_CONTROLS[0][0]:
        chain = [(bone, part) for bone, part in words.RIGIFY_CONTROLS if bone in skeleton.names]
    else:
        chain = list(_links(anatomy, line, hints).items())
    return share_out(chain, horizontal=axes.is_horizontal(anatomy, line))


def _links(anatomy: Anatomy, line: Sequence[int], hints: RigHints) -> dict[str, str]:
    """The bones of a chain, head first, and which part of the body each is. What another armature moves is left out
    below the head: an offset has no effect on it."""
    links = {}
    for place, part in _places(anatomy, line):
        name = source(anatomy.skeleton.names[line[place]], anatomy.skeleton, hints)
        if place:
            name = _control(anatomy, name, hints)
        if not place or name not in hints.outside:
            links[name] = part
    return links


def _anatomy(skeleton: Skeleton, hints: RigHints) -> Anatomy:
    """The bones as they hang on each other by parents and constraints."""
    if hints.carriers and not is_rigify(skeleton):
        skeleton = hanging.hung(skeleton, hints.carriers)
    return anatomies.of(skeleton, hints.deform, hints.vertical)


def _control(anatomy: Anatomy, bone: str, hints: RigHints) -> str:
    """The control of an animator at the place of a bone."""
    skeleton = anatomy.skeleton
    if is_rigify(skeleton):
        return bone
    return skeleton.names[key_control.of(anatomy, skeleton.index(bone), hints.shaped, hints.carriers)]


def find_axes(skeleton: Skeleton, hints: RigHints = RigHints()) -> tuple[Array, Array]:
    """The character's forward and up, unit vectors (3,) in armature space; Blender's -Y and Z if nothing shows them."""
    axes = read_axes(skeleton, hints)
    return axes.forward, axes.up


@kept.by_content
def read_axes(skeleton: Skeleton, hints: RigHints = RigHints()) -> axes.Axes:
    """The same with the votes for them and a confidence."""
    anatomy = _anatomy(skeleton, hints)
    try:
        head = _head(anatomy)
    except RigError:
        return axes.Axes(np.array([0.0, -1.0, 0.0]), np.array(VERTICAL), 0.0)
    line = [head, *anatomy.skeleton.ancestors(head)]
    return axes.read(anatomy, line, hints.mesh_normal, hints.mesh_face)


@kept.by_content
def is_stance(skeleton: Skeleton, hints: RigHints = RigHints()) -> bool:
    """Whether the character stands in this pose, rather than having its bones all along one axis."""
    anatomy = _anatomy(skeleton, hints)
    try:
        head = _head(anatomy)
    except RigError:
        return True
    return axes.is_stance(anatomy, [head, *anatomy.skeleton.ancestors(head)])


def source(bone: str, skeleton: Skeleton, hints: RigHints) -> str:
    """The bone whose rotation `bone` has, at the end of all copying."""
    seen: set[str] = set()
    while bone in hints.follows and hints.follows[bone] in skeleton.names and bone not in seen:
        seen.add(bone)
        bone = hints.follows[bone]
    return bone


def _follower(bone: str, skeleton: Skeleton, hints: RigHints) -> str:
    """The bone of the body that has the rotation of `bone`: names and limbs are the body's, not its driver's."""
    if bone in hints.follows:
        return bone
    copies = (other for other in skeleton.names if other in hints.follows and source(other, skeleton, hints) == bone)
    return next(copies, bone)


def is_rigify(skeleton: Skeleton) -> bool:
    """Whether Rigify generated the rig: controls beside its own layers of bones."""
    layers = {name[:4] for name in skeleton.names if name[3:4] == "-"}
    return layers >= words.RIGIFY_LAYERS and words.RIGIFY_MARKS.issubset(skeleton.names)


def _head(anatomy: Anatomy) -> int:
    skeleton = anatomy.skeleton
    if is_rigify(skeleton):
        return skeleton.index(words.RIGIFY_CONTROLS[0][0])
    for search in (_called_head, _ends_of_spine, _bearing_a_face, _ends_by_symmetry):
        candidates = search(anatomy) if len(skeleton) > 1 else range(len(skeleton))
        if candidates:
            return candidates[0]
    raise RigError("No head bone was found in this armature; select the head bone in pose mode.")


def _called_head(anatomy: Anatomy) -> list[int]:
    """Bones called head, best first: with a spine below it, without a word that makes it a helper."""

    def merit(bone: int) -> tuple[int, ...]:
        name = anatomy.names[bone]
        line = anatomy.skeleton.ancestors(bone)
        return (
            -sum(word in words.LEAF | words.HELPER for word in name.words),
            any(anatomy.names[ancestor].has(words.TORSO) for ancestor in line),
            bool(line),
            -len(name.words),
            -len(line),
        )

    heads = [bone for bone, name in enumerate(anatomy.names) if name.has(words.HEAD) and not name.has(words.LEAF)]
    heads = [bone for bone in heads if not anatomy.names[bone].side] or _heads_in_pairs(anatomy, heads)
    if not heads:
        return []
    # Of several heads side by side the middle one.
    places = anatomy.skeleton.heads[heads]
    away = np.linalg.norm(places - places.mean(axis=0), axis=-1)
    nearest_first = [heads[n] for n in np.argsort(np.round(away / anatomy.size, 3), kind="stable")]
    return sorted(nearest_first, key=merit, reverse=True)


def _heads_in_pairs(anatomy: Anatomy, heads: Sequence[int]) -> list[int]:
    """Those that are the heads of a body with a left and a right one, and not the heads of joints or muscles: they hang
    on the trunk or on a neck, and on no limb."""

    def on_trunk(bone: int) -> bool:
        line = [bone, *anatomy.skeleton.ancestors(bone)]
        names = [anatomy.names[above] for above in line]
        limb = any(name.side and name.has(words.ARM, words.LEG, words.DIGIT) for name in names)
        return not limb and any(name.has(words.TORSO) for name in names[1:])

    return [bone for bone in heads if not anatomy.names[bone].has(words.HELPER) and on_trunk(bone)]


def _ends_of_spine(anatomy: Anatomy) -> list[int]:
    """Upper ends of the spines and necks, as the metarigs of Rigify have them, best first."""
    trunk = {
        bone
        for bone, name in enumerate(anatomy.names)
        if name.has(words.NECK, words.CHEST, words.SPINE) and not name.side and not name.has(words.LEAF, words.HELPER)
    }
    ends = [bone for bone in trunk if not trunk & set(anatomy.below(bone))]
    face, arms, legs = set(anatomy.named(words.FACE)), set(anatomy.arms), set(anatomy.legs)
    # The far end of a tail is called spine too: head is where the face is, and past the arms.
    ends = sorted(ends, key=lambda end: _merit_of_end(anatomy, end, face, arms, legs), reverse=True)
    return [_beyond(anatomy, end) for end in ends]


def _beyond(anatomy: Anatomy, end: int) -> int:
    """The head on a neck, or on the neck of a chest, where these have names and it has none that is known."""
    for _ in range(1 if anatomy.names[end].has(words.NECK) else 2 * anatomy.names[end].has(words.CHEST)):
        on = [bone for bone in anatomy.skeleton.children[end] if not anatomy.names[bone].side]
        on = [bone for bone in on if limb_words.is_silent(anatomy.names[bone]) and bone not in anatomy.counterparts]
        if len(on) != 1:
            break
        end = on[0]
    return end


def _merit_of_end(anatomy: Anatomy, end: int, face: set[int], arms: set[int], legs: set[int]) -> tuple[float, ...]:
    line = [end, *anatomy.skeleton.ancestors(end)]
    branches = set().union(*anatomy.side_branches(line[:-1])) if len(line) > 1 else set()
    return (
        bool(face & set(anatomy.below(end))),
        bool(branches & face),
        bool(branches & arms),
        bool(branches & legs),
        float(anatomy.skeleton.tails[end][2]),
    )


def _bearing_a_face(anatomy: Anatomy) -> list[int]:
    """The bone that most bones of a face hang on, where several do and no bone has a name of the trunk."""
    face = set(anatomy.named(words.FACE))
    lines = [[bone for bone in anatomy.skeleton.ancestors(part) if bone not in face] for part in face]
    bearing = Counter(line[0] for line in lines if line and line[0] not in anatomy.counterparts)
    most = bearing.most_common(1)
    return [bone for bone, count in most if count > max(1, 0.5 * len(face))]


def _ends_by_symmetry(anatomy: Anatomy) -> list[int]:
    """Ends of the chains in the middle of a skeleton whose names say nothing: with bones in pairs on it, the highest;
    of those about as high the shortest first, because tails and abdomens are longer than heads."""
    skeleton, images = anatomy.skeleton, anatomy.counterparts
    middle = [bone for bone in range(len(skeleton)) if bone not in images and skeleton.parents[bone] >= 0]
    ends = [bone for bone in middle if not set(skeleton.children[bone]) & set(middle)]
    if not ends or (len(images) < 4 and len(ends) > 1):
        return []
    heights = skeleton.heads @ np.array(anatomy.vertical)
    # What is on the ground in front of a character are controls.
    low = float(heights.min()) + _ON_GROUND * float(np.ptp(heights))
    ends = [bone for bone in ends if heights[bone] > low] or ends
    high = float(heights[ends].max()) - _AS_HIGH * anatomy.size

    def merit(bone: int) -> tuple[float, ...]:
        paired = bool(set(anatomy.below(bone)) & images.keys())
        return paired, min(float(heights[bone]), high), -_branch_length(anatomy, bone, middle)

    return sorted(ends, key=merit, reverse=True)


def _branch_length(anatomy: Anatomy, end: int, middle: Sequence[int]) -> float:
    """How long the chain is from where it parts from the others of the middle to the tail of its end."""
    skeleton = anatomy.skeleton
    first, among = end, set(middle)
    for bone in skeleton.ancestors(end):
        if bone not in among or len(among & set(skeleton.children[bone])) > 1:
            break
        first = bone
    return float(np.linalg.norm(skeleton.tails[end] - skeleton.heads[first]))


def _places(anatomy: Anatomy, line: Sequence[int]) -> list[tuple[int, str]]:
    """Places in the line from the head to the root that belong to the chain, each with the part of the body it is."""
    arms, legs = anatomy.limbs(line)
    while arms is not None and anatomy.names[line[arms]].has(words.NECK) and arms + 1 < len(line):
        # Some rigs hang the collar bones on the neck.
        arms += 1
    places = list(_turning(anatomy, line, legs))[:LONGEST_CHAIN]
    parts = [(place, _part(anatomy, line, place, arms, bottom=places[-1], legs=legs)) for place in places]
    lowest = 0
    ordered = []
    for place, part in parts:
        # No bone belongs to a part above that of its child.
        lowest = max(lowest, PARTS.index(part))
        ordered.append((place, PARTS[lowest]))
    return ordered


def _turning(anatomy: Anatomy, line: Sequence[int], legs: int | None) -> Iterator[int]:
    """Places in the line that turn, from the head to the pelvis: no helpers, nothing that stands on the floor."""
    yield 0
    for place in range(1, len(line)):
        name = anatomy.names[line[place]]
        pelvis = name.has(words.HIPS) and not name.side
        at_legs = legs is not None and place >= legs
        if at_legs and not pelvis and not _at_hips(anatomy, line[place]):
            return
        if name.has(words.ROOT) and not name.has(words.TORSO) and not at_legs:
            return
        if not pelvis and not at_legs and _is_idle(anatomy, line, place):
            continue
        yield place
        if pelvis or at_legs:
            return


def _is_idle(anatomy: Anatomy, line: Sequence[int], place: int) -> bool:
    """Whether a bone in the line only helps: by its name, or by being far shorter than the others."""
    name = anatomy.names[line[place]]
    if name.has(words.TWIST) and name.has(words.NECK):
        # Some rigs have no other neck.
        necks = (anatomy.names[bone] for bone in line)
        return any(neck.has(words.NECK) and not neck.has(words.HELPER) for neck in necks)
    if name.has(words.HELPER, words.LEAF):
        return True
    here, above = line[place - 1], line[place]
    if not key_control.at_one_place(anatomy, here, above):
        return False
    # A bone that holds or follows another one of the same part.
    return not name.has(words.NECK, words.CHEST, words.SPINE) or key_control.of_one_part(anatomy, here, above)


def _at_hips(anatomy: Anatomy, bone: int) -> bool:
    """Whether an ancestor of the legs is where they begin, and not on the floor or out in front as a control."""
    hind = limb_pairs.hind_legs(anatomy)
    if hind is None:
        return not anatomy.names[bone].has(words.ROOT)
    begin, end = hind
    return bool(np.linalg.norm(anatomy.skeleton.heads[bone] - begin) < 0.5 * np.linalg.norm(begin - end))


def _part(anatomy: Anatomy, line: Sequence[int], place: int, arms: int | None, *, bottom: int, legs: int | None) -> str:
    """Which part of the body a bone of the line is: by name where it says so, else by its descendants."""
    name = anatomy.names[line[place]]
    if place == 0:
        return HEAD
    if name.has(words.NECK):
        return NECK
    if name.has(words.HIPS) or place == legs:
        return HIPS
    if place == arms or name.has(words.CHEST):
        return CHEST
    if arms is not None:
        return NECK if place < arms else SPINE
    if legs is not None and name.has(words.SPINE):
        return SPINE
    return NECK if place <= 0.4 * bottom else CHEST if place <= 0.6 * bottom else SPINE
