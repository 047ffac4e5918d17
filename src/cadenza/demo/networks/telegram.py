"""Telegram's Bot API: tokens in the path, four encodings of a call, chats in every state, real rates.

Reproduced: `ok/result` and `ok:false/error_code/description/parameters`, the sentences of refusals, both
markups, counting by code points, albums as several messages, moved groups, 30 a second for a bot, one a
second for a chat, 20 a minute for a group with waits that grow, 429 while closing. No list of what was
sent exists, as with the original. Stricter: unknown fields are refused. Not reproduced: updates, webhooks.
"""

from datetime import datetime, timedelta
from math import ceil
from typing import Any, ClassVar

from cadenza.demo.networks.telegram_files import check_album, check_file
from cadenza.demo.networks.telegram_model import (
    CAPTION,
    FIELDS,
    FILE_FIELD,
    IN_ALBUM,
    STATES,
    TEXT,
    WHAT,
    Bot,
    Chat,
    TelegramRefused,
    bad,
    in_album,
)
from cadenza.demo.networks.telegram_wire import (
    read_fields,
    read_text,
    refusal,
    result,
)
from cadenza.demo.simulator.counters import Buckets
from cadenza.demo.simulator.ledger import Entry
from cadenza.demo.simulator.network import SimulatedNetwork, route
from cadenza.demo.simulator.wire import Answer, Part, Received


