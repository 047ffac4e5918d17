"""What both servers find: a workspace, accounts with weekly queues, thirty posts in one, many posts to add.

`write_down` sends one request of each kind through our application and keeps its statements and values as
the driver gets them, so that the bare endpoint runs the same SQL.
"""

import pickle
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest import mock

import httpx2

from cadenza.api.app import create_app
from cadenza.bootstrap import Runtime, open_runtime
from cadenza.config.model import Settings
from cadenza.deliveries.init_account import init_account
from cadenza.people.model import Role
from cadenza.people.sessions import SessionOrigin, open_session
from cadenza.people.sign_up import add_person
from cadenza.people.tokens import draw_token
from cadenza.people.workspaces import NewWorkspace, add_member, create_workspace
from cadenza.posts.create import Created, create
from cadenza.posts.model import NewPost
from cadenza.queues import schedule
from cadenza.queues.add import Added, add
from cadenza.sql import transactions
from cadenza.sql.tx import Tx

HOME = "home"
ACCOUNTS = 41  # the first is listed, the others are added to
POSTS = 12_000
LISTED = 30
HALF_HOURS = [f"{hour:02}:{minute:02}" for hour in range(24) for minute in (0, 30)]


@dataclass(frozen=True, slots=True)
class Prepared:
    """How to get in, and what to add."""

    token: str
    posts: list[str]


async def prepare(address: str, folder: Path) -> Prepared:
    """Fill a new database."""
    async with open_runtime(Settings(data=folder, database=address)) as runtime:
        run = runtime.operations.run
        token, by = await run(people)
        await run(lambda tx, now: _accounts(tx, now, by))
        first = await run(lambda tx, now: _posts(tx, now, by))
        for post in first[:LISTED]:
            await run(lambda tx, now, post=post: _queue(tx, now, by, post))
        await run(lambda tx, _: _multiply(tx, first[LISTED]))
    return Prepared(token, [f"post-{n}" for n in range(POSTS)])


def people(tx: Tx, now: datetime) -> tuple[str, str]:
    new = NewWorkspace(id=HOME, name="Home", zone="Europe/Berlin")
    create_workspace(tx, now, new=new, by="system")
    person = add_person(
        tx, now, email="ada@example.org", name="Ada", password_hash="-", zone="UTC", owner=True
    )
    member = add_member(tx, now, workspace_id=HOME, person_id=person, role=Role.OWNER, by="system")
    token = draw_token()
    origin = SessionOrigin(address="127.0.0.1", agent="bench")
    open_session(tx, now, person_id=person, token_hash=token.hash, origin=origin)
    return token.text, f"member:{member}"


def _accounts(tx: Tx, now: datetime, by: str) -> None:
    for n in range(ACCOUNTS):
        id_ = f"account-{n}"
        tx.run(
            """
            INSERT INTO account
                (workspace_id, id, provider, remote_id, handle, zone, sealed, created_at)
            VALUES (:home, :id, 'mastodon', :id, '@somebody', 'Europe/Berlin', 'sealed', :now)
            """,
            home=HOME,
            id=id_,
            now=now,
        )
        init_account(tx, now, workspace_id=HOME, account_id=id_)
        times = {str(day): HALF_HOURS for day in range(7)} if n else {"1": HALF_HOURS[:30]}
        written = schedule.write(
            tx, now, workspace_id=HOME, account_id=id_, by=by, slots=times, zone="Europe/Berlin"
        )
        assert isinstance(written, schedule.Written), written


def _posts(tx: Tx, now: datetime, by: str) -> list[str]:
    made: list[str] = []
    for n in range(LISTED + 1):
        text = f"What we saw on our walk, part {n}: " + "a heron by the water. " * 4
        post = create(tx, now, NewPost(workspace_id=HOME, text=text), by=by)
        assert isinstance(post, Created)
        made.append(post.id)
    return made


def _queue(tx: Tx, now: datetime, by: str, post: str) -> None:
    added = add(tx, now, workspace_id=HOME, post_id=post, by=by, targets=["account-0"])
    assert isinstance(added, Added)


def _multiply(tx: Tx, post: str) -> None:
    """Make many posts of one, each with words of its own: nobody repeats himself twelve thousand times."""
    row = tx.one("SELECT * FROM post WHERE workspace_id = :home AND id = :id", home=HOME, id=post)
    assert row is not None
    columns = [name for name in row if name not in ("id", "words")]
    tx.run(
        f"INSERT INTO post (id, words, {', '.join(columns)}) "
        f"SELECT asked.id, asked.id, {', '.join(f'post.{name}' for name in columns)} "
        "FROM TABLE(:ids) AS asked (id text) JOIN post ON post.workspace_id = :home AND post.id = :post",
        ids=[(f"post-{n}",) for n in range(POSTS)] + [("post-a",), ("post-b",)],
        home=HOME,
        post=post,
    )


async def write_down(address: str, folder: Path, prepared: Prepared) -> bytes:
    """Return the statements of one list and one add, with their answers."""
    async with open_runtime(Settings(data=folder, database=address)) as runtime:
        base = f"/api/v1/workspaces/{HOME}"
        async with _client(runtime, prepared.token) as http:
            listed = await _watch(runtime, lambda: http.get(f"{base}/accounts/account-0/queue"))
            for post in ("post-a", "post-b"):  # the second is as all that follow
                added = await _watch(runtime, lambda post=post: _add(http, f"{base}/queue", post))
    return pickle.dumps({"list": listed, "add": added})


async def _add(http: httpx2.AsyncClient, path: str, post: str) -> httpx2.Response:
    body = {"post_id": post, "accounts": [{"account_id": "account-1"}]}
    return await http.post(path, json=body, headers={"idempotency-key": f"key-{post}"})


def _client(runtime: Runtime, token: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=create_app(runtime)),
        base_url="http://bench",
        cookies={"cadenza": token},
        headers={"x-cadenza-csrf": "1"},
    )


async def _watch(runtime: Runtime, ask: Callable[[], Any]) -> dict[str, Any]:
    statements: list[tuple[str, Any]] = []
    ids: list[str] = []
    new = type(runtime.ids).new

    def watched(bind: Callable[..., tuple[str, Any]]) -> Callable[..., tuple[str, Any]]:
        def noting(sql: str, params: Any) -> tuple[str, Any]:
            statements.append(bind(sql, params))
            return statements[-1]

        return noting

    def noting_new(self: Any) -> str:
        ids.append(new(self))
        return ids[-1]

    with ExitStack() as stack:
        for name in ("bind_sqlite", "bind_postgres"):
            noting = watched(getattr(transactions, name))
            stack.enter_context(mock.patch.object(transactions, name, noting))
        stack.enter_context(mock.patch.object(type(runtime.ids), "new", noting_new))
        answer = await ask()
    assert answer.status_code == 200, answer.text
    return {"statements": statements, "ids": ids, "answer": answer.json()}


async def count_rows(address: str, folder: Path) -> dict[str, int]:
    """Count what adding leaves, to see that both sides left the same."""
    async with open_runtime(Settings(data=folder, database=address)) as runtime:

        def look(tx: Tx, _: datetime) -> dict[str, int]:
            return {
                "delivery": tx.value(
                    "SELECT count(*) AS n FROM delivery WHERE post_id LIKE 'post-%'"
                ),
                "audit": tx.value("SELECT count(*) AS n FROM audit WHERE subject_id LIKE 'post-%'"),
                "idempotency_key": tx.value(
                    "SELECT count(*) AS n FROM idempotency_key WHERE status IS NOT NULL"
                ),
            }

        return await runtime.operations.read(look)
