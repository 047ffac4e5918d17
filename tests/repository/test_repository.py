"""Installation rules on the repository's files: locks, words, the Makefile, the decisions."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from tests.repository.sources import ROOT, tracked, tracked_text

LOCKS = ("requirements/*.txt", "**/package-lock.json")
# Spelt in two halves, so that this file does not find itself.
ONE_MACHINE = re.compile(
    r"(?<![\w.])/wo" + r"rk/|(?<![\w/.-])sha" + r"red/|/ro" + r"ot/|/ho" + r"me/\w|/Us" + r"ers/\w"
)
DECISION_PARTS = ("Context", "Decision", "Consequences", "Alternatives", "Guard")


def test_locks_name_no_download_host() -> None:
    locks = [path for pattern in LOCKS for path in ROOT.glob(pattern) if _ours(path.parts)]
    assert locks
    hosts = [lock.name for lock in locks if re.search(r"https?://", lock.read_text())]
    assert not hosts, f"lock without addresses (make lock): {hosts}"


def test_every_requirement_is_pinned_with_a_hash() -> None:
    for lock in ROOT.glob("requirements/*.txt"):
        text = re.sub(r"\\\n", " ", lock.read_text())
        lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
        loose = [line[:40] for line in lines if "==" not in line or "--hash=sha256:" not in line]
        assert not loose, f"{lock.name}: {loose}"


@pytest.mark.parametrize("name", ["uv.lock", "pylock.toml"])
def test_locks_that_hold_addresses_are_not_tracked(name: str) -> None:
    assert name not in {path.name for path in tracked()}


def test_no_text_names_a_place_on_one_machine() -> None:
    found = [
        f"{name}:{number}"
        for name, text in tracked_text()
        for number, line in enumerate(text.splitlines(), 1)
        if ONE_MACHINE.search(line)
    ]
    assert not found, f"a reader elsewhere has no such path: {found}"


def test_make_alone_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    phony = set(re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[0].split())
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    shown = subprocess.run(
        ["make", "help"], cwd=ROOT, env=alone, capture_output=True, text=True, check=True
    )
    listed = set(re.findall(r"^  make (\S+)", shown.stdout, re.MULTILINE))
    assert listed == targets == phony
    assert not shown.stderr, "make warns: a target has two recipes?"


def test_every_decision_has_all_its_parts_and_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text()
    for record in folder.glob("[0-9]*.md"):
        headings = re.findall(r"^#+ (.*)$", record.read_text(), re.MULTILINE)
        missing = [part for part in DECISION_PARTS if part not in headings]
        assert not missing, f"{record.name} lacks {missing}"
        assert record.name in index, f"list {record.name} in docs/decisions/README.md"


def _ours(parts: tuple[str, ...]) -> bool:
    return not {"node_modules", ".venv"} & set(parts)
