"""One transaction for many: what is asked while one batch is under way goes into the next.

Nothing waits to make a batch larger, so a lone request costs one transaction, and under load the
permits of independent accounts share one. A request that cannot be answered spoils no other: what fails
together is asked one by one, but for a store that is away, which is told to all at once.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from cadenza.sql.errors import SqlError

Asked = TypeVar("Asked")
Answered = TypeVar("Answered")

MOST = 100


class Batching(Generic[Asked, Answered]):
    """Gathers requests and answers each."""

    def __init__(self, answer: Callable[[Sequence[Asked]], Awaitable[Sequence[Answered]]]) -> None:
        self._answer = answer
        self._waiting: list[tuple[Asked, asyncio.Future[Answered]]] = []
        self._running: asyncio.Task[None] | None = None

    async def ask(self, request: Asked) -> Answered:
        """Join the next batch and wait for the answer."""
        future: asyncio.Future[Answered] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        if self._running is None or self._running.done():
            self._running = asyncio.ensure_future(self._drain())
        return await future

    async def _drain(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
            await self._settle(batch)

    async def _settle(self, batch: Sequence[tuple[Asked, asyncio.Future[Answered]]]) -> None:
        try:
            answers = await self._answer([request for request, _ in batch])
        except Exception as error:  # noqa: BLE001 - it goes to whoever asked
            if len(batch) > 1 and not isinstance(error, SqlError):
                for one in batch:
                    await self._settle([one])
                return
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
        else:
            for (_, future), answer in zip(batch, answers, strict=True):
                if not future.done():
                    future.set_result(answer)
