"""An account that too many people cannot be reached by, or complain of, is stopped with the reason, until an admin acts."""

from datetime import datetime

import pytest

from cadenza.accounts.configure import Change, configure
from cadenza.deliveries.lift_suspension import Lifted, lift_suspension
from cadenza.inbox.health import AccountCounts, HealthLimits, count_account, find_reason
from cadenza.inbox.listeners import InboundKind as Kind
from cadenza.sql.tx import Row, Tx
from tests.inbox.conftest import DOMAIN, HOME, MAIL, Office


def counts(sent: int, *, hard: int = 0, complaints: int = 0) -> AccountCounts:
    return AccountCounts(sent, 0, hard, 0, 0, complaints, 0)


@pytest.mark.parametrize(
    ("counted", "stopped"),
    [
        (counts(49, hard=40), False),  # a share of few says little
        (counts(50, hard=3), True),
        (counts(50, hard=2), False),
        (counts(200, hard=3), False),
        (counts(150, hard=3), True),  # 2 %
        (counts(10, complaints=2), False),
        (counts(10, complaints=3), True),
        (counts(1001, complaints=3), False),
        (counts(1000, complaints=3), True),  # 0.3 %
    ],
)
def test_an_account_is_stopped_at_its_share_and_never_by_few(
    counted: AccountCounts, stopped: bool
) -> None:
    assert (find_reason(counted, HealthLimits()) is not None) == stopped


def test_an_account_may_have_limits_of_its_own() -> None:
    assert find_reason(counts(100, hard=4), HealthLimits(bounce_percent=5)) is None
    assert find_reason(counts(10, hard=4), HealthLimits(after=10)) is not None
    assert find_reason(counts(10, complaints=9), HealthLimits(complaint_percent=100)) is None


async def bounce(office: Office, number: int) -> Row:
    await office.sent(f"p{number}@example.org", remote_id=f"<b{number}@{DOMAIN}>")
    await office.record(Kind.HARD_BOUNCE, answers_to=(f"<b{number}@{DOMAIN}>",))
    (row,) = await office.rows("SELECT state, state_reason FROM account WHERE id = :id", id=MAIL)
    return row


async def test_bounces_suspend_and_once_lifted_only_what_comes_then_counts(office: Office) -> None:
    def tighten(tx: Tx, now: datetime) -> bool:
        change = Change(health={"bounce_percent": 50, "complaint_percent": 1, "after": 3})
        return configure(
            tx, now, workspace_id=HOME, account_id=MAIL, change=change, by="member:ada"
        )

    assert await office.operations.run(tighten)
    for number in range(2):
        assert (await bounce(office, number))["state"] == "connected"
    stopped = await bounce(office, 2)
    assert stopped["state"] == "suspended"
    assert "3 of 3 mails" in stopped["state_reason"]
    assert "An admin can let it send again" in stopped["state_reason"]
    (told,) = await office.rows("SELECT body FROM outbox WHERE kind = 'account.suspended'")
    assert "3 of 3 mails" in told["body"]

    def lift(tx: Tx, now: datetime) -> object:
        return lift_suspension(tx, now, workspace_id=HOME, account_id=MAIL, by="member:ada")

    assert await office.operations.run(lift) == Lifted()
    assert (await bounce(office, 3))["state"] == "connected"
    after = await office.operations.read(
        lambda tx, now: count_account(tx, now, workspace_id=HOME, account_id=MAIL)
    )
    assert (after.sent, after.hard_bounces) == (1, 1)
