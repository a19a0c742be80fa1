"""Springs from a VRM file and back into it, by the buttons of the panel and the file browser."""

import json
from pathlib import Path

import bpy
import numpy as np
from character import select
from presets import open_list
from windowed import panels
from windowed.hands import SIDEBAR, VIEWPORT, Hands, Waiting
from windowed.scripts import script

from extension import load

BROWSER = ("FILE_BROWSER", "WINDOW")
_FAR = 40
"""Notches of the wheel from one end of the sidebar to the other."""
TAIL = ("tail.001", "tail.002", "tail.003", "tail.004")


def _animal() -> bpy.types.Object:
    return bpy.data.objects["Animal"]


def _exported(path: Path) -> None:
    """A glTF file of a tail with a skin."""
    data = bpy.data.armatures.new("Animal")
    animal = bpy.data.objects.new("Animal", data)
    scene = bpy.context.window_manager.windows[0].scene
    scene.collection.objects.link(animal)
    select(animal)
    bpy.ops.object.mode_set(mode="EDIT")
    for n, name in enumerate(("hips", *TAIL)):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = (0.0, 0.15 * n, 1.0), (0.0, 0.15 * n + 0.15, 1.0)
        bone.parent = data.edit_bones[n - 1] if n else None
    bpy.ops.object.mode_set(mode="OBJECT")
    mesh = bpy.data.meshes.new("Skin")
    rows = [(x, 0.15 * n, 1.0 + z) for n in range(6) for x, z in ((-0.04, 0.0), (0.04, 0.0), (0.0, 0.05))]
    faces = [
        (3 * n + k, 3 * n + (k + 1) % 3, 3 * n + 3 + (k + 1) % 3, 3 * n + 3 + k) for n in range(5) for k in range(3)
    ]
    mesh.from_pydata(rows, [], faces)
    skin = bpy.data.objects.new("Skin", mesh)
    scene.collection.objects.link(skin)
    skin.parent = animal
    for n, name in enumerate(("hips", *TAIL)):
        skin.vertex_groups.new(name=name).add([3 * n, 3 * n + 1, 3 * n + 2], 1.0, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = animal
    select(skin, animal)
    bpy.ops.export_scene.gltf(filepath=str(path), use_selection=True, export_animations=False)
    bpy.data.batch_remove((animal, skin))


def _made_vrm(folder: Path) -> Path:
    """The same with springs of VRM 1.0 and a collider that lies below."""
    glb, vrm = load("rig.detection.glb"), load("rig.detection.vrm")
    plain, path = folder / "animal.glb", folder / "animal.vrm"
    _exported(plain)
    document = vrm.document(plain)
    node = {row["name"]: n for n, row in enumerate(document["nodes"])}
    joints = [{"node": node[name], "stiffness": 0.8, "dragForce": 0.3, "hitRadius": 0.02} for name in TAIL]
    sphere = {"sphere": {"offset": [0.0, 0.4, -0.15], "radius": 0.1}}
    document.setdefault("extensions", {})["VRMC_springBone"] = {
        "specVersion": "1.0",
        "colliders": [{"node": node["hips"], "shape": sphere}],
        "colliderGroups": [{"name": "Body", "colliders": [0]}],
        "springs": [{"name": "Tail", "joints": joints, "colliderGroups": [0]}],
    }
    document.setdefault("extensionsUsed", []).append("VRMC_springBone")
    path.write_bytes(glb.assembled(json.dumps(document), glb.after_document(plain.read_bytes())))
    return path


def _imported(path: Path) -> None:
    bpy.ops.import_scene.gltf(filepath=str(path))
    (animal,) = (item for item in bpy.context.selected_objects if item.type == "ARMATURE")
    animal.name = "Animal"
    hips = animal.pose.bones["hips"]
    hips.rotation_mode = "XYZ"
    for frame, angle in ((5, 0.0), (15, 1.0), (60, 1.0)):
        hips.rotation_euler.z = angle
        hips.keyframe_insert("rotation_euler", frame=frame)
    select(animal)


def _choose(hands: Hands, button: str, path: Path | None) -> Waiting:
    """Click a button that asks for a file, and choose one in the file browser; None for Esc there."""
    yield from hands.click((yield from hands.find(button)))
    assert (yield from hands.until(lambda: any(a.type == "FILE_BROWSER" for a in hands.window.screen.areas), 10.0))
    yield 0.5
    if path is not None:
        params = hands.area("FILE_BROWSER").spaces.active.params
        params.directory, params.filename = str(path.parent).encode(), path.name
        yield 0.5
    hands.look(f"{button.rsplit('.')[-1]}_browser")
    yield from hands.move(hands.inside(BROWSER))
    yield from hands.key("ESC" if path is None else "RET")
    assert (yield from hands.until(lambda: all(a.type != "FILE_BROWSER" for a in hands.window.screen.areas), 10.0))
    yield 0.5


def _chains() -> list:
    return list(load("rig.springs.chains").on(_animal()))


def _solved(hands: Hands) -> Waiting:
    live, scene = load("rig.layers.live"), hands.window.scene
    yield 0.2
    assert (yield from hands.until(lambda: live.status(scene, _animal(), kind="SPRINGS").state == "SOLVED", 20.0))


def _tip(hands: Hands) -> np.ndarray:
    found = []
    for frame in (10, 18, 25):
        hands.window.scene.frame_set(frame)
        depsgraph = hands.window.view_layer.depsgraph
        found.append(np.array(_animal().evaluated_get(depsgraph).pose.bones[TAIL[2]].matrix))
    return np.array(found)


def _tuned() -> np.ndarray:
    """What a VRM file says of how the bones swing: settle time, all damping, radius."""
    tuning = load("rig.springs.vrm_tuning")
    found = tuning.of_chain(_chains()[0], np.array((0.0, 0.0, -9.81)))
    return np.array([(own.settle_time, own.air, own.radius) for own in found.values()])


def _same_preset_again(hands: Hands) -> Waiting:
    """Choose in the menu the preset that was chosen before the values changed, the first one."""
    s = _chains()[0].settings
    assert s.preset == "CAT_TAIL" and not load("rig.springs.settings").is_as_preset(s)
    yield 0.3
    yield from open_list(hands)
    hands.look("springs_vrm_presets")
    yield from hands.key("DOWN_ARROW")
    yield from hands.key("RET")
    yield from _solved(hands)
    assert load("rig.springs.settings").is_as_preset(s)
    hands.look("springs_vrm_preset_again")


@script(needs=("operators.springs_vrm",))
def a_vrm_file_is_read_changed_written_and_read_again(hands: Hands) -> Waiting:
    bpy.context.preferences.view.filebrowser_display_type = "SCREEN"
    from_vrm, write_vrm = "lookat_pd.springs_from_vrm", "lookat_pd.springs_write_vrm"
    folder = hands.folder / "vrm"
    folder.mkdir(exist_ok=True)
    with hands.override():
        path = _made_vrm(folder)
        _imported(path)
        bpy.ops.ed.undo_push(message="Imported")
    other, written = folder / "letter.vrm", folder / "animal_springs.vrm"
    other.write_text("Dear VRM")
    plain = _tip(hands)
    with panels.opened("springs"):
        yield from hands.sidebar()
        yield 0.5
        yield from _choose(hands, from_vrm, None)
        assert not _chains(), "Esc takes nothing"
        yield from _choose(hands, from_vrm, other)
        hands.look("springs_vrm_refused")
        assert not _chains(), "what is no VRM file gives nothing"
        yield from hands.move(hands.inside(("VIEW_3D", "WINDOW"), 0.2, 0.8))
        yield 0.5
        yield from _choose(hands, from_vrm, path)
        yield from _solved(hands)
        (chain,) = _chains()
        assert chain.bones == TAIL[:3] and chain.settings.collider_groups == "Body"
        swings = _tip(hands)
        assert np.abs(swings - plain).max() > 0.005
        hands.look("springs_vrm_taken")
        before = chain.settings.settle_time
        slider = yield from hands.find("settle_time")
        yield from hands.hover((slider.x, slider.y))
        yield from hands.key("RET")
        yield 0.2
        yield from hands.key("A", ctrl=True)
        yield from hands.write("0.9")
        yield from hands.key("RET")
        yield from _solved(hands)
        assert abs(_chains()[0].settings.settle_time - 0.9) < 1e-5 and abs(before - 0.9) > 0.01
        softer, edited = _tip(hands), _tuned()
        assert np.abs(softer - swings).max() > 1e-3
        bpy.context.window_manager.lookat_pd_use_advanced = True
        yield 0.5
        yield from hands.wheel(hands.inside(SIDEBAR), -_FAR)
        yield 0.3
        yield from _choose(hands, write_vrm, path)
        hands.look("springs_vrm_written")
        # What a VRM cannot say stands at the mouse until that leaves.
        yield from hands.move(hands.inside(VIEWPORT))
        yield 0.3
        yield from hands.wheel(hands.inside(SIDEBAR), _FAR)
        yield 0.3
        assert written.is_file()
        yield from _choose(hands, from_vrm, path)
        yield from _solved(hands)
        assert abs(_chains()[0].settings.settle_time - before) < 1e-5
        yield from _choose(hands, from_vrm, written)
        yield from _solved(hands)
        np.testing.assert_allclose(_tuned(), edited, rtol=1e-3)
        # A file says all damping as one number, not what of it is Drag.
        again = _tip(hands)
        print("written and read again:", np.abs(again - softer).max(), "of", np.abs(swings - softer).max())
        assert np.abs(again - softer).max() < 0.1 * np.abs(swings - softer).max()
        bpy.context.window_manager.lookat_pd_use_advanced = False
        yield from _same_preset_again(hands)
    for _ in ("preset", written, path):
        yield from hands.undo()
    yield from _solved(hands)
    assert abs(_chains()[0].settings.settle_time - 0.9) < 1e-5
    np.testing.assert_allclose(_tip(hands), softer, atol=1e-4)
