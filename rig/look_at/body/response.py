"""The body response to a solved look-at: offsets and displacements for every frame, from the samples.

At frames at which the look-at has no effect, the response is exactly zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ....lookat_pd import eyes, gaze, rotation
from ....lookat_pd.body import breathing, legs, recoil
from ....lookat_pd.body import weight_shift as weight_shift_solver
from ....lookat_pd.body.weight_shift import ChainMotion
from ....lookat_pd.eyes import blink, lid_points
from ....lookat_pd.rotation import Array
from ...sampling.own_channels import own_displacement
from ...sampling.sampler import Samples
from . import shape_eyes
from .blink import Lid
from .body_rig import BodyRig
from .shape_eyes import EyeControl

_NO_LENGTH = 1e-9
Posed = dict[str, tuple[Array, Array]]
"""Bones' orientations (F, 4) and positions (F, 3) in armature space, by name."""


@dataclass(frozen=True)
class BodyResponse:
    """Offsets (F, t, 4) and displacements (F, m, 3) of the bones `turned` and `moved` of a body."""

    offsets: Array
    moves: Array
    gaze: eyes.EyeSolution | None = None
    """Solution of the eyes, None without eyes."""
    closing: Array | None = None
    """(F,) how far the lids are closed, 0 to 1, None without eyes."""
    shapes: Array | None = None
    """(F, s) change of each of `body.all_shapes`."""
    missed: Array | None = None
    """(F, l) by what part of its length each planted leg misses the animated position of its foot, None without
    legs."""


def posed(body: BodyRig, samples: Samples) -> Posed:
    """The sampled bones of a body."""
    rows = {name: n for n, name in enumerate(samples.bones)}
    return {name: (samples.rotations[:, rows[name]], samples.positions[:, rows[name]]) for name in body.sampled}


def propagated(body: BodyRig, samples: Samples, chain: ChainMotion) -> Posed:
    """The bones of a body moved by the chain and the hips, by forward kinematics."""
    rows = [samples.bones.index(name) for name in body.sampled]
    turns, places = chain.propagate(body.anchors, samples.rotations[:, rows], samples.positions[:, rows])
    return {name: (turns[:, n], places[:, n]) for n, name in enumerate(body.sampled)}


def where(moving: Array, there: Posed, else_there: Posed) -> Posed:
    """Bones of one pose at frames (F,) with motion, of the other at frames without."""
    some = moving[:, None]
    return {
        name: (np.where(some, turn, else_there[name][0]), np.where(some, place, else_there[name][1]))
        for name, (turn, place) in there.items()
    }


def risen(there: Posed, displacement: Array) -> Posed:
    """The same pose displaced (F, 3)."""
    return {name: (turn, place + displacement) for name, (turn, place) in there.items()}


def hips_only(body: BodyRig, samples: Samples, displacement: Array) -> Array:
    """Displacements (F, m, 3) of the bones if only the hips move."""
    moves = np.zeros((len(displacement), len(body.moved), 3))
    if body.hips_control:
        moves[:, body.moved.index(body.hips_control)] = own_displacement(
            samples, body.hips_control, posed(body, samples)[body.hips_control][0], displacement
        )
    return moves


def shifted(body: BodyRig, animated: Posed, turn: Array, pitch: Array, dt: float, stance: Array | float = 0.0) -> Array:
    """Displacement (F, 3) of the hips for a head turned by `turn` (F,) [rad] to the left and `pitch` (F,) up.

    stance: (F,) part of the weight on the left leg.
    """
    if body.shift is None:
        return np.zeros((len(turn), 3))
    up = np.array(body.upright)
    ahead = rotation.rotate(animated[body.hips_control][0], np.array(body.forward))
    level = ahead - rotation.dot(ahead, up)[:, None] * up
    # A character that is lying down has no horizontal direction to shift to.
    level = level / np.maximum(np.linalg.norm(level, axis=-1, keepdims=True), 0.3)
    return weight_shift_solver.weight_shift(body.shift, turn, rotation.cross(up, level), -level, dt, pitch, stance)


def lowered(body: BodyRig, animated: Posed, posed: Posed, dt: float) -> Array:
    """The lowering (F,) [m] of the hips with which all feet reach their positions."""
    if not (body.hips_control and body.reaching):
        return np.zeros(len(next(iter(animated.values()))[0]))
    return legs.lowering(_legs(body.reaching, animated), _legs(body.reaching, posed), np.array(body.upright), dt)


