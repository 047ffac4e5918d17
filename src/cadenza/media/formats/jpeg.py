"""JPEG: walk the segments, keep those that make the picture, drop the rest.

Kept: JFIF, colour profile, Adobe's transform mark, tables, frames, scans; of EXIF the orientation alone.
Dropped: camera, place, thumbnails, XMP, comments, second pictures and anything behind the end mark.
"""

import struct

from cadenza.media.formats.base import NO_PLACE, NO_TAIL, Broken, Picture, need
from cadenza.media.formats.exif import read_exif, turned

_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_ALONE = frozenset({0x01, *range(0xD0, 0xD8)})  # marks without a length
_SCAN, _END = 0xDA, 0xD9
_KEPT_APPS = frozenset({0xE0, 0xE2, 0xEE})
_EXIF = b"Exif\x00\x00"


def read_jpeg(data: bytes) -> Picture:
    """Return the picture written again."""
    out = bytearray(b"\xff\xd8")
    at, size, orientation, place = 2, None, 1, False
    while True:
        at, mark = _mark(data, at)
        if mark == _END:
            break
        if mark in _ALONE:
            continue
        (length,) = struct.unpack(">H", need(data, at, 2))
        body = need(data, at + 2, length - 2)
        segment = bytes((0xFF, mark)) + need(data, at, length)
        at += length
        if mark == 0xE1 and body.startswith(_EXIF):
            orientation, place = read_exif(body[len(_EXIF) :])
            if orientation != 1:
                out += _orientation(orientation)
        elif _keeps(mark, body):
            out += segment
        if mark in _FRAMES:
            size = size or struct.unpack(">HH", need(body, 1, 4))
        if mark == _SCAN:
            end = _scan_end(data, at)
            out += data[at:end]
            at = end
    out += b"\xff\xd9"
    if size is None or 0 in size:
        raise Broken("the JPEG has no picture in it")
    notes = (*((NO_PLACE,) if place else ()), *((NO_TAIL,) if data[at:].strip(b"\x00") else ()))
    return Picture(
        data=bytes(out), width=size[1], height=size[0], orientation=orientation, notes=notes
    )


def _mark(data: bytes, at: int) -> tuple[int, int]:
    """Return (the place behind it, the mark); marks may be padded with 0xFF."""
    if need(data, at, 1) != b"\xff":
        raise Broken("the JPEG's structure is damaged")
    while need(data, at, 1) == b"\xff":
        at += 1
    return at + 1, data[at]


def _keeps(mark: int, body: bytes) -> bool:
    if mark == 0xE2:
        return body.startswith(b"ICC_PROFILE\x00")  # not MPF, which names further pictures
    if 0xE0 <= mark <= 0xEF:
        return mark in _KEPT_APPS
    return mark != 0xFE  # a comment


def _scan_end(data: bytes, at: int) -> int:
    """Return where the coded data ends: at a 0xFF that is neither stuffed nor a restart."""
    while True:
        at = data.find(b"\xff", at)
        if at < 0 or at + 1 >= len(data):
            raise Broken("the JPEG is cut short")
        if data[at + 1] == 0x00 or 0xD0 <= data[at + 1] <= 0xD7:
            at += 2
        elif data[at + 1] == 0xFF:
            at += 1
        else:
            return at


def _orientation(orientation: int) -> bytes:
    body = _EXIF + turned(orientation)
    return b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body
