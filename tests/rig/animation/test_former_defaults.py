"""Files of earlier and of later versions: one rule for the settings of all features."""

from pathlib import Path
from typing import Any

import bpy
import pytest

from extension import load

from .. import scenes

FEATURES = ("look_at", "ik", "dynamics", "transitions")
saved = {name: load(f"rig.{name}.saved_settings") for name in FEATURES}


def settings() -> dict[str, Any]:
    """All that say a version."""
    scene, hero = bpy.context.scene, bpy.data.objects["Hero"]
    groups = {name: getattr(scene, f"lookat_pd_{name}") for name in ("ik", "dynamics", "transition")}
    return groups | {
        "hits": hero.lookat_pd_hits,
        "body": hero.lookat_pd_ik_body,
        "look-at": hero.pose.bones["head"].lookat_pd,
    }


@pytest.fixture
def hero() -> bpy.types.Object:
    armature = scenes.figure()
    armature.lookat_pd_hits.hits.add().bone = "head"
    armature.lookat_pd_ik_body.effectors.add().bone = "head"
    armature.pose.bones["head"].lookat_pd.target = scenes.ball((0.8, -2.0, 1.9))
    return armature


def test_a_file_of_a_later_version_stays_of_that_version(hero: bpy.types.Object, tmp_path: Path) -> None:
    """Else that version would take its settings for those of an earlier one."""
    for group in settings().values():
        group.version = 99
    for _ in range(2):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
        assert {name: group.version for name, group in settings().items()} == dict.fromkeys(settings(), 99)


def test_a_new_file_starts_with_the_defaults_of_now(hero: bpy.types.Object) -> None:
    """Whatever version the startup file is of."""
    assert not bpy.data.filepath
    before = {name: values(group) for name, group in settings().items()}
    for module in saved.values():
        module._keep_as_saved()
    assert {name: values(group) for name, group in settings().items()} == before


def values(group: Any) -> dict[str, Any]:
    return {p.identifier: str(getattr(group, p.identifier)) for p in group.bl_rna.properties if p.type != "POINTER"}
