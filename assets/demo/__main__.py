"""The demo, three scenes of it.

    python assets/demo --output build/demo

In look_at.blend a Rigify human with an animation of its own looks at a ball, then a bird, lets go, and looks again:
baked, and *Edit Live Again* goes back to the look-at. In
conversation.blend two of them talk, with all that a body does about it: live, with its markers, to be changed; in
conversation_baked.blend it is baked. In dynamics.blend arms of three links move from pose to pose with loads in their
hands, and reach from three sides, and a figure lifts a box with both hands. Beside them are a picture of what moves
when of each, frames with and without the look-at side by side, filmstrips, and report.json.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

# Run as a folder, this one is first on the path: the repository's root must be instead.
sys.path[0] = str(Path(__file__).resolve().parents[2])

import bpy  # noqa: E402

from standalone import load  # noqa: E402

EVENTS = (
    {"frame": 20, "target": "Ball"},
    {"frame": 66, "target": "Bird"},
    {"frame": 120, "off": True},
    {"frame": 186, "target": "Ball"},
)
"""Switched on, switched over while the head is moving, off, and on again."""
_SWUNG = (13, 37, 61, 97)
_REACHED = (1, 9, 14, 21)
_LIFTED = (1, 14, 27, 60)
"""Frames of the arms that move between poses, of those that reach, and of the figure that lifts a box."""
_COMPARED = (60, 110)
"""Frames to show side by side: at the ball, and at the bird."""
LAST = 310
"""Body and ball stand still from frame 250 on, so that the head has time to arrive."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="assets/demo", description="Bake look-ats onto animated characters.")
    parser.add_argument("--output", type=Path, default=Path("build/demo"), metavar="FOLDER")
    folder = parser.parse_args(arguments).output
    folder.mkdir(parents=True, exist_ok=True)
    package = load()
    package.register()
    rows = [_look_at(folder), _conversation(folder), _dynamics(folder)]
    load("cli.report").write(folder / "report.json", rows)
    print(f"All are in {folder / 'report.json'}.")
    return 0


def _look_at(folder: Path) -> dict:
    blend, picture = folder / "look_at.blend", folder / "look_at.png"
    demo = _build(lambda: load("assets.demo.human").build_scene())
    scene, rig = demo.scene, demo.rig
    scene.frame_end = LAST
    print(f"A Rigify human of {len(rig.pose.bones)} bones looks at a ball and a bird.")
    look_at, edit, looks, sampler, target = (
        load(f"rig.{name}")
        for name in (
            "look_at.resolve",
            "look_at.edit",
            "look_at.directing.looks",
            "sampling.sampler",
            "sampling.targets",
        )
    )
    started = time.perf_counter()
    head = look_at.find_head(rig)
    edit.add(scene, rig, head, demo.ball)
    rig.pose.bones[head].lookat_pd.use = False
    targets = [target.Target(item) for item in (demo.ball, demo.bird)]
    numbers = {one.object.name: looks.add(rig, head, one) for one in targets}
    looks.write_keys(scene, rig, head, [(event["frame"], numbers.get(event.get("target"))) for event in EVENTS])
    ready = look_at.resolve(rig, head)
    results = _bake(scene, [ready])
    seconds = time.perf_counter() - started
    with sampler.Sampler(scene, rig, ready.bones[:1], targets) as sampling:
        seen = sampler.run(sampling.sample(results[0].frames.tolist()))
    load("assets.demo.plot").draw(results[0], seen, EVENTS, results[0].dt, picture)
    row = _save(scene, blend, results, seconds) | {"gaze": list(EVENTS)}
    print(f"Baked {', '.join(row['chain'])} over {LAST} frames in {seconds:.2f} s;")
    print(f"settled, the head misses its target by at most {row['settled_error_deg']:.3f} degrees.")
    both = folder / "compare.png"
    with _silence():
        _compare(demo, results[0].action, both)
    print(f"Look at {blend}, {picture} and {both}.")
    return row


def _compare(demo, baked: bpy.types.Action, path: Path) -> None:
    """Frames of the plain animation and of the result, side by side."""
    data, actions = demo.rig.animation_data, (demo.action, baked)

    def play(number: int) -> None:
        data.action = actions[number % 2]
        data.action_slot = data.action.slots[0]

    moments = [(frame, words) for frame in _COMPARED for words in ("animation", "with look-at")]
    load("assets.demo.filmstrip").draw(demo.scene, moments, path, play)
    play(1)


