"""The preview of the decay, which the panel plots: any two methods, with the profile."""

import bpy
import numpy as np
import pytest

from extension import load

from .motions import character, use, walk

decay_preview = load("rig.transitions.decay_preview")
methods = load("lookat_pd.transitions.methods")


@pytest.fixture
def settings():
    armature = character()
    use(armature, walk(armature, "Walk"))
    walk(armature, "Run", seed=2)
    settings = bpy.context.scene.lookat_pd_transition
    settings.destination, settings.source_frame, settings.destination_frame = "Run", 20, 9
    settings.use_auto_blend, settings.blend = False, 0.4
    return settings


def shown():
    return decay_preview.preview(bpy.context.scene, bpy.data.objects["Hero"])


def test_a_comparison_is_the_plot_of_the_other_method(settings) -> None:
    single = {}
    for row in methods.METHODS.values():
        settings.method = row.identifier
        found = shown()
        assert found.compared is None and found.methods[0] == found.methods[1]
        single[row.identifier] = found
    assert max(values.max() for values in single["CUT"].parts.values()) < 1e-4
    assert single["AUTO"].methods[0] in {methods.METHODS[name].label for name in ("inertial", "swing", "dead")}
    settings.method = "INERTIAL"
    for other in ("SPRING", "LINEAR", "AUTO"):
        settings.compare = other
        found = shown()
        assert found.methods == (single["INERTIAL"].methods[0], single[other].methods[0])
        for curves, alone in ((found.parts, single["INERTIAL"].parts), (found.compared, single[other].parts)):
            assert curves.keys() == alone.keys()
            np.testing.assert_array_equal(list(curves.values()), list(alone.values()))


def test_the_profile_is_plotted(settings) -> None:
    before = shown()
    settings.use_profile = True
    row = settings.profile_rows.add()
    row.kind, row.pattern, row.factor = "BONES", "*", 0.0
    assert max(values.max() for values in shown().parts.values()) < 1e-4
    row.factor, row.delay = 1.0, 0.2
    delayed = shown()
    part = max(before.parts, key=lambda name: before.parts[name][0])
    late = int(np.argmax(delayed.times > 0.4))
    assert before.parts[part][late] < 1e-4 < delayed.parts[part][late]


def test_without_a_destination_there_is_no_plot(settings) -> None:
    settings.destination = ""
    assert shown() is None
