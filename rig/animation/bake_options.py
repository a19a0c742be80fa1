"""What to bake, and where it goes."""

from dataclasses import dataclass

from ...lookat_pd.errors import RigError


@dataclass(frozen=True)
class BakeOptions:
    """What to bake. first, last: whole frames, both included. into: "NEW", "CURRENT" or "LAYER".

    played: first and last of a longer range to solve, as it plays live; only first to last is baked of it.
    """

    first: int
    last: int
    into: str = "NEW"
    name: str = ""
    played: tuple[int, int] | None = None

    @property
    def solved(self) -> tuple[int, int]:
        """The range to solve."""
        first, last = self.played or (self.first, self.last)
        return min(first, self.first), max(last, self.last)


def check_range(first: int, last: int) -> None:
    """Raise RigError unless the frames are in order and more than one."""
    if last < first:
        raise RigError(
            "The frame range {first} to {last} is reversed; enter the smaller frame first.", first=first, last=last
        )
    if last == first:
        raise RigError("The frame range contains only frame {frame}; choose at least two frames.", frame=first)
