"""Every row of Mastodon's table of refusals, met over the wire."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cadenza.demo.networks import mastodon_model
from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import say
from cadenza.providers.errors import UNKNOWN, Refusal, Row
from cadenza.providers.mastodon import errors
from cadenza.providers.outcome import (
    Disconnected,
    Forbidden,
    NotReady,
    Outcome,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)
from tests.providers.contract import bare, drive
from tests.providers.mastodon.fixtures import POSTS, mastodon
from tests.providers.pictures import picture

CASES: list[tuple[int, str, Outcome]] = [
    (401, "The access token is invalid", Disconnected("", "401")),
    (403, "This action is outside the authorized scopes", Forbidden("", "403")),
    (404, errors.NO_PARENT, Rejected("", errors.NO_PARENT)),
    (404, "Record not found", Rejected("", "404")),
    (410, "Gone", Rejected("", "410")),
    (422, errors.PROCESSING, NotReady(timedelta(seconds=5))),
    (422, errors.THUMBNAIL, Transient("", restart=True)),
    (422, "Validation failed: Text can't be blank", Rejected("", "422")),
    (429, "Too many requests", TryLater(timedelta(minutes=5), WaitScope.ACCOUNT, "")),
    (400, "invalid_grant", Disconnected("", "invalid_grant")),
    (400, "Bad request", Rejected("", "400")),
    (413, "Too large", Rejected("", "413")),
    (503, mastodon_model.TEMPORARY, Unconfirmed("")),
    (500, "Something went wrong", Unconfirmed("")),
    (418, "I'm a teapot", Rejected("", "unknown:418")),
]


@pytest.mark.parametrize(("status", "words", "expected"), CASES)
async def test_a_refusal_means_what_its_row_says(
    status: int, words: str, expected: Outcome
) -> None:
    async with mastodon() as (scene, simulated):
        simulated.faults.plan(
            Kind.ERROR_BEFORE, POSTS, times=99, answer=say(status, {"error": words})
        )

        async def lift(step: str) -> None:
            if step == "find_out" or simulated.received:
                simulated.faults.clear()

        scene.before = lift
        ended = await drive(scene)
        first = next(each for each in ended.trail[1:])
        assert bare(first) == bare(expected)
        assert words in str(getattr(first, "message", ""))


def test_every_row_is_met_by_a_case() -> None:
    met = [_row(status, words) for status, words, _ in CASES]
    assert [row for row in errors.TABLE.rows if row not in met] == []
    assert UNKNOWN in met


def test_the_simulated_network_speaks_the_sentences_that_the_table_knows() -> None:
    assert mastodon_model.NOT_FINISHED == errors.PROCESSING
    assert mastodon_model.NO_SUCH_POST == errors.NO_PARENT


def _row(status: int, words: str) -> Row:
    code = words if words in errors.KNOWN else None
    return errors.TABLE.row(Refusal(status=status, code=code))


async def test_a_server_that_stumbles_over_a_file_is_asked_again() -> None:
    async with mastodon(media=(picture(),)) as (scene, simulated):
        answer = say(500, {"error": "Error processing thumbnail for uploaded media"})
        simulated.faults.plan(Kind.ERROR_BEFORE, "POST /api/v2/media", answer=answer)
        ended = await drive(scene)
        assert bare(ended.trail[0]) == bare(Transient(""))
        assert isinstance(ended.outcome, Sent)
