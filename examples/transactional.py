"""A job in the same transaction as the change that causes it: both happen, or neither.

python examples/transactional.py                              # SQLite
python examples/transactional.py postgresql://ada@host/shop   # your PostgreSQL
"""

import asyncio
import sqlite3
import sys
import tempfile
from pathlib import Path

from cadenza.engine import Engine
from cadenza.engine.job import Enqueued
from cadenza.engine.stores.sqlite import SqliteStore, insert_jobs


async def on_sqlite() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(str(Path(folder) / "shop.sqlite3"))
        engine = Engine(store)
        thank = engine.declare(lambda order: print(f"  thank you for order {order}"), name="thank")

        def place_order(tx: sqlite3.Connection, now: int, *, valid: bool) -> list[Enqueued]:
            cursor = tx.execute("INSERT INTO orders (at) VALUES (?)", (now,))
            answers = insert_jobs(tx, now, [engine.job(thank, {"order": cursor.lastrowid})])
            if not valid:
                raise ValueError("the card was refused")
            return answers

        async with engine:
            await store.database.run(
                lambda tx, _: tx.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, at INTEGER)")
            )
            await store.database.run(lambda tx, now: place_order(tx, now, valid=True))
            try:
                await store.database.run(lambda tx, now: place_order(tx, now, valid=False))
            except ValueError as error:
                print(f"second order: {error}; neither the order nor its job was kept")
            await show(engine)


async def on_postgres(address: str) -> None:
    import asyncpg

    from cadenza.engine.stores.postgres import PostgresStore

    store = PostgresStore(address)
    engine = Engine(store)
    thank = engine.declare(lambda order: print(f"  thank you for order {order}"), name="thank")
    async with engine:
        connection = await asyncpg.connect(address)
        try:
            await connection.execute("CREATE TEMP TABLE orders (id serial PRIMARY KEY)")
            for valid in (True, False):
                try:
                    async with connection.transaction():
                        order = await connection.fetchval(
                            "INSERT INTO orders DEFAULT VALUES RETURNING id"
                        )
                        await store.insert_on(connection, [engine.job(thank, {"order": order})])
                        if not valid:
                            raise ValueError("the card was refused")
                except ValueError as error:
                    print(f"second order: {error}; neither the order nor its job was kept")
        finally:
            await connection.close()
        await show(engine)


async def show(engine: Engine) -> None:
    worker = engine.worker()
    engine.hooks.on_idle = lambda worker: worker.stop()
    await worker.run()
    jobs = await engine.find()
    print(f"{len(jobs)} job in the store: {jobs[0].task} {jobs[0].payload}, {jobs[0].state}")


if __name__ == "__main__":
    asyncio.run(on_postgres(sys.argv[1]) if len(sys.argv) > 1 else on_sqlite())
