"""Why does this delivery not go? Every gate with its answer, without side effects, at any time."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cadenza.deliveries.facts import read_facts
from cadenza.deliveries.gates import Answer, End, Wait, as_data, ask_all
from cadenza.sql.tx import Row, Tx

_ENDED = {
    "sending": "it is on its way",
    "failed": "it failed",
    "missed": "its time passed before it could go",
    "canceled": "it was taken off the road",
    "skipped": "it was left out",
    "unconfirmed": "nobody knows yet whether it arrived",
    "draft": "it is a draft",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """The whole answer; `sentence` is the first thing to say."""

    delivery: Row
    gates: dict[str, Answer]
    now: datetime

    @property
    def blocked(self) -> dict[str, End | Wait]:
        """The gates that do not let it pass."""
        return {name: a for name, a in self.gates.items() if isinstance(a, End | Wait)}

    @property
    def sentence(self) -> str:
        """Say it in one line."""
        row = self.delivery
        if row["state"] == "sent":
            return f"it was sent at {row['sent_at']:%Y-%m-%d %H:%M:%S} UTC"
        if row["state"] != "scheduled":
            said = _ENDED.get(row["state"], f"it is {row['state']}")
            return said + (f": {row['reason']}" if row["reason"] else "")
        if self.blocked:
            name, answer = next(iter(self.blocked.items()))
            until = getattr(answer, "until", None)
            when = f", not before {until:%Y-%m-%d %H:%M:%S} UTC" if until else ""
            who = f"; {answer.who} can change it" if answer.who else ""
            return f"{name}: {answer.says}{when}{who}"
        if row["due_at"] > self.now:
            return f"it is due at {row['due_at']:%Y-%m-%d %H:%M:%S} UTC, and nothing else stands in its way"
        return "nothing stands in its way: the next free worker takes it"

    def as_data(self) -> dict[str, Any]:
        """Show it to an API or a command line."""
        return {"says": self.sentence, "gates": {n: as_data(a) for n, a in self.gates.items()}}


def explain(tx: Tx, now: datetime, *, workspace_id: str, delivery_id: str) -> Explanation | None:
    """Explain a delivery of this workspace; None: there is none of that id."""
    key = (workspace_id, delivery_id)
    facts = read_facts(tx, now, [key]).get(key)
    return None if facts is None else Explanation(facts.delivery, ask_all(facts), now)
