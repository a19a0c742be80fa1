"""A setting is declared once: what Blender registers, what requests have and what flags say is read from there."""

import argparse
import math

import bpy
import pytest

from extension import load

settings = load("rig.settings")
setting_flags = load("cli.setting_flags")

_own = settings.Properties(override={"LIBRARY_OVERRIDABLE"}, options=set())


class Dummy:
    """Settings of a request."""

    hold: _own.number("Hold", "Time for which the pose is held", 0.2, max=5.0)
    turn: _own.angle("Turn", "Angle of the turn", 30.0, max=90.0, min=-90.0)
    count: _own.integer("Count", "Number of turns", 3, max=20, min=1)
    how: _own.choice("How", "Kind of the turn", (("FAST", "Fast", "Turn at once"), ("BY_STEP", "Step", "In steps")))
    use_feet: _own.switch("Feet", "Turn the feet", True)


@pytest.fixture
def dummy():
    kind = type("LookAtPDDummy", (Dummy, bpy.types.PropertyGroup), {})
    bpy.utils.register_class(kind)
    bpy.types.Scene.lookat_pd_dummy = settings.pointer(kind)
    yield kind
    del bpy.types.Scene.lookat_pd_dummy
    bpy.utils.unregister_class(kind)


@pytest.fixture
def parser(dummy) -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="test")
    for flag, name in (("--hold", "hold"), ("--turn", "turn"), ("--count", "count"), ("--how", "how")):
        setting_flags.add(found, flag, dummy, name)
    setting_flags.add(found, "--no-feet", dummy, "use_feet", help="leave the feet alone")
    return found


def test_blender_registers_what_was_declared(dummy) -> None:
    found = dummy.bl_rna.properties
    assert found["turn"].hard_max == pytest.approx(math.radians(90.0)) and found["turn"].subtype == "ANGLE"
    hold = found["hold"]
    assert (hold.hard_min, hold.hard_max, hold.description) == (0.0, 5.0, "Time for which the pose is held")
    assert all(found[name].is_overridable and not found[name].is_animatable for name in settings.declared(Dummy))


def test_a_request_has_the_settings_with_their_defaults(dummy) -> None:
    wanted = {"hold": 0.2, "turn": math.radians(30.0), "count": 3, "how": "FAST", "use_feet": True}
    assert vars(settings.plain(Dummy)()) == wanted
    values = settings.values(bpy.context.scene.lookat_pd_dummy, Dummy)
    assert list(values) == list(wanted)
    assert settings.plain(Dummy)(**values).turn == pytest.approx(wanted["turn"])


def test_flags_have_default_range_choices_and_help_of_the_setting(parser) -> None:
    options = parser.parse_args([])
    assert setting_flags.given(options, Dummy) == vars(settings.plain(Dummy)())
    options = parser.parse_args(["--turn", "-45", "--how", "by-step", "--no-feet", "--count", "20"])
    assert (options.turn, options.how, options.use_feet, options.count) == (math.radians(-45.0), "BY_STEP", False, 20)
    text = " ".join(parser.format_help().split())
    assert "time for which the pose is held (default: 0.2)" in text and "(default: 30°)" in text
    assert "fast (default), turn at once; by" in text


@pytest.mark.parametrize("words", [("--hold", "5.1"), ("--turn", "91"), ("--count", "0"), ("--how", "slow")])
def test_a_value_that_the_setting_cannot_have_is_refused(parser, words) -> None:
    with pytest.raises(SystemExit):
        parser.parse_args(words)


def test_what_a_flag_does_not_say_stays_as_in_the_file(dummy) -> None:
    parser = argparse.ArgumentParser()
    for name in ("hold", "use_feet"):
        setting_flags.add(parser, f"--{name}", dummy, name, stored=True)
    scene = bpy.context.scene.lookat_pd_dummy
    scene.hold = 1.0
    setting_flags.apply(parser.parse_args(["--use_feet"]), scene, ("hold", "use_feet"))
    assert (scene.hold, scene.use_feet) == (1.0, False)
