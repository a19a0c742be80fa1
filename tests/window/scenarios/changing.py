"""Settings changed in the panel, with the mouse and with the keyboard."""

from character import armature, look_at_ball, settings
from windowed.hands import Hands, Waiting
from windowed.scripts import script


@script()
def slider_dragged(hands: Hands) -> Waiting:
    """The settle time follows the mouse, and one undo takes the whole drag back."""
    yield from look_at_ball(hands)
    before, seen = settings().settle_time, []
    slider = yield from hands.find("settle_time")
    yield from hands.drag(
        (slider.x, slider.y), (slider.x + 60, slider.y), each=lambda: seen.append(settings().settle_time)
    )
    after = settings().settle_time
    assert after > before + 0.1, (before, after)
    assert len(set(seen)) > 3, f"the value does not follow the mouse: {seen}"
    yield from hands.undo()
    assert settings().settle_time == before, (before, settings().settle_time)
    yield from hands.redo()
    assert abs(settings().settle_time - after) < 1e-6


@script()
def value_typed(hands: Hands) -> Waiting:
    """Enter over a field, a number, Enter."""
    yield from look_at_ball(hands)
    slider = yield from hands.find("settle_time")
    yield from hands.key("RET")
    yield from hands.key("A", ctrl=True)
    yield from hands.write("1.25")
    yield from hands.key("RET")
    assert abs(settings().settle_time - 1.25) < 1e-6, settings().settle_time
    assert slider.meaning.endswith(".settle_time")


@script()
def looked_off_by_click(hands: Hands) -> Waiting:
    """The check box, and the dot beside it that keys it."""
    yield from look_at_ball(hands)
    yield from hands.click((yield from hands.find(".use")))
    assert not settings().use
    yield from hands.click((yield from hands.find("lookat_pd.key", across=0.835)))
    paths = [
        curve.data_path
        for layer in armature().data.animation_data.action.layers
        for strip in layer.strips
        for bag in strip.channelbags
        for curve in bag.fcurves
    ]
    assert paths == ["lookat_pd_shot[0].use"], paths
    yield from hands.undo()
    yield from hands.undo()
    assert settings().use


@script()
def removed_by_cross(hands: Hands) -> Waiting:
    """The cross in the list takes the look-at away; undo brings it back."""
    yield from look_at_ball(hands)
    yield from hands.click((yield from hands.find("lookat_pd.remove", across=0.835)))
    assert not settings().exists
    yield from hands.find("lookat_pd.add")
    yield from hands.undo()
    assert settings().exists
