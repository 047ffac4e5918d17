"""What came of a call, in a sentence for people, and what they may do about it. Pure.

Only the newest call of a delivery that still wants somebody has something to be done: what was mended
since, or mends itself, needs no button.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from cadenza.core.rollup import DeliveryState as State
from cadenza.sql.tx import Row


class Fix(StrEnum):
    """The act that mends it."""

    EDIT = "edit"  # change what it says
    RETRY = "retry"
    RECONNECT = "reconnect"  # sign in again, or give the right that is missing
    DECIDE = "decide"  # look whether it is there, and say so


@dataclass(frozen=True, slots=True)
class AttemptDescription:
    """What to say of one call."""

    sentence: str
    fix: Fix | None = None


OUTCOMES = {
    "Sent": "The network took it.",
    "NotReady": "The network was not ready with it; it was asked again.",
    "TryLater": "The network asked for a pause; it goes when that is over.",
    "Transient": "It did not work, and nothing was published.",
    "Rejected": "The network refused what it says.",
    "RecipientGone": "Whom it is for cannot be reached any more.",
    "Forbidden": "The account lacks a right that this needs.",
    "Disconnected": "The network no longer accepts the account's sign-in.",
    "Unconfirmed": "It may have arrived, but no answer came.",
}
_FAILED = {"Rejected": Fix.EDIT, "Forbidden": Fix.RECONNECT, "Transient": Fix.RETRY}


def describe_attempt(
    now: datetime, attempt: Row, delivery: Row, *, newest: bool, account_state: str
) -> AttemptDescription:
    """Say what came of a call, and what a person may do if it is the last word so far."""
    outcome: str | None = attempt["outcome"]
    if outcome is None and attempt["deadline_at"] > now:
        return AttemptDescription("It is under way.")
    message = OUTCOMES["Unconfirmed"] if outcome is None else OUTCOMES.get(outcome, outcome)
    if outcome == "Transient":
        message += " " + _what_follows(delivery, newest=newest)
    if not newest:
        return AttemptDescription(message.strip())
    return AttemptDescription(message.strip(), _fix(outcome, delivery["state"], account_state))


def _what_follows(delivery: Row, *, newest: bool) -> str:
    if not newest or delivery["state"] == State.SENT:
        return "It was tried again."
    if delivery["state"] == State.FAILED:
        return "All tries are used up."
    return "It is tried again." if delivery["state"] == State.SCHEDULED else ""


def _fix(outcome: str | None, state: str, account_state: str) -> Fix | None:
    if state == State.UNCONFIRMED:
        return Fix.DECIDE
    lost = account_state not in {"connected", "expiring"}
    if outcome == "Disconnected":
        return Fix.RECONNECT if lost else None
    return _FAILED.get(outcome or "") if state == State.FAILED else None
