"""Look for a post in the account's list: the only way to find out, and a billed one.

X shows links as t.co, also those that were written without a scheme, and adds one for media; so each t.co must
stand where a word of ours stood, and lead where that word does. A long post is compared by its note, as its text
comes cut. "Absent" is said only if the list was whole and had time to show what is new.
"""

import html
import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from cadenza.providers.base import AttemptContext
from cadenza.providers.outcome import Absent, CannotTell, Finding, Found
from cadenza.providers.reply import HttpSuccess, ask, no_answer
from cadenza.providers.x.errors import TABLE
from cadenza.providers.x.requests import read

PAGE = 100
SKEW = timedelta(minutes=2)  # between our clock and X's
AGAIN = timedelta(minutes=1)
SHOWN = timedelta(minutes=3)  # by then a list shows a new post
YOUNG = timedelta(minutes=15)  # a twin of that age is taken for this delivery's own
BEFORE = timedelta(days=7)  # how far back an older twin is looked for
FIELDS = "created_at,text,entities,referenced_tweets,note_tweet"
COUNT = ("meta", "result_count")
_T_CO = re.compile(r"https?://t\.co/[A-Za-z0-9]+")
_SCHEME = re.compile(r"^https?://")


async def look(call: AttemptContext) -> Finding:
    """Compare the posts since the attempt began with the part that is looked for."""
    if call.began_at is None:
        return CannotTell("It is not known since when to look.")
    page = await _list(call, call.began_at - SKEW)
    if isinstance(page, CannotTell):
        return page
    found = _among(page.posts, call)
    if found is not None:
        return found
    if call.now - call.began_at < SHOWN:
        return CannotTell("X's list may not show the post yet.", again=AGAIN)
    if page.ends:
        return Absent()
    return CannotTell("The account posted so much since that its list does not reach back.")


async def recent_duplicate(call: AttemptContext) -> Found | None:
    """Find the post that X means when it refuses a duplicate: of this attempt or one shortly before."""
    page = await _list(call, (call.began_at or call.now) - YOUNG)
    return None if isinstance(page, CannotTell) else _among(page.posts, call)


async def earlier_duplicate(call: AttemptContext) -> bool:
    """Say whether a post from long before the attempt says the same."""
    began = call.began_at or call.now
    page = await _list(call, began - BEFORE)
    if isinstance(page, CannotTell):
        return False
    older = [post for post in page.posts if (made_at(post) or began) < began - YOUNG]
    return any(_written(_whole(post), _wanted(call)) is not None for post in older)


def post_url(call: AttemptContext, remote_id: str) -> str:
    """Return a post's address."""
    name = call.account.handle.lstrip("@")
    return f"https://x.com/{name or 'i/web'}/status/{remote_id}"


def made_at(post: dict[str, Any]) -> datetime | None:
    """Return when X made a post."""
    try:
        at = datetime.fromisoformat(str(post.get("created_at")))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Page:
    posts: list[dict[str, Any]]
    ends: bool  # nothing follows; a short page alone does not say so, as X filters after it cut


async def _list(call: AttemptContext, since: datetime) -> _Page | CannotTell:
    start = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    query = f"max_results={PAGE}&start_time={start}&tweet.fields={FIELDS}"
    got = await ask(call, read(call, f"/2/users/{call.account.remote_id}/tweets?{query}"), TABLE)
    # An empty list comes without `data`, but never without its count.
    posts, count = (
        (got.at("data"), got.at(*COUNT)) if isinstance(got, HttpSuccess) else (None, None)
    )
    if count is None or bool(count) != (isinstance(posts, list) and bool(posts)):
        return no_answer(got, "X did not list the account's posts.", AGAIN)
    follows = isinstance(got, HttpSuccess) and got.at("meta", "next_token")
    return _Page(_dicts(posts), len(_dicts(posts)) < PAGE and not follows)


def _among(posts: list[dict[str, Any]], call: AttemptContext) -> Found | None:
    for post in posts:
        remote_id = str(post.get("id"))
        if remote_id not in call.others and _same(post, call):
            return Found(remote_id, post_url(call, remote_id), made_at(post))
    return None


def _wanted(call: AttemptContext) -> str:
    return (call.message.text, *call.message.parts)[call.part]


def _same(post: dict[str, Any], call: AttemptContext) -> bool:
    parent = call.sent_parts[-1] if call.part > 0 else None
    above = _dicts(post.get("referenced_tweets"))
    answers = next((each.get("id") for each in above if each.get("type") == "replied_to"), None)
    if answers != parent:
        return False
    whole = _whole(post)
    written = _written(whole, _wanted(call))
    return written is not None and _links_match(whole, written)


def _whole(post: dict[str, Any]) -> dict[str, Any]:
    """Return what holds all of a post's words: of a long one they stand in its note."""
    note = post.get("note_tweet")
    return note if isinstance(note, dict) and isinstance(note.get("text"), str) else post


def _written(shown: dict[str, Any], wanted: str) -> list[str] | None:
    """Return our words that X shows as t.co, in their order; None if the rest is not the same."""
    ours = _plain(wanted)
    text = _plain(html.unescape(str(shown.get("text"))))  # X escapes what it shows, we do not
    for seen in (text, re.sub(rf" ?{_T_CO.pattern}$", "", text)):  # the last one may be the media's
        pieces = map(re.escape, _T_CO.split(seen))
        found = re.fullmatch(r"(\S+?)".join(pieces), ours)
        if found:
            return list(found.groups())
    return None


def _links_match(shown: dict[str, Any], written: list[str]) -> bool:
    """Say whether the links lead where our words do, as far as X tells."""
    entities = shown.get("entities")
    urls = entities.get("urls") if isinstance(entities, dict) else None
    if not isinstance(urls, list):
        return True
    links = [each for each in _dicts(urls) if "media_key" not in each]
    return [_place(str(each.get("expanded_url"))) for each in links] == [
        _place(word) for word in written
    ]


def _dicts(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; whatever else stands there is nothing."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _place(link: str) -> str:
    return _SCHEME.sub("", link.casefold()).rstrip("/")


def _plain(text: str) -> str:
    """Bring a text to the form that survives X: one blank between words."""
    return " ".join(unicodedata.normalize("NFC", text).split())
