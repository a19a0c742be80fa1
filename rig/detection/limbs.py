"""Eyes, lids, legs, arms and the bone that moves them all, on any armature: the bones of a look-at's body response.

On a rig that Rigify generated these are controls. On others they are the bones of the body, or what these copy. Where
nothing is clear nothing is found, since a wrong bone does more harm than none.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import bpy
import numpy as np

from ...lookat_pd.skeleton import Skeleton
from ..sampling import own_data
from . import detect, face, hanging, rest, stance
from . import limb_chains as lines
from . import vocabulary as words
from .anatomy import Anatomy
from .limb_chains import Lines
from .read_once import read_once
from .switched_limbs import LimbControls, RigCopies

_AIMING = ("DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK")
_PLACING = ("COPY_LOCATION", "COPY_TRANSFORMS", "FOLLOW_PATH", "CLAMP_TO")
_NEAR = 3
"""How many bones from an eye towards the head may be what a constraint aims."""
_HERE = 0.005
"""Of a skeleton's size: bones that begin no farther apart are at one place."""
_UNLIKE = 1e-4
"""Of the length of a leg: by so much the bones that copy it may differ from it."""


@dataclass(frozen=True)
class EyeBone:
    """A bone that turns an eye."""

    bone: str
    """The bone that turns."""
    target: str = ""
    """The bone of the same armature that a constraint aims it at; "" for none."""


@dataclass(frozen=True)
class LidPoints:
    """Bones along the edges of the lids of an eye, which close it by their location."""

    upper: tuple[str, ...]
    lower: tuple[str, ...]
    coupling: tuple[tuple[float, ...], ...]
    """N rows of n, the part of the displacement of each bone of `upper` that each of them receives."""
    follows: float = 0.0
    """The part of the turn of the eye with which the rig itself moves the upper lid up and down."""


@dataclass(frozen=True)
class LegBones:
    """Three bones, and a toe or ""."""

    upper: str
    lower: str
    foot: str
    toe: str = ""
    held: bool = False
    """Whether inverse kinematics of the rig itself keeps the foot in its place."""
    goals: tuple[str, ...] = ()
    """Bones of the armature that it brings the foot to; foot is one of them where no other foot hangs on the leg."""
    shown: str = ""
    """The deforming bone that begins at the goal, where it is not exactly there: deforming bones that copy their
    controls but are connected and of other lengths; "" else."""


@dataclass(frozen=True)
class ArmBones:
    """The bones of an arm."""

    clavicle: str
    """Collarbone, "" where there is none."""
    upper: str
    hand: str
    """The bone at the wrist, or the last known before it."""
    held: bool = False
    """Whether inverse kinematics of the rig itself turns the arm."""
    goal: str = ""
    """The bone that moves the hand then, "" where its location is not free."""


def find_eyes(armature: bpy.types.Object) -> list[EyeBone]:
    """The eyes: none, one or two, left first."""
    rig = _rig(armature)
    anatomy = rig.anatomy
    bones = face.eyes(anatomy, lines.head_of(anatomy))
    return list(dict.fromkeys(rig.eye(rig.body.names[bone]) for bone in bones))


def find_lids(armature: bpy.types.Object) -> list[str]:
    """The bones that close the eyes, left first; none where more than one is needed for an eye."""
    rig = _rig(armature)
    lids = [rig.control(rig.body.names[bone]) for bone in face.upper_lids(rig.anatomy)]
    return lids if all(lids) else []


def find_lid_points(armature: bpy.types.Object) -> list[LidPoints]:
    """The controls along the lids of each eye, left first; none where one of the upper lids does not move freely."""
    rig = _rig(armature)
    anatomy = rig.anatomy
    eyes = find_eyes(armature)
    points = []
    for side in face.lid_points(anatomy):
        upper, lower = (
            tuple(dict.fromkeys(filter(None, (rig.control(rig.body.names[bone]) for bone in part)))) for part in side
        )
        if not upper or not lower or set(upper) & set(lower) or not all(map(rig.is_offset_freely, upper)):
            return []
        eye = eyes[len(points)] if len(points) < len(eyes) else None
        points.append(LidPoints(upper, lower, *rig.lid_coupling(upper, eye)))
    return points


