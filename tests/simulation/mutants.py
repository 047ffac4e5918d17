"""Planted mistakes: each is a bug that a scheduler has had or that this road once had.

A mutant rewrites the SQL of an operation, replaces one function, or takes the host's clock for the
database's; it is planted for one run and pulled again. The simulation is only worth something while it
kills every one of them. A rewrite whose words are no longer in the product counts as alive.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from types import ModuleType
from typing import Any

from cadenza.accounts import refresh
from cadenza.core.budgets import MinGap
from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import (
    claim,
    gates,
    installation,
    permit,
    permit_repeat,
    publish,
    rate_limit_waits,
    read_budgets,
    reconcile,
    refuse,
    request_permit,
    rescue,
    rewrite,
    settle,
    transition,
)
from cadenza.deliveries.change import ChangedDelivery
from cadenza.deliveries.gates import Pass
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.refund import refund
from cadenza.providers.outcome import Unconfirmed, WaitScope
from cadenza.queues import reorder, resume, store
from cadenza.queues.assign_slots import ALL, assign_slots, entries
from cadenza.queues.model import Moved, Queue
from tests.simulation import duties, people, users
from tests.simulation.people import HOME

Patch = tuple[ModuleType, str, Any]


@dataclass(slots=True)
class Mutant:
    """One mistake."""

    name: str
    swaps: tuple[tuple[str, str], ...] = ()  # words of SQL, and what stands there instead
    patches: tuple[Patch, ...] = ()
    gate: str | None = None  # the gate that is left open
    host_clock: bool = False
    hits: int = 0  # how often its words were met
    _before: list[Any] = field(default_factory=list[Any])

    @property
    def rewrite(self) -> Callable[[str], str] | None:
        return self._rewrite if self.swaps else None

    def _rewrite(self, sql: str) -> str:
        for words, instead in self.swaps:
            if words in sql:
                self.hits += 1
                sql = sql.replace(words, instead)
        return sql

    def plant(self) -> None:
        """Put it in; `pull` takes it out."""
        self._before = [getattr(module, name) for module, name, _ in self.patches]
        for module, name, instead in self.patches:
            setattr(module, name, instead)
        if self.gate is not None:
            self._before.append(gates.GATES)
            gates.GATES = {**gates.GATES, self.gate: lambda _facts: Pass("left open")}

    def pull(self) -> None:
        """Leave no trace."""
        if self.gate is not None:
            gates.GATES = self._before.pop()
        for (module, name, _), before in zip(self.patches, self._before, strict=True):
            setattr(module, name, before)


_decide, _save_evidence = settle._decide, settle._save_evidence
_armed, _release = permit._armed, claim.release
_rules, _scope_of = read_budgets._rules, rate_limit_waits.scope_of


def _blind(now: Any, result: Any) -> settle.Decision:
    if isinstance(result.outcome, Unconfirmed):
        return settle.Decision(
            State.SCHEDULED, Reason.of(Code.SENT_AGAIN), now + timedelta(seconds=5)
        )
    return _decide(now, result)


def _refund_unconfirmed(tx: Any, now: Any, results: Any) -> Any:
    exchanges = _save_evidence(tx, now, results)
    for result in results:
        if isinstance(result.outcome, Unconfirmed):
            id_ = result.attempt_id
            tx.run("UPDATE activity SET counts = false WHERE attempt_id = :id", id=id_)
            refund(tx, [(result.ticket.workspace_id, id_)])
    return exchanges


def _forget_the_call(tx: Any, now: Any, moves: Any) -> Any:
    """Let what may have been sent wait again."""
    lost = [each._replace(to=State.SCHEDULED) for each in moves]
    return transition.move(tx, now, lost)


def _leave_it_sending(tx: Any, now: Any, moves: Any) -> Any:
    """Let go of a refused part without a word of where its delivery stands."""
    fences = [each.delivery.fence for each in moves]
    tx.run(
        """
        UPDATE delivery SET leased_until = NULL, worker = NULL
        FROM TABLE(:held) AS given (workspace_id text, id text, held bigint)
        WHERE delivery.workspace_id = given.workspace_id AND delivery.id = given.id AND lease = held
        """,
        held=fences,
    )


def _arm_at_reservation(budget: Any, *, busy_until: Any) -> Any:
    return budget


def _arm_for_the_call(budget: Any, *, busy_until: Any) -> Any:
    gap = budget.gap if isinstance(budget, MinGap) else timedelta()
    return _armed(budget, busy_until=busy_until - gap)


def _leave_anyway(tx: Any, now: Any, tickets: Any) -> int:
    given = _release(tx, now, tickets)
    if given < len(tickets):
        claim.free_lane_room(tx, [ticket.delivery for ticket in tickets])
    return given


def _nothing(*_args: Any, **_kwargs: Any) -> None: ...


def _read_then_write(tx: Any, now: Any, **named: Any) -> Any:
    """Cancel by id alone, whatever it is doing by now."""
    tx.run(
        "UPDATE delivery SET state = 'canceled' WHERE id = :id AND state IN ('scheduled', 'sending')",
        id=named["id"],
    )
    return ChangedDelivery(State.CANCELED)


async def _read_compute_write(
    team: users.Users, account: Any, _by: str, _screen: Any, order: Any
) -> Any:
    """Reorder as a browser would: read all, deal out again, write back what was computed."""

    def read(tx: Any, _now: Any) -> Any:
        queue = store.read(tx, workspace_id=HOME, account_id=account.id)
        assert isinstance(queue, Queue)
        return queue, list(entries(tx, queue, page=ALL))

    seen = await team.look(read)
    if seen is None:
        return None
    queue, line = seen
    place_of = {id_: at for at, id_ in enumerate(order)}
    wanted = sorted(line, key=lambda entry: place_of.get(entry.id, len(order)))
    held = sorted((entry.at, entry.wall_time) for entry in wanted)
    moves = [
        (entry, at, wall) for entry, (at, wall) in zip(wanted, held, strict=True) if at != entry.at
    ]

    def write(tx: Any, now: Any) -> Any:
        moved: tuple[Moved, ...] = tuple(
            assign_slots(tx, now, queue, moves, by="member:ada", why="a mistake")
        )
        store.rise(tx, now, queue)
        return reorder.Reordered(moved, (), queue.revision + 1)

    return await team.ask(account, write)


def _for_one(reach: Any, account: Any, recipient: Any) -> Any:
    """Let a wait that is the whole app's be kept by one account."""
    return _scope_of(WaitScope.ACCOUNT if reach is WaitScope.APP else reach, account, recipient)


