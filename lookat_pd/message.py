"""A sentence for the user, kept as a template and its values, so that it can be translated by its template."""

from collections.abc import Iterable
from typing import Any


class Message(str):
    """The English sentence, as a str that keeps the template and the values that it was made of.

    A template has named placeholders with or without a format, as `str.format` takes them; without values it is plain
    text in which braces mean themselves. Values that are Messages, or errors with one, are translated too; all others
    are kept as they are.
    """

    __slots__ = ("template", "values")
    template: str
    values: dict[str, Any]

    def __new__(cls, template: str, /, **values: Any) -> "Message":
        if isinstance(template, Message) and not values:
            return template
        message = super().__new__(cls, template.format(**values) if values else template)
        message.template, message.values = str.__str__(template), values
        return message

    def __str__(self) -> str:
        # str() of a message, and of an error that has one, can still be translated.
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        return (self.template,), self.values


def joined(separator: str, parts: Iterable[str]) -> Message:
    """Parts in a row, as one message that translates each of them."""
    values = {f"part_{n}": part for n, part in enumerate(parts)}
    return Message(separator.join(f"{{{name}}}" for name in values), **values)
