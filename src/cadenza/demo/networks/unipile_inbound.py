"""What Unipile tells by itself: who signed in on its page, what came in, how accounts are.

Reproduced: links to the sign-in page that end, its unsigned call to `notify_url`, webhooks by source with the headers
that their maker chose (and no content type of their own), messages, mails and relations in lists that can be polled.
Where everybody says yes: opening the page signs in at once. Not reproduced: retries of a webhook that fails, the
hours by which new relations are late.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from cadenza.demo.networks.unipile_lists import Lists
from cadenza.demo.networks.unipile_model import Account, Chat, Item, Person, UnipileRefused
from cadenza.demo.simulator.fetch import post
from cadenza.demo.simulator.network import route
from cadenza.demo.simulator.wire import Answer, Received, say

HOSTED = {"LINKEDIN": "LINKEDIN", "GOOGLE": "GOOGLE_OAUTH", "OUTLOOK": "OUTLOOK", "MAIL": "MAIL"}
LINK_FIELDS = {
    *("type", "providers", "api_url", "expiresOn", "name", "success_redirect_url"),
    *("failure_redirect_url", "notify_url", "reconnect_account", "sync_limit", "disabled_features"),
}
EVENTS = {
    "messaging": "message_received",
    "email": "mail_received",
    "users": "new_relation",
    "account_status": "",
}
RELATIONS = 1000


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where a customer wants to be told."""

    url: str
    source: str
    headers: dict[str, str] = field(default_factory=dict[str, str])