def find_legs(armature: bpy.types.Object) -> list[LegBones]:
    """All legs, left first, the front legs of a four-legged animal after the hind legs."""
    rig = _rig(armature)
    legs = []
    for line in [*rig.lines.legs, *rig.lines.footless]:
        bones = rig.controls(line)
        if len(bones) > 2:
            legs.append(_three_bones(rig, line, bones))
        elif len(bones) == 2 and rig.goals(bones[1]):
            # The foot hangs on what the leg is brought to.
            goals = tuple(rig.goals(bones[1]))
            shown = rig.shown(line, goals)
            legs.append(LegBones(bones[0], bones[1], goals[0], held=True, goals=goals, shown=shown))
    return legs


def find_hands(armature: bpy.types.Object) -> list[LegBones]:
    """All arms whose hands may be put on the ground, left first: upper arm, forearm and hand."""
    rig = _rig(armature)
    lines_of = [(line, rig.controls(line)) for _, *line in rig.lines.arms]
    return [_three_bones(rig, line, bones) for line, bones in lines_of if len(bones) > 2]


def _three_bones(rig: "_Rig", line: Sequence[str], bones: Sequence[str]) -> LegBones:
    """A limb of the body and what turns its bones, three or more."""
    held = rig.has_ik(line[0], bones[2])
    goals = tuple(rig.goals(bones[2])) if held and not rig.is_rigify else ()
    toe = bones[3] if len(bones) > 3 else ""
    return LegBones(bones[0], bones[1], bones[2], toe, held, goals, rig.shown(line, goals))


def find_unplanted(armature: bpy.types.Object, chain: Sequence[str]) -> list[str]:
    """The bones of a chain (head first) that are ancestors of a leg whose controls `find_legs` does not know."""
    rig = _rig(armature)
    if rig.is_rigify:
        return []
    known = {bone for leg in find_legs(armature) for bone in (leg.upper, leg.lower)}
    unknown = [control for control in map(rig.control, rig.lines.begins) if control]
    unknown = [bone for bone in unknown if not known & {bone, *rig.below(bone)}]
    return [link for link in chain if any(rig.hangs_on(bone, link) for bone in unknown)]


def find_handle(armature: bpy.types.Object, goal: str, chain: Sequence[str]) -> str | None:
    """The bone that restores what holds a foot: its topmost ancestor, or itself, that does not depend on the chain.

    None where the location or rotation of no such bone is free.
    """
    rig = _rig(armature)
    line = rig.line(goal)
    free = line[: next((n for n, bone in enumerate(line) if bone in chain), 0)]
    return next((bone for bone in reversed(free) if rig.is_free(bone)), None)


def find_foot_control(armature: bpy.types.Object, limb: LegBones, others: Sequence[LegBones]) -> str | None:
    """The bone that moves the foot of a limb that inverse kinematics holds, and no other foot: the topmost such one
    above its goal, or the goal itself. None where the location of no such bone is free, or where the foot is a bone of
    the chain, so that it turns as the chain does instead of standing.
    """
    rig = _rig(armature)
    if any(constraint.use_tail for constraint in rig.solvers_on(limb.foot)):
        return None
    kept = {name for other in others for name in (*other.goals, other.upper)} - set(limb.goals) | {limb.upper}
    for goal in limb.goals:
        line = rig.line(goal)
        own = line[: next((n for n, bone in enumerate(line) if any(rig.hangs_on(name, bone) for name in kept)), None)]
        free = (bone for bone in reversed(own) if rig.is_free(bone) and rig.is_offset_freely(bone))
        control = next(free, None)
        if control is not None:
            return control
    return None


def find_arms(armature: bpy.types.Object) -> list[ArmBones]:
    """All arms and wings that do not stand on the ground, left first."""
    rig = _rig(armature)
    plain, hung = _arms(rig, rig.lines, rig.control), []
    if rig.hangs_by_controls:
        hung = _arms(rig, rig.hung_lines, rig.driver)
    # Where parents show as much of them, controls need not be asked.
    return max(plain, hung, key=lambda arms: (len(arms), sum(bool(arm.clavicle) for arm in arms)))


