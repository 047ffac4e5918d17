"""A document of mongodb-cron starts next exactly when the Node package says so."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cadenza.core.mongodb_cron import next_start
from cadenza.core.zones import get_zone

VECTORS = Path(__file__).parent.parent / "data" / "mongodb_cron_vectors.jsonl"
LINES = [json.loads(line) for line in VECTORS.read_text("utf-8").splitlines()]
UNREADABLE = "unreadable"


def _instant(value: object) -> datetime | str | None:
    """Read a date as the document may hold it: text, milliseconds, nothing."""
    if value is None:
        return None
    if isinstance(value, int):
        return datetime.fromtimestamp(value / 1000, UTC)
    try:
        return datetime.fromisoformat(str(value))
    except ValueError:
        return UNREADABLE


def _pick(document: Any, path: str) -> Any:
    for part in path.replace("[", ".").replace("]", "").split("."):
        try:
            document = document[int(part)] if part.isdigit() else document.get(part)
        except (KeyError, IndexError, AttributeError):
            return None
    return document


@pytest.mark.parametrize("line", LINES, ids=lambda v: f"{v['tz']}-{v['label']}-{v['now']}")
def test_each_golden_vector_is_met(line: dict[str, Any]) -> None:
    config = line["config"]
    sleep_until = _instant(_pick(line["doc"], config.get("sleepUntilFieldPath", "sleepUntil")))
    repeat_until = _instant(_pick(line["doc"], config.get("repeatUntilFieldPath", "repeatUntil")))
    if sleep_until == UNREADABLE:  # the store's part: a date that is none ends the document
        assert line["next"] is None
        return
    now = _instant(line["now"])
    assert isinstance(now, datetime)
    assert not isinstance(sleep_until, str)
    assert not isinstance(repeat_until, str)

    found = next_start(
        sleep_until,
        _pick(line["doc"], config.get("intervalFieldPath", "interval")),
        repeat_until,
        now,
        zone=get_zone(line["tz"]),
        reprocess_delay=timedelta(milliseconds=config.get("reprocessDelay", 0)),
    )

    assert found == _instant(line["next"])


def test_all_304_vectors_are_there() -> None:
    assert len(LINES) == 304
