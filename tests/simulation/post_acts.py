"""What users do with posts, doubts, accounts and the workspace; what they do with queues is in `users.py`.

Whoever settles an unconfirmed send looks at the network itself, and no earlier than anything could still arrive.
`VERBS` is all that users do, the plain things first.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Any

from cadenza.accounts.require_reconnect import require_reconnect
from cadenza.deliveries.change import decide_unconfirmed
from cadenza.posts.approve import approve, unapprove
from cadenza.posts.edit import Change, edit
from cadenza.posts.publish_now import publish_now
from cadenza.posts.retry import retry
from cadenza.queues import stop
from cadenza.queues.missed import rescue_missed
from cadenza.queues.model import locks
from cadenza.queues.resume import ResumeChoice
from cadenza.sql.tx import Row, Tx
from tests.simulation.network import LAG
from tests.simulation.people import HOME, Account
from tests.simulation.users import (
    Users,
    Verb,
    add_post,
    change_order,
    change_schedule,
    clear_or_undo,
    connect,
    key_of,
    pause_or_resume,
    resume_queue,
    skip_a_slot,
)

QUIET = LAG + 25.0  # seconds after which nothing of a call can still become visible


async def send_now(users: Users, account: Account, by: str) -> None:
    """Publish a post now, or try what failed again, or go on with what was missed."""
    tape = users.world.tape
    if not users.posts:
        return
    post = tape.one_of(sorted(users.posts))
    request = tape.one_of([ResumeChoice.SHIFT, ResumeChoice.SEND, ResumeChoice.DRAFT])
    verbs: list[Callable[[Tx, datetime], Any]] = [
        lambda tx, now: publish_now(tx, now, workspace_id=HOME, post_id=post, by=by),
        lambda tx, now: retry(tx, now, workspace_id=HOME, post_id=post, by=by),
        lambda tx, now: rescue_missed(tx, now, choice=request, by=by, **key_of(account)),
    ]
    answer = await users.people.insist(
        tape.one_of(verbs), locks=locks(HOME, *(each.id for each in users.people.accounts))
    )
    users.say(by, f"sends {post} now, or again: {type(answer).__name__}")


async def edit_post(users: Users, account: Account, by: str) -> None:
    """Change what a post says, approve it, or take the approval back."""
    tape = users.world.tape
    if not users.posts:
        return
    post = tape.one_of(sorted(users.posts))
    seen = users.posts[post]
    text, ok = f"{post} as {by} has it, {tape.below(100)}", tape.one_of((None, False))
    verbs: list[Callable[[Tx, datetime], Any]] = [
        lambda tx, now: edit(
            tx,
            now,
            workspace_id=HOME,
            post_id=post,
            revision=seen,
            change=Change(text=text),
            by=by,
            approve=ok,
        ),
        lambda tx, now: approve(tx, now, workspace_id=HOME, post_id=post, by=by),
        lambda tx, now: unapprove(tx, now, workspace_id=HOME, post_id=post, by=by),
    ]
    answer = await users.people.insist(tape.one_of(verbs))
    current = getattr(answer, "current", None)
    users.posts[post] = getattr(answer, "revision", None) or getattr(current, "revision", seen)
    users.say(by, f"edits or approves {post}: {type(answer).__name__}")


async def settle_unconfirmed(users: Users, account: Account, by: str) -> None:
    """Look at the network, then say whether a post unconfirmed is there."""
    world = users.world
    rows = await users.look(
        lambda tx, _: tx.all(
            """
            SELECT id, lease, (
                SELECT part FROM attempt WHERE delivery_id = delivery.id
                ORDER BY lease DESC, part DESC LIMIT 1
            ) AS part FROM delivery WHERE state = 'unconfirmed' AND account_id = :id ORDER BY id
            """,
            id=account.id,
        )
    )
    for row in rows or ():
        calls = [wire for wire in world.wires if wire.delivery == row["id"]]
        if not calls or calls[-1].called + QUIET > world.now():
            continue
        there = any(w.visible is not None for w in calls if w.part == row["part"])
        more = any(w.visible is not None for w in calls if w.part > row["part"])
        await users.ask(account, _decision(row, is_there=there, rest=not more))
        seen = f"part {row['part']} of {row['id']} is {'' if there else 'not '}there"
        users.say(by, f"looked: {seen}")


def _decision(row: Row, *, is_there: bool, rest: bool) -> Callable[[Tx, datetime], Any]:
    return lambda tx, now: decide_unconfirmed(
        tx,
        now,
        workspace_id=HOME,
        id=row["id"],
        fence=row["lease"],
        is_there=is_there,
        remote_id=f"seen-{row['part']}",
        rest=rest,
    )


async def lose_and_reconnect(users: Users, account: Account, by: str) -> None:
    """The network takes the right away; somebody connects again and chooses what becomes of the rest."""
    tape = users.world.tape
    await users.ask(
        account,
        lambda tx, now: require_reconnect(tx, now, message="signed out", **key_of(account)),
    )
    users.say(by, f"{account.id} is signed out")
    await asyncio.sleep(tape.seconds(120))
    choice = tape.one_of(list(ResumeChoice))
    tokens = users.people.sign_in(account)
    await users.ask(account, lambda tx, now: connect(tx, now, account, tokens))
    await users.ask(account, lambda tx, now: resume_queue(tx, now, account, choice))
    users.say(by, f"{account.id} is connected again: {choice}")


async def stop_and_start(users: Users, account: Account, by: str) -> None:
    """Stop the whole workspace for a while."""
    tape = users.world.tape
    all_locks = locks(HOME, *(each.id for each in users.people.accounts))
    await users.people.insist(
        lambda tx, now: stop.stop(tx, now, workspace_id=HOME, reason="wait", by=by)
    )
    users.say(by, "stops everything")
    await asyncio.sleep(tape.seconds(90))
    choice = tape.one_of(list(ResumeChoice))
    await users.people.insist(
        lambda tx, now: stop.start(tx, now, workspace_id=HOME, by=by, choice=choice),
        locks=all_locks,
    )
    users.say(by, f"starts everything: {choice}")


VERBS: tuple[Verb, ...] = (
    add_post,
    add_post,
    add_post,
    change_order,
    change_order,
    pause_or_resume,
    clear_or_undo,
    skip_a_slot,
    change_schedule,
    send_now,
    edit_post,
    settle_unconfirmed,
    lose_and_reconnect,
    stop_and_start,
)