def _arms(rig: "_Rig", found: Lines, control: Callable[[str], str]) -> list[ArmBones]:
    arms = []
    for collar, *line in found.arms:
        bones = rig.controls(line, control, rig.carried_by)
        if len(bones) > 1:
            held = rig.has_ik(line[0], bones[-1])
            goal = rig.hand_goal(line[len(bones) - 1], bones[-1]) if held else ""
            arms.append(ArmBones(control(collar), bones[0], bones[-1], held, goal))
    return arms


def limb_lines(armature: bpy.types.Object) -> tuple[list[list[str]], list[list[str]]]:
    """What turns the bones of each arm, from the upper arm on, and of each leg, from the thigh on."""
    rig = _rig(armature)
    arms = [rig.turned(line) for _, *line in rig.lines.arms]
    legs = [rig.turned(line) for line in (*rig.lines.legs, *rig.lines.footless)]
    return [line for line in arms if len(line) > 1], [line for line in legs if len(line) > 1]


def switched_limbs(armature: bpy.types.Object) -> list[LimbControls]:
    """The arms and legs of a rig that Rigify did not generate which switch between IK and FK."""
    rig = _rig(armature)
    lines_of = [*(line for _, *line in rig.lines.arms), *rig.lines.legs]
    candidates = (rig.copies.limb(line) for line in lines_of)
    return [limb for limb in candidates if limb is not None]


def find_hips_control(armature: bpy.types.Object, chain: Sequence[str], put_back: Sequence[str] = ()) -> str | None:
    """The lowest bone that moves the whole body above the feet: the common ancestor of legs and chain (head first).

    Without legs it is the ancestor of the whole chain. None if the location of no such bone is free, or if it would
    move what holds the feet and is not `put_back` afterwards.
    """
    rig = _rig(armature)
    if rig.is_rigify:
        return words.RIGIFY_HIPS
    begins = [control for control in map(rig.control, rig.lines.begins) if control]
    if not begins and len(chain) < 2:
        return None
    goals = {goal for leg in find_legs(armature) for goal in leg.goals} - set(put_back)
    for bone in rig.above([chain[0], *(begins or chain[-1:])]):
        if any(rig.hangs_on(goal, bone) for goal in goals):
            return None
        if rig.moves_freely(bone):
            return bone
    return None


