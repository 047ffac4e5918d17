"""The smallest true files of each kind, for uploads."""

from __future__ import annotations

import struct
import zlib

from cadenza.providers.message import MediaItem, MediaKind


def png(width: int = 2, height: int = 2) -> bytes:
    """Draw a black picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = b"".join(b"\0" + b"\0" * width for _ in range(height))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def jpeg(width: int = 1080, height: int = 1080) -> bytes:
    """Write a JPEG's head: enough for who looks at type and size."""
    frame = struct.pack(">BHHB", 8, height, width, 1) + b"\x01\x11\x00"
    return b"\xff\xd8\xff\xc0" + struct.pack(">H", 2 + len(frame)) + frame + b"\xff\xd9"


def mp4() -> bytes:
    """Write the head of a film."""
    return struct.pack(">I", 24) + b"ftypisom\x00\x00\x02\x00isomiso2" + b"\0" * 64


def picture(name: str = "sea.png", *, alt: str = "The sea", data: bytes | None = None) -> MediaItem:
    content = png() if data is None else data

    async def read() -> bytes:
        return content

    return MediaItem(MediaKind.IMAGE, "image/png", len(content), read, name=name, alt=alt)


def film(name: str = "waves.mp4") -> MediaItem:
    content = mp4()

    async def read() -> bytes:
        return content

    return MediaItem(MediaKind.VIDEO, "video/mp4", len(content), read, name=name)
