"""PNG: walk the chunks with their checksums, keep those that make the picture, drop the rest.

Dropped are texts (which may be bombs of their own), EXIF, times and anything behind the end chunk.
Limit: an animated PNG counts as a picture, as networks treat it.
"""

import struct
import zlib

from cadenza.media.formats.base import NO_PLACE, NO_TAIL, Broken, Picture, need
from cadenza.media.formats.exif import read_exif

MAGIC = b"\x89PNG\r\n\x1a\n"
_KEPT = frozenset(
    {
        *(b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP"),
        *(b"sBIT", b"bKGD", b"pHYs", b"cICP", b"mDCV", b"cLLI", b"acTL", b"fcTL", b"fdAT"),
    }
)


def read_png(data: bytes) -> Picture:
    """Return the picture written again."""
    out = bytearray(MAGIC)
    at, size, place, frames, pixels = len(MAGIC), None, False, 1, False
    while True:
        (length,) = struct.unpack(">I", need(data, at, 4))
        name = need(data, at + 4, 4)
        body = need(data, at + 8, length)
        (told,) = struct.unpack(">I", need(data, at + 8 + length, 4))
        if told != zlib.crc32(name + body):
            raise Broken("the PNG is damaged: a checksum does not fit")
        if size is None:
            if name != b"IHDR" or length != 13:
                raise Broken("the PNG does not begin as one")
            size = struct.unpack(">II", body[:8])
        elif name == b"acTL":
            frames = max(1, struct.unpack(">I", need(body, 0, 4))[0])
        elif name == b"eXIf":
            place = read_exif(body)[1]
        pixels = pixels or name == b"IDAT"
        if name in _KEPT:
            out += data[at : at + 12 + length]
        elif not name[0] & 0x20:
            raise Broken("the PNG needs a part that is not known")
        at += 12 + length
        if name == b"IEND":
            break
    if not pixels or 0 in size:
        raise Broken("the PNG has no picture in it")
    notes = (*((NO_PLACE,) if place else ()), *((NO_TAIL,) if at < len(data) else ()))
    return Picture(data=bytes(out), width=size[0], height=size[1], frames=frames, notes=notes)
