"""Somebody's own file: a person with a Rigify rig who dances, and a ball in the air, saved before the extension came.

python own_character.py FILE
"""

import os
import sys
from pathlib import Path

import bpy

sys.path[:0] = [str(Path(__file__).resolve().parents[3])]

from docs.alive import stage  # noqa: E402
from docs.alive.dance import BALL, SECONDS, dance  # noqa: E402

if __name__ == "__main__":
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    stage.character(scene, "Dancer", dance, SECONDS * stage.FPS)
    stage.ball(scene, BALL)
    bpy.ops.wm.save_as_mainfile(filepath=sys.argv[1])
    sys.stdout.flush()
    os._exit(0)
