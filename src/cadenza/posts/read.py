"""Reads posts as people see them: one with its pills, or a list with filters.

How a post shows is rolled up from its deliveries on each read. A list can be filtered by that too: the
database packs the states of a post's deliveries into one number, and the pure roll-up says beforehand which
numbers show as the wanted state, so that the rules are written once. Where few deliveries are in the states that
it takes, they lead to the posts; else posts are looked at, newest first. Limit: a filter by words, label or account
that few posts pass looks at many.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from itertools import combinations
from operator import itemgetter
from typing import Any

from cadenza.core.rollup import DROPPED, PostState, state_of
from cadenza.core.rollup import DeliveryState as State
from cadenza.posts.find import find
from cadenza.posts.model import NoSuchPost, Post, post_of
from cadenza.posts.pills import COLUMNS, JOINS, Pill, pills_of, roll_up_of
from cadenza.sql.tx import Row, Tx

MOST = 200  # posts of one page
FEW = 1000  # posts that are looked at one by one without a thought
BITS = {state: 1 << place for place, state in enumerate(s for s in State if s not in DROPPED)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPost:
    """A post as it shows."""

    post: Post
    state: PostState
    published_at: datetime | None
    scheduled_at: datetime | None
    pills: tuple[Pill, ...]
    rule_id: str | None = None  # the rule that made it
    target_month: str | None = None  # YYYY-MM that the rule made it for
    last_attempt_at: datetime | None = None  # when a network was last called for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which posts; all that is named must fit."""

    states: tuple[PostState, ...] = ()
    account_id: str | None = None
    channel: str | None = None
    category_id: str | None = None
    label: str | None = None
    source: str | None = None
    rule_id: str | None = None
    target_month: str | None = None  # YYYY-MM
    search: str | None = None  # every word must occur
    due_from: datetime | None = None
    due_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Posts, newest first; `next` asks for what follows."""

    posts: tuple[ShownPost, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class BadCursor:
    """The cursor was not made here."""

    message: str = "this cursor is not one of a list of posts: begin again without it"


def read_post(tx: Tx, now: datetime, *, workspace_id: str, post_id: str) -> ShownPost | NoSuchPost:
    """Return one post as it shows."""
    post = find(tx, workspace_id, post_id)
    if isinstance(post, NoSuchPost):
        return post
    rows = _deliveries(tx, workspace_id, [post_id])
    return _show(post, rows.get(post_id, []), _rules(tx, workspace_id, [post_id]), now)


def list_posts(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    filters: Filters | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page | BadCursor:
    """Return a page of posts that fit the filters."""
    requested = _Asked(workspace_id)
    if cursor is not None:
        place = _read_cursor(cursor)
        if place is None:
            return BadCursor()
        requested.add(
            "(post.created_at, post.id) < (:before, :before_id)",
            before=place[0],
            before_id=place[1],
        )
    wanted = filters or Filters()
    _ask(requested, wanted)
    size = max(1, min(limit, MOST))
    rows = _find(tx, requested, frozenset(wanted.states), size + 1)
    shown, more = rows[:size], len(rows) > size
    ids = [row["id"] for row in shown]
    deliveries, labels = _deliveries(tx, workspace_id, ids), _labels(tx, workspace_id, ids)
    rules = _rules(tx, workspace_id, ids)
    posts = tuple(
        _show(
            post_of(row, tuple(labels.get(row["id"], ()))),
            deliveries.get(row["id"], []),
            rules,
            now,
        )
        for row in shown
    )
    return Page(posts, _cursor(shown[-1]) if more else None)


@dataclass(slots=True)
class _Asked:
    """A list's question, put together from constants and parameters."""

    workspace_id: str
    where: list[str] = field(default_factory=list[str])
    params: dict[str, Any] = field(default_factory=dict[str, Any])

    def add(self, sql: str, **params: Any) -> None:
        self.where.append(sql)
        self.params |= params

    def sql(
        self, masks: Sequence[int] | None, *, source: str = "post", newest: int | None = None
    ) -> str:
        """Ask for posts that show as one of these numbers (None: all), from a source, or among the newest."""
        self.params |= {"workspace_id": self.workspace_id}
        more = "".join(f" AND {each}" for each in self.where)
        order = "ORDER BY created_at DESC, id DESC LIMIT"
        some = f"""
            SELECT post.* FROM {source}
            WHERE post.workspace_id = :workspace_id AND post.deleted_at IS NULL {more}
            {"" if newest is None else f"{order} {newest}"}
        """  # noqa: S608 - put together from constants
        if masks is None:
            return f"{some} {order} :size"
        self.params["masks"] = [(mask,) for mask in masks]
        return f"""
            SELECT * FROM (SELECT post.*, {_MASK} AS mask FROM ({some}) AS post) AS found
            WHERE mask IN (SELECT mask FROM TABLE(:masks) AS wanted (mask bigint))
            {order} :size
        """  # noqa: S608 - put together from constants


