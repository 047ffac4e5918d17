"""The promises that hold at every instant, checked after every transaction and at every call.

Triggers write each change of a delivery down; one query reads the lanes with their counts, pauses and
revisions. What a transaction did to a delivery is judged twice: step by step (moves of state, fences) and
as a whole (instants and slots, since a reorder frees them all before it gives them out again).
"""

import re
from dataclasses import dataclass
from datetime import timedelta
from operator import itemgetter
from typing import Any

import msgspec

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries.gates import HURRY
from cadenza.deliveries.model import TRANSITIONS
from cadenza.sql.tx import to_microseconds
from tests.simulation.kernel import START
from tests.simulation.people import SHARED, People, seconds_of
from tests.simulation.stage import Stage, Wire

LATE_START = 2.0  # seconds for which a start of an app-wide rate may be used
CALL_BY = 30.0  # seconds after a permit by which the call has begun, at the very latest
NINE_FIFTY = 35_400.0  # the world's start, in seconds of its day
CLOSES = 35_520.0  # two minutes later accounts that keep hours end theirs, until the next begin
DAY = 86_400.0
IN_HAND = frozenset({"scheduled", "sending", "unconfirmed"})
FIXED = frozenset({"sent", "failed", "canceled", "missed", "skipped", "sending"})
_COLUMNS = (
    "id, account, lane, before, after, old, new, was_held, is_held, worker, old_due, new_due, old_slot,"
    " new_slot, approved, priority, content, paused, stopped, rewritten"
)
_TRIGGER = """
CREATE TRIGGER sim_watch AFTER UPDATE ON delivery
WHEN old.state <> new.state OR old.lease <> new.lease OR old.due_at <> new.due_at
    OR old.slot_at IS NOT new.slot_at OR old.content <> new.content OR (old.leased_until IS NULL) <> (new.leased_until IS NULL)
BEGIN INSERT INTO sim_move VALUES (
    new.id, new.account_id, new.lane_id, old.state, new.state, old.lease, new.lease,
    old.leased_until IS NOT NULL, new.leased_until IS NOT NULL, old.worker, old.due_at, new.due_at,
    old.slot_at, new.slot_at, new.approved, new.priority,
    CASE WHEN new.state = 'sending' THEN new.content END,
    (SELECT paused FROM lane WHERE workspace_id = new.workspace_id AND id = new.lane_id),
    (SELECT stopped_at IS NOT NULL FROM workspace WHERE id = new.workspace_id),
    old.content <> new.content
); END
"""
_LANES = """
SELECT lane.id, in_flight, paused, (
    SELECT count(*) FROM delivery WHERE leased_until IS NOT NULL AND delivery.lane_id = lane.id
) AS held, (
    SELECT revision FROM queue
    WHERE queue.workspace_id = lane.workspace_id AND queue.account_id = lane.account_id
) AS revision FROM lane
"""
_STOPPED = """
SELECT EXISTS (SELECT 1 FROM workspace WHERE stopped_at IS NOT NULL)
    OR EXISTS (SELECT 1 FROM installation WHERE held_at IS NOT NULL)
"""
_LEDGER = """
SELECT scope, period, taken, counted FROM (
    SELECT bucket.scope, period, taken, (
        SELECT count(*) FROM activity
        WHERE ('account:' || activity.account_id = bucket.scope OR lane_id = bucket.scope) AND counts
            AND strftime(
                CASE kind WHEN 'hour' THEN '%Y-%m-%dT%HZ' ELSE '%Y-%m-%d' END,
                reserved_at / 1000000, 'unixepoch') = period
    ) AS counted FROM bucket WHERE kind IN ('hour', 'day')
) WHERE taken <> counted
"""


_WAITS = """
SELECT message, attempt.ended_at, account_id FROM attempt JOIN delivery ON delivery.id = delivery_id
WHERE outcome = 'TryLater'
"""
_SLOW_DOWN = re.compile(r"(app|account) slow down for (\d+) s")


class Violated(Exception):
    """A promise is broken; the run ends."""


@dataclass(frozen=True, slots=True)
class Violation:
    """Which promise, and how."""

    promise: str
    message: str


@dataclass(slots=True)
class Permit:
    """When a delivery was last allowed to be called, and with which words."""

    at: float
    text: str


