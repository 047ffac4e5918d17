"""Containers, as Instagram and Threads have them: fill one, wait for it, publish it once.

A container can be published once, whatever is asked how often; its status proves what became of it. So
every doubt is settled by looking at the container, and no refusal of the publishing call is believed
before that: the answer to a repeated call looks like the answer to one that came too late. The new
post's id is in the first answer only; after an unconfirmed send it is looked for in the account's list.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from cadenza.providers.base import AttemptContext, Prepared, StillPreparing
from cadenza.providers.errors import Table
from cadenza.providers.http.redact import redact
from cadenza.providers.message import MediaItem
from cadenza.providers.meta.graph import Graph, ask_graph
from cadenza.providers.meta.rupload import send_up
from cadenza.providers.meta.usage import breather
from cadenza.providers.outcome import (
    Forbidden,
    NotReady,
    Outcome,
    Rejected,
    Transient,
    TryLater,
    Unconfirmed,
)
from cadenza.providers.reply import HttpSuccess, secrets_of

LIFE = timedelta(hours=23)  # it is a day over there
EVERY = timedelta(minutes=1)  # as Meta advises
BY_BYTES = ("upload_type", "resumable")  # the field that asks to send the file ourselves
FETCHES = 3  # times that an address may fail before the content is to blame
Refused = Transient | Rejected | Forbidden | TryLater | NotReady
NOT_FETCHED = frozenset({"9004", "2207052"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What the two networks call the same things."""

    network: str
    table: Table
    graph: Callable[[AttemptContext], Graph]
    make: str  # the account's path for new containers
    show: str  # and for publishing one
    status: str  # the field that tells how far a container is
    why: str  # and the one that tells what went wrong
    text: str  # the field of a post's words in lists
    lists: Callable[[AttemptContext], str]  # the account's path for what is out
    blame: Callable[[str], Outcome]  # what a container's error means


@dataclass(frozen=True, slots=True)
class Plan:
    """What one post needs: containers of its pieces, then one of the whole."""

    pieces: tuple[Mapping[str, str], ...]
    whole: Mapping[str, str]
    first_look: timedelta = timedelta(seconds=5)
    files: tuple[MediaItem, ...] = ()  # in the order of the containers that ask for their bytes


@dataclass(frozen=True, slots=True)
class Status:
    """How far a container is."""

    code: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class CreatedContainer:
    """A container that was made; `place` is where it wants its bytes."""

    container: str
    rest: timedelta
    place: str | None = None


class ContainerGone:
    """The network does not know the container (any more)."""


async def prepare(
    call: AttemptContext, dialect: Dialect, plan: Plan
) -> Prepared | StillPreparing | Outcome:
    """Make the next container, or look whether those that were made are ready."""
    state = kept(call)
    pieces: list[str] = list(state.get("pieces", ()))
    if state.get("place"):
        return await _send_up(call, dialect, plan, state)
    if state.get("whole"):
        return await _wait_for(call, dialect, state, str(state["whole"]))
    if len(pieces) < len(plan.pieces):
        made = await _make(call, dialect, plan.pieces[len(pieces)], state)
        return _grown(made, state, lambda new: {"pieces": [*pieces, new]}, timedelta())
    done = int(state.get("done", 0))
    if done < len(pieces):
        return await _wait_for(call, dialect, state, pieces[done])
    fields = {**plan.whole, **({"children": ",".join(pieces)} if pieces else {})}
    made = await _make(call, dialect, fields, state)
    return _grown(made, state, lambda new: {"whole": new}, plan.first_look)


def kept(call: AttemptContext) -> dict[str, Any]:
    """Return what was prepared for this part, or a fresh start if there is none or it grew old."""
    state: Mapping[str, Any] = call.state
    if state.get("part") != call.part or "since" not in state:
        return _recreate(call)
    # The whole is looked at whatever its age: only its status says that it was never published. One
    # that still waits for its bytes surely was not.
    young = call.now - datetime.fromisoformat(str(state["since"])) < LIFE
    may_be_out = state.get("whole") and not state.get("place")
    return dict(state) if young or may_be_out else _recreate(call)


async def show(call: AttemptContext, dialect: Dialect) -> Outcome | str:
    """Publish; return the new id, or an outcome. "" stands for: it is out, its id is not known."""
    if call.state.get("part") != call.part or not call.state.get("whole"):
        return Transient("Nothing was prepared for this part.", restart=True)
    fields = {"creation_id": str(call.state["whole"])}
    path = f"{call.account.remote_id}/{dialect.show}"
    request = dialect.graph(call).post(path, fields, idempotent=False)
    got = await ask_graph(call, request, dialect.table)
    match got:
        case HttpSuccess():
            named = got.text("id")
            return named or Unconfirmed(f"{dialect.network} did not name the new post.")
        case Transient(restart=True) | Rejected() | Forbidden() | TryLater() | NotReady():
            return await _confirm_unpublished(call, dialect, got)
        case _:
            return got


async def look(
    call: AttemptContext, dialect: Dialect, container: str
) -> Status | ContainerGone | Outcome:
    """Ask how far a container is."""
    query = {"fields": f"{dialect.status},{dialect.why}"}
    got = await ask_graph(call, dialect.graph(call).get(container, query), dialect.table)
    match got:
        case HttpSuccess():
            code = got.text(dialect.status)
            if code is None:
                return Transient(f"{dialect.network} did not say how far it is.")
            return Status(code, redact(got.text(dialect.why) or "", secrets_of(call)))
        case Transient(restart=True) | Forbidden(code="100/33"):
            return ContainerGone()
        case _:
            return got


