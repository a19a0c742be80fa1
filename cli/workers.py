"""Several processes that work through the files: each is this command again, and receives the next file.

They are connected by a socket in the temporary folder (on Windows a named pipe) with a key that only they know, and
send JSON. A worker that ends is replaced: its file fails, and the others are done.
"""

import contextlib
import json
import os
import queue
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any

import bpy

from ..lookat_pd.errors import LookAtError
from . import report, whole_file
from .console import NAME, Console
from .report import Row

_KEY = "LOOKAT_PD_WORKER_KEY"
_CORES = "LOOKAT_PD_CORES"
"""Environment variable that `__main__` reads: the number of cores that a worker makes threads for."""
_MOST_MEMORY = 2048.0
"""Megabytes that a worker may have taken when it is given another file; else a new one takes its place."""
_POLL = 0.2
_TEMPORARY = ("TMPDIR", "TEMP", "TMP")
_LONGEST_FOLDER = 66
"""Bytes of the name of a folder in which a socket still finds room: systems allow it 104 in all."""
_END_WITHIN = 10.0
"""Seconds that a worker has to end by itself."""


@dataclass
class _Worker:
    process: "subprocess.Popen[bytes]"
    errors: Path
    """Where it writes what goes wrong."""
    connection: Connection | None = None
    listening: threading.Thread | None = None
    index: int | None = None
    """Of the file that it works on."""
    fraction: float = 0.0
    ending: bool = False


