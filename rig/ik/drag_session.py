"""What all drags have in common, whatever they move: live updates are suspended meanwhile, and the pose is kept with
keys or restored."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation import auto_keying, stored_settings
from ..sampling import suspend, targets
from .chain_solve import IKTuning
from .method_ghosts import MethodGhost


def checked_place(target: Any) -> Array:
    """The point (3,) to which something is dragged. Raises RigError if it is not finite."""
    target = np.array(target, dtype=float)
    if not np.all(np.abs(target) < targets.FARTHEST):
        raise RigError("The drag position is not finite; move the mouse back.")
    return target


class DragSession(ABC):
    """A bone that is dragged. Nothing is kept until `keep`; `restore` restores the initial pose."""

    asked: str
    """The bone that it is dragged for."""
    bone: str
    place: Any
    """(3,) initial position of the effector in the world."""
    reachable_distance: float
    """The length of the chain in the world."""
    bones: tuple[str, ...]
    """Those that are posed."""
    held = 0
    """Number of other effectors that are held."""
    length_changed = False

    def __init__(
        self, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, armature: bpy.types.Object, tuning: IKTuning
    ) -> None:
        self.scene, self.view_layer, self.armature, self.tuning = scene, view_layer, armature, tuning
        self.error, self.iterations, self.seconds = 0.0, 0, 0.0
        """Distance of the effector from the point in the world, iterations, and seconds of the solver, of the last
        `move`."""
        self._world = np.eye(4)
        """Of the armature."""
        self._open = ExitStack()

    @contextmanager
    def _opened(self) -> Generator[None, None, None]:
        """Live updates are suspended from here on; after an error the initial pose is shown, and they go on."""
        self._open.enter_context(suspend.suspend_live())
        self._open.enter_context(stored_settings.unmatched())
        try:
            yield
        except BaseException:
            self._put_back()
            self._open.close()
            raise

    @property
    def length(self) -> int:
        """The number of bones that rotate, 0 where it is not chosen."""
        return 0

    @property
    @abstractmethod
    def axes(self) -> Array:
        """(3, 3), the local axes of the effector in the world."""

    @property
    def _scale(self) -> float:
        return float(abs(np.linalg.det(self._world[:3, :3])) ** (1.0 / 3.0))

    # While it is dragged. By default what is dragged decides about chain and solver.

    def use(self, method: str) -> None:
        """Change the solver, or that of the next drag of a chain."""
        self.tuning = replace(self.tuning, method=method)

    def lengthen(self, by: int) -> bool:
        """Make the chain longer or shorter; returns whether it changed."""
        return False

    def ghosts(self, names: Sequence[str]) -> list[MethodGhost]:
        """The chain as these methods solve it for the last point; none where there is one solver."""
        return []

    @abstractmethod
    def move(self, target: Any) -> None:
        """Pose the rig so that the effector comes to this point of the world. Raises RigError."""

    # The end

    @abstractmethod
    def _put_back(self) -> None:
        """Give what was moved its initial pose."""

    @abstractmethod
    def _keyed(self) -> Iterable[tuple[bpy.types.Object, Sequence[str], Sequence[str]]]:
        """What gets keys: objects, with their bones that have turned and those that have moved, "" for themselves."""

    def restore(self) -> None:
        """Restore the initial pose."""
        self._put_back()
        self.view_layer.update()
        self.release()

    def release(self) -> None:
        """Release the rig without changes, because the file is about to be replaced."""
        self._open.close()

    def keep(self) -> bool:
        """Keep the pose, with keys if auto keying is enabled; returns whether there are any. Raises RigError after
        restoring the initial pose."""
        keyed = list(self._keyed())
        for item, *_ in keyed:
            linked = auto_keying.linked_action(self.scene, item)
            if linked is not None:
                self.restore()
                raise RigError(
                    "Action '{action}' is linked from a library; make a copy of it before keying the pose.",
                    action=linked.name,
                )
        got = [auto_keying.key(self.scene, item, turned, moved) for item, turned, moved in keyed]
        self.release()
        return any(got)
