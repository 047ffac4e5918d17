"""What every part of the store stands on: the wire, the scripts, the queues' numbers, the bell.

Each queue has a number, given once and kept in `<prefix>:queues`; ids and leases end in it, so
they say where they belong. All keys of a queue begin with `<prefix>:{queue}:` and lie in one slot.
"""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from redis.exceptions import RedisError

from cadenza.core.clock import Clock, SystemClock
from cadenza.engine.errors import InvalidJob, StoreUnavailable, refuse_torn
from cadenza.engine.store import Traits, Wake
from cadenza.engine.stores.redis.lua import load_scripts
from cadenza.engine.stores.redis.notifier import Notifier
from cadenza.engine.stores.redis.pack import QUEUES, instant, pairs, text
from cadenza.engine.stores.redis.server_settings import (
    is_durable,
    read_settings,
    vital_signs,
    warnings,
)
from cadenza.engine.stores.redis.wire import Wire

log = logging.getLogger("cadenza.engine")
Item = TypeVar("Item")


class RedisConnection:
    """A prefix of a Redis server or cluster, opened and watched."""

    lua_clock: str | None = None  # another clock than the server's, for tests alone

    def __init__(
        self,
        address: str,
        *,
        prefix: str | None = None,
        replicas: int | None = None,
        clock: Clock | None = None,
    ) -> None:
        address, said = _split(address)
        self.prefix = prefix or said.get("prefix") or "cadenza"
        self.replicas = int(said.get("replicas", "0")) if replicas is None else replicas
        self._clock = clock or SystemClock()
        self._wire = Wire(address, clock=self._clock, replicas=self.replicas)
        channel = f"{self.prefix}:wake"
        self._scripts = load_scripts(channel, clock=self.lua_clock)
        self._numbers: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._prefixes: dict[str, str] = {}
        self._notifier = Notifier(self._wire, channel, self._names.get, clock=self._clock)
        self._durable = False

    @property
    def traits(self) -> Traits:
        """Say what Redis can do; whether it is durable is known once it is open."""
        return Traits(
            name="redis",
            durable=self._durable,
            notifies=True,
            joins_transactions=False,
            many_processes=True,
            keys_span_queues=False,
        )

    async def open(self) -> None:
        """Connect, read the settings that our promises rest on, start to listen."""
        settings = await read_settings(self._wire)
        if settings.get("cluster_enabled") == "1" and self._wire.cluster is None:
            self._wire.use_cluster()
        self._durable = is_durable(settings)
        signs = vital_signs(settings, prefix=self.prefix, waits_for=self.replicas)
        for warning in warnings(signs):
            log.warning("redis: %s", warning)
        await self._read_queues()
        self._notifier.open()

    async def close(self) -> None:
        """Let go of every connection."""
        await self._notifier.close()
        await self._wire.close()

    async def now(self) -> datetime:
        """Read the clock that decides."""
        now, _ = await self._read("now", self._key("clock"), 0)
        return instant(now)

    def watch(self, wake: Wake) -> Callable[[], None]:
        """Call `wake` on news of this process and of others."""
        return self._notifier.watch(wake)

    async def vital_signs(self) -> dict[str, str]:
        """Read the server's settings that our promises rest on."""
        settings = await read_settings(self._wire)
        return vital_signs(settings, prefix=self.prefix, waits_for=self.replicas)

    # Scripts

    async def _run(self, script: str, queue: str, *args: Any, again: bool = False) -> Any:
        """Run a script in a queue, giving it a number if it is new."""
        number = self._numbers.get(queue)
        if number is None:
            number = await self._register(queue)
        return await self._do(script, [self._prefix(queue)], number, *args, again=again)

    async def _read(self, script: str, key: str, *args: Any) -> Any:
        return await self._do(script, [key], *args, again=True, write=False)

    async def _do(
        self, script: str, keys: list[str], *args: Any, again: bool = False, write: bool = True
    ) -> Any:
        try:
            return await self._wire.run(
                self._scripts[script], keys, *args, again=again, write=write
            )
        except RedisError as error:
            raise StoreUnavailable(f"Redis refused {script}: {error}") from error

    # Queues

    def _key(self, name: str) -> str:
        return f"{self.prefix}:{name}"

    def _prefix(self, queue: str) -> str:
        known = self._prefixes.get(queue)
        if known is None:
            known = self._prefixes[queue] = f"{self.prefix}:{{{quote(queue, safe='/:. ')}}}:"
        return known

    async def _register(self, queue: str) -> int:
        number = await self._do("register", [self._key("queues")], 0, queue, again=True)
        if number < 0:
            raise InvalidJob(
                f"{queue!r} would be queue number {QUEUES + 1}, and this store keeps {QUEUES}: "
                "use lanes instead of that many queues"
            )
        self._numbers[queue], self._names[number] = number, queue
        return number

    async def _read_queues(self) -> list[str]:
        """Read all queues there are."""
        found = await self._wire.ask("HGETALL", self._key("queues"), again=True)
        for name, number in pairs(found):
            self._numbers[text(name)], self._names[int(number)] = int(number), text(name)
        return sorted(self._numbers)

    async def _by_queue(
        self, items: Iterable[Item], number: Callable[[Item], int]
    ) -> dict[str | None, list[Item]]:
        """Group what belongs to a queue by its number; None gathers what belongs to none."""
        items = list(items)
        if any(number(item) % QUEUES not in self._names for item in items):
            await self._read_queues()
        groups: dict[str | None, list[Item]] = {}
        for item in items:
            groups.setdefault(self._names.get(number(item) % QUEUES), []).append(item)
        return groups


def _split(address: str) -> tuple[str, dict[str, str]]:
    """Take our own words out of an address: prefix and replicas."""
    refuse_torn(address)
    parts = urlsplit(address)
    query = dict(parse_qsl(parts.query))
    ours = {name: query.pop(name) for name in ("prefix", "replicas") if name in query}
    if not ours.get("replicas", "0").isdigit():
        raise InvalidJob(f"replicas={ours['replicas']!r} in the address must be a number")
    return urlunsplit(parts._replace(query=urlencode(query))), ours
