"""Changes a picture to a JPEG within bounds, in a thread: upright, on white, in sRGB, with nothing but its pixels.

The steps are fixed, so the same picture and bounds give the same bytes: two qualities at full size, then smaller
by what was too much. A picture that moves gives its first frame, and says so. Limit: opened whole, as an upload.
"""

import io
from dataclasses import dataclass

from PIL import Image, ImageCms, ImageOps

from cadenza.providers.fit_picture import PictureChange, scale_within

FORMATS = ("JPEG", "PNG", "WEBP", "GIF")
QUALITIES = (90, 80)
TRIES = 12
_DAMAGED = (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError)


@dataclass(frozen=True, slots=True)
class Converted:
    """A JPEG within the bounds."""

    data: bytes
    width: int
    height: int
    stopped: bool


def convert(data: bytes, change: PictureChange, most_pixels: int) -> Converted | None:
    """Make the JPEG; None: the file is no picture that can be opened, or nothing small enough comes of it."""
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as opened:
            width, height = opened.size
            if width * height > most_pixels:
                return None
            stopped = getattr(opened, "n_frames", 1) > 1
            scale = scale_within(change, width, height)
            picture = _plain(opened)
        return _within(picture, change, scale, stopped=stopped)
    except _DAMAGED:
        return None


def _within(
    picture: Image.Image, change: PictureChange, scale: float, *, stopped: bool
) -> Converted | None:
    """Write it smaller and smaller until it fits."""
    shown = _scaled(picture, scale)
    for attempt in range(TRIES):
        data = _write(shown, QUALITIES[min(attempt, len(QUALITIES) - 1)])
        if change.bytes is None or len(data) <= change.bytes:
            return Converted(data, *shown.size, stopped)
        if attempt + 1 >= len(QUALITIES):
            scale *= min(0.9, 0.97 * (change.bytes / len(data)) ** 0.5)
            shown = _scaled(picture, scale)
    return None


def _plain(opened: Image.Image) -> Image.Image:
    """Return the pixels alone: turned upright, in sRGB, with white where nothing is."""
    opened.load()
    upright = ImageOps.exif_transpose(opened)
    colours = _in_srgb(_eight_bits(upright), upright.info.get("icc_profile"))
    if not colours.has_transparency_data:
        return colours.convert("RGB")
    with_alpha = colours.convert("RGBA")
    paper = Image.new("RGB", with_alpha.size, "white")
    paper.paste(with_alpha, mask=with_alpha.getchannel("A"))
    return paper


def _eight_bits(picture: Image.Image) -> Image.Image:
    """Bring grey pictures of 16 bits to 8: a plain conversion would cut what is bright."""
    if not picture.mode.startswith("I"):
        return picture
    return picture.convert("I").point(lambda value: value / 256).convert("L")


def _in_srgb(picture: Image.Image, profile: bytes | None) -> Image.Image:
    """Translate colours to those that every network expects; a profile that cannot be read is left aside."""
    if not profile or picture.mode not in {"RGB", "RGBA", "CMYK"}:
        return picture
    mode = "RGB" if picture.mode == "CMYK" else picture.mode
    try:
        own = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        return ImageCms.profileToProfile(picture, own, _srgb(), outputMode=mode) or picture
    except (ImageCms.PyCMSError, OSError, ValueError):
        return picture


def _srgb() -> ImageCms.ImageCmsProfile:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))


def _scaled(picture: Image.Image, scale: float) -> Image.Image:
    if scale >= 1:
        return picture
    width, height = (max(1, int(side * scale)) for side in picture.size)
    return picture.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=3.0)


def _write(picture: Image.Image, quality: int) -> bytes:
    out = io.BytesIO()
    picture.info = {}  # neither profile nor comment goes along
    picture.save(out, "JPEG", quality=quality, optimize=True)
    return out.getvalue()
