"""Calling Blender's importers and exporters: what they report as an error becomes one sentence."""

import re
from collections.abc import Callable

from ..lookat_pd.errors import FileError
from ..lookat_pd.message import Message

BROKEN = Message(
    "Blender cannot read it; it may be damaged, or newer than this Blender: save or export it again",
    code="input-broken",
)
_EXCEPTION = re.compile(r"[\w.]*(Error|Exception|error)\b")


def enable(addon: str) -> None:
    """Importers and exporters that are add-ons of Blender's own may be switched off in the user's preferences."""
    import addon_utils

    if not addon_utils.check(addon)[1] and addon_utils.enable(addon, default_set=False) is None:
        raise FileError("Blender's add-on {addon} cannot be enabled; install Blender again.", addon=addon)


def call(operator: Callable[..., set[str]], complaint: str, **arguments: object) -> None:
    """Call an operator; what it reports as an error becomes a FileError."""
    try:
        result = operator(**arguments)
    except RuntimeError as error:
        if "KeyboardInterrupt" in str(error):
            # Within an operator written in Python, Blender takes it for an error of that.
            raise KeyboardInterrupt from None
        reason = _reason(str(error))
        if complaint == BROKEN and _EXCEPTION.match(reason):
            # What an importer written in Python stumbles over says nothing to whoever has the file.
            raise FileError("{reason}.", reason=complaint) from None
        raise FileError("{complaint} ({reason}).", complaint=complaint, reason=reason) from None
    if "FINISHED" not in result:
        raise FileError("{complaint} without a reason; read its messages with --debug.", complaint=complaint)


def _reason(message: str) -> str:
    """What Blender complains of, without the paths that it repeats and the steps of a Python traceback."""
    lines = [line for line in message.splitlines() if line.strip() and not line.startswith("Location:")]
    last = lines[-1] if lines else "no reason given"
    return re.sub(r"^(Error: )?((Loading|FBX Import)\b.*: )?", "", last).strip("'. ")
