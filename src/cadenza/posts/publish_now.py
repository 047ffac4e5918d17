"""Sends a post now, on chosen channels: the same deliveries made due, missing ones made, never a second.

It passes slot, maximum per day (with a warning) and hours; never a stop, a pause, an approval, budgets.
A second click finds the running attempt. `approve_and_publish_now` approves the post that is there and
then does the same: no post is made on this path, as nothing here can.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from cadenza.core.channels import Channel
from cadenza.core.rollup import DeliveryState as State
from cadenza.db.audit import record
from cadenza.deliveries.expedite import MOVABLE, expedite
from cadenza.deliveries.gates import HURRY
from cadenza.deliveries.hold import hold_post
from cadenza.deliveries.model import Delivery
from cadenza.deliveries.render import Files
from cadenza.posts.approve import Approved, approve_held
from cadenza.posts.compose import compose_post
from cadenza.posts.edit import Conflict
from cadenza.posts.find import Hold, find
from cadenza.posts.model import Blocked, NoSuchPost, NotAllowed, Post
from cadenza.posts.preflight import DoesNotFit, refuse_unfit
from cadenza.posts.put_deliveries import put_deliveries
from cadenza.posts.send_warnings import what_holds, why_over_the_day
from cadenza.posts.targets import BadTarget, Targets, check_targets, resolve_targets, set_aside_gone
from cadenza.sql.tx import Tx


class Click(StrEnum):
    """What a click found or did at one place."""

    STARTED = "started"
    RUNNING = "running"  # it is on its way: this attempt
    SENT = "sent"  # it is out: it is not sent again
    UNCONFIRMED = "unconfirmed"  # nobody knows whether it is out: a person decides first


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishTarget:
    """What publish now came to on one account's channel."""

    delivery_id: str
    account_id: str
    channel: Channel
    click: Click
    attempt_id: str | None = None
    url: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PublishingNow:
    """The post goes out now, place by place; a disconnected account is refused and stops no other."""

    places: tuple[PublishTarget, ...]
    refused: tuple[BadTarget, ...] = ()


@dataclass(frozen=True, slots=True)
class NotApproved:
    """Nobody approved what it says: nothing was changed."""

    message: str = "nobody approved this post as it is: approve it, or use approve and publish now"


@dataclass(frozen=True, slots=True)
class NoTarget:
    """It has no delivery and none was asked for."""

    message: str = "this post goes nowhere yet: name accounts or channels to publish it on"


Refusal = NoSuchPost | NotApproved | NoTarget | BadTarget | DoesNotFit


def publish_now(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    post_id: str,
    by: str,
    targets: Targets | None = None,
    only: Collection[str] | None = None,
    files: Files | None = None,
) -> PublishingNow | Refusal:
    """Send an approved post now; without targets, everywhere that it has a delivery for, or `only` these."""
    post = find(tx, workspace_id, post_id, hold=Hold.CHANGE)
    if isinstance(post, NoSuchPost):
        return post
    if not post.approved:
        return NotApproved()
    return _publish(tx, now, post, by, targets, files, only)


def approve_and_publish_now(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    post_id: str,
    by: str,
    targets: Targets | None = None,
    revision: int | None = None,
    files: Files | None = None,
) -> (
    PublishingNow | NoSuchPost | NoTarget | BadTarget | NotAllowed | Blocked | Conflict | DoesNotFit
):
    """Approve what the post says and send it now; with `revision`, only if that is what it says."""
    post = find(tx, workspace_id, post_id, hold=Hold.CHANGE)
    if isinstance(post, NoSuchPost):
        return post
    if revision is not None and revision != post.revision:
        return Conflict(post)
    if not post.approved:
        if targets is None and not hold_post(tx, workspace_id, post_id):
            return NoTarget()
        able, gone = _able(tx, workspace_id, targets)
        if isinstance(able, BadTarget):
            return able
        if gone and not able:
            return PublishingNow((), gone)
        places = _places(tx, post, _held(tx, post), able)
        if unfit := refuse_unfit(tx, workspace_id, compose_post(tx, post, places), files):
            return unfit
        answer = approve_held(tx, now, post, by=by, files=files)
        if not isinstance(answer, Approved):
            return answer
        approved = find(tx, workspace_id, post_id)
        assert isinstance(approved, Post)
        post = approved
    return _publish(tx, now, post, by, targets, files)


