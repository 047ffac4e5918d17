"""What may not go out is mailed before its time, in words that say so."""

from datetime import datetime

from cadenza.deliveries.installation import RESTORE, beat, hold
from cadenza.sql.tx import Tx
from tests.notices.conftest import HOME, House
from tests.notices.test_mail import part

WARN = """
    INSERT INTO outbox (workspace_id, id, kind, subject_id, body, created_at)
    SELECT :home, id || :kind, :kind, id, :body, created_at FROM delivery
"""


async def warn(house: House, kind: str, state: str, *, later: str | None = None) -> list[str]:
    """Write a warning about a delivery; return the subjects of the mails that Ada got."""
    await house.deliver(state, post="p1", text="hello")
    body = '{"state":"at risk","reason":"the text is too long"}'
    await house.run(WARN, home=HOME, kind=kind, body=body)
    await house.run("UPDATE delivery SET attempts = 0, state = :state", state=later or state)
    await house.dispatch()
    await house.make_due()
    await house.dispatch(2)
    mails = house.office.to("ada@example.com")
    assert all("the text is too long" in part(mail, "plain") for mail in mails)
    return [str(mail["Subject"]) for mail in mails]


async def test_a_delivery_at_risk_is_mailed(house: House) -> None:
    subjects = await warn(house, "delivery.at_risk", "scheduled")
    assert subjects == ["[Ada & friends] “hello” may not go out on mastodon"]


async def test_a_post_that_waits_for_its_approval_is_mailed(house: House) -> None:
    subjects = await warn(house, "delivery.unapproved", "draft")
    assert subjects == ["[Ada & friends] “hello” waits for an approval to go out on mastodon"]


async def test_a_warning_that_is_no_longer_so_is_not_mailed(house: House) -> None:
    assert await warn(house, "delivery.unapproved", "draft", later="scheduled") == []


async def test_a_hold_of_all_sending_is_mailed(house: House) -> None:
    def hold_all(tx: Tx, now: datetime) -> None:
        beat(tx, now)
        hold(tx, now, kind=RESTORE, says="the database was restored from a backup")

    await house.operations.run(hold_all)
    await house.dispatch(2)
    (mail,) = house.office.to("ada@example.com")
    assert str(mail["Subject"]) == "[Ada & friends] All sending is held"
    assert "restored from a backup" in part(mail, "plain")
    assert "cadenza db confirm" in part(mail, "plain")
