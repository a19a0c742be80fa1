"""Controls that turn bones: from orientations that are wanted to rotations of the controls, by measured coupling."""

from collections.abc import Callable, Collection, Generator, Sequence

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.gaze import control_coupling
from ...lookat_pd.rotation import Array
from ..sampling.sampler import Samples
from . import coupling
from .changes import Changes
from .kept_probe import KeptProbe, RigState

_AXIS = np.array([1.0, 0.0, 0.0])
"""About which controls are turned to measure what they pass on."""
_kept: KeptProbe[Array] = KeptProbe()


class TurnedControls:
    """Controls over F frames, parents first, and other bones that may turn with them, such as IK controls."""

    def __init__(self, samples: Samples, controls: Sequence[str], carried: Sequence[str] = ()) -> None:
        self.controls = tuple(controls)
        # The coupling has children before their parents.
        self._rows = [samples.bones.index(name) for name in reversed(self.controls)]
        self._carried = [samples.bones.index(name) for name in carried]
        self._names = self.controls[::-1] + tuple(carried)
        self._animated = samples.rotations[:, self._rows + self._carried]
        self.coupling = np.eye(len(self._rows) + len(self._carried), len(self._rows))

    def measure(
        self,
        show: Callable[[Changes, int], object],
        evaluate: Callable[[int], Generator[float, None, Samples]],
        parents: Sequence[int],
        posed: Collection[int] = (),
        state: RigState | None = None,
    ) -> Generator[float, None, None]:
        """Measure what each control passes on; yields the completed fraction. Raises RigError where one does not
        respond.

        show: writes changes at the first frames, as many as it is told. evaluate: the same frames. parents: index of
        the control above each, -1 for none. posed: indices of those that constraints pose, which turn all below them.
        state: of the rig, where what was measured in it before will do.
        """
        question = self._names, tuple(parents), tuple(sorted(posed))
        known = None if state is None else _kept.get(state, question)
        if known is not None:
            self.coupling = known
            return
        last = len(self.controls) - 1

        def show_turns(turns: Array) -> None:
            show(Changes({name: turns[:, last - n] for n, name in enumerate(self.controls)}), len(turns))

        def orientations(count: int) -> Generator[float, None, Array]:
            seen = yield from evaluate(count)
            return seen.rotations[:, self._rows + self._carried]

        names, axes = self.controls[::-1], np.tile(_AXIS, (last + 1, 1))
        measured = coupling.measure(
            names, self._animated, axes, show_turns, orientations, but=[last - n for n in posed]
        )
        self.coupling = yield from measured
        for control in posed:
            below = [control]
            for n in range(control + 1, last + 1):
                if parents[n] in below:
                    below.append(n)
            self.coupling[[last - n for n in below], last - control] = 1.0
        if state is not None:
            _kept.keep(state, question, self.coupling)

    def received(self, carried: int) -> Array:
        """The part (n,) of the rotation of each control that another bone receives, by its index."""
        return self.coupling[len(self._rows) + carried, ::-1]

    def turns(self, changes: Changes) -> Array:
        """The rotations (F, n, 4) that changes have for the controls."""
        return np.stack([changes.turn(name, len(self._animated)) for name in self.controls], axis=1)

    def realized(
        self, wanted: Array, turns: Array | None = None, seen: Samples | None = None, active: Array | None = None
    ) -> Array:
        """The rotations (F, n, 4) of the controls that give them the orientations (F, n, 4) in armature space.

        seen: the rig with the rotations `turns` (F, n, 4), which shows what else turns the controls; without it, the
        coupling alone predicts that. active: (F,) frames with any rotation.
        """
        count, animated = len(self._rows), self._animated[:, : len(self._rows)]
        passed_on = self.coupling[:count]
        correction = rotation.identity(*animated.shape[:2])
        if seen is not None and turns is not None:
            shown = seen.rotations[:, self._rows]
            correction = control_coupling.correct(shown, animated, turns[:, ::-1], passed_on)
        if active is None:
            active = np.ones(len(animated), dtype=bool)
        return control_coupling.realize(wanted[:, ::-1], animated, passed_on, correction, active)[:, ::-1]
