"""What is said of a file by its content: the good ones and a hostile corpus."""

import hashlib
import io
import random
import struct
import zlib
from pathlib import Path

import pytest
from PIL import Image

from cadenza.media.examine import Unfit, examine
from cadenza.media.formats.base import NO_PLACE, NO_TAIL
from cadenza.media.limits import Limits
from cadenza.media.model import Facts
from cadenza.providers.message import MediaKind
from tests.media import made

LIMITS = Limits(thumbnail_side=16)


def look(tmp_path: Path, data: bytes, limits: Limits = LIMITS) -> Facts | Unfit:
    (tmp_path / "file").write_bytes(data)
    return examine(tmp_path / "file", tmp_path / "small", limits)


def facts_of(tmp_path: Path, data: bytes) -> Facts:
    said = look(tmp_path, data)
    assert isinstance(said, Facts), said
    return said


@pytest.mark.parametrize(
    ("data", "kind", "mime", "extension"),
    [
        (made.picture("JPEG"), MediaKind.IMAGE, "image/jpeg", "jpg"),
        (made.picture("JPEG", progressive=True), MediaKind.IMAGE, "image/jpeg", "jpg"),
        (made.picture("PNG"), MediaKind.IMAGE, "image/png", "png"),
        (made.picture("WEBP"), MediaKind.IMAGE, "image/webp", "webp"),
        (made.picture("WEBP", lossless=True), MediaKind.IMAGE, "image/webp", "webp"),
        (made.picture("GIF"), MediaKind.GIF, "image/gif", "gif"),
    ],
)
def test_a_picture_is_known_by_its_content(
    tmp_path: Path, data: bytes, kind: MediaKind, mime: str, extension: str
) -> None:
    said = facts_of(tmp_path, data)

    assert (said.kind, said.mime, said.extension) == (kind, mime, extension)
    assert (said.width, said.height) == (40, 30)
    stored = (tmp_path / "file").read_bytes()
    assert said.sha256 == hashlib.sha256(stored).hexdigest()
    assert said.size == len(stored)
    with Image.open(tmp_path / "small") as small:
        assert (small.format, small.size) == ("JPEG", (16, 12))


def test_cleaning_leaves_every_pixel_as_it_was(tmp_path: Path) -> None:
    for form in ("JPEG", "PNG", "WEBP", "GIF"):
        data = made.picture(form)
        facts_of(tmp_path, data)
        with Image.open(io.BytesIO(data)) as before, Image.open(tmp_path / "file") as after:
            assert before.convert("RGB").tobytes() == after.convert("RGB").tobytes()


@pytest.mark.parametrize("form", ["JPEG", "WEBP", "PNG"])
def test_the_place_and_the_camera_are_taken_out_and_the_place_is_said(
    tmp_path: Path, form: str
) -> None:
    said = facts_of(tmp_path, made.photo(place=True, form=form))

    assert said.notes == (NO_PLACE,)
    stored = (tmp_path / "file").read_bytes()
    assert b"telephone" not in stored
    with Image.open(io.BytesIO(stored)) as opened:
        assert not opened.getexif().get_ifd(0x8825)


@pytest.mark.parametrize(("orientation", "corner"), [(1, "left"), (6, "right"), (3, "none")])
def test_a_turned_photo_is_shown_upright_and_stays_turned_for_the_network(
    tmp_path: Path, orientation: int, corner: str
) -> None:
    said = facts_of(tmp_path, made.photo(orientation))

    assert (said.width, said.height) == ((30, 40) if orientation == 6 else (40, 30))
    with Image.open(tmp_path / "file") as opened:
        assert opened.getexif().get(0x0112, 1) == orientation
    with Image.open(tmp_path / "small") as small:
        assert (small.width < small.height) == (orientation == 6)
        at = {
            "left": (1, 1),
            "right": (small.width - 2, 1),
            "none": (small.width - 2, small.height - 2),
        }
        pixel = small.convert("RGB").getpixel(at[corner])
        assert isinstance(pixel, tuple)
        assert pixel[2] > pixel[0], "the blue corner"


