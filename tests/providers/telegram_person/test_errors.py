"""Every row of the table, sent by the stand-in over the wire and raised by the real Telethon."""

from __future__ import annotations

from datetime import timedelta

import pytest
from telethon.errors.rpcerrorlist import rpc_errors_dict, rpc_errors_re

from cadenza.providers.outcome import (
    Disconnected,
    Forbidden,
    RecipientGone,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)
from cadenza.providers.telegram_person import PROVIDER
from cadenza.providers.telegram_person.errors import (
    CONTENT,
    GONE,
    MISTYPED,
    MOVED,
    NO_RIGHT_THERE,
    OVER,
    PASSING,
    SHUT,
    TABLE,
    name_of,
)
from tests.providers.telegram_person.fixtures import made_ready, person

WAITS = {
    "FLOOD_WAIT_33": TryLater(timedelta(seconds=33), WaitScope.ACCOUNT, ""),
    "FLOOD_PREMIUM_WAIT_9": TryLater(timedelta(seconds=9), WaitScope.ACCOUNT, ""),
    "SLOWMODE_WAIT_12": TryLater(timedelta(seconds=12), WaitScope.RECIPIENT, ""),
    "PEER_FLOOD": TryLater(timedelta(hours=24), WaitScope.ACCOUNT, "", block=True),
    "PHONE_NUMBER_FLOOD": TryLater(timedelta(hours=24), WaitScope.ACCOUNT, ""),
}
KINDS: dict[str, type[object]] = {
    **dict.fromkeys((*GONE, *SHUT), RecipientGone),
    **dict.fromkeys((*NO_RIGHT_THERE, "API_ID_INVALID", "API_ID_PUBLISHED_FLOOD"), Forbidden),
    "FROZEN_METHOD_INVALID": Forbidden,
    **dict.fromkeys(OVER, Disconnected),
    **dict.fromkeys((*CONTENT, *MISTYPED, "SESSION_PASSWORD_NEEDED"), Rejected),
    **dict.fromkeys((*PASSING, "FILE_PARTS_INVALID", "FILE_PART_3_MISSING"), Transient),
    "RANDOM_ID_DUPLICATE": Sent,
}


async def _refused(word: str, code: int = 400) -> object:
    async with person() as (begun, simulated):
        call = await made_ready(begun)
        simulated.refusals.append((code, word))
        outcome = await PROVIDER.publish(call)
        assert simulated.sent == []
        return outcome


@pytest.mark.parametrize("word", KINDS)
async def test_each_refusal_means_what_the_table_says(word: str) -> None:
    assert isinstance(await _refused(word), KINDS[word])


@pytest.mark.parametrize("word", WAITS)
async def test_waits_are_as_long_and_reach_as_far_as_told(word: str) -> None:
    outcome = await _refused(word, 420)
    assert isinstance(outcome, TryLater)
    assert (outcome.wait, outcome.reach) == (WAITS[word].wait, WAITS[word].reach)


async def test_an_unknown_failure_of_the_servers_is_unconfirmed() -> None:
    assert isinstance(await _refused("SOMETHING_NEW", 500), Unconfirmed)


async def test_an_unknown_refusal_is_told_with_its_name() -> None:
    outcome = await _refused("SOMETHING_NEW_7", 400)
    assert isinstance(outcome, Rejected)
    assert outcome.code == "unknown:SOMETHING_NEW_X"


def test_no_row_is_left_out() -> None:
    tried = {name_of(word) for word in (*KINDS, *WAITS)} | {MOVED}  # met in test_auth.py
    assert tried == {row.code for row in TABLE.rows}


def test_every_name_is_one_that_telethon_knows() -> None:
    known = set(rpc_errors_dict) | {name_of(pattern) for pattern, _ in rpc_errors_re}
    newer = {"CHAT_SEND_DOCS_FORBIDDEN"}  # than Telethon's list; told by its name all the same
    assert {row.code for row in TABLE.rows} <= known | newer
