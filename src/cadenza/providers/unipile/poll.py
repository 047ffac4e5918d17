"""Ask Unipile what came in: messages and mails from its own store, relations from LinkedIn itself.

A filter by time may be ignored, so times are compared here too. Relations have no time: they are listed newest first
and read up to the first that is known. Limit: of a list that never ends, the newest ten thousand are read.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from cadenza.providers.base import AttemptContext
from cadenza.providers.outcome import Outcome
from cadenza.providers.poll import Polled, PollRange
from cadenza.providers.reply import HttpSuccess, ask
from cadenza.providers.unipile.errors import TABLE
from cadenza.providers.unipile.find import time_of
from cadenza.providers.unipile.request import read

PAGES = 40
ITEMS = "250"
RELATION_PAGES = 10
RELATIONS = "100"
KNOWN = 100  # relations that are remembered: some of them may end
OWN = ("sent", "drafts")
Item = Mapping[str, Any]


class UnipilePoller:
    """Asks for messages, mails and relations."""

    async def poll(self, call: AttemptContext, wanted: PollRange) -> Polled | Outcome:
        """Return what came in, in the shape of Unipile's webhooks."""
        linkedin = call.account.settings.get("kind") != "mail"
        path = "/messages" if linkedin else "/emails"
        listed = await _list(call, path, wanted.since)
        if not isinstance(listed, list):
            return listed
        make = _message if linkedin else _mail
        events = [each for item in listed if (each := make(call, item)) is not None]
        events.reverse()
        if not linkedin or not wanted.relations:
            return Polled(tuple(events), wanted.known)
        related = await _relations(call, wanted.known)
        if not isinstance(related, list):
            return related
        ids = [_id(item) for item in related]
        if wanted.known is not None:
            events += [_relation(call, item) for item in reversed(related)]
        return Polled(tuple(events), tuple(dict.fromkeys([*ids, *(wanted.known or ())]))[:KNOWN])


async def _list(call: AttemptContext, path: str, since: datetime) -> list[Item] | Outcome:
    query = {"account_id": call.account.remote_id, "limit": ITEMS}
    query["after"] = since.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    if path == "/emails":
        query["include_headers"] = "true"  # they tell automatic answers

    def is_old(item: Item) -> bool:
        at = time_of(item)
        return at is not None and at < since

    return await _pages(call, path, query, is_old, PAGES)


async def _relations(call: AttemptContext, known: tuple[str, ...] | None) -> list[Item] | Outcome:
    """Return relations up to the first that is known; the first time the newest, as a place to begin."""
    query = {"account_id": call.account.remote_id, "limit": RELATIONS}
    pages, old = (1, ()) if known is None else (RELATION_PAGES, known)
    found = await _pages(call, "/users/relations", query, lambda item: _id(item) in old, pages)
    return [item for item in found if _id(item)] if isinstance(found, list) else found


async def _pages(
    call: AttemptContext,
    path: str,
    query: Mapping[str, str],
    is_old: Callable[[Item], bool],
    pages: int,
) -> list[Item] | Outcome:
    """Read a list, the newest first, up to what is old."""
    found: list[Item] = []
    cursor: str | None = None
    for _ in range(pages):
        requested = {**query, **({"cursor": cursor} if cursor else {})}
        got = await ask(call, read(call, path, requested), TABLE)
        if not isinstance(got, HttpSuccess):
            return got
        listed = got.at("items")
        for item in listed if isinstance(listed, list) else ():
            if not isinstance(item, dict):
                continue
            if is_old(item):
                return found
            found.append(item)
        cursor = got.text("cursor")
        if cursor is None:
            break
    return found


def _message(call: AttemptContext, item: Item) -> Item | None:
    if item.get("is_sender") or not item.get("id"):
        return None
    sender = {"attendee_provider_id": item.get("sender_id")}
    return {
        **_about(call, "message_received"),
        "account_type": "LINKEDIN",
        "chat_id": item.get("chat_id"),
        "message_id": item.get("id"),
        "message": item.get("text"),
        "timestamp": item.get("timestamp"),
        "sender": sender,
    }


def _mail(call: AttemptContext, item: Item) -> Item | None:
    if item.get("role") in OWN or not item.get("id"):
        return None
    return {**item, **_about(call, "mail_received"), "email_id": item.get("id")}


def _relation(call: AttemptContext, item: Item) -> Item:
    names = (str(item.get(each) or "") for each in ("first_name", "last_name"))
    return {
        **_about(call, "new_relation"),
        "user_provider_id": item.get("member_id"),
        "user_public_identifier": item.get("public_identifier"),
        "user_full_name": " ".join(filter(None, names)),
    }


def _about(call: AttemptContext, event: str) -> dict[str, Any]:
    return {"event": event, "account_id": call.account.remote_id}


def _id(item: Item) -> str:
    return str(item.get("member_id") or item.get("public_identifier") or "")
