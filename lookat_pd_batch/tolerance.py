"""How many files may fail before a run has failed."""

from dataclasses import dataclass

from .errors import BatchError

ALL = "100%"


@dataclass(frozen=True)
class FailureLimit:
    """A number of files, or a share of all."""

    count: int = 0
    percent: float | None = None

    @staticmethod
    def read(word: str) -> "FailureLimit":
        """From "3" or "5%". Raises BatchError."""
        number, is_share = word.removesuffix("%"), word.endswith("%")
        try:
            if is_share and 0.0 <= float(number) <= 100.0:
                return FailureLimit(percent=float(number))
            if not is_share and number.isascii() and number.isdigit() and len(number) < 10:
                return FailureLimit(int(number))
        except ValueError:
            pass
        raise BatchError(f"{word[:60]!r} is neither a number of files nor a share, such as 3 or 5%")

    def __str__(self) -> str:
        return str(self.count) if self.percent is None else f"{self.percent:g}%"

    def holds(self, failed: int, total: int) -> bool:
        if self.percent is not None:
            return failed * 100.0 <= self.percent * total
        return failed <= self.count
