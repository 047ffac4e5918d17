"""The client against a real application: answers, pages, problems, and safe repetition."""

from __future__ import annotations

from collections.abc import Callable

import httpx2
import pytest

from cadenza.api.app import create_app
from cadenza.bootstrap import Runtime
from cadenza.cli.local import InProcess, open_local
from cadenza.client import (
    Changed,
    Client,
    ClientError,
    Conflict,
    Invalid,
    NotAllowed,
    NotFound,
    NotSignedIn,
    Problem,
    Unreachable,
    Workspace,
    connect,
)
from tests.client.conftest import Patient, key_of, make_ada, with_key


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
    found = [each["text"] async for each in home.posts.list(limit=2)]
    assert sorted(found) == [f"post {number}" for number in range(5)]
    assert len([each async for each in home.posts.list(limit=2, most=3)]) == 3
    assert [each async for each in home.posts.list(most=0)] == []


async def test_a_refusal_names_every_fault(home: Workspace) -> None:
    with pytest.raises(Invalid) as refused:
        await home.client.request(
            "POST", f"/workspaces/{home.id}/posts", json={"text": 5, "colour": "red"}
        )
    assert refused.value.status == 422
    assert {fault.path for fault in refused.value.faults} == {"body.text", "body.colour"}
    assert len(refused.value.lines()) == 3


async def test_each_kind_of_refusal_is_an_exception_of_its_own(
    runtime: Runtime, home: Workspace
) -> None:
    with pytest.raises(NotFound) as missing:
        await home.posts.show("nobody")
    assert missing.value.code == "not_found"
    assert missing.value.request_id
    with pytest.raises(Changed) as changed:
        await home.itself.change(name="Elsewhere", if_match='"another"')
    assert changed.value.current["name"] == "Home"
    await home.people.invite(email="ben@example.org", idempotency_key="one")
    with pytest.raises(Conflict):
        await home.people.invite(email="ben@example.org", idempotency_key="one")
    app = create_app(runtime)
    async with with_key(app, await key_of(home, "posts:read")) as http:
        with pytest.raises(NotAllowed) as refused:
            await Client(http).workspace(home.id).posts.create(text="hello")
        assert refused.value.code == "scope_needed"
    async with with_key(app, "cad_no_key") as http:
        with pytest.raises(NotSignedIn) as unknown:
            await Client(http).home()
        assert unknown.value.code == "unknown_key"


async def test_a_key_finds_its_own_workspace(runtime: Runtime, home: Workspace) -> None:
    async with with_key(create_app(runtime), await key_of(home, "posts:write")) as http:
        there = await Client(http).home()
        assert there.id == home.id
        assert (await there.posts.create(text="by key"))["text"] == "by key"


async def test_the_session_of_a_local_client_ends_with_it(runtime: Runtime) -> None:
    await make_ada(runtime)
    async with open_local(runtime, person="Ada@example.org") as client:
        assert (await client.me.show_me())["email"] == "ada@example.org"
    count = await runtime.operations.read(lambda tx, _: tx.value("SELECT count(*) FROM session"))
    assert count == 0


async def test_an_empty_house_says_how_to_begin(runtime: Runtime) -> None:
    with pytest.raises(ClientError, match="cadenza person create"):
        async with open_local(runtime):
            pass


async def test_somebody_who_is_not_here_is_refused(runtime: Runtime) -> None:
    await make_ada(runtime)
    with pytest.raises(ClientError, match="nobody with the address ben"):
        async with open_local(runtime, person="ben@example.org"):
            pass


class Lossy(httpx2.AsyncBaseTransport):
    """Carries each request, and spoils the first answers."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, spoil: Callable[[int], bool]) -> None:
        self.inner = inner
        self.spoil = spoil
        self.keys: list[str | None] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.keys.append(request.headers.get("idempotency-key"))
        answer = await self.inner.handle_async_request(request)
        if self.spoil(len(self.keys)):
            await answer.aread()
            raise httpx2.ReadTimeout("the answer got lost", request=request)
        return answer


async def test_a_write_whose_answer_got_lost_is_repeated_and_done_once(
    runtime: Runtime, home: Workspace
) -> None:
    app = create_app(runtime)
    lossy = Lossy(InProcess(app), lambda count: count < 3)
    async with with_key(app, await key_of(home, "posts:write"), lossy) as http:
        there = Client(http, clock=Patient()).workspace(home.id)
        await there.posts.create(text="once")
    assert len(lossy.keys) == 3
    assert len(set(lossy.keys)) == 1
    assert [each["text"] async for each in home.posts.list()] == ["once"]


async def test_an_answer_that_never_comes_is_told_after_three_tries(
    runtime: Runtime, home: Workspace
) -> None:
    app = create_app(runtime)
    lossy = Lossy(InProcess(app), lambda _: True)
    async with with_key(app, await key_of(home, "posts:write"), lossy) as http:
        there = Client(http, clock=Patient()).workspace(home.id)
        with pytest.raises(Unreachable, match="the answer got lost"):
            await there.posts.create(text="once")
    assert len(lossy.keys) == 3


class Busy(httpx2.AsyncBaseTransport):
    """Answers as a server does that is still at the first try, then as one that is done."""

    def __init__(self) -> None:
        self.calls = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.calls += 1
        if self.calls == 1:
            body = {"type": "urn:cadenza:problem:under_way", "status": 409, "detail": "wait"}
            return httpx2.Response(409, json=body, request=request)
        if self.calls == 2:
            return httpx2.Response(429, json={}, headers={"retry-after": "7"}, request=request)
        return httpx2.Response(200, json={"done": True}, request=request)


async def test_a_server_that_asks_for_patience_is_waited_for() -> None:
    clock = Patient()
    async with httpx2.AsyncClient(transport=Busy(), base_url="http://there") as http:
        assert await Client(http, clock=clock).request("POST", "/x") == {"done": True}
    assert clock.waited >= 7


async def test_an_id_cannot_leave_its_place_in_the_path(home: Workspace) -> None:
    with pytest.raises(Problem) as refused:
        await home.posts.show("../keys")
    assert refused.value.status == 400


async def test_an_address_where_nobody_answers_is_said(unused_port: int) -> None:
    async with connect(f"http://127.0.0.1:{unused_port}", key="cad_a_b") as client:
        with pytest.raises(Unreachable, match="nobody answers at"):
            await client.home()


@pytest.mark.parametrize("text", ["<h1>nginx</h1>", '{"error": {"code": 404}}'])
async def test_an_address_that_is_no_cadenza_is_said(text: str) -> None:
    page = httpx2.MockTransport(lambda request: httpx2.Response(404, text=text))
    async with httpx2.AsyncClient(transport=page, base_url="http://there") as http:
        with pytest.raises(Unreachable, match="not as Cadenza does"):
            await Client(http).home()


@pytest.fixture
def unused_port() -> int:
    import socket

    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return trial.getsockname()[1]
