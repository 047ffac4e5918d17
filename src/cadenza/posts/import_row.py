"""Makes one imported row a post: looks its words up, claims its key, creates, then times or queues it.

Whatever is refused on the way raises `RowRefused`, which rolls back all that the row did: no post without
its time, no key without its post.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from cadenza.core.channels import Channel, UnknownChannelError, normalise
from cadenza.core.suggest import did_you_mean
from cadenza.deliveries.render import Files
from cadenza.posts.create import Created, create
from cadenza.posts.find import find
from cadenza.posts.model import NewPost, NoSuchPost, PostMedia
from cadenza.posts.preflight import DoesNotFit, check_content
from cadenza.posts.read_csv import Problem
from cadenza.posts.read_row import RowRequest
from cadenza.posts.schedule_at import ScheduledAt, Timed, schedule_at
from cadenza.posts.targets import BadTarget, check_targets, resolve_targets
from cadenza.sql.tx import Row, Tx

Places: TypeAlias = list[tuple[str, Channel]]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRequest:
    """A post that wants the next free slots of these places."""

    workspace_id: str
    post_id: str
    targets: Places
    by: str
    files: Files | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """It is queued everywhere, and what a person should know about that."""

    warnings: tuple[str, ...] = ()


# Returns what is wrong when it cannot be queued; runs in the row's transaction.
AddToQueue: TypeAlias = Callable[[Tx, datetime, QueueRequest], Joined | DoesNotFit | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The row is a post; `again`: it was one before, and nothing was made. Of a dry run, no post is left."""

    row: int
    post_id: str
    approved: bool = False
    due_at: datetime | None = None
    again: bool = False
    notes: tuple[str, ...] = ()


class RowRefused(Exception):
    """The row cannot become a post; what it began is rolled back."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.wrong)
        self.problem = problem


def import_row(
    tx: Tx,
    now: datetime,
    request: RowRequest,
    *,
    workspace_id: str,
    by: str,
    add_to_queue: AddToQueue | None,
    files: Files | None = None,
) -> Done:
    """Make the row a post, once; `files` know the addresses that networks fetch media from."""
    known = _claim(tx, now, request, workspace_id, by)
    if known is not None:
        return known
    places = find_places(tx, request, workspace_id)
    made = create(
        tx,
        now,
        NewPost(
            workspace_id=workspace_id,
            text=request.text,
            title=request.title,
            link=request.link,
            hashtags=request.hashtags,
            first_comment=request.first_comment,
            labels=request.labels,
            media=tuple(PostMedia(id_) for id_ in _media(tx, request, workspace_id)),
            author_id=by.removeprefix("member:") if by.startswith("member:") else None,
        ),
        by=by,
    )
    if not isinstance(made, Created):
        raise _refused(request, "media", made.message)
    tx.run(
        """
        UPDATE post_import SET post_id = :post_id
        WHERE workspace_id = :workspace_id AND row_key = :key
        """,
        post_id=made.id,
        workspace_id=workspace_id,
        key=request.key,
    )
    notes = () if made.why_not_approved is None else (made.why_not_approved,)
    due_at = None
    if request.queue:
        notes += _queue(
            tx,
            now,
            request,
            QueueRequest(
                workspace_id=workspace_id, post_id=made.id, targets=places, by=by, files=files
            ),
            add_to_queue,
        )
        due_at = _first(tx, workspace_id, made.id)
    elif request.when is not None:
        timed = _time(tx, now, request, workspace_id, made.id, places, by, files)
        due_at = min(place.due_at for place in timed)
        notes += tuple(dict.fromkeys(w for t in timed for w in (t.note, *t.warnings) if w))
    if due_at is not None:
        notes += _check_limits(tx, workspace_id, made.id, places, files)
    return Done(
        row=request.row, post_id=made.id, approved=made.approved, due_at=due_at, notes=notes
    )


def find_places(tx: Tx, request: RowRequest, workspace_id: str) -> Places:
    """Return where the row's words for accounts lead."""
    if not request.accounts:
        return []
    rows = tx.all(
        "SELECT id, handle, provider, state FROM account WHERE workspace_id = :workspace_id",
        workspace_id=workspace_id,
    )
    targets: Places = []
    for word in request.accounts:
        name, channel = _channel(word)
        account = _account(rows, name, request)
        requested = [account] if channel is None else [(account, channel)]
        refused = check_targets(tx, workspace_id, requested)
        if isinstance(refused, BadTarget):
            raise _refused(request, "accounts", refused.message)
        targets += resolve_targets(tx, workspace_id, requested)
    return list(dict.fromkeys(targets))


def _claim(tx: Tx, now: datetime, request: RowRequest, workspace_id: str, by: str) -> Done | None:
    """Write the row's key; one that is there already names the post it became."""
    new = tx.run(
        """
        INSERT INTO post_import (workspace_id, row_key, said_hash, imported_at, imported_by)
        VALUES (:workspace_id, :key, :hash, :now, :by)
        ON CONFLICT (workspace_id, row_key) DO NOTHING
        """,
        workspace_id=workspace_id,
        key=request.key,
        hash=request.hash,
        now=now,
        by=by,
    )
    if new:
        return None
    known = tx.one(
        "SELECT * FROM post_import WHERE workspace_id = :workspace_id AND row_key = :key",
        workspace_id=workspace_id,
        key=request.key,
    )
    assert known is not None, "only the same key was in the way"
    if known["said_hash"] != request.hash:
        raise RowRefused(
            Problem(
                request.row,
                "key",
                "this key was imported before with other words",
                f"edit the post {known['post_id']}, or give the row a new key",
            )
        )
    return Done(row=request.row, post_id=known["post_id"], again=True)


