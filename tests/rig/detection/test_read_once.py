"""What is read of an armature while nothing changes is read once; else each time."""

from extension import load

from ..scenes import figure

constrained = load("rig.detection.constrained")
read_once = load("rig.detection.read_once")


def test_read_once_only_while_nothing_changes() -> None:
    armature, other = figure(), figure()
    with read_once.unchanged():
        known = constrained.read(armature)
        with read_once.unchanged():
            assert constrained.read(armature) is known
        assert constrained.read(armature) is known and constrained.read(other) is not known
    copying = armature.pose.bones["hips"].constraints.new("COPY_ROTATION")
    copying.target, copying.subtarget = armature, "head"
    assert constrained.read(armature) != known
    with read_once.unchanged():
        assert constrained.read(armature) != known
