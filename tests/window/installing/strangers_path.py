"""A stranger's path, by mouse and keyboard alone: repository, installation, example, own character, baked keys."""

import json
import os
from collections.abc import Callable

import bpy
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Vector
from windowed.hands import SIDEBAR, VIEWPORT, Button, Hands, NotThere, Place, Waiting
from windowed.scripts import script

ADDRESS, OWN = "LOOKAT_PD_ADDRESS", "LOOKAT_PD_OWN_FILE"
"""What the page on installation gives, and a file with a character: `own_character`."""
MOST_ACTIONS = 32
"""Clicks and keys. At a person's pace, with what a usual machine needs to draw, that is less than three minutes."""
PREFERENCES, FILES = ("PREFERENCES", "WINDOW"), ("FILE_BROWSER", "WINDOW")
NAME = "my_character.blend"
_UNIT = 20
"""Pixels of a button."""
_PATH = 150, 6, 325, 30
"""Where the list of files shows the path, from its upper left corner, and how large that is [pixels]."""
_STATUS = 24
"""Pixels of the status bar, in which Blender complains of what it cannot fetch by itself without a network."""


def prepare(hands: Hands) -> None:
    """The stranger's own file beside the one that is open."""
    folder = hands.folder
    own = folder / NAME
    bpy.ops.wm.open_mainfile(filepath=os.environ[OWN], load_ui=False)
    view = hands.area("VIEW_3D").spaces.active.region_3d
    view.view_perspective, view.view_location, view.view_distance = "PERSP", (-0.25, 0.0, 1.35), 3.3
    view.view_rotation = Vector((0.25, -1.0, 0.12)).to_track_quat("Z", "Y")
    bpy.ops.wm.save_as_mainfile(filepath=str(own))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True, load_ui=False)


class Stranger:
    """Does what the pages say, step by step, and counts."""

    def __init__(self, hands: Hands) -> None:
        self.hands, self.clicks, self.keys = hands, 0, 0
        self.camera = hands.film("stranger", above=_STATUS)
        self.steps: list[tuple[str, float]] = []

    def step(self, name: str) -> None:
        self.camera.caption = name
        self.steps.append((name, round(self.camera.seconds, 1)))

    def click(self, place: Place | Button) -> Waiting:
        self.clicks += 1
        yield from self.hands.click(place)
        yield 0.4

    def press(self, key: str, *, ctrl: bool = False, text: str = "") -> Waiting:
        self.keys += 1
        yield from self.hands.key(key, ctrl=ctrl, text=text)
        yield 0.3

    def find_and_click(self, meaning: str, place=SIDEBAR, across: float = 0.62) -> Waiting:
        yield from self.click((yield from self.hands.find(meaning, place, across)))

    def summary(self) -> dict:
        seconds = round(self.camera.seconds, 1)
        return {"seconds": seconds, "clicks": self.clicks, "keys": self.keys, "steps": self.steps}


@script()
def stranger(hands: Hands) -> Waiting:
    """With no more clicks and keys than fit into three minutes; how long it took here is told."""
    hands.area("VIEW_3D").spaces.active.show_region_ui = False
    one = Stranger(hands)
    yield 0.3
    yield from _add_repository(one)
    yield from _install(one)
    yield from _example(one)
    yield from _open_own(one)
    yield from _look(one)
    yield from _bake(one)
    (hands.folder / "stranger.json").write_text(json.dumps(one.summary()), "utf-8")
    assert one.clicks + one.keys <= MOST_ACTIONS, one.summary()


def _add_repository(one: Stranger) -> Waiting:
    hands = one.hands
    one.step("Edit > Preferences > Get Extensions")
    yield from hands.move(hands.inside(VIEWPORT, 0.3, 0.3))
    yield from one.press("COMMA", ctrl=True)
    yield 0.5
    navigation = hands.region(("PREFERENCES", "UI"))
    yield from _by_trying(
        one,
        range(navigation.y + navigation.height - 20, navigation.y, -_UNIT),
        navigation.x + navigation.width // 2,
        lambda: bpy.context.preferences.active_section == "EXTENSIONS",
    )
    one.step("Allow Online Access")
    yield from one.find_and_click("userpref_allow_online", PREFERENCES, 0.8)
    one.step("Repositories > + > Add Remote Repository")
    region = hands.region(PREFERENCES)
    top = region.y + region.height
    yield from one.click((region.x + region.width - 80, top - 18))
    # No command can be copied from the button that adds: it is above the one that removes.
    x, y = yield from _seek(hands, "repo_remove", region.x + region.width - 30, range(top - 40, top - 200, -6))
    yield from one.click((x, y + 12))
    yield from one.click((yield from _seek(hands, "REMOTE", x - 60, range(y, y - 80, -6))))
    one.step("The address from the page")
    bpy.context.window_manager.clipboard = os.environ[ADDRESS]
    yield from one.press("V", ctrl=True)
    yield from one.press("RET")
    yield from one.click(_lit(hands, region.x))
    yield from hands.move((region.x + 100, region.y + 60))
    yield from hands.hover((region.x + 90, region.y + 50))
    yield 0.5
    assert any(item.remote_url == os.environ[ADDRESS] for item in bpy.context.preferences.extensions.repos)


