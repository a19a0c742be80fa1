"""Files that appear whole or not at all: written under another name beside their own, then moved there."""

import contextlib
import errno
import os
import platform
import shutil
import stat
import uuid
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path

from ..lookat_pd.errors import FileError

_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
_CHUNK = 1 << 20


def check_writable(path: Path) -> None:
    """Raise FileError unless a file can be made at `path`; nothing is left behind by trying."""
    check_regular(path)
    folder = _nearest_folder(path.parent)
    if path.exists() and not os.access(path, os.W_OK):
        raise FileError(
            "{path} is write-protected; lift the protection or write to another file.",
            path=path,
            code="write-protected",
        )
    probe = folder / _temporary_name(path)
    try:
        # Permissions, quotas and read-only disks show only when a write is tried.
        try:
            probe.touch(exist_ok=False)
        finally:
            # A signal may come just after it was made.
            probe.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(
            "Nothing can be written in {folder} ({reason}); choose another folder.",
            folder=folder,
            reason=error.strerror,
            code="unwritable",
        ) from None


def check_regular(path: Path) -> None:
    """Raise FileError where there is something else than a file at `path`: it would be replaced."""
    if path.is_dir():
        raise FileError("{path} is a folder; name a file in it.", path=path)
    if path.exists() and not path.is_file():
        raise FileError("{path} is a device or a pipe, not a file; name a file.", path=path)


def is_stream(path: Path) -> bool:
    """Whether `path` is a named pipe or a terminal, or stands for an open stream, which is written through."""
    if path.absolute().parts[:2] == ("/", "dev") and (path.name in ("stdout", "stderr") or path.parent.name == "fd"):
        return True
    try:
        mode = path.stat().st_mode
        return stat.S_ISFIFO(mode) or (stat.S_ISCHR(mode) and _is_terminal(path))
    except OSError:
        return False


def _is_terminal(path: Path) -> bool:
    with path.open("wb", buffering=0) as device:
        return device.isatty()


def write_through(path: Path, text: str) -> None:
    """Write text to a stream, as `is_stream` has it. Raises FileError, also where nobody reads a pipe."""
    try:
        flags = os.O_WRONLY | getattr(os, "O_NONBLOCK", 0)
        with open(os.open(path, flags), "w", encoding="utf-8") as stream:
            os.set_blocking(stream.fileno(), True)
            stream.write(text)
    except OSError as error:
        raise unwritable(path, error) from None


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Path]:
    """A temporary path to write to; at the end it becomes `path`, or on any error it is gone. Raises FileError."""
    # A link stays a link: what it leads to is replaced.
    final = Path(os.path.realpath(path))
    check_regular(final)
    made = _make_folder(final.parent)
    _remove_abandoned_once(final.parent)
    temporary = final.parent / _temporary_name(final)
    try:
        yield temporary
        if not temporary.is_file() or not temporary.stat().st_size:
            raise FileError("{path} was not written; check the free space of the disk and try again.", path=path)
        check_regular(final)
        os.replace(temporary, final)
    except OSError as error:
        raise unwritable(path, error) from None
    finally:
        # Blender writes a .blend under a name of its own first.
        for left in (temporary, temporary.with_name(f"{temporary.name}@")):
            left.unlink(missing_ok=True)
        for folder in made:
            # Only folders that stayed empty, since this work failed, go.
            with contextlib.suppress(OSError):
                folder.rmdir()


def unwritable(path: Path, error: OSError) -> FileError:
    """The complaint about a file that the system does not let us write."""
    if error.errno in _FULL:
        return FileError(
            "{path} cannot be written because the disk is full; free some space, or choose another folder.",
            path=path,
            code="disk-full",
        )
    return FileError(
        "{path} cannot be written ({reason}); choose another folder.",
        path=path,
        reason=error.strerror,
        code="unwritable",
    )


def obstacle(folder: Path, size: int) -> OSError | None:
    """Why the system does not let a file of about `size` bytes be written in a folder; None where it does.

    Blender often loses the reason of a write that fails. On a disk with enough room it is found by trying.
    """
    try:
        if shutil.disk_usage(folder).free < size:
            return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        probe, chunk = folder / _temporary_name(Path("probe")), os.urandom(_CHUNK)
        try:
            with probe.open("xb") as file:
                for begin in range(0, size, _CHUNK):
                    file.write(chunk[: size - begin])
        finally:
            probe.unlink(missing_ok=True)
    except OSError as error:
        return error
    return None


def _temporary_name(path: Path) -> str:
    # The suffix stays: Blender's exporters would add it.
    return f"{temporary_prefix()}{uuid.uuid4().hex}{path.suffix}"


def temporary_prefix() -> str:
    """What the names of all temporary files and folders of this process begin with."""
    return f".lookat_pd-{_machine()}-{os.getpid()}-"


@cache
def _machine() -> str:
    """Identifies this machine among others that write into the same folder."""
    return blake2b(f"{platform.node()} {uuid.getnode()}".encode(), digest_size=4).hexdigest()


@cache
def _remove_abandoned_once(folder: Path) -> None:
    # A folder may hold a hundred thousand outputs: it is not read again for each.
    remove_abandoned(folder)


def begin_run() -> None:
    """Look again for what killed runs have left: in a process that lives on, another run may have been killed since."""
    _remove_abandoned_once.cache_clear()


def remove_abandoned(folder: Path) -> None:
    """Remove the temporary files and folders in a folder whose processes, of this machine, were killed."""
    for left in folder.glob(f".lookat_pd-{_machine()}-*"):
        number = left.name.split("-")[2]
        if number.isdigit() and not _is_running(int(number)):
            with contextlib.suppress(OSError):
                shutil.rmtree(left) if left.is_dir() else left.unlink()


def _is_running(process: int) -> bool:
    if os.name == "nt":
        # There a signal ends the process; what cannot be decided is left alone.
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _nearest_folder(folder: Path) -> Path:
    """The folder, or the nearest above it that exists. Raises FileError where a file is in the way."""
    for place in (folder, *folder.absolute().parents):
        if place.is_dir():
            return place
        if place.exists():
            raise FileError("{place} is a file, not a folder; choose another folder.", place=place)
    raise FileError("The folder {folder} cannot be found; choose another.", folder=folder)


def _make_folder(folder: Path) -> list[Path]:
    """Make a folder and what is missing above it; returns those made, the innermost first."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            "The folder {folder} cannot be created ({reason}); choose another folder.",
            folder=folder,
            reason=error.strerror,
            code="unwritable",
        ) from None
    return missing
