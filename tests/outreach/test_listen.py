"""What comes in stops a sequence or lets it go on; automatic answers do neither."""

from datetime import UTC, datetime

import pytest

from cadenza.inbox.listeners import InboundKind, InboundRecorded
from cadenza.outreach.listen import on_inbound
from cadenza.outreach.model import ContactState
from tests.outreach.conftest import HOME, Office


def recorded(kind: InboundKind, contact_id: str | None) -> InboundRecorded:
    return InboundRecorded(
        workspace_id=HOME,
        inbound_id="one",
        kind=kind,
        account_id="mailbox",
        contact_id=contact_id,
        address=None,
        channel="email",
        delivery_id=None,
        at=datetime(2026, 11, 18, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        (InboundKind.REPLY, ContactState.STOPPED),
        (InboundKind.HARD_BOUNCE, ContactState.STOPPED),
        (InboundKind.UNSUBSCRIBE, ContactState.STOPPED),
        (InboundKind.COMPLAINT, ContactState.STOPPED),
        (InboundKind.OUT_OF_OFFICE, ContactState.PLANNED),
        (InboundKind.SOFT_BOUNCE, ContactState.PLANNED),
        (InboundKind.OPEN, ContactState.PLANNED),
    ],
)
async def test_only_a_person_s_word_or_a_dead_address_stops(
    office: Office, kind: InboundKind, state: ContactState
) -> None:
    await office.account("mailbox", always=True)
    made = await office.sequence("mailbox")
    (ada,) = await office.people(1)
    await office.enroll(made, [ada])
    await office.start(made)
    await office.work(made)
    await office.run(lambda tx, now: on_inbound(tx, now, recorded(kind, ada)))
    await office.run(lambda tx, now: on_inbound(tx, now, recorded(kind, None)))
    assert (await office.person(made, ada)).state is state
