"""A message for the user, stored as a template and its values, so that the template can be translated."""

from collections.abc import Iterable
from typing import Any


class Message(str):
    """The English sentence, as a str with its template and values.

    A template has named placeholders with or without a format, as for `str.format`; without values it is plain text,
    including braces. Values that are Messages, or errors with one, are translated as well; all others are not changed.

    code: a name for programs, which stays where the sentence is worded anew; "" for that of a value that has one.
    """

    __slots__ = ("_code", "template", "values")
    template: str
    values: dict[str, Any]

    def __new__(cls, template: str, /, code: str = "", **values: Any) -> "Message":
        if isinstance(template, Message) and not values:
            return template
        message = super().__new__(cls, template.format(**values) if values else template)
        message.template, message.values, message._code = str.__str__(template), values, code
        return message

    @property
    def code(self) -> str:
        """Its own code, or that of the first message within it that has one; "" if there is none."""
        inner = (
            value.args[0] if isinstance(value, Exception) and value.args else value for value in self.values.values()
        )
        return self._code or next((one.code for one in inner if isinstance(one, Message) and one.code), "")

    def __str__(self) -> str:
        # str() of a message, and of an error that has one, can still be translated.
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[str, str], dict[str, Any]]:
        return (self.template, self._code), self.values


def shown(value: object) -> str:
    """A value as a message quotes it, never at length."""
    try:
        text = str(value)
    except ValueError:
        # Python writes no whole number of thousands of digits.
        return "..."
    return text if len(text) <= 60 else text[:57] + "..."


def joined(separator: str, parts: Iterable[str]) -> Message:
    """The parts joined, as one message in which each is translated."""
    values = {f"part_{n}": part for n, part in enumerate(parts)}
    return Message(separator.join(f"{{{name}}}" for name in values), **values)
