"""Every test that a page names as proof exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_edge_case_has_a_test_that_exists() -> None:
    page = (ROOT / "docs" / "edge-cases.md").read_text()
    named = set(re.findall(r"`(test_\w+)`", page))
    written = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)\(", path.read_text())
    }
    assert named - written == set()
    assert len(re.findall(r"^\| \d+ \|", page, re.MULTILINE)) == 30
