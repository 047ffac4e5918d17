"""What a reader of one file type gives back, and how it says that a file is not whole.

Readers are pure: bytes in, values out. They trust no length that a file states about itself.
"""

from dataclasses import dataclass


class Broken(Exception):
    """The file is cut short or not what it says it is; the text is for the person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture written again, without what does not show."""

    data: bytes
    width: int  # as stored, before the orientation is applied
    height: int
    orientation: int = 1  # 1 to 8, as EXIF counts
    frames: int = 1
    seconds: float | None = None
    notes: tuple[str, ...] = ()


NO_PLACE = "the place where it was taken was removed from the file"
NO_TAIL = "data behind the end of the picture was removed"


def need(data: bytes, start: int, length: int) -> bytes:
    """Return exactly these bytes; a file that ends before them is broken."""
    piece = data[start : start + length]
    if start < 0 or length < 0 or len(piece) < length:
        raise Broken("the file is cut short")
    return piece
