"""Unipile's first API: mails, chats, InMails, invitations, and lists that lag behind.

Reproduced: multipart with JSON inside fields, both forms of the address (`?port=`), types of refusals,
daily limits by real counting that answer 422, 429 or 500, ids that are null at times, accounts that
sign out, lists with a cursor. A second call is a second message; a second invitation is refused. What it tells by
itself is in `unipile_inbound.py`. Not reproduced: the second API.
"""

import json
import re
from datetime import timedelta
from typing import Any, ClassVar

from cadenza.demo.networks.unipile_inbound import Inbound, iso
from cadenza.demo.networks.unipile_model import (
    APIS,
    ATTACHMENT,
    CHAT_FIELDS,
    INVITE_FIELDS,
    MAIL_FIELDS,
    MESSAGE_FIELDS,
    Account,
    Chat,
    Item,
    Person,
    Rules,
    UnipileRefused,
)
from cadenza.demo.simulator.counters import FixedWindows
from cadenza.demo.simulator.ledger import Entry
from cadenza.demo.simulator.network import route
from cadenza.demo.simulator.wire import Answer, Part, Received, Unreadable, say

DAY = timedelta(days=1)


class SimulatedUnipile(Inbound):
    """One customer's Unipile."""

    name: ClassVar[str] = "unipile"

    def __init__(self, rules: Rules | None = None) -> None:
        super().__init__()
        self.rules = rules or Rules()
        self.limits = {
            "invitation": FixedWindows(100, DAY),
            "message": FixedWindows(150, DAY),
            "inmail": FixedWindows(50, DAY),
            "email": FixedWindows(300, DAY),
        }

    # What a test or a demo sets up

    def add_account(self, name: str, *, kind: str = "LINKEDIN") -> Account:
        """Let someone sign in."""
        return self._join(name, kind)

    def add_person(self, name: str, *, connected: bool = True, state: str = "") -> Person:
        """Put someone on LinkedIn."""
        public = f"{name.lower()}-{self.shared.ids.letters(6).lower()}"
        person = Person(f"ACoAA{self.shared.ids.letters(34)}", name, connected, state, public)
        self.people[person.id] = person
        return person

    def add_chat(self, account: Account, person: Person) -> Chat:
        """Let two people have spoken before."""
        return self._chat(account, person)

    # Sending

    @route("POST", "/api/v1/emails")
    async def send_mail(self, call: Received) -> Answer:
        return self._answered(call, self._mail)

    @route("POST", "/api/v1/chats")
    async def start_chat(self, call: Received) -> Answer:
        return self._answered(call, self._start)

    @route("POST", "/api/v1/chats/{chat}/messages")
    async def send_message(self, call: Received) -> Answer:
        return self._answered(call, self._message)

    @route("POST", "/api/v1/users/invite")
    async def invite(self, call: Received) -> Answer:
        return self._answered(call, self._invite)

    def _mail(self, call: Received) -> Answer:
        fields, _ = self._form(call, MAIL_FIELDS, {"account_id", "to", "body"})
        account = self._account(fields["account_id"])
        to = _json_list(fields["to"], "identifier")
        extra = _json_list(fields.get("custom_headers", "[]"), "name")
        if not to:
            raise UnipileRefused(400, "invalid_parameters", "to is empty")
        if any(
            re.search(r"[\r\n]", str(value)) for each in (*to, *extra) for value in each.values()
        ):
            raise UnipileRefused(422, "invalid_headers", "A header holds a line break")
        self._count("email", account)
        tracking = self.shared.ids.uuid()
        subject = fields.get("subject", "")
        shown = {"id": self.shared.ids.letters(22), "tracking_id": tracking, "headers": extra}
        shown |= {"date": iso(self.now), "subject": subject, "to_attendees": to, "role": "sent"}
        detail = {"subject": subject, "headers": extra}
        self._show("email", account, to[0]["identifier"], fields["body"], tracking, detail)
        self._keep(call, Item("email", account.id, to[0]["identifier"], self.now, shown))
        answer = {"object": "EmailSent", "tracking_id": self._or_null(tracking)}
        return say(201, answer)

    def _start(self, call: Received) -> Answer:
        fields, _ = self._form(call, CHAT_FIELDS, {"account_id", "attendees_ids", "text"})
        account = self._account(fields["account_id"])
        person = self._person(fields["attendees_ids"])
        inmail = fields.get("linkedin[inmail]") == "true"
        if fields.get("linkedin[api]", "classic") not in APIS:
            raise UnipileRefused(400, "invalid_parameters", "linkedin[api]")
        if inmail and not fields.get("subject"):
            raise UnipileRefused(400, "missing_parameters", "subject")
        if not inmail and not person.connected:
            raise UnipileRefused(422, "no_connection_with_recipient", "Recipient is not a relation")
        kind = "inmail" if inmail else "message"
        self._count(kind, account)
        chat = self.add_chat(account, person)
        message = self._say_in(call, chat, kind, fields["text"], account)
        ids = {"chat_id": self._or_null(chat.id), "message_id": self._or_null(message)}
        return say(201, {"object": "ChatStarted", **ids})

    def _message(self, call: Received) -> Answer:
        chat = self.chats.get(call.args["chat"])
        if chat is None:
            raise UnipileRefused(404, "resource_not_found", "Chat not found")
        fields, _ = self._form(call, MESSAGE_FIELDS, {"text"})
        account = self._account(chat.account)
        self._person(chat.person)
        self._count("message", account)
        message = self._say_in(call, chat, "message", fields["text"], account)
        return say(201, {"object": "MessageSent", "message_id": self._or_null(message)})

    def _say_in(self, call: Received, chat: Chat, kind: str, text: str, account: Account) -> str:
        message = self.shared.ids.letters(22)
        shown = {"id": message, "text": text, "is_sender": 1, "timestamp": iso(self.now)}
        shown |= {"chat_id": chat.id, "account_id": account.id, "sender_id": f"own-{account.id}"}
        self._show(kind, account, chat.person, text, message, {})
        item = Item("message", account.id, chat.person, self.now, shown, chat=chat.id)
        self._keep(call, item)
        return message

    def _invite(self, call: Received) -> Answer:
        fields = call.json()
        self._known(fields, INVITE_FIELDS, {"account_id", "provider_id"})
        account = self._account(fields["account_id"])
        person = self._person(fields["provider_id"])
        note = fields.get("message", "")
        if len(note) > account.note_length:
            raise UnipileRefused(400, "too_many_characters", "message is too long")
        if person.connected:
            raise UnipileRefused(422, "already_connected", "Recipient is already a relation")
        pending = (i for i in self.items if i.kind == "invitation" and i.account == account.id)
        if any(item.to == person.id for item in pending):
            raise UnipileRefused(
                422, "already_invited_recently", "An invitation has been sent already"
            )
        self._count("invitation", account)
        invitation = self.shared.ids.number(19)
        shown = {"id": invitation, "invited_user_id": person.id, "invitation_text": note}
        shown |= {"invited_user": person.name, "parsed_datetime": iso(self.now)}
        self._show("invitation", account, person.id, note, invitation, {})
        self._keep(call, Item("invitation", account.id, person.id, self.now, shown))
        answer = {"object": "UserInvitationSent", "invitation_id": self._or_null(invitation)}
        return say(201, answer)

    # What all of them ask

    def _form(
        self, call: Received, known: set[str], needed: set[str]
    ) -> tuple[dict[str, str], list[Part]]:
        if call.mime != "multipart/form-data":
            raise UnipileRefused(415, "unsupported_media_type", "use multipart/form-data")
        parts = call.parts()
        fields = {part.name: part.text for part in parts if part.filename is None}
        files = [part for part in parts if part.filename is not None]
        self._known({**fields, **{file.name: "" for file in files}}, known, needed)
        if any(len(file.data) > ATTACHMENT for file in files):
            raise UnipileRefused(400, "content_too_large", "attachment")
        return fields, files

    def _person(self, number: str) -> Person:
        person = self.people.get(number)
        if person is None:
            raise UnipileRefused(422, "invalid_recipient", "The recipient cannot be reached")
        if person.state:
            raise UnipileRefused(422, person.state, person.state)
        return person

    def _count(self, action: str, account: Account) -> None:
        if not self.limits[action].hit(account.id, self.now).allowed:
            status, kind = self.rules.beyond[action]
            raise UnipileRefused(status, kind, "Limit reached")

    def _or_null(self, number: str) -> str | None:
        return None if self.rules.null_ids else number

    def _keep(self, call: Received, item: Item) -> None:
        item.listed_at = self.now + max(self.lag, timedelta(seconds=call.lag))
        self.items.append(item)

    def _show(
        self,
        kind: str,
        account: Account,
        to: str,
        text: str,
        number: str,
        detail: dict[str, Any],
    ) -> None:
        self.show(
            Entry(
                simulated=self.name,
                account=account.name,
                remote_id=number,
                text=text,
                at=self.now,
                kind=kind,
                to=to,
                detail=detail,
            )
        )


def _json_list(text: str, needs: str) -> list[dict[str, str]]:
    try:
        items = json.loads(text)
    except ValueError:
        raise Unreadable("a field is not JSON") from None
    if not isinstance(items, list) or not all(isinstance(i, dict) and needs in i for i in items):
        raise Unreadable(f"a field must be a list of objects with {needs}")
    return items
