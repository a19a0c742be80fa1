"""Limbs that follow smooth paths, and feet that are held, on rigs of other makers.

Every arm, leg and tail follows three closed paths in its reach, in the rest pose and over the longest clip of the file.
All figures are measured on the evaluated rig. The page says how.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import bpy
import numpy as np

from lookat_pd import rotation
from lookat_pd.progress import drain
from lookat_pd.rotation import Array
from standalone import load
from tools.figures import pages
from tools.figures import rigs as files

bake, body_joints, chains = (
    load(f"rig.{name}") for name in ("ik.chain_bake", "detection.body_joints", "detection.joint_chain")
)
bake_options, effector_goal, limbs = (
    load(f"rig.{name}") for name in ("animation.bake_options", "ik.effector_goal", "detection.limbs")
)
contacts, contacts_found, body_settings = (
    load(f"{name}") for name in ("rig.ik.contacts", "lookat_pd.body.contacts", "rig.ik.body_settings")
)
limb_controls, scene_time = (load(f"rig.{name}") for name in ("detection.limb_controls", "sampling.scene_time"))
rest, stance = (load(f"rig.detection.{name}") for name in ("rest", "stance"))
chain_solve, pose, targets = (load(f"rig.{name}") for name in ("ik.chain_solve", "ik.pose", "sampling.targets"))
errors = load("lookat_pd.errors")

FRAMES = 90
WIDTHS = (0.5, 1.2, 2.2)
"""How far [rad] the three paths lead away from the animated direction of the limb."""
NEAREST, FARTHEST = 0.4, 0.93
"""Distances of the paths from the base of the limb, as fractions of its length."""
HEAD = pages.head("rig", "limb", "paths", "wrist, ankle", "fastest joint", "effector")
SHORTEST = 0.2
"""Least length of a last bone, as a fraction of that of the one above it, that is taken for the forearm or shin."""
CONTACTS = pages.head(
    "rig", "contacts", "slip before [mm]", "slip after [mm]", "hips lowered [mm]", "knees", "hip joints, ankles"
)
STEP, NEAR = 1.0 / 30.0, 0.35
"""Time [s] over which accelerations are measured, and how far from the border of a contact."""
EVEN = 30.0
"""Angular acceleration [rad/s^2] that is taken for the animation's where that is less: 2 degrees from each step to the
next."""
KINDS = {
    ("arm", False): "arms to the wrist",
    ("arm", True): "arms to the tip of the hand",
    ("leg", False): "legs to the ankle",
    ("leg", True): "legs to the tip of the foot",
    ("tail", True): "tails",
}
HEADS = HEAD, CONTACTS


@dataclass
class Row:
    """What was measured of one kind of limb."""

    paths: int = 0
    end: float = 0.0
    """Rotation [°] of the wrist from its animated rotation."""
    speed: float = 0.0
    """Speed of the fastest joint, as a factor of the needed one."""
    error: float = 0.0
    """Error as a fraction of the length."""
    refused: set[str] = field(default_factory=set)

    def add(self, end: float, speed: float, error: float) -> None:
        self.paths += 1
        self.end, self.speed, self.error = max(self.end, end), max(self.speed, speed), max(self.error, error)


@dataclass(frozen=True)
class Motion:
    """An evaluated chain over F frames: local rotations (F, n, 4), positions (F, n + 1, 3) of joints and effector in
    the frame of the armature, and rotations (F, 4) of its parent."""

    local: Array
    places: Array
    parent: Array

    def hinges(self, joint: int, axis: Array) -> Array:
        """An axis (3,) of a joint in the frame of the armature (F, 3)."""
        turned = self.parent
        for n in range(joint + 1):
            turned = rotation.multiply(turned, self.local[:, n])
        return rotation.rotate(turned, np.broadcast_to(axis, turned[:, :3].shape))

    @property
    def steps(self) -> Array:
        """The angle (F - 1,) [rad] of the joint that turns most from each frame to the next."""
        return rotation.distance(self.local[1:], self.local[:-1]).max(axis=-1)

    def from_base(self, points: Array) -> Array:
        """Points (F, 3) of the armature as seen from the base of the chain."""
        return rotation.rotate(rotation.inverse(self.parent), points - self.places[:, 0])


def limbs_of(rig: bpy.types.Object) -> Iterator[tuple[tuple[str, bool], str, str, bool]]:
    """The row, the base and the last bone of each arm, leg and tail, and whether the tip of that bone is meant."""
    arms, legs = limbs.limb_lines(rig)
    for kind, lines in (("arm", arms), ("leg", legs)):
        for line in lines:
            if len(line) == 2:
                # Hand or foot is not part of the limb; the length of a bone without a child may mean nothing.
                upper, lower = (rig.data.bones[name] for name in line)
                if lower.children:
                    yield (kind, False), line[0], lower.children[0].name, False
                elif lower.length > SHORTEST * (lower.head_local - upper.head_local).length:
                    yield (kind, False), line[0], line[1], True
                continue
            # The third bone of a leg is the foot, the last one of an arm the hand.
            last = line[-1] if kind == "arm" else line[2]
            yield (kind, False), line[0], last, False
            yield (kind, True), line[0], last, True
    for bone in rig.pose.bones:
        tail = body_joints.detected(rig, bone.name).part.id == "tail" and not chains.is_mechanism(bone)
        if tail and not any(body_joints.detected(rig, child.name).part.id == "tail" for child in bone.children):
            base = chains.limb(rig, bone.name, at_tip=True)
            if base:
                yield ("tail", True), base, bone.name, True


def watched(rig: bpy.types.Object, chain, frames: range) -> Motion:
    """The evaluated motion of a chain."""

    def read(seen: bpy.types.Object) -> tuple[Array, Array, Array]:
        here = pose.evaluated(chain, seen.pose.bones)
        return here.local[0], np.concatenate((here.positions[0], here.end)), here.parent[0]

    states = files.evaluated(rig, frames, read)
    return Motion(*(np.array(part) for part in zip(*states, strict=True)))


def middle(chain, animated: Motion) -> int:
    """The joint that divides the limb: elbow or knee, of a tail the one that divides it most evenly."""
    parts = [joint.part.id for joint in body_joints.joints(chain.armature, chain.joints)]
    for n, part in enumerate(parts):
        if part in ("elbow", "knee"):
            return n
    away = animated.places[0]
    halves = [min(np.linalg.norm(away[n] - away[0]), np.linalg.norm(away[-1] - away[n])) for n in range(1, len(parts))]
    return 1 + int(np.argmax(halves))


def halves_of(chain, animated: Motion) -> tuple[Array, Array]:
    """Lengths (F,) of the limb above and below its middle joint, as animated."""
    places, n = animated.places, middle(chain, animated)
    return np.linalg.norm(places[:, n] - places[:, 0], axis=-1), np.linalg.norm(places[:, -1] - places[:, n], axis=-1)


def nearest_of(chain, animated: Motion) -> float:
    """The smallest distance of the effector from the base within the range of elbow or knee, all else as animated."""
    n, (upper, lower) = middle(chain, animated), halves_of(chain, animated)
    hinge, most = np.asarray(chain.posture.hinges)[n], float(np.asarray(chain.posture.maximum)[n])
    if not hinge.any():
        return 0.0
    hinges = animated.hinges(n, hinge)
    above, own = (animated.places[:, k + 1] - animated.places[:, k] for k in (n - 1, n))
    end = animated.places[:, -1] - animated.places[:, n]
    # The bend of the line to the effector is larger than that of the bone by this angle.
    beyond = signed_angle(hinges, own, end) + signed_angle(hinges, animated.places[:, n] - animated.places[:, 0], above)
    inner = np.clip(np.pi - most - beyond, 0.0, np.pi)
    return float(np.sqrt(upper**2 + lower**2 - 2.0 * upper * lower * np.cos(inner)).max())


def signed_angle(axes: Array, a: Array, b: Array) -> Array:
    """The angle (F,) [rad] about axes (F, 3) from a to b (F, 3)."""
    a, b = (v - np.sum(axes * v, axis=-1, keepdims=True) * axes for v in (a, b))
    return np.arctan2(np.sum(axes * rotation.cross(a, b), axis=-1), np.sum(a * b, axis=-1))


def path(chain, animated: Motion, width: float, random: np.random.Generator) -> Array:
    """A smooth closed path (F, 3) of the effector in the frame of the armature, in reach of the limb."""
    upper, lower = halves_of(chain, animated)
    t = 2.0 * np.pi * np.arange(len(upper)) / len(upper)
    phases, sizes = random.uniform(0.0, 2.0 * np.pi, size=(4, 2)), random.normal(size=(3, 2))
    waves = np.sin(t[:, None, None] * [1.0, 2.0] + phases)
    turn = np.sum(waves[:, :3] * sizes * [1.0, 0.4], axis=-1)
    turn *= width / np.linalg.norm(turn, axis=-1).max()
    reach = (upper + lower).min()
    nearest = max(NEAREST * reach, 1.1 * nearest_of(chain, animated))
    far = nearest + (FARTHEST * reach - nearest) * (0.5 + 0.5 * waves[:, 3, 0])
    towards = rotation.normalize(animated.from_base(animated.places[:, -1])[0])
    seen = far[:, None] * rotation.rotate(rotation.exp(turn), towards)
    return animated.places[:, 0] + rotation.rotate(animated.parent, seen)


def needed(chain, animated: Motion, points: Array) -> float:
    """The largest angle [rad] between two frames that a joint needs: that of the animation, that of the target around
    the base, and that of the elbow by the law of cosines."""
    seen = animated.from_base(points)
    upper, lower = halves_of(chain, animated)
    turned = rotation.angle_between(seen[1:], seen[:-1])
    cosine = (upper**2 + lower**2 - np.sum(seen * seen, axis=-1)) / (2.0 * upper * lower)
    bent = np.abs(np.diff(np.arccos(np.clip(cosine, -1.0, 1.0))))
    return float((animated.steps + turned + bent).max())


def target_on(rig: bpy.types.Object, worlds: Array, points: Array, frames: range) -> bpy.types.Object:
    """An empty at points (F, 3) of the armature with matrices (F, 4, 4)."""
    item = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(item)
    for frame, world, point in zip(frames, worlds, points, strict=True):
        item.location = world[:3, :3] @ point + world[:3, 3]
        item.keyframe_insert("location", frame=frame)
    return item


def follow(
    chain, animated: Motion, worlds: Array, frames: range, width: float, seed: int
) -> tuple[float, float, float]:
    """Bake one path: offset [°] of the wrist, factor of the speed, error as a fraction of the length."""
    rig = chain.armature
    points = path(chain, animated, width, np.random.default_rng(seed))
    target = target_on(rig, worlds, points, frames)
    options = bake_options.BakeOptions(frames[0], frames[-1], "NEW")
    goal = effector_goal.Goal(targets.Target(target))
    try:
        with files.restored(rig):
            drain(bake.bake_goal(bpy.context.scene, chain, goal, chain_solve.IKTuning(), options))
            baked = watched(rig, chain, frames)
    finally:
        bpy.data.objects.remove(target)
    parts = [joint.part.id for joint in body_joints.joints(rig, chain.joints)]
    ends = [part in ("wrist", "ankle") for part in parts]
    off = np.degrees(rotation.distance(animated.local, baked.local)[:, ends])
    length = sum(half.min() for half in halves_of(chain, animated))
    missed = np.linalg.norm(baked.places[:, -1] - points, axis=-1) / length
    speed = baked.steps.max() / needed(chain, animated, points)
    return float(off.max(initial=0.0)), float(speed), float(missed.max())


def longest_clip(rig: bpy.types.Object) -> Iterator[range]:
    """Have the armature play nothing, and then its longest clip: the frames to measure."""
    data = rig.animation_data
    if data is not None:
        data.action = None
        for track in data.nla_tracks:
            track.mute = True
    for bone in rig.pose.bones:
        bone.matrix_basis.identity()
    yield range(1, 1 + FRAMES)
    clips = [a for a in bpy.data.actions if any(s.target_id_type == "OBJECT" for s in a.slots)]
    clips = [action for action in clips if files.moves(rig, action)]
    if clips:
        clip = max(clips, key=lambda action: (action.frame_range[1] - action.frame_range[0], action.name))
        data = rig.animation_data_create()
        data.action, data.action_slot = clip, next(s for s in clip.slots if s.target_id_type == "OBJECT")
        first = round(clip.frame_range[0])
        yield range(first, first + FRAMES)


def measure(rig: bpy.types.Object) -> dict[tuple[str, bool], Row]:
    """The rows of a rig."""
    rows: dict[tuple[str, bool], Row] = {}
    files.hide_meshes()
    for bone in rig.pose.bones:
        if "IK_FK" in bone:
            bone["IK_FK"] = 1.0
        for constraint in bone.constraints:
            # A limb that has its own inverse kinematics is measured without.
            constraint.mute = constraint.mute or (constraint.type == "IK" and not chains.is_mechanism(bone))
    limbs_here = list(limbs_of(rig))
    for frames in longest_clip(rig):
        worlds = np.array(files.evaluated(rig, frames, lambda seen: np.array(seen.matrix_world)))
        for number, (kind, base, last, at_tip) in enumerate(limbs_here):
            row = rows.setdefault(kind, Row())
            try:
                chain = chains.resolve(rig, last, base=base, at_tip=at_tip)
                animated = watched(rig, chain, frames)
                for n, width in enumerate(WIDTHS):
                    row.add(*follow(chain, animated, worlds, frames, width, 10 * number + n))
            except errors.LookAtError as error:
                row.refused.add(str(error))
    return rows


def legs_of(rig: bpy.types.Object) -> dict[str, list[str]]:
    """The foot of each leg, and the bones that show its pose: what it hangs on, upper and lower leg, and foot."""
    legs = {}
    for line in limbs.limb_lines(rig)[1]:
        if len(line) > 2:
            shown = [limb_controls.shown_by(rig, name) for name in line[:3]]
            above = rig.pose.bones[shown[0]].parent
            legs[line[2]] = [shown[0] if above is None else above.name, *shown]
    return legs


def turns(rig: bpy.types.Object, lines: Sequence[Sequence[str]], frames: range) -> Array:
    """Rotations (F, l, 3, 4) of hip joints, knees and ankles."""

    def read(seen: bpy.types.Object) -> list:
        return [[np.array(seen.pose.bones[name].matrix)[:3, :3] for name in line] for line in lines]

    axes = np.array(files.evaluated(rig, frames, read))
    whole = rotation.from_matrix(axes / np.linalg.norm(axes, axis=-2, keepdims=True))
    return rotation.multiply(rotation.inverse(whole[:, :, :-1]), whole[:, :, 1:])


def corners(before: Array, after: Array, borders: Sequence[Sequence[int]], dt: float) -> tuple[float, float]:
    """The largest angular acceleration near a border of a leg's contacts, as a factor of the largest one of that joint
    in the animation: of knees, and of hip joints and ankles. borders: for each leg, indices of frames."""
    step = max(1, round(STEP / dt))

    def accelerations(local: Array) -> Array:
        speed = rotation.log(rotation.multiply(rotation.inverse(local[:-step]), local[step:]))
        return np.linalg.norm(speed[step:] - speed[:-step], axis=-1) / (step * dt) ** 2

    frames = np.arange(step, len(before) - step)
    away = [np.abs(frames[:, None] - np.array(some, dtype=float)).min(axis=-1, initial=np.inf) for some in borders]
    near = (np.array(away) * dt <= NEAR).T
    own, now = accelerations(before).max(axis=0), np.where(near[..., None], accelerations(after), 0.0).max(axis=0)
    factors = (now / np.maximum(own, EVEN)).max(axis=0)
    return float(factors[1]), float(max(factors[0], factors[2]))


def held_feet(rig: bpy.types.Object, name: str) -> str:
    """A row of the second table: the feet of the longest clip, cleaned up with what is detected; "" without feet."""
    feet = sorted(body_settings.feet(rig))
    clips = list(files.clips_of(rig)) if feet else []
    if not feet or rig.animation_data is None or rig.animation_data.action is None:
        return ""
    longest = max(clips, key=lambda clip: clip[2] - clip[1])
    _, first, last = next(clip for clip in files.clips_of(rig) if clip == longest)
    points = np.concatenate((rest.skeleton(rig).heads, rest.skeleton(rig).tails)) @ stance.of(rig).axes.up
    scale = float(np.abs(np.array(rig.matrix_world.to_scale())).mean())
    to_person = 1000.0 * files.PERSON / (scale * float(np.ptp(points)))
    frames, legs = range(first, last + 1), legs_of(rig)
    before, pose_before = files.places(rig, feet, frames), turns(rig, list(legs.values()), frames)
    touches = {foot: contacts.Touch(contacts.Contact(contacts_found.Detection())) for foot in feet}
    options = bake_options.BakeOptions(first, last, "NEW")
    try:
        cleaned = drain(contacts.clean_up_body(bpy.context.scene, rig, touches, options))
    except errors.LookAtError as error:
        return f"| {name} | {error} | - | - | - | - | - |"
    after, pose_after = files.places(rig, feet, frames), turns(rig, list(legs.values()), frames)
    slips = np.zeros(2)
    for k, foot in enumerate(feet):
        for a, b in cleaned.contacts[foot]:
            held = [places[a - first : b + 1 - first, k] for places in (before, after)]
            away = [np.linalg.norm(points - points.mean(axis=0), axis=-1).max() for points in held]
            slips = np.maximum(slips, to_person * np.array(away))
    count, lowered = sum(map(len, cleaned.contacts.values())), to_person * float(cleaned.lowered.max())
    borders = [[n - first for ends in cleaned.contacts.get(foot, ()) for n in ends] for foot in legs]
    knees, others = corners(pose_before, pose_after, borders, scene_time.seconds_per_frame(bpy.context.scene))
    return f"| {name} | {count} | {slips[0]:.1f} | {slips[1]:.3f} | {lowered:.0f} | {knees:.2f} | {others:.2f} |"


def rows_of(name: str, rows: dict[tuple[str, bool], Row]) -> Iterator[files.Line]:
    for kind, row in rows.items():
        end = f"{row.end:.0f}°" if kind[1] and kind[0] != "tail" else "-"
        figures = f"{end} | {row.speed:.2f} | {100.0 * row.error:.4f} %" if row.paths else "refused | - | -"
        yield HEAD, f"| {name} | {KINDS[kind]} | {row.paths} | {figures} |"
        yield from (("", note) for note in sorted(row.refused))


def lines(names: Sequence[str]) -> Iterator[files.Line]:
    for file, rig in files.opened(names):
        name = Path(file).name
        yield from rows_of(name, measure(rig))
        held = held_feet(rig, name)
        if held:
            yield CONTACTS, held
