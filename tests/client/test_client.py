"""The client against a real application: answers, pages, problems, and safe repetition."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from cadenza.api.app import create_app
from cadenza.bootstrap import House, open_house
from cadenza.client import Client, Problem, Unreachable, Workspace, connect
from cadenza.client.errors import ClientError
from cadenza.client.local import open_local
from cadenza.config.model import Settings
from cadenza.people.passwords import Passwords
from cadenza.people.sign_up import offer_first_start, sign_up_first_owner
from cadenza.people.tokens import draw_token


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(Settings(data=tmp_path)) as house:
        yield house


@pytest.fixture
async def home(house: House) -> AsyncIterator[Workspace]:
    await make_ada(house)
    async with open_local(house) as client:
        (workspace,) = await client.workspaces()
        yield client.workspace(workspace["id"])


async def make_ada(house: House) -> None:
    token = draw_token()
    hashed = await Passwords().hash("four plain words here")

    def operation(tx: Any, now: Any) -> object:
        offer_first_start(tx, now, token_hash=token.hash)
        return sign_up_first_owner(
            tx,
            now,
            start_hash=token.hash,
            email="ada@example.org",
            name="Ada",
            password_hash=hashed,
            zone="UTC",
            workspace="Home",
        )

    assert isinstance(await house.operations.run(operation), tuple)


async def test_a_post_is_written_and_found_again(home: Workspace) -> None:
    made = await home.posts.create(text="hello", title="A title")
    assert (await home.posts.show(made["id"]))["text"] == "hello"
    assert [each["id"] async for each in home.posts.list(search="hello")] == [made["id"]]


async def test_a_dry_run_changes_nothing(home: Workspace) -> None:
    made = await home.posts.create(text="perhaps", dry_run=True)
    assert made["dry_run"] is True
    assert [each async for each in home.posts.list()] == []


async def test_pages_follow_each_other_to_the_end(home: Workspace) -> None:
    for number in range(5):
        await home.posts.create(text=f"post {number}")
    found = [each["text"] async for each in home.list("/posts", limit=2)]
    assert sorted(found) == [f"post {number}" for number in range(5)]
    assert len([each async for each in home.posts.list(3)]) == 3


async def test_a_refusal_names_every_fault(home: Workspace) -> None:
    with pytest.raises(Problem) as refused:
        await home.post("/posts", {"text": 5, "colour": "red"})
    assert refused.value.status == 422
    assert {fault.path for fault in refused.value.faults} == {"body.text", "body.colour"}
    assert len(refused.value.lines()) == 3


async def test_the_session_of_a_local_client_ends_with_it(house: House) -> None:
    await make_ada(house)
    async with open_local(house, person="Ada@example.org") as client:
        assert (await client.me())["email"] == "ada@example.org"
    count = await house.operations.read(lambda tx, _: tx.value("SELECT count(*) FROM session"))
    assert count == 0


async def test_an_empty_house_says_how_to_begin(house: House) -> None:
    with pytest.raises(ClientError, match="cadenza person create"):
        async with open_local(house):
            pass


async def test_somebody_who_is_not_here_is_refused(house: House) -> None:
    await make_ada(house)
    with pytest.raises(ClientError, match="nobody with the address ben"):
        async with open_local(house, person="ben@example.org"):
            pass


async def test_a_key_works_over_an_address_and_a_wrong_one_does_not(
    house: House, home: Workspace
) -> None:
    made = await home.keys.make("ci", ["posts:read", "posts:write"])
    transport = httpx2.ASGITransport(app=create_app(house))
    for key, right in ((made["key"], True), ("cad_no_key", False)):
        headers = {"authorization": f"Bearer {key}"}
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:8400", headers=headers
        ) as http:
            there = Client(http).workspace(home.id)
            if right:
                assert (await there.posts.create(text="by key"))["text"] == "by key"
                continue
            with pytest.raises(Problem) as refused:
                await there.posts.create(text="by nobody")
            assert refused.value.code == "unknown_key"


class Lossy(httpx2.AsyncBaseTransport):
    """Carries each request, and loses the first answer."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self.inner = inner
        self.calls = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.calls += 1
        answer = await self.inner.handle_async_request(request)
        if self.calls == 1:
            await answer.aread()
            raise httpx2.ReadError("the answer got lost", request=request)
        return answer


async def test_a_write_whose_answer_got_lost_is_repeated_and_done_once(
    house: House, home: Workspace
) -> None:
    made = await home.keys.make("ci", ["posts:write"])
    lossy = Lossy(httpx2.ASGITransport(app=create_app(house)))
    async with httpx2.AsyncClient(
        transport=lossy,
        base_url="http://127.0.0.1:8400",
        headers={"authorization": f"Bearer {made['key']}"},
    ) as http:
        await Client(http).workspace(home.id).posts.create(text="once")
    assert lossy.calls == 2
    assert [each["text"] async for each in home.posts.list()] == ["once"]


async def test_an_address_where_nobody_answers_is_said(unused_port: int) -> None:
    async with connect(f"http://127.0.0.1:{unused_port}", key="cad_a_b") as client:
        with pytest.raises(Unreachable, match="nobody answers at"):
            await client.workspaces()


@pytest.fixture
def unused_port() -> int:
    import socket

    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return trial.getsockname()[1]
