"""Writing springs of VRM 0.x: groups of bones with all that hangs on them, and groups of spheres."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...lookat_pd.message import Message
from ..layers.bone_chains import lines
from .chains import SpringChain
from .vrm_data import VrmCollider
from .vrm_work import Placed, VrmWork, joint_row, short

_ONE_VALUE = Message(
    "VRM 0.x has one value for all bones of a chain; those of '{name}' are written for all that hang on it."
).template
_SWINGS_ON = Message(
    "VRM 0.x lets all bones swing that hang on '{name}', so '{other}' swings in the file, where it has no springs here."
).template
_ONLY_SPHERES = Message("VRM 0.x has spheres as colliders only; '{name}' is left out.").template
_DOWN = [0.0, -1.0, 0.0]


class OldSprings:
    """Writes springs of VRM 0.x into their part of a file."""

    def __init__(self, work: VrmWork, own: dict[str, Any]) -> None:
        self.work, self.own = work, own
        self.members: list[set[str]] = []
        """Of each group of colliders in what groups they are here."""

    def write(self) -> None:
        work = self.work
        self._write_colliders()
        groups = [made for group in self.own.get("boneGroups") or () for made in self._group(group)]
        for chain in work.new_chains():
            empty = {"comment": chain.bone, "center": -1, "colliderGroups": []}
            groups.append({**empty, **self._values(chain, empty), "bones": [work.number[chain.bone]]})
            work.written.added.append(chain.bone)
            self._tell_below(chain.bone)
        if groups or "boneGroups" in self.own:
            self.own["boneGroups"] = groups

    # Chains

    def _group(self, group: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """A group of the file as it is now: with the bones that swing as before, and others apart."""
        work = self.work
        kept, apart = [], []
        for root in group.get("bones") or ():
            if not work.nodes.has(root):
                kept.append(root)
                continue
            for number in self._roots(root):
                chain = work.chain_of.get(work.nodes.name(number))
                values = None if chain is None else self._values(chain, group)
                if chain is None or values is None or (number == root and self._is_kept(chain, group, values)):
                    kept.append(number)
                else:
                    apart.append((number, values))
                    work.written.changed.append(chain.bone)
        if kept or not group.get("bones"):
            yield group if kept == group.get("bones") or not group.get("bones") else {**group, "bones": kept}
        for values in {json.dumps(values): values for _, values in apart}.values():
            yield {**group, **values, "bones": [root for root, own in apart if own == values]}

    def _roots(self, root: int) -> list[int]:
        """The bones of which all that hangs on them swings, instead of a root of the file."""
        work = self.work
        chain = work.chain_of.get(work.nodes.name(root))
        if chain is not None:
            first = chain.bones[0]
            found = [root if first in work.known else work.number[first]]
        elif not work.is_removed(work.nodes.name(root)):
            found = [root]
        else:
            work.written.removed.append(work.nodes.name(root))
            found = [other for child in work.nodes.children(root) for other in self._roots(child)]
        for number in found if chain is not None else ():
            self._tell_below(work.nodes.name(number))
        return found

    def _tell_below(self, root: str) -> None:
        """Say what else swings in the file."""
        work = self.work
        still = self._below(root) - work.chain_of.keys()
        swings = [bone for bone in still if bone not in work.known or work.is_removed(bone)]
        bones = [bone for bone in sorted(swings) if bone in work.armature.data.bones]
        if bones:
            work.written.notes.append(Message(_SWINGS_ON, name=root, other=bones[0]))

    def _below(self, root: str) -> set[str]:
        """A bone and all that hang on it in the file."""
        nodes = self.work.nodes
        return {nodes.name(n) for line in lines([self.work.number[root]], nodes.children) for n in line}

    def _is_kept(self, chain: SpringChain, group: dict[str, Any], values: dict[str, Any]) -> bool:
        """Whether the file has a chain as it is."""
        work = self.work
        same = all(work.is_kept(work.known[bone]) for bone in chain.bones if bone in work.known)
        known = {"center": group.get("center", -1), "colliderGroups": list(group.get("colliderGroups") or ())}
        return same and all(values[key] == own for key, own in known.items())

    def _values(self, chain: SpringChain, group: dict[str, Any]) -> dict[str, Any]:
        """What a group of bones has whose first bone is that of a chain."""
        work = self.work
        lengths = {bone: work.known[bone].length for bone in chain.bones if bone in work.known}
        joints = work.joints(chain, lengths)
        first = joints[chain.bone]
        others = {
            work.chain_of[bone].bone: work.chain_of[bone] for bone in self._below(chain.bone) & work.chain_of.keys()
        }
        for other in others.values():
            lengths = {bone: work.known[bone].length for bone in other.bones if bone in work.known}
            joints |= work.joints(other, lengths)
        rows = [(*joint.pull, joint.stiffness, joint.drag, joint.radius) for joint in joints.values()]
        if not np.allclose(rows, rows[0], rtol=0.02, atol=1e-4):
            work.written.notes.append(Message(_ONE_VALUE, name=chain.bone))
        found = joint_row(first, _DOWN)
        x, y, z = found["gravityDir"]
        center = work.center(chain, group.get("center"))
        return {
            "stiffiness": found["stiffness"],
            "gravityPower": found["gravityPower"],
            "gravityDir": {"x": x, "y": y, "z": -z},
            "dragForce": found["dragForce"],
            "hitRadius": found["hitRadius"],
            "center": -1 if center is None else center,
            "colliderGroups": self._groups_of(chain, group),
        }

    def _groups_of(self, chain: SpringChain, group: dict[str, Any]) -> list[int]:
        """The numbers of the groups of spheres that a chain collides with."""
        found = [n for n, names in enumerate(self.members) if self.work.meets(chain, names)]
        known: list[int] = list(group.get("colliderGroups") or ())
        return known if set(found) == set(known) else found

    # Colliders

    def _write_colliders(self) -> None:
        """Write the spheres; those of one bone and the same groups here are a group of the file."""
        work = self.work
        groups: list[dict[str, Any]] = list(self.own.get("colliderGroups") or ())
        self.members = [self._names(n, name) for n, name in enumerate(work.said.groups)]
        spheres: list[list[dict[str, Any] | None]] = [list(group.get("colliders") or ()) for group in groups]
        for collider in work.gone:
            n, m = _place(collider)
            spheres[n][m] = None
            work.written.removed.append(collider.bone)
        for one in work.placed:
            if one.now.shape != "SPHERE":
                work.written.notes.append(Message(_ONLY_SPHERES, name=one.item.label))
                continue
            if one.before is not None:
                n, m = _place(one.before)
                if one.now.bone == one.before.bone and set(one.now.groups) == self.members[n]:
                    if not one.is_kept:
                        spheres[n][m] = {**(spheres[n][m] or {}), **_sphere(self.work.in_file(one))}
                        work.written.changed.append(one.item.label)
                    continue
                spheres[n][m] = None
            n = self._group_for(one, groups, spheres)
            spheres[n].append(_sphere(self.work.in_file(one)))
        self._store(groups, spheres)

    def _names(self, number: int, name: str) -> set[str]:
        """In what groups the spheres of a group of the file are here; a group there has the name of its bone."""
        every = [set(p.now.groups) for p in self.work.placed if p.before is not None and _place(p.before)[0] == number]
        return {name} if {name} in every or not every else every[0]

    def _group_for(self, one: Placed, groups: list[dict[str, Any]], spheres: list[list]) -> int:
        """The number of the group for a collider that the file does not have yet, which is added if need be."""
        node, names = self.work.number[one.now.bone], set(one.now.groups)
        for n, group in enumerate(groups):
            if group.get("node") == node and self.members[n] == names:
                return n
        groups.append({"node": node, "colliders": []})
        self.members.append(names)
        spheres.append([])
        return len(groups) - 1

    def _store(self, groups: list[dict[str, Any]], spheres: list[list[dict[str, Any] | None]]) -> None:
        """Store the groups with their spheres; one that has lost all of them stays, so that numbers do."""
        for n, group in enumerate(groups):
            lasting = [row for row in spheres[n] if row is not None]
            if lasting != list(group.get("colliders") or ()):
                groups[n] = {**group, "colliders": lasting}
        if groups or "colliderGroups" in self.own:
            self.own["colliderGroups"] = groups


def _place(collider: VrmCollider) -> tuple[int, int]:
    n, m = (int(part) for part in collider.place.split(":"))
    return n, m


def _sphere(collider: VrmCollider) -> dict[str, Any]:
    x, y, z = (short(value) for value in collider.begin)
    return {"offset": {"x": x, "y": y, "z": -z}, "radius": short(collider.radius)}
