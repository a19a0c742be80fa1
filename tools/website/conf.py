"""The site, made by Sphinx from the Markdown of `docs`: see tools/site."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import contents  # noqa: E402

project = "Look-at PD"
author = "Look-at PD developers"
copyright = "Look-at PD developers, GNU General Public License 3 or later"
language = "en"
LANGUAGES = {"en": "English", "ja": "日本語"}
DESCRIPTIONS = {
    "en": "An extension for Blender: characters that look at things, with eyes, head and body.",
    "ja": "目・頭・体で見るキャラクターを作る Blender の拡張機能。",
}
"""What search engines and messengers show of a link."""

extensions = ["myst_parser", "films"]
myst_heading_anchors = 6
root_doc = "index"
source_suffix = {".md": "markdown"}
exclude_patterns = ["locale", "**/__pycache__"]
locale_dirs = [str(contents.DOCS / "locale")]
gettext_compact = False
gettext_location = False
# Names of commands and flags keep their hyphens as they are typed.
smartquotes = False

html_theme = "furo"
html_title = "Look-at PD"
html_baseurl = "https://look-at-pd.github.io/look-at-pd/"
html_static_path = [str(HERE / "static"), str(contents.DOCS / "images/overlay.png")]
html_css_files = ["site.css"]
html_favicon = str(HERE / "static/icon.svg")
templates_path = [str(HERE / "templates")]
html_show_sphinx = False
html_copy_source = False
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "languages.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_theme_options = {
    "source_repository": contents.REPOSITORY,
    "source_branch": "main",
    "source_directory": "docs/",
    "top_of_page_buttons": ["view"],
}


def _with_contents(app, docname: str, source: list[str]) -> None:
    """Links that leave the documents lead to the repository; lists of pages become the site's contents."""
    page = f"{docname}.md"
    source[0] = contents.on_site(page, source[0])
    for title, pages in contents.contents(page).items():
        caption = f":caption: {title}\n" if page == contents.INDEX else ""
        folder = (contents.DOCS / page).parent
        names = [str((contents.DOCS / name).relative_to(folder).with_suffix("")) for name in pages]
        source[0] += "\n\n```{toctree}\n:hidden:\n" + caption + "\n" + "\n".join(names) + "\n```\n"


def _other_languages(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    """The same page in each language: Japanese is a folder of the site."""
    up = "../" * pagename.count("/")
    home = up if app.config.language == "en" else f"{up}../"
    context["description"] = DESCRIPTIONS[app.config.language]
    context["languages"] = [
        (name, code, f"{home}{'' if code == 'en' else f'{code}/'}{pagename}.html") for code, name in LANGUAGES.items()
    ]


def setup(app) -> None:
    app.connect("source-read", _with_contents)
    app.connect("html-page-context", _other_languages)