def _find(tx: Tx, requested: _Asked, states: frozenset[PostState], size: int) -> list[Row]:
    """Find the newest posts that fit, by the way that looks at the fewest."""
    if not states:
        return tx.all(requested.sql(None), **requested.params, size=size)
    masks = _masks(states)
    leads = _leads(masks)
    if leads is None:
        for state in _in_all(masks):
            requested.add(_HAS.format(of="post.workspace_id", post="post.id", state=state.value))
        # Most posts are so. PostgreSQL, asked for all of them, may judge every one before it takes the newest.
        found = tx.all(requested.sql(masks, newest=FEW), **requested.params, size=size)
        if len(found) == size:
            return found
        return tx.all(requested.sql(masks), **requested.params, size=size)
    # Many may well be among the newest, unless they need more than that (a part that is out already).
    if set(_in_all(masks)) <= set(leads) and _are_many(tx, requested.workspace_id, leads):
        found = tx.all(requested.sql(masks, newest=FEW), **requested.params, size=size)
        if len(found) == size:
            return found
    led = _Asked(
        requested.workspace_id, [*requested.where, "post.id = led.id"], dict(requested.params)
    )
    found = tx.all(led.sql(masks, source=_led_by(leads, masks)), **led.params, size=size)
    if 0 in masks:
        requested.params.pop("masks", None)
        requested.add("NOT post.planned")
        found += tx.all(requested.sql(None), **requested.params, size=size)
    return sorted(found, key=itemgetter("created_at", "id"), reverse=True)[:size]


_HAS = """EXISTS (
    SELECT 1 FROM delivery AS has WHERE has.workspace_id = {of} AND has.post_id = {post} AND has.state = '{state}'
)"""
# Not `IS NOT NULL`: SQLite would then rather walk through the deliveries of all posts.
_WITH_ONE = """
    SELECT DISTINCT delivery.post_id AS id FROM delivery
    WHERE delivery.workspace_id = :workspace_id AND delivery.state = '{state}' AND delivery.state <> 'sent'
        AND coalesce(delivery.post_id, '') <> ''
"""


def _are_many(tx: Tx, workspace_id: str, leads: Sequence[State]) -> bool:
    """Say whether looking up each post with a delivery in one of these states would take long."""
    each = " UNION ALL ".join(_WITH_ONE.format(state=state.value) for state in leads)
    rows = tx.all(f"{each} LIMIT :most", workspace_id=workspace_id, most=FEW + 1)
    return len(rows) > FEW


def _led_by(leads: Sequence[State], masks: tuple[int, ...]) -> str:
    """Lead from deliveries in these states to their posts; what every such post has is asked first.

    State by state: asked for all at once, SQLite would look through the workspace's deliveries in order.
    """
    has = "".join(
        f" AND {_HAS.format(of=':workspace_id', post='delivery.post_id', state=state.value)}"
        for state in _in_all(masks)
        if state not in leads
    )
    each = " UNION ".join(_WITH_ONE.format(state=state.value) + has for state in leads)
    return f"({each}) AS led CROSS JOIN post"


@cache
def _leads(masks: tuple[int, ...]) -> tuple[State, ...] | None:
    """Return the fewest states of deliveries of which every such post has one; None: `sent` alone leads to them."""
    open_states = [state for state in BITS if state is not State.SENT]
    for count in range(len(open_states) + 1):
        for states in combinations(open_states, count):
            if all(mask == 0 or any(mask & BITS[state] for state in states) for mask in masks):
                # A post may also have lost all its deliveries.
                return (*states, *(sorted(DROPPED) if 0 in masks else ()))
    return None


@cache
def _in_all(masks: tuple[int, ...]) -> tuple[State, ...]:
    """Return the states that every such post has: a cheap first question."""
    return tuple(state for state, bit in BITS.items() if all(mask & bit for mask in masks))


_MASK = f"""
    coalesce((
        SELECT sum(DISTINCT CASE state {" ".join(f"WHEN '{s}' THEN {bit}" for s, bit in BITS.items())} END)
        FROM delivery WHERE delivery.workspace_id = post.workspace_id AND delivery.post_id = post.id
            AND state NOT IN ('canceled', 'skipped')
    ), 0)
"""  # noqa: S608 - put together from constants


@cache
def _masks(states: frozenset[PostState]) -> tuple[int, ...]:
    """Return the sets of deliveries' states, as numbers, that show as one of these."""
    return tuple(
        mask
        for mask in range(1 << len(BITS))
        if state_of(state for state, bit in BITS.items() if mask & bit) in states
    )


