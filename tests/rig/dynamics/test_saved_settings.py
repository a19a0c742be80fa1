"""Files of earlier versions: their settings of dynamics move bodies as they did."""

from pathlib import Path
from typing import Any

import bpy
import pytest

from extension import load

from .. import scenes

saved = load("rig.dynamics.saved_settings")


def settings() -> tuple[Any, Any]:
    return bpy.context.scene.lookat_pd_dynamics, bpy.data.objects["Hero"].lookat_pd_hits


def saved_by(path: Path, *, version: int) -> None:
    """Save the file as a version did."""
    bpy.app.handlers.save_pre.remove(saved._stamp)
    try:
        for item in settings():
            item.version = version
            if not version:
                item.property_unset("version")
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
    finally:
        bpy.app.handlers.save_pre.append(saved._stamp)
    bpy.ops.wm.open_mainfile(filepath=str(path))


@pytest.mark.every_blender
@pytest.mark.parametrize("version", [0, 1, 2])
def test_what_was_set_before_moves_as_before(version: int, tmp_path: Path) -> None:
    scenes.figure()
    motion, hits = settings()
    motion.tension = 9.0
    hits.hits.add().bone = "head"
    saved_by(tmp_path / "file.blend", version=version)
    motion, hits = settings()
    assert motion.tension == 9.0 and len(hits.hits) == 1
    assert motion.between == ("MASS" if version else "TENSION")
    assert (motion.point, motion.soft_reach > 0.0) == (("HAND", True) if version > 1 else ("AUTO", False))
    assert hits.joints == ("PUBLISHED", "SUCCESSION", "PEOPLE")[version]
    assert (motion.version, hits.version) == (len(saved._SCENES), len(saved._HITS))


def test_a_file_of_before_in_which_nothing_is_set_moves_as_before(tmp_path: Path) -> None:
    scenes.figure()
    assert settings()[0].between == "MASS"
    saved_by(tmp_path / "file.blend", version=0)
    motion = settings()[0]
    assert (motion.between, motion.timing, motion.point) == ("TENSION", "COST", "AUTO")


def test_a_new_file_in_which_nothing_is_set_has_the_defaults_of_now(tmp_path: Path) -> None:
    scenes.figure()
    assert settings()[0].between == "MASS"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    assert (settings()[0].between, settings()[0].point) == ("MASS", "HAND")


def test_a_method_that_was_chosen_stays(tmp_path: Path) -> None:
    scenes.figure()
    motion, hits = settings()
    motion.between, motion.tension, hits.joints, hits.settle_time = "TORQUE_CHANGE", 9.0, "SUCCESSION", 0.5
    saved_by(tmp_path / "file.blend", version=0)
    motion, hits = settings()
    assert (motion.between, hits.joints) == ("TORQUE_CHANGE", "SUCCESSION")


def test_what_is_made_now_is_of_this_version(tmp_path: Path) -> None:
    scenes.figure()
    motion, hits = settings()
    motion.tension, hits.settle_time = 9.0, 0.5
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    motion, hits = settings()
    assert (motion.between, hits.joints) == ("MASS", "PEOPLE")
