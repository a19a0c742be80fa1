"""Fields that name an action offer those of the animator, and nothing that the extension keeps in actions."""

import bpy
import pytest

from extension import load

from .. import scenes

follow_edit = load("rig.pd_follow.follow_edit")
layer_action = load("rig.layers.layer_action")
moving_actions = load("rig.detection.moving_actions")
names = load("rig.sampling.action_names")
owners = load("rig.pd_follow.owners")


@pytest.fixture
def hero() -> bpy.types.Object:
    hero = scenes.figure()
    scenes.animate(hero)
    scenes.aim(hero, scenes.ball())
    follow_edit.add([owners.Owner(hero, "hand.L")], None)
    scenes.goto(5)
    return hero


def own() -> list[bpy.types.Action]:
    return [action for action in bpy.data.actions if layer_action.is_layer(action) or "Clock" in action.name]


def test_no_field_offers_what_layers_hold(hero) -> None:
    assert len(own()) > 2
    offered = set(names._offered(None, bpy.context, ""))
    assert offered == set(bpy.data.actions.keys()) - {action.name for action in own()}
    assert hero.animation_data.action.name in offered
    some = hero.animation_data.action.name[1:3].upper()
    assert hero.animation_data.action.name in set(names._offered(None, bpy.context, some))
    assert not set(names._offered(None, bpy.context, "no such name"))
    assert not set(own()) & set(moving_actions.moving(hero))


def test_blender_hides_their_names(hero) -> None:
    """Its fields leave out data whose name begins with a dot."""
    assert all(action.name.startswith(".") for action in own())
    assert all(item.name.startswith(".") for item in bpy.data.objects if "Clock" in item.name)


def test_what_was_saved_under_another_name_keeps_it(hero, tmp_path) -> None:
    """Files that link it know it by its name."""
    for action in own():
        action.name = action.name.removeprefix(".")
    before = {action.name for action in own()}
    poses = scenes.poses(hero, (1, 20, 40))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "old.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "old.blend"))
    hero = bpy.data.objects["Hero"]
    assert (scenes.poses(hero, (1, 20, 40)) == poses).all()
    hero.pose.bones["head"].lookat_pd.settle_time = 1.5
    scenes.goto(10)
    assert {action.name for action in own()} == before
