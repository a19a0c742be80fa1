"""Everything that an animator can read is there in Japanese, and nothing else is."""
# ruff: noqa: RUF001 - Japanese punctuation

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import pytest

from extension import load

from . import texts

ja = load("translations.ja")
messages = load("translations.messages")
errors = load("lookat_pd.errors")
message = load("lookat_pd.message")
Message = message.Message
WRITTEN = {(context, text): done for context, written in ja.INTERFACE.items() for text, done in written.items()}
EVERYTHING = [*((text, done) for (_, text), done in WRITTEN.items()), *ja.MESSAGES.items()]


def test_the_source_is_read() -> None:
    """The tests below say little where the texts are not found: one of each kind and place."""
    assert {
        ("Operator", "Add Look-at PD"),  # name of an operator
        ("*", "Make the head, and the neck and spine below it, look at a target"),  # its description
        ("*", "Closed form: the same motion at every frame rate"),  # description of an enum item
        ("*", "Advanced"),  # label of a panel
        ("Operator", "Bake"),  # text of a button
        ("*", "Sideways"),  # text of a setting in a layout
    } <= texts.interface()
    assert {
        "Select the character's armature",  # why an operator is disabled
        "The aiming bone is always the first bone of its chain.",  # a report
        "Bone '{name}' has a scale of 0 at frame {frame}; set a scale above 0.",  # an error from a table
        "Smoothed {pops} pops at frame {frames}{feet}.",  # a plural
        "The damping ratio must be from 0 to {most:g}, not {damping_ratio}.",  # an error of a solver
        "A step of {dt:.4g} s is not stable with the {integrator} integrator (limit {limit:.4g} s); it is divided into "
        "{count}.",  # a warning
        "the current action",  # a word in a message
        "{names} and {others} more",  # a message in a message
    } <= texts.templates()


def test_messages_are_templates() -> None:
    """Not finished sentences, which nothing could look up."""
    nameless = {text for text in texts.templates() if any(not name.isidentifier() for name, *_ in texts.holes(text))}
    assert not nameless


def test_words_in_messages_are_messages() -> None:
    rooms = texts.sources("panels", "operators", "rig", "lookat_pd")
    assert not [found for source in rooms for found in texts.untranslated(source)]


def test_the_interface_is_translated() -> None:
    missing = texts.interface() - WRITTEN.keys()
    assert not missing


def test_messages_are_translated() -> None:
    assert not {text for text in texts.templates() if texts.has_words(text)} - ja.MESSAGES.keys()


def test_nothing_is_translated_that_nobody_says() -> None:
    dead = WRITTEN.keys() - texts.interface()
    assert not dead
    assert not ja.MESSAGES.keys() - texts.templates()


def test_placeholders_agree() -> None:
    assert not {text for text, done in EVERYTHING if texts.holes(text) != texts.holes(done)}


def test_translations_are_japanese() -> None:
    kana_or_kanji = re.compile(r"[\u3041-\u30fa\u4e00-\u9fff]")
    assert not {text for text, done in EVERYTHING if texts.has_words(text) and not kana_or_kanji.search(done)}


def test_messages_end_as_japanese_ones() -> None:
    assert not {text for text, done in EVERYTHING if done.endswith(".") or "'" in done}
    assert not {text for text, done in ja.MESSAGES.items() if text.endswith(".") != done.endswith("。")}


def test_names_in_quotes_are_in_japanese_quotes() -> None:
    outside = {
        text: name for text, done in ja.MESSAGES.items() for name in texts.quoted(text) if f"「{{{name}}}" not in done
    }
    assert not outside


def test_the_data_is_in_order() -> None:
    """Sorted, so that an entry is found and two people who add one do not meet at the end."""
    data = json.loads(Path(ja.__file__).with_suffix(".json").read_text("utf-8"))
    for part in (*data["interface"].values(), data["messages"]):
        assert list(part) == sorted(part, key=lambda text: (text.lower(), text))


def example(template: str) -> Any:
    """A message as it may come, and its values as they are shown."""
    values, shown = {}, []
    for n, (name, form, conversion) in enumerate(sorted(texts.holes(template), key=str)):
        values[name] = 0.25 + n if form else f"x{n}"
        shown.append(f"{{0{'!' + conversion if conversion else ''}:{form}}}".format(values[name]))
    return Message(template, **values), shown


def test_a_message_is_translated_with_its_values() -> None:
    for template in sorted(texts.templates()):
        given, shown = example(template)
        translated = messages.japanese(given)
        assert translated == ja.MESSAGES.get(template, template).format(**given.values)
        assert all(value in given and value in translated for value in shown), template


def test_names_are_kept_and_words_translated() -> None:
    scale = "Bone '{name}' has a scale of 0 at frame {frame}; set a scale above 0."
    assert messages.japanese(Message(scale, name="source", frame=7)) == (
        "ボーン「source」のスケールがフレーム7で0です。0より大きくしてください。"
    )
    missing = "There is no action '{name}' for the {role}; choose one that exists."
    assert messages.japanese(Message(missing, name="target", role=Message("source"))) == (
        "ソースにするアクション「target」がありません。存在するものを選択してください。"
    )
    template = "Baked {what}, frames {first} to {last}, into {where} ({took} s)."
    baked = Message(template, what=Message("1 bone"), first=1, last=9, where=Message("the current action"), took="0.10")
    assert baked == "Baked 1 bone, frames 1 to 9, into the current action (0.10 s)."
    assert messages.japanese(baked) == "1ボーン、フレーム1～9を現在のアクションにベイクしました（0.10秒）。"


def test_errors_are_translated() -> None:
    error = errors.RigError("Bone '{name}' has a scale of 0; set a scale above 0.", name="head")
    shown = "ボーン「head」のスケールが0です。0より大きくしてください。"
    assert messages.japanese(error) == shown
    assert messages.japanese(str(error)) == shown
    assert messages.japanese(Message("{reason}.", reason=error)) == f"{shown}。"


def test_lists_in_messages() -> None:
    names = message.joined(", ", (Message("'{name}'", name=name) for name in "ab"))
    some = Message("{names} and {others} more", names=names, others=6)
    assert some == "'a', 'b' and 6 more"
    assert messages.japanese(some) == "「a」, 「b」、他6個"
    assert messages.japanese(Message("only {fitting}", fitting=names)) == "「a」, 「b」のみ"


def test_names_may_hold_anything() -> None:
    name = "b}{0} (1)\n.*'; choose {name}"
    given = Message("Armature '{armature}' has no bone '{name}'; choose one that exists.", armature="A", name=name)
    translated = f"アーマチュア「A」にボーン「{name}」がありません。存在するものを選択してください。"
    assert messages.japanese(given) == translated


def test_what_is_unknown_stays_as_it_is() -> None:
    for text in ("", "Something else.", "ボーンを選択してください。", "{name}"):
        assert messages.japanese(text) == text
    assert messages.japanese(Message("Unknown {what} here", what=Message("source"))) == "Unknown ソース here"


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


@pytest.mark.every_blender
@pytest.mark.usefixtures("in_japanese")
def test_blender_shows_japanese() -> None:
    look_up = bpy.app.translations.pgettext
    shown = {(context, text): look_up(text, context) for context, text in WRITTEN}
    assert shown == WRITTEN


@pytest.mark.every_blender
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


@pytest.mark.every_blender
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
