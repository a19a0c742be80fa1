"""Which way is up in a BVH file, which does not say it: the figure's rest pose tells."""

import re
from pathlib import Path

import numpy as np

from ..lookat_pd.errors import FileError
from ..lookat_pd.rotation import Array

_JOINT = re.compile(r"^\s*(?:ROOT|JOINT)\s+(.*?)\s*$", re.IGNORECASE)
_CLEARLY = 2.0
_CURED = "export it again"


def import_axes(path: Path) -> dict[str, str]:
    """Arguments for Blender's importer: none for the usual Y up, those for Z up where the figure stands along Z."""
    return {"axis_forward": "Y", "axis_up": "Z"} if stands_along_z(*_hierarchy(path)) else {}


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


def _hierarchy(path: Path) -> tuple[list[str], Array]:
    """Names and rest places (n, 3) of the joints, root first. Raises FileError where this is no BVH."""
    names: list[str] = []
    places: list[Array] = []
    above: list[Array] = [np.zeros(3)]
    place = np.zeros(3)
    begun = False
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                word = line.split()[:1]
                if not begun:
                    if word and word[0].upper() != "HIERARCHY":
                        raise FileError(f"This is not a BVH file, whatever its suffix says; {_CURED}.")
                    begun = bool(word)
                elif joint := _JOINT.match(line):
                    names.append(joint[1])
                elif word == ["{"]:
                    above.append(place)
                elif word == ["}"]:
                    place = above.pop()
                elif word and word[0].upper() == "OFFSET":
                    place = above[-1] + np.array(line.split()[1:4], dtype=float)
                    if len(places) < len(names):
                        places.append(place)
                elif word and word[0].upper() == "MOTION":
                    break
            else:
                raise FileError(f"The BVH file is truncated, it has no motion; {_CURED}.")
        if not names or len(names) != len(places):
            raise ValueError("joints without offsets")
    except (ValueError, IndexError) as error:
        raise FileError(f"The BVH file's hierarchy is broken ({error}); {_CURED}.") from None
    return names, np.array(places)
