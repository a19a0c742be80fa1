"""The exceptions of the project: every message names the thing and the remedy in one sentence."""


class LookAtError(Exception):
    """Root of everything this project raises on purpose; the message is meant for the user."""


class InvalidArgument(LookAtError, ValueError):
    """A value that no method can work with: the message says what was wanted and what came."""


class RigError(LookAtError):
    """The rig, its animation or the scene does not allow what was asked."""


class FileError(LookAtError):
    """A file cannot be read or written."""


class EngineMissing(LookAtError):
    """The physics engine is needed and is not there."""


class Cancelled(LookAtError):
    """The user stopped the work; nothing was changed."""


class StabilityWarning(UserWarning):
    """The step given is too long for the integrator; it was divided into stable ones."""
