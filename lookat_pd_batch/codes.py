"""Stable codes beside the sentences of errors and notes, for programs: wording may change, codes do not.

A code stands where its sentence is written, `RigError("There is no ...", code="no-actions")`, and in the list of
`docs/command-line.md`. A sentence that holds another one, as one after the name of an action, has the code of that.
"""

UNKNOWN_ERROR, UNKNOWN_NOTE = "failed", "note"
RETRIED = frozenset(
    ("process-ended", "timeout", "out-of-memory", "unexpected", "unreadable", "unwritable", "disk-full")
)
"""Errors that may not come again."""


def of_error(message: object) -> str:
    return getattr(message, "code", "") or UNKNOWN_ERROR


def of_note(message: object) -> str:
    return getattr(message, "code", "") or UNKNOWN_NOTE
