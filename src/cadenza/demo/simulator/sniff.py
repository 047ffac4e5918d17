"""What a file truly is, by its first bytes: type and, for pictures, size.

Networks look inside files and so do the simulated ones; a name or a declared type is only a claim. Enough
of each format is read to tell it from the others, not to prove that it can be shown.
"""

import struct
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sniffed:
    """A file's true type; sizes are None where the format was not read that far."""

    mime: str
    width: int | None = None
    height: int | None = None


def sniff(data: bytes) -> Sniffed | None:
    """Tell what the bytes are, or None."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return Sniffed("image/png", width, height)
    if data[:6] in {b"GIF87a", b"GIF89a"} and len(data) >= 10:
        width, height = struct.unpack("<HH", data[6:10])
        return Sniffed("image/gif", width, height)
    if data.startswith(b"\xff\xd8\xff"):
        return Sniffed("image/jpeg", *_jpeg_size(data))
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return Sniffed("image/webp")
    if data[4:8] == b"ftyp":
        return Sniffed("video/quicktime" if data[8:12] == b"qt  " else "video/mp4")
    if data.startswith(b"%PDF-"):
        return Sniffed("application/pdf")
    return None


def _jpeg_size(data: bytes) -> tuple[int | None, int | None]:
    """Walk the segments to the frame header."""
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
    return None, None
