"""What the rest of the body does for a look-at that has been solved: numbers for every frame, from what was sampled.

Where nothing of the look-at shows at a frame, nothing of this does either, exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...lookat_pd import body as answers
from ...lookat_pd import eyes, gaze, legs, rotation
from ...lookat_pd.body import Carrying
from ...lookat_pd.rotation import Array
from .. import channels
from ..sample import Samples
from .layers import Body

Posed = dict[str, tuple[Array, Array]]
"""Bones' orientations (F, 4) and positions (F, 3) in armature space, by name."""


@dataclass(frozen=True)
class Answer:
    """What is added to the bones `turned` and `moved` of a body: offsets (F, t, 4) and ways (F, m, 3).

    gaze: what the eyes do, None without eyes. closing: (F,) how far the lids are closed, 0 to 1, None without eyes.
    missed: (F,) how far [m] the worst foot is from its place.
    """

    offsets: Array
    moves: Array
    gaze: eyes.Result | None = None
    closing: Array | None = None
    missed: float = 0.0


def posed(body: Body, samples: Samples) -> Posed:
    """The bones of a body as they were sampled."""
    rows = {name: n for n, name in enumerate(samples.bones)}
    return {name: (samples.rotations[:, rows[name]], samples.positions[:, rows[name]]) for name in body.sampled}


def carried(body: Body, samples: Samples, carrying: Carrying) -> Posed:
    """The bones of a body as the turned chain and the shifted hips carry them, by forward kinematics."""
    rows = [samples.bones.index(name) for name in body.sampled]
    turns, places = carrying.carry(body.anchors, samples.rotations[:, rows], samples.positions[:, rows])
    return {name: (turns[:, n], places[:, n]) for n, name in enumerate(body.sampled)}


def where(moving: Array, there: Posed, else_there: Posed) -> Posed:
    """Bones from one pose at frames (F,) that move, from the other at those that do not."""
    some = moving[:, None]
    return {
        name: (np.where(some, turn, else_there[name][0]), np.where(some, place, else_there[name][1]))
        for name, (turn, place) in there.items()
    }


def risen(there: Posed, way: Array) -> Posed:
    """The same pose with everything moved by `way` (F, 3)."""
    return {name: (turn, place + way) for name, (turn, place) in there.items()}


def hips_only(body: Body, samples: Samples, way: Array) -> Array:
    """Ways (F, m, 3) of the bones that move, with nothing but the hips moving."""
    moves = np.zeros((len(way), len(body.moved), 3))
    if body.mover:
        moves[:, body.moved.index(body.mover)] = _own_way(samples, body.mover, posed(body, samples)[body.mover][0], way)
    return moves


def shifted(body: Body, animated: Posed, turn: Array, dt: float) -> Array:
    """Way (F, 3) of the hips under a head that is turned by `turn` (F,) [rad] to the left."""
    if body.shift is None:
        return np.zeros((len(turn), 3))
    up = np.array(body.upright)
    ahead = rotation.rotate(animated[body.mover][0], np.array(body.forward))
    level = ahead - rotation.dot(ahead, up)[:, None] * up
    # Of a character that lies on the ground there is no side to shift to.
    level = level / np.maximum(np.linalg.norm(level, axis=-1, keepdims=True), 0.3)
    return answers.weight_shift(body.shift, turn, rotation.cross(up, level), -level, dt)


def lowered(body: Body, animated: Posed, posed: Posed, dt: float) -> Array:
    """How far (F,) [m] the hips must go down so that all feet reach their places."""
    if not (body.mover and body.reaching):
        return np.zeros(len(next(iter(animated.values()))[0]))
    return legs.lowering(_legs(body.reaching, animated), _legs(body.reaching, posed), np.array(body.upright), dt)


def _legs(chosen: Sequence, posed: Posed) -> legs.Leg:
    """Legs as the solver of legs wants them."""
    bones = [[posed[name] for name in (leg.upper, leg.lower, leg.foot)] for leg in chosen]
    joints = [np.stack([leg[n][1] for leg in bones], axis=1) for n in range(3)]
    turns = [np.stack([leg[n][0] for leg in bones], axis=1) for n in range(3)]
    return legs.Leg(*joints, *turns)


