"""What controls move: each is turned or moved alone, and the rig is evaluated.

On a plain chain every bone inherits all rotations above it. Controls of a rig act through constraints and drivers, so
what they move, and by how much, is measured.
"""

from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.gaze import control_coupling
from ...lookat_pd.progress import drain, subrange
from ...lookat_pd.rotation import Array
from ..sampling import bone_response

TURN = np.radians(10.0)
"""Angle of a control by which its effect is measured."""
_UNCOUPLED = 1e-3
"""Part of a rotation that counts as none: that of rounding is below it."""

Probe = TypeVar("Probe")
Seen = TypeVar("Seen")


def probing(
    probes: Sequence[Probe],
    frames: int,
    show: Callable[[Sequence[Probe]], None],
    evaluate: Callable[[int], Generator[float, None, Seen]],
) -> Generator[float, None, list[tuple[Probe, int, Seen]]]:
    """Show each probe alone; yields the completed fraction and returns it with the frame at which it was shown, by its
    index, and what was seen. As many probes as there are frames are evaluated in one pass, each at a frame of its own.

    show: puts some probes on the rig, the first one at the first frame, in place of those before. evaluate: that many
    frames. The caller takes the last probes away, whatever happens: they are written to what is rolled back.
    """
    shown: list[tuple[Probe, int, Seen]] = []
    for first in range(0, len(probes), frames):
        part = probes[first : first + frames]
        show(part)
        seen = yield from subrange(evaluate(len(part)), first / len(probes), (first + len(part)) / len(probes))
        shown += [(probe, frame, seen) for frame, probe in enumerate(part)]
    return shown


def measure(
    bones: Sequence[str],
    animated: Array,
    axes: Array,
    show: Callable[[Array], None],
    evaluate: Callable[[int], Generator[float, None, Array]],
    *,
    but: Sequence[int] = (),
) -> Generator[float, None, Array]:
    """The coupling (m, b) of b controls: the part of the rotation of each of them that m bones receive. Yields the
    completed fraction. Raises RigError where a control does not respond.

    animated: (F, m, 4) orientations at the frames that may be used, those of the controls first, children before their
    parents: a control does not turn those below it in this order, whatever follows from constraints between them. axes:
    (b, 3) about which controls are turned. show, evaluate: as for `probing`, local rotations (k, b, 4) of the controls
    at the first k frames, and orientations (k, m, 4). but: controls that are not measured; only they turn themselves.
    """
    controls = [n for n in range(len(bones)) if n not in set(but)]

    def turns(part: Sequence[int]) -> Array:
        tried = rotation.identity(len(part), len(bones))
        for frame, control in enumerate(part):
            tried[frame, control] = rotation.exp(TURN * axes[control])
        return tried

    coupling = np.eye(animated.shape[1], len(bones))
    shown = yield from probing(controls, len(animated), lambda part: show(turns(part)), evaluate)
    for control, frame, seen in shown:
        turn = rotation.exp(TURN * axes[control])
        column = control_coupling.measure(animated[frame], seen[frame], turn, control)
        bone_response.check(bones[control], abs(float(column[control])))
        column[np.abs(column) < _UNCOUPLED] = 0.0
        column[control + 1 : len(bones)] = 0.0
        coupling[:, control] = column
    return coupling


def measure_now(
    bones: Sequence[str], animated: Array, axes: Array, seen: Callable[[Array], Array], *, but: Sequence[int] = ()
) -> Array:
    """The same for one pose, at once. animated, seen: as for `measure_pose`."""
    return drain(measure_pose(bones, animated, axes, seen, but=but))


def measure_pose(
    bones: Sequence[str], animated: Array, axes: Array, seen: Callable[[Array], Array], *, but: Sequence[int] = ()
) -> Generator[float, None, Array]:
    """The same for one pose, yielding the completed fraction before each control is turned. animated: (m, 4). seen:
    gives orientations (m, 4) with the controls turned by (b, 4)."""
    turned = rotation.identity(len(bones))

    def show(turns: Array) -> None:
        nonlocal turned
        turned = turns[0]

    def evaluate(_: int) -> Generator[float, None, Array]:
        yield 1.0
        return seen(turned)[None]

    return (yield from measure(bones, animated[None], axes, show, evaluate, but=but))
