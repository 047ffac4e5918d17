"""How much one person can add in a day: invitations, webhooks, API keys, workspaces.

Each of them costs others something: a mail to a stranger, a call for every event, a row that every request
may look at. The counts lie in the store, so all processes keep to them together. They are counted in the
transaction that adds: what is refused or only tried (`dry_run`) takes nothing.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from cadenza.people.login_throttle import AttemptLimit, count_attempt
from cadenza.people.model import TooOften, fold_email
from cadenza.people.tokens import hash_token
from cadenza.sql.tx import Tx

DAY = timedelta(days=1)
TO_ONE_ADDRESS = 5  # invitations a day, from everybody here together


class Addition(StrEnum):
    """What is bounded, as a person calls it."""

    INVITATION = "invitations"
    WEBHOOK = "webhooks"
    KEY = "API keys"
    WORKSPACE = "workspaces"


PER_DAY: dict[Addition, int] = {
    Addition.INVITATION: 50,
    Addition.WEBHOOK: 50,
    Addition.KEY: 50,
    Addition.WORKSPACE: 20,
}


@dataclass(frozen=True, slots=True)
class OverLimit:
    """It was one too many; `message` tells which limit it is."""

    message: str
    refused: TooOften


def count_addition(
    tx: Tx, now: datetime, *, person_id: str, what: Addition, email: str | None = None
) -> OverLimit | None:
    """Count one more; for an invitation also by the address that it goes to."""
    own = AttemptLimit(f"add:{what.name.lower()}:{person_id}", PER_DAY[what], DAY)
    refused = count_attempt(tx, now, (own,))
    if refused is not None:
        return OverLimit(f"You can add {own.most} {what} a day.", refused)
    if email is None:
        return None
    place = AttemptLimit(f"invite:{hash_token(fold_email(email))[:32]}", TO_ONE_ADDRESS, DAY)
    refused = count_attempt(tx, now, (place,))
    if refused is not None:
        return OverLimit(f"One address gets {place.most} invitations a day.", refused)
    return None
