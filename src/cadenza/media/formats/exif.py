"""The two things in EXIF that concern us: how a picture is turned, and whether it tells a place.

Reads the first directory of a TIFF block only, with every offset checked. `turned` writes the
smallest block that still says the orientation, so that a cleaned photo is not shown lying down.
"""

import struct

_ORIENTATION = 0x0112
_GPS = 0x8825
_MOST_TAGS = 500


def read_exif(block: bytes) -> tuple[int, bool]:
    """Return (orientation, tells a place) of a TIFF block; what cannot be read says nothing."""
    order = {b"II": "<", b"MM": ">"}.get(block[:2])
    if order is None or len(block) < 8:
        return 1, False
    (start,) = struct.unpack_from(f"{order}I", block, 4)
    if start + 2 > len(block):
        return 1, False
    (count,) = struct.unpack_from(f"{order}H", block, start)
    orientation, place = 1, False
    for number in range(min(count, _MOST_TAGS)):
        at = start + 2 + 12 * number
        if at + 12 > len(block):
            break
        tag, _, _, value = struct.unpack_from(f"{order}HHIH", block, at)
        if tag == _ORIENTATION and 1 <= value <= 8:
            orientation = value
        place = place or tag == _GPS
    return orientation, place


def turned(orientation: int) -> bytes:
    """Return a TIFF block that says the orientation and nothing else."""
    entry = struct.pack("<HHIHH", _ORIENTATION, 3, 1, orientation, 0)
    return b"II*\x00" + struct.pack("<IH", 8, 1) + entry + struct.pack("<I", 0)
