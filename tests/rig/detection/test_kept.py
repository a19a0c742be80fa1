"""What was found in a rig is found again without another look, and anew where anything that it hangs on has changed."""

from dataclasses import replace

import numpy as np

from extension import load

from . import skeletons

detect = load("rig.detection.detect")


def counted(monkeypatch) -> list[object]:
    """Grows with each look at an anatomy."""
    looks: list[object] = []
    read = detect.axes.read
    monkeypatch.setattr(detect.axes, "read", lambda anatomy, *more: looks.append(anatomy) or read(anatomy, *more))
    return looks


def test_axes_are_read_again_where_the_skeleton_or_a_hint_has_changed(monkeypatch) -> None:
    looks = counted(monkeypatch)
    body = skeletons.moved(skeletons.quadruped(), shift=(0.125, 0.0, 0.0))
    first = detect.read_axes(body)
    same = replace(body, names=[*body.names], heads=body.heads.copy())
    assert detect.read_axes(same) is first and len(looks) == 1
    changed = [
        (skeletons.moved(body, scale=2.0), detect.RigHints()),
        (skeletons.renamed(body, lambda name: name + "_1"), detect.RigHints()),
        (body, detect.RigHints(deform=frozenset(body.names[:4]))),
        (body, detect.RigHints(vertical=(0.0, 1.0, 0.0))),
        (body, detect.RigHints(carriers={body.names[-1]: [body.names[0]]})),
    ]
    for number, (other, hints) in enumerate(changed, 2):
        detect.read_axes(other, hints)
        assert len(looks) == number


def test_axes_that_a_mesh_has_decided_are_read_again_where_it_has_changed(monkeypatch) -> None:
    looks = counted(monkeypatch)
    body, normals = skeletons.snake(5), [np.eye(3)[0], np.eye(3)[0], np.eye(3)[1]]
    asked = iter([*normals, *normals[2:]])
    hints = detect.RigHints(mesh_normal=lambda: next(asked))
    for count in (1, 1, 2):
        detect.read_axes(body, hints)
        assert len(looks) == count
    assert not list(asked)


def test_a_chain_that_was_found_is_the_callers_own() -> None:
    body = skeletons.quadruped()
    head = detect.find_head(body)
    found = detect.find_chain(body, head)
    found.clear()
    assert detect.find_chain(body, head)