def _install(one: Stranger) -> Waiting:
    hands, region = one.hands, one.hands.region(PREFERENCES)
    one.step("Search: Look-at PD")
    yield from one.click((region.x + 120, region.y + region.height - 18))
    yield from hands.write("Look-at")
    yield from one.press("RET")
    one.step("Install")
    yield from one.find_and_click('pkg_id="lookat_pd"', PREFERENCES, 0.92)
    installed = yield from one.hands.until(
        lambda: any(name.endswith(".lookat_pd") for name in bpy.context.preferences.addons.keys()), 60.0
    )
    assert installed, bpy.context.preferences.addons.keys()
    yield 0.6
    # As by the button of the window's frame, which belongs to the system.
    with bpy.context.temp_override(window=one.hands.window):
        bpy.ops.wm.window_close()
    yield 0.3


def _example(one: Stranger) -> Waiting:
    hands = one.hands
    one.step("N, tab Look-at PD")
    yield from _open_tab(one)
    one.step("Open Example")
    yield from one.find_and_click("lookat_pd.open_example")
    yield from _settled(one)
    one.step("Space")
    yield from hands.move(hands.inside(VIEWPORT, 0.3, 0.3))
    yield from one.press("SPACE")
    assert (yield from hands.until(lambda: hands.window.scene.frame_current > 30, 30.0)), "nothing plays"
    yield from one.press("SPACE")


def _open_own(one: Stranger) -> Waiting:
    hands = one.hands
    one.step("File > Open: your own character")
    yield from hands.move(hands.inside(VIEWPORT, 0.45, 0.45))
    yield from one.press("O", ctrl=True)
    yield from one.press("D", text="d")  # Don't Save
    assert (yield from hands.until(lambda: len(bpy.context.window_manager.windows) > 1, 10.0)), "no list of files"
    yield 0.5
    region, files = hands.region(FILES), hands.area("FILE_BROWSER").spaces.active
    corner = hands.window.x + region.x + _PATH[0], hands.window.y + region.y + region.height + _PATH[1]
    one.camera.hidden = *corner, *_PATH[2:]
    yield from _by_trying(
        one,
        range(region.y + region.height - 30, region.y, -_UNIT),
        region.x + 120,
        lambda: files.params.filename == NAME,
    )
    if not (yield from hands.until(_is_open, 0.5)):  # two clicks that come late open nothing
        yield from one.click(_lit(hands, region.x))
    assert (yield from hands.until(_is_open, 20.0)), "the file does not open"
    one.camera.hidden = None
    yield 0.6


def _look(one: Stranger) -> Waiting:
    hands, body = one.hands, _on_screen(one.hands, Vector((0.0, -0.12, 1.2)))
    one.step("Click your character")
    yield from one.click(body)
    yield from _open_tab(one)
    if bpy.context.view_layer.objects.active.type != "ARMATURE":
        yield from one.find_and_click("lookat_pd.select_armature")
    one.step("Add Look-at PD")
    yield from one.find_and_click("lookat_pd.add")
    yield from _settled(one)
    one.step("Pick the target")
    yield from one.find_and_click("lookat_pd.pick_target", across=0.8)
    yield from one.click(_on_screen(hands, bpy.data.objects["Ball"].matrix_world.translation))
    yield from _settled(one)
    settings = _settings()
    assert settings.target == bpy.data.objects["Ball"]
    one.step("Drag Settle Time")
    slider, before = (yield from hands.find("settle_time")), settings.settle_time
    one.clicks += 1
    yield from hands.hover((slider.x, slider.y))
    yield 0.4
    yield from hands.drag((slider.x, slider.y), (slider.x + 60, slider.y))
    assert settings.settle_time > before
    yield from _settled(one)


