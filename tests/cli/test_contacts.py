"""Contacts, audiences and recipient channels from the command line, with a worker that imports in the background."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cadenza.cli.run import run
from tests.cli.conftest import Said
from tests.cli.test_up import free_port, started

PEOPLE = "Mail,First name,Favourite\ndora@example.org,Dora,rye\nnowhere,Emil,\n"
PASSWORD = "four plain words here"

pytestmark = pytest.mark.slow


class Operator:
    """`operator("contact", "list")` is `cadenza contact list`."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def __call__(self, *words: str) -> Said:
        self._capture.readouterr()
        code = run(words)
        out, err = self._capture.readouterr()
        return Said(code, out, err)


@pytest.fixture
def operator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Operator]:
    with (
        started(tmp_path, "up", "--port", str(free_port())),
        pytest.MonkeyPatch.context() as clean,
        contextlib.chdir(tmp_path),
    ):
        for name in [name for name in os.environ if name.startswith("CADENZA")]:
            clean.delenv(name)
        assert run(["person", "create", "ada@example.org", "Ada", "--password", PASSWORD]) == 0
        yield Operator(capsys)


def test_people_are_imported_listed_filled_in_and_taken_back(
    operator: Operator, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    assert operator("contact", "field", "save", "favourite", "--kind", "text").code == 0
    tried = operator("contact", "import", "people.csv", "--dry-run")
    assert "This is no address" in tried.out, tried.err
    done = operator("contact", "import", "people.csv", "--tag", "fair", "--json").data
    assert (done["state"], done["created"], done["refused"]) == ("done", 1, 1)
    listed = operator("contact", "list", "--tag", "fair")
    assert "dora@example.org" in listed.out
    dora = operator("contact", "list", "--json").data[0]["id"]
    body = "Hello {{first_name}}, {{favourite}} is fresh."
    assert operator("template", "create", "Fresh", "--subject", "Hi", "--body", body).code == 0
    shown = operator("template", "preview", "Fresh", "--contact", dora)
    assert "Hello Dora, rye is fresh." in shown.out, shown.err
    assert operator("message", "send", "Fresh", "--account", "none").code != 0
    exported = operator("contact", "export", "out.csv")
    assert exported.code == 0, exported.err
    assert "dora@example.org" in (tmp_path / "out.csv").read_text()
    undone = operator("contact", "undo", done["id"])
    assert undone.code == 0, undone.err
    assert operator("contact", "list", "--json").data == []


def test_lists_hold_people_and_channels(operator: Operator) -> None:
    added = operator("contact", "add", "--email", "ben@example.org", "--first-name", "Ben")
    assert added.code == 0, added.err
    ben = operator("contact", "list", "--json").data[0]["id"]
    assert operator("channel", "add", "telegram", "@bakers", "--title", "Bakers").code == 0
    assert operator("audience", "create", "Fair").code == 0
    put = operator("audience", "add", "Fair", ben, "--channel", "telegram=@bakers")
    assert put.code == 0, put.err
    assert [each["size"] for each in operator("audience", "list", "--json").data] == [2]
    assert "@bakers" in operator("channel", "list").out
