"""What docs/directing/people.md shows of a conversation: how two people move in 20 s of it, and their shares of gaze.

    python docs/conversation_moves.py [--former] [--seeds N] [PICTURE]

Two Rigify humans talk and are baked. The picture, docs/images/conversation_moves.png, has the gaze beside the partner's
face, the head, and the trunk. With seeds, the means of so many conversations are printed instead. --former: without
gestures, shifts of weight and scanning of faces, and with glances from 5°.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

import bpy  # noqa: E402
import numpy as np  # noqa: E402

from standalone import load  # noqa: E402
from tools.figures.pages import IMAGES  # noqa: E402
from tools.figures.plots import describe, plt, run  # noqa: E402

FPS, LAST = 24, 480
SPOKEN = ((1, "Anna"), (121, "Bo"), (221, "Anna"), (281, "Bo"), (401, "Anna"))
"""Frame and who speaks from then on."""
PLACES = {"Anna": (-0.6, 55.0), "Bo": (0.6, -55.0)}
"""Metres to the side, and degrees turned about the vertical."""
ARMS = "upper_arm_fk.L", "upper_arm_fk.R"
"""Bones whose heads are the shoulders."""
FACE, NOSE = 8.0, 0.02
"""Angle [deg] within which someone looks at a face, whose middle is so much of the height below the eyes."""
STILL, PAUSE = 3.0, 0.25
"""Speed [deg/s] below which a head rests, if it does so for so long [s]."""

load().register()
rotation, drain = load("lookat_pd.rotation"), load("lookat_pd.progress").drain
bake, look_at = load("rig.look_at.look_at_bake"), load("rig.look_at.resolve")
bake_options, sampler = load("rig.animation.bake_options"), load("rig.sampling.sampler")
conversation, table = (load(f"rig.look_at.directing.{name}") for name in ("conversation", "conversation_table"))
human = load("assets.demo.human")


def build() -> list[bpy.types.Object]:
    """Two people who stand still, and markers that say who speaks."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = FPS, 1, LAST
    people = []
    for name, (side, turn) in PLACES.items():
        rig = human.generate_human(scene, name, light=True)
        rig.location.x, rig.rotation_euler.z = side, np.radians(turn)
        people.append(rig)
    for frame, name in SPOKEN:
        scene.timeline_markers.new(name, frame=frame)
    return people


class Person:
    """How somebody moved.

    Over the frames: `turn` (F, 3) yaw, pitch and roll of the head [deg], its `speed` [deg/s], `chest` (F, 3) [deg] and
    `hips` (F, 3) [cm] from where they were first, and how far the shoulders are `raised` (F, 2) from the chest [mm].
    """

    def __init__(self, result) -> None:
        eyes, armature = [eye.bone for eye in result.look_at.body.eyes], result.look_at.armature
        with sampler.Sampler(bpy.context.scene, armature, [*eyes, "head", "chest", "hips", *ARMS], ()) as sampling:
            seen = drain(sampling.sample(result.frames.tolist()))
        world, chain = seen.worlds[0], result.look_at.chain
        self.name, self.dt = armature.name, result.dt
        places = seen.positions @ world[:3, :3].T + world[:3, 3]
        self.eyes = places[:, :2].mean(axis=1)
        self.middle = self.eyes - (0.0, 0.0, NOSE * self.eyes[0, 2])
        forward = np.array(result.look_at.body.ocular.forward)
        self.aim = rotation.rotate(seen.rotations[:, :2], forward).mean(axis=1) @ world[:3, :3].T
        ahead, up = (rotation.rotate(seen.rotations[:, 2], axis[0]) for axis in (chain.forward, chain.up))
        left = np.stack((-ahead[:, 1], ahead[:, 0], 0.0 * ahead[:, 0]), axis=1)
        self.turn = np.degrees(
            np.stack(
                (
                    np.arctan2(ahead[:, 0], -ahead[:, 1]),
                    np.arcsin(ahead[:, 2]),
                    np.arcsin(rotation.dot(up, rotation.normalize(left))),
                ),
                axis=1,
            )
        )
        self.rate = _rates(seen.rotations[:, 2]) / self.dt
        self.speed = np.linalg.norm(self.rate, axis=1)
        chest = rotation.multiply(seen.rotations[:, 3], rotation.inverse(seen.rotations[:1, 3]))
        arms = seen.positions[:, 5:] - seen.positions[:, 3:4]
        arms = rotation.rotate(rotation.inverse(chest)[:, None], arms)
        self.raised = 1000.0 * (arms - arms[:1])[..., 2]
        self.chest, self.hips = np.degrees(rotation.log(chest)), 100.0 * (seen.positions[:, 4] - seen.positions[0, 4])

    def off(self, partner: "Person") -> np.ndarray:
        return np.degrees(rotation.angle_between(self.aim, partner.middle - self.eyes))

    def speaks(self) -> np.ndarray:
        frames = np.arange(1, LAST + 1)
        who = np.searchsorted([frame for frame, _ in SPOKEN], frames, "right") - 1
        return np.array([SPOKEN[n][1] == self.name for n in who])

    def moves(self) -> np.ndarray:
        """Whether the head moves (F,): rests for no longer than a moment count as moving."""
        rests = np.append(self.speed, self.speed[-1]) < STILL
        edges = np.flatnonzero(np.diff(np.concatenate(([False], rests, [False]))))
        moves = np.ones(len(rests), dtype=bool)
        for begin, end in edges.reshape(-1, 2):
            moves[begin:end] = (end - begin) * self.dt < PAUSE
        return moves


