"""Print how large the code is, and how many files a value passes on its way: for comparing one commit with another.

    python tools/measure.py [ROOT]

ROOT is the checkout that is measured, by default the one of this script. The walks (`tools/walks.py`) need Blender's
Python module; without it only lines and imports are counted. Lines include comments and empty ones. Compare walks that
ran on the same Python: 3.11 makes a function of each comprehension, 3.13 does not.
"""

import argparse
import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("lookat_pd", "lookat_pd_batch", "rig", "operators", "panels", "translations", "cli")
"""The product. Packages that import each other relatively."""
OTHERS = ("tests", "benchmarks", "docs", "tools", "assets", "farm")
SMALL = 70
"""Lines below which a file with a single importer is counted a second time."""


def sources(root: Path, *packages: str) -> list[Path]:
    return [path for package in packages for path in sorted((root / package).rglob("*.py"))]


def lines(path: Path) -> int:
    return path.read_text("utf-8").count("\n")


def imported(root: Path, path: Path) -> Iterator[Path]:
    """The files that a file imports relatively. A package's own file is none: it only gathers what is in it."""
    package = path.relative_to(root).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = root.joinpath(*package[: len(package) - node.level + 1], *(node.module or "").split("."))
            for alias in node.names:
                for file in ((base / alias.name).with_suffix(".py"), base.with_suffix(".py")):
                    if file.exists() and file != path:
                        yield file
                        break


def longest_chain(imports: dict[Path, set[Path]]) -> list[Path]:
    """Files each of which imports the next one, as many as possible."""
    known: dict[Path, list[Path]] = {}

    def chain(path: Path) -> list[Path]:
        if path not in known:
            known[path] = [path, *max((chain(other) for other in sorted(imports[path])), key=len, default=[])]
        return known[path]

    return max((chain(path) for path in imports), key=len)


def sizes(root: Path) -> Iterator[tuple[str, int, int]]:
    """Name, lines and files of the product and of what surrounds it."""
    for name, packages in (("product", PACKAGES), *((other, (other,)) for other in OTHERS)):
        files = sources(root, *packages)
        yield name, sum(map(lines, files)), len(files)


def print_imports(root: Path, *, listed: bool = False) -> None:
    files = sources(root, *PACKAGES)
    imports = {path: set(imported(root, path)).intersection(files) for path in files}
    importers: dict[Path, list[Path]] = {}
    for path, others in imports.items():
        for other in others:
            importers.setdefault(other, []).append(path)
    single = {path: lines(path) for path in files if len(importers.get(path, ())) == 1}
    small = {path: count for path, count in single.items() if count < SMALL}
    chain = longest_chain(imports)
    print(f"longest chain of imports       {len(chain):6} files")
    for path in chain if listed else ():
        print(f"         {path.relative_to(root)}")
    print(f"files with one importer        {len(single):6} files, {sum(single.values())} lines")
    print(f"those under {SMALL} lines           {len(small):6} files, {sum(small.values())} lines")
    for path, count in small.items() if listed else ():
        print(f"    {count:>4} {path.relative_to(root)} in {importers[path][0].relative_to(root)}")


def print_walks(root: Path, *, listed: bool) -> None:
    import walks

    for name, walk in walks.WALKS.items():
        command = [sys.executable, str(Path(walks.__file__)), name, str(root)]
        run = subprocess.run(command, capture_output=True, text=True)
        rows = [line.split("\t")[1:] for line in run.stdout.splitlines() if line.startswith(walks.MARK)]
        if not rows:
            print(f"{walk.title:30} failed: {(run.stderr.strip() or 'no output').splitlines()[-1]}")
            continue
        functions = sum(int(count) for _, count in rows)
        print(f"{walk.title:30} {len(rows):6} files, {functions} functions")
        for file, count in rows if listed else ():
            print(f"    {count:>4} {file}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Count lines, imports, and the files that a value passes.")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument(
        "--list",
        action="store_true",
        help="name the chain, the small files with one importer, and the files of each walk with their functions run",
    )
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    for name, count, files in sizes(root):
        print(f"{name:30} {count:6} lines, {files} files")
    print_imports(root, listed=arguments.list)
    if find_spec("bpy") is None:
        print("walks: not measured, they need Blender's Python module bpy")
    else:
        print_walks(root, listed=arguments.list)


if __name__ == "__main__":
    main()
