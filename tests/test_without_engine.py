"""Where the physics engine is missing, dynamics say so and everything else works."""

import subprocess
import sys
from pathlib import Path

import bpy
import pytest

ROOT = Path(__file__).resolve().parent.parent

PROGRAM = """
import os, sys, traceback
sys.modules["mujoco"] = None
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/tests"]
try:
    import bpy, pkgutil, importlib
    import extension
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    package = extension.load()
    package.register()
    from lookat_pd import dynamics
    import lookat_pd
    for module in pkgutil.walk_packages(lookat_pd.__path__, "lookat_pd."):
        importlib.import_module(module.name)
    from rig import scenes
    armature = scenes.figure()
    scenes.animate(armature)
    scenes.aim(armature, scenes.ball())
    bpy.context.scene.frame_end = 20
    assert bpy.ops.lookat_pd.bake() == {"FINISHED"}
    bpy.context.scene.lookat_pd_ik.target = bpy.data.objects["Ball"]
    armature.data.bones.active = armature.data.bones["hand.L"]
    assert bpy.ops.lookat_pd.ik_bake() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="POSE")
    scenes.select(armature, "upper_arm.L")
    armature.data.bones.active = armature.data.bones["hand.L"]
    settings = bpy.context.scene.lookat_pd_dynamics
    settings.target, settings.keys = bpy.data.objects["Ball"], "ALL"
    bpy.data.objects["Ball"].location = armature.matrix_world @ armature.pose.bones["hand.L"].head
    bpy.data.objects["Ball"].location.z += 0.1
    assert bpy.ops.lookat_pd.interpolate_keys() == {"FINISHED"}
    assert bpy.ops.lookat_pd.reach() == {"FINISHED"}
    settings.method, settings.limit = "SMOOTHING", "STRENGTH"
    for name in ("interpolate_keys", "reach"):
        why = extension.load("operators." + name).why_not(bpy.context)
        assert "MuJoCo" in why, why
        assert not getattr(bpy.ops.lookat_pd, name).poll()
    settings.limit = "NONE"
    armature.pose.bones["hand.L"].lookat_pd_body.mass = 5.0
    assert "set it to 0" in extension.load("operators.interpolate_keys").why_not(bpy.context)
    settings.weight = 0.0
    assert bpy.ops.lookat_pd.interpolate_keys.poll()
    assert extension.load("rig.dynamics.masses").of(bpy.context.scene, armature).total > 10.0
    print("all is well")
except BaseException:
    traceback.print_exc()
finally:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
"""


@pytest.mark.thorough
def test_everything_else_works() -> None:
    if bpy.app.binary_path:
        pytest.skip("Blender's Python has no module bpy outside of Blender")
    run = subprocess.run([sys.executable, "-c", PROGRAM, str(ROOT)], capture_output=True, text=True, timeout=120)
    assert "all is well" in run.stdout, run.stderr
