"""One transaction for many: what is asked while one batch is under way goes into the next.

Nothing waits to make a batch larger, so a lone request costs one transaction, and under load the
permits of independent accounts share one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

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
            try:
                answers = await self._answer([request for request, _ in batch])
            except Exception as error:  # noqa: BLE001 - it goes to everyone who asked
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error)
            else:
                for (_, future), answer in zip(batch, answers, strict=True):
                    if not future.done():
                        future.set_result(answer)
