"""Posts in and out by files, over HTTP: tried first, row by row, never twice, and taken along whole."""

import io
import json
import zipfile
from typing import Any

import httpx2
import pytest

from cadenza.bootstrap.pack_export import pack_export, sweep_exports
from cadenza.engine.testing.drain import drain
from cadenza.media.storage import StorageFailed
from cadenza.people.model import Role
from tests.api.conftest import Place
from tests.api.test_posts import HOME, POSTS, program, write

IMPORTS = f"{HOME}/imports"
SHEET = (
    "Body,account,when\r\n"
    "We open,account-of-ada,2031-03-01 09:00\r\n"
    "We close,nobody,2031-03-01 18:00\r\n"
    "=1+1,,\r\n"
)


@pytest.fixture
async def editor(place: Place) -> httpx2.AsyncClient:
    return await place.client("editor")


async def send(editor: httpx2.AsyncClient, sheet: str = SHEET, query: str = "", **data: str) -> Any:
    files = {"file": ("posts.csv", sheet.encode(), "text/csv")}
    return await editor.post(f"{IMPORTS}{query}", files=files, data=data)


async def test_a_file_is_tried_then_made_and_never_twice(editor: httpx2.AsyncClient) -> None:
    mapping = json.dumps({"text": "Body"})
    tried = (await send(editor, query="?dry_run=true", mapping=mapping)).json()
    assert (tried["dry_run"], len(tried["done"])) == (True, 2)
    assert [each["row"] for each in tried["problems"]] == [3]
    assert (await editor.get(POSTS)).json()["items"] == []
    done = (await send(editor, mapping=mapping, zone="Europe/Berlin")).json()
    assert (done["made"], done["again"], done["problems"][0]["row"]) == (2, 0, 3)
    assert done["done"][0]["due_at"].startswith("2031-03-01T08:00")
    texts = {each["text"] for each in (await editor.get(POSTS)).json()["items"]}
    assert texts == {"We open", "=1+1"}
    again = (await send(editor, mapping=mapping, zone="Europe/Berlin")).json()
    assert (again["made"], again["again"]) == (0, 2)


async def test_all_or_nothing_is_nothing_when_a_row_is_wrong(editor: httpx2.AsyncClient) -> None:
    answer = await send(editor, mapping=json.dumps({"text": "Body"}), all_or_nothing="true")
    assert (answer.json()["taken_back"], answer.json()["made"]) == (True, 0)
    assert (await editor.get(POSTS)).json()["items"] == []


async def test_files_and_fields_that_cannot_be_read_are_refused(
    editor: httpx2.AsyncClient,
) -> None:
    for data, sheet in (
        ({}, "colour\r\nred\r\n"),
        ({"mapping": "[1]"}, SHEET),
        ({"mapping": json.dumps({"text": "Nothing"})}, SHEET),
        ({"zone": "Moon/Sea"}, SHEET),
        ({"all_or_nothing": "perhaps"}, SHEET),
        ({"colour": "red"}, SHEET),
    ):
        answer = await send(editor, sheet, **data)
        assert answer.status_code == 422, (data, answer.text)
    names = [each["name"] for each in (await editor.get(f"{IMPORTS}/columns")).json()]
    assert "text" in names


async def test_a_workspace_is_taken_along_whole_by_an_admin(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    await write(editor, "take me along")
    assert (await editor.get(f"{HOME}/export")).status_code == 403
    admin = await place.client("admin")
    answer = await admin.get(f"{HOME}/export")
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as found:
        assert "take me along" in found.read("posts.csv").decode()
        everything = b"".join(found.read(name) for name in found.namelist())
    assert b"canary-sealed" not in everything
    assert b"home-of-ben" not in everything


async def test_keys_of_some_accounts_neither_import_nor_export(place: Place) -> None:
    scopes = ("posts:write", "export:read", "export:write")
    bound = await program(place, *scopes, role=Role.ADMIN, accounts=["account-of-ada"])
    for refused in (
        await send(bound),
        await bound.get(f"{HOME}/export"),
        await bound.post(f"{HOME}/exports"),
    ):
        assert refused.json()["type"].endswith("all_accounts_needed"), refused.text


async def test_an_export_is_packed_in_the_background_and_downloaded_for_a_while(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    admin = await place.client("admin")
    await send(editor, mapping=json.dumps({"text": "Body"}))
    assert (await editor.post(f"{HOME}/exports")).status_code == 403
    begun = await admin.post(f"{HOME}/exports")
    assert (begun.status_code, begun.json()["state"]) == (202, "waiting"), begun.text
    path = f"{HOME}/exports/{begun.json()['id']}"
    again = (await admin.post(f"{HOME}/exports")).json()
    assert again["id"] == begun.json()["id"], "one at a time: asking again finds it"
    assert (await admin.get(f"{path}/file")).status_code == 409

    await drain(place.runtime.engine)

    shown = (await admin.get(path)).json()
    assert (shown["state"], shown["percent"]) == ("ready", 100)
    assert shown["rows_done"] > 0
    assert [each["id"] for each in (await admin.get(f"{HOME}/exports")).json()] == [shown["id"]]
    answer = await admin.get(f"{path}/file")
    assert (answer.status_code, len(answer.content)) == (200, shown["bytes"])
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert "We open" in archive.read("posts.csv").decode()
    assert (await editor.get(f"{path}/file")).status_code == 403

    await place.runtime.operations.run(
        lambda tx, now: tx.run("UPDATE workspace_export SET expires_at = :now", now=now)
    )
    assert (await admin.get(f"{path}/file")).status_code == 404
    await sweep_exports(place.runtime, {})
    assert await place.runtime.library.storage.size(f"exports/{shown['id']}.zip") is None
    assert await place.rows("SELECT id FROM workspace_export") == []


async def test_an_export_tells_how_far_it_is_and_when_it_failed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = await place.client("admin")
    path = f"{HOME}/exports/{(await admin.post(f'{HOME}/exports')).json()['id']}"
    seen: list[dict[str, Any]] = []
    write = type(place.runtime.library.storage).write

    async def full(self: object, *_: object, **__: object) -> None:
        seen.append((await admin.get(path)).json())
        raise StorageFailed("no room")

    monkeypatch.setattr(type(place.runtime.library.storage), "write", full)
    with pytest.raises(StorageFailed):
        await pack_export(place.runtime, await payload(place))
    assert (seen[0]["state"], seen[0]["rows_total"] > 0) == ("running", True)
    failed = (await admin.get(path)).json()
    assert (failed["state"], failed["reason"]) == ("failed", "the storage did not take it")

    monkeypatch.setattr(type(place.runtime.library.storage), "write", write)
    await pack_export(place.runtime, await payload(place))  # the engine tries again
    assert (await admin.get(path)).json()["state"] == "ready"


async def payload(place: Place) -> dict[str, str]:
    (row,) = await place.rows("SELECT workspace_id, id AS export_id FROM workspace_export")
    return dict(row)