def _legs(chosen: Sequence, posed: Posed) -> legs.Leg:
    """Legs as arguments of the leg solver."""
    bones = [[posed[name] for name in (leg.upper, leg.lower, leg.foot)] for leg in chosen]
    joints = [np.stack([leg[n][1] for leg in bones], axis=1) for n in range(3)]
    turns = [np.stack([leg[n][0] for leg in bones], axis=1) for n in range(3)]
    return legs.Leg(*joints, *turns)


@dataclass
class BodyMotion:
    """The input of the layers of a body, and the motion that they have added so far."""

    body: BodyRig
    samples: Samples
    head: Array
    """(F, 4) orientation of the aiming bone."""
    place: Array
    """(F, 3) position of the aiming bone."""
    animated: Posed
    """The bones as animated."""
    now: Posed
    """The bones as moved by the chain and the hips."""
    displacement: Array
    """(F, 3) displacement of the hips, already in `now`."""
    targets: Array
    """(n, F, 3) targets in armature space."""
    events: Sequence[gaze.Event]
    dt: float
    begin: float
    """Time [s] of the first frame, from which random motion comes."""
    influence: Array
    """(F,) influence of the look-at."""
    shut: Array
    """(F,) whether the eyes are closed by a key."""
    offsets: dict[str, Array]
    """(F, 4) offsets of each bone of `body.turned`, written by the layers."""
    moves: dict[str, Array]
    """(F, 3) displacements of each bone of `body.moved`, written by the layers."""
    gaze: eyes.EyeSolution | None = None
    """As in `BodyResponse`."""
    closing: Array | None = None
    """As in `BodyResponse`."""
    closed: Array | None = None
    """(F,) how far the lids do close."""
    raised: Array | None = None
    """(F,) angle [rad] by which the eyes look up further in the head than in the animation."""
    centers: Array | None = None
    missed: Array | None = None
    shapes: dict[Lid, Array] = field(default_factory=dict)
    """(F,) how much each shape key changes."""


def respond(
    body: BodyRig,
    samples: Samples,
    head: tuple[Array, Array],
    posed_now: Posed,
    displacement: Array,
    targets: Array,
    events: Sequence[gaze.Event],
    dt: float,
    begin: float,
    influence: Array,
    shut: Array,
) -> BodyResponse:
    """The body response, with the bones moved to `posed_now`. displacement: (F, 3) of the hips, included in it.

    head: (F, 4) orientation and (F, 3) position of the aiming bone. targets: (n, F, 3) in armature space. begin: time
    [s] of the first frame. shut: (F,) whether the eyes are closed by a key.
    """
    frames = len(samples.frames)
    motion = BodyMotion(
        body,
        samples,
        *head,
        posed(body, samples),
        posed_now,
        displacement,
        targets,
        events,
        dt,
        begin,
        influence,
        shut,
        offsets={name: rotation.identity(frames) for name in body.turned},
        moves={name: np.zeros((frames, 3)) for name in body.moved},
    )
    for add in body.responses:
        add(motion)
    turned = _stacked(motion.offsets, body.turned, (frames, 4))
    moved = _stacked(motion.moves, body.moved, (frames, 3))
    shapes = np.zeros((frames, len(body.all_shapes)))
    for n, lid in enumerate(body.all_shapes):
        shapes[:, n] = motion.shapes.get(lid, 0.0)
    return BodyResponse(turned, moved, motion.gaze, motion.closing, shapes, motion.missed)


def move_hips(motion: BodyMotion) -> None:
    hips = motion.body.hips_control
    if hips:
        orientation = motion.animated[hips][0]
        motion.moves[hips] = own_displacement(motion.samples, hips, orientation, motion.displacement)


def swing_arms(motion: BodyMotion) -> None:
    body, now = motion.body, motion.now
    if body.recoil is None or not body.arms:
        return
    shoulders, hands = (np.stack([now[name][1] for name in names], axis=1) for names in _ends(body))
    before = np.stack([motion.animated[arm.hand][1] for arm in body.arms], axis=1)
    turns = recoil.recoil(body.recoil, shoulders, hands, before, motion.dt)
    for n, arm in enumerate(body.arms):
        clavicle = now[arm.clavicle][0] if arm.clavicle else None
        first, second = recoil.swung(turns[:, n], clavicle, now[arm.upper][0])
        if first is not None:
            motion.offsets[arm.clavicle] = first
        motion.offsets[arm.upper] = second


