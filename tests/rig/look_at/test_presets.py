"""Presets as files: what they may hold, who may read them, and what they do to a look-at."""

import itertools
from pathlib import Path

import bpy
import pytest

from extension import load

from ..scenes import figure

errors = load("lookat_pd.errors")
look_at_edit = load("rig.look_at.edit")
presets = load("rig.look_at.presets")

SHIPPED = ("Attentive", "Bird", "FFXVI", "Heavy creature", "Relaxed", "Robot")
KEPT = ("target", "subtarget", "use", "influence", "mute", "aim_axis")


@pytest.fixture
def settings():
    """Those of a look-at on a head, at a ball."""
    hero = figure()
    ball = bpy.data.objects.new("Ball", None)
    ball.location = (0, -2, 1.6)
    bpy.context.scene.collection.objects.link(ball)
    look_at_edit.add(bpy.context.scene, hero, "head", ball)
    return hero.pose.bones["head"].lookat_pd


def tuning(settings) -> dict[str, object]:
    return {name: getattr(settings, name) for name in presets.SETTINGS}


def written(folder: Path, text: str) -> Path:
    path = folder / "Mine.py"
    path.write_text(text, "utf-8")
    return path


def test_all_that_ship_are_listed() -> None:
    assert set(SHIPPED) <= presets.available().keys()
    assert all(presets.about(presets.available()[name]) for name in SHIPPED)


@pytest.mark.slow
@pytest.mark.parametrize(("before", "after"), list(itertools.permutations(SHIPPED, 2)))
def test_what_was_set_before_leaves_no_trace(settings, before, after) -> None:
    """A preset says all that presets can say."""
    presets.apply(presets.read(presets.available()[after]), settings)
    alone = tuning(settings)
    for name in (before, after):
        presets.apply(presets.read(presets.available()[name]), settings)
    assert tuning(settings) == alone


def test_what_is_looked_at_and_with_what_stays(settings) -> None:
    kept = [getattr(settings, name) for name in KEPT]
    chain = [(link.bone, link.share, link.yaw_limit) for link in settings.chain]
    for name in SHIPPED:
        presets.apply(presets.read(presets.available()[name]), settings)
    assert [getattr(settings, name) for name in KEPT] == kept
    assert [(link.bone, link.share, link.yaw_limit) for link in settings.chain] == chain


def test_saved_settings_come_back(settings, tmp_path) -> None:
    settings.settle_time, settings.damping, settings.damping_ratio = 0.123456, "CUSTOM", 0.3
    settings.max_speed, settings.method, settings.release_time = 1.9, "COMPONENT", 0.0
    saved = tuning(settings)
    presets.write(settings, tmp_path / "Mine.py")
    presets.apply(presets.read(presets.available()["Bird"]), settings)
    assert tuning(settings) != saved
    presets.apply(presets.read(tmp_path / "Mine.py"), settings)
    assert tuning(settings) == saved


@pytest.mark.every_blender
def test_blender_itself_can_run_them(settings) -> None:
    """They are presets as Blender writes them: its own operator gives the active bone the same settings."""
    bpy.ops.object.mode_set(mode="POSE")
    look_at_edit.activate(settings.id_data, "head")
    for name in SHIPPED:
        path = presets.available()[name]
        presets.apply(presets.read(path), settings)
        wanted = tuning(settings)
        presets.apply(presets.read(presets.available()["Robot" if name != "Robot" else "Bird"]), settings)
        bpy.utils.execfile(str(path))
        assert tuning(settings) == wanted


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("open('ruined', 'w')", "Line 1"),
        ("import os; os.remove('x')", "Line 1"),
        ("look_at.settle_time = __import__('os').getpid()", "Line 1"),
        ("look_at.chain[0].share = 3.0", "Line 1"),
        ("for x in range(9): look_at.settle_time = 1.0", "Line 1"),
        ("look_at.settle_time =", "cannot be read"),
        ("look_at.settle_time = 'long'", "'settle_time'"),
        ("look_at.settle_time = True", "'settle_time'"),
        ("look_at.settle_time = 1e999", "'settle_time'"),
        ("look_at.damping = 'BOUNCY'", "'damping'"),
        ("look_at.damping = 1", "'damping'"),
        ("look_at.target = None", "'target'"),
        ("look_at.use = False", "'use'"),
        ("look_at.body.use_arm_recoil = 1.0", "'body.use_arm_recoil'"),
        ("look_at.body.weight_shift = True", "'body.weight_shift'"),
        ("look_at.body.mover = 'hips'", "'body.mover'"),
        ("look_at.eyes.seed = 4", "'eyes.seed'"),
        ("look_at.eyes.nonsense = 1.0", "'eyes.nonsense'"),
        ("look_at.body.eyes.use = True", "Line 1"),
        ("look_at().use = True", "Line 1"),
        ("look_at.nonsense = 1.0", "'nonsense'"),
    ],
)
def test_what_is_no_plain_setting_is_refused_and_never_run(tmp_path, monkeypatch, line, words) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(errors.FileError, match=words):
        presets.read(written(tmp_path, line))
    assert [path.name for path in tmp_path.iterdir()] == ["Mine.py"]