class SimulatedTelegram(SimulatedNetwork):
    """The Bot API with its bots and chats."""

    name: ClassVar[str] = "telegram"

    def __init__(self) -> None:
        super().__init__()
        self.bots: dict[str, Bot] = {}
        self.chats: dict[str, Chat] = {}
        self.closing = False
        self.overall = Buckets(30, timedelta(seconds=1) / 30)
        self.per_chat = Buckets(3, timedelta(seconds=1))  # short bursts are let through
        self.per_group = Buckets(20, timedelta(seconds=3))
        self._held: dict[str, tuple[datetime, int]] = {}

    # What a test or a demo sets up

    def add_bot(self, username: str, *, token: str = "") -> str:
        """Make a bot; return its token."""
        number = self.shared.ids.number(10)
        token = token or f"{number}:AA{self.shared.ids.letters(33)}"
        self.bots[token] = Bot(int(token.partition(":")[0]), username)
        return token

    def add_chat(self, kind: str, title: str, *, username: str = "", state: str = "") -> Chat:
        """Make a chat that every bot here is in; a private one is a person who pressed start."""
        digits = self.shared.ids.number(10)
        number = {"private": f"{digits}", "group": f"-{digits[:9]}"}.get(kind, f"-100{digits}")
        chat = Chat(int(number), kind, title, username, state)
        self.chats[number] = chat
        if username:
            self.chats[f"@{username.lower()}"] = chat
        return chat

    def upgrade(self, chat: Chat) -> Chat:
        """Make a supergroup of a group: its id changes."""
        new = self.add_chat("supergroup", chat.title)
        chat.state, chat.moved_to = "upgraded", new.id
        return new

    # What the kernel asks

    def account_of(self, call: Received) -> str | None:
        bot = self.bots.get(call.args.get("token", ""))
        return bot.username if bot else None

    def expire_token(self, call: Received) -> None:
        token = call.path.removeprefix("/bot").partition("/")[0]
        if token in self.bots:
            self.bots[token].revoked = True

    def unreadable(self, call: Received, why: str) -> Answer:
        return refusal(bad(why))

    def not_found(self, call: Received) -> Answer:
        return refusal(TelegramRefused(404, "Not Found"))

    # Calls

    @route("POST", "/bot{token}/{method}")
    async def post(self, call: Received) -> Answer:
        return self._call(call)

    @route("GET", "/bot{token}/{method}")
    async def get(self, call: Received) -> Answer:
        return self._call(call)

    def _call(self, call: Received) -> Answer:
        try:
            bot = self._bot(call.args["token"])
            method = call.args["method"].lower()
            fields, files = read_fields(call)
            if method == "getme":
                about = {"id": bot.id, "is_bot": True, "first_name": bot.username}
                return result({**about, "username": bot.username})
            if method == "getchat":
                return result(self._chat(fields).shown())
            if method == "getchatmember":
                return result(self._member(fields))
            if method not in FIELDS:
                raise TelegramRefused(404, "Not Found")
            return result(self._send(bot, method, fields, files))
        except TelegramRefused as refused:
            return refusal(refused)

    def _bot(self, token: str) -> Bot:
        bot = self.bots.get(token)
        if bot is None:
            shaped = token.partition(":")[0].isdecimal() and ":" in token
            raise (
                TelegramRefused(401, "Unauthorized")
                if shaped
                else TelegramRefused(404, "Not Found")
            )
        if bot.revoked:
            raise TelegramRefused(401, "Unauthorized")
        return bot

    def _chat(self, fields: dict[str, Any]) -> Chat:
        wanted = str(fields.get("chat_id", "")).strip().lower()
        if not wanted:
            raise bad("chat_id is empty")
        chat = self.chats.get(wanted)
        if chat is None:
            raise bad("chat not found")
        return chat

    def _member(self, fields: dict[str, Any]) -> dict[str, Any]:
        chat = self._chat(fields)
        status = {"kicked": "kicked", "left": "left", "not_admin": "member"}.get(chat.state)
        admin = status is None and chat.type == "channel"
        about = {"user": {"id": int(fields.get("user_id", 0)), "is_bot": True}}
        if admin:
            return {"status": "administrator", "can_post_messages": True, **about}
        return {"status": status or "member", **about}

    def _send(
        self, bot: Bot, method: str, fields: dict[str, Any], files: dict[str, Part]
    ) -> dict[str, Any] | list[dict[str, Any]]:
        unknown = sorted(set(fields) - FIELDS[method])
        if unknown:
            raise bad(f"unknown field {', '.join(unknown)}")
        chat = self._chat(fields)
        self._open(chat, method)
        text, kinds = self._content(method, fields, files)
        answers = fields.get("reply_parameters")
        if answers and not 0 < int(answers.get("message_id", 0)) <= chat.last_message:
            raise bad("message to be replied not found")
        self._slow_down(bot, chat, max(1, len(kinds)))
        return self._deliver(bot, chat, text, kinds, answers)

    def _open(self, chat: Chat, method: str) -> None:
        if not chat.state:
            return
        if method == "sendmediagroup" and chat.state in IN_ALBUM:
            raise in_album(1, IN_ALBUM[chat.state])
        status, words = STATES[chat.state]
        words = words.format(kind=chat.type, what=WHAT[method])
        moved = {"migrate_to_chat_id": chat.moved_to} if chat.moved_to else {}
        raise TelegramRefused(status, words, **moved)

    def _content(
        self, method: str, fields: dict[str, Any], files: dict[str, Part]
    ) -> tuple[str, list[str]]:
        """Return what people will read and the kinds of files; refuse what does not fit."""
        if method == "sendmessage":
            text = read_text(str(fields.get("text") or ""), fields.get("parse_mode"), TEXT)
            if not text:
                raise bad("message text is empty")
            return text, []
        if method == "sendmediagroup":
            items = check_album(fields.get("media"), files)
            texts = [
                read_text(str(item.get("caption") or ""), item.get("parse_mode"), CAPTION)
                for item in items
            ]
            return "\n".join(text for text in texts if text), [str(item["type"]) for item in items]
        kind = FILE_FIELD[method]
        check_file(kind, files.get(kind))
        caption = read_text(str(fields.get("caption") or ""), fields.get("parse_mode"), CAPTION)
        return caption, [kind]

    def _slow_down(self, bot: Bot, chat: Chat, messages: int) -> None:
        """Count each message against the bot and the chat; each refusal in a row waits longer."""
        if self.closing:
            raise TelegramRefused(429, "Too Many Requests: retry after 5", retry_after=5)
        rates = [(f"bot {bot.id}", self.overall), (f"{bot.id} {chat.id}", self.per_chat)]
        if chat.type != "private":
            rates.append((f"{bot.id} {chat.id} minute", self.per_group))
        for key, buckets in rates:
            until, times = self._held.get(key, (self.now, 0))
            waits = [buckets.wait(key, self.now) for _ in range(messages)]
            # An album that began is let through whole; the next one pays for it.
            wait = max(waits[0], until - self.now)
            if wait > timedelta():
                seconds = max(ceil(wait.total_seconds()), min(2**times, 60))
                self._held[key] = (self.now + timedelta(seconds=seconds), times + 1)
                words = f"Too Many Requests: retry after {seconds}"
                raise TelegramRefused(429, words, retry_after=seconds)
            self._held.pop(key, None)

    def _deliver(
        self, bot: Bot, chat: Chat, text: str, kinds: list[str], answers: Any
    ) -> dict[str, Any] | list[dict[str, Any]]:
        first = chat.last_message + 1
        chat.last_message += max(1, len(kinds))
        self.show(
            Entry(
                simulated=self.name,
                account=bot.username,
                remote_id=f"{chat.id}/{first}",
                text=text,
                at=self.now,
                kind="album" if len(kinds) > 1 else (kinds[0] if kinds else "message"),
                to=str(chat.id),
                detail={"media": len(kinds), "answers": (answers or {}).get("message_id")},
            )
        )
        album = self.shared.ids.number(17)
        messages: list[dict[str, Any]] = []
        for at, kind in enumerate(kinds or ["text"]):
            message: dict[str, Any] = {
                "message_id": first + at,
                "date": int(self.now.timestamp()),
                "chat": chat.shown(),
            }
            if kind == "text":
                message["text"] = text
            else:
                message |= {kind: {"file_id": self.shared.ids.letters(60)}}
                if at == 0 and text:
                    message["caption"] = text
            if len(kinds) > 1:
                message["media_group_id"] = album
            messages.append(message)
        return messages if len(kinds) > 1 else messages[0]
