"""The gates: one ordered list of named checks for the permit, for `explain`, and for a forecast.

Each gate is a pure function of `Facts` and answers with a pass or a refusal: terminal ones end the
delivery, deferring ones let it wait, with the reason, the time it may go, and who can change that.
None uses up an attempt. Budgets are asked last, all or nothing, in key order.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from cadenza.accounts.model import Account
from cadenza.core.budgets import Allowed, Budget, Refused, allows
from cadenza.core.quiet import open_hours
from cadenza.core.rollup import DeliveryState as State
from cadenza.core.windows import Hours, is_open, next_common_opening, next_opening
from cadenza.deliveries.model import Action, Delivery, Lane, NetworkWait, ProviderRate, Workspace
from cadenza.deliveries.read_day import Day
from cadenza.deliveries.read_recipients import Contacts, RecipientChannel
from cadenza.deliveries.reasons import Code, Reason

HURRY = -100  # the priority of what a person wants out now: it passes slots, days and hours
A_BLOCK = timedelta(seconds=1)  # how far ahead workers lease starts of an app-wide rate
BRAKE = timedelta(minutes=5)  # a clock that jumps further holds sending
NETWORK = "network"  # the gate's name
GONE = "disabled"  # the state of an account that a person let go
RECIPIENT_CAP = "recipient cap"  # the gate's name
RECIPIENT_HOURS = "recipient hours"  # the gate's name
QUIET = "quiet hours"  # the gate's name
MAX_PER_DAY = "max per day"  # the gate's name: lanes that it parked are the queue's to clear
NOT_GIVEN = "no reason given"
NO_PARTS = "[]"  # of a thread are out
SOON = timedelta(seconds=10)  # by then a worker has given a sign of life, or held all
RESCHEDULE = "an editor can reschedule it"
OPERATOR = "an operator, with `cadenza db confirm`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that is known of a delivery at one instant, read in one transaction."""

    now: datetime
    delivery: Delivery
    workspace: Workspace
    account: Account
    lane: Lane
    account_lane: Lane | None = (
        None  # the account's own; what a campaign or a sequence sends by it stops with it
    )
    suppressed: str | None = None  # the reason, if the recipient must not be written to
    channel: RecipientChannel | None = None  # what failed at the recipient before, if anything did
    contacts: Contacts | None = (
        None  # how often the recipient was written to, where that is limited
    )
    problems: tuple[str, ...] = ()  # what the channel would refuse
    hours: Hours | None = None
    recipient_hours: Hours | None = None  # on the recipient's clock, where the sender keeps them
    day: Day | None = None  # its local day, where the account has a maximum per day
    budgets: tuple[Budget, ...] = ()
    wait: NetworkWait | None = (
        None  # that a network asked for, of the account, the recipient or the app
    )
    claimed_epoch: int | None = None
    provider_rate: ProviderRate | None = None
    leased: bool | None = None  # does a worker hold a start of that rate? None: nobody asks yet


@dataclass(frozen=True, slots=True)
class Pass:
    """The gate is open; `message` is shown by `explain`."""

    message: str = ""


@dataclass(frozen=True, slots=True)
class End:
    """It will never go like this: the state it ends in, and why."""

    state: State
    reason: Reason
    who: str | None = None

    @property
    def message(self) -> str:
        """Say why."""
        return self.reason.text


@dataclass(frozen=True, slots=True)
class Wait:
    """Not now. `until` is None while only a person can change it."""

    reason: Reason
    until: datetime | None
    who: str | None = None
    as_of_now: bool = False  # it holds now, and is told of a later instant

    @property
    def message(self) -> str:
        """Say why."""
        return f"now {self.reason.text}" if self.as_of_now else self.reason.text


Answer = Pass | End | Wait
Gate = Callable[[Facts], Answer]


