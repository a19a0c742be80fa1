"""The blend profile of the command line: a JSON file, or a preset by name."""

from pathlib import Path

from ..lookat_pd.checks import shown
from ..lookat_pd.errors import FileError
from ..lookat_pd.transitions import profiles
from ..lookat_pd.transitions.profiles import ProfileRow
from ..rig.transitions import profile_settings
from . import json_list
from .arguments import Misuse


def read(name: str | None) -> tuple[ProfileRow, ...]:
    """The rows of a file or of a preset; none without one. Raises Misuse."""
    if name is None:
        return ()
    presets = {key.casefold(): path for key, path in profile_settings.available().items()}
    if name.casefold() in presets:
        try:
            return profile_settings.read(presets[name.casefold()])
        except FileError as error:
            raise Misuse(str(error)) from None
    if not Path(name).suffix:
        known = ", ".join(sorted(profile_settings.available()))
        raise Misuse(f"there is no profile {shown(name)!r}; give a JSON file, or one of {known}")
    return json_list.read(Path(name), "profile", profiles.parsed)
