"""Look for a post among the account's own: the first thing to do when no answer came.

Texts come back as HTML, links shortened, hosts of mentions left out, on some servers taken for Markdown: both
sides are brought to the same plain form, and a post that does not look like ours is compared by its source. "Absent"
is said only if the list was read back to the time before the attempt, page by page, and nothing in it could be
ours; what is not clear is left to a person. Limit: where a server keeps no keys, a post that somebody deleted
before we looked counts as absent.
"""

import unicodedata
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from html.parser import HTMLParser
from typing import Any

import regex

from cadenza.providers.base import AttemptContext
from cadenza.providers.counting import without_mention_hosts
from cadenza.providers.http.request import Request
from cadenza.providers.mastodon.auth import APP_NAME
from cadenza.providers.mastodon.errors import TABLE
from cadenza.providers.mastodon.request import AGAIN, read
from cadenza.providers.outcome import Absent, CannotTell, Finding, Found
from cadenza.providers.reply import HttpSuccess, ask, no_answer

PAGE = 40
PAGES = 6  # read at most; an account that posts more than that in minutes is a person's to judge
SOURCES = 5  # posts that are asked for their source at most
SKEW = timedelta(minutes=2)  # between our clock and the server's
WRONG_CLOCK = timedelta(hours=1)  # by which a server's clock may be wrong before we believe it
_INLINE = frozenset(  # tags that stand inside a line; all others part words
    {
        *("a", "abbr", "b", "bdi", "bdo", "code", "del", "em", "i", "ins", "kbd", "mark"),
        *("q", "rp", "rt", "ruby", "s", "small", "span", "strong", "sub", "sup", "u"),
    }
)
_WORD = regex.compile(r"[^\W_]+")
_UNSEEN = ("Cc", "Cf")  # control and format characters, which servers drop as they like


class _Verdict(Enum):
    OURS = auto()
    OTHER = auto()
    MAYBE = auto()  # its source may tell
    UNCLEAR = auto()


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is looked for."""

    text: str  # in plain form
    parent: str | None
    media: frozenset[str]
    since: datetime
    others: frozenset[str]


async def in_list(call: AttemptContext) -> Finding:
    """Compare the account's posts since the attempt began with the part that is looked for."""
    if call.began_at is None:
        return CannotTell("It is not known since when to look.")
    wanted = _Wanted(
        text=plain_text((call.message.text, *call.message.parts)[call.part]),
        parent=call.sent_parts[-1] if call.part > 0 else None,
        media=frozenset(call.state.get("media", ()) if call.part == 0 else ()),
        since=call.began_at - SKEW,
        others=call.others,
    )
    posts = await _posts(call, wanted.since - WRONG_CLOCK)
    if isinstance(posts, CannotTell):
        return posts
    return await _pick(call, posts, wanted)


async def _posts(call: AttemptContext, since: datetime) -> list[dict[str, Any]] | CannotTell:
    """Read the list back to an instant; a short page is no end, as servers cut pages as they like."""
    posts: list[dict[str, Any]] = []
    before = ""
    for _ in range(PAGES):
        got = await ask(call, _page(call, before), TABLE)
        if not isinstance(got, HttpSuccess) or not isinstance(got.data, list):
            return no_answer(got, "The server did not list the account's posts.", AGAIN)
        page = [post for post in got.data if isinstance(post, dict) and post.get("id")]
        posts += page
        if not page or any((at := made_at(post)) and at < since for post in page):
            return posts
        before = str(page[-1]["id"])
    return CannotTell("The account posted so much since that its list does not reach back.")


def _page(call: AttemptContext, before: str) -> Request:
    options = f"limit={PAGE}&exclude_reblogs=true" + (f"&max_id={before}" if before else "")
    return read(call, f"/api/v1/accounts/{call.account.remote_id}/statuses?{options}")


