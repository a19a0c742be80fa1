"""The exceptions of the project: every message names the thing and the remedy in one sentence."""

from typing import Any

from .message import Message


class LookAtError(Exception):
    """Root of everything this project raises on purpose; the message is meant for the user.

    Takes a template, its values and a code, or a finished Message; `str` gives the Message.
    """

    def __init__(self, template: str = "", /, **values: Any) -> None:
        super().__init__(Message(template, **values))

    def __str__(self) -> str:
        return self.args[0]


class InvalidArgument(LookAtError, ValueError):
    """An invalid argument: the message says what is expected and what was given."""


class OutOfReach(InvalidArgument):
    """A goal is farther away than a chain is long."""


class RigError(LookAtError):
    """The rig, its animation or the scene does not allow the request."""


class FileError(LookAtError):
    """A file cannot be read or written."""


class EngineMissing(LookAtError):
    """The physics engine is required but not available."""


class StabilityWarning(UserWarning):
    """The step is too long for the integrator; it was divided into stable steps."""
