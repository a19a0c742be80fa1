"""Draws the picture and prints the tables of docs/transitions-compared.md.

    python docs/transitions_compared.py                          the picture docs/images/transitions.png
    LOOKAT_PD_RIGS=FOLDER python docs/transitions_compared.py    the tables too, from the folder's glTF clips

Every ordered pair of clips of a character is cut in the middle of both; the velocity of each joint in the step across
the cut and in the step after it is compared with the one before.
"""

import os
import sys
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

import numpy as np  # noqa: E402

from lookat_pd import rotation  # noqa: E402
from lookat_pd.rotation import Array  # noqa: E402
from lookat_pd.transitions import inertialization, spring  # noqa: E402
from tools.figures import pages  # noqa: E402
from tools.figures.plots import plt, run, save  # noqa: E402

METHODS = ("plain cut", "cross-fade", "inertialization", "with swing", "dead blending", "spring")
COLORS = dict(zip(METHODS, ("#c1c1c1", "#e69f00", "#0072b2", "#8e44ad", "#d1495b", "#2a9d5c"), strict=True))
OF_JOINTS = ("inertialization", "with swing", "dead blending")
"""The methods of the last table."""

# The picture: one angle [degrees] at RATE frames a second, source and destinations as (offset, speed, sway).
RATE = 120
BLEND = 0.4
Motion = tuple[float, float, float]
CASES: tuple[tuple[str, Motion, list[tuple[float, Motion]]], ...] = (
    ("Towards the destination", (40.0, -260.0, 0.0), [(0.0, (0.0, 0.0, 6.0))]),
    ("Away from it", (40.0, 160.0, 0.0), [(0.0, (0.0, 0.0, 6.0))]),
    ("Far apart, cut again 0.15 s later", (110.0, 160.0, 0.0), [(0.0, (-50.0, 0.0, 6.0)), (0.15, (90.0, 0.0, 6.0))]),
)

# The table.
FPS = 30
DURATION = 0.3
CHARACTERS = {"kaykit_knight.glb": 3, "robot_expressive.glb": 1, "khronos_fox.glb": 1, "m2m_snake.glb": 1}
"""File to which of its clips take part: 3 is every third."""
SHORTEST = 12
STILL = 1.0
"""A joint that changes its velocity by less [°/s] in the plain cut is not counted."""


def value(motion: Motion, t: Array) -> Array:
    offset, speed, sway = motion
    return offset + speed * t + sway * np.sin(5.0 * t)


def shown(method: str, source: Motion, cuts: list[tuple[float, Motion]], t: Array) -> Array:
    """What is on screen at t under cuts at these times; the source is shown up to and with the first."""
    dt, result = 1.0 / RATE, value(source, t)
    for at, motion in cuts:
        after = t > at + 0.5 * dt
        old, new = result[~after][-2:, None], value(motion, t[after])[:, None]
        if method == "cross-fade":
            new = inertialization.cross_fade(result[after][:, None], new, dt, BLEND, kind="vector")
        elif method == "inertialization":
            new = inertialization.transition(old, new, dt, BLEND, kind="vector")
        elif method == "with swing":
            new = inertialization.swing_transition(old, new, dt, BLEND, kind="vector")
        elif method == "dead blending":
            new = inertialization.dead_blend(old, new, dt, BLEND, kind="vector")
        elif method == "spring":
            new = spring.transition(old, new, dt, BLEND, kind="vector")
        result = np.concatenate((result[~after], new[:, 0]))
    return result


def draw() -> None:
    figure, axes = plt.subplots(2, len(CASES), figsize=(13.0, 7.0), sharex=True, layout="constrained")
    t = np.arange(round(-0.15 * RATE), round(0.7 * RATE) + 1) / RATE
    for column, (title, source, cuts) in enumerate(CASES):
        above, below = axes[:, column]
        for method in METHODS:
            curve = shown(method, source, cuts, t)
            look = {"color": COLORS[method], "linewidth": 3.5 if method == "plain cut" else 2.0}
            above.plot(t, curve, label=method, **look)
            below.plot(t[1:] - 0.5 / RATE, np.diff(curve) * RATE, **look)
        above.plot(t[t <= 0.0], value(source, t[t <= 0.0]), color="black", linewidth=2.0, label="before the cut")
        for axis in (above, below):
            axis.grid(alpha=0.25)
            for at, _ in cuts:
                axis.axvline(at, color="black", linewidth=0.8, linestyle=":")
        above.set_title(title)
        below.set_ylim(-1250.0, 1250.0)
        below.set_xlabel("time since the cut [s]")
    axes[0, 0].set_ylabel("angle [°]")
    axes[1, 0].set_ylabel("velocity [°/s]")
    for line in (axis.lines[METHODS.index("dead blending")] for axis in axes.flat):
        line.set_linestyle((0, (4, 1.5)))
    axes[0, 0].legend(loc="upper right")
    save(figure, "transitions.png", dpi=100)


Clips = dict[str, dict[str, Array]]


