"""Blend profiles: for some of the bones or curves another blend time, a delay, or only one of the two clips.

A profile is a list of rows; for a bone the first row that fits counts, and rows of curves count before those of bones.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .. import checks
from ..errors import InvalidArgument
from ..message import Message

KINDS = {"BONES": "bones", "COLLECTION": "collection", "CURVES": "curves"}
"""What the pattern of a row names, and the key in files."""
FILTERS = {"BLEND": "blend", "SOURCE": "source", "DESTINATION": "destination"}
FACTORS = (0.0, 10.0)
"""Smallest and largest factor of the blend time."""
DELAYS = (0.0, 60.0)
"""Shortest and longest delay [s]."""
MOST_ROWS = 1000
_LONGEST_PATTERN = 100_000
_KEYS = (*KINDS.values(), "factor", "delay", "filter")


@dataclass(frozen=True)
class ProfileRow:
    """A row of a profile. Raises InvalidArgument."""

    kind: str
    """"BONES" (names of bones), "COLLECTION" (names of bone collections) or "CURVES" (data paths or names of
    properties)."""
    pattern: str
    """Such names, separated by commas, with * for any characters and ? for one; upper and lower case are the same."""
    factor: float = 1.0
    """Factor of the blend time, 0 for a cut."""
    delay: float = 0.0
    """Delay [s] for which the source plays on before the blend."""
    filter: str = "BLEND"
    """"BLEND", or what plays from the cut on without a blend: "SOURCE" or "DESTINATION"."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS or self.filter not in FILTERS:
            raise InvalidArgument(
                "The kind of a row must be one of {kinds} and its filter one of {filters}, not '{kind}' and "
                "'{filter}'.",
                kinds=", ".join(KINDS),
                filters=", ".join(FILTERS),
                kind=checks.shown(self.kind),
                filter=checks.shown(self.filter),
            )
        if not self.pattern.strip(" ,"):
            raise InvalidArgument("A row of the profile has no names; enter some, or remove the row.")
        checks.number("factor of the blend time", self.factor, *FACTORS)
        checks.number("delay", self.delay, *DELAYS)

    def fits(self, *names: str) -> bool:
        """Whether the pattern fits one of the names."""
        folded = [name.casefold() for name in names]
        return any(_matches(word, name) for word in _words(self.pattern) for name in folded)

    @property
    def time_factor(self) -> float:
        """The factor of the blend time, 0 where nothing is blended."""
        return self.factor if self.filter == "BLEND" else 0.0

    @property
    def source_time(self) -> float:
        """How long [s] the source plays on; infinite for all the time."""
        return {"SOURCE": float("inf"), "DESTINATION": 0.0}.get(self.filter, self.delay)


@lru_cache(maxsize=256)
def _words(pattern: str) -> tuple[str, ...]:
    return tuple(word.strip().casefold() for word in pattern.split(",") if word.strip())


def _matches(word: str, name: str) -> bool:
    """Whether a name is that of a word with wildcards. Only the last * is tried again, which needs no more steps than
    the product of both lengths."""
    at = w = 0
    star, tried = -1, 0
    while at < len(name):
        if w < len(word) and word[w] == "*":
            star, tried = w, at
            w += 1
        elif w < len(word) and word[w] in ("?", name[at]):
            at, w = at + 1, w + 1
        elif star >= 0:
            tried += 1
            at, w = tried, star + 1
        else:
            return False
    return not word[w:].strip("*")


def parsed(entries: Any) -> tuple[ProfileRow, ...]:
    """The rows of decoded JSON: a list of objects with `bones`, `collection` or `curves`, and `factor`, `delay` or
    `filter`. Raises InvalidArgument, which names the row that is wrong."""
    if not isinstance(entries, list) or len(entries) > MOST_ROWS:
        raise InvalidArgument(
            "A profile must be a list of at most {most} rows, such as {example}.",
            most=MOST_ROWS,
            example='[{"bones": "*arm*", "factor": 1.5}, …]',
        )
    return tuple(_numbered(number, entry) for number, entry in enumerate(entries, 1))


def read_text(text: str) -> tuple[ProfileRow, ...]:
    """The rows of JSON; none for an empty text. Raises InvalidArgument."""
    if not text.strip():
        return ()
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidArgument("The profile is not JSON; correct it, or leave it empty.") from None
    return parsed(entries)


def text_of(rows: Iterable[ProfileRow]) -> str:
    """The rows as JSON, one a line."""
    return "[" + ",\n ".join(json.dumps(_entry_of(row), ensure_ascii=False) for row in rows) + "]\n"


def _entry_of(row: ProfileRow) -> dict[str, Any]:
    entry: dict[str, Any] = {KINDS[row.kind]: row.pattern}
    if row.filter != "BLEND":
        return entry | {"filter": FILTERS[row.filter]}
    # Blender keeps single precision: 0.45, not 0.44999998807907104.
    entry["factor"] = round(row.factor, 6)
    return entry | ({"delay": round(row.delay, 6)} if row.delay else {})


def _numbered(number: int, entry: Any) -> ProfileRow:
    try:
        return _row(entry)
    except InvalidArgument as error:
        raise InvalidArgument("Row {number} of the profile: {error}", number=number, error=error) from None


def _row(entry: Any) -> ProfileRow:
    if not isinstance(entry, dict) or not set(entry) <= set(_KEYS):
        raise InvalidArgument("A row must be an object in braces, with keys from {keys}.", keys=", ".join(_KEYS))
    kinds = [kind for kind, key in KINDS.items() if key in entry]
    if len(kinds) != 1:
        raise InvalidArgument("A row must have exactly one of {kinds}.", kinds=", ".join(KINDS.values()))
    pattern = entry[KINDS[kinds[0]]]
    if not isinstance(pattern, str) or len(pattern) > _LONGEST_PATTERN:
        raise InvalidArgument("The names of a row are one text, separated by commas.")
    chosen = entry.get("filter", "blend")
    if chosen not in FILTERS.values():
        raise InvalidArgument(
            "Filter {filter} is unknown; use {filters}.",
            filter=checks.shown(chosen),
            filters=", ".join(FILTERS.values()),
        )
    factor = _number(entry, "factor", 1.0, Message("factor of the blend time"))
    delay = _number(entry, "delay", 0.0, Message("delay"))
    return ProfileRow(kinds[0], pattern, factor, delay, next(key for key, word in FILTERS.items() if word == chosen))


def _number(entry: Mapping[str, Any], key: str, usual: float, name: Message) -> float:
    value = entry.get(key, usual)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidArgument("The {name} must be a number, not {value}.", name=name, value=checks.shown(value))
    return float(value) if abs(value) < 1e9 else 1e9


def first(rows: Sequence[ProfileRow], kind: str, *names: str) -> ProfileRow | None:
    """The first row of a kind that fits one of the names."""
    return next((row for row in rows if row.kind == kind and row.fits(*names)), None)
