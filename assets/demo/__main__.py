"""The demo: a Rigify human with an animation of its own looks at a ball, then a bird, lets go, and looks again.

    python assets/demo --output build/demo

Writes look_at.blend, the picture look_at.png of what moved when, and report.json.
"""

import argparse
import io
import os
import sys
import time
from contextlib import redirect_stdout
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
LAST = 310
"""Body and ball stand still from frame 250 on, so that the head has time to arrive."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="assets/demo", description="Bake a look-at onto an animated character.")
    parser.add_argument("--output", type=Path, default=Path("build/demo"), metavar="FOLDER")
    folder = parser.parse_args(arguments).output
    folder.mkdir(parents=True, exist_ok=True)
    package = load()
    package.register()
    started = time.perf_counter()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with redirect_stdout(io.StringIO()):  # Rigify tells how long each of its steps took
        demo = load("assets.demo.human").build_scene()
    demo.scene.frame_end = LAST
    print(f"Built a Rigify human of {len(demo.rig.pose.bones)} bones in {time.perf_counter() - started:.1f} s.")
    row = _bake(demo, folder / "look_at.blend", folder / "look_at.png")
    load("cli.report").write(folder / "report.json", [row])
    print(f"Baked {', '.join(row['chain'])} over {LAST} frames in {row['seconds']:.2f} s;")
    print(f"settled, the head misses its target by at most {row['settled_error_deg']:.3f} degrees.")
    print(f"Look at {folder / 'look_at.blend'}, {folder / 'look_at.png'} and {folder / 'report.json'}.")
    return 0


def _bake(demo, blend: Path, picture: Path) -> dict:
    look_at, edit, bake, sample = (load(f"rig.{name}") for name in ("look_at", "look_at_edit", "bake", "sample"))
    scene, rig = demo.scene, demo.rig
    started = time.perf_counter()
    head = look_at.find_head(rig)
    edit.add(scene, rig, head, demo.ball)
    targets = [sample.Target(demo.ball), sample.Target(demo.bird)]
    names = {"Ball": 0, "Bird": 1}
    schedule = tuple((event["frame"], names.get(event.get("target"))) for event in EVENTS)
    ready = look_at.resolve(rig, head, targets, schedule)
    options = bake.Options(scene.frame_start, scene.frame_end)
    result = _finish(bake.bake(scene, [ready], options))[0]
    rig.pose.bones[head].lookat_pd.mute = True
    seconds = time.perf_counter() - started
    with sample.Sampler(scene, rig, ready.bones[:1], targets) as sampler:
        seen = sample.run(sampler.sample(result.frames.tolist()))
    load("assets.demo.plot").draw(result, seen, EVENTS, sample.seconds_per_frame(scene), picture)
    bpy.ops.wm.save_as_mainfile(filepath=str(blend.resolve()), compress=True)
    measure, report = load("cli.measure"), load("cli.report")
    return {
        **report.new_row(Path("the demo's own scene")),
        "output": str(blend),
        "ok": True,
        "rig": rig.name,
        "bone": head,
        "aim_axis": list(ready.aim_axis),
        "chain": list(ready.bones),
        "frames": [int(result.frames[0]), int(result.frames[-1])],
        "fps": scene.render.fps / scene.render.fps_base,
        "seconds": seconds,
        "settled_error_deg": _finish(measure.settled_errors(scene, [result]))[0],
        "gaze": list(EVENTS),
    }


def _finish(steps):
    """Run a generator to its end and return what it returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


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
