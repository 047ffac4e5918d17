"""GIF: walk the blocks, count frames and time, drop comments, foreign extensions and any tail.

Kept are the frames, their timing and the mark that makes them loop.
"""

import struct

from cadenza.media.formats.base import NO_TAIL, Broken, Picture, need

_LOOPS = (b"NETSCAPE2.0", b"ANIMEXTS1.0")


def read_gif(data: bytes) -> Picture:
    """Return the picture written again."""
    width, height, flags = struct.unpack("<HHB", need(data, 6, 5))
    at = 13 + _table(flags)
    out = bytearray(need(data, 0, at))
    frames, hundredths = 0, 0
    while True:
        kind = need(data, at, 1)
        if kind == b";":
            break
        if kind == b"!":
            label, end = need(data, at + 1, 1), _blocks_end(data, at + 2)
            if label == b"\xf9":
                hundredths += struct.unpack("<H", need(data, at + 4, 2))[0]
            if label in {b"\xf9", b"\x01"} or data[at + 3 : at + 14] in _LOOPS:
                out += data[at:end]
        elif kind == b",":
            frames += 1
            flags = need(data, at + 9, 1)[0]
            end = _blocks_end(data, at + 10 + _table(flags) + 1)
            out += data[at:end]
        else:
            raise Broken("the GIF's structure is damaged")
        at = end
    out += b";"
    if not frames or not width or not height:
        raise Broken("the GIF has no picture in it")
    return Picture(
        data=bytes(out),
        width=width,
        height=height,
        frames=frames,
        seconds=hundredths / 100 if frames > 1 else None,
        notes=(NO_TAIL,) if data[at + 1 :].strip(b"\x00") else (),
    )


def _table(flags: int) -> int:
    """Return how many bytes the colour table takes."""
    return 3 * 2 ** ((flags & 0x07) + 1) if flags & 0x80 else 0


def _blocks_end(data: bytes, at: int) -> int:
    while length := need(data, at, 1)[0]:
        need(data, at, length + 1)
        at += length + 1
    return at + 1
