"""Make the README in a folder stand alone, as in the extension's zip: with its pictures, links to pages on the web.

python tools/packed_readme.py FOLDER     FOLDER: has a copy of README.md and of the manifest
"""

import re
import runpy
import shutil
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURES = (".png", ".webp", ".jpg", ".gif", ".svg")
_LINK = re.compile(r'(?<=\]\()[^)\s]+|(?<=src=")[^"]+|(?<=href=")[^"]+')


def repository() -> str:
    """Its address, as the extension knows it."""
    return runpy.run_path(str(ROOT / "rig/project.py"))["REPOSITORY"]


def pack(folder: Path) -> None:
    """Rewrite the README there; each picture that it shows is copied to where it looks for it."""
    version = tomllib.loads((folder / "blender_manifest.toml").read_text("utf-8"))["version"]

    def standing_alone(match: re.Match[str]) -> str:
        target = match[0]
        path = target.partition("#")[0]
        if not path or "://" in path or path.startswith("mailto:"):
            return target
        if path.endswith(PICTURES):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, folder / path)
            return target
        if not (ROOT / path).exists():
            raise FileNotFoundError(f"README.md links to {path}, which does not exist")
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"{repository()}/{kind}/v{version}/{target}"

    readme = folder / "README.md"
    readme.write_text(_LINK.sub(standing_alone, readme.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    pack(Path(sys.argv[1]))
