"""Why does this delivery not go? Every gate with its answer, without side effects, now or at a later instant.

What is due later is judged at the instant it is due: its hours, its day, its budgets. What only people lift (a
pause, a stop, a lost connection) is told as it is now. What is over tells what became of it. Limits: what others
take from a budget until then is not foreseen, and how the gates stood in the past nobody kept: attempts tell it.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from msgspec import structs

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries.check_fit import check_content
from cadenza.deliveries.contents import complete
from cadenza.deliveries.facts import read_facts
from cadenza.deliveries.gates import GATES, Answer, End, Facts, Pass, Wait, as_data, ask_all
from cadenza.deliveries.model import Delivery
from cadenza.deliveries.render import Files
from cadenza.sql.tx import Tx
from cadenza.sql.values import select

_ENDED = {
    "sending": "it is on its way",
    "failed": "it failed",
    "missed": "its time passed before it could go",
    "canceled": "it was canceled",
    "skipped": "it was left out",
    "unconfirmed": "nobody knows yet whether it arrived",
    "draft": "it is a draft",
}


_NOT_OUT = ("draft", "scheduled", "failed", "missed")  # their content may still go
_INSTALLATION, _LANE = "installation", "lane"
_AS_OF_NOW = (_INSTALLATION, "workspace", "account")
_CLOCKS_DIFFER = timedelta(minutes=1)  # an instant so little past means now


@dataclass(frozen=True, slots=True)
class Past:
    """An instant that is over cannot be judged any more."""

    message: str = (
        "that instant is past: the attempts tell what was tried then; ask about now or later"
    )


@dataclass(frozen=True, slots=True)
class Explanation:
    """The whole answer; `sentence` is the first thing to say."""

    delivery: Delivery
    gates: dict[str, Answer]
    now: datetime
    judged_at: datetime  # the instant that the gates were asked about

    @property
    def blocked(self) -> dict[str, End | Wait]:
        """The gates that do not let it pass."""
        return {name: a for name, a in self.gates.items() if isinstance(a, End | Wait)}

    @property
    def sentence(self) -> str:
        """Say it in one line."""
        row = self.delivery
        if row.sent_at is not None and row.state is State.SENT:
            return f"it was sent at {_clock(row.sent_at)}"
        if row.state != "scheduled":
            said = _ENDED.get(row.state, f"it is {row.state}")
            return said + (f": {row.reason}" if row.reason else "")
        if self.blocked:
            name, answer = next(iter(self.blocked.items()))
            until = getattr(answer, "until", None)
            when = f", not before {_clock(until)}" if until else ""
            does = "" if " can " in (answer.who or "") else " can change it"
            who = f"; {answer.who}{does}" if answer.who else ""
            return f"{name}: {answer.message}{when}{who}{self._judged}"
        if row.due_at > self.judged_at:
            return f"it is due at {_clock(row.due_at)}, and nothing else stands in its way{self._judged}"
        if self.judged_at == row.due_at > self.now:
            return f"it is due at {_clock(row.due_at)}, and nothing else stands in its way"
        if self.judged_at > self.now:
            return f"nothing stands in its way at {_clock(self.judged_at)}"
        return "nothing stands in its way: the next free worker takes it"

    @property
    def _judged(self) -> str:
        if self.judged_at <= self.now:
            return ""
        due = ", when it is due" if self.judged_at == self.delivery.due_at else ""
        return f" (judged at {_clock(self.judged_at)}{due})"

    def as_data(self) -> dict[str, Any]:
        """Show it to an API or a command line."""
        return {
            "message": self.sentence,
            "judged_at": self.judged_at,
            "gates": {n: as_data(a) for n, a in self.gates.items()},
        }


def explain(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    delivery_id: str,
    at: datetime | None = None,
    files: Files | None = None,
) -> Explanation | Past | None:
    """Explain a delivery of this workspace; None: there is none of that id.

    `at` is the instant to judge; without it a delivery that is due later is judged when it is due. `files`
    know the addresses that networks fetch media from.
    """
    if at is not None and at < now - _CLOCKS_DIFFER:
        return Past()
    key = (workspace_id, delivery_id)
    row = select(tx, Delivery, "delivery", [key]).get(key)
    if row is None:
        return None
    waits = row.state in ("draft", "scheduled")
    judged_at = max(now, at or (row.due_at if waits else now))
    facts = read_facts(tx, judged_at, [key])[key]
    if row.state in _NOT_OUT:
        ((made, problem),) = complete(tx, [row])
        found = check_content(made, facts.account, files).blocking if problem is None else ()
        problems = tuple(each.message for each in found) if problem is None else (problem,)
        facts = replace(facts, problems=problems)
    return Explanation(facts.delivery, _ask(facts, now), now, judged_at)


def _ask(facts: Facts, now: datetime) -> dict[str, Answer]:
    """Ask every gate at the instant of the facts; say "now" of what holds now and nobody knows how long."""
    if facts.now <= now:
        return ask_all(facts)
    lane = facts.lane
    ends = lane.paused_until if lane.paused else None
    over = ends if ends is not None and ends <= facts.now else None
    answers = ask_all(replace(facts, lane=structs.replace(lane, paused=False)) if over else facts)
    answers[_INSTALLATION] = GATES[_INSTALLATION](replace(facts, now=now))
    for name in (*_AS_OF_NOW, *((_LANE,) if lane.paused else ())):
        answer = answers[name]
        if isinstance(answer, Wait):
            answers[name] = replace(answer, as_of_now=True)
    if over and isinstance(answers[_LANE], Pass):
        answers[_LANE] = Pass(f"now paused, open again at {_clock(over)}")
    return answers


def _clock(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%S} UTC"