def still_wanted(facts: Facts) -> Answer:
    """Is it scheduled, approved, and not too late?"""
    row, now = facts.delivery, facts.now
    if row.state is not State.SCHEDULED:
        return Wait(Reason.of(Code.NOT_WAITING, state=row.state.value), None)
    if not row.approved:
        return Wait(Reason.of(Code.NOT_APPROVED), None, "an editor of the workspace")
    if row.not_after_at is not None and now > row.not_after_at:
        return End(State.MISSED, Reason.of(Code.LAST_TIME_PASSED), RESCHEDULE)
    late = timedelta(minutes=facts.account.grace_minutes)
    half_sent = row.parts_sent != NO_PARTS  # the rest of a thread belongs to what is out of it
    if row.action is Action.POST and not half_sent and lateness(facts) > late:
        return End(State.MISSED, Reason.of(Code.TOO_LATE, late=str(late)), RESCHEDULE)
    return Pass("wanted")


def lateness(facts: Facts) -> timedelta:
    """Say how long it could have gone and did not: what waits behind a hold of its lane is not late for it.

    A try that is made again is due when its wait is over, so it is as late as any other that nobody sends then.
    """
    lane, now, due = facts.lane, facts.now, facts.delivery.due_at
    if lane.paused or facts.workspace.stopped_at is not None or wants_choice(facts):
        return timedelta()  # whoever lets it go on says what becomes of what came due
    before = max(timedelta(), (lane.held_at or due) - due)
    if lane.parked_until is not None and lane.parked_until > now:
        return before
    opened = opened_of(lane, now)
    return now - due if opened is None or due >= opened else before + (now - opened)


def wants_choice(facts: Facts) -> bool:
    """Say whether it came due without a connection, and a person has not said what becomes of it."""
    until = facts.lane.unresumed_until
    waits = not facts.delivery.is_leased  # who has claimed it was there first
    return waits and until is not None and facts.delivery.due_at < until


def opened_of(lane: Lane, now: datetime) -> datetime | None:
    """Say when a lane was last let go, if it ever was held."""
    ends = (lane.parked_until, lane.opened_at)
    return max((at for at in ends if at is not None and at <= now), default=None)


def not_suppressed(facts: Facts) -> Answer:
    """Does the recipient want to hear from us?"""
    if facts.suppressed is not None:
        return End(State.SKIPPED, Reason.of(Code.SUPPRESSED, message=facts.suppressed))
    return Pass("not suppressed")


def recipient_active(facts: Facts) -> Answer:
    """Can the recipient be reached at all, by what is known?"""
    channel = facts.channel
    if channel is None or channel.active:
        return Pass("the recipient is active")
    why = channel.reason or "no reason known"
    return End(State.SKIPPED, Reason.of(Code.RECIPIENT_INACTIVE, message=why))


def fits(facts: Facts) -> Answer:
    """Would the network take it?"""
    if facts.problems:
        reason = Reason.of(Code.DOES_NOT_FIT, message="; ".join(facts.problems))
        return End(State.FAILED, reason, "an editor can change the content")
    return Pass("fits the channel")


def installation_sure(facts: Facts) -> Answer:
    """Is the database where time left it: not restored from a backup, its clock not jumped?"""
    runtime, now = facts.workspace, facts.now
    if runtime.held_at is not None:
        reason = Reason.of(Code.INSTALLATION_HELD, message=runtime.hold_reason or "")
        return Wait(reason, None, OPERATOR)
    beat = runtime.beat_at
    if beat is not None and abs(now - beat) > BRAKE:
        reason = Reason.of(Code.NO_HEARTBEAT, silence=str(abs(now - beat)))
        return Wait(reason, now + SOON, OPERATOR)
    return Pass("the installation is sound")


def workspace_open(facts: Facts) -> Answer:
    """Is the workspace stopped?"""
    if facts.workspace.stopped_at is None:
        return Pass("the workspace runs")
    why = facts.workspace.stop_reason or NOT_GIVEN
    reason = Reason.of(Code.WORKSPACE_STOPPED, message=why)
    return Wait(reason, None, "an admin of the workspace")


