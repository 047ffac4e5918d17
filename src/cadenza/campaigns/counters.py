"""The counters of campaigns: added to by whoever decides about recipients, summed when they are read."""

import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime

from cadenza.sql.tx import Tx
from cadenza.sql.values import Key

SHARDS = 8  # on PostgreSQL
RING, LATELY = 60, 10  # seconds
COUNTED = ("sent", "failed", "unconfirmed", "missed", "skipped", "canceled")


def add_counts(tx: Tx, changes: Mapping[Key, Mapping[str, int]], *, seed: str = "") -> None:
    """Add to the counters of campaigns, each in one shard."""
    shard = zlib.crc32(seed.encode()) % SHARDS if tx.dialect == "postgresql" else 0
    for (workspace_id, campaign_id), of in sorted(changes.items()):
        tx.run(
            """
            INSERT INTO campaign_count (
                workspace_id, campaign_id, shard, sent, failed, unconfirmed, missed, skipped, canceled
            ) SELECT workspace_id, id, :shard, :sent, :failed, :unconfirmed, :missed, :skipped, :canceled
            FROM campaign WHERE workspace_id = :workspace_id AND id = :campaign_id
            ON CONFLICT (workspace_id, campaign_id, shard) DO UPDATE SET
                sent = campaign_count.sent + excluded.sent,
                failed = campaign_count.failed + excluded.failed,
                unconfirmed = campaign_count.unconfirmed + excluded.unconfirmed,
                missed = campaign_count.missed + excluded.missed,
                skipped = campaign_count.skipped + excluded.skipped,
                canceled = campaign_count.canceled + excluded.canceled
            """,
            workspace_id=workspace_id,
            campaign_id=campaign_id,
            shard=shard,
            **{name: of.get(name, 0) for name in COUNTED},
        )


def add_seconds(tx: Tx, now: datetime, sent: Mapping[Key, int], *, seed: str = "") -> None:
    """Note how many of campaigns left in this second."""
    shard = zlib.crc32(seed.encode()) % SHARDS if tx.dialect == "postgresql" else 0
    second = int(now.timestamp())
    for (workspace_id, campaign_id), count in sorted(sent.items()):
        tx.run(
            """
            INSERT INTO campaign_second (workspace_id, campaign_id, shard, slot, second, sent)
            SELECT workspace_id, id, :shard, :slot, :second, :sent
            FROM campaign WHERE workspace_id = :workspace_id AND id = :campaign_id
            ON CONFLICT (workspace_id, campaign_id, shard, slot) DO UPDATE SET
                sent = excluded.sent
                    + CASE WHEN campaign_second.second = excluded.second THEN campaign_second.sent ELSE 0 END,
                second = excluded.second
            """,
            workspace_id=workspace_id,
            campaign_id=campaign_id,
            shard=shard,
            slot=second % RING,
            second=second,
            sent=count,
        )


def read_rates(tx: Tx, now: datetime, keys: Sequence[Key]) -> dict[Key, float]:
    """Return how many of campaigns left in a second, over the last ten whole ones."""
    second = int(now.timestamp())
    rows = tx.all(
        """
        SELECT s.workspace_id, s.campaign_id, sum(sent) AS sent
        FROM TABLE(:keys) AS asked (workspace_id text, id text)
        JOIN campaign_second s ON s.workspace_id = asked.workspace_id AND s.campaign_id = asked.id
        WHERE second >= :since AND second < :second GROUP BY s.workspace_id, s.campaign_id
        """,
        keys=sorted(set(keys)),
        since=second - LATELY,
        second=second,
    )
    return {(row["workspace_id"], row["campaign_id"]): int(row["sent"]) / LATELY for row in rows}


def read_counts(tx: Tx, keys: Sequence[Key]) -> dict[Key, dict[str, int]]:
    """Return the counters of campaigns, summed over their shards."""
    rows = tx.all(
        """
        SELECT c.workspace_id, c.campaign_id, sum(sent) AS sent, sum(failed) AS failed,
            sum(unconfirmed) AS unconfirmed, sum(missed) AS missed, sum(skipped) AS skipped,
            sum(canceled) AS canceled
        FROM TABLE(:keys) AS asked (workspace_id text, id text)
        JOIN campaign_count c ON c.workspace_id = asked.workspace_id AND c.campaign_id = asked.id
        GROUP BY c.workspace_id, c.campaign_id
        """,
        keys=sorted(set(keys)),
    )
    found = {
        (row["workspace_id"], row["campaign_id"]): {name: int(row[name]) for name in COUNTED}
        for row in rows
    }
    return {key: found.get(key, dict.fromkeys(COUNTED, 0)) for key in keys}
