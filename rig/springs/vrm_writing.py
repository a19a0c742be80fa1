"""Writing springs into a VRM file: what has changed since it was read, and chains that it does not have.

All else of the file stays. Springs of the file of which no bone has springs here are left alone.
"""

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...lookat_pd.errors import FileError
from ...lookat_pd.message import Message
from ..detection import glb, vrm
from . import chains, colliders, vrm_data, vrm_springs, vrm_tuning
from .chains import SpringChain
from .springs_solve import SpringRig
from .vrm_data import NEW, OLD, Nodes, VrmCollider, VrmJoint, VrmSprings
from .vrm_tuning import JointTuning

_ONE_VALUE = Message(
    "VRM 0.x has one value for all bones of a chain; those of '{name}' are written for all that hang on it."
).template
_NO_SHAPE = Message("VRM {version} has no colliders of the shape of '{name}'; it is left out.").template


@dataclass
class VrmWritten:
    """What was written into a file."""

    changed: list[str] = field(default_factory=list)
    """First bones of chains whose values have changed."""
    added: list[str] = field(default_factory=list)
    """First bones of chains that the file did not have."""
    notes: list[Message] = field(default_factory=list)


def content(path: Path, scene: bpy.types.Scene, armature: bpy.types.Object) -> tuple[bytes, VrmWritten]:
    """The content of a VRM file with the springs of an armature. Raises FileError."""
    document = vrm.document(path)
    if not vrm_data.is_vrm(document):
        raise FileError("'{name}' has no VRM data; choose a VRM file.", name=path.name)
    made, written = edited(document, scene, armature)
    text = json.dumps(made, separators=(",", ":"), ensure_ascii=False)
    return glb.assembled(text, glb.after_document(path.read_bytes())), written


def edited(
    document: dict[str, Any], scene: bpy.types.Scene, armature: bpy.types.Object
) -> tuple[dict[str, Any], VrmWritten]:
    """The same JSON part with the springs of an armature. Raises LookAtError."""
    made = copy.deepcopy(document)
    extensions = made.setdefault("extensions", {})
    said, work = vrm_data.read(document), _Work(scene, armature, made)
    if OLD in extensions and NEW not in extensions:
        _Old(work, extensions[OLD].setdefault("secondaryAnimation", {})).write(said)
    else:
        own = extensions.setdefault(NEW, {"specVersion": "1.0"})
        used = made.setdefault("extensionsUsed", [])
        if NEW not in used:
            used.append(NEW)
        _New(work, own).write(said)
    return made, work.written


@dataclass(frozen=True)
class _Placed:
    """A collider on a bone."""

    item: colliders.Collider
    bone: str
    begin: np.ndarray
    """(3,) where its axis begins, in the frame of the bone."""
    end: np.ndarray
    radius: float
    before: VrmCollider | None
    """What the file has of it."""

    @property
    def is_kept(self) -> bool:
        """Whether the file has it as it is."""
        before = self.before
        if before is None or (before.bone, before.shape) != (self.bone, self.item.shape):
            return False
        ends = [*before.begin, before.radius], [*self.begin, self.radius]
        if self.item.shape == "CAPSULE":
            ends = [*ends[0], *before.end], [*ends[1], *self.end]
        return bool(np.allclose(*ends, atol=1e-4))

    def shape(self) -> dict[str, Any]:
        """For VRM 1.0."""
        own: dict[str, Any] = {"offset": [_short(value) for value in self.begin], "radius": _short(self.radius)}
        if self.item.shape == "CAPSULE":
            own["tail"] = [_short(value) for value in self.end]
        return {self.item.shape.lower(): own}


