"""BVH files before Blender imports them: whether they are complete, and their up axis, read from the rest pose."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..lookat_pd.errors import FileError
from ..lookat_pd.rotation import Array

_FRAMES = re.compile(r"frames:? ?(\d+)$", re.IGNORECASE)
_FRAME_TIME = re.compile(r"frame time:? ?(\S+)$", re.IGNORECASE)
_PARTS = {"{": "opening brace", "OFFSET": "offset", "CHANNELS": "channels"}
"""What follows the name of a joint, in this order."""
_CLEARLY = 2.0
_CURED = "export it again"


def import_axes(path: Path) -> dict[str, str]:
    """Arguments for Blender's importer: none for the usual Y up, those for Z up where the figure stands along Z. Raises
    FileError where the file is damaged."""
    return {"axis_forward": "Y", "axis_up": "Z"} if stands_along_z(*_read(path)) else {}


def stands_along_z(names: list[str], places: Array) -> bool:
    """Whether joints at `places` (n, 3), root first, stand up along Z.

    Both must be clear: the figure's height, and the head far up from the root; a four-footed one has its head forward.
    """
    heads = [place for name, place in zip(names, places, strict=True) if "head" in name.lower()]
    if not heads:
        return False
    x, y, z = np.abs(heads[0] - places[0])
    size = np.ptp(places, axis=0)
    return bool(z > _CLEARLY * max(x, y) and size[2] > _CLEARLY * size[1])


def _read(path: Path) -> tuple[list[str], Array]:
    """Names and rest places (n, 3) of the joints, root first. Raises FileError where this is no BVH, or a damaged one,
    since Blender's importer reads what it finds and does not report what is missing."""
    with path.open(encoding="utf-8", errors="replace") as file:
        lines = (words for line in file if (words := line.split()))
        if next(lines, [""])[0].upper() != "HIERARCHY":
            raise FileError("The content is not that of a BVH file; {cured}.", cured=_CURED, code="input-broken")
        names, places, width = _hierarchy(lines)
        _check_motion(lines, width)
    return names, places


def _hierarchy(lines: Iterator[list[str]]) -> tuple[list[str], Array, int]:
    """Names and rest places of the joints, and how many channels they have, from the lines up to MOTION."""
    names: list[str] = []
    places: list[Array] = []
    above: list[Array] = []
    place, width, joint = np.zeros(3), 0, ""
    wanted: list[str] = []
    for words in lines:
        key = words[0].upper()
        if wanted and key != wanted[0]:
            raise _broken("hierarchy", f"{joint} has no {_PARTS[wanted[0]]}")
        del wanted[:1]
        if key in ("ROOT", "JOINT"):
            if len(words) < 2:
                raise _broken("hierarchy", f"joint {len(names) + 1} has no name")
            names.append(" ".join(words[1:]))
            joint, wanted = f"joint '{names[-1]}'", list(_PARTS)
        elif key == "END":
            joint, wanted = f"the end of joint '{names[-1]}'" if names else "an end", list(_PARTS)[:2]
        elif key == "{":
            above.append(place)
        elif key == "}":
            if not above:
                raise _broken("hierarchy", "it closes more joints than it opens")
            place = above.pop()
        elif key == "OFFSET":
            offset = _numbers(words[1:4])
            if offset is None or len(offset) < 3 or not above:
                raise _broken("hierarchy", f"the offset of {joint or 'no joint'} is not three numbers")
            place = above[-1] + offset
            if len(places) < len(names):
                places.append(place)
        elif key == "CHANNELS":
            if words[1:2] != [str(len(words) - 2)]:
                raise _broken("hierarchy", f"the channels of {joint or 'no joint'} are not as many as it says")
            width += len(words) - 2
        elif key == "MOTION":
            break
    else:
        raise FileError("The BVH file is truncated, it has no motion; {cured}.", cured=_CURED)
    if not names:
        raise _broken("hierarchy", "it has no joints")
    return names, np.array(places), width


def _check_motion(lines: Iterator[list[str]], width: int) -> None:
    """Raise FileError unless there are as many frames as the file says, each of `width` numbers."""
    count = _FRAMES.match(" ".join(next(lines, [])))
    step = _FRAME_TIME.match(" ".join(next(lines, [])))
    if count is None:
        raise _broken("motion", "it does not say how many frames it has")
    seconds = None if step is None else _numbers([step[1]])
    if seconds is None or seconds[0] <= 0.0:
        raise _broken("motion", "its frame time is no number above 0")
    frame = 0
    for frame, words in enumerate(lines, 1):
        if len(words) < width:
            raise _broken("motion", f"frame {frame} has {len(words)} of {width} numbers")
        if _numbers(words) is None:
            raise _broken("motion", f"frame {frame} holds something that is no finite number")
    if frame < int(count[1]):
        raise FileError(
            "The BVH file is truncated, it has {frames} of {count} frames; {cured}.",
            frames=frame,
            count=count[1],
            cured=_CURED,
        )
    if not frame:
        raise _broken("motion", "it has no frames")


def _numbers(words: list[str]) -> Array | None:
    """The words as numbers; None where one is none, or not finite."""
    try:
        found = np.array(words, dtype=float)
    except ValueError:
        return None
    return found if np.isfinite(found).all() else None


def _broken(part: str, how: str) -> FileError:
    return FileError("The BVH file's {part} is broken, {how}; {cured}.", part=part, how=how, cured=_CURED)
