"""Films on the site are WebM, which a browser plays by itself, made from the WebP of the documents."""

from fractions import Fraction
from html import escape
from pathlib import Path

import av
import contents
from docutils import nodes
from PIL import Image

FILMS = contents.DOCS / "images" / "films"
_FOLDER = "films"
_CODEC, _CLOCK = "libvpx-vp9", 1000
_QUALITY = {"crf": "31", "b": "0", "deadline": "good", "cpu-used": "5"}


def setup(app) -> None:
    app.connect("doctree-resolved", _play)
    app.connect("build-finished", _encode_all)


def _play(app, doctree, docname: str) -> None:
    """Play a film instead of showing a picture."""
    if app.builder.format != "html":
        return
    up = "../" * docname.count("/")
    for image in list(doctree.findall(nodes.image)):
        path = Path(image["uri"])
        if path.suffix != ".webp" or path.parent.name != FILMS.name:
            continue
        with Image.open(FILMS / path.name) as film:
            width, height = film.size
        said = escape(image.get("alt", ""), quote=True)
        video = (
            f'<video autoplay loop muted playsinline width="{width}" height="{height}" aria-label="{said}" '
            f'src="{up}{_FOLDER}/{path.stem}.webm"></video>'
        )
        image.replace_self(nodes.raw("", video, format="html"))


def _encode_all(app, exception: Exception | None) -> None:
    if app.builder.format != "html" or exception is not None:
        return
    folder = Path(app.outdir) / _FOLDER
    folder.mkdir(exist_ok=True)
    for path in FILMS.glob("*.webp"):
        encode(path, folder / f"{path.stem}.webm")


def encode(film: Path, into: Path) -> None:
    """Write an animated WebP as WebM."""
    with Image.open(film) as pictures, av.open(str(into), "w") as file:
        stream = file.add_stream(_CODEC, rate=_CLOCK, options=_QUALITY)
        # Both sides are even for the colors, which have half as many.
        stream.width, stream.height = (side - side % 2 for side in pictures.size)
        stream.pix_fmt, stream.bit_rate, stream.time_base = "yuv420p", 0, Fraction(1, _CLOCK)
        shown = 0
        for number in range(pictures.n_frames):
            pictures.seek(number)
            picture = pictures.convert("RGB").crop((0, 0, stream.width, stream.height))
            frame = av.VideoFrame.from_image(picture)
            frame.pts, frame.time_base = shown, Fraction(1, _CLOCK)
            shown += round(pictures.info["duration"])
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
