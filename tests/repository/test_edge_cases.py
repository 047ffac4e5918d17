"""Every test that a page names as proof exists."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@cache
def written() -> set[str]:
    return {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)\(", path.read_text())
    } | {
        name
        for path in (ROOT / "src" / "cadenza" / "engine" / "testing").rglob("*.py")
        for name in re.findall(r"def (test_\w+)\(", path.read_text())
    }


@pytest.mark.parametrize("page", ["edge-cases.md", "faults.md", "promises.md", "security-tests.md"])
def test_every_test_that_a_page_names_exists(page: str) -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / page).read_text()))
    assert named - written() == set()


@pytest.mark.parametrize("page", ["faults.md", "promises.md"])
def test_every_row_of_a_page_names_a_proof(page: str) -> None:
    rows = re.findall(r"^\| .* \|$", (ROOT / "docs" / page).read_text(), re.MULTILINE)
    unproved = [row for row in rows if "`" not in row.rsplit(" | ", 1)[1]]
    assert [row for row in unproved if "shown by" not in row and "proved by" not in row] == []
    assert len(rows) > 10


@pytest.mark.parametrize("page", ["promises.md"])
def test_every_folder_that_a_page_names_exists(page: str) -> None:
    named = re.findall(r"`(tests/[\w/.]+)`", (ROOT / "docs" / page).read_text())
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_there_are_thirty_edge_cases() -> None:
    page = (ROOT / "docs" / "edge-cases.md").read_text()
    assert len(re.findall(r"^\| \d+ \|", page, re.MULTILINE)) == 30


def test_every_security_promise_names_its_files_and_tests() -> None:
    table = (ROOT / "docs" / "security-tests.md").read_text()
    rows = re.findall(r"^\| (\d+) \| (.*) \| (.*) \| (.*) \|$", table, re.MULTILINE)
    assert [int(number) for number, *_ in rows] == [*range(1, 29)]
    for number, _, where, shown_by in rows:
        assert re.findall(r"`test_\w+`", shown_by), f"no test shows promise {number}"
        for place in re.findall(r"`([\w./]+)`", where):
            assert (ROOT / place).exists() or (ROOT / "src" / "cadenza" / place).exists(), place


def test_every_security_promise_is_explained() -> None:
    table = (ROOT / "docs" / "security-tests.md").read_text()
    page = (ROOT / "docs" / "security.md").read_text()
    for number, name in re.findall(r"^\| (\d+) \| ([^|]*) \|", table, re.MULTILINE):
        assert f"**{name} ({number})" in page, f"security.md says nothing about {name} ({number})"
