"""Connect a bot: take its token, ask who it is, and, where a channel or group is named, what it may do.

A bot alone writes to people who started it; with a chat it is an account that posts there. Tokens come
from @BotFather and live until revoked there; there is nothing to exchange.
"""

from collections.abc import Mapping
from typing import Any

from cadenza.providers.connect import Connected, Connecting, Field, Redirect
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Json, Request
from cadenza.providers.message import Tokens
from cadenza.providers.outcome import Forbidden, Outcome, Rejected
from cadenza.providers.reply import HttpSuccess, ask_through
from cadenza.providers.telegram.errors import TABLE
from cadenza.providers.telegram.publish import method_url

MAY_WRITE = ("creator", "administrator", "member")


class TelegramConnector:
    """A token, typed; perhaps a chat."""

    fields = (
        Field("token", "Bot token", secret=True, hint="from @BotFather"),
        Field("chat", "Channel or group", hint="@name or its number", required=False),
    )

    async def begin(self, connecting: Connecting) -> Redirect | tuple[Connected, ...] | Outcome:
        """Ask who the bot is and whether it may write in the chat."""
        token = Secret(connecting.typed.get("token") or "")
        # A number, a colon, a word: anything else would change the address that it stands in.
        number, _, word = token.reveal().partition(":")
        if not number.isdecimal() or not word.replace("-", "").replace("_", "").isalnum():
            return Rejected("This is no bot token: it looks like 123456:ABC-def.", "token")
        me = await _ask(connecting, token, "getMe", {})
        if not isinstance(me, HttpSuccess):
            return me
        bot_id, username = me.text("result", "id"), me.text("result", "username")
        if bot_id is None:
            return Rejected("The server did not say who the bot is.", "no_account")
        handle = f"@{username}" if username else bot_id
        tokens = Tokens(access=token, refreshed_at=connecting.now)
        settings: dict[str, Any] = {"server": connecting.app.base_url}
        chat = str(connecting.typed.get("chat") or "").strip()
        if not chat:
            name = me.text("result", "first_name") or handle
            return (_account(bot_id, handle, name, tokens, settings, "bot"),)
        return await self._with_chat(connecting, bot_id, chat, tokens, settings)

    async def complete(
        self, connecting: Connecting, keep: Mapping[str, Secret], code: Secret
    ) -> tuple[Connected, ...] | Outcome:
        """Refuse: nobody is sent anywhere."""
        return Rejected("Telegram bots are connected by their token alone.", "no_code")

    async def _with_chat(
        self,
        connecting: Connecting,
        bot_id: str,
        chat: str,
        tokens: Tokens,
        settings: dict[str, Any],
    ) -> tuple[Connected, ...] | Outcome:
        about = await _ask(connecting, tokens.access, "getChat", {"chat_id": chat})
        if not isinstance(about, HttpSuccess):
            return about
        chat_id = about.text("result", "id")
        if chat_id is None:
            return Rejected("The server did not say which chat it is.", "no_account")
        requested = {"chat_id": chat_id, "user_id": int(bot_id)}
        member = await _ask(connecting, tokens.access, "getChatMember", requested)
        if not isinstance(member, HttpSuccess):
            return member
        if not _may_write(about.text("result", "type"), member.at("result")):
            message = "The bot may not post there: make it an administrator with that right."
            return Forbidden(message, "not_admin")
        username = about.text("result", "username")
        name = about.text("result", "title") or username or chat_id
        handle = f"@{username}" if username else name
        settings = {**settings, "chat_id": chat_id}
        kind = about.text("result", "type") or ""
        return (_account(f"{bot_id}/{chat_id}", handle, name, tokens, settings, kind),)


def _may_write(kind: str | None, member: Any) -> bool:
    if not isinstance(member, dict) or member.get("status") not in MAY_WRITE:
        return False
    if kind == "channel":
        return member["status"] == "creator" or bool(member.get("can_post_messages"))
    return True


def _account(
    remote_id: str, handle: str, name: str, tokens: Tokens, settings: dict[str, Any], kind: str
) -> Connected:
    return Connected(
        remote_id=remote_id,
        handle=handle,
        name=name,
        tokens=tokens,
        settings={k: v for k, v in settings.items() if v},
        kind=kind,
    )


async def _ask(
    connecting: Connecting, token: Secret, method: str, fields: dict[str, Any]
) -> HttpSuccess | Outcome:
    url = method_url(connecting.app.base_url, token, method)
    request = Request("POST", url, body=Json(fields), idempotent=True, secrets=(token,))
    return await ask_through(connecting.http, request, TABLE, now=connecting.now, secrets=(token,))
