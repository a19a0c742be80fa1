"""What the pages of the documents hold, read from their Markdown: links, pictures, words, and the contents of the site.

The site has no contents of its own. They are the lists of links in `docs/index.md`, below a heading each, and those
below *Pages* in the page of a feature, so that the same pages lead through the documents on GitHub.
"""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
INDEX = "index.md"
PAGES = "Pages"
"""The heading in the page of a feature whose list is the rest of its pages."""
REFERENCE = "Reference"
"""The heading of the index below which pages are read in places; those above are for users, and short."""
REPOSITORY = "https://github.com/look-at-pd/look-at-pd"

_FENCE = re.compile(r"^( *)(```+)[^\n]*\n.*?^\1\2 *$\n?", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
_ITEM = re.compile(r"(?m)^- \[[^\]]+\]\(([^)#:]+\.md)\)")


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "``", _FENCE.sub("", text))


def prose(text: str) -> str:
    """The text without blocks of code, for which no picture is due."""
    return _FENCE.sub("", text)


def links(text: str) -> Iterator[str]:
    yield from (target for mark, _, target in _LINK.findall(without_code(text)) if not mark)
    # The link around a picture.
    yield from (inner for _, label, _ in _LINK.findall(without_code(text)) for inner in links(label))


def pictures(text: str) -> list[tuple[str, str]]:
    """What each picture shows, and its file."""
    found = _LINK.findall(without_code(text))
    inside = [inner for mark, label, _ in found if not mark for inner in _LINK.findall(label)]
    return [(label, target) for mark, label, target in (*found, *inside) if mark]


def words(text: str) -> int:
    """Words that are read: without code, pictures, addresses and the lines of tables."""
    shown = _LINK.sub(lambda link: "" if link[1] else link[2], prose(text))
    return sum(bool(re.search(r"\w", word)) for word in shown.split())


def headings(text: str) -> list[tuple[int, str]]:
    return [(len(marks), title) for marks, title in re.findall(r"^(#+) +(.*)$", prose(text), re.MULTILINE)]


def anchors(text: str) -> set[str]:
    """The anchors of a page as GitHub and MyST name them."""
    found: set[str] = set()
    for _, title in headings(text):
        plain = re.sub(r"[^\w\- ]", "", _LINK.sub(r"\2", title).lower()).replace(" ", "-")
        name, count = plain, 0
        while name in found:
            count += 1
            name = f"{plain}-{count}"
        found.add(name)
    return found


def pages() -> list[str]:
    """All pages, by their paths in `docs`."""
    return sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


def contents(page: str) -> dict[str, list[str]]:
    """The pages that a page leads on to, by the heading of their list."""
    text = (DOCS / page).read_text("utf-8")
    if page != INDEX and f"## {PAGES}\n" not in text:
        return {}
    found: dict[str, list[str]] = {}
    above = {1: "", 2: "", 3: ""}
    for part in re.split(r"^(?=#+ )", prose(text), flags=re.MULTILINE)[1:]:
        level, title = headings(part)[0]
        above[level] = title
        names = [(DOCS / page).parent.joinpath(name).relative_to(DOCS).as_posix() for name in _ITEM.findall(part)]
        if names and (page == INDEX or title == PAGES):
            found[title] = names
    return found


def reference() -> set[str]:
    """The pages that are listed below *Reference*: looked up, not read."""
    below = (DOCS / INDEX).read_text("utf-8").partition(f"\n## {REFERENCE}\n")[2]
    return set(_ITEM.findall(below))


def on_site(page: str, text: str) -> str:
    """A page's text with links to files that are no pages leading to the repository, where they are."""

    def linked(link: re.Match[str]) -> str:
        file, mark, anchor = link[3].partition("#")
        path = (DOCS / page).parent.joinpath(file).resolve()
        if link[1] or ":" in link[3] or not file or (path.suffix == ".md" and path.is_relative_to(DOCS)):
            return link[0]
        kind = "tree" if path.is_dir() else "blob"
        return f"[{link[2]}]({REPOSITORY}/{kind}/main/{path.relative_to(ROOT).as_posix()}{mark}{anchor})"

    made, at = "", 0
    for code in _FENCE.finditer(text):
        made += _LINK.sub(linked, text[at : code.start()]) + code[0]
        at = code.end()
    return made + _LINK.sub(linked, text[at:])
