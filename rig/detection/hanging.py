"""What each bone of a skeleton hangs on: its parent or, on rigs whose parts follow each other by constraints, the bone
that carries it.

Rigs for animators often have the controls of head, neck and chest below one root, each following the next one by an
Armature, Child Of or Copy constraint, so that the animator can switch what it follows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...lookat_pd.skeleton import Skeleton

_NEARER = 0.01
"""Of a skeleton's size: how much nearer than the parent another bone must be to be what carries a bone."""


def hung(skeleton: Skeleton, carriers: Mapping[str, Sequence[str]]) -> Skeleton:
    """The skeleton with bones below what carries them; its bones may be in another order.

    carriers: by bone those that move it by constraints. Of these and the parent, a bone hangs on the one at which it
    is, whatever has the weight at the moment.
    """
    place = {name: n for n, name in enumerate(skeleton.names)}
    parents = skeleton.parents.tolist()
    for name, names in carriers.items():
        bone = place.get(name)
        others = [place[other] for other in names if other in place]
        if bone is None or not others:
            continue
        nearest = min(others, key=lambda other, bone=bone: _apart(skeleton, bone, other))
        gain = np.inf if parents[bone] < 0 else _apart(skeleton, bone, parents[bone]) - _apart(skeleton, bone, nearest)
        if gain > _NEARER * skeleton.size and bone not in _line(parents, nearest):
            parents[bone] = nearest
    return skeleton if parents == skeleton.parents.tolist() else _reordered(skeleton, parents)


def in_flesh(skeleton: Skeleton, drivers: Mapping[str, str]) -> Skeleton:
    """The skeleton with bones of the body below each other as what drives them is; its bones may be in another order.

    drivers: what drives each bone of the body, itself where nothing else does.
    """
    place = {name: n for n, name in enumerate(skeleton.names)}
    driven = {driver: bone for bone, driver in reversed([*drivers.items()])}
    parents = skeleton.parents.tolist()
    for bone, driver in drivers.items():
        above = (skeleton.names[n] for n in skeleton.ancestors(place[driver]))
        others = (place[driven.get(name, name)] for name in above if name in drivers or name in driven)
        other = next((n for n in others if n != place[bone]), None)
        if other is not None and place[bone] not in _line(parents, other):
            parents[place[bone]] = other
    return skeleton if parents == skeleton.parents.tolist() else _reordered(skeleton, parents)


def _apart(skeleton: Skeleton, bone: int, other: int) -> float:
    """How far a bone begins from another one."""
    begin, along = skeleton.heads[other], skeleton.tails[other] - skeleton.heads[other]
    there = skeleton.heads[bone] - begin
    share = float(np.clip(there @ along / max(float(along @ along), 1e-30), 0.0, 1.0))
    return float(np.linalg.norm(there - share * along))


def _line(parents: Sequence[int], bone: int) -> list[int]:
    """A bone and those above it."""
    line = []
    while bone >= 0:
        line.append(bone)
        bone = parents[bone]
    return line


def _reordered(skeleton: Skeleton, parents: Sequence[int]) -> Skeleton:
    """The skeleton with these parents, which are listed before their children."""
    order = np.argsort([len(_line(parents, bone)) for bone in range(len(parents))], kind="stable")
    new = np.empty(len(order) + 1, dtype=int)
    new[order], new[-1] = np.arange(len(order)), -1
    return replace(
        skeleton,
        names=[skeleton.names[bone] for bone in order],
        parents=new[np.array(parents)[order]],
        rotations=skeleton.rotations[order],
        heads=skeleton.heads[order],
        tails=skeleton.tails[order],
    )
