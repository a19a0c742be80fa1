"""The whole body: its switches in the panel, seen at once on a person who stands before a ball."""

import bpy
import numpy as np
from character import HEAD, select, settled
from windowed.hands import Hands, Waiting
from windowed.panels import opened
from windowed.scripts import script


def _person() -> bpy.types.Object:
    """A person who looks at a ball from frame 10 on, alone in the scene with it."""
    from rig import scenes
    from rig.look_at.body import bodies

    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    person = bodies.person()
    scenes.aim(person, scenes.ball((1.5, -1.5, 1.7)), settle_time=0.3)
    scenes.settings_keyed(person, HEAD, "use", [(1, False), (10, True)])
    select(person)
    return person


def _places(person: bpy.types.Object, *bones: str) -> np.ndarray:
    """Matrices (b, 4, 4) of bones as Blender shows them."""
    depsgraph = bpy.context.window_manager.windows[0].view_layer.depsgraph
    seen = person.evaluated_get(depsgraph).pose.bones
    return np.array([seen[bone].matrix for bone in bones])


@script(needs=("rig.look_at.body.layers",))
def body_answers_at_once(hands: Hands) -> Waiting:
    """Switch weight shift and planted feet on by mouse: hips move, feet do not; undo takes it back."""
    person = _person()
    scene = bpy.context.window_manager.windows[0].scene
    scene.frame_set(50)
    with opened("sidebar_body"):
        yield from hands.sidebar()
        yield 0.5
        settings = person.pose.bones[HEAD].lookat_pd
        settings.body.use_planted_feet = False
        settings.mute = True
        yield from settled(hands)
        animated = _places(person, "foot.L", "toe.R")
        settings.mute = False
        yield from settled(hands)
        bpy.ops.ed.undo_push(message="Ready")
        before = _places(person, "hips", "foot.L", "toe.R")
        yield from hands.click((yield from hands.find("use_weight_shift")))
        yield from settled(hands)
        shifted = _places(person, "hips", "foot.L", "toe.R")
        assert np.linalg.norm(shifted[0, :3, 3] - before[0, :3, 3]) > 0.01
        assert np.linalg.norm(shifted[1, :3, 3] - before[1, :3, 3]) > 0.005
        yield from hands.click((yield from hands.find("use_planted_feet")))
        yield from settled(hands)
        planted = _places(person, "hips", "foot.L", "toe.R")
        assert np.linalg.norm(planted[0, :3, 3] - before[0, :3, 3]) > 0.01
        assert np.abs(planted[1:] - animated).max() < 1e-4
        hands.look("body")
        yield from hands.undo()
        yield from hands.undo()
        yield from settled(hands)
        person = bpy.data.objects["Person"]
        assert np.abs(_places(person, "hips", "foot.L", "toe.R") - before).max() < 1e-5


@script(needs=("rig.look_at.body.layers",))
def eyes_lead_while_scrubbing(hands: Hands) -> Waiting:
    """Switch the eyes on by mouse and scrub: they are on the ball while the head is still on its way."""
    person = _person()
    scene = bpy.context.window_manager.windows[0].scene
    with opened("sidebar_eyes"):
        yield from hands.sidebar()
        yield 0.5
        yield from hands.click((yield from hands.find("LookAtEyes.use", across=0.13)))
        yield from settled(hands)
        assert person.pose.bones[HEAD].lookat_pd.eyes.use
        missed, heads = {}, {}
        for frame in (8, 14, 40, 14):
            scene.frame_set(frame)
            yield from settled(hands)
            eye, heads[frame] = _places(person, "eye.L", "head")
            way = np.array((1.5, -1.5, 1.7)) - eye[:3, 3]
            missed[frame] = float(np.degrees(np.arccos(min(way @ eye[:3, 1] / np.linalg.norm(way), 1.0))))
        assert missed[8] > 20.0
        assert max(missed[14], missed[40]) < 0.5
        assert np.abs(heads[14] - heads[40]).max() > 0.1, "the head is still on its way"
        hands.look("eyes")
