"""Several processes that work through the files: each is this command again, and receives the next file.

They are connected by a socket in the temporary folder (on Windows a named pipe) with a key that only they know, and
send JSON. A worker that ends is replaced: its file fails, and the others are done.
"""

import contextlib
import json
import queue
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ..lookat_pd.errors import LookAtError
from ..lookat_pd_batch import codes
from ..rig import whole_file
from . import report, worker_pool
from .batch import FileBatch
from .console import NAME
from .report import Row
from .worker_pool import Pool, Worker

_MOST_MEMORY = 2048.0
"""Megabytes that a process may have taken when it is given another file; else a new one takes its place."""
_POLL = 0.2


def share(batch: FileBatch, indices: Sequence[int]) -> None:
    """Let workers do files of a batch, the largest first, and fill their rows."""
    arguments, console = batch.arguments, batch.console
    waiting = sorted(indices, key=lambda index: _size(batch.paths[index]))
    count = min(arguments.jobs, len(waiting))
    pool = arguments.pool or Pool(arguments.words, worker_pool.cores_each(count), console.debug)
    everything = arguments.everything and [str(path) for path in arguments.everything]
    pool.inputs = [[str(path) for path in arguments.inputs], arguments.below, everything]
    run = _Run(pool, batch, waiting, len(waiting))
    # A signal waits for the end of `take`: it would lose the row that is being taken.
    with console.interruption.held(), contextlib.closing(pool):
        while len(pool.workers) < count:
            pool.start()
        while run.left:
            if console.interruption.number is not None:
                pool.end()
                run.take_last()
                raise KeyboardInterrupt
            console.overall(sum(worker.fraction for worker in pool.workers.values()))
            run.take(count)
    if count > 1:
        console.summary(count, pool.memory)


@dataclass
class _Run:
    """The files of a run."""

    pool: Pool
    batch: FileBatch
    waiting: list[int]
    """Indices of files that no worker has yet, the next one last."""
    left: int
    """Number of files that are not done."""
    tried: Counter[int] = field(default_factory=Counter)
    """How often files were tried again."""

    def take(self, count: int) -> None:
        """Take the next message there is, and keep `count` workers at work."""
        self._end_late()
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
            if len(self.pool.workers) < min(count, self.left):
                self.pool.start()
        elif message[0] == "ready":
            self.pool.send(number, self.pool.inputs)
            self._give(number)
        elif message[0] == "row":
            self._fill(worker, *message[1:])
            self._give(number)
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

    def _give(self, number: int) -> None:
        """Tell a worker which file is next, or that there is none."""
        worker = self.pool.workers[number]
        if worker.ending or not self.waiting:
            worker.ending = True
            self.pool.send(number, None)
            return
        worker.index, worker.began = self.waiting.pop(), time.monotonic()
        self.pool.send(number, worker.index)

    def _end_late(self) -> None:
        """Kill the workers whose file takes too long."""
        limit = self.batch.arguments.timeout
        for worker in self.pool.workers.values():
            if (
                limit is not None
                and worker.index is not None
                and not worker.is_late
                and time.monotonic() - worker.began > limit
            ):
                worker.is_late = True
                worker.process.kill()

    def _fill(self, worker: Worker, row: Row, memory: float | None) -> None:
        if worker.index is None:
            return
        self.pool.memory = max(self.pool.memory, memory or 0.0)
        worker.ending = (memory or 0.0) > _MOST_MEMORY
        self._done(worker, row)

    def _show(self, worker: Worker, kind: str, *what: Any) -> None:
        console = self.batch.console
        if kind == "progress":
            worker.fraction = what[0]
        elif kind == "say":
            console.say(*what)
        elif kind == "tell":
            console.tell(*what)
        else:
            sentence, about, code = what
            console.complain(sentence, None if about is None else Path(about), code)

    def _ended(self, worker: Worker) -> None:
        reason = _why_ended(worker)
        if worker.index is not None:
            error, code = f"The process that worked on the file ended {reason}.", "process-ended"
            if worker.is_late:
                limit = self.batch.arguments.timeout
                error, code = f"The file took longer than {limit:g} s; raise --timeout, or simplify it.", "timeout"
            job = self.batch.places[worker.index]
            if job is not None:
                whole_file.remove_abandoned(job.parent)
            row = {"error": error, "code": code, "ok": False}
            self._done(worker, row)
        elif worker.connection is None:
            raise LookAtError("A process cannot be started, it ended {reason}; try --jobs 1.", reason=reason)

    def _done(self, worker: Worker, row: Row) -> None:
        """A file is done, or is tried again."""
        index = worker.index
        assert index is not None
        worker.index, worker.fraction = None, 0.0
        if row["code"] in codes.RETRIED and self.tried[index] < self.batch.arguments.retry:
            self.tried[index] += 1
            self.waiting.insert(0, index)
            self.batch.console.tell("retry", f"{row['error']} It is tried again.", self.batch.paths[index], row["code"])
            for number, other in self.pool.workers.items():
                if other is not worker and other.index is None and other.connection is not None and not other.ending:
                    self._give(number)
            return
        self.left -= 1
        self.batch.rows[index].update(row)
        self.batch.finish(index)


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


def joined(place: str) -> tuple[Connection, list[Path], dict[str, str], list[Path] | None] | None:
    """The connection with the process that has started this one, the inputs that it has listed, and those of its job.

    A folder may have changed since then, and standard input is read once. None where that process needs no other.
    """
    try:
        parent = worker_pool.connect(place)
        told = json.loads(parent.recv_bytes())
    except (EOFError, OSError):
        return None
    if told is None:
        return None
    paths, below, everything = told
    return parent, [*map(Path, paths)], below, everything and [*map(Path, everything)]


def serve(batch: FileBatch, work: Callable[[int], None]) -> None:
    """Do the files that the other process names, and send it what is said and the rows that `work` fills."""
    console = batch.console
    with batch.arguments.parent as parent:

        def send(*message: Any) -> None:
            parent.send_bytes(json.dumps(message).encode())

        console.relay = send
        with contextlib.suppress(EOFError, ConnectionError):
            while (index := json.loads(parent.recv_bytes())) is not None:
                # A file may be tried again.
                row = batch.fresh(index)
                console.begin(batch.paths[index], 1)
                try:
                    work(index)
                except KeyboardInterrupt:
                    if not row["ok"]:
                        raise
                with console.interruption.held():
                    send("row", report.plain(row), memory())
                if console.interruption.number is not None:
                    raise KeyboardInterrupt


def is_full() -> bool:
    """Whether this process has taken so much memory that another one should go on."""
    return (memory() or 0.0) > _MOST_MEMORY


def memory() -> float | None:
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
