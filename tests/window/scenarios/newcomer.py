"""Somebody new: the tab without a character, the example, and the camera as a target, with the mouse alone."""

import bpy
from character import armature, select, settings, settled
from windowed.hands import SIDEBAR, Hands, Waiting
from windowed.scripts import script


@script()
def the_tab_selects_a_character(hands: Hands) -> Waiting:
    """Nothing selected: the panel says what to select, with a button for it, and offers help."""
    select(bpy.data.objects["Ball"])
    with hands.override():
        bpy.ops.ed.undo_push(message="Select the ball")
    yield from hands.sidebar()
    for name in ("lookat_pd.open_example", "lookat_pd.report_problem", "wm.url_open"):
        yield from hands.find(name)
    yield from hands.click((yield from hands.find("lookat_pd.select_armature")))
    assert bpy.context.view_layer.objects.active == armature()
    yield from hands.find("lookat_pd.add")
    yield from hands.undo()
    assert bpy.context.view_layer.objects.active == bpy.data.objects["Ball"], "undo does not select the ball again"
    view = bpy.context.preferences.view
    view.language, view.use_translate_interface = "ja_JP", True
    try:
        yield from hands.move(hands.inside(SIDEBAR, 0.5, 0.1))
        yield 0.5
        region = hands.region(SIDEBAR)
        hands.keep("newcomer_japanese", region.x, region.y + region.height - 420, region.width, 420)
    finally:
        view.language = "en_US"


@script()
def the_example_is_opened(hands: Hands) -> Waiting:
    """One click: a scene of its own, live, seen by its camera beside the open tab; undo takes it away."""
    select(bpy.data.objects["Ball"])
    own, name = hands.window.scene, hands.window.scene.name
    yield from hands.sidebar()
    yield from hands.click((yield from hands.find("lookat_pd.open_example")))
    yield 0.5
    assert hands.window.scene != own
    assert own.objects.get("Hero") is not None, "the animator's scene is gone"
    yield from settled(hands)
    space = hands.area("VIEW_3D").spaces.active
    assert space.region_3d.view_perspective == "CAMERA"
    assert space.show_region_ui
    assert hands.region(SIDEBAR).active_panel_category == "Look-at PD"
    region = hands.region(SIDEBAR)
    area = hands.area("VIEW_3D")
    hands.keep("example", area.x, area.y, area.width, area.height)
    assert region.width > 1
    yield from hands.find("settle_time")
    yield from hands.undo()
    assert [scene.name for scene in bpy.data.scenes] == [name]
    assert hands.window.scene.objects.get("Hero") is not None


@script()
def look_at_the_camera(hands: Hands) -> Waiting:
    """The camera button, with and without a look-at."""
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location = (0.5, -4.0, 1.6)
    bpy.context.scene.collection.objects.link(camera)
    bpy.context.scene.camera = camera
    select(armature())
    yield from hands.sidebar()
    yield from hands.click((yield from hands.find("lookat_pd.look_at_camera")))
    assert settings().target == camera
    yield from hands.undo()
    assert not settings().exists


@script()
def the_preferences_are_drawn(hands: Hands) -> Waiting:
    """As Blender shows them among the add-ons."""
    module = next(name for name in bpy.context.preferences.addons.keys() if name.endswith(".lookat_pd"))
    area = hands.area("VIEW_3D")
    area.type = "PREFERENCES"
    bpy.context.preferences.active_section = "ADDONS"
    bpy.context.window_manager.addon_search = "Look-at PD"
    try:
        yield 0.5
        with bpy.context.temp_override(window=hands.window, area=area):
            bpy.ops.preferences.addon_expand(module=module)
        yield 0.5
        yield from hands.wheel((area.x + area.width // 2, area.y + area.height // 2), -10)
        yield 0.5
        yield from hands.find("show_springs", ("PREFERENCES", "WINDOW"))
        hands.keep("preferences", area.x, area.y, area.width, area.height)
    finally:
        area.type = "VIEW_3D"
    yield 0.2
