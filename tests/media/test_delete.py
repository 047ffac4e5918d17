"""Deleting a file that posts may need."""

import asyncio
from typing import Any

import pytest

from cadenza.media.delete import Deleted, InUse, delete
from cadenza.media.model import Media, NoSuchMedia
from cadenza.media.use import keep
from tests.media.conftest import AWAY, BY, HOME, Library


async def remove(library: Library, media: Media, home: str = HOME) -> Any:
    return await library.operations.run(
        lambda tx, now: delete(tx, now, workspace_id=home, id=media.id, by=BY),
    )


async def test_an_unused_file_is_deleted_and_written_down(library: Library) -> None:
    media = await library.add()

    assert await remove(library, media) == Deleted(media.id)

    (row,) = await library.rows("media")
    assert row["deleted_at"] is not None
    assert "media.delete" in [audit["action"] for audit in await library.rows("audit")]
    assert isinstance(await remove(library, media), NoSuchMedia)


@pytest.mark.parametrize("state", ["draft", "scheduled", "sending", "unconfirmed"])
async def test_a_post_that_may_still_leave_holds_its_files(library: Library, state: str) -> None:
    media = await library.add()
    await library.use("p1", media)
    await library.deliver("p1", state)

    answer = await remove(library, media)

    assert isinstance(answer, InUse)
    assert answer.posts == ("p1",)
    assert "post p1" in answer.message


@pytest.mark.parametrize("state", ["draft", "scheduled", "sending", "unconfirmed"])
async def test_a_post_that_is_half_out_holds_its_files(library: Library, state: str) -> None:
    media = await library.add()
    await library.use("p1", media)
    await library.deliver("p1", "sent", account="ben")
    await library.deliver("p1", state)

    assert isinstance(await remove(library, media), InUse)


@pytest.mark.parametrize("states", [(), ("canceled",)])
async def test_a_draft_without_a_delivery_holds_its_files(
    library: Library, states: tuple[str, ...]
) -> None:
    media = await library.add()
    await library.use("p1", media)
    for state in states:
        await library.deliver("p1", state)

    assert isinstance(await remove(library, media), InUse)


@pytest.mark.parametrize("state", ["sent", "failed", "missed"])
async def test_a_post_with_its_fate_behind_it_lets_go(library: Library, state: str) -> None:
    media = await library.add()
    await library.use("p1", media)
    await library.deliver("p1", state)

    assert isinstance(await remove(library, media), Deleted)


async def test_a_pool_holds_its_files_and_is_named(library: Library) -> None:
    media = await library.add()
    await library.operations.run(lambda tx, _: keep(tx, HOME, "asset:7", [media.id]))

    answer = await remove(library, media)

    assert isinstance(answer, InUse)
    assert answer.keepers == ("asset:7",)


async def test_another_workspace_cannot_delete_it(library: Library) -> None:
    media = await library.add()

    assert isinstance(await remove(library, media, AWAY), NoSuchMedia)


async def test_a_post_and_a_delete_at_once_never_leave_a_post_without_its_file(
    library: Library,
) -> None:
    for number in range(10):
        media = await library.add(f"{number:064}")
        used, removed = await asyncio.gather(
            library.use(f"p{number}", media), remove(library, media)
        )
        assert isinstance(used, NoSuchMedia) == isinstance(removed, Deleted)
