"""What the user sees: results on stdout, progress and complaints on stderr, Blender's own chatter nowhere."""

import contextlib
import ctypes
import errno
import math
import os
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

NAME = "lookat_pd"
_FIRST_LINE, _NEXT_LINE, _REDRAW = 5.0, 10.0, 0.1


_NOBODY_READS = (errno.EPIPE, errno.EIO)
"""Whoever reads a stream has seen enough, or its terminal was closed."""
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that end a line or command a terminal."""


def one_line(text: str) -> str:
    """The text with its control characters escaped: names of files and of what is in them may hold any."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def crash(error: Exception) -> str:
    """What to tell of an exception that nobody expected."""
    return one_line(f"unexpected: {type(error).__name__}: {' '.join(str(error).split())}; please report")


class Interruption:
    """A context manager: within it each of SIGNALS raises KeyboardInterrupt, as SIGINT does by itself.

    number: the signal that came first, None while none came. Blender swallows exceptions in handlers and drivers, so
    whoever works on several files asks for it between them.
    """

    SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
    _AT_ONCE = 1.0
    """Seconds in which further signals mean the same: a terminal that closes and service managers send several."""

    def __init__(self) -> None:
        self.number: int | None = None
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

    def __init__(self, *, debug: bool = False) -> None:
        self.debug = debug
        self.interruption = Interruption()
        self._width = 0
        self._label, self._doing, self._shown = "", "", 0.0

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
        """Silence stderr as well, while Blender reads or writes a file; a failure is told in our own words."""
        if self.debug:
            yield
            return
        with _null() as nowhere, _diverted(2, nowhere), contextlib.redirect_stderr(nowhere):
            yield

    # Results and complaints

    def say(self, *lines: str) -> None:
        """Results, each text a line."""
        self._wipe()
        try:
            print("\n".join(map(one_line, lines)), file=self._out, flush=True)
        except OSError as error:
            if error.errno not in _NOBODY_READS:
                raise
            _abandon(self._out)

    def complain(self, sentence: str, about: Path | None = None) -> None:
        self._wipe()
        place = f"{about}: " if about is not None else ""
        self._tell(f"{NAME}: {one_line(place + sentence)}\n")

    def traceback(self) -> None:
        if self.debug:
            traceback.print_exc(file=self._err)

    # Progress

    def begin(self, path: Path, number: int, total: int) -> None:
        self._label = f"file {number} of {total}: {path.name}" if total > 1 else path.name
        self._doing, self._shown = "", time.monotonic() - (_NEXT_LINE - _FIRST_LINE)
        self.progress(0.0, "reading")

    def progress(self, fraction: float, doing: str) -> None:
        """Show how far the present file is; in a terminal a line that changes, else a line now and then."""
        now = time.monotonic()
        new = self._live and doing != self._doing
        if not new and now - self._shown < (_REDRAW if self._live else _NEXT_LINE):
            return
        self._shown, self._doing = now, doing
        text = f"{NAME}: {one_line(f'{self._label}: {doing}')} {fraction:4.0%}"
        if not self._live:
            self._tell(text + "\n")
            return
        self._tell("\r" + text.ljust(self._width))
        self._width = len(text)

    def _wipe(self) -> None:
        if self._width:
            self._tell("\r" + " " * self._width + "\r")
            self._width = 0

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
        (ctypes.cdll.ucrtbase if os.name == "nt" else ctypes.CDLL(None)).fflush(None)
