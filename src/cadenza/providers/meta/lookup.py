"""Find a published container's post: its status proves that it is out, the account's list names it.

The list is compared by words and time; a story has no words, so there the time alone decides, and two
candidates name none. If even the container is gone, the list is the proof: it must reach back to before
the attempt and have had time to show what is new to say "absent".
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from cadenza.providers.base import AttemptContext
from cadenza.providers.meta.containers import ContainerGone, Dialect, Status, look
from cadenza.providers.meta.graph import ask_graph
from cadenza.providers.outcome import Absent, CannotTell, Finding, Found, Sent
from cadenza.providers.reply import HttpSuccess, no_answer

PAGE = 25
SKEW = timedelta(minutes=2)  # between our clock and theirs
AGAIN = timedelta(minutes=1)
LISTED_WITHIN = timedelta(minutes=3)  # after which a post that is out is reported without its id


async def find(call: AttemptContext, dialect: Dialect, words: str) -> Finding:
    """Look at the container, then in the list."""
    container = str(call.state.get("whole") or "")
    if not container:
        return Absent()  # nothing was prepared, so nothing could be published
    if call.began_at is None or call.state.get("part", call.part) != call.part:
        return CannotTell("It is not known what to look for, or since when.")
    match await look(call, dialect, container):
        case Status(code="PUBLISHED"):
            found = await _listed(call, dialect, words)
            if isinstance(found, Found) or call.now - call.began_at >= LISTED_WITHIN:
                return found if isinstance(found, Found) else Found(None)
            return CannotTell("It is out, but not listed yet.", again=AGAIN)
        case Status():
            return Absent()
        case ContainerGone():
            found = await _listed(call, dialect, words)
            if isinstance(found, Absent) and call.now - call.began_at < LISTED_WITHIN:
                return CannotTell("The list may not show it yet.", again=AGAIN)
            return found
        case outcome:
            return no_answer(outcome, "No answer.", AGAIN)


async def name(call: AttemptContext, dialect: Dialect, words: str) -> Sent:
    """Say that it is out, with its id if the list already shows it."""
    found = await _listed(call, dialect, words)
    if isinstance(found, Found):
        return Sent(found.remote_id, found.url)
    return Sent(None, note="It is out; its id is looked for.")


async def _listed(call: AttemptContext, dialect: Dialect, words: str) -> Finding:
    query = {"fields": f"id,{dialect.text},timestamp,permalink", "limit": str(PAGE)}
    path = f"{call.account.remote_id}/{dialect.lists(call)}"
    got = await ask_graph(call, dialect.graph(call).get(path, query), dialect.table)
    entries = got.at("data") if isinstance(got, HttpSuccess) else None
    if not isinstance(entries, list):
        return no_answer(got, "The network did not list the account's posts.", AGAIN)
    since = (call.began_at or call.now) - SKEW
    posts = [each for each in entries if isinstance(each, dict)]
    ours = [each for each in posts if _same(each, dialect.text, words, since) and _new(each, call)]
    if len(ours) == 1:
        return Found(str(ours[0].get("id")), ours[0].get("permalink"), _at(ours[0]))
    if ours:
        return Found(None)
    ends = len(posts) < PAGE and not (isinstance(got, HttpSuccess) and got.at("paging", "next"))
    reaches_back = ends or any((_at(each) or since) < since for each in posts)
    return Absent() if reaches_back else CannotTell("The list does not reach back so far.")


def _same(post: dict[str, Any], field: str, words: str, since: datetime) -> bool:
    at = _at(post)
    theirs = str(post.get(field) or "")
    return at is not None and at >= since and theirs.split() == words.split()


def _new(post: dict[str, Any], call: AttemptContext) -> bool:
    return str(post.get("id")) not in {*call.sent_parts, *call.others}


def _at(post: dict[str, Any]) -> datetime | None:
    try:
        at = datetime.fromisoformat(str(post.get("timestamp")))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
