"""Translation of messages, which Blender cannot look up because they contain values."""

from typing import Any

import bpy

from ..lookat_pd.errors import LookAtError
from ..lookat_pd.message import Message
from . import ja


def translate(message: str | LookAtError) -> str:
    """The message in the language of the interface; in English if that is not Japanese or the template is unknown."""
    return japanese(message) if _wants_japanese() else str(message)


def japanese(message: str | LookAtError) -> str:
    """The message in Japanese by its template, with its values; values that are messages are translated as well."""
    text = str(message)
    if not isinstance(text, Message):
        return ja.MESSAGES.get(text, text)
    template = ja.MESSAGES.get(text.template, text.template)
    return template.format(**{name: _value(value) for name, value in text.values.items()}) if text.values else template


def _value(value: Any) -> Any:
    return japanese(value) if isinstance(value, Message | LookAtError) else value


def _wants_japanese() -> bool:
    view = bpy.context.preferences.view
    return bpy.app.translations.locale == "ja_JP" and view.use_translate_reports