def _ask(requested: _Asked, filters: Filters) -> None:
    on_delivery: list[str] = []
    if filters.account_id is not None:
        on_delivery.append("account_id = :account_id")
        requested.params["account_id"] = filters.account_id
    if filters.channel is not None:
        on_delivery.append("channel = :channel")
        requested.params["channel"] = filters.channel
    if filters.due_from is not None:
        on_delivery.append("due_at >= :due_from")
        requested.params["due_from"] = filters.due_from
    if filters.due_until is not None:
        on_delivery.append("due_at < :due_until")
        requested.params["due_until"] = filters.due_until
    if on_delivery:
        requested.add(
            f"""EXISTS (
                SELECT 1 FROM delivery WHERE delivery.workspace_id = post.workspace_id
                    AND delivery.post_id = post.id AND state NOT IN ('canceled', 'skipped')
                    AND {" AND ".join(on_delivery)}
            )"""  # noqa: S608 - put together from constants
        )
    if filters.category_id is not None:
        requested.add("post.category_id = :category_id", category_id=filters.category_id)
    if filters.source is not None:
        requested.add("post.source = :source", source=filters.source)
    by_rule = {"rule_id": filters.rule_id, "target_month": filters.target_month}
    if given := {name: value for name, value in by_rule.items() if value is not None}:
        requested.add(
            f"""post.id IN (
                SELECT rule_occurrence.post_id FROM rule_occurrence
                WHERE rule_occurrence.workspace_id = :workspace_id
                    AND {" AND ".join(f"{name} = :{name}" for name in given)}
            )""",  # noqa: S608 - put together from constants
            **given,
        )
    if filters.label is not None:
        requested.add(
            """EXISTS (
                SELECT 1 FROM post_label WHERE post_label.workspace_id = post.workspace_id
                    AND post_label.post_id = post.id AND label = :label
            )""",
            label=filters.label,
        )
    for place, word in enumerate((filters.search or "").casefold().split()[:8]):
        requested.add(
            f"post.search LIKE :word_{place} ESCAPE '!'", **{f"word_{place}": _like(word)}
        )


def _like(word: str) -> str:
    for special in "!%_":
        word = word.replace(special, f"!{special}")
    return f"%{word}%"


def _show(post: Post, rows: Sequence[Row], rules: Mapping[str, Row], now: datetime) -> ShownPost:
    rolled = roll_up_of(rows)
    rule = rules.get(post.id)
    calls = [row["last_attempt_at"] for row in rows if row["last_attempt_at"] is not None]
    return ShownPost(
        post=post,
        state=rolled.state,
        published_at=rolled.published_at,
        scheduled_at=rolled.scheduled_at,
        pills=pills_of(rows, now),
        rule_id=None if rule is None else rule["rule_id"],
        target_month=None if rule is None else rule["target_month"],
        last_attempt_at=max(calls, default=None),
    )


def _rules(tx: Tx, workspace_id: str, post_ids: Sequence[str]) -> dict[str, Row]:
    """Read which rule made each of these posts, and for which month."""
    rows = tx.all(
        """
        SELECT made.post_id, made.rule_id, made.target_month
        FROM TABLE(:posts) AS asked (post_id text) CROSS JOIN rule_occurrence AS made
        WHERE made.workspace_id = :workspace_id AND made.post_id = asked.post_id
        """,
        workspace_id=workspace_id,
        posts=[(id_,) for id_ in post_ids],
    )
    return {row["post_id"]: row for row in rows}


def _deliveries(tx: Tx, workspace_id: str, post_ids: Sequence[str]) -> Mapping[str, list[Row]]:
    """Read the deliveries of posts; a cross join keeps SQLite from going through the whole workspace."""
    if not post_ids:
        return {}
    rows = tx.all(
        f"""
        SELECT {COLUMNS} FROM TABLE(:posts) AS asked (post_id text) CROSS JOIN delivery {JOINS}
        WHERE delivery.workspace_id = :workspace_id AND delivery.post_id = asked.post_id
        """,  # noqa: S608 - put together from constants
        workspace_id=workspace_id,
        posts=[(id_,) for id_ in post_ids],
    )
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["post_id"], []).append(row)
    return found


def _labels(tx: Tx, workspace_id: str, post_ids: Sequence[str]) -> dict[str, list[str]]:
    if not post_ids:
        return {}
    rows = tx.all(
        """
        SELECT post_label.post_id, label
        FROM TABLE(:posts) AS asked (post_id text) CROSS JOIN post_label
        WHERE post_label.workspace_id = :workspace_id AND post_label.post_id = asked.post_id
        ORDER BY label
        """,
        workspace_id=workspace_id,
        posts=[(id_,) for id_ in post_ids],
    )
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row["post_id"], []).append(row["label"])
    return found


def _cursor(row: Row) -> str:
    text = f"{row['created_at'].isoformat()} {row['id']}"
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read_cursor(cursor: str) -> tuple[datetime, str] | None:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        at, _, id_ = text.partition(" ")
        instant = datetime.fromisoformat(at)
    except ValueError:
        return None
    return None if instant.tzinfo is None else (instant, id_)