def test_a_file_that_cannot_be_read(tmp_path) -> None:
    (tmp_path / "Mine.py").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "Mine.py", tmp_path / "Nowhere.py"):
        with pytest.raises(errors.FileError, match="cannot be read"):
            presets.read(path)
        assert presets.about(path) == ""


@pytest.mark.parametrize(
    "value",
    [
        "[" * 5000 + "]" * 5000,
        "-" * 5000 + "1",
        "9" * 5000,
        "9" * 4000,
        "1e400",
        "0x" + "f" * 40000,
        "'" + "x" * 100000 + "'",
    ],
    ids=["nested", "minuses", "digits", "fewer digits", "infinite", "hexadecimal", "a long word"],
)
def test_huge_values_are_refused_in_one_sentence(tmp_path, value) -> None:
    path = tmp_path / "Huge.py"
    path.write_text(f"look_at.settle_time = {value}\n", "utf-8")
    with pytest.raises(errors.FileError) as caught:
        presets.read(path)
    assert "'Huge'" in str(caught.value) and len(str(caught.value)) < 200


def test_a_file_too_large_for_a_preset_is_not_read(tmp_path) -> None:
    path = tmp_path / "Large.py"
    path.write_text("# nothing\n" * 200_000, "utf-8")
    with pytest.raises(errors.FileError, match="'Large'"):
        presets.read(path)


def everything(settings) -> dict[str, object]:
    return {name: presets.value(settings, name) for name in presets.contents()}


def test_body_and_eyes_are_saved_too(settings, tmp_path) -> None:
    """But neither the bones of one rig nor the seed of one shot."""
    settings.body.use_weight_shift, settings.body.weight_side, settings.body.torso_from = True, -7.5, 0.3
    settings.body.use_planted_feet, settings.body.mover = False, "hips"
    settings.eyes.use, settings.eyes.head_share, settings.eyes.drift, settings.eyes.seed = True, 0.4, 0.1, 7
    saved = everything(settings)
    presets.write(settings, tmp_path / "Mine.py")
    for group in (settings.body, settings.eyes):
        look_at_edit.unset(group)
    presets.apply(presets.read(tmp_path / "Mine.py"), settings)
    assert everything(settings) == saved
    assert settings.body.mover == "" and settings.eyes.seed == 0


def test_ffxvi_has_its_published_layers(settings) -> None:
    """Weight shift, arm recoil and planted feet; nothing of the eyes is in the publication."""
    settings.body.use_planted_feet, settings.body.weight_shift, settings.eyes.use = False, 3.0, True
    presets.apply(presets.read(presets.available()["FFXVI"]), settings)
    body = settings.body
    assert body.use_weight_shift and body.use_arm_recoil and body.use_planted_feet and body.weight_shift == 1.0
    assert not settings.eyes.use


def test_the_other_presets_leave_the_body_as_it_is(settings) -> None:
    settings.body.use_weight_shift, settings.eyes.use = True, True
    before = everything(settings)
    presets.apply(presets.read(presets.available()["Bird"]), settings)
    after = everything(settings)
    assert {name for name in after if after[name] != before[name]} <= set(presets.SETTINGS)


def test_some_settings_are_enough(settings, tmp_path) -> None:
    before = tuning(settings)
    presets.apply(presets.read(written(tmp_path, '"""Slow"""\nlook_at.settle_time = 2')), settings)
    assert tuning(settings) == {**before, "settle_time": 2.0}


def test_unregistering_takes_the_folder_away() -> None:
    package = load()
    package.unregister()
    try:
        assert not set(SHIPPED) & presets.available().keys()
    finally:
        package.register()
    assert set(SHIPPED) <= presets.available().keys()
