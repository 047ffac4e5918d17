"""How many requests a second does the API serve, beside a bare endpoint that runs the same SQL?

    python -m bench.api [sqlite|postgres] [seconds]

Both are uvicorn on loopback in processes of their own, each on a database of its own that is filled alike.
The statements of one request of ours are written down as the driver gets them; the bare one (FastAPI and
SQLAlchemy) runs those, in one transaction, and answers as many bytes. Rounds alternate, so a busy machine
hits both; compare the ratio, not the figures.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from bench.api_load import Answers, Worker, drive
from bench.api_prepare import ACCOUNTS, HOME, Prepared, count_rows, prepare, write_down
from tests.servers.postgres import PrivatePostgres

ROUNDS = 5
QUEUE = f"/api/v1/workspaces/{HOME}/accounts/account-0/queue"
ADD = f"/api/v1/workspaces/{HOME}/queue"


class Side:
    """One server under load, and what it answered."""

    def __init__(self, name: str, port: int, pid: int, prepared: Prepared) -> None:
        self.added = 0
        self.name = name
        self.port = port
        self._pid = pid
        self._cookie = f"cookie: cadenza={prepared.token}\r\nx-cadenza-csrf: 1\r\n"
        self._posts = iter(prepared.posts)
        self._count = 0
        self.rates: dict[str, list[float]] = {"list": [], "add": []}
        self.times: dict[str, list[float]] = {"list": [], "add": []}
        self.worked: dict[str, list[float]] = {"list": [], "add": []}  # CPU seconds a request

    def list_request(self) -> bytes:
        return f"GET {QUEUE} HTTP/1.1\r\nhost: bench\r\n{self._cookie}\r\n".encode()

    def add_request(self) -> bytes | None:
        post = next(self._posts, None)
        if post is None:
            return None
        self._count += 1
        account = f"account-{1 + self._count % (ACCOUNTS - 1)}"
        body = json.dumps({"post_id": post, "accounts": [{"account_id": account}]})
        return (
            f"POST {ADD} HTTP/1.1\r\nhost: bench\r\n{self._cookie}idempotency-key: key-{post}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n{body}"
        ).encode()

    async def round(self, what: str, seconds: float) -> None:
        make: Worker = self.list_request if what == "list" else self.add_request
        before = self._cpu()
        answers: Answers = await drive(self.port, make, seconds)
        self.worked[what].append((self._cpu() - before) / max(1, len(answers.times)))
        self.rates[what].append(len(answers.times) / answers.seconds)
        self.times[what] += answers.times
        self.added += len(answers.times) if what == "add" else 0

    def _cpu(self) -> float:
        """Read what the process used so far; a busy machine hardly changes that."""
        fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def main(kind: str, seconds: float) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
        addresses = {name: _database(stack, kind, folder / name) for name in ("ours", "bare")}
        sides = [await _open(stack, address, folder / name) for name, address in addresses.items()]
        print(f"{kind}, {ROUNDS} rounds of {seconds:g} s each, load {os.getloadavg()[0]:.1f}")
        for what in ("list", "add"):
            for side in sides:
                await side.round(what, 1.0)  # warm
                side.rates[what].clear()
                side.times[what].clear()
                side.worked[what].clear()
            for _ in range(ROUNDS):
                for side in sides:
                    await side.round(what, seconds)
            _tell(what, *sides)
        for side in sides:
            left = await count_rows(addresses[side.name], folder / side.name)
            print(f"{side.name}: {side.added} added, rows: {left}")
        print(f"load at the end {os.getloadavg()[0]:.1f}")


def _database(stack: ExitStack, kind: str, own: Path) -> str:
    own.mkdir()
    if kind == "sqlite":
        return f"sqlite:///{own}/product.sqlite3"
    return stack.enter_context(PrivatePostgres.create(fsync=True)).dsn


async def _open(stack: ExitStack, address: str, own: Path) -> Side:
    name = own.name
    prepared = await prepare(address, own)
    if name == "bare":
        (own / "written").write_bytes(await write_down(address, own, prepared))
    read, write = os.pipe()
    words = [sys.executable, "-m", f"bench.api_{name}", address, str(own), str(write)]
    child = subprocess.Popen(words, pass_fds=[write])  # noqa: ASYNC220 - nothing else runs yet
    stack.callback(child.wait)
    stack.callback(child.terminate)
    os.close(write)
    with os.fdopen(read) as said:
        port = await asyncio.to_thread(said.readline)
    return Side(name, int(port), child.pid, prepared)


def _tell(what: str, ours: Side, bare: Side) -> None:
    for side in (ours, bare):
        cut = statistics.quantiles(side.times[what], n=100)
        p50, p99 = cut[49] * 1000, cut[98] * 1000
        rate = statistics.median(side.rates[what])
        spread = f"{min(side.rates[what]):.0f}–{max(side.rates[what]):.0f}"
        print(
            f"{what} {side.name}: {rate:.0f}/s [{spread}], p50 {p50:.1f} ms, p99 {p99:.1f} ms, "
            f"p99/p50 {p99 / p50:.1f} (bar 10), CPU {statistics.median(side.worked[what]) * 1000:.2f} ms"
        )
    ratio = statistics.median(ours.rates[what]) / statistics.median(bare.rates[what])
    print(f"{what}: {ratio:.2f} of the bare endpoint (bar 0.7)")


if __name__ == "__main__":
    kind = sys.argv[1] if len(sys.argv) > 1 else "sqlite"
    asyncio.run(main(kind, float(sys.argv[2]) if len(sys.argv) > 2 else 4.0))
