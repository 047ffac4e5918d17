"""What a person wants to hear of, and which programs are told.

A webhook's secret and address come in sealed: the caller seals them for the rows `webhook:<workspace>:<id>`
and `webhook-url:<workspace>:<id>`, and hands the dispatcher the way to open them. Of the address only what may
be shown is kept as it is.
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
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    id: str,
    shown_url: str,
    sealed_url: str,
    sealed: str,
    kinds: str = "*",
) -> None:
    """Tell a program from now on; `kinds` are those of outbox rows, parted by spaces."""
    tx.run(
        """
        INSERT INTO webhook (workspace_id, id, url, sealed_url, sealed, kinds, created_at)
        VALUES (:workspace_id, :id, :url, :sealed_url, :sealed, :kinds, :now)
        """,
        workspace_id=workspace_id,
        id=id,
        url=shown_url,
        sealed_url=sealed_url,
        sealed=sealed,
        kinds=kinds,
        now=now,
    )


def webhook_row(workspace_id: str, id_: str) -> str:
    """Name the row that a webhook's secret is sealed for."""
    return f"webhook:{workspace_id}:{id_}"


def webhook_url_row(workspace_id: str, id_: str) -> str:
    """Name the row that a webhook's address is sealed for."""
    return f"webhook-url:{workspace_id}:{id_}"
