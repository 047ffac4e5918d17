"""Read a reply's body within a bound: as it comes over the wire, and again as it unpacks.

A bomb of a few kilobytes stops at the bound, not at the end of memory, because each step unpacks at
most what is still allowed. Only gzip (asked for) and zlib are unpacked, once; what else a server packs
unasked is not guessed. Limit: HTTP/1.0 replies that end with the connection cannot show that they
were cut.
"""

import zlib
from collections.abc import AsyncIterable

from cadenza.providers.http.outcome import Reason, Stop

_PLAIN = frozenset({"", "identity"})
_PACKED = frozenset({"gzip", "x-gzip", "deflate"})
_EITHER = 32 + zlib.MAX_WBITS  # zlib finds out whether it is gzip or zlib


class Inflate:
    """Unpacks gzip (any number of members) or zlib, up to `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._room = limit
        self._unpack = zlib.decompressobj(_EITHER)
        self._fed = False

    def feed(self, data: bytes) -> bytes:
        out = bytearray()
        while data:
            if self._fed and self._unpack.eof:
                self._unpack = zlib.decompressobj(_EITHER)
            self._fed = True
            try:
                out += self._unpack.decompress(data, self._room - len(out) + 1)
            except zlib.error as wrong:
                raise Stop(Reason.ENCODING, f"bad gzip: {wrong}") from None
            if len(out) > self._room:
                raise Stop(Reason.TOO_BIG, "unpacks to more than allowed")
            data = self._unpack.unconsumed_tail or self._unpack.unused_data
        self._room -= len(out)
        return bytes(out)

    def whole(self) -> bool:
        return self._unpack.eof or not self._fed


async def read_body(
    chunks: AsyncIterable[bytes], *, encoding: str, length: str | None, limit: int
) -> bytes:
    """Read all of a body or raise `Stop`."""
    encoding = encoding.strip().lower()
    if encoding not in _PLAIN | _PACKED:
        raise Stop(Reason.ENCODING, "packed in a way that was not asked for")
    if length is not None and length.isdecimal() and int(length) > limit:
        raise Stop(Reason.TOO_BIG, f"announces {length} bytes, {limit} are allowed")
    inflate = Inflate(limit) if encoding in _PACKED else None
    body, seen = bytearray(), 0
    async for chunk in chunks:
        seen += len(chunk)
        if seen > limit:
            raise Stop(Reason.TOO_BIG, f"sends more than the {limit} bytes allowed")
        body += inflate.feed(chunk) if inflate else chunk
    if inflate and not inflate.whole():
        raise Stop(Reason.BROKEN, "the packed body ends too early")
    return bytes(body)
