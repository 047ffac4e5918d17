"""The delivery pipeline with real requests: the webhook adapter against a server on this machine.

    python -m bench.pipeline http [sqlite|postgres] [deliveries] [accounts]

Beside it, in the same run, a bare loop of the same client sends the same signed request as often, with the
same concurrency: once before and once after. The server is a process of its own and answers at once.
Limit: on two cores the server, the client and the database share them.
"""

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import Generator
from datetime import UTC, datetime

from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.deliveries.publish import Sender
from cadenza.providers.base import AttemptContext
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.outcome import Reply
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef, App, Message, Tokens
from cadenza.providers.webhook.publish import Webhook, _request

SECRET = Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
ANSWER = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n"


@contextlib.contextmanager
def receiver() -> Generator[int]:
    """Start a server that takes everything; yield its port."""
    with subprocess.Popen(
        [sys.executable, "-m", "bench.pipeline_http"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def sender_to(port: int) -> Sender:
    """Return an account whose webhook is that server."""
    account = AccountRef(id="a", remote_id="a", settings={"url": f"http://127.0.0.1:{port}/hook"})
    return Sender(Webhook(), account, Tokens(access=SECRET), App(base_url=""))


def client_to(port: int, concurrency: int) -> OutboundClient:
    """Return the product's client, allowed to call that server."""
    policy = Policy(allow=(HostRule("127.0.0.1", port),))
    return OutboundClient(policy, clock=SystemClock(), max_connections=concurrency)


async def bare_rate(http: OutboundClient, sender: Sender, count: int, concurrency: int) -> float:
    """Send so many with nothing around them; return how many a second."""
    now = datetime.now(UTC)
    message = Message(channel=Channel.WEBHOOK, text="hello")
    call = AttemptContext(
        account=sender.account,
        tokens=sender.tokens,
        app=sender.app,
        http=http,
        now=now,
        message=message,
        key="k" * 32,
        began_at=now,
    )
    left = iter(range(count))

    async def one_after_the_other() -> None:
        for _ in left:
            answer = await http.send(_request(call, repeatable=False))
            assert isinstance(answer, Reply), answer

    began = time.perf_counter()
    await asyncio.gather(*(one_after_the_other() for _ in range(concurrency)))
    return count / (time.perf_counter() - began)


async def _serve() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            head = await reader.readuntil(b"\r\n\r\n")
            for line in head.lower().split(b"\r\n"):
                if line.startswith(b"content-length:"):
                    await reader.readexactly(int(line.partition(b":")[2]))
            writer.write(ANSWER)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve())