def _conversation(folder: Path) -> dict:
    names = ("conversation.blend", "conversation_baked.blend", "conversation.png", "filmstrip.png")
    editable, blend, picture, strip = (folder / name for name in names)
    conversation = load("assets.demo.conversation")
    talk = _build(lambda: conversation.build_scene(bpy.context.scene))
    scene = talk.scene
    names = " and ".join(rig.name for rig in talk.people)
    print(f"\n{names} talk, with eyes, blinks, hips, arms and feet; a bird flies by.")
    look_at = load("rig.look_at.resolve")
    started = time.perf_counter()
    load("rig.layers.live").finish(scene)
    with _silence():
        bpy.ops.wm.save_as_mainfile(filepath=str(editable.resolve()), compress=True)
    print(f"Solved both live over {scene.frame_end} frames in {time.perf_counter() - started:.2f} s.")
    started = time.perf_counter()
    results = _bake(scene, [look_at.resolve(rig, look_at.find_head(rig)) for rig in talk.people])
    row = _save(scene, blend, results, time.perf_counter() - started)
    print(f"Baked both over {scene.frame_end} frames in {row['seconds']:.2f} s;")
    worst = max(shift["gaze_error_deg"] or 0.0 for one in row["look_ats"] for shift in one["gaze_shifts"])
    print(f"once there, their eyes miss whom they look at by at most {worst:.3f} degrees.")
    load("assets.demo.talk_plot").draw(scene, results, conversation.SPOKEN, picture)
    with _silence():
        load("assets.demo.filmstrip").draw(scene, conversation.MOMENTS, strip)
    print(f"Look at {editable}, {blend}, {picture} and {strip}.")
    return row


def _dynamics(folder: Path) -> dict:
    blend, picture, strip = (folder / name for name in ("dynamics.blend", "dynamics.png", "dynamics_filmstrip.png"))
    started = time.perf_counter()
    demo = _build(lambda: load("assets.demo.arms").build_scene(bpy.context.scene))
    seconds = time.perf_counter() - started
    with _silence():
        bpy.ops.wm.save_as_mainfile(filepath=str(blend.resolve()), compress=True)
    print("\nArms of three links swing in 5 s and 2 s, pass four poses and return, and reach from three sides;")
    print(f"both hands of a figure lift a box, and miss its sides by {1000.0 * demo.lifting.missed:.2f} mm.")
    for reach in demo.reaches:
        costs = ", ".join(f"{name} {cost:.0f}" for name, cost in reach.costs.items())
        print(f"From {reach.side}, the change of torque costs [N²m²/s]: {costs}.")
    load("assets.demo.arms_plot").draw(demo, picture)
    shown = (_SWUNG, "between poses"), (_REACHED, "reaches"), (_LIFTED, "both hands")
    moments = [(frame, words) for frames, words in shown for frame in frames]

    def film(number: int) -> None:
        demo.scene.camera = demo.cameras[number // len(_SWUNG)]

    with _silence():
        load("assets.demo.filmstrip").draw(demo.scene, moments, strip, film)
    print(f"Look at {blend}, {picture} and {strip}.")
    row = load("cli.report").new_row(Path("the demo's own scene"))
    frames = [demo.scene.frame_start, demo.scene.frame_end]
    done = {"output": str(blend), "ok": True, "frames": frames, "fps": float(demo.scene.render.fps), "seconds": seconds}
    return row | done | demo.report()


@contextmanager
def _silence() -> Iterator[None]:
    """Silence what Rigify prints with `print`, and what Blender prints from C."""
    sys.stdout.flush()
    kept = os.dup(1)
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        os.dup2(nowhere.fileno(), 1)
        try:
            yield
        finally:
            os.dup2(kept, 1)
            os.close(kept)


def _build(build):
    """What is built in an empty file."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with _silence():
        return build()


def _bake(scene: bpy.types.Scene, ready: list) -> list:
    bake, options = load("rig.look_at.look_at_bake"), load("rig.animation.bake_options")
    return load("lookat_pd.progress").drain(
        bake.bake(scene, ready, options.BakeOptions(scene.frame_start, scene.frame_end))
    )


def _save(scene: bpy.types.Scene, blend: Path, results: list, seconds: float) -> dict:
    """Write the file, and return its row of the report."""
    with _silence():
        bpy.ops.wm.save_as_mainfile(filepath=str(blend.resolve()), compress=True)
    first = results[0].look_at
    row = {
        **load("cli.report").new_row(Path("the demo's own scene")),
        "output": str(blend),
        "ok": True,
        "rig": first.armature.name,
        "bone": first.bone,
        "aim_axis": list(first.aim_axis),
        "chain": list(first.bones),
        "frames": [scene.frame_start, scene.frame_end],
        "fps": scene.render.fps / scene.render.fps_base,
        "seconds": seconds,
        "warnings": [],
    }
    errors = load("lookat_pd.progress").drain(load("cli.baked_aim").measure(scene, results))
    load("cli.verbs.bake").fill(row, results, errors)
    return row


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    # Blender's module for Python can hang while the interpreter shuts down.
    os._exit(code)
