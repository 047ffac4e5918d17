"""Waits for new mail in mailboxes (IMAP IDLE), so that a reply is read within seconds instead of minutes.

It only wakes the job that reads: what it misses, the poll every two minutes finds. A mailbox is watched by one worker
at a time, for ten minutes, then by whoever takes it next. Limits: a worker watches at most 100; where a server cannot
do it, or breaks off, the poll is all there is for a while.
"""

import asyncio
import logging
from datetime import datetime, timedelta
from functools import partial

from cadenza.accounts.seal import CannotOpen
from cadenza.bootstrap.model import Runtime
from cadenza.bootstrap.read_mailboxes import access_tokens
from cadenza.inbox import mailboxes
from cadenza.inbox.imap import ImapFailed, open_mailbox
from cadenza.inbox.mailboxes import Mailbox
from cadenza.sql.errors import SqlError

log = logging.getLogger("cadenza.inbox")
EVERY = 30.0  # seconds between looks for mailboxes that nobody watches
MOST = 100
ENOUGH = (mailboxes.WATCH - timedelta(minutes=1)).total_seconds()  # routers drop longer silence
AGAIN = 1.0  # seconds between looks whether it is still being read
UNABLE = timedelta(days=1)  # the server does not let anybody wait


class MailboxWatch:
    """The mailboxes that this worker waits at."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._waiting: set[asyncio.Task[None]] = set()

    async def run_once(self) -> float:
        """Take mailboxes that nobody watches."""
        room = MOST - len(self._waiting)
        taken = await self._runtime.operations.run(
            lambda tx, now: mailboxes.take_watch(tx, now, limit=room)
        )
        for each in taken:
            task = asyncio.ensure_future(self._watch(each))
            self._waiting.add(task)
            task.add_done_callback(self._waiting.discard)
        return EVERY

    async def close(self) -> None:
        """Wait for nothing more; another worker takes over at once."""
        tasks = list(self._waiting)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self, there: Mailbox) -> None:
        until: datetime | None = None
        try:
            until = await self._wait(there)
        except (ImapFailed, CannotOpen) as failed:
            log.info("nobody waits for mail", extra={"reason": str(failed)})
            until = there.watched_until  # the poll tells its owner; this is tried again later
        except SqlError as error:
            log.warning("a watch ended", extra={"reason": str(error)})
            return
        finally:
            await asyncio.shield(self._end(there, until))

    async def _wait(self, there: Mailbox) -> datetime | None:
        """Wake the reader for each mail until the watch ends; return till when waiting is of no use."""
        runtime = self._runtime
        server = there.server(runtime.keyring, access_tokens(runtime, there))
        ends = runtime.clock.monotonic() + ENOUGH
        async with open_mailbox(runtime.http, server) as session:
            if not await session.can("IDLE"):
                return runtime.clock.now() + UNABLE
            await session.examine((await session.folders())[0])
            while (left := ends - runtime.clock.monotonic()) > 0:
                if await session.wait_for_mail(left):
                    await self._wake(there)
        return None

    async def _wake(self, there: Mailbox) -> None:
        """Let the mailbox be read; one that is being read is read once more, as it may have passed the mail."""
        wake = partial(mailboxes.wake, there=there)
        while not await self._runtime.operations.run(wake):
            await self._runtime.clock.sleep(AGAIN)

    async def _end(self, there: Mailbox, until: datetime | None) -> None:
        try:
            await self._runtime.operations.run(
                lambda tx, now: mailboxes.end_watch(tx, now, there, until=until)
            )
        except SqlError as error:
            log.warning("a watch was not given back", extra={"reason": str(error)})
