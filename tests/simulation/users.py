"""Ada, Ben and Cy at once: posts and queues, each from a screen of their own that may be old by now.

What they ask is one act each: look, think for a while, ask; whoever gets no answer asks again. Each answer
is held against what it promises: a reorder deals the same instants again on top of the revision that was
seen, a resume is no flood. What they do with posts and accounts is in `post_acts.py`.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import inf
from typing import Any, TypeAlias

from cadenza.accounts.connect import reconnect
from cadenza.core.channels import Channel
from cadenza.posts.create import Created, create
from cadenza.posts.model import NewPost
from cadenza.providers.connect import Connected
from cadenza.providers.message import Tokens
from cadenza.queues import reorder, schedule, stop, store
from cadenza.queues.add import Added, Queued, To, add
from cadenza.queues.assign_slots import ALL, entries
from cadenza.queues.change import How, change
from cadenza.queues.clear import Cleared, clear, clear_post
from cadenza.queues.model import Queue, locks
from cadenza.queues.pause import pause
from cadenza.queues.resume import ResumeChoice, Resumed, resume
from cadenza.queues.skip import skip, skip_next, unskip
from cadenza.queues.undo import undo
from cadenza.sql.errors import SqlError
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Row, Tx
from tests.simulation.grants import RING
from tests.simulation.people import HOME, Account, People, Promised
from tests.simulation.stage import Stage

Verb: TypeAlias = Callable[["Users", Account, str], Coroutine[Any, Any, None]]


@dataclass(slots=True)
class Screen:
    """What somebody saw of a queue."""

    revision: int
    ids: list[str]


@dataclass(slots=True)
class Users:
    """All who work on posts and queues in one world."""

    world: Stage
    people: People
    operations: Operations
    violate: Callable[[str, str], None]
    posts: dict[str, int] = field(default_factory=dict[str, int])  # and the revision last seen
    clears: list[str] = field(default_factory=list[str])
    made: int = 0

    def settle_in(self) -> None:
        """Give every account a queue, before anything else happens."""
        for account in self.people.accounts:
            self.people.at_once(
                lambda tx, now, account=account: schedule.write(
                    tx,
                    now,
                    workspace_id=HOME,
                    account_id=account.id,
                    slots=week(account.pitch),
                    by="member:ada",
                    max_per_day=account.max_per_day,
                )
            )

    async def work(self, name: str, verbs: Sequence[Verb]) -> None:
        """Do one thing after the other."""
        tape, by = self.world.tape, f"member:{name}"
        for _ in range(self.world.swarm.acts):
            await asyncio.sleep(1 + tape.seconds(60))
            verb, account = tape.one_of(verbs), tape.one_of(self.people.accounts)
            if tape.below(2):
                await self._wait_for_a_call(account)
            if self.world.healed_at is not None:
                return
            try:
                await verb(self, account, by)
            except Exception as error:  # noqa: BLE001 - whatever it is, an answer is a value
                message = f"{type(error).__name__}: {error}"
                self.violate("P14", f"{verb.__name__} on {account.id} raised {message}")

    async def _wait_for_a_call(self, account: Account) -> None:
        """Act while something of the account is on the wire: that is where acts and workers meet."""
        wires = self.world.wires
        for _ in range(40):
            if any(w.account == account.id and w.ended > self.world.now() for w in wires[-3:]):
                return
            await asyncio.sleep(0.7)

    def say(self, by: str, text: str) -> None:
        """Tell the story what somebody did."""
        self.world.tell("user", f"{by.partition(':')[2]}: {text}")

    async def ask(self, account: Account, operation: Callable[[Tx, datetime], Any]) -> Any:
        """Ask with the account's lock."""
        return await self.people.insist(operation, locks=locks(HOME, account.id))

    async def look(self, operation: Callable[[Tx, datetime], Any]) -> Any:
        """Read what a screen shows; None: it shows an error."""
        try:
            return await self.operations.read(operation)
        except SqlError:
            return None

    def open_all(self) -> None:
        """The time of trouble is over: reconnect what was lost, start and resume everything."""
        at_once = self.people.at_once
        for account in self.people.accounts:
            tokens = self.people.sign_in(account)
            at_once(lambda tx, now, a=account, t=tokens: connect(tx, now, a, t))
        at_once(lambda tx, now: stop.start(tx, now, workspace_id=HOME, by="member:ada"))
        for account in self.people.accounts:
            at_once(
                lambda tx, now, account=account: resume_queue(tx, now, account, ResumeChoice.SHIFT)
            )


