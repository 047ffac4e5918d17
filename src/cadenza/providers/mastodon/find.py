"""Look for a post in the account's list: the way to find out when its key is forgotten.

Texts come back as HTML, links shortened, hosts of mentions left out; both sides are brought to the
same plain form and compared whole, among posts made since the attempt began. "Absent" is said only
if the list reached back that far.
"""

from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import Any

from cadenza.providers.base import Call
from cadenza.providers.counting import without_mention_hosts
from cadenza.providers.http.request import Request
from cadenza.providers.mastodon.errors import TABLE
from cadenza.providers.outcome import Absent, CannotTell, Finding, Found
from cadenza.providers.reply import Got, ask, no_answer

PAGE = 40
SKEW = timedelta(minutes=2)  # between our clock and the server's
AGAIN = timedelta(minutes=1)
_BREAKS = ("br", "p")


def list_path(call: Call) -> str:
    """Return where an account's posts are listed."""
    options = f"limit={PAGE}&exclude_reblogs=true"
    return f"/api/v1/accounts/{call.account.remote_id}/statuses?{options}"


async def in_list(call: Call, request: Request) -> Finding:
    """Compare the newest posts with the part that is looked for."""
    got = await ask(call, request, TABLE)
    if not isinstance(got, Got) or not isinstance(got.data, list):
        return no_answer(got, "The server did not list the account's posts.", AGAIN)
    if call.began_at is None:
        return CannotTell("It is not known since when to look.")
    posts = [post for post in got.data if isinstance(post, dict)]
    since = call.began_at - SKEW
    wanted = plain_text((call.message.text, *call.message.parts)[call.part])
    parent = call.sent_parts[-1] if call.part > 0 else None
    for post in posts:
        if _same(post, wanted, parent, since):
            return Found(str(post.get("id")), post.get("url"), made_at(post))
    reaches_back = len(posts) < PAGE or any((made_at(post) or since) < since for post in posts)
    if reaches_back:
        return Absent()
    return CannotTell("The account posted so much since that its list does not reach back.")


def plain_text(text: str) -> str:
    """Bring a text to the form that survives the server: one blank between words, no hosts."""
    return " ".join(without_mention_hosts(text).split())


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


def _same(post: dict[str, Any], wanted: str, parent: str | None, since: datetime) -> bool:
    at = made_at(post)
    return (
        at is not None
        and at >= since
        and post.get("in_reply_to_id") == parent
        and plain_html(str(post.get("content") or "")) == wanted
    )


class _Text(HTMLParser):
    """Keeps the words; breaks and paragraphs become blanks."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BREAKS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)
