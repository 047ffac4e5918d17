"""Why a delivery waits, was moved, or ended: a code with parameters, and the one table of their sentences.

Logic, filters and counts go by code. The sentence is made here, from the code's text and its parameters, and stored
beside them for people. A code is never renamed: stored rows and other programs know it. What a person wrote or a network
answered is a parameter (`message`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import msgspec


class Code(StrEnum):
    """Each reason: its code, and the sentence that people read."""

    text: str

    def __new__(cls, code: str, text: str) -> Self:
        """Make a member that is its code and knows its sentence."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.text = text
        return member

    # gates that end a delivery
    NOT_WAITING = "not_waiting", "it is {state}"
    NOT_APPROVED = "not_approved", "nobody approved it"
    LAST_TIME_PASSED = "last_time_passed", "its last allowed time has passed"
    TOO_LATE = "too_late", "it is more than {late} late"
    SUPPRESSED = "suppressed", "the recipient is suppressed: {message}"
    RECIPIENT_INACTIVE = "recipient_inactive", "the recipient cannot be reached: {message}"
    DOES_NOT_FIT = "does_not_fit", "{message}"
    ACCOUNT_REMOVED = "account_removed", "the account was disconnected: {message}"
    # gates that let it wait
    INSTALLATION_HELD = "installation_held", "all sending is held: {message}"
    NO_HEARTBEAT = (
        "no_heartbeat",
        "no worker gave a sign of life for {silence}, or the database's clock jumped",
    )
    WORKSPACE_STOPPED = "workspace_stopped", "the workspace is stopped: {message}"
    ACCOUNT_PAUSED = "account_paused", "the account is paused: {message}"
    ACCOUNT_NOT_READY = "account_not_ready", "the account is {state}: {message}"
    PAUSED = "paused", "paused: {message}"
    CHANGED_MEANWHILE = "changed_meanwhile", "the lane was paused or cleared meanwhile"
    PARKED = "parked", "{message}"
    WANTS_CHOICE = (
        "wants_choice",
        "it came due while the account was disconnected: resume the queue to say what becomes of it",
    )
    NETWORK_WAIT = "network_wait", "{message}"
    RECIPIENT_CAP = (
        "recipient_cap",
        "the recipient had {count} of {cap} contacts in {days} days",
    )
    OUTSIDE_HOURS = "outside_hours", "outside the account's hours"
    QUIET_HOURS = "quiet_hours", "quiet hours of the recipient, {hours}"
    OUTSIDE_RECIPIENT_HOURS = (
        "outside_recipient_hours",
        "outside the recipient's hours in {zone}",
    )
    DAY_FULL = "day_full", "{message}"
    PROVIDER_RATE = (
        "provider_rate",
        "{provider}: all accounts together may do {amount} in {seconds} s",
    )
    LIMIT_REACHED = "limit_reached", "{limit}: {message}"
    TURN_AFTER_OTHERS = "turn_after_others", "its turn comes after other calls"
    # what a call came to
    SENT_NOTE = "sent_note", "{message}"
    ASSUMED_SENT = "assumed_sent", "{message}"
    NOT_READY = "not_ready", "{message}"
    RATE_LIMITED = "rate_limited", "{message}"
    TRANSIENT = "transient", "{message}"
    RETRIES_EXHAUSTED = "retries_exhausted", "{message}"
    REJECTED = "rejected", "{message}"
    RECIPIENT_GONE = "recipient_gone", "{message}"
    FORBIDDEN = "forbidden", "{message}"
    DISCONNECTED = "disconnected", "{message}"
    UNCONFIRMED = "unconfirmed", "{message}"
    # what was found out, and what became of silent workers
    WORKER_SILENT = (
        "worker_silent",
        "its worker fell silent while the call may have been under way",
    )
    WORKER_DIED = "worker_died", "its worker process died {crashes} times with it"
    NOT_THERE = "not_there", "it was not there after {attempts} attempts"
    SENT_AGAIN = "sent_again", "it was not there; it is sent again"
    REST_FOLLOWS = "rest_follows", "the rest of the thread follows"
    PART_THERE = (
        "part_there",
        "part {part} is there; look whether others are, as the database was restored since",
    )
    CANNOT_TELL = "cannot_tell", "{message}"
    MAYBE_SENT = (
        "maybe_sent",
        "it was due after the backup that this database was restored from: look whether it is out",
    )
    RECIPIENT_LOST = "recipient_lost", "the recipient cannot be reached any more"
    # what people and planners did
    CANCELED = "canceled", "{message}"
    POST_DELETED = "post_deleted", "its post was deleted"
    CLEARED = "cleared", "cleared from the queue"
    ERASED = "erased", "the recipient was erased"
    RULE_CHANGED = "rule_changed", "the rule was changed"
    CAMPAIGN_CANCELED = "campaign_canceled", "its campaign was canceled"
    NOT_APPROVED_IN_TIME = "not_approved_in_time", "not approved in time"
    APPROVAL_TAKEN_BACK = "approval_taken_back", "{message}"
    CONTENT_CHANGED = "content_changed", "its content was changed after the approval"
    SENT_LATE = "sent_late", "sent late: it came due while nothing was sent"
    SENT_LATE_BY_PERSON = "sent_late_by_person", "sent late, as a person asked"
    TAKEN_BACK_LATE = "taken_back_late", "taken back: it came due while nothing was sent"
    TAKEN_BACK_MISSED = "taken_back_missed", "taken back after it was missed"
    MOVED = "moved", "{message}"
    NO_SLOT_FREE = (
        "no_slot_free",
        "the day has its posts, and no slot is free: it waits for the next day",
    )
    OVER_LIMITS = "over_limits", "moved: it no longer kept the limits"
    REPLANNED = "replanned", "re-planned after the pause"
    REPLY = "reply", "the recipient answered"
    BOUNCE = "bounce", "an earlier message bounced"
    ACCEPTED = "accepted", "the connection was accepted"
    UNSUBSCRIBE = "unsubscribe", "the recipient unsubscribed"
    COMPLAINT = "complaint", "the recipient complained"
    STOPPED_BY_HAND = "stopped_by_hand", "the sequence was stopped for this contact"
    NOT_SENT = "not_sent", "an earlier message was not sent"
    SEQUENCE_HELD = "sequence_held", "the sequence is {state} for this contact"
    SEQUENCE_ENDED = "sequence_ended", "the sequence was ended"
    OTHER = "other", "{message}"


@dataclass(frozen=True, slots=True)
class Reason:
    """A code with its parameters."""

    code: Code
    params: Mapping[str, str | int]

    @classmethod
    def of(cls, code: Code, **params: str | int) -> Self:
        """Name a reason."""
        return cls(code, params)

    @property
    def text(self) -> str:
        """Say it to people."""
        return self.code.text.format_map(self.params)

    @property
    def stored(self) -> tuple[str, str, str | None]:
        """Return how a row keeps it: its sentence, its code and its parameters as JSON."""
        params = msgspec.json.encode(self.params).decode() if self.params else None
        return self.text, self.code.value, params
