"""What is no picture, film or document of one kind is refused at the door, whatever it calls itself."""

import io
import struct
import zipfile

from tests.api.conftest import Place
from tests.media.made import chunk, picture, png

MEDIA = "/api/v1/workspaces/home-of-ada/media"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
HTML = b"<!doctype html><script>alert(1)</script>"
PHP = b"<?php system($_GET['c']); ?>"


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", b"\0" * 10_000_000)
    return out.getvalue()


def apng_lie() -> bytes:
    """A picture that says it moves a million times."""
    return png(10, 10, chunk(b"acTL", struct.pack(">II", 1_000_000, 0)))


REFUSED = {
    "svg": SVG,
    "svg with a byte order mark": b"\xef\xbb\xbf" + SVG,
    "xml": b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>',
    "html": HTML,
    "php": PHP,
    "php behind a gif's first bytes": b"GIF89a" + PHP,
    "script behind a picture's first bytes": b"\x89PNG\r\n\x1a\n" + HTML,
    "zip": zipped(),
    "program": b"\x7fELF" + b"\0" * 200,
    "windows program": b"MZ" + b"\0" * 200,
    "huge by its own words": png(30_000, 30_000),
    "wide by its own words": png(2_000_000_000, 1),
    "frames by its own words": apng_lie(),
    "nothing": b"",
}


CALLED = (("cat.png", "image/png"), ("cat.svg", "image/svg+xml"), ("c.php", "x/y"))


async def test_what_is_no_medium_is_refused_whatever_it_calls_itself(small: Place) -> None:
    editor = await small.client("editor")
    for kind, content in REFUSED.items():
        for name, mime in CALLED:
            answer = await editor.post(MEDIA, files={"file": (name, content, mime)})
            assert answer.status_code in (413, 422), (kind, name, answer.text)
    assert await small.rows("SELECT id FROM media WHERE workspace_id = 'home-of-ada'") == []
    kept = [path for path in small.runtime.settings.media_folder.rglob("*") if path.is_file()]
    assert kept == []


NAMES = (
    "../../../etc/cron.d/x",
    "..\\..\\windows\\x.png",
    "/etc/passwd",
    "..%2f..%2fx.png",
    "x.png\x00.php",
    "shell.php",
    "x.svg",
    ".htaccess",
    "CON",
    "a" * 5000 + ".png",
    'x"; filename="evil.php',
    "<img src=x onerror=alert(1)>.png",
    "\u202egnp.exe",
)


async def test_a_files_own_name_leads_nowhere(small: Place) -> None:
    editor = await small.client("editor")
    folder = small.runtime.settings.media_folder
    taken = 0
    for number, name in enumerate(NAMES):
        content = picture(size=(40 + number, 30))
        answer = await editor.post(MEDIA, files={"file": (name, content, "text/html")})
        if answer.status_code != 201:
            assert answer.status_code in (400, 422), (name, answer.text)
            continue
        taken += 1
        made = answer.json()
        assert made["name"].endswith(".png")
        assert not set(made["name"]) & set('/\\\0"\r\n\u202e')
        row = await small.row("SELECT file FROM media WHERE id = :id", id=made["id"])
        assert row is not None
        path = (folder / row["file"]).resolve()
        assert path.is_relative_to(folder.resolve())
        assert (path.is_file(), path.suffix) == (True, ".png")
        assert path.stat().st_mode & 0o111 == 0, "nothing that is kept can be started"
        given = await editor.get(made["file_url"])
        assert given.headers["content-type"] == "image/png"
        assert given.headers["content-disposition"].startswith("attachment;")
        assert given.headers["content-disposition"].count("filename=") == 1
    assert taken > 8


async def test_what_hides_in_a_picture_is_not_given_out_again(small: Place) -> None:
    editor = await small.client("editor")
    for hidden in (PHP, HTML, SVG, zipped()):
        polyglot = picture() + hidden
        answer = await editor.post(MEDIA, files={"file": ("cat.png", polyglot, "image/png")})
        if answer.status_code == 201:
            given = await editor.get(answer.json()["file_url"])
            assert hidden not in given.content
            assert "sandbox" in given.headers["content-security-policy"]


PATHS = (
    "/media/public/..%2f..%2f..%2fetc%2fpasswd/x",
    "/media/public/%2e%2e/%2e%2e/etc/passwd",
    "/assets/..%2f..%2fpyproject.toml",
    "/..%2f..%2f..%2f..%2fetc/passwd",
    "/assets/%2e%2e/%2e%2e/app.py",
    "/%5c..%5c..%5cwindows",
    f"{MEDIA}/..%2f..%2fkeys/file",
    f"{MEDIA}/..%2f..%2f..%2fdata%2fcadenza.sqlite3/file",
)


async def test_no_address_leads_out_of_its_folder(small: Place) -> None:
    browser = await small.client("owner")
    for path in PATHS:
        answer = await browser.get(path)
        assert answer.status_code in (200, 400, 404, 405, 422, 503), (path, answer.text)
        assert "root:" not in answer.text
        assert "[project]" not in answer.text
        assert b"SQLite format" not in answer.content
        if answer.status_code == 200:
            assert answer.headers["content-type"].startswith("text/html"), "the one page, no file"
