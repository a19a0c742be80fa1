"""Films of the interface: what a script does in Blender's window, with the pointer of its mouse drawn over it.

They need a Blender with a window, as tools/pictures does: BLENDER names it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont
from windowed import blender, filming

from .cutting import LONGEST

FPS, WIDTH = 10, 800
"""Pictures a second, and pixels of their width at most: texts of the interface must be read."""
_REST = 0.5
"""Seconds for which nothing happens, at most: what a machine waits for is no part of a film."""
_HELD, _GLIDE, _FAR = 0.3, 0.12, 24
"""Seconds for which a click is seen, and in which the pointer goes to another place that is so far away [pixels]."""
_POINTER = (0, 0), (0, 17), (4, 13), (7, 20), (10, 19), (7, 12), (12, 12)
_BAR, _SIZE = 26, 15
"""Height of the line below the picture, and of its letters."""

Moment = tuple[float, filming.Row]
"""How long something is seen [s], and what."""


def filmed(result: blender.Result, folder: Path) -> tuple[Path, list[filming.Row]]:
    """Where the pictures of a script are that was run in a folder, and what they show."""
    if result.outcome != "passed":
        raise SystemExit(f"error: {result.name} {result.outcome}:\n{result.text}\n{result.output}")
    pictures = folder / "films" / result.name.partition(":")[2]
    return pictures, filming.rows(pictures)


def cut(folder: Path, rows: Sequence[filming.Row], *, clock: bool = False, fps: int = FPS) -> list[Image.Image]:
    """The pictures of a film that is no longer than one may be. clock: show how long it took in truth."""
    moments = list(_moments(rows))
    whole = sum(lasting for lasting, _ in moments)
    speed = max(1.0, whole / (LONGEST - 1.0 / fps))
    starts = [0.0]
    for lasting, _ in moments:
        starts.append(starts[-1] + lasting / speed)
    pictures = []
    for number in range(int(starts[-1] * fps)):
        begin, end = number / fps, (number + 1) / fps
        seen = [n for n in range(len(moments)) if starts[n + 1] > begin and starts[n] < end]
        clicked = next((n for n in seen if moments[n][1].pressed), seen[-1])
        pictures.append(_drawn(folder, moments[clicked][1], clock))
    return pictures


def _moments(rows: Sequence[filming.Row]) -> Iterator[Moment]:
    for n, row in enumerate(rows):
        before = rows[n - 1] if n else row
        way = [one - other for one, other in zip(row.mouse, before.mouse, strict=True)]
        if max(map(abs, way)) > _FAR and not before.pressed:
            for share in (0.25, 0.5, 0.75):
                at = tuple(round(place + share * step) for place, step in zip(before.mouse, way, strict=True))
                yield _GLIDE / 3, replace(before, mouse=at, caption=row.caption)
        lasting = row.lasting
        if lasting is None:
            lasting = min(rows[n + 1].seconds - row.seconds, _REST) if n + 1 < len(rows) else _REST
        yield max(lasting, _HELD if row.pressed else 0.0), row


def _drawn(folder: Path, row: filming.Row, clock: bool) -> Image.Image:
    with Image.open(filming.picture_of(folder, row.picture)) as file:
        picture = file.convert("RGB")
    x, y = row.mouse[0], picture.height - row.mouse[1]
    draw = ImageDraw.Draw(picture, "RGBA")
    if row.pressed:
        draw.ellipse((x - 16, y - 16, x + 16, y + 16), fill=(255, 200, 60, 90), outline=(255, 200, 60, 255), width=3)
    draw.polygon([(x + a, y + b) for a, b in _POINTER], fill=(255, 255, 255, 255), outline=(0, 0, 0, 255))
    if picture.width > WIDTH:
        size = WIDTH, round(picture.height * WIDTH / picture.width)
        picture = picture.resize(size, Image.Resampling.LANCZOS)
    if not (row.caption or clock):
        return picture
    sheet = Image.new("RGB", (picture.width, picture.height + _BAR), (24, 26, 30))
    sheet.paste(picture, (0, 0))
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(_SIZE)
    draw.text((10, picture.height + 4), row.caption, font=font, fill=(255, 255, 255))
    if clock:
        text = f"{int(row.seconds) // 60}:{int(row.seconds) % 60:02}"
        draw.text((picture.width - 10, picture.height + 4), text, font=font, fill=(255, 200, 60), anchor="ra")
    return sheet