class Watch:
    """The checkers of one world that look on all the time."""

    def __init__(self, world: Stage, people: People) -> None:
        self._world = world
        self._people = people
        self._seen_moves = 0
        self._changes = -1
        self._revisions: dict[str, int] = {}
        self._paused_since: dict[str, float] = {}  # lanes; "": all, by a stop or a hold
        self._hours = any(account.hour_cap or account.day_cap for account in people.accounts)
        self._hours = self._hours or (
            people.shared is not None and people.shared.hour_cap is not None
        )
        self._kinds = {account.id: account.kind for account in people.accounts}
        self._last_start: tuple[float, float, str] | None = None  # when, by which skew, whose
        self._opens = {account.id: account.opens for account in people.accounts}
        self.permits: dict[str, Permit] = {}
        self.first: Violation | None = None

    def violate(self, promise: str, message: str) -> None:
        """Keep the first violation, and tell it."""
        if self.first is None:
            self.first = Violation(promise, message)
            self._world.tell("BROKEN", f"{promise}: {message}")

    def watch(self) -> None:
        """Have every move written down by the database itself."""
        raw = self._world.raw
        if not raw.execute("SELECT 1 FROM sqlite_schema WHERE name = 'sim_move'").fetchall():
            raw.execute(f"CREATE TABLE sim_move ({_COLUMNS})")
            raw.execute(_TRIGGER)
        raw.execute("DELETE FROM sim_move")

    def start_over(self) -> None:
        """Forget what was known of a database that went back."""
        self._seen_moves = (
            self._world.raw.execute("SELECT max(rowid) FROM sim_move").fetchone()[0] or 0
        )
        self._changes = -1
        self._revisions.clear()
        self._paused_since.clear()
        self._last_start = None

    def after_write(self) -> None:
        """Judge the transaction that has just been committed."""
        raw = self._world.raw
        if raw.total_changes == self._changes:
            return
        moves = raw.execute(
            "SELECT rowid, * FROM sim_move WHERE rowid > ?", (self._seen_moves,)
        ).fetchall()
        if moves:
            self._seen_moves = moves[-1][0]
        for _, *move in moves:
            self._check_move(*move)
        risen = self._check_lanes()
        whole: dict[str, list[Any]] = {}
        for _, *move in moves:
            whole.setdefault(move[0], []).append(move)
        for id_, steps in whole.items():
            self._check_instants(id_, steps[0], steps[-1], risen)
        if self._hours:
            for account, period, taken, counted in raw.execute(_LEDGER).fetchall():
                self.violate("P4", f"{account}'s {period} counts {taken}, the ledger {counted}")
        self._changes = raw.total_changes

    def _check_lanes(self) -> set[str]:
        """Compare counts, note pauses; return the lanes whose queue was changed."""
        risen: set[str] = set()
        ((stopped,),) = self._world.raw.execute(_STOPPED).fetchall()
        self._note_pause("", stopped)
        for lane, counted, paused, held, revision in self._world.raw.execute(_LANES).fetchall():
            if counted != held:
                self.violate("P4", f"{lane} counts {counted} in flight, and {held} are held")
            self._note_pause(lane, paused)
            if revision is None:
                continue
            before = self._revisions.get(lane, 0)
            if revision < before:
                self.violate("P10", f"the queue of {lane} went back from {before} to {revision}")
            if revision > before:
                risen.add(lane)
                self._revisions[lane] = revision
        return risen

    def _note_pause(self, lane: str, paused: bool) -> None:
        if not paused:
            self._paused_since.pop(lane, None)
        elif lane not in self._paused_since:
            self._paused_since[lane] = self._world.now()

    def _check_move(
        self,
        id_: str,
        account: str,
        lane: str,
        before: str,
        after: str,
        old: int,
        new: int,
        was_held: bool,
        is_held: bool,
        worker: str | None,
        _old_due: int,
        new_due: int,
        _old_slot: int | None,
        _new_slot: int | None,
        approved: bool,
        priority: int,
        content: str | None,
        paused: bool,
        stopped: bool,
        rewritten: bool,
    ) -> None:
        if before != after or old != new:
            self._world.tell("move", f"{id_} {before} -> {after}, lease {old} -> {new}")
        if before != after and (State(before), State(after)) not in TRANSITIONS:
            self.violate("P7", f"{id_} went from {before} to {after}")
        if rewritten and before in ("sending", "unconfirmed", "sent"):
            self.violate("P3", f"{id_} is {before}, and its words were changed")
        if after == "canceled" and (was_held or is_held):
            self.violate("P10", f"{id_} was canceled in the hands of {worker}")
        if new < old or (is_held and not was_held and new == old):
            self.violate("P7", f"the fence of {id_} did not rise from {old} to {new}")
        here = self._world.host_name()
        if was_held and not is_held and new == old and worker != here:
            self.violate("P7", f"{here} let go of {id_}, which {worker} holds")
        if self._world.lost is not None and after == "scheduled" and before not in IN_HAND:
            self._world.lost.requested.add(id_)  # a person brought it back
        if (before, after) != ("scheduled", "sending"):
            return
        free = priority <= HURRY or lane == SHARED  # of hours, which are those of posts
        self._check_permit(id_, account, new_due, content or "{}", hurried=free)
        self._check_waits(id_, account)
        if self._world.swarm.app_pace:
            self._check_pace(id_)
        if paused or stopped:
            self.violate("P6", f"{id_} was permitted while {lane} was paused or all was stopped")
        if not approved:
            self.violate("P3", f"{id_} was permitted and nobody approved it")

    def _check_permit(
        self, id_: str, account: str, due: int, content: str, *, hurried: bool
    ) -> None:
        world = self._world
        self.permits[id_] = Permit(world.now(), msgspec.json.decode(content).get("text", ""))
        if world.waits_for_word:
            self.violate("P2", f"{id_} was permitted after a restore, before a person's word")
        early = seconds_of(due) - max(world.stored(), world.now())  # a clock that stepped back
        if early > 0.001:
            self.violate("P5", f"{id_} was permitted {early:.3f} s early")
        if not hurried and self._is_closed(account):
            self.violate("P5", f"{id_} was permitted outside the hours of {account}")
        if world.jumped and not world.unseen:
            self.violate("P11", f"{id_} was permitted after the clock jumped, and nobody said so")

    def _is_closed(self, account: str) -> bool:
        opens = self._opens.get(account)
        return opens is not None and CLOSES <= (self._world.stored() + NINE_FIFTY) % DAY < opens

    def _check_waits(self, id_: str, account: str) -> None:
        """Nothing leaves while a network waits to be left alone: this account, or our whole app."""
        for heard, ended, other in self._world.raw.execute(_WAITS).fetchall():
            requested = _SLOW_DOWN.fullmatch(heard or "")
            if requested is None:
                continue
            reach, seconds = requested.groups()
            theirs = (
                self._kinds[other] == self._kinds[account] if reach == "app" else other == account
            )
            now = max(self._world.stored(), self._world.now())  # a clock that stepped back
            if theirs and seconds_of(ended) + int(seconds) > now:
                message = (
                    f"{id_} was permitted, and the network had asked {other} ({reach}) to wait"
                )
                self.violate("P4", f"{message} for {seconds} s at {seconds_of(ended):.0f} s")

    def _check_pace(self, id_: str) -> None:
        """Starts that all accounts share are so far apart; each may be used up to two seconds late."""
        here = (self._world.now(), self._world.clock.skew, id_)
        last, self._last_start = self._last_start, here
        if last is None or last[1] != here[1]:  # the clock stepped between the two
            return
        pace = self._world.swarm.app_pace
        if here[0] - last[0] < pace - LATE_START - 0.001:
            message = f"{id_} was permitted {here[0] - last[0]:.1f} s after {last[2]}"
            self.violate("P4", f"{message}; all accounts together may start every {pace:.0f} s")

    def _check_instants(self, id_: str, first: Any, last: Any, risen: set[str]) -> None:
        """Judge where a delivery stood before the transaction, and where it stands after it."""
        lane, before, after, held = first[2], first[3], last[4], first[7] and last[8]
        was, now = itemgetter(10, 12)(first), itemgetter(11, 13)(last)
        if was == now:
            return
        if before == after and before in FIXED:
            self.violate("P10", f"{id_} is {before} and was moved")
        if held and was[1] != now[1]:
            self.violate("P10", f"{id_} was moved in the hands of {first[9]}")
        if was[1] is not None and now[1] is not None and was[1] != now[1] and lane not in risen:
            self.violate("P10", f"{id_} got another slot, and the revision of {lane} did not rise")
        # A try that was put off keeps its slot; whoever gets a slot is due then.
        if after in ("draft", "scheduled") and was[1] != now[1] and now[1] not in (None, now[0]):
            self.violate("P9", f"{id_} holds a slot and is due at another instant")

    def on_the_wire(self, wire: Wire) -> None:
        """Judge a call that begins."""
        if wire.repeat:
            self._check_repeat(wire)
            return
        for lane in ("", wire.lane):  # for a thread's later parts as well
            since = self._paused_since.get(lane)
            if since is not None and self._world.now() > since + CALL_BY:
                self.violate("P6", f"{wire.delivery} was called long after a stop or a pause")
        if wire.part:
            return
        permit = self.permits.get(wire.delivery)
        if permit is None:
            self.violate("P2", f"{wire.delivery} was called without a permit")
        elif self._world.now() > permit.at + CALL_BY:
            late = self._world.now() - permit.at
            self.violate("P6", f"{wire.delivery} was called {late:.0f} s after its permit")
        elif wire.text != permit.text:
            self.violate("P3", f"{wire.delivery} said {wire.text!r}, permitted was {permit.text!r}")

    def _check_repeat(self, wire: Wire) -> None:
        """A call that is made to find out may be the first to arrive: what holds a call holds it."""
        for lane in ("", wire.lane):
            since = self._paused_since.get(lane)
            if since is not None and self._world.now() > since + CALL_BY:
                message = f"{wire.delivery} was called to find out, long after a stop or a pause"
                self.violate("P6", message)
        (priority,) = self._world.raw.execute(
            "SELECT priority FROM delivery WHERE id = ?", (wire.delivery,)
        ).fetchone() or (0,)
        free = priority <= HURRY or wire.lane == SHARED
        if not free and self._is_closed(wire.account):
            message = f"{wire.delivery} was called to find out, outside the hours of {wire.account}"
            self.violate("P5", message)


def micro(at: float) -> int:
    """Return virtual seconds as the database keeps instants."""
    return to_microseconds(START + timedelta(seconds=at))
