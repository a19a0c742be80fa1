"""From the installed zip to a look-at on the head, with the mouse and with the keyboard."""

import bpy
from character import armature, select, settings
from windowed.hands import Hands, Waiting
from windowed.scripts import script


@script()
def zip_is_installed(hands: Hands) -> Waiting:
    """The extension that all scenarios use came from the zip, through Blender's own installer."""
    names = [name for name in bpy.context.preferences.addons.keys() if name.endswith(".lookat_pd")]
    assert names == ["bl_ext.user_default.lookat_pd"], names
    yield from hands.sidebar()
    button = yield from hands.find("lookat_pd.add")
    assert "bpy.ops.lookat_pd.add(" in button.meaning, button


@script()
def add_by_button(hands: Hands) -> Waiting:
    """Ball, then rig with Shift, then the panel's button."""
    select(bpy.data.objects["Ball"], armature())
    yield from hands.sidebar()
    yield from hands.click((yield from hands.find("lookat_pd.add")))
    assert settings().exists
    assert settings().target == bpy.data.objects["Ball"], settings().target
    assert [link.bone for link in settings().chain] == ["head", "neck", "chest", "spine", "hips"]
    yield from hands.find("settle_time")
    yield from hands.undo()
    assert not settings().exists, "undo leaves the look-at"
    yield from hands.redo()
    assert settings().exists, "redo does not bring the look-at back"
    assert settings().target == bpy.data.objects["Ball"]


@script()
def add_by_search(hands: Hands) -> Waiting:
    """F3 and the operator's name; nothing else selected, so that an empty is made."""
    yield from hands.search("Add Look-at PD")
    assert settings().exists
    assert settings().target is not None
    assert settings().target.type == "EMPTY"
    yield from hands.undo()
    assert not settings().exists