class _Work:
    """The springs of an armature, as they are to be written."""

    def __init__(self, scene: bpy.types.Scene, armature: bpy.types.Object, made: dict[str, Any]) -> None:
        self.scene, self.armature, self.made, self.written = scene, armature, made, VrmWritten()
        self.nodes = Nodes(made)
        self.number = {self.nodes.name(n): n for n in reversed(range(len(self.nodes.rows)))}
        gravity = vrm_tuning.gravity_of(scene)
        self.every = list(chains.on(armature))
        self.chain_of = {bone: chain for chain in self.every for bone in chain.bones}
        self.tunings: dict[str, JointTuning] = {}
        for chain in self.every:
            self.tunings |= vrm_tuning.of_chain(chain, gravity)

    def joints(self, chain: SpringChain, lengths: dict[str, float]) -> dict[str, VrmJoint]:
        """The bones of a chain for VRM."""
        tunings = [self.tunings[bone] for bone in chain.bones]
        long = [lengths[bone] for bone in chain.bones]
        alone = vrm_tuning.omegas(chain, tunings, long)
        rows = zip(chain.bones, tunings, long, alone, strict=True)
        return {bone: vrm_tuning.joint_of(bone, tuning, length, omega) for bone, tuning, length, omega in rows}

    def lengths(self, chain: SpringChain, known: dict[str, float] | None = None) -> dict[str, float]:
        """Of the bones of a chain: as the file has them, otherwise here."""
        rig = SpringRig.of(self.armature, [chain])
        size = float(np.mean(np.abs(self.armature.matrix_world.to_scale())))
        own = dict(zip(rig.bones, (np.linalg.norm(rig.tips, axis=1) * size).tolist(), strict=True))
        return own | (known or {})

    def is_kept(self, joint: VrmJoint) -> bool:
        """Whether a joint of the file is as it was read."""
        chain = self.chain_of.get(joint.bone)
        if chain is None:
            return True
        return chain.settings.one_way and vrm_tuning.of_joint(joint).is_like(self.tunings[joint.bone])

    def center(self, chain: SpringChain) -> int | None:
        """The node of whose motion a chain feels nothing."""
        if chain.settings.inertia >= 0.5:
            return None
        found = self.number.get(chain.settings.center)
        if found is None:
            found = self.number[chain.bone]
            while self.nodes.parents[found] >= 0:
                found = self.nodes.parents[found]
        return found

    def new_chains(self, said: VrmSprings) -> list[SpringChain]:
        """Chains of which the file has no bone. Raises FileError where it has not even a node."""
        known = said.joints
        new = [chain for chain in self.every if known.keys().isdisjoint(chain.bones)]
        for chain in new:
            for bone in chain.bones:
                if bone not in self.number:
                    raise FileError(
                        "The VRM file has no node '{name}', on which there are springs here; choose the file of the "
                        "character.",
                        name=bone,
                    )
        return new

    def placed(self, said: VrmSprings) -> Iterator["_Placed"]:
        """The colliders on nodes of the file."""
        known = {collider.place: collider for collider in said.colliders}
        for item in colliders.on(self.scene):
            found = self._place_of(item)
            if found is not None and found[0] in self.number:
                place = "" if item.bone else str(item.object.get(vrm_springs.PLACE, ""))
                yield _Placed(item, *found, known.get(place))

    def meets_all(self, chain: SpringChain | None) -> bool:
        """Whether a chain collides with what is in no group."""
        return chain is not None and chain.settings.collide and not chain.settings.collider_groups

    def _place_of(self, item: colliders.Collider) -> tuple[str, np.ndarray, np.ndarray, float] | None:
        """The bone of a collider of this armature, the ends of its axis in the bone's frame, and its radius."""
        first, last = (np.array(end) for end in item.line())
        if item.bone:
            return (item.bone, first, last, item.thickness) if item.object == self.armature else None
        owner = item.object
        if owner.parent != self.armature or owner.parent_type != "BONE" or not owner.parent_bone:
            return None
        bone = self.armature.data.bones[owner.parent_bone]
        lifted = np.array(owner.matrix_parent_inverse @ owner.matrix_basis)
        lifted[1, 3] += bone.length
        size = float(np.mean(np.linalg.norm(lifted[:3, :3], axis=0)))
        begin, end = (lifted[:3, :3] @ point + lifted[:3, 3] for point in (first, last))
        return owner.parent_bone, begin, end, item.thickness * size


