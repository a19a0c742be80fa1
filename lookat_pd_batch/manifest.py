"""Which run a row of a report is from."""

import datetime
import platform
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

FIELD = "run"
"""Of a row."""
_MOST_INPUTS = 10_000
"""Of more inputs, a report holds the number and a digest."""
Run = dict[str, Any]


def order(path: Path) -> tuple[str, str]:
    """By what inputs are sorted before they are dealt out to shards, on every machine alike."""
    return path.name, str(path)


def of_run(paths: Sequence[Path], words: Sequence[str], command: str, shard: str | None) -> Run:
    """A run that begins. paths: all inputs, those of other shards too. command: digest of what decides the outputs."""
    names = [str(path) for path in sorted(paths, key=order)]
    digest = blake2b("\0".join(names).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return {
        "arguments": list(words),
        "command": command,
        "shard": shard,
        "total": len(names),
        "inputs": names if len(names) <= _MOST_INPUTS else None,
        "inputs_digest": digest,
        "host": platform.node(),
        "begin": _now(),
        "end": None,
    }


def end(run: Run) -> None:
    run["end"] = _now()


def put(run: Run, rows: Sequence[dict[str, Any]]) -> None:
    """Have rows say which run they are from; the first one alone lists the inputs."""
    brief = {**run, "inputs": None}
    for number, row in enumerate(rows):
        row[FIELD] = brief if number else run


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
