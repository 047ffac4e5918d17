"""Sixteen connections that ask one after another over bare sockets; every answer is timed and must be 2xx.

Limit: it reads answers by their content-length, as both servers write it, and shares the machine with them.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

CONNECTIONS = 16
Worker = Callable[[], bytes | None]


@dataclass(frozen=True, slots=True)
class Answers:
    """How long each answer took, and all of them together."""

    times: list[float]
    seconds: float


async def drive(port: int, make: Worker, seconds: float) -> Answers:
    times: list[float] = []
    began = time.perf_counter()
    end = began + seconds
    await asyncio.gather(*(_ask(port, make, end, times) for _ in range(CONNECTIONS)))
    return Answers(times, time.perf_counter() - began)


async def _ask(port: int, make: Worker, end: float, times: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.perf_counter() < end and (request := make()) is not None:
        began = time.perf_counter()
        writer.write(request)
        status = await read_answer(reader)
        times.append(time.perf_counter() - began)
        if not status.startswith("2"):
            raise SystemExit(f"bench: answered with {status}")
    writer.close()


async def read_answer(reader: asyncio.StreamReader) -> str:
    """Read one answer whole; return its status."""
    head = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(_length(head))
    return head[9:12].decode()


def _length(head: bytes) -> int:
    lower = head.lower()
    start = lower.index(b"content-length: ") + 16
    return int(head[start : lower.index(b"\r\n", start)])
