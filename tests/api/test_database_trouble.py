"""A database that is full or gone: the API says so, and what to do, and acknowledges nothing."""

from pathlib import Path

from tests.api.conftest import Place
from tests.api.test_posts import POSTS


async def test_without_room_nothing_is_accepted_and_reading_goes_on(small: Place) -> None:
    editor = await small.client("editor")
    assert (await editor.post(POSTS, json={"text": "before"})).status_code == 201
    await small.runtime.operations.run(lambda tx, _: tx.all("PRAGMA max_page_count = 1"))
    long = {"text": "x" * 40_000}
    refused = [await editor.post(POSTS, json=long) for _ in range(3)]
    assert {answer.status_code for answer in refused} == {507}, refused[0].text
    assert refused[0].json()["type"].endswith("no_room")
    assert len((await editor.get(POSTS)).json()["items"]) == 1

    await small.runtime.operations.run(lambda tx, _: tx.all("PRAGMA max_page_count = 100000"))
    assert (await editor.post(POSTS, json=long)).status_code == 201


async def test_a_database_that_is_gone_is_told_with_when_to_come_again(
    small: Place, tmp_path: Path
) -> None:
    editor = await small.client("editor")
    file = tmp_path / "data" / "cadenza.sqlite3"
    file.rename(tmp_path / "elsewhere")
    file.touch()
    answer = await editor.post(POSTS, json={"text": "lost?"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1"), answer.text
    file.unlink()
    (tmp_path / "elsewhere").rename(file)
