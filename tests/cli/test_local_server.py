"""Commands beside a running server ask it through its socket, and do without one that is not theirs."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import shutil
import socket
import stat
import zipfile
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path

import httpx2
import pytest

from cadenza.cli.local_server import SocketTransport
from cadenza.cli.run import run
from cadenza.demo.draw import draw
from tests.cli.test_light import loaded_by
from tests.cli.test_up import free_port, started

SECRET = "whsec_cmVoZWFyc2FsLXNpZ25pbmcta2V5LW9mLWFkYS0zMmI="
APPLICATION = {
    *("fastapi", "pydantic", "starlette", "uvicorn", "cadenza.api", "cadenza.bootstrap.runtime"),
    *("cadenza.queues", "cadenza.posts", "cadenza.deliveries", "cadenza.providers.base"),
    *("cadenza.engine.worker", "cadenza.engine.client", "cadenza.media", "cadenza.drafts"),
    *("PIL", "h2", "httpcore2", "anyio", "aiosmtplib", "pymongo", "redis", "prometheus_client"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with an installation of Ada's and a server on it."""
    folder = tmp_path_factory.mktemp("beside")
    with started(folder, "up", "--data", "data", "--port", str(free_port())):
        with here(folder):
            say("person", "create", "ada@example.org", "Ada", "--password", "four plain words here")
            fields = ("--field", "url=https://hooks.example.org/a", "--field", f"secret={SECRET}")
            say("account", "connect", "webhook", *fields)
            say("queue", "schedule", "webhook", "--slot", "monday=09:00")
        yield folder


@contextlib.contextmanager
def here(folder: Path, data: str = "data") -> Generator[None]:
    """Be in the folder, with no settings but where the data is."""
    with pytest.MonkeyPatch.context() as clean, contextlib.chdir(folder):
        for name in [name for name in os.environ if name.startswith("CADENZA")]:
            clean.delenv(name)
        clean.setenv("CADENZA_DATA", data)
        yield


def say(*words: str) -> str:
    """Run a command that must succeed; return what it printed."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert run(words) == 0
    return out.getvalue()


def test_a_command_beside_a_server_loads_nothing_of_the_application(folder: Path) -> None:
    loaded = loaded_by(folder, "queue", "show", "webhook")
    assert "cadenza.cli.local_server" in loaded
    assert not loaded & APPLICATION


def test_the_socket_is_for_the_owner_of_the_folder_alone(folder: Path) -> None:
    mode = (folder / "data" / "cadenza.socket").stat().st_mode
    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o600


def test_the_socket_lets_nobody_in_who_has_no_session(folder: Path) -> None:
    async def ask() -> int:
        with contextlib.chdir(folder):
            transport = SocketTransport(Path("data/cadenza.socket"))
            async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
                return (await http.get("/api/v1/workspaces")).status_code

    assert asyncio.run(ask()) == 401


def test_a_command_leaves_no_session_behind(folder: Path) -> None:
    with here(folder):
        say("post", "list")
        say("post", "list", "--as", "ada@example.org")

    async def count() -> int:
        from cadenza.core.clock import SystemClock
        from cadenza.db.open import open_product

        address = f"sqlite:///{folder}/data/cadenza.sqlite3"
        async with open_product(address, clock=SystemClock()) as operations:
            return await operations.read(lambda tx, _: tx.value("SELECT count(*) FROM session"))

    assert asyncio.run(count()) == 0


def test_a_file_goes_through_the_socket_and_comes_back(folder: Path) -> None:
    picture = draw("harbour")
    (folder / "shop.png").write_bytes(picture)
    with here(folder):
        say("media", "upload", "shop.png")
        assert "shop.png" in say("media", "list")
        say("export", "posts.zip")
        assert zipfile.is_zipfile("posts.zip")


def test_a_refusal_is_told_as_it_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with here(folder):
        assert run(["queue", "show", "mastodon"]) == 1
        assert "no account 'mastodon'" in capsys.readouterr().err
        assert run(["post", "list", "--as", "ben@example.org"]) == 1
        assert "nobody with the address" in capsys.readouterr().err


def test_a_socket_of_another_installation_is_not_used(folder: Path, tmp_path: Path) -> None:
    with here(tmp_path):
        say("db", "upgrade")
        say("person", "create", "cy@example.org", "Cy", "--password", "four plain words here")
        (tmp_path / "data" / "cadenza.socket").symlink_to(folder / "data" / "cadenza.socket")
        assert say("account", "list", "--json").strip() == "[]"
    assert "cadenza.cli.local" in loaded_by(tmp_path, "post", "list")


def test_a_socket_that_a_killed_server_left_is_passed_by(tmp_path: Path) -> None:
    with here(tmp_path):
        say("db", "upgrade")
        say("person", "create", "ada@example.org", "Ada", "--password", "four plain words here")
        with socket.socket(socket.AF_UNIX) as left:
            left.bind("data/cadenza.socket")
        say("post", "list")
        with started(tmp_path, "up", "--data", "data", "--port", str(free_port())):
            loaded = loaded_by(tmp_path, "post", "list")
            assert "cadenza.cli.local" not in loaded, "the next server takes its place"
        assert not (tmp_path / "data" / "cadenza.socket").exists()


def test_a_path_too_long_for_a_socket_does_not_keep_a_server_from_starting(tmp_path: Path) -> None:
    long = tmp_path / ("a" * 60) / ("b" * 60)
    long.mkdir(parents=True)
    data = str(long / "data")
    with started(long, "up", "--data", data, "--port", str(free_port())), here(long, data):
        say("person", "create", "ada@example.org", "Ada", "--password", "four plain words here")
        say("post", "list")
    shutil.rmtree(long)


async def test_an_answer_that_comes_before_all_is_sent_is_read(tmp_path: Path) -> None:
    read = asyncio.Event()

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b"HTTP/1.1 413 Too Large\r\ncontent-length: 4\r\nconnection: close\r\n\r\nbig!"
        )
        await writer.drain()
        await read.wait()
        writer.transport.abort()

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 65_536

    with contextlib.chdir(tmp_path):
        server = await asyncio.start_unix_server(refuse, "s")
        async with (
            server,
            httpx2.AsyncClient(transport=SocketTransport(Path("s")), base_url="http://a") as http,
        ):
            answer = await asyncio.wait_for(http.post("/", content=endless()), 20)
            assert (answer.status_code, answer.text) == (413, "big!")
            read.set()


async def test_a_server_that_goes_away_in_its_answer_is_an_error(tmp_path: Path) -> None:
    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 400\r\n\r\nhalf")
        writer.close()

    with contextlib.chdir(tmp_path):
        server = await asyncio.start_unix_server(break_off, "s")
        async with (
            server,
            httpx2.AsyncClient(transport=SocketTransport(Path("s")), base_url="http://a") as http,
        ):
            with pytest.raises(httpx2.ReadError):
                await http.get("/")