def account_ready(facts: Facts) -> Answer:
    """Is the account connected, and not paused? Its own lane says the latter itself."""
    state = facts.account.state
    own = facts.account_lane
    if facts.account.can_send and own is not None and own.paused and own.id != facts.lane.id:
        reason = Reason.of(Code.ACCOUNT_PAUSED, message=own.pause_reason or NOT_GIVEN)
        return Wait(reason, own.paused_until, "an editor of the workspace")
    if facts.account.can_send:
        return Pass(f"the account is {state}")
    why = facts.account.state_reason or "no reason known"
    if state == GONE:
        return End(State.CANCELED, Reason.of(Code.ACCOUNT_REMOVED, message=why))
    reason = Reason.of(Code.ACCOUNT_NOT_READY, state=state, message=why)
    return Wait(reason, None, "whoever can reconnect the account")


def lane_open(facts: Facts) -> Answer:
    """Is the account's or campaign's lane paused, parked, or changed since the claim?"""
    lane, now = facts.lane, facts.now
    if lane.paused:
        return Wait(paused(lane), lane.paused_until, "an editor of the workspace")
    if facts.claimed_epoch is not None and lane.epoch != facts.claimed_epoch:
        return Wait(Reason.of(Code.CHANGED_MEANWHILE), now)
    if lane.parked_until is not None and lane.parked_until > now:
        return Wait(parked(lane), lane.parked_until, "the network")
    if wants_choice(facts):
        return Wait(Reason.of(Code.WANTS_CHOICE), None, "an editor of the workspace")
    return Pass("sending isn't paused")


def paused(lane: Lane) -> Reason:
    """Say why a lane is paused."""
    return Reason.of(Code.PAUSED, message=lane.pause_reason or NOT_GIVEN)


def parked(lane: Lane) -> Reason:
    """Say why a lane rests."""
    return Reason.of(Code.PARKED, message=lane.park_reason or "the other side wants a wait")


def network_free(facts: Facts) -> Answer:
    """Did the network ask to leave the account, the recipient or our whole app alone for a while?"""
    wait = facts.wait
    if wait is None:
        return Pass("the network asked for no wait")
    return Wait(Reason.of(Code.NETWORK_WAIT, message=wait.reason), wait.until, "the network")


def recipient_rested(facts: Facts) -> Answer:
    """Was the recipient written to often enough for now? Only this one waits, the others go on."""
    contacts = facts.contacts
    if contacts is None:
        return Pass("no limit per recipient")
    message = f"{contacts.count} of {contacts.cap} contacts in {contacts.days} days"
    if contacts.free_at is None:
        return Pass(message)
    reason = Reason.of(
        Code.RECIPIENT_CAP, count=contacts.count, cap=contacts.cap, days=contacts.days
    )
    return Wait(reason, contacts.free_at, "an admin can change the limit")


def recipient_awake(facts: Facts) -> Answer:
    """Is it a time at which the recipient may be written to, by the recipient's own clock?"""
    quiet = facts.delivery.quiet
    if quiet is None or is_open(open_hours(quiet), facts.now):
        return Pass("no quiet hours now")
    until = next_opening(open_hours(quiet), facts.now)
    return Wait(Reason.of(Code.QUIET_HOURS, hours=quiet), until, "an editor of the workspace")


def in_hours(facts: Facts) -> Answer:
    """Is it within the account's hours for this action? What a person sends by hand may go at any."""
    if facts.delivery.priority <= HURRY:
        return Pass("sent by hand")
    if facts.hours is None or is_open(facts.hours, facts.now):
        return Pass("within hours")
    opening = next_opening(facts.hours, facts.now)
    return Wait(Reason.of(Code.OUTSIDE_HOURS), opening, "an admin can change the hours")


def in_recipient_hours(facts: Facts) -> Answer:
    """Is it within the same hours on the recipient's clock? Only this one waits, the others go on."""
    theirs = facts.recipient_hours
    if theirs is None or facts.hours is None:
        return Pass("no hours of the recipient")
    if facts.delivery.priority <= HURRY:
        return Pass("sent by hand")
    if is_open(theirs, facts.now):
        return Pass("within the recipient's hours")
    opening = next_common_opening((facts.hours, theirs), facts.now)
    reason = Reason.of(Code.OUTSIDE_RECIPIENT_HOURS, zone=theirs.zone.name)
    return Wait(reason, opening, "an editor can change the sequence")