def _channel(word: str) -> tuple[str, Channel | None]:
    """Read `account` or `account/channel`; a slash that names no channel belongs to the account."""
    name, slash, ending = word.rpartition("/")
    if not slash:
        return word, None
    try:
        return name, normalise(ending)
    except UnknownChannelError:
        return word, None


def _account(rows: Sequence[Row], word: str, request: RowRequest) -> str:
    """Find the account that an id, a handle or `network:handle` means."""
    provider, colon, handle = word.partition(":")
    found = [
        row
        for row in rows
        if row["id"] == word
        or _same(row["handle"], word)
        or (
            colon
            and row["provider"] == provider.casefold()
            and (_same(row["handle"], handle) or row["id"] == handle)
        )
    ]
    if len(found) == 1:
        return found[0]["id"]
    if not found:
        guess = did_you_mean(word, [row["handle"] for row in rows if row["handle"]])
        raise RowRefused(
            Problem(
                request.row,
                "accounts",
                f"there is no account {word!r}.{guess}",
                "write the account's handle or id as the accounts page shows it",
            )
        )
    names = ", ".join(sorted(f"{row['provider']}:{row['handle']}" for row in found))
    raise RowRefused(
        Problem(request.row, "accounts", f"{word!r} may be {names}", "write one of these instead")
    )


def _same(handle: str, word: str) -> bool:
    return bool(handle) and handle.lstrip("@").casefold() == word.lstrip("@").casefold()


def _media(tx: Tx, request: RowRequest, workspace_id: str) -> list[str]:
    """Find the files that ids or names of the library mean."""
    if not request.media:
        return []
    rows = tx.all(
        """
        SELECT DISTINCT media.id, media.name, asked.word FROM TABLE(:words) AS asked (word text)
        JOIN media ON media.workspace_id = :workspace_id
            AND (media.id = asked.word OR media.name = asked.word)
        WHERE media.stored_at IS NOT NULL AND media.deleted_at IS NULL
        """,
        workspace_id=workspace_id,
        words=[(word,) for word in request.media],
    )
    ids: list[str] = []
    for word in request.media:
        found = [row["id"] for row in rows if row["word"] == word]
        if len(found) != 1:
            wrong = (
                f"there is no file {word!r}"
                if not found
                else f"{len(found)} files are called {word!r}"
            )
            todo = (
                "upload it first"
                if not found
                else f"write the id of one: {', '.join(sorted(found))}"
            )
            raise RowRefused(Problem(request.row, "media", wrong, todo))
        ids += found
    return ids


def _queue(
    tx: Tx,
    now: datetime,
    request: RowRequest,
    requested: QueueRequest,
    add_to_queue: AddToQueue | None,
) -> tuple[str, ...]:
    if add_to_queue is None:
        raise _refused(request, "when", "queues are not at hand here: give a time instead")
    answer = add_to_queue(tx, now, requested)
    if isinstance(answer, DoesNotFit):
        raise _does_not_fit(request, answer)
    if not isinstance(answer, Joined):
        raise _refused(request, "when", answer)
    return answer.warnings


def _time(
    tx: Tx,
    now: datetime,
    request: RowRequest,
    workspace_id: str,
    post_id: str,
    places: Places,
    by: str,
    files: Files | None,
) -> list[Timed]:
    assert request.when is not None
    answer = schedule_at(
        tx,
        now,
        workspace_id=workspace_id,
        post_id=post_id,
        when=request.when,
        by=by,
        targets=places,
        files=files,
    )
    if isinstance(answer, DoesNotFit):
        raise _does_not_fit(request, answer)
    if not isinstance(answer, ScheduledAt):
        raise _refused(request, "when", answer.message)
    if answer.refused:
        raise _refused(request, "accounts", answer.refused[0].message)
    return [place for place in answer.places if isinstance(place, Timed)]


def _check_limits(
    tx: Tx, workspace_id: str, post_id: str, places: Places, files: Files | None
) -> tuple[str, ...]:
    """Say what a network would not take of it, as long as there is time to mend it."""
    post = find(tx, workspace_id, post_id)
    assert not isinstance(post, NoSuchPost), "it was made in this transaction"
    found = check_content(tx, post, places, files=files)
    return tuple(dict.fromkeys(each.message.rstrip(".") for each in found))


def _does_not_fit(request: RowRequest, answer: DoesNotFit) -> RowRefused:
    wrong, _, todo = answer.message.rpartition(". ")
    column = answer.findings[0].field or "text"
    return RowRefused(Problem(request.row, column, wrong, f"{todo[:1].lower()}{todo[1:]}"))


def _first(tx: Tx, workspace_id: str, post_id: str) -> datetime | None:
    rows = tx.all(
        "SELECT due_at FROM delivery WHERE workspace_id = :workspace_id AND post_id = :post_id",
        workspace_id=workspace_id,
        post_id=post_id,
    )
    return min((row["due_at"] for row in rows), default=None)


def _refused(request: RowRequest, column: str, message: str) -> RowRefused:
    """Part what an operation says into what is wrong and what to do."""
    wrong, _, todo = message.partition(": ")
    return RowRefused(Problem(request.row, column, wrong, todo or "correct the row"))
