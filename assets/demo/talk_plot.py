"""The conversation's picture: who speaks and who looks where when, and how eyes, head, chest and hips share it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ...rig.sampling import sampler as sample

_SPEAKS, _AWAY = "#3a3a3a", "#d9d9d9"
_SEEN = {"Anna": "#d1495b", "Bo": "#00798c", "Bird": "#edae49"}
_BONES = ("#d1495b", "#30638e", "#6a994e")


@dataclass(frozen=True)
class _Seen:
    """One of them as baked."""

    name: str
    turns: Sequence[Array]
    """Yaw [deg] of eyes, head and chest over the frames."""
    target: Array
    """Yaw [deg] of what is looked at, nan for nothing."""
    looks: Sequence[str]
    """Name of what is looked at, "" for none."""
    hips: Array
    """Way [cm] to the left."""
    blinks: Array


def draw(scene, results: Sequence, spoken: Sequence[tuple[int, str]], path: Path) -> None:
    """results: of the bake. spoken: frame and who speaks from then on."""
    dt = results[0].dt
    times = (results[0].frames - results[0].frames[0]) * dt
    people = [_look(scene, result) for result in results]
    figure, (bars, *turns, hips) = plt.subplots(
        2 + len(people), 1, figsize=(11, 8.5), sharex=True, height_ratios=(1.1, 2, 2, 1), layout="constrained"
    )
    _draw_bars(bars, people, times, [((frame - results[0].frames[0]) * dt, name) for frame, name in spoken])
    for axes, person in zip(turns, people, strict=True):
        _draw_turns(axes, person, times)
    for person in people:
        hips.plot(times, person.hips, color=_SEEN[person.name], label=f"{person.name}'s hips")
    hips.set_ylabel("way to\nthe left [cm]")
    hips.set_xlabel("seconds")
    hips.legend(loc="best", ncols=2, fontsize=8)
    for axes in (*turns, hips):
        axes.grid(alpha=0.25)
        axes.margins(x=0)
    figure.savefig(path, dpi=100)
    plt.close(figure)


def _look(scene, result) -> _Seen:
    """What can be seen of the baked rig."""
    one, body = result.look_at, result.look_at.body
    eyes, chain = [eye.bone for eye in body.eyes], list(one.bones)
    with sample.Sampler(scene, one.armature, [*eyes, chain[0], "chest"], one.targets) as sampler:
        for seen in sampler.sample(result.frames.tolist()):  # noqa: B007
            pass
    forward = [*body.ocular.forward, one.chain.forward[0], one.chain.forward[chain.index("chest")]]
    *looking, head, chest = np.moveaxis(rotation.rotate(seen.rotations, np.array(forward)), 1, 0)
    middle = seen.positions[:, : len(eyes)].mean(axis=1)
    # The eyes arrive first; the errors are those of the head.
    early = round(body.head_delay / result.dt)
    looked_at = result.solution.looked_at
    looked_at = np.concatenate((looked_at[early:], np.repeat(looked_at[-1:], early)))
    target = seen.targets[np.maximum(looked_at, 0), np.arange(len(looked_at))] - middle
    mover = body.moved.index(body.hips_control)
    return _Seen(
        one.armature.name,
        (_yaw(np.mean(looking, axis=0)), _yaw(head), _yaw(chest)),
        np.where(looked_at >= 0, _yaw(target), np.nan),
        [one.targets[number].object.name if number >= 0 else "" for number in looked_at],
        100.0 * one.armature.scale.x * result.response.moves[:, mover, 0],
        result.response.closing > 0.5,
    )


def _yaw(direction: Array) -> Array:
    """Degrees to the left of where the character's body stands."""
    return np.degrees(np.arctan2(direction[..., 0], -direction[..., 1]))


def _draw_bars(axes, people: Sequence[_Seen], times: Array, spoken: Sequence[tuple[float, str]]) -> None:
    rows = {
        f"{person.name} {does}": n
        for n, (person, does) in enumerate((p, d) for p in people for d in ("speaks", "looks"))
    }
    ends = [*(time for time, _ in spoken[1:]), times[-1]]
    for (time, name), end in zip(spoken, ends, strict=True):
        axes.broken_barh([(time, end - time)], (rows[f"{name} speaks"] - 0.3, 0.6), color=_SPEAKS)
    for person in people:
        for start, end in _runs(person.looks):
            name, row = person.looks[start], rows[f"{person.name} looks"]
            begin, width = times[start], times[min(end, len(times) - 1)] - times[start]
            axes.broken_barh([(begin, width)], (row - 0.3, 0.6), color=_SEEN.get(name, _AWAY))
            axes.text(begin + 0.04, row, f"at {name}" if name else "away", va="center", fontsize=7.5)
    axes.set_yticks(list(rows.values()), list(rows))
    axes.invert_yaxis()
    axes.set_title("Look-at PD: two in conversation, and a bird")
    axes.spines[["top", "right"]].set_visible(False)


def _runs(values: Sequence[str]) -> list[tuple[int, int]]:
    """First and past the last of each stretch of the same."""
    starts = [n for n in range(len(values)) if n == 0 or values[n] != values[n - 1]]
    return list(zip(starts, [*starts[1:], len(values)], strict=True))


def _draw_turns(axes, person: _Seen, times: Array) -> None:
    axes.plot(times, person.target, color="#000000", linewidth=1.0, linestyle=":", label="target")
    for turn, name, colour in zip(person.turns, ("eyes", "head", "chest"), _BONES, strict=True):
        axes.plot(times, turn, color=colour, linewidth=1.6, label=name)
    axes.fill_between(
        times, 0, 1, person.blinks, transform=axes.get_xaxis_transform(), color="#000000", alpha=0.18, label="blink"
    )
    axes.set_ylabel(f"{person.name}: yaw [°]")
    axes.legend(loc="best", ncols=5, fontsize=8)
