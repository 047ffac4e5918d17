"""Waking sleepers: the scripts publish a queue's number, every process listens.

A published word is a hint and may be lost (a cut connection, a failover); the workers' poll finds
what it missed. While this process does not hear, it wakes its own watchers itself. After each
return of the connection, and after the first, everybody is woken. A worker may have a channel of
its own beside, on which it is handed jobs (see standing.py).
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from redis.exceptions import ConnectionError as Cut
from redis.exceptions import RedisError

from cadenza.core.clock import Clock
from cadenza.engine.store import Wake
from cadenza.engine.stores.redis.line import RedisConnectionLine
from cadenza.engine.stores.redis.node import Unsent
from cadenza.engine.stores.redis.wire import Wire

PULSE = 10.0  # seconds without a word after which the connection is asked for a sign of life
PAUSES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0)
READY = 5.0  # seconds in which a subscription is confirmed


class Notifier:
    """Who is woken, and how."""

    def __init__(
        self, wire: Wire, channel: str, name: Callable[[int], str | None], *, clock: Clock
    ) -> None:
        self.channel = channel
        self._wire = wire
        self._name = name
        self._clock = clock
        self._watchers: list[Wake] = []
        self._hearing: asyncio.Task[None] | None = None
        self._open = False
        self.hears = False
        self._channels: dict[str, Callable[[bytes], None]] = {}
        self._left: set[str] = set()  # channels to be heard until the server stops sending
        self._line: RedisConnectionLine | None = None
        self._words = 0  # heard so far
        self._word = asyncio.Event()

    def watch(self, wake: Wake) -> Callable[[], None]:
        """Call `wake` on news until the returned function is called."""
        self._watchers.append(wake)
        self._listen()
        return lambda: self._watchers.remove(wake)

    def wake(self, queues: Iterable[str]) -> None:
        """Wake the watchers of this process, now."""
        for queue in queues:
            for wake in tuple(self._watchers):
                wake(queue)

    def ring(self, queues: Iterable[str]) -> None:
        """Wake them if the published word will not."""
        if not self.hears:
            self.wake(queues)

    def subscribe(self, channel: str, heard: Callable[[bytes], None]) -> None:
        """Hear one more channel."""
        self._channels[channel] = heard
        if self._line is not None:
            self._line.say("SUBSCRIBE", channel)

    def unsubscribe(self, channel: str) -> None:
        """Hear it no more; what is under way may still come."""
        self._left.add(channel)
        if self._line is not None:
            self._line.say("UNSUBSCRIBE", channel)

    def open(self) -> None:
        """Listen from now on, if anybody watches: who only enqueues need not hear."""
        self._open = True
        if self._watchers:
            self._listen()

    def _listen(self) -> None:
        if self._open and self._hearing is None:
            self._hearing = asyncio.create_task(self._listen_forever(), name="cadenza redis bell")

    async def close(self) -> None:
        """Stop to listen."""
        self._open = False
        if self._hearing is not None:
            self._hearing.cancel()
            await asyncio.wait([self._hearing])
            self._hearing = None
            self.hears = False

    async def _listen_forever(self) -> None:
        tries = 0
        while self._open:
            try:
                await self._hear()
            except (RedisError, Unsent):
                tries = 0 if self.hears else tries + 1
                self.hears = False
                await self._clock.sleep(PAUSES[min(tries, len(PAUSES) - 1)])

    async def _hear(self) -> None:
        line = await self._wire.open_line(self._take)
        try:
            while self._left:
                self._channels.pop(self._left.pop(), None)
            line.say("SUBSCRIBE", self.channel, *self._channels)
            self._line = line
            await self._await_message(line)
            self.hears = True
            self.wake([""])  # what was published meanwhile was not heard
            while True:
                words = self._words
                if await self._clock.wait(line.lost, PULSE):
                    raise Cut("the subscription was cut")
                if words == self._words:  # a server that is gone does not answer this either
                    line.say("PING")
                    await self._await_message(line)
        finally:
            self._line = None
            line.close()

    async def _await_message(self, line: RedisConnectionLine) -> None:
        """Wait for any sign of life."""
        self._word.clear()
        await self._clock.wait(self._word, READY)
        if line.lost.is_set() or not self._word.is_set():
            raise Cut("the server gave no sign of life")

    def _take(self, said: Any) -> None:
        self._words += 1
        self._word.set()
        if not isinstance(said, list) or said[0] not in (b"message", b"unsubscribe"):
            return
        channel = said[1].decode()
        if said[0] == b"unsubscribe":
            self._left.discard(channel)
            self._channels.pop(channel, None)
        elif channel != self.channel:
            self._channels[channel](said[2])
        else:
            word = said[2].decode()
            self.wake([(self._name(int(word)) or "") if word else ""])
