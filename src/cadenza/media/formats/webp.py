"""WebP: walk the chunks, keep those that make the picture, drop EXIF, XMP and any tail.

The orientation is kept in a block of its own where the file had one; an animation keeps its frames.
"""

import struct

from cadenza.media.formats.base import NO_PLACE, NO_TAIL, Broken, Picture, need
from cadenza.media.formats.exif import read_exif, turned

_KEPT = frozenset({b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP"})
_HAS_EXIF, _HAS_XMP = 0x08, 0x04


def read_webp(data: bytes) -> Picture:
    """Return the picture written again."""
    (told,) = struct.unpack("<I", need(data, 4, 4))
    end = 8 + told
    need(data, 0, end)
    chunks: list[tuple[bytes, bytes]] = []
    at, orientation, place = 12, 1, False
    while at < end:
        name, (length,) = need(data, at, 4), struct.unpack("<I", need(data, at + 4, 4))
        body = need(data, at + 8, length)
        if name == b"EXIF":
            orientation, place = read_exif(body.removeprefix(b"Exif\x00\x00"))
        elif name in _KEPT:
            chunks.append((name, body))
        at += 8 + length + length % 2
    width, height = _size(chunks)
    frames = sum(name == b"ANMF" for name, _ in chunks)
    millis = sum(
        int.from_bytes(need(body, 12, 3), "little") for name, body in chunks if name == b"ANMF"
    )
    notes = (*((NO_PLACE,) if place else ()), *((NO_TAIL,) if data[end:].strip(b"\x00") else ()))
    return Picture(
        data=_written(chunks, orientation),
        width=width,
        height=height,
        orientation=orientation,
        frames=max(1, frames),
        seconds=millis / 1000 if frames > 1 else None,
        notes=notes,
    )


def _size(chunks: list[tuple[bytes, bytes]]) -> tuple[int, int]:
    if not chunks:
        raise Broken("the WebP has no picture in it")
    name, body = chunks[0]
    if name == b"VP8X":
        return (
            int.from_bytes(need(body, 4, 3), "little") + 1,
            int.from_bytes(need(body, 7, 3), "little") + 1,
        )
    if name == b"VP8L":
        if need(body, 0, 1) != b"\x2f":
            raise Broken("the WebP is damaged")
        bits = int.from_bytes(need(body, 1, 4), "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if name != b"VP8 " or need(body, 3, 3) != b"\x9d\x01\x2a":
        raise Broken("the WebP is damaged")
    width, height = struct.unpack("<HH", need(body, 6, 4))
    return width & 0x3FFF, height & 0x3FFF


def _written(chunks: list[tuple[bytes, bytes]], orientation: int) -> bytes:
    extended = chunks[0][0] == b"VP8X"
    if extended:
        flags = chunks[0][1][0] & ~(_HAS_EXIF | _HAS_XMP)
        flags |= _HAS_EXIF if orientation != 1 else 0
        chunks = [(b"VP8X", bytes([flags]) + chunks[0][1][1:]), *chunks[1:]]
        if orientation != 1:
            chunks.append((b"EXIF", turned(orientation)))
    body = b"WEBP" + b"".join(
        name + struct.pack("<I", len(data)) + data + b"\x00" * (len(data) % 2)
        for name, data in chunks
    )
    return b"RIFF" + struct.pack("<I", len(body)) + body
