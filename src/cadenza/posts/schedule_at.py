"""Gives a post an instant that a person chose, on chosen channels: hand-timed, outside any slot.

Wall time, zone and instant are all kept. A time without an offset and without a zone names no instant and
is refused; so is the past, and so is moving what no longer stands where the caller saw it. The same
deliveries are moved, missing ones are made; what is being sent, unconfirmed or sent is reported and left alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.core.channels import Channel
from cadenza.core.rollup import DeliveryState as State
from cadenza.core.zones import Mark, Zone, as_utc, get_zone, local, resolve
from cadenza.db.audit import record
from cadenza.deliveries.expedite import MOVABLE, Instant, retime
from cadenza.deliveries.hold import hold_post
from cadenza.deliveries.model import Delivery
from cadenza.deliveries.render import Files
from cadenza.posts.compose import compose_post
from cadenza.posts.find import Hold, find
from cadenza.posts.model import MovedMeanwhile, NoSuchPost, Post
from cadenza.posts.preflight import DoesNotFit, refuse_unfit
from cadenza.posts.publish_now import NoTarget
from cadenza.posts.put_deliveries import put_deliveries
from cadenza.posts.send_warnings import why_over_the_day
from cadenza.posts.targets import BadTarget, Targets, check_targets, resolve_targets, set_aside_gone
from cadenza.posts.warnings import find_warnings
from cadenza.sql.tx import Tx

PRESENT = timedelta(minutes=1)  # a minute ago is now: people look at clocks without seconds


@dataclass(frozen=True, slots=True)
class When:
    """An instant (with an offset), or a wall time of `zone` (without one); `seen_at` is where it stood."""

    time: datetime
    zone: str | None = None
    seen_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """It goes then; the wall time is that of `zone`."""

    delivery_id: str
    account_id: str
    channel: Channel
    due_at: datetime
    wall_time: str
    zone: str
    note: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TooLate:
    """It is out, unconfirmed, or being sent: it was left alone."""

    delivery_id: str
    account_id: str
    channel: Channel
    state: State


@dataclass(frozen=True, slots=True)
class ScheduledAt:
    """What became of each place; a disconnected account is refused and stops no other."""

    places: tuple[Timed | TooLate, ...]
    refused: tuple[BadTarget, ...] = ()


@dataclass(frozen=True, slots=True)
class NoInstant:
    """The time names no instant, or one that has passed: nothing was changed."""

    message: str


def schedule_at(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    post_id: str,
    when: When,
    by: str,
    targets: Targets | None = None,
    files: Files | None = None,
) -> ScheduledAt | NoSuchPost | NoTarget | NoInstant | BadTarget | MovedMeanwhile | DoesNotFit:
    """Time a post by hand; without targets, everywhere that it has a delivery for."""
    if when.time.tzinfo is None and when.zone is None:
        return NoInstant(
            f"{when.time.isoformat()} names no instant: give an offset (…Z, …+02:00) or a zone with it"
        )
    at, mark = _instant(when)
    if at < now - PRESENT:
        return NoInstant(f"{at:%Y-%m-%d %H:%M} UTC has passed: choose a later time, or publish now")
    post = find(tx, workspace_id, post_id, hold=Hold.CHANGE)
    if isinstance(post, NoSuchPost):
        return post
    gone: tuple[BadTarget, ...] = ()
    if targets is not None:
        targets, gone = set_aside_gone(tx, workspace_id, targets)
        if refused := check_targets(tx, workspace_id, targets):
            return refused
        if gone and not targets:
            return ScheduledAt((), gone)
    held = {(row.account_id, row.channel): row for row in hold_post(tx, workspace_id, post_id)}

    places = list(held) if targets is None else resolve_targets(tx, workspace_id, targets)
    if not places:
        return NoTarget()
    if when.seen_at is not None and (moved := _moved(places, held, as_utc(when.seen_at))):
        return moved
    here = [held[place] for place in places if place in held]
    new = compose_post(tx, post, [place for place in places if place not in held])
    moving = [row for row in here if row.state in MOVABLE]
    if unfit := refuse_unfit(tx, workspace_id, [*moving, *new], files):
        return unfit
    zones = _zones(tx, workspace_id, places, when)
    note = "this wall time does not exist that day: the clock goes on to the next" if mark else None
    answers = _move(tx, now, post, places, held, {a: _in(at, zones[a]) for a, _ in places}, note)
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="post.schedule_at",
        subject_id=post_id,
        after={"at": at.isoformat(), "places": [f"{account}/{c}" for account, c in places]},
    )
    return ScheduledAt(tuple(answers), gone)


def _moved(
    places: Sequence[tuple[str, Channel]],
    held: dict[tuple[str, Channel], Delivery],
    seen_at: datetime,
) -> MovedMeanwhile | None:
    """Name the first that does not stand where the caller saw it; what cannot move is told otherwise."""
    for place in places:
        row = held.get(place)
        if row is None:
            return MovedMeanwhile(None)
        if row.state in MOVABLE and row.due_at != seen_at:
            return MovedMeanwhile(row.due_at)
    return None


def _move(
    tx: Tx,
    now: datetime,
    post: Post,
    places: Sequence[tuple[str, Channel]],
    held: dict[tuple[str, Channel], Delivery],
    instants: dict[str, Instant],
    note: str | None,
) -> list[Timed | TooLate]:
    here = [held[place] for place in places if place in held]
    retime(tx, now, here, {row.id: instants[row.account_id] for row in here})
    ids = {place: row.id for place, row in held.items()}
    for account_id in dict.fromkeys(account for account, _ in places):
        to = instants[account_id]
        new = [place for place in places if place[0] == account_id and place not in held]
        ids.update(
            put_deliveries(tx, now, post, new, due_at=to.at, wall_time=to.wall_time, zone=to.zone)
        )
    answers: list[Timed | TooLate] = []
    warned = _with_warnings(tx, now, post, places, instants)
    for account_id, channel in places:
        row, to = held.get((account_id, channel)), instants[account_id]
        id_ = ids[account_id, channel]
        if row is not None and row.state not in MOVABLE:
            answers.append(TooLate(id_, account_id, channel, row.state))
            continue
        over = why_over_the_day(
            tx, now, workspace_id=post.workspace_id, account_id=account_id, at=to.at
        )
        answers.append(
            Timed(
                delivery_id=id_,
                account_id=account_id,
                channel=channel,
                due_at=to.at,
                wall_time=to.wall_time,
                zone=to.zone,
                note=note,
                warnings=(*((over,) if over else ()), *warned.get((account_id, channel.value), ())),
            )
        )
    return answers


def _with_warnings(
    tx: Tx,
    now: datetime,
    post: Post,
    places: Sequence[tuple[str, Channel]],
    instants: dict[str, Instant],
) -> dict[tuple[str, str], list[str]]:
    """Say of each place what would hurt then: a stop, a pause, a full quota, a repeat."""
    (at,) = {to.at for to in instants.values()}
    pieces = compose_post(tx, post, places)
    found: dict[tuple[str, str], list[str]] = {}
    for each in find_warnings(tx, now, workspace_id=post.workspace_id, pieces=pieces, at=at):
        found.setdefault((each.account_id, each.channel), []).append(each.message)
    return found


def _instant(when: When) -> tuple[datetime, bool]:
    """Return the instant, and whether its wall time fell into a gap."""
    if when.time.tzinfo is not None:
        return as_utc(when.time), False
    assert when.zone is not None
    found = resolve(when.time.date(), when.time.time(), get_zone(when.zone))
    return found.instants[0], found.mark is Mark.GAP


def _in(at: datetime, zone: Zone) -> Instant:
    wall = local(at, zone).replace(tzinfo=None).isoformat(timespec="minutes")
    return Instant(at, wall, zone.name)


def _zones(
    tx: Tx, workspace_id: str, places: Sequence[tuple[str, Channel]], when: When
) -> dict[str, Zone]:
    """Return the zone to show: the one that came with the time, else the account's."""
    accounts = sorted({account for account, _ in places})
    if when.zone is not None:
        return dict.fromkeys(accounts, get_zone(when.zone))
    rows = tx.all(
        """
        SELECT account.id, account.zone FROM TABLE(:ids) AS asked (id text)
        JOIN account ON account.workspace_id = :workspace_id AND account.id = asked.id
        """,
        workspace_id=workspace_id,
        ids=[(id_,) for id_ in accounts],
    )
    return {row["id"]: get_zone(row["zone"]) for row in rows}
