"""Which bones of a skeleton are legs, arms, face, tail and spine, read from names and, without them, from symmetry."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...lookat_pd.rotation import Array
from ...lookat_pd.skeleton import Skeleton
from . import kept, limb_words
from . import vocabulary as words
from .names import BoneName, read_names

VERTICAL = (0.0, 0.0, 1.0)
_SYMMETRIC, _ABOUT = 1e-3, 1e-2
"""Of the skeleton's size: how far a mirrored bone may be off, and where no bones are that near, in a rest pose that was
fitted by hand or from joints."""
_POINTS = np.cos(np.radians(25.0))
"""Cosine of the largest angle between a bone and the way to the next one at which it points there."""
_FEW = 4
"""Fewer bones with an image show no symmetry."""


@dataclass(frozen=True)
class Anatomy:
    """A skeleton with its names read."""

    skeleton: Skeleton
    deform: frozenset[str] = frozenset()
    """Names of deforming bones, empty where unknown."""
    vertical: tuple[float, float, float] = VERTICAL
    """The axis of the armature that points up in the world."""

    @cached_property
    def names(self) -> list[BoneName]:
        return limb_words.completed(self.skeleton, read_names(self.skeleton.names))

    @cached_property
    def flesh(self) -> list[int]:
        """Bones that stand for a part of the body, rather than control or help one: what positions are read from."""
        bones = range(len(self.skeleton))
        deforming = [bone for bone in bones if self.skeleton.names[bone] in self.deform]
        if not deforming:
            deforming = [bone for bone in bones if self.names[bone].has(words.DEFORM)]
        bodily = [
            bone
            for bone in (deforming if len(deforming) > 2 else bones)
            if not self.names[bone].has(words.HELPER, words.CONTROL)
        ]
        return bodily or list(bones)

    def named(self, *vocabularies: frozenset[str], but: frozenset[str] = frozenset()) -> list[int]:
        """Bones of the body with a word from the vocabularies and none from `but`."""
        names = self.names
        return [bone for bone in self.flesh if names[bone].has(*vocabularies) and not names[bone].has(but)]

    @cached_property
    def legs(self) -> list[int]:
        """Bones of the hind legs (all legs of a biped), toes included."""
        legs = [bone for bone in self._sided(words.LEG) if not self._is_front(bone)]
        return self._without_loose([bone for bone in legs if not self.names[bone].has(words.BUTTOCK)])

    @cached_property
    def arms(self) -> list[int]:
        """Bones of arms, wings or front legs, without fingers."""
        arms = self._sided(words.ARM)
        return arms + [bone for bone in self._sided(words.LEG) if bone not in arms and self._is_front(bone)]

    def _sided(self, vocabulary: frozenset[str]) -> list[int]:
        return [bone for bone in self.named(vocabulary, but=words.DIGIT) if self.names[bone].side]

    def _without_loose(self, legs: list[int]) -> list[int]:
        """Without feet that hang on no leg, beside legs that have their own: they are controls."""
        feet = [bone for bone in legs if self.names[bone].has(words.FOOT, words.TOE)]
        upper = set(legs) - set(feet)
        held = {bone for bone in feet if upper & set(self.skeleton.ancestors(bone))}
        sides = {self.names[bone].side for bone in held if self.names[bone].has(words.FOOT)}
        return [bone for bone in legs if bone not in feet or bone in held or self.names[bone].side not in sides]

    def _is_front(self, bone: int) -> bool:
        line = [bone, *self.skeleton.ancestors(bone)]
        return any(self.names[b].side and self.names[b].has(words.FRONT, words.ARM) for b in line)

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of corresponding left and right bones, by name."""
        sides: dict[str, dict[tuple[str, ...], list[int]]] = {"L": {}, "R": {}, "": {}}
        for bone in self.flesh:
            sides[self.names[bone].side].setdefault(self.names[bone].key, []).append(bone)
        alike = ((left, sides["R"].get(key, [])) for key, left in sides["L"].items())
        return [pair for left, right in alike if len(left) == len(right) for pair in zip(left, right, strict=True)]

    @cached_property
    def size(self) -> float:
        """Diagonal of the box around all bones, never zero."""
        return self.skeleton.size

    @cached_property
    def has_tails(self) -> bool:
        """Whether bones point to the next ones; importers of joints let their tails point anywhere."""
        skeleton = self.skeleton
        told = []
        for bone, children in enumerate(skeleton.children):
            steps = skeleton.heads[children] - skeleton.heads[bone]
            own = skeleton.tails[bone] - skeleton.heads[bone]
            lengths = np.linalg.norm(steps, axis=-1)
            if np.any(lengths > 1e-3 * self.size) and np.any(own):
                told.append(np.any(steps @ own > _POINTS * lengths * np.linalg.norm(own)))
        return not told or float(np.mean(told)) >= 0.5

    @cached_property
    def mirror(self) -> tuple[int, dict[int, int]]:
        """The armature axis (0, 1 or 2) across which most bones have a mirror image, and who mirrors whom.

        Used only where names say nothing about sides.
        """
        for near in (_SYMMETRIC, _ABOUT):
            found = [self._images(axis, near) for axis in range(3)]
            axis = max(range(3), key=lambda axis: len(found[axis]))
            if len(found[axis]) >= _FEW:
                break
        return axis, found[axis]

    def _images(self, axis: int, near: float) -> dict[int, int]:
        heads = self.skeleton.heads
        center = float(np.median(heads[:, axis]))
        mirrored = heads.copy()
        mirrored[:, axis] = 2.0 * center - heads[:, axis]
        distance = np.linalg.norm(mirrored[:, None] - heads[None], axis=-1)
        nearest = np.argmin(distance, axis=1)
        off_center = np.abs(heads[:, axis] - center) > 2.0 * near * self.size
        close = distance[np.arange(len(heads)), nearest] < near * self.size
        images = {int(bone): int(nearest[bone]) for bone in np.flatnonzero(off_center & close)}
        if near > _SYMMETRIC:
            images = {bone: image for bone, image in images.items() if images.get(image) == bone}
        # The two ends of one straight chain correspond too.
        level = [bone for bone, image in images.items() if image not in self.skeleton.ancestors(bone)]
        return {bone: images[bone] for bone in level if bone not in self.skeleton.ancestors(images[bone])}

    @cached_property
    def counterparts(self) -> Mapping[int, int]:
        """The bone on the other side for each that has one: by names or, where they say nothing of sides, by
        symmetry."""
        if self.pairs:
            return {one: other for pair in self.pairs for one, other in (pair, pair[::-1])}
        return self.mirror[1]

    def below(self, bone: int) -> list[int]:
        """The bone's children, their children and so on."""
        descendants: list[int] = []
        open_ends = list(self.skeleton.children[bone])
        while open_ends:
            descendants.append(open_ends.pop())
            open_ends.extend(self.skeleton.children[descendants[-1]])
        return descendants

    def side_branches(self, line: Sequence[int]) -> list[set[int]]:
        """For each bone of a line from a bone to its ancestors: its descendants beside the line itself."""
        return [
            {
                below
                for child in self.skeleton.children[bone]
                if child not in line
                for below in [child, *self.below(child)]
            }
            for bone in line
        ]

    def limbs(self, line: Sequence[int]) -> tuple[int | None, int | None]:
        """Places in the line (from the head down) of the ancestors of the arms and the legs, None where none."""
        branches = self.side_branches(line)
        arms, legs = self._first(branches, self.arms), self._first(branches, self.legs)
        if arms is None and legs is None:
            # Words for the sides alone do not say what is a limb.
            images = self.mirror[1]
            limbs = [
                place
                for place, bones in enumerate(branches)
                if place and sum(bone in images and bool(self.skeleton.children[bone]) for bone in bones) >= 2
            ]
            if limbs:
                arms, legs = (limbs[0], limbs[-1]) if len(limbs) > 1 else (None, limbs[0])
        return arms, legs

    @staticmethod
    def _first(branches: Sequence[set[int]], bones: Iterable[int]) -> int | None:
        wanted = set(bones)
        return next((place for place, below in enumerate(branches) if below & wanted), None)

    def center(self, bones: Iterable[int]) -> Array | None:
        """Mean position (3,) of the heads of bones, both sides weighing the same; None where there are none."""
        bones = list(bones)
        if not bones:
            return None
        sides = [[bone for bone in bones if self.names[bone].side == side] for side in ("L", "R", "")]
        return np.mean([np.mean(self.skeleton.heads[side], axis=0) for side in sides if side], axis=0)


@kept.by_content
def of(
    skeleton: Skeleton, deform: frozenset[str] = frozenset(), vertical: tuple[float, float, float] = VERTICAL
) -> Anatomy:
    """The anatomy of a skeleton; arguments as of `Anatomy`."""
    return Anatomy(skeleton, deform, vertical)
