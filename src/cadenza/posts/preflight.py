"""Says early what would go wrong at the time: when a post is saved, and again half an hour before it is due.

Asks what the permit will ask (account, limits of the network on the composed piece, approval, budgets) and
what only hurts afterwards (a repeat, an expiring token, a first comment that a channel leaves out).
`check` changes nothing; the two operations of a regular loop write one notice each. Whether the files are
there is asked of the storage by the loop, between `files_due_soon` and `check_due_soon`. Limit: no network
is asked here, so a revoked token is found when it is refreshed or used.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.accounts.model import Account
from cadenza.core.channels import Channel
from cadenza.db.write_outbox import OutboxEvent, write_outbox
from cadenza.deliveries.check_fit import Placed, files_in, find_unfit
from cadenza.deliveries.check_fit import check_content as check_placed
from cadenza.deliveries.facts import read_facts
from cadenza.deliveries.gates import End, Facts, Wait, ask_all
from cadenza.deliveries.model import ComposedPost, Delivery
from cadenza.deliveries.render import Files
from cadenza.posts.compose import compose_post
from cadenza.posts.find import find
from cadenza.posts.find_duplicates import WITHIN, Duplicate, Wording, find_repeats, fingerprint_of
from cadenza.posts.holds import account_state
from cadenza.posts.model import NoSuchPost, Post
from cadenza.posts.targets import Targets, accounts_of, resolve_targets
from cadenza.posts.warnings import Finding, find_warnings, token_ends
from cadenza.sql.tx import Row, Tx
from cadenza.sql.values import Key

SOON = timedelta(minutes=30)
APPROVAL_SOON = timedelta(hours=2)
BATCH = 200
FORETOLD = (
    "suppression",
    "workspace",
    "account",
    "lane",
    "budgets",
)  # gates worth asking before the time


@dataclass(frozen=True, slots=True)
class PreflightBatch:
    """What was told, and where the next batch begins; None: this was the last."""

    told: tuple[str, ...]
    next: tuple[datetime, str] | None


@dataclass(frozen=True, slots=True)
class DoesNotFit:
    """Some places would not take the content: nothing was changed."""

    findings: tuple[Finding, ...]
    names: Mapping[str, str]  # of the accounts, by id

    @property
    def message(self) -> str:
        """Say place by place what is wrong, then what to do."""
        wrong = "; ".join(
            f"{self.names.get(each.account_id, each.account_id)} ({each.channel}): "
            f"{each.message.rstrip('.')}"
            for each in self.findings
        )
        return f"{wrong}. Change the content, or leave that account out"


def check(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    post_id: str,
    targets: Targets,
    at: datetime | None = None,
    files: Files | None = None,
) -> list[Finding] | NoSuchPost:
    """Return what would go wrong if the post went to these places at that time (default: now)."""
    post = find(tx, workspace_id, post_id)
    if isinstance(post, NoSuchPost):
        return post
    places = resolve_targets(tx, workspace_id, targets)
    return check_post(tx, now, post, places, at=at or now, files=files)


def check_post(
    tx: Tx,
    now: datetime,
    post: Post,
    places: Sequence[tuple[str, Channel]],
    *,
    at: datetime,
    files: Files | None = None,
) -> list[Finding]:
    """Check a post at hand, saved or not; `files` know the addresses that networks fetch media from."""
    pieces = compose_post(tx, post, places)
    accounts = accounts_of(tx, post.workspace_id, [account for account, _ in places])
    findings = [
        finding
        for piece in pieces
        for finding in (*_of_approval(post, piece), *_of_place(accounts, piece, files))
    ]
    return findings + find_warnings(
        tx,
        now,
        workspace_id=post.workspace_id,
        pieces=pieces,
        at=at,
        words=fingerprint_of(post.content.text),
    )


def check_content(
    tx: Tx, post: Post, places: Sequence[tuple[str, Channel]], *, files: Files | None = None
) -> list[Finding]:
    """Check what no time changes: whether the places take the post as it is composed for them."""
    accounts = accounts_of(tx, post.workspace_id, [account for account, _ in places])
    pieces = compose_post(tx, post, places)
    return [finding for piece in pieces for finding in _of_place(accounts, piece, files)]


def merge_unfit(refusals: Sequence[DoesNotFit]) -> DoesNotFit:
    """Say several refusals as one."""
    names = {id_: name for each in refusals for id_, name in each.names.items()}
    return DoesNotFit(tuple(one for each in refusals for one in each.findings), names)


def refuse_unfit(
    tx: Tx,
    workspace_id: str,
    parts: Iterable[Placed],
    files: Files | None = None,
) -> DoesNotFit | None:
    """Decide whether a post's parts may be sent on their way: pieces, or deliveries that are there.

    Asked by all that schedule, queue, approve, retry or publish. An account that cannot send at the moment
    is no reason to refuse: its posts wait.
    """
    unfit = find_unfit(tx, workspace_id, parts, files)
    if not unfit:
        return None
    accounts = accounts_of(tx, workspace_id, [account_id for account_id, _ in unfit])
    return DoesNotFit(
        tuple(
            Finding(
                account_id=account_id,
                channel=channel,
                code=each.code,
                message=each.message,
                field=each.field,
            )
            for (account_id, channel), problems in unfit.items()
            for each in problems
        ),
        {id_: account.handle or id_ for id_, account in accounts.items()},
    )


def check_due_soon(
    tx: Tx,
    now: datetime,
    *,
    after: tuple[datetime, str] | None = None,
    limit: int = BATCH,
    files: Files | None = None,
    gone: Collection[str] = (),
) -> PreflightBatch:
    """Look at what is due within half an hour and tell once of what will not go, a batch at a time.

    `gone` are files that the storage does not have. What a person paused or stopped is no news to them.
    """
    rows = _due_soon(tx, now, after=after, limit=limit)
    facts = read_facts(tx, now, [(row["workspace_id"], row["id"]) for row in rows]) if rows else {}
    repeats = _repeats(tx, facts)
    risks = {
        key: found
        for key, each in facts.items()
        if (found := _risks(each, repeats[key], files, gone))
    }
    words = [
        _word("at_risk", "at risk", "; ".join(found), each.key, each.due_at, of=f"/{each.revision}")
        for key, found in risks.items()
        for each in (facts[key].delivery,)
    ]
    write_outbox(tx, now, words)
    last = (rows[-1]["due_at"], rows[-1]["id"]) if len(rows) == limit else None
    return PreflightBatch(tuple(id_ for _, id_ in risks), last)


def files_due_soon(
    tx: Tx,
    now: datetime,
    *,
    after: tuple[datetime, str] | None = None,
    limit: int = BATCH,
) -> list[str]:
    """Name the files of the batch that `check_due_soon` looks at next."""
    rows = _due_soon(tx, now, after=after, limit=limit)
    return sorted({name for row in rows for name in files_in(row["content"])})


def _due_soon(
    tx: Tx, now: datetime, *, after: tuple[datetime, str] | None, limit: int
) -> list[Row]:
    onward = "AND (delivery.due_at, delivery.id) > (:after, :after_id)" if after else ""
    return tx.all(
        f"""
        SELECT delivery.workspace_id, delivery.id, delivery.due_at, delivery.content
        FROM delivery
        JOIN workspace ON workspace.id = delivery.workspace_id AND workspace.stopped_at IS NULL
        JOIN lane ON lane.workspace_id = delivery.workspace_id AND lane.id = delivery.lane_id
            AND NOT lane.paused
        LEFT JOIN outbox ON outbox.workspace_id = delivery.workspace_id
            AND outbox.id = delivery.id || '/at_risk/' || CAST(delivery.revision AS text)
        WHERE post_id IS NOT NULL AND state IN ('draft', 'scheduled') AND state = 'scheduled' AND due_at > :now AND due_at <= :soon
            AND outbox.id IS NULL {onward}
        ORDER BY delivery.due_at, delivery.id LIMIT :limit
        """,  # noqa: S608 - a constant
        now=now,
        soon=now + SOON,
        limit=limit,
        **({"after": after[0], "after_id": after[1]} if after else {}),
    )


def warn_unapproved(tx: Tx, now: datetime, *, limit: int = BATCH) -> list[str]:
    """Tell once of what is due within two hours and waits for an approval; return what was told."""
    rows = tx.all(
        """
        SELECT delivery.workspace_id, delivery.id, due_at
        FROM delivery LEFT JOIN outbox
            ON outbox.workspace_id = delivery.workspace_id AND outbox.id = delivery.id || '/unapproved'
        WHERE post_id IS NOT NULL AND state IN ('draft', 'scheduled') AND state = 'draft' AND NOT approved
            AND due_at > :now AND due_at <= :soon AND outbox.id IS NULL
        ORDER BY due_at LIMIT :limit
        """,
        now=now,
        soon=now + APPROVAL_SOON,
        limit=limit,
    )
    unseen = ("waiting for approval", "nobody has approved it")
    write_outbox(
        tx,
        now,
        [
            _word("unapproved", *unseen, (row["workspace_id"], row["id"]), row["due_at"])
            for row in rows
        ],
    )
    return [row["id"] for row in rows]


def _risks(
    facts: Facts, repeat: Duplicate | None, files: Files | None, gone: Collection[str]
) -> list[str]:
    """Say what stands in a scheduled delivery's way: what its content lacks, and which gates are shut."""
    row = facts.delivery
    shut = (
        answer.message
        for gate, answer in ask_all(facts).items()
        if isinstance(answer, End | Wait) and gate in FORETOLD and not _opens_by(answer, row.due_at)
    )
    content = check_placed(row, facts.account, files, gone=gone)
    ends = token_ends(facts.account, row.due_at)
    return [
        *(each.message for each in content.blocking),
        *shut,
        *((ends,) if ends else ()),
        *((repeat.message,) if repeat else ()),
    ]