@dataclass
class _Pool:
    """The workers of a run, by the number that each was started with."""

    arguments: Any
    console: Console
    cores: int
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    messages: "queue.Queue[tuple[int, Any]]" = field(default_factory=queue.Queue)
    workers: dict[int, _Worker] = field(default_factory=dict)
    ended: dict[int, _Worker] = field(default_factory=dict)
    started: int = 0
    memory: float = 0.0

    def __enter__(self) -> "_Pool":
        folder = tempfile.gettempdir()
        if os.name != "nt" and len(os.fsencode(folder)) > _LONGEST_FOLDER:
            folder = "/tmp"
        whole_file.remove_abandoned(Path(folder))
        prefix = whole_file.temporary_prefix()
        self.folder = tempfile.TemporaryDirectory(prefix=prefix, dir=folder, ignore_cleanup_errors=True)
        # Python's own place for it is not removed where a process ends as this one does.
        place = (None, "AF_PIPE") if os.name == "nt" else (str(Path(self.folder.name) / "s"), "AF_UNIX")
        self.listener = Listener(*place, authkey=self.key)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self.listener.close()
        self.folder.cleanup()

    def end(self) -> None:
        """End all workers; each finishes what it is writing."""
        for worker in self.workers.values():
            worker.process.terminate()
        for worker in self.workers.values():
            try:
                worker.process.wait(_END_WITHIN)
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()
            if worker.listening is not None:
                worker.listening.join()
            _close(worker)
        self.ended, self.workers = self.workers, {}

    def start(self) -> None:
        self.started += 1
        verb, *words = self.arguments.words
        path = Path(self.folder.name) / str(self.started)
        with path.open("wb") as errors:
            process = subprocess.Popen(
                [*_program(self.cores), verb, "--worker", f"{self.started} {self.listener.address}", *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=None if self.console.debug else errors,
                # What a worker leaves in the folder for temporary files when it is killed goes with the folder.
                env={
                    **os.environ,
                    **dict.fromkeys(_TEMPORARY, self.folder.name),
                    _KEY: self.key.hex(),
                    _CORES: str(self.cores),
                },
                # What the terminal sends goes to this process alone, which ends the others.
                start_new_session=os.name != "nt",
            )
        self.workers[self.started] = _Worker(process, path)

    def send(self, number: int, message: Any) -> None:
        connection = self.workers[number].connection
        assert connection is not None
        with contextlib.suppress(OSError):
            connection.send_bytes(json.dumps(message).encode())

    def unconnected(self) -> int | None:
        """The number of a worker that has ended before it was connected."""
        ended = (n for n, worker in self.workers.items() if worker.connection is None)
        return next((n for n in ended if self.workers[n].process.poll() is not None), None)

    def _accept(self) -> None:
        while True:
            try:
                connection = self.listener.accept()
                number = json.loads(connection.recv_bytes())
            except (AuthenticationError, EOFError):
                continue
            except OSError:
                # Closed: the run is over.
                return
            worker = self.workers.get(number)
            if worker is None:
                connection.close()
                continue
            worker.listening = threading.Thread(target=self._listen, args=(number, connection), daemon=True)
            worker.connection = connection
            worker.listening.start()

    def _listen(self, number: int, connection: Connection) -> None:
        self.messages.put((number, ["ready"]))
        try:
            while True:
                self.messages.put((number, json.loads(connection.recv_bytes())))
        except (EOFError, OSError, ValueError):
            self.messages.put((number, None))


def share(paths: Sequence[Path], rows: list[Row], arguments: Any, console: Console) -> None:
    """Let workers do all files, the largest first, and fill their rows."""
    waiting = sorted(range(len(paths)), key=lambda index: _size(paths[index]))
    count = min(arguments.jobs, len(paths))
    # A signal waits for the end of `take`: it would lose the row that is being taken.
    with console.interruption.held(), _Pool(arguments, console, _cores_each(count)) as pool:
        run = _Run(pool, paths, rows, waiting)
        for _ in range(count):
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
    """The files of a run. waiting: indices of those that no worker has yet, the next one last."""

    pool: _Pool
    paths: Sequence[Path]
    rows: list[Row]
    waiting: list[int]
    done: int = 0

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

    def _fill(self, worker: _Worker, row: Row, memory: float | None) -> None:
        if worker.index is None:
            return
        self.rows[worker.index].update(row)
        self._count(worker, failed=not row["ok"])
        self.pool.memory = max(self.pool.memory, memory or 0.0)
        worker.ending = (memory or 0.0) > _MOST_MEMORY

    def _show(self, worker: _Worker, kind: str, *what: Any) -> None:
        console = self.pool.console
        if kind == "progress":
            worker.fraction = what[0]
        elif kind == "say":
            console.say(*what)
        else:
            sentence, about = what
            console.complain(sentence, None if about is None else Path(about))

    def _ended(self, worker: _Worker) -> None:
        reason = _why_ended(worker)
        if worker.index is not None:
            row, path = self.rows[worker.index], self.paths[worker.index]
            row["error"] = f"The process that worked on the file ended {reason}."
            output: Path | None = getattr(self.pool.arguments, "output", None)
            if output is not None:
                whole_file.remove_abandoned(output if output.is_dir() else output.parent)
            self.pool.console.complain(row["error"], path)
            self._count(worker, failed=True)
        elif worker.connection is None:
            raise LookAtError("A process cannot be started, it ended {reason}.", reason=reason)

    def _count(self, worker: _Worker, *, failed: bool) -> None:
        worker.index, worker.fraction = None, 0.0
        self.done += 1
        self.pool.console.end(failed=failed)


def _give(pool: _Pool, number: int, waiting: list[int]) -> None:
    """Tell a worker which file is next, or that there is none."""
    worker = pool.workers[number]
    if worker.ending or not waiting:
        worker.ending = True
        pool.send(number, None)
        return
    worker.index = waiting.pop()
    pool.send(number, worker.index)


def _why_ended(worker: _Worker) -> str:
    try:
        code = worker.process.wait(_END_WITHIN)
    except subprocess.TimeoutExpired:
        worker.process.kill()
        code = worker.process.wait()
    lines = worker.errors.read_text("utf-8", "replace").strip().splitlines()
    _close(worker)
    if code < 0:
        name = signal.Signals(-code).name
        memory = "; it may have run out of memory: try fewer --jobs" if name == "SIGKILL" else ""
        return f"by {name}{memory}"
    return f"with exit code {code}" + (f" ({lines[-1].removeprefix(f'{NAME}: ')})" if lines else "")


def _close(worker: _Worker) -> None:
    if worker.connection is not None:
        worker.connection.close()


def _cores_each(count: int) -> int:
    """Cores for each of so many processes. With threads for all cores in each process, they hold each other up."""
    known = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, known // count)


def _program(cores: int) -> list[str]:
    """The words that call this command again, with threads for so many cores."""
    if not bpy.app.binary_path:
        return [sys.executable, str(Path(__file__).resolve().parent)]
    before = sys.argv[1 : sys.argv.index("--command")] if "--command" in sys.argv else []
    threads = [] if {"-t", "--threads"} & set(before) else ["--threads", str(cores)]
    return [bpy.app.binary_path, *before, *threads, "--command", NAME]


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
    with Client(address, authkey=bytes.fromhex(os.environ[_KEY])) as parent:

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
