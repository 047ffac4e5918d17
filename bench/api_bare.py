"""The yardstick of `bench.api`: FastAPI and SQLAlchemy's async Core, no more than the statements themselves.

    python -m bench.api_bare ADDRESS FOLDER FD

A request is one transaction with the statements that ours was seen to run, with its own ids; the answer is
a dictionary as long as ours. There are no roles, no checks, no allocation: less than any real endpoint does.
"""

import asyncio
import os
import pickle
import signal
import sys
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from fastapi import FastAPI, Header
from pydantic import BaseModel
from sqlalchemy import event, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

HOME = "/api/v1/workspaces/{workspace_id}"
FIRST = datetime(2030, 1, 1, tzinfo=UTC)


class Place(BaseModel):
    account_id: str


class AddInput(BaseModel):
    post_id: str
    accounts: list[Place]


class Script:
    """The statements of one request; values that a request changes are put in each time."""

    def __init__(self, seen: dict[str, Any], *, sqlite: bool) -> None:
        self.sqlite = sqlite
        self.answer = seen["answer"]
        self._ids: list[str] = seen["ids"]
        at = (self.answer.get("answers") or [{}])[0].get("at")
        self._slot = datetime.fromisoformat(at) if at else None
        self._marks = ["post-b", "account-1", *self._ids] if at else []
        self._statements: list[tuple[Any, Any, bool]] = [
            (text(_escaped(sql)) if sqlite else sql, params, self._varies(params))
            for sql, params in seen["statements"]
        ]

    def _varies(self, params: Any) -> bool:
        said = repr(params)
        slot = self._slot is not None and (repr(self._slot) in said or _number(self._slot) in said)
        return slot or any(mark in said for mark in self._marks)

    async def run(self, connection: AsyncConnection, put: Callable[[Any], Any] | None) -> None:
        for statement, params, varies in self._statements:
            if put is not None and varies:
                own: Any = (
                    {name: put(value) for name, value in params.items()}
                    if self.sqlite
                    else [put(value) for value in params]
                )
            else:
                own = params
            if self.sqlite:
                done = await connection.execute(statement, own)
            else:
                done = await connection.exec_driver_sql(statement, tuple(own))
            if done.returns_rows:
                done.mappings().all()

    def putter(self, post: str, account: str, count: int) -> Callable[[Any], Any]:
        """Return what changes a value of the statement seen into this request's own."""
        assert self._slot is not None
        slot = FIRST + timedelta(minutes=count)
        swaps = [("post-b", post), ("account-1", account), (_number(self._slot), _number(slot))]
        swaps += [(seen, str(uuid.uuid4())) for seen in self._ids]

        def put(value: Any) -> Any:
            if isinstance(value, str):
                for seen, own in swaps:
                    if seen in value:
                        value = value.replace(seen, own)
                return value
            if isinstance(value, (list, tuple)):
                return [put(each) for each in value]
            return slot if value == self._slot else value

        return put


def _escaped(sql: str) -> str:
    return sql.replace("\\", "\\\\")


def _number(instant: datetime) -> str:
    return str(int(instant.timestamp()) * 1_000_000)


def open_engine(address: str) -> AsyncEngine:
    if not address.startswith("sqlite"):
        return create_async_engine(
            address.replace("postgresql://", "postgresql+asyncpg://"), pool_size=16
        )
    path = address.removeprefix("sqlite:///")
    engine = create_async_engine(f"sqlite+aiosqlite:///{path}", pool_size=16)

    @event.listens_for(engine.sync_engine, "connect")
    def configure(connection: Any, _: object) -> None:
        for pragma in ("synchronous=FULL", "foreign_keys=ON", "cache_size=-65536"):
            connection.execute(f"PRAGMA {pragma}")

    return engine


def make_app(address: str, folder: Path) -> FastAPI:
    sqlite = address.startswith("sqlite")
    seen = pickle.loads((folder / "written").read_bytes())
    lists, adds = (Script(seen[name], sqlite=sqlite) for name in ("list", "add"))
    engine = open_engine(address)
    one_writer = asyncio.Lock()  # SQLite has one; waiting here is kinder than its busy time-out
    app = FastAPI()
    app.state.count = 0

    @app.get(HOME + "/accounts/{account_id}/queue")
    async def show_queue(workspace_id: str, account_id: str) -> dict[str, Any]:
        async with engine.connect() as connection:
            await lists.run(connection, None)
        return lists.answer

    @app.post(HOME + "/queue")
    async def add_to_queue(
        workspace_id: str, body: AddInput, idempotency_key: Annotated[str, Header()]
    ) -> dict[str, Any]:
        app.state.count += 1
        put = adds.putter(body.post_id, body.accounts[0].account_id, app.state.count)
        if sqlite:
            async with one_writer, engine.begin() as connection:
                await adds.run(connection, put)
        else:
            async with engine.begin() as connection:
                await adds.run(connection, put)
        return adds.answer

    return app


async def main(address: str, folder: Path, tell: int) -> None:
    config = uvicorn.Config(
        make_app(address, folder), host="127.0.0.1", port=0, log_config=None, access_log=False
    )
    server = uvicorn.Server(config)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: None)
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.02)
    os.write(tell, f"{server.servers[0].sockets[0].getsockname()[1]}\n".encode())
    os.close(tell)
    await serving


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
