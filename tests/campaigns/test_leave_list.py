"""Who leaves a list or unsubscribes while a campaign runs gets nothing more of it, on both databases."""

from datetime import datetime

import pytest

from cadenza.contacts.audiences import change_audience
from cadenza.contacts.preferences import leave_list
from cadenza.contacts.unsubscribe import Subscriber, unsubscribe
from cadenza.sql.tx import Tx
from tests.campaigns.conftest import Campaigns
from tests.deliveries.conftest import HOME


@pytest.mark.parametrize("everything", [True, False])
async def test_there_is_no_permit_after_the_commit(campaigns: Campaigns, everything: bool) -> None:
    id_ = await campaigns.draft()
    await campaigns.start(id_)
    await campaigns.plan(id_)
    (gone,) = await campaigns.pipeline.claim(1)
    assert gone.delivery.recipient is not None
    who = Subscriber(HOME, "email", gone.delivery.recipient.upper())

    def leave(tx: Tx, now: datetime) -> bool:
        if everything:
            return unsubscribe(tx, now, who)
        change_audience(
            tx, now, workspace_id=HOME, audience_id=campaigns.audience, by="a", public_name="News"
        )
        return leave_list(tx, now, who, campaigns.audience)

    assert await campaigns.run(leave) is True
    await campaigns.pipeline.permit(gone)
    row = await campaigns.pipeline.row("delivery", gone.delivery.id)
    assert row["state"] == "skipped"
    assert ("this list" in row["reason"]) is not everything
    assert await campaigns.pipeline.rows("attempt") == []
    assert await campaigns.send() == 59, "the others get theirs"


async def test_another_list_still_reaches_them(campaigns: Campaigns) -> None:
    id_ = await campaigns.draft()
    await campaigns.start(id_)
    await campaigns.plan(id_)

    def leave_other(tx: Tx, now: datetime) -> None:
        tx.run(
            """
            INSERT INTO audience_unsubscribe (workspace_id, channel, address, audience_id, created_at)
            SELECT :home, 'email', recipient, 'another-list', :now FROM delivery
            """,
            home=HOME,
            now=now,
        )

    await campaigns.run(leave_other)
    assert await campaigns.send() == 60
