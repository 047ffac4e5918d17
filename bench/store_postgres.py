"""How much of a bare asyncpg loop is left once the store is around it: claim and settle alone.

Both work through the same number of no-op jobs of 100 bytes in batches of 1,000, each on tables
of its own in one PostgreSQL with fsync on, by turns; medians of the rounds count, because a
shared machine's moods last longer than a round. `--old` holds one old transaction open meanwhile.

    python -m bench.store_postgres [--jobs 20000] [--rounds 5] [--batch 1000] [--kept] [--old SECONDS]
"""

import argparse
import asyncio
import statistics
import time
from datetime import timedelta

import asyncpg

from bench.systems.raw_postgres import CLAIM, CREATE, RawPostgres
from cadenza.engine.job import NewJob
from cadenza.engine.outcomes import Settlement
from cadenza.engine.stores.postgres import PostgresStore
from tests.servers.postgres import PrivatePostgres

PAYLOAD = '{"n": 12345, "pad": "' + "x" * 77 + '"}'
LEASE = timedelta(minutes=1)


async def raw(connection: asyncpg.Connection, jobs: int, batch: int) -> float:
    """Claim and delete with two statements; return jobs a second."""
    await connection.copy_records_to_table("job", records=[(PAYLOAD,)] * jobs, columns=["payload"])
    begun, done = time.perf_counter(), 0
    while found := await connection.fetch(CLAIM, batch):
        await connection.execute(RawPostgres.settle, [row[0] for row in found])
        done += len(found)
    assert done == jobs
    return jobs / (time.perf_counter() - begun)


async def ours(store: PostgresStore, jobs: int, batch: int, *, keep: bool) -> float:
    """Claim and settle through the store; return jobs a second."""
    for start in range(0, jobs, 10_000):
        await store.insert([NewJob(task="noop", payload=PAYLOAD)] * min(10_000, jobs - start))
    begun, done = time.perf_counter(), 0
    while (found := await store.claim("default", limit=batch, worker="w", lease=LEASE)).jobs:
        settlements = [Settlement(job.id, job.lease, keep=keep) for job in found.jobs]
        assert not await store.settle(settlements, closed=[found.lease])
        done += len(settlements)
    assert done == jobs, f"{done} of {jobs}"
    return jobs / (time.perf_counter() - begun)


async def compare(dsn: str, *, jobs: int, rounds: int, batch: int, keep: bool) -> None:
    """Let both run by turns and print the medians."""
    connection = await asyncpg.connect(dsn)
    await connection.execute(CREATE)
    store = PostgresStore(dsn)
    await store.open()
    rates: dict[str, list[float]] = {"raw": [], "store": []}
    for number in range(rounds):
        for name in ("raw", "store") if number % 2 else ("store", "raw"):
            if name == "raw":
                rates[name].append(await raw(connection, jobs, batch))
            else:
                rates[name].append(await ours(store, jobs, batch, keep=keep))
    await store.close()
    await connection.close()
    medians = {name: statistics.median(found) for name, found in rates.items()}
    for name, found in rates.items():
        print(f"{name:6} {medians[name]:8.0f}/s   {' '.join(f'{rate:.0f}' for rate in found)}")
    print(f"ratio  {medians['store'] / medians['raw']:8.2f}")


async def endure(dsn: str, *, seconds: float, rate: int, old: bool = True) -> None:
    """Print how long claims take while an old transaction keeps dead rows from being cleaned up."""
    store = PostgresStore(dsn)
    await store.open()
    holder = await asyncpg.connect(dsn)
    if old:
        await holder.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class")
    begun = told = time.perf_counter()
    spans: dict[str, list[float]] = {"claim": [], "empty": []}
    share = max(rate // 50, 1)
    while (now := time.perf_counter()) - begun < seconds:
        await store.insert([NewJob(task="noop", payload=PAYLOAD)] * share)
        for took in spans.values():  # a worker asks until nothing comes
            started = time.perf_counter()
            found = await store.claim("default", limit=1_000, worker="w", lease=LEASE)
            took.append(time.perf_counter() - started)
            settlements = [Settlement(job.id, job.lease, keep=False) for job in found.jobs]
            await store.settle(settlements, closed=[found.lease] if settlements else [])
        if now - told >= seconds / 6:
            print(f"{now - begun:5.0f} s " + "".join(map(_tell, spans.items())))
            spans, told = {"claim": [], "empty": []}, now
        await asyncio.sleep(max(0.0, 0.02 - (time.perf_counter() - now)))
    await holder.close()
    await store.close()


def _tell(item: tuple[str, list[float]]) -> str:
    name, spans = item
    quantiles = statistics.quantiles(spans, n=100)
    return f"  {name} p50 {quantiles[49] * 1e3:6.2f} ms p99 {quantiles[98] * 1e3:6.2f} ms"


def main() -> None:
    """Start a server of our own and measure."""
    requested = argparse.ArgumentParser()
    requested.add_argument("--jobs", type=int, default=20_000)
    requested.add_argument("--rounds", type=int, default=5)
    requested.add_argument("--batch", type=int, default=1_000)
    requested.add_argument("--kept", action="store_true", help="finished jobs stay")
    requested.add_argument("--old", type=float, default=0, help="seconds with an old transaction")
    requested.add_argument(
        "--young", type=float, default=0, help="the same without one, to compare"
    )
    requested.add_argument("--rate", type=int, default=1_000, help="jobs a second of --old")
    given = requested.parse_args()
    with PrivatePostgres.create(fsync=True) as server:
        if given.old or given.young:
            asyncio.run(
                endure(
                    server.dsn,
                    seconds=given.old or given.young,
                    rate=given.rate,
                    old=bool(given.old),
                )
            )
        else:
            asyncio.run(
                compare(
                    server.dsn,
                    jobs=given.jobs,
                    rounds=given.rounds,
                    batch=given.batch,
                    keep=given.kept,
                )
            )


if __name__ == "__main__":
    main()
