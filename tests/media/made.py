"""Files for tests, made on the spot: pictures by Pillow, films box by box, and the hostile ones by hand."""

import io
import struct
import zlib
from typing import Any

from PIL import Image


def picture(form: str = "PNG", size: tuple[int, int] = (40, 30), **options: Any) -> bytes:
    image = Image.new("RGB", size, "red")
    image.paste("blue", (0, 0, size[0] // 2, size[1] // 2))  # so that up and left can be told
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def photo(orientation: int = 1, *, place: bool = False, form: str = "JPEG") -> bytes:
    """A photo as a telephone makes it, 40 × 30 as stored."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F] = "Ada's telephone"
    if place:
        exif.get_ifd(0x8825).update({1: "N", 2: (52.0, 31.0, 12.0), 3: "E", 4: (13.0, 24.0, 18.0)})
    return picture(form, exif=exif)


def animation(frames: int = 3, form: str = "GIF", milliseconds: int = 500) -> bytes:
    images = [Image.new("RGB", (20, 10), (number * 40 % 256, 0, 0)) for number in range(frames)]
    out = io.BytesIO()
    images[0].save(
        out, form, save_all=True, append_images=images[1:], duration=milliseconds, loop=0
    )
    return out.getvalue()


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(width: int, height: int, *extra: bytes, pixels: bytes | None = None) -> bytes:
    """A PNG written by hand: it may say any size."""
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    data = zlib.compress(b"\x00" * 1000) if pixels is None else pixels
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        (chunk(b"IHDR", head), *extra, chunk(b"IDAT", data), chunk(b"IEND", b""))
    )


def box(name: bytes, *inside: bytes) -> bytes:
    body = b"".join(inside)
    return struct.pack(">I4s", len(body) + 8, name) + body


def film(
    *,
    brand: bytes = b"isom",
    size: tuple[int, int] = (1920, 1080),
    seconds: float = 12.5,
    turned: bool = False,
    place: bool = False,
    sound_only: bool = False,
) -> bytes:
    """An MP4 of boxes alone, as far as a reader of facts looks."""
    mvhd = box(b"mvhd", struct.pack(">IIIII", 0, 0, 0, 1000, int(seconds * 1000)), bytes(80))
    matrix = (0, 1 << 16, 0, -1 << 16, 0, 0) if turned else (1 << 16, 0, 0, 0, 1 << 16, 0)
    tkhd = box(
        b"tkhd",
        bytes(40),
        struct.pack(">9i", *matrix, 0, 0, 1 << 30),
        struct.pack(">II", size[0] << 16, size[1] << 16),
    )
    handler = b"soun" if sound_only else b"vide"
    hdlr = box(b"hdlr", bytes(8), handler, bytes(13))
    inside = [mvhd, box(b"trak", tkhd, box(b"mdia", hdlr))]
    if place:
        inside.append(box(b"udta", box(b"\xa9xyz", b"\x00\x12\x15\xc7+52.5200+013.4050/")))
    ftyp = box(b"ftyp", brand, struct.pack(">I", 512), b"isomiso2")
    return ftyp + box(b"moov", *inside) + box(b"mdat", b"\x17" * 500)


PDF = b"%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\nstartxref\n9\n%%EOF\n"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
