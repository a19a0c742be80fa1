"""What the user sees: results on stdout, progress and complaints on stderr, Blender's own chatter nowhere."""

import contextlib
import ctypes
import errno
import json
import math
import os
import re
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TextIO

from . import NAME

_FIRST_LINE, _NEXT_LINE, _REDRAW = 5.0, 10.0, 0.1
_MACHINES = 1.0
"""Seconds between two lines of progress for programs."""


_NOTE = "note: "
_NOBODY_READS = (errno.EPIPE, errno.EIO)
"""Whoever reads a stream has seen enough, or its terminal was closed."""
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Characters that end a line, command a terminal, or are bytes of a name that is not UTF-8."""


def one_line(text: str) -> str:
    """The text with its control characters escaped: names of files and of what is in them may hold any."""
    return _CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def crash(error: Exception) -> str:
    """The message for an unexpected exception."""
    return one_line(f"unexpected: {type(error).__name__}: {' '.join(str(error).split())}; please report")


class Interruption:
    """A context manager: within it each of SIGNALS raises KeyboardInterrupt, as SIGINT does by itself.

    number: the signal that came first, None while none came. Blender swallows exceptions in handlers and drivers, so
    whoever works on several files asks for it between them.
    """

    SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
    early: int | None = None
    """A signal that came before there was a console."""
    _AT_ONCE = 1.0
    """Seconds in which further signals mean the same: a terminal that closes and service managers send several."""

    def __init__(self) -> None:
        self.number: int | None = Interruption.early
        self._last, self._is_held = -math.inf, False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Interruption":
        # Python allows it in the main thread only. What the caller ignores, as nohup does, stays ignored.
        if threading.current_thread() is threading.main_thread():
            for number in self.SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._come)
        return self

    def __exit__(self, *_: object) -> None:
        while self._before:
            number, before = self._before.popitem()
            # None: it was Blender's own, which Python cannot put back.
            signal.signal(number, signal.SIG_DFL if before is None else before)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Signals wait for the end of something that must not be cut short."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False

    def _come(self, number: int, frame: object) -> None:
        now, last = time.monotonic(), self._last
        self.number, self._last = self.number or number, now
        if not self._is_held and now - last > self._AT_ONCE:
            raise KeyboardInterrupt


class Console:
    """A context manager: within it Blender's messages on stdout go nowhere, unless `debug`; then they go to stderr.

    interruption: whether the user wants it to end.
    """

    def __init__(
        self, *, debug: bool = False, progress: str = "auto", quiet: bool = False, verbose: bool = False
    ) -> None:
        self.debug = debug
        self.caught: list[warnings.WarningMessage] = []
        """Warnings of the present file."""
        self.has_begun = False
        """A file was read."""
        self._quiet, self._verbose = quiet, verbose
        self.interruption = Interruption()
        self.relay: Callable[..., None] | None = None
        """Where what is said goes instead, in a process that works for another."""
        self._progress = progress
        self._width = 0
        self._path, self._number, self._doing, self._shown = Path(), 0, "", 0.0
        self._total = self._done = self._failed = 0
        self._part = (0.0, 1.0)
        self._action: str | None = None
        self._began = 0.0

    def __enter__(self) -> "Console":
        self._stack = contextlib.ExitStack()
        self._stack.enter_context(self.interruption)
        self._out = self._stack.enter_context(_own(sys.stdout))
        self._err = self._stack.enter_context(_own(sys.stderr))
        self._live = self._err.isatty()
        elsewhere = self._err if self.debug else self._stack.enter_context(_null())
        self._stack.enter_context(_diverted(1, elsewhere))
        self._stack.enter_context(contextlib.redirect_stdout(elsewhere))
        return self

    def __exit__(self, *_: object) -> None:
        self._wipe()
        self._stack.close()

    @contextlib.contextmanager
    def hushed(self) -> Iterator[None]:
        """Silence stderr as well, while Blender reads or writes a file; a failure is reported by our own message."""
        if self.debug:
            yield
            return
        with _null() as nowhere, _diverted(2, nowhere), contextlib.redirect_stderr(nowhere):
            yield

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """What is warned of within it is heard within it, and nothing that was warned of before."""
        before = self.caught
        try:
            with warnings.catch_warnings(record=True) as self.caught:
                yield
        finally:
            self.caught = before

    def heard(self) -> list[str]:
        """What was warned of, each sentence once."""
        return [*dict.fromkeys(str(warning.message) for warning in self.caught)]

    # Results and complaints

    def say(self, *lines: str) -> None:
        """Results, each text a line."""
        if self.relay is not None:
            self.relay("say", *lines)
            return
        if self._quiet:
            return
        self._wipe()
        self._print("\n".join(map(one_line, lines)))

    def tell(self, event: str, sentence: str, about: Path | str | None = None, code: str | None = None) -> None:
        """What happens, for those who asked for it: --verbose, or a program."""
        if self.relay is not None:
            self.relay("tell", event, sentence, None if about is None else str(about), code)
        elif self._progress == "json":
            self._event(event, sentence, about, code)
        elif self._verbose:
            self.complain(f"{event}: {sentence}", None if about is None else Path(about))

    def complain(self, sentence: str, about: Path | None = None, code: str | None = None) -> None:
        """An error, or a note, which begins with that word."""
        if self.relay is not None:
            self.relay("complain", sentence, None if about is None else str(about), code)
            return
        is_note = sentence.startswith(_NOTE)
        if is_note and self._quiet:
            return
        if self._progress == "json" and about is not None:
            self._event("note" if is_note else "error", sentence.removeprefix(_NOTE), about, code)
            return
        self._wipe()
        place = f"{about}: " if about is not None else ""
        self._tell(f"{NAME}: {one_line(place + sentence)}\n")

    def traceback(self) -> None:
        if self.debug:
            traceback.print_exc(file=self._err)

    def _event(self, event: str, sentence: str, about: Path | str | None, code: str | None) -> None:
        found = {"event": event, "file": None if about is None else str(about), "code": code, "sentence": sentence}
        self._tell(json.dumps(found) + "\n")

    # Progress

    def tally(self, total: int) -> None:
        """So many files are to be done from now on."""
        self._total, self._done, self._failed, self._began = total, 0, 0, time.monotonic()
        self._shown = self._began - (_NEXT_LINE - _FIRST_LINE)

    def begin(self, path: Path, number: int) -> None:
        """A file is begun, by its number from 1."""
        self._path, self._number, self._doing = path, number, ""
        self.tell("begin", "is begun", path)
        if self._progress == "auto":
            self._shown = time.monotonic() - (_NEXT_LINE - _FIRST_LINE)
        self.progress(0.0, "reading")

    def finished(self, row: dict[str, Any]) -> None:
        """A file is done."""
        self._done += 1
        self._failed += not row["ok"]
        self.tell("end" if row["ok"] else "failed", f"took {row['seconds'] or 0.0:g} s", row["input"], row["code"])
        if self._progress in ("json", "openjd"):
            self._doing, self._shown = "", time.monotonic()
            self._report(0.0)

    @contextlib.contextmanager
    def portion(self, number: int, count: int, action: str | None = None) -> Iterator[None]:
        """Within it, progress is that of one of `count` equal parts of the present file; number: from 0."""
        before, self._action = self._part, action
        self._part = (before[0] + before[1] * number / count, before[1] / count)
        if action is not None:
            self.tell("action", action, self._path)
        try:
            yield
        finally:
            self._part, self._action = before, None

    def progress(self, fraction: float, doing: str) -> None:
        """Show how far the present file is; in a terminal a line that changes, else a line now and then."""
        fraction = self._part[0] + self._part[1] * fraction
        if self.relay is not None:
            if time.monotonic() - self._shown > _REDRAW:
                self._shown = time.monotonic()
                self.relay("progress", fraction)
            return
        if not self._is_due(doing):
            return
        if self._progress != "auto":
            self._report(fraction)
            return
        label = f"file {self._number} of {self._total}: {self._path.name}" if self._total > 1 else self._path.name
        left = f", {self._left(fraction)}" if self._total > 1 and self._done else ""
        self._show(f"{NAME}: {one_line(f'{label}: {doing}')} {fraction:4.0%}{left}")

    def overall(self, under_way: float) -> None:
        """Show how far several processes are, with so many files' worth of work under way."""
        if not self._is_due("all"):
            return
        if self._progress != "auto":
            self._report(under_way)
            return
        rate = f", {self._done / (time.monotonic() - self._began):.3g} a second" if self._done else ""
        share = (self._done + under_way) / self._total
        left = f", {self._left(under_way)}" if share else ""
        self._show(f"{NAME}: {self._done} of {self._total} files {share:4.0%}{rate}{left}")

    def summary(self, jobs: int, memory: float) -> None:
        """How long several processes took, and how much memory [MB] the largest."""
        seconds = time.monotonic() - self._began
        rate = f"{self._done} files in {seconds:.1f} s, {self._done / seconds:.3g} a second"
        size = f", at most {memory:.0f} MB each" if memory else ""
        self.complain(f"note: {rate}, by {jobs} processes{size}.")

    def _is_due(self, doing: str) -> bool:
        """Whether progress is to be shown again."""
        if self._progress == "none":
            return False
        now = time.monotonic()
        live = self._live and self._progress == "auto"
        interval = _REDRAW if live else _NEXT_LINE if self._progress == "auto" else _MACHINES
        if not (live and doing != self._doing) and now - self._shown < interval:
            return False
        self._shown, self._doing = now, doing
        return True

    def _left(self, under_way: float) -> str:
        seconds = self._seconds_left(under_way)
        return "" if seconds is None else f"{int(seconds) // 60}:{int(seconds) % 60:02} left"

    def _seconds_left(self, under_way: float) -> float | None:
        share = (self._done + under_way) / self._total if self._total else 0.0
        return (time.monotonic() - self._began) * (1.0 - share) / share if share else None

    def _report(self, under_way: float) -> None:
        """Progress for programs."""
        share = min((self._done + under_way) / self._total, 1.0) if self._total else 0.0
        if self._progress == "openjd":
            self._print(f"openjd_progress: {100.0 * share:.1f}")
            self._print(f"openjd_status: {self._done} of {self._total} files, {self._failed} failed")
            return
        left = self._seconds_left(under_way)
        found: dict[str, Any] = {
            "done": self._done,
            "failed": self._failed,
            "total": self._total,
            "fraction": round(share, 4),
        }
        found["seconds_left"] = None if left is None else round(left, 1)
        if under_way and self._number:
            found |= {"file": str(self._path), "action": self._action}
        self._tell(json.dumps(found) + "\n")

    def _show(self, text: str) -> None:
        if not self._live:
            self._tell(text + "\n")
            return
        self._tell("\r" + text.ljust(self._width))
        self._width = len(text)

    def _wipe(self) -> None:
        if self._width:
            self._tell("\r" + " " * self._width + "\r")
            self._width = 0

    def _print(self, text: str) -> None:
        try:
            print(text, file=self._out, flush=True)
        except OSError as error:
            if error.errno not in _NOBODY_READS:
                raise
            _abandon(self._out)

    def _tell(self, text: str) -> None:
        try:
            self._err.write(text)
            self._err.flush()
        except OSError:
            # The terminal was closed: the work and its report do not depend on it.
            _abandon(self._err)


