"""Looks at an uploaded file in a thread: what it is, whether it is whole and bearable, how it looks small.

The file is rewritten in place without what does not belong to it (places, comments, tails), then a
picture is opened once in full, which finds what is damaged, and drawn small with its orientation applied.
Pixels are counted from the header before anything is unpacked. Limit: videos and PDFs are not opened.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageOps

from cadenza.media.formats.base import NO_PLACE, Broken, Picture
from cadenza.media.formats.gif import read_gif
from cadenza.media.formats.jpeg import read_jpeg
from cadenza.media.formats.mp4 import read_mp4, wipe_location
from cadenza.media.formats.pdf import check_pdf
from cadenza.media.formats.png import read_png
from cadenza.media.formats.webp import read_webp
from cadenza.media.limits import MIB, Limits
from cadenza.media.model import Facts
from cadenza.media.sniff import GIF, HEAD, JPEG, MOV, PNG, WEBP, Type, sniff
from cadenza.providers.message import MediaKind

_READERS: dict[Type, tuple[str, Callable[[bytes], Picture]]] = {
    JPEG: ("JPEG", read_jpeg),
    PNG: ("PNG", read_png),
    WEBP: ("WEBP", read_webp),
    GIF: ("GIF", read_gif),
}
_TURNED = frozenset({5, 6, 7, 8})  # orientations that swap width and height


@dataclass(frozen=True, slots=True)
class Unfit:
    """The file is refused: which kind of reason, and what to do."""

    reason: str  # empty, type, size, pixels, broken, space
    message: str


def examine(path: Path, small: Path, limits: Limits) -> Facts | Unfit:
    """Look at the file, clean it where it lies, and write its small picture to `small`, if it has one."""
    size = path.stat().st_size
    with path.open("rb") as file:
        found = sniff(file.read(HEAD))
    if isinstance(found, str):
        return Unfit("empty" if size == 0 else "type", found)
    most = limits.bytes_of(found.kind)
    if size > most:
        return Unfit("size", too_big(f"a {found.kind.value}", most))
    try:
        if found in _READERS:
            return _picture(path, small, found, limits)
        return _other(path, found)
    except Broken as broken:
        return Unfit("broken", f"{broken}: export it again, or choose another file")


def too_big(what: str, most: int) -> str:
    """Say how large it may be."""
    return f"{what} may have at most {most // MIB} MB: make it smaller, or choose another file"


def _picture(path: Path, small: Path, found: Type, limits: Limits) -> Facts | Unfit:
    form, reader = _READERS[found]
    picture = reader(path.read_bytes())
    unfit = _refusal_reason(picture, limits)
    if unfit is not None:
        return unfit
    path.write_bytes(picture.data)
    _draw(path, small, form, limits.thumbnail_side, (picture.width, picture.height))
    width, height = picture.width, picture.height
    if picture.orientation in _TURNED:
        width, height = height, width
    return Facts(
        kind=found.kind,
        mime=found.mime,
        extension=found.extension,
        size=len(picture.data),
        sha256=hashlib.sha256(picture.data).hexdigest(),
        width=width,
        height=height,
        seconds=picture.seconds,
        shows=True,
        notes=picture.notes,
    )


def _refusal_reason(picture: Picture, limits: Limits) -> Unfit | None:
    width, height, frames = picture.width, picture.height, picture.frames
    pixels = width * height
    if max(width, height) > limits.side or pixels > limits.pixels:
        return Unfit(
            "pixels",
            f"the picture is {width} × {height}; at most {limits.side} a side and "
            f"{limits.pixels // 1_000_000} million pixels are taken: make it smaller",
        )
    if frames > limits.frames or pixels * frames > limits.all_pixels:
        return Unfit(
            "pixels",
            f"the animation has {frames} frames of {width} × {height}, which is too much: "
            "make it shorter or smaller, or upload it as MP4",
        )
    return None


def _draw(path: Path, small: Path, form: str, side: int, size: tuple[int, int]) -> None:
    """Open the picture in full, which finds damage, and write it small, upright, on white."""
    try:
        with Image.open(path, formats=[form]) as opened:
            if opened.size != size:
                raise Broken("the picture says two sizes at once")
            opened.load()
            upright = ImageOps.exif_transpose(opened)
            upright.thumbnail((side, side))
            with_alpha = upright.convert("RGBA")
            paper = Image.new("RGB", with_alpha.size, "white")
            paper.paste(with_alpha, mask=with_alpha.getchannel("A"))
            paper.save(small, "JPEG", quality=82, optimize=True)
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError) as error:
        raise Broken("the picture is damaged and cannot be opened") from error


def _other(path: Path, found: Type) -> Facts:
    width = height = seconds = None
    notes: tuple[str, ...] = ()
    mime, extension = found.mime, found.extension
    with path.open("r+b") as file:
        if found.kind is MediaKind.VIDEO:
            film = read_mp4(file)
            width, height, seconds = film.width, film.height, film.seconds
            if film.place:
                wipe_location(file, film)
                notes = (NO_PLACE,)
            if film.brand == b"qt  ":
                mime, extension = MOV.mime, MOV.extension
        else:
            check_pdf(file)
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Facts(
        kind=found.kind,
        mime=mime,
        extension=extension,
        size=path.stat().st_size,
        sha256=digest,
        width=width,
        height=height,
        seconds=seconds,
        notes=notes,
    )
