"""A whole Cadenza as people meet it: a real server on a port, its worker, and the simulated networks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from cadenza.api.app import create_app
from cadenza.api.first_start import first_start_link
from cadenza.api.serve import serve
from cadenza.bootstrap import Runtime, open_runtime, run_worker
from cadenza.config.model import Outbound, Settings, Work
from cadenza.core.clock import Clock
from cadenza.demo.cast import Cast, assemble

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

PATIENCE = 30  # seconds: the machine may be busy
PASSWORD = "violet engine under seven"


@dataclass
class Story:
    """A house, who uses it, and what the networks have seen."""

    runtime: Runtime
    cast: Cast
    ada: httpx2.AsyncClient
    home: str = ""
    accounts: dict[str, str] = field(default_factory=dict)

    def seen(self, provider: str) -> list[str]:
        """What people would see there."""
        simulated = self.cast.roles[provider].simulated
        return [entry.text for entry in self.cast.simulator.visible(simulated)]

    async def do(self, method: str, path: str, status: int = 200, **words: Any) -> Any:
        """Ask, as Ada; the answer must be as expected."""
        answer = await self.ada.request(method, f"{self.home}{path}", **words)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    async def get(self, path: str, **words: Any) -> Any:
        return await self.do("GET", path, **words)

    async def post(self, path: str, status: int = 200, **body: Any) -> Any:
        return await self.do("POST", path, status, json=body)

    async def connect(self, provider: str) -> str:
        """Connect the account that a person of the cast has there, by what they would type."""
        typed = dict(self.cast.roles[provider].typed)
        answer = await self.post(f"/connect/{provider}", fields=typed)
        (account,) = answer["accounts"]
        self.accounts[provider] = account["id"]
        return account["id"]

    async def until(self, path: str, fits: Callable[[Any], bool]) -> Any:
        """Look again and again until it is so."""
        shown: Any = None
        try:
            async with asyncio.timeout(PATIENCE):
                while not fits(shown := await self.get(path)):
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise AssertionError(f"{path} stayed {shown}") from None
        return shown


@asynccontextmanager
async def running(runtime: Runtime, *, works: bool = True, port: int = 0) -> AsyncGenerator[str]:
    """Serve and work until the story ends; return the address."""
    stop, listens = asyncio.Event(), asyncio.Future[int]()
    app = create_app(runtime, stop=stop)
    parts = [
        asyncio.create_task(
            serve(app, "127.0.0.1", port, stop, started=listens.set_result, grace=1)
        )
    ]
    if works:
        parts.append(asyncio.create_task(run_worker(runtime, stop)))
    try:
        yield f"http://127.0.0.1:{await asyncio.wait_for(listens, PATIENCE)}"
    finally:
        stop.set()
        await asyncio.wait_for(asyncio.gather(*parts), 2 * PATIENCE)


async def begin(runtime: Runtime, ada: httpx2.AsyncClient) -> str:
    """Become the first owner with the printed link; return the workspace's address."""
    link = await first_start_link(runtime)
    assert link is not None
    body = {
        "token": link.partition("#token=")[2],
        "name": "Ada",
        "email": "ada@example.org",
        "password": PASSWORD,
        "workspace": "Ada and friends",
        "zone": "Europe/Berlin",
    }
    made = await ada.post("/api/v1/auth/first-start", json=body)
    assert made.status_code == 201, made.text
    return f"/api/v1/workspaces/{made.json()['workspace_id']}"


@asynccontextmanager
async def told(
    database: str,
    folder: Path,
    *,
    clock: Clock | None = None,
    works: bool = True,
    port: int = 0,
    public_url: str = "",
) -> AsyncGenerator[Story]:
    """Open a house beside the networks; Ada has just become its owner.

    With `port`, its media have an address, which networks fetch them from.
    """
    cast = await assemble()
    try:
        settings = Settings(
            data=folder / "data",
            database=database,
            public_url=f"http://127.0.0.1:{port}" if port else public_url,
            worker=Work(poll=0.1),
            outbound=Outbound(allow=cast.hosts),
            providers=cast.networks,
        )
        async with (
            open_runtime(settings, clock=clock) as runtime,
            running(runtime, works=works, port=port) as address,
            httpx2.AsyncClient(
                base_url=address, headers={"x-cadenza-csrf": "1"}, timeout=PATIENCE
            ) as ada,
        ):
            if public_url:  # as if a proxy stood before it, with its certificate
                ada.headers["host"] = public_url.partition("://")[2]
            story = Story(runtime, cast, ada, home=await begin(runtime, ada))
            if public_url:
                ada.headers["cookie"] = "; ".join(f"{c.name}={c.value}" for c in ada.cookies.jar)
            yield story
    finally:
        await cast.simulator.close()


@pytest.fixture
async def story(database: str, tmp_path: Path) -> AsyncIterator[Story]:
    async with told(database, tmp_path) as story:
        yield story
