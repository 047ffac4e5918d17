"""Look for an organisation's post in its list; a profile's posts cannot be read by anyone but LinkedIn.

The commentary comes back as it was written; both sides are brought to what people read and compared
whole, among posts made since the attempt began. A post without words is known by its files, which were
uploaded for it alone. "Absent" is said only if the list reached back that far and had time to show what
is new.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from cadenza.core.channels import Channel
from cadenza.providers.base import AttemptContext
from cadenza.providers.linkedin.errors import POST_URL, TABLE
from cadenza.providers.linkedin.little import plain
from cadenza.providers.linkedin.speak import encoded, read
from cadenza.providers.outcome import Absent, CannotTell, Finding, Found, Outcome
from cadenza.providers.reply import HttpSuccess, ask, no_answer

PAGE = 50
SKEW = timedelta(minutes=2)  # between our clock and LinkedIn's
AGAIN = timedelta(minutes=1)
SHOWN = timedelta(minutes=3)  # by then a list shows a new post


async def look(call: AttemptContext) -> Finding:
    """Compare the newest posts of the author with the one that is looked for."""
    if call.message.channel is not Channel.LINKEDIN_ORGANIZATION:
        return CannotTell("LinkedIn lets nobody read a profile's posts: look at the profile.")
    if call.began_at is None:
        return CannotTell("It is not known since when to look.")
    path = f"/rest/posts?q=author&author={encoded(call.account.remote_id)}&count={PAGE}"
    got = await ask(call, read(call, path), TABLE)
    posts = got.at("elements") if isinstance(got, HttpSuccess) else None
    if not isinstance(posts, list):
        return no_answer(got, "LinkedIn did not list the organisation's posts.", AGAIN)
    posts = [post for post in posts if isinstance(post, dict)]
    unknown = [post for post in posts if str(post.get("id")) not in call.others]
    since = call.began_at - SKEW
    wanted, files = " ".join(call.message.text.split()), set(call.state.get("media", ()))
    alike = [post for post in unknown if _same(post, wanted, since)]
    for post in alike:
        if wanted or not files or _files(post) == files:
            urn = str(post.get("id"))
            return Found(urn, POST_URL.format(urn), made_at(post))
    if any(not post.get("content") for post in alike):
        return CannotTell("LinkedIn does not tell a post's files: look whether this one is there.")
    if call.now - call.began_at < SHOWN:
        return CannotTell("LinkedIn's list may not show the post yet.", again=AGAIN)
    ends = len(posts) < PAGE and not _goes_on(got)
    if ends or any((made_at(post) or since) < since for post in posts):
        return Absent()
    return CannotTell("The organisation posted so much since that its list does not reach back.")


def _goes_on(got: HttpSuccess | Outcome) -> bool:
    """Say whether the list has another page: a short one may have been filtered."""
    links = got.at("paging", "links") if isinstance(got, HttpSuccess) else None
    listed = links if isinstance(links, list) else []
    return any(isinstance(each, dict) and each.get("rel") == "next" for each in listed)


def made_at(post: dict[str, Any]) -> datetime | None:
    """Return when LinkedIn made a post: milliseconds since 1970."""
    value = post.get("createdAt")
    try:
        return datetime.fromtimestamp(int(str(value)) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _files(post: dict[str, Any]) -> set[str]:
    """Return the files that a post shows, as far as the list tells."""
    content = post.get("content")
    if not isinstance(content, dict):
        return set()
    several = content.get("multiImage")
    images = several.get("images") if isinstance(several, dict) else None
    items = [content.get("media"), *(images if isinstance(images, list) else ())]
    return {str(item["id"]) for item in items if isinstance(item, dict) and item.get("id")}


def _same(post: dict[str, Any], wanted: str, since: datetime) -> bool:
    at = made_at(post)
    shown = " ".join(plain(str(post.get("commentary") or "")).split())
    return at is not None and at >= since and shown == wanted
