"""What became visible, to whom, when: the truth that tests and people look at.

A 200 reply proves nothing; an entry here does. A world adds an entry at the moment a person on that
network would see the thing, also when the reply about it gets lost.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One visible thing: a post, a message, a comment."""

    simulated: str
    account: str
    remote_id: str
    text: str
    at: datetime
    kind: str = "post"
    to: str = ""  # a recipient or the post above, where there is one
    detail: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Ledger:
    """All that the networks show, in order of arrival."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []

    def add(self, entry: Entry) -> Entry:
        """Write down that something became visible."""
        self._entries.append(entry)
        return entry

    def remove(self, simulated: str, remote_id: str) -> None:
        """Take back what was deleted over there."""
        self._entries = [
            e for e in self._entries if (e.simulated, e.remote_id) != (simulated, remote_id)
        ]

    def of(
        self,
        simulated: str | None = None,
        account: str | None = None,
        *,
        kind: str | None = None,
        to: str | None = None,
    ) -> list[Entry]:
        """List what is visible, oldest first."""
        return [
            e
            for e in self._entries
            if simulated in {None, e.simulated}
            and account in {None, e.account}
            and kind in {None, e.kind}
            and to in {None, e.to}
        ]

    def duplicates(self, simulated: str | None = None) -> list[Entry]:
        """List entries that repeat an earlier one: same account, kind, place and words."""
        seen: set[tuple[str, ...]] = set()
        repeats: list[Entry] = []
        for entry in self.of(simulated):
            mark = (entry.simulated, entry.account, entry.kind, entry.to, entry.text)
            if mark in seen:
                repeats.append(entry)
            seen.add(mark)
        return repeats
