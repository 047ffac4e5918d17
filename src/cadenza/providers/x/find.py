"""Look for a post in the account's list: the only way to find out, and a billed one.

X shows links as t.co and adds one for media, so links are compared apart, by what they lead to. "Absent"
is said only if the list was whole and had time to show what is new.
"""

import html
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any

from cadenza.providers.base import Call
from cadenza.providers.counting import URL
from cadenza.providers.outcome import Absent, CannotTell, Finding, Found
from cadenza.providers.reply import Got, ask, no_answer
from cadenza.providers.x.errors import TABLE
from cadenza.providers.x.speak import read

PAGE = 100
SKEW = timedelta(minutes=2)  # between our clock and X's
AGAIN = timedelta(minutes=1)
SHOWN = timedelta(minutes=3)  # by then a list shows a new post
YOUNG = timedelta(minutes=15)  # a twin of that age is taken for this delivery's own
BEFORE = timedelta(days=7)  # how far back an older twin is looked for
FIELDS = "created_at,text,entities,referenced_tweets"


async def look(call: Call) -> Finding:
    """Compare the posts since the attempt began with the part that is looked for."""
    if call.began_at is None:
        return CannotTell("It is not known since when to look.")
    posts = await _list(call, call.began_at - SKEW)
    if isinstance(posts, CannotTell):
        return posts
    found = _among(posts, call)
    if found is not None:
        return found
    if call.now - call.began_at < SHOWN:
        return CannotTell("X's list may not show the post yet.", again=AGAIN)
    if len(posts) < PAGE:
        return Absent()
    return CannotTell("The account posted so much since that its list does not reach back.")


async def young_twin(call: Call) -> Found | None:
    """Find the post that X means when it refuses a duplicate: of this attempt or one shortly before."""
    posts = await _list(call, (call.began_at or call.now) - YOUNG)
    return None if isinstance(posts, CannotTell) else _among(posts, call)


async def older_twin(call: Call) -> bool:
    """Say whether a post from long before the attempt says the same."""
    began = call.began_at or call.now
    posts = await _list(call, began - BEFORE)
    if isinstance(posts, CannotTell):
        return False
    older = [post for post in posts if (made_at(post) or began) < began - YOUNG]
    return any(_bare(str(post.get("text"))) == _bare(_wanted(call)) for post in older)


def post_url(call: Call, remote_id: str) -> str:
    """Return a post's address."""
    name = call.account.handle.lstrip("@")
    return f"https://x.com/{name or 'i/web'}/status/{remote_id}"


def made_at(post: dict[str, Any]) -> datetime | None:
    """Return when X made a post."""
    try:
        return datetime.fromisoformat(str(post.get("created_at")))
    except ValueError:
        return None


async def _list(call: Call, since: datetime) -> list[dict[str, Any]] | CannotTell:
    start = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    query = f"max_results={PAGE}&start_time={start}&tweet.fields={FIELDS}"
    got = await ask(call, read(call, f"/2/users/{call.account.remote_id}/tweets?{query}"), TABLE)
    # An empty list comes without `data`, but never without its count.
    if not isinstance(got, Got) or got.at("meta", "result_count") is None:
        return no_answer(got, "X did not list the account's posts.", AGAIN)
    posts = got.at("data") or []
    return [post for post in posts if isinstance(post, dict)]


def _among(posts: list[dict[str, Any]], call: Call) -> Found | None:
    for post in posts:
        if _same(post, call):
            remote_id = str(post.get("id"))
            return Found(remote_id, post_url(call, remote_id), made_at(post))
    return None


def _wanted(call: Call) -> str:
    return (call.message.text, *call.message.parts)[call.part]


def _same(post: dict[str, Any], call: Call) -> bool:
    parent = call.sent_parts[-1] if call.part > 0 else None
    above = [each for each in post.get("referenced_tweets") or [] if isinstance(each, dict)]
    answers = next((each.get("id") for each in above if each.get("type") == "replied_to"), None)
    return (
        _bare(str(post.get("text"))) == _bare(_wanted(call))
        and answers == parent
        and _links_agree(post, _wanted(call))
    )


def _links_agree(post: dict[str, Any], wanted: str) -> bool:
    entities = post.get("entities")
    urls = entities.get("urls") if isinstance(entities, dict) else None
    if not isinstance(urls, list):
        return True
    shown = [
        str(each.get("expanded_url")).rstrip("/")
        for each in urls
        if isinstance(each, dict) and "media_key" not in each
    ]
    return shown == [link.rstrip("/") for link in URL.findall(wanted)]


def _bare(text: str) -> str:
    """Bring a text to the form that survives X: no links, one blank between words."""
    plain = unicodedata.normalize("NFC", html.unescape(text))
    return " ".join(URL.sub(" ", plain).split())
