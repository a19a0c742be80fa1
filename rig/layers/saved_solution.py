"""Solutions stored in a file with a digest of their inputs, so that opening the file solves nothing again.

The note is a digest of everything that the layers of a scene depend on. Where it is the same as when the file was
saved, the offsets in the layers' actions are the solution.
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b

from .kinds import Kind, LayerSolve

_SOLVER = 3
"""Raised whenever the same inputs give another solution than in versions before."""
Solves = Sequence[tuple[Kind, LayerSolve]]


def digest(span: tuple[int, int, float], prints: Mapping[tuple[str, str], bytes], settings: Sequence[tuple]) -> str:
    """A digest of what layers are solved from. prints: of all that their motions depend on. settings: of each layer."""
    hashed = blake2b(digest_size=16)
    hashed.update(repr((_SOLVER, span, sorted(prints.items()))).encode())
    for row in settings:
        hashed.update(repr(row).encode())
    return hashed.hexdigest()


def store(solves: Solves, note: str) -> None:
    """Note beside the offsets of these layers what they were solved from.

    note: the digest, "" for layers that are not solved.
    """
    for kind, solve in solves:
        kind.store(solve, is_solved=bool(note))
    for kind, solve in solves:
        kind.layer_of(solve.instance).set_note(note)


def restore(solves: Solves, span: tuple[int, int, float], wanted: str) -> bool:
    """Take the offsets in the file for the solutions, if all of these were solved from `wanted`; whether they were."""
    if any(kind.layer_of(solve.instance).note != wanted for kind, solve in solves):
        return False
    first, last = span[0], max(span[0], span[1])
    tracks = [kind.read(solve, first, last) for kind, solve in solves]
    if any(track is None for track in tracks):
        return False
    for (_, solve), track in zip(solves, tracks, strict=True):
        solve.track = track
    return True
