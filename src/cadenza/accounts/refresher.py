"""Brings fresh tokens: takes the lease, makes the exchange, keeps the pair, or waits for who does.

Callers of one process share one run; other processes see the lease and wait for the pair it brings. The
exchange is shielded: a caller that is cancelled does not cut it, since a used-up token cannot be had
again. As a duty (`run_once`) it renews what runs out before anybody needs it.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime

from cadenza.accounts import refresh
from cadenza.accounts.model import Account, read_account
from cadenza.accounts.open import open_account_tokens, refer
from cadenza.accounts.refresh import Begun, Busy, Later, Lost, Ready, due_accounts, is_due
from cadenza.accounts.seal import Keyring
from cadenza.core.clock import Clock
from cadenza.providers.base import AttemptContext, Provider, use_of
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import App, Message, Tokens
from cadenza.providers.outcome import Outcome, Transient, Unconfirmed
from cadenza.sql.errors import SqlError
from cadenza.sql.transactions import Operation, Operations
from cadenza.sql.transactions import Result as T

log = logging.getLogger("cadenza.accounts")

Key = tuple[str, str, datetime | None]
EVERY = 60.0
LOOK = 0.1  # seconds between looks while another process refreshes
KEEPING = 8  # tries to write a pair that exists nowhere else


class Refresher:
    """Keeps accounts able to send."""

    def __init__(
        self,
        operations: Operations,
        *,
        ring: Keyring,
        provider_of: Callable[[str], Provider],
        app_of: Callable[[str], App],
        http: OutboundClient,
        clock: Clock,
    ) -> None:
        self._operations = operations
        self._ring = ring
        self._provider_of = provider_of
        self._app_of = app_of
        self._http = http
        self._clock = clock
        self._running: dict[Key, asyncio.Task[Ready | Lost | Later]] = {}

    async def ready(self, account: Account) -> Ready | Lost | Later:
        """Return the account with tokens that are good for a while; costs nothing while they are."""
        if account.refresh_until is None and not is_due(account, self._clock.now()):
            return Ready(account)
        return await self._share(account, None)

    async def force(self, account: Account) -> Ready | Lost | Later:
        """The network refused these tokens: bring others, once."""
        return await self._share(account, account.token_issued_at or account.created_at)

    async def read_access_token(
        self, workspace_id: str, account_id: str, *, refused: bool = False
    ) -> Secret | Lost | Later:
        """Return a token for what else the account's sign-in opens, such as its mailbox; renewed if it runs out.

        `refused`: the last one was not taken though it should be good, so another is brought, once.
        """
        account = await self._operations.read(
            lambda tx, _: read_account(tx, workspace_id, account_id)
        )
        if account is None or not account.can_send:
            return Lost((account and account.state_reason) or "the account is not connected")
        got = await (self.force(account) if refused else self.ready(account))
        if not isinstance(got, Ready):
            return got
        tokens = open_account_tokens(self._ring, got.account)
        return tokens.access if tokens is not None else Lost("the account has no credentials")

    async def run_once(self) -> float:
        """Refresh what runs out, one after the other; each for itself."""
        for account in await self._operations.read(due_accounts):
            try:
                result = await self._share(account, None)
            except SqlError as error:
                log.warning("refresh not possible", extra={"reason": str(error)})
                return EVERY
            except Exception as error:  # noqa: BLE001 - the others need their tokens all the same
                log.error(  # noqa: TRY400 - nothing of it may reach a log but its kind
                    "refresh failed on our side",
                    extra={"account": account.id, "kind": type(error).__name__},
                )
                continue
            if not isinstance(result, Ready):
                log.warning(
                    "no fresh tokens", extra={"account": account.id, "reason": result.message}
                )
        return EVERY

    async def _share(self, account: Account, refused: datetime | None) -> Ready | Lost | Later:
        key = (account.workspace_id, account.id, refused)
        task = self._running.get(key)
        if task is None:
            task = asyncio.ensure_future(self._refresh(account, refused))
            self._running[key] = task
            task.add_done_callback(lambda _: self._running.pop(key, None))
        return await asyncio.shield(task)

    async def _refresh(self, account: Account, refused: datetime | None) -> Ready | Lost | Later:
        key = {"workspace_id": account.workspace_id, "account_id": account.id}
        while True:
            begun = await self._locked(
                account,
                lambda tx, now: refresh.begin(tx, now, ring=self._ring, refused=refused, **key),
            )
            match begun:
                case Begun():
                    return await self._exchange(begun)
                case Busy():
                    await self._clock.sleep(LOOK)
                case _:
                    return begun

    async def _exchange(self, begun: Begun) -> Ready | Lost | Later:
        fresh = await self._ask(begun)
        if isinstance(fresh, Tokens):
            return await self._keep(begun, fresh)
        return await self._locked(
            begun.account, lambda tx, now: refresh.give_up(tx, now, begun, fresh)
        )

    async def _ask(self, begun: Begun) -> Tokens | Outcome:
        """Make the exchange; what broke in the middle may have used the token up."""
        account = begun.account
        provider = self._provider_of(account.provider)
        call = AttemptContext(
            account=refer(account),
            tokens=begun.tokens,
            app=self._app_of(account.provider),
            http=self._http.for_use(use_of(provider.name)),
            now=begun.at,
            message=Message(channel=provider.channels[0]),
        )
        try:
            async with asyncio.timeout(refresh.EXCHANGE):
                return await provider.refresh(call)
        except TimeoutError:
            return Unconfirmed("the network did not answer the refresh in time")
        except Exception as error:  # noqa: BLE001 - nothing of it may reach a log but its kind
            message = f"our own adapter failed in the refresh: {type(error).__name__}"
            return Unconfirmed(message) if begun.tokens.refresh else Transient(message)

    async def _keep(self, begun: Begun, fresh: Tokens) -> Ready | Lost:
        """Write the pair; it exists nowhere else, so a busy database is asked again."""
        for tried in range(1, KEEPING + 1):
            try:
                return await self._locked(
                    begun.account,
                    lambda tx, now: refresh.keep(tx, now, begun, fresh, ring=self._ring),
                )
            except SqlError:
                if tried == KEEPING:
                    raise
                await self._clock.sleep(LOOK * 2**tried)
        raise AssertionError("the last try returns or raises")

    async def _locked(self, account: Account, operation: Operation[T]) -> T:
        lock = f"account:{account.workspace_id}:{account.id}"
        return await self._operations.run(operation, locks=[lock], urgent=True)
