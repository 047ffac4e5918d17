"""Decides what a file is by its first bytes; a name and a browser's claim count for nothing.

The list is short on purpose: what the networks take. The rest is refused with the word for it where
it is known, so that a person learns what to save instead.
"""

from dataclasses import dataclass

from cadenza.providers.message import MediaKind

HEAD = 512  # bytes that are looked at


@dataclass(frozen=True, slots=True)
class Type:
    """A type that is taken in."""

    kind: MediaKind
    mime: str
    extension: str


JPEG = Type(MediaKind.IMAGE, "image/jpeg", "jpg")
PNG = Type(MediaKind.IMAGE, "image/png", "png")
WEBP = Type(MediaKind.IMAGE, "image/webp", "webp")
GIF = Type(MediaKind.GIF, "image/gif", "gif")
MP4 = Type(MediaKind.VIDEO, "video/mp4", "mp4")
MOV = Type(MediaKind.VIDEO, "video/quicktime", "mov")
PDF = Type(MediaKind.DOCUMENT, "application/pdf", "pdf")

_TAKEN = "JPEG, PNG, WebP, GIF, MP4, MOV or PDF"
_PICTURE_BRANDS = (b"heic", b"heix", b"hevc", b"hevx", b"mif1", b"msf1")


def sniff(head: bytes) -> Type | str:
    """Return the type, or what the file is instead and what to do."""
    for magic, found in (
        (b"\xff\xd8\xff", JPEG),
        (b"\x89PNG\r\n\x1a\n", PNG),
        (b"GIF87a", GIF),
        (b"GIF89a", GIF),
        (b"%PDF-", PDF),
    ):
        if head.startswith(magic):
            return found
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return WEBP
    if head[4:8] == b"ftyp":
        return _film(head[8:12])
    if head[4:8] in {b"moov", b"mdat", b"wide", b"free", b"skip"}:
        return MOV  # QuickTime of old has no ftyp; the boxes are read in any case
    return _stranger(head)


def _film(brand: bytes) -> Type | str:
    if brand in _PICTURE_BRANDS:
        return f"this is a HEIC picture, which networks do not take: save it as {_TAKEN}"
    if brand in {b"avif", b"avis"}:
        return f"this is an AVIF picture, which networks do not take: save it as {_TAKEN}"
    if brand.startswith((b"M4A", b"M4B")):
        return f"this is sound without a picture: save it as {_TAKEN}"
    return MOV if brand == b"qt  " else MP4


def _stranger(head: bytes) -> str:
    if not head.strip(b"\x00"):
        return f"the file is empty: choose a {_TAKEN} file"
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    for magic, word in (
        (b"<svg", "an SVG drawing, which can carry scripts"),
        (b"<?xml", "XML or an SVG drawing, which can carry scripts"),
        (b"<!doctype html", "a web page"),
        (b"<html", "a web page"),
        (b"<script", "a web page"),
        (b"pk\x03\x04", "a ZIP archive"),
        (b"bm", "a BMP picture"),
        (b"ii*\x00", "a TIFF picture"),
        (b"mm\x00*", "a TIFF picture"),
        (b"\x1ae\xdf\xa3", "a WebM or Matroska video"),
        (b"mz", "a program"),
        (b"\x7felf", "a program"),
    ):
        if text.startswith(magic):
            return f"this is {word}: save it as {_TAKEN}"
    return f"this is none of the types that networks take: save it as {_TAKEN}"
