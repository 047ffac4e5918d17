"""A workspace as a ZIP: all that is its own, nothing that opens a door."""

import csv
import io
import sqlite3
import zipfile
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from cadenza.db.export import PAGE
from cadenza.db.exported import STAY, TABLES
from cadenza.db.open import migrations
from cadenza.posts.export import export_workspace
from cadenza.posts.import_csv import Order, Report, import_csv
from cadenza.posts.model import PostMedia
from cadenza.sql.migrate import migrate_sqlite
from cadenza.sql.tx import Tx
from tests.posts.conftest import ADA, HOME, MASTODON, Desk

AWAY = "cy-alone"
SECRET = "hunter2-do-not-tell"


async def export(desk: Desk) -> zipfile.ZipFile:
    data = b"".join([piece async for piece in export_workspace(desk.operations, HOME)])
    archive = zipfile.ZipFile(io.BytesIO(data))
    assert archive.testzip() is None
    return archive


def lines(archive: zipfile.ZipFile, name: str) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in archive.read(name).splitlines()]


def cells(archive: zipfile.ZipFile, name: str) -> list[dict[str, str]]:
    text = archive.read(name).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_every_table_and_column_goes_out_by_name_or_stays_by_reason() -> None:
    """A new table or column: say in db/exported.py whether it belongs to a workspace's export."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate_sqlite(connection, "product", migrations(), now=1)
    found = connection.execute(
        "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'"
    ).fetchall()
    connection.close()
    columns: dict[str, set[str]] = {}
    for table, column in found:
        columns.setdefault(table, set()).add(column)
    columns.pop("cadenza_migrations")
    placed = {table.name: table for table in TABLES}
    assert set(columns) == set(placed) | set(STAY)
    for name, table in placed.items():
        named = {*table.columns, *table.kept_back} | ({"workspace_id"} & columns[name])
        assert columns[name] == named, f"place the new columns of {name} in db/exported.py"
        assert {*table.key, *table.json, *table.flags} <= set(table.columns)


async def test_a_workspace_is_exported_whole(desk: Desk) -> None:
    await desk.file("m1")
    post = await desk.write(
        "hello", title="Greeting", labels=("spring",), media=(PostMedia("m1"),), hashtags=("a", "b")
    )
    await desk.plan(post, [MASTODON])

    archive = await export(desk)

    assert lines(archive, "post.jsonl")[0]["content"]["text"] == "hello"
    assert {row["id"] for row in lines(archive, "account.jsonl")} == {"toots", "skies", "pics"}
    (delivery,) = lines(archive, "delivery.jsonl")
    assert (delivery["post_id"], delivery["approved"], delivery["state"]) == (
        post,
        True,
        "scheduled",
    )
    assert [row["id"] for row in lines(archive, "media.jsonl")] == ["m1"]
    assert lines(archive, "media_use.jsonl") == [{"media_id": "m1", "post_id": post}]
    (row,) = cells(archive, "posts.csv")
    assert row["text"] == "hello"
    assert row["accounts"] == "mastodon:@toots/mastodon"
    assert (row["labels"], row["media"], row["hashtags"]) == ("spring", "m1", "a b")
    assert {row["id"] for row in cells(archive, "account.csv")} == {"toots", "skies", "pics"}
    about = msgspec.json.decode(archive.read("about.json"))
    assert about["rows"]["post.jsonl"] == 1
    assert about["workspace_id"] == HOME


def _hide(tx: Tx, now: datetime) -> None:
    """Put the secret wherever the product may keep one."""
    tx.run("UPDATE account SET sealed = :secret", secret=SECRET)
    tx.run(
        "UPDATE account SET provider = 'webhook', remote_id = :url, settings = :settings WHERE id = 'pics'",
        url=f"https://hooks.example/{SECRET}?token={SECRET}",
        settings=msgspec.json.encode(
            {
                "url": f"https://ada:{SECRET}@hooks.example/x",
                "api_key": SECRET,
                "nested": {"client_secret": SECRET, "list": [f"https://h.example/?a={SECRET}"]},
                "instance": "https://mastodon.example",
            }
        ).decode(),
    )
    tx.run(
        """
        INSERT INTO webhook (workspace_id, id, url, sealed, created_at)
        VALUES (:home, 'w1', :url, :secret, :now)
        """,
        home=HOME,
        url=f"https://hooks.example/{SECRET}",
        secret=SECRET,
        now=now,
    )
    tx.run(
        """
        INSERT INTO api_key (workspace_id, id, name, prefix, secret_hash, role, scopes, member_id, created_at)
        VALUES (:home, 'k1', 'cron', :secret, :secret, 'editor', '', 'ada', :now)
        """,
        home=HOME,
        secret=SECRET,
        now=now,
    )
    tx.run(
        """
        INSERT INTO invitation (workspace_id, id, email, role, token_hash, invited_by, created_at, ends_at)
        VALUES (:home, 'i1', 'dee@example.org', 'viewer', :secret, 'member:ada', :now, :now)
        """,
        home=HOME,
        secret=SECRET,
        now=now,
    )
    tx.run("UPDATE delivery SET prepared = :secret, worker = :secret", secret=SECRET)


async def test_no_secret_is_in_it(desk: Desk) -> None:
    post = await desk.write("hello")
    await desk.plan(post, [MASTODON])
    await desk.run(_hide)

    archive = await export(desk)

    for name in archive.namelist():
        assert SECRET.encode() not in archive.read(name), name
    accounts = {row["id"]: row for row in lines(archive, "account.jsonl")}
    assert accounts["pics"]["settings"]["instance"] == "https://mastodon.example"
    assert accounts["pics"]["remote_id"] == "https://hooks.example"


async def test_another_workspaces_rows_stay_there(desk: Desk) -> None:
    def settle(tx: Tx, now: datetime) -> None:
        tx.run(
            "INSERT INTO workspace (id, name, zone, created_at) VALUES (:id, 'Cy', 'UTC', :now)",
            id=AWAY,
            now=now,
        )

    await desk.run(settle)
    theirs = await import_csv(
        desk.operations, b"text\nfor Cy alone\n", Order(workspace_id=AWAY, by="member:cy")
    )
    assert isinstance(theirs, Report)
    await desk.write("mine")

    archive = await export(desk)

    for name in archive.namelist():
        assert b"for Cy alone" not in archive.read(name), name
    assert len(lines(archive, "workspace.jsonl")) == 1


async def test_formulas_are_guarded_and_come_back_as_they_were(desk: Desk) -> None:
    await desk.write("=HYPERLINK(1)", title="@SUM(A1)")

    archive = await export(desk)

    (row,) = cells(archive, "posts.csv")
    assert (row["text"], row["title"]) == ("'=HYPERLINK(1)", "'@SUM(A1)")
    assert lines(archive, "post.jsonl")[0]["content"]["text"] == "=HYPERLINK(1)"
    back = await import_csv(
        desk.operations, archive.read("posts.csv"), Order(workspace_id=HOME, by=ADA)
    )
    assert isinstance(back, Report)
    assert (await desk.post(back.done[0].post_id)).content.text == "=HYPERLINK(1)"


async def test_what_was_exported_can_be_imported(desk: Desk) -> None:
    post = await desk.write('one, "two"\nthree', title="T", labels=("l",), hashtags=("x",))
    ids = await desk.plan(post, [MASTODON], due=timedelta(days=2))
    exported = (await export(desk)).read("posts.csv")
    due = (await desk.delivery(ids[0]))["due_at"]
    await desk.sql("UPDATE delivery SET state = 'canceled'")

    report = await import_csv(desk.operations, exported, Order(workspace_id=HOME, by=ADA))

    assert isinstance(report, Report)
    assert report.problems == ()
    assert report.unknown == (
        *("states", "addresses", "rule_id", "target_month", "last_attempt_at"),
    )
    (done,) = report.done
    assert done.due_at == due.replace(microsecond=0)
    again = await desk.post(done.post_id)
    assert again.content == (await desk.post(post)).content
    assert (again.title, again.labels) == ("T", ("l",))


async def test_a_large_workspace_leaves_in_pages(desk: Desk) -> None:
    count = 2 * PAGE + 7
    text = "text\n" + "".join(f"post number {number}\n" for number in range(3))
    await import_csv(desk.operations, text.encode(), Order(workspace_id=HOME, by=ADA))

    def many(tx: Tx, now: datetime) -> None:
        tx.run(
            """
            INSERT INTO audit (workspace_id, id, actor, action, subject_id, happened_at)
            SELECT :home, new.id, 'system', 'x', 'y', :now FROM TABLE(:new) AS new (id text) WHERE true
            """,
            home=HOME,
            now=now,
            new=[(f"z{number:05}",) for number in range(count)],
        )

    await desk.run(many)
    before = len(await desk.rows("audit"))

    pieces = [piece async for piece in export_workspace(desk.operations, HOME)]

    archive = zipfile.ZipFile(io.BytesIO(b"".join(pieces)))
    ids = [row["id"] for row in lines(archive, "audit.jsonl")]
    assert len(ids) == len(set(ids)) == before
    assert max(map(len, pieces)) < 200_000


async def test_a_page_of_an_export_looks_at_its_own_rows_alone(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked for an order, SQLite once walked through all deliveries of the workspace for every page of posts."""
    id_ = await desk.write("one of many")
    await desk.plan(id_, [MASTODON])
    requested: list[tuple[str, dict[str, Any]]] = []
    read = Tx.all

    def note(self: Tx, sql: str, **params: Any) -> Any:
        requested.append((sql, params))
        return read(self, sql, **params)

    monkeypatch.setattr(Tx, "all", note)
    await export(desk)
    monkeypatch.undo()

    def explain(tx: Tx, _: datetime) -> list[str]:
        if tx.dialect != "sqlite":
            return []
        plans = [tx.all(f"EXPLAIN QUERY PLAN {sql}", **params) for sql, params in requested]
        return [str(row["detail"]) for plan in plans for row in plan]

    plan = await desk.operations.read(explain)
    walks = [line for line in plan if "delivery_in_time" in line or "delivery_of_no_post" in line]
    assert walks == []
    given = ("SCAN asked", "SCAN json_each")  # the page's own ids
    assert [line for line in plan if line.startswith("SCAN") and not line.startswith(given)] == []
