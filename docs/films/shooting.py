"""Renders the frames of a film: its takes side by side, each with its name, in Workbench, which takes no time."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import bpy
from mathutils import Vector
from PIL import Image

from docs.alive import stage

from .cutting import HEIGHT, WIDTH, beside, titled

FPS = 12
"""Frames a second of a film. Scenes play at twice of that."""
EVERY = stage.FPS // FPS


@dataclass(frozen=True)
class Shot:
    """One take; the scene is as it shall be rendered while the shot is the newest."""

    label: str
    scene: bpy.types.Scene
    frames: Sequence[int]
    before: Callable[[int], object] = lambda frame: None
    """Called with each frame before it is rendered, at the frame."""


def whole_range(scene: bpy.types.Scene) -> range:
    return range(scene.frame_start, scene.frame_end + 1, EVERY)


def shoot(shots: Callable[[], Iterable[Shot]]) -> list[Image.Image]:
    """The frames of a film, one shot beside the other."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    takes: list[list[Image.Image]] = []
    count = None
    for shot in shots():
        # How many there are side by side is not known before the last one: each is rendered as high as the film.
        takes.append(list(_render(shot)))
        count = len(takes[0]) if count is None else min(count, len(takes[-1]))
    return [beside([take[frame] for take in takes]) for frame in range(count or 0)]


def _render(shot: Shot) -> Iterator[Image.Image]:
    _prepare(shot.scene)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "frame.png"
        for frame in shot.frames:
            shot.scene.frame_set(frame)
            shot.before(frame)
            shot.scene.render.filepath = str(path)
            with redirect_stdout(StringIO()):
                bpy.ops.render.render(write_still=True, scene=shot.scene.name)
            with Image.open(path) as image:
                yield titled(image.convert("RGB"), shot.label)


def _prepare(scene: bpy.types.Scene) -> None:
    render, shading = scene.render, scene.display.shading
    render.engine = "BLENDER_WORKBENCH"
    render.resolution_x, render.resolution_y, render.resolution_percentage = WIDTH, HEIGHT, 100
    render.image_settings.file_format = "PNG"
    scene.view_settings.view_transform = "Standard"
    scene.view_settings.exposure, scene.view_settings.gamma = 0.75, 1.0
    scene.display.render_aa = "5"
    shading.light, shading.color_type = "STUDIO", "MATERIAL"
    shading.show_shadows, shading.shadow_intensity = True, 0.35
    shading.show_cavity = True
    shading.cavity_type, shading.curvature_ridge_factor, shading.curvature_valley_factor = "SCREEN", 0.6, 0.3
    shading.show_specular_highlight = False
    scene.display.light_direction = 0.35, 0.55, 0.75
    scene.display.shadow_focus = 0.9  # a face that is far away is not dark of its own hair and lids
    if scene.world is None:
        scene.world = bpy.data.worlds.new("World")
    scene.world.color = (0.30, 0.34, 0.38)
    ground = bpy.data.materials.get("Demo Ground")
    if ground is not None:
        ground.diffuse_color = (0.86, 0.85, 0.81, 1.0)


def camera(scene: bpy.types.Scene, place: Sequence[float], at: Sequence[float], lens: float) -> bpy.types.Object:
    """A camera at a place that looks at another one."""
    data = bpy.data.cameras.new("Film")
    data.lens = lens
    item = bpy.data.objects.new("Film", data)
    scene.collection.objects.link(item)
    item.location = place
    item.rotation_euler = (Vector(at) - item.location).to_track_quat("-Z", "Y").to_euler()
    scene.camera = item
    return item