def carry_hands(motion: BodyMotion) -> None:
    """Move the goals of hands that inverse kinematics holds as the rib cage would, and let them lag behind it."""
    body, now, before = motion.body, motion.now, motion.animated
    if body.recoil is None or not body.held:
        return
    girdles = [arm.clavicle or arm.upper for arm in body.held]
    turns = [rotation.multiply(now[bone][0], rotation.inverse(before[bone][0])) for bone in girdles]
    there = np.stack([before[arm.goal][1] for arm in body.held], axis=1)
    hands = np.stack(
        [
            now[bone][1] + rotation.rotate(turn, there[:, n] - before[bone][1])
            for n, (bone, turn) in enumerate(zip(girdles, turns, strict=True))
        ],
        axis=1,
    )
    still = [
        np.all(now[bone][0] == before[bone][0], axis=-1) & np.all(now[bone][1] == before[bone][1], axis=-1)
        for bone in girdles
    ]
    hands = np.where(np.stack(still, axis=1)[..., None], there, hands)
    shoulders = np.stack([now[arm.upper][1] for arm in body.held], axis=1)
    swing = recoil.recoil(body.recoil, shoulders, hands, there, motion.dt)
    swung = np.all(swing == rotation.IDENTITY, axis=-1)[..., None]
    hands = np.where(swung, hands, shoulders + rotation.rotate(swing, hands - shoulders))
    for n, arm in enumerate(body.held):
        turned, place = now[arm.goal]
        motion.moves[arm.goal] = own_displacement(motion.samples, arm.goal, turned, hands[:, n] - place)
        wanted = rotation.multiply(turns[n], before[arm.goal][0])
        local = rotation.multiply(rotation.inverse(turned), wanted)
        motion.offsets[arm.goal] = np.where(still[n][:, None], rotation.IDENTITY, local)


def _ends(body: BodyRig) -> tuple[list[str], list[str]]:
    return [arm.upper for arm in body.arms], [arm.hand for arm in body.arms]


def breathe(motion: BodyMotion) -> None:
    body, now = motion.body, motion.now
    if body.breathing is None or not body.breathing.angle or not body.shoulders:
        return
    amount = breathing.amount(body.breathing, motion.events, motion.begin, motion.dt, motion.influence)
    angles = body.breathing.angle * amount
    inner, outer = (np.stack([now[pair[n]][1] for pair in body.shoulders], axis=1) for n in (0, 1))
    turns = breathing.raised(angles, inner, outer, np.array(body.upright))
    for n, (clavicle, _) in enumerate(body.shoulders):
        orientation = now[clavicle][0]
        local = rotation.multiply(rotation.inverse(orientation), rotation.multiply(turns[:, n], orientation))
        still = (angles == 0.0)[:, None]
        turned = rotation.multiply(local, motion.offsets[clavicle])
        motion.offsets[clavicle] = np.where(still, motion.offsets[clavicle], turned)


def plant_feet(motion: BodyMotion) -> None:
    planted = motion.body.legs
    if not planted:
        return
    now = _legs(planted, motion.now)
    turned, missed = legs.replant(_legs(planted, motion.animated), now)
    motion.missed = missed / np.maximum(np.sum(now.lengths, axis=0), _NO_LENGTH)
    for n, leg in enumerate(planted):
        for k, bone in enumerate((leg.upper, leg.lower, leg.foot)):
            motion.offsets[bone] = turned[:, n, k]


def hold_feet(motion: BodyMotion) -> None:
    """Restore the controls that hold the feet where the chain has moved them."""
    for bone in motion.body.handles:
        (before, there), (now, here) = motion.animated[bone], motion.now[bone]
        still = np.all(before == now, axis=-1) & np.all(there == here, axis=-1)
        turn = rotation.multiply(rotation.inverse(now), before)
        motion.offsets[bone] = np.where(still[:, None], rotation.IDENTITY, turn)
        displacement = np.where(still[:, None], 0.0, there - here)
        motion.moves[bone] = own_displacement(motion.samples, bone, now, displacement)


def correct_feet(motion: BodyMotion) -> None:
    """Move the goals of legs by what the deforming feet miss them, more or less than in the animation."""
    for goal, bone in motion.body.missed:
        displacement = motion.animated[bone][1] - motion.now[bone][1]
        motion.moves[goal] = own_displacement(motion.samples, goal, motion.now[goal][0], displacement)


