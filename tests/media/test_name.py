"""Names of uploads: shown to people, never a path."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.media.name import safe_name


@pytest.mark.parametrize(
    ("given_name", "shown"),
    [
        ("cat.png", "cat.jpg"),
        ("Ferien am Meer.JPEG", "Ferien am Meer.jpg"),
        ("../../etc/passwd", "passwd.jpg"),
        ("..\\..\\windows\\win.ini", "win.ini.jpg"),
        ("..%2f..%2fetc", "2f.. 2fetc.jpg"),
        ("/etc/shadow", "shadow.jpg"),
        ("a\x00b.png", "ab.jpg"),
        ("photo\u202egpj.exe", "photogpj.exe.jpg"),
        ("photo.php", "photo.php.jpg"),
        ("CON", "_CON.jpg"),
        ("nul.png", "_nul.jpg"),
        (".htaccess", "htaccess.jpg"),
        ("...", "file.jpg"),
        ("", "file.jpg"),
        ("\u200b\u200d", "file.jpg"),
        ("a\r\nSet-Cookie: x=1", "aSet-Cookie x=1.jpg"),
        ('"><img src=x>', "img src=x.jpg"),
        ("naïve café 日本.png", "naïve café 日本.jpg"),
        ("e\u0301.png", "é.jpg"),
        ("\ud800.png", "png.jpg"),
        ("x" * 300 + ".png", "x" * 120 + ".jpg"),
    ],
)
def test_a_name_is_made_harmless(given_name: str, shown: str) -> None:
    assert safe_name(given_name, "jpg") == shown


@given(st.text())
def test_no_name_is_a_path_or_hides_a_sign(name: str) -> None:
    shown = safe_name(name, "png")

    assert shown.endswith(".png")
    assert not shown.startswith((".", " "))
    assert not set(shown) & set('/\\\x00\r\n"<>')
    assert all(unicodedata.category(sign)[0] != "C" for sign in shown)
    assert len(shown) <= 125
    assert safe_name(shown, "png") == shown
