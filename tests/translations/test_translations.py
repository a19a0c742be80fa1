"""Everything that an animator can read is there in Japanese, and nothing else is."""
# ruff: noqa: RUF001 - Japanese punctuation

import re
from collections.abc import Iterator

import bpy
import pytest

from extension import load

from . import texts

ja = load("translations.ja")
messages = load("translations.messages")
INTERFACE, SENTENCES, PIECES = texts.collect()
WRITTEN = {(texts.ANY, text): translated for text, translated in ja.INTERFACE.items()} | {
    (texts.OPERATOR, text): translated for text, translated in ja.OPERATORS.items()
}
EVERYTHING = {**ja.INTERFACE, **ja.OPERATORS, **ja.SENTENCES, **ja.PIECES}


def holes(text: str) -> set[tuple[str, str]]:
    """Numbers and formats of the holes of a template."""
    found = re.findall(r"\{(\d*)(:[^}]*)?\}", text)
    return {(number or str(place), form) for place, (number, form) in enumerate(found)}


def test_the_source_is_read() -> None:
    """The tests below say little where the texts are not found: one of each kind and place."""
    assert {
        ("Operator", "Add Look-at PD"),  # name of an operator
        ("*", "Make the head, and the neck and spine below it, look at a target"),  # its description
        ("*", "Closed form: the same motion at every frame rate"),  # description of an enum item
        ("*", "Advanced"),  # label of a panel
        ("Operator", "Bake"),  # text of a button
        ("*", "Sideways"),  # text of a setting in a layout
    } <= INTERFACE
    assert {
        "Select the character's armature",  # why an operator is disabled
        "The aiming bone stays first in its chain.",  # a report
        "Bone '{}' has zero scale at frame {}; give it a scale above zero.",  # an error by way of str.format
        "Smoothed {} pops at frame {}.",  # a plural
        "The damping ratio must be 0 or more, not {}.",  # an error of a solver
        "A step of {} s is not stable with the {} integrator (limit {} s); it is divided into {}.",  # a warning
    } <= SENTENCES
    assert {"the current action", "source", " and {} more"} <= PIECES


def test_the_interface_is_translated() -> None:
    missing = INTERFACE - WRITTEN.keys()
    assert not missing


def test_sentences_are_translated() -> None:
    assert not SENTENCES - ja.SENTENCES.keys()


def test_pieces_of_sentences_are_translated() -> None:
    assert not PIECES - ja.PIECES.keys()


def test_nothing_is_translated_that_nobody_says() -> None:
    dead = WRITTEN.keys() - INTERFACE
    assert not dead
    assert not ja.SENTENCES.keys() - SENTENCES
    assert not ja.PIECES.keys() - PIECES


def test_holes_agree() -> None:
    assert not {text for text, translated in EVERYTHING.items() if holes(text) != holes(translated)}


def test_translations_are_japanese() -> None:
    kana_or_kanji = re.compile(r"[\u3041-\u30fa\u4e00-\u9fff]")
    assert not {text for text, translated in EVERYTHING.items() if not kana_or_kanji.search(translated)}


def test_sentences_end_as_japanese_ones() -> None:
    assert not {text for text, translated in EVERYTHING.items() if translated.endswith(".") or "'" in translated}
    assert not {text for text, translated in ja.SENTENCES.items() if text.endswith(".") != translated.endswith("。")}


def said(template: str) -> tuple[str, list[str]]:
    """A sentence as it may come, and what stands in its holes."""
    filled = [f"x{n}" for n in range(template.count("{}"))]
    return template.format(*filled), filled


@pytest.mark.parametrize("template", sorted(SENTENCES))
def test_a_sentence_is_recognised_and_keeps_what_it_is_about(template: str) -> None:
    sentence, filled = said(template)
    assert messages.japanese(sentence) == ja.SENTENCES[template].format(*filled)


def test_names_are_kept_and_words_translated() -> None:
    assert messages.japanese("Bone 'source' has zero scale at frame 7; give it a scale above zero.") == (
        "ボーン「source」のスケールがフレーム7で0です。0より大きくしてください。"
    )
    assert messages.japanese("There is no action 'target' to be the source; choose one that exists.") == (
        "ソースにするアクション「target」がありません。存在するものを選択してください。"
    )
    assert messages.japanese("Baked 1 bone, frames 1 to 9, into the current action (0.10 s).") == (
        "1ボーン、フレーム1～9を現在のアクションにベイクしました（0.10秒）。"
    )


def test_lists_in_sentences() -> None:
    wrong_rig = (
        "Action 'walk' is made for another rig: of the 9 bones it moves 'Human' has only 'hips', "
        "not 'a', 'b' and 6 more; choose an action of this rig."
    )
    assert messages.japanese(wrong_rig) == (
        "アクション「walk」は別のリグ用です。動かす9個のボーンのうち「Human」にあるのは「hips」のみで、"
        "「a」, 「b」、他6個がありません。このリグのアクションを選択してください。"
    )
    joined = "'new': 3 bones, frames 1 to 9, joined at frame 4 (0.20 s), frame 6 (0.10 s), placed by 'hips' (0.50 s)."
    assert messages.japanese(joined) == (
        "「new」：3ボーン、フレーム1～9、接続位置フレーム4（0.20秒）, フレーム6（0.10秒）、「hips」で配置（0.50秒）。"
    )


def test_names_may_hold_anything() -> None:
    name = "b}{0} (1)\n.*'; choose"
    sentence = f"Armature 'A' has no bone '{name}'; choose one that exists."
    translated = f"アーマチュア「A」にボーン「{name}」がありません。存在するものを選択してください。"
    assert messages.japanese(sentence) == translated


def test_what_is_unknown_stays_as_it_is() -> None:
    for text in ("", "Something else.", "ボーンを選択してください。"):
        assert messages.japanese(text) == text


def test_english_stays_english() -> None:
    assert bpy.app.translations.locale != "ja_JP"
    assert messages.translate("Leave edit mode") == "Leave edit mode"


@pytest.fixture
def in_japanese() -> Iterator[None]:
    """Blender in Japanese."""
    if not bpy.app.build_options.international:
        pytest.skip("this Blender is built without other languages; a real one has them")
    view = bpy.context.preferences.view
    language = view.language
    view.language = "ja_JP"
    yield
    view.language = language


@pytest.mark.usefixtures("in_japanese")
def test_blender_shows_japanese() -> None:
    look_up = bpy.app.translations.pgettext
    shown = {(context, text): look_up(text, context) for context, text in WRITTEN}
    assert shown == WRITTEN


@pytest.mark.usefixtures("in_japanese")
def test_operators_complain_in_japanese() -> None:
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones.new("head").tail = (0.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(RuntimeError, match="シーンにオブジェクト「Ball」がありません"):
        bpy.ops.lookat_pd.add(bone="head", target="Ball")
    with pytest.raises(RuntimeError, match="先にルックアットを追加してください"):
        bpy.ops.lookat_pd.bake()


@pytest.mark.usefixtures("in_japanese")
def test_unregistering_takes_the_translations_away() -> None:
    assert bpy.app.translations.pgettext("Settle Time") == "整定時間"
    package = load()
    package.unregister()
    try:
        assert bpy.app.translations.pgettext("Settle Time") == "Settle Time"
    finally:
        package.register()
    assert bpy.app.translations.pgettext("Settle Time") == "整定時間"
