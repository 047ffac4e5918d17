"""Every name that a page points at can be imported."""

import importlib
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
NAMES = sorted(
    {
        (page.name, module, name)
        for page in DOCS.glob("follow-*.md")
        for module, name in re.findall(r"`([\w/]+)\.py:(\w+)`", page.read_text())
    }
)


@pytest.mark.parametrize(("page", "module", "name"), NAMES)
def test_what_a_page_names_is_there(page: str, module: str, name: str) -> None:
    found = importlib.import_module(f"cadenza.{module.replace('/', '.')}")
    assert hasattr(found, name), f"{page} names {module}.py:{name}"


def test_pages_name_something() -> None:
    assert len(NAMES) >= 15