def _rates(turns: np.ndarray) -> np.ndarray:
    return np.degrees(rotation.log(rotation.multiply(turns[1:], rotation.inverse(turns[:-1]))))


def talk(people: list[bpy.types.Object], seed: int, *, former: bool) -> list[Person]:
    """Make a conversation and bake it."""
    scene = bpy.context.scene
    values = {"seed": seed, **({"gestures": 0.0, "shifts": 0.0, "scanning": 0.0} if former else {})}
    options = {"nearest": np.radians(5.0)} if former else {}
    table.begin(scene, people, values, {"eyes": True, "body": True, **options})
    ready = [look_at.resolve(rig, look_at.find_head(rig)) for rig in people]
    return [Person(result) for result in drain(bake.bake(scene, ready, bake_options.BakeOptions(1, LAST)))]


def measured(people: list[Person]) -> np.ndarray:
    """Shares of gaze: listening, speaking and mutual; of the time in which the heads of speakers and listeners move."""
    at_face = np.array([one.off(other) < FACE for one, other in zip(people, people[::-1], strict=True)])
    speaks, moves = np.array([one.speaks() for one in people]), np.array([one.moves() for one in people])
    return np.array(
        [
            at_face[~speaks].mean(),
            at_face[speaks].mean(),
            at_face.all(axis=0).mean(),
            moves[speaks].mean(),
            moves[~speaks].mean(),
        ]
    )


def draw(people: list[Person], path: Path) -> None:
    figure, axes = plt.subplots(6, 2, figsize=(15.0, 13.5), sharex=True, sharey="row", layout="constrained")
    times = people[0].dt * np.arange(LAST)
    for column, one, other in zip(axes.T, people, people[::-1], strict=True):
        rows = (
            ("gaze beside the face [°]", one.off(other)[:, None], ()),
            ("head [°]", one.turn - one.turn[:1] * (1.0, 0.0, 0.0), ("yaw", "pitch", "roll")),
            ("speed of the head [°/s]", np.append(one.speed, np.nan)[:, None], ()),
            ("chest [°]", one.chest, ("forwards", "to the side", "twist")),
            ("shoulders [mm]", one.raised, ("left", "right")),
            ("hips [cm]", one.hips[:, :2], ("sideways", "fore and aft")),
        )
        for axis, (name, values, labels) in zip(column, rows, strict=True):
            for n, line in enumerate(values.T):
                axis.plot(times, line, label=labels[n] if labels else None)
            describe(axis, y=name)
            axis.fill_between(
                times,
                0,
                1,
                one.speaks(),
                transform=axis.get_xaxis_transform(),
                color="#000000",
                alpha=0.07,
                linewidth=0,
            )
            if labels:
                axis.legend(loc="upper right", fontsize=8, ncols=3)
        column[0].axhline(FACE, color="#d1495b", linewidth=0.8)
        column[0].set_title(f"{one.name}; grey: speaks")
        column[-1].set_xlabel("seconds")
    figure.savefig(path, dpi=70)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("picture", nargs="?", type=Path, default=IMAGES / "conversation_moves.png")
    parser.add_argument("--former", action="store_true")
    parser.add_argument("--seeds", type=int, default=0)
    options = parser.parse_args()
    rows = []
    for seed in range(options.seeds) or [1]:
        people = talk(build(), seed, former=options.former)
        rows.append(measured(people))
        print("listening {:.3f} speaking {:.3f} mutual {:.3f}, heads move {:.3f} {:.3f}".format(*rows[-1]), flush=True)
    if options.seeds:
        print(
            "mean", np.mean(rows, axis=0).round(3), "standard error", (np.std(rows, axis=0) / len(rows) ** 0.5).round(3)
        )
    else:
        for one in people:
            print(
                one.name,
                "fastest",
                one.speed.max().round(1),
                "step of velocity",
                np.abs(np.diff(one.rate, axis=0)).max().round(1),
            )
        draw(people, options.picture)


run(main)
