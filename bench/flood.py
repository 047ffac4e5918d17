"""Does a flood slow down somebody else? Ben asks at leisure, alone and beside each kind of flood.

    python -m bench.flood [sqlite|postgres] [seconds]

One process of ours with its own limits, on loopback. Ben lists his queue every 25 ms. Two floods, each in a process
of its own, as fast as they are answered, refusals included: Ada's sixteen connections that list her queue, and four
connections of a stranger that each post 979 kB of unknown keys to the sign-in. Floods come from elsewhere: they have
the least priority here, so that what is measured is what they cost the server. Rounds alternate. The bar: Ben's p99
beside either flood is below twice his p99 alone.
"""

import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

from bench.api_load import read_answer
from bench.api_prepare import HOME, prepare
from cadenza.bootstrap import open_runtime
from cadenza.config.model import Settings
from cadenza.deliveries.init_account import init_account
from cadenza.people.model import Role
from cadenza.people.sessions import SessionOrigin, open_session
from cadenza.people.sign_up import add_person
from cadenza.people.tokens import draw_token
from cadenza.people.workspaces import NewWorkspace, add_member, create_workspace
from cadenza.queues import schedule
from cadenza.sql.tx import Tx
from tests.servers.postgres import PrivatePostgres

ROUNDS = 5
FLOODS = {"requests": 16, "bodies": 4}  # connections
KEYS = 90_000  # of a stranger's body
PAUSE = 0.025  # seconds between two of Ben's requests
NEXT_DOOR = "next-door"


async def main(kind: str, seconds: float) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
        address = f"sqlite:///{folder}/product.sqlite3"
        if kind == "postgres":
            address = stack.enter_context(PrivatePostgres.create(fsync=True)).dsn
        ada = (await prepare(address, folder)).token
        async with open_runtime(Settings(data=folder, database=address)) as runtime:
            ben = await runtime.operations.run(move_in)
        port = await _serve(stack, address, folder)
        alone: list[float] = []
        beside: dict[str, list[float]] = {kind: [] for kind in FLOODS}
        overdue_accounts: dict[str, Counter[str]] = {kind: Counter() for kind in FLOODS}
        await ask_at_leisure(port, ben, 1.0)  # warm
        for _ in range(ROUNDS):
            alone += await ask_at_leisure(port, ben, seconds)
            for what in FLOODS:
                words = [sys.executable, "-m", "bench.flood", what, str(port), ada]
                crowd = await asyncio.create_subprocess_exec(
                    *words, str(seconds + 0.5), stdout=subprocess.PIPE
                )
                assert crowd.stdout is not None
                await crowd.stdout.readline()  # it has begun
                beside[what] += await ask_at_leisure(port, ben, seconds)
                overdue_accounts[what] += Counter(json.loads(await crowd.stdout.read()))
                await crowd.wait()
        p50, p99 = _cut(alone)
        print(f"{kind}, {ROUNDS} rounds of {seconds:g} s, load {os.getloadavg()[0]:.1f}")
        print(f"Ben alone: p50 {p50:.1f} ms, p99 {p99:.1f} ms ({len(alone)} answers)")
        for what, times in beside.items():
            slow, slowest = _cut(times)
            print(f"beside a flood of {what}: p50 {slow:.1f} ms, p99 {slowest:.1f} ms", end=" ")
            print(f"({len(times)} answers), {slowest / p99:.2f} times as long (bar 2)")
            print(f"  the flood was answered {dict(overdue_accounts[what])}")


def move_in(tx: Tx, now: datetime) -> str:
    """Give Ben a workspace, an account and a queue of his own; return the token of his session."""
    create_workspace(
        tx, now, new=NewWorkspace(id=NEXT_DOOR, name="Next door", zone="UTC"), by="system"
    )
    person = add_person(
        tx, now, email="ben@example.org", name="Ben", password_hash="-", zone="UTC", owner=False
    )
    member = add_member(
        tx, now, workspace_id=NEXT_DOOR, person_id=person, role=Role.OWNER, by="system"
    )
    tx.run(
        """
        INSERT INTO account
            (workspace_id, id, provider, remote_id, handle, zone, sealed, created_at)
        VALUES (:home, 'ben', 'mastodon', 'ben', '@ben', 'UTC', 'sealed', :now)
        """,
        home=NEXT_DOOR,
        now=now,
    )
    init_account(tx, now, workspace_id=NEXT_DOOR, account_id="ben")
    slots = {str(day): ["09:00", "17:30"] for day in range(7)}
    schedule.write(
        tx, now, workspace_id=NEXT_DOOR, account_id="ben", by=f"member:{member}", slots=slots
    )
    token = draw_token()
    origin = SessionOrigin(address="127.0.0.1", agent="bench")
    open_session(tx, now, person_id=person, token_hash=token.hash, origin=origin)
    return token.text


async def ask_at_leisure(port: int, token: str, seconds: float) -> list[float]:
    """Ask one thing after the other, with pauses; every answer is timed and must be 200."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    request = _request(token, f"/api/v1/workspaces/{NEXT_DOOR}/accounts/ben/queue")
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        await asyncio.sleep(PAUSE)
        began = time.perf_counter()
        writer.write(request)
        status = await read_answer(reader)
        times.append(time.perf_counter() - began)
        assert status == "200", status
    writer.close()
    return times


async def flood(what: str, port: int, token: str, seconds: float) -> None:
    """Ask as fast as one is answered, on many connections; print what was answered."""
    said: Counter[str] = Counter()
    request = _request(token, f"/api/v1/workspaces/{HOME}/accounts/account-0/queue")
    if what == "bodies":
        request = _large_body()

    async def ask() -> None:
        while True:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                with contextlib.closing(writer):
                    while True:  # a refused body may end its connection
                        writer.write(request)
                        said[await read_answer(reader)] += 1

    os.nice(19)
    print("begun", flush=True)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.gather(*(ask() for _ in range(FLOODS[what])))
    print(json.dumps(said))


def _large_body() -> bytes:
    keys = {f"k{number}": 1 for number in range(KEYS)}
    body = json.dumps(keys, separators=(",", ":")).encode()
    head = "POST /api/v1/auth/sign-in HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


def _request(token: str, path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nhost: bench\r\ncookie: cadenza={token}\r\n\r\n".encode()


def _cut(times: list[float]) -> tuple[float, float]:
    cut = statistics.quantiles(times, n=100)
    return cut[49] * 1000, cut[98] * 1000


async def _serve(stack: ExitStack, address: str, folder: Path) -> int:
    read, write = os.pipe()
    words = [sys.executable, "-m", "bench.api_ours", address, str(folder), str(write), "paced"]
    child = subprocess.Popen(words, pass_fds=[write])  # noqa: ASYNC220 - nothing else runs yet
    stack.callback(child.wait)
    stack.callback(child.terminate)
    os.close(write)
    with os.fdopen(read) as said:
        return int(await asyncio.to_thread(said.readline))


if __name__ == "__main__":
    kind = sys.argv[1] if len(sys.argv) > 1 else "sqlite"
    if kind in FLOODS:
        asyncio.run(flood(kind, int(sys.argv[2]), sys.argv[3], float(sys.argv[4])))
        raise SystemExit
    asyncio.run(main(kind, float(sys.argv[2]) if len(sys.argv) > 2 else 4.0))
