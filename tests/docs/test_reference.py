"""The reference pages say what the code says."""

from __future__ import annotations

from cadenza.cli.reference import PAGES, problems, settings_keys, write_reference
from cadenza.cli.run import GROUPS
from cadenza.config.say import SAYS


def test_the_reference_is_made_from_the_code_as_it_is() -> None:
    stale = [name for name, text in write_reference().items() if (PAGES / name).read_text() != text]
    assert not stale, f"run `python -m cadenza.cli.reference`: {stale} tell of other code"


def test_every_setting_is_told_and_nothing_else() -> None:
    assert set(SAYS) == {key for key, _ in settings_keys()}


def test_every_command_and_known_problems_are_in_it() -> None:
    commands = (PAGES / "command-line.md").read_text()
    assert [name for name in GROUPS if f"## cadenza {name}\n" not in commands] == []
    known = {code for _, code, _ in problems()}
    assert known >= {"not_found", "scope_needed", "key_reused", "changed_meanwhile", "too_many"}
