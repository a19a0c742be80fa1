"""The demo's picture: how far each bone turned, when the target changed, and how well the head aims."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from ...lookat_pd import rotation

_COLOURS = ("#d1495b", "#edae49", "#00798c", "#30638e", "#003d5b", "#66717e", "#8a817c")


def draw(result, seen, events: Sequence[dict], dt: float, path: Path) -> None:
    """result: of the bake. seen: samples of the evaluated, baked rig. dt: seconds a frame."""
    frames = result.frames
    figure, (turns, misses) = plt.subplots(
        2, 1, figsize=(11, 6.5), sharex=True, height_ratios=(2.2, 1), layout="constrained"
    )
    for n, bone in enumerate(result.look_at.bones):
        yaw, pitch = _turns(result, n)
        colour = _COLOURS[n % len(_COLOURS)]
        turns.plot(frames, yaw, label=bone, color=colour, linewidth=1.8)
        turns.plot(frames, pitch, color=colour, linewidth=1.0, linestyle=":")
    turns.set_ylabel("offset from the animation [°]")
    turns.set_title("Look-at PD: what is added to the animation, bone by bone (— to the left, ··· up)")
    misses.plot(frames, _aim_error(result, seen), color="#d1495b", linewidth=1.5)
    misses.set_yscale("symlog", linthresh=0.1)
    misses.set_ylim(0, 180)
    misses.axhline(0.5, color="#66717e", linewidth=0.8, linestyle=":")
    misses.set_ylabel("aim error [°]")
    misses.set_xlabel(f"frame ({1 / dt:g} fps)")
    for axes in (turns, misses):
        _mark(axes, events, frames)
        axes.grid(alpha=0.25)
        axes.margins(x=0)
    turns.legend(loc="lower right", ncols=len(result.look_at.bones))
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _turns(result, bone: int) -> tuple[np.ndarray, np.ndarray]:
    """The bone's offset in degrees: yaw, to the left, and pitch, upward."""
    vectors, chain = rotation.log(result.solution.offsets[:, bone]), result.look_at.chain
    return np.degrees(vectors @ chain.up[bone]), np.degrees(vectors @ chain.right[bone])


def _aim_error(result, seen) -> np.ndarray:
    """Angle between the evaluated head's aim and its target in degrees, where it has one."""
    looked_at = result.solution.looked_at
    aim = rotation.rotate(seen.rotations[:, 0], result.look_at.chain.forward[0])
    direction = seen.targets[np.maximum(looked_at, 0), np.arange(len(looked_at))] - seen.positions[:, 0]
    angle = rotation.angle_between(aim, direction)
    return np.degrees(np.where(looked_at >= 0, angle, np.nan))


def _mark(axes, events: Sequence[dict], frames: np.ndarray) -> None:
    """A line at each event, and a shade over what is switched off."""
    off = float(frames[0])
    for event in sorted(events, key=lambda item: item["frame"]):
        frame = event["frame"]
        if off is not None:
            axes.axvspan(off, frame, color="#000000", alpha=0.06, linewidth=0)
        off = frame if event.get("off") else None
        axes.axvline(frame, color="#222222", linewidth=0.9, linestyle="--")
        text = "off" if event.get("off") else f"look at {event['target']}"
        place = {"xycoords": ("data", "axes fraction"), "xytext": (3, -11), "textcoords": "offset points"}
        axes.annotate(text, (frame, 1.0), fontsize=8, **place)
    if off is not None:
        axes.axvspan(off, float(frames[-1]), color="#000000", alpha=0.06, linewidth=0)