@contextlib.contextmanager
def _null() -> Iterator[TextIO]:
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        yield nowhere


def _abandon(stream: TextIO) -> None:
    """Let the rest of a stream go nowhere, what waits in its buffer too."""
    with _null() as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


@contextlib.contextmanager
def _own(stream: TextIO | None) -> Iterator[TextIO]:
    """The stream; if it is the process's own, a copy that still leads there when that is diverted."""
    if stream is None:
        # The caller has closed it.
        with _null() as nowhere:
            yield nowhere
        return
    descriptor = _descriptor(stream)
    if descriptor not in (1, 2):
        yield stream
        return
    stream.flush()
    with open(os.dup(descriptor), "w", encoding=stream.encoding, errors="backslashreplace") as copy:
        yield copy


@contextlib.contextmanager
def _diverted(descriptor: int, stream: TextIO) -> Iterator[None]:
    """What Blender's C code prints on stdout (1) or stderr (2) goes to `stream` instead."""
    try:
        kept = os.dup(descriptor)
    except OSError:
        # Closed by the caller: there is nothing to divert.
        yield
        return
    _flush()
    try:
        target = _descriptor(stream)
        if target is not None:
            os.dup2(target, descriptor)
        yield
    finally:
        _flush()
        os.dup2(kept, descriptor)
        os.close(kept)


def _descriptor(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError, AttributeError):
        return None


def _flush() -> None:
    """Empty the buffers of Python and of the C library, so that nothing written before comes out after."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    with contextlib.suppress(OSError, AttributeError, TypeError):
        _c_library().fflush(None)


@cache
def _c_library() -> ctypes.CDLL:
    return ctypes.cdll.ucrtbase if os.name == "nt" else ctypes.CDLL(None)