async def _confirm_unpublished(
    call: AttemptContext, dialect: Dialect, refused: Refused
) -> Outcome | str:
    """Look at the container before believing that it was not published."""
    status = await look(call, dialect, str(call.state["whole"]))
    gone = isinstance(refused, Transient)
    match status:
        case Status(code="PUBLISHED"):
            return ""
        case Status(code="IN_PROGRESS") if gone:
            return NotReady(EVERY / 2, refused.message)
        case Status(code="FINISHED") if gone:
            return Transient(refused.message)
        case Status(code="ERROR", why=why) if gone:
            return _spoilt(dialect.blame(why))
        case Status():
            return refused
        case _ if isinstance(refused, Transient | Rejected):
            return Unconfirmed(refused.message)  # nobody could say: it is found out later
        case _:
            return refused  # the same container comes again, and is looked at again


async def _send_up(
    call: AttemptContext, dialect: Dialect, plan: Plan, state: Mapping[str, Any]
) -> StillPreparing | Outcome:
    """Send the bytes that the newest container asked for."""
    item = plan.files[max(0, len(state.get("pieces", ())) - 1)]
    base = dialect.graph(call).base
    got = await send_up(call, str(state["place"]), item, table=dialect.table, base=base)
    if not isinstance(got, HttpSuccess):
        return got
    rest = {name: value for name, value in state.items() if name != "place"}
    return StillPreparing(rest, plan.first_look if state.get("whole") else timedelta())


async def _make(
    call: AttemptContext, dialect: Dialect, fields: Mapping[str, str], state: Mapping[str, Any]
) -> CreatedContainer | StillPreparing | Outcome:
    """Make one container; an address that cannot be fetched may be a bad moment, twice."""
    request = dialect.graph(call).post(f"{call.account.remote_id}/{dialect.make}", fields)
    got = await ask_graph(call, request, dialect.table)
    if isinstance(got, Rejected) and _not_fetched(got):
        return _missed(got, state, state)
    if not isinstance(got, HttpSuccess):
        return got
    container = got.text("id")
    if container is None:
        return Transient(f"{dialect.network} did not name what it prepared.")
    place = got.text("uri") if fields.get(BY_BYTES[0]) else None
    if fields.get(BY_BYTES[0]) and place is None:
        return Transient(f"{dialect.network} did not say where a file goes.")
    return CreatedContainer(container, breather(got.reply), place)


def _grown(
    made: CreatedContainer | StillPreparing | Outcome,
    state: Mapping[str, Any],
    grow: Callable[[str], Mapping[str, Any]],
    wait: timedelta,
) -> StillPreparing | Outcome:
    if not isinstance(made, CreatedContainer):
        return made
    grown = {**state, **grow(made.container)}
    if made.place is not None:
        return StillPreparing({**grown, "place": made.place}, made.rest)
    return StillPreparing(grown, max(wait, made.rest))


async def _wait_for(
    call: AttemptContext, dialect: Dialect, state: dict[str, Any], container: str
) -> Prepared | StillPreparing | Outcome:
    """Look after one container; those that went bad are made again."""
    found = await look(call, dialect, container)
    match found:
        case Status(code="IN_PROGRESS"):
            return StillPreparing(state, EVERY, f"{dialect.network} is working on it.")
        case Status(code="FINISHED" | "PUBLISHED") if container == state.get("whole"):
            return Prepared(state)
        case Status(code="FINISHED"):
            return StillPreparing({**state, "done": int(state.get("done", 0)) + 1})
        case Status(code="ERROR", why=why):
            blamed = dialect.blame(why)
            if isinstance(blamed, Rejected) and _not_fetched(blamed):
                return _missed(blamed, state, _recreate(call))
            return _spoilt(blamed)
        case Status() | ContainerGone():
            return _lost(call, state)
        case _:
            return found


def _spoilt(blamed: Outcome) -> Outcome:
    """Say what becomes of a container that went bad: it stays so, and what passes passes with a new one."""
    if isinstance(blamed, Rejected | Forbidden):
        return blamed
    wait = blamed.wait if isinstance(blamed, TryLater | NotReady | Transient) else None
    return Transient(getattr(blamed, "message", ""), restart=True, wait=wait)


def _not_fetched(blame: Rejected) -> bool:
    """Say whether a file could not be had; a refusal names code and subcode, a status the subcode."""
    return blame.code.rpartition("/")[2] in NOT_FETCHED


def _missed(
    blame: Rejected, state: Mapping[str, Any], start: Mapping[str, Any]
) -> StillPreparing | Outcome:
    """Count a failed fetch; the third is the content's fault."""
    misses = int(state.get("misses", 0)) + 1
    if misses >= FETCHES:
        return blame
    return StillPreparing({**start, "misses": misses}, EVERY, blame.message)


def _lost(call: AttemptContext, state: Mapping[str, Any]) -> StillPreparing | Outcome:
    """Make it again, with a pause: one that vanishes again and again costs an attempt."""
    lost = int(state.get("lost", 0)) + 1
    if lost >= FETCHES:
        return Transient("What was prepared vanishes again and again.", restart=True)
    return StillPreparing(
        {**_recreate(call), "lost": lost}, EVERY / 2, "What was prepared is gone."
    )


def _recreate(call: AttemptContext) -> dict[str, Any]:
    return {"part": call.part, "since": call.now.isoformat()}
