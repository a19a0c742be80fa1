"""What the user sees: results on stdout, progress and complaints on stderr, Blender's own chatter nowhere."""

import contextlib
import ctypes
import os
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

NAME = "lookat_pd"
_FIRST_LINE, _NEXT_LINE, _REDRAW = 5.0, 10.0, 0.1


def one_line(text: str) -> str:
    return " ".join(text.split())


class Console:
    """A context manager: within it Blender's messages on stdout go nowhere, unless `debug`; then they go to stderr."""

    def __init__(self, *, debug: bool = False) -> None:
        self.debug = debug
        self._width = 0
        self._label, self._doing, self._shown = "", "", 0.0

    def __enter__(self) -> "Console":
        self._stack = contextlib.ExitStack()
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

    def say(self, text: str) -> None:
        self._wipe()
        try:
            print(text, file=self._out, flush=True)
        except BrokenPipeError:
            # Whoever reads it has seen enough; the rest must go somewhere.
            with _null() as nowhere:
                os.dup2(nowhere.fileno(), self._out.fileno())

    def complain(self, sentence: str, about: Path | None = None) -> None:
        self._wipe()
        place = f"{about}: " if about is not None else ""
        print(f"{NAME}: {place}{one_line(sentence)}", file=self._err, flush=True)

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
        text = f"{NAME}: {self._label}: {doing} {fraction:4.0%}"
        if not self._live:
            print(text, file=self._err, flush=True)
            return
        self._err.write("\r" + text.ljust(self._width))
        self._err.flush()
        self._width = len(text)

    def _wipe(self) -> None:
        if self._width:
            self._err.write("\r" + " " * self._width + "\r")
            self._err.flush()
            self._width = 0


@contextlib.contextmanager
def _null() -> Iterator[TextIO]:
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        yield nowhere


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