def _publish(
    tx: Tx,
    now: datetime,
    post: Post,
    by: str,
    targets: Targets | None,
    files: Files | None,
    only: Collection[str] | None = None,
) -> PublishingNow | NoTarget | BadTarget | DoesNotFit:
    held = _held(tx, post, only)
    able, gone = _able(tx, post.workspace_id, targets)
    if isinstance(able, BadTarget):
        return able
    if gone and not able:
        return PublishingNow((), gone)
    places = _places(tx, post, held, able)
    if not places:
        return NoTarget()
    missing = [place for place in places if place not in held]
    here = [held[place] for place in places if place in held]
    on_their_way = _on_their_way(tx, now, post.workspace_id, here)
    going = [row for row in here if row.state in MOVABLE and row.id not in on_their_way]
    new = compose_post(tx, post, missing)
    if unfit := refuse_unfit(tx, post.workspace_id, [*going, *new], files):
        return unfit
    expedite(tx, now, [row for row in here if row.id not in on_their_way])
    made = put_deliveries(tx, now, post, missing, due_at=now, priority=HURRY)
    answers = [_answer(tx, now, row, on_its_way=row.id in on_their_way) for row in here]
    answers += [
        PublishTarget(
            delivery_id=id_,
            account_id=account_id,
            channel=channel,
            click=Click.STARTED,
            warnings=_warnings(tx, now, post.workspace_id, account_id, id_),
        )
        for (account_id, channel), id_ in made.items()
    ]
    _record(tx, now, post, by, answers)
    return PublishingNow(tuple(answers), gone)


def _able(
    tx: Tx, workspace_id: str, targets: Targets | None
) -> tuple[Targets | BadTarget | None, tuple[BadTarget, ...]]:
    """Return the targets that can be asked, or what is wrong with one; then the disconnected ones."""
    if targets is None:
        return None, ()
    able, gone = set_aside_gone(tx, workspace_id, targets)
    return check_targets(tx, workspace_id, able) or able, gone


def _held(
    tx: Tx, post: Post, only: Collection[str] | None = None
) -> dict[tuple[str, Channel], Delivery]:
    """Hold its deliveries, by account and channel."""
    held = hold_post(tx, post.workspace_id, post.id)
    return {(row.account_id, row.channel): row for row in held if only is None or row.id in only}


def _places(
    tx: Tx, post: Post, held: dict[tuple[str, Channel], Delivery], targets: Targets | None
) -> list[tuple[str, Channel]]:
    return list(held) if targets is None else resolve_targets(tx, post.workspace_id, targets)


def _on_their_way(
    tx: Tx, now: datetime, workspace_id: str, held: Sequence[Delivery]
) -> frozenset[str]:
    """Name what a worker has, or a click before this one made due: there is nothing left to do."""
    rows = tx.all(
        """
        SELECT lane.id, unresumed_until FROM TABLE(:ids) AS asked (id text) JOIN lane
            ON lane.workspace_id = :workspace_id AND lane.id = asked.id
        """,
        ids=sorted({(row.lane_id,) for row in held}),
        workspace_id=workspace_id,
    )
    chosen: dict[str, datetime | None] = {row["id"]: row["unresumed_until"] for row in rows}

    def is_hurried(row: Delivery) -> bool:
        until = chosen.get(row.lane_id)
        waits = until is not None and row.due_at < until  # for a person: the click is one
        return row.priority <= HURRY and row.due_at <= now and not waits

    return frozenset(
        row.id
        for row in held
        if row.state is State.SCHEDULED and (row.is_leased or is_hurried(row))
    )


def _answer(tx: Tx, now: datetime, row: Delivery, *, on_its_way: bool) -> PublishTarget:
    """Say what the click did to a delivery that was there; `row` is as it was held before."""
    click = {State.SENT: Click.SENT, State.UNCONFIRMED: Click.UNCONFIRMED}
    started = row.state in MOVABLE and not on_its_way
    return PublishTarget(
        delivery_id=row.id,
        account_id=row.account_id,
        channel=row.channel,
        click=Click.STARTED if started else click.get(row.state, Click.RUNNING),
        attempt_id=None if started else _last_attempt(tx, row),
        url=row.url,
        warnings=_warnings(tx, now, row.workspace_id, row.account_id, row.id) if started else (),
    )


def _warnings(
    tx: Tx, now: datetime, workspace_id: str, account_id: str, delivery_id: str
) -> tuple[str, ...]:
    over = why_over_the_day(tx, now, workspace_id=workspace_id, account_id=account_id, at=now)
    waits = what_holds(tx, now, workspace_id=workspace_id, delivery_id=delivery_id)
    return (*((over,) if over else ()), *waits)


def _last_attempt(tx: Tx, row: Delivery) -> str | None:
    return tx.value(
        """
        SELECT id FROM attempt WHERE workspace_id = :workspace_id AND delivery_id = :id
        ORDER BY lease DESC, part DESC LIMIT 1
        """,
        workspace_id=row.workspace_id,
        id=row.id,
    )


def _record(tx: Tx, now: datetime, post: Post, by: str, places: Sequence[PublishTarget]) -> None:
    started = [p for p in places if p.click is Click.STARTED]
    if not started:
        return  # a second click does nothing, so it is no act
    record(
        tx,
        now,
        workspace_id=post.workspace_id,
        by=by,
        action="post.publish_now",
        subject_id=post.id,
        after={"places": [f"{p.account_id}/{p.channel}" for p in started]},
    )
