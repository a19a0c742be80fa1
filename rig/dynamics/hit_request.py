"""What hits are asked to do."""

from dataclasses import dataclass, field

from ..animation.key_writer import KeyWriter
from ..sampling.targets import Target
from ..settings import plain
from .hit_settings import IMPULSE, HitMotion


@dataclass(frozen=True)
class HitSpec:
    """One hit."""

    frame: int
    """Frame after which the bones start to move."""
    bone: str
    """Bone that is hit, at its middle."""
    impulse: float = IMPULSE
    """Strength [N s]."""
    direction: tuple[float, float, float] = (0.0, 1.0, 0.0)
    """Direction in the world, of any length."""
    source: Target | None = None
    """Where the hit comes from, instead of the direction."""


@dataclass(frozen=True)
class HitRequest(plain(HitMotion)):
    """Hits, with the settings of `HitMotion` under their names."""

    hits: tuple[HitSpec, ...]
    writer: KeyWriter = field(default_factory=KeyWriter, compare=False)
    """Which keys are written, and how many there were."""
    """All hits of the armature."""