def _bake(one: Stranger) -> Waiting:
    hands, armature = one.hands, bpy.data.objects["Dancer"]
    own, live = armature.animation_data.action, _poses(armature)
    one.step("Bake")
    yield from one.find_and_click("lookat_pd.bake(")
    yield from hands.idle()
    yield 0.5
    assert armature.animation_data.action not in (None, own), "nothing is baked"
    assert own.name in bpy.data.actions, "the action from before is gone"
    assert abs(_poses(armature) - live).max() < 1e-3, "what is baked is not what was seen"
    one.step("Keys")
    yield from hands.move(hands.inside(VIEWPORT, 0.3, 0.3))
    yield from one.press("SPACE")
    assert (yield from hands.until(lambda: hands.window.scene.frame_current > 30, 30.0)), "nothing plays"
    yield from one.press("SPACE")


# What there is


def _open_tab(one: Stranger) -> Waiting:
    hands = one.hands
    yield from hands.move(hands.inside(VIEWPORT, 0.3, 0.3))
    yield from one.press("N")
    yield 0.3
    yield from one.click(_last_tab(hands))
    assert hands.region(SIDEBAR).active_panel_category == "Look-at PD"


def _last_tab(hands: Hands) -> Place:
    """A place on the lowest tab of the sidebar, which is that of an extension that came last: tabs are dark."""
    region = hands.region(SIDEBAR)
    edge = hands.pixels(region.x + region.width - 17, region.y, 1, region.height)[::-1, 0].astype(np.int16)
    dark = np.flatnonzero(edge.max(axis=1)[8:] < 48) + 8
    return region.x + region.width - 11, region.y + int(dark[0]) + 12


def _seek(hands: Hands, meaning: str, x: int, heights: range) -> Waiting:
    """Where something that has popped up has a button whose command contains that."""
    with hands.unseen():
        for y in heights:
            yield from hands.hover((x, y))
            if meaning in (yield from hands.copied()):
                return x, y
    raise NotThere(meaning)


def _by_trying(one: Stranger, heights: range, x: int, done: Callable[[], bool]) -> Waiting:
    """Click the row that does it, twice: somebody with eyes reads which one it is, and only this is filmed."""
    with one.hands.unseen():
        for y in heights:
            yield from one.hands.click((x, y))
            if done():
                break
        else:
            raise NotThere("no such row")
    yield from one.click((x, y))


def _lit(hands: Hands, left: int) -> Place:
    """The middle of the lowest button, right of there, that Return would press: it has the theme's color."""
    seen = hands.pixels()[::-1].astype(np.int16)
    color = np.array(bpy.context.preferences.themes[0].user_interface.wcol_regular.inner_sel[:3]) * 255.0
    lit = abs(seen - color.round()).max(axis=2) < 6
    lit[:, :left] = False
    rows = np.flatnonzero(lit.sum(axis=1) > 60)
    assert rows.size, "no button is lit"
    low = rows[: 1 + int(np.argmax(np.diff(rows, append=rows[-1] + 99) > 3))]
    columns = np.flatnonzero(lit[low].any(axis=0))
    return int(columns.mean()), int(low.mean())


def _is_open() -> bool:
    return "Dancer" in bpy.data.objects


def _on_screen(hands: Hands, point: Vector) -> Place:
    region = hands.region(VIEWPORT)
    found = location_3d_to_region_2d(region, hands.area("VIEW_3D").spaces.active.region_3d, point)
    return round(region.x + found.x), round(region.y + found.y)


def _package() -> str:
    return next(name for name in bpy.context.preferences.addons.keys() if name.endswith(".lookat_pd"))


def _settled(one: Stranger) -> Waiting:
    import importlib

    live = importlib.import_module(f"{_package()}.rig.layers.live")
    yield 0.2
    done = yield from one.hands.until(lambda: not live.unsettled(one.hands.window.scene), 60.0)
    assert done, live.unsettled(one.hands.window.scene)


def _settings():
    return next(bone.lookat_pd for bone in bpy.data.objects["Dancer"].pose.bones if bone.lookat_pd.exists)


def _poses(armature: bpy.types.Object) -> np.ndarray:
    """Matrices (frames, bones, 4, 4) as Blender evaluates them."""
    scene, found = bpy.context.scene, []
    layer = bpy.context.window_manager.windows[0].view_layer
    frame = scene.frame_current
    for number in range(scene.frame_start, scene.frame_end + 1, 12):
        scene.frame_set(number)
        seen = armature.evaluated_get(layer.depsgraph)
        found.append([np.array(bone.matrix) for bone in seen.pose.bones])
    scene.frame_set(frame)
    return np.array(found)
