"""Which part of a human each bone is, and which bodies are none."""

import numpy as np
import pytest

from extension import load

from . import skeletons

anatomy = load("rig.detection.anatomy")
body_segments = load("rig.detection.body_segments")
rotation = load("lookat_pd.rotation")

HUMAN = skeletons.human(skeletons.CONVENTIONS["bvh"])


def segments(body, vertical=anatomy.VERTICAL):
    rows = sorted(range(len(body)), key=lambda bone: len(body.ancestors(bone)))
    return body_segments.human(anatomy.Anatomy(body, vertical=vertical), rows)


@pytest.mark.parametrize("renaming", skeletons.RENAMED)
def test_a_human_has_the_same_parts_under_names_that_say_nothing(renaming: str) -> None:
    plain, found = segments(HUMAN), segments(skeletons.RENAMED[renaming](HUMAN))
    assert found is not None
    # Without names, which side is the left one does not matter to a mass.
    assert {bone: part for bone, (part, _) in found.items()} == {bone: part for bone, (part, _) in plain.items()}
    assert len({side for _, side in found.values()}) == 3


def test_a_human_that_stands_along_another_axis_is_one() -> None:
    turned = skeletons.moved(skeletons.nameless(), rotation.from_axis_angle((1.0, 0.0, 0.0), np.radians(-90.0)))
    assert segments(turned, vertical=(0.0, 1.0, 0.0)) is not None


@pytest.mark.parametrize("body", [skeletons.bird(), skeletons.quadruped(), skeletons.snake(12)])
@pytest.mark.parametrize("renaming", [None, *skeletons.RENAMED])
def test_animals_are_no_humans(body, renaming: str | None) -> None:
    assert segments(body if renaming is None else skeletons.RENAMED[renaming](body)) is None


def test_wings_beside_arms_belong_to_the_trunk() -> None:
    rows = [
        (name, None if parent < 0 else HUMAN.names[parent], head, tail)
        for name, parent, head, tail in zip(HUMAN.names, HUMAN.parents, HUMAN.heads, HUMAN.tails, strict=True)
    ]
    for side, x in (("Left", 1.0), ("Right", -1.0)):
        rows += skeletons.line([f"{side}Wing1", f"{side}Wing2"], [(0.1 * x, 0.1, 1.4), (0.5 * x, 0.3, 1.6)], "Spine1")
    angel = skeletons.build(rows)
    found = segments(angel)
    assert {found[angel.index(f"{side}Wing{n}")] for side in ("Left", "Right") for n in (1, 2)} <= {
        ("upper_trunk", ""),
        ("head", ""),
    }
