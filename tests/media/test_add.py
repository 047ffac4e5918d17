"""The row of a file: before its bytes are stored, and when they are."""

import asyncio

from cadenza.media.add import Known, RemovedMeanwhile, Store, begin, finish
from cadenza.media.read import browse, read_all
from tests.media.conftest import AWAY, BY, HOME, Library, facts


async def test_the_same_content_twice_is_one_row(library: Library) -> None:
    first = await library.add()
    second = await library.add()

    assert second.id == first.id
    assert len(await library.rows("media")) == 1
    assert [row["action"] for row in await library.rows("audit")] == ["media.add"]


async def test_the_same_content_in_two_workspaces_is_two_rows_and_two_files(
    library: Library,
) -> None:
    here = await library.add()
    there = await library.add(workspace_id=AWAY)

    assert here.file != there.file
    assert there.file.startswith(f"{AWAY}/")


async def test_two_uploads_of_one_content_at_once_meet_in_one_row(library: Library) -> None:
    found = await asyncio.gather(*(library.add() for _ in range(8)))

    assert len({media.id for media in found}) == 1
    assert len(await library.rows("media")) == 1


async def test_a_file_is_not_shown_before_its_bytes_are_whole(library: Library) -> None:
    begun = await library.operations.run(
        lambda tx, now: begin(
            tx, now, workspace_id=HOME, facts=facts(), name="cat.png", alt="", by=BY
        ),
    )
    assert isinstance(begun, Store)
    seen = await library.operations.read(lambda tx, _: browse(tx, workspace_id=HOME))
    assert seen == []

    await library.operations.run(lambda tx, now: finish(tx, now, media=begun.media, by=BY))

    seen = await library.operations.read(lambda tx, _: browse(tx, workspace_id=HOME))
    assert [media.id for media in seen] == [begun.media.id]


async def test_an_upload_that_was_cut_short_is_taken_over_by_the_next(library: Library) -> None:
    first, second = [
        await library.operations.run(
            lambda tx, now: begin(
                tx, now, workspace_id=HOME, facts=facts(), name="cat.png", alt="", by=BY
            )
        )
        for _ in range(2)
    ]

    assert isinstance(first, Store)
    assert isinstance(second, Store)
    assert (second.media.id, second.media.file) == (first.media.id, first.media.file)
    assert second.media.created_at > first.media.created_at


async def test_what_was_swept_while_on_its_way_is_said(library: Library) -> None:
    media = await library.add()
    await library.operations.run(
        lambda tx, now: tx.run("UPDATE media SET deleted_at = :now", now=now)
    )

    answer = await library.operations.run(lambda tx, now: finish(tx, now, media=media, by=BY))

    assert isinstance(answer, RemovedMeanwhile)


async def test_content_that_was_deleted_comes_back_as_another_row_and_file(
    library: Library,
) -> None:
    before = await library.add()
    await library.operations.run(
        lambda tx, now: tx.run("UPDATE media SET deleted_at = :now", now=now)
    )

    after = await library.add()

    assert after.id != before.id
    assert after.file != before.file  # a late removal of the former cannot take the latter's bytes


async def test_media_are_read_in_the_order_asked(library: Library) -> None:
    one, two = await library.add("1" * 64), await library.add("2" * 64)

    found = await library.operations.read(
        lambda tx, _: read_all(tx, workspace_id=HOME, ids=[two.id, one.id, two.id])
    )

    assert isinstance(found, list)
    assert [media.id for media in found] == [two.id, one.id, two.id]


async def test_the_library_is_read_page_by_page_newest_first(library: Library) -> None:
    added = [await library.add(f"{number:064}") for number in range(5)]
    seen: list[str] = []
    before = None
    while page := await library.operations.read(
        lambda tx, _, place=before: browse(tx, workspace_id=HOME, limit=2, before=place)
    ):
        seen += [media.id for media in page]
        before = (page[-1].created_at, page[-1].id)

    assert seen == [media.id for media in reversed(added)]


async def test_known_content_answers_known(library: Library) -> None:
    media = await library.add()
    answer = await library.operations.run(
        lambda tx, now: begin(
            tx, now, workspace_id=HOME, facts=facts(), name="dog.png", alt="", by=BY
        )
    )
    assert answer == Known(media)