class _New:
    """Springs of VRM 1.0."""

    def __init__(self, work: _Work, own: dict[str, Any]) -> None:
        self.work, self.own = work, own

    def write(self, said: VrmSprings) -> None:
        work = self.work
        known = said.joints
        for spring in self.own.get("springs", ()):
            rows = {work.nodes.name(row.get("node")): row for row in spring.get("joints", ())[:-1]}
            own = [bone for bone in rows if bone in known and bone in work.chain_of]
            if not own:
                continue
            chain = work.chain_of[own[0]]
            changed = [bone for bone in own if not work.is_kept(known[bone])]
            if changed:
                lengths = work.lengths(chain, {bone: joint.length for bone, joint in known.items()})
                for bone in changed:
                    owner = work.chain_of[bone]
                    joint = work.joints(owner, lengths if owner == chain else work.lengths(owner))[bone]
                    rows[bone].update(_joint(joint))
                work.written.changed.append(chain.bone)
            center = work.center(chain)
            if center != spring.get("center") and (center is None) != (spring.get("center") in (None, -1)):
                spring.pop("center", None)
                if center is not None:
                    spring["center"] = center
        for chain in work.new_chains(said):
            self.own.setdefault("springs", []).append(self._spring(chain))
            work.written.added.append(chain.bone)
        self._write_colliders(said)

    def _spring(self, chain: SpringChain) -> dict[str, Any]:
        work = self.work
        joints = work.joints(chain, work.lengths(chain))
        rows = [{"node": work.number[bone], **_joint(joints[bone])} for bone in chain.bones]
        last = work.number[chain.bones[-1]]
        below = work.nodes.children(last)
        rows.append({"node": below[0] if below else self._end(chain, last)})
        center = work.center(chain)
        return {"name": chain.bone, "joints": rows, **({} if center is None else {"center": center})}

    def _end(self, chain: SpringChain, last: int) -> int:
        """A node where a chain ends: its last joint only says where that is."""
        rig = SpringRig.of(self.work.armature, [chain])
        tip = rig.tips[rig.bones.index(chain.bones[-1])].tolist()
        nodes = self.work.made["nodes"]
        nodes.append({"name": f"{chain.bones[-1]}_end", "translation": tip})
        nodes[last].setdefault("children", []).append(len(nodes) - 1)
        return len(nodes) - 1

    def _write_colliders(self, said: VrmSprings) -> None:
        work = self.work
        rows = self.own.get("colliders", [])
        new: list[int] = []
        for one in work.placed(said):
            item, before = one.item, one.before
            if item.shape == "PLANE":
                if before is None:
                    work.written.notes.append(Message(_NO_SHAPE, version="1.0", name=item.label))
                continue
            row = {"node": work.number[one.bone], "shape": one.shape()}
            if before is None:
                rows.append(row)
                new.append(len(rows) - 1)
            elif not one.is_kept:
                rows[int(before.place)] = row
                work.written.changed.append(item.label)
        if new:
            self.own["colliders"] = rows
            groups = self.own.setdefault("colliderGroups", [])
            groups.append({"name": "Look-at PD", "colliders": new})
            for spring in self.own.get("springs", ()):
                names = [work.nodes.name(row.get("node")) for row in spring.get("joints", ())]
                if work.meets_all(next((work.chain_of[name] for name in names if name in work.chain_of), None)):
                    spring["colliderGroups"] = [*spring.get("colliderGroups", ()), len(groups) - 1]


