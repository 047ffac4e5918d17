"""The rows that Facebook adds to Meta's table: videos that are not taken, over the wire."""

from __future__ import annotations

import pytest

from cadenza.demo.rehearsal.faults import Kind
from cadenza.demo.rehearsal.wire import say
from cadenza.providers.facebook.errors import PUBLISH, TABLE
from cadenza.providers.outcome import Rejected
from tests.providers.contract import drive
from tests.providers.facebook.stage import VIDEOS, facebook
from tests.providers.pictures import film

FILMS = range(1363019, 1363046)


@pytest.mark.parametrize("nth", [1, 2, 5])  # the start, a piece, the last word
@pytest.mark.parametrize("subcode", [FILMS[0], 1363024, FILMS[-1]])
async def test_a_film_that_is_not_taken_is_told_at_every_step(subcode: int, nth: int) -> None:
    body = {"error": {"message": "No", "code": 100, "error_subcode": subcode}}
    async with facebook(media=(film(),)) as (scene, world):
        world.faults.plan(Kind.ERROR_BEFORE, VIDEOS, nth=nth, answer=say(400, body))
        ended = await drive(scene)
        assert isinstance(ended.outcome, Rejected)
        assert ended.outcome.code == f"100/{subcode}"
        assert scene.visible() == []


def test_both_tables_know_every_such_row() -> None:
    for table in (TABLE, PUBLISH):
        assert set(FILMS) <= {row.subcode for row in table.rows}