def answer(
    body: Body,
    samples: Samples,
    head: Array,
    posed_now: Posed,
    way: Array,
    targets: Array,
    events: Sequence[gaze.Event],
    dt: float,
    influence: Array,
) -> Answer:
    """What the body does, once its bones are carried to `posed_now`. way: (F, 3) of the hips, already in that.

    head: (F, 4) orientation of the aiming bone. targets: (n, F, 3) in armature space.
    """
    animated = posed(body, samples)
    frames = len(samples.frames)
    offsets = {name: rotation.identity(frames) for name in body.turned}
    moves = {name: np.zeros((frames, 3)) for name in body.moved}
    if body.mover:
        moves[body.mover] = _own_way(samples, body.mover, animated[body.mover][0], way)
    _swing_arms(body, animated, posed_now, offsets, dt)
    missed = _plant_feet(body, animated, posed_now, offsets)
    seen = closing = None
    if body.ocular is not None:
        first = float(samples.frames[0]) * dt
        centers, turns = (np.stack([posed_now[eye.bone][n] for eye in body.eyes], axis=1) for n in (1, 0))
        before = np.stack([animated[eye.bone][0] for eye in body.eyes], axis=1)
        seen = eyes.solve(body.ocular, head, turns, centers, before, targets, dt, events, time=first)
        turned = seen.offsets
        if np.any(influence != 1.0):
            turned = rotation.exp(influence[:, None, None] * rotation.log(turned))
        for n, eye in enumerate(body.eyes):
            if not eye.target:
                offsets[eye.bone] = turned[:, n]
                continue
            # The control that the eye tracks goes round the eye.
            about, control = centers[:, n], posed_now[eye.target]
            world = rotation.multiply(turns[:, n], rotation.multiply(turned[:, n], rotation.inverse(turns[:, n])))
            still = np.all(turned[:, n] == rotation.IDENTITY, axis=-1)[:, None]
            arm = control[1] - about
            moved = np.where(still, 0.0, rotation.rotate(world, arm) - arm)
            moves[eye.target] = _own_way(samples, eye.target, control[0], moved)
        closing = seen.blink * influence
        _close_lids(body, head, posed_now, closing, offsets)
    turned, moved = _stacked(offsets, body.turned, (frames, 4)), _stacked(moves, body.moved, (frames, 3))
    return Answer(turned, moved, seen, closing, missed)


def _close_lids(body: Body, head: Array, now: Posed, closing: Array, offsets: dict[str, Array]) -> None:
    """Turn the upper lids down, about the axis from side to side of the head."""
    assert body.ocular is not None
    axis = rotation.rotate(head, body.ocular.head_right)
    for lid in body.lids:
        local = rotation.rotate(rotation.inverse(now[lid][0]), axis)
        offsets[lid] = rotation.exp(-body.blink_angle * closing[:, None] * local)


def _stacked(values: dict[str, Array], names: Sequence[str], shape: tuple[int, int]) -> Array:
    return np.stack([values[name] for name in names], axis=1) if names else np.zeros((shape[0], 0, shape[1]))


def _own_way(samples: Samples, bone: str, orientation: Array, way: Array) -> Array:
    """A way (F, 3) in armature space as the bone's own location has it. orientation: (F, 4) of the bone."""
    n = samples.bones.index(bone)
    mode = samples.modes[n]
    turned = channels.to_quaternion(samples.raw[mode if mode in samples.raw else "EULER"][:, n], mode)
    frame = rotation.multiply(orientation, rotation.inverse(turned))
    return rotation.rotate(rotation.inverse(frame), way) / samples.sizes[:, n : n + 1]


def _swing_arms(body: Body, animated: Posed, now: Posed, offsets: dict[str, Array], dt: float) -> None:
    if body.recoil is None or not body.arms:
        return
    shoulders, hands = (np.stack([now[name][1] for name in names], axis=1) for names in _ends(body))
    before = np.stack([animated[arm.hand][1] for arm in body.arms], axis=1)
    turns = answers.recoil(body.recoil, shoulders, hands, before, dt)
    for n, arm in enumerate(body.arms):
        clavicle = now[arm.clavicle][0] if arm.clavicle else None
        first, second = answers.swung(turns[:, n], clavicle, now[arm.upper][0])
        if first is not None:
            offsets[arm.clavicle] = first
        offsets[arm.upper] = second


def _ends(body: Body) -> tuple[list[str], list[str]]:
    return [arm.upper for arm in body.arms], [arm.hand for arm in body.arms]


def _plant_feet(body: Body, animated: Posed, now: Posed, offsets: dict[str, Array]) -> float:
    if not body.legs:
        return 0.0
    turned, missed = legs.replant(_legs(body.legs, animated), _legs(body.legs, now))
    for n, leg in enumerate(body.legs):
        for k, bone in enumerate((leg.upper, leg.lower, leg.foot)):
            offsets[bone] = turned[:, n, k]
    return float(missed.max())
