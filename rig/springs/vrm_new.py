"""Writing springs of VRM 1.0: the values of joints, chains that have become longer or shorter, groups and colliders."""

from collections.abc import Iterator
from itertools import pairwise
from math import isclose
from typing import Any

import numpy as np

from . import colliders
from .chains import SpringChain
from .springs_solve import SpringRig
from .vrm_data import EXTENDED, Nodes, VrmCollider
from .vrm_work import SHARED, Placed, VrmWork, joint_row, short

_FAR = 1000.0
"""Radius [m] of the sphere by which readers without planes know a plane."""
_DOWN = [0.0, -1.0, 0.0]


class NewSprings:
    """Writes springs of VRM 1.0 into their part of a file."""

    def __init__(self, work: VrmWork, own: dict[str, Any]) -> None:
        self.work, self.own = work, own
        self.spelled: set[str] = set()
        """Chains whose bones that the file did not have are written."""
        self.groups = list(work.said.groups)
        """The names of the groups of the file."""

    def write(self) -> None:
        work = self.work
        self._write_colliders()
        springs = [made for spring in self.own.get("springs", ()) for made in self._spring(spring)]
        for chain in work.new_chains():
            springs.append(self._new(chain))
            work.written.added.append(chain.bone)
        if springs or "springs" in self.own:
            self.own["springs"] = springs
        if not springs:
            self.own.pop("springs", None)

    # Chains

    def _spring(self, spring: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """A spring of the file as it is now: itself, several parts of it, or nothing."""
        work = self.work
        rows = [row for row in spring.get("joints", ()) if work.nodes.has(row.get("node"))]
        names = [work.nodes.name(row["node"]) for row in rows]
        swinging = names[:-1]
        gone = [bone for bone in swinging if work.is_removed(bone)]
        first = next((work.chain_of[bone] for bone in swinging if bone in work.chain_of), None)
        work.written.removed += gone
        if first is None and not gone:
            yield spring
            return
        runs = list(self._runs(swinging))
        same = [bone for run in runs for bone in run] == swinging
        for n, run in enumerate(runs):
            made = spring if n == 0 else {key: value for key, value in spring.items() if key != "joints"}
            if not same:
                made = {**made, "joints": self._joints(run, rows, names)}
            if n and "name" in made:
                made["name"] = f"{made['name']} {n}"
            chain = next((work.chain_of[bone] for bone in run if bone in work.chain_of), None)
            if chain is not None:
                joints, rest = self._set_joints(made), self._set_rest(made, chain)
                if joints or rest or not same:
                    work.written.changed.append(chain.bone)
            yield made

    def _runs(self, swinging: list[str]) -> Iterator[list[str]]:
        """Bones of a spring that swing on, in parts where others between them do not, with new ones of their chains."""
        work, run = self.work, []
        for bone in swinging:
            if work.is_removed(bone):
                if run:
                    yield run
                run = []
                continue
            chain = work.chain_of.get(bone)
            if chain is not None:
                run += self._unknown(chain, chain.bones[: chain.bones.index(bone)][::-1])[::-1]
            run.append(bone)
            following = swinging[swinging.index(bone) + 1 :][:1]
            if chain is not None and (not following or following[0] not in chain.bones):
                run += self._unknown(chain, chain.bones[chain.bones.index(bone) + 1 :])
        if run:
            yield run

    def _unknown(self, chain: SpringChain, bones: tuple[str, ...]) -> list[str]:
        """The next ones of these bones that the file does not let swing."""
        found: list[str] = []
        for bone in bones:
            if bone in self.work.known or bone in self.spelled:
                break
            self.spelled.add(bone)
            found.append(bone)
        return found

    def _joints(self, run: list[str], rows: list[dict[str, Any]], names: list[str]) -> list[dict[str, Any]]:
        """The joints of a spring with these bones, and where it ends."""
        by_name = dict(zip(names, rows, strict=True))
        made = [by_name.get(bone, {"node": self.work.number[bone]}) for bone in run]
        last = run[-1]
        place = names.index(last) if last in names else len(names)
        if place + 1 < len(names):
            following = rows[place + 1]
            made.append(following if place + 2 == len(names) else {"node": following["node"]})
        else:
            made.append({"node": self._below(last)})
        return made

    def _below(self, bone: str) -> int:
        """A node where a chain ends: its last joint only says where that is."""
        work = self.work
        below = work.nodes.children(work.number[bone])
        chain = work.chain_of.get(bone)
        if below or chain is None:
            return below[0] if below else work.number[bone]
        rig = SpringRig.of(work.armature, [chain])
        tip = rig.tips[rig.bones.index(bone)].tolist()
        nodes = work.made["nodes"]
        nodes.append({"name": f"{bone}_end", "translation": tip})
        nodes[work.number[bone]].setdefault("children", []).append(len(nodes) - 1)
        work.nodes = Nodes(work.made)
        return len(nodes) - 1

    def _set_joints(self, spring: dict[str, Any]) -> bool:
        """Write what has changed of the joints of a spring; whether anything has."""
        work = self.work
        rows = [row for row in spring["joints"] if work.nodes.has(row.get("node"))]
        numbers = [row["node"] for row in rows]
        long = {work.nodes.name(one): work.nodes.distance(one, other) for one, other in pairwise(numbers)}
        changed = False
        for row, (bone, length) in zip(rows, long.items(), strict=False):
            chain, known = work.chain_of.get(bone), work.known.get(bone)
            if chain is None or (known and isclose(known.length, length, abs_tol=1e-6) and work.is_kept(known)):
                continue
            own = {name: far for name, far in long.items() if name in chain.bones}
            row.update(joint_row(work.joints(chain, own)[bone], row.get("gravityDir", _DOWN)))
            changed = True
        return changed

    def _set_rest(self, spring: dict[str, Any], chain: SpringChain) -> bool:
        """Write what has changed of the center and the groups of a spring; whether anything has."""
        work, before = self.work, dict(spring)
        center = work.center(chain, spring.get("center"))
        if center is None and work.nodes.has(spring.get("center")):
            del spring["center"]
        elif center is not None:
            spring["center"] = center
        known = next((own for own in work.said.chains if any(joint.bone in chain.bones for joint in own.joints)), None)
        if known is None or not work.is_same_groups(chain, known):
            wanted = self._groups_of(chain)
            spring.pop("colliderGroups", None)
            if wanted:
                spring["colliderGroups"] = wanted
        return spring != before

    def _new(self, chain: SpringChain) -> dict[str, Any]:
        work = self.work
        rows = [{"node": work.number[bone]} for bone in chain.bones]
        rows.append({"node": self._below(chain.bones[-1])})
        made: dict[str, Any] = {"name": chain.bone, "joints": rows}
        self._set_joints(made)
        self._set_rest(made, chain)
        return made

    # Colliders

    def _groups_of(self, chain: SpringChain) -> list[int]:
        """The numbers of the groups that a chain collides with."""
        here = {name for one in self.work.placed for name in _names(one)}
        wanted = colliders.names_of(chain.settings.collider_groups) or here
        return [n for n, name in enumerate(self.groups) if chain.settings.collide and name in wanted]

    def _write_colliders(self) -> None:
        work = self.work
        rows, groups = list(self.own.get("colliders", ())), list(self.own.get("colliderGroups", ()))
        members = [list(group["colliders"]) for group in groups]
        for one in work.placed:
            number = len(rows) if one.before is None else int(one.before.place)
            if one.before is None:
                rows.append(self._collider({}, one))
            elif not one.is_kept:
                rows[number] = self._collider(rows[number], one)
                work.written.changed.append(one.item.label)
            if one.before is None or set(one.before.groups) != set(one.now.groups):
                self._join(number, _names(one), groups, members)
        gone = {int(collider.place) for collider in work.gone}
        work.written.removed += [collider.bone for collider in work.gone]
        self._store(rows, groups, members, gone)

    def _join(self, number: int, names: list[str], groups: list[dict[str, Any]], members: list[list[int]]) -> None:
        """Put a collider into groups with these names, and into no other one."""
        for name in names:
            if name not in self.groups:
                self.groups.append(name)
                groups.append({"name": name})
                members.append([])
        for name, own in zip(self.groups, members, strict=True):
            if name in names and number not in own:
                own.append(number)
            elif name not in names and number in own:
                own.remove(number)

    def _store(
        self, rows: list[dict[str, Any]], groups: list[dict[str, Any]], members: list[list[int]], gone: set[int]
    ) -> None:
        """Store colliders without those that are gone, and groups that have some."""
        place = {n: len([m for m in range(n) if m not in gone]) for n in range(len(rows)) if n not in gone}
        lasting = [[place[n] for n in own if n in place] for own in members]
        # A group that was empty in the file stays; numbers of groups change where one has become empty.
        stays = [bool(own) or not before.get("colliders", [0]) for own, before in zip(lasting, groups, strict=True)]
        number = {n: sum(stays[:n]) for n in range(len(groups)) if stays[n]}
        is_shorter = len(number) < len(groups)
        for n, group in enumerate(groups):
            if lasting[n] != group.get("colliders"):
                groups[n] = {**group, "colliders": lasting[n]}
            if is_shorter:
                # Groups without names go by their numbers.
                groups[n].setdefault("name", self.groups[n])
        for spring in self.own.get("springs", ()) if is_shorter else ():
            if known := [number[n] for n in spring.pop("colliderGroups", ()) if n in number]:
                spring["colliderGroups"] = known
        self.groups = [name for name, stay in zip(self.groups, stays, strict=True) if stay]
        for key, values in (
            ("colliders", [row for n, row in enumerate(rows) if n not in gone]),
            ("colliderGroups", [group for group, stay in zip(groups, stays, strict=True) if stay]),
        ):
            if values:
                self.own[key] = values
            else:
                self.own.pop(key, None)

    def _collider(self, row: dict[str, Any], one: Placed) -> dict[str, Any]:
        """A collider; what else the file has of it stays."""
        further = {key: value for key, value in row.get("extensions", {}).items() if key != EXTENDED}
        now = self.work.in_file(one)
        if now.shape == "PLANE":
            further[EXTENDED] = {"specVersion": "1.0", "shape": {"plane": _plane(now)}}
            used = self.work.made.setdefault("extensionsUsed", [])
            if EXTENDED not in used:
                used.append(EXTENDED)
        made = {**row, "node": self.work.number[now.bone], "shape": _shape(now), "extensions": further}
        if not further:
            del made["extensions"]
        return made


def _names(one: Placed) -> list[str]:
    """The groups of a collider in the file."""
    return list(one.now.groups) or [SHARED]


def _normal(collider: VrmCollider) -> np.ndarray:
    along = np.subtract(collider.end, collider.begin)
    return along / max(float(np.linalg.norm(along)), 1e-9)


def _plane(collider: VrmCollider) -> dict[str, Any]:
    return {"offset": _numbers(collider.begin), "normal": _numbers(_normal(collider))}


def _shape(collider: VrmCollider) -> dict[str, Any]:
    if collider.shape == "PLANE":
        # As the specification has it for readers that know no planes.
        middle = np.subtract(collider.begin, _FAR * _normal(collider))
        return {"sphere": {"offset": _numbers(middle), "radius": _FAR}}
    own: dict[str, Any] = {"offset": _numbers(collider.begin), "radius": short(collider.radius)}
    if collider.shape == "CAPSULE":
        own["tail"] = _numbers(collider.end)
    return {collider.shape.lower(): own}


def _numbers(values: Any) -> list[float]:
    return [short(float(value)) for value in values]
