"""A picture becomes a JPEG within bounds: the same bytes each time, and nothing but its pixels."""

from __future__ import annotations

import io
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms

from cadenza.media.convert import Converted, convert
from cadenza.providers.fit_picture import PictureChange

MOST = 50_000_000


def bounds(size: int | None = None, **more: int) -> PictureChange:
    return PictureChange(bytes=size, pixels=more.get("pixels"), sides=more.get("sides"))


def noise(width: int, height: int, mode: str = "RGB") -> Image.Image:
    """A picture that does not compress: the hardest to make small."""
    return Image.frombytes(
        mode, (width, height), random.Random(7).randbytes(width * height * len(mode))
    )


def written(image: Image.Image, form: str = "PNG", **more: object) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **more)
    return out.getvalue()


def made(data: bytes, change: PictureChange) -> tuple[Converted, Image.Image]:
    found = convert(data, change, MOST)
    assert found is not None
    opened = Image.open(io.BytesIO(found.data))
    opened.load()
    assert opened.format == "JPEG"
    assert opened.size == (found.width, found.height)
    return found, opened


def test_the_same_picture_gives_the_same_bytes() -> None:
    data = written(noise(500, 400))
    assert made(data, bounds(60_000))[0] == made(data, bounds(60_000))[0]


@settings(max_examples=25)
@given(st.integers(1, 300), st.integers(1, 300), st.integers(1_500, 80_000))
def test_any_picture_comes_within_its_bytes(width: int, height: int, most: int) -> None:
    found, _ = made(written(noise(width, height)), bounds(most))
    assert len(found.data) <= most
    assert found.width <= width
    assert found.height <= height


def test_pixels_and_sides_are_bounded() -> None:
    data = written(Image.new("RGB", (400, 100), "red"))
    assert made(data, bounds(pixels=10_000))[1].size == (200, 50)
    assert made(data, bounds(sides=100))[1].size == (80, 20)


@pytest.mark.parametrize("form", ["PNG", "WEBP"])
def test_what_is_seen_through_becomes_white(form: str) -> None:
    image = Image.new("RGBA", (20, 20), (255, 0, 0, 0))
    image.paste((0, 0, 255, 255), (0, 0, 10, 20))
    _, shown = made(written(image, form, lossless=True), bounds())
    assert min(shown.getpixel((17, 10))) > 245  # type: ignore[type-var]
    assert shown.getpixel((2, 10))[2] > 200  # type: ignore[index]


def test_a_palette_with_a_hole_becomes_white_too() -> None:
    image = Image.new("P", (8, 8), 0)
    image.putpalette([0, 0, 0, 200, 0, 0])
    _, shown = made(written(image, transparency=0), bounds())
    assert min(shown.getpixel((4, 4))) > 245  # type: ignore[type-var]


def test_it_stands_upright_and_carries_nothing_else() -> None:
    image = Image.new("RGB", (60, 20), "white")
    image.paste("black", (0, 0, 20, 20))
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = 6, "A camera"  # turned by a quarter; its maker
    data = written(image, "JPEG", exif=exif, comment=b"where I live", quality=95)
    found, shown = made(data, bounds())
    assert shown.size == (20, 60)
    assert shown.getpixel((10, 5))[0] < 60  # type: ignore[index]
    assert not shown.getexif()
    assert b"camera" not in found.data
    assert b"where I live" not in found.data


def test_colours_of_another_space_are_translated() -> None:
    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))
    data = written(Image.new("RGB", (9, 9), (10, 200, 30)), icc_profile=lab.tobytes())
    _, shown = made(data, bounds())
    assert "icc_profile" not in shown.info
    assert shown.getpixel((4, 4))[1] > 180  # type: ignore[index]


def test_broken_colours_are_left_aside() -> None:
    data = written(Image.new("RGB", (9, 9), "green"), icc_profile=b"no profile at all")
    assert made(data, bounds())[1].mode == "RGB"


@pytest.mark.parametrize("mode", ["L", "LA", "1", "CMYK", "I;16"])
def test_other_kinds_of_pixels_are_taken(mode: str) -> None:
    image = Image.new(mode, (9, 9))
    form = "JPEG" if mode == "CMYK" else "PNG"
    assert made(written(image, form), bounds())[1].mode == "RGB"


def test_sixteen_bits_keep_their_shades() -> None:
    image = Image.new("I;16", (4, 4), 0x4000)
    shade = made(written(image), bounds())[1].getpixel((2, 2))
    assert 55 < shade[0] < 75  # type: ignore[index]


def test_an_animation_says_that_it_was_stopped() -> None:
    frames = [Image.new("RGB", (9, 9), colour) for colour in ("red", "blue")]
    data = written(frames[0], save_all=True, append_images=frames[1:])
    assert made(data, bounds())[0].stopped
    assert not made(written(frames[0]), bounds())[0].stopped


def test_what_is_no_picture_or_too_large_is_not_opened() -> None:
    assert convert(b"<svg/>", bounds(), MOST) is None
    data = written(noise(50, 50))
    assert convert(data[:-500], bounds(), MOST) is None
    assert convert(data, bounds(), 2_499) is None
    assert convert(data, bounds(100), MOST) is None, "not even a dot is that small"
