"""The interface in other languages: dictionaries for Blender, and `messages` for sentences with values."""

import bpy

from . import ja


def dictionary() -> dict[str, dict[tuple[str, str], str]]:
    """Blender's dictionaries by language, context and English text. Messages without values are labels as well."""
    whole = {("*", text): translated for text, translated in ja.MESSAGES.items() if "{" not in text}
    shown = {
        (context, text): translated for context, texts in ja.INTERFACE.items() for text, translated in texts.items()
    }
    return {"ja_JP": whole | shown}


def register() -> None:
    bpy.app.translations.register(__name__, dictionary())


def unregister() -> None:
    bpy.app.translations.unregister(__name__)