def day_has_room(facts: Facts) -> Answer:
    """Is there room on its local day? A full one lets the queue move it to the next free slot."""
    if facts.delivery.priority <= HURRY:
        return Pass("sent by hand")
    if facts.day is None:
        return Pass("no maximum per day")
    if not facts.day.full:
        return Pass(f"{facts.day.before} of the day's {facts.day.cap} posts come before it")
    reason = Reason.of(Code.DAY_FULL, message=facts.day.message)
    return Wait(reason, facts.day.next_at, "an editor can change the maximum per day")


def provider_free(facts: Facts) -> Answer:
    """Has a worker that stands before the call leased a start of the provider's app-wide rate?"""
    rate, now = facts.provider_rate, facts.now
    if rate is None or facts.leased:
        return Pass("no app-wide rate is in the way")
    reason = Reason.of(
        Code.PROVIDER_RATE, provider=rate.provider, amount=rate.amount, seconds=rate.per_seconds
    )
    until = max(now, (rate.free_at or now) - A_BLOCK)
    if facts.leased is None and until == now:
        return Pass(reason.text)
    return Wait(reason, until, "an operator can change the rate")


def within_budgets(facts: Facts) -> Answer:
    """Is there room in every budget?"""
    match allows(facts.now, facts.budgets):
        case Allowed():
            return Pass(f"{len(facts.budgets)} limits have room")
        case Refused() as refused:
            return Wait(over_limit(refused), refused.next_at, "an admin can change the limit")


def over_limit(refused: Refused) -> Reason:
    """Say which limit holds longest."""
    limit = refused.binding
    return Reason.of(Code.LIMIT_REACHED, limit=limit.key, message=limit.reason)


GATES: Mapping[str, Gate] = {
    "installation": installation_sure,  # first: what a wrong clock calls missed is not
    "still wanted": still_wanted,
    "suppression": not_suppressed,
    "recipient": recipient_active,
    "content": fits,
    "workspace": workspace_open,
    "account": account_ready,
    "lane": lane_open,
    NETWORK: network_free,
    RECIPIENT_CAP: recipient_rested,
    QUIET: recipient_awake,
    "hours": in_hours,
    RECIPIENT_HOURS: in_recipient_hours,
    MAX_PER_DAY: day_has_room,
    "provider rate": provider_free,
    "budgets": within_budgets,
}


BETWEEN = ("installation", "workspace", "account", "lane", NETWORK)  # parts of a thread


def first_refusal(facts: Facts) -> tuple[str, End | Wait] | None:
    """Return the first gate that does not let it pass."""
    for name, gate in GATES.items():
        answer = gate(facts)
        if not isinstance(answer, Pass):
            return name, answer
    return None


def refusal_between(facts: Facts) -> tuple[str, Wait] | None:
    """Return what holds the next part of a thread: a stop, a pause or a wait, from its word on.

    By a clock that is not sure an unconfirmed send would be looked for at the wrong time. What ends a delivery ends it
    when it is claimed again: what is out of it is out.
    """
    for name in BETWEEN:
        answer = GATES[name](facts)
        if isinstance(answer, End):
            return name, Wait(answer.reason, facts.now, answer.who)
        if isinstance(answer, Wait):
            return name, answer
    return None


def ask_all(facts: Facts) -> dict[str, Answer]:
    """Ask every gate, for people to see."""
    return {name: gate(facts) for name, gate in GATES.items()}


def as_data(answer: Answer) -> dict[str, Any]:
    """Show an answer to an API or a command line."""
    match answer:
        case Pass(message):
            return {"passed": True, "message": message}
        case End(state, reason, who):
            why = {"code": reason.code.value, "params": dict(reason.params)}
            return {
                "passed": False,
                "message": answer.message,
                **why,
                "ends": state.value,
                "who": who,
            }
        case Wait(reason, until, who):
            why = {"code": reason.code.value, "params": dict(reason.params)}
            return {"passed": False, "message": answer.message, **why, "until": until, "who": who}
