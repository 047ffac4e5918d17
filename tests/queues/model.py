"""One account's queue as a list: what each operation answers and leaves behind, were it alone.

Written from the rules, not from the product's code, and pure: a state and an operation in, answers and
states out. Instants are minutes; every `PITCH` minutes there is a slot, for ever. Left out: maxima, skipped
slots, several channels, drafts, pauses and tries that fail; `test_any_sequence.py` has those, one at a time.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple, TypeAlias

PITCH = 10  # minutes from slot to slot
LEAD = 1  # a slot is offered until so many minutes before it
UNDO = 10  # minutes for which a clear can be taken back
IN_FLIGHT = 2  # posts that may be in workers' hands at once


class Place(NamedTuple):
    """Where a post stands."""

    post: str
    at: int
    state: str = "waits"  # waits, held, sending, sent
    by: str = ""  # the claim that holds it


class Taken(NamedTuple):
    """What a clear took off the queue."""

    name: str
    at: int
    places: tuple[Place, ...]
    undone: bool = False


class Queue(NamedTuple):
    """A queue between two operations."""

    revision: int = 1
    places: tuple[Place, ...] = ()  # by their instants; sent ones too, which hold no slot any more
    clears: tuple[Taken, ...] = ()

    @property
    def line(self) -> list[Place]:
        """What waits, and so may move."""
        return [place for place in self.places if place.state == "waits"]

    @property
    def live(self) -> list[Place]:
        return [place for place in self.places if place.state != "sent"]

    def find(self, post: str) -> Place | None:
        return next((place for place in self.places if place.post == post), None)

    def held_by(self, claim: str, state: str) -> Place | None:
        found = (p for p in self.places if (p.state, p.by) == (state, claim))
        return next(found, None)

    def put(self, *places: Place, without: Iterable[str] = ()) -> "Queue":
        """Let these stand where they say, and those not at all."""
        named = {place.post for place in places} | set(without)
        kept = [place for place in self.places if place.post not in named]
        return self._replace(places=tuple(sorted([*kept, *places], key=lambda p: (p.at, p.post))))

    def rise(self) -> "Queue":
        return self._replace(revision=self.revision + 1)


@dataclass(frozen=True)
class Add:
    post: str
    to: str  # first_free, end, next
    now: int


@dataclass(frozen=True)
class Reorder:
    posts: tuple[str, ...]
    revision: int  # that was on the screen


@dataclass(frozen=True)
class ToTop:
    post: str


@dataclass(frozen=True)
class Swap:
    posts: tuple[str, str]


@dataclass(frozen=True)
class Clear:
    name: str
    now: int


@dataclass(frozen=True)
class Undo:
    name: str  # of the clear
    now: int


@dataclass(frozen=True)
class Look:
    """See the revision and who stands where."""


@dataclass(frozen=True)
class Claim:
    name: str
    now: int
    passes: bool = False  # while somebody changes the queue, a claim may pass it over


@dataclass(frozen=True)
class Permit:
    claim: str


@dataclass(frozen=True)
class Release:
    claim: str


@dataclass(frozen=True)
class Settle:
    """The post is out."""

    claim: str


Operation: TypeAlias = (
    Add | Reorder | ToTop | Swap | Clear | Undo | Look | Claim | Permit | Release | Settle
)
Outcome: TypeAlias = tuple[Any, Queue]


def step(queue: Queue, operation: Operation) -> list[Outcome]:
    """Say what may be answered, and what the queue is then."""
    match operation:
        case Add():
            return [_add(queue, operation)]
        case Reorder(posts, revision):
            if revision != queue.revision:
                return [(("stale", queue.revision, _names(queue.line)), queue)]
            wanted, stays = _part(queue, posts)
            return [_deal(queue, wanted, stays)]
        case ToTop(post):
            wanted, stays = _part(queue, [post])
            return [_deal(queue, [*wanted, *(p for p in queue.line if p not in wanted)], stays)]
        case Swap(posts):
            wanted, stays = _part(queue, posts)
            turned = sorted(wanted, key=lambda place: place.at, reverse=True)
            return [_deal(queue, [] if stays else turned, stays)]
        case Clear(name, now):
            return [_clear(queue, name, now)]
        case Undo(name, now):
            return [_undo(queue, name, now)]
        case Look():
            return [((queue.revision, tuple(map(_shown, queue.places))), queue)]
        case Claim():
            return _claim(queue, operation)
        case Permit(claim) if queue.held_by(claim, "sending"):
            return [("go", queue)]  # it was asked before, and the answer got lost
        case Permit(claim):
            return [_turn(queue, claim, "held", "sending", yes="go", no="stale")]
        case Release(claim):
            return [_turn(queue, claim, "held", "waits", yes=1, no=0)]
        case Settle(claim):
            return [_turn(queue, claim, "sending", "sent", yes=True, no=False)]


def _slots(not_before: int) -> Iterator[int]:
    return count(-(-not_before // PITCH) * PITCH, PITCH)


def _add(queue: Queue, requested: Add) -> Outcome:
    there = queue.find(requested.post)
    if there is not None:
        return ("already", there.at), queue
    start = requested.now + LEAD
    if requested.to == "next":
        return _add_next(queue, requested.post, start)
    if requested.to == "end" and queue.live:
        start = max(start, max(place.at for place in queue.live) + 1)
    taken = {place.at for place in queue.live}
    at = next(slot for slot in _slots(start) if slot not in taken)
    after = queue.put(Place(requested.post, at)).rise()
    return ("queued", at, (), after.revision), after


def _add_next(queue: Queue, post: str, start: int) -> Outcome:
    """Put it first; whoever stands in the way takes the next slot, up to the first gap."""
    moving = [place for place in queue.line if place.at >= start]
    staying = {place.at for place in queue.live} - {place.at for place in moving}
    free = (slot for slot in _slots(start) if slot not in staying)
    last = at = next(free)
    moved: list[Place] = []
    for place in moving:
        if place.at > last:
            break
        last = next(free)
        moved.append(place._replace(at=last))
    after = queue.put(Place(post, at), *moved).rise()
    return ("queued", at, _moves(moved), after.revision), after


def _part(queue: Queue, posts: Sequence[str]) -> tuple[list[Place], tuple[str, ...]]:
    """Tell what may move from what was named and may not."""
    line = {place.post: place for place in queue.line}
    return [line[p] for p in posts if p in line], tuple(p for p in posts if p not in line)


def _deal(queue: Queue, wanted: Sequence[Place], stays: tuple[str, ...]) -> Outcome:
    """Deal the instants that these hold out to them again, in this order."""
    held = sorted(place.at for place in wanted)
    dealt = [p._replace(at=at) for p, at in zip(wanted, held, strict=True) if p.at != at]
    after = queue.put(*dealt).rise() if dealt else queue
    return ("ordered", _moves(dealt), stays, after.revision), after


def _clear(queue: Queue, name: str, now: int) -> Outcome:
    gone = queue.line
    busy = tuple(p.post for p in queue.places if p.state in ("held", "sending"))
    message = ("cleared", tuple(sorted(_names(gone))), busy)
    if not gone:
        return message, queue
    after = queue.put(without=_names(gone)).rise()
    return message, after._replace(clears=(*queue.clears, Taken(name, now, tuple(gone))))


def _undo(queue: Queue, name: str, now: int) -> Outcome:
    clear = next((each for each in queue.clears if each.name == name), None)
    if clear is None or clear.undone or now > clear.at + UNDO:
        return "too late", queue
    taken = {place.at for place in queue.live}
    back = [
        place
        for place in clear.places
        if place.at > now and place.at not in taken and queue.find(place.post) is None
    ]
    lost = [place for place in clear.places if place not in back]
    clears = tuple(each._replace(undone=each.undone or each is clear) for each in queue.clears)
    after = queue.put(*back).rise()._replace(clears=clears)
    return ("undone", tuple(sorted(_names(back))), tuple(sorted(_names(lost)))), after


def _claim(queue: Queue, requested: Claim) -> list[Outcome]:
    """Take the head of what is due; the publisher may have looked away while the queue was held."""
    room = sum(place.state in ("held", "sending") for place in queue.places) < IN_FLIGHT
    head = next((place for place in queue.line if place.at <= requested.now), None)
    nothing: list[Outcome] = [(None, queue)]
    if head is None or not room:
        return nothing
    taken: Outcome = (head.post, queue.put(head._replace(state="held", by=requested.name)))
    return [taken, *(nothing if requested.passes else [])]


def _turn(queue: Queue, claim: str, was: str, then: str, *, yes: Any, no: Any) -> Outcome:
    """Let a claim's holder go on, if it still is the holder."""
    place = queue.held_by(claim, was)
    if place is None:
        return no, queue
    by = claim if then == "sending" else ""
    return yes, queue.put(place._replace(state=then, by=by))


def _moves(moved: Iterable[Place]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((place.post, place.at) for place in moved))


def _names(places: Iterable[Place]) -> tuple[str, ...]:
    return tuple(place.post for place in places)


def _shown(place: Place) -> tuple[str, int, str]:
    return place.post, place.at, "sending" if place.state == "held" else place.state
