"""Several processes that work through the files: each is this command again, and receives the next file.

They are connected by a socket in the temporary folder (on Windows a named pipe) with a key that only they know, and
send JSON. A worker that ends is replaced: its file fails, and the others are done.
"""

import contextlib
import json
import queue
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..lookat_pd.errors import LookAtError
from . import report, whole_file, worker_pool
from .console import NAME, Console
from .report import Row
from .worker_pool import Pool, Worker

_MOST_MEMORY = 2048.0
"""Megabytes that a worker may have taken when it is given another file; else a new one takes its place."""
_POLL = 0.2


def share(paths: Sequence[Path], rows: list[Row], arguments: Any, console: Console) -> None:
    """Let workers do all files, the largest first, and fill their rows."""
    waiting = sorted(range(len(paths)), key=lambda index: _size(paths[index]))
    count = min(arguments.jobs, len(paths))
    pool = arguments.pool or Pool(arguments.words, worker_pool.cores_each(count), console.debug)
    # A signal waits for the end of `take`: it would lose the row that is being taken.
    with console.interruption.held(), contextlib.closing(pool):
        run = _Run(pool, console, paths, rows, waiting, getattr(arguments, "output", None))
        while len(pool.workers) < count:
            pool.start()
        while run.done < len(paths):
            if console.interruption.number is not None:
                pool.end()
                run.take_last()
                raise KeyboardInterrupt
            console.overall(sum(worker.fraction for worker in pool.workers.values()))
            run.take(count)
    console.summary(count, pool.memory)


@dataclass
class _Run:
    """The files of a run."""

    pool: Pool
    console: Console
    paths: Sequence[Path]
    rows: list[Row]
    waiting: list[int]
    """Indices of files that no worker has yet, the next one last."""
    output: Path | None
    done: int = 0
    """Number of files that are done."""

    def take(self, count: int) -> None:
        """Take the next message there is, and keep `count` workers at work."""
        try:
            number, message = self.pool.messages.get(timeout=_POLL)
        except queue.Empty:
            ended = self.pool.unconnected()
            if ended is None:
                return
            number, message = ended, None
        worker = self.pool.workers.get(number)
        if worker is None:
            # It was connected just as it was found to have ended.
            return
        if message is None:
            del self.pool.workers[number]
            self._ended(worker)
            if len(self.pool.workers) < min(count, len(self.paths) - self.done):
                self.pool.start()
        elif message[0] in ("ready", "row"):
            if message[0] == "row":
                self._fill(worker, *message[1:])
            _give(self.pool, number, self.waiting)
        else:
            self._show(worker, *message)

    def take_last(self) -> None:
        """Take what ended workers have said: what they were writing is done."""
        while not self.pool.messages.empty():
            number, message = self.pool.messages.get()
            worker = self.pool.ended.get(number)
            if worker is not None and message is not None and message[0] == "row":
                self._fill(worker, *message[1:])
            elif worker is not None and message is not None and message[0] != "ready":
                self._show(worker, *message)

    def _fill(self, worker: Worker, row: Row, memory: float | None) -> None:
        if worker.index is None:
            return
        self.rows[worker.index].update(row)
        self._count(worker, failed=not row["ok"])
        self.pool.memory = max(self.pool.memory, memory or 0.0)
        worker.ending = (memory or 0.0) > _MOST_MEMORY

    def _show(self, worker: Worker, kind: str, *what: Any) -> None:
        if kind == "progress":
            worker.fraction = what[0]
        elif kind == "say":
            self.console.say(*what)
        else:
            sentence, about = what
            self.console.complain(sentence, None if about is None else Path(about))

    def _ended(self, worker: Worker) -> None:
        reason = _why_ended(worker)
        if worker.index is not None:
            row, path = self.rows[worker.index], self.paths[worker.index]
            row["error"] = f"The process that worked on the file ended {reason}."
            if self.output is not None:
                whole_file.remove_abandoned(self.output if self.output.is_dir() else self.output.parent)
            self.console.complain(row["error"], path)
            self._count(worker, failed=True)
        elif worker.connection is None:
            raise LookAtError("A process cannot be started, it ended {reason}; try --jobs 1.", reason=reason)

    def _count(self, worker: Worker, *, failed: bool) -> None:
        worker.index, worker.fraction = None, 0.0
        self.done += 1
        self.console.end(failed=failed)


def _give(pool: Pool, number: int, waiting: list[int]) -> None:
    """Tell a worker which file is next, or that there is none."""
    worker = pool.workers[number]
    if worker.ending or not waiting:
        worker.ending = True
        pool.send(number, None)
        return
    worker.index = waiting.pop()
    pool.send(number, worker.index)


def _why_ended(worker: Worker) -> str:
    code = worker.wait()
    lines = worker.errors.read_text("utf-8", "replace").strip().splitlines()
    worker.close()
    if code < 0:
        name = signal.Signals(-code).name
        memory = "; it may have run out of memory: try fewer --jobs" if name == "SIGKILL" else ""
        return f"by {name}{memory}"
    return f"with exit code {code}" + (f" ({lines[-1].removeprefix(f'{NAME}: ')})" if lines else "")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


# In a worker


def serve(
    place: str, paths: Sequence[Path], rows: Sequence[Row], work: Callable[[int], None], console: Console
) -> None:
    """Do the files that the process at `place` names, and send it what is said and the rows that `work` fills."""
    number, _, address = place.partition(" ")
    with worker_pool.connect(address) as parent:

        def send(*message: Any) -> None:
            parent.send_bytes(json.dumps(message).encode())

        parent.send_bytes(json.dumps(int(number)).encode())
        console.relay = send
        with contextlib.suppress(EOFError, ConnectionError):
            while (index := json.loads(parent.recv_bytes())) is not None:
                console.begin(paths[index], 1)
                try:
                    work(index)
                except KeyboardInterrupt:
                    if not rows[index]["ok"]:
                        raise
                with console.interruption.held():
                    send("row", report.plain(rows[index]), _memory())
                if console.interruption.number is not None:
                    raise KeyboardInterrupt


def _memory() -> float | None:
    """The most memory [MB] that this process has taken; None where the system does not report it."""
    with contextlib.suppress(OSError):
        # What Linux counts otherwise includes the process that has started this one.
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 2**10
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)
