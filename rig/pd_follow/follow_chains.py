"""In which order what follows is solved, and what of it together: bones of a rig that hang on each other."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import bpy

from ..layers import bone_chains
from . import owners
from .follow_layer import FollowLayer
from .owners import Node, Owner

Group = tuple[bpy.types.Object, str | None]
"""The first of those that are solved together: an object or a bone of it, None for bones that none of them moves."""


def in_scene(scene: bpy.types.Scene) -> list[Owner]:
    """All that follows in a scene, each after those that it depends on; what is linked from a library follows there."""
    followers = (owner for item in scene.objects if item.library is None for owner in owners.on(item))
    return [owner for group in groups(list(followers)) for owner in group]


def groups(followers: Sequence[Owner]) -> list[list[Owner]]:
    """What follows, in groups that are sampled at once and solved from root to tip, each after those it depends on.

    The bones of a rig are in one group as long as forward kinematics says how they move with each other. One that
    depends on others through constraints or a target begins a group, which is sampled after those are solved.
    """
    moved_by = {owner.node: owners.moves_with(*owner.node) for owner in followers}
    group_of: dict[Node, Group] = {}
    for owner in by_rig(followers):
        group_of[owner.node] = _group(owner, moved_by, group_of)
    members: dict[Group, list[Owner]] = {}
    for owner in by_rig(followers):
        members.setdefault(group_of[owner.node], []).append(owner)
    return list(_sorted(members, moved_by, group_of))


def parent_in(group: Collection[Owner], owner: Owner) -> Owner | None:
    """The nearest of a group that a bone hangs on."""
    names = {other.bone: other for other in group if other.object == owner.object}
    return names.get(bone_chains.parent_among(owner.object, owner.bone, names)) if owner.bone else None


def parent_that_follows(owner: Owner) -> Owner | None:
    """The nearest bone that a bone hangs on and that follows, unless it is muted."""
    if not owner.bone:
        return None
    others = [other for other in owners.on(owner.object) if other.bone and not other.settings.mute]
    return parent_in(others, owner)


def by_rig(followers: Sequence[Owner]) -> list[Owner]:
    """The same by rigs, the bones of each from root to tip."""
    result: list[Owner] = []
    for item in dict.fromkeys(owner.object for owner in followers):
        own = {owner.bone: owner for owner in followers if owner.object == item}
        bones = [bone for bone in own if bone]
        in_order = bone_chains.root_to_tip(item, bones) if bones else []
        result += [own[bone] for bone in (*(bone for bone in own if not bone), *in_order)]
    return result


def _group(owner: Owner, moved_by: Mapping[Node, set[Node]], group_of: Mapping[Node, Group]) -> Group:
    """The group of an owner. moved_by: what moves those that follow. group_of: the groups of those before it."""
    if not owner.bone:
        return owner.node
    others = {node for node in moved_by if node[0] == owner.object and node[1] and node != owner.node}
    target = owner.target
    if target is not None and owners.moves_with(target.object, target.bone) & others:
        return owner.node
    parent = bone_chains.parent_among(owner.object, owner.bone, {bone for _, bone in others})
    if parent:
        plain = bone_chains.is_carried(owner.object, owner.bone, parent, FollowLayer.owns)
        return group_of[owner.object, parent] if plain else owner.node
    return owner.node if moved_by[owner.node] & others else (owner.object, None)


def _sorted(
    members: Mapping[Group, list[Owner]], moved_by: Mapping[Node, set[Node]], group_of: Mapping[Node, Group]
) -> Iterator[list[Owner]]:
    """The groups, each after those that it depends on; of a circle, the first one last."""
    done: set[Group] = set()

    def visit(group: Group) -> Iterator[list[Owner]]:
        if group in done:
            return
        done.add(group)
        below = {group_of[node] for owner in members[group] for node in moved_by[owner.node] & group_of.keys()}
        for other in (other for other in members if other in below):
            yield from visit(other)
        yield members[group]

    for group in members:
        yield from visit(group)
