"""A preset chosen in the panel."""

from character import look_at_ball, settings
from windowed.hands import Hands, NotThere, Waiting
from windowed.scripts import script

ROW = 22
"""Height of a row of the panel, in pixels."""


def open_list(hands: Hands) -> Waiting:
    """Click the menu of presets; where it is."""
    slider = yield from hands.find("settle_time")
    place = slider.x, slider.y + ROW
    yield from hands.click(place)
    yield 0.3
    return place


@script(needs=("panels.presets",))
def preset_chosen(hands: Hands) -> Waiting:
    """Bird is quick; the target and the chain stay; one undo step."""
    yield from look_at_ball(hands)
    before = settings().settle_time
    x, top = yield from open_list(hands)
    for y in range(top - 10, top - 300, -10):
        yield from hands.move((x - 40, y))
        if "Bird" in (yield from hands.copied()):
            break
    else:
        raise NotThere("no preset 'Bird' in the list")
    hands.look("presets-open")
    yield from hands.click((x - 40, y))
    yield 0.2
    assert settings().settle_time < 0.5 * before, settings().settle_time
    assert settings().target.name == "Ball"
    assert len(settings().chain) == 5
    yield from hands.key("ESC")  # the list stays open under the mouse
    yield from hands.undo()
    assert abs(settings().settle_time - before) < 1e-6, settings().settle_time
