"""What a person wants to hear of, and which programs are told.

A webhook's secret comes in sealed: the caller seals it for the row `webhook:<workspace>:<id>`, and
hands the dispatcher the way to open it.
"""

from datetime import datetime

from cadenza.notices.model import Choice, Topic
from cadenza.sql.tx import Tx


def choose(
    tx: Tx, now: datetime, *, workspace_id: str, member_id: str, topic: Topic, choice: Choice
) -> None:
    """Keep a person's choice; what already waits for them is still told."""
    tx.run(
        """
        INSERT INTO notice_choice (workspace_id, member_id, kind, choice)
        VALUES (:workspace_id, :member_id, :kind, :choice)
        ON CONFLICT (workspace_id, member_id, kind) DO UPDATE SET choice = excluded.choice
        """,
        workspace_id=workspace_id,
        member_id=member_id,
        kind=topic.value,
        choice=choice.value,
    )


def add_webhook(
    tx: Tx, now: datetime, *, workspace_id: str, id: str, url: str, sealed: str, kinds: str = "*"
) -> None:
    """Tell a program from now on; `kinds` are those of outbox rows, parted by spaces."""
    tx.run(
        """
        INSERT INTO webhook (workspace_id, id, url, sealed, kinds, created_at)
        VALUES (:workspace_id, :id, :url, :sealed, :kinds, :now)
        """,
        workspace_id=workspace_id,
        id=id,
        url=url,
        sealed=sealed,
        kinds=kinds,
        now=now,
    )


def webhook_row(workspace_id: str, id_: str) -> str:
    """Name the row that a webhook's secret is sealed for."""
    return f"webhook:{workspace_id}:{id_}"
