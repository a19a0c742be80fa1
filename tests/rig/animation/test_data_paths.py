"""Data paths of bones, constraints and custom properties, whatever their names are."""

import bpy
import pytest

from extension import load

from .. import scenes

paths = load("rig.animation.data_paths")

NAMES = ["hand.L", 'the "left" hand', "back\\slash", '"]["', 'pose.bones["x"]']


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("other", NAMES)
def test_a_path_names_what_blender_finds_at_it(name, other) -> None:
    armature = scenes.figure()
    bone = armature.pose.bones["hand.L"]
    bone.name = name
    constraint = bone.constraints.new("COPY_ROTATION")
    constraint.name, bone[other], bone["plain"] = other, 1.0, 1.0
    path = f"{paths.constraint_path(name, other)}.influence"
    assert armature.path_resolve(paths.bone_path(name)) == bone
    assert armature.path_resolve(path) == constraint.influence
    assert paths.split_constraint(path) == (name, other, "influence") and paths.any_bone(path) == name
    path = paths.bone_path(name) + f'["{bpy.utils.escape_identifier(other)}"]'
    assert armature.path_resolve(path) == bone[other]
    owner, key = paths.split_key(path)
    assert key == other and paths.split_bone(owner) == (name, "")


def test_other_paths_name_nothing() -> None:
    assert paths.split_bone("location") == ("", "location") and paths.any_bone("location") == ""
    assert paths.split_constraint('constraints["Child Of"].influence') == ("", "", 'constraints["Child Of"].influence')
    assert paths.split_constraint('pose.bones["a"].scale') == ("", "", 'pose.bones["a"].scale')
    assert paths.split_key('pose.bones["a"].scale') == ('pose.bones["a"].scale', "")
    assert paths.split_key('["speed"]') == ("", "speed") and paths.any_bone('bones["a"].hide') == "a"
