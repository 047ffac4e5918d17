"""From one outbox row to one notice for each person and program that is to hear of it.

Owners, admins and editors get mails as they chose: each at once, a digest at eight in the workspace's
morning, or none. Failures of one post wait two minutes for each other, so that one mail names all
channels. Outreach and broadcasts never mail one by one. What TEST mode (`test`) did is not told.
"""

from datetime import datetime, time, timedelta

from cadenza.core.zones import get_zone, local_day, resolve
from cadenza.notices.account_emails import TARGET, is_account_email
from cadenza.notices.model import DEFAULTS, DIGEST, TOPICS, Choice, Topic
from cadenza.sql.tx import Row, Tx

BATCH = 100
MORNING = time(8)
TOGETHER = timedelta(minutes=2)


def fan_out(tx: Tx, now: datetime, *, limit: int = BATCH) -> int:
    """Write the notices of up to `limit` outbox rows; return how many rows."""
    rows = tx.all(
        """
        SELECT outbox.*, workspace.zone AS home_zone, delivery.post_id, delivery.action, delivery.mode
        FROM outbox
        LEFT JOIN workspace ON workspace.id = outbox.workspace_id
        LEFT JOIN delivery
            ON delivery.workspace_id = outbox.workspace_id AND delivery.id = outbox.subject_id
        WHERE outbox.told_at IS NULL
        ORDER BY outbox.created_at LIMIT :limit
        """,
        limit=limit,
    )
    for row in rows:
        if is_account_email(row["kind"]):
            _add(tx, row, medium="email", target_id=TARGET, group=row["id"], due=now)
        elif row["mode"] != "test":
            _mails(tx, now, row)
            _webhooks(tx, now, row)
        tx.run(
            "UPDATE outbox SET told_at = :now WHERE workspace_id = :workspace_id AND id = :id",
            now=now,
            workspace_id=row["workspace_id"],
            id=row["id"],
        )
    return len(rows)


def next_morning(now: datetime, zone_name: str) -> datetime:
    """Return the next eight o'clock in a zone."""
    zone = get_zone(zone_name)
    today = local_day(now, zone)
    candidates = (resolve(today + timedelta(days=n), MORNING, zone).instants for n in range(3))
    return next(instants[0] for instants in candidates if instants and instants[0] > now)


def _mails(tx: Tx, now: datetime, row: Row) -> None:
    topic = TOPICS.get(row["kind"])
    one_of_many = row["action"] not in (None, "post")
    if topic is None or (one_of_many and topic is Topic.PUBLISHED):
        return
    people = tx.all(
        """
        SELECT member.id, notice_choice.choice FROM member LEFT JOIN notice_choice
            ON notice_choice.workspace_id = member.workspace_id AND notice_choice.member_id = member.id
            AND notice_choice.kind = :topic
        WHERE member.workspace_id = :workspace_id AND role IN ('owner', 'admin', 'editor')
        """,
        topic=topic.value,
        workspace_id=row["workspace_id"],
    )
    for person in people:
        choice = Choice(person["choice"]) if person["choice"] else DEFAULTS[topic]
        if choice is Choice.OFF:
            continue
        if choice is Choice.DIGEST or one_of_many:
            group, due = DIGEST, next_morning(now, row["home_zone"])
        elif topic is Topic.FAILED:
            group, due = f"failed:{row['post_id'] or row['subject_id']}", now + TOGETHER
        else:
            group, due = row["id"], now
        _add(tx, row, medium="email", target_id=person["id"], group=group, due=due)


def _webhooks(tx: Tx, now: datetime, row: Row) -> None:
    hooks = tx.all(
        "SELECT id, kinds FROM webhook WHERE workspace_id = :workspace_id AND active",
        workspace_id=row["workspace_id"],
    )
    for hook in hooks:
        if hook["kinds"] == "*" or row["kind"] in hook["kinds"].split():
            _add(tx, row, medium="webhook", target_id=hook["id"], group=row["id"], due=now)


def _add(tx: Tx, row: Row, *, medium: str, target_id: str, group: str, due: datetime) -> None:
    tx.run(
        """
        INSERT INTO notice (
            workspace_id, outbox_id, medium, target_id, group_key, due_at, subject_id, happened_at
        ) VALUES (
            :workspace_id, :outbox_id, :medium, :target_id, :group_key, :due, :subject_id, :happened_at
        )
        ON CONFLICT (workspace_id, outbox_id, medium, target_id) DO NOTHING
        """,
        workspace_id=row["workspace_id"],
        outbox_id=row["id"],
        medium=medium,
        target_id=target_id,
        group_key=group,
        due=due,
        subject_id=row["subject_id"],
        happened_at=row["created_at"],
    )
