"""Does a list get slower when a workspace has much behind it? Every list at 1,000 and at 200,000 deliveries.

    python -m bench.lists [sqlite|postgres] [deliveries]

Two databases of one kind, filled alike but for the number of deliveries; each list is asked through our
application, in turns, and the medians are compared. Pages have the same length on both. The bar: 3 times. The
export is no list: it is shown with its time, and what it does to a list that is asked meanwhile.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2

from bench.api_prepare import HOME, people
from bench.bars import judge_lists, tell
from cadenza.api.app import create_app
from cadenza.bootstrap import Runtime, open_runtime
from cadenza.bootstrap.save_audits import save_audits
from cadenza.config.model import Settings
from cadenza.deliveries.init_account import init_account
from cadenza.posts.export import export_workspace
from cadenza.sql.tx import Tx
from tests.servers.postgres import PrivatePostgres

FEW, MANY = 1_000, 200_000
ACCOUNTS = 10
RARE = ("failed", "missed", "unconfirmed", "draft")  # sixty of each, whatever the number
AHEAD = 33  # one in so many is still to come
STEP = timedelta(minutes=5)
CHUNK = 2_500
ROUNDS = 9
SLOW = 1.0  # seconds: what takes longer is asked once


@dataclass(slots=True)
class Side:
    """One database, filled, and a client of the application on it."""

    runtime: Runtime
    client: httpx2.AsyncClient
    deliveries: int


def kinds(deliveries: int) -> list[str]:
    """Return the state of each delivery, oldest first: rare ones are spread over all that is past."""
    ahead = max(100, deliveries // AHEAD)
    past = ["sent"] * (deliveries - ahead)
    stride = len(past) // (60 * len(RARE))
    for number in range(60 * len(RARE)):
        past[number * stride] = RARE[number % len(RARE)]
    return past + ["scheduled"] * ahead


def accounts(tx: Tx, now: datetime) -> None:
    """Make accounts, each with limits of three kinds."""
    for n in range(ACCOUNTS):
        tx.run(
            """
            INSERT INTO account (workspace_id, id, provider, remote_id, handle, zone, sealed, created_at)
            VALUES (:home, :id, 'mastodon', :id, '@somebody', 'Europe/Berlin', 'sealed', :now)
            """,
            home=HOME,
            id=f"account-{n}",
            now=now,
        )
        init_account(tx, now, workspace_id=HOME, account_id=f"account-{n}")
        for kind, amount in (("day", 100_000), ("rolling_day", 100_000), ("gap", 1)):
            tx.run(
                """
                INSERT INTO budget (workspace_id, scope, action, kind, amount)
                VALUES (:home, :scope, 'post', :kind, :amount)
                """,
                home=HOME,
                scope=f"account:account-{n}",
                kind=kind,
                amount=amount,
            )


def fill(tx: Tx, now: datetime, first: int, states: list[str], ahead: int, total: int) -> None:
    """Write a chunk of posts, each with its delivery, call, entry in the ledger, news and act."""
    rows = [
        (f"{n:012x}", f"account-{n % ACCOUNTS}", state, now + STEP * (n - (total - ahead)))
        for n, state in enumerate(states, start=first)
    ]
    values = "TABLE(:rows) AS new (id text, account_id text, state text, due_at timestamptz)"
    week = 7 * 24 * 3600
    earlier = (
        f"(new.due_at - {week * 1_000_000})"
        if tx.dialect == "sqlite"
        else f"(new.due_at - interval '{week} seconds')"
    )
    content = '\'{"text":"What we saw on our walk: a heron by the water, and two ducks."}\''
    called = "new.state IN ('sent', 'failed', 'unconfirmed')"
    for sql in (
        f"""
        INSERT INTO post (workspace_id, id, source, content, content_hash, search, words, approved_by,
            approved_at, approved_hash, created_at, updated_at)
        SELECT '{HOME}', 'p' || new.id, 'manual', {content}, 'hash', 'a heron', 'p' || new.id,
            'member:ada', {earlier}, 'hash', {earlier}, {earlier} FROM {values} WHERE true
        """,
        f"""
        INSERT INTO post_revision (workspace_id, post_id, revision, content, content_hash, saved_by, saved_at)
        SELECT '{HOME}', 'p' || new.id, 1, {content}, 'hash', 'member:ada', {earlier} FROM {values} WHERE true
        """,
        f"""
        INSERT INTO delivery (workspace_id, id, lane_id, account_id, channel, action, post_id, state, reason,
            due_at, content, approved, created_at, sent_at, failed_at)
        SELECT '{HOME}', 'd' || new.id, 'account:' || new.account_id, new.account_id, 'mastodon', 'post',
            'p' || new.id, new.state, CASE WHEN new.state = 'failed' THEN 'refused' END, new.due_at, {content},
            new.state <> 'draft', {earlier}, CASE WHEN new.state = 'sent' THEN new.due_at END,
            CASE WHEN new.state = 'failed' THEN new.due_at END
        FROM {values} WHERE true
        """,
        f"""
        INSERT INTO attempt (workspace_id, id, delivery_id, number, lease, key, content_hash, began_at,
            deadline_at, outcome, ended_at)
        SELECT '{HOME}', 'a' || new.id, 'd' || new.id, 1, 1, 'key', 'hash', new.due_at, new.due_at,
            CASE new.state WHEN 'sent' THEN 'Sent' WHEN 'failed' THEN 'Rejected' ELSE 'Unconfirmed' END,
            new.due_at
        FROM {values} WHERE {called}
        """,
        f"""
        INSERT INTO activity (workspace_id, id, account_id, action, mode, delivery_id, attempt_id, lane_id,
            state, counts, reserved_at, settled_at)
        SELECT '{HOME}', 'l' || new.id, new.account_id, 'post', 'live', 'd' || new.id, 'a' || new.id,
            'account:' || new.account_id, 'success', true, new.due_at, new.due_at
        FROM {values} WHERE {called}
        """,
        f"""
        INSERT INTO outbox (workspace_id, id, kind, subject_id, body, created_at, told_at)
        SELECT '{HOME}', 'o' || new.id, 'delivery.sent', 'd' || new.id, '{{}}', new.due_at, new.due_at
        FROM {values} WHERE {called}
        """,
        f"""
        INSERT INTO audit (workspace_id, id, actor, action, subject_id, happened_at)
        SELECT '{HOME}', 'u' || new.id, 'member:ada', 'post.create', 'p' || new.id, {earlier}
        FROM {values} WHERE true
        """,
    ):
        tx.run(sql, rows=rows)


async def open_side(stack: AsyncExitStack, kind: str, folder: Path, deliveries: int) -> Side:
    """Open a database, fill it, and let the server look at its tables as it does by itself in a while."""
    address = f"sqlite:///{folder}/product.sqlite3"
    if kind == "postgres":
        address = stack.enter_context(PrivatePostgres.create()).dsn
    runtime = await stack.enter_async_context(open_runtime(Settings(data=folder, database=address)))
    token, _ = await runtime.operations.run(people)
    await runtime.operations.run(accounts)
    states = kinds(deliveries)
    ahead = states.count("scheduled")
    now = await runtime.operations.read(lambda _, now: now)
    for first in range(0, deliveries, CHUNK):
        await runtime.operations.run(
            lambda tx, _, first=first: fill(
                tx, now, first, states[first : first + CHUNK], ahead, deliveries
            )
        )
    await save_audits(runtime, {})  # as every night
    if kind == "postgres":
        await runtime.operations.run(lambda tx, _: tx.run("ANALYZE"))
    client = httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=create_app(runtime)),
        base_url="http://bench",
        cookies={"cadenza": token},
        headers={"x-cadenza-csrf": "1"},
        timeout=600,
    )
    return Side(runtime, await stack.enter_async_context(client), deliveries)


def lists(now: datetime) -> dict[str, str]:
    """Name every list and its address."""
    home = f"/api/v1/workspaces/{HOME}"
    back = (now - timedelta(days=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
    soon = (now + timedelta(hours=4)).strftime("%Y-%m-%dT%H:%M:%SZ")
    quarter = (now + timedelta(days=91)).strftime("%Y-%m-%dT%H:%M:%SZ")
    states = ("draft", "scheduled", "published", "failed", "missed", "needs_check")
    rare = ("publishing", "publishing_rest", "partially_published")
    return {
        "posts": f"{home}/posts",
        **{f"posts, {state}": f"{home}/posts?state={state}" for state in (*states, *rare)},
        "posts of an account": f"{home}/posts?account_id=account-3",
        "posts with a word": f"{home}/posts?search=heron",
        "deliveries": f"{home}/deliveries",
        **{
            f"deliveries, {state}": f"{home}/deliveries?state={state}"
            for state in ("scheduled", "sent", "failed", "missed", "unconfirmed")
        },
        "deliveries of an account": f"{home}/deliveries?account_id=account-3",
        "calendar, 2 days": f"{home}/calendar?start={back}&end={soon}",
        "calendar, 93 days": f"{home}/calendar?start={back}&end={quarter}",
        "needs attention": f"{home}/attention",
        "accounts": f"{home}/accounts",
        "queue": f"{home}/accounts/account-3/queue",
        "use of an account": f"{home}/accounts/account-3/use",
        "activity of an account": f"{home}/accounts/account-3/activity",
        "audit": f"{home}/audit",
        "media": f"{home}/media",
        "categories": f"{home}/categories",
        "system": "/api/v1/system",
        "limits audit": "/api/v1/system/limits-audit",
    }


async def ask(side: Side, path: str) -> float:
    """Ask for a list once; return the seconds."""
    began = time.perf_counter()
    answer = await side.client.get(path)
    took = time.perf_counter() - began
    assert answer.status_code in (200, 404), f"{path}: {answer.status_code} {answer.text[:300]}"
    return took


async def compare(few: Side, many: Side, path: str) -> tuple[float, float]:
    """Return the medians of both, in turns; what is slow is asked less."""
    times: tuple[list[float], list[float]] = ([], [])
    await ask(few, path)
    if await ask(many, path) > SLOW:
        return await ask(few, path), await ask(many, path)
    for _ in range(ROUNDS):
        times[0].append(await ask(few, path))
        times[1].append(await ask(many, path))
    return statistics.median(times[0]), statistics.median(times[1])


async def export(side: Side) -> tuple[float, float]:
    """Pack the workspace; return the seconds, and the slowest answer to a list that was asked meanwhile."""
    began = time.perf_counter()

    async def pack() -> None:
        async for _ in export_workspace(side.runtime.operations, HOME):
            pass

    packing = asyncio.create_task(pack())
    slowest = 0.0
    while not packing.done():
        slowest = max(slowest, await ask(side, f"/api/v1/workspaces/{HOME}/accounts"))
        await asyncio.sleep(0.1)
    await packing
    return time.perf_counter() - began, slowest


async def main(kind: str = "sqlite", deliveries: int = MANY) -> int:
    """Fill both, ask both, judge."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
        for name in ("few", "many"):
            (folder / name).mkdir()
        few = await open_side(stack, kind, folder / "few", FEW)
        many = await open_side(stack, kind, folder / "many", deliveries)
        now = datetime.now(UTC)
        print(
            f"{kind}: each list at {FEW:,} and {deliveries:,} deliveries, medians in ms", flush=True
        )
        ratios: dict[str, float] = {}
        for name, path in lists(now).items():
            small, large = await compare(few, many, path)
            ratios[name] = large / small
            print(
                f"  {name:28} {small * 1000:9.1f} {large * 1000:9.1f} {ratios[name]:7.1f} times",
                flush=True,
            )
        took, slowest = await export(many)
        print(f"  export of all: {took:.1f} s; a list asked meanwhile took at most {slowest:.2f} s")
    return tell(judge_lists(kind, ratios))


if __name__ == "__main__":
    kind, *rest = sys.argv[1:] or ["sqlite"]
    sys.exit(asyncio.run(main(kind, *(int(word) for word in rest[:1]))))
