"""A house on SQLite with Ada in it, its application, and clients that come as she does or with a key."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from cadenza.bootstrap import Runtime, open_runtime
from cadenza.cli.local import InProcess, open_local
from cadenza.client import Workspace
from cadenza.config.model import Settings
from cadenza.core.clock import SystemClock
from cadenza.people.sign_up import offer_first_start, sign_up_first_owner
from cadenza.people.tokens import draw_token

# argon2id of "four plain words here", made once: hashing takes its time by design.
HASH = "$argon2id$v=19$m=65536,t=3,p=4$SxJEwsgAwt8d2p3vngeoHw$+ko7L9ZHMWAPt5B2GJv9R3HMwE04GHxxl4i9p7BcLeI"
BASE = "http://127.0.0.1:8400"


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[Runtime]:
    async with open_runtime(Settings(data=tmp_path / "data")) as runtime:
        yield runtime


@pytest.fixture
async def home(runtime: Runtime) -> AsyncIterator[Workspace]:
    await make_ada(runtime)
    async with open_local(runtime) as client:
        (workspace,) = await client.workspaces.list_own()
        yield client.workspace(workspace["id"])


class Patient(SystemClock):
    """Waits for nothing, and counts what it would have waited."""

    waited = 0.0

    async def sleep(self, seconds: float) -> None:
        self.waited += seconds
        await asyncio.sleep(0)


async def make_ada(runtime: Runtime) -> None:
    token = draw_token()

    def operation(tx: Any, now: Any) -> object:
        offer_first_start(tx, now, token_hash=token.hash)
        return sign_up_first_owner(
            tx,
            now,
            start_hash=token.hash,
            email="ada@example.org",
            name="Ada",
            password_hash=HASH,
            zone="UTC",
            workspace="Home",
        )

    assert isinstance(await runtime.operations.run(operation), tuple)


async def key_of(home: Workspace, *scopes: str) -> str:
    made = await home.keys.make(name="ci", role="admin", scopes=list(scopes))
    return made["key"]


def with_key(app: FastAPI, key: str, transport: Any = None) -> httpx2.AsyncClient:
    """Speak to the application as a program with a key does."""
    return httpx2.AsyncClient(
        transport=transport or InProcess(app),
        base_url=BASE,
        headers={"authorization": f"Bearer {key}"},
    )
