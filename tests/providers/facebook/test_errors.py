"""The rows that Facebook adds to Meta's table: videos that are not taken, over the wire."""

from __future__ import annotations

from typing import Any

import pytest

from cadenza.demo.networks.meta_model import envelope
from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import say
from cadenza.providers.facebook.errors import PUBLISH, TABLE
from cadenza.providers.outcome import Forbidden, Rejected, Sent, Transient
from tests.providers.contract import drive, judge
from tests.providers.facebook.fixtures import VIDEOS, facebook
from tests.providers.pictures import film

FILMS = range(1363019, 1363046)
STEPS = [1, 2, 5]  # the start, a piece, the last word


@pytest.mark.parametrize("nth", STEPS)
@pytest.mark.parametrize("subcode", [1363020, 1363024, FILMS[-1]])
async def test_a_film_that_is_not_taken_is_told_at_every_step(subcode: int, nth: int) -> None:
    body = {"error": {"message": "No", "code": 100, "error_subcode": subcode}}
    async with facebook(media=(film(),)) as (scene, simulated):
        simulated.faults.plan(Kind.ERROR_BEFORE, VIDEOS, nth=nth, answer=say(400, body))
        ended = await drive(scene)
        assert isinstance(ended.outcome, Rejected)
        assert ended.outcome.code == f"100/{subcode}"
        assert scene.visible() == []


@pytest.mark.parametrize("nth", STEPS)
@pytest.mark.parametrize(
    ("code", "subcode"),
    [(6000, 0), *((100, each) for each in (1363019, 1363030, 1363033, 1363037))],
)
async def test_a_film_that_got_lost_on_the_way_is_sent_again(
    code: int, subcode: int, nth: int
) -> None:
    async with facebook(media=(film(),)) as (scene, simulated):
        no = envelope(code, "There was a problem uploading your video", subcode)
        fault = simulated.faults.plan(Kind.ERROR_BEFORE, VIDEOS, nth=nth, answer=no)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        assert isinstance(ended.outcome, Sent), ended.trail


@pytest.mark.parametrize("nth", STEPS)
async def test_a_page_that_takes_no_films_of_ours_asks_for_a_right(nth: int) -> None:
    async with facebook(media=(film(),)) as (scene, simulated):
        no = envelope(100, "No permission to upload", 1363042)
        simulated.faults.plan(Kind.ERROR_BEFORE, VIDEOS, nth=nth, answer=no)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Forbidden)


async def test_a_piece_whose_answer_was_lost_is_not_sent_twice() -> None:
    async with facebook(media=(film(),)) as (scene, simulated):
        simulated.faults.plan(Kind.SILENCE_AFTER, VIDEOS, nth=2)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(Transient) == 1
        assert len(simulated.films) == 1  # the same session, from where it was


@pytest.mark.parametrize("data", [None, "{", [], {"start_offset": "0", "end_offset": "40"}, '"7"'])
async def test_a_wrong_piece_that_leads_nowhere_begins_again(data: Any) -> None:
    async with facebook(media=(film(),)) as (scene, simulated):
        no = envelope(100, "Invalid start offset", 1363037, data=data)
        simulated.faults.plan(Kind.ERROR_BEFORE, VIDEOS, nth=2, answer=no)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert len(simulated.films) == 2


def test_both_tables_know_every_such_row() -> None:
    for table in (TABLE, PUBLISH):
        assert set(FILMS) <= {row.subcode for row in table.rows}
