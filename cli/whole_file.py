"""Files that appear whole or not at all: written under another name beside their own, then moved there."""

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

from ..lookat_pd.errors import FileError


def check_writable(path: Path) -> None:
    """Raise FileError unless a file can be made at `path`; nothing is left behind by trying."""
    if path.is_dir():
        raise FileError(f"{path} is a folder; name a file in it.")
    folder = _nearest_folder(path.parent)
    if path.exists() and not os.access(path, os.W_OK):
        raise FileError(f"{path} is write-protected; lift the protection or write to another file.")
    probe = folder / _temporary_name(path)
    try:
        # Permissions, quotas and read-only disks: only trying tells.
        probe.touch(exist_ok=False)
        probe.unlink()
    except OSError as error:
        raise FileError(f"Nothing can be written in {folder} ({error.strerror}); choose another folder.") from None


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Path]:
    """A temporary path to write to; at the end it becomes `path`, or on any error it is gone. Raises FileError."""
    # A link stays a link: what it leads to is replaced.
    final = Path(os.path.realpath(path))
    made = _make_folder(final.parent)
    temporary = final.parent / _temporary_name(final)
    try:
        yield temporary
        if not temporary.is_file() or not temporary.stat().st_size:
            raise FileError(f"{path} was not written; look whether the disk is full and try again.")
        os.replace(temporary, final)
    except OSError as error:
        raise FileError(f"{path} cannot be written ({error.strerror}); choose another place.") from None
    finally:
        for left in final.parent.glob(f"{temporary.stem}*"):
            left.unlink(missing_ok=True)
        for folder in made:
            # Only folders that stayed empty, since this work failed, go.
            with contextlib.suppress(OSError):
                folder.rmdir()


def _temporary_name(path: Path) -> str:
    # The suffix stays: Blender's exporters would add it.
    return f".lookat_pd-{uuid.uuid4().hex}{path.suffix}"


def _nearest_folder(folder: Path) -> Path:
    """The folder, or the nearest above it that exists. Raises FileError where a file is in the way."""
    for place in (folder, *folder.absolute().parents):
        if place.is_dir():
            return place
        if place.exists():
            raise FileError(f"{place} is a file, so nothing can be written below it; choose another folder.")
    raise FileError(f"The folder {folder} cannot be found; choose another.")


def _make_folder(folder: Path) -> list[Path]:
    """Make a folder and what is missing above it; returns those made, the innermost first."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"The folder {folder} cannot be made ({error.strerror}); choose another place.") from None
    return missing