def week(pitch: int, first: int = 592) -> dict[str, list[str]]:
    """Write a schedule with sixteen slots, every few minutes from 09:52 on, today and tomorrow."""
    minutes = range(first, first + 16 * pitch, pitch)
    return {str(day): [f"{m // 60:02}:{m % 60:02}" for m in minutes] for day in (1, 2)}


def key_of(account: Account) -> dict[str, Any]:
    return {"workspace_id": HOME, "account_id": account.id}


def connect(tx: Tx, now: datetime, account: Account, tokens: Tokens) -> object:
    connected = Connected(
        remote_id=account.id,
        handle=account.id,
        name=account.id,
        tokens=tokens,
    )
    return reconnect(tx, now, connected=connected, ring=RING, **key_of(account))


def resume_queue(tx: Tx, now: datetime, account: Account, choice: ResumeChoice) -> Any:
    return resume(tx, now, by="member:ada", choice=choice, **key_of(account))


async def add_post(users: Users, account: Account, by: str) -> None:
    """Write a post and queue it."""
    tape, world = users.world.tape, users.world
    users.made += 1
    text, parts = f"post {users.made}", tape.one_of((0, 0, 0, 1))
    new = NewPost(workspace_id=HOME, text=text, parts=("more",) * parts)
    requested = None if tape.below(4) < 3 else False
    made = await users.people.insist(lambda tx, now: create(tx, now, new, by=by, approve=requested))
    if not isinstance(made, Created):
        return
    users.posts[made.id] = 1
    several = users.people.accounts if tape.below(3) == 2 else [account]
    places = [(each.id, Channel.MASTODON) for each in several]
    to = tape.one_of((To.FIRST_FREE, To.END, To.NEXT, None))
    at = world.clock.now() + timedelta(seconds=tape.seconds(120))
    answer = await users.people.insist(
        lambda tx, now: add(
            tx, now, workspace_id=HOME, post_id=made.id, by=by, targets=places, to=to or at
        ),
        locks=locks(HOME, *(each.id for each in several)),
    )
    for each in answer.answers if isinstance(answer, Added) else ():
        if isinstance(each, Queued):
            users.say(by, f"{made.id} stands in {each.account_id}'s queue at {each.at:%H:%M}")
            for id_ in each.ids:
                users.people.promised[id_] = Promised(id_, each.account_id, -inf, 1 + parts)


async def see(users: Users, account: Account) -> Screen | None:
    """Look at a queue."""

    def read(tx: Tx, _: datetime) -> Screen | None:
        queue = store.read(tx, **key_of(account))
        if not isinstance(queue, Queue):
            return None
        return Screen(queue.revision, [entry.id for entry in entries(tx, queue, page=ALL)])

    return await users.look(read)


async def ask_reorder(
    users: Users, account: Account, by: str, screen: Screen, order: Sequence[str]
) -> Any:
    """Ask for an order of what was on the screen; a mutant does it in its own way."""

    def run(tx: Tx, now: datetime) -> Any:
        before = _held(tx, account)
        answer = reorder.reorder(
            tx, now, ids=order, revision=screen.revision, by=by, **key_of(account)
        )
        if before != _held(tx, account):
            users.violate("P10", f"a reorder of {account.id} changed which instants are held")
        return answer

    return await users.ask(account, run)


def _held(tx: Tx, account: Account) -> list[Row]:
    return tx.all(
        "SELECT slot_at FROM delivery WHERE workspace_id = :workspace_id AND account_id = :account_id"
        " AND slot_at IS NOT NULL AND state IN ('draft', 'scheduled', 'sending', 'unconfirmed')"
        " ORDER BY slot_at",
        **key_of(account),
    )


async def change_order(users: Users, account: Account, by: str) -> None:
    """Drag posts about, on a screen that may be old."""
    tape = users.world.tape
    screen = await see(users, account)
    if screen is None or len(screen.ids) < 2:
        return
    await asyncio.sleep(tape.seconds(30))
    order = list(screen.ids)
    for last in range(len(order) - 1, 0, -1):
        other = last - tape.below(last + 1)
        order[last], order[other] = order[other], order[last]
    answer = await ask_reorder(users, account, by, screen, order)
    if isinstance(answer, reorder.Reordered) and answer.moved:
        users.say(by, f"{account.id}'s queue is {', '.join(order)}")
        if answer.revision != screen.revision + 1:
            message = f"{by} saw revision {screen.revision} and changed {answer.revision - 1}"
            users.violate("P10", f"a change of {account.id}'s queue was overwritten: {message}")


