"""Puts pictures beside and behind each other, and writes films that a page opens at once."""

from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

from .kept import FOLDER, REEL, path

WIDTH, HEIGHT = 384, 384
"""Pixels of one shot; a film has one to three of them side by side."""
MOST_WIDTH = 768
LARGEST, LONGEST = 600_000, 8.0
"""Bytes and seconds of a film."""
QUALITIES = 60, 45, 30, 20
"""Of WebP; the first with which a film is small enough."""
REEL_SECONDS, REEL_WIDTH, REEL_FPS = 4.5, 400, 7
"""Of each film in the reel, and how wide the reel is."""
_TITLE = 20


def titled(picture: Image.Image, label: str) -> Image.Image:
    """With a label at the upper left."""
    if label:
        draw = ImageDraw.Draw(picture, "RGBA")
        font = ImageFont.load_default(15)
        left, top, right, bottom = draw.textbbox((8, 6), label, font=font)
        draw.rectangle((left - 5, top - 4, right + 5, bottom + 4), fill=(20, 22, 26, 150))
        draw.text((8, 6), label, font=font, fill=(255, 255, 255, 255))
    return picture


def beside(pictures: Sequence[Image.Image]) -> Image.Image:
    gap = 4
    width = sum(picture.width for picture in pictures) + gap * (len(pictures) - 1)
    sheet = Image.new("RGB", (width, pictures[0].height), (255, 255, 255))
    left = 0
    for picture in pictures:
        sheet.paste(picture, (left, 0))
        left += picture.width + gap
    if sheet.width > MOST_WIDTH:
        sheet = sheet.resize((MOST_WIDTH, round(sheet.height * MOST_WIDTH / sheet.width)), Image.Resampling.LANCZOS)
    return sheet


def save(name: str, pictures: Sequence[Image.Image], fps: int, whole: int = 12) -> None:
    """Write a film, as good as its size allows, and say how large it is. whole: a picture of so many does not build on
    the one before it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    times = [round(1000 * (n + 1) / fps) - round(1000 * n / fps) for n in range(len(pictures))]
    for quality in QUALITIES:
        pictures[0].save(
            path(name),
            save_all=True,
            append_images=pictures[1:],
            duration=times,
            loop=0,
            quality=quality,
            method=4,
            minimize_size=False,
            kmax=whole,
        )
        size = path(name).stat().st_size
        if size < LARGEST:
            break
    print(f"{name}: {sum(times) / 1000:.1f} s, {size / 1000:.0f} kB, quality {quality}", flush=True)
    if size >= LARGEST:
        raise SystemExit(f"{name} has {size} bytes, and may have {LARGEST}: fewer frames, or a stiller picture.")


def frames(name: str) -> tuple[list[Image.Image], list[int]]:
    """The pictures of a film, and how long each is shown [ms]."""
    pictures, times = [], []
    with Image.open(path(name)) as film:
        for number in range(getattr(film, "n_frames", 1)):
            film.seek(number)
            pictures.append(film.convert("RGB"))
            times.append(int(film.info.get("duration", 83)))
    return pictures, times


def reel(films: Sequence[str]) -> None:
    """The middle of each film, one after the other, with its name."""
    cut: list[Image.Image] = []
    for name in films:
        pictures, times = frames(name)
        starts = [sum(times[:n]) / 1000 for n in range(len(times))]
        total = sum(times) / 1000
        begin = max(0.0, 0.5 * (total - REEL_SECONDS))
        wanted = [begin + n / REEL_FPS for n in range(round(min(total, REEL_SECONDS) * REEL_FPS))]
        for moment in wanted:
            picture = pictures[max(n for n, start in enumerate(starts) if start <= moment + 1e-6)]
            cut.append(_framed(picture, name.replace("_", " ").capitalize()))
    # Scenes of a film are still but for those who move in them; the next film begins with a whole picture by itself.
    save(REEL, cut, REEL_FPS, round(REEL_SECONDS * REEL_FPS))


def _framed(picture: Image.Image, label: str) -> Image.Image:
    height = REEL_WIDTH // 2
    scale = min(REEL_WIDTH / picture.width, height / picture.height)
    small = picture.resize((round(picture.width * scale), round(picture.height * scale)), Image.Resampling.LANCZOS)
    sheet = Image.new("RGB", (REEL_WIDTH, height + _TITLE), (24, 26, 30))
    sheet.paste(small, ((REEL_WIDTH - small.width) // 2, _TITLE + (height - small.height) // 2))
    ImageDraw.Draw(sheet).text((8, 3), label, font=ImageFont.load_default(13), fill=(235, 235, 235))
    return sheet


__all__ = ["frames", "reel", "save", "titled"]
