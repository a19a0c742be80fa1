"""What a new process shows of a saved file: `python fresh_process.py FILE.blend OUT.npz FRAME ...`.

OUT.npz has the evaluated matrices (frames, bones, 4, 4) of each armature of the scene, by its name.
"""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import bpy
import numpy as np

TESTS = Path(__file__).resolve().parents[3]


def poses(path: str, frames: Iterable[int]) -> dict[str, np.ndarray]:
    """The matrices of a file, as a new process shows them."""
    out = f"{path}.npz"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [sys.executable, __file__, path, out, *map(str, frames)]
    subprocess.run(words, env=environment, check=True, capture_output=True, timeout=120)
    with np.load(out) as found:
        return dict(found)


def main(path: str, out: str, *frames: str) -> None:
    # The folder of this file comes first else, and with it modules of the same names.
    sys.path[:1] = [str(TESTS), str(TESTS.parent)]
    import extension

    extension.load().register()
    bpy.ops.wm.open_mainfile(filepath=path)
    scene = bpy.context.scene
    rigs = [item for item in scene.objects if item.type == "ARMATURE"]
    seen: dict[str, list[np.ndarray]] = {item.name: [] for item in rigs}
    for frame in map(int, frames):
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        for item in rigs:
            seen[item.name].append(np.array([bone.matrix for bone in item.evaluated_get(depsgraph).pose.bones]))
    np.savez(out, **{name: np.array(found) for name, found in seen.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
    # bpy 4.5 can hang where the interpreter exits.
    sys.stdout.flush()
    os._exit(0)
