"""How heavy the app is: what a browser must load before anything is seen, and each screen behind it."""

import gzip
import re
from pathlib import Path

ENTRY = 300_000  # bytes of gzipped JavaScript that the page itself asks for
SCREEN = 150_000  # of any one chunk that a screen asks for later


def test_the_entry_stays_light(built_app: Path) -> None:
    page = (built_app / "index.html").read_text(encoding="utf-8")
    asked = set(re.findall(r'(?:src|href)="/(assets/[^"]+\.js)"', page))
    assert asked
    assert sum(_weight(built_app / name) for name in asked) < ENTRY


def test_no_screen_is_heavy(built_app: Path) -> None:
    heavy = {
        path.name: weight
        for path in (built_app / "assets").glob("*.js")
        if (weight := _weight(path)) > SCREEN
    }
    assert heavy == {}


def _weight(path: Path) -> int:
    return len(gzip.compress(path.read_bytes(), compresslevel=9))
