"""The port to threads: sync handlers run here, so that they never block the event loop.

A thread cannot be stopped from outside: a sync handler over its time limit is given up, its job
settled, and its thread left to finish by itself.
"""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor  # noqa: TID251 - this file is the port
from functools import partial
from typing import Any


class Threads:
    """A pool that is made when the first sync handler runs."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._pool: ThreadPoolExecutor | None = None

    async def call(self, handler: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
        """Run a sync handler in a thread and wait for it."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._most, thread_name_prefix="cadenza-job")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, partial(handler, **arguments))

    def close(self) -> None:
        """Take no more work; threads that still run are not waited for."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
