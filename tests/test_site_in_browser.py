"""The built site in headless Chromium, as wide as a desk and as a telephone: everything loads, nothing is reported.

Chromium is CHROMIUM, or the first of its usual names on PATH; Debian has it as the package `chromium`.
"""

import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--enable-logging=stderr"),
)
WIDTHS = (1280, 390)
REPORT = "/report"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not CHROMIUM, reason="no Chromium on PATH, and none in CHROMIUM")]

# Each page in a frame of each width; what is wrong with it is sent back.
VISITOR = """<!doctype html><meta charset="utf-8"><body><script>
const pages = PAGES, widths = WIDTHS;
async function visit(frame, page) {
  await new Promise(done => { frame.onload = done; frame.src = page; });
  const doc = frame.contentDocument, found = [];
  for (const image of doc.images) image.loading = "eager";
  await Promise.all([...doc.images].map(image => image.decode().catch(() => {})));
  for (const image of doc.images) if (!image.naturalWidth) found.push("no picture " + image.src);
  for (const film of doc.querySelectorAll("video")) if (film.error) found.push("no film " + film.currentSrc);
  if (doc.documentElement.scrollWidth > frame.clientWidth)
    found.push("wider than " + frame.clientWidth + ": " + doc.documentElement.scrollWidth);
  return found.map(text => page + ": " + text);
}
(async () => {
  const found = [];
  let visited = 0;
  await Promise.all(widths.map(async width => {
    const frame = document.createElement("iframe");
    frame.style = `width: ${width}px; height: 800px; border: 0`;
    document.body.append(frame);
    for (const page of pages) { found.push(...await visit(frame, page)); visited += 1; }
  }));
  await fetch("REPORT", {method: "POST", body: JSON.stringify({visited, found})});
})();
</script>"""


@pytest.fixture(scope="module")
def site() -> Path:
    made = subprocess.run([ROOT / "tools/site"], capture_output=True, text=True, cwd=ROOT, check=False)
    if "pip could not install" in made.stderr:
        pytest.skip(f"the site's environment cannot be made: {made.stderr.strip()}")
    assert made.returncode == 0, made.stdout + made.stderr
    return ROOT / Path(made.stdout.strip().splitlines()[-1]).parent


class Page(HTMLParser):
    """Where a page's links, pictures and scripts lead, and its anchors."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.leads: set[str] = set()
        self.anchors: set[str] = {""}
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.leads.add(value)
            elif name == "id" and value:
                self.anchors.add(value)


def test_every_link_of_the_built_pages_leads_somewhere(site) -> None:
    pages = {path: Page(path) for path in site.rglob("*.html")}
    assert len(pages) > 150
    broken = []
    for path, page in pages.items():
        for lead in page.leads:
            target, anchor = urldefrag(unquote(re.sub(r"\?[^#]*", "", lead)))
            if re.match(r"\w+:|//", lead):
                continue
            other = (path.parent / target).resolve() if target else path
            if not other.exists() or (other in pages and anchor not in pages[other].anchors):
                broken.append(f"{path.relative_to(site)}: {lead}")
    assert not broken


def test_nothing_of_a_page_comes_from_another_server(site) -> None:
    """Nobody is told who reads, and the site works without a network: only links lead away."""
    outside = re.compile(r"<(?:script|img|iframe|video|source)[^>]*\ssrc=\"(?:https?:)?//|<link[^>]*stylesheet[^>]*//")
    assert not [path.name for path in site.rglob("*.html") if outside.search(path.read_text("utf-8"))]


@contextmanager
def served(site: Path, visitor: str) -> Iterator[tuple[str, threading.Event, dict]]:
    """The site and the page that visits it, on this machine only; set once it has reported."""
    ready, report = threading.Event(), {}

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_) -> None:
            pass

        def do_GET(self) -> None:
            if self.path != "/visitor.html":
                return super().do_GET()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(visitor.encode())
            return None

        def do_POST(self) -> None:
            report.update(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()
            ready.set()

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/visitor.html", ready, report
    finally:
        server.shutdown()
        server.server_close()


def visited(site: Path, pages: list[str], folder: Path) -> tuple[dict, list[str]]:
    """What the visitor reports of pages, and the errors in Chromium's console."""
    visitor = VISITOR.replace("PAGES", json.dumps(pages)).replace("WIDTHS", json.dumps(WIDTHS))
    log = folder / "log"
    with served(site, visitor.replace("REPORT", REPORT)) as (address, ready, report), log.open("w") as file:
        # It opens the page and goes on until it is ended.
        flags = ["--window-size=1800,900", "--remote-debugging-port=0", f"--user-data-dir={folder / 'user'}"]
        chromium = subprocess.Popen([CHROMIUM, *FLAGS, *flags, address], stdout=file, stderr=file)
        try:
            assert ready.wait(300), log.read_text("utf-8", "replace")[-2000:]
        finally:
            chromium.terminate()
            chromium.wait(30)
    return report, re.findall(r".*CONSOLE.*(?:rror|Failed|Uncaught).*", log.read_text("utf-8", "replace"))


def test_the_visitor_finds_what_is_wrong(tmp_path) -> None:
    site, wide = tmp_path / "site", "<p style='width: 800px'>wide</p>"
    site.mkdir()
    (site / "a.html").write_text(f"<img src='none.png'>{wide}<script>throw new Error('fault')</script>", "utf-8")
    report, errors = visited(site, ["/a.html"], tmp_path)
    assert sorted(text.split()[1] for text in report["found"]) == ["no", "no", "wider"]
    assert any("fault" in line for line in errors)


def test_pages_load_at_both_widths_without_errors(site, tmp_path) -> None:
    """All English pages, and those that are there in Japanese."""
    catalogs = ROOT / "docs/locale/ja/LC_MESSAGES"
    english = [path for path in site.rglob("*.html") if "ja" not in path.relative_to(site).parts]
    japanese = [site / "ja" / path.relative_to(catalogs).with_suffix(".html") for path in catalogs.rglob("*.po")]
    pages = [f"/{path.relative_to(site).as_posix()}" for path in sorted({*english, *japanese})]
    report, errors = visited(site, pages, tmp_path)
    assert report == {"visited": len(pages) * len(WIDTHS), "found": []}
    assert not errors
