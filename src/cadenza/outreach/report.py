"""Reports a sequence: people by state, and messages by step, variant and account."""

from dataclasses import dataclass
from typing import Any

from cadenza.outreach.model import ContactState
from cadenza.sql.tx import Tx


@dataclass(slots=True, kw_only=True)
class ReportLine:
    """What became of one step's messages, of one variant, by one account."""

    step: int
    template_version_id: str | None
    account_id: str
    waiting: int = 0
    sent: int = 0
    unconfirmed: int = 0
    not_sent: int = 0
    replied: int = 0
    bounced: int = 0
    accepted: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceReport:
    """How a sequence stands."""

    people: dict[str, int]  # by state
    stopped: dict[str, int]  # by cause
    lines: tuple[ReportLine, ...]


_COLUMN = {
    "draft": "waiting",
    "scheduled": "waiting",
    "sending": "waiting",
    "sent": "sent",
    "unconfirmed": "unconfirmed",
    "failed": "not_sent",
    "missed": "not_sent",
    "skipped": "not_sent",
}


def report(tx: Tx, *, workspace_id: str, sequence_id: str) -> SequenceReport:
    """Count a sequence's people and messages; canceled messages are left out."""
    key = {"workspace_id": workspace_id, "sequence_id": sequence_id}
    people: dict[str, int] = {state.value: 0 for state in ContactState}
    stopped: dict[str, int] = {}
    for row in tx.all(
        """
        SELECT state, cause, count(*) AS people FROM sequence_contact
        WHERE workspace_id = :workspace_id AND sequence_id = :sequence_id GROUP BY state, cause
        """,
        **key,
    ):
        people[row["state"]] += row["people"]
        if row["state"] == ContactState.STOPPED:
            stopped[row["cause"]] = row["people"]
    lines: dict[tuple[Any, ...], ReportLine] = {}
    for row in tx.all(
        """
        SELECT step, template_version_id, account_id, state, count(*) AS messages FROM delivery
        WHERE workspace_id = :workspace_id AND sequence_id = :sequence_id AND state <> 'canceled'
        GROUP BY step, template_version_id, account_id, state
        """,
        **key,
    ):
        line = _line(lines, row)
        name = _COLUMN[row["state"]]
        setattr(line, name, getattr(line, name) + row["messages"])
    for row in tx.all(
        """
        SELECT step, template_version_id, delivery.account_id,
            sum(CASE WHEN replied_at IS NULL THEN 0 ELSE 1 END) AS replied,
            sum(CASE WHEN bounced_at IS NULL THEN 0 ELSE 1 END) AS bounced,
            sum(CASE WHEN accepted_at IS NULL THEN 0 ELSE 1 END) AS accepted
        FROM sequence_contact there JOIN delivery ON delivery.workspace_id = there.workspace_id
            AND delivery.sequence_id = there.sequence_id AND delivery.contact_id = there.contact_id
            AND delivery.step = there.event_step
        WHERE there.workspace_id = :workspace_id AND there.sequence_id = :sequence_id
            AND there.event_step IS NOT NULL
        GROUP BY step, template_version_id, delivery.account_id
        """,
        **key,
    ):
        line = _line(lines, row)
        line.replied, line.bounced = row["replied"], row["bounced"]
        line.accepted = row["accepted"]
    ordered = sorted(lines.items(), key=lambda item: tuple(str(part) for part in item[0]))
    return SequenceReport(people=people, stopped=stopped, lines=tuple(line for _, line in ordered))


def _line(lines: dict[tuple[Any, ...], ReportLine], row: dict[str, Any]) -> ReportLine:
    key = (row["step"], row["template_version_id"], row["account_id"])
    if key not in lines:
        lines[key] = ReportLine(step=key[0], template_version_id=key[1], account_id=key[2])
    return lines[key]
