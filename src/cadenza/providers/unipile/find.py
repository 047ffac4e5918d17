"""Look for what was sent in Unipile's lists: messages of the chat, mails to the address, invitations.

The lists come from Unipile's own store and lag behind, nobody says by how much. So finding proves
presence, and not finding proves nothing: the unconfirmed send then goes to a person. Only an invitation may be
called absent after a while, since LinkedIn refuses a second one to the same person, and only if the list was
read to its end.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from cadenza.core.channels import Channel
from cadenza.providers.base import AttemptContext
from cadenza.providers.outcome import Absent, CannotTell, Finding, Found, Outcome
from cadenza.providers.reply import HttpSuccess, ask, no_answer
from cadenza.providers.unipile.errors import TABLE
from cadenza.providers.unipile.request import KEY_HEADER, read

SKEW = timedelta(minutes=2)  # between our clock and Unipile's
AGAIN = timedelta(minutes=2)
PATIENCE = timedelta(minutes=30)  # after which asking again is in vain
PAGES = 10
ITEMS = "250"  # the most that a page may hold
INVITATIONS = "100"  # of these
Item = dict[str, Any]


async def look(call: AttemptContext) -> Finding:
    """Look for the attempt."""
    began_at, recipient = call.began_at, call.message.recipient
    if began_at is None or recipient is None:
        return CannotTell("It is not known since when or for whom to look.")
    path, query, same = _where(call, began_at - SKEW)
    listed = await _list(call, path, query)
    if not isinstance(listed, tuple):
        return no_answer(listed, "Unipile did not list what was sent.", AGAIN)
    items, whole = listed
    mine = (item for item in items if _id(item) not in call.others)
    found = next((item for item in mine if same(item)), None)
    if found is not None:
        return Found(_id(found), at=time_of(found))
    if call.now - began_at < PATIENCE:
        return CannotTell("Unipile does not list it yet; its lists lag.", again=AGAIN)
    if call.message.channel is Channel.LINKEDIN_INVITATION and whole:
        return Absent()
    return CannotTell("Unipile does not list it; look into the account before sending again.")


def _where(
    call: AttemptContext, since: datetime
) -> tuple[str, dict[str, str], Callable[[Item], bool]]:
    """Return which list to read, and how to know the thing in it."""
    message, recipient = call.message, call.message.recipient
    assert recipient is not None, "look asks for a recipient"
    after = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    account = call.account.remote_id
    match message.channel:
        case Channel.LINKEDIN_INVITATION:
            query = {"account_id": account, "limit": INVITATIONS}
            return "/users/invite/sent", query, lambda item: _invites(item, recipient.address)
        case Channel.EMAIL:
            query = {"account_id": account, "to": recipient.address, "after": after, "limit": ITEMS}
            query["include_headers"] = "true"  # ours names the attempt
            return "/emails", query, lambda item: _is_mail(item, call, since)
        case _:
            chat = recipient.fields.get("chat_id")
            place = f"/chats/{quote(chat, safe='')}" if chat else _attendee(recipient.address)
            query = {"after": after, "limit": ITEMS}
            return f"{place}/messages", query, lambda item: _says(item, message.text, since)


def _attendee(person: str) -> str:
    return f"/chat_attendees/{quote(person, safe='')}"


def _invites(item: Item, person: str) -> bool:
    return person in {item.get("invited_user_id"), item.get("invited_user_public_id")}


def _is_mail(item: Item, call: AttemptContext, since: datetime) -> bool:
    """Know a mail by the header that only this attempt has; by its subject if none is listed."""
    given = item.get("headers")
    named = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    keys = [e.get("value") for e in named if str(e.get("name")).lower() == KEY_HEADER.lower()]
    same = (
        call.key in keys if named else _plain(item.get("subject")) == _plain(call.message.subject)
    )
    return same and _since(item, since)


def _says(item: Item, text: str, since: datetime) -> bool:
    sender = bool(item.get("is_sender"))
    return sender and _plain(item.get("text")) == _plain(text) and _since(item, since)


def _plain(text: object) -> str:
    return " ".join(str(text or "").split())


def _since(item: Item, since: datetime) -> bool:
    at = time_of(item)
    return at is not None and at >= since


def time_of(item: Mapping[str, Any]) -> datetime | None:
    """Return when something was written, by whichever name its list has for it."""
    for name in ("timestamp", "date", "parsed_datetime"):
        try:
            at = datetime.fromisoformat(str(item.get(name)))
        except ValueError:
            continue
        return at if at.tzinfo else at.replace(tzinfo=UTC)
    return None


def _id(item: Item) -> str | None:
    found = item.get("tracking_id") or item.get("id")
    return str(found) if found else None


async def _list(
    call: AttemptContext, path: str, query: dict[str, str]
) -> tuple[list[Item], bool] | HttpSuccess | Outcome:
    """Read a list, page by page, the newest first, and say if to its end; else what came instead."""
    items: list[Item] = []
    cursor: str | None = None
    for _ in range(PAGES):
        requested = {**query, "cursor": cursor} if cursor else query
        got = await ask(call, read(call, path, requested), TABLE)
        if not isinstance(got, HttpSuccess):
            return got
        page = got.at("items")
        if not isinstance(page, list):
            return got
        items += [item for item in page if isinstance(item, dict)]
        cursor = got.text("cursor")
        if cursor is None:
            return items, True
    return items, False
