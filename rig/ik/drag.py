"""Dragging a bone by inverse kinematics: the chain is repeatedly posed with its effector at a point.

Each solve starts from the initial pose, so that the result does not depend on the path and equals that of a bake.
Nothing is kept until `keep`; `restore` restores the initial pose.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...lookat_pd import rotation
from ...lookat_pd.progress import drain
from ...lookat_pd.rotation import Array
from ..animation import actions, channels
from ..controls.changes import Changes
from ..controls.pose_writer import PoseWriter
from ..controls.realize import realize
from ..detection.joint_chain import WHOLE, JointChain, is_mechanism, longest, resolve
from ..layers import layer
from ..sampling import sampler
from . import method_ghosts, soft_goals
from .chain_on_controls import ChainOnControls, ShownChain
from .chain_solve import IKTuning, Objectives, Turns, solve
from .drag_session import DragSession, checked_place
from .method_ghosts import MethodGhost
from .pose import Seen, evaluated, raw_channel

_CORRECTIONS = 3


class ChainDrag(DragSession):
    """A bone that is dragged with its chain: the bones that rotate."""

    def __init__(
        self,
        scene: bpy.types.Scene,
        view_layer: bpy.types.ViewLayer,
        armature: bpy.types.Object,
        bone: str,
        *,
        length: int = WHOLE,
        base: str = "",
        at_tip: bool,
        keeps: bool,
        tuning: IKTuning,
        pole: bpy.types.Object | None = None,
    ) -> None:
        """length, base: as for `resolve`. keeps: whether the effector keeps its orientation. Raises LookAtError."""
        super().__init__(scene, view_layer, armature, tuning)
        self.bone = self.asked = bone
        self.pole, self._at_tip, self._keeps = pole, at_tip, keeps
        self._writer = PoseWriter(armature)
        self._target: Array | None = None
        self._objectives: Objectives | None = None
        self._shown: tuple[Objectives, Turns] | None = None
        """What was solved last, with the same chain and solver."""
        self._ghosts: dict[tuple[str, ...], list[MethodGhost]] = {}
        self.chain = self._resolve(length, base)
        self._pins: list[tuple[JointChain, Objectives]] = []
        with self._opened():
            self._begin()
        self.place = self._world[:3, :3] @ self._seen.end[0] + self._world[:3, 3]

    # The chain

    def _resolve(self, length: int, base: str = "") -> JointChain:
        chain = resolve(
            self.armature, self.bone, length=length, base=base, at_tip=self._at_tip, turn_effector=self._keeps
        )
        modes = {name: self.armature.pose.bones[name].rotation_mode for name in chain.bones}
        actions.check_curves(self.armature, modes, "NEW")
        return chain

    @property
    def bones(self) -> tuple[str, ...]:
        """The bones that are posed."""
        return self.chain.bones

    @property
    def length(self) -> int:
        """The number of bones that rotate."""
        return len(self.chain.joints)

    def lengthen(self, by: int) -> bool:
        """Make the chain longer or shorter, within the existing bones up to a pinned one; returns whether it
        changed."""
        most = longest(self.armature, self.bone, self._at_tip)
        length = min(max(self.length + by, 2), most)
        if length == self.length:
            return False
        chain = self._resolve(length)
        self._writer.restore()
        self.chain, self.length_changed = chain, True
        self._begin()
        self._again()
        return True

    def use(self, method: str) -> None:
        super().use(method)
        self._shown = None
        self._again()

    def _again(self) -> None:
        if self._target is not None:
            self.move(self._target)

    def _begin(self) -> None:
        self._world, self._seen = self._look(self.chain)
        self._shown = None
        if not abs(np.linalg.det(self._world[:3, :3])) > 1e-18:
            raise sampler.complaint(sampler.FLAT_OBJECT, self.armature.name, self.scene.frame_current)
        turned = set(self.chain.bones)
        self._is_plain = self.chain.plain and turned.isdisjoint(layer.adding(self.armature))
        self._pins = self._find_pins()
        self.reachable_distance = float(self._seen.reachable_distance[0]) * self._scale

    def _find_pins(self) -> list[tuple[JointChain, Objectives]]:
        """Limbs that branch off the chain and end in a pinned bone, with its position."""
        pins = []
        moved = set(self.chain.bones)
        for bone in self.armature.pose.bones:
            if not bone.lookat_pd_ik_pin:
                continue
            line = [item.name for item in bone.parent_recursive]
            branch = next((n for n, name in enumerate(line) if name in moved), 0)
            free = [name for name in line[:branch] if not is_mechanism(self.armature.pose.bones[name])]
            if len(free) < 2:
                continue
            chain = resolve(self.armature, bone.name, base=free[-1], at_tip=False, turn_effector=True, pinned=True)
            _, seen = self._look(chain)
            pins.append((chain, Objectives(seen.end, seen.effector_rotation)))
        return pins

    def _look(self, chain: JointChain) -> tuple[Array, Seen]:
        """Evaluate the changes; returns the matrix of the armature and the chain."""
        self.view_layer.update()
        seen = self.armature.evaluated_get(self.view_layer.depsgraph)
        return np.array(seen.matrix_world), evaluated(chain, seen.pose.bones)

    # Moving

    def move(self, target: Any) -> None:
        """Pose the chain for this point of the world. Raises RigError if it is not finite."""
        self._target = target = checked_place(target)
        objectives = Objectives(
            self._local(target)[None],
            self._seen.effector_rotation if self._keeps else None,
            None if self.pole is None else self._local(np.array(self._pole_place()))[None],
        )
        objectives = soft_goals.softened(self.chain, self._seen, objectives, self._seen, self.tuning.soft_reach)
        self._objectives = objectives
        self._ghosts.clear()
        began = perf_counter()
        turns = solve(self.chain, self._seen, objectives, self.tuning, before=self._shown)
        self._shown = objectives, turns
        self.seconds = perf_counter() - began
        self.iterations = int(turns.iterations[0])
        if self._is_plain:
            self._put(self._seen, turns.offsets[0])
            self.error = float(turns.missed[0]) * self._scale
            self.view_layer.update()
        else:
            on_controls = _DraggedChain(self, objectives)
            drain(realize(on_controls, on_controls.changes(turns.offsets), on_controls.tolerance(_CORRECTIONS)))
            self.error = on_controls.missing * self._scale
            self.view_layer.update()
        for chain, stays in self._pins:
            # The limb moved with the chain: return it to the pinned position.
            seen = replace(self._look(chain)[1], raw={name: self._raw(name) for name in chain.bones})
            self._put(seen, solve(chain, seen, stays, self.tuning).offsets[0])
        if self._pins:
            self.view_layer.update()

    def ghosts(self, names: Sequence[str]) -> list[MethodGhost]:
        """The chain as these methods solve it for the last point; none before the first one."""
        if self._objectives is None:
            return []
        key = tuple(names)
        if key not in self._ghosts:
            self._ghosts[key] = method_ghosts.solved(
                self.chain, self._seen, self._objectives, self.tuning, self._world, names
            )
        return self._ghosts[key]

    def _pole_place(self) -> Any:
        assert self.pole is not None
        return self.pole.evaluated_get(self.view_layer.depsgraph).matrix_world.translation

    def _local(self, point: Array) -> Array:
        return (np.linalg.inv(self._world) @ (*point, 1.0))[:3]

    @property
    def axes(self) -> Array:
        """(3, 3), the local axes of the effector in the world."""
        return rotation.to_matrix(
            rotation.multiply(rotation.from_matrix(self._world[:3, :3]), self._seen.effector_rotation[0])
        )

    def _raw(self, name: str) -> tuple[str, Array]:
        return raw_channel(self.armature, name)

    def _put(self, seen: Seen, turns: Iterable[Array]) -> None:
        for (name, (mode, raw)), offset in zip(seen.raw.items(), turns, strict=True):
            values = channels.turned(raw, mode, offset[None])
            self._writer.write(name, mode, np.array([self.scene.frame_current]), values, raw)

    # The end

    def _put_back(self) -> None:
        self._writer.restore()

    def _keyed(self) -> Iterator[tuple[bpy.types.Object, list[str], list[str]]]:
        return self._writer.changed()


class _DraggedChain(ChainOnControls):
    """The chain posed for one point. missing: distance of the effector from where it is asked to be, in armature
    space."""

    # With so few corrections, whole steps come nearer.
    damped = False

    def __init__(self, session: ChainDrag, objectives: Objectives) -> None:
        super().__init__(session.chain, session.tuning)
        self._session, self._objectives, self.missing = session, objectives, 0.0

    def write(self, values: Changes) -> None:
        self._session._put(self._session._seen, [values.turns[name][0] for name in self.chain.bones])

    def evaluate(self) -> Generator[float, None, ShownChain]:
        yield 1.0
        _, seen = self._session._look(self.chain)
        return ShownChain(seen, self._objectives, np.ones(1, dtype=bool))

    def note(self, seen: ShownChain, better: NDArray[np.bool_]) -> None:
        if better[0]:
            self.missing = float(np.linalg.norm(seen.objectives.wanted[0] - seen.seen.end[0]))