def turn_eyes(motion: BodyMotion) -> None:
    body, now, samples, influence = motion.body, motion.now, motion.samples, motion.influence
    if body.ocular is None:
        return
    if body.looks:
        _turn_by_shapes(motion)
        return
    centers, turns = (np.stack([now[eye.bone][n] for eye in body.eyes], axis=1) for n in (1, 0))
    before = np.stack([motion.animated[eye.bone][0] for eye in body.eyes], axis=1)
    seen = eyes.solve(
        body.ocular, motion.head, turns, centers, before, motion.targets, motion.dt, motion.events, time=motion.begin
    )
    ahead = rotation.rotate(turns, body.ocular.forward)
    looking = rotation.rotate(rotation.multiply(turns, seen.offsets), body.ocular.forward)
    back = rotation.inverse(motion.head)[:, None]
    motion.raised = _raised(motion, rotation.rotate(back, ahead), rotation.rotate(back, looking), seen.offsets)
    turned = seen.offsets
    if np.any(influence != 1.0):
        turned = rotation.exp(influence[:, None, None] * rotation.log(turned))
    for n, eye in enumerate(body.eyes):
        if not eye.target:
            motion.offsets[eye.bone] = turned[:, n]
            continue
        # The control that the eye tracks moves around the eye.
        about, control = centers[:, n], now[eye.target]
        world = rotation.multiply(turns[:, n], rotation.multiply(turned[:, n], rotation.inverse(turns[:, n])))
        still = np.all(turned[:, n] == rotation.IDENTITY, axis=-1)[:, None]
        arm = control[1] - about
        moved = np.where(still, 0.0, rotation.rotate(world, arm) - arm)
        motion.moves[eye.target] = own_displacement(samples, eye.target, control[0], moved)
    motion.gaze, motion.closing, motion.centers = seen, seen.blink * influence, centers


def _turn_by_shapes(motion: BodyMotion) -> None:
    """Turn eyes by shape keys: each is fixed in the head, and looks where the animator's values say at first."""
    body, samples = motion.body, motion.samples
    assert body.ocular is not None
    axes = ahead, _ = body.ocular.head_forward, body.ocular.head_up
    values = shape_eyes.animated(body.looks, samples)
    natural = np.stack([eye.direction(values[:, n], axes) for n, eye in enumerate(body.looks)], axis=1)
    in_head = rotation.shortest_arc(np.broadcast_to(ahead, natural.shape), natural)
    turns = rotation.multiply(motion.head[:, None], in_head)
    before = rotation.multiply(samples.rotations[:, :1], in_head)
    centers = np.stack(
        [
            motion.place + rotation.rotate(motion.head, np.array(eye.center) * samples.sizes[:, :1])
            for eye in body.looks
        ],
        axis=1,
    )
    seen = eyes.solve(
        body.ocular,
        motion.head,
        turns,
        centers,
        before,
        motion.targets,
        motion.dt,
        motion.events,
        time=motion.begin,
    )
    looking = rotation.rotate(rotation.multiply(in_head, seen.offsets), ahead)
    motion.raised = _raised(motion, natural, looking, seen.offsets)
    by_channel: dict[Lid | EyeControl, list[Array]] = {}
    for n, eye in enumerate(body.looks):
        amounts = eye.values(looking[:, n], axes) - eye.values(natural[:, n], axes)
        still = np.all(seen.offsets[:, n] == rotation.IDENTITY, axis=-1)
        amounts = np.where(still[:, None], 0.0, amounts * motion.influence[:, None])
        for where, both in enumerate(zip(eye.lids, eye.controls, strict=True)):
            for turning in (*both[0], *both[1]):
                by_channel.setdefault(turning, []).append(amounts[:, where])
    for turning, several in by_channel.items():
        # What turns both eyes turns them by the mean.
        amount = np.mean(several, axis=0)
        if isinstance(turning, EyeControl):
            motion.moves[turning.bone] = motion.moves[turning.bone] + turning.location(amount)
        else:
            motion.shapes[turning] = amount
    motion.gaze, motion.closing, motion.centers = seen, seen.blink * motion.influence, centers


def _raised(motion: BodyMotion, natural: Array, looking: Array, offsets: Array) -> Array:
    """Angle (F,) [rad] by which eyes look up further than they naturally do; directions (F, k, 3) in the head."""
    assert motion.body.ocular is not None
    up = motion.body.ocular.head_up
    pitch, before = (np.arcsin(np.clip(directions @ up, -1.0, 1.0)).mean(axis=1) for directions in (looking, natural))
    still = np.all(offsets == rotation.IDENTITY, axis=(1, 2))
    return np.where(still, 0.0, motion.influence * (pitch - before))


