"""What may not go out is mailed before its time, in words that say so."""

from datetime import UTC, datetime

from cadenza.accounts.refresh import Begun, give_up
from cadenza.core.secret import Secret
from cadenza.deliveries.installation import RESTORE, beat, hold
from cadenza.providers.message import Tokens
from cadenza.providers.outcome import NOTHING_TO_RENEW, Disconnected
from cadenza.sql.tx import Tx
from tests.accounts.value import an_account
from tests.notices.conftest import HOME, Installation
from tests.notices.test_mail import part

NOW = datetime(2026, 11, 24, 9, tzinfo=UTC)
WARN = """
    INSERT INTO outbox (workspace_id, id, kind, subject_id, body, created_at)
    SELECT :home, id || :kind, :kind, id, :body, created_at FROM delivery
"""


async def warn(
    runtime: Installation, kind: str, state: str, *, later: str | None = None
) -> list[str]:
    """Write a warning about a delivery; return the subjects of the mails that Ada got."""
    await runtime.deliver(state, post="p1", text="hello")
    body = '{"state":"at risk","reason":"the text is too long"}'
    await runtime.run(WARN, home=HOME, kind=kind, body=body)
    await runtime.run("UPDATE delivery SET attempts = 0, state = :state", state=later or state)
    await runtime.dispatch()
    await runtime.make_due()
    await runtime.dispatch(2)
    mails = runtime.office.to("ada@example.com")
    assert all("the text is too long" in part(mail, "plain") for mail in mails)
    return [str(mail["Subject"]) for mail in mails]


async def test_a_delivery_at_risk_is_mailed(runtime: Installation) -> None:
    subjects = await warn(runtime, "delivery.at_risk", "scheduled")
    assert subjects == ["[Ada & friends] “hello” may not go out on mastodon"]


async def test_a_post_that_waits_for_its_approval_is_mailed(runtime: Installation) -> None:
    subjects = await warn(runtime, "delivery.unapproved", "draft")
    assert subjects == ["[Ada & friends] “hello” needs approval before it can go out on mastodon"]


async def test_a_warning_that_is_no_longer_so_is_not_mailed(runtime: Installation) -> None:
    assert await warn(runtime, "delivery.unapproved", "draft", later="scheduled") == []


async def test_a_hold_of_all_sending_is_mailed(runtime: Installation) -> None:
    def hold_all(tx: Tx, now: datetime) -> None:
        beat(tx, now)
        hold(tx, now, kind=RESTORE, message="the database was restored from a backup")

    await runtime.operations.run(hold_all)
    await runtime.dispatch(2)
    (mail,) = runtime.office.to("ada@example.com")
    assert str(mail["Subject"]) == "[Ada & friends] Sending is on hold"
    assert "restored from a backup" in part(mail, "plain")
    assert "cadenza db confirm" in part(mail, "plain")


async def test_a_connection_that_ends_is_mailed_before_it_does(runtime: Installation) -> None:
    ends = datetime(2026, 12, 1, 9, tzinfo=UTC)
    row = an_account(
        workspace_id=HOME, provider="linkedin", zone="Europe/Berlin", token_expires_at=ends
    )
    tokens = Tokens(access=Secret("a"))
    said = Disconnected("the network gave no refresh token", code=NOTHING_TO_RENEW)

    await runtime.operations.run(lambda tx, _: give_up(tx, NOW, Begun(row, 0, tokens, NOW), said))
    await runtime.dispatch(2)

    (mail,) = runtime.office.to("ada@example.com")
    by = "Tuesday 1 December 2026, 10:00 Europe/Berlin"
    subject = f"[Ada & friends] Reconnect @ada (linkedin) by {by}"
    assert str(mail["Subject"]) == subject
    assert "https://cadenza.example/accounts/ada/reconnect" in part(mail, "plain")
