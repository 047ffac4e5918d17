"""What a campaign is and which moves it may make."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from cadenza.core.channels import Channel
from cadenza.engine.enqueue_in import enqueue_in
from cadenza.sql.tx import Tx
from cadenza.sql.values import Key, columns, read_value, read_values

JOB, QUEUE = "run_campaign", "product"


class CampaignState(StrEnum):
    """Where a campaign stands."""

    DRAFT = "draft"
    SCHEDULED = "scheduled"  # it starts at its time
    QUEUED = "queued"  # started; its first recipients are being planned
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"


_S = CampaignState
MOVES: Mapping[str, tuple[frozenset[CampaignState], CampaignState]] = {
    "schedule": (frozenset({_S.DRAFT}), _S.SCHEDULED),
    "start": (frozenset({_S.DRAFT, _S.SCHEDULED}), _S.QUEUED),
    "unschedule": (frozenset({_S.SCHEDULED}), _S.DRAFT),
    "run": (frozenset({_S.QUEUED}), _S.RUNNING),
    "refuse": (frozenset({_S.QUEUED}), _S.DRAFT),  # the check of its recipients found something
    "pause": (frozenset({_S.QUEUED, _S.RUNNING}), _S.PAUSED),
    "resume": (frozenset({_S.PAUSED}), _S.RUNNING),
    "begin": (frozenset({_S.PAUSED}), _S.QUEUED),  # nobody was planned before the pause
    "miss": (frozenset({_S.SCHEDULED}), _S.PAUSED),  # nothing ran when it was to start
    "complete": (frozenset({_S.RUNNING}), _S.COMPLETED),
    "fail": (frozenset({_S.QUEUED, _S.RUNNING}), _S.FAILED),
    "cancel": (
        frozenset({_S.DRAFT, _S.SCHEDULED, _S.QUEUED, _S.RUNNING, _S.PAUSED}),
        _S.CANCELED,
    ),
    "reopen": (frozenset({_S.COMPLETED, _S.FAILED}), _S.RUNNING),  # what failed again, who is new
}
ENDED = frozenset({_S.COMPLETED, _S.FAILED, _S.CANCELED})
# Document 004's words.
VOCABULARY = {
    _S.DRAFT: "QUEUED",
    _S.SCHEDULED: "QUEUED",
    _S.QUEUED: "RUNNING",
    _S.RUNNING: "RUNNING",
    _S.PAUSED: "PAUSED",
    _S.COMPLETED: "COMPLETED",
    _S.FAILED: "FAILED",
    _S.CANCELED: "CANCELLED",
}


# And of its jobs, which are our deliveries.
RECIPIENT_VOCABULARY = {
    "draft": "QUEUED",
    "scheduled": "QUEUED",
    "sending": "SENDING",
    "unconfirmed": "SENDING",
    "sent": "SENT",
    "failed": "FAILED",
    "missed": "FAILED",
    "skipped": "FAILED",
    "canceled": "FAILED",
}


class Campaign(Struct, frozen=True):
    """A row of `campaign`."""

    workspace_id: str
    id: str
    name: str
    description: str
    audience_id: str
    template_id: str
    template_version_id: str
    channel: Channel
    params: str
    mode: str
    delivery_rate: int | None
    retry_limit: int
    skip_incomplete: bool
    max_error_percent: int
    max_bounce_percent: int
    start_at: datetime | None
    not_after_at: datetime | None
    begins_at: datetime | None
    local_start: bool
    quiet_hours: str | None
    zone: str | None
    test_addresses: str
    test_faults: str
    split_percent: int
    split_state: str | None
    winner_by: str
    winner_after_minutes: int
    winner_at: datetime | None
    winner: int | None
    state: CampaignState
    reason: str | None
    reason_code: str | None
    auto_resume_at: datetime | None
    planned_to: str
    planned: bool
    turn: int
    total: int
    revision: int
    created_by: str
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    purged_at: datetime | None

    @property
    def key(self) -> Key:
        """Name it among all workspaces."""
        return self.workspace_id, self.id

    @property
    def scope(self) -> str:
        """Name its scope: its lanes are paused by it, and its rate is kept there."""
        return scope_of(self.id)

    @property
    def real_addresses(self) -> list[str]:
        """Who really gets it while it is a test."""
        return msgspec.json.decode(self.test_addresses)

    @property
    def faults(self) -> dict[str, int]:
        """How many of a hundred meet which fault while it is a test."""
        return msgspec.json.decode(self.test_faults)

    @property
    def values(self) -> dict[str, Any]:
        """What all recipients get."""
        return msgspec.json.decode(self.params)


COLUMNS = columns(Campaign, "campaign")


@dataclass(frozen=True, slots=True)
class NoSuchCampaign:
    """The workspace has no such campaign."""

    id: str


@dataclass(frozen=True, slots=True)
class NotNow:
    """It stands elsewhere: nothing was changed."""

    state: CampaignState
    message: str


@dataclass(frozen=True, slots=True)
class Unfit:
    """It cannot be saved or started like this: which field, a code, and what to do."""

    field: str
    code: str
    message: str


def scope_of(campaign_id: str) -> str:
    """Return the name of a campaign's scope."""
    return f"campaign:{campaign_id}"


