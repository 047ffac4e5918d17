"""MP4 and QuickTime: walk the boxes for size, length and turn; blot out the place it was filmed at.

Boxes must tile the file to its last byte, so nothing hangs behind. The box that tells a place is
renamed `free` where it stands: players skip it, and no offset moves. Nothing is decoded: whether the
coded pictures play is for the network to say, and no small picture of a video is made.
"""

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from cadenza.media.formats.base import Broken

_MOST_MOOV = 64 * 1024 * 1024
_MOST_BOXES = 100_000
_PLACES = (b"\xa9xyz", b"loci", b"location.ISO6709")


@dataclass(frozen=True, slots=True, kw_only=True)
class Film:
    """What the boxes say."""

    brand: bytes
    width: int
    height: int
    seconds: float | None
    place: tuple[int, ...]  # offsets in the file of names of boxes that tell a place


@dataclass(frozen=True, slots=True)
class _Box:
    name: bytes
    start: int  # of its name
    body: int
    end: int


def read_mp4(file: BinaryIO) -> Film:
    """Read the film's facts; the file stays as it is."""
    size = file.seek(0, os.SEEK_END)
    brand, moov, pictures, at = b"", None, False, 0
    for _ in range(_MOST_BOXES):
        if at == size:
            break
        box = _box_at(file, at, size)
        if box.name == b"ftyp":
            file.seek(box.body)
            brand = file.read(4)
        elif box.name == b"moov":
            moov = moov or box
        pictures = pictures or box.name in {b"mdat", b"moof"}
        at = box.end
    if at != size:
        raise Broken("the video's structure is damaged")
    if moov is None or not pictures:
        raise Broken(
            f"the video is cut short: its {'pictures are' if moov else 'index is'} missing"
        )
    if moov.end - moov.body > _MOST_MOOV:
        raise Broken("the video's index is larger than any real one")
    file.seek(moov.body)
    return _film(brand, file.read(moov.end - moov.body), moov.body)


def wipe_location(file: BinaryIO, film: Film) -> None:
    """Rename the boxes that tell a place, so that nobody reads them, and wipe what they say."""
    for start in film.place:
        file.seek(start - 4)
        (length,) = struct.unpack(">I", file.read(4))
        file.seek(start)
        file.write(b"free" + b"\x00" * max(0, length - 8))


def _box_at(file: BinaryIO, at: int, size: int) -> _Box:
    file.seek(at)
    return _box(file.read(16), at, size)


def _box(head: bytes, at: int, end: int) -> _Box:
    """Read a box's head: its length may be long, or 0 for all that is left."""
    if len(head) < 8:
        raise Broken("the video is cut short")
    length, name = struct.unpack(">I4s", head[:8])
    body = at + 8
    if length == 1:
        if len(head) < 16:
            raise Broken("the video is cut short")
        (length,) = struct.unpack(">Q", head[8:16])
        body = at + 16
    elif length == 0:
        length = end - at
    if length < body - at or at + length > end:
        raise Broken("the video is cut short")
    return _Box(name, at + 4, body, at + length)


def _film(brand: bytes, moov: bytes, offset: int) -> Film:
    seconds: float | None = None
    size: tuple[int, int] | None = None
    places: list[_Box] = []
    for box in _boxes(moov, 0, len(moov)):
        if box.name == b"mvhd":
            seconds = _seconds(moov[box.body : box.end])
        elif box.name == b"trak":
            size = size or _picture_size(moov, box)
            places += [inner for inner in _boxes(moov, box.body, box.end) if _tells(moov, inner)]
        elif _tells(moov, box):
            places.append(box)
    if size is None or 0 in size:
        raise Broken("the video has no picture track")
    place = tuple(offset + box.start for box in places)
    return Film(brand=brand, width=size[0], height=size[1], seconds=seconds, place=place)


def _tells(moov: bytes, box: _Box) -> bool:
    body = moov[box.body : box.end] if box.name in {b"udta", b"meta"} else b""
    return any(mark in body for mark in _PLACES)


def _boxes(data: bytes, at: int, end: int) -> Iterator[_Box]:
    for _ in range(_MOST_BOXES):
        if end - at < 8:  # QuickTime may close a list with four zero bytes
            return
        box = _box(data[at : at + 16], at, end)
        yield box
        at = box.end
    raise Broken("the video's structure is damaged")


def _picture_size(moov: bytes, trak: _Box) -> tuple[int, int] | None:
    """Return the shown size of a track of pictures; of another track, None."""
    size, pictures = None, False
    for box in _boxes(moov, trak.body, trak.end):
        if box.name == b"tkhd":
            size = _shown(moov[box.body : box.end])
        elif box.name == b"mdia":
            for inner in _boxes(moov, box.body, box.end):
                if inner.name == b"hdlr":
                    pictures = moov[inner.body + 8 : inner.body + 12] == b"vide"
    return size if pictures else None


def _shown(tkhd: bytes) -> tuple[int, int]:
    """Read the size, turned as the track's matrix says: 0 1 -1 0 is a quarter turn."""
    start = 52 if tkhd[:1] == b"\x01" else 40
    if len(tkhd) < start + 44:
        raise Broken("the video is damaged")
    a, b = struct.unpack_from(">ii", tkhd, start)
    width, height = (part >> 16 for part in struct.unpack_from(">II", tkhd, start + 36))
    return (height, width) if a == 0 and b != 0 else (width, height)


def _seconds(mvhd: bytes) -> float | None:
    shape, at = (">IQ", 20) if mvhd[:1] == b"\x01" else (">II", 12)
    if len(mvhd) < at + struct.calcsize(shape):
        raise Broken("the video is damaged")
    scale, length = struct.unpack_from(shape, mvhd, at)
    return length / scale if scale and length else None  # a fragmented file may say 0: not known