async def _pick(call: AttemptContext, posts: list[dict[str, Any]], wanted: _Wanted) -> Finding:
    """Return ours; without it, say what keeps us from calling it absent."""
    unclear: dict[str, Any] | None = None
    requested = 0
    for post in reversed(posts):  # the oldest first: ours came before what was made of it
        verdict = _judge(post, wanted)
        if verdict is _Verdict.MAYBE:
            requested += 1
            verdict = await _by_source(call, post, wanted, ask_for_it=requested <= SOURCES)
        if verdict is _Verdict.OURS:
            return Found(str(post["id"]), post.get("url"), made_at(post))
        if verdict is not _Verdict.OTHER:
            unclear = unclear or post
    if unclear is not None:
        return CannotTell(_uncertain(unclear), timedelta(hours=1))
    if call.message.options.get("visibility") == "direct":
        return CannotTell("Not every server lists direct messages: look at the account.")
    return Absent()


def _uncertain(post: dict[str, Any]) -> str:
    url, app = post.get("url"), _app(post)
    by = f" made with {app}" if app and app != APP_NAME else ""
    return f"A post{by} looks like this one, and it's not clear if it is: look at {url}."


def _judge(post: dict[str, Any], wanted: _Wanted) -> _Verdict:
    """Compare one post by what the list says."""
    at = made_at(post)
    if str(post["id"]) in wanted.others or post.get("reblog"):
        return _Verdict.OTHER
    if post.get("in_reply_to_id") != wanted.parent:
        return _Verdict.OTHER
    files = _files(post)
    if wanted.media & files:
        return _Verdict.OURS
    text = plain_html(str(post.get("content") or ""))
    same = text == wanted.text and len(files) == len(wanted.media)
    if at is None or at < wanted.since:
        # Too old to be ours, unless the server's clock is wrong.
        near = at is None or at >= wanted.since - WRONG_CLOCK
        return _Verdict.UNCLEAR if same and near else _Verdict.OTHER
    if same and (not text or _app(post) not in {"", APP_NAME}):
        return _Verdict.UNCLEAR
    return _Verdict.OURS if same else _Verdict.MAYBE


async def _by_source(
    call: AttemptContext, post: dict[str, Any], wanted: _Wanted, *, ask_for_it: bool
) -> _Verdict:
    """Compare one post by the text that it was made from, or by its words where that is not told."""
    source: object = None
    if ask_for_it:
        got = await ask(call, read(call, f"/api/v1/statuses/{post['id']}/source"), TABLE)
        source = got.at("text") if isinstance(got, HttpSuccess) else None
    if not isinstance(source, str):
        shown = plain_html(str(post.get("content") or ""))
        return _Verdict.UNCLEAR if resembles(shown, wanted.text) else _Verdict.OTHER
    if plain_text(source) != wanted.text:
        return _Verdict.OTHER
    # The same words with other files, or from another app, may be a person's.
    ours = len(_files(post)) == len(wanted.media) and _app(post) in {"", APP_NAME}
    return _Verdict.OURS if ours else _Verdict.UNCLEAR


def _files(post: dict[str, Any]) -> set[str]:
    shown = post.get("media_attachments")
    return {str(each.get("id")) for each in shown or () if isinstance(each, dict)}


def _app(post: dict[str, Any]) -> str:
    """Return the client that a post was made with, where the server says so."""
    shown = post.get("application")
    return str(shown.get("name") or "") if isinstance(shown, dict) else ""


def resembles(one: str, other: str) -> bool:
    """Say whether two texts share a third of their words: then one may be the other in another dress."""
    mine, theirs = Counter(_WORD.findall(one.casefold())), Counter(_WORD.findall(other.casefold()))
    most = max(mine.total(), theirs.total())
    return (mine & theirs).total() * 3 >= most


def plain_text(text: str) -> str:
    """Bring a text to the form that survives the server: one blank between words, no hosts."""
    whole = unicodedata.normalize("NFC", without_mention_hosts(text))
    blank = (" " if each.isspace() else each for each in whole)
    seen = (each for each in blank if unicodedata.category(each) not in _UNSEEN)
    return " ".join("".join(seen).split())


def plain_html(html: str) -> str:
    """Bring the server's HTML to the same form."""
    reader = _Text()
    reader.feed(html)
    reader.close()
    return plain_text("".join(reader.pieces))


def made_at(post: dict[str, Any]) -> datetime | None:
    """Return when the server made a post."""
    try:
        at = datetime.fromisoformat(str(post.get("created_at")))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


class _Text(HTMLParser):
    """Keeps the words; breaks, paragraphs, items of lists and the like become blanks."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _INLINE:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag not in _INLINE:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)
