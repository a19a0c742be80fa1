"""Stable codes beside the sentences of errors and notes, for programs: wording may change, codes do not."""

from collections.abc import Mapping
from typing import Any

UNKNOWN_ERROR, UNKNOWN_NOTE = "failed", "note"
RETRIED = frozenset(
    ("process-ended", "timeout", "out-of-memory", "unexpected", "unreadable", "unwritable", "disk-full")
)
"""Errors that may not come again."""

# What a template, or a sentence without one, begins with. The first that fits is taken.
_CODES: tuple[tuple[str, str], ...] = (
    ("unexpected: ", "unexpected"),
    ("There is not enough memory", "out-of-memory"),
    ("The process that worked on the file ended", "process-ended"),
    ("The file took longer than", "timeout"),
    ("Interrupted before it was done", "interrupted"),
    ("There is no such file", "input-missing"),
    ("The file is empty", "input-empty"),
    ("The file is truncated", "input-broken"),
    ("The content is not that of", "input-broken"),
    ("The file's JSON part is broken", "input-broken"),
    ("{kind} cannot be read", "input-kind"),
    ("This is a folder", "input-is-folder"),
    ("The file cannot be read", "unreadable"),
    ("The glTF refers to", "input-broken"),
    ("This is glTF of version", "input-broken"),
    ("The file {uri} of the glTF cannot be read", "input-part-missing"),
    ("Blender cannot read it", "input-broken"),
    ("There is nothing in the file", "input-has-no-content"),
    ("The output {output} is", "output-is-input"),
    ("{output} exists and", "output-not-ours"),
    ("{output} exists already", "output-kept"),
    ("{path} is write-protected", "write-protected"),
    ("{path} cannot be written because the disk is full", "disk-full"),
    ("{path} cannot be written", "unwritable"),
    ("Nothing can be written in", "unwritable"),
    ("The folder {folder} cannot be created", "unwritable"),
    ("There is no armature in the file's scene", "no-armature"),
    ("There is no armature", "rig-missing"),
    ("Armature '{armature}' has no bone", "bone-missing"),
    ("The target '{owner}' has no bone", "target-missing"),
    ("There is no target", "target-missing"),
    ("There is no action", "action-missing"),
    ("No action of the file moves", "no-actions"),
    ("Action '{action}' does not move", "action-moves-nothing"),
    ("Several actions of the file move", "several-actions"),
    ("--action stands for", "several-actions"),
    ("There is no look-at", "no-look-at"),
    ("All look-ats of the file are muted", "look-ats-muted"),
    ("A {suffix} has no NLA layers", "format-cannot-hold"),
    ("A .usd holds one motion", "format-cannot-hold"),
    ("The target is out of reach", "target-unreachable"),
    ("No frame of the look-at", "never-settled"),
    ("Feet are not locked", "feet-unreachable"),
    ("Worked on {best} of the armatures", "one-of-several-rigs"),
    ("Another run has written", "written-by-another-run"),
    ("The output is plain glTF", "vrm-lost"),
    ("With --warnings-as-errors", "note-as-error"),
)


def of_error(message: object) -> str:
    return _of(message) or UNKNOWN_ERROR


def of_note(message: object) -> str:
    return _of(message) or UNKNOWN_NOTE


def _of(message: object) -> str | None:
    """The code of a sentence; of one that wraps another one, such as the name of an action before it, that of the
    inner one."""
    values: Mapping[str, Any] = getattr(message, "values", None) or {}
    texts = getattr(message, "template", ""), str(message)
    for beginning, code in _CODES:
        if any(text.startswith(beginning) for text in texts):
            return code
    return next(
        (code for value in values.values() if hasattr(_inner(value), "template") and (code := _of(_inner(value)))), None
    )


def _inner(value: Any) -> Any:
    """The message of an error."""
    return value.args[0] if isinstance(value, Exception) and value.args else value