def test_an_animation_tells_its_length(tmp_path: Path) -> None:
    assert facts_of(tmp_path, made.animation(4)).seconds == pytest.approx(2.0)
    assert facts_of(tmp_path, made.animation(4, "WEBP")).seconds == pytest.approx(2.0)
    assert facts_of(tmp_path, made.animation(1)).seconds is None
    with Image.open(io.BytesIO(made.animation(4))) as opened:
        assert getattr(opened, "n_frames", 1) == 4


def test_a_film_tells_its_size_and_length(tmp_path: Path) -> None:
    said = facts_of(tmp_path, made.film())

    assert (said.kind, said.mime, said.extension) == (MediaKind.VIDEO, "video/mp4", "mp4")
    assert (said.width, said.height, said.seconds) == (1920, 1080, 12.5)
    assert not said.shows


def test_a_film_held_upright_is_told_upright(tmp_path: Path) -> None:
    said = facts_of(tmp_path, made.film(turned=True, brand=b"qt  "))

    assert (said.width, said.height, said.mime) == (1080, 1920, "video/quicktime")


def test_a_films_place_is_blotted_out_without_moving_a_byte(tmp_path: Path) -> None:
    data = made.film(place=True)

    said = facts_of(tmp_path, data)

    stored = (tmp_path / "file").read_bytes()
    assert said.notes == (NO_PLACE,)
    assert b"+52.5200" in data
    assert b"+52.5200" not in stored
    assert len(stored) == len(data)
    assert stored.index(b"mdat") == data.index(b"mdat")
    assert facts_of(tmp_path, stored).notes == ()


def test_a_pdf_is_a_document(tmp_path: Path) -> None:
    said = facts_of(tmp_path, made.PDF)
    assert (said.kind, said.mime, said.width) == (MediaKind.DOCUMENT, "application/pdf", None)


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "empty"),
        (b"\x00" * 600, "empty"),
        (made.SVG, "SVG"),
        (b"\xef\xbb\xbf  <?xml version='1.0'?>" + made.SVG, "SVG"),
        (b"<!DOCTYPE html><script>alert(1)</script>", "web page"),
        (b"<script>alert(1)</script>", "web page"),
        (b"PK\x03\x04" + bytes(100), "ZIP"),
        (b"MZ" + bytes(100), "program"),
        (b"\x7fELF" + bytes(100), "program"),
        (b"<?php system($_GET['c']);", "none of the types"),
        (b"\x1a\x45\xdf\xa3" + bytes(100), "WebM"),
        (made.film(brand=b"heic"), "HEIC"),
        (made.film(brand=b"M4A "), "sound"),
        (b"just words", "none of the types"),
    ],
)
def test_what_networks_do_not_take_is_refused_by_its_name(
    tmp_path: Path, data: bytes, word: str
) -> None:
    said = look(tmp_path, data)

    assert isinstance(said, Unfit)
    assert word in said.message
    assert "JPEG" in said.message, "what to do instead"


@pytest.mark.parametrize(
    "data",
    [made.picture("JPEG"), made.picture("PNG"), made.picture("GIF"), made.picture("WEBP")],
    ids=["jpeg", "png", "gif", "webp"],
)
def test_what_hangs_behind_a_picture_is_cut_off(tmp_path: Path, data: bytes) -> None:
    """A polyglot: a picture to us, an archive or a page to another program."""
    tail = b"PK\x03\x04<script>alert(1)</script>"

    said = facts_of(tmp_path, data + tail)

    assert said.notes == (NO_TAIL,)
    assert b"<script>" not in (tmp_path / "file").read_bytes()


def test_a_script_in_a_pictures_comment_is_dropped(tmp_path: Path) -> None:
    script = b"<script>alert(1)</script>"
    jpeg = made.picture("JPEG", comment=script)
    gif = made.picture("GIF", comment=script)
    text = made.chunk(b"tEXt", b"Comment\x00" + script)
    whole = made.picture("PNG")
    for data in (jpeg, gif, whole[:33] + text + whole[33:]):
        assert script in data
        facts_of(tmp_path, data)
        assert script not in (tmp_path / "file").read_bytes()