def locks_of(workspace_id: str, campaign_id: str) -> list[str]:
    """Name what a change of a campaign holds: the campaign, and what permits of its lane hold."""
    return [
        f"campaign:{workspace_id}:{campaign_id}",
        f"lane:{workspace_id}:{scope_of(campaign_id)}",
    ]


def find_campaign(tx: Tx, workspace_id: str, campaign_id: str) -> Campaign | NoSuchCampaign:
    """Return one campaign."""
    row = tx.one(
        f"SELECT {COLUMNS} FROM campaign WHERE workspace_id = :workspace_id AND id = :id AND deleted_at IS NULL",  # noqa: S608 - constants
        workspace_id=workspace_id,
        id=campaign_id,
    )
    return NoSuchCampaign(campaign_id) if row is None else read_value(Campaign, row)


def list_campaigns(
    tx: Tx, *, workspace_id: str, before: tuple[datetime, str] | None = None, limit: int = 50
) -> list[Campaign]:
    """Return campaigns, the newest first."""
    onward = "AND (created_at, id) < (:at, :before)" if before else ""
    rows = tx.all(
        f"""
        SELECT {COLUMNS} FROM campaign WHERE workspace_id = :workspace_id AND deleted_at IS NULL {onward}
        ORDER BY created_at DESC, id DESC LIMIT :limit
        """,  # noqa: S608 - put together from constants
        workspace_id=workspace_id,
        limit=limit,
        **({"at": before[0], "before": before[1]} if before else {}),
    )
    return read_values(Campaign, rows)


def accounts_of(tx: Tx, campaign: Campaign) -> list[str]:
    """Return the ids of its accounts, in their turn."""
    rows = tx.all(
        """
        SELECT account_id FROM campaign_account
        WHERE workspace_id = :workspace_id AND campaign_id = :id ORDER BY position
        """,
        workspace_id=campaign.workspace_id,
        id=campaign.id,
    )
    return [row["account_id"] for row in rows]


def wake_job(tx: Tx, now: datetime, campaign: Campaign) -> None:
    """Let the campaign's job go on: it finds out for itself what is still to do."""
    payload = {"workspace_id": campaign.workspace_id, "campaign_id": campaign.id}
    enqueue_in(tx, now, JOB, payload, queue=QUEUE)


def move(
    tx: Tx,
    now: datetime,
    campaign: Campaign,
    verb: str,
    *,
    reason: str | None = None,
    code: str | None = None,
) -> Campaign | NotNow:
    """Make a move of the table, where it still stands as one of its states; the loser is told where it stands."""
    before, after = MOVES[verb]
    if campaign.state in before:
        won = tx.run(
            """
            UPDATE campaign SET state = :after, reason = :reason, reason_code = :code, updated_at = :now,
                auto_resume_at = NULL, revision = revision + 1,
                started_at = CASE WHEN :after = 'queued' THEN coalesce(started_at, :now) ELSE started_at END,
                ended_at = CASE WHEN :after IN ('completed', 'failed', 'canceled') THEN :now ELSE NULL END
            WHERE workspace_id = :workspace_id AND id = :id AND state = :was
            """,
            after=after.value,
            reason=reason,
            code=code,
            now=now,
            workspace_id=campaign.workspace_id,
            id=campaign.id,
            was=campaign.state.value,
        )
        if won:
            moved = find_campaign(tx, *campaign.key)
            assert isinstance(moved, Campaign), "it was written right now"
            return moved
    there = find_campaign(tx, *campaign.key)
    state = there.state if isinstance(there, Campaign) else campaign.state
    return NotNow(state, f"It is {state.value}: it cannot be {_PAST[verb]} now.")


_PAST = {
    "schedule": "scheduled",
    "start": "started",
    "unschedule": "taken back",
    "run": "run",
    "refuse": "refused",
    "pause": "paused",
    "resume": "resumed",
    "begin": "resumed",
    "miss": "paused",
    "complete": "completed",
    "fail": "ended",
    "cancel": "canceled",
    "reopen": "sent again",
}
