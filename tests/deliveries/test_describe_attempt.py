"""What came of a call is a sentence, and a button only where somebody is still needed."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cadenza.deliveries.describe_attempt import AttemptDescription, Fix, describe_attempt
from cadenza.providers import outcome as outcomes

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def tell(
    outcome: str | None, state: str, *, newest: bool = True, account: str = "connected"
) -> AttemptDescription:
    attempt = {"outcome": outcome, "deadline_at": NOW - timedelta(seconds=1)}
    return describe_attempt(NOW, attempt, {"state": state}, newest=newest, account_state=account)


@pytest.mark.parametrize(
    ("outcome", "state", "fix"),
    [
        ("Sent", "sent", None),
        ("Rejected", "failed", Fix.EDIT),
        ("Forbidden", "failed", Fix.RECONNECT),
        ("Transient", "failed", Fix.RETRY),
        ("Transient", "scheduled", None),
        ("RecipientGone", "failed", None),
        ("TryLater", "scheduled", None),
        ("Unconfirmed", "unconfirmed", Fix.DECIDE),
        (None, "unconfirmed", Fix.DECIDE),
        ("Unconfirmed", "sent", None),
    ],
)
def test_what_may_be_done_follows_from_the_outcome_and_the_state(
    outcome: str | None, state: str, fix: Fix | None
) -> None:
    assert tell(outcome, state).fix == fix
    assert tell(outcome, state, newest=False).fix is None


def test_a_lost_account_is_connected_again_and_a_mended_one_is_not() -> None:
    assert tell("Disconnected", "scheduled", account="needs_reconnect").fix is Fix.RECONNECT
    assert tell("Disconnected", "scheduled", account="connected").fix is None


def test_every_outcome_has_its_own_sentence() -> None:
    kinds: tuple[Any, ...] = outcomes.Outcome.__args__
    told = [tell(kind.__name__, "scheduled").sentence for kind in kinds]
    assert len(set(told)) == len(kinds)
    assert all(each.endswith(".") and " " in each for each in told)


def test_a_call_under_way_is_told_as_such() -> None:
    attempt = {"outcome": None, "deadline_at": NOW + timedelta(seconds=1)}
    told = describe_attempt(
        NOW, attempt, {"state": "sending"}, newest=True, account_state="connected"
    )
    assert told == AttemptDescription("It is under way.")
