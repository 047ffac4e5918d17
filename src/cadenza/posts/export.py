"""Exports a whole workspace: every table of its own as JSON Lines, the readable ones as CSV, posts once
more as a CSV that can be imported again.

Credentials, tokens and addresses that are secrets stay behind (`db/exported.py`). The ZIP is streamed.
Limit: a post with different words for each channel is whole in `post.jsonl`; `posts.csv` has its base text.
"""

from collections.abc import AsyncIterator, Callable
from operator import itemgetter
from typing import Any

from cadenza.db.export import PAGE, File, as_csv, as_json_lines, csv_head, csv_line, stream_zip
from cadenza.db.exported import READABLE, TABLES
from cadenza.posts.model import content_of
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Row, Tx

# The names that `read_csv.py` reads, then what only people read.
COLUMNS = (
    *("key", "text", "accounts", "when", "title", "link", "hashtags", "first_comment"),
    *("labels", "media", "states", "addresses", "rule_id", "target_month", "last_attempt_at"),
)


def export_workspace(
    operations: Operations, workspace_id: str, *, counted: Callable[[int], None] | None = None
) -> AsyncIterator[bytes]:
    """Yield the bytes of a ZIP of everything that is the workspace's own; `counted` hears of rows."""
    posts = File(name="posts.csv", page=_posts, write=_line, head=csv_head(COLUMNS))
    files = [posts, *map(as_csv, READABLE), *map(as_json_lines, TABLES)]
    return stream_zip(operations, workspace_id, files, counted=counted)


def _posts(tx: Tx, workspace_id: str, after: Row | None) -> list[Row]:
    """Return the next posts with their labels and deliveries: four statements a page.

    Cross joins, and the order made here: asked for one, SQLite would walk through the whole workspace in it.
    """
    posts = tx.all(
        f"""
        SELECT id, title, content FROM post
        WHERE workspace_id = :workspace_id AND deleted_at IS NULL AND id > :after
        ORDER BY id LIMIT {PAGE}
        """,  # noqa: S608 - a number of ours
        workspace_id=workspace_id,
        after="" if after is None else after["id"],
    )
    ids = [(post["id"],) for post in posts]
    labels = tx.all(
        """
        SELECT l.post_id, l.label FROM TABLE(:ids) AS asked (id text) CROSS JOIN post_label l
        WHERE l.workspace_id = :workspace_id AND l.post_id = asked.id
        """,
        ids=ids,
        workspace_id=workspace_id,
    )
    deliveries = tx.all(
        """
        SELECT d.post_id, d.id, d.channel, d.state, d.due_at, d.url, d.last_attempt_at, a.provider, a.handle, a.id AS account_id
        FROM TABLE(:ids) AS asked (id text) CROSS JOIN delivery d
        JOIN account a ON a.workspace_id = d.workspace_id AND a.id = d.account_id
        WHERE d.workspace_id = :workspace_id AND d.post_id = asked.id
            AND d.state NOT IN ('canceled', 'skipped')
        """,
        ids=ids,
        workspace_id=workspace_id,
    )
    made = tx.all(
        """
        SELECT o.post_id, o.rule_id, o.target_month
        FROM TABLE(:ids) AS asked (id text) CROSS JOIN rule_occurrence o
        WHERE o.workspace_id = :workspace_id AND o.post_id = asked.id
        """,
        ids=ids,
        workspace_id=workspace_id,
    )
    rules = {row["post_id"]: row for row in made}
    words = _by_post(sorted(labels, key=itemgetter("label")))
    places = _by_post(sorted(deliveries, key=itemgetter("due_at", "id")))
    return [
        {
            **post,
            "rule": rules.get(post["id"], {}),
            "labels": [row["label"] for row in words.get(post["id"], [])],
            "deliveries": places.get(post["id"], []),
        }
        for post in posts
    ]


def _by_post(rows: list[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["post_id"], []).append(row)
    return found


def _line(post: Row) -> bytes:
    content = content_of(post["content"])
    going: list[Row] = post["deliveries"]
    cells: dict[str, Any] = {
        "key": post["id"],
        "text": content.text,
        "accounts": _joined(_account(row) for row in going),
        "when": going[0]["due_at"] if going else None,
        "title": post["title"],
        "link": content.link,
        "hashtags": " ".join(content.hashtags),
        "first_comment": content.first_comment,
        "labels": _joined(post["labels"]),
        "media": _joined(item.media_id for item in content.media),
        "states": _joined(f"{_account(row)} {row['state']}" for row in going),
        "addresses": _joined(row["url"] for row in going if row["url"]),
        "rule_id": post["rule"].get("rule_id"),
        "target_month": post["rule"].get("target_month"),
        "last_attempt_at": max(
            (row["last_attempt_at"] for row in going if row["last_attempt_at"]), default=None
        ),
    }
    return csv_line(cells[name] for name in COLUMNS)


def _account(row: Row) -> str:
    return f"{row['provider']}:{row['handle'] or row['account_id']}/{row['channel']}"


def _joined(words: Any) -> str:
    return "; ".join(words)
