"""Sign in to Telegram as a person: a number, the code that Telegram sends, a password if there is one.

Three questions, one after the other: `begin` has the code sent and asks for it, `complete` signs in or
asks for the password. Between them the unfinished session is kept, sealed by the caller. The finished
one stands for the account's token. Limit: a new person is not registered here.
"""

import importlib
from collections.abc import Mapping
from typing import Any

from cadenza.providers.connect import Ask, Connected, Connecting, Field, Redirect
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Tokens
from cadenza.providers.outcome import Outcome, Rejected
from cadenza.providers.telegram_person.errors import MOVED, PASSWORD_NEEDED
from cadenza.providers.telegram_person.port import (
    TelegramAnswer,
    TelegramConnection,
    blank,
    open_line,
)

CODE = Field("code", "Code", secret=True, hint="from Telegram's message on your telephone")
PASSWORD = Field("password", "Password", secret=True, hint="of the two-step verification")


class PersonConnector:
    """Sign in by telephone."""

    fields = (
        Field("phone", "Telephone number", hint="for example +49 151 1234567"),
        Field("chat", "Chat", hint="@name; empty where each message names its own", required=False),
    )

    async def begin(
        self, connecting: Connecting
    ) -> Redirect | Ask | tuple[Connected, ...] | Outcome:
        """Have a code sent, and ask for it."""
        phone = str(connecting.typed.get("phone") or "").replace(" ", "")
        if not phone.removeprefix("+").isdecimal():
            return Rejected("Give your number with + and the country.", "PHONE_NUMBER_INVALID")
        async with open_line(connecting.http, connecting.app, blank()) as line:
            if not isinstance(line, TelegramConnection):
                return line
            said = await line.run(line.client.send_code_request(phone), "SendCode")
            if isinstance(said, Rejected) and said.code == MOVED:
                said = await line.run(line.client.send_code_request(phone), "SendCode")
            if not isinstance(said, TelegramAnswer):
                return said
            keep = {
                "session": line.session,
                "phone": Secret(phone),
                "hash": Secret(said.value.phone_code_hash),
                "chat": Secret(str(connecting.typed.get("chat") or "")),
            }
            return Ask("Telegram has sent you a code.", (CODE,), keep)

    async def complete(
        self, connecting: Connecting, keep: Mapping[str, Secret], code: Secret
    ) -> Ask | tuple[Connected, ...] | Outcome:
        """Sign in with the code, or, where that was done already, with the password."""
        async with open_line(connecting.http, connecting.app, keep["session"]) as line:
            if not isinstance(line, TelegramConnection):
                return line
            answer = await (
                _by_password(line, code) if "password" in keep else _by_code(line, keep, code)
            )
            if isinstance(answer, Rejected) and answer.code == PASSWORD_NEEDED:
                kept = {**keep, "session": line.session, "password": Secret("wanted")}
                return Ask("This account has a password.", (PASSWORD,), kept)
            if not isinstance(answer, TelegramAnswer):
                return answer
            return _connected(answer.value, line.session, keep["chat"].reveal())


async def _by_code(
    line: TelegramConnection, keep: Mapping[str, Secret], code: Secret
) -> TelegramAnswer | Outcome:
    request = line.requests.auth.SignInRequest(
        keep["phone"].reveal(), keep["hash"].reveal(), code.reveal().strip()
    )
    return await line.ask(request)


async def _by_password(line: TelegramConnection, password: Secret) -> TelegramAnswer | Outcome:
    """Prove the password without sending it."""
    said = await line.ask(line.requests.account.GetPasswordRequest())
    if not isinstance(said, TelegramAnswer):
        return said
    proof: Any = importlib.import_module("telethon.password").compute_check(
        said.value, password.reveal()
    )
    return await line.ask(line.requests.auth.CheckPasswordRequest(proof))


def _connected(authorization: Any, session: Secret, chat: str) -> tuple[Connected, ...] | Outcome:
    person = getattr(authorization, "user", None)
    if person is None or getattr(person, "id", None) is None:
        return Rejected("Nobody has this number at Telegram.", "PHONE_NUMBER_UNOCCUPIED")
    name = " ".join(part for part in (person.first_name, person.last_name) if part)
    handle = f"@{person.username}" if person.username else name
    return (
        Connected(
            remote_id=str(person.id),
            handle=handle,
            name=name or handle,
            tokens=Tokens(access=session),
            settings={"chat": chat} if chat else {},
            kind="person",
        ),
    )