def characters(folder: Path) -> Iterator[tuple[str, Clips]]:
    """Name of each character's file and its clips' rotations (F, 4) by bone, at FPS."""
    import bpy

    from standalone import load
    from tools.figures import rigs

    load().register()
    clips, suitable_slot = load("rig.transitions.clips"), load("rig.detection.moving_actions").suitable_slot
    for name, every in CHARACTERS.items():
        armature = rigs.open_rig(folder / "gltf" / name)
        read: Clips = {}
        for action in bpy.data.actions:
            slot, (first, last) = suitable_slot(armature, action), action.frame_range
            if slot is None or last - first < SHORTEST:
                continue
            clip = clips.read(armature, action, slot, np.arange(np.ceil(first), np.floor(last) + 1.0))
            read[action.name] = {c.bone: values for c, values in clip.values.items() if c.kind == "rotation"}
        yield name, dict(list(read.items())[::every])


def step(a: Array, b: Array) -> Array:
    """Angular velocity [°/s] from one pose to the next."""
    return np.degrees(rotation.log(rotation.multiply(b, rotation.inverse(a)))) * FPS


def jumps(previous: Array, after: Array) -> Array:
    """Change of each joint's velocity [°/s] (2, B): in the step across the cut, and in the one after it."""
    shown = np.concatenate((previous, after[:2]))
    return np.linalg.norm(np.diff(step(shown[:-1], shown[1:]), axis=0), axis=-1)


def measure(folder: Path) -> None:
    by_method: dict[str, list[Array]] = {method: [] for method in METHODS}
    heading: list[Array] = []
    bones: list[str] = []
    cuts = 0
    for file, clips in characters(folder):
        for first, second in permutations(clips.values(), 2):
            shared = [bone for bone in first if bone in second]
            source, target = (np.stack([clip[bone] for bone in shared], axis=1) for clip in (first, second))
            i, j = len(source) // 2, len(target) // 2
            previous, on, target = source[i - 1 : i + 1], source[i + 1 :], target[j:]
            count, dt = min(len(on), len(target)), 1.0 / FPS
            results = (
                target,
                inertialization.cross_fade(on[:count], target[:count], dt, DURATION),
                inertialization.transition(previous, target, dt, DURATION),
                inertialization.swing_transition(previous, target, dt, DURATION),
                inertialization.dead_blend(previous, target, dt, DURATION),
                spring.transition(previous, target, dt, DURATION),
            )
            for method, result in zip(METHODS, results, strict=True):
                by_method[method].append(jumps(previous, result))
            heading.append(outwardness(previous, target))
            bones += [f"{file.split('.')[0]}: {bone}" for bone in shared]
            cuts += 1
    joined = {method: np.concatenate(values, axis=1) for method, values in by_method.items()}
    # Joints that both clips leave alone would flatter every method.
    moved = joined["plain cut"][0] > STILL
    joined = {method: values[:, moved] for method, values in joined.items()}
    table(joined, cuts)
    outward(joined, np.concatenate(heading)[moved], np.array(bones)[moved])


def outwardness(previous: Array, target: Array) -> Array:
    """Cosine (B,) between the difference and the velocity of it: 1 away from the destination, -1 towards it."""
    difference = rotation.log(rotation.multiply(previous[1], rotation.inverse(target[0])))
    velocity = step(*previous) - step(target[0], target[1])
    return np.sum(rotation.normalize(difference) * rotation.normalize(velocity), axis=-1)


def table(by_method: dict[str, Array], cuts: int) -> None:
    plain = by_method["plain cut"]
    print(f"{cuts} cuts, {plain.shape[1]} joints\n")
    columns = "at the cut, median", "of the plain cut", "at the cut, 90th percentile", "larger of both steps, median"
    print(pages.head("", *columns), end="")
    for method, values in by_method.items():
        part = np.median(values[0]) / np.median(plain[0])
        row = (np.median(values[0]), 100.0 * part, np.quantile(values[0], 0.9), np.median(values.max(axis=0)))
        print("| {} | {:.0f} °/s | {:.1f} % | {:.0f} °/s | {:.0f} °/s |".format(method, *row))


def outward(by_method: dict[str, Array], heading: Array, bones: Array) -> None:
    kept = {method: values[0] for method, values in by_method.items()}
    groups = {"towards": heading < -0.5, "sideways": np.abs(heading) <= 0.5, "away": heading > 0.5}
    print("\n" + pages.head("velocity of the difference", "joints", *METHODS), end="")
    for name, group in groups.items():
        medians = " | ".join(f"{np.median(kept[method][group]):.0f} °/s" for method in METHODS)
        print(f"| {name} | {100.0 * np.mean(group):.0f} % | {medians} |")
    print("\n" + pages.head("joint", "cuts away from the destination", *OF_JOINTS), end="")
    rows = []
    for bone in np.unique(bones):
        group = (bones == bone) & groups["away"]
        if np.count_nonzero(group) >= 20:
            here = [float(np.median(kept[method][group])) for method in OF_JOINTS]
            rows.append((here, np.count_nonzero(group), str(bone)))
    for here, count, bone in sorted(rows, reverse=True)[:12]:
        print(pages.row(bone, count, *(f"{speed:.0f} °/s" for speed in here)))


def tables() -> None:
    folder = os.environ.get("LOOKAT_PD_RIGS")
    if folder:
        measure(Path(folder))
    else:
        print("LOOKAT_PD_RIGS names no folder of rigs: only the picture was made.")


if __name__ == "__main__":
    run(draw, tables)
