"""The Japanese texts of the site: docs/locale/ja, a catalog for each page that is there in Japanese.

    python tools/website/catalogs.py TEMPLATES [--write]

TEMPLATES: the folder that Sphinx wrote the English sentences to. Exit code 1 if a sentence has no Japanese; --write
brings the catalogs up to date instead: what is missing is left empty, what is no more in a page is left out.
"""

import re
import sys
from pathlib import Path

import contents
from babel.messages import Catalog, pofile

LOCALE = contents.DOCS / "locale/ja/LC_MESSAGES"
TRANSLATED = ("index.md", "installation.md", "faq.md", "which-method.md", "lessons/*.md", "recipes/*.md")
"""The pages that are there in Japanese; the others are shown in English."""


_PICTURE = re.compile(r"!\[(.*)\]\(.*\)", re.DOTALL)


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


def faults(page: str, template: Catalog, present: dict[str, str]) -> list[str]:
    """Sentences without Japanese. What a picture shows may be said in English until somebody translates it."""
    shown = {picture[1] for message in template if (picture := _PICTURE.fullmatch(str(message.id)))}
    return [
        f"{page}: no Japanese for: {text}" for text in texts(template) if text not in shown and not present.get(text)
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
        template = read((Path(templates) / page).with_suffix(".pot"))
        path = (LOCALE / page).with_suffix(".po")
        present = texts(read(path))
        if "--write" in flags:
            write(path, texts(template), present)
        found += faults(page, template, present)
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found and "--write" not in flags else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