async def pause_or_resume(users: Users, account: Account, by: str) -> None:
    """Pause, for a while or until somebody resumes; or resume."""
    tape = users.world.tape
    if not tape.below(2):
        until = users.world.clock.now() + timedelta(seconds=60 + tape.seconds(120))
        ends = until if tape.below(2) else None
        await users.ask(
            account,
            lambda tx, now: pause(tx, now, reason="rest", by=by, until=ends, **key_of(account)),
        )
        users.say(by, f"{account.id}'s queue is paused")
        return
    choice = tape.one_of(list(ResumeChoice))

    def run(tx: Tx, now: datetime) -> Any:
        answer = resume_queue(tx, now, account, choice)
        if isinstance(answer, Resumed):
            _check_no_flood(users, tx, now, account, choice)
        return answer

    if isinstance(await users.ask(account, run), Resumed):
        users.say(by, f"{account.id}'s queue is resumed: {choice}")


def _check_no_flood(
    users: Users, tx: Tx, now: datetime, account: Account, choice: ResumeChoice
) -> None:
    due = tx.value(
        "SELECT count(DISTINCT coalesce(post_id, id)) FROM delivery WHERE workspace_id = :workspace_id"
        " AND account_id = :account_id AND action = 'post' AND state = 'scheduled'"
        " AND leased_until IS NULL AND due_at <= :now",
        now=now,
        **key_of(account),
    )
    if due > (1 if choice is ResumeChoice.SEND else 0):
        users.violate("P12", f"{due} posts of {account.id} go at once after a resume ({choice})")


async def clear_or_undo(users: Users, account: Account, by: str) -> None:
    """Clear a queue, or one post everywhere, or take a clear back."""
    tape = users.world.tape
    match tape.below(3):
        case 0:
            answer = await users.ask(
                account, lambda tx, now: clear(tx, now, by=by, **key_of(account))
            )
        case 1 if users.posts:
            post = tape.one_of(sorted(users.posts))
            answer = await users.people.insist(
                lambda tx, now: clear_post(tx, now, workspace_id=HOME, post_id=post, by=by),
                locks=locks(HOME, *(each.id for each in users.people.accounts)),
            )
        case _ if users.clears:
            name = tape.one_of(users.clears)
            answer = await users.people.insist(
                lambda tx, now: undo(tx, now, workspace_id=HOME, clear_id=name, by=by),
                locks=locks(HOME, *(each.id for each in users.people.accounts)),
            )
            users.say(by, f"takes back the clear {name}")
        case _:
            return
    if isinstance(answer, Cleared) and answer.clear_id is not None:
        users.clears.append(answer.clear_id)
        users.say(by, f"cleared {', '.join(answer.canceled)}")


async def skip_a_slot(users: Users, account: Account, by: str) -> None:
    """Leave a slot out, or offer what was left out again."""
    tape, key = users.world.tape, key_of(account)
    minute = users.world.clock.now().replace(second=0, microsecond=0)
    instants = [minute + timedelta(minutes=1 + tape.below(10))]
    verbs: list[Callable[[Tx, datetime], Any]] = [
        lambda tx, now: skip_next(tx, now, by=by, **key),
        lambda tx, now: skip(tx, now, by=by, instants=instants, **key),
        lambda tx, now: unskip(tx, now, by=by, **key),
    ]
    answer = await users.ask(account, tape.one_of(verbs))
    users.say(by, f"skips in {account.id}'s queue: {type(answer).__name__}")


async def change_schedule(users: Users, account: Account, by: str) -> None:
    """Give a queue other times or another maximum."""
    tape = users.world.tape
    slots, how = week(1 + tape.below(3), 592 + tape.below(3)), tape.one_of(list(How))
    cap = tape.one_of((None, None, 3))
    answer = await users.ask(
        account,
        lambda tx, now: change(
            tx,
            now,
            by=by,
            slots=slots,
            how=how,
            max_per_day=cap,
            no_max_per_day=cap is None,
            **key_of(account),
        ),
    )
    users.say(by, f"changes {account.id}'s schedule ({how}): {type(answer).__name__}")
