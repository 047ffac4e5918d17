"""Documents in memory, for tests and small programs. Gone with the process."""

import itertools
from collections.abc import Callable, Mapping, MutableMapping
from copy import deepcopy
from datetime import datetime
from typing import Any

from cadenza.core.zones import as_utc
from cadenza.engine.classic.document import Document, FieldPaths, pick, split_path, step_into

Condition = Callable[[Mapping[str, Any]], bool] | Mapping[str, Any]


class MemoryDocuments:
    """Plain dictionaries, shaped as the Node package's documents are."""

    def __init__(
        self, *, paths: FieldPaths | None = None, condition: Condition | None = None
    ) -> None:
        self._paths = paths or FieldPaths()
        self._condition = condition or {}
        self._numbers = itertools.count(1)
        self.documents: dict[Any, dict[str, Any]] = {}

    def add(self, **document: Any) -> Any:
        """Keep a document; return its id."""
        id_ = document.setdefault(self._paths.id, next(self._numbers))
        self.documents[id_] = document
        return id_

    async def lock_next(self, lock_until: datetime, *, now: datetime) -> Document | None:
        """Lock the document that has been due longest."""
        due = [d for d in self.documents.values() if self._is_due(d, now)]
        if not due:
            return None
        document = min(due, key=lambda d: _order(pick(d, self._paths.sleep_until)))
        before = deepcopy(document)
        self._put(document, lock_until)
        return self._read(before, lock_until)

    async def update(
        self, id: Any, *, sleep_until: datetime | None, locked_until: datetime | None
    ) -> bool:
        """Write the next time, if the lock is still ours."""
        if not self._is_ours(id, locked_until):
            return False
        self._put(self.documents[id], sleep_until)
        return True

    async def remove(self, id: Any, *, locked_until: datetime | None) -> bool:
        """Delete, if the lock is still ours."""
        if not self._is_ours(id, locked_until):
            return False
        del self.documents[id]
        return True

    def _is_due(self, document: Mapping[str, Any], now: datetime) -> bool:
        until = pick(document, self._paths.sleep_until)
        if until is None or not self._fits(document):
            return False
        return not isinstance(until, datetime) or as_utc(until) <= now  # no date at all is due

    def _fits(self, document: Mapping[str, Any]) -> bool:
        if isinstance(self._condition, Mapping):
            return all(pick(document, path) == value for path, value in self._condition.items())
        return self._condition(document)

    def _is_ours(self, id_: Any, lock: datetime | None) -> bool:
        document = self.documents.get(id_)
        return document is not None and pick(document, self._paths.sleep_until) == lock

    def _put(self, document: MutableMapping[str, Any], value: datetime | None) -> None:
        *parents, last = split_path(self._paths.sleep_until)
        found: Any = document
        for part in parents:
            found = step_into(found, part)
        found[int(last) if isinstance(found, list) else last] = value

    def _read(self, document: dict[str, Any], lock: datetime) -> Document:
        until = pick(document, self._paths.sleep_until)
        return Document(
            id=document[self._paths.id],
            sleep_until=until if isinstance(until, datetime) else None,
            interval=pick(document, self._paths.interval) or None,
            repeat_until=pick(document, self._paths.repeat_until),
            auto_remove=bool(pick(document, self._paths.auto_remove)),
            data=document,
            locked_until=lock,
        )


def _order(until: object) -> float:
    return until.timestamp() if isinstance(until, datetime) else float("-inf")
