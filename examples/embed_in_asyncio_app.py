"""The engine inside an application that has its own event loop: one process, no other service.

    python examples/embed_in_asyncio_app.py

A tiny HTTP server takes orders and enqueues; a worker runs beside it and both stop together.
"""

import asyncio
import tempfile
from pathlib import Path

from cadenza.engine import Engine


def make_engine(folder: str, confirmed: asyncio.Queue[str]) -> Engine:
    engine = Engine(f"sqlite:///{Path(folder) / 'shop.sqlite3'}")

    @engine.task(queue="mail")
    async def confirm(order: str) -> None:
        print(f"  worker: order {order} confirmed")
        confirmed.put_nowait(order)

    return engine


async def serve(engine: Engine, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    path = (await reader.readline()).decode().split()[1]
    answer = await engine.enqueue("confirm", {"order": path.strip("/")})
    body = f"{answer.outcome} job {answer.id}\n".encode()
    writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    await writer.drain()
    writer.close()


async def customer(port: int, order: str) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"POST /{order} HTTP/1.1\r\n\r\n".encode())
    print(f"  customer {order}: {(await reader.read()).decode().splitlines()[-1]}")
    writer.close()


async def main() -> None:
    confirmed: asyncio.Queue[str] = asyncio.Queue()
    with tempfile.TemporaryDirectory() as folder:
        async with make_engine(folder, confirmed) as engine:
            server = await asyncio.start_server(
                lambda reader, writer: serve(engine, reader, writer), "127.0.0.1", 0
            )
            worker = engine.worker(["mail"])
            async with server, asyncio.TaskGroup() as tasks:
                tasks.create_task(worker.run())
                port = server.sockets[0].getsockname()[1]
                await asyncio.gather(*(customer(port, name) for name in ("ada-1", "ben-2")))
                await confirmed.get()
                await confirmed.get()
                worker.stop()  # graceful: what runs is finished, the rest goes back
        print("stopped, nothing lost")


if __name__ == "__main__":
    asyncio.run(main())
