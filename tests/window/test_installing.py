"""The extension from a repository that tools/build makes, served to a Blender that has never seen it."""

import hashlib
import json
import re
import shutil
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from windowed import blender, published, strangers

from .conftest import FOLDER, HERE

PLACE = HERE / "installing"
SCRIPTS = [f"from_repository:{name}" for name in blender.scripts_in(PLACE / "from_repository.py")]


class _Served(SimpleHTTPRequestHandler):
    """Files of the older repository, and after /update those of the new one."""

    def __init__(self, *words, roots: list[Path], **more) -> None:
        self.roots = roots
        super().__init__(*words, directory=str(roots[0]), **more)

    def do_GET(self) -> None:
        if self.path == "/update":
            del self.roots[0]
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(tmp_path, window) -> Iterator[str]:
    new, old = tmp_path / "new", tmp_path / "old"
    shutil.copytree(published.build_repository(), new)
    old.mkdir()
    _as_older(new, old)
    handler = partial(_Served, roots=[old, new])
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()


def _as_older(new: Path, old: Path) -> None:
    """The same zips with an older version in their manifest, and their list."""
    index = json.loads((new / "index.json").read_text("utf-8"))
    rows = [row for row in index["data"] if row["platforms"] == ["linux-x64"]]
    for row in rows:
        name = row["archive_url"].removeprefix("./")
        with zipfile.ZipFile(new / name) as source, zipfile.ZipFile(old / name, "w") as made:
            for item in source.infolist():
                data = source.read(item)
                if item.filename == "blender_manifest.toml":
                    data = re.sub(rb'^version = ".*"', b'version = "0.0.1"', data, flags=re.MULTILINE)
                made.writestr(item, data)
        row |= {"version": "0.0.1", "archive_size": (old / name).stat().st_size}
        row["archive_hash"] = f"sha256:{hashlib.sha256((old / name).read_bytes()).hexdigest()}"
    (old / "index.json").write_text(json.dumps(index | {"data": rows}), "utf-8")


@pytest.mark.window
@pytest.mark.parametrize("script", SCRIPTS)
def test_from_a_repository(script, server, monkeypatch) -> None:
    monkeypatch.setenv("LOOKAT_PD_SERVER", server)
    folder = FOLDER.with_name("window-installing")
    found = blender.run([script], path=PLACE, prepare="from_repository", folder=folder, install=False)
    (result,) = found
    if result.outcome != "passed":
        pytest.fail(f"{result.text}\n\nBlender printed:\n{result.output}\n\nPictures: {folder}", pytrace=False)


@pytest.mark.window
def test_a_stranger_gets_to_baked_keys_in_few_steps(window) -> None:
    """From the address that the page gives, by mouse and keyboard alone, from a user's folder that is empty."""
    folder = FOLDER.with_name("window-stranger")
    result = strangers.walk(folder)
    if result.outcome != "passed":
        pytest.fail(f"{result.text}\n\nBlender printed:\n{result.output}\n\nPictures: {folder}", pytrace=False)
    print((folder / "stranger.json").read_text("utf-8"))
