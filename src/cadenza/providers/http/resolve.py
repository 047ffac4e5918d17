"""Turn a name into addresses: the product's only look-up, behind a port.

`SystemResolver` asks the machine (hosts file, DNS) in the event loop's threads. Nothing is cached
here; what comes back is used at once, for one connection. Limit: a look-up that hangs cannot be
stopped, only left behind; its thread ends with the system resolver's own time-out.
"""

import asyncio
import socket
from typing import Protocol


class Resolver(Protocol):
    """Finds the addresses of a name."""

    async def resolve(self, host: str, port: int) -> list[str]:
        """Return all addresses, in the order to try; raise OSError if there is none."""
        ...


class SystemResolver:
    """The machine's resolver."""

    async def resolve(self, host: str, port: int) -> list[str]:
        """Ask the system; each address once."""
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(each[4][0]) for each in found))
