"""Which node of a cluster holds a key, learnt from the cluster and corrected as it moves.

Any node tells who holds which slots; one that is asked for a slot that it does not hold names the
one that does. After a failure the nodes are asked again, so a replica that has taken over is found.
Limit: only those nodes are known that were there when the cluster was last asked.
"""

from collections.abc import Iterator
from typing import Any

from redis.crc import key_slot
from redis.exceptions import ClusterDownError, MovedError, RedisError
from redis.exceptions import ConnectionError as Cut

from cadenza.engine.stores.redis.node import Node, Unsent
from cadenza.engine.stores.redis.pack import text

_SCRIPTED = ("EVALSHA", "EVAL")  # their keys stand behind the script and the number of keys
Where = tuple[str, int]


class Route:
    """The nodes of a cluster, and who holds what."""

    def __init__(self, home: Node) -> None:
        self._home = home  # the node that the address names
        self._nodes: dict[Where, Node] = {}
        self._holds: dict[int, Where] = {}  # by slot
        self._unconfirmed_one = True

    def __iter__(self) -> Iterator[Node]:
        """Go through all nodes that are known, beginning with the one that the address names."""
        yield self._home
        yield from tuple(self._nodes.values())

    def invalidate(self) -> None:
        """Ask the cluster before the next command: a node is away, or not what it was."""
        self._unconfirmed_one = True

    async def find(self, command: tuple[Any, ...]) -> Node:
        """Return the node that holds a command's key."""
        if self._unconfirmed_one:
            await self._learn()
        key = command[3] if command[0] in _SCRIPTED else command[1]
        where = self._holds.get(key_slot(key.encode() if isinstance(key, str) else key))
        if where is None:
            self.invalidate()
            raise ClusterDownError(f"no node holds the slot of {key!r}")
        return self._node(where)

    def follow(self, turn: MovedError) -> Node:
        """Return the node that another one named instead of itself."""
        where = (turn.host, turn.port)
        self._holds[turn.slot_id] = where
        self.invalidate()
        return self._node(where)

    async def close(self) -> None:
        """Let go of every connection but the address's own."""
        for node in self._nodes.values():
            await node.close()

    def _node(self, where: Where) -> Node:
        if where not in self._nodes:
            self._nodes[where] = self._home.beside(*where)
        return self._nodes[where]

    async def _learn(self) -> None:
        """Ask one node after the other until one knows."""
        reason: BaseException | None = None
        for node in self:
            try:
                rows = await (await node.line()).ask("CLUSTER", "SLOTS")
            except (Cut, Unsent, RedisError) as error:
                reason = error.__cause__ if isinstance(error, Unsent) else error
                continue
            self._read(rows)
            return
        raise Unsent from reason

    def _read(self, rows: list[Any]) -> None:
        self._holds.clear()
        for first, last, *nodes in rows:
            places = [(text(host or b""), int(port)) for host, port, *_ in nodes]
            self._holds |= dict.fromkeys(range(first, last + 1), places[0])
            for where in places:
                self._node(where)
        self._unconfirmed_one = False
