"""Every row of Telegram's table of refusals, met over the wire."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from cadenza.demo.networks.telegram_model import STATES
from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import say
from cadenza.providers.errors import UNKNOWN, Refusal
from cadenza.providers.outcome import (
    Disconnected,
    Forbidden,
    Outcome,
    RecipientGone,
    Rejected,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)
from cadenza.providers.telegram.errors import TABLE, name_of
from tests.providers.contract import drive
from tests.providers.telegram.fixtures import CALLS, telegram

B, F = "Bad Request: ", "Forbidden: "


def _album(words: str) -> str:
    return f'{B}failed to send message #2 with the error message "{words}"'


CASES: list[tuple[int, str, Outcome]] = [
    (401, "Unauthorized", Disconnected("", "401")),
    (401, "Unauthorized: invalid token specified", Disconnected("", "401")),
    (404, "Not Found", Disconnected("", "404")),
    (403, F + "bot was blocked by the user", RecipientGone("", "blocked", shut_out=True)),
    (403, F + "user is deactivated", RecipientGone("", "deactivated", shut_out=True)),
    (403, F + "bot can't initiate conversation with a user", RecipientGone("", "never_started")),
    (403, F + "the bot can't send messages to the bot", RecipientGone("", "is_bot")),
    (
        403,
        F + "bot was kicked from the supergroup chat",
        RecipientGone("", "kicked", shut_out=True),
    ),
    (403, F + "bot is not a member of the channel chat", RecipientGone("", "not_member")),
    (403, F + "the group chat was deleted", RecipientGone("", "chat_deleted")),
    (403, F + "something new", RecipientGone("", "403")),
    (400, B + "chat not found", RecipientGone("", "chat_not_found")),
    (400, B + "chat_id is empty", RecipientGone("", "no_chat_id")),
    (400, B + "group chat was upgraded to a supergroup chat", RecipientGone("", "migrated")),
    (
        400,
        B + "have no write access to the chat",
        RecipientGone("", "no_write_access", shut_out=True),
    ),
    (400, B + "CHAT_WRITE_FORBIDDEN", RecipientGone("", "no_write_access", shut_out=True)),
    (400, B + "not enough rights to send photos to the chat", Forbidden("", "no_rights")),
    (400, B + "need administrator rights in the channel chat", Forbidden("", "not_admin")),
    (400, B + "message text is empty", Rejected("", "empty")),
    (400, B + "message is too long", Rejected("", "too_long")),
    (400, B + "message caption is too long", Rejected("", "caption_too_long")),
    (400, B + "can't parse entities: Unclosed start tag", Rejected("", "markup")),
    (400, B + "wrong file identifier/HTTP URL specified", Rejected("", "bad_file")),
    (400, B + "photo has unsupported extension. Use .jpg", Rejected("", "bad_extension")),
    (400, B + "PHOTO_INVALID_DIMENSIONS", Rejected("", "bad_picture")),
    (400, _album("PHOTO_INVALID_DIMENSIONS"), Rejected("", "bad_picture/in_album")),
    (400, _album("Message caption is too long"), Rejected("", "caption_too_long/in_album")),
    (400, _album("USER_IS_BLOCKED"), RecipientGone("", "blocked/in_album", shut_out=True)),
    (
        400,
        _album("INPUT_USER_DEACTIVATED"),
        RecipientGone("", "deactivated/in_album", shut_out=True),
    ),
    (
        400,
        _album("Have no write access to the chat"),
        RecipientGone("", "no_write_access/in_album", shut_out=True),
    ),
    (400, _album("CHAT_SEND_PHOTOS_FORBIDDEN"), Forbidden("", "no_rights/in_album")),
    (400, _album("WEBPAGE_CURL_FAILED"), Unconfirmed("")),
    (429, _album("Too Many Requests: retry after 17"), Unconfirmed("")),
    (400, B + "message thread not found", Rejected("", "no_thread")),
    (400, B + "message to be replied not found", Rejected("", "no_reply")),
    (400, B + "too many messages to send as an album", Rejected("", "album_size")),
    (400, B + "failed to get HTTP URL content", Transient("")),
    (400, _album("failed to get HTTP URL content"), Unconfirmed("")),
    (400, B + "something new", Rejected("", "400")),
    (413, "Request Entity Too Large", Rejected("", "413")),
    (409, "Conflict: terminated by other getUpdates request", Forbidden("", "409")),
    (
        429,
        "Too Many Requests: retry after 17",
        TryLater(timedelta(seconds=17), WaitScope.ACCOUNT, ""),
    ),
    (500, "Internal Server Error: restart", Unconfirmed("")),
    (418, "I'm a teapot", Rejected("", "unknown:418")),
]


@pytest.mark.parametrize(("status", "words", "expected"), CASES)
async def test_a_refusal_means_what_its_row_says(
    status: int, words: str, expected: Outcome
) -> None:
    body: dict[str, Any] = {"ok": False, "error_code": status, "description": words}
    if status == 429:
        body["parameters"] = {"retry_after": 17}
    async with telegram() as (scene, simulated):
        simulated.faults.plan(Kind.ERROR_BEFORE, CALLS, answer=say(status, body))
        ended = await drive(scene)
        first = ended.trail[1]
        assert _bare(first) == _bare(expected)
        assert words in str(getattr(first, "message", ""))


def test_every_row_is_met_by_a_case() -> None:
    met = [
        TABLE.row(Refusal(status=status, code=name_of(words)[0], subcode=name_of(words)[1]))
        for status, words, _ in CASES
    ]
    assert [row for row in TABLE.rows if row not in met] == []
    assert UNKNOWN in met


@pytest.mark.parametrize("state", STATES)
def test_every_sentence_of_the_simulated_network_has_a_name(state: str) -> None:
    words = STATES[state][1].format(kind="supergroup", what="text messages")
    assert name_of(words)[0] is not None


def _bare(outcome: object) -> dict[str, object]:
    fields = {name: getattr(outcome, name) for name in type(outcome).__dataclass_fields__}  # pyright: ignore[reportAttributeAccessIssue]
    return {"kind": type(outcome), **{k: v for k, v in fields.items() if k != "message"}}
