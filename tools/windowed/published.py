"""What a release publishes for Blender, on this machine: the repository at the place that the pages give."""

import os
import re
import shutil
import subprocess
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from .blender import ROOT

PAGE = ROOT / "docs/installation.md"
_ADDRESS = re.compile(r"^ *(https://\S+\.json)$", re.MULTILINE)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def build_repository() -> Path:
    """The folder of the repository, made anew."""
    quiet = {name: value for name, value in os.environ.items() if name != "BLENDER"}
    built = subprocess.run([ROOT / "tools/build", "--repository"], capture_output=True, text=True, env=quiet)
    assert built.returncode == 0, built.stderr
    return (ROOT / built.stdout.strip()).parent


def address() -> str:
    """Of the repository, as the page on installation tells it to strangers."""
    found = _ADDRESS.search(PAGE.read_text("utf-8"))
    assert found is not None, f"{PAGE.name} gives no address"
    return found[1]


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address that the page gives, on a server of this machine: only its host is another one.

    folder: an empty one. The repository is in `repository` of the site, where tools/release.py puts it.
    """
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text("utf-8"))
    site = urlsplit(manifest["website"])
    shutil.copytree(build_repository(), folder / site.path.strip("/") / "repository")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}{urlsplit(address()).path}"
        http.shutdown()
