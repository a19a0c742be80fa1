"""Somebody installs the extension from its repository, works with it, updates it while it is live, and removes it."""

import importlib
import os
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import bpy
import numpy as np
import registry
from windowed.hands import Hands, Waiting
from windowed.scripts import script

SERVER = "LOOKAT_PD_SERVER"
"""Address that serves a repository with an older version; `/update` makes it serve the new one."""
MODULE = "my_studio"
"""Of the repository in Blender: any name that its user chooses."""
PACKAGE = f"bl_ext.{MODULE}.lookat_pd"


def prepare(hands: Hands) -> None:
    """A head on a neck on a spine, which turns, and a ball: made without the extension."""
    data = bpy.data.armatures.new("Hero")
    armature = bpy.data.objects.new("Hero", data)
    scene = bpy.context.scene
    scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for name, low, high in (("hips", 1.0, 1.2), ("chest", 1.2, 1.5), ("neck", 1.5, 1.6), ("head", 1.6, 1.8)):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail, bone.parent = (0, 0, low), (0, 0, high), parent
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    for frame, turn in ((1, 0.0), (40, 0.5)):
        armature.rotation_euler.z = turn
        armature.keyframe_insert("rotation_euler", frame=frame)
    scene.frame_end = 60
    ball = bpy.data.objects.new("Ball", None)
    ball.location = (1.0, -1.5, 1.9)
    scene.collection.objects.link(ball)


@script()
def installed_updated_and_removed(hands: Hands) -> Waiting:
    """Add the repository, install, look, bake, update while the look-at is live, remove: nothing is left."""
    server, addons = os.environ[SERVER], bpy.context.preferences.addons
    before, files = registry.snapshot(), _files()
    bpy.context.preferences.system.use_online_access = True
    bpy.ops.preferences.extension_repo_add(
        name="My Studio", remote_url=f"{server}/index.json", type="REMOTE", use_custom_directory=False
    )
    repository = bpy.context.preferences.extensions.repos[-1]
    repository.module = MODULE
    number = len(bpy.context.preferences.extensions.repos) - 1

    bpy.ops.extensions.repo_sync(repo_index=number)
    yield 0.2
    bpy.ops.extensions.package_install(repo_index=number, pkg_id="lookat_pd", enable_on_install=True)
    yield 0.2
    assert PACKAGE in addons.keys()
    folder = Path(str(sys.modules[PACKAGE].__file__)).parent
    assert _version(folder) == "0.0.1"
    engine = importlib.import_module(f"{PACKAGE}.lookat_pd.dynamics.engine")
    assert engine.available(), engine.reason()
    assert registry.left_behind(PACKAGE), "nothing is registered"

    # Look, live, and bake.
    hero = bpy.data.objects["Hero"]
    plain = _poses(hero)
    with hands.override():
        bpy.ops.lookat_pd.add(bone="head", target="Ball")
    yield from _settled(hands)
    live = _poses(hero)
    with hands.override():
        assert bpy.ops.lookat_pd.bake(into="NEW") == {"FINISHED"}
    assert abs(_poses(hero) - live).max() < 1e-4
    with hands.override():
        bpy.ops.lookat_pd.edit_live()
    yield from _settled(hands)
    live = _poses(hero)

    # The update, while it is live.
    urllib.request.urlopen(f"{server}/update").read()
    bpy.ops.extensions.repo_sync(repo_index=number)
    yield 0.2
    bpy.ops.extensions.package_upgrade_all(use_active_only=False)
    yield 0.5
    assert PACKAGE in addons.keys()
    assert _version(folder) != "0.0.1"
    yield from _settled(hands)
    _same(hero, live)
    settings = hero.pose.bones["head"].lookat_pd
    assert settings.exists
    settings.settle_time = 1.5
    yield from _settled(hands)
    assert abs(_poses(hero) - live).max() > 0.01, "the new version is not live"

    # Removed: the animation is as it was without a look-at, and nothing is left.
    bpy.ops.extensions.package_uninstall(repo_index=number, pkg_id="lookat_pd")
    yield 0.5
    _same(hero, plain)
    assert PACKAGE not in addons.keys()
    assert not registry.left_behind(PACKAGE)
    after = registry.snapshot()
    changed = {kind: set(after[kind]) ^ set(before[kind]) for kind in ("handler", "key", "scene")}
    assert not any(changed.values()), changed
    assert not [name for name in sys.modules if name == PACKAGE or name.startswith(PACKAGE + ".")]
    bpy.ops.preferences.extension_repo_remove(index=number, remove_files=True)
    yield 0.2
    # Blender's own: its settings, what it knows of extensions that fit no longer, and what its driver has compiled.
    others = ("config/", "extensions/.cache/", "mesa_shader_cache/")
    left = [path for path in _files() - files if not path.startswith(others)]
    assert not left, left


def _poses(hero: bpy.types.Object) -> np.ndarray:
    """Matrices (frames, bones, 4, 4) as Blender evaluates them."""
    scene, found = bpy.context.scene, []
    layer = bpy.context.window_manager.windows[0].view_layer
    for frame in range(1, scene.frame_end + 1, 3):
        scene.frame_set(frame)
        seen = hero.evaluated_get(layer.depsgraph)
        found.append([np.array(bone.matrix) for bone in seen.pose.bones])
    scene.frame_set(1)
    return np.array(found)


def _same(hero: bpy.types.Object, wanted: np.ndarray) -> None:
    found = _poses(hero)
    assert np.array_equal(found, wanted), f"another pose, by {abs(found - wanted).max(axis=(1, 2, 3)).round(4)}"


def _settled(hands: Hands) -> Iterator[float]:
    live = importlib.import_module(f"{PACKAGE}.rig.layers.live")
    yield 0.2
    done = yield from hands.until(lambda: not live.unsettled(hands.window.scene), 30.0)
    assert done, live.unsettled(hands.window.scene)


def _version(folder: Path) -> str:
    import tomllib

    return tomllib.loads((folder / "blender_manifest.toml").read_text("utf-8"))["version"]


def _files() -> set[str]:
    """Paths in the user's folder, of Blender's settings and extensions."""
    user = Path(os.environ["BLENDER_USER_RESOURCES"])
    return {str(path.relative_to(user)) for path in user.rglob("*") if path.is_file()}