class Inbound(Lists):
    """The part of Unipile that speaks first."""

    def __init__(self) -> None:
        super().__init__()
        self.links: dict[str, dict[str, Any]] = {}
        self.webhooks: dict[str, Webhook] = {}
        self.refuses = False  # the person closes the page
        self.signs_in_as = "Ada"
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.post: Callable[[str, bytes, dict[str, str]], Awaitable[int]] = post

    # What a test or a demo lets happen

    async def receive_message(self, account: Account, person: Person, text: str) -> str:
        """Let a person write in a chat; return the message's id."""
        own = (c for c in self.chats.values() if (c.account, c.person) == (account.id, person.id))
        chat = next(own, None) or self._chat(account, person)
        message = self.shared.ids.letters(22)
        shown: dict[str, Any] = {"object": "Message", "id": message, "chat_id": chat.id}
        shown |= {"account_id": account.id, "sender_id": person.id, "is_sender": 0}
        shown |= {"text": text, "timestamp": iso(self.now)}
        self._list(Item("message", account.id, person.id, self.now, shown, chat=chat.id))
        event = {"chat_id": chat.id, "timestamp": iso(self.now), "message_id": message}
        event |= {"message": text, "account_info": {"user_id": f"own-{account.id}"}}
        event |= {"sender": {"attendee_provider_id": person.id, "attendee_name": person.name}}
        await self._tell("messaging", account, event)
        return message

    async def receive_mail(
        self, account: Account, sender: str, subject: str, text: str, *, answers: str = ""
    ) -> str:
        """Let a mail arrive; return its id."""
        mail = self.shared.ids.letters(22)
        shown: dict[str, Any] = {"date": iso(self.now), "subject": subject, "body_plain": text}
        shown |= {"body": f"<p>{text}</p>", "message_id": f"<{mail}@example.org>", "role": "inbox"}
        shown |= {"from_attendee": {"identifier": sender, "identifier_type": "EMAIL_ADDRESS"}}
        shown |= {"in_reply_to": {"message_id": answers} if answers else None}
        self._list(Item("email", account.id, "", self.now, {"id": mail, **shown}))
        await self._tell("email", account, {"email_id": mail, **shown})
        return mail

    async def accept(self, account: Account, person: Person) -> None:
        """Let a person accept an invitation: they are a relation, and it is pending no more."""
        person.connected = True
        self.items = [i for i in self.items if (i.kind, i.to) != ("invitation", person.id)]
        shown: dict[str, Any] = {"object": "UserRelation", "member_id": person.id}
        shown |= {"public_identifier": person.public, "first_name": person.name}
        self._list(Item("relation", account.id, person.id, self.now, shown))
        event = {"user_provider_id": person.id, "user_public_identifier": person.public}
        await self._tell("users", account, {**event, "user_full_name": person.name})

    async def sign_out(self, account: Account, status: str = "CREDENTIALS") -> None:
        """Let the network end the session; what it says is told."""
        account.status = status
        body = {"account_id": account.id, "account_type": account.type, "message": status}
        await self._call_webhooks("account_status", {"AccountStatus": body})

    # The page to sign in

    @route("POST", "/api/v1/hosted/accounts/link")
    async def make_link(self, call: Received) -> Answer:
        def make(_: Received) -> Answer:
            wanted = call.json()
            again = wanted.get("type") == "reconnect"
            needed = {"type", "providers", "api_url", "expiresOn"}
            self._known(wanted, LINK_FIELDS, needed | ({"reconnect_account"} if again else set()))
            unknown = set(wanted["providers"]) - set(HOSTED)
            if unknown or wanted["type"] not in {"create", "reconnect"}:
                raise UnipileRefused(400, "invalid_parameters", "type or providers")
            if again and wanted["reconnect_account"] not in self.accounts:
                raise UnipileRefused(404, "resource_not_found", "Account not found")
            if datetime.fromisoformat(wanted["expiresOn"]) <= self.now:
                raise UnipileRefused(400, "invalid_parameters", "expiresOn is over")
            link = self.shared.ids.letters(40)
            self.links[link] = wanted
            return say(201, {"object": "HostedAuthUrl", "url": f"{self.url()}/hosted/{link}"})

        return self._answered(call, make)

    @route("GET", "/hosted/{link}")
    async def sign_in(self, call: Received) -> Answer:
        link = self.links.pop(call.args["link"], None)
        if link is None or datetime.fromisoformat(link["expiresOn"]) <= self.now:
            return Answer(410, b"This link has ended.", (("content-type", "text/plain"),))
        if self.refuses:
            return _redirect(link.get("failure_redirect_url"))
        again = self.accounts.get(link.get("reconnect_account", ""))
        if again is not None:
            again.status = "OK"
        account = again or self._join(self.signs_in_as, HOSTED[link["providers"][0]])
        status = "RECONNECTED" if again else "CREATION_SUCCESS"
        if link.get("notify_url"):
            said = {"status": status, "account_id": account.id, "name": link.get("name")}
            self.told.append((link["notify_url"], said))
            await self.post(link["notify_url"], json.dumps(said).encode(), {})
        return _redirect(link.get("success_redirect_url"))

    # Webhooks

    @route("POST", "/api/v1/webhooks")
    async def add_webhook(self, call: Received) -> Answer:
        def add(_: Received) -> Answer:
            wanted = call.json()
            if wanted.get("source") not in EVENTS or not wanted.get("request_url"):
                raise UnipileRefused(400, "invalid_parameters", "source or request_url")
            number = f"we_{self.shared.ids.letters(22)}"
            given = {str(each["key"]): str(each["value"]) for each in wanted.get("headers", [])}
            self.webhooks[number] = Webhook(wanted["request_url"], wanted["source"], given)
            return say(201, {"object": "WebhookCreated", "webhook_id": number})

        return self._answered(call, add)

    @route("DELETE", "/api/v1/webhooks/{webhook}")
    async def remove_webhook(self, call: Received) -> Answer:
        def remove(_: Received) -> Answer:
            if self.webhooks.pop(call.args["webhook"], None) is None:
                raise UnipileRefused(404, "resource_not_found", "Webhook not found")
            return say(200, {"object": "WebhookDeleted"})

        return self._answered(call, remove)

    # Lists that can be polled

    @route("GET", "/api/v1/messages")
    async def list_all_messages(self, call: Received) -> Answer:
        account = call.query.get("account_id", "")
        return self._listed(call, lambda i: i.kind == "message" and i.account == account)

    @route("GET", "/api/v1/users/relations")
    async def list_relations(self, call: Received) -> Answer:
        account = call.query.get("account_id", "")
        return self._listed(
            call, lambda i: i.kind == "relation" and i.account == account, most=RELATIONS
        )

    # How it is done

    def _join(self, name: str, kind: str) -> Account:
        account = Account(self.shared.ids.letters(22), name, kind)
        self.accounts[account.id] = account
        return account

    def _chat(self, account: Account, person: Person) -> Chat:
        chat = Chat(self.shared.ids.letters(22), account.id, person.id)
        self.chats[chat.id] = chat
        return chat

    def _list(self, item: Item) -> None:
        item.listed_at = self.now + self.lag
        self.items.append(item)

    async def _tell(self, source: str, account: Account, event: dict[str, Any]) -> None:
        about = {"event": EVENTS[source], "account_id": account.id, "account_type": account.type}
        await self._call_webhooks(source, {**about, **event})

    async def _call_webhooks(self, source: str, event: dict[str, Any]) -> None:
        for hook in self.webhooks.values():
            if hook.source == source:
                self.told.append((hook.url, event))
                await self.post(hook.url, json.dumps(event).encode(), hook.headers)

    def _known(self, fields: dict[str, Any], known: set[str], needed: set[str]) -> None:
        if set(fields) - known:
            raise UnipileRefused(
                400, "invalid_parameters", f"unknown {sorted(set(fields) - known)}"
            )
        missing = sorted(name for name in needed if not fields.get(name))
        if missing:
            raise UnipileRefused(400, "missing_parameters", ", ".join(missing))


def iso(now: datetime) -> str:
    """Write a time as Unipile does."""
    return now.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _redirect(place: object) -> Answer:
    if not place:
        return Answer(200, b"Done.", (("content-type", "text/plain"),))
    return Answer(302, b"", (("location", str(place)),))