class _Rig:
    """An armature read for its limbs. body: the bones of which limbs are made; where Rigify generated the rig, those of
    its metarig. deform: which of them deform, empty where unknown."""

    def __init__(self, armature: bpy.types.Object) -> None:
        self.armature = armature
        self.skeleton = stance.skeleton(armature)
        self.hints = rest.hints(armature)
        self.is_rigify = detect.is_rigify(self.skeleton)
        self.body, self.deform = self.skeleton, self.hints.deform
        if self.is_rigify:
            layer = [n for n, name in enumerate(self.skeleton.names) if name.startswith(words.RIGIFY_LAYER)]
            part = lines.only(self.skeleton, layer)
            names = [name.removeprefix(words.RIGIFY_LAYER) for name in part.names]
            self.body, self.deform = replace(part, names=names), frozenset()

    @cached_property
    def anatomy(self) -> Anatomy:
        return Anatomy(self.body, self.deform, self.hints.vertical)

    @cached_property
    def lines(self) -> Lines:
        return lines.find(self.body, self.deform, self.hints.vertical)

    def control(self, name: str) -> str:
        """What turns a bone of the body; "" where that is not known."""
        if not name:
            return ""
        if not self.is_rigify:
            return detect.source(name, self.skeleton, self.hints)
        return next((bone for bone in (_suffixed(name, words.RIGIFY_TURNED), name) if bone in self.skeleton.names), "")

    def controls(
        self,
        line: Sequence[str],
        control: Callable[[str], str] | None = None,
        hangs_on: Callable[[str, str], bool] | None = None,
    ) -> list[str]:
        """What turns the bones of a limb, as far as each hangs on the one before."""
        controls: list[str] = []
        for bone in map(control or self.control, line):
            if not bone or bone in controls or (controls and not (hangs_on or self.hangs_on)(bone, controls[-1])):
                break
            controls.append(bone)
        return controls

    @cached_property
    def hangs_by_controls(self) -> bool:
        """Whether bones may hang on each other by constraints, or be moved by bones that do not deform."""
        return not self.is_rigify and bool(self.hints.carriers or len(self.deform) < len(self.skeleton))

    @cached_property
    def hung(self) -> Skeleton:
        """The bones as they hang on each other by parents and constraints."""
        return hanging.hung(self.skeleton, {} if self.is_rigify else self.hints.carriers)

    @cached_property
    def hung_lines(self) -> Lines:
        """The limbs of the body as what drives its bones hangs together."""
        deform = [name for name in self.hung.names if name in self.deform]
        body = hanging.in_flesh(self.hung, {bone: self.driver(bone) for bone in deform})
        return lines.find(body, self.deform, self.hints.vertical)

    def driver(self, bone: str) -> str:
        """What moves a bone of the body: what it copies, or its parent at the same place."""
        if not bone:
            return ""
        source = detect.source(bone, self.hung, self.hints)
        parent = int(self.hung.parents[self.hung.index(source)])
        if source != bone or parent < 0 or self.hung.names[parent] in self.deform:
            return source
        away = np.linalg.norm(self.hung.heads[parent] - self.hung.heads[self.hung.index(source)])
        return self.hung.names[parent] if away < _HERE * self.hung.size else source

    def carried_by(self, bone: str, other: str) -> bool:
        """Whether a bone hangs on another one, by parents or constraints."""
        above = self.hung.ancestors(self.hung.index(bone))
        return self.hangs_on(bone, other) or other in (self.hung.names[n] for n in above)

    @cached_property
    def copies(self) -> RigCopies:
        return RigCopies(self.armature)

    def turned(self, line: Sequence[str]) -> list[str]:
        """What turns the bones of a limb in FK, whatever is in use now."""
        limb = None if self.is_rigify else self.copies.limb(line)
        if limb is None:
            return self.controls(line)
        return [*limb.turned, *map(self.copies.source, line[len(limb.turned) :])]

    def hangs_on(self, bone: str, other: str) -> bool:
        """Whether a bone is another one or its descendant."""
        return other in self.line(bone)

    def above(self, bones: Sequence[str]) -> list[str]:
        """The common ancestors of all these bones, or one of them, from the lowest up."""
        return [bone for bone in self.line(bones[0]) if all(self.hangs_on(other, bone) for other in bones)]

    def below(self, bone: str) -> list[str]:
        """All descendants of a bone."""
        return [other.name for other in self.armature.pose.bones[bone].children_recursive]

    def line(self, bone: str) -> list[str]:
        """A bone and its ancestors."""
        here = self.armature.pose.bones[bone]
        return [bone, *(parent.name for parent in here.parent_recursive)]

    def moves_freely(self, bone: str) -> bool:
        """Whether a bone goes where its location says."""
        here = self.armature.pose.bones[bone]
        return not here.bone.use_connect and not any(self._active(bone, _PLACING))

    def is_offset_freely(self, bone: str) -> bool:
        """Whether a bone goes where its location says, perhaps from where others bring it."""
        here = self.armature.pose.bones[bone]
        placed = (c for c in self._active(bone, _PLACING) if not self._adds(c))
        return not here.bone.use_connect and not any(here.lock_location) and not any(placed)

    def lid_coupling(self, upper: Sequence[str], eye: EyeBone | None) -> tuple[tuple[tuple[float, ...], ...], float]:
        """`coupling` and `follows` of `LidPoints`, from constraints that copy locations."""
        received = np.zeros((len(upper), len(upper)))
        follows = 0.0
        for n, bone in enumerate(upper):
            for constraint in self._active(bone, ("COPY_LOCATION",)):
                if constraint.target != self.armature or not self._adds(constraint):
                    continue
                if constraint.subtarget in upper:
                    received[n, upper.index(constraint.subtarget)] += constraint.influence
                elif eye is not None and self._turns_with(constraint.subtarget, eye.bone):
                    follows = max(follows, constraint.influence)
        # What one receives it gives on: the sum of all powers, none of which is left after as many as there are bones.
        coupling, power = np.eye(len(upper)), np.eye(len(upper))
        for _ in upper:
            power = power @ received
            coupling += power
        return tuple(map(tuple, coupling.tolist())), follows

    def _adds(self, constraint: bpy.types.Constraint) -> bool:
        """Whether what copies a location adds it to the bone's own."""
        return constraint.type == "COPY_LOCATION" and constraint.use_offset

    def _turns_with(self, bone: str, eye: str) -> bool:
        """Whether a bone is at an eye and moves as that turns."""
        copied = (c.subtarget for c in self._active(bone, _PLACING) if c.target == self.armature and c.subtarget)
        return any(self.hangs_on(other, eye) for other in (bone, *copied))

    def is_free(self, bone: str) -> bool:
        """Whether a bone's pose relative to its parent is decided by its own channels alone."""
        here = self.armature.pose.bones[bone]
        own = (c for c in here.constraints if not own_data.is_own_constraint(c))
        return not here.bone.use_connect and not any(not c.mute and c.influence > 0.0 for c in own)

    def has_ik(self, upper: str, end: str) -> bool:
        """Whether inverse kinematics turns a limb. upper: its first bone, in the body. end: its last control."""
        if self.is_rigify:
            settings = self.armature.pose.bones.get(_suffixed(upper, words.RIGIFY_SETTINGS))
            return settings is not None and settings.get("IK_FK", 1.0) < 0.5
        return any(True for _ in self._solvers(end))

    def goals(self, end: str) -> list[str]:
        """Bones of the armature that inverse kinematics brings the end of a limb to."""
        return [c.subtarget for c in self._solvers(end) if c.target == self.armature and c.subtarget]

    def hand_goal(self, bone: str, end: str) -> str:
        """What moves a hand that inverse kinematics holds, "" where that is not known. bone: of the body; end: what
        turns it."""
        goals = [_suffixed(bone, words.RIGIFY_HELD)] if self.is_rigify else self.goals(end)
        return next((goal for goal in goals if goal in self.skeleton.names and self.is_offset_freely(goal)), "")

    def shown(self, line: Sequence[str], goals: Sequence[str]) -> str:
        """The deforming bone that inverse kinematics brings to the only of some goals without being exactly there.

        line: the leg in the body.
        """
        heads, index = self.skeleton.heads, self.skeleton.index
        if len(goals) != 1 or not self.is_free(goals[0]):
            return ""
        bones = [bone for bone in (*line, *self.below(line[-1])) if bone in self.body.names]
        goal = heads[index(goals[0])]
        foot = min(bones, key=lambda bone: float(np.linalg.norm(heads[index(bone)] - goal)))
        leg = [bone for bone in reversed(self.line(foot)) if bone in bones]
        controls = [self.control(bone) for bone in leg]
        if len(leg) < 2 or not all(controls) or not any(self.armature.data.bones[bone].use_connect for bone in leg[1:]):
            return ""
        own, other = (np.diff([heads[index(bone)] for bone in names], axis=0) for names in (leg, controls))
        return foot if np.abs(own - other).max() > _UNLIKE * np.linalg.norm(own, axis=-1).sum() else ""

    def _solvers(self, end: str) -> Iterator[bpy.types.Constraint]:
        """Inverse kinematics on the end of a limb or on the bone before it, the usual places."""
        for bone in self.line(end)[:2]:
            yield from self.solvers_on(bone)

    def solvers_on(self, bone: str) -> Iterator[bpy.types.Constraint]:
        """Inverse kinematics on a bone."""
        return self._active(bone, ("IK",))

    def _active(self, bone: str, types: Sequence[str]) -> Iterator[bpy.types.Constraint]:
        for constraint in self.armature.pose.bones[bone].constraints:
            works = not constraint.mute and constraint.influence > 0.0
            if constraint.type in types and works and constraint.target is not None:
                yield constraint

    def eye(self, name: str) -> EyeBone:
        """An eye of the body with what aims it."""
        bone = words.RIGIFY_LAYER + name if self.is_rigify else name
        source = detect.source(bone, self.skeleton, self.hints)
        for candidate in dict.fromkeys((bone, source, *self.line(source)[:_NEAR])):
            for constraint in self._active(candidate, _AIMING):
                if constraint.target == self.armature and constraint.subtarget:
                    return EyeBone(candidate, constraint.subtarget)
        return EyeBone(source)


@read_once
def _rig(armature: bpy.types.Object) -> _Rig:
    return _Rig(armature)


def _suffixed(name: str, word: str) -> str:
    """A bone's name with a word before its side, as Rigify names the controls of a limb."""
    return re.sub(r"(?=[._-][LRlr](\.\d+)?$)|$", word, name, count=1)
