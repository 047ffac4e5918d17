"""Every row of the mail table, met in a dialogue at its stage."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.core.budgets import Period
from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import Answer
from cadenza.providers.errors import A_MINUTE
from cadenza.providers.outcome import (
    Disconnected,
    Forbidden,
    Outcome,
    RecipientGone,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)
from cadenza.providers.smtp.errors import AN_HOUR, FULL, GREYLIST, TABLE, Stage, read_reply
from tests.providers.contract import drive
from tests.providers.smtp.fixtures import mail_server

GREY = Transient("", wait=GREYLIST)
STEP = {Stage.HELLO: "EHLO"}


def _gone(code: str) -> RecipientGone:
    return RecipientGone("", code)


CASES: list[tuple[Stage, str, Outcome]] = [
    (Stage.DOT, "421 4.3.2 Closing", Unconfirmed("")),
    (
        Stage.RCPT,
        "450 4.7.1 Rate limit, retry in 90 seconds",
        TryLater(timedelta(seconds=90), WaitScope.ACCOUNT, ""),
    ),
    (Stage.DOT, "421 4.7.28 Too many messages", Unconfirmed("")),
    (
        Stage.MAIL,
        "421 4.7.28 Too many messages",
        TryLater(A_MINUTE, WaitScope.ACCOUNT, "", named=False),
    ),
    (
        Stage.DATA,
        "550 5.4.5 Daily user sending limit exceeded",
        TryLater(timedelta(), WaitScope.ACTION, "", period=Period.DAY),
    ),
    (
        Stage.MAIL,
        "454 4.7.1 Throttling failure: Daily message quota exceeded",
        TryLater(timedelta(), WaitScope.ACTION, "", period=Period.DAY),
    ),
    (
        Stage.MAIL,
        "454 4.7.1 Throttling failure: Maximum sending rate exceeded",
        TryLater(A_MINUTE, WaitScope.ACCOUNT, "", named=False),
    ),
    (Stage.AUTH, "454 4.7.0 Temporary authentication failure", Transient("")),
    (Stage.MAIL, "454 Not now", TryLater(A_MINUTE, WaitScope.ACCOUNT, "", named=False)),
    (Stage.AUTH, "535 5.7.8 Bad credentials", Disconnected("", "5.7.8/auth")),
    (Stage.AUTH, "535 Bad credentials", Disconnected("", "535/auth")),
    (Stage.MAIL, "530 5.7.0 Authentication required", Disconnected("", "5.7.0/mail")),
    (Stage.AUTH, "534 5.7.9 Mechanism too weak", Disconnected("", "5.7.9/auth")),
    (Stage.AUTH, "538 5.7.11 Encryption required", Disconnected("", "5.7.11/auth")),
    (Stage.AUTH, "432 4.7.12 Password transition needed", Disconnected("", "4.7.12/auth")),
    *((Stage.RCPT, f"550 5.1.{each} No", _gone(f"5.1.{each}/rcpt")) for each in (1, 2, 3, 6, 10)),
    (Stage.DOT, "550 5.1.1 No such user", _gone("5.1.1/dot")),
    (Stage.RCPT, "550 5.2.1 Mailbox disabled", _gone("5.2.1/rcpt")),
    (Stage.RCPT, "554 5.2.1 Mailbox disabled", _gone("5.2.1/rcpt")),
    (Stage.RCPT, "450 4.2.1 Receiving too quickly", TryLater(AN_HOUR, WaitScope.RECIPIENT, "")),
    (Stage.RCPT, "552 5.2.2 Mailbox full", Transient("", wait=FULL)),
    (Stage.RCPT, "452 4.2.2 Mailbox full", Transient("", wait=FULL)),
    (Stage.RCPT, "551 User not local", _gone("551/rcpt")),
    (Stage.RCPT, "550 Mailbox unavailable", _gone("550/rcpt")),
    (Stage.RCPT, "553 Mailbox name not allowed", _gone("553/rcpt")),
    (Stage.RCPT, "521 Host does not accept mail", _gone("521/rcpt")),
    (Stage.RCPT, "556 Domain does not accept mail", _gone("556/rcpt")),
    (Stage.CONNECT, "521 Host does not accept mail", Forbidden("", "521/connect")),
    (Stage.RCPT, "552 Exceeded storage", Transient("", wait=FULL)),
    (Stage.DOT, "552 5.3.4 Too big", Rejected("", "5.3.4/dot")),
    (Stage.DOT, "552 5.2.3 Too big", Rejected("", "5.2.3/dot")),
    (Stage.DOT, "552 Too big", Rejected("", "552/dot")),
    (Stage.RCPT, "550 5.7.1 Relaying denied", Forbidden("", "5.7.1/rcpt")),
    *((Stage.DOT, f"550 5.7.{n} No DKIM", Forbidden("", f"5.7.{n}/dot")) for n in range(25, 30)),
    (Stage.RCPT, "550 5.7.509 Sending domain fails DMARC", Forbidden("", "5.7.509/rcpt")),
    (Stage.RCPT, "550 5.7.606 Banned sending address", Forbidden("", "5.7.606/rcpt")),
    (Stage.DOT, "552 5.7.0 Blocked attachment", Rejected("", "5.7.0/dot")),
    (Stage.DOT, "554 5.6.0 Message refused: form", Rejected("", "5.6.0/dot")),
    (Stage.RCPT, "554 5.1.0 Address rejected", _gone("5.1.0/rcpt")),
    (Stage.MAIL, "553 5.1.7 Bad sender", Forbidden("", "5.1.7/mail")),
    (Stage.MAIL, "553 5.1.8 Bad sender", Forbidden("", "5.1.8/mail")),
    (Stage.MAIL, "553 Sender not allowed", Forbidden("", "553/mail")),
    (Stage.DOT, "554 Transaction failed", Forbidden("", "554/dot")),
    (Stage.DOT, "550 Spam", Forbidden("", "550/dot")),
    *(
        (Stage.MAIL, f"{n} What?", Forbidden("", f"{n}/mail"))
        for n in (500, 501, 502, 503, 504, 555)
    ),
    (Stage.HELLO, "421 Closing", TryLater(A_MINUTE, WaitScope.ACCOUNT, "", named=False)),
    (Stage.CONNECT, "421 Too busy", TryLater(A_MINUTE, WaitScope.ACCOUNT, "", named=False)),
    (Stage.RCPT, "450 4.7.1 Greylisted", GREY),
    (Stage.RCPT, "451 4.7.1 Greylisted, 7 minutes", Transient("", wait=timedelta(minutes=7))),
    (Stage.DOT, "451 Local error", GREY),
    (Stage.MAIL, "452 4.3.1 Insufficient storage", GREY),
    (Stage.MAIL, "455 Parameters not accepted", Transient("")),
    (Stage.DOT, "499 4.9.9 New", Transient("")),
    (Stage.DOT, "599 5.9.9 New", Rejected("", "unknown:5.9.9/dot")),
    (Stage.DOT, "599 4.9.9 Enhanced code wins", Transient("")),
]


@pytest.mark.parametrize(("stage", "reply", "expected"), CASES)
async def test_a_refusal_means_what_its_row_says(
    stage: Stage, reply: str, expected: Outcome
) -> None:
    code, _, text = reply.partition(" ")
    async with mail_server() as (scene, simulated):
        step = STEP.get(stage, stage.value.upper())
        answer = Answer(int(code), text.encode())
        fault = simulated.faults.plan(Kind.ERROR_BEFORE, f"SMTP {step}", answer=answer)
        ended = await drive(scene)
        first = ended.trail[1]
        assert fault.met
        assert _bare(first) == _bare(expected)
        if not isinstance(first, Unconfirmed):
            assert reply in str(getattr(first, "message", ""))
        if isinstance(first, Transient | TryLater):
            assert isinstance(ended.outcome, Sent)


def test_every_row_is_met_by_a_case() -> None:
    met = [_row(stage, reply) for stage, reply, _ in CASES]
    assert [row for row in TABLE.rows if row not in met] == []
    assert TABLE.unknown in met


@given(st.integers(200, 599), st.text(max_size=60), st.sampled_from(Stage))
def test_no_reply_is_too_odd_to_be_judged(code: int, text: str, stage: Stage) -> None:
    outcome = TABLE.judge(read_reply(code, text, stage))
    assert not isinstance(outcome, Sent)


def _row(stage: Stage, reply: str) -> object:
    code, _, text = reply.partition(" ")
    return TABLE.row(read_reply(int(code), text, stage))


def _bare(outcome: object) -> dict[str, object]:
    fields = {name: getattr(outcome, name) for name in type(outcome).__dataclass_fields__}  # pyright: ignore[reportAttributeAccessIssue]
    return {"kind": type(outcome), **{k: v for k, v in fields.items() if k != "message"}}
