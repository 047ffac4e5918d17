"""The dispatcher: a duty that turns outbox rows into mails and webhooks, a few at a time.

Any number of them may run: rows are claimed under a lease. Calls stand between transactions; one target
that fails keeps nobody else waiting, nor does one that keeps silent: of each side only a few are called at a
time, and once it gave no answer the rest of what this pass has for it is put back.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime

from cadenza.core.ids import Chance
from cadenza.notices.call_webhook import call_webhook
from cadenza.notices.choose import webhook_row
from cadenza.notices.claim import LOCK, claim, settle
from cadenza.notices.fan_out import BATCH, fan_out
from cadenza.notices.letters import home_name, is_letter, write_letter
from cadenza.notices.mail import Mail
from cadenza.notices.model import Again, Ending, Never, Parcel, Untried
from cadenza.notices.remind import remind
from cadenza.notices.write import write
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.redact import Secret
from cadenza.sql.operate import Operations
from cadenza.sql.tx import Row, Tx

log = logging.getLogger("cadenza.notices")

EVERY = 5.0  # seconds between passes
SOON = 0.2
BATCHES = 10  # of outbox rows that a pass spreads, so that a slow pass keeps no news back
AT_ONCE = 10  # calls
BESIDE = {"email": 6, "webhook": 4}  # of them to one side: the mail server, or one program
CALL = 150.0  # seconds; the lease is longer


class _Side:
    """The other side, for one pass: the mail server, or one program."""

    def __init__(self, medium: str) -> None:
        self.room = asyncio.Semaphore(BESIDE[medium])
        self.silent = False


class Dispatcher:
    """Tells what is to be told. `open_secret` opens a sealed text for a named row."""

    def __init__(
        self,
        operations: Operations,
        *,
        mail: Mail | None,
        http: OutboundClient,
        open_secret: Callable[[str, str], Secret],
        public_url: str,
        chance: Chance,
    ) -> None:
        self._operations = operations
        self._mail = mail
        self._http = http
        self._open_secret = open_secret
        self._public_url = public_url.rstrip("/")
        self._chance = chance
        self._room = asyncio.Semaphore(AT_ONCE)

    async def run_once(self) -> float:
        """Tell what is due; come back soon if there is more."""
        parcels, now, written = await self._operations.run(self._next, locks=[LOCK])
        spread = written
        while spread == BATCH and written < BATCHES * BATCH:
            spread = await self._operations.run(fan_out, locks=[LOCK])
            written += spread
        sides = {_side(parcel): _Side(parcel.medium) for parcel in parcels}
        await asyncio.gather(*(self._tell(parcel, sides[_side(parcel)], now) for parcel in parcels))
        return SOON if parcels or written else EVERY

    @staticmethod
    def _next(tx: Tx, now: datetime) -> tuple[list[Parcel], datetime, int]:
        remind(tx, now)
        written = fan_out(tx, now)
        return claim(tx, now), now, written

    async def _tell(self, parcel: Parcel, side: _Side, now: datetime) -> None:
        async with side.room, self._room:
            ending = Untried() if side.silent else await self._call(parcel, now)
        if isinstance(ending, Again) and ending.silent:
            side.silent = True
        if isinstance(ending, Again | Never):
            detail = {"medium": parcel.medium, "target": parcel.target_id, "reason": ending.says}
            log.warning("a notice was not told", extra=detail)
        fraction = self._chance.fraction()
        await self._operations.run(
            lambda tx, now: settle(tx, now, parcel, ending, fraction=fraction), urgent=True
        )

    async def _call(self, parcel: Parcel, now: datetime) -> Ending:
        try:
            async with asyncio.timeout(CALL):
                return await self._try(parcel, now)
        except TimeoutError:
            return Again("it took too long", silent=True)
        except Exception as error:  # noqa: BLE001 - one bad target keeps nobody else waiting
            return Again(f"our own side failed: {type(error).__name__}")

    async def _try(self, parcel: Parcel, now: datetime) -> Ending:
        if is_letter(parcel.news[0]["kind"]):
            return await self._post(parcel, now)
        target = await self._operations.read(lambda tx, _: _target(tx, parcel))
        if target is None:
            return Never("the person or program is no longer there")
        if parcel.medium == "email":
            if self._mail is None:
                return Never("no mail server is set up: set one to get notices by mail")
            return await self._mail.send(
                write(
                    parcel,
                    to=target["email"],
                    name=target["name"],
                    home=target["home"],
                    public_url=self._public_url,
                    now=now,
                )
            )
        row = webhook_row(parcel.workspace_id, parcel.target_id)
        secrets = self._open_secret(target["sealed"], row)
        return await call_webhook(self._http, parcel, url=target["url"], secrets=secrets, now=now)

    async def _post(self, parcel: Parcel, now: datetime) -> Ending:
        if self._mail is None:
            return Never("no mail server is set up: set one to send links by mail")
        home = await self._operations.read(lambda tx, _: home_name(tx, parcel))
        return await self._mail.send(
            write_letter(
                parcel,
                home=home,
                open_secret=self._open_secret,
                public_url=self._public_url,
                now=now,
            )
        )


def _side(parcel: Parcel) -> tuple[str, str]:
    """Name who is called: all mail goes to one server."""
    if parcel.medium == "email":
        return "", ""
    return parcel.workspace_id, parcel.target_id


def _target(tx: Tx, parcel: Parcel) -> Row | None:
    if parcel.medium == "email":
        return tx.one(
            """
            SELECT member.email, member.name, workspace.name AS home FROM member
            JOIN workspace ON workspace.id = member.workspace_id
            WHERE member.workspace_id = :workspace_id AND member.id = :id
            """,
            workspace_id=parcel.workspace_id,
            id=parcel.target_id,
        )
    return tx.one(
        "SELECT * FROM webhook WHERE workspace_id = :workspace_id AND id = :id AND active",
        workspace_id=parcel.workspace_id,
        id=parcel.target_id,
    )
