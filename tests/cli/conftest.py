"""A store on a file, filled by a real engine, and the command line called in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from cadenza.cli.run import run
from cadenza.engine import Engine

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return msgspec.json.decode(self.out)


@dataclass(frozen=True, slots=True)
class Shell:
    """`shell("jobs", "list")` is `cadenza jobs list` on the test's own store."""

    store: str
    capture: pytest.CaptureFixture[str]

    def __call__(self, *words: str) -> Said:
        self.capture.readouterr()
        code = run(words)
        out, err = self.capture.readouterr()
        return Said(code, out, err)

    def with_engine(self, use: Callable[[Engine], Awaitable[Result]]) -> Result:
        """Use an engine on the store, as an application would."""

        async def opened() -> Result:
            async with Engine(self.store) as engine:
                return await use(engine)

        return asyncio.run(opened())


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    store = f"sqlite:///{tmp_path}/jobs.sqlite3"
    monkeypatch.setenv("CADENZA_STORE", store)
    monkeypatch.chdir(tmp_path)
    return Shell(store, capsys)
