"""The interface in other languages: dictionaries for Blender, and `messages` for sentences with names in them."""

import bpy

from . import ja


def dictionary() -> dict[str, dict[tuple[str, str], str]]:
    """What Blender looks up by language, context and English text. Whole sentences are labels as well."""
    whole = {text: translated for text, translated in ja.SENTENCES.items() if "{}" not in text}
    anywhere = {("*", text): translated for text, translated in {**ja.INTERFACE, **whole}.items()}
    return {"ja_JP": anywhere | {("Operator", text): translated for text, translated in ja.OPERATORS.items()}}


def register() -> None:
    bpy.app.translations.register(__name__, dictionary())


def unregister() -> None:
    bpy.app.translations.unregister(__name__)
