"""Pauses campaigns that go wrong, says why, and lets those go on that only had to wait.

Four things pause a campaign: too many failures among its last results, too many bounces, content that the network
refused three times for the same reason, and a network that makes all its accounts wait. Only the last one ends by
itself. A failure writes one row; a campaign without failures costs nothing. When a person resumes it, counting starts
over, and a refusal of the content that they have seen does not pause it again. Run under `locks_of`.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct

from cadenza.accounts.model import Account, read_accounts
from cadenza.campaigns.counters import read_counts
from cadenza.campaigns.model import (
    Campaign,
    CampaignState,
    accounts_of,
    find_campaign,
    move,
    wake_job,
)
from cadenza.core.channels import Channel
from cadenza.db.write_outbox import OutboxEvent, write_outbox
from cadenza.deliveries import lanes
from cadenza.deliveries.planners import Transition
from cadenza.deliveries.rate_limit_waits import read_account_waits
from cadenza.inbox.listeners import InboundKind, InboundRecorded
from cadenza.providers.outcome import RecipientGone, Rejected
from cadenza.sql.tx import Tx
from cadenza.sql.values import Key

WINDOW = 200  # results that the share of errors is taken of
LEAST = 20  # failures before it means anything
BOUNCES_AFTER = 50  # sends
SAME_REFUSALS = 3
MOST_REFUSALS = 50  # different ones that are counted
LONG = timedelta(minutes=5)  # a wait of all accounts that is worth a pause


class Trouble(Struct, frozen=True):
    """What went wrong with a campaign since the counting began."""

    failures: list[int]  # which of its results were failures, by their number
    bounces: int
    sent_before: int
    refusals: dict[str, int]


def look(
    tx: Tx, now: datetime, campaign: Campaign, counts: dict[str, int], moved: Sequence[Transition]
) -> bool:
    """Write what failed of a batch; pause the campaign if that is too much, and say whether it was."""
    failed = [each for each in moved if each.after == "failed"]
    if not failed:
        return False
    was = _read(tx, campaign.key)
    ended = counts["sent"] + counts["failed"]
    failures = [n for n in was.failures if n > ended - WINDOW]
    failures += range(ended - len(failed) + 1, ended + 1)
    bounced = sum(_is_bounce(campaign, each) for each in failed)
    refusals = dict(was.refusals)
    repeated: str | None = None
    for each in failed:
        if isinstance(each.outcome, Rejected):
            said = (each.outcome.code or each.outcome.message)[:200]
            if said in refusals or len(refusals) < MOST_REFUSALS:
                refusals[said] = refusals.get(said, 0) + 1
            if refusals.get(said) == SAME_REFUSALS:
                repeated = each.outcome.message or said
    now_there = Trouble(failures[-WINDOW:], was.bounces + bounced, was.sent_before, refusals)
    _write(tx, campaign.key, now_there)
    if repeated is not None:
        reason = f"the network refused the content {SAME_REFUSALS} times: {repeated}"
        return pause_itself(tx, now, campaign, "content_refused", reason)
    seen = min(WINDOW, ended)
    most = max(LEAST, seen * campaign.max_error_percent / 100)
    if len(now_there.failures) >= most:
        reason = f"{len(now_there.failures)} of the last {seen} failed"
        return pause_itself(tx, now, campaign, "error_rate", reason)
    return bounced > 0 and _pause_for_bounces(tx, now, campaign, now_there, counts)


def on_inbound(tx: Tx, now: datetime, recorded: InboundRecorded) -> None:
    """Count a mail that came back after it was sent."""
    if recorded.kind is not InboundKind.HARD_BOUNCE or recorded.delivery_id is None:
        return
    campaign_id = tx.value(
        "SELECT campaign_id FROM delivery WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=recorded.workspace_id,
        id=recorded.delivery_id,
    )
    campaign = find_campaign(tx, recorded.workspace_id, campaign_id or "")
    if not isinstance(campaign, Campaign):
        return
    was = _read(tx, campaign.key)
    now_there = Trouble(was.failures, was.bounces + 1, was.sent_before, was.refusals)
    _write(tx, campaign.key, now_there)
    if campaign.state is CampaignState.RUNNING:
        counts = read_counts(tx, [campaign.key])[campaign.key]
        _pause_for_bounces(tx, now, campaign, now_there, counts)


def pause_waiting(tx: Tx, now: datetime, campaign: Campaign) -> bool:
    """Pause it if a network makes every one of its accounts wait long, until the first may go on."""
    if campaign.state is not CampaignState.RUNNING:
        return False
    until = _waits_until(tx, now, campaign)
    if until is None or until <= now + LONG:
        return False
    reason = "the network asked all its accounts to wait"
    return pause_itself(tx, now, campaign, "flood_wait", reason, resume_at=until)


def watch(tx: Tx, now: datetime, *, workspace_id: str, campaign_id: str) -> bool:
    """Pause it if none of its accounts can send, or if all have to wait; say whether it was."""
    campaign = find_campaign(tx, workspace_id, campaign_id)
    if not isinstance(campaign, Campaign) or campaign.state is not CampaignState.RUNNING:
        return False
    if not _sending(tx, campaign):
        reason = "none of its accounts is connected: connect one, then resume it"
        return pause_itself(tx, now, campaign, "no_account", reason)
    return pause_waiting(tx, now, campaign)


def resume_waiting(tx: Tx, now: datetime, *, limit: int = 100) -> list[Campaign]:
    """Let campaigns go on whose wait is over; those that still wait keep waiting."""
    rows = tx.all(
        """
        SELECT workspace_id, id FROM campaign
        WHERE auto_resume_at <= :now AND state = 'paused' AND deleted_at IS NULL LIMIT :limit
        """,
        now=now,
        limit=limit,
    )
    resumed: list[Campaign] = []
    for row in rows:
        there = find_campaign(tx, row["workspace_id"], row["id"])
        if not isinstance(there, Campaign):
            continue
        until = _waits_until(tx, now, there)
        if until is not None and until > now + LONG:
            _wait_on(tx, there, until)
            continue
        moved = move(tx, now, there, "resume")
        if isinstance(moved, Campaign):
            lanes.resume(tx, workspace_id=there.workspace_id, scope=there.scope)
            wake_job(tx, now, there)
            resumed.append(moved)
    return resumed


def pause_itself(
    tx: Tx,
    now: datetime,
    campaign: Campaign,
    code: str,
    reason: str,
    *,
    resume_at: datetime | None = None,
) -> bool:
    """Pause a campaign for a reason of its own, and tell people."""
    moved = move(tx, now, campaign, "pause", reason=reason, code=code)
    if not isinstance(moved, Campaign):
        return False
    if resume_at is not None:
        _wait_on(tx, moved, resume_at)
    lanes.pause(
        tx,
        workspace_id=campaign.workspace_id,
        scope=campaign.scope,
        reason=reason,
        until=resume_at,
    )
    event = OutboxEvent(
        workspace_id=campaign.workspace_id,
        id=f"campaign:{campaign.id}:paused:{moved.revision}",
        kind="campaign.paused",
        subject_id=campaign.id,
        body={
            "name": campaign.name,
            "reason": reason,
            "code": code,
            "resumes_at": resume_at,
        },
    )
    write_outbox(tx, now, [event])
    return True


def begin_counting(tx: Tx, campaign: Campaign, counts: dict[str, int]) -> None:
    """Count from here on: a person has seen what went wrong before."""
    was = _read(tx, campaign.key)
    if was.failures or was.bounces:
        _write(tx, campaign.key, Trouble([], 0, counts["sent"], was.refusals))


def _is_bounce(campaign: Campaign, each: Transition) -> bool:
    return campaign.channel is Channel.EMAIL and isinstance(each.outcome, RecipientGone)


def _pause_for_bounces(
    tx: Tx, now: datetime, campaign: Campaign, trouble: Trouble, counts: dict[str, int]
) -> bool:
    tried = counts["sent"] - trouble.sent_before + trouble.bounces
    if tried < BOUNCES_AFTER or trouble.bounces * 100 < campaign.max_bounce_percent * tried:
        return False
    reason = f"{trouble.bounces} of {tried} mails came back"
    return pause_itself(tx, now, campaign, "bounce_rate", reason)


def _waits_until(tx: Tx, now: datetime, campaign: Campaign) -> datetime | None:
    """Return when the first of its accounts may go on, if all of them wait."""
    sending = _sending(tx, campaign)
    waits = read_account_waits(tx, now, sending, mode=campaign.mode)
    if not sending or len(waits) < len(sending):
        return None
    return min(waits.values())


def _sending(tx: Tx, campaign: Campaign) -> list[Account]:
    ids = accounts_of(tx, campaign)
    found = read_accounts(tx, [(campaign.workspace_id, id_) for id_ in ids])
    return [each for each in found.values() if each.can_send]


def _wait_on(tx: Tx, campaign: Campaign, until: datetime) -> None:
    tx.run(
        "UPDATE campaign SET auto_resume_at = :until WHERE workspace_id = :workspace_id AND id = :id",
        until=until,
        workspace_id=campaign.workspace_id,
        id=campaign.id,
    )


def _read(tx: Tx, key: Key) -> Trouble:
    hold = "FOR UPDATE" if tx.dialect == "postgresql" else ""
    row = tx.one(
        f"""
        SELECT failures, bounces, sent_before, refusals FROM campaign_trouble
        WHERE workspace_id = :workspace_id AND campaign_id = :id {hold}
        """,  # noqa: S608 - a constant
        workspace_id=key[0],
        id=key[1],
    )
    if row is None:
        return Trouble([], 0, 0, {})
    return Trouble(
        msgspec.json.decode(row["failures"], type=list[int]),
        row["bounces"],
        row["sent_before"],
        msgspec.json.decode(row["refusals"], type=dict[str, int]),
    )


def _write(tx: Tx, key: Key, trouble: Trouble) -> None:
    tx.run(
        """
        INSERT INTO campaign_trouble (workspace_id, campaign_id, failures, bounces, sent_before, refusals)
        VALUES (:workspace_id, :id, :failures, :bounces, :sent_before, :refusals)
        ON CONFLICT (workspace_id, campaign_id) DO UPDATE SET failures = excluded.failures,
            bounces = excluded.bounces, sent_before = excluded.sent_before, refusals = excluded.refusals
        """,
        workspace_id=key[0],
        id=key[1],
        failures=msgspec.json.encode(trouble.failures).decode(),
        bounces=trouble.bounces,
        sent_before=trouble.sent_before,
        refusals=msgspec.json.encode(trouble.refusals).decode(),
    )
