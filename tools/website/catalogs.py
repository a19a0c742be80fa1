"""The Japanese texts of the site: docs/locale/ja, a catalog for each page that is there in Japanese.

    python tools/website/catalogs.py TEMPLATES [--write]

TEMPLATES: the folder that Sphinx wrote the English sentences to. Exit code 1 if a sentence has no Japanese, or a
catalog has one that is no more in its page. With --write the catalogs are brought up to date instead, and what is
missing is left empty.
"""

import re
import sys
from pathlib import Path

import contents
from babel.messages import Catalog, pofile

LOCALE = contents.DOCS / "locale/ja/LC_MESSAGES"
TRANSLATED = ("index.md", "installation.md", "faq.md", "which-method.md", "lessons/*.md", "recipes/*.md")
"""The pages that are there in Japanese; the others are shown in English."""


_PICTURE = re.compile(r"!\[.*\]\(.*\)", re.DOTALL)


def pages() -> list[str]:
    return sorted(
        path.relative_to(contents.DOCS).as_posix() for pattern in TRANSLATED for path in contents.DOCS.glob(pattern)
    )


def read(path: Path) -> Catalog:
    if not path.exists():
        return Catalog(locale="ja")
    with path.open("rb") as file:
        return pofile.read_po(file, locale="ja")


def texts(catalog: Catalog) -> dict[str, str]:
    """Sentences and their Japanese; not the files of pictures, which are the same."""
    found = {str(message.id): str(message.string) for message in catalog if message.id}
    return {text: said for text, said in found.items() if not _PICTURE.fullmatch(text)}


def faults(page: str, wanted: dict[str, str], present: dict[str, str]) -> list[str]:
    return [
        *(f"{page}: no Japanese for: {text}" for text in wanted if not present.get(text)),
        *(f"{page}: no longer there: {text}" for text in present if text not in wanted),
    ]


def write(path: Path, wanted: dict[str, str], present: dict[str, str]) -> None:
    catalog = Catalog(locale="ja", project="Look-at PD", header_comment="# Japanese texts of the site")
    for text in wanted:
        catalog.add(text, present.get(text, ""))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        pofile.write_po(file, catalog, width=0, omit_header=True)


def main(templates: str, *flags: str) -> int:
    found: list[str] = []
    for page in pages():
        wanted = texts(read((Path(templates) / page).with_suffix(".pot")))
        path = (LOCALE / page).with_suffix(".po")
        present = texts(read(path))
        if "--write" in flags:
            write(path, wanted, present)
        found += faults(page, wanted, present)
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found and "--write" not in flags else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