def _repeats(
    tx: Tx, facts: Mapping[tuple[str, str], Facts]
) -> dict[tuple[str, str], Duplicate | None]:
    """Find what says the same and went, or goes, before: the first of several is no repeat."""
    sayings = [
        Wording(
            workspace_id=each.delivery.workspace_id,
            piece=_piece(each.delivery),
            since=each.delivery.due_at - WITHIN,
            until=each.delivery.due_at,
        )
        for each in facts.values()
    ]
    return dict(zip(facts, find_repeats(tx, sayings), strict=True))


def _piece(delivery: Delivery) -> ComposedPost:
    return ComposedPost(
        post_id=delivery.post_id or "",
        account_id=delivery.account_id,
        channel=delivery.channel,
        content=delivery.content,
        approved=True,
    )


def _opens_by(answer: End | Wait, due: datetime) -> bool:
    return isinstance(answer, Wait) and answer.until is not None and answer.until <= due


def _of_place(
    accounts: Mapping[str, Account], piece: ComposedPost, files: Files | None
) -> Sequence[Finding]:
    account = accounts.get(piece.account_id)
    return [*_of_account(account, piece), *_of_content(account, piece, files)]


def _of_approval(post: Post, piece: ComposedPost) -> list[Finding]:
    found = [
        Finding.about(piece, "blocked", f"it {blocker}", field="post") for blocker in post.blockers
    ]
    if not post.approved:
        found.append(Finding.about(piece, "unapproved", "nobody has approved it", field="post"))
    return found


def _of_account(account: Account | None, piece: ComposedPost) -> list[Finding]:
    if account is None:
        return [Finding.about(piece, "no_account", "there is no such account", field="account")]
    name = account.handle or account.id
    if not account.can_send:
        words = f"{name} {account_state(account.state)}"
        return [Finding.about(piece, "account", words, field="account")]
    return []


def _of_content(account: Account | None, piece: ComposedPost, files: Files | None) -> list[Finding]:
    """Ask the network's own limits about the composed piece."""
    return [
        Finding.about(piece, each.code, each.message, field=each.field, blocking=each.blocking)
        for each in check_placed(piece, account, files).problems
    ]


def _word(
    kind: str, state: str, reason: str, key: Key, due_at: datetime, *, of: str = ""
) -> OutboxEvent:
    workspace_id, id_ = key
    return OutboxEvent(
        workspace_id=workspace_id,
        id=f"{id_}/{kind}{of}",
        kind=f"delivery.{kind}",
        subject_id=id_,
        body={"state": state, "reason": reason, "due_at": due_at},
    )
