"""Is there an order, one operation at a time, that explains what everybody was told?

A history holds who called what, when, and what was answered when. It is linearizable if each operation
can be given an instant between its call and its answer, so that a sequential model which is asked in that
order gives those answers. The search is Wing and Gong's, depth first, with Lowe's memo: no set of done
operations is met twice with the same state. What never got its answer may have happened at any instant
after its call, or not at all. Limit: the work grows with what overlaps, so it gives up after `ENOUGH` steps.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Generic, TypeVar

S = TypeVar("S", bound=Hashable)
Step = Callable[[S, Any], Iterable[tuple[Any, S]]]  # what may be answered, and what is then
ENOUGH = 500_000


@dataclass(frozen=True, slots=True)
class Done:
    """One operation, as its caller saw it."""

    who: str
    operation: Any
    called: float
    answered: float = inf  # for ever: no answer came
    answer: Any = None

    def __str__(self) -> str:
        return f"{self.who}: {self.operation}"


@dataclass(slots=True)
class Verdict(Generic[S]):
    """An order that explains the history; or the longest that explains its beginning, and where that ends."""

    holds: bool
    order: list[Done]
    state: S
    refused: list[tuple[Done, list[Any]]]  # what could have come next, and what the model says then
    steps: int


class TooLong(Exception):
    """Too much overlaps: nothing is known of this history."""


def find_order(history: Iterable[Done], start: S, step: Step[S]) -> Verdict[S]:
    """Look for an order that explains the history."""
    search = _Search(sorted(history, key=lambda each: each.called), step)
    holds = search.go_on(0, start)
    if holds:
        search.note(search.path, search.state, [])
    order = [search.events[n] for n in search.longest]
    return Verdict(holds, order, search.state, search.refused, len(search.met))


@dataclass(slots=True)
class _Search(Generic[S]):
    events: Sequence[Done]
    step: Step[S]
    path: list[int] = field(default_factory=list[int])
    met: set[tuple[int, Any]] = field(default_factory=set[tuple[int, Any]])
    longest: list[int] = field(default_factory=list[int])
    state: Any = None
    refused: list[tuple[Done, list[Any]]] = field(default_factory=list[tuple[Done, list[Any]]])

    def go_on(self, done: int, state: S) -> bool:
        """Add what may come next, as far as it goes; `done` has a bit for each event."""
        left = [n for n in range(len(self.events)) if not done >> n & 1]
        first = min((self.events[n].answered for n in left), default=inf)
        if first == inf:  # the rest got no answer, and need not have happened
            self.state = state
            return True
        if (done, state) in self.met:
            return False
        self.met.add((done, state))
        if len(self.met) > ENOUGH:
            raise TooLong(f"{len(self.path)} of {len(self.events)} are in order")
        refused: list[tuple[Done, list[Any]]] = []
        for n in left:
            event = self.events[n]
            if event.called > first:
                break  # another had its answer before this was asked, and so must come first
            outcomes = list(self.step(state, event.operation))
            told = [
                after
                for message, after in outcomes
                if event.answered == inf or message == event.answer
            ]
            if not told:
                refused.append((event, [message for message, _ in outcomes]))
            for after in told:
                self.path.append(n)
                if self.go_on(done | 1 << n, after):
                    return True
                self.path.pop()
        if not self.longest or len(self.path) > len(self.longest):
            self.note(self.path, state, refused)
        return False

    def note(self, path: Sequence[int], state: S, refused: list[tuple[Done, list[Any]]]) -> None:
        """Keep how far it went."""
        self.longest, self.state, self.refused = [*path], state, refused


def tell(verdict: Verdict[Any], history: Iterable[Done]) -> str:
    """Tell the history, and where no order goes on."""
    lines = ["no order explains what everybody was told:"]
    lines += [f"  {_line(each)}" for each in sorted(history, key=lambda each: each.called)]
    lines += ["so far it goes, one after the other:", *(f"  {each}" for each in verdict.order)]
    lines += [f"then it is {verdict.state}", "and next could have been:"]
    for event, message in verdict.refused:
        should = " or ".join(map(str, message)) or "nothing at all"
        lines.append(f"  {event}; right were {should}; it was told {event.answer}")
    return "\n".join(lines)


def _line(done: Done) -> str:
    end = "" if done.answered == inf else f"{done.answered * 1000:.1f}"
    answer = "(no answer)" if done.answered == inf else done.answer
    return f"{done.called * 1000:7.1f} to {end:>7} ms  {done} -> {answer}"
