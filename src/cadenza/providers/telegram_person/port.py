"""The one place that speaks through Telethon, which is imported only when it is needed.

A line is opened for one step and closed after it; its socket comes through the guarded door, as every
connection out. Telethon waits out nothing, repeats nothing and reconnects nothing here: floods and lost
lines come back as outcomes. Whether the last word arrived is not known once a request has left.
"""

import asyncio
import importlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from types import ModuleType
from typing import Any

from cadenza.providers.errors import Refusal
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.exchange import Exchange
from cadenza.providers.http.outcome import NotSent
from cadenza.providers.http.record import redacted
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Timeouts
from cadenza.providers.message import App
from cadenza.providers.outcome import Forbidden, Outcome, Rejected, Transient, Unconfirmed
from cadenza.providers.telegram_person.errors import TABLE, name_of

PORTS = frozenset({80, 443, 5222})
TIMES = Timeouts(connect=10, read=20, total=60)
MISSING = Forbidden(
    "Sending as a person needs Telethon, which is not installed: pip install 'cadenza[telegram]'.",
    "no_telethon",
)
NO_APP = Rejected("Telegram needs an app: set its id and hash (my.telegram.org).", "no_app")
LOST = "The connection to Telegram was lost."


@dataclass(frozen=True, slots=True)
class TelegramAnswer:
    """What Telegram answered."""

    value: Any


@dataclass(frozen=True, slots=True)
class TelegramConnection:
    """An open connection, as one person."""

    client: Any
    telethon: ModuleType
    http: OutboundClient

    @property
    def requests(self) -> Any:
        """Return the module of requests, e.g. `requests.messages.SendMessageRequest`."""
        return importlib.import_module("telethon.tl.functions")

    @property
    def types(self) -> Any:
        return importlib.import_module("telethon.tl.types")

    @property
    def session(self) -> Secret:
        """Return all that is needed to come back as the same person."""
        return Secret(self.client.session.save())

    async def ask(self, request: Any, *, irreversible: bool = False) -> TelegramAnswer | Outcome:
        """Send one request; `irreversible`: silence is an unconfirmed send."""
        name = type(request).__name__.removesuffix("Request")
        return await self.run(self.client(request), name, irreversible=irreversible)

    async def run(
        self, work: Any, name: str, *, irreversible: bool = False, more: float = 0
    ) -> TelegramAnswer | Outcome:
        """Await something of Telethon's, and turn what it raises into outcomes; `name` is what is kept.

        `more` seconds are given to what carries a file.
        """
        seconds = TIMES.read + more
        if self.http.notes is None:
            return await self._run(work, seconds, irreversible=irreversible)
        clock = self.http.clock
        began_at, started = clock.now(), clock.monotonic()
        came: TelegramAnswer | Outcome | None = None
        try:
            return (came := await self._run(work, seconds, irreversible=irreversible))
        finally:
            # Telegram's own protocol: of the answer only its kind, of a refusal its words.
            said = isinstance(came, TelegramAnswer)
            words = (
                "We stopped waiting for an answer."
                if came is None
                else getattr(came, "message", "")
            )
            self.http.note(
                Exchange(
                    began_at=began_at,
                    seconds=clock.monotonic() - started,
                    method="MTProto",
                    place=f"Telegram: {name}",
                    reply=type(came.value).__name__ if isinstance(came, TelegramAnswer) else None,
                    message="" if said else redacted(words, self.http.notes.secrets),
                )
            )

    async def _run(
        self, work: Any, seconds: float, *, irreversible: bool
    ) -> TelegramAnswer | Outcome:
        try:
            async with asyncio.timeout(seconds):
                return TelegramAnswer(await work)
        except self.telethon.errors.RPCError as refused:
            return TABLE.judge(_refusal(refused, irreversible=irreversible))
        except asyncio.CancelledError:
            if _ours_to_end():
                raise
            return _lost(irreversible=irreversible)
        except Exception:  # noqa: BLE001 - a broken line shows in many kinds, none of them promised
            return _lost(irreversible=irreversible)


def load() -> ModuleType | None:
    """Return Telethon, if the extra is installed."""
    try:
        importlib.import_module("telethon.sessions")
        return importlib.import_module("telethon")
    except ImportError:
        return None


def blank() -> Secret:
    """Return the session of somebody who has not signed in yet."""
    return Secret("")


@asynccontextmanager
async def open_line(
    http: OutboundClient, app: App, session: Secret
) -> AsyncGenerator[TelegramConnection | Outcome]:
    """Connect as the person of a session, for one step."""
    telethon = load()
    if telethon is None:
        yield MISSING
        return
    if not app.client_id.isdecimal() or app.client_secret is None:
        yield NO_APP
        return
    client = _client(telethon, http, app, session)
    try:
        line = TelegramConnection(client, telethon, http)
        connected = await line.run(client.connect(), "connect")
        yield line if isinstance(connected, TelegramAnswer) else connected
    finally:
        await client.disconnect()


def _client(telethon: Any, http: OutboundClient, app: App, session: Secret) -> Any:
    assert app.client_secret is not None
    return telethon.TelegramClient(
        telethon.sessions.StringSession(session.reveal()),
        int(app.client_id),
        app.client_secret.reveal(),
        connection=_guarded(telethon, http),
        timeout=TIMES.connect,
        request_retries=0,
        connection_retries=0,
        auto_reconnect=False,
        flood_sleep_threshold=0,
        raise_last_call_error=True,
        receive_updates=False,
    )


def _guarded(telethon: Any, http: OutboundClient) -> type:
    """Make Telethon's connection take its socket from the guarded door."""
    plain: Any = importlib.import_module("telethon.network.connection").ConnectionTcpFull

    class Guarded(plain):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._proxy = "guarded"  # any value: it leads to `_proxy_connect`, which is ours

        async def _proxy_connect(self, timeout: Any = None, local_addr: Any = None) -> Any:
            plug = await http.connect(self._ip, self._port, ports=PORTS, timeouts=TIMES)
            if isinstance(plug, NotSent):
                raise ConnectionRefusedError(plug.message)
            return plug.sock

    return Guarded


def _refusal(error: Any, *, irreversible: bool) -> Refusal:
    """Read an error of Telethon's: Telegram's name for it, and the seconds to wait."""
    seconds = getattr(error, "seconds", None)
    return Refusal(
        status=abs(int(getattr(error, "code", None) or 400)),
        code=_named().get(type(error)) or name_of(str(error.message or ""))[:60],
        wait=timedelta(seconds=seconds) if isinstance(seconds, int) else None,
        irreversible=irreversible,
    )


def _named() -> dict[type, str]:
    """Return Telegram's names by Telethon's classes; of several for one, the one in our table."""
    listed: Any = importlib.import_module("telethon.errors.rpcerrorlist")
    ours = {row.code for row in TABLE.rows}
    pairs = sorted(listed.rpc_errors_dict.items(), key=lambda pair: pair[0] in ours)
    plain = {kind: name for name, kind in pairs}
    return plain | {kind: name_of(pattern) for pattern, kind in listed.rpc_errors_re}


def _lost(*, irreversible: bool) -> Outcome:
    return Unconfirmed(LOST) if irreversible else Transient(LOST, out_of_order=True)


def _ours_to_end() -> bool:
    """Say whether we are being cancelled, and not only a request whose line broke."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