def close_lids(motion: BodyMotion) -> None:
    """Rotate the upper lids down about the lateral axis of the head."""
    body = motion.body
    if body.ocular is None or motion.closing is None:
        return
    if motion.shut.any():
        closed = blink.keyed(body.ocular, motion.shut, motion.dt) * motion.influence
        motion.closing = np.maximum(motion.closing, closed)
    motion.closed = motion.closing
    motion.shapes |= dict.fromkeys(body.shapes, motion.closing)
    axis = rotation.rotate(motion.head, body.ocular.head_right)
    for lid in body.lids:
        local = rotation.rotate(rotation.inverse(motion.now[lid][0]), axis)
        motion.offsets[lid] = rotation.exp(-body.blink_angle * motion.closing[:, None] * local)
    _move_lid_points(motion, motion.closing, np.zeros(len(motion.head)))
    _close_by_controls(motion, motion.closing)


def follow_eyes(motion: BodyMotion) -> None:
    """Turn the upper lids with the eyes up and down, as far as they are open.

    Shape keys close them as the eyes go down; those that turn the eyes bring the lids along.
    """
    body = motion.body
    if body.ocular is None or motion.raised is None:
        return
    opened = 1.0 - motion.closed if motion.closed is not None else np.ones(len(motion.head))
    turn = body.lid_follow * motion.raised
    axis = rotation.rotate(motion.head, body.ocular.head_right)
    for lid in body.lids:
        local = rotation.rotate(rotation.inverse(motion.now[lid][0]), axis)
        follow = rotation.exp((opened * turn)[:, None] * local)
        motion.offsets[lid] = rotation.multiply(motion.offsets[lid], follow)
    closed = motion.closed if motion.closed is not None else np.zeros(len(motion.head))
    _move_lid_points(motion, closed, opened * motion.raised)
    if not body.looks and body.blink_angle > 0.0:
        share = np.clip(-turn / body.blink_angle, 0.0, 1.0)
        _close_by_controls(motion, np.minimum(opened * share, 1.0))
        for lid in body.shapes:
            motion.shapes[lid] = motion.shapes.get(lid, 0.0) + opened * share


def _move_lid_points(motion: BodyMotion, closing: Array, raised: Array) -> None:
    """Move the controls along the upper lids: closed by `closing` (F,), and up with eyes that look up by `raised` (F,)
    [rad], further than the rig itself moves them."""
    body = motion.body
    if not body.lid_points or body.ocular is None or motion.centers is None:
        return
    sides = np.stack((body.ocular.head_right, body.ocular.head_forward, body.ocular.head_up))
    axes = rotation.rotate(motion.head[:, None], sides)
    for n, points in enumerate(body.lid_points):
        upper, lower = (
            np.stack([motion.now[bone][1] for bone in bones], axis=1) - motion.centers[:, n : n + 1]
            for bones in (points.upper, points.lower)
        )
        gaps = lid_points.gaps(upper, lower, axes)
        # The middle of the lid follows the eye, its corners do not.
        share = gaps / np.maximum(gaps.max(axis=1, keepdims=True), 1e-6)
        follow = (body.lid_follow - points.follows) * raised if body.lid_follow else np.zeros(len(raised))
        angles = np.maximum(share * follow[:, None], -gaps) - gaps * closing[:, None]
        moves = np.einsum("nm,fmk->fnk", np.linalg.inv(points.coupling), lid_points.turned(upper, angles, axes))
        for k, bone in enumerate(points.upper):
            motion.moves[bone] = own_displacement(motion.samples, bone, motion.now[bone][0], moves[:, k])


def _close_by_controls(motion: BodyMotion, closing: Array) -> None:
    """Move the control bones that close the eyes, from where the animator has them, by `closing` (F,)."""
    for control in motion.body.closers:
        left_open = 1.0 - np.clip(control.value(motion.samples), 0.0, 1.0)
        motion.moves[control.bone] = motion.moves[control.bone] + control.location(left_open * closing)


def _stacked(values: dict[str, Array], names: Sequence[str], shape: tuple[int, int]) -> Array:
    return np.stack([values[name] for name in names], axis=1) if names else np.zeros((shape[0], 0, shape[1]))
