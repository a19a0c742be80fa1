"""The springs of an armature as they are to be written into a VRM file, of either version."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import bpy
import numpy as np

from ...lookat_pd.errors import FileError
from ...lookat_pd.message import Message
from . import chains, colliders, vrm_frames, vrm_known, vrm_tuning
from .chains import SpringChain
from .springs_solve import SpringRig
from .vrm_data import Nodes, VrmChain, VrmCollider, VrmJoint, VrmSprings
from .vrm_tuning import JointTuning

SHARED = "Look-at PD"
"""The group of colliders that are in none here, with which chains collide that collide with all."""


@dataclass
class VrmWritten:
    """What was written into a file."""

    changed: list[str] = field(default_factory=list)
    """First bones of chains, and names of colliders, whose values have changed."""
    added: list[str] = field(default_factory=list)
    """First bones of chains that the file did not have."""
    removed: list[str] = field(default_factory=list)
    """Bones whose springs were taken from the file, and colliders, that are no longer here."""
    notes: list[Message] = field(default_factory=list)
    placed: "list[Placed]" = field(default_factory=list)
    """The colliders that the file has now."""


@dataclass(frozen=True)
class Placed:
    """A collider on a bone, and what the file has of it."""

    item: colliders.Collider
    now: VrmCollider
    before: VrmCollider | None

    @property
    def is_kept(self) -> bool:
        """Whether the file has it as it is, but for its groups."""
        return self.before is not None and self.now.is_like(self.before)


class VrmWork:
    """The springs of an armature, as they are to be written."""

    def __init__(
        self, scene: bpy.types.Scene, armature: bpy.types.Object, made: dict[str, Any], said: VrmSprings
    ) -> None:
        self.scene, self.armature, self.made = scene, armature, made
        self.turns = vrm_frames.turns(armature, said)
        self.said = replace(said, colliders=vrm_frames.in_bones(armature, said))
        self.written = VrmWritten()
        self.nodes = Nodes(made)
        self.number = {self.nodes.name(n): n for n in reversed(range(len(self.nodes.rows)))}
        self.known = self.said.joints
        self.every = list(chains.on(armature))
        self.chain_of = {bone: chain for chain in self.every for bone in chain.bones}
        self.taken = vrm_known.bones(armature)
        gravity = vrm_tuning.gravity_of(scene)
        self.tunings: dict[str, JointTuning] = {}
        for chain in self.every:
            self.tunings |= vrm_tuning.of_chain(chain, gravity)
        for bone, chain in self.chain_of.items():
            if bone not in armature.pose.bones:
                chain.check()
            if bone not in self.number:
                raise FileError(
                    "The VRM file has no node '{name}', on which there are springs here; choose the file of the "
                    "character.",
                    name=bone,
                )
        self.placed = list(self._placed())
        claimed = {one.before.place for one in self.placed if one.before is not None}
        self.gone = [
            collider
            for collider in self.said.colliders
            if collider.place not in claimed and vrm_known.has_taken(armature, collider)
        ]
        """Colliders of the file that were taken from it and are no longer here."""

    def is_removed(self, bone: str) -> bool:
        """Whether a bone has no longer the springs that it got from the file."""
        return bone in self.taken and bone not in self.chain_of

    # Chains

    def joints(self, chain: SpringChain, lengths: dict[str, float]) -> dict[str, VrmJoint]:
        """The bones of a chain for VRM. lengths: as the file has them [m], where it does."""
        own = self._lengths(chain) | lengths
        tunings = [self.tunings[bone] for bone in chain.bones]
        long = [own[bone] for bone in chain.bones]
        alone = vrm_tuning.omegas(chain, tunings, long)
        rows = zip(chain.bones, tunings, long, alone, strict=True)
        return {bone: vrm_tuning.joint_of(bone, tuning, length, omega) for bone, tuning, length, omega in rows}

    def _lengths(self, chain: SpringChain) -> dict[str, float]:
        """Of the bones of a chain here [m]."""
        rig = SpringRig.of(self.armature, [chain])
        size = float(np.mean(np.abs(self.armature.matrix_world.to_scale())))
        return dict(zip(rig.bones, (np.linalg.norm(rig.tips, axis=1) * size).tolist(), strict=True))

    def is_kept(self, joint: VrmJoint) -> bool:
        """Whether a joint of the file is as it was read."""
        chain = self.chain_of.get(joint.bone)
        if chain is None:
            return True
        return chain.settings.one_way and vrm_tuning.of_joint(joint).is_like(self.tunings[joint.bone])

    def new_chains(self) -> list[SpringChain]:
        """Chains of which the file has no bone."""
        return [chain for chain in self.every if self.known.keys().isdisjoint(chain.bones)]

    def center(self, chain: SpringChain, before: Any) -> int | None:
        """The node of whose motion a chain feels nothing. before: what the file has."""
        s = chain.settings
        said = vrm_tuning.center_of(self.armature, self.nodes.name(before))
        if said == (1.0 if s.inertia >= vrm_tuning.MOST_FELT else 0.0, s.center if s.inertia < 1.0 else ""):
            return before if self.nodes.has(before) else None
        if s.inertia >= vrm_tuning.MOST_FELT:
            return None
        found = self.number.get(s.center)
        if found is None:
            found = self.number[chain.bone]
            while self.nodes.parents[found] >= 0:
                found = self.nodes.parents[found]
        return found

    # Colliders

    def meets(self, chain: SpringChain, groups: set[str]) -> bool:
        """Whether a chain collides with what is in these groups here."""
        wanted = colliders.names_of(chain.settings.collider_groups)
        return chain.settings.collide and (not wanted or bool(wanted & groups))

    def is_same_groups(self, chain: SpringChain, before: VrmChain) -> bool:
        """Whether a chain collides with the groups that the file says."""
        own = chain.settings.collider_groups
        return chain.settings.collide == bool(before.groups) and (
            not before.groups or colliders.names_of(own) == set(before.groups)
        )

    def in_file(self, one: Placed) -> VrmCollider:
        """A collider as it is now, in the frame of its node."""
        return vrm_frames.in_node(self.turns, one.now)

    def _placed(self) -> Iterator[Placed]:
        """The colliders on nodes of the file."""
        found = []
        for item in colliders.on(self.scene):
            now = vrm_known.as_in_file(self.armature, item)
            if now is not None and now.bone in self.number:
                found.append((item, now))
            elif now is None and _is_free(item):
                self._tell_free(item)
        before = vrm_known.matched(found, self.said.colliders)
        for (item, now), known in zip(found, before, strict=True):
            yield Placed(item, now, known)

    def _tell_free(self, item: colliders.Collider) -> None:
        groups = colliders.names_of(item.settings.groups)
        if any(self.meets(chain, groups) for chain in self.every):
            self.written.notes.append(
                Message(
                    "'{name}' is on no bone of '{armature}', so the VRM file does not get it; parent it to a bone.",
                    name=item.label,
                    armature=self.armature.name,
                )
            )


def _is_free(item: colliders.Collider) -> bool:
    """Whether a collider is an empty that belongs to no other character."""
    parent = item.object.parent
    while parent is not None and parent.type != "ARMATURE":
        parent = parent.parent
    return not item.bone and parent is None


def short(value: float) -> float:
    """A number as files have it."""
    return float(f"{value:.7g}")


def joint_row(joint: VrmJoint, way: list[float]) -> dict[str, Any]:
    """A joint for VRM 1.0. way: direction of its gravity in the axes of glTF where it has none."""
    power = float(np.linalg.norm(joint.pull))
    x, y, z = joint.pull
    direction = [x / power, z / power, -y / power] if power > 1e-9 else way
    return {
        "hitRadius": short(joint.radius),
        "stiffness": short(joint.stiffness),
        "gravityPower": short(power if power > 1e-9 else 0.0),
        "gravityDir": [short(value) for value in direction],
        "dragForce": short(joint.drag),
    }