def _joint(joint: VrmJoint) -> dict[str, Any]:
    power = float(np.linalg.norm(joint.pull))
    way = vrm_data.to_gltf(joint.pull) if power > 1e-9 else [0.0, -1.0, 0.0]
    return {
        "hitRadius": _short(joint.radius),
        "stiffness": _short(joint.stiffness),
        "gravityPower": _short(power),
        "gravityDir": [_short(value / power) if power > 1e-9 else value for value in way],
        "dragForce": _short(joint.drag),
    }


def _short(value: float) -> float:
    return float(f"{value:.7g}")


class _Old:
    """Springs of VRM 0.x."""

    def __init__(self, work: _Work, own: dict[str, Any]) -> None:
        self.work, self.own = work, own

    def write(self, said: VrmSprings) -> None:
        work = self.work
        known = said.joints
        groups: list[dict[str, Any]] = []
        for group in self.own.get("boneGroups") or ():
            kept, apart = [], []
            for root in group.get("bones") or ():
                bone = work.nodes.name(root)
                own = (
                    [work.nodes.name(node) for line in vrm_data.lines(work.nodes, root) for node in line]
                    if bone
                    else []
                )
                changed = [name for name in own if name in known and not work.is_kept(known[name])]
                chain = work.chain_of.get(bone)
                if not changed or chain is None:
                    kept.append(root)
                else:
                    apart.append((root, self._values(chain, known)))
                    work.written.changed.append(chain.bone)
            if kept or not apart:
                groups.append({**group, "bones": kept} if apart else group)
            for values in {json.dumps(values): values for _, values in apart}.values():
                roots = [root for root, own in apart if own == values]
                groups.append({**group, **values, "bones": roots})
        for chain in work.new_chains(said):
            empty = {"comment": chain.bone, "center": -1, "colliderGroups": []}
            groups.append({**empty, **self._values(chain, known), "bones": [work.number[chain.bone]]})
            work.written.added.append(chain.bone)
        self.own["boneGroups"] = groups
        self._write_colliders(said)

    def _values(self, chain: SpringChain, known: dict[str, VrmJoint]) -> dict[str, Any]:
        work = self.work
        joints = work.joints(chain, work.lengths(chain, {bone: joint.length for bone, joint in known.items()}))
        first = joints[chain.bone]
        rows = [(*joint.pull, joint.stiffness, joint.drag, joint.radius) for joint in joints.values()]
        if not np.allclose(rows, rows[0], rtol=0.02, atol=1e-3):
            work.written.notes.append(Message(_ONE_VALUE, name=chain.bone))
        found = _joint(first)
        x, y, z = found["gravityDir"]
        center = work.center(chain)
        return {
            "stiffiness": found["stiffness"],
            "gravityPower": found["gravityPower"],
            "gravityDir": {"x": x, "y": y, "z": -z},
            "dragForce": found["dragForce"],
            "hitRadius": found["hitRadius"],
            "center": -1 if center is None else center,
        }

    def _write_colliders(self, said: VrmSprings) -> None:
        work = self.work
        for one in work.placed(said):
            item, before = one.item, one.before
            if item.shape != "SPHERE":
                work.written.notes.append(Message(_NO_SHAPE, version="0.x", name=item.label))
                continue
            x, y, z = (_short(value) for value in one.begin)
            row = {"offset": {"x": x, "y": y, "z": -z}, "radius": _short(one.radius)}
            if before is None:
                groups = self.own.setdefault("colliderGroups", [])
                groups.append({"node": work.number[one.bone], "colliders": [row]})
                for group in self.own["boneGroups"]:
                    root = next(iter(group.get("bones") or ()), None)
                    if work.meets_all(work.chain_of.get(work.nodes.name(root))):
                        group["colliderGroups"] = [*(group.get("colliderGroups") or ()), len(groups) - 1]
            elif not one.is_kept:
                n, m = (int(part) for part in before.place.split(":"))
                self.own["colliderGroups"][n]["colliders"][m] = row
                work.written.changed.append(item.label)