def test_a_picture_that_claims_to_be_huge_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    for size in ((30_000, 30_000), (1, 2**31 - 1), (8_000, 8_000)):
        said = look(tmp_path, made.png(*size))
        assert isinstance(said, Unfit)
        assert said.reason == "pixels"
        assert f"{size[0]} × {size[1]}" in said.message


def test_a_png_whose_text_unpacks_to_a_gigabyte_is_taken_without_its_text(tmp_path: Path) -> None:
    bomb = zlib.compressobj(9)
    packed = b"".join(bomb.compress(bytes(2**20)) for _ in range(64)) + bomb.flush()
    whole = made.picture("PNG")
    data = whole[:33] + made.chunk(b"zTXt", b"Comment\x00\x00" + packed) + whole[33:]

    facts_of(tmp_path, data)

    assert (tmp_path / "file").stat().st_size < len(whole) + 1


def test_pixels_that_unpack_to_more_than_the_picture_do_no_harm(tmp_path: Path) -> None:
    packed = zlib.compress(bytes(50 * 2**20), 9)
    said = look(tmp_path, made.png(30, 30, pixels=packed))
    assert isinstance(said, Facts | Unfit)  # either way, and at once: only 900 pixels are read


def test_an_animation_of_too_many_pixels_is_refused(tmp_path: Path) -> None:
    limits = Limits(frames=3)
    said = look(tmp_path, made.animation(4), limits)
    assert isinstance(said, Unfit)
    assert "MP4" in said.message


@pytest.mark.parametrize(
    "whole",
    [
        made.photo(6),
        made.picture("PNG"),
        made.animation(3),
        made.picture("WEBP"),
        made.animation(3, "WEBP"),
        made.film(),
        made.PDF,
    ],
    ids=["jpeg", "png", "gif", "webp", "webp-animation", "mp4", "pdf"],
)
def test_a_file_cut_short_anywhere_is_refused_and_says_so(tmp_path: Path, whole: bytes) -> None:
    for share in range(20):
        cut = whole[: 12 + (len(whole) - 20) * share // 20]
        said = look(tmp_path, cut)
        assert isinstance(said, Unfit), f"cut at {len(cut)} of {len(whole)}"
        assert said.reason in {"broken", "type"}


@pytest.mark.parametrize(
    "whole",
    [made.photo(6), made.picture("PNG"), made.animation(3), made.picture("WEBP"), made.film()],
    ids=["jpeg", "png", "gif", "webp", "mp4"],
)
def test_damage_never_raises(tmp_path: Path, whole: bytes) -> None:
    dice = random.Random(7)
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(dice.randint(1, 6)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        assert isinstance(look(tmp_path, bytes(data)), Facts | Unfit)


def test_a_png_whose_checksum_does_not_fit_is_refused(tmp_path: Path) -> None:
    whole = made.picture("PNG")
    text = bytearray(made.chunk(b"gAMA", struct.pack(">I", 45455)))
    text[-1] ^= 1
    said = look(tmp_path, whole[:33] + bytes(text) + whole[33:])
    assert isinstance(said, Unfit)
    assert "checksum" in said.message


def test_a_film_with_a_box_longer_than_itself_is_refused(tmp_path: Path) -> None:
    data = bytearray(made.film())
    struct.pack_into(">I", data, data.index(b"trak") - 4, 2**31)
    said = look(tmp_path, bytes(data))
    assert isinstance(said, Unfit)


def test_a_film_with_something_behind_it_or_without_pictures_is_refused(tmp_path: Path) -> None:
    for data in (made.film() + b"<script>alert(1)</script>", made.film(sound_only=True)):
        said = look(tmp_path, data)
        assert isinstance(said, Unfit)
        assert said.reason == "broken"


def test_a_locked_pdf_is_refused(tmp_path: Path) -> None:
    said = look(tmp_path, made.PDF.replace(b"/Root", b"/Encrypt 2 0 R/Root"))
    assert isinstance(said, Unfit)
    assert "password" in said.message


def test_each_kind_has_its_own_size(tmp_path: Path) -> None:
    said = look(tmp_path, made.picture("PNG"), Limits(image_bytes=10))
    assert isinstance(said, Unfit)
    assert said.reason == "size"
    assert isinstance(look(tmp_path, made.film(), Limits(image_bytes=10)), Facts)
