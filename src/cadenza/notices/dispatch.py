"""The dispatcher: a duty that turns outbox rows into mails and webhooks, a few at a time.

Any number of them may run: rows are claimed under a lease. Calls stand between transactions; one target
that fails keeps nobody else waiting, nor does one that keeps silent: of each side only a few are called at a
time, and once it gave no answer the rest of what this pass has for it is put back.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime

from cadenza.core.ids import Random
from cadenza.notices.account_emails import installation_name, is_account_email, write_account_email
from cadenza.notices.call_webhook import call_webhook
from cadenza.notices.claim import LOCK, claim, settle
from cadenza.notices.fan_out import BATCH, fan_out
from cadenza.notices.mail import Mail
from cadenza.notices.model import Ending, GaveUp, NotAttempted, NoticeBatch, RetryLater
from cadenza.notices.preferences import webhook_row, webhook_url_row
from cadenza.notices.remind import remind
from cadenza.notices.write import write
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.redact import Secret
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Row, Tx

log = logging.getLogger("cadenza.notices")

EVERY = 5.0  # seconds between passes
SOON = 0.2
BATCHES = 10  # of outbox rows that a pass spreads, so that a slow pass keeps no news back
AT_ONCE = 10  # calls
BESIDE = {"email": 6, "webhook": 4}  # of them to one side: the mail server, or one program
CALL = 150.0  # seconds; the lease is longer


class _Destination:
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
        rng: Random,
    ) -> None:
        self._operations = operations
        self._mail = mail
        self._http = http
        self._open_secret = open_secret
        self._public_url = public_url.rstrip("/")
        self._rng = rng
        self._room = asyncio.Semaphore(AT_ONCE)

    async def run_once(self) -> float:
        """Tell what is due; come back soon if there is more."""
        batches, now, written = await self._operations.run(self._next, locks=[LOCK])
        spread = written
        while spread == BATCH and written < BATCHES * BATCH:
            spread = await self._operations.run(fan_out, locks=[LOCK])
            written += spread
        sides = {_side(batch): _Destination(batch.medium) for batch in batches}
        await asyncio.gather(*(self._tell(batch, sides[_side(batch)], now) for batch in batches))
        return SOON if batches or written else EVERY

    @staticmethod
    def _next(tx: Tx, now: datetime) -> tuple[list[NoticeBatch], datetime, int]:
        remind(tx, now)
        written = fan_out(tx, now)
        return claim(tx, now), now, written

    async def _tell(self, batch: NoticeBatch, side: _Destination, now: datetime) -> None:
        async with side.room, self._room:
            ending = NotAttempted() if side.silent else await self._call(batch, now)
        if isinstance(ending, RetryLater) and ending.silent:
            side.silent = True
        if isinstance(ending, RetryLater | GaveUp):
            detail = {"medium": batch.medium, "target": batch.target_id, "reason": ending.message}
            log.warning("a notice was not told", extra=detail)
        fraction = self._rng.fraction()
        await self._operations.run(
            lambda tx, now: settle(tx, now, batch, ending, fraction=fraction), urgent=True
        )

    async def _call(self, batch: NoticeBatch, now: datetime) -> Ending:
        try:
            async with asyncio.timeout(CALL):
                return await self._try(batch, now)
        except TimeoutError:
            return RetryLater("it took too long", silent=True)
        except Exception as error:  # noqa: BLE001 - one bad target keeps nobody else waiting
            return RetryLater(f"our own side failed: {type(error).__name__}")

    async def _try(self, batch: NoticeBatch, now: datetime) -> Ending:
        if is_account_email(batch.news[0]["kind"]):
            return await self._post(batch, now)
        target = await self._operations.read(lambda tx, _: _target(tx, batch))
        if target is None:
            return GaveUp("the person or program is no longer there")
        if batch.medium == "email":
            if self._mail is None:
                return GaveUp("no mail server is set up: set one to get notices by mail")
            return await self._mail.send(
                write(
                    batch,
                    to=target["email"],
                    name=target["name"],
                    home=target["home"],
                    public_url=self._public_url,
                    now=now,
                )
            )
        row = webhook_row(batch.workspace_id, batch.target_id)
        secrets = self._open_secret(target["sealed"], row)
        return await call_webhook(
            self._http, batch, url=self._address(batch, target), secrets=secrets, now=now
        )

    def _address(self, batch: NoticeBatch, webhook: Row) -> Secret:
        # Not sealed yet: an older version has added it since this one started.
        if webhook["sealed_url"] is None:
            return Secret(webhook["url"])
        row = webhook_url_row(batch.workspace_id, batch.target_id)
        return self._open_secret(webhook["sealed_url"], row)

    async def _post(self, batch: NoticeBatch, now: datetime) -> Ending:
        if self._mail is None:
            return GaveUp("no mail server is set up: set one to send links by mail")
        home = await self._operations.read(lambda tx, _: installation_name(tx, batch))
        return await self._mail.send(
            write_account_email(
                batch,
                home=home,
                open_secret=self._open_secret,
                public_url=self._public_url,
                now=now,
            )
        )


def _side(batch: NoticeBatch) -> tuple[str, str]:
    """Name who is called: all mail goes to one server."""
    if batch.medium == "email":
        return "", ""
    return batch.workspace_id, batch.target_id


def _target(tx: Tx, batch: NoticeBatch) -> Row | None:
    if batch.medium == "email":
        return tx.one(
            """
            SELECT member.email, member.name, workspace.name AS home FROM member
            JOIN workspace ON workspace.id = member.workspace_id
            WHERE member.workspace_id = :workspace_id AND member.id = :id
            """,
            workspace_id=batch.workspace_id,
            id=batch.target_id,
        )
    return tx.one(
        "SELECT * FROM webhook WHERE workspace_id = :workspace_id AND id = :id AND active",
        workspace_id=batch.workspace_id,
        id=batch.target_id,
    )