def _rules_of_accounts(tx: Any, requested: Any) -> Any:
    found = _rules(tx, requested)
    return {scope: rules for scope, rules in found.items() if scope[1].startswith("account:")}


class _Never:
    """What no outcome is."""


HELD = transition.HELD
CLEARED = "state IN ('draft', 'scheduled') AND leased_until IS NULL"
AT_REST = f"leased_until IS NULL AND {transition.POSTS} AND state IN ('draft', 'scheduled')"
MUTANTS = {
    mutant.name: mutant
    for mutant in (
        Mutant("settle has no fence", swaps=((HELD, "state <> 'draft'"),)),
        Mutant(
            "settle ignores the lease",
            swaps=((HELD, "leased_until IS NOT NULL AND state IN ('scheduled', 'sending')"),),
        ),
        Mutant("the fence never rises", swaps=(("lease = lease + 1", "lease = lease"),)),
        Mutant("permit reserves nothing", patches=((permit, "_write_buckets", _nothing),)),
        Mutant("an unconfirmed send is sent again", patches=((settle, "_decide", _blind),)),
        Mutant("pause is asked at the claim only", gate="lane"),
        Mutant(
            "a gap counts from the reservation",
            patches=(
                (permit, "_armed", _arm_at_reservation),
                (settle, "rearm_gaps", _nothing),
            ),
        ),
        Mutant("a crash forgets the gap", patches=((permit, "_armed", _arm_for_the_call),)),
        Mutant("rescue sends again", patches=((rescue, "move", _forget_the_call),)),
        Mutant("the worker's clock decides", host_clock=True),
        Mutant(
            "an unconfirmed send is refunded",
            patches=((settle, "_save_evidence", _refund_unconfirmed),),
        ),
        Mutant(
            "an old permit is used",
            patches=((publish, "FRESH", float("inf")), (publish, "PROMPT", float("inf"))),
        ),
        Mutant(
            "doubts are looked into at once",
            patches=((reconcile, "SEND_TIMEOUT", timedelta(seconds=-30)),),
        ),
        Mutant(
            "a thread asks nobody between its parts",
            patches=((permit, "refusal_between", lambda _facts: None),),
        ),
        Mutant(
            "finding out asks nobody",
            patches=((request_permit, "permit_repeat", lambda _tx, now, _doubt, **_: now),),
        ),
        Mutant(
            "finding out asks for no gap",
            patches=((permit_repeat, "_too_near", lambda _tx, _facts, _doubt: None),),
        ),
        Mutant(
            "finding out arms no gap",
            patches=((permit_repeat, "_take", _nothing),),
        ),
        Mutant(
            "finding out asks for no hours",
            patches=((permit_repeat, "ASKED", tuple(set(permit_repeat.ASKED) - {"hours"})),),
        ),
        Mutant("a release leaves the lane twice", patches=((claim, "release", _leave_anyway),)),
        Mutant("permit asks for no lease", patches=((permit, "_still_ours", lambda *_: True),)),
        Mutant("cancel takes what is on the wire", patches=((people, "cancel", _read_then_write),)),
        Mutant("a refused part stays sending", patches=((refuse, "move_held", _leave_it_sending),)),
        Mutant(
            "a part is kept by luck",
            swaps=(("SET parts_sent = :parts,", "SET parts_sent = parts_sent,"),),
        ),
        Mutant(
            "evidence gives back twice",
            swaps=(("AND state IN ('reserved', 'unconfirmed')", ""),),
        ),
        Mutant(
            "a reorder reads, computes, writes",
            patches=((users, "ask_reorder", _read_compute_write),),
        ),
        Mutant(
            "clear cancels what is in flight",
            swaps=(
                (CLEARED, "state IN ('draft', 'scheduled', 'sending')"),
                (AT_REST, "state IN ('draft', 'scheduled', 'sending')"),
            ),
        ),
        Mutant("a resume floods", patches=((resume, "_do", _nothing),)),
        Mutant(
            "an edit changes what is being sent",
            patches=((rewrite, "FROZEN", frozenset({State.SENT})),),
        ),
        Mutant("the brake is off", gate="installation", patches=((duties, "OBEY", False),)),
        Mutant(
            "doubts are judged while their call may still arrive",
            patches=(
                (reconcile, "_span", lambda _doubt: 0.0),
                (reconcile, "nothing_arrives_after", lambda attempt: attempt.began_at),
            ),
        ),
        Mutant(
            "a restored database is not noticed",
            patches=((installation, "_went_back", lambda *_: None),),
        ),
        Mutant(
            "a restored database sends what is overdue",
            patches=((installation, "_miss_overdue", _nothing),),
        ),
        Mutant("hours are not asked", gate="hours"),
        Mutant("a stop stops nothing", gate="workspace"),
        Mutant("an app's wait holds one account", patches=((settle, "scope_of", _for_one),)),
        Mutant(
            "an app's rate is asked by nobody",
            gate="provider rate",
            patches=((permit, "provider_free", lambda _facts: Pass("left open")),),
        ),
        Mutant(
            "a shared lane has no limits", patches=((read_budgets, "_rules", _rules_of_accounts),)
        ),
        Mutant(
            "a refresh under way is not seen",
            swaps=(("SET refresh_until = :until, refresh_lease", "SET refresh_lease"),),
        ),
        Mutant("an unconfirmed refresh is made again", patches=((refresh, "Unconfirmed", _Never),)),
        Mutant(
            "nobody takes back",
            swaps=(("leased_until IS NOT NULL AND leased_until <= :now", "leased_until < 0"),),
        ),
    )
}
