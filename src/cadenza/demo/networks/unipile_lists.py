"""The reading side of Unipile: who may enter, accounts and their states, lists with a cursor."""

import base64
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from cadenza.demo.networks.unipile_model import (
    TITLES,
    Account,
    Chat,
    Item,
    Person,
    UnipileRefused,
)
from cadenza.demo.simulator.network import SimulatedNetwork, route
from cadenza.demo.simulator.wire import Answer, Received, Unreadable, say

PORT = "13111"
ITEMS = 250  # the most that a page may hold
INVITATIONS = 100  # of these, which Unipile reads from LinkedIn itself


class Lists(SimulatedNetwork):
    """What can be read."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: set[str] = set()
        self.accounts: dict[str, Account] = {}
        self.people: dict[str, Person] = {}
        self.chats: dict[str, Chat] = {}
        self.items: list[Item] = []
        self.lag = timedelta()
        self.page = 250
        self.heeds_after = True  # a filter may be ignored; an adapter must not lean on it

    # What the kernel asks

    def account_of(self, call: Received) -> str | None:
        wanted = call.query.get("account_id") or call.args.get("account")
        chat = self.chats.get(call.args.get("chat", ""))
        if chat is not None:
            wanted = chat.account
        elif wanted is None and call.method == "POST":
            wanted = _account_in(call)
        account = self.accounts.get(wanted or "")
        return account.name if account else None

    def expire_token(self, call: Received) -> None:
        name = self.account_of(call)
        for account in self.accounts.values():
            if name in {None, account.name}:
                account.status = "CREDENTIALS"

    def unreadable(self, call: Received, why: str) -> Answer:
        return problem(400, "malformed_request", why)

    def not_found(self, call: Received) -> Answer:
        return problem(404, "resource_not_found", "Cannot find this route")

    # Reading

    @route("GET", "/api/v1/accounts")
    async def list_accounts(self, call: Received) -> Answer:
        return self._answered(
            call, lambda _: self._paged(call, list(map(_shown, self.accounts.values())), "Account")
        )

    @route("GET", "/api/v1/accounts/{account}")
    async def get_account(self, call: Received) -> Answer:
        def show(_: Received) -> Answer:
            account = self.accounts.get(call.args["account"])
            if account is None:
                raise UnipileRefused(404, "resource_not_found", "Account not found")
            return say(200, _shown(account))

        return self._answered(call, show)

    @route("GET", "/api/v1/users/invite/sent")
    async def list_invitations(self, call: Received) -> Answer:
        account = call.query.get("account_id", "")
        return self._listed(
            call, lambda i: i.kind == "invitation" and i.account == account, most=INVITATIONS
        )

    @route("GET", "/api/v1/emails")
    async def list_mails(self, call: Received) -> Answer:
        account, to = call.query.get("account_id", ""), call.query.get("to")
        return self._listed(
            call,
            lambda i: i.kind == "email" and i.account == account and to in {None, i.to},
        )

    @route("GET", "/api/v1/chats/{chat}/messages")
    async def list_messages(self, call: Received) -> Answer:
        return self._listed(call, lambda i: i.kind == "message" and i.chat == call.args["chat"])

    @route("GET", "/api/v1/chat_attendees/{person}/messages")
    async def list_messages_with(self, call: Received) -> Answer:
        return self._listed(call, lambda i: i.kind == "message" and i.to == call.args["person"])

    def _listed(
        self, call: Received, wanted: Callable[[Item], bool], *, most: int = ITEMS
    ) -> Answer:
        def show(_: Received) -> Answer:
            after = call.query.get("after")
            since = datetime.fromisoformat(after) if after and self.heeds_after else None
            found = [
                _without_headers(item.shown, call)
                for item in reversed(self.items)
                if wanted(item) and item.listed_at <= self.now and _after(item, since)
            ]
            return self._paged(call, found, "Item", most=most)

        return self._answered(call, show)

    def _paged(
        self, call: Received, found: list[dict[str, Any]], name: str, *, most: int = ITEMS
    ) -> Answer:
        size = min(int(call.query.get("limit", "100")), self.page)
        if int(call.query.get("limit", "100")) > most:
            raise UnipileRefused(422, "limit_too_high", "limit")
        start = int(base64.b64decode(call.query.get("cursor", "MA==")))
        rest = start + size < len(found)
        cursor = base64.b64encode(str(start + size).encode()).decode() if rest else None
        page = found[start : start + size]
        return say(200, {"object": f"{name}List", "items": page, "cursor": cursor})

    # Who may enter

    def _answered(self, call: Received, act: Callable[[Received], Answer]) -> Answer:
        if call.headers.get("x-api-key") not in self.keys:
            return problem(401, "missing_credentials", "The API key is missing or unknown")
        if call.query.get("port", PORT) != PORT:
            return problem(404, "resource_not_found", "No such customer")
        try:
            return act(call)
        except UnipileRefused as refused:
            return problem(refused.status, refused.kind, refused.detail)

    def _account(self, number: str) -> Account:
        account = self.accounts.get(number)
        if account is None:
            raise UnipileRefused(404, "resource_not_found", "Account not found")
        if account.status != "OK":
            raise UnipileRefused(
                401, "disconnected_account", "The account appears to be disconnected"
            )
        return account


def problem(status: int, kind: str, detail: str) -> Answer:
    """Make a refusal in Unipile's shape."""
    body = {"status": status, "type": f"errors/{kind}", "title": TITLES.get(status, "Error")}
    return say(status, {**body, "detail": detail})


def _shown(account: Account) -> dict[str, Any]:
    about = {"object": "Account", "id": account.id, "name": account.name, "type": account.type}
    return {**about, "sources": [{"id": f"{account.id}_1", "status": account.status}]}


def _without_headers(shown: dict[str, Any], call: Received) -> dict[str, Any]:
    """Mails are listed with their headers for who asks for them."""
    if call.query.get("include_headers") == "true":
        return shown
    return {name: value for name, value in shown.items() if name != "headers"}


def _after(item: Item, since: datetime | None) -> bool:
    if since is None:
        return True
    at = item.shown.get("timestamp") or item.shown.get("date") or item.shown.get("parsed_datetime")
    if at is None:
        return True  # relations have no time
    return datetime.fromisoformat(str(at)) > since


def _account_in(call: Received) -> str | None:
    """Read whose call it is from its body, whatever its encoding."""
    try:
        if call.mime == "application/json":
            return str(call.json().get("account_id"))
        return next((part.text for part in call.parts() if part.name == "account_id"), None)
    except Unreadable:
        return None
