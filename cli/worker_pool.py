"""The processes of `--jobs`: each is this command again, connected with the one that has started it.

Nothing here needs Blender, so that they can start while this process still loads it.
"""

import argparse
import contextlib
import json
import os
import queue
import secrets
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any

from ..lookat_pd_batch import program as command
from ..rig import whole_file

CORES = "LOOKAT_PD_CORES"
"""Environment variable with the number of cores that a worker makes threads for."""
JOB = "job"
"""Verb that starts other processes for each of its sections."""
_KEY = "LOOKAT_PD_WORKER_KEY"
_TEMPORARY = ("TMPDIR", "TEMP", "TMP")
_LONGEST_FOLDER = 66
"""Bytes of the name of a folder in which a socket still finds room: systems allow it 104 in all."""
_END_WITHIN = 10.0
"""Seconds that a worker has to end by itself."""


@dataclass
class Worker:
    """A process that works on files."""

    process: "subprocess.Popen[bytes]"
    errors: Path
    """Where it writes what goes wrong."""
    connection: Connection | None = None
    """Connection over which it reports; None until it has connected."""
    listening: threading.Thread | None = None
    index: int | None = None
    """Of the file that it works on."""
    began: float = 0.0
    """When it was given that file."""
    is_late: bool = False
    """It was killed because the file took too long."""
    fraction: float = 0.0
    """Completed fraction of its file."""
    ending: bool = False
    """It was told to end."""

    def wait(self) -> int:
        """Wait for its end, and give its exit code."""
        try:
            return self.process.wait(_END_WITHIN)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()


@dataclass
class Pool:
    """The workers of a run, by the number that each was started with."""

    words: Sequence[str]
    """Of the command."""
    cores: int
    """Those that each makes threads for."""
    debug: bool = False
    inputs: Any = None
    """What each is told first: the files, and where their outputs go."""
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    messages: "queue.Queue[tuple[int, Any]]" = field(default_factory=queue.Queue)
    workers: dict[int, Worker] = field(default_factory=dict)
    ended: dict[int, Worker] = field(default_factory=dict)
    started: int = 0
    memory: float = 0.0

    def __post_init__(self) -> None:
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

    def close(self) -> None:
        self.end()
        self.listener.close()
        self.folder.cleanup()

    def end(self) -> None:
        """End all workers; each finishes what it is writing."""
        for worker in self.workers.values():
            worker.process.terminate()
        for worker in self.workers.values():
            worker.wait()
            if worker.listening is not None:
                worker.listening.join()
            worker.close()
        self.ended, self.workers = self.workers, {}

    def start(self) -> None:
        self.started += 1
        verb, *words = self.words
        path = Path(self.folder.name) / str(self.started)
        with path.open("wb") as errors:
            process = subprocess.Popen(
                [*program(self.cores), verb, "--worker", f"{self.started} {self.listener.address}", *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=None if self.debug else errors,
                # What a worker leaves in the folder for temporary files when it is killed goes with the folder.
                env={
                    **os.environ,
                    **dict.fromkeys(_TEMPORARY, self.folder.name),
                    _KEY: self.key.hex(),
                    CORES: str(self.cores),
                },
                # What the terminal sends goes to this process alone, which ends the others.
                start_new_session=os.name != "nt",
            )
        self.workers[self.started] = Worker(process, path)

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


def cores_each(count: int) -> int:
    """Cores for each of so many processes. With threads for all cores in each process, they hold each other up."""
    known = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, known // count)


def program(cores: int) -> list[str]:
    """The words that call this command again, with threads for so many cores."""
    threads = [] if {"-t", "--threads"} & set(sys.argv) else ["--threads", str(cores)]
    return command.words(threads)


def early(words: Sequence[str]) -> Pool | None:
    """The workers that these words ask for, already started; None where they ask for one process.

    Misspelled words are left to the parser of all verbs, which says what is wrong with them.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--debug", action="store_true")
    parser.add_argument("--worker")
    try:
        options, _ = parser.parse_known_args(words)
    except argparse.ArgumentError:
        return None
    # How many files there are is not known yet: more workers than cores would help nobody who has few.
    count = min(options.jobs, cores_each(1))
    if count < 2 or options.worker is not None or words[:1] == [JOB]:
        return None
    with contextlib.suppress(OSError):
        pool = Pool(list(words), cores_each(count), options.debug)
        for _ in range(count):
            pool.start()
        return pool
    # The run tries again, and says what is in the way.
    return None


def connect(place: str) -> Connection:
    """In a worker: the connection with the process that has started it."""
    number, _, address = place.partition(" ")
    parent = Client(address, authkey=bytes.fromhex(os.environ[_KEY]))
    parent.send_bytes(json.dumps(int(number)).encode())
    return parent
