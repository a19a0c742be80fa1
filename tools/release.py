"""Gathers what a release publishes in build/release, after it has checked that version, changelog and tag agree.

python tools/release.py [--tag NAME]     --tag: of the commit, v and the version; without, nothing is published yet

    lookat_pd-VERSION-PLATFORM.zip   to install from disk
    SHA256SUMS                       of these
    notes.md                         what the changelog says of this version
    site/                            the website, and in site/repository what Blender installs the extension from
"""

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class NotReady(Exception):
    """What has to be done before there can be a release, in one sentence."""


def version() -> str:
    return tomllib.loads((ROOT / "blender_manifest.toml").read_text("utf-8"))["version"]


def notes(changelog: str, version: str) -> str:
    """What the changelog says of the version, which must be the first in it."""
    sections = re.split(r"^## +", changelog, flags=re.MULTILINE)[1:]
    heading, _, text = sections[0].partition("\n") if sections else ("", "", "")
    if heading.strip() != version:
        raise NotReady(f"CHANGELOG.md begins with {heading.strip()!r}, not with {version}; write what is new in it.")
    if not re.search(r"^- ", text, re.MULTILINE):
        raise NotReady(f"CHANGELOG.md says nothing of {version}; write what is new in it.")
    return text.strip() + "\n"


def check_tag(tag: str | None, version: str, former: list[str]) -> None:
    """former: names of the tags that there are."""
    if tag not in (None, f"v{version}"):
        raise NotReady(f"The tag is {tag} and blender_manifest.toml has {version}; change one of them.")
    newest = max((one for one in former if one != tag), key=_order, default="")
    if newest and _order(newest) >= _order(version):
        raise NotReady(
            f"There is a tag {newest} already; enter a newer version than {version} in blender_manifest.toml."
        )


def checksums(files: list[Path]) -> str:
    """As sha256sum -c reads them."""
    return "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)


def gather(folder: Path, notes: str) -> None:
    """Make everything, then lay it in the folder, which is emptied before."""
    zips = [Path(line) for line in _made("tools/build", "--all")]
    repository = Path(_made("tools/build", "--repository")[-1]).parent
    site = Path(_made("tools/site")[-1]).parent
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / site, folder / "site")
    shutil.copytree(ROOT / repository, folder / "site" / "repository")
    laid = [Path(shutil.copy(ROOT / file, folder)) for file in zips]
    (folder / "SHA256SUMS").write_text(checksums(laid), "utf-8")
    (folder / "notes.md").write_text(notes, "utf-8")


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools/release.py", description="Gather what a release publishes.")
    parser.add_argument("--tag", metavar="NAME", help="of the commit, v and the version")
    tag = parser.parse_args(words).tag
    folder = ROOT / "build/release"
    try:
        new = notes((ROOT / "CHANGELOG.md").read_text("utf-8"), version())
        check_tag(tag, version(), _made("git", "tag", "--list", "v*"))
        gather(folder, new)
    except NotReady as reason:
        print(f"error: {reason}", file=sys.stderr)
        return 1
    for path in sorted(folder.iterdir()):
        print(path.relative_to(ROOT))
    return 0


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))


def _made(*command: str) -> list[str]:
    """The lines that a command printed."""
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise NotReady(f"{' '.join(command)} failed; see above.")
    return done.stdout.split("\n")[:-1]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
